"""Replay: commands carried out again, each at its own time. There is no other loop that does this.

Journal.seek, the worker, a fork ─► Replay of a Lab          a lane under another rule ─► Replay of a LanePast (`past.py`)
"""

from collections import deque
from collections.abc import Callable, Container, Iterable
from functools import partial
from typing import Generic, NamedTuple, Protocol, TypeVar

from broker_core.errors import CommandError, ReplayError
from broker_core.events import Json
from broker_core.lab.pieces import Pieces, whole


class Life(Protocol):
    """What can be replayed: a lab, or a lane."""

    @property
    def now_us(self) -> int: ...

    @property
    def position(self) -> int:
        """Of the last command that it has carried out."""
        ...

    def advancing(self, at_us: int) -> Pieces[list[Json]]:
        """Let everything happen up to and including `at_us`, in pieces. Returns the turning points."""
        ...

    def submitting(self, command: Json) -> Pieces[list[Json]]:
        """Carry out a command now, in pieces. Raises CommandError, and then nothing has changed."""
        ...


L = TypeVar("L", bound=Life)


class Told(NamedTuple):
    """What came of one step of a replay: turning points; and the command that was carried out, if it was one,
    with its refusal."""

    events: list[Json]
    command: Json | None = None
    refusal: CommandError | None = None


class Replay(Generic[L]):
    """A lab, or one lane of it, on its way to a moment, as slowly as the caller likes: any number of steps
    gives the same.

    lab: what is replayed; it changes. until_us: how far to go at least; a last step may lead further.
    """

    def __init__(
        self, lab: L, commands: Iterable[Json], until_us: int, borrowed: Container[int] = ()
    ) -> None:
        """commands: by position, each with "position" and "at_us"; those that the lab has carried out are
        skipped.
        borrowed: positions of commands that bring their time along from another lab; this one may refuse
        them, and a time that has passed is now."""
        self.lab, self.until_us, self.borrowed = lab, until_us, borrowed
        self.left = deque(command for command in commands if command["position"] > lab.position)

    @property
    def is_there(self) -> bool:
        return not self.left and self.lab.now_us >= self.until_us

    def step(self, slice_us: int) -> Pieces[Told]:
        """Carry out the next command if its time has come, else let at most `slice_us` pass towards it. Only
        while it `is_there` not yet.

        Raises ReplayError for a command that cannot be what was once accepted.
        """
        now_us = self.lab.now_us
        if self.left and self.left[0]["at_us"] <= now_us:
            told = yield from self._carry_out(self.left[0])
            self.left.popleft()  # only now: until then it `is_there` not yet
            return told
        goal_us = self.left[0]["at_us"] if self.left else self.until_us
        return Told((yield from self.lab.advancing(min(goal_us, now_us + slice_us))))

    def _carry_out(self, command: Json) -> Pieces[Told]:
        position, kind = command["position"], str(command.get("kind"))
        is_borrowed = position in self.borrowed
        if command["at_us"] < self.lab.now_us and not is_borrowed:
            raise ReplayError(
                position, kind, f"is dated {command['at_us']} us, before the {self.lab.now_us} us it follows"
            )
        try:
            return Told((yield from self.lab.submitting(command)), command)
        except CommandError as error:
            if not is_borrowed:
                raise ReplayError(position, kind, f"is refused: {error}") from error
            return Told([], command, error)

    def finishing(self, step: Callable[[], Pieces[object]]) -> Pieces[L]:
        """All the way, with a stop after each step. step: `self.step` with a slice, and whatever goes along with it."""
        while not self.is_there:
            yield from step()
            yield None
        return self.lab

    def finish(self) -> L:
        """All the way at once."""
        return whole(self.finishing(partial(self.step, max(1, self.until_us))))
