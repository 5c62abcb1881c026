"""What pages, the API and the feed read. Nothing here writes."""

from typing import Any

from django.db.models import OuterRef, QuerySet, Subquery
from django.utils.translation import gettext as _

from broker_core.events import Json
from broker_core.lab.breaking.schedule import OWN_IDS as BROKEN
from broker_core.lab.comparing.history import OWN_IDS as COMPARED
from broker_core.lab.facts import LabFacts, facts_from_text, plays_by_text
from broker_core.lab.rules import RULES_VERSION
from dashboard import access
from dashboard.errors import Refused
from dashboard.labs.frames import snapshot_text
from dashboard.limits import core_limits
from dashboard.models import DEMO_SLUG, Lab, StoredCommand, StoredEvent, StoredView, shard_of
from dashboard.stored import Damaged, DamagedRow, intact, object_in


def lab_unknown() -> Refused:
    return Refused(404, {"lab": _("there is no such lab")})


def lab_get(*, lab_id: str) -> Lab:
    """Raises Refused 404 for an unknown lab."""
    lab = Lab.objects.filter(pk=lab_id).first()
    if lab is None:
        raise lab_unknown()
    return lab


def lab_exists(*, lab_id: str) -> bool:
    return Lab.objects.filter(pk=lab_id).exists()


def lab_shard(*, lab_id: str) -> int:
    """The shard that drives the lab; of one that is not there, that would."""
    found = Lab.objects.filter(pk=lab_id).values_list("shard", flat=True).first()
    return shard_of(lab_id) if found is None else found


def labs_there(*, lab_ids: list[str]) -> set[str]:
    """Which of these labs there are: deleted ones are not."""
    return set(Lab.objects.filter(pk__in=lab_ids).values_list("pk", flat=True))


def lab_stopped(*, lab_id: str) -> str:
    """Why a lab will not move again; "" while it can."""
    return (
        Lab.objects.filter(pk=lab_id, status=Lab.Status.FAILED)
        .values_list("failed_reason", flat=True)
        .first()
        or ""
    )


def lab_has_stopped(reason: str) -> Refused:
    return Refused(409, {"lab": _("this lab has stopped: %(reason)s") % {"reason": reason}})


def lab_of_visitor(*, visitor: str) -> Lab | None:
    """The newest lab that this visitor's browser owns, but none that plays a lesson or a comparison or has failed;
    None for who has none."""
    own = (
        Lab.objects.filter(visitor_hash=access.token_hash(visitor))
        .exclude(status=Lab.Status.FAILED)
        .order_by("-created_at")
    )
    # Not asked of the database: one damaged scenario would end its whole query.
    return next((lab for lab in own.iterator() if is_readable(lab) and not _is_played(lab)), None)


def _is_played(lab: Lab) -> bool:
    """A lesson, a comparison, or what a search found: it has a course of its own."""
    return "lesson" in lab.scenario or is_comparison(lab) or _has_script_of(lab, BROKEN)


def is_comparison(lab: Lab) -> bool:
    """Whether a lab was made by a comparison (`compare.py`): its script says so."""
    return _has_script_of(lab, COMPARED)


def _has_script_of(lab: Lab, own_ids: str) -> bool:
    script = lab.script
    return isinstance(script, list) and bool(script) and script[0]["body"]["command_id"].startswith(own_ids)


def is_readable(lab: Lab) -> bool:
    """Whether its scenario could be read."""
    return not isinstance(lab.scenario, Damaged)


def lab_name(lab: Lab) -> str:
    """What its owner calls it, else the name that it was made with; "" for one that has only the demo's."""
    made_as = str(lab.scenario["name"])
    return lab.name or ("" if made_as == DEMO_SLUG else made_as)


def lab_meta(*, lab: Lab) -> Json:
    """A lab without its view: who and what it is, and whether it moves."""
    return {
        "id": lab.pk,
        "slug": lab.slug,
        "name": lab_name(lab),
        "seed": lab.scenario["seed"],
        "workload": lab.scenario["workload"],
        "lanes": [lane["id"] for lane in lab.scenario["lanes"]],
        "status": lab.status,
        "failed_reason": lab.failed_reason,
        "parent": lab.parent_id,
        "position": lab.position,
        "created_at": lab.created_at.isoformat(),
        "rules": rules_of(lab=lab),
    }


def rules_of(*, lab: Lab) -> Json:
    """{made, now, older}: the version of the rules that the lab was made under, today's, and whether its past
    may have been another one."""
    return {"made": lab.rules_version, "now": RULES_VERSION, "older": lab.rules_version < RULES_VERSION}


def check_rules(*, lab: Lab) -> None:
    """Raises Refused 409 for a lab whose past would take another course under today's rules."""
    rules = rules_of(lab=lab)
    if rules["older"]:
        text = _(
            "was made under version %(made)s of the rules; today's is %(now)s, under which its past may differ"
        )
        raise Refused(409, {"lab": text % rules})


