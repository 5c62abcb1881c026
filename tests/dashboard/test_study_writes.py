"""Which study begins and whose write counts, row by row: one batch study at a time, live ones beside it, and
nothing that ran once runs again."""

from datetime import timedelta
from typing import Any

import pytest
from django.db import IntegrityError
from django.utils import timezone

from dashboard import leases
from dashboard.models import Study
from dashboard.studies import reasons, writes
from dashboard.studies.writes import Orders

pytestmark = pytest.mark.django_db
QUEUED, RUNNING, DONE, FAILED, CANCELLED = Study.State


class Clock:
    now_ms = 1_000_000


@pytest.fixture(autouse=True)
def clock(monkeypatch: pytest.MonkeyPatch, settings: Any) -> Clock:
    settings.STUDY_LEASE_S = 15.0
    clock = Clock()
    monkeypatch.setattr(leases, "wall_ms", lambda: clock.now_ms)
    return clock


def row(name: str, *, waits_s: float = 0, **columns: Any) -> Study:
    known = {
        "id": name,
        "name": name,
        "request": {},
        "owner_hash": name[0],
        "queued_at": timezone.now() - timedelta(seconds=waits_s),
    }
    return Study.objects.create(**known | columns)


def states() -> dict[str, str]:
    return dict(Study.objects.values_list("pk", "state"))


# -- whose turn ----------------------------------------------------------------------------------------------


def test_a_study_that_begins_has_the_slot_a_lease_and_a_new_epoch(clock: Clock) -> None:
    row("a", waits_s=5)
    study = writes.study_take("worker")
    assert study is not None and (study.pk, study.state, study.slot, study.epoch) == ("a", RUNNING, 1, 1)
    assert (study.lease_owner, study.lease_until_ms) == (
        "worker",
        clock.now_ms + 15_000,
    ) and study.started_at is not None


def test_while_one_runs_no_other_begins_on_any_worker() -> None:
    for name, waits_s in (("a", 5), ("b", 3)):
        row(name, waits_s=waits_s)
    first = writes.study_take("worker")
    assert first is not None and writes.study_take("another") is None and writes.study_take("worker") is None
    assert writes.study_end(first, DONE)
    second = writes.study_take("another")
    assert second is not None and second.pk == "b"


def test_two_workers_at_one_moment_begin_one_study() -> None:
    """Both saw the slot free; the database lets one of them have it."""
    row("a", waits_s=5)
    row("taken", state=RUNNING, slot=1)
    assert writes._begin("a", "worker", slot=1) is None and states()["a"] == QUEUED
    with pytest.raises(IntegrityError):
        Study.objects.filter(pk="a").update(slot=1)


@pytest.mark.parametrize(
    "columns",
    [{"state": DONE}, {"state": CANCELLED}, {"cancel_requested": True}, {"live": True}, {"state": FAILED}],
)
def test_what_does_not_wait_does_not_begin(columns: dict[str, Any]) -> None:
    row("a", **columns)
    assert writes.study_take("worker") is None


def test_who_ran_lately_lets_others_pass_but_not_for_longer_than_an_hour() -> None:
    for name, waits_s in (("a1", 50), ("a2", 40), ("b1", 5)):
        row(name, waits_s=waits_s)
    assert writes.study_order() == ["a1", "b1", "a2"]
    ran = row("a0", state=DONE, started_at=timezone.now() - timedelta(minutes=59))
    assert writes.study_order() == ["b1", "a1", "a2"]
    Study.objects.filter(pk=ran.pk).update(started_at=timezone.now() - timedelta(minutes=61))
    assert writes.study_order() == ["a1", "b1", "a2"]
    Study.objects.filter(pk=ran.pk).update(started_at=timezone.now(), live=True)
    assert writes.study_order() == ["a1", "b1", "a2"], "a live one takes nobody's turn"


# -- live studies --------------------------------------------------------------------------------------------


