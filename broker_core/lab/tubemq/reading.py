"""What the nodes' states of a TubeMQ lane say: whom each partition falls to, who holds it, what waits, and
the picture of it all."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING

from broker_core.errors import InvariantError
from broker_core.events import Json
from broker_core.hashing.java_hash import java_text, string_hash_unsigned
from broker_core.lab.consumer import CRASHED, GONE, Consumer
from broker_core.lab.tubemq.notes import Notes
from broker_core.lab.tubemq.views.clients import also_given, clients_view, partitions_view
from broker_core.lab.workload.live_keys import NO_KEY
from broker_core.sim.slot import CRASHED as NODE_CRASHED
from broker_core.sim.slot import Slot
from broker_core.tubemq import requests as r
from broker_core.tubemq.assigners import ASSIGNERS
from broker_core.tubemq.assignment import node_of
from broker_core.tubemq.broker import BrokerState, Consumed, Partition
from broker_core.tubemq.client.producer import ProducerState
from broker_core.tubemq.client.program_state import ProgramState
from broker_core.tubemq.client.pull_consumer_state import PullConsumerState
from broker_core.tubemq.client.reading_program import STARTED, STOPPED, STOPPING
from broker_core.tubemq.client_id import host_of
from broker_core.tubemq.group import Member
from broker_core.tubemq.master import MasterState
from broker_core.tubemq.metadata import PartitionMetadata
from broker_core.tubemq.partition_key import PartitionKey, broker_of

if TYPE_CHECKING:
    from broker_core.lab.shared.lane import Lane

GROUP = "lab"
MASTERS, PRODUCER = ("tubemq:master", "tubemq:master-2"), "tubemq:producer"
OPERATOR = "tubemq:operator"
"""No consumer can have such a name."""
MODULO, SERVER, ARTICLE = "modulo", "server", "article"
"""Algorithms beside those of `broker_core/tubemq/assigners/`; with the last two the master balances."""
NOT_USED = -1
"""A source count."""
RESTART_ALL, NEWCOMER_FIRST = "restart_all", "newcomer_first"
"""Orders in which a group by the modulo takes in another client: the right one, and the wrong one."""
Client = ProgramState | PullConsumerState


class TubeMqReading:
    """brokers: node name of each broker id; masters: node names. partition_keys: all partitions, in their order, those that
    were added last. notes: what the lab itself knows of the group. over: the set that is dealt out. source_count: NOT_USED
    if clients do not start with the group's."""

    lane: Lane

    fresh: None = None

    def __init__(self, options: Json, algorithm: str) -> None:
        self.algorithm = algorithm
        self.by_master = algorithm in (SERVER, ARTICLE)
        self.over: str = options.get("over", "configured")
        self.scale_out: str = options.get("scale_out", RESTART_ALL)
        self.source_count: int | None = options.get("source_count")
        self.masters = MASTERS[: options.get("masters", 1)]
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
        self.nodes: dict[int, list[int]] = {}  # source count -> node id of each partition
        self.plan_of: list[str | None] | None = None  # of each partition, until something changes
        self.key_places: list[int] = []  # of each live key: place of its partition in partition_keys
        self.place_of = {key: place for place, key in enumerate(self.partition_keys)}
        self.parts: dict[str, Partition] = {}
        self.known_down: list[int] = []

    def forget(self) -> None:
        self.parts = {}
        self.plan_of = None
        if self.known_down != self.notes.down:
            self.known_down = self.notes.down[:]
            self.routes.clear()
            self.key_places.clear()
        for key in self.notes.added:
            if key not in self.place_of:  # the producer holds this very list
                self.place_of[key] = len(self.partition_keys)
                self.partition_keys.append(key)
                self.routes.clear()
                self.nodes.clear()
                self.key_places.clear()

    def partition_of(self, code: int) -> str:
        """The partition of a key."""
        key = self.routes.get(code)
        if key is None:
            number = string_hash_unsigned(java_text(self.lane.messages.key_bytes(code))) % len(
                self.partition_keys
            )
            key = self.routes[code] = self.next_up(number)
        return key

    def next_up(self, number: int) -> str:
        """The partition at this place, or the next one whose broker is online: a producer publishes nowhere else."""
        keys, down = self.partition_keys, self.notes.down
        for place in range(number, number + len(keys)):
            key = keys[place % len(keys)]
            if not down or broker_of(key) not in down:
                return key
        return keys[number]

    def sent(self) -> ProducerState:
        """What the producer knows of what it has sent."""
        state: ProducerState = self.lane.world.slots[PRODUCER].node.state
        return state

    def would_wait(self, index: int, code: int) -> bool:
        key = self.partition_keys[self.sent().turn] if code == NO_KEY else self.partition_of(code)
        return key not in self.notes.readers

    def client(self, incarnation: str) -> Client:
        state: Client = self.lane.world.slots[incarnation].node.state
        return state

    def master(self) -> tuple[str, MasterState]:
        """The active master, by its node's name; the first one while none is active."""
        states = {name: self.lane.world.slots[name].node.state for name in self.masters}
        return next(
            ((name, state) for name, state in states.items() if not state.is_standby),
            (self.masters[0], states[self.masters[0]]),
        )

    def group_map(self) -> dict[str, bool]:
        """Partition -> subscribable, as the master tells the group's members; {} while it has told nobody."""
        _, master = self.master()
        group = master.groups.get(GROUP)
        return (
            {}
            if group is None
            else PartitionMetadata(0, tuple(group.topic_meta), tuple(master.brokers)).status
        )

    def members(self) -> dict[str, Member]:
        """Clients that the master knows."""
        group = self.master()[1].groups.get(GROUP)
        return {} if group is None else group.members

    def member(self, client_id: str) -> Member | None:
        return self.members().get(client_id)

    def is_known(self, client_id: str) -> bool:
        """Whether the active master, or a broker that is up, counts this client."""
        return self.member(client_id) is not None or any(
            self.place(key).owner == client_id
            for key in self.partition_keys
            if broker_of(key) not in self.notes.down
        )

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
        """Of each partition the consumer that it falls to, whether or not that one holds it just now, or is alive at
        all. Where the master balances: whoever is registered for it."""
        if self.plan_of is None:
            self.plan_of = self._planned()
        return self.plan_of

    def _planned(self) -> list[str | None]:
        takers = self.ruled()
        self._give(takers, self.notes.by_hand)
        return takers

    def ruled(self) -> list[str | None]:
        """`planned`, by the rule alone."""
        notes = self.notes
        takers: list[str | None] = [None] * len(self.partition_keys)
        if self.by_master:
            owners = (host_of(self.place(key).owner) for key in self.partition_keys)
            return [name if name in notes.plan else None for name in owners]
        if self.algorithm in ASSIGNERS or notes.own_rule is not None:
            self._give(takers, notes.shares)
        else:
            by_count: dict[int, dict[int, str]] = {}
            for name in notes.plan:
                if name not in notes.by_hand:
                    count, node_id = notes.started_with(name)
                    by_count.setdefault(count, {}).setdefault(node_id, name)
            for count, names in by_count.items():
                for place, node_id in enumerate(self.nodes_of(count) if count > 0 else ()):
                    takers[place] = takers[place] or names.get(node_id)
        return takers

    def _give(self, takers: list[str | None], shares: dict[str, list[str]]) -> None:
        for name, keys in reversed(shares.items()):  # of two lists with one partition the older one counts
            for key in keys:
                if key in self.place_of and name in self.notes.plan:
                    takers[self.place_of[key]] = name

    def shares_now(self) -> dict[str, list[str]]:
        """What the rule gives each consumer of the plan that a person gave no list."""
        shares: dict[str, list[str]] = {
            name: [] for name in self.notes.plan if name not in self.notes.by_hand
        }
        for key, name in self.units().items():
            if name in shares:
                shares[name].append(key)
        return shares

    def nodes_of(self, source_count: int) -> list[int]:
        """Node id of each partition."""
        nodes = self.nodes.get(source_count)
        if nodes is None:
            nodes = self.nodes[source_count] = [node_of(key, source_count) for key in self.partition_keys]
        return nodes

    def counted(self) -> int:
        """The source count that the group's clients start with, NOT_USED where rules deal partitions out."""
        is_counted = self.algorithm == MODULO and self.notes.own_rule is None and self.source_count is None
        return len(self.notes.plan) if is_counted else NOT_USED

    def group_count(self) -> int:
        """The source count that the active master checks; while it knows no member, the one to start with."""
        group = self.master()[1].groups.get(GROUP)
        if self.counted() == NOT_USED or group is None or not group.members:
            return self.counted()
        return max(group.terms.source_count, NOT_USED)

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
            count += self.place(client.reading).pending - len(client.batch) - (client.program.hand >= 0)
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
