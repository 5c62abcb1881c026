"""A client that sends any method, with any fields, in any order, in any state: the broker answers it as RabbitMQ
does, keeps its laws, and serves a good client beside it."""

from __future__ import annotations

from random import Random
from typing import Any

import pytest
from hypothesis import settings
from hypothesis import strategies as st
from hypothesis.stateful import RuleBasedStateMachine, invariant, rule

from broker_core.clock import MILLISECOND_US, SECOND_US
from broker_core.plain import from_plain, to_plain
from broker_core.rabbitmq import methods as m
from broker_core.rabbitmq.broker import Broker
from broker_core.rabbitmq.broker_base import BrokerState
from broker_core.rabbitmq.client.publisher import Declare, Publisher, PublisherState
from broker_core.rabbitmq.client.worker import Subscribe, Worker, WorkerState
from broker_core.rabbitmq.handlers import CHANNEL_HANDLERS, CONNECTION_HANDLERS
from broker_core.sim.design import Design
from broker_core.sim.node import Closed, Opened
from broker_core.sim.program import Order, Program
from broker_core.sim.world import World
from tests.core.playbook import Counted, Played, play

NUMBERS = (0, 1, 2, -1, -1, -(2**70), 65_536, 2**64)
NAMES = ("", "q", "q", "r", "c", "amq.x", "amq.gen-x", "q\n", "a.b:c", "\u00e9" * 128, "n" * 255)
CHANNELS = (1, 1, 1, 1, 2, 0, -1, 65_536)
METHODS: tuple[type[Any], ...] = (*CHANNEL_HANDLERS, *CONNECTION_HANDLERS)


def any_method(random: Random) -> Any:
    """A method of the vocabulary, its fields anything."""
    kind = random.choice(METHODS)
    values = {
        "int": NUMBERS, "str": NAMES, "bool": (False, True), "Table": ({}, {"connection_name": "x"}),
        "int | Content": NUMBERS,
    }  # fmt: skip
    return kind(
        **{
            name: random.choice(CHANNELS if name == "channel" else values[str(of)])
            for name, of in kind.__annotations__.items()
        }
    )


def method_on_channel_1(random: Random) -> Any:
    """What may well be sent there: else no connection lives long enough for what is wrong."""
    tag = random.choice(("", "c", "d", "a.b:c"))
    return random.choice(
        (
            m.BasicConsume(1, random.choice(("q", "")), tag),
            m.BasicPublish(1, "", random.choice(("q", "q", "r", "")), message=random.randint(-3, 3)),
            m.BasicAck(1, random.randint(0, 5), True),
            m.BasicNack(1, random.randint(0, 5), True, True),
            m.BasicCancel(1, tag),
            m.BasicQos(1, 0, random.choice((0, 1, 2, 3, -1))),
        )
    )


class Hostile:
    """A client that sends what it was given and keeps what it hears. state: connections that are open to it."""

    def __init__(self, state: list[int]) -> None:
        self.state = state
        self.heard: list[Any] = []

    def receive(self, connection: int, message: Any, now_us: int, out: Any) -> None:
        self.heard.append(message)
        if type(message) is Closed:
            self.state.remove(connection)

    def wake(self, name: str, now_us: int, out: Any) -> None:
        """It sets no deadlines."""


