"""Every write that a person or program asks for. A service takes values and returns values, never a request.

lab_open      a new lab                        lab_for_visitor   the visitor's own copy of the demo
lab_submit    accept a command, wake the shard template_ensure   a lab of the site's own, as the demo
lab_fork      a copy, or another workload      lab_watched       somebody looks
              (how a copy is made: forks.py; names, deletion and undo: keeping.py)
"""

from collections.abc import Collection, Sequence
from dataclasses import dataclass
from typing import Any

from django.conf import settings
from django.db import IntegrityError, transaction
from django.db.models import F
from django.utils import timezone
from django.utils.translation import gettext as _

from broker_core.errors import CommandError
from broker_core.events import Json
from broker_core.lab.commands import command_from_json
from broker_core.lab.commands.base import Command
from broker_core.lab.commands.group import DeployAssignor
from broker_core.lab.commands.membership import DEMO_JOIN_ID
from broker_core.lab.commands.tubemq_cluster import OwnRule
from broker_core.lab.facts import LabFacts
from broker_core.lab.rules import RULES_VERSION
from broker_core.lab.scenario import Scenario, parts_of_scenario, scenario_to_json
from dashboard import access
from dashboard.assignors.runner import is_available
from dashboard.errors import Refused, fields_of
from dashboard.labs import copies, selectors
from dashboard.labs.clients.checks import check_order
from dashboard.labs.foresight import growth_known, refusal_known
from dashboard.labs.forks import fork_here, fork_moment, fork_replayed, past_journal, same_kind
from dashboard.labs.keeping import checked_name
from dashboard.labs.moment import FIELDS, moment_of
from dashboard.labs.room import grow, make_room
from dashboard.labs.rows import checked_scenario, lab_row, readable_scenario
from dashboard.labs.transport import transport
from dashboard.limits import core_limits
from dashboard.models import DEMO_SLUG, Goal, Lab, StoredCommand

OWN_IDS = (
    "lab:",
    "study:",
    "lesson:",
    "wire:",
)  # of the commands that a lab gives itself: its first, its script's, its clients'
PLAY: Json = {"command_id": "lab:open", "kind": "play", "lane": "all", "consumer": None, "args": {}}


@dataclass(frozen=True, slots=True)
class OpenedLab:
    """A new lab, and the token that lets a program command it: shown once, stored as a hash."""

    lab: Lab
    owner_token: str


# -- labs ----------------------------------------------------------------------------------------------------


def lab_open(
    *,
    request: Json,
    visitor: str | None = None,
    address: str = "",
    script: Sequence[Json] = (),
    to_frame: int | None = None,
) -> OpenedLab:
    """Make a lab and set it playing.

    request: {scenario?: name or object, seed?, workload?, lanes?, consumers?, consumer_rate?, lesson?}; a key
    beside the scenario overrides the one in it. script: [{at_us, body}], commands as check_command gives them
    that the lab gives itself when it is time, in order; a lesson brings its own. to_frame: of its lesson,
    from 1: it plays to that one, and pauses there.
    address: as address.py gives it, "" for the server itself. Raises Refused at the field that is wrong, 429
    when a quota is used up.
    """
    checked = wanted_scenario(request)
    return _lab_create(
        scenario_to_json(checked),
        visitor=visitor,
        address=address,
        name=checked.name if "name" in request else "",
        first=PLAY if to_frame is None or checked.lesson is None else checked.lesson.opening(to_frame),
        script=[*script, *(checked.lesson.script() if checked.lesson is not None else ())],
    )


def wanted_scenario(request: Json) -> Scenario:
    """The scenario that a request for a lab asks for. Raises Refused 400 at the field that is wrong."""
    raw = {key: value for key, value in request.items() if key != "scenario"}
    if isinstance(raw.get("name"), str):
        raw["name"] = raw["name"].strip()
    scenario = request.get("scenario", {})
    if isinstance(scenario, str):
        scenario = {"name": scenario}
    if not isinstance(scenario, dict):
        raise Refused(400, {"scenario": _("must be a name or an object")})
    return readable_scenario({**scenario, **raw})


def _lab_create(
    scenario: Json,
    *,
    visitor: str | None,
    address: str = "",
    first: Json = PLAY,
    ahead: Sequence[Json] = (),
    **columns: Any,
) -> OpenedLab:
    """The lab's row and its first command. ahead: of its script, what is due before a lab that is run ahead is there: the
    worker carries it out on the way, at its time. The core itself runs in the worker alone, so the first view comes from
    there."""
    token = access.token_new()
    with transaction.atomic():
        parts = parts_of_scenario(readable_scenario(scenario), core_limits())
        make_room(address, parts)
        lab = lab_row(
            scenario, token, visitor, address_hash=address, position=1 + len(ahead), parts=parts, **columns
        )
        StoredCommand.objects.bulk_create(
            StoredCommand(
                lab=lab,
                command_id=each["body"]["command_id"],
                position=position,
                body=each["body"],
                at_us=each["at_us"],
            )
            for position, each in enumerate([{"at_us": 0, "body": first}, *ahead], start=1)
        )
        _wake_after_commit(lab)
    return OpenedLab(lab, token)


