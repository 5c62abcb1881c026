"""The analysis worker's loop: every way in which a study goes from one state to the next, and what is left of
it."""

import errno
import os
from datetime import timedelta
from pathlib import Path
from typing import Any

import pytest
from django.utils import timezone

from dashboard.leases import wall_ms
from dashboard.models import Study
from dashboard.services import lab_open
from dashboard.studies import reasons, services
from dashboard.studies.job import study_folder
from dashboard.studies.live import AGAIN_MAX
from dashboard.studies.progress import Progress
from dashboard.studies.runner import Runner
from tests.dashboard.studies import (
    WAIT_S,
    FakeEngine,
    PipelineRefusal,
    until_told,
    waiting,
    waiting_live,
    whole_result,
)

pytestmark = pytest.mark.django_db(transaction=True)

State = Study.State


@pytest.fixture
def engine() -> FakeEngine:
    return FakeEngine()


@pytest.fixture
def runner(engine: FakeEngine, settings: Any, tmp_path: Any) -> Runner:
    settings.RUN_DIR = tmp_path
    settings.DATA_DIRS = [tmp_path / "log"]
    (tmp_path / "log").mkdir()
    return Runner(engine)


def finish(runner: Runner) -> None:
    """Let the running study's thread end, and let the runner see it."""
    assert runner.job is not None
    runner.job.join(WAIT_S)
    runner.turn()


def begun(runner: Runner, study: Study) -> None:
    """Let the live study's query be started."""
    thread = runner.live.running[study.pk].thread
    assert thread is not None
    thread.join(WAIT_S)


def spark_dies(engine: FakeEngine, *_: Any) -> None:
    """The work of an engine whose Java ends in the middle."""
    engine.dead = True
    raise ConnectionError("Java is gone")


def now(study: Study) -> Study:
    return Study.objects.get(pk=study.pk)


def test_study_runs_to_its_end_and_its_result_stays(runner: Runner) -> None:
    study = waiting()
    assert runner.turn()
    assert now(study).state == State.RUNNING and now(study).started_at
    finish(runner)
    done = now(study)
    assert (done.state, done.error, done.slot) == (State.DONE, None, None)
    assert done.progress["rows"] == 100 and done.finished_at
    assert (study_folder(study.pk) / "study.json").is_file()


def test_progress_tells_stage_rows_and_spark_tasks(runner: Runner, engine: FakeEngine) -> None:
    engine.work = until_told
    study = waiting()
    runner.turn()
    assert engine.started.wait(WAIT_S)
    while now(study).progress.get("stage") != "routing":
        runner.turn()
    shown = now(study).progress
    assert (shown["done"], shown["total"], shown["rows"], shown["tasks_done"], shown["tasks_total"]) == (
        2,
        5,
        1_000,
        3,
        8,
    )
    engine.go_on.set()
    finish(runner)
    assert now(study).state == State.DONE


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
    assert other.job is None and now(first).state == State.RUNNING and now(second).state == State.QUEUED
    engine.go_on.set()
    finish(runner)
    assert now(second).state == State.RUNNING
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
    assert now(study).state == State.CANCELLED and now(study).error is None
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
    failed = now(study)
    assert failed.state == State.FAILED and failed.error is not None and failed.error["template"] == template
    assert not study_folder(study.pk).exists()


def test_result_without_its_manifest_is_no_result(runner: Runner, engine: FakeEngine) -> None:
    engine.work = lambda engine, out, *_: (out / "steps.parquet").write_bytes(b"half")
    study = waiting()
    runner.turn()
    finish(runner)
    assert now(study).state == State.FAILED and not study_folder(study.pk).exists()


def test_no_java_fails_with_what_to_install_and_the_next_study_tries_again(
    runner: Runner, engine: FakeEngine
) -> None:
    engine.refusal = PipelineRefusal("Spark needs Java; run {command}", command="make java")
    study = waiting()
    runner.turn()
    finish(runner)
    assert reasons.in_words(now(study).error) == "Spark needs Java; run make java"
    engine.refusal = None
    later = waiting()
    runner.turn()
    finish(runner)
    assert now(later).state == State.DONE


def test_lost_spark_fails_the_study_and_the_next_one_gets_a_new_session(
    runner: Runner, engine: FakeEngine
) -> None:
    engine.work = spark_dies
    study = waiting()
    runner.turn()
    finish(runner)
    assert now(study).error == reasons.reason(reasons.SPARK_LOST)
    assert not engine.dead and engine.opened == 0
    engine.work = whole_result
    later = waiting("bob")
    runner.turn()
    finish(runner)
    assert now(later).state == State.DONE and engine.opened == 1


def test_deleted_upload_fails_the_study_with_that_reason(runner: Runner) -> None:
    study = waiting(request={"source": {"kind": "csv", "upload": "gone", "key": "k"}})
    runner.turn()
    finish(runner)
    assert now(study).error == reasons.reason(reasons.SOURCE_GONE)


