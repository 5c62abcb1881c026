"""A follower copies its leader: it first makes sure that its log is a beginning of the leader's, then fetches
from its end on.

How it makes sure has changed over the years, and is a setting here:

    HIGH_WATERMARK   before 0.11     cut to the own high watermark            loses records, and logs may differ for ever
    EPOCH_REQUEST    0.11 to 2.6     ask where the last epoch ends            OffsetsForLeaderEpoch, perhaps several rounds
    FETCH            since 2.7       say the last epoch in the fetch itself   the answer names the epoch in which the logs part

    Truncating ─► truncated ─► Fetching ─► appended, high watermark, log start ─► Fetching
                                  │ OFFSET_OUT_OF_RANGE: where does the leader end? and begin?
                                  └ fenced, or what came cannot be appended: failed, until it is made follower again

`next_request` says what to send now, the `..._answered` functions take what came back.

Source: Kafka 3.9 core AbstractFetcherThread, ReplicaFetcherThread, ReplicaManager.initialFetchOffset.
Vectors: kafka/replication/fetcher.json.
"""

from __future__ import annotations

from dataclasses import dataclass
from enum import Enum
from typing import NamedTuple

from broker_core.errors import InvariantError
from broker_core.kafka.error_codes import ErrorCode
from broker_core.kafka.log.errors import CorruptRecord, InvalidRecord, LogError
from broker_core.kafka.log.leader_epochs import UNDEFINED, EpochStart
from broker_core.kafka.log.local_log import EARLIEST, LATEST
from broker_core.kafka.log.partition_log import PartitionLog
from broker_core.kafka.replication.fetch import EVERYTHING, FetchedPartition, PartitionFetch
from broker_core.kafka.replication.partition import Partition

_new_tuple = tuple.__new__  # a named tuple in half the time


class Truncation(Enum):
    """How a follower finds out what to cut off."""

    FETCH = "fetch"
    EPOCH_REQUEST = "epoch_request"
    HIGH_WATERMARK = "hw"


class Step(Enum):
    """What a fetcher does now."""

    TRUNCATING = "Truncating"
    FETCHING = "Fetching"


class EpochQuestion(NamedTuple):
    """OffsetsForLeaderEpoch: where does that epoch end? leader_epoch: who is asked, by the follower's idea of
    it."""

    leader_epoch: int
    epoch: int


class OffsetQuestion(NamedTuple):
    """ListOffsets by a replica. timestamp: LATEST (-1) or EARLIEST (-2)."""

    leader_epoch: int
    timestamp: int


FetcherRequest = PartitionFetch | EpochQuestion | OffsetQuestion


class Truncated(NamedTuple):
    """What was cut off. is_complete: whether the logs agree now, as far as the follower knows. is_all:
    nothing was kept, it starts there."""

    offset: int
    is_complete: bool = True
    is_all: bool = False


@dataclass(slots=True)
class FetchState:
    """Where a fetcher is. lag: to the leader's high watermark; None: it has had no answer yet.

    asks: what to ask after OFFSET_OUT_OF_RANGE, LATEST and then EARLIEST; leader_end_offset: the answer to
    the first.
    """

    offset: int
    leader_epoch: int
    step: Step
    last_fetched_epoch: int | None = None
    lag: int | None = None
    asks: int | None = None
    leader_end_offset: int = 0


