"""What a shard writes about the labs it drives. Every write is conditional on the epoch that the lease gave.

Two holders can exist for a moment (a worker that was paused wakes up and still believes in its lease). The fencing epoch settles it: the
second holder raised it, so the first one's next write changes no row, raises LeaseLost and rolls back.
"""

import time
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field

from django.conf import settings
from django.db import transaction
from django.db.models import Max, Q

from broker_core.events import Json
from dashboard.models import Checkpoint, Lab, StoredCommand, StoredEvent, StoredView

CHECKPOINTS_MAX = 64


class LeaseLost(Exception):
    """Somebody else drives this lab now; what was about to be written is not."""


def wall_ms() -> int:
    return time.time_ns() // 1_000_000


@dataclass(slots=True)
class Decision:
    """What became of one command: when it took effect, or why it could not."""

    command: StoredCommand
    at_us: int
    refusal: dict[str, list[str]] | None = None


@dataclass(slots=True)
class Commit:
    """Everything that becomes true at once: decisions, turning points, the view that shows them, and how far browsers may see."""

    lab_id: str
    epoch: int
    seq: int
    at_us: int
    clock_floor_us: int
    seq_floor: int
    view_text: str
    decisions: Sequence[Decision] = ()
    events: Sequence[Json] = ()
    checkpoint: tuple[int, int, bytes] | None = None       # position, record count, state
    extra: Json = field(default_factory=dict)              # other columns of the lab: status, failed_reason


# -- the lease ---------------------------------------------------------------------------------------------------------


def lease_take(lab_id: str, owner: str, shard: int) -> Lab | None:
    """Become the holder if nobody else is, under a new epoch. None when somebody is, or the lab is gone, failed or another shard's."""
    now = wall_ms()
    with transaction.atomic():
        lab = Lab.objects.select_for_update().filter(pk=lab_id, shard=shard).exclude(status=Lab.Status.FAILED).first()
        if lab is None or (lab.lease_until_ms > now and lab.lease_owner != owner):
            return None
        lab.lease_owner, lab.lease_until_ms, lab.epoch = owner, now + int(settings.LEASE_S * 1000), lab.epoch + 1
        lab.status = Lab.Status.RUNNING
        lab.save(update_fields=["lease_owner", "lease_until_ms", "epoch", "status"])
    return lab


def lease_renew(held: dict[str, int], owner: str) -> set[str]:
    """Keep these labs (id -> epoch) for another LEASE_S. Returns those that are lost."""
    until = wall_ms() + int(settings.LEASE_S * 1000)
    with transaction.atomic():
        Lab.objects.filter(pk__in=list(held), lease_owner=owner).update(lease_until_ms=until)
        epochs = dict(Lab.objects.filter(pk__in=list(held), lease_owner=owner).values_list("pk", "epoch"))
    return {lab_id for lab_id, epoch in held.items() if epochs.get(lab_id) != epoch}


def lease_release(lab_id: str, epoch: int) -> None:
    """Let the lab go: the next holder need not wait for the lease to run out."""
    Lab.objects.filter(pk=lab_id, epoch=epoch).update(lease_until_ms=0)


def lab_fail(lab_id: str, epoch: int, reason: str) -> None:
    """Stop the lab for good, with the reason. Its journal stays."""
    Lab.objects.filter(pk=lab_id, epoch=epoch).update(status=Lab.Status.FAILED, failed_reason=reason, lease_until_ms=0)


# -- writing -----------------------------------------------------------------------------------------------------------


def commit_all(commits: Iterable[Commit]) -> set[str]:
    """Write what several labs reserve and show, in one transaction. Returns the labs whose lease was lost: nothing of theirs is written."""
    lost = set()
    with transaction.atomic():
        for commit in commits:
            try:
                with transaction.atomic():
                    _write(commit)
            except LeaseLost:
                lost.add(commit.lab_id)
    return lost


