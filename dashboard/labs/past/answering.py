"""The worker's side: one look after another, each answered with a status and a text.

A look that nobody waits for any more, as a newer one of the same viewer has come or its time is over, ends at the
next piece of work without an answer.
"""

import time
from collections.abc import Callable, Collection, Iterable
from hashlib import sha256

import redis
from django.utils import translation
from django.utils.translation import gettext as _

from broker_core.clock import SECOND_US
from broker_core.errors import CommandError, HighwaterError, Names
from broker_core.events import Json
from broker_core.lab.lab import Lab as CoreLab
from broker_core.lab.panels import PANELS
from broker_core.lab.passport import FOLLOWED_US, homes, newest_with_key, passport_view, stamp
from broker_core.lab.patch import diff
from broker_core.lab.pieces import whole
from broker_core.lab.trial import next_order, tried
from broker_core.lab.why.answer import why
from dashboard.errors import Refused, in_words
from dashboard.labs import selectors, writes
from dashboard.labs.frames import encode, feed_state
from dashboard.labs.past.asking import KEPT_S, answer_key, newest_key, reply
from dashboard.labs.past.code import run_of
from dashboard.labs.past.kept import KeptLabs, Past, past_of
from dashboard.labs.past.look import CODE, FRAMES, LOG, MARKS, PASSPORT, TRIAL, WHY, Look, come_to
from dashboard.labs.past.marks import captioned, marks_of, system_marks, told_in
from dashboard.labs.past.messages import by_messages
from dashboard.labs.past.stepping import Place, by_changes, by_events, by_records
from dashboard.logs.moments import tell_log

ASKED_EVERY_S = 0.02
HASH_DIGITS = 16
ON_THE_WAY_MAX = 8
AGO_US = 30 * SECOND_US  # by then most records are done


class NobodyWaits(Exception):
    """A newer look has come, or the time is over."""


class Answering:
    """One worker. kept: where somebody looks. looks: how many came since this was last set back."""

    def __init__(self, client: "redis.Redis") -> None:
        self.kept = KeptLabs()
        self.looks = 0
        self._redis = client

    def answer(self, look: Look) -> None:
        """Work a look out and send what comes of it."""
        self.looks += 1
        try:
            status, text = answered(look, self.kept, self._check_of(look))
        except NobodyWaits:
            return
        with self._redis.pipeline(transaction=False) as pipe:
            pipe.rpush(answer_key(look, look.number), reply(status, text.encode()))
            pipe.expire(answer_key(look, look.number), KEPT_S)
            pipe.execute()

    def _check_of(self, look: Look) -> Callable[[], None]:
        """Raises NobodyWaits; Redis is not asked more often than every ASKED_EVERY_S."""
        asked_s = 0.0

        def check() -> None:
            nonlocal asked_s
            now_s = time.monotonic()
            if now_s - asked_s < ASKED_EVERY_S:
                return
            asked_s = now_s
            newest = self._redis.get(newest_key(look))
            if time.time() > look.deadline or newest is None or int(newest) != look.number:
                raise NobodyWaits

        return check


def answered(look: Look, kept: KeptLabs, check: Callable[[], None]) -> tuple[int, str]:
    """(status, JSON): what was asked for, or a refusal in the form of all refusals."""
    with translation.override(look.language):
        try:
            row = selectors.lab_get(lab_id=look.lab)
            past = past_of(row)
            if look.kind == MARKS:
                return 200, encode(_marks(look, past, kept, check))
            if look.kind == TRIAL:
                return 200, encode(_trial(look, past, kept, check))
            if look.kind == PASSPORT:
                return 200, encode(_passport(look, past, kept, check))
            if look.kind == LOG:
                lab, _events = _at(
                    look, past, Place(look.at_us, look.until_position), kept, check, jumps=True
                )
                return 200, encode(tell_log(lab, row, look.place))
            if look.kind == WHY:
                return 200, encode(_why(look, past, kept, check))
            if look.kind == CODE:
                return 200, encode(run_of(look, past, kept, check))
            if look.kind == FRAMES:
                return 200, encode(_frames(look, past, kept, check))
            return 200, _view(look, past, kept, check)
        except Refused as refused:
            return refused.status, encode({"fields": refused.fields})
        except HighwaterError as error:  # what stopped the lab itself does so again
            text = _("cannot be worked out at this moment: %(reason)s") % {"reason": error}
            return 409, encode({"fields": {"lab": [text]}})


