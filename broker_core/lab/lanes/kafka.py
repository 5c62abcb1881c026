"""The Kafka lane: one broker that leads every partition and coordinates the group, one producer, and a
consumer of the group for each program.

A key's murmur2 chooses the partition, the group's leader, a consumer, the member that reads it. When a member
hears of a rebalance, who waits for whom and what was committed is decided by the nodes
(`broker_core/kafka/`). The lab's own: to "leave" for a program that is silent, a person removes its member at
the coordinator; records that everybody has read are deleted from the logs.

    kafka_reading.py  what the nodes' states say, with kafka_group.py       lab/observers/kafka.py  what is
    reported of it
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import cast

from broker_core.events import Cause, Json, TurningPoint
from broker_core.kafka import requests as r
from broker_core.kafka.assignors import ASSIGNORS
from broker_core.kafka.broker import Broker, BrokerState, PartitionRecords
from broker_core.kafka.client.admin import Admin, AdminState, RemoveMember
from broker_core.kafka.client.consumer import SESSION_TIMEOUT_US, ConsumerState, Join
from broker_core.kafka.client.consumer import Consumer as ConsumerNode
from broker_core.kafka.client.producer import plain as producers
from broker_core.kafka.client.producer.plain import Producer, ProducerState
from broker_core.kafka.producer.placement import Placement
from broker_core.kafka.written import written
from broker_core.lab.consumer import CRASHED, GONE, Consumer
from broker_core.lab.keys import NO_KEY
from broker_core.lab.lanes.kafka_group import (
    BROKER,
    CONSUMER,
    GROUP_ID,
    consumer_state,
    group_of,
    session_ends_us,
)  # fmt: skip
from broker_core.lab.lanes.kafka_reading import PRODUCER, KafkaReading
from broker_core.lab.lanes.lane import Lane
from broker_core.lab.lanes.setup import LaneSetup
from broker_core.lab.observers.in_flight import Watch
from broker_core.lab.observers.kafka import KafkaNarrator
from broker_core.lab.pieces import Pieces
from broker_core.sim.program import Leave, Order, Program
from broker_core.sim.slot import Slot
from broker_core.sim.world import Design
from broker_core.sim.written import Written

OPERATOR = "operator"
DELETE_EVERY_S = 10
"""Between two looks at what everybody has read; programs commit every 5 s."""


def algorithms() -> list[Json]:
    """The assignors, the default first."""
    return [{"id": name, "document": assignor.document} for name, assignor in ASSIGNORS.items()]


def make_lane(setup: LaneSetup, watch: Watch | None = None) -> Lane:
    return Lane(setup, KafkaRules(setup), watch)


class KafkaRules:
    name = "kafka"
    keys_have_owners = True
    sends_at_once = True

    def __init__(self, setup: LaneSetup) -> None:
        self.assignor = ASSIGNORS[setup.algorithm]
        self.messages = setup.messages
        self.reads = KafkaReading(setup)
        self.narrator = KafkaNarrator(self.reads)

    def algorithms(self) -> list[Json]:
        return algorithms()

    # -- the world -------------------------------------------------------------------------------------------

    def design(self, lane: Lane) -> Design:
        def count(number: int, offset: int, end: int) -> None:
            self.reads.notes.note_reads(number, offset, end)

        return Design(
            {
                "broker": (BrokerState, Broker),
                "producer": (ProducerState, lambda state: Producer(state, self.reads.partitions)),
                CONSUMER: (ConsumerState, lambda state: ConsumerNode(state, lane.traffic, count)),
                "admin": (AdminState, Admin),
            },
            r.Request | Join | producers.Connect | RemoveMember | Order,
            lane.delay_us,
            lane.jitter_us,
        )

    def begin(self, lane: Lane) -> Pieces[None]:
        lane.world.start(
            BROKER, "broker", BrokerState([PartitionRecords() for _ in range(self.reads.partition_count)])
        )
        lane.world.start(PRODUCER, "producer", ProducerState(Placement(self.reads.partition_count)))
        lane.world.order(PRODUCER, producers.Connect(BROKER))
        lane.world.start(OPERATOR, "admin", AdminState())
        yield None

    def head_start_us(self, lane: Lane) -> int:
        # JoinGroup, its answer with an id, and JoinGroup again: so the group gathers its first members from
        # time 0 on.
        return 2 * lane.answer_us

    def forget_caches(self) -> None:
        self.reads.forget()

    # -- records ---------------------------------------------------------------------------------------------

    def publisher(self, lane: Lane) -> tuple[Slot, Callable[[int, int], tuple[int, r.ProduceRequest]]]:
        slot = lane.world.slots[PRODUCER]
        producer = cast(Producer, slot.node)

        def publish(index: int, code: int) -> tuple[int, r.ProduceRequest]:
            if code == NO_KEY:
                return producer.send_keyless(index, self.size_of(index), slot)
            return producer.send(index, code)

        return slot, publish

    def size_of(self, index: int) -> int:
        """A record's size in bytes."""
        return self.messages.size(index)

    def stream(self, lane: Lane) -> Written:
        slot, publish = self.publisher(lane)
        return written(slot, lane.world.slots[BROKER], publish, self.size_of)

    def tidy(self, lane: Lane, second: int) -> None:
        """Below a partition's committed offset, and below the position of whoever still reads it, nobody
        reads again."""
        if second % DELETE_EVERY_S:
            return
        low = dict(group_of(lane.world).offsets)
        for slot in lane.world.slots.values():
            if slot.kind == CONSUMER:
                for number, position in consumer_state(slot).positions.items():
                    if position < low.get(number, 0):
                        low[number] = position
        lane.world.order(BROKER, r.DeleteRecordsRequest(low))

    # -- a person's verbs ------------------------------------------------------------------------------------

    def join(self, lane: Lane, joiners: Sequence[Consumer], cause: Cause) -> None:
        for consumer in joiners:
            self.start(lane, consumer, cause)
        self.narrator.say_rebalancing(lane)

    def start(self, lane: Lane, consumer: Consumer, cause: Cause) -> None:
        program = Program(consumer.service_us)
        state = ConsumerState(
            consumer.name, GROUP_ID, self.reads.topic, self.reads.partition_count, self.assignor.id, program
        )
        lane.world.start(consumer.incarnation, CONSUMER, state)
        lane.world.order(consumer.incarnation, Join(BROKER), cause)

    def rejoin(self, lane: Lane, consumer: Consumer, cause: Cause) -> None:
        self.start(lane, consumer, cause)
        self.narrator.say_rebalancing(lane)

    def leave(self, lane: Lane, consumer: Consumer, cause: Cause) -> None:
        if consumer.state == GONE:
            lane.say("left_gone", consumer=consumer.name)
            return
        if consumer.state == CRASHED:
            self.remove_silent(lane, consumer, cause)
        else:
            owned = consumer_state(lane.world.slots[consumer.incarnation]).owned
            lane.world.order(consumer.incarnation, Leave(), cause)
            lane.world.exit(consumer.incarnation, cause)
            self.reads.notes.stop(lane, owned, cause, "kafka.group.leave")
        self.forget_caches()
        if self.reads.look(lane).programs:
            self.narrator.say_rebalancing(lane)
        else:
            lane.say("kafka.empty", consumer=consumer.name, partitions=self.reads.partition_count)

    def remove_silent(self, lane: Lane, consumer: Consumer, cause: Cause) -> None:
        """A person removes the member of a program that does not answer."""
        lane.crash_positions.pop(consumer.incarnation)
        group, connection = (
            self.reads.look(lane).group,
            consumer_state(lane.world.slots[consumer.incarnation]).connection,
        )
        member_ids = [
            member.member_id for member in group.members.values() if member.connection == connection
        ]
        member_ids += [member_id for member_id, of in group.pending.items() if of == connection]
        self.clear_away(lane, consumer.incarnation, cause)
        for member_id in member_ids:
            lane.world.order(OPERATOR, RemoveMember(BROKER, GROUP_ID, member_id), cause)

    def clear_away(self, lane: Lane, incarnation: str, cause: Cause) -> None:
        """The silent machine of this life goes, and its connection with it."""
        lane.world.reset(consumer_state(lane.world.slots[incarnation]).connection, cause)
        lane.world.forget(incarnation)
        self.forget_caches()

    def crash(self, lane: Lane, consumer: Consumer, cause: Cause) -> None:
        self.forget_caches()
        slot = lane.world.slots[consumer.incarnation]
        consumer.deadline_us = session_ends_us(lane.world, self.reads.look(lane), slot)
        owned = consumer_state(slot).owned
        crashed = lane.emit(
            "kafka.member.crashed",
            cause,
            "kafka.group.session_timeout",
            {"session_timeout_us": SESSION_TIMEOUT_US},
            {"consumer": consumer.name, "partitions": len(owned), "deadline_us": consumer.deadline_us},
        )
        self.reads.notes.stop(lane, owned, crashed, "kafka.group.session_timeout")
        lane.say(
            "kafka.crash_pending",
            consumer=consumer.name,
            partitions=len(owned),
            deadline_us=consumer.deadline_us,
        )

    # -- what happened ---------------------------------------------------------------------------------------

    def told(self, lane: Lane, event: TurningPoint) -> None:
        """A machine whose silence was noticed goes; when the others will be depends on what the coordinator
        has just heard."""
        self.forget_caches()
        if event.kind == "kafka.group.member_expired" and self.narrator.noticed is not None:
            self.clear_away(lane, self.narrator.noticed, Cause(event=event.id))
        if lane.crash_positions:
            for consumer in lane.consumers.values():
                if consumer.state == CRASHED:
                    consumer.deadline_us = session_ends_us(
                        lane.world, self.reads.look(lane), lane.world.slots[consumer.incarnation]
                    )
