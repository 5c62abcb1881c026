"""The Kafka lane on a cluster: brokers that replicate, a controller, a producer program, and a consumer of
the group for each program.

A key's murmur2 chooses the partition, the group's leader, a consumer, the member that reads it. Who leads a
partition, when a record counts, when a member hears of a rebalance, who waits for whom and what was committed
is decided by the nodes (`broker_core/kafka/`). The lab's own: to "leave" for a program that is silent, a
person removes its member at the coordinator; records that everybody has read are deleted.

    kafka_cluster_reading.py  what the nodes' states say, with kafka_cluster_group.py
    lab/kafka/narrator.py  what is reported of it
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any, cast

from broker_core.clock import SECOND_US
from broker_core.errors import CommandError
from broker_core.events import Cause, Json, TurningPoint
from broker_core.kafka.assignors import ASSIGNORS
from broker_core.kafka.assignors.protocol import TopicPartition
from broker_core.kafka.client import operator
from broker_core.kafka.client.group_consumer.consumer import GroupConsumer
from broker_core.kafka.client.group_consumer.core import ConsumerState
from broker_core.kafka.client.group_consumer.orders import ConsumerOrder, Start
from broker_core.kafka.client.group_consumer.settings import CONSUMER as CONSUMER_PROTOCOL
from broker_core.kafka.client.producer import orders as producer_orders
from broker_core.kafka.client.producer.node import ClusterProducer
from broker_core.kafka.client.producer.state import ProducerState, Unsent
from broker_core.kafka.client.producer.writer import Writer, WriterState
from broker_core.kafka.cluster import cluster
from broker_core.kafka.cluster.broker import Broker
from broker_core.kafka.cluster.names import broker_node
from broker_core.kafka.cluster.requests import DeleteRecordsRequest
from broker_core.kafka.cluster.state import BrokerState
from broker_core.kafka.error_codes import ErrorCode
from broker_core.kafka.group.messages import LeaveGroupRequest, MemberIdentity
from broker_core.kafka.log.record import record_size
from broker_core.kafka.log.settings import UNLIMITED
from broker_core.kafka.log.topic_config import COMPACT
from broker_core.lab.consumer import CRASHED, FROZEN, GONE, Consumer
from broker_core.lab.kafka.contents import MessageContents, sizes_of
from broker_core.lab.kafka.group import (
    CONSUMER,
    GROUP_ID,
    consumer_state,
    coordinating,
    owned,
    positions,
    session_ends_us,
)
from broker_core.lab.kafka.group_traffic import Listening
from broker_core.lab.kafka.narrator import KafkaClusterNarrator
from broker_core.lab.kafka.readers import least_read, start_readers
from broker_core.lab.kafka.reading import PRODUCER, KafkaClusterReading
from broker_core.lab.kafka.server_rules import (
    SERVER_RULES,
    assigns_at_server,
    members_assignor,
    with_server_rule,
)
from broker_core.lab.kafka.settings import consumer_settings, plan_of, producer_settings
from broker_core.lab.messages import FIRST_OF_PROGRAMS
from broker_core.lab.pieces import Pieces
from broker_core.lab.shared.in_flight import Watch
from broker_core.lab.shared.lane import Lane
from broker_core.lab.shared.readers import READER, Unseen
from broker_core.lab.shared.setup import LaneSetup
from broker_core.lab.workload.live_keys import NO_KEY
from broker_core.sim.design import Design
from broker_core.sim.node import Node
from broker_core.sim.program import Leave, Order, Program, Traffic
from broker_core.sim.slot import Slot
from broker_core.sim.world import World

OPERATOR = "operator"
AHEAD_US = 3_600 * SECOND_US
"""The clocks of brokers and clients are an hour ahead of the lab's: they start before its time 0, and a
record's time is never negative."""
UP_US = 2 * SECOND_US
"""How long before the first consumer the cluster is switched on."""
DELETE_EVERY_S = 5
"""Between two looks at what everybody has read: as often as programs commit."""
SEGMENTS_KEPT, RECORDS_KEPT_MAX = 3, 2_000
"""Of a partition, from what everybody has read: closed segments, and records."""


def algorithms() -> list[Json]:
    """The assignors, the default first."""
    return [{"id": name, "document": assignor.document} for name, assignor in ASSIGNORS.items()]


def make_lane(setup: LaneSetup, watch: Watch | None = None) -> Lane:
    setup = with_server_rule(setup)
    return Lane(setup, KafkaClusterRules(setup), watch)


