"""What the runner needs of whatever runs studies: `spark.SparkEngine` in the analysis worker, a fake in the
runner's own tests."""

from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any, Protocol

from broker_core.events import Json

OnProgress = Callable[[Json], None]  # {stage, done, total, rows, rows_now, done_now}
IsCancelled = Callable[[], bool]
OnWindows = Callable[[Sequence[Json]], None]


class Engine(Protocol):
    """One for each process. `run` is called in the study's thread, everything else from any."""

    @property
    def is_warm(self) -> bool:
        """Whether a session is open, so that a study begins at once."""

    def open(self) -> Any:
        """Open the session if none is. Raises an error with template and values where it cannot be."""

    def run(
        self, group: str, request: Json, out: Path, on_progress: OnProgress, is_cancelled: IsCancelled
    ) -> None:
        """One batch study: its result into `out`. Raises whatever it ended by."""

    def stream(self, request: Json, checkpoint: Path, on_windows: OnWindows) -> Any:
        """Begin a live study; a query with isActive, stop() and exception(). Opens the session if none is."""

    def cancel(self, group: str) -> None:
        """Stop what runs under the group. May be called again and again."""

    def tasks(self, group: str) -> tuple[int, int] | None:
        """(done, total) of the group's tasks that are under way; None where it is not known."""

    def is_lost(self) -> bool:
        """Whether there was a session and it is dead."""

    def close(self) -> None:
        """End what is left of the session; `open` opens a new one."""
