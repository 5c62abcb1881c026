"""The analysis worker's loop, a thread beside Celery's: it takes studies, looks after the one that runs, and
keeps live ones alive.

    wake (Celery) or every POLL_S ─► take the study whose turn it is ─► its own thread runs it ─────┐
        twice a second: lease, progress, the cancel flag ◄──────────────────────────────────────────┘

A Celery task only wakes this: a solo worker that was busy with a study could not hear a cancel. The database
is asked every second, so a lost wake costs a second and a restart loses no study that waits.
"""

import logging
import os
import secrets
import socket
import threading
import time
from collections.abc import Callable

from django.db import Error as DatabaseError
from django.db import close_old_connections, connection

from dashboard.labs.transport import transport
from dashboard.models import Study
from dashboard.studies import reasons, writes
from dashboard.studies.engine import Engine
from dashboard.studies.job import Job, result_remove
from dashboard.studies.live import LiveStudies
from dashboard.studies.waking import QUEUE

log = logging.getLogger(__name__)

POLL_S = 1.0
BEAT_S = 0.5  # progress is stored, hence shown, at most twice a second
STOP_WITHIN_S = 1.0


class Runner:
    """One for each analysis worker. turn() is one look at everything; the thread only repeats it."""

    def __init__(
        self, engine: Engine, live: LiveStudies | None = None, clock: Callable[[], float] = time.monotonic
    ) -> None:
        self.engine, self.clock = engine, clock
        self.owner = f"{socket.gethostname()[:24]}:{os.getpid()}:{secrets.token_hex(4)}"
        self.live = live or LiveStudies(self.owner)
        self.job: Job | None = None
        self._woken = threading.Event()
        self._stopping = threading.Event()
        self._thread: threading.Thread | None = None

    # -- the thread ------------------------------------------------------------------------------------------

    def start(self) -> None:
        """Begin, if it has not begun."""
        if self._thread is None:
            self._thread = threading.Thread(target=self._loop, name="studies", daemon=True)
            self._thread.start()

    def wake(self) -> None:
        """There is something new in the database."""
        self.start()
        self._woken.set()

    def stop(self) -> None:
        """The process ends: what runs is failed with that reason, live studies are left to the next
        worker."""
        self._stopping.set()
        self._woken.set()

    def join(self) -> None:
        if self._thread is not None:
            self._thread.join(2 * STOP_WITHIN_S)

    def _loop(self) -> None:
        while not self._stopping.is_set():
            busy = False
            try:
                close_old_connections()
                busy = self.turn()
            except DatabaseError:
                log.exception("reading the studies failed; trying again next turn")
                connection.close()
            except Exception:
                # A mistake of ours in one turn must not leave every study after it waiting forever.
                log.exception("a turn of the study runner failed")
            self._woken.wait(BEAT_S if busy else POLL_S)
            self._woken.clear()
        self._let_go()

    # -- one turn --------------------------------------------------------------------------------------------

    def turn(self) -> bool:
        """Look at everything once. Whether something runs, so that the next look should come soon."""
        transport().beat_worker(QUEUE)
        for study_id in writes.studies_fail_lost():
            result_remove(study_id)
        if self.job is not None:
            self._look_after(self.job)
        if self.job is None and (study := writes.study_take(self.owner)) is not None:
            self.job = Job(study, self.engine)
            self.job.start()
        live = self.live.turn(self.engine)
        return self.job is not None or live

    def _look_after(self, job: Job) -> None:
        if job.finished:
            self.job = None
            self._end(job)
            return
        shown = job.shown()
        orders = writes.study_beat(job.study, {**shown, "stage": "cancelling"} if job.cancelled else shown)
        if orders.cancel or not orders.held:
            job.cancel()

    def _end(self, job: Job) -> None:
        state, error = job.outcome()
        whole = state == Study.State.DONE
        if not writes.study_end(job.study, state, error, job.progress.snapshot()) or not whole:
            result_remove(job.study.pk)
        if self.engine.is_lost():
            self.engine.close()
            self.live.lost()

    def _let_go(self) -> None:
        try:
            if self.job is not None:
                job, self.job = self.job, None
                job.cancel()
                writes.study_end(job.study, Study.State.FAILED, reasons.reason(reasons.WORKER_STOPPED))
                job.join(STOP_WITHIN_S)
                result_remove(job.study.pk)
            self.live.let_go()
        except DatabaseError:
            log.exception("renewing the running study's lease failed; it will expire")
        finally:
            connection.close()