class Delivered:
    """What the producer hears goes to the cards, which count what is lost of it; the lane's figures come from
    the logs."""

    def __init__(self, reads: KafkaClusterReading, world: Callable[[], World]) -> None:
        self.reads, self.world = reads, world

    def acked(
        self,
        producer: str,
        partition: TopicPartition,
        base_offset: int,
        values: list[int],
        attempts: int,
        now_us: int,
    ) -> None:
        world = self.world()
        state: ProducerState = world.slots[producer].node.state
        repeats = 0 if state.is_idempotent else attempts  # what an idempotent one sends again is taken once
        self.reads.notes.faults.confirmed(world, partition, base_offset, values, state.settings.acks, repeats)

    def failed(
        self, producer: str, partition: TopicPartition, error: ErrorCode, values: list[int], now_us: int
    ) -> None: ...


class LabTime:
    """What is counted while records pass, on the lab's clock. inner: the lane's. A writer's records are not
    the lane's."""

    def __init__(self, inner: Traffic) -> None:
        self.inner = inner

    def received(self, program: str, message: int, now_us: int) -> None:
        if message < FIRST_OF_PROGRAMS:
            self.inner.received(program, message, now_us - AHEAD_US)

    def handled(self, program: str, message: int, now_us: int) -> None:
        if message < FIRST_OF_PROGRAMS:
            self.inner.handled(program, message, now_us - AHEAD_US)

    def dropped(self, program: str, message: int, now_us: int) -> None:
        if message < FIRST_OF_PROGRAMS:
            self.inner.dropped(program, message, now_us - AHEAD_US)


