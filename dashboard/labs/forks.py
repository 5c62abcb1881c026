"""The ways in which a lab is copied: as it is now, as it was, or replayed under another scenario."""

from collections.abc import Iterable
from typing import Any

from django.db.models import Q

from broker_core.events import Json
from broker_core.lab.commands import check_command
from broker_core.lab.journal import Cut, Journal, Mark, alone
from dashboard.labs import copies, writes
from dashboard.labs.frames import encode, feed_state
from dashboard.labs.moment import Moment
from dashboard.labs.rows import lab_row, readable_scenario
from dashboard.limits import core_limits
from dashboard.models import Lab, StoredCommand, StoredEvent, StoredView
from dashboard.stored import intact, object_in


def same_kind(old: Json, new: Json) -> Json:
    """What of a workload carries over to its change: everything while the kind stays, else only the rate."""
    if new.get("kind", old.get("kind")) == old.get("kind"):
        return old
    return {"rate": old["rate"]} if "rate" in old else {}


def fork_here(parent: Lab, token: str, visitor: str | None) -> Lab:
    """The parent as its stored view shows it. Everything after that view is dropped; the worker re-derives up
    to it."""
    view = StoredView.objects.filter(pk=parent.pk).first()
    shown = object_in(view.text) if view is not None else None
    if shown is None:
        view = None  # none yet, or a damaged one: the worker makes it again
    cut = past_journal(parent).cut(view.at_us if view is not None else parent.clock_floor_us)
    lab = lab_row(
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
        **({} if parent.slug else _left(cut)),
    )
    _copy_past(parent, lab, cut)
    if view is not None:
        # The parent may rest because nobody watched it; the copy has not been driven yet at all.
        text = encode({**(shown or {}), "feed": feed_state(0)})
        StoredView.objects.create(
            lab=lab, epoch=0, seq=view.seq, at_us=view.at_us, text=text, facts=view.facts
        )
    return lab


def fork_moment(parent: Lab, moment: Moment, token: str, visitor: str | None) -> Lab:
    """The parent as it was then, paused: what it had been ordered by then, and after that the speed and the
    pause. The worker derives it."""
    cut = past_journal(parent).cut(moment.until_us, moment.until_position)
    lab = lab_row(
        parent.scenario,
        token,
        visitor,
        parent=parent,
        position=parent.position + 2,
        clock_floor_us=cut.until_us,
        script=parent.script,
        rules_version=parent.rules_version,
        **_left(cut),
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


def _left(cut: Cut) -> Json:
    """Where a branch leaves its parent. Copies of the demo, which is there to be copied, are none."""
    return {"left_at_us": cut.until_us, "left_position": cut.commands[-1]["position"] if cut.commands else 0}


def past_journal(parent: Lab) -> Journal:
    """The parent's, to be cut. What its own script ordered in vain is past, too; a scripted command that
    still waits is not, so it is due again in the copy, whose script is whole."""
    scripted = [entry["body"]["command_id"] for entry in parent.script]
    behind = ~Q(state=StoredCommand.State.REFUSED) | Q(command_id__in=scripted)
    rows = parent.commands.filter(behind, at_us__isnull=False).order_by("position")
    return Journal(
        readable_scenario(intact(parent.scenario)), [writes.entry(row) for row in rows], limits=core_limits()
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


def fork_replayed(parent: Lab, scenario: Json, token: str, visitor: str | None) -> Lab:
    """A new lab at virtual time 0 whose commands bring the parent's times along; the worker decides them
    again on the way to now, under today's rules."""
    view = StoredView.objects.filter(pk=parent.pk).first()
    lab = lab_row(scenario, token, visitor, parent=parent, position=parent.position, script=parent.script,
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
