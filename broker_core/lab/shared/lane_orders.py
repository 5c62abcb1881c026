"""What a person does to a lane's consumers, and what follows when the brokers notice: the lane's part of a
change, its bill and its sentence."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from typing import Any

from broker_core.clock import SECOND_US
from broker_core.events import Cause, Json, TurningPoint
from broker_core.lab.consumer import CRASHED, FROZEN, GONE, LIVE, PAUSED, Consumer, incarnation_name
from broker_core.lab.shared.in_flight import LaneTraffic
from broker_core.lab.shared.ledger import Ledger
from broker_core.lab.shared.model import LaneModel
from broker_core.lab.shared.narrator import Narrator
from broker_core.lab.shared.pace import FULL_SPEED, PACE_KINDS, ends_no_pause, pace_code
from broker_core.lab.shared.reading import Reading
from broker_core.lab.workload.live_keys import LiveKeys
from broker_core.sim.program import Order, Pace, Pause, Resume
from broker_core.sim.slot import CRASHED as NODE_CRASHED
from broker_core.sim.world import World

WHY_MAX, WHY_FIRST = 40, 20
"""Of a longer chain the first 20 and the last 20 turning points are kept: how it began, and how it came to
rest."""
NOTHING_CHANGED = "none"


@dataclass
class LaneState:
    """What a checkpoint holds of a lane beside its world, its ledger and its model's notes."""

    algorithm: str
    now_us: int = 0
    next_record: int = 0
    first_record: int = 0
    consumers: dict[str, Consumer] = field(default_factory=dict)
    why: list[Json] = field(default_factory=list)  # turning points since the last change began
    sentence: Json = field(default_factory=lambda: {"code": "idle", "params": {}})
    # What it says once its start has come to rest: that nothing has changed, or the last order since then that
    # has no bill.
    at_rest: Json = field(default_factory=lambda: {"code": NOTHING_CHANGED, "params": {}})
    history: dict[int, int | None] = field(default_factory=dict)  # skew at the end of each second
    incarnations_made: dict[str, int] = field(default_factory=dict)
    # Life of a program that is silent, which no broker has noticed -> its command.
    crash_positions: dict[str, int] = field(default_factory=dict)
    set_to: Json = field(
        default_factory=dict
    )  # settings of programs that a person changed for the whole lane