def _view(look: Look, past: Past, kept: KeptLabs, check: Callable[[], None]) -> str:
    if look.every_us:
        return _one_of_many(look, past, kept, check)
    place = _stepped(look, past, kept, check)
    lab, _events = _at(look, past, place, kept, check, jumps=True)
    view, head = picture(lab, look.panels)
    return encode({**head, **({"steps": place.steps} if look.step else {}), "view": view})


def _one_of_many(look: Look, past: Past, kept: KeptLabs, check: Callable[[], None]) -> str:
    """The moment at or before the one asked for that is a multiple of every_us.

    Who goes back by that much each time asks for those next that the way from the checkpoint leads past: their
    pictures are made on it and kept, as no lab runs backwards.
    """
    viewer, at_us = (look.lab, look.look), look.at_us - look.at_us % look.every_us
    text = kept.picture(viewer, at_us)
    if text is not None:
        return text
    for each_us in [*_on_the_way(look, at_us, past, kept), at_us]:
        lab, _events = _at(look, past, Place(each_us, None), kept, check, jumps=True)
        view, head = picture(lab, look.panels)
        text = encode({**head, "view": view})
        kept.keep_picture(viewer, each_us, text)
    assert text is not None, "the moment itself is the last of them"
    return text


def _on_the_way(look: Look, at_us: int, past: Past, kept: KeptLabs) -> list[int]:
    """The multiples of every_us between the checkpoint that has to be read and the moment; ascending, at most
    ON_THE_WAY_MAX."""
    known = kept.labs.get((look.lab, look.look))
    if known is None or known[0].now_us <= at_us:
        return []
    nearest_us = writes.checkpoint_at_us(past.row, at_us) or 0
    count = min(ON_THE_WAY_MAX, (at_us - nearest_us) // look.every_us)
    return [at_us - by * look.every_us for by in range(count, 0, -1)]


def _frames(look: Look, past: Past, kept: KeptLabs, check: Callable[[], None]) -> Json:
    """The first picture whole, the others as what changed since the one before."""
    frames: list[Json] = []
    before: Json = {}
    for at_us in range(look.at_us, look.until_us + 1, look.every_us):
        position = None if frames else look.until_position
        lab, events = _at(look, past, Place(at_us, position), kept, check, jumps=not frames)
        view, head = picture(lab, look.panels)
        frames.append(
            {**head, "patch": diff(before, view), "events": events} if frames else {**head, "view": view}
        )
        before = view
    return {"frames": frames}


def _marks(look: Look, past: Past, kept: KeptLabs, check: Callable[[], None]) -> Json:
    now_us = come_to(past.row)
    if look.only:
        return {"at_us": now_us, "marks": captioned(system_marks(past.row.pk, now_us))}
    cut = past.journal.cut(now_us)
    lab, _events = kept.at(past, (past.row.pk, ""), cut, check)
    return {"at_us": now_us, "marks": marks_of(lab, past.row.pk)}


def _trial(look: Look, past: Past, kept: KeptLabs, check: Callable[[], None]) -> Json:
    """On a lab of its own, which is dropped after it."""
    viewer = (look.lab, f"{look.look} trial")
    cut = past.journal.cut(look.at_us, look.until_position)
    lab, _events = kept.at(past, viewer, cut, check)
    try:
        order = whole(next_order(lab), check) if look.is_next else look.order
        return {"position": lab.position, **whole(tried(lab, order, look.key), check)}
    except CommandError as error:
        raise Refused(400, {error.field.removeprefix("args."): in_words(error)}) from error
    finally:
        kept.drop(viewer)


def _passport(look: Look, past: Past, kept: KeptLabs, check: Callable[[], None]) -> Json:
    """Of a record of the lab's workload, as far as the moment that is asked about: on a lab of its own."""
    viewer = (look.lab, f"{look.look} passport")

    def at(at_us: int, position: int | None = None) -> CoreLab:
        return kept.at(past, viewer, past.journal.cut(at_us, position), check)[0]

    workload = past.journal.workload()
    count = workload.count_until(look.at_us)
    try:
        if look.key is not None:
            record = newest_with_key(workload, look.key, count)
        else:
            record = look.record if look.record is not None else workload.count_until(look.at_us - AGO_US)
        if record >= count:
            raise CommandError("record", "has not been sent yet: {count} have by then", count=count)
        sent_us = workload.arrival_us(record)
        stamps = stamp(at(sent_us - 1), record)
        at_home = homes(at(sent_us), record)
        until_us = min(look.at_us, sent_us + FOLLOWED_US)
        lab = at(until_us, look.until_position if until_us == look.at_us else None)
        return passport_view(lab, record, at_home, stamps)
    except CommandError as error:
        raise Refused(400, {error.field: in_words(error)}) from error
    finally:
        kept.drop(viewer)


def _why(look: Look, past: Past, kept: KeptLabs, check: Callable[[], None]) -> Json:
    """On a lab of its own, which is kept: the next question is mostly about the same moment, or a little later."""
    cut = past.journal.cut(look.at_us, look.until_position)
    lab, _events = kept.at(past, (look.lab, f"{look.look} why"), cut, check)
    try:
        if look.lane not in lab.lanes:
            raise CommandError("lane", "must be one of {choices}", choices=Names(lab.lanes))
        answer = why(lab.lanes[look.lane], look.thing, _told(look, past, kept, check), lab.timeline)
    except CommandError as error:
        raise Refused(400, {error.field: in_words(error)}) from error
    return {"at_us": lab.now_us, "position": lab.position, **answer}


def _told(look: Look, past: Past, kept: KeptLabs, check: Callable[[], None]) -> Iterable[Json]:
    """A lane's turning points back to its beginning; that one only where nothing came after it."""
    yield from told_in(look.lab, look.lane, look.at_us)
    yield from (event for event in reversed(kept.begun(past, check)) if event["lane"] == look.lane)


def _stepped(look: Look, past: Past, kept: KeptLabs, check: Callable[[], None]) -> Place:
    last_us = max(look.at_us, come_to(past.row))
    if look.step == "record":
        return by_records(past.journal, look.at_us, look.by, last_us)
    if look.step == "message":

        def seek(at_us: int) -> CoreLab:
            return _at(look, past, Place(at_us, None), kept, check)[0]

        return by_messages(seek, look.at_us, look.by, last_us)
    if look.step == "event":
        return by_events(past.row.pk, look.at_us, look.by)
    if look.step == "change":
        return by_changes(past, look.at_us, look.until_position, look.by, last_us)
    return Place(look.at_us, look.until_position)


def _at(
    look: Look, past: Past, place: Place, kept: KeptLabs, check: Callable[[], None], *, jumps: bool = False
) -> tuple[CoreLab, list[Json]]:
    cut = past.journal.cut(place.at_us, place.position)
    return kept.at(past, (look.lab, look.look), cut, check, jumps=jumps)


def picture(lab: CoreLab, panels: Collection[str]) -> tuple[Json, Json]:
    """(the view with these panels, what it is of)."""
    view = whole(lab.viewing())
    head = {"at_us": lab.now_us, "position": lab.position, "state_hash": state_hash(view, lab.position)}
    for lane in view["lanes"].values():
        for name in PANELS:
            if name not in panels:
                lane.pop(name, None)
    view["feed"] = feed_state(0, panels=panels)
    return view, head


def state_hash(view: Json, position: int) -> str:
    """The first 16 digits of SHA-256 of all that pages show of a lab at a moment: its view with all panels, as the core
    gives it, and the place of its last command."""
    return sha256(f"{position} {encode(view)}".encode()).hexdigest()[:HASH_DIGITS]
