"""A shard: all the labs that one Celery task drives, turn by turn.

Each turn waits for a wake (or the next thing due), opens labs that need driving, brings loading labs on, carries out commands, and makes
the frames that are due. Commands go first and their frames go out at once; ticks share one transaction and one trip to Redis.
"""

import logging
import os
import secrets
import socket
import time

from django.conf import settings
from django.db import Error as DatabaseError

from dashboard import ledger
from dashboard.driver import Clock, LabDriver
from dashboard.transport import WANTS_FULL, WATCHED_S, Frame, Transport

log = logging.getLogger(__name__)

KEEP_EVERY_S = 0.5           # leases, heartbeat
LOOK_EVERY_S = 1.0           # who is watched, which labs nobody drives
IDLE_EVERY_S = 5.0           # which labs nobody watched for long
UNWATCHED_INTERVAL_S = 1.0   # a lab nobody sees only keeps its place and its stored view
LOAD_BUDGET_S = 0.05         # work for one loading lab in one turn, so that the others keep moving
ADVANCE_BUDGET_S = 0.05
BUSY_HIGH, BUSY_LOW = 0.85, 0.6


class Shard:
    """Drives the labs of one shard in this process. clock: monotonic wall time in seconds."""

    def __init__(self, number: int, transport: Transport, clock: Clock = time.monotonic) -> None:
        self.number, self.transport, self.clock = number, transport, clock
        self.owner = f"{socket.gethostname()[:24]}:{os.getpid()}:{secrets.token_hex(4)}"
        self.drivers: dict[str, LabDriver] = {}
        self.frame_due_s: dict[str, float] = {}
        self.watched_until_s: dict[str, float] = {}
        self.interval_s = settings.FRAME_INTERVAL_S
        self.stopping = False
        self._keep_s = self._look_s = self._idle_s = self._poll_s = -1e9
        self._busy_s, self._busy_since_s = 0.0, clock()

    # -- the loop ----------------------------------------------------------------------------------------------------

    def run(self, seconds: float) -> None:
        """Drive for this long; longer while Redis is away, because then nobody could enqueue the next task."""
        end_s = self.clock() + seconds
        while not self.stopping and (self.clock() < end_s or self.transport.is_down):
            self.turn()
        if self.stopping:
            self.let_go()

    def turn(self) -> None:
        """Wait for something to do, at most until the next thing is due, and do it."""
        entries = self.transport.wait_for_wake(self.number, self._wait_s())
        started_s = self.clock()
        try:
            self._keep(started_s)
            with_commands = self._woken(entries, started_s)
            self._load()
            self._commands(with_commands)
            self._ticks()
        except DatabaseError:
            # What was decided is not stored, so it did not happen: forget it and begin again from the database.
            log.exception("shard %s: the database refused; its labs are opened anew", self.number)
            self._forget_all()
            time.sleep(settings.SHARD_POLL_S)
        self._adapt(started_s)

    def _wait_s(self) -> float:
        now_s = self.clock()
        due_s = min(self.frame_due_s.values(), default=now_s + settings.SHARD_POLL_S)
        if len(self.frame_due_s) < len(self.drivers):
            due_s = now_s                                  # somebody is still loading
        return max(0.0, min(due_s - now_s, settings.SHARD_POLL_S))

    def _adapt(self, started_s: float) -> None:
        """Fewer frames a second when the turns fill the time, more when they do not."""
        now_s = self.clock()
        self._busy_s += now_s - started_s
        span_s = now_s - self._busy_since_s
        if span_s >= 1.0:
            busy = self._busy_s / span_s
            if busy > BUSY_HIGH:
                self.interval_s = min(settings.FRAME_INTERVAL_MAX_S, self.interval_s * 1.25)
            elif busy < BUSY_LOW:
                self.interval_s = max(settings.FRAME_INTERVAL_S, self.interval_s * 0.9)
            self._busy_s, self._busy_since_s = 0.0, now_s

    # -- keeping and opening -----------------------------------------------------------------------------------------

    def _keep(self, now_s: float) -> None:
        """What is due every so often: heartbeat, leases, who is watched, who is idle."""
        if now_s - self._keep_s >= KEEP_EVERY_S:
            self._keep_s = now_s
            self.transport.beat(self.number)
            if self.drivers:
                for lab_id in ledger.lease_renew({lab_id: driver.epoch for lab_id, driver in self.drivers.items()}, self.owner):
                    self._forget(lab_id)
        if now_s - self._look_s >= LOOK_EVERY_S:
            self._look_s = now_s
            for lab_id in self.transport.watched(list(self.drivers)) or ():
                self._see(lab_id, now_s)
            for lab_id in ledger.labs_running(self.number, self.owner):
                self._open(lab_id)
        if now_s - self._idle_s >= IDLE_EVERY_S:
            self._idle_s = now_s
            self._rest_unwatched(now_s)

    def _woken(self, entries: list[str], now_s: float) -> list[str]:
        """Open the labs that were named, and tell which labs have commands waiting."""
        woken = dict.fromkeys(entry.removeprefix(WANTS_FULL) for entry in entries)
        with_commands = dict.fromkeys(woken)
        if now_s - self._poll_s >= settings.SHARD_POLL_S:
            self._poll_s = now_s
            with_commands |= dict.fromkeys(ledger.labs_with_commands(self.number, self.owner))
        for lab_id in with_commands:
            self._open(lab_id)
        for lab_id in woken:
            if self.transport.watched([lab_id]):
                self._see(lab_id, now_s)
        for lab_id in self._scripted():
            with_commands[lab_id] = None
        full = {entry.removeprefix(WANTS_FULL) for entry in entries if entry.startswith(WANTS_FULL)}
        for driver in [self.drivers[lab_id] for lab_id in woken if lab_id in full and lab_id in self.drivers]:
            if driver.view:
                self._publish([driver.full_frame()])
        return [lab_id for lab_id in with_commands if lab_id in self.drivers]

    def _scripted(self) -> list[str]:
        """Labs whose own script has just ordered something."""
        scripted = []
        for lab_id, driver in list(self.drivers.items()):
            try:
                if lab_id in self.frame_due_s and driver.follow_script():
                    scripted.append(lab_id)
            except ledger.LeaseLost:
                self._forget(lab_id)
        return scripted

    def _see(self, lab_id: str, now_s: float) -> None:
        if lab_id in self.frame_due_s and now_s >= self.watched_until_s.get(lab_id, 0.0):
            self.frame_due_s[lab_id] = now_s
        self.watched_until_s[lab_id] = now_s + WATCHED_S

    def _open(self, lab_id: str) -> None:
        if lab_id in self.drivers:
            return
        row = ledger.lease_take(lab_id, self.owner, self.number)
        if row is None:
            return
        try:
            self.drivers[lab_id] = LabDriver(row, self.clock())
        except DatabaseError:
            raise
        except Exception as error:
            self._fail(lab_id, row.epoch, error)

    def _load(self) -> None:
        for driver in [driver for driver in self.drivers.values() if driver.lab_id not in self.frame_due_s]:
            try:
                if driver.load(self.clock, LOAD_BUDGET_S):
                    self.frame_due_s[driver.lab_id] = self.clock()
            except Exception as error:
                self._fail(driver.lab_id, driver.epoch, error)

    # -- commands and ticks ------------------------------------------------------------------------------------------

    def _commands(self, lab_ids: list[str]) -> None:
        for lab_id in lab_ids:
            driver = self.drivers.get(lab_id)
            if driver is None or lab_id not in self.frame_due_s:
                continue                                   # still loading: the next poll finds its commands again
            commands = ledger.commands_waiting(lab_id)
            if not commands:
                continue
            try:
                driver.advance(self.clock, ADVANCE_BUDGET_S)
                refusals = driver.handle(commands, self.clock)
                frame, commit = driver.frame(self.clock(), refusals)
            except Exception as error:
                self._fail(lab_id, driver.epoch, error)
                continue
            self._store([commit] if commit else [])
            if lab_id in self.drivers:
                self._publish([frame] if frame else [])
                self.frame_due_s[lab_id] = self.clock() + self.interval_s

    def _ticks(self) -> None:
        frames: list[Frame] = []
        commits: list[ledger.Commit] = []
        now_s = self.clock()
        for lab_id, due_s in list(self.frame_due_s.items()):
            driver = self.drivers.get(lab_id)
            if due_s > now_s or driver is None:
                continue
            watched = now_s < self.watched_until_s.get(lab_id, 0.0) and not self.transport.is_down
            interval_s = self.interval_s if watched else UNWATCHED_INTERVAL_S
            self.frame_due_s[lab_id] = max(due_s + interval_s, now_s + interval_s / 2)
            try:
                driver.advance(self.clock, ADVANCE_BUDGET_S)
                frame, commit = driver.frame(self.clock())
            except Exception as error:
                self._fail(lab_id, driver.epoch, error)
                continue
            if commit is not None:
                commits.append(commit)
            if frame is not None and (watched or frame.full):
                frames.append(frame)
        self._store(commits)
        self._publish([frame for frame in frames if frame.lab_id in self.drivers])

    def _store(self, commits: list[ledger.Commit]) -> None:
        """Commit, then and only then may anything be published."""
        for lab_id in ledger.commit_all(commits) if commits else ():
            log.warning("lab %s: somebody else drives it now", lab_id)
            self._forget(lab_id)

    def _publish(self, frames: list[Frame]) -> None:
        if frames and not self.transport.publish(frames):
            for frame in frames:
                if driver := self.drivers.get(frame.lab_id):
                    driver.needs_full = True

    # -- letting go --------------------------------------------------------------------------------------------------

    def _rest_unwatched(self, now_s: float) -> None:
        """Labs that nobody watched for LAB_IDLE_PAUSE_S pause by themselves; the demo does as soon as it is ready to be copied."""
        unwatched = [lab_id for lab_id, driver in self.drivers.items()
                     if driver.view and now_s >= self.watched_until_s.get(lab_id, 0.0)]  # fmt: skip
        seen_at = ledger.labs_seen_at(unwatched) if unwatched else {}
        for lab_id in unwatched:
            driver = self.drivers[lab_id]
            if driver.is_template or time.time() - seen_at.get(lab_id, 0.0) > settings.LAB_IDLE_PAUSE_S:
                self._rest(driver)

    def _rest(self, driver: LabDriver) -> None:
        try:
            frame, commit = driver.rest(self.clock())
        except Exception as error:
            self._fail(driver.lab_id, driver.epoch, error)
            return
        self._store([commit])
        if driver.lab_id in self.drivers:
            self._publish([frame] if frame else [])
            self._forget(driver.lab_id)

    def _fail(self, lab_id: str, epoch: int, error: Exception) -> None:
        """The core broke one of its own rules, or its journal cannot be read: this lab stops, the others go on."""
        log.error("lab %s stops: its journal is the bug report", lab_id, exc_info=error)
        reason = f"{type(error).__name__}: {error}"
        ledger.lab_fail(lab_id, epoch, reason)
        driver = self.drivers.get(lab_id)
        if driver is not None and driver.view:
            self._publish([driver.failed_frame(reason)])
        self._forget(lab_id)

    def _forget(self, lab_id: str) -> None:
        for table in (self.drivers, self.frame_due_s, self.watched_until_s):
            table.pop(lab_id, None)

    def _forget_all(self) -> None:
        for lab_id in list(self.drivers):
            self._forget(lab_id)

    def let_go(self) -> None:
        """The process ends: leave every lab so that the next holder can take it at once."""
        for lab_id, driver in list(self.drivers.items()):
            ledger.lease_release(lab_id, driver.epoch)
            self._forget(lab_id)
