"""A search for what breaks a promise about a lab: ordered by its owner, worked out by a worker in turns, and opened as a
lab.

    POST ─► a file that says "waiting" (searches.py) ─► worker, queue default (breaking_task.py) ─► the file
      DELETE ─► a mark beside it, at which the worker stops       POST .../open/ ─► a lab with the schedule as its script

One search a visitor at a time, so many of one network
address and of everybody (`quotas.py`), each for BREAKING_S_MAX of a worker's time.
"""

import secrets
from typing import Any

from django.conf import settings
from django.utils import translation
from django.utils.translation import gettext as _

from broker_core.clock import SECOND_US
from broker_core.errors import CommandError
from broker_core.events import Json
from broker_core.lab.breaking.allowance import MOST_MAX
from broker_core.lab.breaking.case import LASTS_S, Case, case_from_json
from broker_core.lab.breaking.faults import faults_of
from broker_core.lab.breaking.promise import KINDS
from broker_core.lab.breaking.schedule import script_of
from broker_core.lab.breaking.search import SEARCHING, Search
from broker_core.lab.fields import refuse_unknown, whole
from broker_core.lab.settings import SEED_MAX
from dashboard import access, quotas
from dashboard.breaking_words import fault_said, promise_said, promise_words
from dashboard.errors import Refused, fields_of
from dashboard.labs import searches, selectors, services
from dashboard.labs.comparisons import DONE, RUNNING, WAITING
from dashboard.limits import core_limits
from dashboard.logs.places import write_json
from dashboard.models import Lab
from dashboard.quotas import Quota
from dashboard.sentences import catalogue

SECONDS = (5, 80)
KAFKA_PAGES = {"nothing_lost": "kafka/cluster/", "one_owner": "kafka/groups/"}
"""Where a lab shows how such a promise broke; others on the Stage."""
WHY = {
    "nothing_lost": "total:lost",
    "key_order": "total:out_of_order",
    "nothing_redelivered": "total:redelivered",
    "pause_at_most": "figure:paused",
}
"""What "Why?" is about where such a promise broke; of others it is about the lane's last change."""
_FIELDS = ("lane", "promise", "may", "lasts_s", "seconds", "seed")


def search_start(
    *, lab_id: str, request: Json, bearer: str | None, visitor: str | None, address: str = ""
) -> Json:
    """Have it searched. request: {lane?, promise, may: {kind: {most, from_s?, until_s?}}, lasts_s, seconds, seed?}. Returns
    what `search_get` does.

    Raises Refused 400 at each field that is wrong, 403, 404, 409 for a lab that cannot be read, 503, and 429 while another
    search of this visitor, or too many, are under way.
    """
    lab = _owned(lab_id, bearer, visitor)
    case, seed, seconds = _case_of(lab, request)
    who = access.token_hash(visitor or bearer or "")
    _check_quota(who, address)
    path = searches.path_of(lab.pk)
    found: Json = {
        "state": WAITING,
        "run": secrets.token_hex(8),
        "who": who,
        "address": address,
        "asked": {name: request[name] for name in _FIELDS if name in request},
        "case": case.to_json(),
        "seed": seed,
        "seconds": seconds,
        "used_s": 0.0,
        "search": None,
        "reason": "",
    }
    searches.forget(lab.pk)
    path.parent.mkdir(parents=True, exist_ok=True)
    write_json(path, found)
    if not searches.enqueued(lab.pk, found["run"]):
        searches.forget(lab.pk)
        raise Refused(503, {"lab": _("no worker can be reached")})
    return search_get(lab_id=lab.pk)


def search_get(*, lab_id: str) -> Json:
    """How the last search of this lab stands; {"state": "none"} before anybody asked, or after its worker was lost. Raises
    Refused 404."""
    found = searches.known_of(selectors.lab_get(lab_id=lab_id).pk)
    if found["state"] == "none":
        return found
    search = _search(found)
    is_over = found["state"] == DONE
    shown: Json = {
        "state": found["state"],
        "phase": SEARCHING if search is None else search.phase,
        "tries": 0 if search is None else search.tries,
        "shrunk": 0 if search is None else search.shrunk,
        "used_s": round(found["used_s"], 1),
        "seconds": found["seconds"],
        "promise": promise_said(case_from_json(found["case"], core_limits()).promise),
        "asked": found["asked"],
        "seed": found["seed"],
        "is_broken": is_over and search is not None and search.broken is not None,
        "schedule": [],
        "opens": "",
        "why": "",
        "moment_us": None,
        "reason": _(found["reason"]) if found["reason"] else "",
    }
    if shown["is_broken"] and search is not None and search.broken is not None:
        faults = search.broken.schedule
        shown["schedule"] = [{"at_us": fault.at_us, **fault_said(fault)} for fault in faults]
        shown["moment_us"] = search.moment_us
        shown["why"] = WHY.get(search.case.promise.kind, f"lane:{search.case.lane.id}")
        if search.case.lane.model == "kafka":
            shown["opens"] = KAFKA_PAGES.get(search.case.promise.kind, "")
    return shown


def search_cancel(*, lab_id: str, bearer: str | None, visitor: str | None) -> Json:
    """End the search that is under way. Raises Refused 403, 404."""
    lab = _owned(lab_id, bearer, visitor)
    found = searches.known_of(lab.pk)
    if found["state"] in (WAITING, RUNNING):
        searches.mark_of(lab.pk, found["run"]).touch()
    return search_get(lab_id=lab.pk)


