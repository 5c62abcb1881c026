"""Live studies: streaming queries of the one Spark that run beside whatever the worker does, each kept alive
by somebody's look.

    a lab's rows a second (chunks), or a log folder that grows ─► Structured Streaming ─► windows ─► StudyWindow rows ─► /ws/studies/<id>/

A query is not a task: a turn of the runner starts it and every later one looks after it (lease, cancel,
whether anybody watches). Its checkpoint is in the study's folder, so a worker that takes over from a dead one
resumes where it was: a window is sent again at most, and its row is replaced.
"""

import logging
import math
import threading
import time
from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass, field
from datetime import timedelta
from typing import Any

from django.conf import settings
from django.db import DatabaseError, connection, transaction
from django.db.models import Max
from django.utils import timezone

from broker_core.clock import SECOND_US
from broker_core.events import Json
from broker_core.pipeline.chunks import last_second, want
from dashboard.labs.selectors import lab_snapshot
from dashboard.labs.services import lab_watched
from dashboard.models import Lab, Study, StudyWindow
from dashboard.studies import reasons, writes
from dashboard.studies.engine import Engine
from dashboard.studies.job import study_folder
from dashboard.studies.live_reasons import live_reason
from dashboard.studies.live_stage import Source, live_stage
from dashboard.studies.sources import chunks_dir, request_for_pipeline

log = logging.getLogger(__name__)

State = Study.State
CHECKPOINT = "checkpoint-2"
"""Another name when a query's state changes: Spark cannot go on from what another query kept."""
LOOK_AT_LAB_S = 5.0
AGAIN_MAX = 3  # times that a passing fault is tried again before the study ends by it


@dataclass(slots=True, eq=False)
class LiveStudy:
    """One query. query: None while Spark is being opened for it. error: what its start ended by. newest_us: the end of the
    newest window; heard_s: when one was last heard of, by the monotonic clock. lab: what is known of the one that it counts;
    looked_s: since when."""

    study: Study
    query: Any = None
    error: Exception | None = None
    newest_us: int | None = None
    heard_s: float = 0.0
    lab: Source | None = None
    looked_s: float = -math.inf
    stopped: bool = False
    thread: threading.Thread | None = None
    lock: threading.Lock = field(default_factory=threading.Lock)


class LiveStudies:
    """Those that this worker runs. owner: as the runner's."""

    def __init__(self, owner: str) -> None:
        self.owner = owner
        self.running: dict[str, LiveStudy] = {}
        self.begun_again: Counter[str] = Counter()

    def turn(self, engine: Engine) -> bool:
        """Begin what waits, look after what runs. Whether anything does."""
        for study in writes.live_take(self.owner):
            live = self.running[study.pk] = LiveStudy(study)
            # Spark may take seconds to open, and the others' leases must not wait for that.
            live.thread = threading.Thread(
                target=_start, args=(live, engine), name=f"live-{study.pk}", daemon=True
            )
            live.thread.start()
        for live in list(self.running.values()):
            try:
                self._look_after(live, engine)
            except DatabaseError:
                raise
            except Exception as error:  # whatever is wrong with one ends that one: the others' leases run on
                self._drop(live)
                writes.study_end(
                    live.study, State.FAILED, live_reason(live.study, error, is_spark_lost=False)
                )
        return bool(self.running)

    def _look_after(self, live: LiveStudy, engine: Engine) -> None:
        _look_at_lab(live)
        orders = writes.study_beat(live.study, _doing(live, engine))
        if not orders.held:
            self._drop(live)
        elif orders.cancel:
            self._drop(live)
            writes.study_end(live.study, State.CANCELLED)
        elif (error := _error_of(live)) is not None:
            self._drop(live)
            is_lost = engine.is_lost()
            self._fail(live.study, live_reason(live.study, error, is_lost))
            if is_lost:
                # The next study, of either kind, opens a new one in place of finding this one dead.
                engine.close()
        elif _left_alone(live.study, orders.watched_at):
            self._drop(live)
            writes.study_end(live.study, State.DONE)

    def _fail(self, study: Study, why: Json) -> None:
        """End it, unless it only has to begin again: then the next turn takes it, from its checkpoint."""
        if why["template"] in reasons.PASSING and self.begun_again[study.pk] < AGAIN_MAX:
            self.begun_again[study.pk] += 1
            log.warning("live study %s restarts: %s", study.pk, why["template"])
            _give_back(study)
        else:
            writes.study_end(study, State.FAILED, why)

    def _drop(self, live: LiveStudy) -> None:
        self.running.pop(live.study.pk, None)
        _stop(live)

    def lost(self) -> None:
        """Spark was lost: what ran goes on in the new one, from its checkpoint."""
        for live in list(self.running.values()):
            self._drop(live)
            _give_back(live.study)

    def let_go(self) -> None:
        """The process ends: the next worker takes them at once, from their checkpoints."""
        self.lost()


def _give_back(study: Study) -> None:
    """The next worker that looks takes it over at once."""
    Study.objects.filter(pk=study.pk, epoch=study.epoch, state=State.RUNNING).update(lease_until_ms=0)


