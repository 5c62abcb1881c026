"""What the analysis worker writes about studies. Every write is conditional on the epoch that the lease gave,
as with labs.

    queued ─► running ─► done | failed | cancelled          a lease that ran out: running ─► failed

Nothing goes back: a study that ran once never runs again.
"""

from collections import Counter
from dataclasses import dataclass
from datetime import timedelta
from typing import Any

from django.conf import settings
from django.db import IntegrityError, transaction
from django.db.models import F
from django.utils import timezone

from broker_core.events import Json
from dashboard.leases import has_run_out, lease_end_ms
from dashboard.models import Study
from dashboard.studies import reasons
from dashboard.studies.turns import turns

RECENT = timedelta(hours=1)
SLOT = 1
State = Study.State


@dataclass(frozen=True, slots=True)
class Orders:
    """What the row says to the study's worker. held: it is still theirs."""

    held: bool
    cancel: bool
    watched_at: Any = None


def study_order() -> list[str]:
    """The batch studies that wait, in the order of their turns."""
    waiting = list(
        Study.objects.filter(state=State.QUEUED, live=False)
        .order_by("queued_at", "pk")
        .values_list("pk", "owner_hash", "address_hash")
    )
    recent = list(
        Study.objects.filter(live=False, started_at__gte=timezone.now() - RECENT).values_list(
            "owner_hash", "address_hash"
        )
    )
    return turns(
        [(pk, owner) for pk, owner, _address in waiting],
        Counter(owner for owner, _address in recent),
        {pk: address for pk, _owner, address in waiting},
        Counter(address for _owner, address in recent if address),
    )


def study_take(owner: str) -> Study | None:
    """Begin the batch study whose turn it is. None when none waits, or one runs: the slot is unique for all
    workers."""
    if Study.objects.filter(slot=SLOT).exists():
        return None
    for pk in study_order():
        if (study := _begin(pk, owner, slot=SLOT)) is not None:
            return study
    return None


def live_take(owner: str) -> list[Study]:
    """Begin the live studies that wait, and take over those whose worker died: they go on from their
    checkpoint."""
    taken = []
    for pk in (
        Study.objects.filter(live=True, state=State.QUEUED).order_by("queued_at").values_list("pk", flat=True)
    ):
        if (study := _begin(pk, owner)) is not None:
            taken.append(study)
    lost = Study.objects.filter(has_run_out(), live=True, state=State.RUNNING)
    for pk, epoch in list(lost.values_list("pk", "epoch")):
        changes = {
            "lease_owner": owner,
            "lease_until_ms": lease_end_ms(settings.STUDY_LEASE_S),
            "epoch": epoch + 1,
        }
        if Study.objects.filter(pk=pk, epoch=epoch, state=State.RUNNING).update(**changes):
            taken.append(Study.objects.get(pk=pk))
    return taken


def _begin(pk: str, owner: str, **columns: Any) -> Study | None:
    try:
        with transaction.atomic():
            taken = Study.objects.filter(pk=pk, state=State.QUEUED, cancel_requested=False).update(
                state=State.RUNNING,
                started_at=timezone.now(),
                lease_owner=owner,
                lease_until_ms=lease_end_ms(settings.STUDY_LEASE_S),
                epoch=F("epoch") + 1,
                **columns,
            )
    except IntegrityError:  # another worker took the slot in this moment
        return None
    return Study.objects.get(pk=pk) if taken else None


def study_beat(study: Study, progress: Json | None = None) -> Orders:
    """Keep the lease, tell how far it is, and hear whether to go on."""
    changes: dict[str, Any] = {"lease_until_ms": lease_end_ms(settings.STUDY_LEASE_S)}
    if progress is not None:
        changes["progress"] = progress
    held = Study.objects.filter(pk=study.pk, epoch=study.epoch, state=State.RUNNING).update(**changes)
    row = Study.objects.filter(pk=study.pk).values("cancel_requested", "watched_at").first()
    return Orders(bool(held), row is None or row["cancel_requested"], row["watched_at"] if row else None)


def study_end(
    study: Study, state: Study.State, error: Json | None = None, progress: Json | None = None
) -> bool:
    """Say how it ended. False: somebody else has said so already, and what was made must not be shown."""
    changes: dict[str, Any] = {
        "state": state,
        "error": error,
        "finished_at": timezone.now(),
        "lease_until_ms": 0,
        "slot": None,
    }
    if progress is not None:
        changes["progress"] = progress
    return bool(Study.objects.filter(pk=study.pk, epoch=study.epoch, state=State.RUNNING).update(**changes))


def studies_fail_lost() -> list[str]:
    """Batch studies whose worker gave no sign of life: failed, with the reason. Returns them; their half
    results are to be removed."""
    lost = Study.objects.filter(has_run_out(), live=False, state=State.RUNNING)
    failed = []
    for pk, epoch in list(lost.values_list("pk", "epoch")):
        # A new epoch, so that a worker that was only paused finds its study gone.
        changed = Study.objects.filter(has_run_out(), pk=pk, epoch=epoch, state=State.RUNNING).update(
            state=State.FAILED,
            error=reasons.reason(reasons.WORKER_DIED),
            finished_at=timezone.now(),
            slot=None,
            epoch=epoch + 1,
        )
        if changed:
            failed.append(pk)
    return failed