def test_live_studies_begin_all_at_once_beside_a_batch_study() -> None:
    row("batch", state=RUNNING, slot=1)
    for name, waits_s in (("x", 1), ("y", 9)):
        row(name, waits_s=waits_s, live=True)
    row("asked-to-stop", live=True, cancel_requested=True)
    assert [(study.pk, study.slot) for study in writes.live_take("worker")] == [("y", None), ("x", None)]
    assert writes.live_take("worker") == []


def test_a_live_study_whose_worker_died_goes_on_under_another_and_a_batch_study_does_not(
    clock: Clock,
) -> None:
    for name, live in (("live", True), ("batch", False)):
        row(
            name, live=live, state=RUNNING, epoch=3, lease_until_ms=clock.now_ms + 1, slot=None if live else 1
        )
    assert writes.live_take("worker") == [] and writes.studies_fail_lost() == []
    clock.now_ms += 1
    [study] = writes.live_take("worker")
    assert (study.pk, study.epoch, study.lease_owner, study.lease_until_ms) == (
        "live",
        4,
        "worker",
        clock.now_ms + 15_000,
    )
    assert writes.studies_fail_lost() == ["batch"] and writes.studies_fail_lost() == []
    lost = Study.objects.get(pk="batch")
    assert (lost.state, lost.slot, lost.epoch) == (FAILED, None, 4)
    assert lost.error == reasons.reason(reasons.WORKER_DIED) and lost.finished_at is not None


# -- while it runs -------------------------------------------------------------------------------------------


@pytest.fixture
def running() -> Study:
    row("a")
    study = writes.study_take("worker")
    assert study is not None
    return study


def test_a_beat_keeps_the_lease_and_tells_how_far_it_is(running: Study, clock: Clock) -> None:
    clock.now_ms += 4_000
    assert writes.study_beat(running, {"rows": 5}) == Orders(held=True, cancel=False)
    assert writes.study_beat(running) == Orders(held=True, cancel=False)
    found = Study.objects.get()
    assert (found.lease_until_ms, found.progress) == (clock.now_ms + 15_000, {"rows": 5})


def test_a_beat_brings_what_was_asked_of_the_study(running: Study) -> None:
    watched_at = timezone.now()
    Study.objects.update(cancel_requested=True, watched_at=watched_at)
    assert writes.study_beat(running) == Orders(held=True, cancel=True, watched_at=watched_at)


@pytest.mark.parametrize("change", [{"epoch": 9}, {"state": FAILED}])
def test_a_worker_that_was_only_paused_finds_that_its_study_is_somebody_elses(
    running: Study, change: dict[str, Any]
) -> None:
    Study.objects.update(**change)
    before = Study.objects.values().get()
    assert not writes.study_beat(running, {"rows": 5}).held
    assert not writes.study_end(running, DONE, progress={"rows": 9})
    assert Study.objects.values().get() == before


def test_a_study_that_was_deleted_is_to_be_stopped(running: Study) -> None:
    Study.objects.all().delete()
    assert writes.study_beat(running) == Orders(held=False, cancel=True) and not writes.study_end(
        running, DONE
    )


@pytest.mark.parametrize(
    ("state", "error"), [(DONE, None), (FAILED, {"template": "why", "values": {}}), (CANCELLED, None)]
)
def test_a_study_ends_once_and_gives_its_slot_back(running: Study, state: Study.State, error: Any) -> None:
    assert writes.study_end(running, state, error, {"rows": 7})
    assert not writes.study_end(running, DONE) and not writes.study_beat(running, {"rows": 8}).held
    found = Study.objects.get()
    assert (found.state, found.error, found.slot, found.lease_until_ms, found.progress) == (
        state,
        error,
        None,
        0,
        {"rows": 7},
    )
    assert found.finished_at is not None and writes.study_take("worker") is None


def test_how_far_it_was_stays_where_its_end_says_nothing(running: Study) -> None:
    writes.study_beat(running, {"rows": 5})
    writes.study_end(running, FAILED)
    assert Study.objects.get().progress == {"rows": 5}
