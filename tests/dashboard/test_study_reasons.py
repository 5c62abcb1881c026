"""Why a study ended, from what was thrown and what its source is now; and how far it is, from what its thread
tells."""

from pathlib import Path
from typing import Any

import pytest
from django.utils import translation

from broker_core.errors import CommandError, Names
from broker_core.pipeline.study_errors import FAULT, StudyFailed
from dashboard.errors import Refused
from dashboard.models import Study
from dashboard.studies import reasons
from dashboard.studies.live_reasons import live_reason
from dashboard.studies.progress import Progress

# -- a reason as the row keeps it ----------------------------------------------------------------------------


def test_a_reason_is_kept_as_its_sentence_and_what_fills_it() -> None:
    kept = reasons.reason("{a} of {b} in {c}, {d}", a=5, b=Names(["x", "y"]), c=Path("/run"), d=1.5)
    assert kept == {
        "template": "{a} of {b} in {c}, {d}",
        "values": {"a": 5, "b": ["x", "y"], "c": "/run", "d": "1.5"},
    }
    assert reasons.in_words(kept) == "5 of x, y in /run, 1.5"
    with translation.override("zh-hans"):
        assert reasons.in_words(kept) == "5 of x、y in /run, 1.5", (
            "names are joined as the reader joins them, also without a translation"
        )


def test_an_error_about_the_request_brings_its_reason_and_field_along() -> None:
    assert reasons.reason_of(CommandError("source.key", "there is no column {name}", name="x")) == {
        "template": "there is no column {name}", "values": {"name": "x"}, "field": "source.key"}  # fmt: skip
    assert reasons.reason_of(StudyFailed("the disk of {master} is full", master="m")) == {
        "template": "the disk of {master} is full", "values": {"master": "m"}}  # fmt: skip
    assert reasons.reason_of(KeyError("x")) is None


@pytest.mark.parametrize(
    ("template", "is_fault"),
    [
        (reasons.BROKEN, True),
        (reasons.LIVE_BROKEN, True),
        (FAULT, True),
        (reasons.WORKER_DIED, False),
        (reasons.DISK_FULL, False),
    ],
)
def test_only_a_mistake_of_ours_is_a_fault(template: str, is_fault: bool) -> None:
    assert reasons.is_fault(reasons.reason(template, error="KeyError")) == is_fault
    assert not reasons.is_fault(None) and reasons.in_words(None) is None


def test_a_text_that_only_looks_like_a_readers_stays_as_it_is() -> None:
    for text in (
        "a.csv: the text is UTF-16; save it as UTF-8, please",
        "the text is UTF-16; save it as UTF-8",
        "",
    ):
        with translation.override("zh-hans"):
            assert reasons.in_words(reasons.reason("{reason}", reason=text)) == text


# -- why a live study ended ----------------------------------------------------------------------------------


@pytest.fixture
def log_dir(tmp_path: Path, settings: Any) -> Path:
    """A folder with a broker's log of one partition, open for studies."""
    root = tmp_path / "logs"
    (root / "orders-0").mkdir(parents=True)
    (root / "orders-0" / f"{0:020}.log").write_bytes(b"")
    settings.LOG_DIRS = [root]
    return root


def of_log(name: str = "logs", **more: Any) -> Study:
    return Study(id="s", live=True, request={"source": {"kind": "folder", "name": name, **more}})


def template(study: Study, error: Exception, *, is_spark_lost: bool = False) -> str:
    return str(live_reason(study, error, is_spark_lost)["template"])


@pytest.mark.parametrize(
    ("said", "reason"),
    [
        ("java.io.IOException: No space left on device", reasons.LIVE_DISK_FULL),
        ("Disk quota exceeded while FileNotFoundError", reasons.LIVE_DISK_FULL),  # the surest sign first
        ("PermissionError: [Errno 13] Permission denied: 'x.log'", reasons.LOG_LOCKED),
        ("java.lang.OutOfMemoryError: Java heap space", reasons.LIVE_OUT_OF_MEMORY),
        ("FileNotFoundError: 0.log", reasons.OVERTAKEN),
        (
            "orders-0: offsets 5 to 9 were removed before they were read; failOnDataLoss=false",
            reasons.OVERTAKEN,
        ),
        ("Python worker failed to connect back.", reasons.OVERLOADED),
        ("Py4JNetworkError: Answer from Java side is empty", reasons.SPARK_LOST),
        ("something else altogether", reasons.LIVE_BROKEN),
    ],
)
def test_a_live_study_ends_for_what_its_error_is_a_sign_of(log_dir: Path, said: str, reason: str) -> None:
    assert template(of_log(), RuntimeError(said)) == reason


