"""Kafka's recorded followers against ours: two or three brokers, one partition, three ways to truncate. All
cases are exact."""

from __future__ import annotations

from collections.abc import Iterator
from functools import partial
from typing import Any

from broker_core.conformance.kafka_log import STARTED_MS, batch_rows, differing
from broker_core.conformance.kafka_partition import error_name, isr_fields, log_fields, relative, role_fields
from broker_core.conformance.result import CaseResult, case, compare
from broker_core.kafka.error_codes import ErrorCode, Refused
from broker_core.kafka.log.errors import LogError
from broker_core.kafka.log.memory_storage import MemoryFolder
from broker_core.kafka.log.partition_log import LATEST, PartitionLog
from broker_core.kafka.log.record import Record
from broker_core.kafka.log.record_batch import encode_batch
from broker_core.kafka.log.watermarks import Isolation
from broker_core.kafka.replication.brokers import Brokers, KnownBroker
from broker_core.kafka.replication.fetch import FetchedPartition, PartitionFetch
from broker_core.kafka.replication.fetcher import (
    EpochQuestion,
    Fetcher,
    FetcherRequest,
    OffsetQuestion,
    Truncated,
    Truncation,
)
from broker_core.kafka.replication.partition import Partition
from broker_core.kafka.replication.partition_state import LeaderAndIsr

Json = dict[str, Any]


def run_fetcher(document: Json) -> Iterator[CaseResult]:
    """Several brokers, step by step; the network is a call."""
    for row in document["cases"]:
        yield case(row["name"], partial(_case, row))


def _case(row: Json) -> CaseResult:
    cluster = DrivenCluster(row)
    for index, step in enumerate(row["steps"]):
        expected = {name: value for name, value in step.items() if name not in ("at_ms", "op", "args")}
        got = cluster.take(step)
        if got != expected:
            return differing(row, index, expected, got)
    return compare(row["name"], row["final_logs"], cluster.logs())


class DrivenBroker:
    """One broker of a case: its replica, and its fetcher."""

    def __init__(
        self, broker_id: int, brokers: Brokers, min_insync_replicas: int, truncation: Truncation
    ) -> None:
        self.folder = MemoryFolder()
        self.log_start = 0
        self.is_up = True
        self.hw_checkpoint = 0
        self.has_fetcher = False
        self._begin = partial(Partition, broker_id, brokers, brokers[broker_id].epoch, min_insync_replicas)
        self._truncation = truncation
        self.begin()

    def begin(self) -> None:
        self.partition = self._begin()
        self.fetcher = Fetcher(self.partition, self._truncation)
        self.has_fetcher = False

    def open(self, now_ms: int) -> None:
        if self.partition.log is None:
            self.partition.log = PartitionLog.open(
                self.folder,
                now_ms=now_ms,
                was_closed=True,
                log_start_offset=self.log_start,
                high_watermark=self.hw_checkpoint,
            )

    def stop(self, now_ms: int) -> None:
        log = self.partition.log
        if log is not None:
            log.close(now_ms)
            self.log_start = log.log_start_offset
        self.is_up = False
        self.begin()

    def state(self) -> Json | str:
        if not self.is_up:
            return "down"
        partition = self.partition
        state = role_fields(partition) | log_fields(partition.log)
        del state["lso"]
        if partition.is_leader:
            state |= isr_fields(partition.isr_state) | {"epoch_start": partition.epoch_start_offset}
            if partition.is_under_min_isr:
                state["under_min_isr"] = True
            state["followers"] = [
                {
                    "id": replica,
                    "leo": follower.log_end_offset,
                    "caught_up_ms": relative(follower.last_caught_up_ms),
                }
                for replica, follower in sorted(partition.followers.items())
            ]
        elif self.has_fetcher:
            state["fetch"] = self._fetch_state()
        return state | {"failed": True} if self.fetcher.is_failed else state

    def _fetch_state(self) -> Json | None:
        state = self.fetcher.state
        if state is None:
            return None
        return {
            "offset": state.offset,
            "state": state.step.value,
            "last_fetched_epoch": state.last_fetched_epoch,
            "leader_epoch": state.leader_epoch,
        }


