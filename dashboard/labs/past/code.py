"""The last run of one of the algorithms at a moment of a lab's past, line by line.

Nobody keeps what ran: the lab is brought to the moment once more, and watched (`broker_core/lab/code/`). First its last
two seconds; what runs only at changes is then looked for around the last of them, the newest first.
"""

from collections.abc import Iterator

from django.utils.translation import gettext as _

from broker_core.clock import SECOND_US
from broker_core.events import Json
from broker_core.lab.code.catalogue import Algorithm, algorithms
from broker_core.lab.code.source import source_of
from broker_core.lab.code.tracing import Call, Trace
from broker_core.plain import to_plain
from dashboard.errors import Refused
from dashboard.labs.past.kept import Check, KeptLabs, Past, Viewer
from dashboard.labs.past.look import Look
from dashboard.labs.past.marks import system_marks
from dashboard.labs.past.stepping import CLOCK_KINDS
from dashboard.models import Lab

NEWEST_US = 2 * SECOND_US
BEFORE_US, AFTER_US = 100_000, 10 * SECOND_US
"""Around a change: a first rebalance of Kafka waits up to six seconds for more of them."""
LONGEST_US, STRETCHES_MAX = 20 * SECOND_US, 8


def listed(lab: Lab) -> Json:
    """{lanes: {id: [{id, group, file, name}]}}: what can be watched in each lane of a lab."""
    return {
        "lanes": {
            lane["id"]: [_row(each) for each in algorithms().values() if each.model == lane["model"]]
            for lane in lab.scenario["lanes"]
        }
    }


def _row(each: Algorithm) -> Json:
    source = source_of(each.function)
    return {"id": each.id, "group": each.group, "file": source["file"], "name": source["name"]}


def algorithm_of(lab: Lab, lane: str, of: str) -> tuple[str, Algorithm]:
    """Raises Refused 400 at the field."""
    models = {each["id"]: each["model"] for each in lab.scenario["lanes"]}
    if lane not in models:
        raise Refused(400, {"lane": _("this lab has no such lane")})
    known = algorithms().get(of)
    if known is None or known.model != models[lane]:
        raise Refused(400, {"of": _("is no algorithm of this lane")})
    return lane, known


def run_of(look: Look, past: Past, kept: KeptLabs, check: Check) -> Json:
    """{id, lane, at_us, source, call, since_us}: call is None where it has not run since then, as far as was looked. On a
    lab of its own, which is dropped after it."""
    lane, algorithm = algorithm_of(past.row, look.lane, look.thing)
    viewer = (look.lab, f"{look.look} code")
    since_us, call = look.at_us, None
    try:
        for stretch in _stretches(look, past):
            since_us = stretch[0]
            call = _last_call(past, viewer, kept, check, look, stretch, (lane, algorithm))
            if call is not None:
                break
    finally:
        kept.drop(viewer)
    told = None if call is None else to_plain(call)
    return {
        "id": algorithm.id,
        "lane": lane,
        "at_us": look.at_us,
        "source": source_of(algorithm.function),
        "call": told,
        "since_us": since_us,
    }


def _stretches(look: Look, past: Past) -> Iterator[tuple[int, int]]:
    yield max(0, look.at_us - NEWEST_US), look.at_us
    # Around changes, the newest first, and each moment once.
    orders = [each["at_us"] for each in past.journal.commands if each["kind"] not in CLOCK_KINDS]
    marks = [mark["at_us"] for mark in system_marks(past.row.pk, look.at_us)]
    changes = sorted({0, *(at_us for at_us in (*orders, *marks) if at_us <= look.at_us)})
    stretches: list[tuple[int, int]] = []
    for at_us in changes:
        from_us, until_us = max(0, at_us - BEFORE_US), min(look.at_us, at_us + AFTER_US)
        if stretches and from_us <= stretches[-1][1] and until_us - stretches[-1][0] <= LONGEST_US:
            stretches[-1] = stretches[-1][0], until_us
        else:
            stretches.append((from_us, until_us))
    yield from reversed(stretches[-STRETCHES_MAX:])


def _last_call(
    past: Past,
    viewer: Viewer,
    kept: KeptLabs,
    check: Check,
    look: Look,
    stretch: tuple[int, int],
    of: tuple[str, Algorithm],
) -> Call | None:
    """The last one in a stretch of time: once to count, once more to follow it."""
    lane, algorithm = of
    position = look.until_position if stretch[1] == look.at_us else None

    def bring(watched: Trace) -> Trace:
        """At time 0 those who are there from the start have joined already: from there it is watched as well."""
        kept.drop(viewer)
        if stretch[0]:
            kept.at(past, viewer, past.journal.cut(stretch[0]), check)
        with watched:
            if not stretch[0]:
                kept.at(past, viewer, past.journal.cut(0), check)
            kept.at(past, viewer, past.journal.cut(stretch[1], position), check)
        return watched

    counted = bring(Trace(algorithm.function, lane))
    return bring(Trace(algorithm.function, lane, of=counted.calls)).call if counted.calls else None
