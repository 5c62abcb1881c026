"""A shard: all the labs that one Celery task drives, turn by turn.

Each turn waits for a wake (or the next thing due), opens labs that need driving, brings loading labs on,
carries out commands, and makes the frames that are due. Commands go first and their frames go out at once;
ticks share one transaction and one trip to Redis.

Labs do not reach one another. Whatever goes wrong in one lab's part of a turn stops that lab, with the
reason on its page, and the turn goes on (`_of_lab`); only a database that is gone ends a turn. And a turn
has TURN_BUDGET_S of work: what it had no time for comes in the next one, after the wakes, cheap labs first.
A lab's step is a piece of its virtual time and one frame, or its commands and their frame; how much that
is, and how fast the labs' clock runs when there is more to do than time, is the pace of all (pace.py). A
step that takes long is cut into pieces (`under_way`), one lane's part of it each: after a long piece the
lab rests as long as it worked, and the others have their turn. So a lab of 512 consumers slows itself down
and says "behind", and does not hold its shard. Nor does one that is held by what is worked on in another
process, a user's own assignor: its step goes on when that is there (`broker_core/held.py`).
"""

import logging
import os
import secrets
import socket
import time
from collections.abc import Iterator
from contextlib import contextmanager

from django.conf import settings
from django.db import DatabaseError

from broker_core.lab.pieces import Pieces
from dashboard.labs import writes
from dashboard.labs.driver import LabDriver
from dashboard.labs.pace import Clock, Pace, timed
from dashboard.labs.stopping import lab_stop, reason_of
from dashboard.labs.transport import WANTS_FULL, WATCHED_S, Frame, Transport

log = logging.getLogger(__name__)
Step = Pieces[None]

KEEP_EVERY_S = 0.5  # leases, heartbeat
LOOK_EVERY_S = 1.0  # who is watched, which labs nobody drives
EAGER_S = 4.0  # a shard that begins looks oftener: the leases of its last holder are about to run out
IDLE_EVERY_S = 5.0  # which labs nobody watched for long
RESTING_INTERVAL_S = 1.0  # a lab that nobody sees, or that is paused, only keeps its place
TURN_BUDGET_S = 0.1  # work between two looks at the wakes; the step that goes past it is the last
LOAD_BUDGET_S = 0.05  # of a turn, for all loading labs together
LOAD_STEP_S = 0.01  # for one of them, before the next has its step
ADVANCE_BUDGET_S = 0.03  # for one lab's time, at most
COMMANDS_BUDGET_S = 0.03  # for one lab's commands; one at least
PIECES_BUDGET_S = 0.02  # for the pieces of one lab's step in a turn; one at least
FAIR_S = 0.02  # a lab that takes longer rests as long as it worked, and waits for the cheaper ones,
WAITS_TIMES = 4  # this many times its own length at most
TELL_TIMES = 6  # a large view is sent less often: a sixth of the lab's time goes into that at most
HELD_LOOK_S = 0.02  # between two looks whether a lab is still held by what is worked on in another process
ASIDE_S = 5.0  # a lab whose rows the database will not read or write now, while it serves the others


