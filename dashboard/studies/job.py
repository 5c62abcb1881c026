"""One batch study on its way: its thread, how far it is, how it ended.

The thread calls the pipeline and nothing else; it writes no row. The runner, which looks twice a second,
tells the database and hears from it whether to cancel.
"""

import logging
import shutil
import threading
from pathlib import Path

from django.conf import settings
from django.db import connection

from broker_core.events import Json
from dashboard.errors import Refused
from dashboard.models import Study
from dashboard.studies import reasons
from dashboard.studies.engine import Engine
from dashboard.studies.progress import STARTING, Progress
from dashboard.studies.sources import request_for_pipeline
from dashboard.studies.uploads import DISK_FULL

log = logging.getLogger(__name__)

MANIFEST = "study.json"


def studies_dir() -> Path:
    return Path(settings.RUN_DIR) / "studies"


def study_folder(study_id: str) -> Path:
    """Where a study's result is, once it is whole."""
    return studies_dir() / study_id


def result_remove(study_id: str) -> None:
    """No half result stays."""
    shutil.rmtree(study_folder(study_id), ignore_errors=True)


class Job:
    """Runs one study. finished: its thread has ended; then `outcome` says how."""

    def __init__(self, study: Study, engine: Engine) -> None:
        self.study, self.engine = study, engine
        self.group = f"study-{study.pk}-{study.epoch}"
        self.folder = study_folder(study.pk)
        self.progress = Progress()
        self.error: Exception | None = None
        self._cancelled = threading.Event()
        self._thread = threading.Thread(target=self._work, name=self.group, daemon=True)

    def start(self) -> None:
        self._thread.start()

    @property
    def finished(self) -> bool:
        return not self._thread.is_alive()

    def join(self, seconds: float) -> None:
        self._thread.join(seconds)

    def cancel(self) -> None:
        """Stop as soon as can be. Called again while it goes on: the pipeline may just have begun another
        Spark job."""
        self._cancelled.set()
        self.engine.cancel(self.group)

    @property
    def cancelled(self) -> bool:
        return self._cancelled.is_set()

    def shown(self) -> Json:
        return self.progress.snapshot(self.engine.tasks(self.group))

    def _work(self) -> None:
        try:
            result_remove(self.study.pk)
            self.folder.mkdir(parents=True)
            if shutil.disk_usage(self.folder).free < settings.DISK_SPARE_BYTES:
                raise OSError(next(iter(DISK_FULL)), "No space left on device")
            request = request_for_pipeline(self.study)
            if not self.engine.is_warm:
                self.progress.tell({"stage": STARTING})
            self.engine.open()
            if not self.cancelled:
                self.engine.run(self.group, request, self.folder, self.progress.tell, self._cancelled.is_set)
        except Exception as error:  # whatever it is, the study ended by it: `outcome` says what that means
            self.error = error
        finally:
            connection.close()

    def outcome(self) -> tuple[Study.State, Json | None]:
        """The state that it ended in, and why if it failed."""
        if self.cancelled:
            return Study.State.CANCELLED, None
        if self.error is None and (self.folder / MANIFEST).is_file():
            return Study.State.DONE, None
        if self.error is None:
            return Study.State.FAILED, reasons.reason(reasons.BROKEN, error="no result")
        if self.engine.is_lost():
            log.error("study %s lost its Spark", self.study.pk, exc_info=self.error)
            return Study.State.FAILED, reasons.reason(reasons.SPARK_LOST)
        return Study.State.FAILED, self._reason(self.error)

    def _reason(self, error: Exception) -> Json:
        if isinstance(error, Refused):
            return reasons.reason(reasons.SOURCE_GONE)
        if (found := reasons.reason_of(error)) is not None:
            if reasons.is_fault(found):
                log.error("study %s failed", self.study.pk, exc_info=error)
            return found
        if (isinstance(error, OSError) and error.errno in DISK_FULL) or "No space left on device" in str(
            error
        ):
            return reasons.reason(reasons.DISK_FULL)
        log.error("study %s failed", self.study.pk, exc_info=error)
        return reasons.reason(reasons.BROKEN, error=type(error).__name__)
