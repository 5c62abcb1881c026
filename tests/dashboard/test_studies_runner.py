"""The analysis worker's loop: every way in which a study goes from one state to the next, and what is left of
it."""

import errno
from typing import Any

import pytest

from dashboard.leases import wall_ms
from dashboard.models import Study
from dashboard.studies import reasons
from dashboard.studies.job import study_folder
from dashboard.studies.progress import Progress
from dashboard.studies.runner import Runner
from tests.dashboard.studies import (
    WAIT_S,
    FakeEngine,
    PipelineRefusal,
    State,
    finish,
    spark_dies,
    stored,
    until_told,
    waiting,
    whole_result,
)

pytestmark = pytest.mark.django_db(transaction=True)


def test_study_runs_to_its_end_and_its_result_stays(runner: Runner) -> None:
    study = waiting()
    assert runner.turn()
    assert stored(study).state == State.RUNNING and stored(study).started_at
    finish(runner)
    done = stored(study)
    assert (done.state, done.error, done.slot) == (State.DONE, None, None)
    assert done.progress["rows"] == 100 and done.finished_at
    assert (study_folder(study.pk) / "study.json").is_file()


def test_progress_tells_stage_rows_and_spark_tasks(runner: Runner, engine: FakeEngine) -> None:
    engine.work = until_told
    study = waiting()
    runner.turn()
    assert engine.started.wait(WAIT_S)
    while stored(study).progress.get("stage") != "routing":
        runner.turn()
    shown = stored(study).progress
    assert (shown["done"], shown["total"], shown["rows"], shown["tasks_done"], shown["tasks_total"]) == (
        2,
        5,
        1_000,
        3,
        8,
    )
    engine.go_on.set()
    finish(runner)
    assert stored(study).state == State.DONE


def test_rows_are_told_while_they_are_read_and_the_rate_is_that_of_the_pass() -> None:
    now_s, read = [100.0], [0]
    progress = Progress(lambda: now_s[0])
    for told, after_s in (({"stage": "starting_spark"}, 30.0), ({"stage": "reading"}, 10.0)):
        progress.tell(told)
        now_s[0] += after_s
    progress.tell({"stage": "routing", "rows": 0, "rows_now": lambda: read[0]})
    assert progress.snapshot()["rows_per_s"] is None
    for now, rows, expected in ((110.0, 400_000, 40_000), (111.0, 400_000, 40_000), (120.0, 900_000, 45_000)):
        now_s[0], read[0] = 40.0 + now, rows
        shown = progress.snapshot()
        assert (shown["rows"], shown["rows_per_s"]) == (rows, expected)
    progress.tell({"stage": "routing", "done": 1, "rows": 1_000_000})
    shown = progress.snapshot()
    assert (shown["rows"], shown["rows_per_s"]) == (1_000_000, 50_000)
    now_s[0] += 60
    progress.tell({"stage": "lab"})
    shown = progress.snapshot()
    assert (shown["rows"], shown["rows_per_s"]) == (1_000_000, 50_000), (
        "what the later stages take is no reading of rows"
    )


def test_how_much_of_a_stage_is_done_is_asked_as_its_parts_end() -> None:
    progress, done = Progress(), [0]
    progress.tell({"stage": "lab", "done": 0, "total": 10, "done_now": lambda: done[0]})
    shown = []
    for done[0] in (0, 4, 9):
        shown.append((progress.snapshot((done[0], 10))["done"], progress.snapshot()["total"]))
    assert shown == [(0, 10), (4, 10), (9, 10)]
    for tasks, both in (((7, 10), 9), ((10, 10), 10)):
        late = progress.snapshot(tasks)
        assert late["done"] == late["tasks_done"] == both, "two figures of one page"
    assert progress.snapshot((1, 2))["tasks_done"] == 1, "those are other tasks"
    progress.tell({"stage": "lab", "done": 10, "total": 10})
    assert progress.snapshot((1, 10))["done"] == 10


def test_first_study_says_that_spark_starts(runner: Runner, engine: FakeEngine) -> None:
    seen: list[str] = []
    opening = engine.open
    engine.open = lambda: (seen.append(runner.job.progress.snapshot()["stage"]), opening())[1]  # type: ignore[method-assign, union-attr]
    waiting()
    runner.turn()
    finish(runner)
    waiting()
    runner.turn()
    finish(runner)
    assert seen == ["starting_spark", "preparing"]


def test_one_study_runs_at_a_time_even_with_two_workers(runner: Runner, engine: FakeEngine) -> None:
    engine.work = until_told
    first, second = waiting(), waiting("bob")
    runner.turn()
    other = Runner(FakeEngine())
    other.turn()
    assert other.job is None and stored(first).state == State.RUNNING and stored(second).state == State.QUEUED
    engine.go_on.set()
    finish(runner)
    assert stored(second).state == State.RUNNING
    finish(runner)


