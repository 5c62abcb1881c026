"""The worker's side of labs' logs: one loop that keeps every folder somebody looks at as far as its lab is.

One loop writes for the whole run folder, under a file lock that the system releases when the process dies.
Folders that nobody asked for any more are closed in order, and removed a while later: they can be derived
again. One that cannot be written is given up and restarted.
"""

import fcntl
import json
import logging
import shutil
import time
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from pathlib import Path
from typing import IO

from django.conf import settings
from django.db import connection

from broker_core.clock import SECOND_US
from broker_core.events import Json
from broker_core.lab.kafka_log.cleaning import clean_json
from broker_core.lab.kafka_log.derived_folder import DerivedFolder
from broker_core.lab.kafka_log.lane import LaneLog
from broker_core.lab.kafka_log.settings import LaneSettings
from dashboard.logs.labs import BEAT, LOCK, WANTED, cleans_wanted, lane_parts, table_of
from dashboard.logs.places import BROKER, REQUEST, STATE, WATCHED, labs_dir, state_of, write_json
from dashboard.logs.replica_writer import ReplicaWriting
from dashboard.models import StoredView

log = logging.getLogger(__name__)

TURN_S = 0.25  # how often the labs' time is asked for
BUDGET_S = 0.2  # writing for one lab in one turn
IDLE_S = 3.0  # the loop ends when nobody has looked for this long
STRETCH_US = 2 * SECOND_US  # virtual time that is written between two looks at the wall clock
SWEEP_EVERY_S = 5.0
AGAIN_S = 5.0  # after a folder could not be written
FOLDERS_OF_LAB_MAX = (
    16  # of one lab, one for each partition and each choice of settings: so many are kept when nobody looks
)
CLEAN_EVERY_S = 1.0
BOOT = Path("/proc/sys/kernel/random/boot_id")


@dataclass(slots=True)
class Writing:
    """One open folder. description: what it is made from. checkpoint_us: the log's time when its checkpoint
    files were last written."""

    lane: LaneLog
    lab_id: str
    description: Json
    checkpoint_us: int = 0


