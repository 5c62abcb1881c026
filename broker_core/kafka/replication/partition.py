"""One partition on one broker: as its leader, or as a follower of another one.

    append ─► min ISR? ─► log ─► high watermark                       ISR of one: it moves at once
    fetch of a follower ─► read ─► its state ─► joins the ISR? ─► high watermark ─► waiting produces

The ISR and the high watermark: in_sync.py. What a produce with acks=-1 waits for is in delayed_produce.py; how
a follower copies its leader in fetcher.py.

Source: Kafka 3.9 core Partition, Replica. Vectors: kafka/replication/partition.json, fetcher.json.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import NamedTuple

from broker_core.kafka.error_codes import ErrorCode, Refused
from broker_core.kafka.log.errors import OffsetOutOfRange, UnexpectedAppendOffset
from broker_core.kafka.log.leader_epochs import UNDEFINED, EpochStart
from broker_core.kafka.log.partition_log import EARLIEST, LATEST, Appended, PartitionLog
from broker_core.kafka.log.record_batch import ControlType
from broker_core.kafka.log.retention import delete_records
from broker_core.kafka.log.time_index import TimestampOffset
from broker_core.kafka.log.varint import Buffer
from broker_core.kafka.log.watermarks import Isolation
from broker_core.kafka.replication.fetch import FetchedPartition, PartitionFetch
from broker_core.kafka.replication.in_sync import InSyncReplicas
from broker_core.kafka.replication.partition_state import (
    CommittedIsr,
    LeaderAndIsr,
)
from broker_core.kafka.replication.replica_state import ReplicaState

ACKS_ALL = -1
_new_tuple = tuple.__new__  # a named tuple in half the time: fetches and appends come record by record
_NOTHING = memoryview(b"")


class AppendedToLeader(NamedTuple):
    """is_hw_raised: the high watermark moved with the append."""

    appended: Appended
    is_hw_raised: bool


class Acked(NamedTuple):
    """Whether a produce with acks=-1 is decided, and how."""

    is_done: bool
    error: ErrorCode


class TimestampAnswer(NamedTuple):
    """An answer to ListOffsets. epoch: None: not known."""

    found: TimestampOffset
    epoch: int | None


@dataclass(slots=True)
class Partition(InSyncReplicas):
    """What a broker does with a partition: takes a role, appends, answers who reads."""

    # --- roles

    def make_leader(self, state: LeaderAndIsr, now_ms: int) -> bool:
        """Lead from now on, or go on leading with another ISR. Tells whether it did not lead before.

        A partition epoch from before is passed over. A change under way is dropped. Only a higher leader
        epoch begins a new one: its start is noted, and the followers' states are set afresh.
        """
        if state.partition_epoch < self.partition_epoch:
            return False
        log = self._own_log()
        is_new_leader = not self.is_leader
        self._note_assignment(state)
        self.followers = {
            replica: self.followers.get(replica) or ReplicaState()
            for replica in state.replicas
            if replica != self.broker_id
        }
        self.isr_state = CommittedIsr(frozenset(state.isr))
        if state.leader_epoch > self.leader_epoch:
            start = log.log_end_offset
            # At once, though nothing is written yet: a follower may ask for an epoch above all that this log
            # has records of.
            log.epochs.assign(state.leader_epoch, start)
            for replica, follower in self.followers.items():
                follower.reset(now_ms, start, is_new_leader=is_new_leader, is_in_sync=replica in state.isr)
            self.leader_epoch = log.leader_epoch = state.leader_epoch
            self.epoch_start_offset = start
        self.partition_epoch = state.partition_epoch
        self.leader = self.broker_id
        self._raise_high_watermark(log, now_ms)
        return is_new_leader

    def make_follower(self, state: LeaderAndIsr) -> bool:
        """Follow from now on. Tells whether the leader epoch is a higher one: then its fetcher begins again.

        A partition epoch from before is passed over. Any leader epoch is taken over.
        """
        if state.partition_epoch < self.partition_epoch:
            return False
        log = self._own_log()
        is_new_epoch = state.leader_epoch > self.leader_epoch
        self._note_assignment(state)
        self.leader, self.leader_epoch, self.partition_epoch = (
            state.leader,
            state.leader_epoch,
            state.partition_epoch,
        )
        log.leader_epoch = state.leader_epoch
        self.epoch_start_offset = None
        self.followers = {}
        self.isr_state = CommittedIsr()
        return is_new_epoch

    # --- as a leader

    def append_as_leader(
        self,
        data: Buffer,
        acks: int,
        now_ms: int,
        *,
        is_from_coordinator: bool = False,
        verification_guard: int | None = None,
    ) -> AppendedToLeader:
        """Append what a producer sent. acks: -1, 0 or 1; only -1 asks for min.insync.replicas, before the
        append.

        Raises Refused (NOT_LEADER_OR_FOLLOWER, NOT_ENOUGH_REPLICAS), and what `PartitionLog.append` raises.
        """
        log = self._leader_log()
        if (
            acks == ACKS_ALL
            and len(self.isr_state.isr) < self.min_insync_replicas
            and len(self.isr_state.isr) < self.min_isr
        ):
            raise Refused(
                ErrorCode.NOT_ENOUGH_REPLICAS, f"{len(self.isr_state.isr)} in sync, {self.min_isr} asked for"
            )
        appended = log.append(
            data,
            now_ms=now_ms,
            leader_epoch=self.leader_epoch,
            is_from_coordinator=is_from_coordinator,
            verification_guard=verification_guard,
        )
        return _new_tuple(AppendedToLeader, (appended, self._raise_high_watermark(log, now_ms)))

    def append_marker(
        self,
        control_type: ControlType,
        producer_id: int,
        producer_epoch: int,
        coordinator_epoch: int,
        now_ms: int,
    ) -> AppendedToLeader:
        """Append the control batch that ends a producer's transaction here; min.insync.replicas is asked for
        as with acks=-1.

        Raises Refused (NOT_LEADER_OR_FOLLOWER, NOT_ENOUGH_REPLICAS), and what `PartitionLog.append_marker`
        raises.
        """
        log = self._leader_log()
        if len(self.isr_state.isr) < self.min_isr:
            raise Refused(
                ErrorCode.NOT_ENOUGH_REPLICAS, f"{len(self.isr_state.isr)} in sync, {self.min_isr} asked for"
            )
        appended = log.append_marker(
            control_type,
            producer_id=producer_id,
            producer_epoch=producer_epoch,
            coordinator_epoch=coordinator_epoch,
            now_ms=now_ms,
            leader_epoch=self.leader_epoch,
        )
        return AppendedToLeader(appended, self._raise_high_watermark(log, now_ms))

    def check_acks(self, required_offset: int) -> Acked:
        """Whether all of the ISR have what ends at that offset. An error decides, too.

        Under min ISR the high watermark does not move: NOT_ENOUGH_REPLICAS_AFTER_APPEND comes only where it
        had passed the offset before the ISR shrank. It counts the maximal ISR, the check before the append
        the committed one.
        """
        if not self.is_leader:
            return Acked(False, ErrorCode.NOT_LEADER_OR_FOLLOWER)
        if self._own_log().high_watermark < required_offset:
            return Acked(False, ErrorCode.NONE)
        in_sync = len(self.isr_state.maximal_isr)
        is_enough = in_sync >= self.min_insync_replicas or in_sync >= self.min_isr
        return Acked(True, ErrorCode.NONE if is_enough else ErrorCode.NOT_ENOUGH_REPLICAS_AFTER_APPEND)

    def fetch_as_follower(
        self, replica: int, broker_epoch: int, fetch: PartitionFetch, now_ms: int
    ) -> FetchedPartition:
        """Answer another replica's fetch, and note what it says of that replica. broker_epoch: of its sender;
        -1: not checked.

        The first check that fails decides: leader epoch, leader, replica, then as `_read`. The high watermark
        in the answer is the one before this fetch moved it: a follower learns of it one fetch later. Where
        the logs diverge, nothing is noted.
        Raises Refused, OffsetOutOfRange.
        """
        log = self.log_for(fetch.leader_epoch, needs_leader=True)
        follower = self.followers.get(replica)
        if follower is None:
            # With the right epoch it may be a replica that this broker has yet to hear of.
            code = (
                ErrorCode.UNKNOWN_LEADER_EPOCH
                if fetch.leader_epoch is not None
                else ErrorCode.NOT_LEADER_OR_FOLLOWER
            )
            raise Refused(code, f"{replica} is not one of the replicas {self.replicas}")
        answer = self._read(log, fetch, Isolation.LOG_END)
        if answer.diverging is None:
            # Where truncation has left no record up to the log end, a read ends there.
            if not answer.data and log.is_in_open_end(fetch.offset):
                fetch = fetch._replace(offset=log.log_end_offset)
            self.note_fetch(replica, broker_epoch, fetch, now_ms)
        return answer

    def note_fetch(self, replica: int, broker_epoch: int, fetch: PartitionFetch, now_ms: int) -> None:
        """Another replica's fetch was read here: it has all records before that offset. Raises Refused."""
        log, follower = self._leader_log(), self.followers[replica]
        known = self.brokers.get(replica)
        if known is not None and known.epoch > broker_epoch != -1 and known.is_alive and not known.is_fenced:
            raise Refused(
                ErrorCode.NOT_LEADER_OR_FOLLOWER,
                f"broker epoch {broker_epoch}; {replica} has registered again as {known.epoch}",
            )
        end_before = follower.log_end_offset
        follower.fetched(fetch.offset, fetch.log_start_offset, now_ms, log.log_end_offset, broker_epoch)
        if replica not in self.isr_state.isr:
            self._maybe_expand_isr(replica)
        if fetch.offset != end_before:
            self._raise_high_watermark(log, now_ms)

    def fetch_as_consumer(
        self, fetch: PartitionFetch, isolation: Isolation, *, needs_leader: bool = True
    ) -> FetchedPartition:
        """Answer a consumer's fetch; needs_leader: False where it may read from a follower near it. Raises
        Refused, OffsetOutOfRange."""
        return self._read(self.log_for(fetch.leader_epoch, needs_leader=needs_leader), fetch, isolation)

    def list_offset(
        self,
        timestamp: int,
        isolation: Isolation,
        leader_epoch: int | None = None,
        *,
        needs_leader: bool = True,
    ) -> TimestampAnswer | None:
        """Answer ListOffsets; None: no record is that young. isolation: LOG_END for a replica.

        A client gets OFFSET_NOT_AVAILABLE while the high watermark is below the start of the leader's
        epoch: it might have seen more under the leader before. Raises Refused.
        """
        log = self.log_for(leader_epoch, needs_leader=needs_leader)
        is_lagging = self.epoch_start_offset is not None and self.epoch_start_offset > log.high_watermark
        unavailable = Refused(
            ErrorCode.OFFSET_NOT_AVAILABLE,
            f"the high watermark is {log.high_watermark}, the epoch began later",
        )
        end = {
            Isolation.LOG_END: log.log_end_offset,
            Isolation.HIGH_WATERMARK: log.high_watermark,
            Isolation.TXN_COMMITTED: log.last_stable_offset,
        }[isolation]
        if timestamp == LATEST:
            if is_lagging and isolation is not Isolation.LOG_END:
                raise unavailable
            return TimestampAnswer(TimestampOffset(-1, end), self.leader_epoch)
        found = log.offset_for_time(timestamp)
        if found is not None and (timestamp == EARLIEST or found.offset < end):
            return TimestampAnswer(found, log.epoch_of_answer(timestamp, found.offset))
        if is_lagging and isolation is not Isolation.LOG_END:
            raise unavailable
        return None

    def delete_records(self, before_offset: int) -> int:
        """DeleteRecords; -1: up to the high watermark. Gives the low watermark. Raises Refused,
        OffsetOutOfRange."""
        log = self._leader_log()
        if not log.settings.cleanup_delete:
            raise Refused(ErrorCode.POLICY_VIOLATION, "the topic's cleanup policy does not delete")
        delete_records(log, before_offset)
        return self.low_watermark()

    def low_watermark(self) -> int:
        """The smallest log start offset of the leader and of the followers that are alive; -1 if one of those
        has not fetched.

        Raises Refused.
        """
        starts = [
            follower.log_start_offset
            for replica, follower in self.followers.items()
            if self._is_alive(replica)
        ]
        return min([self._leader_log().log_start_offset, *starts])

    def last_offset_for_epoch(
        self, epoch: int, leader_epoch: int | None, *, needs_leader: bool = True
    ) -> EpochStart:
        """Answer OffsetsForLeaderEpoch: (largest epoch at or below it, its end offset), (-1, -1): not known.
        Raises Refused."""
        log = self.log_for(leader_epoch, needs_leader=needs_leader)
        return log.epochs.end_offset_for(epoch, log.log_end_offset)

    # --- as a follower

    def append_as_follower(self, data: Buffer, now_ms: int) -> Appended:
        """Append what the leader gave. Raises what `PartitionLog.append_as_follower` raises.

        The first batch of an empty log may begin below its start, where DeleteRecords on the leader has cut
        into it: the log then restarts there.
        """
        log = self._own_log()
        try:
            return log.append_as_follower(data, now_ms=now_ms)
        except UnexpectedAppendOffset as error:
            is_empty = log.log_end_offset == log.log_start_offset
            if not (is_empty and error.first_offset < log.log_end_offset <= error.last_offset):
                raise
            log.restart_at(error.first_offset, now_ms)
            return log.append_as_follower(data, now_ms=now_ms)

    # --- inside

    def _note_assignment(self, state: LeaderAndIsr) -> None:
        self.replicas, self.adding, self.removing = (
            tuple(state.replicas),
            tuple(state.adding),
            tuple(state.removing),
        )

    def _read(self, log: PartitionLog, fetch: PartitionFetch, isolation: Isolation) -> FetchedPartition:
        """Read, unless the reader's last epoch shows that its log is another one. Raises OffsetOutOfRange.

        An epoch that is unknown here, then an offset below the log start, then the divergence, then an offset
        beyond the log end.
        """
        high_watermark, end, start = log.high_watermark, log.log_end_offset, log.log_start_offset
        stable = high_watermark if log.first_unstable_offset is None else log.last_stable_offset
        offset, last_epoch = fetch.offset, fetch.last_fetched_epoch
        if offset == end and isolation is Isolation.LOG_END and last_epoch == log.epochs.latest >= 0:
            # What a follower that keeps up asks for: no divergence, and nothing to read.
            return _new_tuple(FetchedPartition, (high_watermark, stable, start, end, _NOTHING, None, None))
        if last_epoch is not None:
            epoch, end_offset = found = log.epochs.end_offset_for(last_epoch, end)
            if found == UNDEFINED:
                raise OffsetOutOfRange(f"epoch {last_epoch} is above all that is known here")
            if offset < start:
                raise OffsetOutOfRange(f"offset {offset}; the log starts at {start}")
            if epoch < last_epoch or end_offset < offset:
                return FetchedPartition(high_watermark, stable, start, end, diverging=found)
        fetched, aborted = log.read_as(isolation, offset, fetch.bytes_max)
        return _new_tuple(FetchedPartition, (high_watermark, stable, start, end, fetched.data, None, aborted))
