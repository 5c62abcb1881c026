"""A hostile client beside a good one: any command, any field, in any order, whatever the state of the connection.

The broker never raises, what it holds stays sound, also when it is restored from a checkpoint, and the good client
gets each entry of the topic once and in order. In the end a fresh consumer of each subscription is sent all that is
not acknowledged.
"""

from __future__ import annotations

from typing import Any

from hypothesis import settings
from hypothesis import strategies as st
from hypothesis.stateful import RuleBasedStateMachine, initialize, invariant, precondition, rule

from broker_core.plain import from_plain, to_plain
from broker_core.pulsar import commands as c
from broker_core.pulsar.broker import Broker
from broker_core.pulsar.broker_state import BrokerState, consumer_key
from broker_core.pulsar.dispatchers.active import ActiveDispatcher
from broker_core.pulsar.settings import DRAINING, KEY_SHARED, RECENTLY_JOINED, TYPES, BrokerSettings
from broker_core.sim.node import Closed, Opened
from tests.core.playbook import Played

PRODUCER, GOOD, FIRST_BAD = 1, 2, 3
TOPIC = "topic"
BATCH = 5
SECOND = 1_000_000

texts = st.text(st.characters(exclude_categories=("Cs",)), max_size=4)
int32 = st.one_of(st.integers(-3, 6), st.integers(-(1 << 31), (1 << 31) - 1))
int64 = st.one_of(st.integers(-3, 12), st.integers(-(1 << 63), (1 << 63) - 1))
consumer_ids = st.one_of(st.integers(1, 3), int64)
request_ids = st.integers(0, 5)
topics = st.one_of(st.just(TOPIC), st.sampled_from(["other", "a|b", "x:y", "topic-partition-0"]), texts)
subscriptions = st.sampled_from(["bad", "worse", "a|b", "c:d", ""])
partitions = st.one_of(st.just(-1), st.integers(-2, 2))
entries = st.lists(int64, max_size=6)
places = st.one_of(st.none(), st.dictionaries(int64, st.lists(int64, max_size=5), max_size=3))
ranges = st.lists(
    st.tuples(st.integers(-5, 70_000), st.integers(-5, 70_000)) | st.just((0, 65_535)), max_size=3
)
COMMANDS: list[st.SearchStrategy[Any]] = [
    st.builds(c.CommandProducer, consumer_ids, topics, partitions, texts, st.booleans()),
    st.builds(
        c.CommandSend,
        consumer_ids,
        int64,
        int64,
        int64,
        int64,
        st.lists(int64, max_size=4).map(tuple),
        st.one_of(st.just(0), st.integers(-5, 5 * SECOND)),
        int32,
        int64,
    ),
    st.builds(
        c.CommandSubscribe,
        request_ids,
        consumer_ids,
        texts,
        ranges,
        st.one_of(st.sampled_from(TYPES), texts),
        topics,
        partitions,
        subscriptions,
        int32,
        st.booleans(),
        st.one_of(st.sampled_from(["earliest", "latest"]), texts),
    ),
    st.builds(c.CommandFlow, consumer_ids, st.one_of(st.integers(1, 30), int32)),
    st.builds(c.CommandAck, consumer_ids, entries, st.booleans(), places),
    st.builds(c.CommandRedeliverUnacknowledgedMessages, consumer_ids, entries),
    st.builds(c.CommandSeek, request_ids, consumer_ids, int64, int64),
    st.builds(c.CommandUnsubscribe, request_ids, consumer_ids),
    st.builds(c.CommandCloseConsumer, request_ids, consumer_ids),
    st.just(c.CommandPing()),
    st.just(c.CommandPong()),
]
ANSWERS: list[st.SearchStrategy[Any]] = [
    st.builds(c.CommandSuccess, request_ids),
    st.builds(c.CommandError, request_ids, texts, texts),
    st.builds(c.CommandSendReceipt, consumer_ids, int64, int64),
    st.builds(c.CommandMessage, consumer_ids, int64, int64),
    st.builds(c.CommandActiveConsumerChange, consumer_ids, st.booleans()),
]


def hash_of(code: int) -> int:
    return code * 7_919 & 0xFFFFFFFF


