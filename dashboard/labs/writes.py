"""One writer per lab: what a shard writes about the labs it drives, each write conditional on the epoch that
the lease gave.

Two holders can exist for a moment (a worker that was paused wakes up and still believes in its lease). The
fencing epoch settles it: the second holder raised it, so the first one's next write changes no row, raises
LeaseLost and rolls back.
"""

import logging
from collections.abc import Sequence
from dataclasses import dataclass, field
from itertools import chain

from django.conf import settings
from django.db import DatabaseError, connection, transaction
from django.db.models import Max, Q, QuerySet, Sum
from django.utils import timezone

from broker_core.events import Json
from broker_core.lab import journal
from dashboard import database
from dashboard.labs.transport import transport
from dashboard.leases import has_run_out, lease_end_ms, wall_ms
from dashboard.models import Checkpoint, Goal, Lab, Pulse, StoredCommand, StoredEvent, StoredView
from dashboard.stored import object_in

log = logging.getLogger(__name__)
COMMANDS_AT_ONCE = 64  # of one lab that are read for one turn
# Any other refusal is about what was to be written, and so about one lab.
DATABASE_LOST = database.LOST


class LeaseLost(Exception):
    """Somebody else drives this lab now; what was about to be written is not."""


@dataclass(slots=True)
class Decision:
    """What became of one command: when it took effect, or why it could not."""

    command: StoredCommand
    at_us: int
    refusal: dict[str, list[str]] | None = None


@dataclass(slots=True)
class Commit:
    """Everything that becomes true at once: decisions, turning points, the view that shows them, and how far
    browsers may see."""

    lab_id: str
    epoch: int
    seq: int
    at_us: int
    clock_floor_us: int
    seq_floor: int
    view_text: str
    facts_text: str
    decisions: Sequence[Decision] = ()
    events: Sequence[Json] = ()
    checkpoint: journal.Checkpoint | None = None
    extra: Json = field(default_factory=dict)  # other columns of the lab: status, failed_reason
    has_come: bool = False  # to its goal


# -- the lease -----------------------------------------------------------------------------------------------


def lease_take(lab_id: str, owner: str, shard: int) -> Lab | None:
    """Become the holder if nobody else is, under a new epoch. None when somebody is, or the lab is gone,
    failed or another shard's.

    Scenario and script are read when they are asked for: a row that cannot be read must still be taken, and
    so be stopped.
    """
    with transaction.atomic():
        lab = (
            Lab.objects.defer("scenario", "script")
            .select_for_update()
            .filter(pk=lab_id, shard=shard)
            .exclude(status=Lab.Status.FAILED)
            .first()
        )
        if lab is None or (lab.lease_until_ms > wall_ms() and lab.lease_owner != owner):
            return None
        lab.lease_owner, lab.lease_until_ms, lab.epoch = owner, lease_end_ms(settings.LEASE_S), lab.epoch + 1
        lab.status = Lab.Status.RUNNING
        lab.save(update_fields=["lease_owner", "lease_until_ms", "epoch", "status"])
    return lab


def lease_renew(held: dict[str, int], owner: str) -> set[str]:
    """Keep these labs (id -> epoch) for another LEASE_S. Returns those that are lost."""
    if not held:
        return set()
    with connection.cursor() as cursor:
        cursor.execute(
            f"UPDATE {Lab._meta.db_table} SET lease_until_ms = %s"
            " WHERE lease_owner = %s AND deleted_at IS NULL"
            f" AND (id, epoch) IN (VALUES {', '.join(['(%s, %s)'] * len(held))}) RETURNING id",
            [lease_end_ms(settings.LEASE_S), owner, *chain.from_iterable(held.items())],
        )
        return held.keys() - {lab_id for (lab_id,) in cursor.fetchall()}


def lease_release(lab_id: str, epoch: int) -> None:
    """Let the lab go: the next holder need not wait for the lease to run out."""
    Lab.objects.filter(pk=lab_id, epoch=epoch).update(lease_until_ms=0)


