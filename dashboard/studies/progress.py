"""How far a study is: what the pipeline tells from its thread, with the tasks counted and the rate worked out
by the one that stores it."""

import threading
import time
from collections.abc import Callable

from broker_core.events import Json

STARTING = "starting_spark"
PREPARING = "preparing"


class Progress:
    """One study's. `tell` is the pipeline's on_progress; `snapshot` gives {stage, done, total, rows,
    rows_per_s, tasks_done, tasks_total}.

    rows: what this pass over the data has read, of the tasks that are done; after the last pass, of the whole
    workload. rows_per_s is the mean of the newest pass: tasks count at their end, so a rate over the last
    seconds would be leaps and nothing.
    """

    def __init__(self, clock: Callable[[], float] = time.monotonic) -> None:
        self._clock = clock
        self._lock = threading.Lock()
        self._told: Json = {"stage": PREPARING, "done": 0, "total": 0, "rows": 0}
        self._begun_s = clock()
        self._rated = 0
        self._rows_now: Callable[[], int] | None = None
        self._done_now: Callable[[], int] | None = None
        self._rows_per_s: int | None = None

    def tell(self, told: Json) -> None:
        """Take in {stage, done?, total?, rows?, rows_now?, done_now?}; what is left out starts again with the
        stage, but rows stay."""
        with self._lock:
            before, now_s = self._told, self._clock()
            same = told.get("stage", before["stage"]) == before["stage"]
            self._told = {
                "stage": str(told.get("stage", before["stage"])),
                "done": int(told.get("done", before["done"] if same else 0)),
                "total": int(told.get("total", before["total"] if same else 0)),
                "rows": int(told.get("rows", before["rows"])),
            }
            if not same:
                self._begun_s, self._rated = now_s, self._told["rows"]
            self._rows_now, self._done_now = told.get("rows_now"), told.get("done_now")
            self._rate(self._told["rows"])

    def _rate(self, rows: int) -> None:
        taken_s = self._clock() - self._begun_s
        if rows > self._rated and taken_s > 0:
            self._rated, self._rows_per_s = rows, round(rows / taken_s)

    def snapshot(self, tasks: tuple[int, int] | None = None) -> Json:
        with self._lock:
            tasks_done, tasks_total = tasks or (None, None)
            done = self._told["done"] if self._done_now is None else self._done_now()
            if self._done_now is not None and tasks_done is not None and tasks_total == self._told["total"]:
                done = tasks_done = max(done, tasks_done)  # the same parts, counted a moment apart
            rows = self._told["rows"] if self._rows_now is None else self._rows_now()
            self._rate(rows)
            return {
                **self._told,
                "done": done,
                "rows": rows,
                "rows_per_s": self._rows_per_s,
                "tasks_done": tasks_done,
                "tasks_total": tasks_total,
            }
