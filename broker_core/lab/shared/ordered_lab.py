"""What an order may do with a lab."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import Any, Protocol

from broker_core.events import Json
from broker_core.lab.pieces import Pieces
from broker_core.lab.shared.lane import Lane


class OrderedLab(Protocol):
    """A lab, as a command sees it that is carried out."""

    playing: bool
    speed_milli: int  # speed of its clock in thousandths
    change_milli: int | None  # the same while a lane is changing; None: no other

    @property
    def now_us(self) -> int: ...

    @property
    def next_arrival_us(self) -> int:
        """When the next record arrives; NEVER_US where none ever does."""

    def play(self, until_us: int | None = None, speed_milli: int | None = None) -> None:
        """Its clock runs: to a moment at which it pauses, or on and on. speed_milli: on the way to that moment;
        None: the lab's own."""

    def pause(self) -> None:
        """Its clock stands."""

    def change_rate(self, rate: int) -> None:
        """Its records arrive at this rate from now on."""

    def lanes_of(self, lane: str) -> Sequence[Lane]:
        """The lanes that a command for `lane` is for."""

    def free_names(self, count: int) -> list[str]:
        """The next unused names of consumers."""

    def join_lanes(
        self, lanes: Iterable[Lane], names: list[str], position: int, set_to: Json | None = None
    ) -> Pieces[None]:
        """These consumers join now."""

    def step(self) -> Pieces[None]:
        """One record further."""

    def switch(self, lane: str, algorithm: str, position: int) -> Pieces[None]:
        """The lane goes on under another algorithm."""

    def switch_order(self, lane: str, order: str, position: int) -> Pieces[None]:
        """The Pulsar lane goes on under another order rule."""

    def note(self, command: Any, position: int, names: list[str], meaning: Json | None = None) -> None:
        """Caption, timeline and history have the command (`Command`) from now on."""
