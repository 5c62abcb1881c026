"""A rig: one model in the lab, with the applications that consume from it.

What the broker does is the model's; what a rig adds is the same for all four: consumers as programs that take one record at a time and need
a fixed time for each, timers, the bill of the last change, and the turning points. A rig sees arrivals and commands, never another rig, so
the four can be advanced one after the other and `advance(a)` then `advance(b)` equals `advance(b)`.
"""

from abc import ABC, abstractmethod
from collections.abc import Sequence
from dataclasses import dataclass
from heapq import heappop, heappush
from typing import Any, ClassVar, Protocol, get_type_hints

from broker_core.clock import SECOND_US
from broker_core.events import Cause, Json, TurningPoint
from broker_core.lab.bill import Bill, Space
from broker_core.lab.consumer import CRASHED, GONE, LIVE, PAUSED, Consumer
from broker_core.lab.hero import Subject
from broker_core.lab.keys import LiveKeys
from broker_core.lab.pace import PACE_KINDS, pace_code
from broker_core.lab.pieces import Pieces
from broker_core.lab.tally import Tally
from broker_core.plain import from_plain, to_plain
from broker_core.rng import SeededRandom

# Timers every rig has; a model's own begin at 10.
DONE, SAMPLE = 0, 1
NEVER = 1 << 62
RATE_WINDOW_S = 5
BUCKETS_KEPT_S = 10
HISTORY_KEPT_S = 300
WHY_MAX, WHY_FIRST = 40, 20
"""Of a longer chain the first 20 and the last 20 turning points are kept: how it began, and how it came to rest."""


class KeyText(Protocol):
    """What a rig asks of the workload about a record."""

    def key_code(self, index: int) -> int: ...

    def key_bytes(self, code: int) -> bytes: ...

    def payload(self, index: int) -> str: ...


@dataclass(frozen=True, slots=True)
class RigSetup:
    """What a rig is made of. options: the model's settings, checked by the scenario. keys, texts: shared by all rigs, written by the lab.
    consumers: how many are there from the start."""

    rig_id: str
    algorithm: str
    options: Json
    seed: int
    keys: LiveKeys
    texts: KeyText
    consumers: int = 0


