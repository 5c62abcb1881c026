"""Playing a node without a world: send it this, expect that. `Played` is the outbox it is given, and keeps
everything it did."""

from __future__ import annotations

from typing import Any

from broker_core.events import Cause, Json
from broker_core.sim.disk import Disk


class Played:
    """sent: (connection, message). deadlines: name -> at_us. told: (kind, data). draws: what `draw` gives, in order, then 0.
    cause: of what the node answers."""

    def __init__(self, name: str = "node", draws: tuple[int, ...] = ()) -> None:
        self.name, self.disk = name, Disk()
        self.sent: list[tuple[int, Any]] = []
        self.deadlines: dict[str, int] = {}
        self.told: list[tuple[str, Json]] = []
        self.rules: list[str | None] = []
        self.connected: dict[int, str] = {}
        self.closed: list[int] = []
        self.blamed: list[Cause | int] = []
        self.cause = Cause()
        self._draws = list(draws)

    def connect(self, to: str) -> int:
        connection = len(self.connected) + 1
        self.connected[connection] = to
        return connection

    def send(self, connection: int, message: Any) -> None:
        assert connection not in self.closed, f"{message} on connection {connection}, which is closed"
        self.sent.append((connection, message))

    def close(self, connection: int) -> None:
        self.closed.append(connection)

    def unsent(self, connection: int) -> int:
        return 0

    def deadline(self, name: str, at_us: int, because: Cause | None = None) -> None:
        self.deadlines[name] = at_us

    def cancel(self, name: str) -> None:
        self.deadlines.pop(name, None)

    def draw(self, stream: str, limit: int) -> int:
        return self._draws.pop(0) % limit if self._draws else 0

    def tell(self, kind: str, rule: str | None, inputs: Json, data: Json) -> Cause:
        self.told.append((kind, data))
        self.rules.append(rule)
        return Cause(event=f"test:{len(self.told)}")

    def because(self, cause: Cause) -> None:
        self.blamed.append(cause)

    def why(self) -> Cause:
        return self.cause

    def blame_silence(self, connection: int) -> None:
        self.blamed.append(connection)

    def take(self) -> list[Any]:
        """What was sent since the last call, as (connection, message)."""
        sent, self.sent = self.sent, []
        return sent


class Counted:
    """A `Traffic` that keeps what it hears."""

    def __init__(self) -> None:
        self.log: list[tuple[str, int]] = []
        self.received_count = 0

    def received(self, program: str, message: int, now_us: int) -> None:
        self.received_count += 1

    def handled(self, program: str, message: int, now_us: int) -> None:
        self.log.append(("handled", message))

    def dropped(self, program: str, message: int, now_us: int) -> None:
        self.log.append(("dropped", message))


def play(node: Any, out: Played, connection: int, *messages: Any, now_us: int = 0) -> list[Any]:
    """Send the node messages on a connection, and give what it sent in answer."""
    for message in messages:
        node.receive(connection, message, now_us, out)
    return out.take()


def wake(node: Any, out: Played, name: str) -> list[Any]:
    """Let the node's deadline of that name come due, and give what it sent."""
    node.wake(name, out.deadlines.pop(name), out)
    return out.take()