class LaneOrders(LaneState, ABC):
    """The part of a lane that carries out orders about its consumers."""

    rules: LaneModel[Any]
    narrator: Narrator[Any]
    reads: Reading
    keys: LiveKeys
    model: str
    keys_have_owners: bool
    world: World
    ledger: Ledger
    traffic: LaneTraffic
    out: list[TurningPoint]  # what the lab has not collected yet
    heard: dict[
        str, TurningPoint
    ]  # by id, as a person is to read them, until the step that tells them is over

    @abstractmethod
    def count_handled(self) -> None:
        """What the programs have handled by now is in their rates and in the tally."""

    @abstractmethod
    def state_word(self, consumer: Consumer) -> str:
        """live | slow | paused | crashed | waiting | failed | gone"""

    @abstractmethod
    def _changed(self) -> None:
        """Ownership may have changed."""

    def _keep(self, event: TurningPoint) -> None:
        self.out.append(event)
        self.why.append(event.to_json(int(event.id.rpartition(":")[2])))
        if len(self.why) > WHY_MAX:
            del self.why[WHY_FIRST]

    def emit(self, kind: str, cause: Cause, rule: str | None, inputs: Json, data: Json) -> Cause:
        """Record a turning point that no node told: the lab's own acts, and what a person did to a
        program."""
        self.world.cause = cause
        followed = self.world.tell(kind, rule, inputs, data)
        self._keep(self.heard.pop(self.world.told.pop().id))
        self.world.cause = None
        return followed

    def say(self, code: str, /, **params: Any) -> None:
        """Set the lane's sentence; the words for `code` are in the page's catalogue, in each language."""
        self.sentence = {"code": code, "params": params}

    def say_ordered(self, code: str, /, **params: Any) -> None:
        """Set the lane's sentence to that of an order that has no bill; it stands, too, when the start comes
        to rest after the order."""
        self.at_rest = {"code": code, "params": params}
        self.say(code, **params)

    def say_none_joined(self, code: str) -> None:
        """An order for the lane's servers, or for how its consumers work, changes who is there as little as none:
        it has a sentence of its own only where none of theirs stands."""
        if self.at_rest["code"] == NOTHING_CHANGED:
            self.at_rest = {"code": code, "params": {}}
        if self.sentence["code"] == NOTHING_CHANGED:
            self.sentence = self.at_rest

    def _begin(self, position: int, kind: str, name: str) -> None:
        """A change begins. Its own sentence comes when the brokers have heard of it; until then it is not
        said that nothing has changed."""
        self.ledger.begin(position, kind, name)
        if self.sentence["code"] == NOTHING_CHANGED:
            self.say("under_way")

    def join(self, joiners: Sequence[Consumer], position: int) -> None:
        self._begin(position, "join", joiners[0].name)
        if self.ledger.kept_bill is not None:
            self.ledger.kept_bill.count = len(joiners)
            self.ledger.kept_bill.note_change(
                "join" if position else "start", [consumer.name for consumer in joiners], self.now_us
            )
        for consumer in joiners:
            self.consumers[consumer.name] = consumer
            self.traffic.by_node[consumer.incarnation] = consumer
        self.rules.join(self, joiners, Cause(command=position))
        self._changed()

    def change(self, kind: str, name: str, position: int, service_us: int = 0) -> None:
        """Carry out leave, crash, rejoin, pause, resume or slow, which the command's check has allowed.
        service_us: for slow."""
        consumer, cause = self.consumers[name], Cause(command=position)
        self._begin(position, kind, name)
        if self.ledger.kept_bill is not None:
            self.ledger.kept_bill.note_change(
                FULL_SPEED if kind == "resume" and ends_no_pause(consumer) else kind, [name], self.now_us
            )
        match kind:
            case "leave":
                self.traffic.let_go(consumer.incarnation, self.now_us)
                del self.consumers[name]
                self.rules.leave(self, consumer, cause)
            case "crash":
                if consumer.state == FROZEN:
                    self.world.resume(consumer.incarnation)
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
                if ends_no_pause(consumer):
                    consumer.service_us = consumer.normal_us
                    self._order(consumer, Pace(consumer.service_us), cause)
                else:
                    consumer.state = LIVE
                    self._order(consumer, Resume(), cause)
            case "slow":
                consumer.service_us = service_us
                self._order(consumer, Pace(service_us), cause)
        if kind in PACE_KINDS:
            self.emit(
                f"{self.model}.consumer.{kind}",
                cause,
                None,
                {},
                {"consumer": name, "rate": SECOND_US // consumer.service_us},
            )
            self.say(
                pace_code(self.model, kind, consumer), consumer=name, rate=SECOND_US // consumer.service_us
            )
        self._changed()
        if kind == "crash" and self.ledger.tally.subject is not None:
            self.ledger.tally.subject.lose(self)
            self.ledger.tally.subject.look(self)

    def act(self, kind: str, name: str, position: int, do: Callable[[Consumer, Cause], None]) -> None:
        """Carry out a verb that only this lane's model has, which the command's check has allowed."""
        consumer = self.consumers[name]
        self._begin(position, kind, name)
        if self.ledger.kept_bill is not None:
            self.ledger.kept_bill.note_change(kind, [name], self.now_us)
        do(consumer, Cause(command=position))
        self._changed()
        if (
            self.ledger.tally.subject is not None
            and self.ledger.tally.darkness.dark > self.ledger.tally.subject.dark_before
        ):
            self.ledger.tally.subject.lose(self)
            self.ledger.tally.subject.look(self)

    def notice_hold(self, consumer: Consumer, kind: str) -> None:
        """The group has given up a consumer that is alive, frozen or stuck by a command of this kind: from
        here on things move."""
        self.rules.forget_caches()
        self.ledger.begin_change(consumer.held_by, kind, consumer.name)
        if self.ledger.kept_bill is not None:
            self.ledger.kept_bill.note_change("noticed", [consumer.name], self.now_us)
        consumer.deadline_us = consumer.deadline_from_us = None

    def _order(self, consumer: Consumer, order: Order, cause: Cause) -> None:
        if self.world.condition(consumer.incarnation) not in (None, NODE_CRASHED):
            self.world.order(consumer.incarnation, order, cause)

    def new_incarnation(self, name: str) -> str:
        """The node of the next life of this consumer: `c4`, then `c4~2`, `c4~3`."""
        number = self.incarnations_made.get(name, 0) + 1
        if number == 1 and self.world.condition(name) is not None:
            number = 2  # a consumer may be called as one of the lane's own nodes, broker-1, is
        self.incarnations_made[name] = number
        return incarnation_name(name, number)

    def notice_crash(self, incarnation: str, name: str) -> None:
        """The broker has found out that this life is over, and has changed nothing yet: from here on things
        move, so the bill begins here."""
        self.rules.forget_caches()
        subject = self.ledger.tally.subject
        if subject is not None and subject.kind == "crash":
            if not self.keys_have_owners:
                subject.lose(self)  # the last look at what it held
            elif subject.consumer == name and not self.is_ghost(incarnation, name):
                subject.last_look(self)
        self.ledger.begin_change(self.crash_positions[incarnation], "crash", name)
        if self.ledger.kept_bill is not None:
            self.ledger.kept_bill.note_change("noticed", [name], self.now_us)
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
