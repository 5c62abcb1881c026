"""The Pulsar lane: a broker with one topic and its subscription of any of the four types, one producer, and a
consumer per program on its own connection.

A key belongs to a consumer. Which one, what waits for it, what a closed consumer gives back, when a silent
connection is given up and what happens to two who ask for the same ranges is the broker's
(`broker_core/pulsar/`); who owns what now is read from its state (`pulsar/reading.py`). The lab's own: the
sticky ranges that a newcomer asks for (`pulsar/sticky.py`), and that a person who removes a silent program
resets its connection.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from typing import cast

from broker_core.events import Cause, Json, TurningPoint
from broker_core.lab.consumer import CRASHED, GONE, Consumer
from broker_core.lab.pieces import Pieces
from broker_core.lab.pulsar.active import ActiveReading
from broker_core.lab.pulsar.batch_ear import BatchEar
from broker_core.lab.pulsar.history import note_rates
from broker_core.lab.pulsar.narrator import PulsarNarrator
from broker_core.lab.pulsar.options import OUT_OF_ORDER, TYPE_OF
from broker_core.lab.pulsar.readers import start_readers
from broker_core.lab.pulsar.reading import BROKER, PRODUCER, PulsarReading
from broker_core.lab.pulsar.shared_reading import SharedReading
from broker_core.lab.pulsar.sticky import Plan, make_room
from broker_core.lab.pulsar.types import TypeNarrator
from broker_core.lab.shared.in_flight import Watch
from broker_core.lab.shared.lane import Lane
from broker_core.lab.shared.readers import READER, Unseen
from broker_core.lab.shared.setup import LaneSetup
from broker_core.pulsar import commands as c
from broker_core.pulsar.broker import KEEP_ALIVE, Broker
from broker_core.pulsar.broker_state import BrokerState
from broker_core.pulsar.client.config import NEGATIVE_ACK_DELAY_US, Backoff, ConsumerConfig
from broker_core.pulsar.client.consumer import Consumer as Client
from broker_core.pulsar.client.consumer import ConsumerOrder, Resubscribe, Subscribe
from broker_core.pulsar.client.consumer_state import ConsumerState
from broker_core.pulsar.client.letters import retry_topic
from broker_core.pulsar.client.producer import BATCH_DELAY_US, GiveUp, Open, Producer, ProducerState
from broker_core.pulsar.commands import CommandSend
from broker_core.pulsar.dispatchers.active import FAILOVER_DELAY_US
from broker_core.pulsar.dispatchers.pending import UNACKED_PER_CONSUMER_MAX, UNACKED_PER_SUBSCRIPTION_MAX
from broker_core.pulsar.selectors import SELECTORS
from broker_core.pulsar.selectors.protocol import Ranges
from broker_core.pulsar.settings import (
    DRAINING,
    EXCLUSIVE,
    FAILOVER,
    KEY_SHARED,
    RECENTLY_JOINED,
    SHARED,
    BrokerSettings,
)
from broker_core.pulsar.topic import LATEST
from broker_core.sim.design import Design
from broker_core.sim.program import Leave, Order, Program
from broker_core.sim.slot import CRASHED as NODE_CRASHED
from broker_core.sim.slot import Slot


def algorithms() -> list[Json]:
    """By the name that the lane has for them, a type of subscription or a rule of Key_Shared; `document`: as
    an article tells the rule."""
    return [{"id": name, "document": name.endswith("_document")} for name in (*SELECTORS, *TYPE_OF)]


def make_lane(setup: LaneSetup, watch: Watch | None = None) -> Lane:
    return Lane(setup, PulsarRules(setup), watch)


PARTITIONS = 12
"""Of the topic under Exclusive and Failover; the other types have a topic without partitions, as does the
documentation's Failover."""


