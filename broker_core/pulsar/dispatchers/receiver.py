"""A connected consumer of a Shared or Key_Shared subscription, as its dispatcher knows it."""

from dataclasses import dataclass, field


@dataclass(slots=True)
class Receiver:
    """consumer: unique. priority: priorityLevel, 0 is best. permits: messages that it can take; a batch may
    take more than there are. pending: entries sent and not acknowledged, position -> hash of the key.
    unacked: messages in them. is_blocked: it reached its limit of unacknowledged messages. withheld: permits
    it granted since then, which count once it is released."""

    consumer: str
    priority: int = 0
    permits: int = 0
    name: str = ""
    pending: dict[int, int] = field(default_factory=dict)
    unacked: int = 0
    is_blocked: bool = False
    withheld: int = 0

    @property
    def is_available(self) -> bool:
        """Whether it can be sent something."""
        return self.permits > 0 and not self.is_blocked