class Rig(ABC):
    """One model under the lab's workload. Subclasses say what the broker does; STATE names every field a checkpoint must hold."""

    model: ClassVar[str]
    keys_have_owners: ClassVar[bool] = True
    answer_us: ClassVar[int] = 0  # a rig's requests take no time
    records_are_indexes: ClassVar[bool] = False  # what a consumer has in hand is the lab's record index, not an offset in a partition
    STATE: ClassVar[tuple[str, ...]] = (
        "algorithm", "now_us", "next_record", "first_record", "consumers", "heap", "timer_seq", "event_count", "why", "sentence", "bill",
        "tally", "redelivered", "finished", "history", "sessions_made", "crash_positions", "draws",
    )  # fmt: skip

    algorithm: str
    now_us: int
    next_record: int
    first_record: int
    consumers: dict[str, Consumer]
    heap: list[tuple[int, int, int, str, int]]
    timer_seq: int
    event_count: int
    why: list[Json]
    sentence: Json
    bill: Bill | None
    tally: Tally
    redelivered: int
    finished: int
    history: dict[int, int | None]
    sessions_made: dict[str, int]
    crash_positions: dict[str, int]
    draws: dict[str, int]

    def __init__(self, setup: "RigSetup") -> None:
        self.setup = setup
        self.id = setup.rig_id
        self.algorithm = setup.algorithm
        self.options = setup.options
        self.keys = setup.keys
        self.texts = setup.texts
        self.random = SeededRandom(setup.seed)
        self.draws = self.random.draws
        self.now_us = 0
        self.first_record = self.next_record = 0
        self.consumers = {}
        self.heap = []
        self.timer_seq = 0
        self.event_count = 0
        self.why = []
        self.out: list[TurningPoint] = []
        self.sentence = {"code": "idle", "params": {}}
        self.bill = None
        self.tally = Tally()
        self.redelivered = 0
        self.finished = 0
        self.history = {}
        self.sessions_made = {}
        self.crash_positions = {}
        self.timer(SECOND_US, SAMPLE)

    # -- time ---------------------------------------------------------------------------------------------------------------------------

    def advancing(self, until_us: int, first: int, times: Sequence[int], codes: Sequence[int]) -> Pieces[None]:
        """`advance`, one piece."""
        self.advance(until_us, first, times, codes)
        yield

    def advance(self, until_us: int, first: int, times: Sequence[int], codes: Sequence[int]) -> None:
        """Let everything happen up to and including `until_us`.

        times, codes: arrival time and key code of the records `first`, `first` + 1, ...; those this rig has already seen are skipped, and
        those after `until_us` are left for the next call. A timer goes before an arrival of the same microsecond.
        """
        self.fold_darkness()
        is_indexed, finished = self.records_are_indexes, self.tally.finished
        heap = self.heap
        place, stop = self.next_record - first, len(times)
        arrival = times[place] if place < stop else NEVER
        while True:
            if heap and heap[0][0] <= arrival:
                if heap[0][0] > until_us:
                    break
                at_us, _, kind, name, token = heappop(heap)
                self.now_us = at_us
                if kind == DONE:
                    consumer = self.consumers.get(name)
                    if consumer is not None and consumer.token == token:
                        record, consumer.hand = consumer.hand, -1
                        self.finished += 1
                        second = at_us // SECOND_US
                        acked = consumer.acked
                        if second in acked:
                            acked[second] += 1
                        else:
                            acked[second] = 1
                            for old in [s for s in acked if s < second - BUCKETS_KEPT_S]:
                                del acked[old]
                        if is_indexed:
                            finished.append(record)
                        self.on_done(consumer, record)
                elif kind == SAMPLE:
                    self._sample()
                else:
                    self.on_timer(kind, name, token)
                    self.fold_darkness()
            elif arrival <= until_us:
                self.now_us = arrival
                index = first + place
                self.next_record = index + 1
                self.on_arrival(index, codes[place])
                place += 1
                arrival = times[place] if place < stop else NEVER
            else:
                break
        self.now_us = until_us
        if finished:
            self.tally.fold_finished(first, codes, self.texts.key_code)

    def timer(self, at_us: int, kind: int, name: str = "", token: int = 0) -> None:
        """Wake this rig at `at_us`. Timers of one microsecond go off in the order they were set."""
        self.timer_seq += 1
        heappush(self.heap, (at_us, self.timer_seq, kind, name, token))

    def start(self, consumer: Consumer, record: int) -> None:
        """Put `record` into the consumer's hand; it is done `service_us` later unless the consumer crashes or releases it."""
        consumer.hand = record
        self.timer_seq += 1
        # The timer's own number: no other life of this name ever had it.
        consumer.token = self.timer_seq
        heappush(self.heap, (self.now_us + consumer.service_us, self.timer_seq, DONE, consumer.name, self.timer_seq))

    def drop_hand(self, consumer: Consumer) -> None:
        """The consumer releases the record in hand, without acknowledging."""
        consumer.token = 0
        consumer.hand = -1

    def _sample(self) -> None:
        second = self.now_us // SECOND_US
        self.history[second] = self.skew_milli()
        self.history.pop(second - HISTORY_KEPT_S, None)
        self.timer(self.now_us + SECOND_US, SAMPLE)

    # -- what a model answers -----------------------------------------------------------------------------------------------------------

    @abstractmethod
    def on_arrival(self, index: int, code: int) -> None:
        """A producer hands over record `index` with key `code`."""

    @abstractmethod
    def on_done(self, consumer: Consumer, record: int) -> None:
        """The consumer has finished `record`: acknowledge, take the next."""

    def on_timer(self, kind: int, name: str, token: int) -> None:  # noqa: B027  (a model without timers of its own is complete)
        """A timer that this model set."""

    @abstractmethod
    def take(self, consumer: Consumer) -> None:
        """If the consumer is idle and working and there is something for it, start it."""

    @abstractmethod
    def do_join(self, joiners: Sequence[Consumer], cause: Cause) -> None: ...

    @abstractmethod
    def do_leave(self, consumer: Consumer, cause: Cause) -> None: ...

    @abstractmethod
    def do_crash(self, consumer: Consumer, cause: Cause) -> None: ...

    @abstractmethod
    def do_rejoin(self, consumer: Consumer, cause: Cause) -> None: ...

    @abstractmethod
    def weights(self) -> dict[str, int]:
        """Consumer name -> records so far whose key (or partition) is its own now; where keys have no owner, records lately finished."""

    @abstractmethod
    def key_owners(self) -> list[str | None] | None:
        """Owner of each live key, by first appearance; None: in this model keys have no owner."""

    @abstractmethod
    def units(self) -> dict[str, str | None] | None:
        """Partition -> owner; None: this model shares by key or by record, not by partition."""

    @abstractmethod
    def space(self) -> Space | None:
        """Who owns which part of the hash space; None: this model has none."""

    @abstractmethod
    def is_settled(self) -> bool:
        """Whether the last change has come to rest. A crash that the brokers have not noticed yet has changed nothing."""

    @abstractmethod
    def dark_units(self) -> tuple[int, int]:
        """How many units nobody serves, and how many there are (`darkness.py`). Code that changes the answer outside a command sets
        `tally.is_stale`."""

    @abstractmethod
    def stuck(self) -> tuple[int, int]:
        """Live keys that nobody serves, and all; where keys have no owner, unacked records that the dead hold, and all."""

    def is_all_served(self) -> bool:
        """Whether no key waits for somebody who serves it."""
        return not self.tally.darkness.dark

    @abstractmethod
    def waiting_for(self, consumer: Consumer) -> int:
        """Records that wait for this consumer: in its hands, sent to it, or where only it reads."""

    @abstractmethod
    def way_in(self) -> str:
        """How this lane takes a newcomer in, for the words that tell it beforehand: ring, halves, eager, cooperative, restart, turn."""

    # -- commands -----------------------------------------------------------------------------------------------------------------------

    def join(self, joiners: Sequence[Consumer], position: int) -> None:
        self.begin_change(position, "join", joiners[0].name)
        self.begin_subject(position, "join", joiners[0].name)
        if self.bill is not None:
            self.bill.count = len(joiners)
            self.bill.note_change("join" if position else "start", [consumer.name for consumer in joiners], self.now_us)
        for consumer in joiners:
            self.consumers[consumer.name] = consumer
        self.tally.is_stale = True
        self.do_join(joiners, Cause(command=position))
        self.command_done()

    def change(self, kind: str, name: str, position: int, service_us: int = 0) -> None:
        """Carry out leave, crash, rejoin, pause, resume or slow, which the command's check has allowed. service_us: for slow."""
        consumer, cause = self.consumers[name], Cause(command=position)
        self.begin_change(position, kind, name)
        self.begin_subject(position, kind, name)
        if self.bill is not None:
            self.bill.note_change(kind, [name], self.now_us)
        self.tally.is_stale = True
        match kind:
            case "leave":
                self.do_leave(consumer, cause)
            case "crash":
                self.drop_hand(consumer)
                consumer.state = CRASHED
                consumer.deadline_from_us = self.now_us
                self.crash_positions[consumer.session] = position
                self.do_crash(consumer, cause)
            case "rejoin":
                consumer.state = LIVE
                consumer.deadline_us = consumer.deadline_from_us = None
                consumer.acked = {}
                self.do_rejoin(consumer, cause)
            case "pause":
                consumer.state = PAUSED
            case "resume":
                # Paused and slow: the first resume ends the pause, a second one the slowness.
                if consumer.state == LIVE:
                    consumer.service_us = consumer.normal_us
                consumer.state = LIVE
                self.take(consumer)
            case "slow":
                consumer.service_us = service_us
        if kind in PACE_KINDS:
            self.emit(f"{self.model}.consumer.{kind}", cause, None, {}, {"consumer": name, "rate": SECOND_US // consumer.service_us})
            self.say(pace_code(self.model, kind, consumer), consumer=name, rate=SECOND_US // consumer.service_us)
        self.command_done()
        if kind == "crash" and self.tally.subject is not None:
            self.tally.subject.lose(self)
            self.tally.subject.look(self)

    def new_session(self, name: str) -> str:
        """A name for the next life of this consumer at the broker: `c4`, then `c4~2`, `c4~3`."""
        number = self.sessions_made.get(name, 0) + 1
        self.sessions_made[name] = number
        return name if number == 1 else f"{name}~{number}"

    def notice_crash(self, session: str, name: str) -> Cause:
        """The broker finds out that this session is dead: from here on things move, so the bill begins here. Returns the cause to name."""
        if self.tally.subject is not None and self.tally.subject.kind == "crash" and not self.keys_have_owners:
            self.tally.subject.lose(self)  # the last look at what it held
        self.tally.is_stale = True
        position = self.crash_positions.pop(session)
        self.begin_change(position, "crash", name)
        if self.bill is not None:
            self.bill.note_change("noticed", [name], self.now_us)
        consumer = self.consumers.get(name)
        if consumer is not None and consumer.session == session:
            consumer.state = GONE
            consumer.deadline_us = consumer.deadline_from_us = None
        return Cause(command=position)

    def noticed_code(self, session: str, name: str) -> str:
        """The code of the sentence about a dead session: its program may have come back under a new one meanwhile, and left again."""
        consumer = self.consumers.get(name)
        return f"{self.model}.{'crash' if consumer is not None and consumer.session == session else 'ghost'}_noticed"

    @abstractmethod
    def check_invariants(self) -> None:
        """Raise InvariantError if the model has broken one of its own rules; asked after every command."""

    # -- what a change cost -------------------------------------------------------------------------------------------------------------

    def begin_change(self, position: int, kind: str, name: str) -> None:
        """Remember the state before. A change that comes before the last one settled goes on the same bill; a change of pace leaves that
        bill its subject, who came or went."""
        bill = self.bill
        if bill is not None and not bill.settled:
            bill.position = max(bill.position, position)  # a crash that is noticed has the number of the crash
            if kind not in PACE_KINDS:
                bill.kind, bill.consumer, bill.count = kind, name, 1
            return
        if bill is not None:
            self.tally.take_over(bill)
        space = self.space()
        self.bill = Bill(
            position=position, kind=kind, consumer=name, at_us=self.now_us, owners_before=self.key_owners(), units_before=self.units(),
            space_before=(space[0], space[1]) if space else None, shares_before=self.shares(), skew_before=self.skew_milli(),
            redelivered_from=self.redelivered, keys_total=self.keys.count_at(self.next_record),
        )  # fmt: skip
        if bill is None or bill.position != position:  # a crash that is noticed goes on from the crash itself
            self.why = []

    def settle(self) -> None:
        """Close the bill if things have come to rest; while they have not, it shows what has moved so far."""
        bill = self.bill
        if bill is None or bill.settled:
            return
        self.fold_darkness()
        bill.settled = self.is_settled()
        bill.skew_after = self.skew_milli()
        bill.compare(self.key_owners(), self.units(), self.space())
        if bill.settled and bill.position == 0:
            self.say("none")  # those who are there from the start changed nothing
        elif bill.settled and bill.kind not in PACE_KINDS:
            self.on_settled(bill)
        if bill.settled and self.tally.subject is not None:
            self.tally.subject.come_to_rest(self)

    def begin_subject(self, position: int, kind: str, name: str) -> None:
        """From now on the lane's large figure speaks of this."""
        if position:  # nobody ordered what is there from the start
            self.tally.subject = Subject(kind, name, self.tally.darkness.dark)

    def command_done(self) -> None:
        """A command has been carried out: see what it did to service, and whether it has come to rest."""
        self.tally.is_stale = True
        self.fold_darkness()
        self.settle()

    def fold_darkness(self) -> None:
        """Tell the fold of darkness how much nobody serves from now on, if that has changed."""
        if not self.tally.is_stale:
            return
        self.tally.is_stale = False
        self.tally.darkness.fold(self.now_us, *self.dark_units())
        if self.tally.subject is not None:
            self.tally.subject.look(self)

    def on_settled(self, bill: Bill) -> None:  # noqa: B027  (most models have said all they have to say by then)
        """The last change has come to rest and its bill is closed."""

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

    # -- saying what happened -----------------------------------------------------------------------------------------------------------

    def emit(self, kind: str, cause: Cause, rule: str | None, inputs: Json, data: Json) -> Cause:
        """Record a turning point; what is returned is the cause to name in what follows from it."""
        self.event_count += 1
        event = TurningPoint(f"{self.id}:{self.event_count}", self.now_us, self.id, kind, cause, rule, inputs, data)
        self.out.append(event)
        self.why.append(event.to_json(self.event_count))
        if len(self.why) > WHY_MAX:
            del self.why[WHY_FIRST]
        return Cause(event=event.id)

    def say(self, code: str, /, **params: Any) -> None:
        """Set the lane's sentence; the words for `code` are in the page's catalogue, in each language."""
        self.sentence = {"code": code, "params": params}

    def standing_us(self) -> int:
        """How long the longest-paused partition has been paused, as the bill counts it; 0 when all are read."""
        since_us = self.stopped_since_us()
        return 0 if since_us is None or self.bill is None else self.bill.standing_us(since_us, self.now_us)

    def stopped_since_us(self) -> int | None:
        """Since when some partition has been paused; None: none does, or this model has none."""
        return None

    def units_before(self) -> dict[str, str | None]:
        """Partition -> owner when the bill was opened: what a picture shows as before."""
        return (self.bill.units_before if self.bill else None) or {}

    def units_of(self, name: str) -> int:
        """How many partitions are this consumer's; 0 in a model without partitions."""
        return sum(owner == name for owner in (self.units() or {}).values())

    def sentence_as_of_now(self) -> Json:
        """The sentence as far as only this model knows what it says at this moment of a change; `sentence.py` fills in the rest."""
        return self.sentence

    # -- looking ------------------------------------------------------------------------------------------------------------------------

    def hand(self, consumer: Consumer) -> int:
        """The record that a consumer works on, -1 for none."""
        return consumer.hand

    @abstractmethod
    def held(self, consumer: Consumer) -> int:
        """Records the broker has given to this consumer and not yet seen acknowledged."""

    @abstractmethod
    def state_word(self, consumer: Consumer) -> str:
        """live | slow | paused | crashed | waiting | gone"""

    @abstractmethod
    def picture(self) -> Json: ...

    @abstractmethod
    def route(self, index: int, code: int) -> Json:
        """Where record `index` went, step by step."""

    @abstractmethod
    def lag(self) -> int:
        """Records that arrived and are not done."""

    @classmethod
    @abstractmethod
    def algorithms(cls) -> list[Json]: ...

    # -- checkpoints --------------------------------------------------------------------------------------------------------------------

    def to_json(self) -> Json:
        """Every field of STATE as plain JSON types (integer keys of dicts stay integers)."""
        return {name: to_plain(getattr(self, name)) for name in self.STATE}

    def load(self, state: Json) -> None:
        """Become the rig that `to_json` described."""
        hints = get_type_hints(type(self))
        for name in self.STATE:
            setattr(self, name, from_plain(state[name], hints[name]))
        self.random.draws = self.draws
        self.on_loaded()

    def on_loaded(self) -> None:  # noqa: B027  (a model without caches has nothing to rebuild)
        """Rebuild what STATE leaves out because it can be derived."""

    def ordinary_state(self, consumer: Consumer) -> str:
        """The state word as far as it is the same in every model."""
        if consumer.state == LIVE and consumer.service_us > consumer.normal_us:
            return "slow"
        return consumer.state

    def switched(self, algorithm: str, position: int) -> None:
        """This rig has taken an older one's place and gone through the same history."""
        self.emit(f"{self.model}.algorithm_switched", Cause(command=position), None, {}, {"algorithm": algorithm})
        if self.bill is None or self.bill.position == 0:
            self.say("switched", algorithm=algorithm)