class DrivenCluster:
    """The brokers of one case, and the controller that its driver plays."""

    def __init__(self, row: Json) -> None:
        self.now_ms = STARTED_MS
        self.known: Brokers = {broker_id: KnownBroker(100 + broker_id) for broker_id in row["brokers"]}
        truncation = Truncation(row["truncation"])
        min_isr = row["min_insync_replicas"]
        self.brokers = {
            broker_id: DrivenBroker(broker_id, self.known, min_isr, truncation)
            for broker_id in row["brokers"]
        }
        self.decided: Json = {}  # the controller's leader, isr, leader_epoch, partition_epoch
        self.told: Json = {}  # the states after the last step; before the first, none
        self.values = 0
        self.events: list[Json] = []
        self.isr_changes: list[Json] = []

    def take(self, step: Json) -> Json:
        """Run a step; gives all that the file tells of it."""
        self.now_ms = STARTED_MS + step["at_ms"]
        self.events, self.isr_changes = [], []
        got: Json = {}
        try:
            answer = getattr(self, step["op"])(**step["args"])
            if answer is not None or step["op"] == "checkpoint_hw":
                got["answer"] = answer
        except (LogError, Refused) as error:
            got["error"] = error_name(error)
        for broker_id, broker in self.brokers.items():
            self._answer_alter_partition(broker_id, broker)
        got |= {
            name: listed
            for name, listed in (("events", self.events), ("isr_changes", self.isr_changes))
            if listed
        }
        before, self.told = (
            self.told,
            {str(broker_id): broker.state() for broker_id, broker in self.brokers.items()},
        )
        return got | {
            "after": {name: state for name, state in self.told.items() if state != before.get(name)}
        }

    def logs(self) -> Json:
        """Every record of every broker that is up and has a log."""
        return {
            str(broker_id): [
                [record.offset, (record.value or b"").decode()]
                for batch in broker.partition.log.batches()
                for record in batch.records()
                if record.offset >= broker.partition.log.log_start_offset
            ]
            for broker_id, broker in self.brokers.items()
            if broker.is_up and broker.partition.log is not None
        }

    # -- the steps

    def make_leader(self, broker: int, **state: Any) -> bool:
        if not self.decided:
            self.decided = {"leader": broker} | {
                name: state[name] for name in ("isr", "leader_epoch", "partition_epoch")
            }
        driven = self.brokers[broker]
        driven.open(self.now_ms)
        driven.fetcher.stop()
        driven.has_fetcher = False
        return driven.partition.make_leader(LeaderAndIsr(broker, **state), self.now_ms)

    def make_follower(self, broker: int, leader: int, **state: Any) -> bool:
        driven = self.brokers[broker]
        driven.open(self.now_ms)
        is_new = driven.partition.make_follower(LeaderAndIsr(leader, **state))
        if is_new:
            driven.has_fetcher = leader in self.brokers
            if driven.has_fetcher:
                driven.fetcher.start()
            else:
                driven.fetcher.stop()
        return is_new

    def append(self, broker: int, records: int, acks: int) -> Json:
        first = self.values + 1
        self.values += records
        values = [b"m%d" % number for number in range(first, self.values + 1)]
        batch = encode_batch([Record(index, self.now_ms, None, value) for index, value in enumerate(values)])
        appended, _ = self.brokers[broker].partition.append_as_leader(batch.data, acks, self.now_ms)
        return {
            "first_offset": appended.first_offset,
            "last_offset": appended.last_offset,
            "last_value": values[-1].decode(),
        }

    def fetch_round(self, broker: int) -> str | None:
        driven = self.brokers[broker]
        if not driven.has_fetcher:
            return "not fetching"
        fetcher = driven.fetcher
        if fetcher.state is None:
            return None
        cut = fetcher.truncate_to_high_watermark(self.now_ms)
        self._note_cut(cut)
        # As one pass of the fetcher: what it asks before it fetches, one fetch, and what that makes it ask.
        while (request := fetcher.next_request()) is not None:
            if not self._ask(driven, request):
                break
            state = fetcher.state
            if not isinstance(request, EpochQuestion) and (state is None or state.asks is None):
                break
        return None

    def _ask(self, driven: DrivenBroker, request: FetcherRequest) -> bool:
        """Send one request and take the answer. False: the round ends here."""
        fetcher, leader = driven.fetcher, self.brokers[driven.partition.leader or 0]
        event = {"rpc": _rpc(request), "args": _args(request, fetcher.truncation)}
        self.events.append(event)
        if not leader.is_up:
            event["result"] = (
                {"error": "NETWORK_EXCEPTION"} if isinstance(request, EpochQuestion) else "no connection"
            )
            return False
        try:
            match request:
                case PartitionFetch():
                    replica = driven.partition.broker_id
                    answer = leader.partition.fetch_as_follower(
                        replica, driven.partition.broker_epoch, request, self.now_ms
                    )
                    event["result"] = _fetched(answer)
                    self._note_cut(fetcher.fetch_answered(request, answer, self.now_ms))
                case EpochQuestion():
                    found = leader.partition.last_offset_for_epoch(request.epoch, request.leader_epoch)
                    event["result"] = {"epoch": found[0], "end_offset": found[1]}
                    cut = fetcher.epoch_answered(request, found, self.now_ms)
                    self._note_cut(cut)
                    return cut is not None and cut.is_complete
                case OffsetQuestion():
                    found_offset = leader.partition.list_offset(
                        request.timestamp, Isolation.LOG_END, request.leader_epoch
                    )
                    if found_offset is None:
                        raise ValueError("a log has a first and a last offset")
                    event["result"] = {"offset": found_offset.found.offset, "epoch": found_offset.epoch}
                    self._note_cut(fetcher.offset_answered(request, found_offset.found.offset, self.now_ms))
        except (LogError, Refused) as error:
            event["result"] = {"error": error_name(error)}
            fetcher.refused(request, ErrorCode(error.code))
            return fetcher.state is not None and fetcher.state.asks is not None
        return True

    def follower_fetch_without_answer(self, broker: int, offset: int) -> None:
        partition = self.brokers[broker].partition
        fetcher = self.brokers[broker].fetcher
        request = fetcher.next_request()
        if not isinstance(request, PartitionFetch):
            raise ValueError("the broker does not fetch")
        leader = self.brokers[partition.leader or 0].partition
        leader.fetch_as_follower(
            partition.broker_id, partition.broker_epoch, request._replace(offset=offset), self.now_ms
        )

    def checkpoint_hw(self, broker: int) -> int | None:
        driven = self.brokers[broker]
        if driven.partition.log is None:
            if driven.is_up:
                driven.hw_checkpoint = 0  # the file is written without the partitions that are not open yet
            return None
        return driven.partition.log.high_watermark

    def stop_broker(self, broker: int) -> None:
        self.brokers[broker].stop(self.now_ms)
        self.known[broker].is_alive = False

    def start_broker(self, broker: int, hw_checkpoint: int | None) -> None:
        driven = self.brokers[broker]
        driven.is_up, driven.hw_checkpoint = True, hw_checkpoint or 0
        self.known[broker].is_alive = True

    def controller(self, **decided: Any) -> None:
        self.decided = decided

    def lose_unflushed_tail(self, broker: int, offset: int) -> None:
        log = self.brokers[broker].partition.log
        if log is not None:
            log.truncate_to(offset, self.now_ms)

    def maybe_shrink_isr(self, broker: int) -> None:
        self.brokers[broker].partition.maybe_shrink_isr(self.now_ms)

    def delete_records(self, broker: int, offset: int) -> Json:
        return {"low_watermark": self.brokers[broker].partition.delete_records(offset)}

    # -- what surrounds them

    def _answer_alter_partition(self, broker_id: int, broker: DrivenBroker) -> None:
        """The driver answers a leader's request at once, by what it has decided last."""
        request = broker.partition.alter_partition.take_request()
        if request is None:
            return
        decided, error = self.decided, ErrorCode.NONE
        if request.leader_epoch < decided["leader_epoch"]:
            error = ErrorCode.FENCED_LEADER_EPOCH
        elif decided["leader"] != broker_id:
            error = ErrorCode.INVALID_REQUEST
        elif request.partition_epoch < decided["partition_epoch"]:
            error = ErrorCode.INVALID_UPDATE_VERSION
        if error is not ErrorCode.NONE:
            self.isr_changes.append({"broker": broker_id, "refused": error.name})
            broker.partition.alter_partition_failed(error)
            return
        decided["isr"], decided["partition_epoch"] = sorted(request.members), decided["partition_epoch"] + 1
        self.isr_changes.append(
            {"broker": broker_id, "isr": decided["isr"], "partition_epoch": decided["partition_epoch"]}
        )
        broker.partition.alter_partition_succeeded(LeaderAndIsr(replicas=(), **decided), self.now_ms)

    def _note_cut(self, cut: Truncated | None) -> None:
        if cut is not None:
            all_at = {"truncate_fully_and_start_at": cut.offset}
            self.events.append(
                all_at if cut.is_all else {"truncate_to": cut.offset, "complete": cut.is_complete}
            )


def _rpc(request: FetcherRequest) -> str:
    match request:
        case PartitionFetch():
            return "fetch"
        case EpochQuestion():
            return "offsets_for_leader_epoch"
        case OffsetQuestion():
            return "list_offsets_latest" if request.timestamp == LATEST else "list_offsets_earliest"


def _args(request: FetcherRequest, truncation: Truncation) -> Json:
    match request:
        case PartitionFetch():
            args = {
                "offset": request.offset,
                "log_start": request.log_start_offset,
                "leader_epoch": request.leader_epoch,
            }
            return (
                args | {"last_fetched_epoch": request.last_fetched_epoch}
                if truncation is Truncation.FETCH
                else args
            )
        case EpochQuestion():
            return {"leader_epoch": request.leader_epoch, "epoch": request.epoch}
        case OffsetQuestion():
            return {"leader_epoch": request.leader_epoch}


def _fetched(answer: FetchedPartition) -> Json:
    fields: Json = {
        "hw": answer.high_watermark,
        "log_start": answer.log_start_offset,
        "batches": batch_rows(answer.data),
    }
    return fields if answer.diverging is None else fields | {"diverging": list(answer.diverging)}
