"""Every write that a person or program asks for. A service takes values and returns values, never a request.

lab_open      a new lab                        lab_for_visitor   the visitor's own copy of the demo
lab_submit    accept a command, wake the shard demo_lab_ensure   the lab that visitors copy
lab_fork      a copy, or another workload      lab_watched       somebody looks
              (names, deletion and undo: keeping.py)
"""

from collections.abc import Collection, Iterable, Sequence
from dataclasses import dataclass
from typing import Any

from django.conf import settings
from django.db import IntegrityError, transaction
from django.db.models import F, Q
from django.utils import timezone
from django.utils.translation import gettext as _

from broker_core.errors import CommandError
from broker_core.events import Json
from broker_core.lab.commands import check_command, command_from_json
from broker_core.lab.commands.base import Command
from broker_core.lab.commands.group import DeployAssignor
from broker_core.lab.commands.membership import DEMO_JOIN_ID
from broker_core.lab.facts import LabFacts
from broker_core.lab.journal import Cut, Journal, Mark, alone
from broker_core.lab.rules import RULES_VERSION
from broker_core.lab.scenario import Scenario, parts_of_scenario, scenario_from_json, scenario_to_json
from dashboard import access
from dashboard.assignors.runner import is_available
from dashboard.errors import Refused, in_words
from dashboard.labs import copies, selectors, writes
from dashboard.labs.foresight import growth_known, refusal_known
from dashboard.labs.frames import encode, feed_state
from dashboard.labs.moment import FIELDS, Moment, moment_of
from dashboard.labs.room import grow, make_room
from dashboard.labs.transport import transport
from dashboard.limits import core_limits
from dashboard.models import (
    DEMO_SLUG,
    Lab,
    StoredCommand,
    StoredEvent,
    StoredView,
    lab_id_new,
    shard_of,
)
from dashboard.stored import intact, object_in

OWN_IDS = (
    "lab:",
    "study:",
    "lesson:",
)  # of the commands that a lab gives itself: its first, and its script's
PLAY: Json = {"command_id": "lab:open", "kind": "play", "rig": "all", "consumer": None, "args": {}}


@dataclass(frozen=True, slots=True)
class OpenedLab:
    """A new lab, and the token that lets a program command it: shown once, stored as a hash."""

    lab: Lab
    owner_token: str


# -- labs ----------------------------------------------------------------------------------------------------


def lab_open(
    *, request: Json, visitor: str | None = None, address: str = "", script: Sequence[Json] = ()
) -> OpenedLab:
    """Make a lab and set it playing.

    request: {scenario?: name or object, seed?, workload?, lanes?, consumers?, consumer_rate?, lesson?}; a key
    beside the scenario overrides the one in it. script: [{at_us, body}], commands as check_command gives them
    that the lab gives itself when it is time, in order; a lesson brings its own.
    address: as address.py gives it, "" for the server itself. Raises Refused at the field that is wrong, 429
    when a quota is used up.
    """
    raw = {key: value for key, value in request.items() if key != "scenario"}
    if isinstance(raw.get("name"), str):
        raw["name"] = raw["name"].strip()
    scenario = request.get("scenario", {})
    if isinstance(scenario, str):
        scenario = {"name": scenario}
    if not isinstance(scenario, dict):
        raise Refused(400, {"scenario": _("must be a name or an object")})
    checked = _scenario({**scenario, **raw})
    return _lab_create(
        scenario_to_json(checked),
        visitor=visitor,
        address=address,
        name=checked.name if "name" in raw else "",
        script=[*script, *(checked.lesson.script() if checked.lesson is not None else ())],
    )


def _checked_scenario(raw: Json) -> Json:
    return scenario_to_json(_scenario(raw))


def _scenario(raw: Json) -> Scenario:
    try:
        return scenario_from_json(raw, core_limits())
    except CommandError as error:
        raise Refused(400, {error.field: in_words(error)}) from error


def _lab_create(scenario: Json, *, visitor: str | None, address: str = "", **columns: Any) -> OpenedLab:
    """The lab's row and its first command, play. The core itself runs in the worker alone, so the first view
    comes from there."""
    token = access.token_new()
    with transaction.atomic():
        parts = parts_of_scenario(_scenario(scenario), core_limits())
        make_room(address, parts)
        lab = _lab_row(scenario, token, visitor, address_hash=address, position=1, parts=parts, **columns)
        StoredCommand.objects.create(lab=lab, command_id=PLAY["command_id"], position=1, body=PLAY, at_us=0)
        _wake_after_commit(lab)
    return OpenedLab(lab, token)


