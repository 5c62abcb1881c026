"""A lab: one workload, one virtual clock, and lanes that share the same records each in its own way.

The lab orders and the lanes do. `submit` carries out a command at the present virtual time, `advance_to` lets
time pass; both return the turning points that came of it. Lanes never see one another, so each is advanced
over the whole stretch on its own, and the turning points are put in order afterwards, by time and then by
lane.
"""

from collections.abc import Collection, Iterable
from dataclasses import dataclass, field, replace
from typing import Any, Self

from broker_core.clock import SECOND_US, VirtualClock
from broker_core.errors import CommandError
from broker_core.events import Json
from broker_core.lab import checkpoint as checkpoints
from broker_core.lab.commands import command_from_json
from broker_core.lab.commands.base import ALL, Command, LaneCommand
from broker_core.lab.commands.membership import DEMO_JOIN_ID, Join
from broker_core.lab.consumer import Consumer
from broker_core.lab.facts import LabFacts, facts_of_lane
from broker_core.lab.lesson.run import LessonRun
from broker_core.lab.limits import DEFAULT_LIMITS, Limits
from broker_core.lab.messages import Messages, Sent
from broker_core.lab.panels import PANELS
from broker_core.lab.past import LanePast
from broker_core.lab.pieces import Pieces, whole
from broker_core.lab.scenario import LANE_KINDS, LaneSpec, Scenario, step_end_us
from broker_core.lab.shared.in_flight import Watch
from broker_core.lab.shared.lane import Lane
from broker_core.lab.shared.setup import LaneSetup
from broker_core.lab.sizing import parts_of_lab
from broker_core.lab.view import Shown, lab_view
from broker_core.lab.workload.live_keys import LiveKeys
from broker_core.lab.workload.parse import Workload, workload_from_json
from broker_core.plain import kept, take_back

STRETCH_US, STRETCH_RECORDS = 30 * SECOND_US, 20_000
"""Longest stretch for which arrivals are laid out at once; bounds memory when a lab is far behind, and how
long it works at a time."""

LIVELY_US = 2 * SECOND_US
"""A change that told of nothing for so long waits for something."""


@dataclass
class LabState:
    """What a checkpoint holds of a lab beside its lanes and its time.

    playing, speed_milli: what the clock outside should do; they change no event. change_milli: its speed while
    a lane is changing, where that is another one. told_us: of the last order or turning point. stop_us: when it
    pauses; None: when it is told to. way_milli: its speed until then, where that is another one. seen: everybody
    who ever joined -> colour, from 1.
    history: the membership commands so far, with their positions, times and names. position: of the last
    command. orders: a Pulsar lane -> the order rule of Key_Shared that somebody gave it. steps_replaced: those of
    lanes whose place another one has taken.
    """

    record_count: int = 0
    playing: bool = False
    speed_milli: int = 1000
    change_milli: int | None = None
    told_us: int = 0
    stop_us: int | None = None
    way_milli: int | None = None
    event_seq: int = 0
    seen: dict[str, int] = field(default_factory=dict)
    caption: Json = field(default_factory=dict)
    timeline: dict[int, Json] = field(default_factory=dict)
    history: list[Json] = field(default_factory=list)
    position: int = 0
    orders: dict[str, str] = field(default_factory=dict)
    sent: dict[int, Sent] = field(default_factory=dict)  # messages that people sent, by their command
    steps_replaced: int = 0


