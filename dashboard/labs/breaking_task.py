"""Works a search out, in the worker of queue `default`: a turn of a few seconds, then the end of the queue again, so that
nobody else's order waits longer than that for it."""

import time

from django.conf import settings
from django.utils.translation import gettext_noop

from broker_core.errors import HighwaterError
from broker_core.lab.breaking.case import case_from_json
from broker_core.lab.breaking.search import DONE as FOUND
from broker_core.lab.breaking.search import Search
from broker_core.lab.pieces import whole
from dashboard.labs import searches
from dashboard.labs.comparisons import DONE, FAILED, RUNNING, WAITING
from dashboard.limits import core_limits

SAY_EVERY_S = 0.5
SHRINKS_LONGER = 1.5
"""What was found may be made shorter for half as long again."""
NO_WORKER = gettext_noop("no worker can be reached")


class _OverError(Exception):
    """The search's time is over, or it was cancelled."""


def work_out(lab_id: str, run: str) -> None:
    """One turn of a search. An order that comes twice, or late, finds nothing to do. What goes wrong is written."""
    found = searches.known_of(lab_id)
    if found["state"] != WAITING or found["run"] != run:
        return
    limits = core_limits()
    case = case_from_json(found["case"], limits)
    search = (
        Search(case, found["seed"], limits)
        if found["search"] is None
        else Search.from_json(case, found["seed"], found["search"], limits)
    )
    before_s, began_s, said_s = found["used_s"], time.monotonic(), 0.0

    def used_s() -> float:
        return float(before_s + time.monotonic() - began_s)

    def say(state: str, **more: object) -> None:
        nonlocal said_s
        said_s = time.monotonic()
        searches.note(
            lab_id, {**found, "state": state, "used_s": used_s(), "search": search.to_json(), **more}
        )

    def check() -> None:
        """Between two pieces of a try: one that is left there has changed nothing of the search."""
        longest_s = found["seconds"] * (SHRINKS_LONGER if search.broken else 1)
        if used_s() > min(longest_s, settings.BREAKING_S_MAX) or searches.is_cancelled(lab_id, run):
            raise _OverError
        if time.monotonic() - said_s > SAY_EVERY_S:
            say(RUNNING)

    try:
        while search.phase != FOUND:
            whole(search.trying(), check)
            if time.monotonic() - began_s > settings.BREAKING_TURN_S and search.phase != FOUND:
                say(WAITING)
                if not searches.enqueued(lab_id, run):
                    say(FAILED, reason=NO_WORKER)
                return
    except _OverError:
        if searches.is_cancelled(lab_id, run):
            return
        whole(search.settle())
    except HighwaterError as error:
        say(FAILED, reason=str(error))
        return
    say(DONE)
