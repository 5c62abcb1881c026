"""A lab's whole life on record: seek, fork and checkpoints, the only ones there are, over `replay.py`. The
worker, the tests and the benches run this.

    scenario + commands, each at its time ─► Replay, in slices ─► the lab at any moment          a checkpoint before it only saves time
                                    └─► Journal.cut at a moment ─► the commands that a fork begins with

A moment is (until_us, until_position). Everything that happens up to and including until_us belongs to it,
records and time-outs as well as commands; of several commands at exactly until_us, as a paused lab may have,
those up to and including until_position. A step belongs to a moment once the record that it leads to has
arrived by then.
"""

from bisect import bisect_right
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field
from typing import NamedTuple

from broker_core.errors import ReplayError
from broker_core.events import Json
from broker_core.lab.lab import Lab
from broker_core.lab.limits import DEFAULT_LIMITS, Limits
from broker_core.lab.pieces import Pieces, whole
from broker_core.lab.replay import Replay
from broker_core.lab.scenario import Scenario, step_end_us
from broker_core.lab.workload import workload_from_json

CHECKPOINT_RECORDS = 2_000  # between two checkpoints, at least,
CHECKPOINT_EVERY_S = 2.0  # and so much wall time,
CHECKPOINT_BYTES_PER_S = (
    50_000  # and more where they are large: half a megabyte takes a tenth of a second to make
)
CHECKPOINTS_MAX = 64  # of one lab


# -- the beginning -------------------------------------------------------------------------------------------


def begin(
    scenario: Scenario, state: bytes | None, limits: Limits = DEFAULT_LIMITS
) -> tuple[Lab, ReplayError | None]:
    """`beginning` at once."""
    return whole(beginning(scenario, state, limits))


def beginning(
    scenario: Scenario, state: bytes | None, limits: Limits = DEFAULT_LIMITS
) -> Pieces[tuple[Lab, ReplayError | None]]:
    """In pieces: the lab that a checkpoint holds, else at its start.

    A checkpoint only saves time, so one that cannot be read (another version of the code wrote it, it is
    damaged) costs nothing else: the error says why the lab begins at its start instead.
    """
    if state is not None:
        try:
            return (yield from Lab.restoring(scenario, state, limits)), None
        except ReplayError as error:
            return (yield from Lab.beginning(scenario, limits)), error
    return (yield from Lab.beginning(scenario, limits)), None


# -- checkpoints ---------------------------------------------------------------------------------------------


class Mark(NamedTuple):
    """The position of a checkpoint: the state at `at_us`, after all commands up to `position`. Marks sort by
    that."""

    at_us: int
    position: int


class Checkpoint(NamedTuple):
    """record_count: how many records the lab had. state: as `Lab.checkpoint` gives it."""

    mark: Mark
    record_count: int
    state: bytes


def nearest(marks: Iterable[Mark], until_us: int) -> Mark | None:
    """The checkpoint from which a replay of a lab's own commands to `until_us` is shortest."""
    return max((mark for mark in marks if mark.at_us <= until_us), default=None)


