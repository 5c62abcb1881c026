"""What the nodes' states of a TubeMQ lane say: whom each partition falls to, who holds it, what waits, and
the picture of it all."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING

from broker_core.errors import InvariantError
from broker_core.events import Json
from broker_core.hashing.java_hash import java_text, string_hash_unsigned
from broker_core.lab.consumer import CRASHED, GONE, Consumer
from broker_core.lab.tubemq.operator import Notes
from broker_core.lab.tubemq.views.clients import clients_view, partitions_view
from broker_core.lab.workload.live_keys import NO_KEY
from broker_core.sim.slot import CRASHED as NODE_CRASHED
from broker_core.sim.slot import Slot
from broker_core.tubemq import requests as r
from broker_core.tubemq.assignment import node_of
from broker_core.tubemq.broker import BrokerState, Consumed, Partition
from broker_core.tubemq.client.consumer_object import ASSIGNER
from broker_core.tubemq.client.producer import ProducerState
from broker_core.tubemq.client.program_state import STARTED, STOPPING, ProgramState
from broker_core.tubemq.group import Member
from broker_core.tubemq.master import MasterState
from broker_core.tubemq.partition_key import PartitionKey

if TYPE_CHECKING:
    from broker_core.lab.shared.lane import Lane

GROUP = "lab"
MASTER, PRODUCER = "tubemq:master", "tubemq:producer"


class TubeMqReading:
    """brokers: node name of each broker id. partition_keys: all partitions, in their order. notes: what the
    lab itself knows of the group."""

    lane: Lane

    fresh: None = None

    def __init__(self, options: Json) -> None:
        self.topic: str = options["topic"]
        self.each: int = options["partitions"] // options["brokers"]
        self.brokers = {
            broker_id: f"tubemq:broker-{broker_id}" for broker_id in range(1, options["brokers"] + 1)
        }
        self.partition_keys = [
            str(PartitionKey(broker_id, self.topic, number))
            for broker_id in self.brokers
            for number in range(self.each)
        ]
        self.notes = Notes()
        self.routes: dict[int, str] = {}
        self.nodes: tuple[int, list[int]] = (0, [])  # source count -> node id of each partition
        self.key_places: list[int] = []  # of each live key: place of its partition in partition_keys
        self.place_of = {key: place for place, key in enumerate(self.partition_keys)}
        self.parts: dict[str, Partition] = {}

    def forget(self) -> None:
        self.parts = {}

    def partition_of(self, code: int) -> str:
        """The partition of a key."""
        key = self.routes.get(code)
        if key is None:
            number = string_hash_unsigned(java_text(self.lane.messages.key_bytes(code))) % len(
                self.partition_keys
            )
            key = self.routes[code] = self.partition_keys[number]
        return key

    def sent(self) -> ProducerState:
        """What the producer knows of what it has sent."""
        state: ProducerState = self.lane.world.slots[PRODUCER].node.state
        return state

    def would_wait(self, index: int, code: int) -> bool:
        key = self.partition_keys[self.sent().turn] if code == NO_KEY else self.partition_of(code)
        return key not in self.notes.readers

    def client(self, incarnation: str) -> ProgramState:
        state: ProgramState = self.lane.world.slots[incarnation].node.state
        return state

    def members(self) -> dict[str, Member]:
        """Clients that the master knows."""
        state: MasterState = self.lane.world.slots[MASTER].node.state
        group = state.groups.get(GROUP)
        return {} if group is None else group.members

    def member(self, client_id: str) -> Member | None:
        return self.members().get(client_id)

    def broker_states(self) -> list[BrokerState]:
        return [self.lane.world.slots[name].node.state for name in self.brokers.values()]

    def partitions(self) -> dict[str, Partition]:
        """All partitions, in their order."""
        if not self.parts:
            for broker in self.broker_states():
                self.parts |= broker.partitions
        return self.parts

    def place(self, key: str) -> Consumed:
        """How far the group is in a partition, and who is registered for it."""
        return self.partitions()[key].groups.get(GROUP) or Consumed()

    def places(self) -> dict[str, Consumed]:
        return {key: self.place(key) for key in self.partitions()}

    def weights(self) -> dict[str, int]:
        weights = {name: 0 for name, consumer in self.lane.consumers.items() if consumer.state != GONE}
        planned = self.planned()
        for place, sent in enumerate(self.sent().sent.values()):
            name = planned[place]
            if name is not None:
                weights[name] = weights.get(name, 0) + sent
        for code in self.lane.not_put_on_way:
            name = planned[self.place_of[self.partition_of(code)]]
            if name is not None:
                weights[name] = weights.get(name, 0) + 1
        return weights

    def planned(self) -> list[str | None]:
        """Of each partition the consumer whose node id it falls to, whether or not that one holds it just
        now, or is alive at all."""
        plan = self.notes.plan
        if not plan:
            return [None] * len(self.partition_keys)
        if self.nodes[0] != len(plan):
            self.nodes = (len(plan), [node_of(key, len(plan)) for key in self.partition_keys])
        return [plan[node_id] for node_id in self.nodes[1]]

    def units(self) -> dict[str, str | None]:
        return dict(zip(self.partition_keys, self.planned(), strict=True))

    def places_of_keys(self) -> list[int]:
        """Of each live key, by first appearance: place of its partition."""
        live, known = self.lane.keys.count_at(self.lane.next_record), len(self.key_places)
        if known < live:
            self.key_places += [
                self.place_of[self.partition_of(code)] for code in self.lane.keys.codes[known:live]
            ]
        return self.key_places[:live]

    def key_owners(self) -> list[str | None]:
        owners = self.planned()
        return [owners[place] for place in self.places_of_keys()]

    def space(self) -> None:
        return None

    def is_settled(self) -> bool:
        clients = {}
        for consumer in self.lane.consumers.values():
            if is_alive(consumer):
                client = clients[consumer.name] = self.client(consumer.incarnation)
                if client.phase != STARTED or client.todo or ASSIGNER in client.consumer.calls:
                    return False
        others = (
            slot
            for slot in self.lane.world.slots.values()
            if slot.kind == "consumer" and slot.condition != NODE_CRASHED
        )
        if any(slot.node.state.phase == STOPPING for slot in others):
            return False
        return all(
            name not in clients or self.notes.readers.get(key) == clients[name].client_id
            for key, name in zip(self.partition_keys, self.planned(), strict=True)
        )  # fmt: skip

    def dark_units(self) -> tuple[int, int]:
        return len(self.partition_keys) - len(self.notes.readers), len(self.partition_keys)

    def stuck(self) -> tuple[int, int]:
        places = self.places_of_keys()
        if not places:
            return self.dark_units()
        readers = self.notes.readers
        is_dark = [key not in readers for key in self.partition_keys]
        return sum(is_dark[place] for place in places), len(places)

    def stopped(self) -> Mapping[str, int]:
        return self.notes.stopped

    def waiting_for(self, consumer: Consumer) -> int:
        if not is_alive(consumer):
            return 0
        slot, sent = self.lane.world.slots[consumer.incarnation], self.sent().sent
        waiting = sum(
            sent[key] - self.place(key).offset for key in self.client(consumer.incarnation).registered
        )
        return waiting - self.done_unconfirmed(slot)

    def done_unconfirmed(self, slot: Slot) -> int:
        """Messages that a client's program has done and its brokers do not know of: their batch is not done,
        or its confirmation under way."""
        client: ProgramState = slot.node.state
        queues = [
            slot.links[connection].queue
            for connection in client.consumer.links.values()
            if connection in slot.links
        ]
        confirmed = [
            message.partition
            for queue in queues
            for message, _ in queue
            if type(message) is r.CommitOffsetRequestC2B and message.last_pack_consumed
        ]
        count = sum(self.place(key).pending for key in confirmed)
        if slot.condition == NODE_CRASHED:
            return count
        count += sum(self.place(key).pending for key in client.unconfirmed)
        if client.reading:
            count += self.place(client.reading).pending - len(client.batch) - (client.program.hand >= 0)
        return count

    def way_in(self) -> str:
        return "restart"

    def redelivered(self) -> int:
        return sum(broker.read_again for broker in self.broker_states())

    def held(self, consumer: Consumer) -> int:
        reading = "" if consumer.state == GONE else self.client(consumer.incarnation).reading
        return self.place(reading).pending if reading else 0

    def is_served(self, consumer: Consumer) -> bool:
        return self.client(consumer.incarnation).phase == STARTED

    def has_failed(self, consumer: Consumer) -> bool:
        return False

    def lag(self) -> int:
        sent = sum(self.sent().sent.values())
        confirmed = sum(self.place(key).offset for key in self.partition_keys)
        return (
            sent
            - confirmed
            - sum(
                self.done_unconfirmed(slot)
                for slot in self.lane.world.slots.values()
                if slot.kind == "consumer"
            )
        )

    def route(self, index: int, code: int) -> Json:
        if code == NO_KEY:
            key, key_hash = self.partition_keys[self.sent().turn - 1], None
        else:
            key, key_hash = (
                self.partition_of(code),
                string_hash_unsigned(java_text(self.lane.messages.key_bytes(code))),
            )
        waits = key in self.notes.stopped
        return {
            "hash": key_hash,
            "unit": key,
            "consumer": self.units()[key],
            "place": None,
            "waits": waits,
        }

    def picture(self) -> Json:
        notes = self.notes
        partitions, places, units = self.partitions(), self.places(), self.units()
        present = {
            name: self.client(consumer.incarnation)
            for name, consumer in self.lane.consumers.items()
            if consumer.state != GONE
        }
        return {
            "kind": "clients",
            "source_count": len(notes.plan),
            "topic": self.topic,
            "brokers": list(self.brokers),
            "clients": clients_view(self.lane.consumers.values(), present, notes.plan),
            "partitions": partitions_view(
                partitions, places, units, self.lane.ledger.units_before(), notes.stopped, self.lane.consumers
            ),
        }

    def check(self) -> None:
        partitions, readers = self.partitions(), self.notes.readers
        owners: dict[str, str] = {}
        for key, partition in partitions.items():
            place = partition.groups.get(GROUP) or Consumed()
            offset, pending = place.offset, place.pending
            owner = owners[key] = place.owner
            if offset < 0 or pending < 0 or not offset + pending <= place.furthest <= partition.end:
                raise InvariantError(
                    f"{key}: offset {offset} and {pending}, read to {place.furthest}, end {partition.end}"
                )
            if readers.get(key, owner) != owner:
                raise InvariantError(
                    f"{readers[key]} reads {key}, whose broker has registered {owner or 'nobody'}"
                )
        for consumer in self.lane.consumers.values():
            if is_alive(consumer):
                client = self.client(consumer.incarnation)
                for key in client.registered:
                    if owners[key] != client.client_id:
                        raise InvariantError(
                            f"{client.client_id} believes it holds {key}, its broker says "
                            f"{owners[key] or 'nobody'}"
                        )


def is_alive(consumer: Consumer | None) -> bool:
    return consumer is not None and consumer.state not in (CRASHED, GONE)
