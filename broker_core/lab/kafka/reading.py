"""What the nodes' states of a Kafka cluster's lane say: whose a partition is, who reads it, what waits, and
the picture of it all."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping
from typing import TYPE_CHECKING

from broker_core.errors import InvariantError
from broker_core.events import Json
from broker_core.kafka.client.group_consumer.core import FAILED, IN, NO_GENERATION, SYNCING, ConsumerState
from broker_core.kafka.client.group_consumer.subscription import TopicPartition
from broker_core.kafka.client.producer.state import ProducerState
from broker_core.kafka.cluster.controller_node import ControllerState
from broker_core.kafka.cluster.names import CONTROLLER
from broker_core.kafka.cluster.requests import ProduceRequest
from broker_core.kafka.group.classic.states import EMPTY, STABLE
from broker_core.kafka.group.lag import Commit, lag_of, lags_of, note_commit
from broker_core.kafka.producer.partitioner import positive_key_hash
from broker_core.lab.consumer import Consumer
from broker_core.lab.kafka.faults import ClusterNotes
from broker_core.lab.kafka.group import (
    CONSUMER,
    GROUP_ID,
    MemberView,
    Shared,
    brokers_of,
    consumer_state,
    coordinating,
    group_of,
    is_cooperative,
    look,
    owned,
    positions,
)  # fmt: skip
from broker_core.lab.kafka.passed_over import runs_of
from broker_core.lab.kafka.server_rules import assigns_at_server, members_assignor
from broker_core.lab.kafka.settings import group_settings, isolation_level
from broker_core.lab.kafka.views.cluster import partition_name
from broker_core.lab.messages import Messages
from broker_core.lab.shared.setup import LaneSetup
from broker_core.lab.workload.live_keys import NO_KEY
from broker_core.sim.slot import CRASHED as NODE_CRASHED
from broker_core.sim.slot import RUNNING, Slot

if TYPE_CHECKING:
    from broker_core.lab.shared.lane import Lane

PRODUCER = "producer"


class KeyHashes(dict[int, int]):
    """Key code -> murmur2 of the key, positive; each worked out when it is first asked for."""

    def __init__(self, messages: Messages) -> None:
        self.messages = messages

    def __missing__(self, code: int) -> int:
        found = self[code] = positive_key_hash(self.messages.key_bytes(code))
        return found


class KeySizes(dict[int, int]):
    """Key code -> bytes of the key; each worked out when it is first asked for."""

    def __init__(self, messages: Messages) -> None:
        self.messages = messages

    def __missing__(self, code: int) -> int:
        found = self[code] = len(self.messages.key_bytes(code))
        return found


class KafkaClusterReading:
    """partition_count: of the topic, when somebody last looked; it can grow. hashes, key_sizes: of each key. notes: what
    the observers remember.
    of_rule: whether members of the lane's rule keep what does not move. shared: the nodes' states put
    together, made again after each change."""

    lane: Lane

    fresh: None = None

    def __init__(self, setup: LaneSetup) -> None:
        self.topic: str = setup.options["topic"]
        self.partition_count: int = setup.options["partitions"]
        self.initial_delay_ms: int = group_settings(setup.options).initial_rebalance_delay_ms
        self.of_rule = assigns_at_server(setup.options) or members_assignor(setup.algorithm).cooperative
        self.messages = setup.messages
        self.notes = ClusterNotes([0] * self.partition_count, topic=self.topic)
        self.hashes, self.key_sizes = KeyHashes(setup.messages), KeySizes(setup.messages)
        self.shared: Shared | None = None

    def forget(self) -> None:
        self.shared = None

    def look(self) -> Shared:
        if self.shared is None:
            self.shared = look(self.lane.world, self.topic, self.count())
        return self.shared

    def is_cooperative(self) -> bool:
        """Whether members keep what does not move; the lane's rule says so while there are none."""
        return is_cooperative(self.look(), self.of_rule)

    def count(self) -> int:
        """How many partitions the topic has."""
        controller: ControllerState = self.lane.world.slots[CONTROLLER].node.state
        known = controller.rules.topics.get(self.topic)
        if known is not None:
            self.partition_count = len(known.partitions)
        return self.partition_count

    def keyed_count(self) -> int:
        """Over how many partitions the producer spreads keys: as many as its metadata say."""
        return self.producer().metadata.counts.get(self.topic) or self.partition_count

    def partition_of(self, code: int) -> int:
        """Where a record with this key goes; one without a key to the partition that the producer sticks
        to."""
        if code != NO_KEY:
            return self.hashes[code] % self.keyed_count()
        sticky = self.producer().keyless.get(self.topic)
        return 0 if sticky is None or sticky.partition is None else sticky.partition

    def producer(self) -> ProducerState:
        state: ProducerState = self.lane.world.slots[PRODUCER].node.state
        return state

    def would_wait(self, index: int, code: int) -> bool:
        return self.partition_of(code) not in self.notes.readers

    def slot_of(self, consumer: Consumer) -> Slot | None:
        """The program, if it is alive or silent; None once its silence was noticed."""
        return self.lane.world.slots.get(consumer.incarnation)

    def weights(self) -> dict[str, int]:
        shared = self.look()
        weights = {member.client_id: 0 for member in shared.group.members.values()}
        for log, name in zip(shared.logs, shared.holders, strict=True):
            if name is not None:
                weights[name] = weights.get(name, 0) + log.end
        for number in self.under_way():
            name = shared.holders[number]
            if name is not None:
                weights[name] = weights.get(name, 0) + 1
        return weights

    def under_way(self) -> list[int]:
        """The partition of each record that the application has sent and that has not reached a log: in the
        producer, or on its way."""
        state, slot = self.producer(), self.lane.world.slots[PRODUCER]
        numbers = [self.partition_of_blocked(record.key_hash, record.partition) for record in state.blocked]
        for (_, number), waiting in state.accumulator.queues.items():
            numbers += [number] * sum(len(state.accumulator.batches[batch].values) for batch in waiting)
        requests = [message for link in slot.links.values() for message, _ in link.queue]
        for broker in brokers_of(self.lane.world).values():
            requests += [message for held in broker.node.state.held.values() for message in held]
        for request in requests:
            if isinstance(request, ProduceRequest):
                for part in request.partitions:
                    if part.topic == self.topic:  # a writer has one of its own
                        numbers += [part.index] * len(part.records.values)
        return numbers

    def partition_of_blocked(self, key_hash: int, partition: int) -> int:
        return partition if partition >= 0 else key_hash % self.keyed_count() if key_hash >= 0 else 0

    def key_owners(self) -> list[str | None]:
        holders, hashes, count = self.look().holders, self.hashes, self.keyed_count()
        return [
            holders[hashes[code] % count]
            for code in self.lane.keys.codes[: self.lane.keys.count_at(self.lane.next_record)]
        ]

    def units(self) -> dict[str, str | None]:
        return {str(number): name for number, name in enumerate(self.look().holders)}

    def space(self) -> None:
        return None

    def is_settled(self) -> bool:
        """Whether the coordinator and every living program agree, and nothing is under way."""
        group = group_of(self.lane.world, self.topic)
        programs = [slot for slot in self.lane.world.slots.values() if slot.kind == CONSUMER]
        if group.coordinator is None:
            return False
        if group.state == EMPTY:
            return not group.pending and all(slot.condition != RUNNING for slot in programs)
        if group.state != STABLE or group.pending or len(group.members) > len(programs):
            return False
        members = dict(group.members)
        for slot in programs:
            state = consumer_state(slot)
            if (
                not self.is_at_rest(state, members.pop(state.member.member_id, None))
                and slot.condition == RUNNING
            ):
                return False
        return not members  # else one who has left, and whose LeaveGroup is on its way

    def is_at_rest(self, state: ConsumerState, member: MemberView | None) -> bool:
        if member is None or state.member.must_rejoin or state.member.is_reporting:
            return False
        # A member to which nothing new is assigned tells nothing when the answer arrives.
        if state.member.phase == SYNCING or state.member.given is not None:
            return set(member.assignment) == set(owned(state, self.topic))
        return state.member.phase == IN and state.member.answer is None

    def dark_units(self) -> tuple[int, int]:
        count = self.count()
        return count - len(self.notes.readers), count

    def stuck(self) -> tuple[int, int]:
        live = self.lane.keys.count_at(self.lane.next_record)
        if not live:
            return self.dark_units()
        readers, hashes, count = self.notes.readers, self.hashes, self.keyed_count()
        return sum(hashes[code] % count not in readers for code in self.lane.keys.codes[:live]), live

    def waiting_for(self, consumer: Consumer) -> int:
        slot = self.slot_of(consumer)
        if slot is None:
            return 0
        shared, known = self.look(), positions(consumer_state(slot), self.topic)
        mine = owned(consumer_state(slot), self.topic)
        waiting = sum(shared.waiting(number, known.get(number)) for number in mine)
        return waiting + (self.lane.hand(consumer) >= 0)

    def way_in(self) -> str:
        return "cooperative" if self.is_cooperative() else "eager"

    def note_commits(self) -> None:
        """Keep what the group has committed since the last look, for its status."""
        found = coordinating(self.lane.world)
        if found is None:
            return
        self.forget()
        logs, notes = self.look().logs, self.notes
        for (group_id, topic, number), committed in found[1].offsets.visible.present.items():
            if group_id == GROUP_ID and topic == self.topic and number < len(logs):
                commit = Commit(
                    committed.committed_at_ms,
                    committed.offset,
                    lag_of(logs[number].high_watermark, committed.offset, logs[number].start),
                )
                note_commit(notes.commits.setdefault(number, []), commit)

    def note_history(self, second: int) -> None:
        """The second is over: keep where the copies end, and how far the group is behind."""
        self.notes.history.note_offsets(self.lane.world, second)
        if coordinating(self.lane.world) is None:
            return
        shared = self.look()
        committed = [shared.group.offsets.get(number) for number in range(len(shared.logs))]
        lags = lags_of(
            [log.high_watermark for log in shared.logs], committed, [log.start for log in shared.logs]
        )
        self.notes.history.note_lags(lags, second)

    def polled(self, partition: TopicPartition, offset: int) -> None:
        """A program of the group begins with this record."""
        notes, name = self.notes, partition_name(*partition)
        if offset > notes.passed.reached.get(name, 0):
            self.pass_over(partition, offset)
        was_passed = notes.passed.read(name, offset)
        if partition[0] != self.topic:
            return
        number, highs = partition[1], notes.high_read
        # Who goes back to what was passed over reads it for the first time.
        if not (was_passed and number < len(highs) and offset < highs[number]):
            notes.note_read(number, offset)

    def pass_over(self, partition: TopicPartition, offset: int) -> int:
        """The group goes on at this offset of a partition. Returns how many records it will not read for
        that."""
        passed, name = self.notes.passed, partition_name(*partition)
        isolation = isolation_level(self.lane.options)
        return passed.jump(
            name, offset, runs_of(self.lane.world, partition, passed.reached.get(name, 0), offset, isolation)
        )

    def redelivered(self) -> int:
        return self.notes.redelivered

    def held(self, consumer: Consumer) -> int:
        """Records read and not committed; of one that is out of the group a new owner may have committed more
        than it has read."""
        slot = self.slot_of(consumer)
        if slot is None:
            return 0
        shared = self.look()
        return sum(
            max(0, position - shared.begins_at(number))
            for number, position in positions(consumer_state(slot), self.topic).items()
        )

    def is_served(self, consumer: Consumer) -> bool:
        slot = self.slot_of(consumer)
        if slot is None:
            return False
        member = consumer_state(slot).member
        return member.previous_generation != NO_GENERATION or bool(owned(consumer_state(slot), self.topic))

    def has_failed(self, consumer: Consumer) -> bool:
        slot = self.slot_of(consumer)
        return slot is not None and consumer_state(slot).member.phase == FAILED

    def stopped(self) -> Mapping[str, int]:
        return {str(number): since_us for number, since_us in self.notes.paused_us.items()}

    def owned_twice(self) -> list[str]:
        holders = Counter(
            number
            for slot in self.lane.world.slots.values()
            if slot.kind == CONSUMER and slot.condition != NODE_CRASHED
            for number in owned(consumer_state(slot), self.topic)
        )
        return [str(number) for number, count in holders.items() if count > 1]

    def lag(self) -> int:
        shared = self.look()
        known = shared.positions()
        waiting = sum(shared.waiting(number, known.get(number)) for number in range(len(shared.logs)))
        return (
            waiting
            + len(self.under_way())
            + sum(self.lane.hand(consumer) >= 0 for consumer in self.lane.consumers.values())
        )

    def lost(self) -> int:
        # Acknowledged and on no leader's log any more, or jumped over by the group.
        return self.notes.faults.lost(self.lane.world) + self.notes.passed.total()

    def route(self, index: int, code: int) -> Json:
        number = self.partition_of(code)
        key_hash = None if code == NO_KEY else self.hashes[code]
        shared = self.look()
        return {
            "hash": key_hash,
            "unit": str(number),
            "consumer": shared.holders[number],
            "place": None,
            "waits": number not in self.notes.readers,
        }

    def picture(self) -> Json:
        shared, before = self.look(), self.lane.ledger.units_before()
        group, known = shared.group, shared.positions()
        partitions: Json = {}
        for number, log in enumerate(shared.logs):
            committed = shared.committed(number)
            position = known.get(number, committed)
            partitions[str(number)] = {
                "owner": shared.holders[number],
                "before": before.get(str(number)),
                "lag": shared.waiting(number, position),
                "end": log.end,
                "high_watermark": log.high_watermark,
                "leader_broker": log.leader,
                "position": position,
                "committed": committed,
                "stopped": number in self.notes.paused_us,
                "passed_over": self.notes.passed.count(partition_name(self.topic, number)),
            }
        leader = group.members.get(group.leader or "")
        return {
            "kind": "grid",
            "topic": self.topic,
            "state": group.state,
            "generation": group.generation,
            "leader": None if leader is None else leader.client_id,
            "partitions": partitions,
            "coordinator": group.coordinator,
            "max_lag": max(partition["lag"] for partition in partitions.values()),
        }

    def check(self) -> None:
        self.forget()
        shared = self.look()
        taken: dict[tuple[int, int], str] = {}
        for slot in shared.programs:
            state = consumer_state(slot)
            # One that has left the group while its program works, or was told that it is no member, reads
            # what it had until its next poll().
            is_member = slot.condition == RUNNING and state.member.generation != NO_GENERATION
            for number in owned(state, self.topic) if is_member else ():
                other = taken.setdefault((state.member.generation, number), slot.name)
                # A user's own assignor may give a partition to two members: then both read it, and that is
                # what the lane shows.
                if other != slot.name and "assignor_source" not in self.lane.set_to:
                    raise InvariantError(
                        f"partition {number} is read by {other} and {slot.name} in generation "
                        f"{state.member.generation}"
                    )
        for number, log in enumerate(shared.logs):
            if (number in shared.readers) != (number in self.notes.readers):
                raise InvariantError(
                    f"partition {number}: the lane's notes differ from what the programs own"
                )
            if log.leader is not None and not log.start <= log.high_watermark <= log.end:
                raise InvariantError(
                    f"partition {number}: start {log.start}, high watermark {log.high_watermark}, end "
                    f"{log.end}"
                )