def _write(commit: Commit) -> None:
    updated = Lab.objects.filter(pk=commit.lab_id, epoch=commit.epoch).update(
        clock_floor_us=commit.clock_floor_us, seq_floor=commit.seq_floor, **commit.extra
    )
    if not updated:
        raise LeaseLost(commit.lab_id)
    view = {"epoch": commit.epoch, "seq": commit.seq, "at_us": commit.at_us, "text": commit.view_text}
    if not StoredView.objects.filter(pk=commit.lab_id).update(**view):
        StoredView.objects.create(lab_id=commit.lab_id, **view)
    for decision in commit.decisions:
        state = StoredCommand.State.APPLIED if decision.refusal is None else StoredCommand.State.REFUSED
        StoredCommand.objects.filter(pk=decision.command.pk, state=StoredCommand.State.ACCEPTED).update(
            state=state, at_us=decision.at_us, fields=decision.refusal or {}
        )
    if commit.events:
        StoredEvent.objects.bulk_create(
            [StoredEvent(lab_id=commit.lab_id, seq=event["seq"], at_us=event["at_us"], event=event) for event in commit.events],
            ignore_conflicts=True,  # a lab that was re-derived tells the same turning points again
        )
    if commit.checkpoint is not None:
        position, record_count, state_blob = commit.checkpoint
        Checkpoint.objects.bulk_create(
            [Checkpoint(lab_id=commit.lab_id, at_us=commit.at_us, position=position, record_count=record_count, state=state_blob)],
            ignore_conflicts=True,
        )
        _thin_checkpoints(commit.lab_id)


def _thin_checkpoints(lab_id: str) -> None:
    """Keep a lab's checkpoints few: when there are too many, every second one of the older half goes."""
    keys = list(Checkpoint.objects.filter(lab_id=lab_id).order_by("at_us", "position").values_list("pk", flat=True))
    if len(keys) > CHECKPOINTS_MAX:
        Checkpoint.objects.filter(pk__in=keys[1 : len(keys) // 2 : 2]).delete()


def script_accept(lab_id: str, epoch: int, at_us: int) -> int | None:
    """The commands of the lab's own script that are due at virtual time at_us become commands that wait, each with its place, once.

    Returns when the next one is due, None when there is none. Raises LeaseLost.
    """
    with transaction.atomic():
        lab = Lab.objects.select_for_update().filter(pk=lab_id, epoch=epoch).first()
        if lab is None:
            raise LeaseLost(lab_id)
        due = [entry for entry in lab.script if entry["at_us"] <= at_us]
        StoredCommand.objects.bulk_create(
            StoredCommand(lab=lab, command_id=entry["body"]["command_id"], position=lab.position + place, body=entry["body"])
            for place, entry in enumerate(due, start=1)
        )
        left = lab.script[len(due) :]
        Lab.objects.filter(pk=lab_id).update(position=lab.position + len(due), script=left)
    return left[0]["at_us"] if left else None


# -- reading back ------------------------------------------------------------------------------------------------------


def checkpoint_latest(lab: Lab) -> Checkpoint | None:
    """Where a replay up to the lab's clock floor best starts."""
    return lab.checkpoints.filter(at_us__lte=lab.clock_floor_us).order_by("at_us", "position").last()


def commands_after(lab: Lab, position: int) -> list[StoredCommand]:
    """The journal after a place: what was applied, and what brings its time along from another lab. In order."""
    stamped = lab.commands.filter(position__gt=position, at_us__isnull=False).exclude(state=StoredCommand.State.REFUSED)
    return list(stamped.order_by("position"))


def commands_waiting(lab_id: str) -> list[StoredCommand]:
    """Accepted commands without a time, in order."""
    waiting = StoredCommand.objects.filter(lab_id=lab_id, state=StoredCommand.State.ACCEPTED, at_us__isnull=True)
    return list(waiting.order_by("position"))


def labs_with_commands(shard: int, owner: str) -> list[str]:
    """Labs of a shard that somebody ordered something from, and that nobody else holds."""
    labs = Lab.objects.filter(_free(owner), shard=shard, commands__state=StoredCommand.State.ACCEPTED)
    return list(labs.exclude(status=Lab.Status.FAILED).values_list("pk", flat=True).distinct())


def labs_running(shard: int, owner: str) -> list[str]:
    """Labs of a shard that somebody should be driving, and that nobody else holds."""
    return list(Lab.objects.filter(_free(owner), shard=shard, status=Lab.Status.RUNNING).values_list("pk", flat=True))


def _free(owner: str) -> Q:
    return Q(lease_until_ms__lte=wall_ms()) | Q(lease_owner=owner)


def event_seq_last(lab_id: str) -> int:
    """The last stored turning point, 0 before the first."""
    return StoredEvent.objects.filter(lab_id=lab_id).aggregate(last=Max("seq"))["last"] or 0


def labs_seen_at(lab_ids: list[str]) -> dict[str, float]:
    """When each lab was last watched, or else made: seconds since 1970."""
    rows = Lab.objects.filter(pk__in=lab_ids).values_list("pk", "created_at", "last_watched_at")
    return {pk: max(at.timestamp() for at in (created, watched) if at is not None) for pk, created, watched in rows}

