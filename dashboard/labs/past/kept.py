"""Labs in memory at the moments where somebody looks at them: the next moment is mostly a little later, and the
lab goes on to it; only for one before it a checkpoint is read."""

from collections import OrderedDict
from collections.abc import Callable
from typing import NamedTuple

from django.conf import settings

from broker_core.events import Json
from broker_core.lab import journal
from broker_core.lab.journal import Cut, Journal
from broker_core.lab.lab import Lab as CoreLab
from broker_core.lab.pieces import whole
from broker_core.lab.replay import Replay
from broker_core.lab.scenario import scenario_from_json
from dashboard.labs import writes
from dashboard.limits import core_limits
from dashboard.models import Lab, StoredCommand
from dashboard.stored import intact

SLICE_US = 500_000
"""Of virtual time, between two looks whether somebody still waits."""
BEGINNINGS_KEPT = 32
PICTURES_KEPT = 32
"""Some 100 kB each."""
JUMP_US = 10_000_000
"""To read a checkpoint takes about as long as so much of the demo."""
Viewer = tuple[str, str]
"""(lab, look)."""
Check = Callable[[], None]


class Past(NamedTuple):
    """A lab's journal as it is now. borrowed: positions of commands that bring their time along from another lab
    and are not decided yet."""

    row: Lab
    journal: Journal
    borrowed: frozenset[int]


def past_of(row: Lab) -> Past:
    """What has been ordered from a lab and was not refused."""
    rows = writes.commands_after(row, 0)
    scenario = scenario_from_json(intact(row.scenario), core_limits())
    borrowed = frozenset(each.position for each in rows if each.state == StoredCommand.State.ACCEPTED)
    return Past(row, Journal(scenario, [writes.entry(each) for each in rows], limits=core_limits()), borrowed)


class KeptLabs:
    """The last few, of each viewer one of each lab, each with its parts (broker_core/lab/size.py: about 1 kB each).

    dropped: how many went since this was last set back.
    """

    def __init__(self) -> None:
        self.labs: OrderedDict[Viewer, tuple[CoreLab, int]] = OrderedDict()
        self._pictures: OrderedDict[tuple[Viewer, int], str] = OrderedDict()
        self._beginnings: OrderedDict[str, list[Json]] = OrderedDict()
        self.dropped = 0

    def at(
        self, past: Past, viewer: Viewer, cut: Cut, check: Check, *, jumps: bool = False
    ) -> tuple[CoreLab, list[Json]]:
        """(the viewer's lab at a moment of its journal, the turning points since its last one or the checkpoint).

        jumps: nobody needs what is on the way, so that a checkpoint is read where it saves much of it.

        check: called between two pieces of work; what it raises ends the work, and a lab that was on its way is kept
        where it has come.
        """
        lab = self._begun(past, viewer, cut, check, jumps)
        replay = Replay(lab, cut.commands, cut.until_us, past.borrowed)
        events: list[Json] = []
        while not replay.is_there:
            check()
            events += self._stepped(replay, viewer)
        return lab, events

    def _begun(self, past: Past, viewer: Viewer, cut: Cut, check: Check, jumps: bool) -> CoreLab:
        """The viewer's lab if it gets there from where it is, else one from the nearest checkpoint."""
        known = self.labs[viewer][0] if viewer in self.labs else None
        goes_on = known is not None and journal.goes_on(known, cut)
        if known is not None and goes_on and not (jumps and cut.until_us - known.now_us > JUMP_US):
            return known
        nearest = writes.checkpoint_before(past.row, cut.past_us)
        if known is not None and goes_on and (nearest is None or nearest.at_us <= known.now_us):
            return known
        self.drop(viewer)
        state = writes.state_of(nearest)
        beginning = journal.beginning(past.journal.scenario, state, past.journal.limits)
        lab: CoreLab = whole(beginning, check)[0]
        self._keep(viewer, lab)
        return lab

    def _stepped(self, replay: Replay[CoreLab], viewer: Viewer) -> list[Json]:
        try:
            return whole(replay.step(SLICE_US)).events
        except BaseException:
            self.drop(viewer)  # half a step is no state of a lab
            raise

    def begun(self, past: Past, check: Check) -> list[Json]:
        """The turning points of a lab's beginning, which are not stored: it is begun once more."""
        known = self._beginnings.get(past.row.pk)
        if known is None:
            lab: CoreLab = whole(CoreLab.beginning(past.journal.scenario, past.journal.limits), check)
            known = self._beginnings[past.row.pk] = lab.begun
            if len(self._beginnings) > BEGINNINGS_KEPT:
                self._beginnings.popitem(last=False)
        return known

    def picture(self, viewer: Viewer, at_us: int) -> str | None:
        """One that the viewer's lab has passed."""
        return self._pictures.get((viewer, at_us))

    def keep_picture(self, viewer: Viewer, at_us: int, text: str) -> None:
        """The last PICTURES_KEPT of all viewers."""
        self._pictures[viewer, at_us] = text
        self._pictures.move_to_end((viewer, at_us))
        if len(self._pictures) > PICTURES_KEPT:
            self._pictures.popitem(last=False)

    def drop(self, viewer: Viewer) -> None:
        """Forget what a viewer looked at."""
        self.dropped += self.labs.pop(viewer, None) is not None

    def _keep(self, viewer: Viewer, lab: CoreLab) -> None:
        """The newest; those that were longest not looked at go while there are too many or they are too large."""
        self.labs[viewer] = lab, lab.facts().parts
        self.labs.move_to_end(viewer)
        while len(self.labs) > 1 and (
            len(self.labs) > settings.PAST_LABS_KEPT
            or sum(parts for _lab, parts in self.labs.values()) > settings.PAST_PARTS_KEPT
        ):
            self.drop(next(iter(self.labs)))
