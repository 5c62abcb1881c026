"""What the nodes of a TubeMQ lane know: masters of the group's members, brokers of its partitions, the producer of what it
has sent."""

from __future__ import annotations

from typing import TYPE_CHECKING

from broker_core.events import Json
from broker_core.hashing.java_hash import java_text, string_hash_unsigned
from broker_core.lab.tubemq.notes import Notes
from broker_core.sim.slot import CRASHED
from broker_core.tubemq.broker import BrokerState, Consumed, Partition
from broker_core.tubemq.client.producer import ProducerState
from broker_core.tubemq.client.program_state import ProgramState
from broker_core.tubemq.client.pull_consumer_state import PullConsumerState
from broker_core.tubemq.group import Group, Member
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


class TubeMqNodes:
    """brokers: node name of each broker id; masters: node names. partition_keys: all partitions, in their order, those that
    were added last. notes: what the lab itself knows of the group. over: the set that is dealt out. source_count: NOT_USED
    if clients do not start with the group's."""

    lane: Lane

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

    def client(self, incarnation: str) -> Client:
        state: Client = self.lane.world.slots[incarnation].node.state
        return state

    def master_states(self) -> dict[str, MasterState]:
        return {name: self.lane.world.slots[name].node.state for name in self.masters}

    def is_up(self, master: str) -> bool:
        return self.lane.world.condition(master) != CRASHED

    def is_active(self, master: str) -> bool:
        return self.is_up(master) and not self.master_states()[master].is_standby

    def master(self) -> tuple[str, MasterState]:
        """The active master, by its node's name; while none is active one that is up, if any is."""
        name = min(self.masters, key=lambda name: (not self.is_active(name), not self.is_up(name)))
        return name, self.master_states()[name]

    def group(self) -> Group | None:
        """The group at the active master."""
        name, master = self.master()
        return master.groups.get(GROUP) if self.is_active(name) else None

    def group_map(self) -> dict[str, bool]:
        """Partition -> subscribable, as the master tells the group's members; {} while it has told nobody."""
        _, master = self.master()
        group = self.group()
        return (
            {}
            if group is None
            else PartitionMetadata(0, tuple(group.topic_meta), tuple(master.brokers)).status
        )

    def members(self) -> dict[str, Member]:
        """Clients that the master knows."""
        group = self.group()
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
