"""A lab's consumer group under each assignor and protocol, as its page asks for it: what was worked out last,
and the order to work it out.

    POST ─► a file that says "waiting" ─► worker, queue default: the lab at that moment, each variant run through its history ─► the file, row by row

    <run dir>/comparisons/<lab id>/<lane>.json     {"state": waiting | running | done | failed, "until_us", "rows", "now", "share", "reason"}

The file follows from the journal, so losing it loses nothing. One comparison a lane at a time, so many of one
network address and of everybody (`quotas.py`), each for COMPARISON_S_MAX of a worker's time; one whose worker
gave no sign for a while may be asked for again.
"""

import json
import logging
import shutil
import time
from pathlib import Path

import redis
from celery import current_app
from django.conf import settings
from django.utils.translation import gettext as _
from kombu.exceptions import OperationalError

from broker_core.events import Json
from dashboard import access, quotas
from dashboard.errors import Refused
from dashboard.labs import selectors
from dashboard.labs.transport import transport
from dashboard.logs.places import write_json
from dashboard.models import Lab
from dashboard.quotas import Quota

WAITING, RUNNING, DONE, FAILED = "waiting", "running", "done", "failed"
GIVEN_UP_S = {WAITING: 900.0, RUNNING: 60.0}  # without a sign
TASK = "dashboard.compare_group"
log = logging.getLogger(__name__)


def comparison_start(
    *, lab_id: str, lane: str, bearer: str | None, visitor: str | None, address: str = ""
) -> Json:
    """Have a lane's group compared up to now, unless that is under way. Returns what `comparison_get` does.

    Raises Refused 403, 404, 503, and 429 while too many are under way.
    """
    lab = selectors.lab_get(lab_id=lab_id)
    if not access.is_owner(lab, bearer=bearer, visitor=visitor):
        raise Refused(403, {"lab": _("this lab is not yours: make your own copy of it")})
    path = path_of(lab, lane)
    known = comparison_get(lab_id=lab_id, lane=lane)
    if known["state"] in (WAITING, RUNNING):
        return known
    _check_quota(address)
    snapshot = selectors.lab_snapshot(lab_id=lab_id)
    found: Json = {
        "state": WAITING,
        "until_us": snapshot["at_us"] if snapshot else 0,
        "rows": [],
        "now": None,
        "share": 0.0,
        "reason": "",
        "address": address,
    }
    path.parent.mkdir(parents=True, exist_ok=True)
    write_json(path, found)
    try:
        transport().ping()
        current_app.send_task(TASK, args=[lab_id, lane, found["until_us"]], retry=False)
    except (redis.RedisError, OperationalError) as error:
        path.unlink(missing_ok=True)
        log.warning("enqueueing %s failed: %s", TASK, error)
        raise Refused(503, {"lane": _("no worker can be reached")}) from error
    return _shown(found)


def comparison_get(*, lab_id: str, lane: str) -> Json:
    """What is known: {"state": "none"} before anybody asked, or after its worker was lost. Raises Refused
    404."""
    return _shown(known(path_of(selectors.lab_get(lab_id=lab_id), lane)))


def is_waiting(lab: Lab, lane: str) -> bool:
    """Whether this comparison is still to be worked out: its order may come twice."""
    return bool(known(path_of(lab, lane))["state"] == WAITING)


def known(path: Path) -> Json:
    """What is written about a comparison; {"state": "none"} where nothing is, or its worker was lost."""
    try:
        found: Json = json.loads(path.read_text(encoding="utf-8"))
        age_s = time.time() - path.stat().st_mtime
    except (OSError, ValueError):
        return {"state": "none"}
    return {"state": "none"} if age_s > GIVEN_UP_S.get(found["state"], age_s) else found


def _shown(found: Json) -> Json:
    """In the reader's language, without what only the quota asks for."""
    shown = {name: value for name, value in found.items() if name != "address"}
    return {**shown, "reason": _(found["reason"])} if found.get("reason") else shown


def check_under_way(quota: Quota, folder: Path, address: str, again_s: float) -> None:
    """folder: of all labs' folders with such files, which say whether they are under way. Raises Refused 429 while too
    many are."""
    under_way = [
        found for path in folder.glob("*/*.json") if (found := known(path))["state"] in (WAITING, RUNNING)
    ]
    quota.check(
        mine=sum(found.get("address") == address for found in under_way) if address else None,
        everybody=len(under_way),
        again_s=again_s,
    )


def _check_quota(address: str) -> None:
    quota = Quota(quotas.COMPARISONS, "lane", settings.COMPARISONS_ADDRESS_MAX, settings.COMPARISONS_MAX)
    check_under_way(quota, _folder(""), address, settings.COMPARISON_S_MAX)


def forget(lab_id: str) -> None:
    """The lab is gone for good, and its comparisons with it."""
    shutil.rmtree(_folder(lab_id), ignore_errors=True)


def _folder(lab_id: str) -> Path:
    return Path(settings.RUN_DIR) / "comparisons" / lab_id


def path_of(lab: Lab, lane: str) -> Path:
    """Raises Refused 404 for a lane that is none of the lab's, or has no group on a cluster."""
    spec = next((spec for spec in lab.scenario["lanes"] if spec["id"] == lane), None)
    if spec is None or spec["model"] != "kafka":
        raise Refused(404, {"lane": _("this lab has no such Kafka lane")})
    return _folder(lab.pk) / f"{lane}.json"
