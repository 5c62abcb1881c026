"""A seeded life of a Pulsar subscription: its consumers come, leave, crash, freeze, get stuck, give messages
back, take other priorities and ranges; its producer's answers get lost, and it sends again.

One life is `SubscriptionLife(seed).run(steps)`; it ends with everything healed and all that was sent handled.
Broker and clients are the lane's own nodes in a world without a lab; the messages are numbers, a key is their
remainder.
"""

from __future__ import annotations

import random
from collections import Counter
from typing import Any

from broker_core.errors import CommandError
from broker_core.hashing.murmur3 import murmur3_32
from broker_core.pulsar import commands as c
from broker_core.pulsar.broker import Broker
from broker_core.pulsar.broker_state import BrokerState
from broker_core.pulsar.client.config import ConsumerConfig
from broker_core.pulsar.client.consumer import (
    Consumer,
    ConsumerOrder,
    HoldAcks,
    ReleaseAcks,
    Resubscribe,
    Subscribe,
)
from broker_core.pulsar.client.consumer_state import ConsumerState
from broker_core.pulsar.client.producer import DEFAULT, KEY_BASED, GiveUp, Open, Producer, ProducerState
from broker_core.pulsar.dispatchers.pending import PendingDispatcher
from broker_core.pulsar.settings import (
    DRAINING,
    FAILOVER,
    KEY_SHARED,
    RECENTLY_JOINED,
    SHARED,
    TYPES,
    BrokerSettings,
)
from broker_core.pulsar.subscription import Dispatcher, Subscription
from broker_core.pulsar.topic import Topic
from broker_core.sim.design import Design
from broker_core.sim.program import Leave, Order, Pause, Program, Resume
from broker_core.sim.slot import CRASHED
from broker_core.sim.world import World

MS, SECOND = 1_000, 1_000_000
KEYS, CONSUMERS_MAX = 40, 6
DEAD_LETTERS = "topic-subscription-DLQ"


class Handled:
    """What programs handled: message -> how often."""

    def __init__(self) -> None:
        self.count: Counter[int] = Counter()

    def received(self, program: str, message: int, now_us: int) -> None:
        """Nobody asks."""

    def handled(self, program: str, message: int, now_us: int) -> None:
        self.count[message] += 1

    def dropped(self, program: str, message: int, now_us: int) -> None:
        """It comes again."""


class WatchedBroker(Broker):
    """The broker, and the laws of what it sends: nothing acknowledged again; where keys have an owner, a key
    at one consumer at a time."""

    strict = False

    def deliver(self, subscription: Subscription, dispatcher: Dispatcher, sent: Any, out: Any) -> None:
        for key, position in sent:
            assert not subscription.cursor.is_acked(position), (
                f"entry {position} is acknowledged and goes to {key}"
            )
            if self.strict:
                hash32 = subscription.entries[position].hash32
                others = [
                    name
                    for name, known in subscription.attached.consumers.items()
                    if name != key and hash32 in known.pending.values()
                ]
                assert not others, f"entry {position} goes to {key} while {others} have its key"
        super().deliver(subscription, dispatcher, sent, out)