class KafkaClusterRules:
    name = "kafka"
    keys_have_owners = True
    sends_at_once = False

    def __init__(self, setup: LaneSetup) -> None:
        self.assignor = members_assignor(setup.algorithm)
        self.options = setup.options
        self.seed = setup.seed
        self.messages = setup.messages
        self.reads = KafkaClusterReading(setup)
        self.narrator = KafkaClusterNarrator(self.reads)
        self.plan = plan_of(setup.options)

    def algorithms(self) -> list[Json]:
        if assigns_at_server(self.options):
            return [{"id": rule, "document": False} for rule in SERVER_RULES]
        return algorithms()

    # -- the world -------------------------------------------------------------------------------------------

    def design(self, lane: Lane) -> Design:
        traffic, reads = LabTime(lane.traffic), self.reads
        delivered = Delivered(reads, lambda: lane.world)
        listening, unseen = Listening(lane, lambda: reads.notes.traffic), Unseen()
        messages = self.messages
        contents = MessageContents(messages)
        broker_kind, make_broker = cluster.KINDS["broker"]

        def broker(state: Any) -> Node:
            made = cast(Broker, make_broker(state))
            made.host.groups.overhears = listening
            made.host.contents = contents
            return made

        def look_up(message: int) -> tuple[int, int]:
            return reads.hashes[messages.key_code(message)], record_size(*sizes_of(messages, message))

        def polled(partition: TopicPartition, offset: int) -> None:
            reads.polled(partition, offset)

        return Design(
            {
                **cluster.KINDS,
                "broker": (broker_kind, broker),
                "producer": (ProducerState, lambda state: ClusterProducer(state, delivered)),
                "writer": (WriterState, lambda state: Writer(state, delivered, look_up)),
                CONSUMER: (
                    ConsumerState,
                    lambda state: GroupConsumer(state, traffic, polled=polled, overhears=listening),
                ),
                READER: (ConsumerState, lambda state: GroupConsumer(state, unseen)),
                "operator": (operator.OperatorState, operator.Operator),
            },
            cluster.MESSAGES | ConsumerOrder | producer_orders.ProducerOrder | operator.Ask | Order,
            lane.delay_us,
            lane.jitter_us,
            AHEAD_US,
        )

    def head_start_us(self, lane: Lane) -> int:
        return UP_US + self.lead_us(lane)

    def lead_us(self, lane: Lane) -> int:
        # Metadata and the coordinator, JoinGroup, its answer with an id, and JoinGroup again: so the group
        # gathers its first members from time 0 on.
        return 5 * lane.answer_us // 2

    def begin(self, lane: Lane) -> Pieces[None]:
        """Switch the cluster on, and let it come up; what it tells of that is nobody's story."""
        world = lane.world
        listener, witness = world.listener, world.witness
        world.listener = world.witness = None
        cluster.begin(world, self.plan, self.options.get("placement_seed", self.seed))
        world.start(PRODUCER, "producer", ProducerState.of(producer_settings(self.options)))
        world.start(OPERATOR, "operator", operator.OperatorState())
        yield from self._come_up(world, world.now_us + UP_US // 2)
        world.order(PRODUCER, producer_orders.Connect(list(self.plan.broker_ids), [self.reads.topic]))
        start_readers(lane, list(self.plan.broker_ids))
        yield from self._come_up(world, -self.lead_us(lane))
        world.listener, world.witness = listener, witness
        lane.now_us = world.now_us

    def _come_up(self, world: World, until_us: int) -> Pieces[None]:
        """Let time pass, with a stop after each step that tells something."""
        world.advance(until_us, by_report=True)
        while world.is_midway:
            world.told.clear()
            yield world.held
            world.advance(until_us, by_report=True)

    def forget_caches(self) -> None:
        self.reads.forget()

    # -- records ---------------------------------------------------------------------------------------------

    def publisher(self, lane: Lane) -> tuple[Slot, Callable[[int, int], tuple[int, Any]]]:
        slot = lane.world.slots[PRODUCER]
        producer, reads = cast(ClusterProducer, slot.node), self.reads
        size_of = self.messages.workload.size

        def publish(index: int, code: int) -> tuple[int, Any]:
            key_hash, key_size = (-1, -1) if code == NO_KEY else (reads.hashes[code], reads.key_sizes[code])
            size = record_size(key_size, size_of(index))
            producer.send(Unsent(index, reads.topic, key_hash, -1, size), lane.world.now_us + AHEAD_US, slot)
            return 0, None

        return slot, publish

    def tidy(self, lane: Lane, second: int) -> None:
        """What lies well below a partition's committed offset, and below the position of whoever still reads
        it, is deleted (`_kept_from`). A compacted topic keeps what its brokers' cleaners leave."""
        self.bury_unknown(lane)
        self.reads.note_commits()
        self.reads.note_history(second)
        if second % DELETE_EVERY_S or COMPACT in self.options.get("cleanup_policy", ""):
            return
        shared = self.reads.look()
        low = dict(shared.group.offsets)
        for slot in shared.programs:
            for number, position in positions(consumer_state(slot), self.reads.topic).items():
                low[number] = min(position, low.get(number, 0))
        wanted: dict[int, list[tuple[str, int, int]]] = {}
        for number, own in low.items():
            others = least_read(lane, number)
            read_to = own if others is None else min(own, others)
            log = shared.logs[number]
            if log.leader is None or not log.start < read_to <= log.high_watermark:
                continue
            offset = self._kept_from(lane, log.leader, number, read_to)
            if offset > log.start:
                wanted.setdefault(log.leader, []).append((self.reads.topic, number, offset))
        for broker, partitions in wanted.items():
            lane.world.order(
                OPERATOR, operator.Ask(broker_node(broker), DeleteRecordsRequest(30_000, partitions))
            )

    def _kept_from(self, lane: Lane, leader: int, number: int, read_to: int) -> int:
        """Where the records begin that stay to be looked at, of those that everybody has read: in a few
        segments, or as the retention says that the lane chose itself, and in any case not too many."""
        state: BrokerState = lane.world.slots[broker_node(leader)].node.state
        log = state.disk.logs[self.reads.topic, number]
        if any(
            self.options.get(name, UNLIMITED) != UNLIMITED for name in ("retention_ms", "retention_bytes")
        ):
            oldest = 0
        else:
            place = log.segment_of(read_to)
            oldest = log.segments[max(0, place - SEGMENTS_KEPT)].base_offset
        return max(oldest, read_to - RECORDS_KEPT_MAX)

    # -- a person's verbs ------------------------------------------------------------------------------------

    def join(self, lane: Lane, joiners: Sequence[Consumer], cause: Cause) -> None:
        for consumer in joiners:
            self.start(lane, consumer, cause)
        self.narrator.say_rebalancing(lane)

    def start(self, lane: Lane, consumer: Consumer, cause: Cause, boot_us: int = 0) -> None:
        settings = consumer_settings(
            self.options, lane.set_to, consumer, list(self.plan.broker_ids), self.assignor.id
        )
        lane.world.start(
            consumer.incarnation, CONSUMER, ConsumerState(settings, Program(consumer.service_us))
        )
        lane.world.order(consumer.incarnation, Start(boot_us), cause)

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
            taken = owned(consumer_state(lane.world.slots[consumer.incarnation]), self.reads.topic)
            lane.world.order(consumer.incarnation, Leave(), cause)
            self.forget_caches()
            self.narrator.stop_unread(lane, taken, cause, "kafka.group.leave")
        self.forget_caches()
        if lane.consumers:
            self.narrator.say_rebalancing(lane)
        else:
            lane.say("kafka.empty", consumer=consumer.name, partitions=self.reads.count())

    def remove_silent(self, lane: Lane, consumer: Consumer, cause: Cause) -> None:
        """A person removes the member of a program that does not answer."""
        lane.crash_positions.pop(consumer.incarnation)
        state = consumer_state(lane.world.slots[consumer.incarnation])
        member_id = state.member.member_id
        found = coordinating(lane.world)
        self.clear_away(lane, consumer.incarnation, cause)
        if found is not None and member_id:
            request = LeaveGroupRequest(
                GROUP_ID, members=[MemberIdentity(member_id, state.settings.group_instance_id)]
            )
            lane.world.order(OPERATOR, operator.Ask(found[0].name, request), cause)

    def clear_away(self, lane: Lane, incarnation: str, cause: Cause) -> None:
        """The silent machine of this life goes, and its connections with it."""
        for connection in list(consumer_state(lane.world.slots[incarnation]).network.broker_of):
            try:
                lane.world.reset(connection, cause)
            except CommandError:
                continue  # its broker has gone, too
        lane.world.forget(incarnation)
        self.forget_caches()

    def session_timeout_us(self, state: ConsumerState) -> int:
        """After which its coordinator gives a silent member up: the member's own setting, in the consumer
        protocol the coordinator's."""
        settings = state.settings
        is_own = settings.group_protocol != CONSUMER_PROTOCOL
        return (
            settings.session_timeout_ms if is_own else self.plan.settings.groups.consumer_session_timeout_ms
        ) * 1_000

    def crash(self, lane: Lane, consumer: Consumer, cause: Cause) -> None:
        self.forget_caches()
        slot = lane.world.slots[consumer.incarnation]
        consumer.deadline_us = session_ends_us(lane.world, self.reads.look(), slot)
        taken, timeout_us = (
            owned(consumer_state(slot), self.reads.topic),
            self.session_timeout_us(consumer_state(slot)),
        )
        crashed = lane.emit(
            "kafka.member.crashed",
            cause,
            "kafka.group.session_timeout",
            {"session_timeout_us": timeout_us},
            {"consumer": consumer.name, "partitions": len(taken), "deadline_us": consumer.deadline_us},
        )
        self.narrator.stop_unread(lane, taken, crashed, "kafka.group.session_timeout")
        lane.say(
            "kafka.crash_pending",
            consumer=consumer.name,
            partitions=len(taken),
            deadline_us=consumer.deadline_us,
        )

    # -- what happened ---------------------------------------------------------------------------------------

    def between(self, lane: Lane) -> None:
        """Its nodes need nobody."""

    def told(self, lane: Lane, event: TurningPoint) -> None:
        """A machine whose silence was noticed goes, and a program that is closed; when the others will be
        noticed depends on what the coordinator has just heard."""
        self.forget_caches()
        self.reads.notes.faults.heard(lane.world, event)
        if event.kind == "kafka.group.member_expired" and self.narrator.noticed is not None:
            self.clear_away(lane, self.narrator.noticed, Cause(event=event.id))
        elif event.kind == "kafka.consumer.closed":
            self.bury_closed(lane)
        for consumer in lane.consumers.values():
            if consumer.state in (CRASHED, FROZEN):
                consumer.deadline_us = session_ends_us(
                    lane.world, self.reads.look(), lane.world.slots[consumer.incarnation]
                )

    def bury_unknown(self, lane: Lane) -> None:
        """A program that crashed before its group knew it is over as soon as nothing that it sent can tell
        the group of it: nobody else notices."""
        for incarnation, position in list(lane.crash_positions.items()):
            slot, shared = lane.world.slots[incarnation], self.reads.look()
            name = consumer_state(slot).settings.client_id
            strangers = [
                member
                for member in shared.group.members.values()
                if member.client_id == name and shared.slot_of(member) is None
            ]
            is_known = (
                shared.member_of(slot) is not None
                or strangers
                or any(each.startswith(f"{name}-") for each in shared.group.pending)
            )
            if (
                is_known
                or shared.group.coordinator is None
                or any(link.queue for link in slot.links.values())
            ):
                continue
            self.clear_away(lane, incarnation, Cause(command=position))
            lane.bury(incarnation, name)
            if lane.consumers.get(name) is None or lane.consumers[name].state == GONE:
                lane.say("kafka.crash_unknown", consumer=name)

    def bury_closed(self, lane: Lane) -> None:
        for slot in [slot for slot in lane.world.slots.values() if slot.kind == CONSUMER]:
            if consumer_state(slot).member.phase == "closed":
                lane.world.exit(slot.name)
