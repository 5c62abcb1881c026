"""A hostile client beside good ones: any message of the vocabulary, its fields anything, in any order, to brokers
and to the controller.

Nothing raises, the cluster's laws hold, each broker's state can be kept, and the good producer, consumer and
committer are served as before. What each message
is answered with: test_hostile_answers.py.
"""

from enum import Enum
from random import Random
from typing import Any, get_args, get_type_hints

import msgspec
from hypothesis import settings
from hypothesis import strategies as st
from hypothesis.stateful import RuleBasedStateMachine, invariant, rule

from broker_core.kafka.cluster import control_requests as c
from broker_core.kafka.cluster import requests as r
from broker_core.kafka.cluster import transaction_requests as t
from broker_core.kafka.cluster.cluster import TopicPlan, transaction_topic
from broker_core.kafka.cluster.controller_node import ControllerState
from broker_core.kafka.cluster.hosted_groups import OFFSETS_TOPIC
from broker_core.kafka.cluster.laws import ClusterLaws
from broker_core.kafka.cluster.names import CONTROLLER, TOOL, broker_node
from broker_core.kafka.cluster.state import BrokerState
from broker_core.kafka.group import messages as m
from broker_core.kafka.log.record_batch import BatchHeader
from broker_core.kafka.log.topic_config import TopicConfig
from broker_core.kafka.producer.partitioner import coordinator_partition
from broker_core.kafka.replication.replica_log import LightBatch, light_batch
from broker_core.lab.checkpoint import encode
from broker_core.plain import from_plain, to_plain
from broker_core.sim.node import Closed
from tests.core.kafka.cluster.clusters import SECOND, ClientState, Cluster

TOPICS = (
    TopicPlan("t", 2, 3, 2, assignments=((1, 2, 3), (2, 3, 1))),
    TopicPlan("k", 1, 3, 2, config=TopicConfig(cleanup_policy="compact", segment_bytes=200)),
    TopicPlan(OFFSETS_TOPIC, 2, 3, 2, assignments=((1, 2, 3), (2, 3, 1))),
    transaction_topic(3),
)
NUMBERS = (
    0, 0, 1, 1, 2, 3, 4, -1, -1, -2, -3, 5, 9, 999, 30_000, 2**15 - 1, 2**15, 2**31 - 1, -(2**31), 2**31,
    2**53, 2**63 - 1, -(2**63), 2**63, 2**70,
)  # fmt: skip
NAMES = (
    "",
    "t",
    "t",
    "t",
    "k",
    "g",
    "g",
    "h",
    "m",
    "x",
    "a:b",
    OFFSETS_TOPIC,
    "__transaction_state",
    "range",
    "n" * 300,
)
LIKELY_NUMBERS = {
    "session_epoch": (0, 0, 1, 1, 2, -1, -1, -2), "acks": (-1, 0, 1), "replica_id": (-1, -1, -1, 2),
    "partition": (0, 0, 1), "index": (0, 0, 1), "partition_index": (0, 1), "partitions": (0, 1),
    "current_leader_epoch": (-1, -1, 0), "last_fetched_epoch": (-1, 0), "isolation_level": (0, 1),
    "max_wait_ms": (0, 500), "key_type": (0, 1), "member_epoch": (0, 0, 1, -1), "timestamp": (0, 1_000, -1, -2),
}  # fmt: skip
VOCABULARY: tuple[type[Any], ...] = (
    *get_args(r.ClientMessage), *get_args(c.ControlMessage), *get_args(t.TransactionMessage),
    *get_args(m.GroupMessage), m.PartitionsDeleted,
)  # fmt: skip
LIKELY: tuple[type[Any], ...] = (
    r.ProduceRequest, r.ProduceRequest, r.FetchRequest, r.FetchRequest, r.ListOffsetsRequest, r.DeleteRecordsRequest,
    t.InitProducerIdRequest, t.AddPartitionsToTxnRequest, t.AddOffsetsToTxnRequest, t.EndTxnRequest,
    m.JoinGroupRequest, m.SyncGroupRequest, m.HeartbeatRequest, m.OffsetCommitRequest, m.OffsetFetchRequest,
    m.ConsumerGroupHeartbeatRequest, m.DeleteGroupsRequest, m.TxnOffsetCommitRequest, m.LeaveGroupRequest,
    m.OffsetDeleteRequest,
)  # fmt: skip