def lab_fail(lab_id: str, epoch: int, reason: str, view: tuple[int, int, str] | None) -> None:
    """Stop the lab for good, with the reason. Its journal stays. view: (seq, at_us, text) that says so, for
    who comes later."""
    with transaction.atomic():
        if not Lab.objects.filter(pk=lab_id, epoch=epoch).update(
            status=Lab.Status.FAILED, failed_reason=reason, lease_until_ms=0
        ):
            return
        if view is not None:
            seq, at_us, text = view
            StoredView.objects.update_or_create(
                pk=lab_id, defaults={"epoch": epoch, "seq": seq, "at_us": at_us, "text": text}
            )


# -- writing -------------------------------------------------------------------------------------------------


def database_answers() -> bool:
    """Whether the database takes a write now: if so, a refused write was one lab's fault or bad luck, not
    everybody's."""
    try:
        Pulse.beat()
    except DatabaseError:
        return False
    return True


def commit_all(commits: Sequence[Commit]) -> dict[str, Exception]:
    """Write what several labs reserve and show, in one transaction.

    Returns the labs that nothing could be written for, each with the reason: LeaseLost, or what is wrong with
    what it wants to store. The others are written. Raises DatabaseError when the transaction as a whole
    failed: then nothing is.
    """
    failed: dict[str, Exception] = {}
    with transaction.atomic():
        try:
            with transaction.atomic():
                return _write(commits)
        except DATABASE_LOST:
            raise
        except Exception:
            log.info("what %s labs store cannot be written together; each apart", len(commits))
        for commit in commits:
            try:
                with transaction.atomic():
                    failed |= _write([commit])
            except DATABASE_LOST:
                raise
            except Exception as error:
                failed[commit.lab_id] = error
    return failed


def commit_or_each(commits: Sequence[Commit]) -> dict[str, Exception]:
    """`commit_all`; where one of them spoils the transaction of all, each in its own. Raises DatabaseError when
    the database is gone."""
    try:
        return commit_all(commits)
    except DatabaseError as error:
        if len(commits) == 1:
            return {commits[0].lab_id: error}
        if not database_answers():
            raise
    return {lab_id: error for commit in commits for lab_id, error in commit_or_each([commit]).items()}


def _write(commits: Sequence[Commit]) -> dict[str, Exception]:
    """Write one commit each of these labs, the rows of a kind by one statement. Returns the labs that somebody
    else drives now, each with LeaseLost: nothing is written of theirs."""
    held = _reserve(commits)
    lost: dict[str, Exception] = {
        commit.lab_id: LeaseLost(commit.lab_id) for commit in commits if commit.lab_id not in held
    }
    commits = [commit for commit in commits if commit.lab_id in held]
    StoredView.objects.bulk_create(
        [
            StoredView(
                lab_id=commit.lab_id,
                epoch=commit.epoch,
                seq=commit.seq,
                at_us=commit.at_us,
                text=commit.view_text,
                facts=commit.facts_text,
            )
            for commit in commits
        ],
        update_conflicts=True,
        unique_fields=["lab"],
        update_fields=["epoch", "seq", "at_us", "text", "facts"],
    )
    StoredEvent.objects.bulk_create(
        [
            StoredEvent(lab_id=commit.lab_id, seq=event["seq"], at_us=event["at_us"], event=event)
            for commit in commits
            for event in commit.events
        ],
        ignore_conflicts=True,  # a lab that was re-derived tells the same turning points again
    )
    for commit in commits:
        if commit.extra:
            Lab.objects.filter(pk=commit.lab_id).update(**commit.extra)
        if "shard" in commit.extra:
            _wake_after_commit(commit.extra["shard"], commit.lab_id)
        for decision in commit.decisions:
            state = StoredCommand.State.APPLIED if decision.refusal is None else StoredCommand.State.REFUSED
            StoredCommand.objects.filter(pk=decision.command.pk, state=StoredCommand.State.ACCEPTED).update(
                state=state, at_us=decision.at_us, fields=decision.refusal or {}
            )
        if commit.has_come:
            _goal_held(commit.lab_id)
        if commit.checkpoint is not None:
            checkpoint_store(commit.lab_id, commit.checkpoint)
            _thin_checkpoints(commit.lab_id)
    return lost


