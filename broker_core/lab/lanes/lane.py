"""A lane: one model's world under the lab's workload, the person's verbs on it, and observers that say what it means.

    workload ─► arrive ─► world (nodes, network) ─► turning points ─► sentence, bill, darkness, tally
    verbs    ─► order  ──►                       ─► traffic        ─► rates, what was finished in which order

A lane decides nothing about messages: that is its nodes'. It sees arrivals and commands, never another lane, so the four can be advanced one
after the other and `advance(a)` then `advance(b)` equals `advance(b)`.

Its processes start a little before time 0 (`LaneModel.head_start_us`), so that who is there from the start is served when the lab begins.
"""

from __future__ import annotations

from bisect import bisect_right
from collections.abc import Sequence
from typing import Any, ClassVar

from broker_core.clock import SECOND_US
from broker_core.events import Cause, Json, TurningPoint
from broker_core.lab.consumer import CRASHED, GONE, LIVE, PAUSED, Consumer, incarnation_name
from broker_core.lab.lanes.model import LaneModel
from broker_core.lab.lanes.reading import Reading
from broker_core.lab.lanes.setup import LaneSetup
from broker_core.lab.observers.bill import Bill, Space
from broker_core.lab.observers.hero import Subject
from broker_core.lab.observers.in_flight import LaneTraffic, Watch
from broker_core.lab.observers.narrator import Narrator
from broker_core.lab.observers.pace import PACE_KINDS, pace_code
from broker_core.lab.observers.tally import Tally
from broker_core.lab.pieces import Pieces, whole
from broker_core.plain import from_plain, to_plain
from broker_core.sim.network import DEFAULT_DELAY_US
from broker_core.sim.program import Order, Pace, Pause, Resume
from broker_core.sim.slot import CRASHED as NODE_CRASHED
from broker_core.sim.stream import Arrivals, Stream
from broker_core.sim.world import World

HISTORY_KEPT_S = 300
WHY_MAX, WHY_FIRST = 40, 20
"""Of a longer chain the first 20 and the last 20 turning points are kept: how it began, and how it came to rest."""
JITTER_PART = 10
"""A message takes its lane's delay, and up to a tenth more."""


