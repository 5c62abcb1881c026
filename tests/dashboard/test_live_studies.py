"""The analysis worker's loop on live studies: they stream, go on from their checkpoint, and end with a reason."""

import os
import threading
import time
from datetime import timedelta
from pathlib import Path
from typing import Any

import pytest
from django.utils import timezone

from broker_core.clock import SECOND_US
from broker_core.pipeline.chunks import chunk_write
from dashboard.labs.services import lab_open
from dashboard.leases import wall_ms
from dashboard.models import Lab, Study
from dashboard.studies import live, reasons, services
from dashboard.studies.live import AGAIN_MAX
from dashboard.studies.live_stage import QUIET_S
from dashboard.studies.runner import Runner
from tests.dashboard.studies import (
    WAIT_S,
    FakeEngine,
    PipelineRefusal,
    State,
    call,
    finish,
    spark_dies,
    stored,
    waiting,
    waiting_live,
)

pytestmark = pytest.mark.django_db(transaction=True)


def begun(runner: Runner, study: Study) -> None:
    """Let the live study's query be started."""
    thread = runner.live.running[study.pk].thread
    assert thread is not None
    thread.join(WAIT_S)


def test_live_study_streams_until_nobody_looks(runner: Runner, engine: FakeEngine, settings: Any) -> None:
    study = waiting_live()
    assert runner.turn()
    begun(runner, study)
    runner.turn()
    assert stored(study).progress == {"stage": "no_window", "behind_s": None}
    query = engine.queries[0]
    query.on_windows(
        [
            {"start_us": 0, "end_us": 5, "lane": "kafka", "lag": 1},
            {"start_us": 5, "end_us": 9, "lane": "kafka", "lag": 2},
        ]
    )
    query.on_windows([{"start_us": 5, "end_us": 9, "lane": "kafka", "lag": 3}])
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
    assert not query.isActive and stored(study).state == State.DONE
    query.on_windows([{"start_us": 9, "end_us": 12, "lane": "kafka", "lag": 9}])
    assert study.windows.count() == 2, "a query that was told to stop tells nothing any more"


def window(end_us: int) -> dict[str, Any]:
    return {"start_us": end_us - SECOND_US, "end_us": end_us, "lane": "kafka", "lag": 0}


def told(runner: Runner, study: Study) -> tuple[str, int | None]:
    """What its page says after a turn of the worker."""
    runner.turn()
    progress = call("GET", f"/api/studies/{study.pk}/").json()["progress"]
    return progress["stage"], progress["behind_s"]


def test_live_study_of_a_lab_says_what_it_does_and_how_far_behind_it_is(
    runner: Runner, engine: FakeEngine, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    lab = lab_open(request={}).lab
    Lab.objects.filter(pk=lab.pk).update(status=Lab.Status.IDLE, last_watched_at=None)
    chunks = tmp_path / "chunks" / lab.pk
    study = waiting(live=True, request={"source": {"kind": "lab", "lab": lab.pk}})
    engine.slow = threading.Event()
    assert told(runner, study) == ("starting_spark", None)
    engine.slow.set()
    begun(runner, study)
    lab.refresh_from_db()
    assert lab.status == Lab.Status.RUNNING and lab.last_watched_at, "a lab that is studied is watched"
    now_s = [time.monotonic()]
    monkeypatch.setattr(live.time, "monotonic", lambda: now_s[0])
    query = engine.queries[0]
    query.is_counting = True
    assert told(runner, study) == ("first_window", None)
    query.is_counting = False
    assert told(runner, study) == ("no_window", None)
    chunk_write(chunks, 0, 33, [])
    query.on_windows([window(2 * SECOND_US), window(1 * SECOND_US)])
    assert told(runner, study) == ("streaming", 32)
    now_s[0] += QUIET_S
    query.is_counting = True
    assert told(runner, study) == ("streaming", 32), "behind, and still counting"
    query.on_windows([window(34 * SECOND_US)])
    query.is_counting = False
    assert told(runner, study) == ("streaming", 0)
    now_s[0] += QUIET_S
    assert told(runner, study) == ("waiting", 0)
    Lab.objects.filter(pk=lab.pk).update(slug="demo", status=Lab.Status.IDLE)
    now_s[0] += live.LOOK_AT_LAB_S
    assert told(runner, study) == ("lab_paused", 0)
    successor = Runner(FakeEngine())
    Study.objects.filter(pk=study.pk).update(lease_until_ms=wall_ms() - 1)
    successor.turn()
    begun(successor, study)
    chunk_write(chunks, 34, 40, [])
    assert told(successor, study) == ("lab_paused", 7), "the next worker knows the windows of the one before"


def test_live_study_of_a_log_is_behind_nothing_that_can_be_told(runner: Runner, engine: FakeEngine) -> None:
    study = waiting_live()
    runner.turn()
    begun(runner, study)
    engine.queries[0].on_windows([window(2 * SECOND_US)])
    assert told(runner, study) == ("streaming", None)


def test_windows_of_a_live_study_are_bounded(runner: Runner, engine: FakeEngine, settings: Any) -> None:
    settings.STUDY_WINDOWS_MAX = 3
    study = waiting_live()
    runner.turn()
    begun(runner, study)
    engine.queries[0].on_windows([{"start_us": at, "end_us": at + 1, "lane": "kafka"} for at in range(5)])
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
    assert stored(study).state == State.RUNNING and stored(study).epoch == 2
    assert engine_2.queries[0].checkpoint == engine.queries[0].checkpoint
    runner.turn()
    assert not engine.queries[0].isActive, "the former holder lets go"
    engine.queries[0].on_windows([{"start_us": 0, "end_us": 1, "lane": "kafka"}])
    assert not study.windows.exists(), "and its windows do not count"


def test_cancelled_live_study_stops_its_query(runner: Runner, engine: FakeEngine) -> None:
    study = waiting_live()
    runner.turn()
    begun(runner, study)
    Study.objects.filter(pk=study.pk).update(cancel_requested=True)
    runner.turn()
    assert stored(study).state == State.CANCELLED and not engine.queries[0].isActive


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
    told = stored(study).error
    assert stored(study).state == State.FAILED and told["template"] == template
    assert "/x/0.log" not in reasons.in_words(told), "no path of this machine is told"
    assert reasons.is_fault(told) == (template == reasons.LIVE_BROKEN)


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
        assert len(engine.queries) == count and stored(study).state == State.RUNNING
        assert engine.queries[-1].checkpoint == engine.queries[0].checkpoint
        engine.queries[-1].isActive, engine.queries[-1].error = False, RuntimeError(text)
        runner.turn()
    assert stored(study).error == reasons.reason(template) and stored(study).state == State.FAILED


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
    assert stored(study).error == reasons.reason(reasons.LOG_GONE)


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
    assert stored(study).error == reasons.reason(reasons.SPARK_LOST) and not engine.dead


def test_lost_spark_lets_a_live_study_go_on_in_the_next(runner: Runner, engine: FakeEngine) -> None:
    live = waiting_live()
    runner.turn()
    begun(runner, live)

    engine.work = spark_dies
    batch = waiting()
    runner.turn()
    finish(runner)
    assert stored(batch).error == reasons.reason(reasons.SPARK_LOST)
    begun(runner, live)
    assert stored(live).state == State.RUNNING and len(engine.queries) == 2


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
