"""Who may overhear where the broker's messages go. It changes nothing."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, Protocol

from broker_core.rabbitmq.messages import Stored


class Ear(Protocol):
    """connection, program: on which connection, and whose that is. message: as the broker holds it, and still held. queue: by name."""

    def hears(self, method: Any) -> None:
        """A client's method is served: what it does is overheard next."""

    def published(
        self,
        connection: int,
        program: str,
        vhost: str,
        message: int,
        routing_key: str,
        queues: list[str],
        is_returned: bool,
    ) -> None:
        """It came to its exchange, and reaches these queues. routing_key: of a workload's message, which has none
        stored."""

    def refused(self, message: int, queue: str) -> None:
        """A queue at its limit does not take it."""

    def delivered(
        self,
        program: str,
        vhost: str,
        message: int,
        queue: str,
        redelivered: bool,
        needs_ack: bool,
        method: Any,
    ) -> None:
        """To a consumer or a basic.get, by this method of the server."""

    def settled(self, program: str, vhost: str, message: int, queue: str, how: str) -> None:
        """how: ack, requeue or discard, or why its channel is gone, which gives it back."""

    def died(
        self, message: int, vhost: str, queue: str, reason: str, copy: Stored | None, queues: Sequence[str]
    ) -> None:
        """A queue drops it by rule. copy: what goes to the exchange of dead letters, None where there is none. queues:
        that take it from there."""

    def dropped(self, message: int, queue: str, reason: str) -> None:
        """With all else that the queue holds."""
