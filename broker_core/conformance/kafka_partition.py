"""Kafka's recorded partition leader against ours: ISR, high watermark, acks, AlterPartition in flight. All
cases are exact."""

from __future__ import annotations

from collections.abc import Iterator
from functools import partial
from typing import Any

from broker_core.conformance.kafka_log import ERRORS, STARTED_MS, batch_rows, differing, sized_batch
from broker_core.conformance.result import CaseResult, case, passed
from broker_core.kafka.error_codes import ErrorCode, Refused
from broker_core.kafka.log.errors import LogError
from broker_core.kafka.log.memory_storage import MemoryFolder
from broker_core.kafka.log.partition_log import PartitionLog
from broker_core.kafka.log.watermarks import Isolation
from broker_core.kafka.replication.brokers import Brokers, KnownBroker
from broker_core.kafka.replication.delayed_produce import DelayedProduces, WaitingProduce
from broker_core.kafka.replication.fetch import FetchedPartition, PartitionFetch
from broker_core.kafka.replication.partition import Partition
from broker_core.kafka.replication.partition_state import (
    AlterPartitionRequest,
    IsrState,
    LeaderAndIsr,
    PendingIsr,
)

Json = dict[str, Any]

ISOLATIONS = {
    None: Isolation.LOG_END,
    "READ_UNCOMMITTED": Isolation.HIGH_WATERMARK,
    "READ_COMMITTED": Isolation.TXN_COMMITTED,
}
NOTHING_IN_FLIGHT = "nothing in flight"
MAY_FIND_NOTHING = ("list_offset", "checkpoint_hw")
"""Steps that answer null; the others without an answer say nothing."""


def run_partition(document: Json) -> Iterator[CaseResult]:
    """One partition on one broker, step by step."""
    for row in document["cases"]:
        yield case(row["name"], partial(_case, row))


def _case(row: Json) -> CaseResult:
    driven = DrivenPartition(row)
    for index, step in enumerate(row["steps"]):
        expected = {name: value for name, value in step.items() if name not in ("at_ms", "op", "args")}
        got = driven.take(step)
        if got != expected:
            return differing(row, index, expected, got)
    return passed(row["name"])


def error_name(error: LogError | Refused) -> str:
    """What the files call an error."""
    return error.code.name if isinstance(error, Refused) else ERRORS[type(error)]


def isr_fields(state: IsrState) -> Json:
    """The ISR as the files have it."""
    name = "committed"
    if isinstance(state, PendingIsr):
        name = "pending_shrink" if state.added is None else "pending_expand"
    return {"isr": sorted(state.isr), "maximal_isr": sorted(state.maximal_isr), "isr_state": name}


def log_fields(log: PartitionLog | None) -> Json:
    """The offsets of a replica; all null without one."""
    if log is None:
        return {"leo": None, "hw": None, "lso": None, "log_start": None, "epochs": []}
    return {
        "leo": log.log_end_offset,
        "hw": log.high_watermark,
        "lso": log.last_stable_offset,
        "log_start": log.log_start_offset,
        "epochs": [list(row) for row in log.epochs.rows],
    }


def role_fields(partition: Partition) -> Json:
    """Who leads, as this broker sees it."""
    role = "none" if partition.leader is None else "leader" if partition.is_leader else "follower"
    return {
        "role": role,
        "leader": partition.leader,
        "leader_epoch": partition.leader_epoch,
        "partition_epoch": partition.partition_epoch,
    }


def relative(time_ms: int | None) -> int | None:
    return None if time_ms is None else time_ms - STARTED_MS


