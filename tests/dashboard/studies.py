"""Studies without Spark: an engine that does what the test says, and rows as a start would have made them."""

import json
import threading
from collections.abc import Callable
from pathlib import Path
from typing import Any

from django.test import Client

from dashboard.access import token_hash
from dashboard.models import Study
from dashboard.studies import job as jobs
from dashboard.studies.runner import Runner

SOURCE = {"kind": "uniform", "keys": 10, "records": 100}
TOKEN = "a-program-of-these-tests"
OWNER = token_hash(TOKEN)
REQUEST = {
    "source": {"kind": "uniform", "keys": 100, "records": 1_000, "seed": 7},
    "strategies": ["pulsar.consistent_hash", "kafka.range:partitions=12"],
    "history": {"kind": "given", "start": 2, "changes": [{"kind": "join", "consumer": "c3", "at": None}]},
}
WAIT_S = 10.0


def call(method: str, path: str, body: Any = None, token: str | None = TOKEN, **headers: str) -> Any:
    given = {"Authorization": f"Bearer {token}"} if token else {}
    data = {"data": json.dumps(body), "content_type": "application/json"} if method == "POST" else {}
    return getattr(Client(), method.lower())(path, headers={**given, **headers}, **data)


def start(**changes: Any) -> Any:
    return call("POST", "/api/studies/", {**REQUEST, **changes})


State = Study.State


class PipelineRefusal(Exception):
    """A reason with a template and values, as the pipeline's own errors bring it."""

    def __init__(self, template: str, **values: object) -> None:
        super().__init__(template)
        self.template, self.values = template, values


class FakeEngine:
    """Runs what `work` says. work: called with (out, on_progress, is_cancelled); by default a study of one
    second's progress and a result."""

    def __init__(self) -> None:
        self.work: Callable[..., None] = whole_result
        self.started = threading.Event()
        self.go_on = threading.Event()
        self.cancelled: list[str] = []
        self.opened = 0
        self.dead = False
        self.refusal: Exception | None = None
        self.queries: list[FakeQuery] = []
        self.requests: list[dict[str, Any]] = []
        self.slow: threading.Event | None = None  # what opening it waits for

    @property
    def is_warm(self) -> bool:
        return self.opened > 0 and not self.dead

    def open(self) -> None:
        if self.slow is not None:
            self.slow.wait(WAIT_S)
        if self.refusal is not None:
            raise self.refusal
        self.opened += not self.is_warm
        self.dead = False

    def run(
        self, group: str, request: dict[str, Any], out: Path, on_progress: Any, is_cancelled: Any
    ) -> None:
        self.requests.append(request)
        self.started.set()
        self.work(self, out, on_progress, is_cancelled)

    def stream(self, request: dict[str, Any], checkpoint: Path, on_windows: Any) -> "FakeQuery":
        self.open()
        self.requests.append(request)
        self.queries.append(FakeQuery(checkpoint, on_windows))
        return self.queries[-1]

    def cancel(self, group: str) -> None:
        self.cancelled.append(group)
        self.go_on.set()

    def tasks(self, group: str) -> tuple[int, int] | None:
        return (3, 8)

    def is_lost(self) -> bool:
        return self.dead

    def close(self) -> None:
        self.dead, self.opened = False, 0


class FakeQuery:
    """A streaming query that tells the windows the test hands it."""

    def __init__(self, checkpoint: Path, on_windows: Any) -> None:
        self.checkpoint, self.on_windows = checkpoint, on_windows
        self.isActive = True
        self.is_counting = False
        self.error: Exception | None = None

    def stop(self) -> None:
        self.isActive = False

    def exception(self) -> Exception | None:
        return self.error


def whole_result(engine: FakeEngine, out: Path, on_progress: Any, is_cancelled: Any) -> None:
    on_progress({"stage": "reading", "done": 1, "total": 2, "rows": 100})
    (out / jobs.MANIFEST).write_text(json.dumps({"version": 1}))


def until_told(engine: FakeEngine, out: Path, on_progress: Any, is_cancelled: Any) -> None:
    """Half a result, then wait until the test or a cancel says so; the cancelled one ends by an error, as
    Spark's jobs do."""
    (out / "consumers.parquet").write_bytes(b"half")
    on_progress({"stage": "routing", "done": 2, "total": 5, "rows": 1_000})
    assert engine.go_on.wait(WAIT_S)
    if is_cancelled():
        raise RuntimeError("job was cancelled")
    whole_result(engine, out, on_progress, is_cancelled)


def waiting(owner: str = "ann", **columns: Any) -> Study:
    """A study in the queue."""
    return Study.objects.create(
        name="s", request={"source": dict(SOURCE), **columns.pop("request", {})}, owner_hash=owner, **columns
    )


def waiting_live(owner: str = "ann") -> Study:
    """A live study of the log folder `log`, which the test must have among its DATA_DIRS."""
    return waiting(
        owner, live=True, request={"source": {"kind": "folder", "name": "log", "format": "kafka_log"}}
    )


def finish(runner: Runner) -> None:
    """Let the running study's thread end, and let the runner see it."""
    assert runner.job is not None
    runner.job.join(WAIT_S)
    runner.turn()


def spark_dies(engine: FakeEngine, *_: Any) -> None:
    """The work of an engine whose Java ends in the middle."""
    engine.dead = True
    raise ConnectionError("Java is gone")


def stored(study: Study) -> Study:
    return Study.objects.get(pk=study.pk)