class Hostile(RuleBasedStateMachine):
    @initialize(
        options=st.fixed_dictionaries(
            {
                "algorithm": st.sampled_from(
                    ["consistent_hash", "consistent_hash_current", "auto_split", "sticky"]
                ),
                "order": st.sampled_from([RECENTLY_JOINED, DRAINING]),
                "read_batch": st.sampled_from([1, 3, 100]),
                "failover_delay_us": st.sampled_from([0, SECOND]),
                "failover_uses_ring": st.booleans(),
                "unacked_max": st.sampled_from([0, 1, 4]),
                "unacked_all_max": st.sampled_from([0, 2, 6]),  # 1 is never released, there either
                "has_dedup": st.booleans(),
                "retention": st.sampled_from([0, 3]),
            }
        ),
        good=st.sampled_from(TYPES),
    )
    def begin(self, options: dict[str, Any], good: str) -> None:
        self.rules, self.now_us = BrokerSettings(**options), 0
        self.node, self.out = Broker(BrokerState(), hash_of, self.rules), Played("broker")
        self.number, self.open, self.got = FIRST_BAD - 1, list[int](), list[int]()
        self.said: list[Any] = []
        self.say(PRODUCER, Opened("producer"), c.CommandProducer(1, TOPIC, name="producer"))
        whole = [(0, 65_535)] if good == KEY_SHARED and options["algorithm"] == "sticky" else []
        self.say(
            GOOD,
            Opened("good"),
            c.CommandSubscribe(1, 1, "good", whole, good, TOPIC, subscription="good"),
            c.CommandFlow(1, 1_000),
        )
        self.new_connection()

    def say(self, connection: int, *messages: Any) -> None:
        for message in messages:
            self.node.receive(connection, message, self.now_us, self.out)
            self.answer()

    def answer(self) -> None:
        """The good ones say that they are alive, and acknowledge what comes."""
        while sent := self.out.take():
            for connection, message in sent:
                if connection in (PRODUCER, GOOD) and type(message) is c.CommandPing:
                    self.node.receive(connection, c.CommandPong(), self.now_us, self.out)
                elif connection == GOOD and type(message) is c.CommandMessage:
                    assert message.consumer_id == 1 and not message.redelivery_count
                    self.got.append(message.entry)
                    self.node.receive(connection, c.CommandAck(1, [message.entry]), self.now_us, self.out)
                    size = len(message.batch) or 1
                    self.node.receive(connection, c.CommandFlow(1, size), self.now_us, self.out)

    # -- what the hostile one does -----------------------------------------------------------------------------

    @rule()
    def new_connection(self) -> None:
        self.number += 1
        self.open.append(self.number)
        self.say(self.number, Opened("bad"))

    def bad(self, place: int) -> int:
        """One of its connections, also one that is over."""
        return FIRST_BAD + place % (self.number - FIRST_BAD + 1)

    @rule(place=st.integers(0, 9), commands=st.lists(st.one_of(COMMANDS), min_size=1, max_size=6))
    def commands(self, place: int, commands: list[Any]) -> None:
        self.said = commands
        self.say(self.bad(place), *commands)

    @rule(place=st.integers(0, 9))
    def doubled(self, place: int) -> None:
        self.say(self.bad(place), *self.said)

    @rule(place=st.integers(0, 9), answer=st.one_of(ANSWERS))
    def response(self, place: int, answer: Any) -> None:
        connection = self.bad(place)
        self.say(connection, answer)
        assert connection not in self.node.state.connections

    @rule(
        place=st.integers(0, 9),
        kind=st.sampled_from(TYPES),
        name=texts,
        asked=ranges,
        subscription=st.sampled_from(["bad", "worse"]),
        number=st.integers(1, 2),
        permits=st.integers(1, 20),
    )
    def joins(
        self,
        place: int,
        kind: str,
        name: str,
        asked: Any,
        subscription: str,
        number: int,
        permits: int,
    ) -> None:
        """What makes sense, too, so that there is something to spoil."""
        command = c.CommandSubscribe(1, number, name, asked, kind, TOPIC, subscription=subscription)
        live = [known for known in self.node.state.connections if known >= FIRST_BAD]
        connection = live[place % len(live)] if live else self.bad(place)
        self.say(connection, command, c.CommandFlow(number, permits))

    @precondition(lambda self: self.attached)
    @rule(
        place=st.integers(0, 9),
        some=st.lists(st.integers(-2, 8), max_size=5),
        batches=st.dictionaries(st.integers(-2, 8), st.lists(st.integers(-2, 7), max_size=5), max_size=3),
        up_to=st.booleans(),
        is_again=st.booleans(),
    )
    def acknowledges(
        self, place: int, some: list[int], batches: dict[int, list[int]], up_to: bool, is_again: bool
    ) -> None:
        """Around what is not acknowledged; and asks for the same again."""
        connection, number = self.attached[place % len(self.attached)]
        first = self.node.of_consumer[connection, number][1].cursor.mark_delete + 1
        positions = [first + one for one in some]
        in_batch = {first + one: places for one, places in batches.items()}
        self.say(connection, c.CommandAck(number, positions, up_to, in_batch))
        if is_again:
            self.say(connection, c.CommandRedeliverUnacknowledgedMessages(number, positions))
        self.say(connection, c.CommandFlow(number, 5))

    @property
    def attached(self) -> list[tuple[int, int]]:
        """Its consumers that the broker has let in."""
        return [known for known in self.node.of_consumer if known[0] != GOOD]

    @rule(place=st.integers(0, 9), reason=st.sampled_from(["closed", "reset"]))
    def goes(self, place: int, reason: str) -> None:
        self.say(self.bad(place), Closed(reason))

    # -- and the world beside it -------------------------------------------------------------------------------

    @rule(keys=st.lists(st.integers(-1, 5), min_size=1, max_size=6), is_batch=st.booleans())
    def publishes(self, keys: list[int], is_batch: bool) -> None:
        for key in keys:
            number = self.node.topic(TOPIC, -1).ledger.messages
            batch = tuple(range(number, number + BATCH)) if is_batch else ()
            self.say(PRODUCER, c.CommandSend(1, number, key, batch=batch))

    @precondition(lambda self: self.out.deadlines)
    @rule(place=st.integers(0, 99))
    def wakes(self, place: int) -> None:
        name = sorted(self.out.deadlines)[place % len(self.out.deadlines)]
        self.wake(name)

    def wake(self, name: str) -> None:
        self.now_us = max(self.now_us, self.out.deadlines.pop(name))
        self.node.wake(name, self.now_us, self.out)
        self.answer()

    @rule()
    def is_restored(self) -> None:
        kept = to_plain(self.node.state)
        self.node = Broker(from_plain(kept, BrokerState), hash_of, self.rules)
        assert to_plain(self.node.state) == kept

    # -- laws --------------------------------------------------------------------------------------------------

    @invariant()
    def good_client_is_served(self) -> None:
        assert {PRODUCER, GOOD} <= self.node.state.connections.keys()
        ledger = self.node.topic(TOPIC, -1).ledger
        later = self.node.find("good").dispatcher
        waits = [] if isinstance(later, ActiveDispatcher) else [position for _, position in later.delayed]
        if not (isinstance(later, ActiveDispatcher) and later.switching):
            assert sorted(self.got + waits) == list(range(ledger.end))
        if not self.has_delays:
            assert self.got == sorted(self.got)

    @property
    def has_delays(self) -> bool:
        return getattr(self.node.find("good").dispatcher, "has_delayed", False)

    @invariant()
    def books_are_sound(self) -> None:
        node = self.node
        assert not self.out.closed or not set(self.out.closed) & node.state.connections.keys()
        attached = set()
        for number, connection in node.state.connections.items():
            for consumer_id, known in connection.consumers.items():
                key = consumer_key(number, consumer_id)
                attached.add(key)
                subscription = node.state.topics[known.topic].subscriptions[known.subscription]
                assert key in subscription.attached.consumers
                assert node.consumers[key] == (number, consumer_id)
        assert attached == node.consumers.keys()
        for topic in node.state.topics.values():
            for subscription in topic.subscriptions.values():
                self.check(topic, subscription, attached)

    def check(self, topic: Any, subscription: Any, attached: set[str]) -> None:
        subscription.check()
        cursor, dispatcher = subscription.cursor, subscription.dispatcher
        assert topic.ledger.first - 1 <= cursor.mark_delete < cursor.end == topic.ledger.end
        for position, acked in cursor.acked_in_batch.items():
            assert acked == sorted({*acked} & {*range(topic.ledger.entries[position].size)})
            assert len(acked) < topic.ledger.entries[position].size
        if dispatcher is None:
            return
        assert dispatcher.consumers.keys() <= attached
        if not isinstance(dispatcher, ActiveDispatcher):
            unacked = {
                key: sum(cursor.left(at, topic.ledger.entries[at].size) for at in known.pending)
                for key, known in dispatcher.consumers.items()
            }
            assert unacked == {key: known.unacked for key, known in dispatcher.consumers.items()}
            assert dispatcher.unacked == sum(unacked.values())

    def teardown(self) -> None:
        """All that is hostile goes; whatever is not acknowledged is there for who comes then."""
        for connection in range(FIRST_BAD, self.number + 1):
            self.say(connection, Closed("reset"))
        self.books_are_sound()
        for topic in list(self.node.state.topics.values()):
            for subscription in list(topic.subscriptions.values()):
                if subscription.name != "good":
                    self.drain(topic, subscription)

    def drain(self, topic: Any, subscription: Any) -> None:
        cursor = subscription.cursor
        left = [at for at in range(cursor.mark_delete + 1, cursor.end) if not cursor.is_acked(at)]
        connection, kind = self.number + 100, subscription.type or KEY_SHARED
        self.number += 1
        out, self.out = self.out, Played("broker")
        self.out.deadlines = out.deadlines
        node = self.node
        node.receive(connection, Opened("fresh"), self.now_us, self.out)
        whole = [(0, 65_535)] if self.rules.algorithm == "sticky" else []
        node.receive(
            connection,
            c.CommandSubscribe(1, 1, "fresh", whole, kind, topic.name, topic.partition, subscription.name),
            self.now_us,
            self.out,
        )
        got, end_us = [], self.now_us + 10 * SECOND
        for _ in range(len(left) + 3):
            for to, message in self.out.take():
                if to == connection and type(message) is c.CommandMessage and message.entry not in got:
                    got.append(message.entry)
                    node.receive(connection, c.CommandAck(1, [message.entry]), end_us, self.out)
            node.receive(connection, c.CommandFlow(1, 100), end_us, self.out)
            timers = [
                name for name in self.out.deadlines if name.startswith(("switch", "delayed", "unblock"))
            ]
            for name in timers:
                del self.out.deadlines[name]
                node.wake(name, end_us, self.out)
        assert sorted(got) == left, (sorted(got), left, subscription.to_json())
        node.receive(connection, Closed("closed"), end_us, self.out)
        self.out = out


TestHostile = Hostile.TestCase
TestHostile.settings = settings(max_examples=100, stateful_step_count=30, deadline=None)