class DrivenPartition:
    """The partition of one case, on local broker 1 or another, and what surrounds it."""

    def __init__(self, row: Json) -> None:
        self.now_ms = STARTED_MS
        self.broker_id: int = row["local_broker"]
        self.min_insync_replicas: int = row["min_insync_replicas"]
        self.brokers: Brokers = {replica: KnownBroker(100 + replica) for replica in row["replicas"]}
        self.folder = MemoryFolder()
        self.hw_checkpoint: int | None = None
        self.log_start = 0
        self._begin()

    def _begin(self) -> None:
        self.partition = Partition(
            self.broker_id, self.brokers, 100 + self.broker_id, self.min_insync_replicas
        )
        self.delayed = DelayedProduces()

    def take(self, step: Json) -> Json:
        """Run a step; gives all that the file tells of it."""
        self.now_ms = STARTED_MS + step["at_ms"]
        got: Json = {}
        try:
            answer = getattr(self, step["op"])(**step["args"])
            if answer is not None or step["op"] in MAY_FIND_NOTHING:
                got["answer"] = answer
        except (LogError, Refused) as error:
            got["error"] = error_name(error)
        decided = self.delayed.complete(self.partition)
        if decided:
            got["acks_done"] = [{"produce": number, "error": error.name} for number, error in decided]
        change = self.partition.alter_partition.in_flight
        if change is not None:
            got["alter_partition_in_flight"] = _request(change.request)
        return got | {"after": self._state()}

    def _state(self) -> Json:
        partition = self.partition
        state = role_fields(partition) | log_fields(partition.log)
        if not partition.is_leader:
            return state
        state |= isr_fields(partition.isr_state) | {"epoch_start": partition.epoch_start_offset}
        if partition.is_under_min_isr:
            state["under_min_isr"] = True
        if not partition.isr_state.is_pending:
            state["out_of_sync"] = partition.out_of_sync(self.now_ms)
        followers = [
            {
                "id": replica,
                "leo": follower.log_end_offset,
                "log_start": follower.log_start_offset,
                "caught_up_ms": relative(follower.last_caught_up_ms),
            }
            for replica, follower in sorted(partition.followers.items())
        ]
        return state | {"followers": followers}

    # -- the steps

    def make_leader(self, **state: Any) -> bool:
        self._open()
        return self.partition.make_leader(LeaderAndIsr(self.broker_id, **state), self.now_ms)

    def make_follower(self, **state: Any) -> bool:
        self._open()
        return self.partition.make_follower(LeaderAndIsr(**state))

    def append(self, produce: int, records: int, acks: int) -> Json:
        batch = sized_batch(records, 61 + 12 * records, self.now_ms)
        (appended, is_hw_raised) = self.partition.append_as_leader(batch.data, acks, self.now_ms)
        if acks == -1:
            self.delayed.add(WaitingProduce(produce, appended.last_offset + 1))
        change = "INCREASED" if is_hw_raised else "SAME"
        return {
            "first_offset": appended.first_offset,
            "last_offset": appended.last_offset,
            "hw_change": change,
        }

    def follower_fetch(
        self,
        replica: int,
        offset: int,
        leader_epoch: int | None,
        last_fetched_epoch: int | None,
        log_start: int,
        broker_epoch: int,
    ) -> Json:
        fetch = PartitionFetch(offset, leader_epoch, last_fetched_epoch, log_start)
        return _fetched(self.partition.fetch_as_follower(replica, broker_epoch, fetch, self.now_ms))

    def consumer_fetch(
        self, offset: int, isolation: str, leader_epoch: int | None, last_fetched_epoch: int | None
    ) -> Json:
        fetch = PartitionFetch(offset, leader_epoch, last_fetched_epoch)
        return _fetched(self.partition.fetch_as_consumer(fetch, Isolation[isolation]))

    def list_offset(self, timestamp: int, isolation: str | None, leader_epoch: int | None) -> Json | None:
        answer = self.partition.list_offset(
            timestamp if timestamp < 0 else STARTED_MS + timestamp, ISOLATIONS[isolation], leader_epoch
        )
        return None if answer is None else {"offset": answer.found.offset, "epoch": answer.epoch}

    def last_offset_for_leader_epoch(
        self, current_leader_epoch: int | None, epoch: int, leader_only: bool
    ) -> Json:
        try:
            found = self.partition.last_offset_for_epoch(
                epoch, current_leader_epoch, needs_leader=leader_only
            )
        except Refused as refused:
            return {"error_code": refused.code.name}
        return {"epoch": found[0], "end_offset": found[1]}

    def delete_records(self, offset: int) -> Json:
        low_watermark = self.partition.delete_records(offset)
        log = self.partition.log
        requested = log.high_watermark if offset == -1 and log is not None else offset
        return {"requested": requested, "low_watermark": low_watermark}

    def maybe_shrink_isr(self) -> None:
        self.partition.maybe_shrink_isr(self.now_ms)

    def alter_partition_ok(self) -> Json | str:
        change = self.partition.alter_partition.in_flight
        if change is None:
            return NOTHING_IN_FLIGHT
        answer = _request(change.request)
        answer["partition_epoch"] += 1
        self.partition.alter_partition_succeeded(
            LeaderAndIsr(self.broker_id, replicas=(), **answer), self.now_ms
        )
        return answer

    def alter_partition_error(self, error: str) -> str | None:
        if self.partition.alter_partition.in_flight is None:
            return NOTHING_IN_FLIGHT
        self.partition.alter_partition_failed(ErrorCode[error])
        return None

    def check_acks(self, required_offset: int) -> Json:
        is_done, error = self.partition.check_acks(required_offset)
        return {"done": is_done, "error_code": error.name}

    def set_broker(self, id: int, alive: bool, fenced: bool, shutting_down: bool, epoch: int) -> None:
        self.brokers[id] = KnownBroker(epoch, alive, fenced, shutting_down)

    def checkpoint_hw(self) -> int | None:
        log = self.partition.log
        return None if log is None else log.high_watermark

    def restart(self, hw_checkpoint: int | None) -> None:
        log = self.partition.log
        if log is not None:
            log.close(self.now_ms)
            self.log_start = log.log_start_offset
        self.hw_checkpoint = hw_checkpoint
        self._begin()

    def _open(self) -> None:
        if self.partition.log is None:
            self.partition.log = PartitionLog.open(
                self.folder,
                now_ms=self.now_ms,
                was_closed=True,
                log_start_offset=self.log_start,
                high_watermark=self.hw_checkpoint or 0,
            )


def _request(request: AlterPartitionRequest) -> Json:
    return {
        "isr": sorted(request.members),
        "leader_epoch": request.leader_epoch,
        "partition_epoch": request.partition_epoch,
    }


def _fetched(answer: FetchedPartition) -> Json:
    fields: Json = {
        "hw": answer.high_watermark,
        "leo": answer.log_end_offset,
        "lso": answer.last_stable_offset,
        "log_start": answer.log_start_offset,
        "batches": batch_rows(answer.data),
    }
    return fields if answer.diverging is None else fields | {"diverging": list(answer.diverging)}
