"""One lab's runner: what the shard calls to load it, let its time pass, carry out its commands and tell
browsers.

    take lease ─► load: checkpoint + journal, re-derived up to the floor ─► per frame: advance by the wall clock x speed ─► view ─► frame
                                                                              ▲ commands: stamped, decided, committed, then published

The floor makes a crash invisible: before a browser can see virtual time t, a floor of t or more is in the
row, and the next holder re-derives that far before it decides anything. The same holds for frame numbers
(seq_floor). Nothing here asks the clock: the shard passes the wall time in, and tests pass what they like.
What may take long comes in pieces (broker_core/lab/pieces.py): the shard serves other labs in between, and
asks nothing else of this one until the last piece.
"""

import logging
from collections import deque
from itertools import takewhile

from broker_core.errors import CommandError
from broker_core.events import Json
from broker_core.lab import journal
from broker_core.lab.commands import CONSUMER_KINDS
from broker_core.lab.facts import facts_text
from broker_core.lab.journal import Checkpoint
from broker_core.lab.lab import Lab as CoreLab
from broker_core.lab.panels import PANELS
from broker_core.lab.patch import diff
from broker_core.lab.pieces import Pieces, whole
from broker_core.lab.replay import Replay
from broker_core.lab.scenario import scenario_from_json
from broker_core.lab.size import RECORDS_WAITING_MAX, LabTooLarge
from dashboard.errors import in_all_words, texts_of
from dashboard.labs import writes
from dashboard.labs.chunks import ChunkWriter
from dashboard.labs.clients.state import OpenState
from dashboard.labs.frames import encode, feed_state, refusal_event, snapshot_text
from dashboard.labs.goals import GoalWatch
from dashboard.labs.pace import Clock, Pace, timed
from dashboard.labs.panels import Panels
from dashboard.labs.transport import Frame
from dashboard.labs.writes import Commit, Decision
from dashboard.limits import core_limits
from dashboard.logs.teller import ReplicaTeller
from dashboard.models import Lab, StoredCommand
from dashboard.stored import intact

RESERVE_S = 1.5  # how far ahead of now the floor is set, in wall time; renewed when RESERVE_LEFT_S is left
RESERVE_LEFT_S = 0.5
RESERVE_FRAMES = 1_000
DEBT_MAX_S = 2.0  # a lab that cannot keep up slows down; it does not try to catch up more than this
DEBT_MAX_CROWDED_S = 0.5  # beside labs that are all slowed down, whose time this would take
LATE_FOR_S = 3.0  # a lab that is late by as much for so long runs at its speed again: what it owes is let go
BEHIND_SHOWN_MS = 250  # less is the frame's own beat
FRAME_BYTES_MAX = 64 * 1024  # a longer frame is sent as a snapshot if that is shorter
EFFECT_US_MAX = 20_000  # longest wait in a slow network for the effect of a command
WAITING_EVERY_RECORDS = 10_000  # between two looks at how many records wait
SLICE_MIN_US = 10_000
SLICE_US = 250_000  # virtual time that is derived between two looks at the wall clock, at first
log = logging.getLogger(__name__)

Told = tuple[Frame | None, Commit | None]