def _reserve(commits: Sequence[Commit]) -> set[str]:
    """Set how far browsers may see of each lab that is there and still driven under its commit's epoch. Returns
    those."""
    table = Lab._meta.db_table
    rows = [(each.lab_id, each.epoch, each.clock_floor_us, each.seq_floor) for each in commits]
    with connection.cursor() as cursor:
        cursor.execute(
            f"UPDATE {table} SET clock_floor_us = told.column3, seq_floor = told.column4"
            f" FROM (VALUES {', '.join(['(%s, %s, %s, %s)'] * len(rows))}) AS told"
            f" WHERE {table}.id = told.column1 AND {table}.epoch = told.column2"
            f" AND {table}.deleted_at IS NULL RETURNING {table}.id",
            list(chain.from_iterable(rows)),
        )
        return {lab_id for (lab_id,) in cursor.fetchall()}


def _wake_after_commit(shard: int, lab_id: str) -> None:
    """The lab is this shard's from now on."""
    transaction.on_commit(lambda: transport().wake(shard, lab_id) and None)


def _goal_held(lab_id: str) -> None:
    """The lab has come to its goal; the room hears of it when that is stored."""
    goal = Goal.objects.select_related("seat").filter(labs=lab_id, held_at=None).first()
    if goal is not None:
        Goal.objects.filter(pk=goal.pk).update(held_at=timezone.now())
        code = goal.seat.room_id
        transaction.on_commit(lambda: transport().tell_answered(code) and None)


def checkpoint_store(lab_id: str, checkpoint: journal.Checkpoint) -> None:
    """Keep it, unless there is one of this very moment."""
    (mark, steps, size, base), packed = checkpoint
    base_at_us, base_position = base or (None, None)
    row = Checkpoint(
        lab_id=lab_id,
        at_us=mark.at_us,
        position=mark.position,
        steps=steps,
        size=size,
        base_at_us=base_at_us,
        base_position=base_position,
        state=packed,
    )
    Checkpoint.objects.bulk_create([row], ignore_conflicts=True)


def _thin_checkpoints(lab_id: str) -> None:
    rows = Checkpoint.objects.filter(lab_id=lab_id)
    if (rows.aggregate(size=Sum("size"))["size"] or 0) > journal.CHECKPOINTS_BYTES_MAX:
        for mark in journal.thinned(_stored(rows), journal.CHECKPOINTS_BYTES_MAX):
            rows.filter(at_us=mark.at_us, position=mark.position).delete()


def _stored(rows: QuerySet[Checkpoint]) -> list[journal.Stored]:
    """A lab's checkpoints, ascending, without their bytes."""
    columns = rows.order_by("at_us", "position").values_list(
        "at_us", "position", "steps", "size", "base_at_us", "base_position"
    )
    return [
        journal.Stored(
            journal.Mark(at_us, position),
            steps,
            size,
            None if base_at_us is None else journal.Mark(base_at_us, base_position),
        )
        for at_us, position, steps, size, base_at_us, base_position in columns
    ]


def script_left(lab: Lab) -> tuple[list[Json], list[Json]]:
    """(the entries of the lab's script that are not in its journal yet, those that are and still wait there),
    in order. The script itself stays whole: a copy of the lab at any moment takes all of it along and finds
    in its own journal what has been done."""
    if not lab.script:
        return [], []
    # A command that brings its time along from another lab does not wait: the replay decides it.
    is_waiting = {row.command_id: row.state == StoredCommand.State.ACCEPTED and row.at_us is None
                  for row in lab.commands.only("command_id", "state", "at_us")}  # fmt: skip
    left = [entry for entry in lab.script if entry["body"]["command_id"] not in is_waiting]
    return left, [entry for entry in lab.script if is_waiting.get(entry["body"]["command_id"])]


def orders_accept(lab_id: str, epoch: int, due: Sequence[Json]) -> list[str]:
    """What the lab's own script or its real clients order becomes commands that wait, each with its place; one that is a
    command already does not again.

    Returns the ids of those that became commands. Raises LeaseLost.
    """
    with transaction.atomic():
        lab = Lab.objects.select_for_update().filter(pk=lab_id, epoch=epoch).first()
        if lab is None:
            raise LeaseLost(lab_id)
        bodies = {body["command_id"]: body for body in due}
        for taken in lab.commands.filter(command_id__in=list(bodies)).values_list("command_id", flat=True):
            del bodies[taken]
        StoredCommand.objects.bulk_create(
            StoredCommand(lab=lab, command_id=command_id, position=lab.position + place, body=body)
            for place, (command_id, body) in enumerate(bodies.items(), start=1)
        )
        Lab.objects.filter(pk=lab_id).update(position=lab.position + len(bodies))
    return list(bodies)


