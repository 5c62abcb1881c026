"""What a change would do: a lab that nobody needs any more carries it out and goes on until all has come to rest.

    a lab at a moment ─► where is the key? ─► the change ─► each lane goes on until it is at rest ─► what came of it, and where the key is then

No rule is worked out here: the answer is what the lab's own lanes did. The lab is used up; it is on another way
than its journal.
"""

from broker_core.clock import SECOND_US
from broker_core.errors import CommandError
from broker_core.events import Json
from broker_core.hashing.hash_range import moved_ranges
from broker_core.lab.lab import Lab
from broker_core.lab.messages import Sent
from broker_core.lab.pieces import Pieces
from broker_core.lab.question import questions_of
from broker_core.lab.shared.in_flight import Unwatched
from broker_core.lab.shared.lane import Lane

REST_MAX_US = 240 * SECOND_US
"""So long a lane may take: twice the longest time-out of a scenario's defaults."""
LOOK_US = SECOND_US // 4
RANGES_MAX = 600
"""More pieces of a hash space than that cannot be told apart on a picture."""
KEY_POSITION = 1 << 39
"""In place of a command's position, beyond all of a journal: of the message that makes a key known to the lab."""


def tried(lab: Lab, order: Json | None, key: str | None) -> Pieces[Json]:
    """What comes of an order, as {at_us, order, lanes: {id: {model, key {now, after}, outcome}}}.

    order: a command's kind, lane, consumer and args; None: nothing is changed. key: of a message, whether one has
    had it yet or not; now and after are `home`'s. outcome: `_outcome`'s; None in a lane that the order is not for.
    Raises CommandError where the lab refuses the order.
    """
    at_us, code = lab.now_us, None if key is None else code_of(lab, key)
    lanes: Json = {
        lane.id: {"model": lane.model, "key": {"now": home(lane, code), "after": None}, "outcome": None}
        for lane in lab.lanes.values()
    }
    if order is not None:
        moving = list(lab.lanes_of(order.get("lane", "all")))
        before = {lane.id: Shown(lane) for lane in moving}
        yield from lab.submitting({"command_id": "what-if", **order})
        while moving and lab.now_us < at_us + REST_MAX_US:
            yield from lab.advancing(lab.now_us + LOOK_US)
            for lane in [each for each in moving if not each.is_changing]:
                moving.remove(lane)
                lanes[lane.id]["outcome"] = _outcome(lane, lab.now_us - at_us, before[lane.id])
                lanes[lane.id]["key"]["after"] = home(lane, code)
        for lane in moving:
            lanes[lane.id]["outcome"] = _outcome(lane, None, before[lane.id])
            lanes[lane.id]["key"]["after"] = home(lane, code)
    return {"at_us": at_us, "order": order, "lanes": lanes}


def next_order(lab: Lab) -> Pieces[Json]:
    """What the lab's lesson orders next, as `tried` takes it; the lab is then at its time. Raises CommandError where it
    orders nothing more."""
    lesson = lab.scenario.lesson
    step = None if lesson is None else lesson.next_change(lab.now_us)
    if step is None or step.order is None:
        raise CommandError("next", "there is no lesson here that orders something more")
    yield from lab.advancing(step.at_us)
    return {name: step.order[name] for name in ("kind", "lane", "consumer", "args")}


def code_of(lab: Lab, key: str) -> int:
    """The code of a key; one that is new becomes known to this lab."""
    known = lab.workload.code_of(key)
    return lab.messages.key_code(lab.messages.send(Sent(KEY_POSITION, key))) if known is None else known


def home(lane: Lane, code: int | None) -> Json | None:
    """Where a message with a key goes now: {hash, unit, consumer, waits}. None where no key was asked for, and
    where keys have no owner."""
    if code is None or not lane.keys_have_owners:
        return None
    route = lane.reads.route(0, code)
    return {name: route[name] for name in ("hash", "unit", "consumer", "waits")}


class Shown(Unwatched):
    """What of a lane's picture can be marked, as it was before the change: its partitions, its slices, and the messages
    that are out with consumers; and which of those came again."""

    def __init__(self, lane: Lane) -> None:
        picture = lane.reads.picture()
        self.units = list(picture.get("partitions") or {})
        self.space = lane.reads.space()
        held = picture.get("in_flight") or {}
        self.out = {
            item["record"] for items in held.values() for item in items if item and item["record"] >= 0
        }
        self.again: set[int] = set()
        lane.traffic.watch = self

    def received(self, program: str, message: int, now_us: int) -> None:
        if message in self.out:
            self.again.add(message)

    def marks(self, lane: Lane, moved_units: list[str]) -> Json:
        """{partition, slot, record: {total, true} or None where the picture has none}. total: how many could be marked;
        true: those that the change is about: partitions and ranges of slots that another consumer has, messages that
        came again. space: of slots, how many the hash space has."""
        space, slots = lane.reads.space(), None
        if self.space is not None and space is not None and space[2] == self.space[2]:
            (was, owners, size, first), (now, others, _size, _first) = self.space, space
            ranges = moved_ranges((was, owners), (now, others), size, first)
            slots = {"total": len(was), "true": ranges, "space": size} if len(ranges) <= RANGES_MAX else None
        return {
            "partition": {"total": len(self.units), "true": moved_units} if self.units else None,
            "slot": slots,
            "record": {"total": len(self.out), "true": sorted(self.again)} if self.out else None,
        }


def _outcome(lane: Lane, rest_us: int | None, before: Shown) -> Json:
    """rest_us: how long after the change the lane was seen at rest; None: not within REST_MAX_US. stopped: the
    partitions that nobody reads then. moved_units: those that another consumer has. bill: `Bill.to_view`. marks:
    `Shown.marks`."""
    bill, view = lane.ledger.bill, lane.ledger.bill_view()
    stopped, moved = sorted(lane.reads.stopped()), [] if bill is None else list(bill.moved_units)
    return {
        "rest_us": rest_us,
        "stopped": stopped,
        "moved_units": moved,
        "marks": before.marks(lane, moved),
        "bill": view,
        "questions": [] if view is None else questions_of(view, lane.keys_have_owners, bool(stopped)),
    }
