"""The large figure of a lane: it fits what was done last.

    join, leave, rejoin ──► keys moved          crash ──► keys that nobody serves, and for how long
    slow, pause, resume ──► records that wait   nothing yet ──► what will happen when somebody joins

A leave that left keys without an owner counts as a crash does; a lane without consumers says so, whatever was
done last. Where keys have no owner (RabbitMQ), a crash shows in the records that the dead program keeps.

The figure can cover more than what was done last: changes that fall together are on one bill, and what nobody
serves may be the doing of several. The view of the figure, or of its bill, names them all.
"""

from dataclasses import dataclass, field

from broker_core.events import Json
from broker_core.lab.consumer import CRASHED, GONE
from broker_core.lab.shared.change import Change, add_changes, changes_view
from broker_core.lab.shared.observed import ObservedLane
from broker_core.lab.shared.pace import PACE_KINDS


@dataclass(slots=True)
class Subject:
    """What was done last in this lane, and what it left without service.

    dark_before, dark_after: dark units when it was done, and when it had been. part, whole: keys without
    service after it and all live keys (or records held by the dead and all unacked ones). since_us, until_us:
    for how long; until_us is None while it lasts. changes: all that left something without service since
    then.
    """

    kind: str
    consumer: str
    dark_before: int
    dark_after: int = 0
    part: int = 0
    whole: int = 0
    since_us: int | None = None
    until_us: int | None = None
    changes: list[Change] = field(default_factory=list)

    def lose(self, lane: ObservedLane) -> None:
        """What is without service now is the doing of this subject, and of those before it that still leave
        something without."""
        self.share(lane)
        lost = lane.ledger.tally.lost
        if lane.ledger.bill is not None:
            add_changes(lost, lane.ledger.bill.changes)
        self.changes = list(lost)
        if self.since_us is None:
            began_us = lane.ledger.tally.darkness.began_us
            self.since_us = (lost[0].at_us if lost else lane.now_us) if began_us is None else began_us

    def last_look(self, lane: ObservedLane) -> None:
        """The crash is found out, and what follows moves things: what was dark longest until now is what it
        has left without service.

        At the crash it may have been another part: a change was under way, or one that came before it had to
        wait for the dead.
        """
        if self.since_us is None or self.until_us is not None:
            return
        darkness = lane.ledger.tally.darkness
        if not self.part or (
            darkness.dark != self.dark_after
            and lane.now_us - darkness.level_us >= darkness.level_us - self.since_us
        ):
            self.share(lane)

    def is_unnoticed(self, lane: ObservedLane) -> bool:
        """Whether it is a crash that nobody has found out: until then all that is dark may be dark because of
        it."""
        consumer = lane.consumers.get(self.consumer)
        return self.kind == "crash" and consumer is not None and consumer.state == CRASHED

    def share(self, lane: ObservedLane) -> None:
        """Take what is without service now."""
        self.part, self.whole = lane.reads.stuck()
        self.dark_after = lane.ledger.tally.darkness.dark

    def come_to_rest(self, lane: ObservedLane) -> None:
        """The change is over; if it left more in the dark than before, that is what there is to say."""
        if self.kind == "leave" and lane.ledger.tally.darkness.dark > self.dark_before:
            self.lose(lane)

    def look(self, lane: ObservedLane) -> None:
        """Who serves what has changed: perhaps all is served again, or what a newcomer is assigned that
        crashed on its way waits for it."""
        if not lane.ledger.is_all_served():
            if self.until_us is not None and self.is_unnoticed(lane):
                self.since_us, self.until_us = lane.ledger.tally.darkness.began_us, None
                add_changes(lane.ledger.tally.lost, self.changes)
            return
        lane.ledger.tally.lost = []
        if self.since_us is not None and self.until_us is None:
            self.until_us = lane.now_us


def hero_view(lane: ObservedLane) -> Json:
    """`code` and what its words need; times are moments, so that a view in which nothing happens stays the
    same.

    next: `way`, how the lane takes a newcomer in. moving, moved: `part` of `whole` keys. keyless: keys have
    no owner, nothing can move. dark, held: `part` of `whole` from `since_us` to `until_us` (null: still),
    because of `changes`, `consumer` the last of them. waits, in_hands: `lag` records, `part` of them for or
    with `consumer`. empty, queued: nobody alive consumes since `since_us`, because of `changes`; `lag`
    records wait.
    """
    subject, bill = lane.ledger.tally.subject, lane.ledger.bill
    darkness = lane.ledger.tally.darkness
    if not lane.keys_have_owners and darkness.dark:
        return {
            "code": "queued",
            "since_us": darkness.began_us,
            "lag": lane.reads.lag(),
            "changes": changes_view(lane.ledger.tally.began),
        }
    if all(consumer.state == GONE for consumer in lane.consumers.values()):
        return {
            "code": "empty",
            "since_us": darkness.began_us,
            "lag": lane.reads.lag(),
            "changes": changes_view(lane.ledger.tally.began),
        }
    if subject is None or bill is None:
        return {"code": "next", "way": lane.reads.way_in()}
    if subject.kind in PACE_KINDS:
        consumer = lane.consumers.get(subject.consumer)
        part = 0 if consumer is None else lane.reads.waiting_for(consumer)
        return {
            "code": "waits" if lane.keys_have_owners else "in_hands",
            "consumer": subject.consumer,
            "part": part,
            "lag": lane.reads.lag(),
        }
    if subject.since_us is not None:
        # Amid another change more or less is dark at first than stays so. Once the crash is found out, a
        # rebalance pauses more for a moment.
        dark, was_dark = darkness.dark, subject.dark_after
        has_changed = dark != was_dark if subject.is_unnoticed(lane) else dark < was_dark
        is_live = subject.until_us is None and (has_changed or not lane.keys_have_owners)
        part, whole = lane.reads.stuck() if is_live else (subject.part, subject.whole)
        return {
            "code": "dark" if lane.keys_have_owners else "held",
            "consumer": subject.consumer,
            "part": part,
            "whole": whole,
            "since_us": subject.since_us,
            "until_us": subject.until_us,
            "changes": changes_view(subject.changes),
        }
    if not lane.keys_have_owners:
        return {"code": "keyless"}
    return {"code": "moved" if bill.settled else "moving", "part": bill.keys_moved, "whole": bill.keys_total}
