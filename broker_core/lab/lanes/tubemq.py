"""The TubeMQ lane: a master, brokers with the partitions, one producer, and a client-balanced group with a client for each consumer.

Every client works out its own partitions and registers them (`tubemq/client/balance_consumer.py`); who is refused, and when the dead are
forgotten, is the master's and the brokers'. The lab's own, since TubeMQ leaves it to its users: the producer's router (unsigned Java hash of
the key modulo the number of partitions), and the operator (`tubemq_operator.py`) who answers a join or a leave by stopping all clients
and starting them with the new source count, node ids in join order. How long a process takes to start is drawn, 0.3 to 2 s.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import cast

from broker_core.clock import MILLISECOND_US
from broker_core.errors import InvariantError
from broker_core.events import Cause, Json, TurningPoint
from broker_core.hashing.java_hash import java_text, string_hash_unsigned
from broker_core.lab.consumer import CRASHED, GONE, PAUSED, Consumer
from broker_core.lab.keys import NO_KEY
from broker_core.lab.lanes import tubemq_operator as operator
from broker_core.lab.lanes.lane import Lane
from broker_core.lab.lanes.setup import LaneSetup
from broker_core.lab.lanes.tubemq_logs import refill
from broker_core.lab.lanes.tubemq_operator import Notes, Operator, OperatorState, TakeOff
from broker_core.lab.lanes.tubemq_picture import clients_view, partitions_view
from broker_core.lab.observers.bill import Bill
from broker_core.lab.observers.codes import code_of
from broker_core.lab.observers.in_flight import Watch
from broker_core.sim.program import Order, Program
from broker_core.sim.slot import CRASHED as NODE_CRASHED
from broker_core.sim.slot import Slot
from broker_core.sim.world import Design
from broker_core.tubemq import requests as r
from broker_core.tubemq.assignment import node_of
from broker_core.tubemq.broker import Broker, BrokerState, Consumed, Partition
from broker_core.tubemq.client import balance_consumer as clients
from broker_core.tubemq.client import producer as producers
from broker_core.tubemq.client.balance_consumer import STARTED, STOPPED, STOPPING, BalanceConsumer, ConsumerState, Shutdown, Start
from broker_core.tubemq.client.producer import Producer, ProducerState
from broker_core.tubemq.client_id import host_of, make_client_id
from broker_core.tubemq.master import Master, MasterState, Member
from broker_core.tubemq.partition_key import PartitionKey, broker_of

START_MIN_US, START_SPREAD_US = 300 * MILLISECOND_US, 1_700 * MILLISECOND_US
READ_US = 100 * MILLISECOND_US
"""A read brings as many messages as a program handles in this time, one at least: with one message a read, the network's delay and not the
program would set the pace of fast consumers."""
GROUP = "lab"
MASTER, PRODUCER, OPERATOR = "tubemq:master", "tubemq:producer", "tubemq:operator"
"""No consumer can have such a name."""
STARTING_CODES = ("tubemq.restarting", "tubemq.starting", "tubemq.refused", "tubemq.node_taken", "tubemq.occupied")


def algorithms() -> list[Json]:
    return [{"id": "modulo", "document": False}]


def make_lane(setup: LaneSetup, watch: Watch | None = None) -> Lane:
    return Lane(setup, TubeMqRules(setup.options), watch)


class TubeMqRules:
    name = "tubemq"
    keys_have_owners = True

    def __init__(self, options: Json) -> None:
        self.topic: str = options["topic"]
        self.each: int = options["partitions"] // options["brokers"]
        self.brokers = {broker_id: f"tubemq:broker-{broker_id}" for broker_id in range(1, options["brokers"] + 1)}
        self.partition_keys = [str(PartitionKey(broker_id, self.topic, number)) for broker_id in self.brokers for number in range(self.each)]
        self.notes = Notes()
        self.routes: dict[int, str] = {}
        self.nodes: tuple[int, list[int]] = (0, [])  # source count -> node id of each partition
        self.key_places: list[int] = []  # of each live key: place of its partition in partition_keys
        self.place_of = {key: place for place, key in enumerate(self.partition_keys)}
        self.parts: dict[str, Partition] = {}

    def algorithms(self) -> list[Json]:
        return algorithms()

    def design(self, lane: Lane) -> Design:
        return Design(
            {
                "master": (MasterState, Master), "broker": (BrokerState, Broker), "operator": (OperatorState, Operator),
                "producer": (ProducerState, lambda state: Producer(state, self.partition_keys, lambda code: self.partition_of(lane, code))),
                "consumer": (ConsumerState, lambda state: BalanceConsumer(state, lane.traffic)),
            },
            r.Request | producers.Connect | operator.Connect | TakeOff | Start | Shutdown | Order, lane.delay_us, lane.jitter_us,
        )  # fmt: skip

    def begin(self, lane: Lane) -> None:
        world = lane.world
        meta = f"{self.topic}#" + ",".join(f"{broker_id}:1:{self.each}:1" for broker_id in self.brokers)
        world.start(MASTER, "master", MasterState([meta], list(self.brokers)))
        for broker_id, name in self.brokers.items():
            own = {key: Partition() for key in self.partition_keys if broker_of(key) == broker_id}
            world.start(name, "broker", BrokerState(broker_id, own))
        world.start(PRODUCER, "producer", ProducerState())
        world.start(OPERATOR, "operator", OperatorState())
        world.order(PRODUCER, producers.Connect(self.brokers))
        world.order(OPERATOR, operator.Connect(MASTER, self.brokers))

    def head_start_us(self, lane: Lane) -> int:
        return 0  # those who are there from the start take their time to start, as any process

    def forget_caches(self) -> None:
        self.parts = {}

    def tidy(self, lane: Lane, second: int) -> None:
        """Its nodes drop what they are done with themselves."""

    def restored(self, lane: Lane) -> None:
        """The brokers' logs hold again the messages that may still be read."""
        brokers = [cast(Broker, lane.world.slots[name].node) for name in self.brokers.values()]

        def partition(index: int) -> str | None:
            code = lane.texts.key_code(index)
            return None if code == NO_KEY else self.partition_of(lane, code)

        refill(brokers, GROUP, self.partition_keys, self.sent(lane), lane.next_record, partition)

    # -- records --------------------------------------------------------------------------------------------------------------------------

    def partition_of(self, lane: Lane, code: int) -> str:
        """The partition of a key."""
        key = self.routes.get(code)
        if key is None:
            number = string_hash_unsigned(java_text(lane.texts.key_bytes(code))) % len(self.partition_keys)
            key = self.routes[code] = self.partition_keys[number]
        return key

    def sent(self, lane: Lane) -> ProducerState:
        """What the producer knows of what it has sent."""
        state: ProducerState = lane.world.slots[PRODUCER].node.state
        return state

    def publisher(self, lane: Lane) -> tuple[Slot, Callable[[int, int], tuple[int, r.SendMessageRequestP2B]]]:
        slot = lane.world.slots[PRODUCER]
        return slot, cast(Producer, slot.node).send

    def would_wait(self, lane: Lane, index: int, code: int) -> bool:
        key = self.partition_keys[self.sent(lane).turn] if code == NO_KEY else self.partition_of(lane, code)
        return key not in self.notes.readers

    # -- the operator ---------------------------------------------------------------------------------------------------------------------

    def restart(self, lane: Lane, cause: Cause) -> None:
        """Stop every client and start a new one in its place, with the count of those who are alive."""
        self.sweep(lane)
        notes, alive = self.notes, [consumer for consumer in lane.consumers.values() if is_alive(consumer)]
        was, notes.plan = len(notes.plan), [consumer.name for consumer in alive]
        if notes.count_at_rest is None and lane.bill is not None and lane.bill.at_us > 0:
            notes.count_at_rest = was
        kind = "tubemq.group.stopped" if not alive else "tubemq.group.restarting" if was else "tubemq.group.starting"
        followed = lane.emit(
            kind, cause, "tubemq.master.source_count_must_match", {"from": was, "to": len(alive)},
            {"node_ids": {name: node_id for node_id, name in enumerate(notes.plan)}},
        )  # fmt: skip
        counts = {"from_count": was, "to_count": len(alive)} if alive else {"partitions": len(self.partition_keys)}
        lane.say(code_of("tubemq.restart", last=not alive, first=not was), **counts)
        for broker in self.broker_states(lane) if alive else ():
            broker.batch_messages = max(1, READ_US // alive[0].normal_us)
        for consumer in alive:
            if consumer.incarnation in lane.world.slots:
                self.stop(lane, consumer.incarnation, followed)
                consumer.incarnation = lane.new_incarnation(consumer.name)
                lane.traffic.by_node[consumer.incarnation] = consumer
        for node_id, consumer in enumerate(alive):
            self.launch(lane, consumer, node_id, followed)

    def stop(self, lane: Lane, incarnation: str, cause: Cause) -> None:
        """The process ends in order; from here on it reads nothing."""
        self.notes.stop_reading(self.client(lane, incarnation).client_id, lane.now_us)
        lane.world.order(incarnation, Shutdown(), cause)
        lane.traffic.let_go(incarnation, lane.now_us)

    def launch(self, lane: Lane, consumer: Consumer, node_id: int, cause: Cause) -> None:
        """A process starts; it reaches the master when its former life has stopped and it has started up."""
        client_id = make_client_id(consumer.name, lane.incarnations_made[consumer.name])
        program = Program(consumer.service_us, is_paused=consumer.state == PAUSED)
        lane.world.start(consumer.incarnation, "consumer", ConsumerState(client_id, GROUP, len(self.notes.plan), node_id, program))
        boot_us = clients.SHUTDOWN_SLEEP_US + START_MIN_US + lane.world.random.below("tubemq.start", START_SPREAD_US)
        lane.world.order(consumer.incarnation, Start(MASTER, self.brokers, boot_us), cause)

    def sweep(self, lane: Lane) -> None:
        """Processes that have ended, and dead ones that nobody waits for, go from the world."""
        present = {consumer.incarnation for consumer in lane.consumers.values()}
        for slot in list(lane.world.slots.values()):
            if slot.kind != "consumer" or slot.name in present or slot.name in lane.crash_positions:
                continue
            if slot.condition == NODE_CRASHED:
                lane.world.forget(slot.name)
            elif slot.node.state.phase == STOPPED:
                lane.world.exit(slot.name)

    # -- a person's verbs -----------------------------------------------------------------------------------------------------------------

    def join(self, lane: Lane, joiners: Sequence[Consumer], cause: Cause) -> None:
        self.restart(lane, cause)

    def leave(self, lane: Lane, consumer: Consumer, cause: Cause) -> None:
        if consumer.incarnation in lane.crash_positions:
            del lane.crash_positions[consumer.incarnation]
            client_id = self.client(lane, consumer.incarnation).client_id
            own = [key for key in self.partition_keys if self.place(lane, key).owner == client_id]
            lane.world.order(OPERATOR, TakeOff(client_id, GROUP, own), cause)
        elif is_alive(consumer):
            self.stop(lane, consumer.incarnation, cause)
        self.restart(lane, cause)

    def crash(self, lane: Lane, consumer: Consumer, cause: Cause) -> None:
        client = self.client(lane, consumer.incarnation)
        member = self.member(lane, client.client_id)
        if member is None:
            # It died before the master knew it: nobody will miss it.
            del lane.crash_positions[consumer.incarnation]
            consumer.state, consumer.deadline_from_us = GONE, None
            return
        places = [place for place in self.places(lane).values() if place.owner == client.client_id]
        consumer.deadline_us = max([member.deadline_us, *(place.deadline_us for place in places)])
        self.notes.stop_reading(client.client_id, lane.now_us)
        lane.emit("tubemq.client.crashed", cause, "tubemq.timeout", {"timeout_us": r.TIMEOUT_US},
                  {"consumer": consumer.name, "partitions": client.registered[:], "deadline_us": consumer.deadline_us})  # fmt: skip
        lane.say("tubemq.crash_pending", consumer=consumer.name, partitions=len(client.registered), deadline_us=consumer.deadline_us)

    def rejoin(self, lane: Lane, consumer: Consumer, cause: Cause) -> None:
        """A process in the dead one's place: its own node id, else that of another dead one; the group runs on with its count."""
        plan = self.notes.plan
        free = [node_id for node_id, name in enumerate(plan) if name == consumer.name or not is_alive(lane.consumers.get(name))]
        if not free:  # the group was restarted without it meanwhile
            self.restart(lane, cause)
            return
        self.sweep(lane)
        node_id = plan.index(consumer.name) if consumer.name in plan else free[0]
        plan[node_id] = consumer.name
        followed = lane.emit("tubemq.client.restarted", cause, None, {"source_count": len(plan)}, {"consumer": consumer.name, "node_id": node_id})
        lane.say("tubemq.rejoining", consumer=consumer.name, node_id=node_id)
        self.launch(lane, consumer, node_id, followed)

    # -- what happened --------------------------------------------------------------------------------------------------------------------

    def heard(self, lane: Lane, event: TurningPoint) -> TurningPoint:
        if event.kind in ("tubemq.master.consumer_timed_out", "tubemq.broker.registration_timed_out"):
            client_id = event.data["client"]
            incarnation = next((incarnation for incarnation in lane.crash_positions if self.client(lane, incarnation).client_id == client_id), None)
            is_known = self.member(lane, client_id) is not None or any(place.owner == client_id for place in self.places(lane).values())
            if incarnation is not None and not is_known:
                self.forgotten(lane, incarnation, event.data["consumer"])
        return event

    def forgotten(self, lane: Lane, incarnation: str, name: str) -> None:
        """The master and all brokers have given a dead client up: its node id and its partitions are free, and nobody's."""
        lane.notice_crash(incarnation, name)
        is_ghost = lane.is_ghost(incarnation, name) or name not in self.notes.plan  # then nothing waits for its return
        units = self.units(lane)
        void = sum(units[key] == name and not self.place(lane, key).owner for key in self.partition_keys)
        had = len(self.client(lane, incarnation).registered)
        lane.say(code_of("tubemq.given_up", ghost=is_ghost), consumer=name, partitions=had if is_ghost else void)

    def told(self, lane: Lane, event: TurningPoint) -> None:
        match event.kind:
            case "tubemq.client.connected":
                self.begin_reading(lane, event)
            case "tubemq.client.disconnected":
                self.notes.stop_reading(event.data["client"], lane.now_us, event.data["partitions"])
            case "tubemq.client.refused":
                self.say_refused(lane, event.data["consumer"], event.data["code"], event.inputs["node_id"])

    def begin_reading(self, lane: Lane, event: TurningPoint) -> None:
        """Partitions are read again: the bill notes for how long they were not."""
        read_again = self.notes.begin_reading(event.data["client"], event.data["partitions"], lane.now_us)
        for since_us in read_again.values():
            lane.note_pause(since_us)
        if read_again and not self.notes.stopped and lane.bill is not None:
            lane.emit("tubemq.group.partitions_resumed", Cause(event=event.id), None, {}, lane.bill.pause_facts())

    def say_refused(self, lane: Lane, name: str, code: int, node_id: int) -> None:
        if code == r.NODE_ID_TAKEN:
            members = self.members(lane).values()
            holder = next(host_of(member.client_id) for member in members if member.node_id == node_id)
            lane.say("tubemq.node_taken", consumer=name, code=code, holder=holder)
        else:
            lane.say("tubemq.occupied" if code == r.PARTITION_OCCUPIED else "tubemq.refused", consumer=name, code=code)

    def sentence_now(self, lane: Lane) -> Json:
        return lane.sentence

    def on_settled(self, lane: Lane, bill: Bill) -> None:
        notes, consumer = self.notes, lane.consumers.get(bill.consumer)
        was, notes.count_at_rest = notes.count_at_rest or 0, len(notes.plan)
        is_back = bill.kind == "rejoin" and is_alive(consumer)
        if is_back or lane.sentence["code"] in STARTING_CODES:
            numbers: Json = {"partitions_moved": bill.partitions_moved, "pause_us": bill.pause_us}
            if is_back:
                numbers |= {"consumer": bill.consumer, "node_id": notes.plan.index(bill.consumer)}
            else:
                numbers |= {"from_count": was, "to_count": len(notes.plan), "partitions_total": bill.partitions_total}
            lane.say(code_of("tubemq.restarted", back=is_back, first=not was), **numbers)

    # -- the nodes ------------------------------------------------------------------------------------------------------------------------

    def client(self, lane: Lane, incarnation: str) -> ConsumerState:
        state: ConsumerState = lane.world.slots[incarnation].node.state
        return state

    def members(self, lane: Lane) -> dict[str, Member]:
        """Clients that the master knows."""
        state: MasterState = lane.world.slots[MASTER].node.state
        group = state.groups.get(GROUP)
        return {} if group is None else group.members

    def member(self, lane: Lane, client_id: str) -> Member | None:
        return self.members(lane).get(client_id)

    def broker_states(self, lane: Lane) -> list[BrokerState]:
        return [lane.world.slots[name].node.state for name in self.brokers.values()]

    def partitions(self, lane: Lane) -> dict[str, Partition]:
        """All partitions, in their order."""
        if not self.parts:
            for broker in self.broker_states(lane):
                self.parts |= broker.partitions
        return self.parts

    def place(self, lane: Lane, key: str) -> Consumed:
        """How far the group is in a partition, and who is registered for it."""
        return self.partitions(lane)[key].groups.get(GROUP) or Consumed()

    def places(self, lane: Lane) -> dict[str, Consumed]:
        return {key: self.place(lane, key) for key in self.partitions(lane)}

    # -- what the state says --------------------------------------------------------------------------------------------------------------

    def weights(self, lane: Lane) -> dict[str, int]:
        weights = {name: 0 for name, consumer in lane.consumers.items() if consumer.state != GONE}
        for sent, name in zip(self.sent(lane).sent.values(), self.planned(lane), strict=True):
            if name is not None:
                weights[name] = weights.get(name, 0) + sent
        return weights

    def planned(self, lane: Lane) -> list[str | None]:
        """Of each partition the consumer whose node id it falls to, whether or not that one holds it just now, or is alive at all."""
        plan = self.notes.plan
        if not plan:
            return [None] * len(self.partition_keys)
        if self.nodes[0] != len(plan):
            self.nodes = (len(plan), [node_of(key, len(plan)) for key in self.partition_keys])
        return [plan[node_id] for node_id in self.nodes[1]]

    def units(self, lane: Lane) -> dict[str, str | None]:
        return dict(zip(self.partition_keys, self.planned(lane), strict=True))

    def places_of_keys(self, lane: Lane) -> list[int]:
        """Of each live key, by first appearance: place of its partition."""
        live, known = lane.keys.count_at(lane.next_record), len(self.key_places)
        if known < live:
            self.key_places += [self.place_of[self.partition_of(lane, code)] for code in lane.keys.codes[known:live]]
        return self.key_places[:live]

    def key_owners(self, lane: Lane) -> list[str | None]:
        owners = self.planned(lane)
        return [owners[place] for place in self.places_of_keys(lane)]

    def space(self, lane: Lane) -> None:
        return None

    def is_settled(self, lane: Lane) -> bool:
        clients = {}
        for consumer in lane.consumers.values():
            if is_alive(consumer):
                client = clients[consumer.name] = self.client(lane, consumer.incarnation)
                if client.phase != STARTED or client.calls:
                    return False
        others = (slot for slot in lane.world.slots.values() if slot.kind == "consumer" and slot.condition != NODE_CRASHED)
        if any(slot.node.state.phase == STOPPING for slot in others):
            return False
        return all(
            name not in clients or self.notes.readers.get(key) == clients[name].client_id
            for key, name in zip(self.partition_keys, self.planned(lane), strict=True)
        )  # fmt: skip

    def dark_units(self, lane: Lane) -> tuple[int, int]:
        return len(self.partition_keys) - len(self.notes.readers), len(self.partition_keys)

    def stuck(self, lane: Lane) -> tuple[int, int]:
        places = self.places_of_keys(lane)
        if not places:
            return self.dark_units(lane)
        readers = self.notes.readers
        is_dark = [key not in readers for key in self.partition_keys]
        return sum(is_dark[place] for place in places), len(places)

    def stopped(self, lane: Lane) -> Mapping[str, int]:
        return self.notes.stopped

    def waiting_for(self, lane: Lane, consumer: Consumer) -> int:
        if not is_alive(consumer):
            return 0
        slot, sent = lane.world.slots[consumer.incarnation], self.sent(lane).sent
        waiting = sum(sent[key] - self.place(lane, key).offset for key in self.client(lane, consumer.incarnation).registered)
        return waiting - self.done_unconfirmed(lane, slot)

    def done_unconfirmed(self, lane: Lane, slot: Slot) -> int:
        """Messages that a client's program has done and its brokers do not know of: their batch is not done, or its confirmation under way."""
        client: ConsumerState = slot.node.state
        queues = [slot.links[connection].queue for connection in client.connections.values() if connection in slot.links]
        confirmed = [message.partition for queue in queues for message, _ in queue if type(message) is r.CommitOffsetRequestC2B]
        count = sum(self.place(lane, key).pending for key in confirmed)
        if client.reading and slot.condition != NODE_CRASHED:
            count += self.place(lane, client.reading).pending - len(client.batch) - (client.program.hand >= 0)
        return count

    def way_in(self, lane: Lane) -> str:
        return "restart"

    def redelivered(self, lane: Lane) -> int:
        return sum(broker.read_again for broker in self.broker_states(lane))

    def held(self, lane: Lane, consumer: Consumer) -> int:
        reading = "" if consumer.state == GONE else self.client(lane, consumer.incarnation).reading
        return self.place(lane, reading).pending if reading else 0

    def is_served(self, lane: Lane, consumer: Consumer) -> bool:
        return self.client(lane, consumer.incarnation).phase == STARTED

    def lag(self, lane: Lane) -> int:
        sent = sum(self.sent(lane).sent.values())
        confirmed = sum(self.place(lane, key).offset for key in self.partition_keys)
        return sent - confirmed - sum(self.done_unconfirmed(lane, slot) for slot in lane.world.slots.values() if slot.kind == "consumer")

    def route(self, lane: Lane, index: int, code: int) -> Json:
        if code == NO_KEY:
            key, key_hash = self.partition_keys[self.sent(lane).turn - 1], None
        else:
            key, key_hash = self.partition_of(lane, code), string_hash_unsigned(java_text(lane.texts.key_bytes(code)))
        waits = key in self.notes.stopped
        return {"hash": key_hash, "unit": key, "consumer": self.units(lane)[key], "place": None, "waits": waits}

    def picture(self, lane: Lane) -> Json:
        notes = self.notes
        partitions, places, units = self.partitions(lane), self.places(lane), self.units(lane)
        present = {name: self.client(lane, consumer.incarnation) for name, consumer in lane.consumers.items() if consumer.state != GONE}
        return {
            "kind": "clients", "source_count": len(notes.plan), "topic": self.topic, "brokers": list(self.brokers),
            "clients": clients_view(lane.consumers.values(), present, notes.plan),
            "partitions": partitions_view(partitions, places, units, lane.units_before(), notes.stopped, lane.consumers),
        }  # fmt: skip

    def check(self, lane: Lane) -> None:
        places, readers = self.places(lane), self.notes.readers
        for key, partition in self.partitions(lane).items():
            place = places[key]
            if not 0 <= place.offset <= place.offset + place.pending <= place.furthest <= partition.end:
                raise InvariantError(f"{key}: offset {place.offset} and {place.pending}, read to {place.furthest}, end {partition.end}")
            if key in readers and place.owner != readers[key]:
                raise InvariantError(f"{readers[key]} reads {key}, whose broker has registered {place.owner or 'nobody'}")
        for consumer in lane.consumers.values():
            if is_alive(consumer):
                client = self.client(lane, consumer.incarnation)
                for key in client.registered:
                    if places[key].owner != client.client_id:
                        raise InvariantError(f"{client.client_id} believes it holds {key}, its broker says {places[key].owner or 'nobody'}")


def is_alive(consumer: Consumer | None) -> bool:
    return consumer is not None and consumer.state not in (CRASHED, GONE)