class Lane:
    """One model in the lab. STATE: what a checkpoint holds of the lane beside its world, with each field's type."""

    STATE: ClassVar[dict[str, Any]] = {
        "algorithm": str, "now_us": int, "next_record": int, "first_record": int, "consumers": dict[str, Consumer], "why": list[Json],
        "sentence": Json, "bill": Bill | None, "tally": Tally, "history": dict[int, int | None], "incarnations_made": dict[str, int],
        "crash_positions": dict[str, int],
    }  # fmt: skip

    def __init__(self, setup: LaneSetup, rules: LaneModel, watch: Watch | None = None) -> None:
        self.rules = rules
        self.reads: Reading = rules.reads
        self.narrator: Narrator = rules.narrator
        self.model = rules.name
        self.keys_have_owners = rules.keys_have_owners
        self.id = setup.lane_id
        self.seed = setup.seed
        self.algorithm = setup.algorithm
        self.options = setup.options
        self.keys = setup.keys
        self.texts = setup.texts
        self.first_record = self.next_record = 0
        self.arriving: tuple[int, Sequence[int]] = (0, ())
        self.consumers: dict[str, Consumer] = {}
        self.why: list[Json] = []
        self.out: list[TurningPoint] = []
        self.heard: dict[str, TurningPoint] = {}  # by id, as a person is to read them, until the step that tells them is over
        self.sentence: Json = {"code": "idle", "params": {}}
        self._bill: Bill | None = None
        self._compared: tuple[int, ...] | None = None
        self.tally = Tally()
        self.history: dict[int, int | None] = {}
        self.incarnations_made: dict[str, int] = {}
        self.crash_positions: dict[str, int] = {}
        self.traffic = LaneTraffic(watch)
        self.delay_us: int = setup.options.get("network_delay_us", DEFAULT_DELAY_US)
        self.jitter_us = self.delay_us // JITTER_PART
        self.world = World(self.id, rules.design(self), setup.seed, self._told, self._heard)
        self.now_us = self.world.now_us = -rules.head_start_us(self)
        rules.begin(self)
        self.stream = self._stream()
        rules.forget_caches()

    def _stream(self) -> Stream:
        """The records, on their way from the publisher."""
        publisher, publish = self.rules.publisher(self)

        def make(place: int) -> tuple[int, Any]:
            index = self.next_record
            self.next_record = index + 1
            first, codes = self.arriving
            return publish(index, codes[index - first])

        return Stream(publisher, make)

    # -- time -----------------------------------------------------------------------------------------------------------------------------

    def advance(self, until_us: int, first: int, times: Sequence[int], codes: Sequence[int]) -> None:
        """Let everything happen up to and including `until_us`.

        times, codes: arrival time and key code of the records `first`, `first` + 1, ...; those this lane has already seen are skipped, and
        those after `until_us` are left for the next call.
        """
        whole(self.advancing(until_us, first, times, codes))

    def advancing(self, until_us: int, first: int, times: Sequence[int], codes: Sequence[int]) -> Pieces[None]:
        """`advance` in pieces: a stop after each report of turning points, as of several hundred consumers each has its own."""
        self.fold_darkness()
        watch, stream = self.traffic.watch, self.stream
        self.arriving = (first, codes)

        def post_watched(place: int) -> None:
            index = self.next_record
            if watch is not None:
                watch.arrived(index, codes[index - first], self.reads.would_wait(self, index, codes[index - first]))
            stream.post(place)

        start = self.next_record - first
        coming = times[start : bisect_right(times, until_us)]
        stream.plan(coming, self.next_record)
        arrivals = stream if watch is None else Arrivals(coming, post_watched)
        while self.now_us < until_us or arrivals.place < len(coming):
            # Up to the last microsecond of a second, then to the full second: what is handled is counted by the second.
            second_us = (self.now_us // SECOND_US + 1) * SECOND_US
            stop_us = min(until_us, second_us - 1 if self.now_us < second_us - 1 else second_us)
            while True:
                self.world.advance(stop_us, arrivals, by_report=True)
                if not self.world.is_midway:
                    break
                yield
            stream.catch_up(stop_us + 1)
            self.now_us = stop_us
            self.traffic.fold(stop_us // SECOND_US)
            if stop_us % SECOND_US == 0:
                self._sample(stop_us // SECOND_US)
        finished = self.traffic.finished
        if finished:
            self.tally.finished.extend(finished)
            finished.clear()
            self.tally.fold_finished(self.texts.codes_of)

    def _sample(self, second: int) -> None:
        self.rules.tidy(self, second)
        self.reads.check(self)
        self.history[second] = self.skew_milli()
        self.history.pop(second - HISTORY_KEPT_S, None)

    # -- what the nodes told --------------------------------------------------------------------------------------------------------------

    def _heard(self, event: TurningPoint) -> None:
        """A node tells this, in the middle of its step."""
        self.stream.catch_up(self.world.now_us)
        self.now_us = self.world.now_us
        self.traffic.fold(self.now_us // SECOND_US)
        self.heard[event.id] = self.narrator.heard(self, event)

    def _told(self, events: list[TurningPoint]) -> None:
        """A node has told these; its step is over."""
        self.stream.catch_up(self.world.now_us)
        self.now_us = self.world.now_us
        for told in events:
            event = self.heard.pop(told.id)
            self._keep(event)
            self.rules.told(self, event)
            self.narrator.told(self, event)
        self._changed()

    def _changed(self) -> None:
        """Who gets what may be another matter now."""
        self._compared = None
        self.rules.forget_caches()
        if self.traffic.watch is not None:
            self.traffic.watch.stopped(self.reads.stopped(self), self.now_us)
        self.tally.is_stale = True
        self.fold_darkness()
        self.settle()

    def _keep(self, event: TurningPoint) -> None:
        self.out.append(event)
        self.why.append(event.to_json(int(event.id.rpartition(":")[2])))
        if len(self.why) > WHY_MAX:
            del self.why[WHY_FIRST]

    def emit(self, kind: str, cause: Cause, rule: str | None, inputs: Json, data: Json) -> Cause:
        """Record a turning point that no node told: the lab's own acts, and what a person did to a program."""
        self.world.cause = cause
        followed = self.world.tell(kind, rule, inputs, data)
        self._keep(self.heard.pop(self.world.told.pop().id))
        self.world.cause = None
        return followed

    def say(self, code: str, /, **params: Any) -> None:
        """Set the lane's sentence; the words for `code` are in the page's catalogue, in each language."""
        self.sentence = {"code": code, "params": params}

    # -- commands -------------------------------------------------------------------------------------------------------------------------

    def join(self, joiners: Sequence[Consumer], position: int) -> None:
        self._begin(position, "join", joiners[0].name)
        if self._bill is not None:
            self._bill.count = len(joiners)
            self._bill.note_change("join" if position else "start", [consumer.name for consumer in joiners], self.now_us)
        for consumer in joiners:
            self.consumers[consumer.name] = consumer
            self.traffic.by_node[consumer.incarnation] = consumer
        self.rules.join(self, joiners, Cause(command=position))
        self._changed()

    def change(self, kind: str, name: str, position: int, service_us: int = 0) -> None:
        """Carry out leave, crash, rejoin, pause, resume or slow, which the command's check has allowed. service_us: for slow."""
        consumer, cause = self.consumers[name], Cause(command=position)
        self._begin(position, kind, name)
        if self._bill is not None:
            self._bill.note_change(kind, [name], self.now_us)
        match kind:
            case "leave":
                self.traffic.let_go(consumer.incarnation, self.now_us)
                del self.consumers[name]
                self.rules.leave(self, consumer, cause)
            case "crash":
                consumer.state = CRASHED
                consumer.deadline_from_us = self.now_us
                self.crash_positions[consumer.incarnation] = position
                self.traffic.let_go(consumer.incarnation, self.now_us)
                self.world.crash(consumer.incarnation, cause)
                self.rules.crash(self, consumer, cause)
            case "rejoin":
                consumer.state = LIVE
                consumer.deadline_us = consumer.deadline_from_us = None
                consumer.acked = {}
                consumer.incarnation, consumer.joined_us = self.new_incarnation(name), self.now_us
                self.traffic.by_node[consumer.incarnation] = consumer
                self.rules.rejoin(self, consumer, cause)
            case "pause":
                consumer.state = PAUSED
                self._order(consumer, Pause(), cause)
            case "resume":
                # Paused and slow: the first resume ends the pause, a second one the slowness.
                if consumer.state == LIVE:
                    consumer.service_us = consumer.normal_us
                    self._order(consumer, Pace(consumer.service_us), cause)
                else:
                    consumer.state = LIVE
                    self._order(consumer, Resume(), cause)
            case "slow":
                consumer.service_us = service_us
                self._order(consumer, Pace(service_us), cause)
        if kind in PACE_KINDS:
            self.emit(f"{self.model}.consumer.{kind}", cause, None, {}, {"consumer": name, "rate": SECOND_US // consumer.service_us})
            self.say(pace_code(self.model, kind, consumer), consumer=name, rate=SECOND_US // consumer.service_us)
        self._changed()
        if kind == "crash" and self.tally.subject is not None:
            self.tally.subject.lose(self)
            self.tally.subject.look(self)

    def _order(self, consumer: Consumer, order: Order, cause: Cause) -> None:
        if self.world.condition(consumer.incarnation) not in (None, NODE_CRASHED):
            self.world.order(consumer.incarnation, order, cause)

    def new_incarnation(self, name: str) -> str:
        """The node of the next life of this consumer: `c4`, then `c4~2`, `c4~3`."""
        number = self.incarnations_made.get(name, 0) + 1
        self.incarnations_made[name] = number
        return incarnation_name(name, number)

    def notice_crash(self, incarnation: str, name: str) -> None:
        """The broker has found out that this life is over, and has changed nothing yet: from here on things move, so the bill begins here."""
        self.rules.forget_caches()
        subject = self.tally.subject
        if subject is not None and subject.kind == "crash" and not self.keys_have_owners:
            subject.lose(self)  # the last look at what it held
        self.begin_change(self.crash_positions[incarnation], "crash", name)
        if self._bill is not None:
            self._bill.note_change("noticed", [name], self.now_us)
        self.bury(incarnation, name)

    def bury(self, incarnation: str, name: str) -> None:
        """This life is over, and its broker knows."""
        del self.crash_positions[incarnation]
        consumer = self.consumers.get(name)
        if consumer is not None and consumer.incarnation == incarnation:
            consumer.state = GONE
            consumer.deadline_us = consumer.deadline_from_us = None

    def is_ghost(self, incarnation: str, name: str) -> bool:
        """Whether the program of this dead life has come back in a new one meanwhile, or left."""
        consumer = self.consumers.get(name)
        return consumer is None or consumer.incarnation != incarnation

    # -- what a change cost ---------------------------------------------------------------------------------------------------------------

    def _begin(self, position: int, kind: str, name: str) -> None:
        self.begin_change(position, kind, name)
        if position:  # nobody ordered what is there from the start
            self.tally.subject = Subject(kind, name, self.tally.darkness.dark)
        self.tally.is_stale = True

    def begin_change(self, position: int, kind: str, name: str) -> None:
        """Remember the state before. A change that comes before the last one settled goes on the same bill; a change of pace leaves that
        bill its subject, who came or went."""
        bill = self._bill
        if bill is not None and not bill.settled:
            bill.position = max(bill.position, position)  # a crash that is noticed has the number of the crash
            if kind not in PACE_KINDS:
                bill.kind, bill.consumer, bill.count = kind, name, 1
            return
        if bill is not None:
            self.tally.take_over(bill)
        space = self.space()
        self.bill = Bill(
            position=position, kind=kind, consumer=name, at_us=max(0, self.now_us), owners_before=self.key_owners(), units_before=self.units(),
            space_before=(space[0], space[1]) if space else None, shares_before=self.shares(), skew_before=self.skew_milli(),
            redelivered_from=self.redelivered, keys_total=self.keys.count_at(self.next_record),
        )  # fmt: skip
        if bill is None or bill.position != position:  # a crash that is noticed goes on from the crash itself
            self.why = []

    def settle(self) -> None:
        """Close the bill if things have come to rest."""
        bill = self._bill
        if bill is None or bill.settled:
            return
        self.fold_darkness()
        if not self.is_settled():
            return
        self._compared = None
        self._compare(bill)
        bill.settled = True
        if bill.position == 0:
            self.say("none")  # those who are there from the start changed nothing
        elif bill.kind not in PACE_KINDS:
            self.narrator.on_settled(self, bill)
        if self.tally.subject is not None:
            self.tally.subject.come_to_rest(self)

    def _compare(self, bill: Bill) -> None:
        """Let the bill say what has moved until now."""
        moment = self.now_us, self.next_record, self.world.told_count, self.world.made
        if moment != self._compared:
            self._compared = moment
            bill.skew_after = self.skew_milli()
            bill.compare(self.key_owners(), self.units(), self.space())

    @property
    def bill(self) -> Bill | None:
        """The bill of the last change. While things have not come to rest it is compared when somebody looks, not at each step of theirs."""
        if self._bill is not None and not self._bill.settled:
            self._compare(self._bill)
        return self._bill

    @bill.setter
    def bill(self, bill: Bill | None) -> None:
        self._bill, self._compared = bill, None

    @property
    def kept_bill(self) -> Bill | None:
        """The same, as it was when somebody last looked: for what is written into it."""
        return self._bill

    def note_pause(self, from_us: int) -> None:
        """A partition that nobody has read since `from_us` is read again."""
        if self._bill is not None:
            self._bill.note_pause(from_us, self.now_us)

    @property
    def is_at_rest(self) -> bool:
        """Whether no change is under way."""
        return self._bill is None or self._bill.settled

    def fold_darkness(self) -> None:
        """Tell the fold of darkness how much nobody serves from now on, if that has changed."""
        if not self.tally.is_stale or self.now_us < 0:  # before the lab begins there is nothing to serve
            return
        self.tally.is_stale = False
        self.tally.darkness.fold(self.now_us, *self.dark_units())
        if self.tally.subject is not None:
            self.tally.subject.look(self)

    # -- looking --------------------------------------------------------------------------------------------------------------------------

    @property
    def event_count(self) -> int:
        """How many turning points there were; a lane that takes another's place counts on from there."""
        return self.world.told_count

    @event_count.setter
    def event_count(self, count: int) -> None:
        self.world.told_count = count

    @property
    def redelivered(self) -> int:
        """Messages given to somebody a second time so far."""
        return self.reads.redelivered(self)

    def weights(self) -> dict[str, int]:
        """Consumer name -> records so far whose key (or partition) is its own now; where keys have no owner, records lately finished."""
        return self.reads.weights(self)

    def key_owners(self) -> list[str | None] | None:
        """Owner of each live key, by first appearance; None: in this model keys have no owner."""
        return self.reads.key_owners(self)

    def units(self) -> dict[str, str | None] | None:
        """Partition -> owner; None: this model shares by key or by record, not by partition."""
        return self.reads.units(self)

    def space(self) -> Space | None:
        """Who owns which part of the hash space; None: this model has none."""
        return self.reads.space(self)

    def is_settled(self) -> bool:
        """Whether the last change has come to rest. A crash that the brokers have not noticed yet has changed nothing."""
        return self.reads.is_settled(self)

    def stuck(self) -> tuple[int, int]:
        """Live keys that nobody serves, and all; where keys have no owner, unacked records that the dead hold, and all."""
        return self.reads.stuck(self)

    def dark_units(self) -> tuple[int, int]:
        """How many units nobody serves, and how many there are (`darkness.py`)."""
        return self.reads.dark_units(self)

    def is_all_served(self) -> bool:
        """Whether no key waits for somebody who serves it."""
        return not self.tally.darkness.dark if self.keys_have_owners else not self.crash_positions

    def waiting_for(self, consumer: Consumer) -> int:
        """Records that wait for this consumer: in its hands, sent to it, or where only it reads."""
        return self.reads.waiting_for(self, consumer)

    @property
    def answer_us(self) -> int:
        """How long a request and its answer are under way at most; of several who join at a time, those of the last."""
        joiners = 0 if self._bill is None or self._bill.settled else self._bill.count
        answer_us: int = 2 * (self.delay_us + self.jitter_us) + joiners * self.start_step_us
        return answer_us

    @property
    def start_step_us(self) -> int:
        """How far apart programs are started, so that none overtakes another on the network."""
        step_us: int = self.jitter_us + 1
        return step_us

    def way_in(self) -> str:
        """How this lane takes a newcomer in, for the words that tell it beforehand: ring, halves, eager, cooperative, restart, turn."""
        return self.reads.way_in(self)

    def shares(self) -> dict[str, int]:
        """Consumer -> its share of the load in millionths."""
        weights = self.weights()
        total = sum(weights.values())
        return {name: weights.get(name, 0) * 1_000_000 // total if total else 0 for name in self.consumers}

    def skew_milli(self) -> int | None:
        """Largest share over mean share, in thousandths, over all consumers that the broker still counts; None with nothing to share."""
        weights = self.weights()
        counted = [weights.get(name, 0) for name, consumer in self.consumers.items() if consumer.state != GONE or weights.get(name)]
        total = sum(counted)
        return max(counted) * len(counted) * 1000 // total if total else None

    def standing_us(self) -> int:
        """How long the longest-paused partition has been paused, as the bill counts it; 0 when all are read."""
        since_us = min(self.reads.stopped(self).values(), default=None)
        return 0 if since_us is None or self.bill is None else self.bill.standing_us(since_us, self.now_us)

    def units_before(self) -> dict[str, str | None]:
        """Partition -> owner when the bill was opened: what a picture shows as before."""
        return (self.bill.units_before if self.bill else None) or {}

    def units_of(self, name: str) -> int:
        """How many partitions are this consumer's; 0 in a model without partitions."""
        return sum(owner == name for owner in (self.units() or {}).values())

    def sentence_as_of_now(self) -> Json:
        """The sentence as far as only the model knows what it says now; `sentence.py` fills in the other numbers that go on changing."""
        return self.narrator.sentence_now(self)

    def hand(self, consumer: Consumer) -> int:
        """The message that a consumer's program works on, -1 for none."""
        slot = self.world.slots.get(consumer.incarnation)
        if slot is None or slot.condition == NODE_CRASHED:
            return -1
        message: int = slot.node.state.program.hand
        return message

    def held(self, consumer: Consumer) -> int:
        """Records the broker has given to this consumer and not yet seen acknowledged."""
        return self.reads.held(self, consumer)

    def state_word(self, consumer: Consumer) -> str:
        """live | slow | paused | crashed | waiting | gone"""
        if consumer.state == LIVE and not self.reads.is_served(self, consumer):
            return "waiting"
        return "slow" if consumer.state == LIVE and consumer.service_us > consumer.normal_us else consumer.state

    def lag(self) -> int:
        """Records that arrived and are not done."""
        return self.reads.lag(self)

    def route(self, index: int, code: int) -> Json:
        """Where record `index` went, step by step."""
        return self.reads.route(self, index, code)

    def picture(self) -> Json:
        return self.reads.picture(self)

    def algorithms(self) -> list[Json]:
        return self.rules.algorithms()

    def check_invariants(self) -> None:
        """Raise InvariantError if the model has broken one of its own rules."""
        self.reads.check(self)

    def switched(self, algorithm: str, position: int) -> None:
        """This lane has taken an older one's place and gone through the same history."""
        self.emit(f"{self.model}.algorithm_switched", Cause(command=position), None, {}, {"algorithm": algorithm})
        if self.bill is None or self.bill.position == 0:
            self.say("switched", algorithm=algorithm)

    # -- checkpoints ----------------------------------------------------------------------------------------------------------------------

    def to_json(self) -> Json:
        """The lane as plain JSON types (integer keys of dicts stay integers)."""
        return whole(self.keeping())

    def keeping(self) -> Pieces[Json]:
        """`to_json` in pieces."""
        state = {name: to_plain(getattr(self, name)) for name in self.STATE} | {"notes": to_plain(self.reads.notes)}
        for world in self.world.keeping():
            state["world"] = world
            yield
        return state

    def load(self, state: Json) -> None:
        """Become the lane that `to_json` described."""
        for name, wanted in self.STATE.items():
            setattr(self, name, from_plain(state[name], wanted))
        self.tally.order.know_keys(self.texts.codes_of)
        self.reads.notes = from_plain(state["notes"], type(self.reads.notes))
        self.traffic.by_node = {
            consumer.incarnation: consumer for consumer in self.consumers.values() if consumer.state not in (CRASHED, GONE)
        }
        self.world = World.from_json(self.id, self.rules.design(self), self.seed, state["world"], self._told, self._heard)
        self.stream = self._stream()
        self.rules.forget_caches()
        self.rules.restored(self)