def test_cancelled_study_stops_and_leaves_nothing(runner: Runner, engine: FakeEngine) -> None:
    engine.work = until_told
    study = waiting()
    runner.turn()
    assert engine.started.wait(WAIT_S)
    Study.objects.filter(pk=study.pk).update(cancel_requested=True)
    runner.turn()
    assert engine.cancelled == [f"study-{study.pk}-1"]
    finish(runner)
    assert stored(study).state == State.CANCELLED and stored(study).error is None
    assert not study_folder(study.pk).exists()


@pytest.mark.parametrize(
    ("error", "template"),
    [
        (PipelineRefusal("the column {column} is not there", column="k"), "the column {column} is not there"),
        (OSError(errno.ENOSPC, "No space left on device"), reasons.DISK_FULL),
        (RuntimeError("java.io.IOException: No space left on device"), reasons.DISK_FULL),
        (KeyError("x"), reasons.BROKEN),
    ],
)
def test_failed_study_says_why_and_leaves_nothing(
    runner: Runner, engine: FakeEngine, error: Exception, template: str
) -> None:
    def work(engine: FakeEngine, out: Any, on_progress: Any, is_cancelled: Any) -> None:
        (out / "consumers.parquet").write_bytes(b"half")
        raise error

    engine.work = work
    study = waiting()
    runner.turn()
    finish(runner)
    failed = stored(study)
    assert failed.state == State.FAILED and failed.error is not None and failed.error["template"] == template
    assert not study_folder(study.pk).exists()


def test_result_without_its_manifest_is_no_result(runner: Runner, engine: FakeEngine) -> None:
    engine.work = lambda engine, out, *_: (out / "steps.parquet").write_bytes(b"half")
    study = waiting()
    runner.turn()
    finish(runner)
    assert stored(study).state == State.FAILED and not study_folder(study.pk).exists()


def test_no_java_fails_with_what_to_install_and_the_next_study_tries_again(
    runner: Runner, engine: FakeEngine
) -> None:
    engine.refusal = PipelineRefusal("Spark needs Java; run {command}", command="make java")
    study = waiting()
    runner.turn()
    finish(runner)
    assert reasons.in_words(stored(study).error) == "Spark needs Java; run make java"
    engine.refusal = None
    later = waiting()
    runner.turn()
    finish(runner)
    assert stored(later).state == State.DONE


def test_lost_spark_fails_the_study_and_the_next_one_gets_a_new_session(
    runner: Runner, engine: FakeEngine
) -> None:
    engine.work = spark_dies
    study = waiting()
    runner.turn()
    finish(runner)
    assert stored(study).error == reasons.reason(reasons.SPARK_LOST)
    assert not engine.dead and engine.opened == 0
    engine.work = whole_result
    later = waiting("bob")
    runner.turn()
    finish(runner)
    assert stored(later).state == State.DONE and engine.opened == 1


def test_deleted_upload_fails_the_study_with_that_reason(runner: Runner) -> None:
    study = waiting(request={"source": {"kind": "csv", "upload": "gone", "key": "k"}})
    runner.turn()
    finish(runner)
    assert stored(study).error == reasons.reason(reasons.SOURCE_GONE)


def test_study_whose_worker_died_is_failed_and_never_run_again(runner: Runner, engine: FakeEngine) -> None:
    engine.work = until_told
    study, later = waiting(), waiting("bob")
    runner.turn()
    assert engine.started.wait(WAIT_S)
    # The worker is killed: nobody renews its lease any more.
    Study.objects.filter(pk=study.pk).update(lease_until_ms=wall_ms() - 1)
    successor = Runner(FakeEngine())
    successor.turn()
    failed = stored(study)
    assert failed.state == State.FAILED and failed.error == reasons.reason(reasons.WORKER_DIED)
    assert not study_folder(study.pk).exists()
    assert stored(later).state == State.RUNNING
    finish(successor)
    # It was only paused: it finds its study gone, stops, and what it made in the meantime goes too.
    runner.turn()
    has_broken_off = runner.job is None  # it came upon its missing folder before it was told
    if not has_broken_off:
        finish(runner)
    assert (
        (engine.cancelled or has_broken_off)
        and stored(study).state == State.FAILED
        and not study_folder(study.pk).exists()
    )
    assert stored(later).state == State.DONE


def test_worker_that_is_told_to_end_says_so_and_what_waits_goes_on_waiting(
    runner: Runner, engine: FakeEngine
) -> None:
    engine.work = until_told
    study, later = waiting(), waiting("bob")
    runner.start()
    assert engine.started.wait(WAIT_S)
    runner.stop()
    runner.join()
    assert stored(study).error == reasons.reason(reasons.WORKER_STOPPED)
    assert stored(later).state == State.QUEUED
    assert not study_folder(study.pk).exists()