class HostileClient(RuleBasedStateMachine):
    """A broker in a world, with a publisher and a worker that do as they should, and one that does not."""

    def __init__(self) -> None:
        super().__init__()
        self.traffic = Counted()
        design = Design(
            {
                "broker": (BrokerState, Broker), "publisher": (PublisherState, Publisher),
                "worker": (WorkerState, lambda state: Worker(state, self.traffic)), "hostile": (list, Hostile),
            },
            m.Method | Declare | Subscribe | Order,
        )  # fmt: skip
        self.world = World("rabbit", design, 7)
        self.world.start("broker", "broker", BrokerState())
        self.world.start("publisher", "publisher", PublisherState("good"))
        self.world.order("publisher", Declare("broker"))
        self.world.start("worker", "worker", WorkerState("worker", "good", 2, Program(MILLISECOND_US)))
        self.world.order("worker", Subscribe("broker"))
        self.world.start("hostile", "hostile", [])
        self.slot: Any = self.world.slots["hostile"]
        self.published = 0
        self.pass_time(10 * MILLISECOND_US)

    @property
    def broker(self) -> BrokerState:
        state: BrokerState = self.world.slots["broker"].node.state
        return state

    def pass_time(self, wait_us: int) -> None:
        self.world.advance(self.world.now_us + wait_us)
        self.world.told.clear()

    def connection(self, which: int) -> int:
        """One of its open connections; a new one if it has none."""
        if not self.slot.node.state:
            self.connect(True)
        connections = self.slot.node.state
        return int(connections[which % len(connections)])

    @rule(is_ready=st.booleans())
    def connect(self, is_ready: bool) -> None:
        if len(self.slot.node.state) < 3:
            connection = self.slot.connect("broker")
            self.slot.node.state.append(connection)
            for method in (m.ChannelOpen(1), m.QueueDeclare(1, "q")) if is_ready else ():
                self.slot.send(connection, method)

    @rule(which=st.integers(0, 2), seed=st.integers(0, 2**32), count=st.integers(1, 12))
    def send(self, which: int, seed: int, count: int) -> None:
        connection, random = self.connection(which), Random(seed)
        methods: list[Any] = []
        if self.slot.node.heard and type(self.slot.node.heard[-1]) is m.ChannelClose:
            methods += [m.ChannelCloseOk(1), m.ChannelOpen(1)]
        for _ in range(count):
            methods.append(any_method(random) if random.random() < 0.15 else method_on_channel_1(random))
        for method in methods:
            self.slot.send(connection, method)
        if random.random() < 0.8:
            self.pass_time(3 * MILLISECOND_US)

    @rule(which=st.integers(0, 2))
    def close(self, which: int) -> None:
        connection = self.connection(which)
        self.slot.close(connection)
        self.slot.node.state.remove(connection)

    @rule(
        wait_us=st.sampled_from([1_000, 5_000, SECOND_US, 61 * SECOND_US, 200 * SECOND_US, 2_000 * SECOND_US])
    )
    def wait(self, wait_us: int) -> None:
        self.pass_time(wait_us)

    @rule(count=st.integers(1, 5))
    def publish_to_the_good_client(self, count: int) -> None:
        slot: Any = self.world.slots["publisher"]
        for _ in range(count):
            slot.send(*slot.node.publish(self.published, -1))
            self.published += 1
        self.pass_time(SECOND_US)
        done = {message for what, message in self.traffic.log if what == "handled"}
        assert set(range(self.published)) <= done, "it is served"

    @invariant()
    def each_message_is_ready_held_or_done(self) -> None:
        held: dict[str, int] = {}
        for connection in self.broker.connections.values():
            for channel in connection.channels.values():
                assert channel.number not in connection.closing
                for key, position, _ in channel.unacked.values():
                    queue = self.broker.queues[channel.consumers[key.split(".", 2)[2]]]
                    assert position in dict(queue.unacked(key))
                    held[key] = held.get(key, 0) + 1
        for queue in self.broker.queues.values():
            of_queue = sum(queue.unacked_count(key) for key in queue.consumers)
            assert queue.ready + of_queue + queue.acked == queue.published
            assert all(queue.unacked_count(key) == held.get(key, 0) for key in queue.consumers)
            assert all(
                not consumer.prefetch or len(consumer.unacked) <= consumer.prefetch
                for consumer in queue.consumers.values()
            )
            assert not queue.turn_order or not queue.ready, "nothing waits while somebody has a turn"

    @invariant()
    def the_state_can_be_kept(self) -> None:
        kept = to_plain(self.broker)
        assert to_plain(from_plain(kept, BrokerState)) == kept


HostileClient.TestCase.settings = settings(max_examples=60, stateful_step_count=30, deadline=None)
TestHostileClient = HostileClient.TestCase


# -- each answer ---------------------------------------------------------------------------------------------


def opened() -> tuple[Broker, Any]:
    """A client on connection 1 with channel 1 open and a queue declared."""
    node, out = Broker(BrokerState()), Played("broker")
    play(node, out, 1, Opened("client"), m.ChannelOpen(1), m.QueueDeclare(1, "q"))
    return node, out


@pytest.mark.parametrize(
    ("method", "code", "text"),
    [
        (m.BasicDeliver(1, "c", 1, False, "", "q", 0), 503, "COMMAND_INVALID - unimplemented method"),
        (m.ChannelCloseOk(1), 503, "COMMAND_INVALID - unimplemented method"),
        (m.BasicDeliver(2, "c", 1, False, "", "q", 0), 504, "CHANNEL_ERROR - expected 'channel.open'"),
        (m.ChannelCloseOk(2), 504, "CHANNEL_ERROR - expected 'channel.open'"),
        (m.ChannelClose(-1, 0, ""), 504, "CHANNEL_ERROR - expected 'channel.open'"),
        (m.ChannelOpen(0), 504, "CHANNEL_ERROR - unexpected method in connection state running"),
        (m.ChannelCloseOk(0), 504, "CHANNEL_ERROR - unexpected method in connection state running"),
        (
            m.ConnectionStartOk({"connection_name": "x"}),
            504,
            "CHANNEL_ERROR - unexpected method in connection state running",
        ),
        (m.ConnectionCloseOk(), 504, "CHANNEL_ERROR - unexpected method in connection state running"),
        (m.ChannelOpen(-1), 502, "SYNTAX_ERROR - channel -1 does not fit its field"),
        (m.BasicQos(1, 0, 65_536), 502, "SYNTAX_ERROR - prefetch_count 65536 does not fit its field"),
        (m.BasicQos(1, 0, -1), 502, "SYNTAX_ERROR - prefetch_count -1 does not fit its field"),
    ],
    ids=repr,
)
def test_method_out_of_its_place_is_a_connection_exception(method: Any, code: int, text: str) -> None:
    node, out = opened()
    assert play(node, out, 1, method) == [(1, m.ConnectionClose(code, text))]
    assert out.closed == [1] and node.state.connections == {} and not out.deadlines


