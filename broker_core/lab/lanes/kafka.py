"""The Kafka lane: one broker that leads every partition and coordinates the group, one producer, and a consumer of the group for each program.

A key's murmur2 chooses the partition, the group's leader, a consumer, the member that reads it. When a member hears of a rebalance, who waits
for whom and what was committed is decided by the nodes (`broker_core/kafka/`). The lab's own: to "leave" for a program that is silent, a person
removes its member at the coordinator; records that everybody has read are deleted from the logs.

    kafka_group.py  what the nodes' states say together      kafka_pause.py  what nobody reads      kafka_rebalance.py  the sentence meanwhile
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import cast

from broker_core.clock import SECOND_US
from broker_core.errors import InvariantError
from broker_core.events import Cause, Json, TurningPoint
from broker_core.hashing.murmur2 import murmur2
from broker_core.kafka import requests as r
from broker_core.kafka.assignors import ASSIGNORS
from broker_core.kafka.broker import Broker, BrokerState, PartitionRecords
from broker_core.kafka.client import producer as producers
from broker_core.kafka.client.admin import Admin, AdminState, RemoveMember
from broker_core.kafka.client.consumer import IN, SESSION_TIMEOUT_US, SYNCING, ConsumerState, Join
from broker_core.kafka.client.consumer import Consumer as ConsumerNode
from broker_core.kafka.client.producer import Producer, ProducerState
from broker_core.kafka.group.group import INITIAL_REBALANCE_DELAY_US, Member
from broker_core.kafka.group.states import COMPLETING, EMPTY, PREPARING, STABLE
from broker_core.kafka.producer.partitioner import POSITIVE_MASK
from broker_core.kafka.producer.placement import Placement
from broker_core.lab.consumer import CRASHED, GONE, Consumer
from broker_core.lab.keys import NO_KEY
from broker_core.lab.lanes.kafka_group import (
    BROKER,
    CONSUMER,
    GROUP_ID,
    Shared,
    consumer_state,
    group_of,
    look,
    session_ends_us,
)  # fmt: skip
from broker_core.lab.lanes.kafka_pause import KafkaNotes
from broker_core.lab.lanes.kafka_rebalance import HOLD_UPS, rebalance_sentence
from broker_core.lab.lanes.lane import Lane
from broker_core.lab.lanes.setup import KeyText, LaneSetup
from broker_core.lab.observers.bill import Bill
from broker_core.lab.observers.codes import code_of
from broker_core.lab.observers.in_flight import Watch
from broker_core.lab.observers.kafka_names import consumer_name, with_names
from broker_core.sim.program import Leave, Order, Program
from broker_core.sim.slot import RUNNING, Slot
from broker_core.sim.world import Design

PRODUCER, OPERATOR = "producer", "operator"
DELETE_EVERY_S = 5
"""Between two looks at what everybody has read: as often as programs commit."""


def algorithms() -> list[Json]:
    """The assignors, the default first."""
    return [{"id": name, "document": assignor.document} for name, assignor in ASSIGNORS.items()]


def make_lane(setup: LaneSetup, watch: Watch | None = None) -> Lane:
    return Lane(setup, KafkaRules(setup), watch)


class KeyPartitions(dict[int, int]):
    """Key code -> partition, each worked out when it is first asked for."""

    def __init__(self, placement: Placement, texts: KeyText) -> None:
        self.placement, self.texts = placement, texts

    def __missing__(self, code: int) -> int:
        number = self[code] = self.placement.of_key(self.texts.key_bytes(code))
        return number


class KafkaRules:
    name = "kafka"
    keys_have_owners = True

    def __init__(self, setup: LaneSetup) -> None:
        self.topic: str = setup.options["topic"]
        self.partition_count: int = setup.options["partitions"]
        self.assignor = ASSIGNORS[setup.algorithm]
        self.texts = setup.texts
        self.notes = KafkaNotes([0] * self.partition_count)
        self.partitions = KeyPartitions(Placement(self.partition_count), setup.texts)
        self.logs: list[PartitionRecords] | None = None
        self.shared: Shared | None = None
        self.noticed: str | None = None  # between `heard` and `told` of one step: the life whose end the coordinator has noticed

    def algorithms(self) -> list[Json]:
        return algorithms()

    # -- the world ------------------------------------------------------------------------------------------------------------------------

    def design(self, lane: Lane) -> Design:
        read = self.reader(lane)
        return Design(
            {
                "broker": (BrokerState, Broker), "producer": (ProducerState, lambda state: Producer(state, self.partitions)),
                CONSUMER: (ConsumerState, lambda state: ConsumerNode(state, lane.traffic, read)), "admin": (AdminState, Admin),
            },
            r.Request | Join | producers.Connect | RemoveMember | Order, lane.delay_us, lane.jitter_us,
        )  # fmt: skip

    def reader(self, lane: Lane) -> Callable[[int, int], int]:
        def read(number: int, offset: int) -> int:
            notes = self.notes
            if offset >= notes.high_read[number]:
                notes.high_read[number] = offset + 1
            else:
                notes.redelivered += 1
            log = (self.logs or self.find_logs(lane))[number]
            return log.records[offset - log.start]

        return read

    def find_logs(self, lane: Lane) -> list[PartitionRecords]:
        state: BrokerState = lane.world.slots[BROKER].node.state
        self.logs = state.logs
        return self.logs

    def begin(self, lane: Lane) -> None:
        lane.world.start(BROKER, "broker", BrokerState([PartitionRecords() for _ in range(self.partition_count)]))
        lane.world.start(PRODUCER, "producer", ProducerState(Placement(self.partition_count)))
        lane.world.order(PRODUCER, producers.Connect(BROKER))
        lane.world.start(OPERATOR, "admin", AdminState())

    def head_start_us(self, lane: Lane) -> int:
        # JoinGroup, its answer with an id, and JoinGroup again: so the group gathers its first members from time 0 on.
        return 2 * lane.answer_us

    def forget_caches(self) -> None:
        self.logs = self.shared = None

    def look(self, lane: Lane) -> Shared:
        if self.shared is None:
            self.shared = look(lane.world)
        return self.shared

    # -- records --------------------------------------------------------------------------------------------------------------------------

    def publisher(self, lane: Lane) -> tuple[Slot, Callable[[int, int], tuple[int, r.ProduceRequest]]]:
        slot = lane.world.slots[PRODUCER]
        producer = cast(Producer, slot.node)

        def publish(index: int, code: int) -> tuple[int, r.ProduceRequest]:
            if code == NO_KEY:
                return producer.send_keyless(index, len(self.texts.payload(index).encode()), slot)
            return producer.send(index, code)

        return slot, publish

    def tidy(self, lane: Lane, second: int) -> None:
        """Below a partition's committed offset, and below the position of whoever still reads it, nobody reads again."""
        if second % DELETE_EVERY_S:
            return
        broker: BrokerState = lane.world.slots[BROKER].node.state
        low = dict(group_of(lane.world).offsets)
        for slot in lane.world.slots.values():
            if slot.kind == CONSUMER:
                for number, position in consumer_state(slot).positions.items():
                    if position < low.get(number, 0):
                        low[number] = position
        for number, offset in low.items():
            broker.logs[number].delete_before(offset)

    def restored(self, lane: Lane) -> None:
        """A checkpoint holds all that there is."""

    def would_wait(self, lane: Lane, index: int, code: int) -> bool:
        number = self.placed(lane).keyless.partition or 0 if code == NO_KEY else self.partitions[code]
        return number not in self.notes.readers

    def placed(self, lane: Lane) -> Placement:
        state: ProducerState = lane.world.slots[PRODUCER].node.state
        return state.placement

    # -- a person's verbs -----------------------------------------------------------------------------------------------------------------

    def join(self, lane: Lane, joiners: Sequence[Consumer], cause: Cause) -> None:
        for consumer in joiners:
            self.start(lane, consumer, cause)
        self.say_rebalancing(lane)

    def start(self, lane: Lane, consumer: Consumer, cause: Cause) -> None:
        program = Program(consumer.service_us)
        state = ConsumerState(consumer.name, GROUP_ID, self.topic, self.partition_count, self.assignor.id, program)
        lane.world.start(consumer.incarnation, CONSUMER, state)
        lane.world.order(consumer.incarnation, Join(BROKER), cause)

    def rejoin(self, lane: Lane, consumer: Consumer, cause: Cause) -> None:
        self.start(lane, consumer, cause)
        self.say_rebalancing(lane)

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
            self.notes.stop(lane, owned, cause, "kafka.group.leave")
        self.forget_caches()
        if self.look(lane).programs:
            self.say_rebalancing(lane)
        else:
            lane.say("kafka.empty", consumer=consumer.name, partitions=self.partition_count)

    def remove_silent(self, lane: Lane, consumer: Consumer, cause: Cause) -> None:
        """A person removes the member of a program that does not answer."""
        lane.crash_positions.pop(consumer.incarnation)
        group, connection = self.look(lane).group, consumer_state(lane.world.slots[consumer.incarnation]).connection
        member_ids = [member.member_id for member in group.members.values() if member.connection == connection]
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
        consumer.deadline_us = session_ends_us(lane.world, self.look(lane), slot)
        owned = consumer_state(slot).owned
        crashed = lane.emit("kafka.member.crashed", cause, "kafka.group.session_timeout", {"session_timeout_us": SESSION_TIMEOUT_US},
                            {"consumer": consumer.name, "partitions": len(owned), "deadline_us": consumer.deadline_us})  # fmt: skip
        self.notes.stop(lane, owned, crashed, "kafka.group.session_timeout")
        lane.say("kafka.crash_pending", consumer=consumer.name, partitions=len(owned), deadline_us=consumer.deadline_us)

    # -- what happened --------------------------------------------------------------------------------------------------------------------

    def heard(self, lane: Lane, event: TurningPoint) -> TurningPoint:
        named = with_names(event, self.partition_count)
        return named.with_facts(data=self.hear_of_death(lane, named)) if event.kind == "kafka.group.member_expired" else named

    def hear_of_death(self, lane: Lane, event: TurningPoint) -> Json:
        """The coordinator has found a member dead. Returns how many partitions it had, and how many records will be read again."""
        self.forget_caches()
        shared, data, read_again = self.look(lane), event.data, 0
        slot = shared.slot_of(shared.group.members[data["member_id"]])
        if slot is not None:
            positions = consumer_state(slot).positions
            read_again = sum(max(0, position - shared.committed(number)) for number, position in positions.items())
            if slot.name in lane.crash_positions:
                self.noticed = slot.name
                lane.notice_crash(slot.name, data["consumer"])
        return {"partitions": len(data["partitions"]), "read_again": read_again}

    def told(self, lane: Lane, event: TurningPoint) -> None:
        self.forget_caches()
        if event.kind == "kafka.group.member_expired" and self.noticed is not None:
            incarnation, self.noticed = self.noticed, None
            self.say_noticed(lane, event, incarnation)
        cause = Cause(event=event.id)
        match event.kind:
            case "kafka.consumer.revoked":
                self.notes.stop(lane, event.data["partitions"], cause, event.rule)
            case "kafka.consumer.assigned":
                self.notes.resume(lane, event.data["consumer"], event.data["partitions"], cause)
            case "kafka.group.assigned" if lane.crash_positions:
                shared = self.look(lane)
                silent = [member for member in shared.group.members.values() if not shared.is_alive(member)]
                self.notes.stop(lane, [number for member in silent for number in member.assignment], cause, "kafka.group.session_timeout")
        if lane.crash_positions:
            for consumer in lane.consumers.values():
                if consumer.state == CRASHED:
                    consumer.deadline_us = session_ends_us(lane.world, self.look(lane), lane.world.slots[consumer.incarnation])

    def say_noticed(self, lane: Lane, event: TurningPoint, incarnation: str) -> None:
        name = event.data["consumer"]
        self.clear_away(lane, incarnation, Cause(event=event.id))
        code = code_of("kafka.given_up", ghost=lane.is_ghost(incarnation, name), last=not self.look(lane).programs)
        lane.say(code, consumer=name, read_again=event.data["read_again"], partitions=self.partition_count)

    def on_settled(self, lane: Lane, bill: Bill) -> None:
        if self.look(lane).group.state != STABLE or bill.kind == "crash" or lane.sentence["code"] == "left_gone":
            return
        code = code_of("kafka.settled", stopped=bill.partitions_stopped > 0, cooperative=self.assignor.cooperative, moved=bool(bill.partitions_moved))
        lane.say(code, consumer=bill.consumer, pause_us=bill.pause_us, partitions_moved=bill.partitions_moved,
                 partitions_total=bill.partitions_total, stopped=bill.partitions_stopped)  # fmt: skip

    # -- the sentence ---------------------------------------------------------------------------------------------------------------------

    def say_rebalancing(self, lane: Lane) -> None:
        self.forget_caches()
        bill, group = lane.kept_bill, self.look(lane).group
        if bill is None or self.is_settled(lane):
            return
        if group.state == EMPTY or group.initial_left_us is not None:
            lane.say("kafka.first", delay=INITIAL_REBALANCE_DELAY_US // SECOND_US)
        else:
            lane.say("kafka.rebalancing", consumer=bill.consumer, count=bill.count)

    def sentence_now(self, lane: Lane) -> Json:
        sentence = lane.sentence
        code, params = sentence["code"], sentence["params"]
        if code not in ("kafka.rebalancing", "kafka.crash_pending"):
            return sentence
        shared, paused = self.look(lane), len(self.notes.paused_us)
        if code == "kafka.rebalancing":
            return rebalance_sentence(shared, paused, self.assignor.cooperative, params["consumer"], params["count"])
        if shared.group.state in (PREPARING, COMPLETING):
            now = rebalance_sentence(shared, paused, self.assignor.cooperative, params["consumer"])
            return now if now["code"] in HOLD_UPS else sentence
        return sentence

    # -- what the state says --------------------------------------------------------------------------------------------------------------

    def slot_of(self, lane: Lane, consumer: Consumer) -> Slot | None:
        """The program, if it is alive or silent; None once its silence was noticed."""
        return lane.world.slots.get(consumer.incarnation)

    def weights(self, lane: Lane) -> dict[str, int]:
        shared = self.look(lane)
        weights = {consumer_name(member_id): 0 for member_id in shared.group.members}
        for log, name in zip(shared.logs, shared.holders, strict=True):
            if name is not None:
                weights[name] += log.end
        for number in self.under_way(lane):
            name = shared.holders[number]
            if name is not None:
                weights[name] += 1
        return weights

    def under_way(self, lane: Lane) -> list[int]:
        """The partition of each record that was sent and has not reached the broker."""
        slot = lane.world.slots[PRODUCER]
        state: ProducerState = slot.node.state
        return [message.partition for message, _ in slot.links[state.connection].queue if type(message) is r.ProduceRequest]

    def key_owners(self, lane: Lane) -> list[str | None]:
        holders, partitions = self.look(lane).holders, self.partitions
        return [holders[partitions[code]] for code in lane.keys.codes[: lane.keys.count_at(lane.next_record)]]

    def units(self, lane: Lane) -> dict[str, str | None]:
        return {str(number): name for number, name in enumerate(self.look(lane).holders)}

    def space(self, lane: Lane) -> None:
        return None

    def is_settled(self, lane: Lane) -> bool:
        """Whether the coordinator and every living program agree, and nothing is under way."""
        group = group_of(lane.world)
        programs = [slot for slot in lane.world.slots.values() if slot.kind == CONSUMER]
        if group.state == EMPTY:
            return not group.pending and all(slot.condition != RUNNING for slot in programs)
        if group.state != STABLE or group.pending or len(group.members) > len(programs):
            return False
        members = {member.connection: member for member in group.members.values()}
        for slot in programs:
            state = consumer_state(slot)
            if not self.is_at_rest(state, members.pop(state.connection, None)) and slot.condition == RUNNING:
                return False
        return not members  # else one who has left, and whose LeaveGroup is on its way

    def is_at_rest(self, state: ConsumerState, member: Member | None) -> bool:
        if member is None or state.must_rejoin:
            return False
        # A member to which nothing new is assigned tells nothing when the answer arrives.
        if state.phase == SYNCING or state.pending is not None:
            return set(member.assignment) == set(state.owned)
        return state.phase == IN

    def dark_units(self, lane: Lane) -> tuple[int, int]:
        return self.partition_count - len(self.notes.readers), self.partition_count

    def stuck(self, lane: Lane) -> tuple[int, int]:
        live = lane.keys.count_at(lane.next_record)
        if not live:
            return self.dark_units(lane)
        readers = self.notes.readers
        return sum(self.partitions[code] not in readers for code in lane.keys.codes[:live]), live

    def waiting_for(self, lane: Lane, consumer: Consumer) -> int:
        slot = self.slot_of(lane, consumer)
        if slot is None:
            return 0
        state, logs = consumer_state(slot), self.look(lane).logs
        waiting = sum(logs[number].end - state.positions.get(number, self.look(lane).committed(number)) for number in state.owned)
        return waiting + (lane.hand(consumer) >= 0)

    def way_in(self, lane: Lane) -> str:
        return "cooperative" if self.assignor.cooperative else "eager"

    def redelivered(self, lane: Lane) -> int:
        return self.notes.redelivered

    def held(self, lane: Lane, consumer: Consumer) -> int:
        """Records read since the last commit."""
        slot = self.slot_of(lane, consumer)
        if slot is None:
            return 0
        shared = self.look(lane)
        return sum(position - shared.committed(number) for number, position in consumer_state(slot).positions.items())

    def is_served(self, lane: Lane, consumer: Consumer) -> bool:
        slot = self.slot_of(lane, consumer)
        return slot is not None and consumer_state(slot).assigned != r.NO_GENERATION

    def stopped(self, lane: Lane) -> Mapping[str, int]:
        return {str(number): since_us for number, since_us in self.notes.paused_us.items()}

    def lag(self, lane: Lane) -> int:
        shared = self.look(lane)
        positions = shared.positions()
        waiting = sum(log.end - positions.get(number, shared.committed(number)) for number, log in enumerate(shared.logs))
        return waiting + len(self.under_way(lane)) + sum(lane.hand(consumer) >= 0 for consumer in lane.consumers.values())

    def route(self, lane: Lane, index: int, code: int) -> Json:
        number = self.placed(lane).last if code == NO_KEY else self.partitions[code]
        key_hash = None if code == NO_KEY else murmur2(self.texts.key_bytes(code)) & POSITIVE_MASK
        shared = self.look(lane)
        return {
            "hash": key_hash, "unit": str(number), "consumer": shared.holders[number], "place": None, "waits": number not in self.notes.readers,
        }  # fmt: skip

    def picture(self, lane: Lane) -> Json:
        shared, before = self.look(lane), lane.units_before()
        group, positions = shared.group, shared.positions()
        partitions: Json = {}
        for number, log in enumerate(shared.logs):
            committed = shared.committed(number)
            position = positions.get(number, committed)
            partitions[str(number)] = {
                "owner": shared.holders[number], "before": before.get(str(number)), "lag": log.end - position, "end": log.end,
                "position": position, "committed": committed, "stopped": number in self.notes.paused_us,
            }  # fmt: skip
        return {
            "kind": "grid", "topic": self.topic, "state": group.state, "generation": group.generation,
            "leader": None if group.leader is None else consumer_name(group.leader), "partitions": partitions,
            "max_lag": max(partition["lag"] for partition in partitions.values()),
        }  # fmt: skip

    def check(self, lane: Lane) -> None:
        self.forget_caches()
        shared = self.look(lane)
        owned: dict[tuple[int, int], str] = {}
        for slot in shared.programs:
            state = consumer_state(slot)
            for number in state.owned if slot.condition == RUNNING else ():
                other = owned.setdefault((state.assigned, number), slot.name)
                if other != slot.name:
                    raise InvariantError(f"partition {number} is read by {other} and {slot.name} in generation {state.assigned}")
        for number, log in enumerate(shared.logs):
            committed = shared.committed(number)
            position = consumer_state(shared.readers[number]).positions.get(number, committed) if number in shared.readers else committed
            if (number in shared.readers) != (number in self.notes.readers):
                raise InvariantError(f"partition {number}: the lane's notes differ from what the programs own")
            if not log.start <= committed <= position <= log.end or len(log.records) != log.end - log.start:
                raise InvariantError(f"partition {number}: start {log.start}, committed {committed}, position {position}, end {log.end}")