def _look_at_lab(live: LiveStudy) -> None:
    """Ask the lab's worker for its rows of each second, which it leaves as long as it is asked; look at the lab, so that
    it does not rest as one that nobody watches."""
    source = live.study.request["source"]
    if source["kind"] != "lab":
        return
    folder = chunks_dir(source["lab"])
    want(folder)
    seconds = last_second(folder) + 1
    is_paused = live.lab.is_paused if live.lab is not None else False
    if time.monotonic() - live.looked_s >= LOOK_AT_LAB_S:
        live.looked_s = time.monotonic()
        is_paused = _watch(source["lab"])
    live.lab = Source(until_us=seconds * SECOND_US if seconds else None, is_paused=is_paused)


def _watch(lab_id: str) -> bool:
    """Tell the lab that it is watched, waking one that rests but for the site's own. Whether it is paused."""
    lab = Lab.objects.filter(pk=lab_id).only("slug", "status").first()
    if lab is None:
        return False
    rests = lab.status == Lab.Status.IDLE
    is_woken = rests and lab.slug is None
    lab_watched(lab_ids=[lab_id], wake=is_woken)
    snapshot = lab_snapshot(lab_id=lab_id)
    return (rests and not is_woken) or (snapshot is not None and not snapshot["view"]["playing"])


def _doing(live: LiveStudy, engine: Engine) -> Json:
    return live_stage(
        live.query,
        is_spark_open=engine.is_warm,
        newest_us=live.newest_us,
        quiet_s=time.monotonic() - live.heard_s,
        lab=live.lab,
    )


def _start(live: LiveStudy, engine: Engine) -> None:
    """In its own thread: the query goes on in Spark when this returns."""
    try:
        request = request_for_pipeline(live.study)
        checkpoint = study_folder(live.study.pk) / CHECKPOINT
        checkpoint.mkdir(parents=True, exist_ok=True)
        pk, epoch = live.study.pk, live.study.epoch
        live.newest_us = _newest_us(pk)

        def on_windows(rows: Sequence[Json]) -> None:
            windows_store(pk, epoch, rows)
            live.newest_us = max([live.newest_us or 0, *(row["end_us"] for row in rows)])
            live.heard_s = time.monotonic()

        query = engine.stream(request, checkpoint, on_windows)
        with live.lock:
            live.query = query
            stopped = live.stopped
        if stopped:
            query.stop()
    except Exception as error:  # told of by the runner's next turn
        live.error = error
    finally:
        connection.close()


def _newest_us(study_id: str) -> int | None:
    """The end of the newest window that it had before its worker died; None for a new one."""
    newest = StudyWindow.objects.filter(study_id=study_id).order_by("-start_us").first()
    return None if newest is None else newest.row["end_us"]


def _stop(live: LiveStudy) -> None:
    with live.lock:
        live.stopped = True
        query = live.query
    if query is None:
        return
    try:
        query.stop()
    except Exception:  # a query of a dead Spark cannot be stopped, nor need it be
        log.debug("the query of %s could not be stopped", live.study.pk, exc_info=True)


def _error_of(live: LiveStudy) -> Exception | None:
    if live.error is not None or live.query is None:
        return live.error
    try:
        if live.query.isActive:
            return None
        return live.query.exception() or RuntimeError("the stream ended")
    except Exception as error:  # Spark itself is gone
        return error


def _left_alone(study: Study, watched_at: Any) -> bool:
    last = max(filter(None, (watched_at, study.started_at)), default=study.created_at)
    return bool(timezone.now() - last > timedelta(seconds=settings.STUDY_LIVE_IDLE_S))


def windows_store(study_id: str, epoch: int, rows: Sequence[Json]) -> None:
    """Keep windows as they are now, each replacing its former self; only the newest STUDY_WINDOWS_MAX stay.

    Called by the query's thread for each small batch, perhaps twice for the same one: the same rows give the
    same rows.
    """
    try:
        with transaction.atomic():
            # The row is the lock that makes versions grow; under another epoch somebody else tells the
            # windows now.
            if (
                not Study.objects.select_for_update()
                .filter(pk=study_id, epoch=epoch, state=State.RUNNING)
                .exists()
            ):
                return
            windows = StudyWindow.objects.filter(study_id=study_id)
            version = (windows.aggregate(last=Max("version"))["last"] or 0) + 1
            StudyWindow.objects.bulk_create(
                [
                    StudyWindow(
                        study_id=study_id,
                        start_us=row["start_us"],
                        lane=row.get("lane") or "",
                        version=version,
                        row=row,
                    )
                    for row in rows
                ],
                update_conflicts=True,
                unique_fields=["study", "start_us", "lane"],
                update_fields=["version", "row"],
            )
            excess = windows.count() - settings.STUDY_WINDOWS_MAX
            if excess > 0:
                windows.filter(
                    pk__in=list(windows.order_by("start_us").values_list("pk", flat=True)[:excess])
                ).delete()
    finally:
        if not connection.in_atomic_block:
            connection.close()
