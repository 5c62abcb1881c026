"""The outbox of a node that is played without a world: it keeps what the node answers, and its deadlines."""

from __future__ import annotations

from typing import Any

from broker_core.events import Cause, Json
from broker_core.sim.disk import Disk


class Answers:
    """answers: in order, of those that were not taken. deadlines: name -> microsecond. draws: what `draw` gives, in
    order."""

    name = "node"
    disk: Disk

    def __init__(self) -> None:
        self.answers: list[Any] = []
        self.deadlines: dict[str, int] = {}
        self.draws: list[int] = []

    def take_one(self) -> Any:
        """The one answer to a request. Raises ValueError when there were none or several."""
        (answer,) = self.answers
        self.answers.clear()
        return answer

    def connect(self, to: str) -> int:
        raise NotImplementedError(f"a played node has nobody to connect to ({to})")

    def send(self, connection: int, message: Any) -> None:
        self.answers.append(message)

    def close(self, connection: int) -> None:
        """Nothing depends on it here."""

    def unsent(self, connection: int) -> int:
        return 0

    def deadline(self, name: str, at_us: int, because: Cause | None = None) -> None:
        self.deadlines[name] = at_us

    def cancel(self, name: str) -> None:
        self.deadlines.pop(name, None)

    def draw(self, stream: str, limit: int) -> int:
        return self.draws.pop(0)

    def tell(self, kind: str, rule: str | None, inputs: Json, data: Json) -> Cause:
        return Cause()

    def because(self, cause: Cause) -> None:
        """Nothing depends on it here."""

    def why(self) -> Cause:
        return Cause()

    def blame_silence(self, connection: int) -> None:
        """Nothing depends on it here."""
