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
from collections.abc import Container, Iterable
from dataclasses import dataclass, field
from functools import partial
from typing import NamedTuple

from broker_core.errors import ReplayError
from broker_core.events import Json
from broker_core.lab.checkpoint import pack, unpack
from broker_core.lab.commands.workload import RecordRate
from broker_core.lab.lab import Lab
from broker_core.lab.limits import DEFAULT_LIMITS, Limits
from broker_core.lab.pieces import Pieces, whole
from broker_core.lab.replay import Replay
from broker_core.lab.scenario import Scenario, step_end_us
from broker_core.lab.workload.base import Workload
from broker_core.lab.workload.parse import workload_from_json

CHECKPOINT_STEPS = 2_500
"""Between two checkpoints: some 50 ms of work, at 20 us a step."""
CHECKPOINT_BYTES_PER_STEP = 80
"""More of a lab whose state is large: checkpoints take about a fifth of a lab's CPU time (55 ns a byte, 20 us a step)."""
SEEK_SLICE_US = 5_000_000
CHECKPOINTS_BYTES_MAX = 32 << 20
"""Of one lab, as they are stored."""


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


def sought(
    scenario: Scenario,
    commands: Iterable[Json],
    state: bytes | None,
    until_us: int,
    limits: Limits = DEFAULT_LIMITS,
    borrowed: Container[int] = (),
) -> Pieces[Lab]:
    """In pieces: the lab at a moment, from the checkpoint with these bytes, or else from its start. borrowed: as
    for `Replay`."""
    lab, _error = yield from beginning(scenario, state, limits)
    replay = Replay(lab, commands, until_us, borrowed)
    return (yield from replay.finishing(partial(replay.step, SEEK_SLICE_US)))


def goes_on(lab: Lab, cut: "Cut") -> bool:
    """Whether a lab that was sought in the same journal gets to this moment without going back. A step leads over
    moments that are before its record: from there it cannot be carried out."""
    last = cut.commands[-1]["position"] if cut.commands else 0
    if lab.now_us > cut.until_us or lab.position > last:
        return False
    left = (command for command in cut.commands if command["position"] > lab.position)
    return next(left, {"at_us": cut.until_us})["at_us"] >= lab.now_us


def state_of(packed: bytes, base: bytes | None = None) -> bytes:
    """The bytes of a stored checkpoint, for `beginning`; none of a damaged one, so that the lab begins at its start.
    base: the stored bytes of the checkpoint that it is packed against."""
    try:
        return unpack(packed, None if base is None else unpack(base))
    except ReplayError:
        return b""


# -- checkpoints ---------------------------------------------------------------------------------------------


class Mark(NamedTuple):
    """The position of a checkpoint: the state at `at_us`, after all commands up to `position`. Marks sort by
    that."""

    at_us: int
    position: int


class Stored(NamedTuple):
    """What is asked of a stored checkpoint without its bytes. steps: what the lab had cost by then. size: in bytes.
    base: the checkpoint that it is packed against; None: it stands alone."""

    mark: Mark
    steps: int
    size: int
    base: Mark | None = None


class Checkpoint(NamedTuple):
    """One to be stored. packed: as `checkpoint.pack` gives it."""

    stored: Stored
    packed: bytes


def alone(mark: Mark, steps: int, state: bytes) -> Checkpoint:
    """A checkpoint that is packed against no other. state: as `Lab.checkpoint` gives it."""
    packed = pack(state)
    return Checkpoint(Stored(mark, steps, len(packed)), packed)


def nearest(marks: Iterable[Mark], until_us: int) -> Mark | None:
    """The checkpoint from which a replay of a lab's own commands to `until_us` is shortest."""
    return max((mark for mark in marks if mark.at_us <= until_us), default=None)