class Shard:
    """Drives the labs of one shard in this process. clock: monotonic wall time in seconds."""

    def __init__(self, number: int, transport: Transport, clock: Clock = time.monotonic) -> None:
        self.number, self.transport, self.clock = number, transport, clock
        self.owner = f"{socket.gethostname()[:24]}:{os.getpid()}:{secrets.token_hex(4)}"
        self.drivers: dict[str, LabDriver] = {}
        self.frame_due_s: dict[str, float] = {}
        self.watched_until_s: dict[str, float] = {}
        # When its next frame may be made; before that, a lab that is behind only moves on.
        self.told_due_s: dict[str, float] = {}
        self.tell_cost_s: dict[str, float] = {}  # what its frame takes, smoothed
        self.cost_s: dict[str, float] = {}  # what its step takes, smoothed
        self.rests_until_s: dict[str, float] = {}
        # Labs that have commands waiting, in the order in which we heard of them.
        self.ordered: dict[str, None] = {}
        self.under_way: dict[str, Step] = {}  # what is left of steps that one turn had no time for
        self.aside_until_s: dict[str, float] = {}
        self.frames: list[Frame] = []  # of this turn's ticks, to be stored and published together
        self.commits: list[writes.Commit] = []
        self.pace = Pace(clock)
        self._step_s = ADVANCE_BUDGET_S  # for one lab's time in this turn
        self.stopping = False
        self.is_elsewhere = False  # another host drives this shard
        self.has_dropped = False  # labs since the last check: dropped labs form reference cycles
        self._keep_s = self._look_s = self._idle_s = self._poll_s = -1e9
        self._turn_until_s = 0.0
        self._eager_until_s = -1e9

    # -- the loop --------------------------------------------------------------------------------------------

    def run(self, seconds: float) -> None:
        """Drive for this long; longer while Redis is away, because then nobody could enqueue the next
        task."""
        end_s = self.clock() + seconds
        self._eager_until_s = self.clock() + EAGER_S if not self.drivers else -1e9
        self.is_elsewhere = False
        while not (self.stopping or self.is_elsewhere) and (self.clock() < end_s or self.transport.is_down):
            self.turn()
        if self.stopping:
            self.let_go()
        elif self.is_elsewhere:
            self._forget_all()

    def turn(self) -> None:
        """Wait for something to do, at most until the next thing is due, and do it."""
        entries = self.transport.wait_for_wake(self.number, self._wait_s())
        started_s = self.clock()
        self._turn_until_s = started_s + TURN_BUDGET_S
        try:
            self._keep(started_s)
            if self.is_elsewhere:
                return
            self._woken(entries, started_s)
            self._look(started_s)
            self._load()
            playing = sum(driver.loaded and driver.core.playing for driver in self.drivers.values())
            self._step_s = min(ADVANCE_BUDGET_S, self.pace.step_s(playing))
            self._commands()
            self._ticks()
        except DatabaseError:
            # What was decided is not stored, so it did not happen: forget it and begin again from the
            # database.
            log.exception("shard %s: the database refused; reopening its labs", self.number)
            self._forget_all()
            time.sleep(settings.SHARD_POLL_S)
        self.pace.worked(self.clock() - started_s)
        self.pace.adapt()

    @property
    def _is_spent(self) -> bool:
        """Whether this turn has no time for another lab's step."""
        return self.clock() > self._turn_until_s

    def _wait_s(self) -> float:
        now_s = self.clock()
        due_s = min(self.frame_due_s.values(), default=now_s + settings.SHARD_POLL_S)
        for lab_id, driver in self.drivers.items():
            if lab_id not in self.frame_due_s:  # still loading
                due_s = min(due_s, now_s + HELD_LOOK_S if driver.is_held else now_s)
        for lab_id in self.ordered.keys() - self.under_way.keys():  # the last turn had no time for them
            due_s = min(due_s, self.rests_until_s.get(lab_id, now_s))
        return max(0.0, min(due_s - now_s, settings.SHARD_POLL_S))

    @contextmanager
    def _of_lab(self, lab_id: str, epoch: int) -> Iterator[None]:
        """One lab's step: what it takes is noted, and what goes wrong in it is this lab's alone. Raises
        DatabaseError when that is gone."""
        started_s = self.clock()
        try:
            yield
        except Exception as error:
            self._gone_wrong(lab_id, epoch, error)
        took_s = self.clock() - started_s
        if lab_id in self.drivers:
            self.cost_s[lab_id] = (3 * self.cost_s.get(lab_id, 0.0) + took_s) / 4
            if took_s > FAIR_S:
                self.rests_until_s[lab_id] = started_s + 2 * took_s
                if lab_id in self.frame_due_s:
                    self.frame_due_s[lab_id] = max(self.frame_due_s[lab_id], started_s + 2 * took_s)
        # A large lab slows itself; the pace of all goes by what the others need.
        self.pace.worked(-max(0.0, took_s - FAIR_S))

    # -- keeping and opening ---------------------------------------------------------------------------------

    def _keep(self, now_s: float) -> None:
        """Heartbeat and leases."""
        if now_s - self._keep_s >= KEEP_EVERY_S:
            self._keep_s = now_s
            if self.transport.is_driven_elsewhere(self.number, settings.LEASE_S):
                log.warning("shard %s: another host drives it", self.number)
                self.is_elsewhere = True
                return
            self.transport.beat(self.number)
            if self.drivers:
                for lab_id in writes.lease_renew(
                    {lab_id: driver.epoch for lab_id, driver in self.drivers.items()}, self.owner
                ):
                    self._forget(lab_id)

    def _woken(self, entries: list[str], now_s: float) -> None:
        """Open the labs that were named or have commands waiting, and note which have."""
        woken = dict.fromkeys(entry.removeprefix(WANTS_FULL) for entry in entries)
        self.ordered |= woken
        if now_s - self._poll_s >= settings.SHARD_POLL_S:
            self._poll_s = now_s
            self.ordered |= dict.fromkeys(writes.labs_with_commands(self.number, self.owner))
        for lab_id in self.ordered:
            self._open(lab_id)
        for lab_id, panels in (self.transport.watched(list(woken)) or {}).items():
            self._see(lab_id, panels, now_s)
        full = {entry.removeprefix(WANTS_FULL) for entry in entries if entry.startswith(WANTS_FULL)}
        for driver in [self.drivers[lab_id] for lab_id in woken if lab_id in full and lab_id in self.drivers]:
            with self._of_lab(driver.lab_id, driver.epoch):
                if driver.view:
                    self._publish([driver.full_frame()])

    def _look(self, now_s: float) -> None:
        """Who is watched, who is idle, which labs nobody drives; and labs whose own script has just ordered
        something."""
        if now_s - self._look_s >= (settings.SHARD_POLL_S if now_s < self._eager_until_s else LOOK_EVERY_S):
            self._look_s = now_s
            for lab_id in writes.labs_running(self.number, self.owner):
                self._open(lab_id)
            if (seen := self.transport.watched(list(self.drivers))) is not None:
                for lab_id, driver in self.drivers.items():
                    if lab_id in seen:
                        self._see(lab_id, seen[lab_id], now_s)
                    else:
                        driver.panels.watched = frozenset()
        if now_s - self._idle_s >= IDLE_EVERY_S:
            self._idle_s = now_s
            self._rest_unwatched(now_s)
        for lab_id, driver in list(self.drivers.items()):
            with self._of_lab(lab_id, driver.epoch):
                if lab_id in self.frame_due_s and driver.follow_script():
                    self.ordered[lab_id] = None

    def _see(self, lab_id: str, panels: frozenset[str], now_s: float) -> None:
        """The lab is watched, these panels of it too. What has just been opened is not kept waiting."""
        is_new, driver = now_s >= self.watched_until_s.get(lab_id, 0.0), self.drivers.get(lab_id)
        if driver is not None:
            is_new |= not panels <= driver.panels.watched
            driver.panels.watched = panels
        if lab_id in self.frame_due_s and is_new:
            self.frame_due_s[lab_id] = self.told_due_s[lab_id] = now_s
        self.watched_until_s[lab_id] = now_s + WATCHED_S

    def _open(self, lab_id: str) -> None:
        if lab_id in self.drivers or self.clock() < self.aside_until_s.get(lab_id, 0.0):
            return
        if self._is_spent:
            self._look_s = self._poll_s = -1e9  # found again in the next turn
            return
        row = writes.lease_take(lab_id, self.owner, self.number)
        if row is None:
            return
        with self._of_lab(lab_id, row.epoch):
            self.drivers[lab_id] = LabDriver(row, self.clock(), self.pace)

    def _load(self) -> None:
        """Watched labs first, and of those who has least to do again: after a crash each is live as soon as
        it can be, not all of them when the last one is. Who would wait longest gets one step in every turn,
        so that newcomers cannot keep it waiting for ever."""
        now_s = self.clock()
        until_s = now_s + LOAD_BUDGET_S
        loading = [driver for driver in self.drivers.values() if driver.lab_id not in self.frame_due_s]
        loading.sort(
            key=lambda driver: (now_s >= self.watched_until_s.get(driver.lab_id, 0.0), driver.left_us)
        )
        for driver in loading[-1:]:
            self._load_step(driver)
        for driver in loading:
            while self._is_loading(driver):
                if self.clock() > until_s:
                    return
                self._load_step(driver)
                if driver.is_held:  # what it waits for is not there sooner for being asked again
                    break

    def _is_loading(self, driver: LabDriver) -> bool:
        return self.drivers.get(driver.lab_id) is driver and driver.lab_id not in self.frame_due_s

    def _load_step(self, driver: LabDriver) -> None:
        with self._of_lab(driver.lab_id, driver.epoch):
            if driver.load(self.clock, LOAD_STEP_S):
                self.frame_due_s[driver.lab_id] = self.clock()

    # -- commands and ticks ----------------------------------------------------------------------------------

    def _commands(self) -> None:
        """Cheap labs first. A lab that is still loading keeps its commands for later; so does one that has more
        of them than a turn has time for."""
        for lab_id in sorted(self.ordered, key=lambda lab_id: self.cost_s.get(lab_id, 0.0)):
            if self._is_spent:
                return
            driver = self.drivers.get(lab_id)
            if driver is None:
                del self.ordered[lab_id]  # another's, stopped, gone; or the next poll finds it again
            elif (
                lab_id in self.frame_due_s
                and lab_id not in self.under_way
                and self.clock() >= self.rests_until_s.get(lab_id, 0.0)
            ):
                del self.ordered[lab_id]
                self._go_on(driver, self._carry_out(driver))

    def _go_on(self, driver: LabDriver, step: Step) -> None:
        """The next pieces of a lab's step. What is left of it then is due as soon as the lab has rested."""
        lab_id = driver.lab_id
        self.under_way.pop(lab_id, None)
        with self._of_lab(lab_id, driver.epoch):
            until_s = self.clock() + PIECES_BUDGET_S
            for held in step:
                if held is not None or self.clock() > until_s:
                    self.under_way[lab_id] = step
                    self.frame_due_s[lab_id] = self.clock() + (0.0 if held is None else HELD_LOOK_S)
                    break

    def _carry_out(self, driver: LabDriver) -> Step:
        commands = writes.commands_waiting(driver.lab_id)
        if not commands:
            return
        yield from driver.advance(self.clock, self._step_s)
        decided, refusals = yield from driver.handle(commands, self.clock, COMMANDS_BUDGET_S)
        frame, commit = yield from driver.frame(self.clock(), refusals)
        self._store([commit] if commit else [])
        if driver.lab_id in self.drivers:
            self._publish([frame] if frame else [])
            self.frame_due_s[driver.lab_id] = self.told_due_s[driver.lab_id] = (
                self.clock() + self.pace.interval_s
            )
            if decided < len(commands) or len(commands) == writes.COMMANDS_AT_ONCE:
                self.ordered[driver.lab_id] = None

    def _ticks(self) -> None:
        """The frames that are due. A lab whose step is long waits for the others, but not forever: then it is
        its turn."""
        self.frames, self.commits = [], []
        now_s = self.clock()
        due = [lab_id for lab_id, due_s in self.frame_due_s.items() if due_s <= now_s]
        for lab_id in sorted(
            due, key=lambda lab_id: self.frame_due_s[lab_id] + WAITS_TIMES * self._excess_s(lab_id)
        ):
            driver = self.drivers.get(lab_id)
            if driver is None:
                continue
            if self._is_spent:
                break
            if self._excess_s(lab_id):
                self._tell()  # the others need not wait for this one
            self._go_on(driver, self.under_way.get(lab_id) or self._tick(driver))
        self._tell()

    def _excess_s(self, lab_id: str) -> float:
        return max(0.0, self.cost_s.get(lab_id, 0.0) - FAIR_S)

    def _tick(self, driver: LabDriver) -> Step:
        started_s, lab_id = self.clock(), driver.lab_id
        told_due_s = self.told_due_s.get(lab_id, started_s)
        is_there = yield from driver.advance(self.clock, self._step_s)
        now_s = self.clock()
        if now_s >= told_due_s:
            watched = now_s < self.watched_until_s.get(lab_id, 0.0) and not self.transport.is_down
            (frame, commit), took_s = yield from timed(driver.frame(now_s), self.clock)
            if commit is not None:
                self.commits.append(commit)
            if frame is not None and (watched or frame.full):
                self.frames.append(frame)
            self.pace.told(min(took_s, FAIR_S))
            self.tell_cost_s[lab_id] = (3 * self.tell_cost_s.get(lab_id, 0.0) + took_s) / 4
            is_moving = watched and driver.core.playing
            interval_s = max(
                self.pace.interval_s if is_moving else RESTING_INTERVAL_S,
                TELL_TIMES * self.tell_cost_s[lab_id],
            )
            told_due_s = self.told_due_s[lab_id] = max(told_due_s + interval_s, started_s + interval_s / 2)
        self.frame_due_s[lab_id] = told_due_s if is_there else self.clock()

    def _tell(self) -> None:
        started_s, frames, commits = self.clock(), self.frames, self.commits
        self.frames, self.commits = [], []
        self._store(commits)
        self._publish([frame for frame in frames if frame.lab_id in self.drivers])
        self.pace.told(self.clock() - started_s)

    def _store(self, commits: list[writes.Commit]) -> None:
        """Commit, then and only then may anything be published. Raises DatabaseError when the database is
        gone."""
        if not commits:
            return
        failed = writes.commit_or_each(commits)
        epochs = {commit.lab_id: commit.epoch for commit in commits}
        for lab_id, error in failed.items():
            self._gone_wrong(lab_id, epochs[lab_id], error)

    def _publish(self, frames: list[Frame]) -> None:
        for lab_id in self.transport.publish(frames) if frames else ():
            if driver := self.drivers.get(lab_id):
                driver.needs_full = True

    # -- letting go ------------------------------------------------------------------------------------------

    def _rest_unwatched(self, now_s: float) -> None:
        """Labs that nobody watched for LAB_IDLE_PAUSE_S pause on their own; the demo does as soon as it is
        ready to be copied."""
        unwatched = [
            lab_id
            for lab_id, driver in self.drivers.items()
            if driver.view and lab_id not in self.under_way and now_s >= self.watched_until_s.get(lab_id, 0.0)
        ]
        seen_at = writes.labs_seen_at(unwatched) if unwatched else {}
        for lab_id in unwatched:
            if self._is_spent:
                self._idle_s = -1e9  # the others in the next turn
                return
            driver = self.drivers[lab_id]
            if driver.is_template or time.time() - seen_at.get(lab_id, 0.0) > settings.LAB_IDLE_PAUSE_S:
                self._rest(driver)

    def _rest(self, driver: LabDriver) -> None:
        with self._of_lab(driver.lab_id, driver.epoch):
            frame, commit = driver.rest(self.clock())
            self._store([commit] if commit else [])
            if driver.lab_id in self.drivers:
                self._publish([frame] if frame else [])
                self._forget(driver.lab_id)

    def _gone_wrong(self, lab_id: str, epoch: int, error: Exception) -> None:
        """What goes wrong in a lab's step is that lab's: it stops. Raises the error when it says that the
        database is gone."""
        if isinstance(error, writes.LeaseLost):
            log.warning("lab %s: another worker drives it now, or it was deleted", lab_id)
            self._forget(lab_id)
        elif not isinstance(error, writes.DATABASE_LOST):
            self._fail(lab_id, epoch, error)
        elif writes.database_answers():
            # Locked for too long, too large for what room is left: nothing that a lab should die of, and
            # nobody else's trouble.
            log.warning(
                "lab %s: its row cannot be read or written; trying again in %s s: %s", lab_id, ASIDE_S, error
            )
            self.aside_until_s[lab_id] = self.clock() + ASIDE_S
            self._forget(lab_id)
        else:
            raise error

    def _fail(self, lab_id: str, epoch: int, error: Exception) -> None:
        """The core broke one of its own rules, its journal or rows cannot be read, its state cannot be sent:
        it stops, the others go on."""
        log.error("lab %s stopped on an internal error; its journal reproduces it", lab_id, exc_info=error)
        driver = self.drivers.get(lab_id)
        self._forget(lab_id)
        last = (driver.seq, driver.view) if driver is not None and driver.view else None
        frame = lab_stop(lab_id, epoch, reason_of(error), last)
        self._publish([frame] if frame else [])

    def _forget(self, lab_id: str) -> None:
        if self.drivers.pop(lab_id, None) is not None:
            self.has_dropped = True
        times = (self.frame_due_s, self.told_due_s, self.watched_until_s, self.rests_until_s)
        for table in (*times, self.tell_cost_s, self.cost_s, self.under_way):
            table.pop(lab_id, None)

    def _forget_all(self) -> None:
        for lab_id in list(self.drivers):
            self._forget(lab_id)

    def let_go(self) -> None:
        """The process ends: leave every lab so that the next holder can take it at once."""
        for lab_id, driver in list(self.drivers.items()):
            writes.lease_release(lab_id, driver.epoch)
            self._forget(lab_id)
