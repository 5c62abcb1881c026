"""What changes cost: the bill of the last one, the running bill of all, and how much is dark.

a command, or a crash that is noticed ─► begin_change ─► steps of the world ─► settle: at rest, the bill is closed
"""

from __future__ import annotations

from dataclasses import dataclass, field

from broker_core.events import Json
from broker_core.lab.shared.bill import Bill
from broker_core.lab.shared.change import TAKING, add_changes
from broker_core.lab.shared.hero import Subject
from broker_core.lab.shared.observed import ObservedLane
from broker_core.lab.shared.pace import PACE_KINDS
from broker_core.lab.shared.shares import shares, skew_milli
from broker_core.lab.shared.tally import Tally


@dataclass
class LedgerState:
    """kept_bill: the bill of the last change as it was when somebody last looked: for what is written into
    it. tally: of all changes."""

    kept_bill: Bill | None = None
    tally: Tally = field(default_factory=Tally)


class Ledger(LedgerState):
    """The ledger of one lane."""

    def __init__(self, lane: ObservedLane) -> None:
        super().__init__()
        self.lane = lane
        self._compared: tuple[int, ...] | None = None

    def forget_comparison(self) -> None:
        """Ownership may have changed: compare the open bill again, and count darkness again."""
        self._compared = None
        self.tally.is_stale = True

    def begin(self, position: int, kind: str, name: str) -> None:
        """A command begins to take effect: of it the large figure speaks from now on."""
        self.begin_change(position, kind, name)
        if position:  # nobody ordered what is there from the start
            self.tally.subject = Subject(kind, name, self.tally.darkness.dark)
        self.tally.is_stale = True

    def begin_change(self, position: int, kind: str, name: str) -> None:
        """Remember the state before. A change that comes before the last one settled goes on the same bill; a
        change of pace leaves that bill its subject, who came or went."""
        bill = self.kept_bill
        if bill is not None and not bill.settled:
            bill.position = max(
                bill.position, position
            )  # a crash that is noticed has the number of the crash
            if kind not in PACE_KINDS:
                bill.kind, bill.consumer, bill.count = kind, name, 1
            return
        if bill is not None:
            self.tally.take_over(bill)
        lane, space = self.lane, self.lane.reads.space()
        lane.count_handled()
        self.bill = Bill(
            position=position,
            kind=kind,
            consumer=name,
            at_us=max(0, lane.now_us),
            owners_before=lane.reads.key_owners(),
            units_before=lane.reads.units(),
            space_before=(space[0], space[1]) if space else None,
            shares_before=shares(lane),
            skew_before=skew_milli(lane),
            redelivered_from=lane.reads.redelivered(),
            out_of_order_from=self.tally.order.count,
            keys_total=lane.keys.count_at(lane.next_record),
        )
        if bill is None or bill.position != position:  # a crash that is noticed goes on from the crash itself
            self.lane.why = []

    def settle(self) -> None:
        """Close the bill if things have come to rest."""
        bill = self.kept_bill
        if bill is None or bill.settled:
            return
        self.fold_darkness()
        if not self.lane.reads.is_settled():
            return
        self._compared = None
        self._compare(bill)
        bill.settled = True
        if bill.position == 0:
            self.lane.say(
                self.lane.at_rest["code"], **self.lane.at_rest["params"]
            )  # those who are there from the start changed nothing
        elif bill.kind not in PACE_KINDS:
            self.lane.narrator.on_settled(self.lane, bill)
        if self.tally.subject is not None:
            self.tally.subject.come_to_rest(self.lane)

    def _compare(self, bill: Bill) -> None:
        """Let the bill say what has moved until now."""
        lane = self.lane
        moment = lane.now_us, lane.next_record, lane.world.told_count, lane.world.made
        if moment != self._compared:
            self._compared = moment
            bill.skew_after = skew_milli(lane)
            bill.compare(lane.reads.key_owners(), lane.reads.units(), lane.reads.space())

    @property
    def bill(self) -> Bill | None:
        """The bill of the last change. While things have not come to rest it is compared when somebody looks,
        not at each step of theirs."""
        self.catch_up()
        return self.kept_bill

    @bill.setter
    def bill(self, bill: Bill | None) -> None:
        self.kept_bill, self._compared = bill, None

    def catch_up(self) -> None:
        """Compare an open bill now, so that what is kept of it does not depend on who has looked."""
        if self.kept_bill is not None and not self.kept_bill.settled:
            self._compare(self.kept_bill)

    def note_pause(self, from_us: int) -> None:
        """A partition that nobody has read since `from_us` is read again."""
        if self.kept_bill is not None:
            self.kept_bill.note_pause(from_us, self.lane.now_us)

    @property
    def is_at_rest(self) -> bool:
        """Whether no change is under way."""
        return self.kept_bill is None or self.kept_bill.settled

    def fold_darkness(self) -> None:
        """Tell the fold of darkness how much nobody serves from now on, if that has changed."""
        if not self.tally.is_stale or self.lane.now_us < 0:  # before the lab begins there is nothing to serve
            return
        self.tally.is_stale = False
        was = self.tally.darkness.dark
        self.tally.darkness.fold(self.lane.now_us, *self.lane.reads.dark_units())
        self._note_began(was)
        if self.tally.subject is not None:
            self.tally.subject.look(self.lane)

    def _note_began(self, was: int) -> None:
        """Record which changes caused the outage; later joins and removed rows did not."""
        darkness, bill = self.tally.darkness, self.kept_bill
        if darkness.began_us is None:
            self.tally.began = []
        elif (
            bill is not None and not bill.settled and (darkness.dark > was or bill.at_us <= darkness.began_us)
        ):
            add_changes(
                self.tally.began, [change for change in bill.changes if not was or change.kind in TAKING]
            )

    def is_all_served(self) -> bool:
        """Whether no key waits for somebody who serves it."""
        return not self.tally.darkness.dark if self.lane.keys_have_owners else not self.lane.crash_positions

    def standing_us(self) -> int:
        """How long the longest-paused partition has been paused, as the bill counts it; 0 when all are
        read."""
        since_us = min(self.lane.reads.stopped().values(), default=None)
        return (
            0 if since_us is None or self.bill is None else self.bill.standing_us(since_us, self.lane.now_us)
        )

    def bill_view(self) -> Json | None:
        """The bill of the last change as the page shows it. None as long as there has been none: nobody made a
        change that brought those who are there from the start."""
        bill = self.bill
        if bill is None or bill.position == 0:
            return None
        return bill.to_view(self.lane.reads.redelivered(), self.tally.order.count, self.standing_us())

    def units_before(self) -> dict[str, str | None]:
        """Partition -> owner when the bill was opened: what a picture shows as before."""
        return (self.bill.units_before if self.bill else None) or {}