def test_study_whose_worker_died_is_failed_and_never_run_again(runner: Runner, engine: FakeEngine) -> None:
    engine.work = until_told
    study, later = waiting(), waiting("bob")
    runner.turn()
    assert engine.started.wait(WAIT_S)
    # The worker is killed: nobody renews its lease any more.
    Study.objects.filter(pk=study.pk).update(lease_until_ms=wall_ms() - 1)
    successor = Runner(FakeEngine())
    successor.turn()
    failed = now(study)
    assert failed.state == State.FAILED and failed.error == reasons.reason(reasons.WORKER_DIED)
    assert not study_folder(study.pk).exists()
    assert now(later).state == State.RUNNING
    finish(successor)
    # It was only paused: it finds its study gone, stops, and what it made in the meantime goes too.
    runner.turn()
    has_broken_off = runner.job is None  # it came upon its missing folder before it was told
    if not has_broken_off:
        finish(runner)
    assert (
        (engine.cancelled or has_broken_off)
        and now(study).state == State.FAILED
        and not study_folder(study.pk).exists()
    )
    assert now(later).state == State.DONE


def test_worker_that_is_told_to_end_says_so_and_what_waits_goes_on_waiting(
    runner: Runner, engine: FakeEngine
) -> None:
    engine.work = until_told
    study, later = waiting(), waiting("bob")
    runner.start()
    assert engine.started.wait(WAIT_S)
    runner.stop()
    runner.join()
    assert now(study).error == reasons.reason(reasons.WORKER_STOPPED)
    assert now(later).state == State.QUEUED
    assert not study_folder(study.pk).exists()


def test_live_study_streams_until_nobody_looks(runner: Runner, engine: FakeEngine, settings: Any) -> None:
    study = waiting_live()
    assert runner.turn()
    begun(runner, study)
    runner.turn()
    assert now(study).progress == {"stage": "streaming"}
    query = engine.queries[0]
    query.on_windows(
        [
            {"start_us": 0, "end_us": 5, "rig": "kafka", "lag": 1},
            {"start_us": 5, "end_us": 9, "rig": "kafka", "lag": 2},
        ]
    )
    query.on_windows([{"start_us": 5, "end_us": 9, "rig": "kafka", "lag": 3}])
    assert [(row.start_us, row.version, row.row["lag"]) for row in study.windows.order_by("start_us")] == [
        (0, 1, 1),
        (5, 2, 3),
    ]
    runner.live.running[study.pk].study.started_at = timezone.now() - timedelta(hours=1)
    Study.objects.filter(pk=study.pk).update(watched_at=timezone.now())
    runner.turn()
    assert query.isActive
    Study.objects.filter(pk=study.pk).update(
        watched_at=timezone.now() - timedelta(seconds=settings.STUDY_LIVE_IDLE_S + 1)
    )
    runner.turn()
    assert not query.isActive and now(study).state == State.DONE
    query.on_windows([{"start_us": 9, "end_us": 12, "rig": "kafka", "lag": 9}])
    assert study.windows.count() == 2, "a query that was told to stop tells nothing any more"


def test_windows_of_a_live_study_are_bounded(runner: Runner, engine: FakeEngine, settings: Any) -> None:
    settings.STUDY_WINDOWS_MAX = 3
    study = waiting_live()
    runner.turn()
    begun(runner, study)
    engine.queries[0].on_windows([{"start_us": at, "end_us": at + 1, "rig": "kafka"} for at in range(5)])
    assert list(study.windows.order_by("start_us").values_list("start_us", flat=True)) == [2, 3, 4]


def test_live_study_goes_on_from_its_checkpoint_when_its_worker_died(
    runner: Runner, engine: FakeEngine
) -> None:
    study = waiting_live()
    runner.turn()
    begun(runner, study)
    Study.objects.filter(pk=study.pk).update(lease_until_ms=wall_ms() - 1)
    engine_2 = FakeEngine()
    successor = Runner(engine_2)
    successor.turn()
    begun(successor, study)
    assert now(study).state == State.RUNNING and now(study).epoch == 2
    assert engine_2.queries[0].checkpoint == engine.queries[0].checkpoint
    runner.turn()
    assert not engine.queries[0].isActive, "the former holder lets go"
    engine.queries[0].on_windows([{"start_us": 0, "end_us": 1, "rig": "kafka"}])
    assert not study.windows.exists(), "and its windows do not count"


def test_cancelled_live_study_stops_its_query(runner: Runner, engine: FakeEngine) -> None:
    study = waiting_live()
    runner.turn()
    begun(runner, study)
    Study.objects.filter(pk=study.pk).update(cancel_requested=True)
    runner.turn()
    assert now(study).state == State.CANCELLED and not engine.queries[0].isActive


