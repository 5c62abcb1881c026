"""The worker's side of labs' logs: one loop that brings every folder somebody looks at to what its shard told last.

One loop writes for the whole run folder, under a file lock that the system releases when the process dies.
Folders that nobody asked for any more are closed, and removed a while later: the lab tells them again. One that
cannot be written is given up and restarted.
"""

import fcntl
import json
import logging
import shutil
import time
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import IO

from django.conf import settings
from django.db import connection

from broker_core.events import Json
from dashboard.logs.labs import BEAT, LOCK, WANTED, cleans_wanted, workload_of
from dashboard.logs.places import REPLICA, REQUEST, STATE, WATCHED, labs_dir, write_json
from dashboard.logs.replica_writer import ReplicaWriting

log = logging.getLogger(__name__)

TURN_S = 0.25  # how often it looks for what shards have told
IDLE_S = 3.0  # the loop ends when nobody has looked for this long
SWEEP_EVERY_S = 5.0
AGAIN_S = 5.0  # after a folder could not be written
FOLDERS_OF_LAB_MAX = (
    16  # of one lab, one for each replica and each choice of settings: so many are kept when nobody looks
)
CLEAN_EVERY_S = 1.0


class LogWriter:
    """Writes what is watched. stopping: set from outside to end the loop at its next turn."""

    def __init__(self) -> None:
        self.stopping = False
        self._open: dict[Path, ReplicaWriting] = {}
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
                    self.turn()
                    if self._open:
                        idle_from_s = time.monotonic()
                    # Even when there is much to write the shards come first.
                    time.sleep(max(0.02, TURN_S - (time.monotonic() - started_s)))
            finally:
                for folder in list(self._open):
                    self._close(folder)
                connection.close()
        return True

    def turn(self) -> None:
        """Bring every watched folder forward."""
        now_s = time.time()
        marks = {
            folder: mark
            for folder in _folders()
            if (mark := _watched_s(folder)) > now_s - settings.LAB_LOG_WATCHED_S
        }
        wanted = sorted(marks, key=lambda folder: -marks[folder])[: settings.LAB_LOGS_OPEN_MAX]
        for folder in [folder for folder in self._open if folder not in wanted]:
            self._close(folder)
        for folder in wanted:
            if time.monotonic() - self._failed_s.get(folder, -AGAIN_S) < AGAIN_S:
                continue
            try:
                self._write(folder)
            except Exception:
                # Whatever it is, the lab has told all of it: it is made again, and this is reported.
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

    def _write(self, folder: Path) -> None:
        writing = self._open.get(folder) or self._begin(folder)
        if writing is not None:
            writing.write()
            self._work_out_cleans(folder, writing)

    def _work_out_cleans(self, folder: Path, writing: ReplicaWriting) -> None:
        """What compaction would do to the partitions that somebody asks about."""
        now_s = time.time()
        for partition in cleans_wanted(folder, now_s - settings.LAB_LOG_WATCHED_S):
            answer = folder / f"clean-{partition}.json"
            if not answer.exists() or answer.stat().st_mtime < now_s - CLEAN_EVERY_S:
                found = writing.clean_json()
                if found is not None:
                    write_json(answer, found)

    def _begin(self, folder: Path) -> ReplicaWriting | None:
        """None when the lab is gone."""
        description: Json = json.loads((folder / REQUEST).read_text(encoding="utf-8"))
        workload = workload_of(description["lab"])
        if workload is None:
            return None
        self._open[folder] = writing = ReplicaWriting(folder, description, workload)
        return writing

    def _close(self, folder: Path) -> None:
        try:
            self._open.pop(folder).close()
        except Exception:
            log.exception("closing log folder %s failed; the next start writes another", folder)

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


def _folders() -> list[Path]:
    return list(labs_dir().glob("*/kafka/*/"))


def _watched_s(folder: Path) -> float:
    try:
        return (folder / WATCHED).stat().st_mtime
    except OSError:
        return 0.0


def _empty(folder: Path) -> None:
    """Remove what was written; the description, what people asked for and what the lab told stay, so that it can
    start again."""
    (folder / STATE).unlink(missing_ok=True)
    for entry in folder.iterdir():
        if entry.is_dir():
            shutil.rmtree(entry, ignore_errors=True)
        elif entry.name not in (REQUEST, WATCHED, REPLICA) and entry.suffix != WANTED:
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