def lab_fork(
    *,
    lab_id: str,
    request: Json | None = None,
    visitor: str | None = None,
    address: str = "",
    goal: Goal | None = None,
) -> OpenedLab:
    """Copy a lab as it is now; or with {until_us?, until_position?, speed?} as it was at that moment, paused;
    or, with {"workload": {...}} or {"seed": n}, replay its commands at their times under another scenario. A
    copied link says at_us for until_us and position for until_position.

    name: of the copy, 1 to 64 printable characters; without one the parent's. goal: what the copy is to come to;
    without one that of a parent of the visitor's own, whose branch goes on with it.

    Anybody may: reading needs nothing, and the copy is one's own. A visitor who has an unchanged copy of that
    moment gets it again; a token that a program had for it is replaced. Raises Refused 404 for an unknown
    lab, 400 for a moment that the lab has not had, else as lab_open.
    """
    changes = {key: value for key, value in (request or {}).items() if value is not None}
    name = checked_name(changes.pop("name")) if "name" in changes else ""
    is_moment = any(field in changes for field in FIELDS)
    if unknown := sorted(
        key for key in changes if key not in (FIELDS if is_moment else ("workload", "seed"))
    ):
        raise Refused(400, {unknown[0][:64]: _("is unknown")})
    with transaction.atomic():
        parent = Lab.objects.filter(pk=lab_id).first()
        if parent is None:
            raise selectors.lab_unknown()
        token = access.token_new()
        moment = moment_of(parent, changes) if is_moment else None
        if (
            moment is not None
            and goal is None
            and visitor
            and (own := copies.unchanged_copy(parent, moment, past_journal(parent), visitor))
        ):
            own.owner_hash, own.name = access.token_hash(token), name or own.name
            own.save(update_fields=["owner_hash", "name"])
            return OpenedLab(own, token)
        make_room(address, parent.parts)
        if moment is not None:
            lab = fork_moment(parent, moment, token, visitor)
        elif not changes:
            lab = fork_here(parent, token, visitor)
        else:
            if isinstance(changes.get("workload"), dict):
                changes["workload"] = {
                    **same_kind(parent.scenario["workload"], changes["workload"]),
                    **changes["workload"],
                }
            lab = fork_replayed(parent, checked_scenario({**parent.scenario, **changes}), token, visitor)
        lab.address_hash, lab.name, lab.parts = address, name or parent.name, parent.parts
        if goal is None and lab.visitor_hash == parent.visitor_hash and (moment is not None or not changes):
            goal = parent.goal
        lab.goal = goal
        lab.save(update_fields=["address_hash", "name", "parts", "goal"])
        _wake_after_commit(lab)
    return OpenedLab(lab, token)


def lab_for_visitor(*, visitor: str, address: str = "") -> Lab:
    """The lab of this visitor's browser: the newest one that `selectors.lab_of_visitor` finds, else a fresh
    copy of the demo, made once however many pages of the visitor ask for it together.

    Raises Refused when there is no room for another lab; the page then shows the demo itself, which the
    visitor can watch.
    """
    demo_id = demo_lab_ensure()
    with transaction.atomic():
        Lab.objects.select_for_update().filter(pk=demo_id).first()
        return (
            selectors.lab_of_visitor(visitor=visitor)
            or lab_fork(lab_id=demo_id, visitor=visitor, address=address).lab
        )


def demo_lab_ensure() -> str:
    """The id of the demo, made when there is none: run ahead to DEMO_PRE_RUN_US, then resting until somebody
    copies it."""
    return template_ensure(DEMO_SLUG, checked_scenario({"name": DEMO_SLUG}), settings.DEMO_PRE_RUN_US)


def template_ensure(slug: str, scenario: Json, until_us: int, script: Sequence[Json] = ()) -> str:
    """The id of the site's own lab of this name, made when there is none: run ahead to until_us, with what its script
    orders by then, then resting. scenario, as JSON, script: as `lab_open`."""
    found = Lab.objects.filter(slug=slug).first()
    if found is not None and (
        found.status == Lab.Status.FAILED
        or found.rules_version < RULES_VERSION
        or not selectors.is_readable(found)
        or found.scenario != scenario
    ):
        # It stays under its id, with its journal, as the bug report or as the parent of its copies; visitors
        # get a new one.
        Lab.objects.filter(pk=found.pk, slug=slug).update(slug=None)
        found = None
    if found is None:
        try:
            found = _lab_create(
                scenario,
                visitor=None,
                slug=slug,
                clock_floor_us=until_us,
                script=list(script),
                ahead=[entry for entry in script if entry["at_us"] <= until_us],
            ).lab
        except IntegrityError:  # another process was first
            found = Lab.objects.get(slug=slug)
    return str(found.pk)