class Lab(LabState):
    """One experiment. The scenario's consumers have joined at virtual time 0, as command position 0."""

    def __init__(
        self,
        scenario: Scenario,
        limits: Limits = DEFAULT_LIMITS,
        *,
        workload: Workload | None = None,
        watch: Watch | None = None,
        service_us: int | None = None,
        begin: bool = True,
    ) -> None:
        """For a run that nobody saves: workload, these records instead of the scenario's; watch, who sees
        each message of its lane; service_us, what a consumer takes for one. begin: false only for `restore`,
        which fills in the lanes itself."""
        super().__init__(caption={"code": "start", "params": {"count": scenario.consumers}})
        self.scenario = scenario
        self.limits = limits
        self.watch = watch
        self.service_us = service_us or SECOND_US // scenario.consumer_rate
        self.clock = VirtualClock()
        self.workload: Workload = workload or workload_from_json(scenario.workload, limits, scenario.seed)
        self.keys = LiveKeys()
        self.messages = Messages(self.workload, self.sent)
        self.shown = Shown()
        self.lesson = None if scenario.lesson is None else LessonRun(scenario.lesson)
        self.lanes: dict[str, Lane] = {}
        self.begun: list[
            Json
        ] = []  # turning points of its beginning; none in a lab that a checkpoint has made
        if begin:
            whole(self._begin())

    @classmethod
    def beginning(cls, scenario: Scenario, limits: Limits = DEFAULT_LIMITS) -> Pieces[Self]:
        """A lab at its start, built in pieces: a cluster of hundreds of partitions or a group of hundreds of
        members takes seconds."""
        lab = cls(scenario, limits, begin=False)
        yield from lab._begin()
        return lab

    def _begin(self) -> Pieces[None]:
        """The lanes, and the consumers that are there from the start."""
        scenario = self.scenario
        for spec in scenario.lanes:
            lane = self.lanes[spec.id] = self._make_lane(spec, spec.algorithm)
            yield from lane.beginning()
        if scenario.consumers:
            yield from Join(command_id="lab:start", count=scenario.consumers).carry_out(self, 0)
            self.caption = {"code": "start", "params": {"count": scenario.consumers}}
        for lane in self.lanes.values():
            if lane.now_us < 0:
                yield from lane.advancing(0, 0, (), ())
            lane.ledger.fold_darkness()
            yield None
        self.begun = self._collect()

    @property
    def now_us(self) -> int:
        return self.clock.now_us

    @property
    def pace_milli(self) -> int:
        """What a second of the clock outside is here, in thousandths."""
        if self.way_milli is not None:
            return self.way_milli
        return self.change_milli if self.change_milli is not None and self.is_changing else self.speed_milli

    @property
    def is_changing(self) -> bool:
        """Whether a change is under way in a lane, and it did something just now: a crash that nobody notices for
        45 s is worth no slow motion until somebody does."""
        is_lively = self.now_us - self.told_us < LIVELY_US
        return is_lively and any(lane.is_changing for lane in self.lanes.values())

    @property
    def steps(self) -> int:
        """What the lab has cost so far, in steps of its nodes: the same in every process, and a measure of how
        long it takes to get here."""
        return self.steps_replaced + sum(lane.world.made for lane in self.lanes.values())

    @property
    def next_arrival_us(self) -> int:
        """When the next record arrives."""
        return self.workload.arrival_us(self.record_count)

    @property
    def answer_us(self) -> int:
        """How long a request and its answer are under way at most, in the lane with the slowest network."""
        return max(lane.answer_us for lane in self.lanes.values())

    def _spec_of(self, lane: str) -> LaneSpec:
        """What a lane is made of: the scenario's, with the order rule that somebody gave it since."""
        spec = next(spec for spec in self.scenario.lanes if spec.id == lane)
        return (
            replace(spec, options={**spec.options, "order": self.orders[lane]})
            if lane in self.orders
            else spec
        )

    def _make_lane(self, spec: LaneSpec, algorithm: str) -> Lane:
        options = spec.options
        if algorithm != spec.algorithm:  # a custom prefetch belongs to the algorithm that the lane began with
            options = {name: value for name, value in options.items() if name != "prefetch"}
        setup = LaneSetup(
            spec.id,
            algorithm,
            options,
            self.scenario.seed,
            self.keys,
            self.messages,
            self.scenario.consumers,
            self.service_us,
        )
        return LANE_KINDS[spec.model].make(setup, self.watch)

    # -- time ------------------------------------------------------------------------------------------------

    def advance_to(self, at_us: int) -> list[Json]:
        """Let everything happen up to and including `at_us`. Returns the turning points. `advance_to(a)` then
        `(b)` equals `(b)`."""
        return whole(self.advancing(at_us))

    def advancing(self, at_us: int) -> Pieces[list[Json]]:
        """`advance_to` in pieces: lane by lane, and report by report."""
        yield from self._advance(at_us)
        return self._collect()

    def _advance(self, at_us: int) -> Pieces[None]:
        while self.clock.now_us < at_us:
            until_us = min(
                at_us,
                self.clock.now_us + STRETCH_US,
                self.workload.arrival_us(self.record_count + STRETCH_RECORDS),
            )
            if self.scenario.lesson is not None:
                until_us = self.scenario.lesson.stop_us(self.clock.now_us, until_us)
            first, stop = self.record_count, self.workload.count_until(until_us)
            times = self.workload.arrival_times(first, stop)
            codes = self.workload.key_codes(first, stop)
            self.keys.note(first, codes)
            for lane in self.lanes.values():
                yield from lane.advancing(until_us, first, times, codes)
                yield None
            self.record_count = stop
            self.clock.advance_to(until_us)
            if self.stop_us is not None and until_us >= self.stop_us:
                self.pause()
            if self.lesson is not None:
                self.lesson.look(self)

    def _collect(self) -> list[Json]:
        """Take the turning points out of the lanes, by time and then in the order of the lanes."""
        events = [event for lane in self.lanes.values() for event in lane.out]
        events.sort(key=lambda event: event.at_us)  # stable: within a microsecond the lanes' order stays
        for lane in self.lanes.values():
            lane.out.clear()
        collected = []
        for event in events:
            self.event_seq += 1
            self.told_us = max(self.told_us, event.at_us)
            collected.append(event.to_json(self.event_seq))
        if self.lesson is not None:
            self.lesson.collected(collected)
        return collected

    # -- commands --------------------------------------------------------------------------------------------

    def submit(self, command: Json) -> list[Json]:
        """Carry out a command now. Returns the turning points. Raises CommandError, and then nothing has
        changed.

        command: as `check_command` gives it, with "position", its place in the journal, from 1 and rising.
        """
        return whole(self.submitting(command))

    def submitting(self, command: Json) -> Pieces[list[Json]]:
        """`submit` in pieces, lane by lane; a switched lane goes through its history in many. A refusal comes
        before the first stop."""
        position = command.get("position", self.position + 1)
        ordered = command_from_json(
            {key: value for key, value in command.items() if key not in ("position", "at_us")}, self.limits
        )
        if position <= self.position:
            raise CommandError(
                "position", "{position} is not after {last}", position=position, last=self.position
            )
        ordered.check_all(self.facts())
        ordered.ask(self)
        yield from ordered.carry_out(self, position)
        self.position, self.told_us = position, self.now_us
        if self.lesson is not None:
            self.lesson.ordered(ordered, self.now_us)
        for lane in self.lanes.values():
            lane.count_handled()  # an order may have made a program finish what it had in hand
            lane.reads.check()
        return self._collect()

    def facts(self) -> LabFacts:
        """What a command's check may know of the lab."""
        lanes = {lane.id: facts_of_lane(lane) for lane in self.lanes.values()}
        sizes = [lane.size for lane in lanes.values()]
        return LabFacts(lanes, self.playing, self.limits, parts_of_lab(sizes, self.workload.key_count or 0))

    # What commands do with a lab (broker_core/lab/commands/):

    def play(self, until_us: int | None = None, speed_milli: int | None = None) -> None:
        """The clock runs: to a moment at which it pauses, or on and on."""
        self.playing, self.stop_us, self.way_milli = True, until_us, speed_milli

    def pause(self) -> None:
        """The clock stands."""
        self.playing, self.stop_us, self.way_milli = False, None, None

    def change_rate(self, rate: int) -> None:
        """Records arrive so many a second from now on."""
        self.workload.change_rate(self.now_us, rate)

    def lanes_of(self, lane: str) -> list[Lane]:
        """The lanes that a command for `lane` is for."""
        return list(self.lanes.values()) if lane == ALL else [self.lanes[lane]]

    def free_names(self, count: int) -> list[str]:
        """The next unused names c1, c2, ...: a name means one colour and one story."""
        names: list[str] = []
        number = 1
        while len(names) < count:
            if f"c{number}" not in self.seen:
                names.append(f"c{number}")
            number += 1
        return names

    def join_lanes(
        self, lanes: Iterable[Lane], names: list[str], position: int, set_to: Json | None = None
    ) -> Pieces[None]:
        """These consumers join now, at the pace of all. set_to: what they ask their broker for in Pulsar
        lanes, beside what the lane says."""
        service_us = self.service_us
        for new in names:
            self.seen.setdefault(new, len(self.seen) + 1)
        for lane in lanes:
            joiners = [
                Consumer(
                    name, self.seen[name], service_us, service_us, lane.new_incarnation(name), lane.now_us
                )
                for name in names
            ]
            if set_to and lane.model == "pulsar":
                for consumer in joiners:
                    consumer.set_to = dict(set_to)
            lane.join(joiners, position)
            yield None

    def step(self) -> Pieces[None]:
        """One record further; no further than to the next moment of the lesson, whose order comes at its own
        time."""
        return self._advance(step_end_us(self.scenario, self.now_us, self.next_arrival_us))

    def lane_under(self, lane: str, algorithm: str, options: Json) -> Pieces[Lane]:
        """A new lane beside the lab's own of this id, at its very beginning. options: those that are other
        than the lane's."""
        spec = self._spec_of(lane)
        made = self._make_lane(replace(spec, options={**spec.options, **options}), algorithm)
        yield from made.beginning()
        return made

    def switch_order(self, lane: str, order: str, position: int) -> Pieces[None]:
        """The Pulsar lane goes on under another order rule of Key_Shared, and keeps it under another
        algorithm, too."""
        self.orders[lane] = order
        yield from self.switch(lane, self.lanes[lane].algorithm, position)

    def switch(self, lane: str, algorithm: str, position: int) -> Pieces[None]:
        """The lane goes on under another algorithm: a new one takes its place, after the same past."""
        old = self.lanes[lane]
        made = yield from self.lane_under(lane, algorithm, {})
        made.event_count = old.event_count
        yield from LanePast(self, made).live_through()
        made.out.clear()
        made.switched(algorithm, position)
        made.ledger.fold_darkness()
        self.lanes[lane] = made
        self.steps_replaced += old.world.made
        self.shown = Shown()

    def note(self, command: Command, position: int, names: list[str], meaning: Json | None = None) -> None:
        """Caption and timeline say what was last ordered; the history is what a switched lane runs through
        again.

        names: the consumers that it was about, none for a change of rule. meaning: `ConsumerCommand.meaning`.
        """
        kind, said = command.kind, command.said()
        count = max(1, len(names))
        params: Json = {"count": count, **said}
        if names:
            params["consumer"] = names[-1]
        if kind == Join.kind:
            params["first"] = names[0]
        if command.lane != ALL:
            params["lane"] = command.lane
        by = {"by": "demo"} if kind == Join.kind and command.command_id == DEMO_JOIN_ID else {}
        self.caption = {"code": kind, "params": {**params, **by, **(meaning or {})}}
        name = params.get("consumer")
        tick = {
            # Its few words name a broker or a topic, never a list or a table.
            **{word: value for word, value in said.items() if isinstance(value, str | int)},
            "at_us": self.now_us,
            "kind": kind,
            "consumer": name,
            "color": self.seen.get(name or ""),
            "count": count,
        }
        where = {} if command.lane == ALL else {"lane": command.lane}
        self.timeline[position] = {**tick, **where, **by, **(meaning or {})}
        if names or (isinstance(command, LaneCommand) and command.IS_PAST):
            self.history.append(
                {"position": position, "at_us": self.now_us, "names": names, "command": command.to_json()}
            )

    # -- looking and keeping ---------------------------------------------------------------------------------

    def view(self) -> Json:
        """Everything that a page draws, as plain JSON: a pure function of the lab's state."""
        return whole(self.viewing())

    def viewing(self, panels: Collection[str] = PANELS) -> Pieces[Json]:
        """`view` in pieces, lane by lane. panels: those that it shall have (`lab/panels.py`)."""
        return (yield from lab_view(self, panels))

    def checkpoint(self) -> bytes:
        """The whole state: record indexes and counters, no payloads. `Lab.restore` gives a lab that goes on
        the same."""
        return whole(self.checkpointing())

    def checkpointing(self) -> Pieces[bytes]:
        """`checkpoint` in pieces, some nodes of a lane after the others."""
        lanes: Json = {}
        for lane_id, lane in self.lanes.items():
            lanes[lane_id] = yield from lane.keeping()
            yield None
        lesson = None if self.lesson is None else self.lesson.to_json()
        return checkpoints.encode(
            kept(self, LabState)
            | {"now_us": self.now_us, "lanes": lanes, "lesson": lesson, "rates": self.workload.rates}
        )

    @classmethod
    def restore(cls, scenario: Scenario, blob: bytes, limits: Limits = DEFAULT_LIMITS) -> Self:
        """The lab that `checkpoint` described. Raises ReplayError for bytes that are not a checkpoint of this
        version."""
        return whole(cls.restoring(scenario, blob, limits))

    @classmethod
    def restoring(cls, scenario: Scenario, blob: bytes, limits: Limits = DEFAULT_LIMITS) -> Pieces[Self]:
        """`restore` in pieces, lane by lane."""
        state: dict[str, Any] = checkpoints.decode(blob)
        lab = cls(scenario, limits, begin=False)
        lab.clock.now_us = state["now_us"]
        take_back(lab, LabState, state)
        for _first, since_us, rate in state["rates"][1:]:
            lab.workload.change_rate(since_us, rate)
        lab.messages.sent = lab.sent
        lab.keys.restore(*lab.workload.distinct_until(lab.record_count))
        for spec in scenario.lanes:
            lane_state = state["lanes"][spec.id]
            lane = lab._make_lane(lab._spec_of(spec.id), lane_state["algorithm"])
            yield from lane.loading(lane_state)
            lab.lanes[spec.id] = lane
            yield None
        if lab.lesson is not None:
            lab.lesson.load(state["lesson"])
        return lab
