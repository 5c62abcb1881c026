"""A lab's turning points, searched: in words of the reader's language, by kind, lane and consumer, from either end.

    GET /api/labs/<id>/events/search/?text=&kind=&lane=&consumer=&newest=1&after=<seq>

What is searched of a turning point is what the page says of it (`searched` of static/js/base/events.js, which the
server runs as well), so that whatever one reads there can be found. Rows are read in batches, and no more than
SCANNED_MAX for one answer: `next` says where the following one goes on.
"""

from collections import Counter
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from functools import cache

from django.utils import translation
from django.utils.translation import gettext as _

from broker_core.events import Json
from dashboard.errors import Refused
from dashboard.models import StoredEvent
from dashboard.page_scripts import call
from dashboard.sentences import catalogue
from dashboard.stored import intact

SHOWN_MAX = 50
SCANNED_MAX = 20_000
TEXT_MAX = 200
FIELDS = ("text", "kind", "lane", "consumer", "newest", "after")
_BATCH = 1_000
_DIGITS_MAX = 18


@dataclass(frozen=True, slots=True)
class Wanted:
    """text: words that all have to be there. kind, lane, consumer: "" for any. is_newest: the newest first. after: the
    seq behind which the search goes on in that order; None: at its beginning."""

    text: str = ""
    kind: str = ""
    lane: str = ""
    consumer: str = ""
    is_newest: bool = False
    after: int | None = None


def wanted_of(query: Mapping[str, str]) -> Wanted:
    """Raises Refused 400 at the field."""
    if unknown := sorted(set(query) - set(FIELDS)):
        raise Refused(400, {unknown[0][:64]: _("is unknown")})
    for name in ("text", "kind", "lane", "consumer"):
        if len(query.get(name, "")) > TEXT_MAX:
            raise Refused(400, {name: _("must be 1 to %(count)d letters") % {"count": TEXT_MAX}})
    if (newest := query.get("newest", "")) not in ("", "1"):
        raise Refused(400, {"newest": _("must be %(names)s") % {"names": "1"}})
    after = query.get("after", "")
    if after and not (after.isascii() and after.isdigit() and len(after) <= _DIGITS_MAX):
        raise Refused(400, {"after": _("must be a whole number")})
    return Wanted(
        text=query.get("text", ""),
        kind=query.get("kind", ""),
        lane=query.get("lane", ""),
        consumer=query.get("consumer", ""),
        is_newest=newest == "1",
        after=int(after) if after else None,
    )


def search(lab_id: str, wanted: Wanted) -> Json:
    """{events, next, scanned, kinds, consumers}: of the turning points that fit the first SHOWN_MAX, or the one that a
    text with "first" or "last" before its words asks for. next: the seq to go on after; None: there are no more.
    kinds, consumers: name -> count of all that were looked through, whatever fits."""
    words = _words(translation.get_language() or "en")
    asked: Json = call("base/events", "asked", wanted.text, words)
    is_newest = wanted.is_newest if asked["end"] is None else asked["end"] == "last"
    most = SHOWN_MAX if asked["end"] is None else 1
    kinds, consumers, scanned = Counter[str](), Counter[str](), 0
    found: list[Json] = []
    last, is_more = wanted.after, False
    for batch in _batches(lab_id, wanted.after, is_newest):
        texts = call("base/events", "fits", [event for _seq, event in batch], asked["words"], words)
        for (seq, event), fits in zip(batch, texts, strict=True):
            consumer = consumer_of(event)
            kinds[event["kind"]] += 1
            if consumer is not None:
                consumers[consumer] += 1
            scanned += 1
            if is_more:
                continue
            if fits and _is_wanted(event, consumer, wanted):
                if len(found) == most:
                    is_more = True
                    continue
                found.append(event)
            last = seq
        if scanned >= SCANNED_MAX:
            is_more = is_more or len(batch) == _BATCH
            break
    return {
        "events": found,
        "next": last if (is_more and most > 1) or (is_more and not found) else None,
        "scanned": scanned,
        "kinds": dict(sorted(kinds.items())),
        "consumers": dict(sorted(consumers.items())),
    }


def consumer_of(event: Json) -> str | None:
    """Whom a turning point is about, where it is about one."""
    consumer = {**event["inputs"], **event["data"]}.get("consumer")
    return consumer if isinstance(consumer, str) else None


def _is_wanted(event: Json, consumer: str | None, wanted: Wanted) -> bool:
    return (
        wanted.kind in ("", event["kind"])
        and wanted.lane in ("", event["lane"])
        and wanted.consumer in ("", consumer)
    )


def _batches(lab_id: str, after: int | None, is_newest: bool) -> Iterator[list[tuple[int, Json]]]:
    rows = StoredEvent.objects.filter(lab_id=lab_id).order_by("-seq" if is_newest else "seq")
    while True:
        rest = rows if after is None else rows.filter(**{"seq__lt" if is_newest else "seq__gt": after})
        batch = [(row.seq, intact(row.event)) for row in rest[:_BATCH]]
        if not batch:
            return
        yield batch
        if len(batch) < _BATCH:
            return
        after = batch[-1][0]


@cache
def _words(language: str) -> dict[str, str]:
    """What is said of turning points, of their facts and of first and last, in this language."""
    own = "en" if language == "en" else "zh-hans"
    units = ("millisecond", "second", "minute")
    return {
        code: text
        for code, text in catalogue("stage")[own].items()
        if code.startswith(("event.", "fact.", "events.word.", "model.")) or code in units
    }