@pytest.mark.parametrize(
    ("error", "template"),
    [
        (PipelineRefusal("the folder {name} is gone", name="orders"), "the folder {name} is gone"),
        (
            RuntimeError("STREAM_FAILED ... java.io.IOException: No space left on device"),
            reasons.LIVE_DISK_FULL,
        ),
        (RuntimeError("PermissionError: [Errno 13] Permission denied: '/x/0.log'"), reasons.LOG_LOCKED),
        (RuntimeError("java.lang.OutOfMemoryError: Java heap space"), reasons.LIVE_OUT_OF_MEMORY),
        (ConnectionError("Answer from Java side is empty"), reasons.SPARK_LOST),
        (KeyError("owner_3"), reasons.LIVE_BROKEN),
    ],
)
def test_broken_stream_is_failed_with_its_reason(
    runner: Runner, engine: FakeEngine, tmp_path: Path, error: Exception, template: str
) -> None:
    (tmp_path / "log" / f"{0:020}.log").write_bytes(b"")
    study = waiting_live()
    runner.turn()
    begun(runner, study)
    engine.queries[0].isActive, engine.queries[0].error = False, error
    runner.turn()
    stored = now(study).error
    assert now(study).state == State.FAILED and stored["template"] == template
    assert "/x/0.log" not in reasons.in_words(stored), "no path of this machine is told"
    assert reasons.is_fault(stored) == (template == reasons.LIVE_BROKEN)


@pytest.mark.parametrize(
    ("text", "template"),
    [
        ("FileNotFoundError: [Errno 2] No such file or directory: '/x/0.log'", reasons.OVERTAKEN),
        ("Python worker failed to connect back.", reasons.OVERLOADED),
    ],
)
def test_fault_that_passes_is_tried_again_from_the_checkpoint_a_few_times(
    runner: Runner, engine: FakeEngine, tmp_path: Path, text: str, template: str
) -> None:
    (tmp_path / "log" / f"{0:020}.log").write_bytes(b"")
    study = waiting_live()
    for count in range(1, AGAIN_MAX + 2):
        runner.turn()
        begun(runner, study)
        assert len(engine.queries) == count and now(study).state == State.RUNNING
        assert engine.queries[-1].checkpoint == engine.queries[0].checkpoint
        engine.queries[-1].isActive, engine.queries[-1].error = False, RuntimeError(text)
        runner.turn()
    assert now(study).error == reasons.reason(template) and now(study).state == State.FAILED


def test_log_folder_that_was_moved_away_is_the_reason_whatever_spark_says(
    runner: Runner, engine: FakeEngine, tmp_path: Path
) -> None:
    study = waiting_live()
    runner.turn()
    begun(runner, study)
    (tmp_path / "log").rename(tmp_path / "elsewhere")
    engine.queries[0].isActive, engine.queries[0].error = (
        False,
        RuntimeError("[PYTHON_STREAMING_DATA_SOURCE_RUNTIME_ERROR] ..."),
    )
    runner.turn()
    assert now(study).error == reasons.reason(reasons.LOG_GONE)


def test_spark_that_was_lost_under_a_live_study_is_put_away(runner: Runner, engine: FakeEngine) -> None:
    study = waiting_live()
    runner.turn()
    begun(runner, study)
    engine.dead, engine.queries[0].error, engine.queries[0].isActive = (
        True,
        ConnectionError("Connection refused"),
        False,
    )
    runner.turn()
    assert now(study).error == reasons.reason(reasons.SPARK_LOST) and not engine.dead


def test_lost_spark_lets_a_live_study_go_on_in_the_next(runner: Runner, engine: FakeEngine) -> None:
    live = waiting_live()
    runner.turn()
    begun(runner, live)

    engine.work = spark_dies
    batch = waiting()
    runner.turn()
    finish(runner)
    assert now(batch).error == reasons.reason(reasons.SPARK_LOST)
    begun(runner, live)
    assert now(live).state == State.RUNNING and len(engine.queries) == 2


def test_live_study_of_a_lab_asks_for_its_chunks_as_long_as_it_runs(
    runner: Runner, engine: FakeEngine, tmp_path: Path
) -> None:
    lab = lab_open(request={}).lab
    study = waiting(live=True, request={"source": {"kind": "lab", "lab": lab.pk}})
    runner.turn()
    begun(runner, study)
    folder = tmp_path / "chunks" / lab.pk
    assert (
        engine.requests[0]["source"] == {"kind": "lab", "chunks": str(folder)}
        and (folder / "wanted").exists()
    )
    (folder / "wanted").unlink()
    runner.turn()
    assert (folder / "wanted").exists()
    Study.objects.filter(pk=study.pk).update(cancel_requested=True)
    runner.turn()
    os.utime(folder / "wanted", (0, 0))
    services.studies_tend(sweep=True)
    assert not folder.exists()
