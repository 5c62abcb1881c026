"""Which brokers the controller hears of: each heartbeat renews a session, and says what the broker wants to
be.

    fenced ──heartbeat──► unfenced ──wants to shut down──► in controlled shutdown ──leads nothing any more──► may go
       ▲                     │ no heartbeat for more than the session timeout, or it asks for it
       └─────────────────────┘

Source: Kafka 3.9 metadata BrokerHeartbeatManager. Vectors: kafka/replication/controller.json, kind
`control_manager`.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from enum import Enum

SESSION_TIMEOUT_MS = 9_000


class BrokerControlState(Enum):
    """What the controller takes a broker for."""

    FENCED = "fenced"
    UNFENCED = "unfenced"
    CONTROLLED_SHUTDOWN = "controlled_shutdown"
    SHUTDOWN_NOW = "shutdown_now"


@dataclass(slots=True)
class BrokerSessions:
    """last_contact_ms: of each registered broker. unfenced: those that are, by last contact."""

    timeout_ms: int = SESSION_TIMEOUT_MS
    last_contact_ms: dict[int, int] = field(default_factory=dict)
    unfenced: dict[int, None] = field(default_factory=dict)

    def touch(self, broker: int, is_fenced: bool, now_ms: int) -> None:
        """The broker was heard of, or registered."""
        self.last_contact_ms[broker] = now_ms
        self.unfenced.pop(broker, None)
        if not is_fenced:
            self.unfenced[broker] = None

    def remove(self, broker: int) -> None:
        """It is registered no more, or again."""
        self.last_contact_ms.pop(broker, None)
        self.unfenced.pop(broker, None)

    def has_valid_session(self, broker: int, now_ms: int) -> bool:
        """Whether it is unfenced and was heard of in time; exactly the timeout ago still is."""
        return broker in self.unfenced and self.last_contact_ms[broker] + self.timeout_ms >= now_ms

    def stale(self, now_ms: int) -> int | None:
        """The unfenced broker that was not heard of for the longest time, if that is too long; None: there is
        none. One a pass."""
        oldest = next(iter(self.unfenced), None)
        return oldest if oldest is not None and not self.has_valid_session(oldest, now_ms) else None

    def next_state(
        self, broker: int, *, wants_fence: bool, wants_shutdown: bool, leads: bool
    ) -> BrokerControlState:
        """What a heartbeat makes of a broker. leads: whether it leads a partition.

        The original also keeps a broker from going until all others have read the metadata of its shutdown;
        here they are read at once.
        """
        if broker not in self.unfenced:
            if wants_shutdown:
                return BrokerControlState.SHUTDOWN_NOW
            return BrokerControlState.FENCED if wants_fence else BrokerControlState.UNFENCED
        if not wants_shutdown:
            return BrokerControlState.FENCED if wants_fence else BrokerControlState.UNFENCED
        return (
            BrokerControlState.CONTROLLED_SHUTDOWN
            if leads and not wants_fence
            else BrokerControlState.SHUTDOWN_NOW
        )