@pytest.mark.parametrize(
    "field", [m.QueueDeclare(1, "\u00e9" * 128), m.BasicConsume(1, "q", "n" * 256)], ids=["queue", "tag"]
)
def test_name_that_no_short_string_carries_is_a_connection_exception(field: Any) -> None:
    node, out = opened()
    ((_, answer),) = play(node, out, 1, field)
    assert answer.reply_code == 502 and len(answer.reply_text) < 160 and out.closed == [1]


@pytest.mark.parametrize(
    ("method", "code", "text"),
    [
        (
            m.QueueDeclare(1, "amq.x"),
            403,
            "ACCESS_REFUSED - queue name 'amq.x' contains reserved prefix 'amq.*'",
        ),
        (m.BasicConsume(1, "", "c"), 404, "NOT_FOUND - no previously declared queue"),
        (m.BasicAck(1, 0), 406, "PRECONDITION_FAILED - unknown delivery tag 0"),
        (m.BasicAck(1, -1, True), 406, "PRECONDITION_FAILED - unknown delivery tag -1"),
        (m.BasicNack(1, 2**70, True, True), 406, f"PRECONDITION_FAILED - unknown delivery tag {2**70}"),
    ],
    ids=repr,
)
def test_impossible_order_on_a_channel_closes_the_channel_and_not_the_connection(
    method: Any, code: int, text: str
) -> None:
    node, out = Broker(BrokerState()), Played("broker")
    play(node, out, 1, Opened("client"), m.ChannelOpen(1))
    assert play(node, out, 1, method) == [(1, m.ChannelClose(1, code, text))] and out.closed == []
    assert play(node, out, 1, m.BasicDeliver(1, "c", 1, False, "", "q", 0)) == [], (
        "dropped until its close-ok"
    )
    play(node, out, 1, m.ChannelCloseOk(1), m.ChannelOpen(1))
    assert 1 in node.state.connections[1].channels


def test_one_channel_more_than_was_agreed_is_a_connection_exception() -> None:
    node, out = Broker(BrokerState()), Played("broker")
    play(node, out, 1, Opened("client"), *[m.ChannelOpen(number) for number in range(1, m.CHANNEL_MAX + 1)])
    ((_, answer),) = play(node, out, 1, m.ChannelOpen(m.CHANNEL_MAX + 1))
    assert answer.reply_code == 530 and answer.reply_text.startswith(
        "NOT_ALLOWED - number of channels opened (2047)"
    )


def test_client_that_closes_its_connection_is_answered_and_gives_back_what_it_holds() -> None:
    node, out = opened()
    play(node, out, 1, m.BasicConsume(1, "q", "c"), m.BasicPublish(1, "", "q", message=5))
    assert play(node, out, 1, m.ConnectionClose(200, "bye")) == [(1, m.ConnectionCloseOk())]
    assert out.closed == [1] and node.queues["q"].head(3) == [(0, True)] and node.queues["q"].message(0) == 5


def test_server_names_a_queue_and_a_tag_that_come_without_one() -> None:
    node, out = opened()
    play(node, out, 1, m.QueueDeclare(1, ""), m.BasicConsume(1, "", ""), m.QueueDeclare(1, "r\r\n"))
    made = [name for name in node.queues if name.startswith("amq.gen-")]
    assert len(made) == 1 and len(made[0]) == 30 and list(node.queues) == ["q", *made, "r"]
    ((tag, queue),) = node.state.connections[1].channels[1].consumers.items()
    assert tag.startswith("amq.ctag-") and len(tag) == 31 and queue == made[0]
    assert play(node, out, 1, m.QueueDeclare(1, made[0])) == [], "what is there may be declared again"


def test_message_that_is_published_twice_has_two_places() -> None:
    node, out = opened()
    play(node, out, 1, *[m.BasicPublish(1, "", "q", message=message) for message in (7, 7, -1)])
    sent = play(node, out, 1, m.BasicConsume(1, "q", "c"))
    assert [(method.delivery_tag, method.message) for _, method in sent] == [(1, 7), (2, 7), (3, -1)]
    play(node, out, 1, m.BasicAck(1, 2))
    assert node.queues["q"].unacked("1.1.c") == [(0, False), (2, False)] and node.queues["q"].acked == 1