def found_open(*, lab_id: str, visitor: str | None, address: str = "") -> services.OpenedLab:
    """The shortest schedule that was found, as a lab that goes through it and is paused at the moment at which the promise
    broke. Raises Refused 404 where nothing was found, else as `lab_open`."""
    found = searches.known_of(selectors.lab_get(lab_id=lab_id).pk)
    search = _search(found) if found["state"] == DONE else None
    if search is None or search.broken is None or search.moment_us is None:
        raise Refused(404, {"lab": _("no search has broken a promise about this lab")})
    case = search.case
    language = "zh-hans" if (translation.get_language() or "en").startswith("zh") else "en"
    name = promise_words(case.promise, catalogue("break")[language])[:64]
    return services.lab_open(
        request={"scenario": case.to_json()["scenario"], "name": name},
        visitor=visitor,
        address=address,
        script=script_of(search.broken.schedule, case.lane.id, search.moment_us, core_limits()),
    )


def _search(found: Json) -> Search | None:
    if found.get("search") is None:
        return None
    limits = core_limits()
    return Search.from_json(case_from_json(found["case"], limits), found["seed"], found["search"], limits)


# -- checks --------------------------------------------------------------------------------------------------


def _owned(lab_id: str, bearer: str | None, visitor: str | None) -> Lab:
    lab = selectors.lab_get(lab_id=lab_id)
    if not access.is_owner(lab, bearer=bearer, visitor=visitor):
        raise Refused(403, {"lab": _("this lab is not yours: make your own copy of it")})
    return lab


def _check_quota(who: str, address: str) -> None:
    under_way = [found for found in searches.every() if found["state"] in (WAITING, RUNNING)]
    if any(found["who"] == who for found in under_way):
        text = _("a search of yours is under way already: cancel it, or wait for its end")
        raise Refused(429, {"lab": text}, settings.BREAKING_S_MAX)
    quota = Quota(quotas.SEARCHES, "lab", settings.BREAKINGS_ADDRESS_MAX, settings.BREAKINGS_MAX)
    quota.check(
        mine=sum(found["address"] == address for found in under_way) if address else None,
        everybody=len(under_way),
        again_s=settings.BREAKING_S_MAX,
    )


def _case_of(lab: Lab, request: Json) -> tuple[Case, int, int]:
    """(case, seed of the search, its seconds). Raises Refused 400 with all fields that are wrong."""
    if not selectors.is_readable(lab):
        raise selectors.lab_has_stopped(lab.failed_reason)
    wrong: dict[str, str] = {}

    def number(fields: Json, name: str, where: str, low: int, high: int, otherwise: int) -> int:
        value = fields.get(name, otherwise)
        try:
            return whole(where, value, low, high)
        except CommandError as error:
            wrong.update(fields_of(error))
            return otherwise

    try:
        refuse_unknown(request, _FIELDS, "", "case")
    except CommandError as error:
        raise Refused(400, fields_of(error)) from error
    lasts_s = number(request, "lasts_s", "lasts_s", *LASTS_S, otherwise=60)
    seconds = number(request, "seconds", "seconds", *SECONDS, otherwise=60)
    seed = number(request, "seed", "seed", 0, SEED_MAX, otherwise=7)
    may = _may_of(request.get("may"), lasts_s, number)
    raw = {
        "scenario": {name: value for name, value in lab.scenario.items() if name != "lesson"},
        "promise": request.get("promise"),
        "may": may,
        "lasts_us": lasts_s * SECOND_US,
        **({"lane": request["lane"]} if request.get("lane") else {}),
    }
    try:
        case = case_from_json(raw, core_limits())
    except CommandError as error:
        for each in (error, *error.others):
            place = each.field.split(".")
            if place[0] == "may" and len(place) > 1:  # the form knows a fault by its kind
                each.field = ".".join(("may", str(may[int(place[1])]["do"])))
            wrong = {**fields_of(each), **wrong}
    if wrong:
        raise Refused(400, wrong)
    return case, seed, seconds


def _may_of(raw: Any, lasts_s: int, number: Any) -> list[Json]:
    """The faults that happen at least once."""
    may: list[Json] = []
    for kind, given in (raw if isinstance(raw, dict) else {}).items():
        fields = given if isinstance(given, dict) else {"most": given}
        where = f"may.{str(kind)[:64]}"
        most = number(fields, "most", f"{where}.most", 0, MOST_MAX, 0)
        if not most:
            continue
        from_s = number(fields, "from_s", f"{where}.from_s", 0, lasts_s - 1, 0)
        until_s = number(fields, "until_s", f"{where}.until_s", from_s, lasts_s, lasts_s)
        may.append({"do": kind, "most": most, "from_us": from_s * SECOND_US, "until_us": until_s * SECOND_US})
    return may


def form_of(lab: Lab, lane: str | None, case: Case | None) -> Json:
    """What the page's form offers: {lanes: [{id, model, promises, faults}], given}. case: one that it begins with."""
    lanes = [
        {
            "id": each["id"],
            "model": each["model"],
            "promises": [
                {"id": name, "has_number": bool(kind.unit)}
                for name, kind in KINDS.items()
                if each["model"] in kind.models
            ],
            "faults": faults_of(each["model"]),
        }
        for each in lab.scenario["lanes"]
    ]
    given: Json = {
        "lane": next((each["id"] for each in lanes if each["id"] == lane), lanes[0]["id"]),
        "promise": {"kind": "nothing_redelivered"},
        "may": {"crash": {"most": 1}, "join": {"most": 1}},
        "lasts_s": 60,
        "seconds": 60,
        "seed": 7,
    }
    if case is not None:
        given |= {
            "promise": case.promise.to_json(),
            "may": {
                may.do: {
                    "most": may.most,
                    "from_s": may.from_us // SECOND_US,
                    "until_s": -(-may.until_us // SECOND_US),
                }
                for may in case.may
            },
            "lasts_s": case.lasts_us // SECOND_US,
        }
    return {"lanes": lanes, "given": given}
