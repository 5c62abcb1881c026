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
from broker_core.rabbitmq.client import hello
from broker_core.rabbitmq.client.publisher import Declare, PublisherState
from broker_core.rabbitmq.client.worker import Subscribe, Worker, WorkerState
from broker_core.rabbitmq.messages import FIRST_STORED
from broker_core.rabbitmq.properties import Content, Properties
from broker_core.sim.design import Design
from broker_core.sim.node import Closed, Opened
from broker_core.sim.program import Order, Program
from broker_core.sim.world import World
from tests.core.playbook import Counted, Played
from tests.core.rabbitmq.laws import check_laws
from tests.core.rabbitmq.plays import play, queue_of
from tests.core.rabbitmq.programs import publisher, publisher_state, worker_state

NUMBERS = (0, 1, 2, -1, -1, -(2**70), 65_536, 2**64)
NAMES = (
    "", "q", "q", "r", "c", "x", "dead", "amq.x", "amq.topic", "amq.headers", "amq.gen-x", "q\n", "a.b:c", "a.#",
    "\u00e9" * 128, "n" * 255, "\ud800", "\0guest\0guest",
)  # fmt: skip
CHANNELS = (1, 1, 1, 1, 2, 0, -1, 65_536)
METHODS: tuple[type[Any], ...] = m.Method.__args__
VALUES = (
    0, 1, 5, -1, 2**80, True, None, 1.5, "", "q", "dead", "any", "reject-publish", "reject-publish-dlx", [1, "a"],
    {"k": 1}, {"$t": "l", "v": 3}, {"$t": "l", "v": "x"}, {"$t": "?", "v": 1}, {"$t": "x", "v": "6g"}, {1: 2},
)  # fmt: skip
ARGUMENTS = (
    "x-max-length", "x-max-length-bytes", "x-overflow", "x-message-ttl", "x-expires", "x-dead-letter-exchange",
    "x-dead-letter-routing-key", "x-max-priority", "x-single-active-consumer", "x-priority", "x-match", "x-queue-type",
    "alternate-exchange", "k", "CC", "BCC", "x-death", "connection_name", "capabilities",
)  # fmt: skip
SANE: dict[str, tuple[Any, ...]] = {
    "x-max-length": (0, 1, 3), "x-max-length-bytes": (0, 2), "x-overflow": ("reject-publish", "reject-publish-dlx"),
    "x-message-ttl": (0, 1, 5), "x-expires": (1, 1000), "x-dead-letter-exchange": ("", "dead", "x"),
    "x-max-priority": (0, 2), "x-single-active-consumer": (True,),
}  # fmt: skip
KINDS = ("direct", "fanout", "topic", "headers")


def any_table(random: Random) -> dict[Any, Any]:
    return {random.choice(ARGUMENTS): random.choice(VALUES) for _ in range(random.choice((0, 0, 1, 2)))}


def any_content(random: Random) -> Content:
    properties = Properties(
        headers=random.choice((None, None, any_table(random))),
        delivery_mode=random.choice((None, None, 1, 2, 3, -1)),
        priority=random.choice((None, 0, 1, 9, 256)),
        expiration=random.choice((None, None, "0", "1", "x", "-1", "")),
        user_id=random.choice((None, None, "guest", "other")),
        reply_to=random.choice((None, "amq.rabbitmq.reply-to")),
    )
    return Content(properties, random.choice((b"", b"abc")))


def any_method(random: Random) -> Any:
    """A method of the vocabulary, its fields anything."""
    kind = random.choice(METHODS)

    def value(name: str, of: str) -> Any:
        if of == "Table":
            return any_table(random)
        if of == "int | Content":
            return random.choice((*NUMBERS, FIRST_STORED, any_content(random), any_content(random)))
        if of == "Value":
            return random.choice((*NAMES, b"\xff\x00"))
        if name == "type_":
            return random.choice((*KINDS, "", "x"))
        return random.choice(
            CHANNELS if name == "channel" else {"int": NUMBERS, "str": NAMES, "bool": (False, True)}[of]
        )

    return kind(**{name: value(name, str(of)) for name, of in kind.__annotations__.items()})


