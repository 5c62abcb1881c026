"""What a TubeMQ lane answers: who owns which keys, what waits and is paused, and the picture of it all."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping

from broker_core.errors import InvariantError
from broker_core.events import Json
from broker_core.hashing.java_hash import java_text, string_hash_unsigned
from broker_core.lab.consumer import CRASHED, GONE, Consumer
from broker_core.lab.tubemq.nodes import GROUP, RESTART_ALL, Client
from broker_core.lab.tubemq.shares import TubeMqShares
from broker_core.lab.tubemq.views.clients import also_given, clients_view, partitions_view
from broker_core.lab.workload.live_keys import NO_KEY
from broker_core.sim.slot import CRASHED as NODE_CRASHED
from broker_core.sim.slot import Slot
from broker_core.tubemq import requests as r
from broker_core.tubemq.assigners import ASSIGNERS
from broker_core.tubemq.broker import Consumed
from broker_core.tubemq.client.reading_program import STARTED, STOPPED, STOPPING


class TubeMqReading(TubeMqShares):
    """The whole of it, as the lane is asked."""

    fresh: None = None

    def would_wait(self, index: int, code: int) -> bool:
        key = self.partition_keys[self.sent().turn] if code == NO_KEY else self.partition_of(code)
        return key not in self.notes.readers

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
                if client.phase != STOPPED and (client.phase != STARTED or client.is_busy):
                    return False
        others = (
            slot
            for slot in self.lane.world.slots.values()
            if slot.kind == "consumer" and slot.condition != NODE_CRASHED
        )
        if any(slot.node.state.phase == STOPPING for slot in others):
            return False
        status = self.group_map()
        if self.by_master:
            # A newcomer waits for a cycle in which it is given something, if there is something for each.
            if len(clients) <= len(self.partition_keys) and not all(
                client.registered for client in clients.values()
            ):
                return False
            return not clients or all(
                key in self.notes.readers for key in self.partition_keys if status.get(key)
            )
        return all(
            name not in clients
            or clients[name].phase == STOPPED
            or not status.get(key)
            or self.notes.readers.get(key) == clients[name].client_id
            for key, name in zip(self.partition_keys, self.planned(), strict=True)
        )

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
        client: Client = slot.node.state
        queues = [
            slot.links[connection].queue for connection in client.links.values() if connection in slot.links
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
            undone = len(client.batch) + (client.program.hand >= 0)
            count += max(
                0, self.place(client.reading).pending - undone
            )  # none is pending after a jump to the end
        return count

    def way_in(self) -> str:
        if self.by_master:
            return "cycle"
        if self.algorithm in ASSIGNERS or self.notes.own_rule is not None:
            return "dealt"
        return "restart" if self.scale_out == RESTART_ALL else "newcomer"

    def redelivered(self) -> int:
        return sum(broker.read_again for broker in self.broker_states())

    def held(self, consumer: Consumer) -> int:
        reading = "" if consumer.state == GONE else self.client(consumer.incarnation).reading
        return self.place(reading).pending if reading else 0

    def is_served(self, consumer: Consumer) -> bool:
        return self.client(consumer.incarnation).phase == STARTED

    def has_failed(self, consumer: Consumer) -> bool:
        return False

    def lost(self) -> None:
        return None

    def owned_twice(self) -> list[str]:
        holders = Counter(
            key
            for slot in self.lane.world.slots.values()
            if slot.kind == "consumer" and slot.condition != NODE_CRASHED
            for key in slot.node.state.registered
        )
        return [key for key, count in holders.items() if count > 1]

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
            "source_count": None if self.by_master else self.counted(),
            "topic": self.topic,
            "brokers": list(self.brokers),
            "clients": clients_view(self.lane.consumers.values(), present, notes.plan),
            "partitions": partitions_view(
                partitions,
                places,
                units,
                also_given(self.partition_keys, units, self.ruled(), notes.by_hand),
                self.lane.ledger.units_before(),
                notes.stopped,
                self.lane.consumers,
            ),
        }

    def check(self) -> None:
        partitions, readers = self.partitions(), self.notes.readers
        for key, partition in partitions.items():
            place = partition.groups.get(GROUP) or Consumed()
            offset, pending = place.offset, place.pending
            owner = place.owner
            is_handed_out = pending == 0 or offset + pending <= place.furthest
            # A bootstrap offset may lie past all that was ever read.
            if offset < 0 or pending < 0 or not is_handed_out or max(offset, place.furthest) > partition.end:
                raise InvariantError(
                    f"{key}: offset {offset} and {pending}, read to {place.furthest}, end {partition.end}"
                )
            if readers.get(key, owner) != owner:
                raise InvariantError(
                    f"{readers[key]} reads {key}, whose broker has registered {owner or 'nobody'}"
                )


def is_alive(consumer: Consumer | None) -> bool:
    return consumer is not None and consumer.state not in (CRASHED, GONE)