class PulsarRules:
    name = "pulsar"
    lane: Lane
    reads: PulsarReading
    narrator: PulsarNarrator | TypeNarrator

    def __init__(self, setup: LaneSetup) -> None:
        self.algorithm = setup.algorithm
        self.half_open = setup.algorithm == "sticky_document"
        self.type = TYPE_OF.get(setup.algorithm, KEY_SHARED)
        self.keys_have_owners = self.type != SHARED
        asked = setup.options
        order = asked.get("order", RECENTLY_JOINED)
        self.topics = self.topics_of(setup)
        self.partitions = self.partitions_of(setup)
        self.settings = BrokerSettings(
            setup.algorithm,
            asked.get("points"),
            order=DRAINING if order == DRAINING else RECENTLY_JOINED,
            failover_delay_us=asked.get("failover_delay_us", FAILOVER_DELAY_US),
            failover_uses_ring=asked.get("failover_ring", False),
            failover_in_order=setup.algorithm == "failover_document" and not self.topics,
            unacked_max=asked.get("unacked_max", UNACKED_PER_CONSUMER_MAX),
            unacked_all_max=asked.get("unacked_all_max", UNACKED_PER_SUBSCRIPTION_MAX),
            retention=asked.get("retention", 0),
            has_dedup=asked.get("deduplication", False),
        )
        self.queue_size: int = asked.get("receiver_queue_size", c.RECEIVER_QUEUE_SIZE)
        self.batching: str = asked.get("batching", "")
        self.batch_delay_us: int = asked.get("batching_delay_us", BATCH_DELAY_US)
        self.delayed_every: int = asked.get("delayed_every", 0)
        self.delivery_delay_us: int = asked.get("delay_us", 0)
        self.ordering_keys: int = asked.get("ordering_keys", 0)
        self.receipts: bool = asked.get("receipts", False)
        self.sends_at_once = not (self.batching or self.delayed_every or self.receipts)
        self.config = self.config_of(setup, order)
        self.priorities: Mapping[str, int] = asked.get("priorities", {})
        self.consumers = setup.consumers
        if self.type == KEY_SHARED:
            self.reads = PulsarReading(setup)
            self.narrator = PulsarNarrator(self.reads, self.queue_size, self.half_open)
        else:
            self.reads = (
                SharedReading(setup)
                if self.type == SHARED
                else ActiveReading(setup, self.type, self.partitions, self.topics)
            )
            self.narrator = TypeNarrator(self.reads, self.type.lower())

    @property
    def order(self) -> str | None:
        """The order rule of Key_Shared, None in the other types."""
        if not self.reads.has_order:
            return None
        return OUT_OF_ORDER if self.config.allows_out_of_order else self.settings.order

    def config_of(self, setup: LaneSetup, order: str) -> ConsumerConfig:
        """How the lane's programs configure their consumers."""
        asked = setup.options
        nack_delay_us = asked.get("nack_delay_us", NEGATIVE_ACK_DELAY_US)
        backoff_max_us = asked.get("nack_backoff_max_us", 0)
        return ConsumerConfig(
            self.type,
            partitions=self.partitions,
            topics=self.topics,
            queue_size=self.queue_size,
            allows_out_of_order=self.type == KEY_SHARED and order == OUT_OF_ORDER,
            acks_cumulatively=asked.get("acks_cumulatively", False),
            acks_batch_index=asked.get("batch_index_acks", False),
            nack_delay_us=nack_delay_us,
            backoff=Backoff(nack_delay_us, backoff_max_us) if backoff_max_us else None,
            ack_timeout_us=asked.get("ack_timeout_us", 0),
            max_redeliver=asked.get("max_redeliver", 0),
            uses_retry_topic=asked.get("retry_topic", False) and self.type in (SHARED, KEY_SHARED),
            cannot=asked.get("fails_every", 0),
            initial_position=asked.get("initial_position", LATEST),
        )

    def partitions_of(self, setup: LaneSetup) -> int:
        """How many partitions the topic has, 0 for a topic without."""
        if (
            self.type not in (EXCLUSIVE, FAILOVER)
            or setup.algorithm == "failover_document"
            or "topics" in setup.options
        ):
            return 0
        partitions: int = setup.options.get("partitions", PARTITIONS)
        return partitions

    def topics_of(self, setup: LaneSetup) -> int:
        """How many topics without partitions there are under Exclusive and Failover, 0 for the one."""
        topics: int = setup.options.get("topics", 1) if self.type in (EXCLUSIVE, FAILOVER) else 1
        return topics if topics > 1 else 0

    def algorithms(self) -> list[Json]:
        return algorithms()

    def design(self, lane: Lane) -> Design:
        self.lane = lane  # its caches are warm or cold as the lane is, also when that has been restored
        hash_of, traffic, key_of = self.reads.owners.hashes.__getitem__, lane.traffic, lane.messages.key_code
        unseen = Unseen()
        overhears = BatchEar(lane, self.reads).sent if self.batching else None
        return Design(
            {
                "broker": (BrokerState, lambda state: Broker(state, hash_of, self.settings, overhears)),
                "producer": (ProducerState, lambda state: Producer(state, hash_of)),
                "consumer": (ConsumerState, lambda state: Client(state, traffic, key_of)),
                READER: (ConsumerState, lambda state: Client(state, unseen, key_of)),
            },
            c.Command | ConsumerOrder | Open | GiveUp | Order, lane.delay_us, lane.jitter_us,
        )  # fmt: skip

    def head_start_us(self, lane: Lane) -> int:
        switch_us = self.settings.failover_delay_us if self.type == FAILOVER else 0
        return lane.answer_us + self.consumers * lane.start_step_us + switch_us

    def begin(self, lane: Lane) -> Pieces[None]:
        lane.world.start(BROKER, "broker", BrokerState())
        broker = self.reads.broker()
        parts = c.parts_of(c.TOPIC, self.partitions, self.topics)
        for topic, number in parts:
            broker.subscription(topic=topic, partition=number)
        if self.config.uses_retry_topic:
            broker.subscription(topic=retry_topic(c.TOPIC, c.SUBSCRIPTION))
        lane.world.start(
            PRODUCER,
            "producer",
            ProducerState(
                self.batching,
                batch_delay_us=self.batch_delay_us,
                partitions=self.partitions,
                topics=self.topics,
                waits_for_receipts=self.receipts,
            ),
        )
        lane.world.order(PRODUCER, Open(BROKER))
        start_readers(lane, BROKER, self.partitions, self.topics, self.queue_size)
        yield None

    def forget_caches(self) -> None:
        self.narrator.forget(self.lane)

    def tidy(self, lane: Lane, second: int) -> None:
        """Its nodes drop what they are done with themselves."""
        note_rates(self.reads.notes.rates, lane.consumers, second)

    # -- a person's verbs ------------------------------------------------------------------------------------

    def publisher(self, lane: Lane) -> tuple[Slot, Callable[[int, int], tuple[int, CommandSend | None]]]:
        slot = lane.world.slots[PRODUCER]
        producer = cast(Producer, slot.node)

        def publish_ordered(index: int, code: int) -> tuple[int, CommandSend]:
            return send(index, code, code % ordering_keys if code >= 0 else -1)

        def gather(index: int, code: int) -> tuple[int, None]:
            now_us = lane.world.now_us
            later = self.delayed_every and index % self.delayed_every == 0
            producer.gather(
                index,
                code,
                now_us,
                slot,
                code % ordering_keys if ordering_keys and code >= 0 else -1,
                now_us + self.delivery_delay_us if later else 0,
            )
            return 0, None

        ordering_keys, send = self.ordering_keys, producer.send
        if not self.sends_at_once:
            return slot, gather
        return slot, publish_ordered if ordering_keys else send

    def join(self, lane: Lane, joiners: Sequence[Consumer], cause: Cause) -> None:
        self.start(lane, joiners, cause)

    def start(
        self, lane: Lane, joiners: Sequence[Consumer], cause: Cause, remembered: Ranges | None = None
    ) -> None:
        """Start them one after the other, so far apart that none overtakes another on the network, nor
        somebody who makes room for it.

        remembered: sticky ranges that a program had in its last life.
        """
        given: Mapping[str, Ranges] = {}
        step_us, after_us = lane.start_step_us, 0
        if self.reads.is_sticky:
            plan = self.plan(lane, joiners, remembered)
            given = plan.given
            for incarnation, kept in plan.kept.items():
                name = self.reads.client(incarnation).name
                reconnected = lane.emit(
                    "pulsar.consumer.reconnected",
                    cause,
                    "pulsar.selector.sticky.halve_widest",
                    {"consumer": name},
                    {"ranges": [list(pair) for pair in kept]},
                )
                lane.world.order(incarnation, Resubscribe(kept), reconnected)
                after_us = step_us
            self.narrator.say_conflict(lane, joiners[-1], given)
        for consumer in joiners:
            config = replace(
                self.config, priority=consumer.set_to.get("priority", self.priorities.get(consumer.name, 0))
            )
            lane.world.start(
                consumer.incarnation,
                "consumer",
                ConsumerState(consumer.name, Program(consumer.service_us), config),
            )
            lane.world.order(
                consumer.incarnation, Subscribe(BROKER, given.get(consumer.incarnation, []), after_us), cause
            )
            after_us += step_us

    def plan(self, lane: Lane, joiners: Sequence[Consumer], remembered: Ranges | None) -> Plan:
        """Who asks for which sticky ranges. A consumer that was given its own joins with these, and none
        makes room for it."""
        asked = None if remembered else joiners[0].set_to.get("ranges")
        if asked is not None:
            return Plan({joiners[0].incarnation: [(start, end) for start, end in asked]})
        return make_room(
            self.reads.ranges_of_living(),
            [consumer.incarnation for consumer in joiners],
            remembered,
            self.half_open,
        )

    def leave(self, lane: Lane, consumer: Consumer, cause: Cause) -> None:
        if consumer.state == GONE:
            lane.world.forget(consumer.incarnation)
            lane.say("left_gone", consumer=consumer.name)
        elif consumer.state == CRASHED:
            lane.crash_positions.pop(consumer.incarnation)
            lane.world.reset(self.reads.client(consumer.incarnation).connection, cause)
            lane.world.forget(consumer.incarnation)
        else:
            # On its way out it acknowledges what it has handled.
            unacked = self.reads.held(consumer) - self.reads.unreported(
                lane.world.slots[consumer.incarnation]
            )
            self.narrator.say_left(lane, consumer.incarnation, consumer.name, unacked)
            lane.world.order(consumer.incarnation, Leave(), cause)
            lane.world.exit(consumer.incarnation, cause)

    def crash(self, lane: Lane, consumer: Consumer, cause: Cause) -> None:
        if not self.reads.client(
            consumer.incarnation
        ).connection:  # it was still starting: no broker knows it
            lane.bury(consumer.incarnation, consumer.name)
            lane.say("pulsar.crash_unknown", consumer=consumer.name)
            return
        self.reads.note_readers()
        consumer.deadline_us = self.given_up_us(lane, consumer)
        unacked = self.reads.held(consumer)
        lane.emit(
            "pulsar.consumer.crashed",
            cause,
            KEEP_ALIVE,
            {"keep_alive_us": c.KEEP_ALIVE_US, "unacked": unacked},
            {"consumer": consumer.name, "deadline_us": consumer.deadline_us},
        )
        code = (
            "pulsar.crash_pending" if self.type == KEY_SHARED else f"pulsar.{self.type.lower()}.crash_pending"
        )
        lane.say(code, consumer=consumer.name, unacked=unacked, deadline_us=consumer.deadline_us)

    def given_up_us(self, lane: Lane, consumer: Consumer) -> int:
        """When the broker will close the connection of a program that falls silent now; what it has sent
        still arrives, and is a sign of life."""
        connection = self.reads.client(consumer.incarnation).connection
        link = lane.world.slots[consumer.incarnation].links[connection]
        known = self.reads.broker().state.connections.get(connection)
        if known is None:  # its first words are still on their way
            return consumer.joined_us + lane.delay_us + 2 * c.KEEP_ALIVE_US
        tick_us = known.since_us + ((lane.now_us - known.since_us) // c.KEEP_ALIVE_US + 1) * c.KEEP_ALIVE_US
        arrivals = [at_us for at_us, _, target, _ in lane.world.heap if target is link]
        awaits, since_us = known.awaits_pong, lane.now_us
        while not awaits or any(since_us <= at_us < tick_us for at_us in arrivals):
            awaits, since_us, tick_us = True, tick_us, tick_us + c.KEEP_ALIVE_US
        return tick_us

    def rejoin(self, lane: Lane, consumer: Consumer, cause: Cause) -> None:
        lives = [
            slot
            for slot in lane.world.slots.values()
            if slot.condition == NODE_CRASHED and slot.node.state.name == consumer.name
        ]
        self.start(lane, [consumer], cause, lives[-1].node.state.ranges)
        for slot in lives:
            if (
                slot.name not in lane.crash_positions
            ):  # the broker knows that it is over, and the person has a new one
                lane.world.forget(slot.name)

    def between(self, lane: Lane) -> None:
        """Its nodes need nobody."""

    def told(self, lane: Lane, event: TurningPoint) -> None:
        """Nothing that the lab would have to do itself."""