# -- reading back --------------------------------------------------------------------------------------------


def checkpoint_before(lab: Lab, until_us: int) -> Checkpoint | None:
    """The checkpoint from which a replay to `until_us` is shortest."""
    by_then = lab.checkpoints.filter(at_us__lte=until_us)
    return by_then.order_by("at_us", "position").last()


def checkpoint_at_us(lab: Lab, until_us: int) -> int | None:
    """When the last checkpoint until then was taken."""
    last: int | None = lab.checkpoints.filter(at_us__lte=until_us).aggregate(last=Max("at_us"))["last"]
    return last


def commands_after(lab: Lab, position: int) -> list[StoredCommand]:
    """The journal after a place: what was applied, and what brings its time along from another lab. In
    order."""
    stamped = lab.commands.filter(position__gt=position, at_us__isnull=False).exclude(
        state=StoredCommand.State.REFUSED
    )
    return list(stamped.order_by("position"))


def entry(command: StoredCommand) -> Json:
    """A stamped command as the core's journal has it."""
    return {**command.body, "position": command.position, "at_us": command.at_us}


def commands_waiting(lab_id: str) -> list[StoredCommand]:
    """The first COMMANDS_AT_ONCE accepted commands without a time, in order."""
    waiting = StoredCommand.objects.filter(
        lab_id=lab_id, state=StoredCommand.State.ACCEPTED, at_us__isnull=True
    )
    return list(waiting.order_by("position")[:COMMANDS_AT_ONCE])


def labs_with_commands(shard: int, owner: str) -> list[str]:
    """Labs of a shard that somebody ordered something from, and that nobody else holds."""
    labs = Lab.objects.filter(_free(owner), shard=shard, commands__state=StoredCommand.State.ACCEPTED)
    return list(labs.exclude(status=Lab.Status.FAILED).values_list("pk", flat=True).distinct())


def labs_running(shard: int, owner: str) -> list[str]:
    """Labs of a shard that are to be driven, and that no other worker holds."""
    return list(
        Lab.objects.filter(_free(owner), shard=shard, status=Lab.Status.RUNNING).values_list("pk", flat=True)
    )


def _free(owner: str) -> Q:
    return has_run_out() | Q(lease_owner=owner)


def event_seq_last(lab_id: str) -> int:
    """The last stored turning point, 0 before the first."""
    return StoredEvent.objects.filter(lab_id=lab_id).aggregate(last=Max("seq"))["last"] or 0


def view_stored(lab_id: str) -> tuple[int, Json]:
    """(frame number that a browser may have seen, the last stored view). Raises LookupError when there is
    none yet, ValueError for no JSON."""
    row = StoredView.objects.filter(pk=lab_id).values_list("lab__seq_floor", "text").first()
    if row is None:
        raise LookupError("it has no view yet")
    view = object_in(row[1])
    if view is None:
        raise ValueError("its view is damaged")
    return row[0], view


def state_of(checkpoint: Checkpoint | None) -> bytes | None:
    """A checkpoint as a lab begins with it; of a damaged one what no lab can, so that the journal is replayed."""
    if checkpoint is None:
        return None
    base = None
    if checkpoint.base_at_us is not None:
        base = Checkpoint.objects.filter(
            lab_id=checkpoint.lab_id, at_us=checkpoint.base_at_us, position=checkpoint.base_position
        ).first()
        if base is None:
            return b""
    return journal.state_of(_bytes(checkpoint.state), None if base is None else _bytes(base.state))


def _bytes(state: object) -> bytes:
    """None of what is no bytes: a damaged database may hold anything."""
    return bytes(state) if isinstance(state, bytes | memoryview) else b""


def labs_seen_at(lab_ids: list[str]) -> dict[str, float]:
    """When each lab was last watched, or else made: seconds since 1970."""
    rows = Lab.objects.filter(pk__in=lab_ids).values_list("pk", "created_at", "last_watched_at")
    return {
        pk: max(at.timestamp() for at in (created, watched) if at is not None)
        for pk, created, watched in rows
    }