def _lab_row(scenario: Json, token: str, visitor: str | None, **columns: Any) -> Lab:
    lab_id = lab_id_new()
    return Lab.objects.create(
        id=lab_id,
        shard=shard_of(lab_id),
        scenario=scenario,
        owner_hash=access.token_hash(token),
        visitor_hash=access.token_hash(visitor) if visitor else "",
        **{"rules_version": RULES_VERSION, **columns},
    )


def lab_fork(
    *, lab_id: str, request: Json | None = None, visitor: str | None = None, address: str = ""
) -> OpenedLab:
    """Copy a lab as it is now; or with {until_us?, until_position?, speed?} as it was at that moment, paused;
    or, with {"workload": {...}} or {"seed": n}, replay its commands at their times under another scenario. A
    copied link says at_us for until_us and position for until_position.

    Anybody may: reading needs nothing, and the copy is one's own. A visitor who has an unchanged copy of that
    moment gets it again; a token that a program had for it is replaced. Raises Refused 404 for an unknown
    lab, 400 for a moment that the lab has not had, else as lab_open.
    """
    changes = {key: value for key, value in (request or {}).items() if value is not None}
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
            and visitor
            and (own := copies.unchanged_copy(parent, moment, _journal(parent), visitor))
        ):
            Lab.objects.filter(pk=own.pk).update(owner_hash=access.token_hash(token))
            return OpenedLab(own, token)
        make_room(address, parent.parts)
        if moment is not None:
            lab = _fork_moment(parent, moment, token, visitor)
        elif not changes:
            lab = _fork_here(parent, token, visitor)
        else:
            if isinstance(changes.get("workload"), dict):
                changes["workload"] = {
                    **_same_kind(parent.scenario["workload"], changes["workload"]),
                    **changes["workload"],
                }
            lab = _fork_replayed(parent, _checked_scenario({**parent.scenario, **changes}), token, visitor)
        lab.address_hash, lab.name, lab.parts = address, parent.name, parent.parts
        lab.save(update_fields=["address_hash", "name", "parts"])
        _wake_after_commit(lab)
    return OpenedLab(lab, token)


def _same_kind(old: Json, new: Json) -> Json:
    """What of a workload carries over to its change: everything while the kind stays, else only the rate."""
    if new.get("kind", old.get("kind")) == old.get("kind"):
        return old
    return {"rate": old["rate"]} if "rate" in old else {}


def _fork_here(parent: Lab, token: str, visitor: str | None) -> Lab:
    """The parent as its stored view shows it. Everything after that view is dropped; the worker re-derives up
    to it."""
    view = StoredView.objects.filter(pk=parent.pk).first()
    shown = object_in(view.text) if view is not None else None
    if shown is None:
        view = None  # none yet, or a damaged one: the worker makes it again
    cut = _journal(parent).cut(view.at_us if view is not None else parent.clock_floor_us)
    lab = _lab_row(
        parent.scenario,
        token,
        visitor,
        parent=parent,
        position=parent.position,
        clock_floor_us=cut.until_us,
        script=parent.script,
        seq_floor=view.seq if view is not None else 0,
        rules_version=parent.rules_version,
        status=Lab.Status.IDLE if view is not None else Lab.Status.RUNNING,
    )
    _copy_past(parent, lab, cut)
    if view is not None:
        # The parent may rest because nobody watched it; the copy has not been driven yet at all.
        text = encode({**(shown or {}), "feed": feed_state(0)})
        StoredView.objects.create(
            lab=lab, epoch=0, seq=view.seq, at_us=view.at_us, text=text, facts=view.facts
        )
    return lab


def _fork_moment(parent: Lab, moment: Moment, token: str, visitor: str | None) -> Lab:
    """The parent as it was then, paused: what it had been ordered by then, and after that the speed and the
    pause. The worker derives it."""
    cut = _journal(parent).cut(moment.until_us, moment.until_position)
    lab = _lab_row(
        parent.scenario,
        token,
        visitor,
        parent=parent,
        position=parent.position + 2,
        clock_floor_us=cut.until_us,
        script=parent.script,
        rules_version=parent.rules_version,
    )
    _copy_past(parent, lab, cut)
    orders: list[Json] = [{"kind": "pause_lab", "args": {}}]
    if moment.speed is not None:
        orders.insert(0, {"kind": "speed", "args": {"speed": moment.speed}})
    for place, order in enumerate(orders, start=1):
        body = check_command({"command_id": copies.own_id(lab, order["kind"]), **order})
        StoredCommand.objects.create(
            lab=lab,
            command_id=body["command_id"],
            position=parent.position + place,
            body=body,
            at_us=cut.until_us,
        )
    return lab