class LogWriter:
    """Writes what is watched. stopping: set from outside to end the loop at its next turn."""

    def __init__(self) -> None:
        self.stopping = False
        self._open: dict[Path, Writing | ReplicaWriting] = {}
        self._failed_s: dict[Path, float] = {}
        self._swept_s = 0.0

    def run(self) -> bool:
        """Write until nobody looks any more. False at once when another loop does it."""
        labs_dir().mkdir(parents=True, exist_ok=True)
        with _only_one(labs_dir() / LOCK) as is_mine:
            if not is_mine:
                return False
            idle_from_s = time.monotonic()
            try:
                while not self.stopping and time.monotonic() - idle_from_s < IDLE_S:
                    (labs_dir() / BEAT).touch()
                    started_s = time.monotonic()
                    behind = self.turn()
                    if self._open:
                        idle_from_s = time.monotonic()
                    # Even when there is much to write the shards come first.
                    time.sleep(0.02 if behind else max(0.02, TURN_S - (time.monotonic() - started_s)))
            finally:
                for folder in list(self._open):
                    self._close(folder)
                connection.close()
        return True

    def turn(self) -> bool:
        """Bring every watched folder forward. True when one is still behind its lab."""
        now_s = time.time()
        marks = {
            folder: mark
            for folder in _folders()
            if (mark := _watched_s(folder)) > now_s - settings.LAB_LOG_WATCHED_S
        }
        wanted = sorted(marks, key=lambda folder: -marks[folder])[: settings.LAB_LOGS_OPEN_MAX]
        for folder in [folder for folder in self._open if folder not in wanted]:
            self._close(folder)
        behind = False
        for folder in wanted:
            if time.monotonic() - self._failed_s.get(folder, -AGAIN_S) < AGAIN_S:
                continue
            try:
                behind |= self._write(folder)
            except Exception:
                # Whatever it is, the folder follows from the lab: it is made again, and this is reported.
                log.exception("rebuilding log folder %s from scratch", folder)
                self._open.pop(folder, None)
                self._failed_s[folder] = time.monotonic()
                with suppress(
                    OSError
                ):  # it cannot be emptied either, or is gone: the other folders have nothing to do with that
                    _empty(folder)
        if now_s - self._swept_s > SWEEP_EVERY_S:
            self._swept_s = now_s
            self._sweep(now_s)
        return behind

    def _write(self, folder: Path) -> bool:
        writing = self._open.get(folder)
        if writing is None:
            writing = self._begin(folder)
            if writing is None:
                return False
        at_us = StoredView.objects.filter(pk=writing.lab_id).values_list("at_us", flat=True).first()
        if at_us is None:
            self._close(folder)
            return False
        if isinstance(writing, ReplicaWriting):
            writing.write()
            self._work_out_cleans(folder, writing)
            return False
        until_s, before_us = time.monotonic() + BUDGET_S, writing.lane.now_us
        while writing.lane.now_us < at_us and time.monotonic() < until_s:
            now_us = writing.lane.now_us
            writing.lane.advance_to(min(at_us, now_us + STRETCH_US))
            if writing.lane.now_us == now_us:
                break  # less than a linger is left
        if writing.lane.now_us > before_us or not (folder / STATE).exists():
            write_json(folder / STATE, {**writing.lane.state(), "boot": _boot()})
            if writing.lane.now_us - writing.checkpoint_us >= 10 * SECOND_US:
                writing.lane.checkpoint()
                writing.checkpoint_us = writing.lane.now_us
        self._work_out_cleans(folder, writing)
        return at_us - writing.lane.now_us > SECOND_US

    def _work_out_cleans(self, folder: Path, writing: Writing | ReplicaWriting) -> None:
        """What compaction would do to the partitions that somebody asks about."""
        now_s = time.time()
        for partition in cleans_wanted(folder, now_s - settings.LAB_LOG_WATCHED_S):
            answer = folder / f"clean-{partition}.json"
            if not answer.exists() or answer.stat().st_mtime < now_s - CLEAN_EVERY_S:
                found = (
                    writing.clean_json()
                    if isinstance(writing, ReplicaWriting)
                    else _clean_json(folder, writing, partition)
                )
                if found is not None:
                    write_json(answer, found)

    def _begin(self, folder: Path) -> Writing | ReplicaWriting | None:
        description: Json = json.loads((folder / REQUEST).read_text(encoding="utf-8"))
        parts = lane_parts(description)
        if parts is None:
            return None
        if BROKER in description:
            self._open[folder] = replica = ReplicaWriting(folder, description, parts["workload"])
            return replica
        state = state_of(folder)
        if state.get("boot") != _boot():
            # Nothing was synced, so a restarted machine may have lost any part of it.
            _empty(folder)
            state = {}
        lane = LaneLog(
            DerivedFolder(folder),
            lambda name: DerivedFolder(folder / name),
            workload=parts["workload"],
            seed=parts["seed"],
            topic=description["topic"],
            partition_count=description["partition_count"],
            partitions=[description["partition"]],
            settings=LaneSettings(**description["settings"]),
            first_record=description["first_record"],
            written=state,
        )
        self._open[folder] = writing = Writing(lane, description["lab"], description)
        return writing

    def _close(self, folder: Path) -> None:
        writing = self._open.pop(folder, None)
        if writing is not None:
            try:
                if isinstance(writing, ReplicaWriting):
                    writing.close()
                    return
                write_json(folder / STATE, {**writing.lane.close(), "boot": _boot()})
            except Exception:
                log.exception("closing log folder %s failed; the next start reads it again", folder)

    def _sweep(self, now_s: float) -> None:
        """Remove what nobody has looked at for long, and of one lab's folders all but the newest few."""
        by_lab: dict[Path, list[Path]] = {}
        for folder in sorted(_folders(), key=_watched_s, reverse=True):
            if folder in self._open or _watched_s(folder) > now_s - settings.LAB_LOG_WATCHED_S:
                continue
            kept = by_lab.setdefault(folder.parent, [])
            kept.append(folder)
            if len(kept) > FOLDERS_OF_LAB_MAX or _watched_s(folder) < now_s - settings.LAB_LOG_KEEP_S:
                shutil.rmtree(folder, ignore_errors=True)
        for lab in by_lab:
            for empty in (lab, lab.parent):
                try:
                    empty.rmdir()
                except OSError:
                    break


def _clean_json(folder: Path, writing: Writing, partition: int) -> Json:
    table, about = table_of(folder, writing.description, partition, state_of(folder))
    return clean_json(table, **about)


def _folders() -> list[Path]:
    return list(labs_dir().glob("*/kafka/*/"))


def _watched_s(folder: Path) -> float:
    try:
        return (folder / WATCHED).stat().st_mtime
    except OSError:
        return 0.0


def _boot() -> str:
    """Which start of the machine this is; "" where the system does not say."""
    try:
        return BOOT.read_text(encoding="utf-8").strip()
    except OSError:
        return ""


def _empty(folder: Path) -> None:
    """Remove what was written; the description and what people asked for stay, so that it can start again."""
    (folder / STATE).unlink(missing_ok=True)
    for entry in folder.iterdir():
        if entry.is_dir():
            shutil.rmtree(entry, ignore_errors=True)
        elif entry.name not in (REQUEST, WATCHED) and entry.suffix != WANTED:
            entry.unlink(missing_ok=True)


@contextmanager
def _only_one(path: Path) -> Iterator[bool]:
    """Whether this is the only loop; the lock goes with the process."""
    lock: IO[str]
    with path.open("w") as lock:
        try:
            fcntl.flock(lock, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except OSError:
            yield False
            return
        yield True