class Draw:
    """Values of the types of fields. is_wild: numbers and names that no client in its senses has, too.

    known: what answers have said, which a hostile client sends back where it fits and where it does not.
    """

    def __init__(self, random: Random, is_wild: bool, known: list[Any]) -> None:
        self.random, self.is_wild, self.known = random, is_wild, known

    def message(self, kind: type[Any]) -> Any:
        return kind(
            **{field.name: self.value(field.name, field.type) for field in msgspec.structs.fields(kind)}
        )

    def value(self, name: str, kind: Any) -> Any:
        if kind is LightBatch:
            return self.batch()
        if isinstance(kind, type) and issubclass(kind, msgspec.Struct):
            return self.message(kind)
        arguments = get_args(kind)
        if type(None) in arguments:
            plain = next(each for each in arguments if each is not type(None))
            return None if self.random.random() < 0.4 else self.value(name, plain)
        origin = getattr(kind, "__origin__", kind)
        if origin is list:
            few = [self.value(name, arguments[0]) for _ in range(self.random.choice((0, 1, 1, 2, 3)))]
            return few * 2 if self.random.random() < 0.1 else few
        if origin is tuple:
            whole = arguments[:1] * self.random.randrange(3) if arguments[-1] is ... else arguments
            return tuple(self.value(name, each) for each in whole)
        if kind is int:
            return self.number(name)
        if kind is bool:
            return self.random.random() < 0.5
        if kind is bytes:
            return self.random.choice(
                (b"", b"\x00", b"\x00\x01\x00\x00\x00\x01\x00\x01t\xff\xff\xff\xff", b"\xff" * 9)
            )
        if kind is str:
            is_topic = name in ("topic", "name", "partitions") and self.random.random() < 0.7
            return self.random.choice("tttk") if is_topic else self.name()
        if issubclass(kind, Enum):
            return self.random.choice(list(kind))
        return kind(*(self.value(each, of) for each, of in get_type_hints(kind).items() if each[0] != "_"))

    def number(self, name: str) -> int:
        heard = [value for value in self.known if type(value) is int]
        if heard and self.random.random() < 0.3:
            return int(self.random.choice(heard))
        if name in LIKELY_NUMBERS and self.random.random() < 0.85:
            return self.random.choice(LIKELY_NUMBERS[name])
        if name.endswith("timeout_ms") and self.random.random() < 0.7:
            return self.random.choice((6_000, 10_000, 60_000))
        return self.random.choice(NUMBERS if self.is_wild else NUMBERS[:13])

    def name(self) -> str:
        heard = [value for value in self.known if type(value) is str]
        if heard and self.random.random() < 0.3:
            return str(self.random.choice(heard))
        return self.random.choice(NAMES if self.is_wild else NAMES[1:9])

    def batch(self) -> LightBatch:
        # With a key, a tombstone, without one: a compacted topic asks for keys.
        what = self.random.choice(("bad", "bad", ("6b", "31"), ("6b", "32"), ("6c", None), ()))
        values = [what] * self.random.choice((0, 1, 1, 2, 5))
        if not self.is_wild:
            values = values or [what]
        producer = self.random.choice((-1, -1, self.number("producer_id")))
        batch = light_batch(
            values,
            timestamp=self.number("timestamp"),
            producer_id=producer,
            producer_epoch=self.random.choice((0, 0, 1, self.number("producer_epoch"))),
            base_sequence=self.random.choice((0, 1, 2, self.number("base_sequence"))),
            is_transactional=self.random.random() < 0.3,
        )
        if self.is_wild and self.random.random() < 0.3:
            field = self.random.choice(BatchHeader._fields)
            header = batch.header._replace(**{field: self.number(field)})
            batch = LightBatch(header, batch.data)
        return batch


class Hostile:
    """Sends what it is given, and keeps what answers say. state: connections that are open to it."""

    def __init__(self, state: list[int]) -> None:
        self.state = state
        self.known: list[Any] = []

    def receive(self, connection: int, message: Any, now_us: int, out: Any) -> None:
        if type(message) is Closed:
            self.state.remove(connection)
        else:
            fields = msgspec.structs.astuple(message)
            self.known = [value for value in fields if value not in ("", 0, None, [])][-4:] + self.known[:12]

    def wake(self, name: str, now_us: int, out: Any) -> None:
        """It sets no deadlines."""


