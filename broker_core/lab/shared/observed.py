"""What an observer may ask of a lane."""

from __future__ import annotations

from typing import Any, Protocol

from broker_core.events import Json
from broker_core.lab.consumer import Consumer
from broker_core.lab.shared.reading import Reading
from broker_core.lab.workload.live_keys import LiveKeys


class ObservedLane(Protocol):
    """A lane (`Lane`). ledger: its `Ledger`, world: its `World`, narrator: its model's."""

    consumers: dict[str, Consumer]
    keys_have_owners: bool
    keys: LiveKeys
    reads: Reading
    narrator: Any
    ledger: Any
    world: Any
    now_us: int
    next_record: int
    crash_positions: dict[str, int]
    history: dict[int, int | None]
    why: list[Json]
    at_rest: Json

    def count_handled(self) -> None:
        """What the programs have handled by now is in the tally."""

    def say(self, code: str, /, **params: Any) -> None:
        """Set the lane's sentence."""

    def state_word(self, consumer: Consumer) -> str:
        """How a consumer is, in one word."""
