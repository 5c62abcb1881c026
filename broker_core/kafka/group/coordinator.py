"""One classic consumer group at its coordinator: members, generations, the join phase.

    Empty --join--> PreparingRebalance --all joined--> CompletingRebalance --leader synced--> Stable
      ^                    ^    ^------------------------- join, leave, expiry ------------------|
      +--- last one left --+

The coordinator knows members and when the join phase is over; it knows nothing of partitions: the leader assigns (source: Kafka 3.9,
group-coordinator `ClassicGroup` and `GroupMetadataManager`; docs/kafka/facts.md). Time-free but for the initial delay, which is a
field. Left out until the groups' own issue: static members, protocol voting, parked joins that time out, sync time-outs.
"""

from collections.abc import Mapping
from dataclasses import dataclass, field
from types import MappingProxyType

from broker_core.clock import SECOND_US
from broker_core.errors import InvariantError
from broker_core.hashing.java_map import java_order

EMPTY, PREPARING, COMPLETING, STABLE = "Empty", "PreparingRebalance", "CompletingRebalance", "Stable"
INITIAL_REBALANCE_DELAY_US = 3 * SECOND_US
REBALANCE_TIMEOUT_US = 300 * SECOND_US
SESSION_TIMEOUT_US = 45 * SECOND_US
HEARTBEAT_INTERVAL_US = 3 * SECOND_US
HEARTBEAT_LATE_MAX_US = SECOND_US // 10
AUTO_COMMIT_INTERVAL_US = 5 * SECOND_US

PREVIOUS_STATES: Mapping[str, tuple[str, ...]] = MappingProxyType(
    {
        EMPTY: (PREPARING,),
        PREPARING: (STABLE, COMPLETING, EMPTY),
        COMPLETING: (PREPARING,),
        STABLE: (COMPLETING,),
    }
)


@dataclass(slots=True)
class Group:
    """members: member id -> whether its JoinGroup is waiting for the join phase to end. In the order in which they were added.

    initial_deadline_us: end of the initial delay while one runs. initial_left_us: by how much it may still be prolonged.
    """

    state: str = EMPTY
    generation: int = 0
    leader: str | None = None
    members: dict[str, bool] = field(default_factory=dict)
    new_member_added: bool = False
    initial_deadline_us: int | None = None
    initial_left_us: int = 0

    def _enter(self, state: str) -> None:
        if self.state not in PREVIOUS_STATES[state]:
            raise InvariantError(f"a group cannot go from {self.state} to {state}")
        self.state = state

    def join(self, member_id: str, now_us: int) -> bool:
        """A member's JoinGroup arrives and waits. Returns whether this began a rebalance (the other members must learn of it)."""
        if member_id not in self.members and self.state == PREPARING and self.generation == 0:
            self.new_member_added = True
        self.members[member_id] = True
        if self.leader is None:
            self.leader = member_id
        match self.state:
            case "Empty":
                self._enter(PREPARING)
                self.initial_deadline_us = now_us + INITIAL_REBALANCE_DELAY_US
                self.initial_left_us = REBALANCE_TIMEOUT_US - INITIAL_REBALANCE_DELAY_US
                return False
            case "Stable" | "CompletingRebalance":
                self._enter(PREPARING)
                return True
        return False

    def initial_delay_over(self, now_us: int) -> bool:
        """The initial delay ran out. Prolongs it and returns False if somebody new arrived meanwhile (InitialDelayedJoin)."""
        if self.new_member_added and self.initial_left_us:
            self.new_member_added = False
            delay_us = min(INITIAL_REBALANCE_DELAY_US, self.initial_left_us)
            self.initial_left_us -= delay_us
            self.initial_deadline_us = now_us + delay_us
            return False
        self.initial_deadline_us = None
        return True

    def remove(self, member_id: str) -> bool:
        """A member left or its session timed out. Returns whether this began a rebalance."""
        del self.members[member_id]
        if self.leader == member_id:
            # The first key of a java.util.HashMap, so not the one who joined first.
            self.leader = java_order(list(self.members))[0] if self.members else None
        if self.state in (STABLE, COMPLETING):
            self._enter(PREPARING)
            return True
        return False

    def is_join_complete(self) -> bool:
        """Whether every known member has joined. A dead one holds up all others until its session times out."""
        return self.state == PREPARING and self.initial_deadline_us is None and all(self.members.values())

    def complete_join(self) -> None:
        """End of the join phase: the next generation; everybody gets an answer, the leader the list of members."""
        self.generation += 1
        self.new_member_added = False
        for member_id in self.members:
            self.members[member_id] = False
        self._enter(COMPLETING if self.members else EMPTY)

    def leader_synced(self) -> None:
        """The leader's SyncGroup brought the assignment."""
        self._enter(STABLE)
