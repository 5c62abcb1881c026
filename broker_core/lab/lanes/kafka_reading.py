"""What the nodes' states of a Kafka lane say: whose a partition is, who reads it, what waits, and the picture
of it all."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING

from broker_core.errors import InvariantError
from broker_core.events import Json
from broker_core.hashing.murmur2 import murmur2
from broker_core.kafka import requests as r
from broker_core.kafka.assignors import ASSIGNORS
from broker_core.kafka.client.consumer import IN, SYNCING, ConsumerState
from broker_core.kafka.client.producer.plain import ProducerState
from broker_core.kafka.group.group import Member
from broker_core.kafka.group.states import EMPTY, STABLE
from broker_core.kafka.producer.partitioner import POSITIVE_MASK
from broker_core.kafka.producer.placement import Placement
from broker_core.lab.consumer import Consumer
from broker_core.lab.keys import NO_KEY
from broker_core.lab.lanes.kafka_group import CONSUMER, Shared, consumer_state, group_of, look
from broker_core.lab.lanes.setup import LaneSetup
from broker_core.lab.messages import Messages
from broker_core.lab.observers.kafka_names import consumer_name
from broker_core.lab.observers.kafka_pause import KafkaNotes
from broker_core.sim.slot import RUNNING, Slot

if TYPE_CHECKING:
    from broker_core.lab.lanes.lane import Lane

PRODUCER = "producer"


class KeyPartitions(dict[int, int]):
    """Key code -> partition, each worked out when it is first asked for."""

    def __init__(self, placement: Placement, messages: Messages) -> None:
        self.placement, self.messages = placement, messages

    def __missing__(self, code: int) -> int:
        number = self[code] = self.placement.of_key(self.messages.key_bytes(code))
        return number


class KafkaReading:
    """partitions: of each key. notes: what the observers remember. shared: the nodes' states put together,
    made again after each change."""

    fresh: None = None

    def __init__(self, setup: LaneSetup) -> None:
        self.topic: str = setup.options["topic"]
        self.partition_count: int = setup.options["partitions"]
        self.is_cooperative = ASSIGNORS[setup.algorithm].cooperative
        self.messages = setup.messages
        self.notes = KafkaNotes([0] * self.partition_count)
        self.partitions = KeyPartitions(Placement(self.partition_count), setup.messages)
        self.shared: Shared | None = None

    def forget(self) -> None:
        self.shared = None

    def look(self, lane: Lane) -> Shared:
        if self.shared is None:
            self.shared = look(lane.world)
        return self.shared

    def placed(self, lane: Lane) -> Placement:
        state: ProducerState = lane.world.slots[PRODUCER].node.state
        return state.placement

    def would_wait(self, lane: Lane, index: int, code: int) -> bool:
        number = self.placed(lane).keyless.partition or 0 if code == NO_KEY else self.partitions[code]
        return number not in self.notes.readers

    def slot_of(self, lane: Lane, consumer: Consumer) -> Slot | None:
        """The program, if it is alive or silent; None once its silence was noticed."""
        return lane.world.slots.get(consumer.incarnation)

    def weights(self, lane: Lane) -> dict[str, int]:
        shared = self.look(lane)
        weights = {consumer_name(member_id): 0 for member_id in shared.group.members}
        holders = shared.holders
        for number, log in enumerate(shared.logs):
            name = holders[number]
            if name is not None:
                weights[name] += log.end
        for number in self.under_way(lane):
            name = holders[number]
            if name is not None:
                weights[name] += 1
        return weights

    def under_way(self, lane: Lane) -> list[int]:
        """The partition of each record that was sent and has not reached the broker."""
        slot = lane.world.slots[PRODUCER]
        state: ProducerState = slot.node.state
        on_links = [
            message.partition
            for message, _ in slot.links[state.connection].queue
            if type(message) is r.ProduceRequest
        ]
        return on_links + [self.partitions[code] for code in lane.not_put_on_way]

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
        waiting = sum(
            logs[number].end - state.positions.get(number, self.look(lane).committed(number))
            for number in state.owned
        )
        return waiting + (lane.hand(consumer) >= 0)

    def way_in(self, lane: Lane) -> str:
        return "cooperative" if self.is_cooperative else "eager"

    def redelivered(self, lane: Lane) -> int:
        return self.notes.redelivered

    def held(self, lane: Lane, consumer: Consumer) -> int:
        """Records read and not committed; of one that is out of the group a new owner may have committed more
        than it has read."""
        slot = self.slot_of(lane, consumer)
        if slot is None:
            return 0
        shared = self.look(lane)
        return sum(
            max(0, position - shared.committed(number))
            for number, position in consumer_state(slot).positions.items()
        )

    def is_served(self, lane: Lane, consumer: Consumer) -> bool:
        slot = self.slot_of(lane, consumer)
        return slot is not None and consumer_state(slot).assigned != r.NO_GENERATION

    def has_failed(self, lane: Lane, consumer: Consumer) -> bool:
        return False

    def stopped(self, lane: Lane) -> Mapping[str, int]:
        return {str(number): since_us for number, since_us in self.notes.paused_us.items()}

    def lag(self, lane: Lane) -> int:
        shared = self.look(lane)
        positions = shared.positions()
        waiting = sum(
            log.end - positions.get(number, shared.committed(number))
            for number, log in enumerate(shared.logs)
        )
        return (
            waiting
            + len(self.under_way(lane))
            + sum(lane.hand(consumer) >= 0 for consumer in lane.consumers.values())
        )

    def route(self, lane: Lane, index: int, code: int) -> Json:
        number = self.placed(lane).last if code == NO_KEY else self.partitions[code]
        key_hash = None if code == NO_KEY else murmur2(self.messages.key_bytes(code)) & POSITIVE_MASK
        shared = self.look(lane)
        return {
            "hash": key_hash,
            "unit": str(number),
            "consumer": shared.holders[number],
            "place": None,
            "waits": number not in self.notes.readers,
        }

    def picture(self, lane: Lane) -> Json:
        shared, before = self.look(lane), lane.ledger.units_before()
        group, positions = shared.group, shared.positions()
        partitions: Json = {}
        for number, log in enumerate(shared.logs):
            committed = shared.committed(number)
            position = positions.get(number, committed)
            partitions[str(number)] = {
                "owner": shared.holders[number],
                "before": before.get(str(number)),
                "lag": log.end - position,
                "end": log.end,
                "position": position,
                "committed": committed,
                "stopped": number in self.notes.paused_us,
            }
        return {
            "kind": "grid", "topic": self.topic, "state": group.state, "generation": group.generation,
            "leader": None if group.leader is None else consumer_name(group.leader), "partitions": partitions,
            "max_lag": max(partition["lag"] for partition in partitions.values()),
        }  # fmt: skip

    def check(self, lane: Lane) -> None:
        self.forget()
        shared = self.look(lane)
        owned: dict[tuple[int, int], str] = {}
        for slot in shared.programs:
            state = consumer_state(slot)
            for number in state.owned if slot.condition == RUNNING else ():
                other = owned.setdefault((state.assigned, number), slot.name)
                if other != slot.name:
                    raise InvariantError(
                        f"partition {number} is read by {other} and {slot.name} in generation "
                        f"{state.assigned}"
                    )
        offsets, readers, noted = shared.group.offsets, shared.readers, self.notes.readers
        for number, log in enumerate(shared.logs):
            committed = position = offsets.get(number, 0)
            reader = readers.get(number)
            if (reader is not None) != (number in noted):
                raise InvariantError(
                    f"partition {number}: the lane's notes differ from what the programs own"
                )
            if reader is not None:
                position = consumer_state(reader).positions.get(number, committed)
            if not log.start <= committed <= position <= log.end or len(log.records) != log.end - log.start:
                raise InvariantError(
                    f"partition {number}: start {log.start}, committed {committed}, position {position}, "
                    f"end {log.end}"
                )
