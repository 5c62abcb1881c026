"""How far a study is: what the pipeline tells from its thread, with the tasks counted and the rate worked out by the one that stores it."""

import threading
import time
from collections import deque
from collections.abc import Callable

from broker_core.events import Json

RATE_OVER_S = 5.0
STARTING = "starting_spark"
PREPARING = "preparing"


class Progress:
    """One study's. `tell` is the pipeline's on_progress; `snapshot` gives {stage, done, total, rows, rows_per_s, tasks_done, tasks_total}."""

    def __init__(self, clock: Callable[[], float] = time.monotonic) -> None:
        self._clock = clock
        self._lock = threading.Lock()
        self._told: Json = {"stage": PREPARING, "done": 0, "total": 0, "rows": 0}
        self._rows: deque[tuple[float, int]] = deque()

    def tell(self, told: Json) -> None:
        """Take in {stage, done?, total?, rows?}; what is left out begins anew with the stage, but rows stay."""
        with self._lock:
            before = self._told
            same = told.get("stage", before["stage"]) == before["stage"]
            self._told = {
                "stage": str(told.get("stage", before["stage"])),
                "done": int(told.get("done", before["done"] if same else 0)),
                "total": int(told.get("total", before["total"] if same else 0)),
                "rows": int(told.get("rows", before["rows"])),
            }
            now_s = self._clock()
            self._rows.append((now_s, self._told["rows"]))
            while self._rows and self._rows[0][0] < now_s - RATE_OVER_S and len(self._rows) > 2:
                self._rows.popleft()

    def snapshot(self, tasks: tuple[int, int] | None = None) -> Json:
        with self._lock:
            done, total = tasks or (None, None)
            return {**self._told, "rows_per_s": self._rate(), "tasks_done": done, "tasks_total": total}

    def _rate(self) -> int | None:
        if len(self._rows) < 2:
            return None
        (from_s, before), (_until_s, rows) = self._rows[0], self._rows[-1]
        span_s = self._clock() - from_s
        return max(0, round((rows - before) / span_s)) if span_s > 0 else None
