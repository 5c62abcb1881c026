"""Makes a capsule, in the worker of queue `default`: the run again, then as much of it as there is room for."""

import time
from collections.abc import Callable

from django.conf import settings
from django.utils.translation import gettext_noop

from broker_core.clock import SECOND_US
from broker_core.errors import HighwaterError
from broker_core.events import Json
from dashboard.formats import half_up
from dashboard.labs import selectors
from dashboard.labs.capsules import orders
from dashboard.labs.capsules.fitting import TooLarge, fitted
from dashboard.labs.capsules.recording import Recording, record
from dashboard.labs.capsules.shell import RUN, WHY
from dashboard.labs.comparisons import DONE, FAILED, RUNNING, WAITING, known
from dashboard.logs.places import write_json

BYTES_MAX = 1_000_000
SAY_EVERY_S = 0.5
SHORTER = 0.7
"""A part's bytes are not all in proportion to how long it is."""
TOO_LONG = gettext_noop("it took too long to be made: take a shorter part")
TOO_LARGE = gettext_noop(
    "it would have %(size)s MB, and a capsule has 1 MB at most: take a part of about %(seconds)s s"
)


class _TookTooLong(Exception):
    """Of the worker's time."""


def make(lab_id: str, capsule: str) -> None:
    """Write the file, or what is in its way. An order that comes twice finds nothing to do."""
    path = orders.path_of(lab_id, capsule)
    found = known(path)
    if found["state"] != WAITING:
        return
    began_s, said_s = time.thread_time(), time.monotonic()

    def say(state: str, **more: object) -> None:
        if path.exists():  # a newer one may have taken its place
            write_json(path, {**found, "state": state, **more})

    def check(share: float) -> None:
        nonlocal said_s
        now_s = time.monotonic()
        if time.thread_time() - began_s > settings.CAPSULE_S_MAX:
            raise _TookTooLong
        if now_s - said_s > SAY_EVERY_S:
            said_s = now_s
            say(RUNNING, share=round(share, 3))

    say(RUNNING)
    try:
        row = selectors.lab_get(lab_id=lab_id)
        recording = record(row, found["panels"], found["from_us"], found["until_us"], check)
        shell = path.with_suffix(".page").read_text(encoding="utf-8")
        text = filled(shell, recording, lambda: check(1.0))
        path.with_suffix(".html").write_text(text, encoding="utf-8")
        path.with_suffix(".page").unlink()
        say(DONE, share=1.0, bytes=len(text.encode()))
    except _TookTooLong:
        say(FAILED, reason=TOO_LONG)
    except TooLarge as error:
        say(FAILED, reason=TOO_LARGE, params=_shorter(found, error))
    except FileNotFoundError:
        if path.exists():
            raise
        orders.drop(path)  # a newer one has taken its place, or the lab is gone
    except HighwaterError as error:
        say(FAILED, reason=str(error).replace("%", "%%"))


def filled(shell: str, recording: Recording, check: Callable[[], None] = lambda: None) -> str:
    """The capsule itself: its page with what was recorded. Raises TooLarge; check: as `fitted`."""
    run, why = fitted(recording, BYTES_MAX - len(shell.encode()), check)
    return shell.replace(RUN, run).replace(WHY, why)


def _shorter(found: Json, error: TooLarge) -> Json:
    lasts_s = (found["until_us"] - found["from_us"]) / SECOND_US
    return {
        "size": half_up((error.needs + BYTES_MAX - error.room) / BYTES_MAX, 1),
        "seconds": max(1, round(SHORTER * lasts_s * error.room / error.needs)),
    }
