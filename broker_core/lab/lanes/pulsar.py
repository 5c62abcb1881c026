"""The Pulsar lane: a broker with one topic and its Key_Shared subscription, one producer, and a consumer per program on its own connection.

A key belongs to a consumer. Which one, what waits for it, what a closed consumer gives back, when a silent connection is given up and what
happens to two who ask for the same ranges is the broker's (`broker_core/pulsar/`); who owns what now is read from its state
(`pulsar_owners.py`). The lab's own: the sticky ranges that a newcomer asks for (`pulsar_sticky.py`), and that a person who removes a silent
program resets its connection.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import cast

from broker_core.errors import InvariantError
from broker_core.events import Cause, Json, TurningPoint
from broker_core.lab.consumer import CRASHED, GONE, Consumer
from broker_core.lab.lanes.lane import Lane
from broker_core.lab.lanes.pulsar_moves import EXPLAINED_MAX, KEYS_MAX, given_facts, taken_facts
from broker_core.lab.lanes.pulsar_owners import Assignment, Owners
from broker_core.lab.lanes.pulsar_picture import Painted
from broker_core.lab.lanes.pulsar_sticky import make_room, overlap
from broker_core.lab.lanes.setup import LaneSetup
from broker_core.lab.observers.bill import Bill, Space
from broker_core.lab.observers.codes import code_of
from broker_core.lab.observers.darkness import SPACE_UNITS
from broker_core.lab.observers.in_flight import Watch
from broker_core.pulsar import commands as c
from broker_core.pulsar.broker import KEEP_ALIVE, LIVENESS, Broker, BrokerState, consumer_key
from broker_core.pulsar.client.consumer import CONSUMER_ID, ConsumerState, Resubscribe, Subscribe
from broker_core.pulsar.client.consumer import Consumer as Client
from broker_core.pulsar.client.producer import Open, Producer, ProducerState
from broker_core.pulsar.commands import CommandSend
from broker_core.pulsar.key_shared import KeySharedSubscription
from broker_core.pulsar.selectors import SELECTORS, make_selector
from broker_core.pulsar.selectors.protocol import Ranges
from broker_core.sim.program import Leave, Order, Program
from broker_core.sim.slot import CRASHED as NODE_CRASHED
from broker_core.sim.slot import Slot
from broker_core.sim.world import Design

RINGS = ("consistent_hash", "consistent_hash_3_2_0", "consistent_hash_current", "ring_document")
STICKY = ("sticky", "sticky_document")
BROKER, PRODUCER = "(broker)", "(producer)"
"""No consumer can be called so."""


def algorithms() -> list[Json]:
    """By the name that the lane has for them; `document`: as an article tells the rule."""
    return [{"id": name, "document": name.endswith("_document")} for name in SELECTORS]


def make_lane(setup: LaneSetup, watch: Watch | None = None) -> Lane:
    return Lane(setup, PulsarRules(setup), watch)


@dataclass(slots=True)
class Notes:
    """key_counts: messages of each key so far, by its code."""

    key_counts: dict[int, int] = field(default_factory=dict)


class PulsarRules:
    name = "pulsar"
    keys_have_owners = True
    lane: Lane

    def __init__(self, setup: LaneSetup) -> None:
        self.algorithm = setup.algorithm
        self.is_ring, self.is_sticky = setup.algorithm in RINGS, setup.algorithm in STICKY
        self.half_open = setup.algorithm == "sticky_document"
        self.queue_size: int = setup.options.get("receiver_queue_size", c.RECEIVER_QUEUE_SIZE)
        self.consumers = setup.consumers
        self.points: int | None = setup.options.get("points")
        self.owners = Owners(setup.texts, setup.keys, make_selector(self.algorithm, self.points))
        self._notes = Notes()
        self.fresh: list[int] = []  # keys of messages that are not in the notes yet
        self.standing: Assignment | None = None  # before the next turning point, where that is to tell what it moved
        self.painted: Painted | None = None
        self.checked: Assignment | None = None  # whose slices are known to be whole

    @property
    def notes(self) -> Notes:
        if self.fresh:
            counts, fresh = self._notes.key_counts, Counter(self.fresh)
            self.fresh.clear()
            for code, count in fresh.items():
                counts[code] = counts.get(code, 0) + count
            self.owners.note(fresh)
        return self._notes

    @notes.setter
    def notes(self, notes: Notes) -> None:
        self._notes = notes

    def algorithms(self) -> list[Json]:
        return algorithms()

    def design(self, lane: Lane) -> Design:
        self.lane = lane  # its caches are warm or cold as the lane is, also when that has been restored
        hash_of, traffic = self.owners.hashes.__getitem__, lane.traffic
        return Design(
            {
                "broker": (BrokerState, lambda state: Broker(state, hash_of, self.algorithm)), "producer": (ProducerState, Producer),
                "consumer": (ConsumerState, lambda state: Client(state, traffic)),
            },
            c.Command | Subscribe | Resubscribe | Open | Order, lane.delay_us, lane.jitter_us,
        )  # fmt: skip

    def head_start_us(self, lane: Lane) -> int:
        return lane.answer_us + self.consumers * lane.start_step_us

    def begin(self, lane: Lane) -> None:
        subscription = KeySharedSubscription(make_selector(self.algorithm, self.points))
        lane.world.start(BROKER, "broker", BrokerState(subscription))
        lane.world.start(PRODUCER, "producer", ProducerState())
        lane.world.order(PRODUCER, Open(BROKER))

    def forget_caches(self) -> None:
        self.owners.forget()
        self.standing = self.owners.now(self.broker(self.lane)) if self.is_explained(self.lane) else None

    def tidy(self, lane: Lane, second: int) -> None:
        """Its nodes drop what they are done with themselves."""

    def restored(self, lane: Lane) -> None:
        """A checkpoint holds all that there is."""

    def would_wait(self, lane: Lane, index: int, code: int) -> bool:
        holder = self.owners.holder_of(self.broker(lane), code)
        return holder is None or holder in self.dead(lane)

    # -- a person's verbs -----------------------------------------------------------------------------------------------------------------

    def publisher(self, lane: Lane) -> tuple[Slot, Callable[[int, int], tuple[int, CommandSend]]]:
        slot = lane.world.slots[PRODUCER]
        producer = cast(Producer, slot.node)

        def publish(index: int, code: int) -> tuple[int, CommandSend]:
            self.fresh.append(code)
            return producer.send(index, code)

        return slot, publish

    def join(self, lane: Lane, joiners: Sequence[Consumer], cause: Cause) -> None:
        self.start(lane, joiners, cause)

    def start(self, lane: Lane, joiners: Sequence[Consumer], cause: Cause, remembered: Ranges | None = None) -> None:
        """Start them one after the other, so far apart that none overtakes another on the network, nor somebody who makes room for it.

        remembered: sticky ranges that a program had in its last life.
        """
        given: Mapping[str, Ranges] = {}
        step_us, after_us = lane.start_step_us, 0
        if self.is_sticky:
            plan = make_room(self.ranges_of_living(lane), [consumer.incarnation for consumer in joiners], remembered, self.half_open)
            given = plan.given
            for incarnation, kept in plan.kept.items():
                name = self.client(lane, incarnation).name
                reconnected = lane.emit("pulsar.consumer.reconnected", cause, "pulsar.selector.sticky.halve_widest", {"consumer": name},
                                        {"ranges": [list(pair) for pair in kept]})  # fmt: skip
                lane.world.order(incarnation, Resubscribe(kept), reconnected)
                after_us = step_us
            self.say_conflict(lane, joiners[-1], given)
        for consumer in joiners:
            lane.world.start(consumer.incarnation, "consumer", ConsumerState(consumer.name, Program(consumer.service_us), self.queue_size))
            lane.world.order(consumer.incarnation, Subscribe(BROKER, given.get(consumer.incarnation, []), after_us), cause)
            after_us += step_us

    def say_conflict(self, lane: Lane, newcomer: Consumer, given: Mapping[str, Ranges]) -> None:
        """The broker will ask whether those are alive who have what the newcomers want."""
        held = [self.client(lane, incarnation).ranges for incarnation in lane.crash_positions]
        if any(overlap(wanted, ranges, self.half_open) for wanted in given.values() for ranges in held):
            lane.say("pulsar.sticky_conflict", consumer=newcomer.name)

    def leave(self, lane: Lane, consumer: Consumer, cause: Cause) -> None:
        if consumer.state == GONE:
            lane.world.forget(consumer.incarnation)
            lane.say("left_gone", consumer=consumer.name)
        elif consumer.state == CRASHED:
            lane.crash_positions.pop(consumer.incarnation)
            lane.world.reset(self.client(lane, consumer.incarnation).connection, cause)
            lane.world.forget(consumer.incarnation)
        else:
            self.say_left(lane, consumer.incarnation, consumer.name, self.held(lane, consumer))
            lane.world.order(consumer.incarnation, Leave(), cause)
            lane.world.exit(consumer.incarnation, cause)

    def crash(self, lane: Lane, consumer: Consumer, cause: Cause) -> None:
        if not self.client(lane, consumer.incarnation).connection:  # it was still starting: no broker knows it
            lane.bury(consumer.incarnation, consumer.name)
            lane.say("pulsar.crash_unknown", consumer=consumer.name)
            return
        consumer.deadline_us = self.given_up_us(lane, consumer)
        unacked = self.held(lane, consumer)
        lane.emit("pulsar.consumer.crashed", cause, KEEP_ALIVE, {"keep_alive_us": c.KEEP_ALIVE_US, "unacked": unacked},
                  {"consumer": consumer.name, "deadline_us": consumer.deadline_us})  # fmt: skip
        lane.say("pulsar.crash_pending", consumer=consumer.name, unacked=unacked, deadline_us=consumer.deadline_us)

    def given_up_us(self, lane: Lane, consumer: Consumer) -> int:
        """When the broker will close the connection of a program that falls silent now; what it has sent still arrives."""
        connection = self.client(lane, consumer.incarnation).connection
        link = lane.world.slots[consumer.incarnation].links[connection]
        known = self.broker(lane).state.connections.get(connection)
        if known is None:  # its first words are still on their way
            return consumer.joined_us + lane.delay_us + 2 * c.KEEP_ALIVE_US
        tick_us = known.since_us + ((lane.now_us - known.since_us) // c.KEEP_ALIVE_US + 1) * c.KEEP_ALIVE_US
        answers = link.last_us < tick_us and any(type(message) is c.CommandPong for message, _ in link.queue)
        return tick_us if known.awaits_pong and not answers else tick_us + c.KEEP_ALIVE_US

    def rejoin(self, lane: Lane, consumer: Consumer, cause: Cause) -> None:
        lives = [slot for slot in lane.world.slots.values() if slot.condition == NODE_CRASHED and slot.node.state.name == consumer.name]
        self.start(lane, [consumer], cause, lives[-1].node.state.ranges)
        for slot in lives:
            if slot.name not in lane.crash_positions:  # the broker knows that it is over, and the person has a new one
                lane.world.forget(slot.name)

    # -- what happened --------------------------------------------------------------------------------------------------------------------

    def heard(self, lane: Lane, event: TurningPoint) -> TurningPoint:
        match event.kind:
            case "pulsar.connection.silent" if event.data["client"] in lane.crash_positions:
                client = self.client(lane, event.data["client"])
                if self.broker(lane).state.connections[client.connection].asking:
                    lane.bury(event.data["client"], client.name)  # what it had is a newcomer's, whose change goes on
                else:
                    lane.notice_crash(event.data["client"], client.name)
            case "pulsar.consumer.connected":
                return event.with_facts(data={"permits": self.queue_size} | self.moved_facts(lane, event))
            case "pulsar.consumer.disconnected":
                return event.with_facts(data=self.moved_facts(lane, event))
        return event

    def is_explained(self, lane: Lane) -> bool:
        """Whether the next turning point is to tell what it moved: of a change that many make together only the first few do."""
        told = 0 if lane.is_at_rest else sum("keys_total" in event["data"] for event in lane.why)
        return lane.is_at_rest or told < EXPLAINED_MAX

    def moved_facts(self, lane: Lane, event: TurningPoint) -> Json:
        """What this turning point moved, compared with what stood before it; nothing where that is not told."""
        was, live = self.standing, lane.keys.count_at(lane.next_record)
        self.owners.forget()
        self.standing = None
        if was is None or live > KEYS_MAX or not self.is_explained(lane):
            return {}
        now = self.standing = self.owners.now(self.broker(lane))
        if self.is_of_one_who_makes_room(lane, event.data["client"]):
            return {}
        name, slots = event.data["consumer"], self.owners.slots(live)
        before, space_before = was.owners_of(slots), was.space
        bill = lane.bill if self.is_sticky else None  # to ask for an open bill is to compare it, and a ring is large
        if bill is not None and bill.owners_before is not None and bill.space_before is not None and not bill.settled:
            # Who makes room closes its consumer first: what the newcomer takes was its until then.
            before, space_before = bill.owners_before, (*bill.space_before, now.slots, now.first_slot)
        after = self.owners.key_owners(self.broker(lane), live)
        moved = [(int(slot), old, new) for slot, old, new in zip(slots, before, after, strict=False) if old != new]
        if event.kind == "pulsar.consumer.connected":
            taken = [(slot, old) for slot, old, new in moved if new == name]
            return taken_facts(name, space_before, now.space, taken, live, self.is_ring)
        return given_facts([new for _, old, new in moved if old == name], live)

    def is_of_one_who_makes_room(self, lane: Lane, incarnation: str) -> bool:
        """Whether this program subscribes again with less: it neither came nor went."""
        program = lane.world.slots.get(incarnation)
        return program is not None and program.condition != NODE_CRASHED and program.node.state.request_id > 1

    def told(self, lane: Lane, event: TurningPoint) -> None:
        if event.kind == "pulsar.consumer.disconnected":
            self.say_disconnected(lane, event)

    def say_disconnected(self, lane: Lane, event: TurningPoint) -> None:
        name, incarnation, unacked, reason = event.data["consumer"], event.data["client"], event.inputs["unacked"], event.inputs["reason"]
        if reason in (KEEP_ALIVE, LIVENESS):
            if lane.bill is None or lane.bill.kind != "crash":
                return  # a newcomer waited for this word
            is_last = not self.served(lane) - lane.crash_positions.keys()
            code = code_of("pulsar.given_up", ghost=lane.is_ghost(incarnation, name), last=is_last, gap=self.is_sticky)
            lane.say(code, consumer=name, unacked=unacked)
        elif not self.is_of_one_who_makes_room(lane, incarnation):
            self.say_left(lane, incarnation, name, unacked)

    def say_left(self, lane: Lane, incarnation: str, name: str, unacked: int) -> None:
        """A program has left, or its broker is about to learn it, and what was unacked goes to the others."""
        is_last = not self.served(lane) - lane.crash_positions.keys() - {incarnation}
        numbers: Json = {}
        if is_last:
            numbers = {"unacked": unacked, "keys_total": lane.keys.count_at(lane.next_record)}
        elif not self.is_sticky:
            numbers = {"redelivered": unacked, "keys_moved": 0}  # the bill's number, once it is known
        lane.say(code_of("pulsar.left", last=is_last, gap=self.is_sticky), consumer=name, **numbers)

    def sentence_now(self, lane: Lane) -> Json:
        return lane.sentence

    def on_settled(self, lane: Lane, bill: Bill) -> None:
        if bill.kind not in ("join", "rejoin"):
            return
        made_room = [event["inputs"]["consumer"] for event in lane.why if event["kind"] == "pulsar.consumer.reconnected"]
        source = made_room[-1] if bill.count == 1 and made_room else None
        code = code_of("pulsar.joined", first=len(self.served(lane)) == bill.count, back=bill.kind == "rejoin", made_room=source is not None,
                       many=bill.count > 1)  # fmt: skip
        numbers: Json = {"count": bill.count, "keys_moved": bill.keys_moved, "keys_total": bill.keys_total}
        if code == "pulsar.sticky_join":
            start, end = self.client(lane, lane.consumers[bill.consumer].incarnation).ranges[0]
            numbers = {"from": source, "start": start, "end": end}
        lane.say(code, consumer=bill.consumer, **numbers)

    # -- what the state says --------------------------------------------------------------------------------------------------------------

    def broker(self, lane: Lane) -> Broker:
        return cast(Broker, lane.world.slots[BROKER].node)

    def subscription(self, lane: Lane) -> KeySharedSubscription:
        return self.broker(lane).state.subscription

    def client(self, lane: Lane, incarnation: str) -> ConsumerState:
        return cast(ConsumerState, lane.world.slots[incarnation].node.state)

    def key_of(self, lane: Lane, incarnation: str) -> str:
        """What the broker's subscription calls this program's consumer."""
        return consumer_key(self.client(lane, incarnation).connection, CONSUMER_ID)

    def served(self, lane: Lane) -> set[str]:
        """Programs that have a consumer at the broker."""
        return {known.peer for known in self.broker(lane).state.connections.values() if known.consumers}

    def dead(self, lane: Lane) -> set[str]:
        """The broker's consumers whose programs are silent, which it has not noticed."""
        return {self.key_of(lane, incarnation) for incarnation in lane.crash_positions}

    def ranges_of_living(self, lane: Lane) -> dict[str, Ranges]:
        """What the programs ask for that are alive, in the order in which they were started."""
        programs = [slot for slot in lane.world.slots.values() if slot.kind == "consumer" and slot.condition != NODE_CRASHED]
        return {slot.name: slot.node.state.ranges for slot in programs if not slot.node.state.refused}

    def weights(self, lane: Lane) -> dict[str, int]:
        return self.owners.weights(self.broker(lane), self.notes.key_counts)

    def key_owners(self, lane: Lane) -> list[str | None]:
        return self.owners.key_owners(self.broker(lane), lane.keys.count_at(lane.next_record))

    def units(self, lane: Lane) -> None:
        return None

    def space(self, lane: Lane) -> Space:
        return self.owners.now(self.broker(lane)).space

    def is_settled(self, lane: Lane) -> bool:
        living = [consumer.incarnation for consumer in lane.consumers.values() if consumer.state not in (CRASHED, GONE)]
        wanted = {incarnation for incarnation in living if not self.client(lane, incarnation).refused} | lane.crash_positions.keys()
        return wanted == self.served(lane)

    def dark_units(self, lane: Lane) -> tuple[int, int]:
        if not lane.crash_positions and not self.is_sticky and self.broker(lane).consumers:
            return 0, SPACE_UNITS  # a ring and split ranges have no gaps, and a large ring takes long to look at
        return self.owners.now(self.broker(lane)).dark_units(self.dead(lane)), SPACE_UNITS

    def stuck(self, lane: Lane) -> tuple[int, int]:
        live, dead = lane.keys.count_at(lane.next_record), self.dead(lane)
        if not live:
            return self.dark_units(lane)
        holders = self.owners.now(self.broker(lane)).holders_of(self.owners.slots(live))
        return sum(holder is None or holder in dead for holder in holders), live

    def waiting_for(self, lane: Lane, consumer: Consumer) -> int:
        held = self.held(lane, consumer) - self.unreported(lane.world.slots[consumer.incarnation])
        return held + self.subscription(lane).waiting_for(self.key_of(lane, consumer.incarnation))

    def way_in(self, lane: Lane) -> str:
        return "ring" if self.is_ring else "halves"

    def redelivered(self, lane: Lane) -> int:
        return self.broker(lane).state.redelivered

    def held(self, lane: Lane, consumer: Consumer) -> int:
        return self.subscription(lane).unacked_count(self.key_of(lane, consumer.incarnation))

    def is_served(self, lane: Lane, consumer: Consumer) -> bool:
        return self.key_of(lane, consumer.incarnation) in self.broker(lane).consumers

    def stopped(self, lane: Lane) -> Mapping[str, int]:
        return {}

    def lag(self, lane: Lane) -> int:
        subscription = self.subscription(lane)
        under_way = lane.next_record - max(subscription.last_published + 1, lane.first_record)
        return subscription.outstanding + under_way - sum(map(self.unreported, lane.world.slots.values()))

    def unreported(self, slot: Slot) -> int:
        """Messages that a program has handled and its broker will learn of: acknowledgements travel in groups."""
        if slot.kind != "consumer" or not slot.node.state.connection:
            return 0
        waiting = 0 if slot.condition == NODE_CRASHED else len(slot.node.state.acks)
        under_way = slot.links[slot.node.state.connection].queue
        return waiting + sum(len(message.messages) for message, _ in under_way if type(message) is c.CommandAck)

    def route(self, lane: Lane, index: int, code: int) -> Json:
        holder = self.owners.holder_of(self.broker(lane), code)
        owner = None if holder is None else self.owners.now(self.broker(lane)).names[holder]
        waits = holder is None or holder in self.dead(lane)
        return {"hash": self.owners.slot_of(code), "unit": None, "consumer": owner, "place": None, "waits": waits}

    def picture(self, lane: Lane) -> Json:
        broker, subscription = self.broker(lane), self.subscription(lane)
        before = lane.bill.space_before if lane.bill else None
        paint = Painted(self.owners.now(broker), before, frozenset(self.dead(lane)), tuple(lane.consumers), self.is_ring)
        if self.painted is None or not paint.shows_the_same(self.painted):
            self.painted = paint
        keys = {name: self.key_of(lane, consumer.incarnation) for name, consumer in lane.consumers.items()}
        return {
            **self.painted.picture,
            "waiting": subscription.waiting,
            "permits": {name: subscription.permits(key) for name, key in keys.items() if key in broker.consumers},
            "mark_delete": subscription.mark_delete,
            "connected": len(broker.consumers),
        }

    def check(self, lane: Lane) -> None:
        self.subscription(lane).check_counts()
        assignment = self.owners.now(self.broker(lane))
        if assignment is not self.checked:  # the same object until a consumer comes or goes
            assignment.check()
            self.checked = assignment
        for consumer in lane.consumers.values():
            client, held = self.client(lane, consumer.incarnation), self.held(lane, consumer)
            if client.is_subscribed and self.is_served(lane, consumer) and len(client.queue) > held:
                raise InvariantError(f"{consumer.name} has {len(client.queue)} messages waiting, the broker knows of {held}")