def test_the_kind_of_an_error_is_a_sign_too(log_dir: Path) -> None:
    assert template(of_log(), MemoryError()) == reasons.LIVE_OUT_OF_MEMORY
    found = live_reason(of_log(), ZeroDivisionError("x"), False)
    assert found == {"template": reasons.LIVE_BROKEN, "values": {"error": "ZeroDivisionError"}}


def test_the_folder_itself_is_asked_before_any_sign(log_dir: Path, settings: Any) -> None:
    full = RuntimeError("No space left on device")
    assert template(of_log("logs/gone"), full) == reasons.LOG_GONE
    assert template(of_log(topic="never"), full) == reasons.LOG_GONE
    settings.LOG_DIRS = []
    assert template(of_log(), full) == reasons.LOG_GONE


def test_a_spark_that_was_lost_is_the_reason_whatever_else_is_wrong(log_dir: Path) -> None:
    assert (
        template(of_log("logs/gone"), RuntimeError("Permission denied"), is_spark_lost=True)
        == reasons.SPARK_LOST
    )


def test_an_error_that_says_why_is_taken_at_its_word(log_dir: Path) -> None:
    assert (
        template(of_log(), StudyFailed("no executor of {master} has run", master="m"))
        == "no executor of {master} has run"
    )


@pytest.mark.parametrize(
    ("kind", "cause", "reason"),
    [
        ("lab", None, reasons.SOURCE_GONE),
        ("lab", PermissionError(), reasons.SOURCE_GONE),
        ("folder", None, reasons.LOG_GONE),
        ("folder", PermissionError(), reasons.LOG_LOCKED),
        ("folder", FileNotFoundError(), reasons.LOG_GONE),
    ],
)
def test_a_source_that_is_refused_is_gone_or_locked(kind: str, cause: Exception | None, reason: str) -> None:
    refused = Refused(404, {"source.name": "no"})
    refused.__cause__ = cause
    assert template(Study(id="s", live=True, request={"source": {"kind": kind}}), refused) == reason


def test_what_passes_is_no_fault_of_ours() -> None:
    assert set(reasons.PASSING) < set(reasons.ALL) and not any(
        reasons.is_fault(reasons.reason(text)) for text in reasons.PASSING
    )


# -- how far it is -------------------------------------------------------------------------------------------


class Clock:
    now_s = 10.0

    def __call__(self) -> float:
        return self.now_s


@pytest.fixture
def clock() -> Clock:
    return Clock()


def told(progress: Progress, *names: str) -> list[Any]:
    found = progress.snapshot((3, 8))
    return [found[name] for name in names or ("stage", "done", "total", "rows")]


def test_a_study_that_has_told_nothing_is_being_prepared(clock: Clock) -> None:
    assert Progress(clock).snapshot() == {
        "stage": "preparing",
        "done": 0,
        "total": 0,
        "rows": 0,
        "rows_per_s": None,
        "tasks_done": None,
        "tasks_total": None,
    }


def test_within_a_stage_what_is_left_out_stays_and_a_new_stage_begins_anew_but_for_its_rows(
    clock: Clock,
) -> None:
    progress = Progress(clock)
    progress.tell({"stage": "reading", "done": 2, "total": 5, "rows": 100})
    progress.tell({"done": 3})
    assert told(progress) == ["reading", 3, 5, 100]
    progress.tell({"stage": "routing", "total": 7})
    assert told(progress) == ["routing", 0, 7, 100]
    assert told(progress, "tasks_done", "tasks_total") == [3, 8]


def test_the_rate_is_that_of_the_newest_pass(clock: Clock) -> None:
    progress = Progress(clock)
    progress.tell({"stage": "reading"})
    clock.now_s += 2
    progress.tell({"rows": 500})
    assert told(progress, "rows_per_s") == [250]
    clock.now_s += 2
    assert told(progress, "rows_per_s") == [250], "no new rows, no new rate"
    progress.tell({"stage": "routing"})
    clock.now_s += 1
    progress.tell({"rows": 600})
    assert told(progress, "rows", "rows_per_s") == [600, 600]


def test_rows_that_are_counted_elsewhere_are_asked_for_when_somebody_looks(clock: Clock) -> None:
    progress, rows = Progress(clock), [0]
    progress.tell({"stage": "reading", "rows_now": lambda: rows[0]})
    clock.now_s += 4
    rows[0] = 1_000
    assert told(progress, "rows", "rows_per_s") == [1_000, 250]
    progress.tell({"stage": "routing", "rows": 40})
    assert told(progress, "rows") == [40], "the counter was that stage's"