def thinned(stored: Iterable[Stored], bytes_max: int) -> list[Mark]:
    """Those that go when all together are too large: one after the other that whose way from the one before to the
    one behind costs least, so that the others stay evenly apart in what it costs to get to a moment.

    The newest stays, and one that others are packed against stays as long as they do. stored: ascending.
    """
    kept, gone = list(stored), []
    excess = sum(each.size for each in kept) - bytes_max
    while excess > 0:
        needed = {each.base for each in kept}
        steps = [0, *(each.steps for each in kept)]
        ways = [
            (steps[place + 2] - steps[place], place)
            for place, each in enumerate(kept[:-1])
            if each.mark not in needed
        ]
        if not ways:
            break
        _, place = min(ways)
        excess -= kept[place].size
        gone.append(kept.pop(place).mark)
    return gone


@dataclass(slots=True)
class Cadence:
    """When a lab that is driven takes its next checkpoint, and against which one it is packed.

    steps: what the lab had cost at the last one. state_size: of that one, in bytes. base: the last one that stands
    alone, and its bytes as they are stored. base_sizes: of it and of those packed against it, as stored.
    """

    steps: int = 0
    state_size: int = 0
    base: tuple[Mark, bytes] | None = None
    base_sizes: list[int] = field(default_factory=list)

    def is_due(self, lab: Lab) -> bool:
        return lab.steps - self.steps >= max(CHECKPOINT_STEPS, self.state_size // CHECKPOINT_BYTES_PER_STEP)

    def take(self, lab: Lab) -> Checkpoint:
        """A checkpoint now, due or not."""
        return whole(self.taking(lab))

    def taking(self, lab: Lab) -> Pieces[Checkpoint]:
        """`take` in pieces."""
        state = yield from lab.checkpointing()
        self.steps, self.state_size = lab.steps, len(state)
        mark, base = Mark(lab.now_us, lab.position), self.base
        if base is not None and base[0] != mark:
            packed = pack(state, unpack(base[1]))
            if len(packed) * len(self.base_sizes) <= sum(self.base_sizes):
                self.base_sizes.append(len(packed))
                return Checkpoint(Stored(mark, self.steps, len(packed), base[0]), packed)
        # The first; or so much has changed since the base that on average all are smaller with a new one.
        taken = alone(mark, self.steps, state)
        self.base, self.base_sizes = (mark, taken.packed), [taken.stored.size]
        return taken


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
    """What a lab's whole life is made of. The save format, the share link and the bug report. Which version of the
    rules it was made under is in the lab's row and in `/api/labs/<id>/journal/`.

    commands: by position, each with "position" and "at_us". checkpoints: ascending, so that seeking is quick; none
    is needed.
    """

    scenario: Scenario
    commands: list[Json] = field(default_factory=list)
    checkpoints: dict[Mark, Checkpoint] = field(default_factory=dict)
    limits: Limits = DEFAULT_LIMITS

    def keep(self, lab: Lab, cadence: Cadence) -> bool:
        """Take a checkpoint if it is time for one. Returns whether it was."""
        if not cadence.is_due(lab):
            return False
        taken = cadence.take(lab)
        self.checkpoints[taken.stored.mark] = taken
        for old in thinned((each.stored for each in self.checkpoints.values()), CHECKPOINTS_BYTES_MAX):
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

    def workload(self) -> Workload:
        """The lab's records, at the rates that its commands have given them."""
        workload = workload_from_json(self.scenario.workload, self.limits, self.scenario.seed)
        for command in self.commands:
            if command["kind"] == RecordRate.kind:
                workload.change_rate(command["at_us"], command["args"]["rate"])
        return workload

    def seek(self, until_us: int | None = None, until_position: int | None = None) -> Lab:
        """The lab as it was at a moment, from the nearest checkpoint before it."""
        cut = self.cut(until_us, until_position)
        mark = nearest(self.checkpoints, cut.past_us)
        state = None if mark is None else self._state_at(mark)
        return whole(sought(self.scenario, cut.commands, state, cut.until_us, self.limits))

    def _state_at(self, mark: Mark) -> bytes | None:
        stored, packed = self.checkpoints[mark]
        return state_of(packed, None if stored.base is None else self.checkpoints[stored.base].packed)

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
        workload = self.workload()
        return step_end_us(
            self.scenario, step["at_us"], workload.arrival_us(workload.count_until(step["at_us"]))
        )
