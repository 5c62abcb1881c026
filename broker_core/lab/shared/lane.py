"""A lane: one model's world under the lab's workload, the person's verbs on it, and observers that say what
it means.

    workload ─► arrive ─► world (nodes, network) ─► turning points ─► sentence, bill, darkness, tally
    verbs    ─► order  ──►                       ─► traffic        ─► rates, what was finished in which order

A lane decides nothing about messages: that is its nodes'. It sees arrivals and commands, never another lane,
so the four can be advanced one after the other and `advance(a)` then `advance(b)` equals `advance(b)`.

Its processes start a little before time 0 (`LaneModel.head_start_us`), so that who is there from the start is
served when the lab begins.
"""

from __future__ import annotations

from bisect import bisect_right
from collections.abc import Callable, Sequence
from typing import Any

from broker_core.clock import SECOND_US
from broker_core.events import Cause, Json, TurningPoint
from broker_core.lab.consumer import CRASHED, GONE, LIVE, Consumer
from broker_core.lab.pieces import Pieces, whole
from broker_core.lab.shared.history import keep_skew
from broker_core.lab.shared.in_flight import LaneTraffic, Watch
from broker_core.lab.shared.lane_orders import LaneOrders, LaneState
from broker_core.lab.shared.ledger import Ledger, LedgerState
from broker_core.lab.shared.model import LaneModel
from broker_core.lab.shared.narrator import Narrator
from broker_core.lab.shared.reading import Reading
from broker_core.lab.shared.setup import LaneSetup
from broker_core.lab.workload.live_keys import NO_KEY
from broker_core.plain import from_plain, kept, take_back, to_plain
from broker_core.sim.arrivals import Handed, Stream
from broker_core.sim.keeping import in_parts, restored_in_parts
from broker_core.sim.network import DEFAULT_DELAY_US
from broker_core.sim.slot import CRASHED as NODE_CRASHED
from broker_core.sim.world import World

JITTER_PART = 10
"""A message takes its lane's delay, and up to a tenth more."""
CHECK_S = 5
"""While nothing is reported and no change is under way, the model's laws are looked at every fifth second
only; else at the end of each."""