@dataclass(slots=True)
class Fetcher:
    """The fetcher of one partition. state: None while it does not fetch. is_failed: it gave up until it is
    made follower again."""

    partition: Partition
    truncation: Truncation = Truncation.FETCH
    state: FetchState | None = None
    is_failed: bool = False

    def start(self) -> None:
        """The partition follows a leader of a new epoch: begin again, at the log end where epochs are there
        to compare, else at the high watermark."""
        log, epoch = self._log(), self.partition.leader_epoch
        self.is_failed = False
        if self.truncation is Truncation.FETCH and log.epochs.rows:
            self.state = FetchState(log.log_end_offset, epoch, Step.FETCHING, log.epochs.latest)
        else:
            self.state = FetchState(log.high_watermark, epoch, Step.TRUNCATING)

    def stop(self) -> None:
        """The partition leads, or has no leader to follow."""
        self.state = None

    @property
    def is_fetching(self) -> bool:
        """Whether its log agrees with the leader's, as far as it knows: there is nothing to cut."""
        return self.state is not None and self.state.step is Step.FETCHING

    def truncate_to_high_watermark(self, now_ms: int) -> Truncated | None:
        """Where no epochs can be compared, cut to where the fetcher started; None: there is another way, or
        no need.

        To be called before `next_request`.
        """
        state, log = self.state, self._log()
        if state is None or state.step is not Step.TRUNCATING:
            return None
        if self.truncation is not Truncation.HIGH_WATERMARK and log.epochs.rows:
            return None
        return self._truncate(state, Truncated(state.offset), now_ms)

    def next_request(self) -> FetcherRequest | None:
        """What to send to the leader now; None: nothing, for it does not fetch."""
        state, log = self.state, self._log()
        if state is None:
            return None
        if state.asks is not None:
            return OffsetQuestion(state.leader_epoch, state.asks)
        if state.step is Step.TRUNCATING:
            return EpochQuestion(state.leader_epoch, log.epochs.latest)
        last_epoch = state.last_fetched_epoch if self.truncation is Truncation.FETCH else None
        return _new_tuple(
            PartitionFetch, (state.offset, state.leader_epoch, last_epoch, log.log_start_offset, EVERYTHING)
        )

    # --- answers

    def epoch_answered(self, request: EpochQuestion, answer: EpochStart, now_ms: int) -> Truncated | None:
        """Cut to where the logs part. answer: (epoch, end offset) on the leader. None: the answer is to a
        question from before."""
        state = self._asked(request.leader_epoch)
        if state is None or state.step is not Step.TRUNCATING:
            return None
        return self._truncate(state, self._point_of_truncation(state, answer), now_ms)

    def fetch_answered(
        self, request: PartitionFetch, answer: FetchedPartition, now_ms: int
    ) -> Truncated | None:
        """Append what came, take over high watermark and log start; or cut, where the logs part. None:
        nothing was cut."""
        state = self._asked(request.leader_epoch)
        if state is None or state.step is not Step.FETCHING or state.offset != request.offset:
            return None
        if answer.diverging is not None and self.truncation is Truncation.FETCH:
            return self._truncate(state, self._point_of_truncation(state, answer.diverging), now_ms)
        try:
            self._take(state, self._log(), answer, now_ms)
        except (CorruptRecord, InvalidRecord):
            pass  # the next fetch brings it again, sound perhaps
        except LogError:
            self._fail()
        return None

    def high_watermark_told(self, request: PartitionFetch, high_watermark: int) -> bool:
        """`fetch_answered` by an answer in which only the high watermark is new. Tells whether what is asked
        next is what was asked."""
        state, log = self.state, self.partition.log
        if (
            state is None
            or state.leader_epoch != request.leader_epoch
            or state.step is not Step.FETCHING
            or state.offset != request.offset
        ):
            return False
        if log is None or state.offset != log.log_end_offset:
            self._fail()  # somebody else has changed the log
            return False
        log.high_watermark = high_watermark
        state.lag = max(0, high_watermark - state.offset)
        return True

    def offset_answered(self, request: OffsetQuestion, offset: int, now_ms: int) -> Truncated | None:
        """After OFFSET_OUT_OF_RANGE: cut to where the leader ends, drop all where it begins later, else go on
        from the own end."""
        state, log = self._asked(request.leader_epoch), self._log()
        if state is None or state.asks != request.timestamp:
            return None
        end = log.log_end_offset
        if request.timestamp == LATEST:
            if offset >= end:
                state.leader_end_offset, state.asks = offset, EARLIEST
                return None
            log.truncate_to(offset, now_ms)
            self._go_on_at(state, offset, lag=0)
            return Truncated(offset)
        lag = state.leader_end_offset - max(offset, end)
        if offset <= end:
            self._go_on_at(state, end, lag)
            return None
        log.restart_at(offset, now_ms)
        self._go_on_at(state, offset, lag)
        return Truncated(offset, is_all=True)

    def refused(self, request: FetcherRequest, error: ErrorCode) -> None:
        """The leader refused. Fenced by the epoch that still holds here: failed. Out of range: ask where it
        ends. Else: again later."""
        state = self._asked(request.leader_epoch)
        if state is None:
            return
        state.asks = None
        if error is ErrorCode.FENCED_LEADER_EPOCH:
            self._fail()
        elif error is ErrorCode.OFFSET_OUT_OF_RANGE and isinstance(request, PartitionFetch):
            state.asks = LATEST

    # --- inside

    def _log(self) -> PartitionLog:
        if self.partition.log is None:
            raise InvariantError("a follower has a log")
        return self.partition.log

    def _asked(self, leader_epoch: int | None) -> FetchState | None:
        """The state, if it is still that in which this epoch was asked."""
        return self.state if self.state is not None and self.state.leader_epoch == leader_epoch else None

    def _fail(self) -> None:
        self.state, self.is_failed = None, True

    def _go_on_at(self, state: FetchState, offset: int, lag: int | None) -> None:
        """Fetch from there next; the last epoch is what the log has."""
        epochs = self._log().epochs
        state.offset, state.step, state.lag, state.asks = offset, Step.FETCHING, lag, None
        state.last_fetched_epoch = epochs.latest if epochs.rows else None

    def _truncate(self, state: FetchState, cut: Truncated, now_ms: int) -> Truncated:
        self._log().truncate_to(cut.offset, now_ms)
        self._go_on_at(state, cut.offset, state.lag)
        if not cut.is_complete and self.truncation is not Truncation.FETCH:
            state.step = Step.TRUNCATING  # with FETCH the next fetch asks again, by its last epoch
        return cut

    def _point_of_truncation(self, state: FetchState, leaders: EpochStart) -> Truncated:
        """Where to cut, by the end of an epoch on the leader.

        An epoch that is unknown here: at the end of the largest one below it, and ask again. Nothing
        comparable: where the fetcher started, or where the leader's epoch ends.
        """
        log = self._log()
        epoch, end_offset = leaders
        if leaders == UNDEFINED:
            return Truncated(state.offset)
        own_epoch, own_end = own = log.epochs.end_offset_for(epoch, log.log_end_offset)
        if own == UNDEFINED:
            return Truncated(min(end_offset, log.log_end_offset))
        if own_epoch != epoch:
            return Truncated(min(own_end, log.log_end_offset), is_complete=False)
        return Truncated(min(own_end, end_offset, log.log_end_offset))

    def _take(self, state: FetchState, log: PartitionLog, answer: FetchedPartition, now_ms: int) -> None:
        """Append, then follow the leader's high watermark, then its log start. Raises LogError."""
        if state.offset != log.log_end_offset:
            self._fail()  # somebody else has changed the log
            return
        last_offset = (
            self.partition.append_as_follower(answer.data, now_ms).last_offset if answer.data else -1
        )
        log.high_watermark = answer.high_watermark
        if answer.log_start_offset > log.log_start_offset:
            log.raise_log_start(answer.log_start_offset)
        if last_offset >= state.offset:
            state.offset = last_offset + 1
            state.last_fetched_epoch = log.last_epoch_of(answer.data)
        state.lag = max(0, answer.high_watermark - state.offset)