class LabDriver:
    """Drives one lab under one epoch.

    row: the lab as it was when the lease was taken. core: the lab itself. loaded: it has reached the floor
    and takes commands.
    """

    def __init__(self, row: Lab, wall_s: float, pace: Pace | None = None) -> None:
        """pace: the shard's; without one the lab's time is the wall's."""
        self.pace = pace or Pace(lambda: wall_s)
        self.lab_id, self.epoch, self.is_template = row.pk, row.epoch, row.slug is not None
        self.seq = row.seq_floor
        self.floor_us, self.seq_floor = row.clock_floor_us, row.seq_floor
        self.core: CoreLab = None  # type: ignore[assignment]  # nobody asks before it is there
        self.replay: Replay[CoreLab] | None = None
        self.borrowed: dict[int, StoredCommand] = {}
        left, waiting = writes.script_left(row)
        self.script = deque(left)
        # Ordered by the script, not yet decided: id -> its time.
        self.holds = {entry["body"]["command_id"]: entry["at_us"] for entry in waiting}
        self.event_seq_stored = writes.event_seq_last(row.pk)
        self.events: list[Json] = []  # turning points that are neither stored nor shown yet
        self.decisions: list[Decision] = []  # of a fork's borrowed commands, on the way to the floor
        self.view: Json = {}
        self.panels = Panels()
        self.facts_text = ""  # made with all panels: both say what an order or a turning point changes
        self.parts_stored = -1
        self._shown: object = None  # what the last frame was made of
        self.needs_full = True  # browsers cannot follow on from what another holder sent
        self.auto_paused = False
        self.behind_ms = 0
        self.waiting_checked_at = 0  # record count
        # While it loads: what it needs next is worked on elsewhere (broker_core/held.py).
        self.is_held = False
        self.base_s, self.base_us = self.pace.at(wall_s), 0  # by the labs' clock
        # Of the last LATE_FOR_S, unless it owed too much to keep it all.
        self.least_debt_s, self.least_since_s = 0.0, self.base_s
        self.stored_wall_s = -1e9  # when the view was last written
        self.is_stored = True  # whether the last frame's view is
        self._slice_us, self._cost_s = SLICE_US, 0.0  # the latter: of a microsecond
        self._loading = self._begin(row)
        self._clock: Clock = lambda: wall_s  # of the last load
        self.chunks = ChunkWriter(row.pk)
        self.replicas = ReplicaTeller(row.pk)
        self.goal = GoalWatch(row)
        self.clients = OpenState(row)

    @property
    def loaded(self) -> bool:
        return self.replay is not None and self.replay.is_there

    @property
    def left_us(self) -> int:
        """Virtual time that is still to be derived again."""
        return max(0, self.floor_us - (self.core.now_us if self.replay is not None else 0))

    # -- up to the floor -------------------------------------------------------------------------------------

    def load(self, clock: Clock, budget_s: float) -> bool:
        """Build the lab and re-derive it towards the floor for about budget_s, or until it `is_held`. True
        once it takes commands. Raises ReplayError for a broken journal."""
        until_s, self.is_held, self._clock = clock() + budget_s, False, clock
        while not (self.loaded or self.is_held) and clock() < until_s:
            self.is_held = next(self._loading, None) is not None
        if self.loaded:
            self._rebase(self.pace.at(clock()))
        return self.loaded

    def _begin(self, row: Lab) -> Pieces[None]:
        """The lab at its start, or as its last checkpoint has it; and on to the floor."""
        scenario = scenario_from_json(intact(row.scenario), core_limits())
        checkpoint = writes.checkpoint_before(row, self.floor_us)
        state = writes.state_of(checkpoint)
        self.core, error = yield from journal.beginning(scenario, state, core_limits())
        if error is not None:
            log.warning("lab %s: %s; replaying it from its journal", row.pk, error)
        self.cadence = journal.Cadence(self.core.steps)
        stored = {command.position: command for command in writes.commands_after(row, self.core.position)}
        self.borrowed = {
            position: command
            for position, command in stored.items()
            if command.state == StoredCommand.State.ACCEPTED
        }
        self.replay = Replay(self.core, map(writes.entry, stored.values()), self.floor_us, self.borrowed)
        yield from self.replay.finishing(self._replay)

    def _replay(self) -> Pieces[None]:
        """One step of the journal. What was borrowed from another lab is decided on the way."""
        assert self.replay is not None, "what is replayed has begun"
        before_us = self.core.now_us
        told, took_s = yield from timed(
            self.replay.step(self.goal.slice_us(before_us, self._slice_us)), self._clock
        )
        self._check_waiting()
        self._tell(told.events)
        if told.command is None:
            self._pace(before_us, took_s)
        elif (command := self.borrowed.get(told.command["position"])) is not None:
            refusal = None if told.refusal is None else texts_of(told.refusal)
            self.decisions.append(Decision(command, self.core.now_us, refusal))
        yield from self.goal.replayed(self.core)

    # -- time ------------------------------------------------------------------------------------------------

    def advance(self, clock: Clock, budget_s: float) -> Pieces[bool]:
        """Let virtual time follow the wall clock for at most budget_s of work, and never past the floor.
        False: there is more to do now."""
        if not self.core.playing:
            return self._rest_paused(clock)
        started_s = clock()
        target_us = self._due_us(self.pace.at(started_s))
        goal_us = self._before_stop(min(target_us, self.floor_us))
        pace_milli = self.core.pace_milli
        while self.core.now_us < goal_us and clock() - started_s < budget_s:
            yield from self._advance(min(goal_us, self.core.now_us + self._slice_for(budget_s)), clock)
            if self.core.pace_milli != pace_milli:
                break
        self.chunks.write(self.core, started_s)
        if not self.core.playing:  # it was on its way to a moment, and is there
            return self._rest_paused(clock)
        if self.core.pace_milli != pace_milli:  # a change began, or is over: the rest is due at its speed
            self._rebase(self.pace.at(clock()))
            return True
        debt_s = (target_us - self.core.now_us) / self._us_per_s
        behind_s = debt_s + self.pace.behind_s
        self.behind_ms = 0 if behind_s * 1000 < BEHIND_SHOWN_MS else round(behind_s * 10) * 100
        self._forgive(debt_s, self.pace.at(clock()))
        return self.core.now_us >= goal_us

    def _rest_paused(self, clock: Clock) -> bool:
        self.behind_ms = 0
        self._rebase(self.pace.at(clock()))
        return True

    def _forgive(self, debt_s: float, now_s: float) -> None:
        """What a lab owes beyond DEBT_MAX_S it will never do: it slows down. And after a stall (a crash, a
        busy machine) one that keeps its pace, but has no time to spare for what it owes, would be behind for
        ever by the same: that is let go, too."""
        most_s = DEBT_MAX_S if self.pace.share == 1.0 else DEBT_MAX_CROWDED_S
        if debt_s > most_s:
            self._rebase(now_s, owing_s=most_s)
            self.least_debt_s, self.least_since_s = most_s, now_s
            return
        self.least_debt_s = min(self.least_debt_s, debt_s)
        if now_s - self.least_since_s >= LATE_FOR_S:
            self.base_s += max(0.0, self.least_debt_s)
            self.least_debt_s, self.least_since_s = DEBT_MAX_S, now_s

    def _before_script(self, at_us: int) -> int:
        """`at_us`, or the time of what the lab's script orders before it: the lab waits there until that is
        decided, so that a script takes effect at its own times to the microsecond, however the turns fall."""
        stop_us = min(
            [*self.holds.values(), *(entry["at_us"] for entry in list(self.script)[:1])], default=at_us
        )
        return min(at_us, max(stop_us, self.core.now_us))

    def _before_stop(self, at_us: int) -> int:
        """The same, or the moment at which the lab pauses."""
        stop_us = at_us if self.core.stop_us is None else self.core.stop_us
        return self._before_script(min(at_us, stop_us))

    def _advance(self, at_us: int, clock: Clock) -> Pieces[None]:
        before_us = self.core.now_us
        events, took_s = yield from timed(self.core.advancing(at_us), clock)
        self._tell(events)
        self._check_waiting()
        self._pace(before_us, took_s)

    def _check_waiting(self) -> None:
        """Stop a lab whose lanes hold more records than its process can keep. Raises LabTooLarge."""
        if self.core.record_count - self.waiting_checked_at >= WAITING_EVERY_RECORDS:
            self.waiting_checked_at = self.core.record_count
            if (waiting := sum(lane.reads.lag() for lane in self.core.lanes.values())) > RECORDS_WAITING_MAX:
                raise LabTooLarge(waiting)

    def _pace(self, before_us: int, took_s: float) -> None:
        """The next slice is longer or shorter than this one, so that it takes about 10 ms."""
        self._cost_s = took_s / max(1, self.core.now_us - before_us)
        if took_s > 0.02:
            self._slice_us = max(SLICE_MIN_US, (self.core.now_us - before_us) // 2)
        elif took_s < 0.005 and self._slice_us < 60_000_000:
            self._slice_us *= 2

    def _slice_for(self, budget_s: float) -> int:
        """Virtual time that fits into a budget, as far as the last slice tells."""
        fits_us = int(budget_s / self._cost_s) if self._cost_s else self._slice_us
        return max(SLICE_MIN_US, min(self._slice_us, fits_us))

    @property
    def _us_per_s(self) -> int:
        return self.core.pace_milli * 1000

    def _due_us(self, now_s: float) -> int:
        return self.base_us + int((now_s - self.base_s) * self._us_per_s)

    def _rebase(self, now_s: float, owing_s: float = 0.0) -> None:
        self.base_s, self.base_us = now_s - owing_s, self.core.now_us

    def _tell(self, events: list[Json]) -> None:
        self.events.extend(events)

    # -- commands --------------------------------------------------------------------------------------------

    def handle(
        self, commands: list[StoredCommand], clock: Clock, budget_s: float
    ) -> Pieces[tuple[int, list[Json]]]:
        """Decide commands in order, now, for about budget_s and one at least.

        What a person orders reaches the brokers through a lane's network, so a moment of virtual time passes
        after it, also in a paused lab: the frame that follows shows the effect
        (docs/decisions/a-paused-lab-lets-a-request-through.md).

        Returns how many were decided, and the refusals as events; decisions and turning points wait for
        `frame`.
        """
        refusals: list[Json] = []
        until_s, decided = clock() + budget_s, 0
        for command in commands:
            if decided and clock() > until_s:
                break
            decided += 1
            at_us = self.core.now_us
            try:
                body = {**command.body, "position": command.position, "at_us": at_us}
                self._tell((yield from self.core.submitting(body)))
                self.decisions.append(Decision(command, at_us))
                self.clients.decided(command.body["kind"])
                if command.body["kind"] in CONSUMER_KINDS and command.command_id not in self.holds:
                    effect_us = self._before_script(at_us + min(self.core.answer_us, EFFECT_US_MAX))
                    self._tell((yield from self.core.advancing(effect_us)))
            except CommandError as error:
                fields = texts_of(error)
                self.decisions.append(Decision(command, at_us, fields))
                self.clients.refused(command)
                refusals.append(refusal_event(command, at_us, fields, in_all_words(error)))
            self.holds.pop(command.command_id, None)
        self._rebase(self.pace.at(clock()))  # speed and play changed what a second of wall time means
        if not self.core.playing:
            self.behind_ms = 0  # the frame that says so must not say that it owes anything
        return decided, refusals

    def follow_script(self) -> bool:
        """Take what the lab's own script orders by now into the journal. Whether there was something; then it
        waits to be handled."""
        if not self.script or self.core.now_us < self.script[0]["at_us"]:
            return False
        due = list(takewhile(lambda entry: entry["at_us"] <= self.core.now_us, self.script))
        accepted = writes.orders_accept(self.lab_id, self.epoch, [entry["body"] for entry in due])
        for entry in due:  # only now: what could not be stored is due again
            self.script.popleft()
            if entry["body"]["command_id"] in accepted:
                self.holds[entry["body"]["command_id"]] = entry["at_us"]
        return True

    # -- what browsers and the database learn ----------------------------------------------------------------

    def frame(self, wall_s: float, refusals: list[Json] | None = None) -> Pieces[Told]:
        """The change since the last frame, and what must be committed before it is published. Either may be
        None."""
        clients = self.clients.shown()
        mark = (self.core.now_us, self.behind_ms, self.auto_paused, self.panels.watched, clients)
        if mark == self._shown and not (self.needs_full or self.decisions or self.events or refusals):
            self.replicas.tell(self.core, wall_s)
            return None, self._commit([], wall_s) if self._store_is_due(wall_s) else None
        self._shown = mark
        checkpoint = (yield from self.cadence.taking(self.core)) if self.cadence.is_due(self.core) else None
        new_events = [event for event in self.events if event["seq"] > self.event_seq_stored]
        self.events = []
        has_changed = self.auto_paused or self.view.get("playing") != self.core.playing
        panels = self.panels.due(wall_s, has_changed or bool(self.decisions or new_events))
        if panels is PANELS:
            self.facts_text = facts_text(self.core.facts())
        view = yield from self.core.viewing(panels)  # the last stop: after it nobody sees this lab half told
        self.panels.keep(self.view, view)
        view["feed"] = feed_state(
            self.epoch,
            behind_ms=self.behind_ms,
            auto_paused=self.auto_paused,
            panels=PANELS if self.auto_paused else self.panels.watched,
            clients=clients,
        )
        self.goal.look(self.core, view)
        patch = [] if self.needs_full else diff(self.view, view)
        shown = (new_events + refusals) if refusals else new_events
        must_store = (
            bool(self.decisions or new_events or checkpoint or has_changed or self.goal.has_come)
            or self._reserve_is_short()
            or not self.view
        )
        frame = None
        if self.needs_full or patch or shown:
            from_seq, self.seq, before = self.seq, self.seq + 1, self.view
            self.view = view
            try:
                frame = self._encode_frame(from_seq, patch, shown)
            except Exception:
                self.view = before  # what cannot be sent was never shown
                raise
            self.is_stored = False
        commit = None
        if must_store or self._store_is_due(wall_s):
            commit = self._commit(new_events, wall_s, checkpoint)
            if new_events:
                self.event_seq_stored = new_events[-1]["seq"]
        self.needs_full = False
        self.replicas.tell(self.core, wall_s)
        return frame, commit

    def _encode_frame(self, from_seq: int, patch: list[Json], events: list[Json]) -> Frame:
        at_us = self.core.now_us
        if self.needs_full:
            return Frame(self.lab_id, self.epoch, from_seq, self.seq, True, self._snapshot_text())
        message = {
            "type": "frame",
            "lab": self.lab_id,
            "epoch": self.epoch,
            "from_seq": from_seq,
            "seq": self.seq,
            "at_us": at_us,
            "patch": patch,
            "events": events,
        }
        text = encode(message)
        if len(text) > FRAME_BYTES_MAX and len(snapshot := self._snapshot_text()) < len(text):
            # Five hundred consumers came at once: the change is longer than the view that it leads to.
            return Frame(self.lab_id, self.epoch, from_seq, self.seq, True, snapshot)
        return Frame(self.lab_id, self.epoch, from_seq, self.seq, False, text)

    def full_frame(self) -> Frame:
        """The last frame's view once more, whole, for a reader that lost its thread. Nothing changes by
        it."""
        return Frame(self.lab_id, self.epoch, self.seq, self.seq, True, self._snapshot_text())

    def _snapshot_text(self) -> str:
        return snapshot_text(self.lab_id, self.epoch, self.seq, self.view["at_us"], encode(self.view))

    def _store_is_due(self, wall_s: float) -> bool:
        """Frames are stored once a second. The last before a rest, too: it is what a page opened later gets."""
        return not self.is_stored and wall_s - self.stored_wall_s >= 1.0

    def _reserve_is_short(self) -> bool:
        if self.seq_floor - self.seq < RESERVE_FRAMES // 10:
            return True
        return self.core.playing and self.floor_us - self.core.now_us < RESERVE_LEFT_S * self._us_per_s

    def _commit(self, events: list[Json], wall_s: float, checkpoint: Checkpoint | None = None) -> Commit:
        self.is_stored, self.stored_wall_s = True, wall_s
        now_us = self.core.now_us
        self.floor_us = (
            self._before_stop(now_us + int(RESERVE_S * self._us_per_s)) if self.core.playing else now_us
        )
        self.seq_floor = self.seq + RESERVE_FRAMES
        decisions, self.decisions = self.decisions, []
        extra = {} if self.view["parts"] == self.parts_stored else {"parts": self.view["parts"]}
        self.parts_stored = self.view["parts"]
        commit = Commit(
            self.lab_id,
            self.epoch,
            self.seq,
            self.view["at_us"],
            self.floor_us,
            self.seq_floor,
            encode(self.view),
            self.facts_text,
            decisions,
            events,
            checkpoint,
            extra,
        )
        self.goal.keep(commit)
        if self.clients.moves():
            commit.checkpoint = checkpoint or self.cadence.take(self.core)
        self.clients.keep(commit)
        return commit

    def rest(self, wall_s: float) -> Told:
        """Say that the lab pauses because nobody watches, and leave a checkpoint so that it is soon back."""
        self.auto_paused = True
        frame, commit = whole(self.frame(wall_s))
        commit = commit or self._commit([], wall_s)
        commit.checkpoint = commit.checkpoint or self.cadence.take(self.core)
        commit.clock_floor_us = self.floor_us = self.core.now_us  # nothing after this was shown
        commit.extra |= {"status": Lab.Status.IDLE, "lease_until_ms": 0}
        return frame, commit
