"""Who of a partition's replicas is in sync, as their leader sees it, and the high watermark that follows.

    a follower reached the high watermark ─► joins the ISR?  ─┐
    time ─► who is late leaves the ISR?  ─────────────────────┴─► the controller agrees ─► high watermark

    high watermark = min(log end) over the maximal ISR and over those that are caught up and may join,
                     if the committed ISR has min.insync.replicas members

The leader asks the controller for each change of the ISR, and has one request on its way at a time.

Source: Kafka 3.9 core Partition. Vectors: kafka/replication/partition.json.
"""

from __future__ import annotations

from dataclasses import dataclass, field

from broker_core.errors import InvariantError
from broker_core.kafka.error_codes import ErrorCode, Refused
from broker_core.kafka.log.partition_log import PartitionLog
from broker_core.kafka.replication.brokers import Brokers, alive_epoch
from broker_core.kafka.replication.partition_state import (
    STAYS_PENDING,
    TO_COMMITTED,
    AlterPartitionRequest,
    AlterPartitionSlot,
    CommittedIsr,
    IsrState,
    LeaderAndIsr,
    PendingIsr,
)
from broker_core.kafka.replication.replica_state import ReplicaState

REPLICA_LAG_TIME_MAX_MS = 30_000


@dataclass(slots=True)
class InSyncReplicas:
    """All that a broker knows of a partition. log: None until it has a replica here.

    brokers: the broker's metadata of all brokers, shared. broker_epoch: its own. lag_messages_max: the rule
    from before 0.9, for teaching: who is further behind leaves the ISR at once; None: no such rule.
    """

    broker_id: int
    brokers: Brokers
    broker_epoch: int
    min_insync_replicas: int = 1
    lag_ms_max: int = REPLICA_LAG_TIME_MAX_MS
    lag_messages_max: int | None = None
    log: PartitionLog | None = None
    leader: int | None = None
    leader_epoch: int = -1
    partition_epoch: int = 0
    epoch_start_offset: int | None = None  # where the current leader epoch begins; None: not the leader
    followers: dict[int, ReplicaState] = field(default_factory=dict)  # the leader's picture of the others
    isr_state: IsrState = field(default_factory=CommittedIsr)
    replicas: tuple[int, ...] = ()
    adding: tuple[int, ...] = ()
    removing: tuple[int, ...] = ()
    alter_partition: AlterPartitionSlot = field(default_factory=AlterPartitionSlot)

    @property
    def is_leader(self) -> bool:
        return self.leader == self.broker_id

    @property
    def min_isr(self) -> int:
        """min.insync.replicas, but never more than there are replicas."""
        return min(self.min_insync_replicas, len(self.followers) + 1)

    @property
    def is_under_min_isr(self) -> bool:
        return self.is_leader and len(self.isr_state.isr) < self.min_isr

    def out_of_sync(self, now_ms: int) -> list[int]:
        """The ISR's members that are late now; none while a change is under way."""
        if self.isr_state.is_pending:
            return []
        end = self._own_log().log_end_offset
        late = [
            replica
            for replica in self.isr_state.isr - {self.broker_id}
            if self._is_late(replica, end, now_ms)
        ]
        return sorted(late)

    def maybe_shrink_isr(self, now_ms: int) -> None:
        """Ask the controller to drop late members. The original looks every half of
        `replica.lag.time.max.ms`."""
        if not self.is_leader or not isinstance(self.isr_state, CommittedIsr):
            return
        late = self.out_of_sync(now_ms)
        if late:
            self._propose(self.isr_state.isr.difference(late), self.isr_state, None)

    def alter_partition_succeeded(self, answer: LeaderAndIsr, now_ms: int) -> None:
        """The controller has answered with what holds now. An answer to a change that was overtaken, or with
        other epochs, is passed over."""
        change = self.alter_partition.answered()
        if change is None or self.isr_state != change:
            return
        if answer.leader_epoch != self.leader_epoch or answer.partition_epoch < self.partition_epoch:
            return
        self.isr_state = CommittedIsr(frozenset(answer.isr))
        self.partition_epoch = answer.partition_epoch
        self._raise_high_watermark(self._own_log(), now_ms)

    def alter_partition_failed(self, error: ErrorCode) -> None:
        """The controller has refused: back to the committed ISR, wait for metadata, or ask again, by the
        error."""
        change = self.alter_partition.answered()
        if change is None or self.isr_state != change:
            return
        if error in TO_COMMITTED:
            self.isr_state = change.committed
        elif error not in STAYS_PENDING:
            self.alter_partition.submit(change)

    # --- inside

    def log_for(self, leader_epoch: int | None, *, needs_leader: bool) -> PartitionLog:
        """Give the log to a request that names a leader epoch; None: it does not.

        Raises Refused: FENCED_LEADER_EPOCH, UNKNOWN_LEADER_EPOCH, NOT_LEADER_OR_FOLLOWER.
        """
        if leader_epoch is not None and leader_epoch != self.leader_epoch:
            code = (
                ErrorCode.FENCED_LEADER_EPOCH
                if leader_epoch < self.leader_epoch
                else ErrorCode.UNKNOWN_LEADER_EPOCH
            )
            raise Refused(code, f"leader epoch {leader_epoch}; here it is {self.leader_epoch}")
        if (needs_leader and self.leader != self.broker_id) or self.log is None:
            raise Refused(ErrorCode.NOT_LEADER_OR_FOLLOWER, f"the leader is {self.leader}")
        return self.log

    def _own_log(self) -> PartitionLog:
        if self.log is None:
            raise InvariantError("a replica has a log before it has a role")
        return self.log

    def _leader_log(self) -> PartitionLog:
        return self.log_for(None, needs_leader=True)

    def _is_late(self, replica: int, leader_end_offset: int, now_ms: int) -> bool:
        follower = self.followers.get(replica)
        if follower is None:
            return True
        if self.lag_messages_max is not None:
            return follower.is_stuck_or_slow(
                leader_end_offset, now_ms, self.lag_ms_max, self.lag_messages_max
            )
        return not follower.is_caught_up(leader_end_offset, now_ms, self.lag_ms_max)

    def _is_alive(self, replica: int) -> bool:
        return alive_epoch(self.brokers, replica) is not None

    def _is_eligible(self, replica: int) -> bool:
        """Whether it may join the ISR: alive, not fenced, not on its way out, and it fetches as the broker
        that is registered."""
        known = self.brokers.get(replica)
        fetched_as = self.followers[replica].broker_epoch
        if (
            known is None
            or known.is_fenced
            or known.is_shutting_down
            or not known.is_alive
            or fetched_as is None
        ):
            return False
        return fetched_as in (-1, known.epoch)

    def _maybe_expand_isr(self, replica: int) -> None:
        """Ask the controller to let a follower in that has reached the high watermark, and the start of the
        leader's epoch.

        Below that start there may be records that are committed, though the new leader does not know it yet:
        were the follower elected without them, they would be lost.
        """
        state, log, start = self.isr_state, self._own_log(), self.epoch_start_offset
        if (
            not isinstance(state, CommittedIsr)
            or replica in state.isr
            or start is None
            or not self._is_eligible(replica)
        ):
            return
        if self.followers[replica].log_end_offset >= max(log.high_watermark, start):
            self._propose(state.isr | {replica}, state, replica)

    def _propose(self, isr: frozenset[int], committed: CommittedIsr, added: int | None) -> None:
        members = tuple((broker, self._fetched_as(broker)) for broker in sorted(isr))
        self.alter_partition.proposed += 1
        request = AlterPartitionRequest(self.leader_epoch, self.partition_epoch, members)
        change = PendingIsr(committed, request, added, self.alter_partition.proposed)
        # While another request is on its way this one is not attempted, and all is as before.
        self.isr_state = change if self.alter_partition.submit(change) else committed

    def _fetched_as(self, broker: int) -> int:
        """The broker epoch under which a member of the ISR is known here; -1: it has not fetched yet."""
        if broker == self.broker_id:
            return self.broker_epoch
        follower = self.followers.get(broker)
        return -1 if follower is None or follower.broker_epoch is None else follower.broker_epoch

    def _raise_high_watermark(self, log: PartitionLog, now_ms: int) -> bool:
        """Move the high watermark to what all that count have. Tells whether it moved.

        Beside the maximal ISR those count that are caught up in time and may join: else it would run away
        from them for ever.
        """
        state = self.isr_state
        if self.leader != self.broker_id or (
            len(state.isr) < self.min_insync_replicas and self.is_under_min_isr
        ):
            return False
        end = lowest = log.log_end_offset
        for replica, follower in self.followers.items():
            if follower.log_end_offset < lowest:
                is_member = replica in state.isr or replica in state.maximal_isr
                if is_member or (
                    follower.is_caught_up(end, now_ms, self.lag_ms_max) and self._is_eligible(replica)
                ):
                    lowest = follower.log_end_offset
        return log.raise_high_watermark(lowest, is_placed=True)