class HostileClient(RuleBasedStateMachine):
    def __init__(self) -> None:
        super().__init__()
        self.cluster = Cluster(3, TOPICS)
        world = self.world = self.cluster.world
        design = world.design
        world.design = type(design)(
            {**design.kinds, "hostile": (list, Hostile)}, design.messages, design.delay_us
        )
        self.laws = ClusterLaws(world)
        world.listener = self.laws.hear
        world.start("hostile", "hostile", [])
        world.start("good", "client", ClientState())
        self.slot: Any = world.slots["hostile"]
        self.last: list[Any] = []
        self.count = self.read = 0

    @property
    def open(self) -> list[int]:
        return list(self.slot.node.state)

    @rule(to=st.sampled_from([1, 2, 3, 0]))
    def connect(self, to: int) -> None:
        if len(self.open) < 6:
            self.slot.node.state.append(self.slot.connect(broker_node(to) if to else CONTROLLER))

    def bring(self, which: int, messages: list[Any]) -> None:
        if not self.open:
            self.connect(which % 4)
        connection = self.open[which % len(self.open)]
        for message in messages:
            self.slot.send(connection, message)
        self.last = messages

    @rule(
        which=st.integers(0, 5),
        seed=st.integers(0, 2**32),
        count=st.integers(1, 12),
        pause_us=st.sampled_from([0, 2_000, 50_000, SECOND]),
    )
    def send(self, which: int, seed: int, count: int, pause_us: int) -> None:
        random, known = Random(seed), self.slot.node.known
        messages = []
        for _ in range(count):
            is_likely = random.random() < 0.9
            kind = random.choice(LIKELY if is_likely else VOCABULARY)
            messages.append(Draw(random, not is_likely or random.random() < 0.1, known).message(kind))
        self.bring(which, messages)
        self.world.advance(self.world.now_us + pause_us)

    @rule(which=st.integers(0, 5))
    def send_again(self, which: int) -> None:
        self.bring(which, self.last)

    @rule(seed=st.integers(0, 2**32), count=st.integers(1, 3))
    def spoils_as_an_operator(self, seed: int, count: int) -> None:
        """An operator may do all; what makes no sense is refused. (Brokers and moves are left alone: what a
        tool takes away no client has.)"""
        random, connection = Random(seed), self.slot.connect(CONTROLLER)
        self.slot.node.state.append(connection)
        self.world.advance(self.world.now_us + 2_000)
        controller: Any = self.world.slots[CONTROLLER].node
        controller.state.clients[connection] = TOOL
        for _ in range(count):
            request = Draw(random, True, []).message(
                random.choice((c.CreateTopicsRequest, c.CreatePartitionsRequest, c.ElectLeadersRequest))
            )
            if not (isinstance(request, c.ElectLeadersRequest) and request.election_type):
                self.slot.send(connection, request)
        self.world.advance(self.world.now_us + 50_000)
        if connection in self.slot.node.state:
            self.close(self.slot.node.state.index(connection))

    @rule(which=st.integers(0, 5))
    def close(self, which: int) -> None:
        if self.open:
            connection = self.open[which % len(self.open)]
            self.slot.close(connection)
            self.slot.node.state.remove(connection)

    @rule(seconds=st.sampled_from([0.001, 0.5, 3, 12, 70]))
    def wait(self, seconds: float) -> None:
        self.cluster.run(seconds)

    @rule(partition=st.integers(0, 1))
    def good_ones_are_served(self, partition: int) -> None:
        self.cluster.run(1)
        key, leader = ("t", partition), 1 + partition
        value = f"good-{self.count}"
        self.count += 1
        request = self.cluster.produce_order(leader, value, key=key).request
        (produced,) = self.cluster.ask(leader, request, "good")[0].partitions
        assert produced.error_code == 0
        offset = produced.base_offset
        (fetched,) = self.cluster.ask(leader, r.FetchRequest(0, [r.FetchPartition(*key, offset)]), "good")[
            0
        ].partitions
        assert fetched.error_code == 0 and fetched.records[0].values == (value,)
        self.laws.consumed(key, offset, value)
        number = coordinator_partition("quiet", self.partitions_of_offsets)
        coordinator = (
            self.world.slots[CONTROLLER].node.state.rules.topics[OFFSETS_TOPIC].partitions[number].leader
        )
        commit = m.OffsetCommitRequest(
            "quiet", -1, "", [m.CommittedTopic("t", [m.CommittedPartition(0, self.count)])]
        )
        (answer,) = self.cluster.ask(coordinator, commit, "good")
        assert answer.topics[0].partitions[0].error_code == 0
        ask = m.OffsetFetchRequest([m.OffsetFetchGroup("quiet", topics=[m.FetchedTopic("t", [0])])])
        (answer,) = self.cluster.ask(coordinator, ask, "good")
        assert answer.groups[0].topics[0].partitions[0].committed_offset == self.count

    @property
    def partitions_of_offsets(self) -> int:
        return len(self.world.slots[CONTROLLER].node.state.rules.topics[OFFSETS_TOPIC].partitions)

    @invariant()
    def laws_hold(self) -> None:
        self.laws.look()

    @invariant()
    def states_can_be_kept(self) -> None:
        for broker in (1, 2, 3):
            state: Any = self.world.slots[broker_node(broker)].node.state
            kept = to_plain(state)
            assert encode(to_plain(from_plain(kept, BrokerState))) == encode(kept)
            assert not [number for number in (*state.held, *state.sessions) if number not in state.clients]
        kept = to_plain(self.world.slots[CONTROLLER].node.state)
        assert encode(to_plain(from_plain(kept, ControllerState))) == encode(kept)

    def teardown(self) -> None:
        while self.open:
            self.close(0)
        self.cluster.run(90)
        self.good_ones_are_served(0)
        self.good_ones_are_served(1)
        self.laws.check_calm()


HostileClient.TestCase.settings = settings(max_examples=25, stateful_step_count=20, deadline=None)
TestHostileClient = HostileClient.TestCase