class Lane(LaneOrders):
    """One model in the lab."""

    def __init__(self, setup: LaneSetup, rules: LaneModel[Lane], watch: Watch | None = None) -> None:
        super().__init__(setup.algorithm)
        self.rules = rules
        self.reads: Reading = rules.reads
        self.reads.lane = self
        self.narrator: Narrator[Lane] = rules.narrator
        self.model = rules.name
        self.keys_have_owners = rules.keys_have_owners
        self.id = setup.lane_id
        self.seed = setup.seed
        self.options = setup.options
        self.keys = setup.keys
        self.messages = setup.messages
        self.out: list[TurningPoint] = []
        self.has_told = False  # since the model's laws were looked at last
        self.heard: dict[
            str, TurningPoint
        ] = {}  # by id, as a person is to read them, until the step that tells them is over
        self.ledger = Ledger(self)
        self.traffic = LaneTraffic(watch)
        self.delay_us: int = setup.options.get("network_delay_us", DEFAULT_DELAY_US)
        self.jitter_us = self.delay_us // JITTER_PART
        self.world = World(self.id, rules.design(self), setup.seed, self._told, self._heard)
        self.now_us = self.world.now_us = -rules.head_start_us(self)
        self.traffic.begin(self.now_us, self.world.design.ahead_us)

    def beginning(self) -> Pieces[None]:
        """Start the lane's processes, in pieces; a lane that is to become a kept one (`loading`) needs none
        of its own."""
        yield from self.rules.begin(self)
        self.stream = self._stream()
        self.rules.forget_caches()

    def begin(self) -> Lane:
        """`beginning` at once."""
        whole(self.beginning())
        return self

    def _stream(self) -> Stream | Handed:
        """The records, on their way from the publisher."""
        self.published = 0
        publisher, publish = self.rules.publisher(self)
        if self.traffic.watch is not None:
            publish = self._watched(self.traffic.watch, publish)
        return Stream(publisher, publish) if self.rules.sends_at_once else Handed(publish)

    def _watched(
        self, watch: Watch, publish: Callable[[int, int], tuple[int, Any]]
    ) -> Callable[[int, int], tuple[int, Any]]:
        def hand_over(index: int, code: int) -> tuple[int, Any]:
            # A message may be made up to its delay after it was sent; who reads what changes with a turning
            # point, before which all that was sent is caught up.
            self._note_published(self.stream.place)
            watch.arrived(index, code, self.reads.would_wait(index, code))
            return publish(index, code)

        return hand_over

    def _catch_up(self, until_us: int) -> None:
        """What was published before `until_us` is on its way, and counted."""
        self.stream.catch_up(until_us)
        self._note_published(self.stream.place)

    def _note_published(self, count: int) -> None:
        """So many messages of the stream's plan are published."""
        published = self.published
        if published < count:
            self.published = count
            self.next_record += count - published
            fresh = self.reads.fresh
            if fresh is not None:
                fresh += self.stream.keys[published:count]

    @property
    def not_put_on_way(self) -> Sequence[int]:
        """Key codes of records that are published and on no link: at the end of a second at which nobody
        looks at what is on its way, and all of them have keys."""
        return self.stream.keys[self.stream.place : self.published]

    # -- time ------------------------------------------------------------------------------------------------

    def advance(self, until_us: int, first: int, times: Sequence[int], codes: Sequence[int]) -> None:
        """Let everything happen up to and including `until_us`.

        times, codes: arrival time and key code of the records `first`, `first` + 1, ...; those this lane has
        already seen are skipped, and those after `until_us` are left for the next call.
        """
        whole(self.advancing(until_us, first, times, codes))

    def advancing(
        self, until_us: int, first: int, times: Sequence[int], codes: Sequence[int]
    ) -> Pieces[None]:
        """`advance` in pieces: a stop after each report of turning points, as of several hundred consumers
        each has its own."""
        self.ledger.fold_darkness()
        stream = self.stream
        start = self.next_record - first
        stop = bisect_right(times, until_us)
        if start or stop < len(times):  # a copy touches each number
            times, codes = times[start:stop], codes[start:stop]
        stream.plan(times, codes, self.next_record)
        self.published = 0
        while self.now_us < until_us or stream.place < len(times):
            stop_us = (self.now_us // SECOND_US + 1) * SECOND_US
            if stop_us > until_us:
                stop_us = until_us
            while True:
                self.world.advance(stop_us, stream, by_report=True)
                if not self.world.is_midway:
                    break
                self.rules.between(self)
                yield self.world.held
            self._note_published(bisect_right(times, stop_us))
            if stop_us == until_us or self.is_changing or NO_KEY in self.not_put_on_way:
                self._catch_up(stop_us + 1)
            self.now_us = stop_us
            self.traffic.fold(stop_us)
            if stop_us % SECOND_US == 0:
                self.traffic.put_in_order()  # while they are at hand in the processor's cache
                self._sample(stop_us // SECOND_US)
        # Logs grow and positions move without a turning point, too.
        self.rules.forget_caches()
        self.count_handled()

    def count_handled(self) -> None:
        """What the programs have handled by now is in their rates and in the tally: a checkpoint holds
        nothing that is still to be counted."""
        self.traffic.fold(self.now_us)
        finished = self.traffic.take_finished()
        if finished:
            self.ledger.tally.finished.extend(finished)
            self.ledger.tally.fold_finished(self.messages.codes_of)

    @property
    def is_changing(self) -> bool:
        """Whether a change is under way: its bill is open, or nobody has noticed a crash."""
        bill = self.ledger.kept_bill
        return (bill is not None and not bill.settled) or bool(self.crash_positions)

    def _sample(self, second: int) -> None:
        self.rules.tidy(self, second)
        if self.has_told or second % CHECK_S == 0 or self.is_changing:
            self.has_told = False
            self.reads.check()
        # an answer in which nothing is new is no turning point, and may have been the last thing that was
        # awaited
        self.ledger.settle()
        keep_skew(self, second)

    # -- what the nodes told ---------------------------------------------------------------------------------

    def _heard(self, event: TurningPoint) -> None:
        """A node tells this, in the middle of its step."""
        self._catch_up(self.world.now_us)
        self.now_us = self.world.now_us
        self.traffic.fold(self.now_us)
        heard = self.narrator.heard(self, event)
        if heard is not None:  # else it is no part of what the lab shows
            self.heard[event.id] = heard

    def _told(self, events: list[TurningPoint]) -> None:
        """A node has told these; its step is over."""
        self._catch_up(self.world.now_us)
        self.now_us = self.world.now_us
        for told in events:
            event = self.heard.pop(told.id, None)
            if event is None:
                continue
            self._keep(event)
            self.rules.told(self, event)
            self.narrator.told(self, event)
        self._changed()

    def _changed(self) -> None:
        """Ownership may have changed."""
        self.has_told = True
        self.rules.forget_caches()
        if self.traffic.watch is not None:
            self.traffic.watch.stopped(self.reads.stopped(), self.now_us)
        self.ledger.forget_comparison()
        self.ledger.fold_darkness()
        self.ledger.settle()

    # -- looking ---------------------------------------------------------------------------------------------

    @property
    def event_count(self) -> int:
        """How many turning points there were; a lane that takes another's place counts on from there."""
        return self.world.told_count

    @event_count.setter
    def event_count(self, count: int) -> None:
        self.world.told_count = count

    @property
    def answer_us(self) -> int:
        """How long a request and its answer are under way at most; of several who join at a time, those of
        the last."""
        joiners = (
            0
            if self.ledger.kept_bill is None or self.ledger.kept_bill.settled
            else self.ledger.kept_bill.count
        )
        answer_us: int = 2 * (self.delay_us + self.jitter_us) + joiners * self.start_step_us
        return answer_us

    @property
    def start_step_us(self) -> int:
        """How far apart programs are started, so that none overtakes another on the network."""
        step_us: int = self.jitter_us + 1
        return step_us

    def hand(self, consumer: Consumer) -> int:
        """The message that a consumer's program works on, -1 for none."""
        slot = self.world.slots.get(consumer.incarnation)
        if slot is None or slot.condition == NODE_CRASHED:
            return -1
        message: int = slot.node.state.program.hand
        return message

    def state_word(self, consumer: Consumer) -> str:
        """live | slow | paused | crashed | waiting | failed | gone"""
        if consumer.state == LIVE and self.reads.has_failed(consumer):
            return "failed"
        if consumer.state == LIVE and not self.reads.is_served(consumer):
            return "waiting"
        return (
            "slow" if consumer.state == LIVE and consumer.service_us > consumer.normal_us else consumer.state
        )

    def switched(self, algorithm: str, position: int) -> None:
        """This lane has taken an older one's place and gone through the same history."""
        self.emit(
            f"{self.model}.algorithm_switched", Cause(command=position), None, {}, {"algorithm": algorithm}
        )
        if self.ledger.bill is None or self.ledger.bill.position == 0:
            self.say_ordered("switched", algorithm=algorithm)

    # -- checkpoints -----------------------------------------------------------------------------------------

    def to_json(self) -> Json:
        """The lane as plain JSON types (integer keys of dicts stay integers)."""
        return whole(self.keeping())

    def keeping(self) -> Pieces[Json]:
        """`to_json` in pieces."""
        self.ledger.catch_up()
        state: Json = kept(self, LaneState) | {
            "ledger": kept(self.ledger, LedgerState),
            "notes": to_plain(self.reads.notes),
        }
        for world in in_parts(self.world):
            state["world"] = world
            yield None
        return state

    def loading(self, state: Json) -> Pieces[None]:
        """Become the lane that `to_json` described, in pieces."""
        take_back(self, LaneState, state)
        take_back(self.ledger, LedgerState, state["ledger"])
        self.ledger.tally.order.know_keys(self.messages.codes_of)
        self.reads.notes = from_plain(state["notes"], type(self.reads.notes))
        self.traffic.by_node = {
            consumer.incarnation: consumer
            for consumer in self.consumers.values()
            if consumer.state not in (CRASHED, GONE)
        }
        yield None
        self.world = yield from restored_in_parts(
            self.id, self.rules.design(self), self.seed, state["world"], self._told, self._heard
        )
        self.traffic.begin(self.now_us, self.world.design.ahead_us)
        self.stream = self._stream()
        self.rules.forget_caches()