def _journal(parent: Lab) -> Journal:
    """The parent's, to be cut. What its own script ordered in vain is past, too; a scripted command that
    still waits is not, so it is due again in the copy, whose script is whole."""
    scripted = [entry["body"]["command_id"] for entry in parent.script]
    behind = ~Q(state=StoredCommand.State.REFUSED) | Q(command_id__in=scripted)
    rows = parent.commands.filter(behind, at_us__isnull=False).order_by("position")
    return Journal(
        _scenario(intact(parent.scenario)), [writes.entry(row) for row in rows], limits=core_limits()
    )


def _copy_past(parent: Lab, lab: Lab, cut: Cut) -> None:
    """What the copy has in common with its parent: commands, turning points, and a checkpoint to derive it
    from."""
    positions = {command["position"] for command in cut.commands}
    _copy_commands(
        [row for row in parent.commands.order_by("position").iterator() if row.position in positions], lab
    )
    checkpoint = writes.checkpoint_before(parent, cut.past_us)
    if checkpoint is not None and (state := writes.state_of(checkpoint)):
        mark = Mark(checkpoint.at_us, checkpoint.position)
        writes.checkpoint_store(lab.pk, alone(mark, checkpoint.steps, state))
    events = StoredEvent.objects.filter(lab=parent, at_us__lte=cut.past_us).order_by("seq")
    rows = (StoredEvent(lab=lab, seq=row.seq, at_us=row.at_us, event=row.event) for row in events.iterator())
    StoredEvent.objects.bulk_create(rows, batch_size=500)


def _fork_replayed(parent: Lab, scenario: Json, token: str, visitor: str | None) -> Lab:
    """A new lab at virtual time 0 whose commands bring the parent's times along; the worker decides them
    again on the way to now, under today's rules."""
    view = StoredView.objects.filter(pk=parent.pk).first()
    lab = _lab_row(scenario, token, visitor, parent=parent, position=parent.position, script=parent.script,
                   clock_floor_us=view.at_us if view is not None else parent.clock_floor_us)  # fmt: skip
    _copy_commands(
        parent.commands.filter(at_us__isnull=False).order_by("position"),
        lab,
        state=StoredCommand.State.ACCEPTED,
    )
    return lab


def _copy_commands(rows: Iterable[StoredCommand], lab: Lab, **columns: Any) -> None:
    copies = [
        StoredCommand(
            **{
                "lab": lab,
                "command_id": row.command_id,
                "position": row.position,
                "at_us": row.at_us,
                "body": row.body,
                "state": row.state,
                **columns,
            }
        )
        for row in rows
    ]
    StoredCommand.objects.bulk_create(copies, batch_size=500)


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
    demo = Lab.objects.filter(slug=DEMO_SLUG).first()
    if demo is not None and (
        demo.status == Lab.Status.FAILED
        or demo.rules_version < RULES_VERSION
        or not selectors.is_readable(demo)
    ):
        # It stays under its id, with its journal, as the bug report or as the parent of its copies; visitors
        # get a new one.
        Lab.objects.filter(pk=demo.pk, slug=DEMO_SLUG).update(slug=None)
        demo = None
    if demo is None:
        try:
            demo = _lab_create(_checked_scenario({"name": DEMO_SLUG}), visitor=None, slug=DEMO_SLUG,
                               clock_floor_us=settings.DEMO_PRE_RUN_US).lab  # fmt: skip
        except IntegrityError:  # another process was first
            demo = Lab.objects.get(slug=DEMO_SLUG)
    return str(demo.pk)


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
    try:
        ordered = command_from_json(request, core_limits())
    except CommandError as error:
        raise Refused(400, {error.field: in_words(error)}) from error
    body = ordered.to_json()
    if isinstance(ordered, DeployAssignor) and ordered.source is not None and not is_available():
        raise Refused(
            400,
            {
                "args.source": _(
                    "own assignors are off: the kernel of this server has no filter for system calls "
                    "(seccomp)"
                )
            },
        )
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
        facts = _check_now(lab, ordered)
        if facts is not None and (more := growth_known(facts, ordered)) is not None:
            grow(lab, *more)
        Lab.objects.filter(pk=lab.pk).update(position=F("position") + 1)
        command = StoredCommand.objects.create(
            lab=lab, command_id=body["command_id"], position=lab.position + 1, body=body
        )
        _wake_after_commit(lab)
    return _receipt(lab.pk, command)


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
    shard, lab_id = lab.shard, lab.pk
    transaction.on_commit(lambda: transport().wake(shard, lab_id) and None)
