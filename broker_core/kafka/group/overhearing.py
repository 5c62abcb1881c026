"""Who listens to a group's messages, for a picture of them: told of each at the places that it passes, and
changes nothing.

consumer ─ sent ─► network ─► arrived ─ coordinator ─ answered ─► network ─► received ─ consumer          lost: the connection broke
"""

from __future__ import annotations

from typing import Any, Protocol


class Overhears(Protocol):
    """connection: the consumer's to its coordinator, the same number at both ends; what travels on it keeps
    its order."""

    def sent(self, client_id: str, connection: int, request: Any) -> None:
        """A consumer sends a request, to its coordinator or to any other broker."""
        ...

    def arrived(self, broker_id: int, connection: int, request: Any) -> None:
        """A coordinator reads a group's request."""
        ...

    def answered(self, connection: int, response: Any) -> None:
        """A coordinator answers the request that it read on this connection; a parked one long after it
        came."""
        ...

    def received(self, connection: int, response: Any) -> None:
        """An answer has reached its consumer."""
        ...

    def lost(self, connection: int) -> None:
        """The connection is no more, at the consumer's end: what is under way on it has no answer."""
        ...
