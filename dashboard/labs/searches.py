"""What is written about searches for what breaks a promise (`breaking.py`), and their way to a worker.

    <run dir>/breaking/<lab id>/search.json     {"state": waiting | running | done | failed, "run", "case", "seed", "search", ...}
    <run dir>/breaking/<lab id>/<run>.cancel    its owner wants no more of it

The file follows from the case and the seed, so losing it loses nothing.
"""

import json
import logging
import shutil
from collections.abc import Iterator
from pathlib import Path

import redis
from celery import current_app
from django.conf import settings
from kombu.exceptions import OperationalError

from broker_core.events import Json
from dashboard.labs.comparisons import RUNNING, WAITING, known
from dashboard.labs.transport import transport
from dashboard.logs.places import write_json

CANCELLED = "cancelled"
TASK = "dashboard.break_promise"
log = logging.getLogger(__name__)


def enqueued(lab_id: str, run: str) -> bool:
    """Put a search at the end of the queue; whether anybody takes it."""
    try:
        transport().ping()
        current_app.send_task(TASK, args=[lab_id, run], retry=False)
    except (redis.RedisError, OperationalError) as error:
        log.warning("enqueueing %s failed: %s", TASK, error)
        return False
    return True


def known_of(lab_id: str) -> Json:
    """What is written about a lab's search; {"state": "none"} where nothing is, or its worker was lost."""
    found = known(path_of(lab_id))
    if found["state"] in (WAITING, RUNNING) and is_cancelled(lab_id, found["run"]):
        return {**found, "state": CANCELLED}
    return found


def note(lab_id: str, found: Json) -> None:
    """The worker says how far it is, unless another search has taken its place."""
    path = path_of(lab_id)
    if path.exists() and json.loads(path.read_text(encoding="utf-8"))["run"] == found["run"]:
        write_json(path, found)


def is_cancelled(lab_id: str, run: str) -> bool:
    return mark_of(lab_id, run).exists()


def forget(lab_id: str) -> None:
    """The lab is gone for good, and its search with it."""
    shutil.rmtree(_folder(lab_id), ignore_errors=True)


def _folder(lab_id: str) -> Path:
    return Path(settings.RUN_DIR) / "breaking" / lab_id


def path_of(lab_id: str) -> Path:
    return _folder(lab_id) / "search.json"


def mark_of(lab_id: str, run: str) -> Path:
    return _folder(lab_id) / f"{run}.cancel"


def every() -> Iterator[Json]:
    """What is known about each lab's."""
    for path in _folder("").glob("*/search.json"):
        yield known_of(path.parent.name)