def is_fresh_demo(*, lab: Lab) -> bool:
    """Whether it is a visitor's copy of the demo as it came, to which nobody has done anything yet."""
    parent = lab.parent
    if parent is None or parent.slug != DEMO_SLUG or lab.scenario != parent.scenario:
        return False
    return lab.position <= parent.position


def lab_snapshot(*, lab_id: str) -> Json | None:
    """{lab, epoch, seq, at_us, view}: the last view at a frame boundary; None before the worker made the
    first, and for a damaged one, which the worker makes again."""
    row = StoredView.objects.filter(pk=lab_id).first()
    view = object_in(row.text) if row is not None else None
    if row is None or view is None:
        return None
    return {"lab": lab_id, "epoch": row.epoch, "seq": row.seq, "at_us": row.at_us, "view": view}


def lab_facts(*, lab_id: str) -> LabFacts | None:
    """What a command's check may know of the lab; None before the worker said it."""
    text = StoredView.objects.filter(pk=lab_id).values_list("facts", flat=True).first()
    return None if text is None else facts_from_text(text, core_limits())


def lab_snapshot_text(*, lab_id: str) -> tuple[int, int, str] | None:
    """The same as the feed's message: (epoch, seq, text). The view is passed on as it is stored."""
    row = StoredView.objects.filter(pk=lab_id).first()
    if row is None or object_in(row.text) is None:
        return None
    return row.epoch, row.seq, snapshot_text(lab_id, row.epoch, row.seq, row.at_us, row.text)


def labs_listed(*, visitor: str | None = None, limit: int = 50) -> QuerySet[Lab]:
    """The visitor's own labs, newest first; without a visitor the demo."""
    labs = (
        Lab.objects.filter(visitor_hash=access.token_hash(visitor))
        if visitor
        else Lab.objects.filter(slug=DEMO_SLUG)
    )
    return labs.order_by("-created_at")[:limit]


def lab_list(*, visitor: str | None = None, limit: int = 50) -> list[Json]:
    """The same, each as lab_meta with at_us, its virtual time, and whether its clock runs."""
    stored = StoredView.objects.filter(pk=OuterRef("pk"))
    rows: Any = labs_listed(visitor=visitor, limit=limit).annotate(
        at_us=Subquery(stored.values("at_us")), facts=Subquery(stored.values("facts"))
    )
    return [
        {**_listed(lab), "at_us": lab.at_us or 0, "is_playing": plays_by_text(lab.facts or "")}
        for lab in rows
    ]


def _listed(lab: Any) -> Json:
    """As lab_meta; one that cannot be read is listed too, so that its owner can delete it."""
    if is_readable(lab):
        return lab_meta(lab=lab)
    reason = " ".join(DamagedRow("lab", "scenario").fields["lab"])
    return {
        "id": lab.pk,
        "slug": lab.slug,
        "name": lab.name,
        "seed": None,
        "workload": {"kind": "unreadable"},
        "lanes": [],
        "status": Lab.Status.FAILED,
        "failed_reason": lab.failed_reason or reason,
        "parent": lab.parent_id,
        "position": lab.position,
        "created_at": lab.created_at.isoformat(),
    }


def command_get(*, lab_id: str, command_id: str) -> Json:
    """What became of a command: {lab, command_id, position, state, at_us, fields}. Raises Refused 404."""
    row: Any = StoredCommand.objects.filter(
        lab_id=lab_id, lab__deleted_at__isnull=True, command_id=command_id
    ).first()
    if row is None:
        raise Refused(404, {"command_id": _("there is no such command in this lab")})
    return {
        "lab": lab_id,
        "command_id": row.command_id,
        "position": row.position,
        "state": row.state,
        "at_us": row.at_us,
        "fields": intact(row.fields),
    }


def journal(*, lab: Lab) -> Json:
    """The save format: scenario, seed and commands. Under the same rules the same journal gives the same lab,
    byte for byte."""
    rows = lab.commands.filter(state=StoredCommand.State.APPLIED).order_by("position")
    commands = [{**row.body, "position": row.position, "at_us": row.at_us} for row in rows]
    return {"rules": rules_of(lab=lab), "scenario": intact(lab.scenario), "commands": commands}


def events_since(*, lab_id: str, seq: int, limit: int = 500) -> list[Json]:
    """Turning points after seq, in order."""
    return [event for _seq, event in event_rows(lab_id=lab_id, after=seq, limit=limit)]


def event_rows(
    *, lab_id: str, after: int, until_us: int | None = None, limit: int = 500
) -> list[tuple[int, Json]]:
    """(seq, turning point) of those after a seq, in order. until_us: and no later than this virtual time."""
    rows = StoredEvent.objects.filter(lab_id=lab_id, seq__gt=after)
    if until_us is not None:
        rows = rows.filter(at_us__lte=until_us)
    return [(row.seq, intact(row.event)) for row in rows.order_by("seq")[:limit]]
