"""The order to make a capsule, and what is known of it.

    <run dir>/capsules/<lab id>/<capsule>.json    {"state": waiting | running | done | failed, "panels", "from_us", "until_us", ...}

Whoever may see a lab may take it away. Its capsules follow from the journal, so losing them loses nothing: the newest
KEPT of a lab stay. So many of one network address and of everybody are made at a time (`quotas.py`), each for
CAPSULE_S_MAX of a worker's time.
"""

import logging
import secrets
import shutil
from pathlib import Path
from typing import Any

import redis
from celery import current_app
from django.conf import settings
from django.utils.translation import gettext as _
from kombu.exceptions import OperationalError

from broker_core.events import Json
from dashboard import quotas
from dashboard.errors import Refused, listed
from dashboard.formats import clock
from dashboard.labs import selectors
from dashboard.labs.capsules.shell import Shell
from dashboard.labs.comparisons import DONE, WAITING, check_under_way, known
from dashboard.labs.past.look import come_to
from dashboard.labs.transport import transport
from dashboard.logs.places import write_json
from dashboard.models import Lab
from dashboard.quotas import Quota
from dashboard.stored import intact

TASK = "dashboard.make_capsule"
PLAYED = ("stage", "cluster", "groups", "pulsar", "tubemq", "rabbitmq")
"""The pages that can be shown without orders, in a capsule or in a page of another site. The log's and the code's answer
each press with something of their own, which no recording has."""
FIELDS = ("page", "lane", "from_us", "until_us")
KEPT = 4
log = logging.getLogger(__name__)


def part_of(lab: Lab, body: Json) -> tuple[str, str, int, int]:
    """(page, lane, from_us, until_us) of what is asked for; without the latter two all of it. Raises Refused: 400 at the
    field, 409 for a lab whose past would take another course today."""
    if lab.status == Lab.Status.FAILED:
        raise selectors.lab_has_stopped(lab.failed_reason)
    selectors.check_rules(lab=lab)
    if unknown := sorted(set(body) - set(FIELDS)):
        raise Refused(400, {unknown[0][:64]: _("is unknown")})
    page, lane = body.get("page", "stage"), body.get("lane", "")
    if page not in PLAYED:
        raise Refused(400, {"page": _("must be %(names)s") % {"names": listed(PLAYED)}})
    if not isinstance(lane, str):
        raise Refused(400, {"lane": _("must be text")})
    last_us = lasts_us(lab)
    from_us = _time("from_us", body.get("from_us", 0), last_us)
    until_us = _time("until_us", body.get("until_us", last_us), last_us)
    if until_us <= from_us:
        raise Refused(400, {"until_us": _("must be after the beginning of the part")})
    return page, lane, from_us, until_us


def lasts_us(lab: Lab) -> int:
    """How far a capsule of a lab may go: as far as the lab has come, and a lesson's to its end."""
    lesson = intact(lab.scenario).get("lesson")
    return max(come_to(lab), int(lesson["lasts_us"]) if lesson else 0)


def _time(field: str, value: Any, last_us: int) -> int:
    if isinstance(value, bool) or not isinstance(value, int) or value < 0:
        raise Refused(400, {field: _("must be a whole number of 0 or more")})
    if value > last_us:
        raise Refused(400, {field: _("must be %(most)s at most") % {"most": clock(last_us)}})
    return value


def check_quota(address: str) -> None:
    """Raises Refused 429 while too many are being made."""
    quota = Quota(quotas.CAPSULES, "lab", settings.CAPSULES_ADDRESS_MAX, settings.CAPSULES_MAX)
    check_under_way(quota, _folder(""), address, settings.CAPSULE_S_MAX)


def capsule_start(*, lab: Lab, shell: Shell, from_us: int, until_us: int, address: str = "") -> Json:
    """Have it made. Returns what `capsule_get` does. Raises Refused 503."""
    capsule = secrets.token_hex(8)
    path = path_of(lab.pk, capsule)
    path.parent.mkdir(parents=True, exist_ok=True)
    path.with_suffix(".page").write_text(shell.html, encoding="utf-8")
    found: Json = {
        "id": capsule,
        "state": WAITING,
        "panels": shell.panels,
        "from_us": from_us,
        "until_us": until_us,
        "share": 0.0,
        "reason": "",
        "address": address,
    }
    write_json(path, found)
    _drop_older(lab.pk)
    try:
        transport().ping()
        current_app.send_task(TASK, args=[lab.pk, capsule], retry=False)
    except (redis.RedisError, OperationalError) as error:
        drop(path)
        log.warning("enqueueing %s failed: %s", TASK, error)
        raise Refused(503, {"lab": _("no worker can be reached")}) from error
    return _shown(found)


def capsule_get(*, lab_id: str, capsule: str) -> Json:
    """{id, state, from_us, until_us, share, reason, bytes?}. Raises Refused 404: it is none of the lab's, or its worker
    was lost."""
    selectors.lab_get(lab_id=lab_id)
    found = known(path_of(lab_id, capsule))
    if found["state"] == "none":
        raise Refused(404, {"capsule": _("there is no such capsule, or not any more: make it again")})
    return _shown(found)


def capsule_file(*, lab_id: str, capsule: str) -> Path:
    """Raises Refused 404 before it is made."""
    if capsule_get(lab_id=lab_id, capsule=capsule)["state"] != DONE:
        raise Refused(404, {"capsule": _("is not made yet")})
    return path_of(lab_id, capsule).with_suffix(".html")


def _shown(found: Json) -> Json:
    """In the reader's language, without what only the quota asks for."""
    shown = {name: value for name, value in found.items() if name not in ("address", "panels", "params")}
    return {**shown, "reason": _(found["reason"]) % found.get("params", {})} if found["reason"] else shown


def _drop_older(lab_id: str) -> None:
    files = sorted(_folder(lab_id).glob("*.json"), key=lambda path: path.stat().st_mtime, reverse=True)
    for path in files[KEPT:]:
        drop(path)


def drop(path: Path) -> None:
    for ending in (".json", ".page", ".html"):
        path.with_suffix(ending).unlink(missing_ok=True)


def forget(lab_id: str) -> None:
    """The lab is gone for good, and its capsules with it."""
    shutil.rmtree(_folder(lab_id), ignore_errors=True)


def _folder(lab_id: str) -> Path:
    return Path(settings.RUN_DIR) / "capsules" / lab_id


def path_of(lab_id: str, capsule: str) -> Path:
    return _folder(lab_id) / f"{capsule}.json"