def thinned(marks: Sequence[Mark]) -> list[Mark]:
    """Those that go when there are too many: every second one of the older half, but the first. marks:
    ascending."""
    return list(marks[1 : len(marks) // 2 : 2]) if len(marks) > CHECKPOINTS_MAX else []


@dataclass(slots=True)
class Cadence:
    """When a lab that is driven takes its next checkpoint: not before so many records, nor before so much
    wall time has gone by.

    records: how many the lab had at the last one. due_s: wall time, in seconds.
    """

    records: int = 0
    due_s: float = float("-inf")

    def is_due(self, lab: Lab, wall_s: float) -> bool:
        return lab.record_count - self.records >= CHECKPOINT_RECORDS and wall_s >= self.due_s

    def take(self, lab: Lab, wall_s: float) -> Checkpoint:
        """A checkpoint now, due or not."""
        return whole(self.taking(lab, wall_s))

    def taking(self, lab: Lab, wall_s: float) -> Pieces[Checkpoint]:
        """`take` in pieces."""
        state = yield from lab.checkpointing()
        self.records = lab.record_count
        self.due_s = wall_s + max(CHECKPOINT_EVERY_S, len(state) / CHECKPOINT_BYTES_PER_S)
        return Checkpoint(Mark(lab.now_us, lab.position), lab.record_count, state)


# -- the journal ---------------------------------------------------------------------------------------------


class Cut(NamedTuple):
    """What a lab and its fork at a moment have in common.

    commands: the fork's journal. until_us: the moment. past_us: checkpoints and turning points up to and
    including this time are the fork's too; it reports later things itself.
    """

    commands: list[Json]
    until_us: int
    past_us: int


@dataclass(slots=True)
class Journal:
    """What a lab's whole life is made of. The save format, the share link and the bug report.

    commands: by position, each with "position" and "at_us". checkpoints: so that seeking is quick; none is
    needed.
    """

    scenario: Scenario
    commands: list[Json] = field(default_factory=list)
    checkpoints: dict[Mark, bytes] = field(default_factory=dict)
    limits: Limits = DEFAULT_LIMITS

    def keep(self, lab: Lab, cadence: Cadence, wall_s: float) -> bool:
        """Take a checkpoint if it is time for one. Returns whether it was."""
        if not cadence.is_due(lab, wall_s):
            return False
        taken = cadence.take(lab, wall_s)
        self.checkpoints[taken.mark] = taken.state
        for old in thinned(sorted(self.checkpoints)):
            del self.checkpoints[old]
        return True

    def cut(self, until_us: int | None = None, until_position: int | None = None) -> Cut:
        """Divide the journal at a moment. Without until_us: right after the last command up to
        until_position, for a step at the record that it leads to. Without until_position: all that was
        ordered at until_us belongs to the moment."""
        if until_us is None:
            until_us = self._time_after(until_position)
        kept = [command for command in self.commands if command["at_us"] <= until_us]
        past_us = until_us
        if until_position is not None:
            by_then = len(kept)
            kept = [
                command
                for command in kept
                if command["at_us"] < until_us or command["position"] <= until_position
            ]
            past_us -= (
                len(kept) < by_then
            )  # what follows from the others at this very time is not of this moment
        if kept and kept[-1]["kind"] == "step" and self._step_end_us(kept[-1]) > until_us:
            kept.pop()  # time only passed: what was reported on the way belongs to both
        return Cut(kept, until_us, past_us)

    def seek(self, until_us: int | None = None, until_position: int | None = None) -> Lab:
        """The lab as it was at a moment, from the nearest checkpoint before it."""
        cut = self.cut(until_us, until_position)
        mark = nearest(self.checkpoints, cut.past_us)
        lab, _error = begin(self.scenario, None if mark is None else self.checkpoints[mark], self.limits)
        return Replay(lab, cut.commands, cut.until_us).finish()

    def fork(self, until_us: int | None = None, until_position: int | None = None) -> "Journal":
        """A separate journal that shares everything up to the moment."""
        cut = self.cut(until_us, until_position)
        kept = {mark: state for mark, state in self.checkpoints.items() if mark.at_us <= cut.past_us}
        return Journal(self.scenario, cut.commands, kept, self.limits)

    def _time_after(self, position: int | None) -> int:
        if position is None:
            raise ValueError("a moment has a time, a position, or both")
        count = bisect_right(self.commands, position, key=lambda command: command["position"])
        if not count:
            return 0
        last = self.commands[count - 1]
        return self._step_end_us(last) if last["kind"] == "step" else int(last["at_us"])

    def _step_end_us(self, step: Json) -> int:
        """When a step is there: at the first record after it."""
        workload = workload_from_json(self.scenario.workload, self.limits, self.scenario.seed)
        return step_end_us(
            self.scenario, step["at_us"], workload.arrival_us(workload.count_until(step["at_us"]))
        )
