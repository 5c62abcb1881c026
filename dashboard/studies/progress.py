"""How far a study is: what the pipeline tells from its thread, with the tasks counted and the rate worked out by the one that stores it."""

import threading
import time
from collections.abc import Callable

from broker_core.events import Json

STARTING = "starting_spark"
PREPARING = "preparing"
BEFORE_ROWS = (PREPARING, STARTING)


class Progress:
    """One study's. `tell` is the pipeline's on_progress; `snapshot` gives {stage, done, total, rows, rows_per_s, tasks_done, tasks_total}.

    rows_per_s is the mean from the first look at the data to the newest count of rows. The pipeline counts at the end of its passes, so a
    rate over the last seconds would be a leap of all rows and then nothing.
    """

    def __init__(self, clock: Callable[[], float] = time.monotonic) -> None:
        self._clock = clock
        self._lock = threading.Lock()
        self._told: Json = {"stage": PREPARING, "done": 0, "total": 0, "rows": 0}
        self._begun_s: float | None = None
        self._rows_per_s: int | None = None

    def tell(self, told: Json) -> None:
        """Take in {stage, done?, total?, rows?}; what is left out begins anew with the stage, but rows stay."""
        with self._lock:
            before, now_s = self._told, self._clock()
            same = told.get("stage", before["stage"]) == before["stage"]
            self._told = {
                "stage": str(told.get("stage", before["stage"])),
                "done": int(told.get("done", before["done"] if same else 0)),
                "total": int(told.get("total", before["total"] if same else 0)),
                "rows": int(told.get("rows", before["rows"])),
            }
            if self._begun_s is None and self._told["stage"] not in BEFORE_ROWS:
                self._begun_s = now_s
            if self._begun_s is not None and now_s > self._begun_s and self._told["rows"] > before["rows"]:
                self._rows_per_s = round(self._told["rows"] / (now_s - self._begun_s))

    def snapshot(self, tasks: tuple[int, int] | None = None) -> Json:
        with self._lock:
            done, total = tasks or (None, None)
            return {**self._told, "rows_per_s": self._rows_per_s, "tasks_done": done, "tasks_total": total}
