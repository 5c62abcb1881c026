"""What a leader knows of one follower: only what its fetches say.

    fetch at offset 7 while the leader ends at 7     caught up now
    fetch at offset 7 while it ended at 7 before     caught up when that earlier fetch came
    else                                             as caught up as it was

So a follower whose every fetch reaches the log end of the fetch before stays in sync, though it never reaches
the log end of now.

Source: Kafka 3.9 core Replica, ReplicaState. Vectors: kafka/replication/partition.json.
"""

from __future__ import annotations

from dataclasses import dataclass

UNKNOWN_OFFSET = -1


@dataclass(slots=True)
class ReplicaState:
    """One follower. Times in ms; None: never. broker_epoch: of its last fetch; None: it has not fetched."""

    log_start_offset: int = UNKNOWN_OFFSET
    log_end_offset: int = UNKNOWN_OFFSET
    last_fetch_leader_end_offset: int = 0
    last_fetch_ms: int | None = None
    last_caught_up_ms: int | None = None
    broker_epoch: int | None = None

    def is_caught_up(self, leader_end_offset: int, now_ms: int, lag_ms_max: int) -> bool:
        """Whether it has all there is, or had so at most that long ago. Without traffic nobody falls
        behind."""
        if self.log_end_offset == leader_end_offset:
            return True
        return self.last_caught_up_ms is not None and now_ms - self.last_caught_up_ms <= lag_ms_max

    def is_stuck_or_slow(
        self, leader_end_offset: int, now_ms: int, lag_ms_max: int, lag_messages_max: int
    ) -> bool:
        """The rule from before 0.9: it has not fetched for so long, or is more messages behind than that.

        A burst of messages makes every follower slow, however well it fetches: therefore the second half is
        gone.
        Source: Kafka 0.8.2 core Partition.getOutOfSyncReplicas.
        """
        heard_ms = self.last_caught_up_ms if self.last_fetch_ms is None else self.last_fetch_ms
        is_stuck = heard_ms is None or now_ms - heard_ms > lag_ms_max
        return is_stuck or (
            self.log_end_offset >= 0 and leader_end_offset - self.log_end_offset > lag_messages_max
        )

    def fetched(
        self, offset: int, log_start_offset: int, now_ms: int, leader_end_offset: int, broker_epoch: int
    ) -> None:
        """Note a fetch. leader_end_offset: before the read, so that later appends do not make the follower
        late."""
        if offset >= leader_end_offset:
            if self.last_caught_up_ms is None or self.last_caught_up_ms < now_ms:
                self.last_caught_up_ms = now_ms
        elif offset >= self.last_fetch_leader_end_offset:
            self.last_caught_up_ms = _later(self.last_caught_up_ms, self.last_fetch_ms)
        self.log_start_offset, self.log_end_offset = log_start_offset, offset
        if leader_end_offset > self.last_fetch_leader_end_offset:
            self.last_fetch_leader_end_offset = leader_end_offset
        self.last_fetch_ms = now_ms
        self.broker_epoch = broker_epoch

    def reset(self, now_ms: int, leader_end_offset: int, *, is_new_leader: bool, is_in_sync: bool) -> None:
        """A new leader epoch begins. A new leader knows nothing; one elected again keeps the offsets.

        Members of the ISR have until `replica.lag.time.max.ms` from now; the others count as late, so that
        they do not hold the high watermark back, and do not come back into the ISR before they have fetched.
        """
        self.last_caught_up_ms = now_ms if is_in_sync else None
        if is_new_leader:
            self.log_start_offset = self.log_end_offset = self.last_fetch_leader_end_offset = UNKNOWN_OFFSET
            self.last_fetch_ms = self.broker_epoch = None
        else:
            self.last_fetch_leader_end_offset = leader_end_offset
            self.last_fetch_ms = now_ms if is_in_sync else None


def _later(one: int | None, other: int | None) -> int | None:
    if one is None or other is None:
        return other if one is None else one
    return max(one, other)