def lab_watched(*, lab_ids: Collection[str], wake: bool = False) -> None:
    """Somebody looks at these labs now. wake: a browser has just come, so a resting lab must move again."""
    with transaction.atomic():
        Lab.objects.filter(pk__in=lab_ids).update(last_watched_at=timezone.now())
        if wake:
            labs = list(Lab.objects.filter(pk__in=lab_ids).exclude(status=Lab.Status.FAILED))
            Lab.objects.filter(pk__in=[lab.pk for lab in labs], status=Lab.Status.IDLE).update(
                status=Lab.Status.RUNNING
            )
            for lab in labs:
                _wake_after_commit(lab)


# -- commands ------------------------------------------------------------------------------------------------


def lab_submit(*, lab_id: str, request: Any, bearer: str | None = None, visitor: str | None = None) -> Json:
    """Accept a command: store it with its place in the journal, then wake the lab's shard. It takes effect in
    the worker.

    An id that begins like a lab's own (OWN_IDS) is refused: a visitor who took the next one would block the
    lab.

    Returns {lab, command_id, position, state}, the same again for the same command. Raises Refused: 404
    unknown lab, 403 not the owner, 409 another command had this id or the demo comes after a visitor, 400
    wrong in itself or known to be impossible now, 429 too many are waiting.
    """
    ordered = ordered_of(request)
    body = ordered.to_json()
    if body["command_id"].startswith(OWN_IDS):
        raise Refused(
            400,
            {
                "command_id": _("is reserved: ids that begin with %(prefixes)s are the lab's own")
                % {"prefixes": " / ".join(OWN_IDS)}
            },
        )
    with transaction.atomic():
        # The lab's row is the lock that makes places follow the order of arrival.
        lab = Lab.objects.select_for_update().filter(pk=lab_id).first()
        if lab is None:
            raise selectors.lab_unknown()
        if not access.is_owner(lab, bearer=bearer, visitor=visitor):
            raise Refused(403, {"lab": _("this lab is not yours: make your own copy of it")})
        known = StoredCommand.objects.filter(lab=lab, command_id=body["command_id"]).first()
        if known is not None:
            if known.body != body:
                raise Refused(409, {"command_id": _("was used for another command")})
            return _receipt(lab.pk, known)
        if (
            body["command_id"] == DEMO_JOIN_ID
            and StoredCommand.objects.filter(lab=lab).exclude(command_id__startswith="lab:").exists()
        ):
            raise Refused(409, {"lab": _("was changed by hand before: the demo adds no consumer")})
        check_order(lab, ordered)
        facts = _check_now(lab, ordered)
        if facts is not None and (more := growth_known(facts, ordered)) is not None:
            grow(lab, *more)
        Lab.objects.filter(pk=lab.pk).update(position=F("position") + 1)
        command = StoredCommand.objects.create(
            lab=lab, command_id=body["command_id"], position=lab.position + 1, body=body
        )
        _wake_after_commit(lab)
    return _receipt(lab.pk, command)


def ordered_of(request: Any) -> Command:
    """The command that a request asks for. Raises Refused 400 at the field: wrong in itself, or nothing that this
    server can run."""
    try:
        ordered = command_from_json(request, core_limits())
    except CommandError as error:
        raise Refused(400, fields_of(error)) from error
    if isinstance(ordered, DeployAssignor | OwnRule) and ordered.source is not None and not is_available():
        raise Refused(
            400,
            {
                "args.source": _(
                    "own assignors and rules are off: the kernel of this server has no filter for system calls "
                    "(seccomp)"
                )
            },
        )
    return ordered


def _check_now(lab: Lab, ordered: Command) -> LabFacts | None:
    """Refuse at once what is certain to be refused. With others waiting nothing is certain: then the worker
    answers. Returns what is known of the lab."""
    if lab.status == Lab.Status.FAILED:
        raise selectors.lab_has_stopped(lab.failed_reason)
    waiting = StoredCommand.objects.filter(lab=lab, state=StoredCommand.State.ACCEPTED).count()
    if waiting >= settings.COMMANDS_PENDING_MAX:
        raise Refused(429, {"lab": _("too many commands are waiting: send this one again later")})
    facts = selectors.lab_facts(lab_id=lab.pk)
    if facts is not None and not waiting and (refusal := refusal_known(facts, ordered)):
        raise Refused(400, refusal)
    return facts


def _receipt(lab_id: str, command: StoredCommand) -> Json:
    """What was promised, which is the same however often it is asked for; what became of it is in the
    command's own address."""
    return {
        "lab": lab_id,
        "command_id": command.command_id,
        "position": command.position,
        "state": StoredCommand.State.ACCEPTED.value,
    }


def _wake_after_commit(lab: Lab) -> None:
    transaction.on_commit(lambda: transport().wake(lab.shard, lab.pk) and None)