def method_on_channel_1(random: Random) -> Any:
    """What may well be sent there: else no connection lives long enough for what is wrong."""
    tag = random.choice(("", "c", "d", "a.b:c"))
    queue, exchange = random.choice(("q", "r", "s", "")), random.choice(("", "x", "dead", "amq.topic"))
    arguments = {
        name: random.choice(SANE[name]) for name in random.sample(list(SANE), random.choice((0, 1, 2, 3)))
    }
    content = Content(
        Properties(
            delivery_mode=random.choice((None, 2)), priority=random.choice((None, 1, 5)),
            expiration=random.choice((None, "0", "3")), headers=random.choice((None, {"CC": ["r", "s"]}, {"k": 1})),
        ),
        b"ab",
    )  # fmt: skip
    flag = random.random() < 0.5
    return random.choice(
        (
            m.QueueDeclare(1, random.choice(("r", "s", "")), arguments=arguments, auto_delete=flag),
            m.ExchangeDeclare(1, random.choice(("x", "dead")), random.choice(KINDS), auto_delete=flag),
            m.QueueBind(1, queue, random.choice(("x", "dead", "amq.topic")), random.choice(("", "#", "k"))),
            m.ExchangeBind(1, random.choice(("x", "dead")), random.choice(("x", "dead")), "#"),
            m.QueueUnbind(1, queue, "x", "#"),
            m.BasicConsume(1, queue, tag, no_ack=flag, arguments={"x-priority": random.choice((0, 1))}),
            m.BasicConsume(1, queue, tag),
            m.BasicPublish(1, "", random.choice(("q", "q", "r", "")), message=random.randint(0, 3)),
            m.BasicPublish(
                1, exchange, random.choice(("q", "r", "k", "")), random.random() < 0.5, message=content
            ),
            m.BasicPublish(1, exchange, random.choice(("q", "r", "k", "")), message=content),
            m.BasicGet(1, queue, flag),
            m.BasicAck(1, random.randint(0, 5), True),
            m.BasicNack(1, random.randint(0, 5), True, flag),
            m.BasicReject(1, random.randint(1, 4), flag),
            m.BasicRecover(1, True),
            m.BasicCancel(1, tag),
            m.BasicQos(1, 0, random.choice((0, 1, 2, 3)), flag),
            m.QueuePurge(1, queue),
            m.QueueDelete(1, random.choice(("r", "s")), flag),
            m.ExchangeDelete(1, random.choice(("x", "dead")), flag),
            m.ConfirmSelect(1),
            random.choice((m.TxSelect(1), m.TxCommit(1), m.TxRollback(1))),
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
                "broker": (BrokerState, Broker), "publisher": (PublisherState, publisher),
                "worker": (WorkerState, lambda state: Worker(state, self.traffic)), "hostile": (list, Hostile),
            },
            m.Method | Declare | Subscribe | Order,
        )  # fmt: skip
        self.world = World("rabbit", design, 7)
        self.world.start("broker", "broker", BrokerState())
        self.world.start("publisher", "publisher", publisher_state("good"))
        self.world.order("publisher", Declare("broker"))
        self.world.start("worker", "worker", worker_state("worker", "good", 2, Program(MILLISECOND_US)))
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
            for method in (*hello("hostile"), m.ChannelOpen(1), m.QueueDeclare(1, "q")) if is_ready else ():
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
    def the_laws_hold(self) -> None:
        check_laws(self.world.slots["broker"].node)

    @invariant()
    def the_state_can_be_kept(self) -> None:
        kept = to_plain(self.broker)
        restored = from_plain(kept, BrokerState)
        assert to_plain(restored) == kept
        check_laws(Broker(restored))


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
        (m.ChannelClose(-1, 0, ""), 502, "SYNTAX_ERROR - channel -1 does not fit its field"),
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
    assert (
        out.closed == [1]
        and queue_of(node, "q").head(3) == [(0, True)]
        and queue_of(node, "q").message(0) == 5
    )


def test_server_names_a_queue_and_a_tag_that_come_without_one() -> None:
    node, out = opened()
    play(node, out, 1, m.QueueDeclare(1, ""), m.BasicConsume(1, "", ""), m.QueueDeclare(1, "r\r\n"))
    queues = node.state.vhosts["/"].queues
    made = [name for name in queues if name.startswith("amq.gen-")]
    assert len(made) == 1 and len(made[0]) == 30 and list(queues) == ["q", *made, "r"]
    ((tag, queue),) = node.state.connections[1].channels[1].consumers.items()
    assert tag.startswith("amq.ctag-") and len(tag) == 31 and queue == queues[made[0]].number
    assert play(node, out, 1, m.QueueDeclare(1, made[0], passive=True)) == [], "it may be asked for"


def test_message_that_is_published_twice_has_two_places() -> None:
    node, out = opened()
    play(node, out, 1, *[m.BasicPublish(1, "", "q", message=message) for message in (7, 7, 1)])
    sent = play(node, out, 1, m.BasicConsume(1, "q", "c"))
    assert [(method.delivery_tag, method.message) for _, method in sent] == [(1, 7), (2, 7), (3, 1)]
    play(node, out, 1, m.BasicAck(1, 2))
    assert queue_of(node, "q").unacked("1.1.c") == [(0, False), (2, False)] and queue_of(node, "q").acked == 1