class SubscriptionLife:
    def __init__(self, seed: int) -> None:
        dice = self.dice = random.Random(seed)
        self.type = dice.choice(TYPES)
        self.partitions = dice.choice((0, 4)) if self.type != KEY_SHARED else 0
        self.topics = (
            dice.choice((0, 3)) if self.type not in (SHARED, KEY_SHARED) and not self.partitions else 0
        )
        self.receipts = dice.random() < 0.4
        self.has_dedup = self.receipts and dice.random() < 0.6
        self.order = dice.choice((RECENTLY_JOINED, DRAINING))
        self.out_of_order = dice.random() < 0.3
        asks_again = (
            dice.random() < 0.5
        )  # a negative acknowledgement carries no hash in 3.2, so order is not promised after one
        up_to = self.type not in (SHARED, KEY_SHARED) and not asks_again and dice.random() < 0.5
        self.config = ConsumerConfig(
            self.type,
            partitions=self.partitions,
            topics=self.topics,
            queue_size=dice.choice((2, 10, 1000)),
            allows_out_of_order=self.out_of_order,
            ack_group_us=dice.choice((0, 100 * MS)),
            acks_cumulatively=up_to,
            acks_batch_index=dice.random() < 0.5,
            nack_delay_us=300 * MS,
            ack_timeout_us=dice.choice((0, 2 * SECOND)) if asks_again else 0,
            cannot=7 if asks_again else 0,
            max_redeliver=2 if self.type in (SHARED, KEY_SHARED) else 0,
            uses_retry_topic=asks_again and self.type == SHARED and dice.random() < 0.5,
        )
        if asks_again and self.type not in (SHARED, KEY_SHARED):
            self.config.cannot = 0  # it would come for ever
        algorithm = dice.choice(("consistent_hash", "auto_split", "consistent_hash_current"))
        settings = BrokerSettings(
            algorithm,
            order=self.order,
            read_batch=dice.choice((3, 100)),
            failover_delay_us=dice.choice((0, SECOND)),
            unacked_max=dice.choice((0, 8)),
            unacked_all_max=dice.choice((0, 20)),
            failover_uses_ring=dice.random() < 0.3,
            has_dedup=self.has_dedup,
        )
        hashes = [murmur3_32(f"k{key}") for key in range(KEYS)]
        self.handled, self.told = Handled(), []
        self.batching = dice.choice(("", KEY_BASED, DEFAULT))
        strict = (
            self.type == KEY_SHARED and self.order == DRAINING and not self.out_of_order and not asks_again
        )

        def broker(state: BrokerState) -> WatchedBroker:
            node = WatchedBroker(state, hashes.__getitem__, settings)
            node.strict = strict
            return node

        design = Design(
            {
                "broker": (BrokerState, broker),
                "producer": (ProducerState, lambda state: Producer(state, hashes.__getitem__)),
                "consumer": (
                    ConsumerState,
                    lambda state: Consumer(state, self.handled, lambda message: message % KEYS),
                ),
            },
            c.Command | ConsumerOrder | Open | GiveUp | Order,
            MS,
            MS // 2,
        )
        self.world = World("life", design, seed, self.told.extend)
        self.world.start("(broker)", "broker", BrokerState())
        for topic, partition in c.parts_of(c.TOPIC, self.partitions, self.topics):
            self.broker.subscription(topic=topic, partition=partition)
        if self.config.uses_retry_topic:
            self.broker.subscription(topic="topic-subscription-RETRY")
        self.world.start("(producer)", "producer", ProducerState(
            self.batching, partitions=self.partitions, topics=self.topics, waits_for_receipts=self.receipts
        ))  # fmt: skip
        self.world.order("(producer)", Open("(broker)"))
        self.world.advance(SECOND)
        self.sent = self.names = 0
        self.marks: dict[tuple[str, str], int] = {}
        self.join()

    # --- what may happen

    @property
    def broker(self) -> Broker:
        node: Broker = self.world.slots["(broker)"].node
        return node

    @property
    def living(self) -> list[str]:
        return [
            slot.name
            for slot in self.world.slots.values()
            if slot.kind == "consumer" and slot.condition != CRASHED
        ]

    def state(self, name: str) -> ConsumerState:
        state: ConsumerState = self.world.slots[name].node.state
        return state

    def one(self) -> str:
        if not self.living:
            raise CommandError("consumer", "there is none")
        return self.dice.choice(self.living)

    def produce(self) -> None:
        slot = self.world.slots["(producer)"]
        for _ in range(self.dice.randrange(1, 8)):
            later = self.type == SHARED and self.dice.random() < 0.1
            slot.node.gather(
                self.sent,
                self.sent % KEYS,
                self.world.now_us,
                slot,
                -1,
                self.world.now_us + SECOND if later else 0,
            )
            self.sent += 1

    def join(self) -> None:
        if len(self.living) < CONSUMERS_MAX:
            self.names += 1
            name = f"c{self.names}"
            self.world.start(
                name,
                "consumer",
                ConsumerState(name, Program(self.dice.choice((1, 30, 200)) * MS), self.config),
            )
            self.world.order(name, Subscribe("(broker)", []))

    def leave(self) -> None:
        name = self.one()
        self.world.order(name, Leave())
        self.world.exit(name)

    def crash(self) -> None:
        self.world.crash(self.one())

    def reset(self) -> None:
        """The broker finds out about a crash at once."""
        silent = [
            slot
            for slot in self.world.slots.values()
            if slot.kind == "consumer" and slot.condition == CRASHED
        ]
        for slot in silent:
            if slot.node.state.connection in self.broker.state.connections:
                self.world.reset(slot.node.state.connection)
            self.world.forget(slot.name)

    def pause(self) -> None:
        self.world.order(self.one(), Pause())

    def resume(self) -> None:
        self.world.order(self.one(), Resume())

    def hold(self) -> None:
        self.world.order(self.one(), HoldAcks())

    def release(self) -> None:
        self.world.order(self.one(), ReleaseAcks())

    def reprioritize(self) -> None:
        self.world.order(self.one(), Resubscribe([], self.dice.randrange(3)))

    def connection(self) -> int:
        """The producer's. Raises CommandError where breaking it would lose messages, or it is about to
        connect again."""
        state: ProducerState = self.world.slots["(producer)"].node.state
        if not self.receipts or not state.connection:
            raise CommandError("producer", "sends nothing twice")
        return state.connection

    def break_off(self) -> None:
        """What the producer has under way is lost, and the answers to what has arrived."""
        self.world.reset(self.connection())

    def lose_receipts(self) -> None:
        self.world.cut(self.connection(), "(broker)")
        self.world.order("(producer)", GiveUp(2 * SECOND))

    # --- a life

    def run(self, steps: int) -> SubscriptionLife:
        acts = [self.produce] * 10 + [
            self.join,
            self.join,
            self.leave,
            self.crash,
            self.reset,
            self.pause,
            self.resume,
            self.hold,
            self.release,
            self.reprioritize,
            self.break_off,
            self.lose_receipts,
        ]
        for _ in range(steps):
            try:
                self.dice.choice(acts)()
            except CommandError:
                continue  # it made no sense now
            self.world.advance(self.world.now_us + self.dice.choice((1, 5, 50, 400, 3_000)) * MS)
            self.check()
        self.heal()
        return self

    def subscriptions(self) -> list[tuple[str, Subscription]]:
        return [
            (key, known)
            for key, topic in self.broker.state.topics.items()
            for known in topic.subscriptions.values()
        ]

    def check(self) -> None:
        """Mark-delete never goes back; what was read and is not acknowledged is at somebody or waits; permits
        add up; each consumer is counted the messages that it has and that are not acknowledged."""
        for key, known in self.subscriptions():
            assert known.cursor.mark_delete >= self.marks.get((key, known.name), -1), (
                f"mark-delete of {key} went back"
            )
            self.marks[key, known.name] = known.cursor.mark_delete
            known.check()
            dispatcher = known.dispatcher
            if isinstance(dispatcher, PendingDispatcher):
                for one in dispatcher.consumers.values():
                    left = sum(known.cursor.left(at, known.entries[at].size) for at in one.pending)
                    assert one.unacked == left, (
                        f"{one.consumer} is counted {one.unacked} messages and has {left}"
                    )

    def check_permits(self) -> None:
        """All is handled, and nothing on its way: what the broker may still send a consumer, and what its
        client has not granted again, is its queue."""
        for key, known in self.subscriptions():
            for name in known.consumers:
                connection, number = self.broker.consumers[name]
                clients = [slot.node.state for slot in self.world.slots.values() if slot.kind == "consumer"]
                client = next(client for client in clients if client.connection == connection)
                if client.hand is None and not client.queue and not known.cursor.backlog:
                    granted = known.permits(name) + (getattr(known.attached.consumers[name], "withheld", 0))
                    assert granted + client.parts[number].taken == client.config.queue_size, (
                        f"permits of {name} of {key} leaked"
                    )

    def heal(self) -> None:
        """Those who are silent are found out, paused ones go on, and all that is left is read."""
        self.reset()
        for name in self.living:
            self.world.order(name, ReleaseAcks())
            self.world.order(name, Resume())
        if not self.living:
            self.join()
        if self.type not in (
            SHARED,
            KEY_SHARED,
            FAILOVER,
        ):  # a consumer that was refused does not ask again of its own accord
            while len(self.living) > 1:
                self.leave()
            self.world.advance(
                self.world.now_us + SECOND
            )  # a holder's close, on its way, is a sign of life that keeps a newcomer out
            self.world.order(self.living[0], Resubscribe([]))
        for _ in range(60):
            self.world.advance(self.world.now_us + 5 * SECOND)
            self.check()
        self.check_permits()

    @property
    def stored(self) -> list[Topic]:
        """The topics and partitions that the producer sends to."""
        return [
            self.broker.topic(topic, partition)
            for topic, partition in c.parts_of(c.TOPIC, self.partitions, self.topics)
        ]

    @property
    def unacked(self) -> int:
        return sum(known.cursor.backlog for _, known in self.subscriptions())

    @property
    def dead_letters(self) -> list[int]:
        """The messages of the dead-letter topic: also those that a batch or the queue has put beside one that
        cannot be handled."""
        topic = self.broker.state.topics.get(DEAD_LETTERS)
        return [] if topic is None else [entry.message for entry in topic.ledger.entries.values()]
