"""What a person does about one partition of a consumer group on a Kafka cluster: at a member, at the group's
committed offsets, at the producer.

    pause, resume, seek, commit   the calls of KafkaConsumer, by a member's program
    reset_offsets                 kafka-consumer-groups --reset-offsets, for a group without members
    send_record                   a record whose partition the sender names

What each does to the world: `broker_core/lab/kafka/partition_verbs.py`. Who owns a partition,
and whether the group has members, changes on its own: that is looked at when the order is carried out.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, ClassVar, cast

from broker_core.errors import CommandError
from broker_core.events import Cause, Json
from broker_core.kafka.client.group_consumer.settings import EARLIEST, LATEST
from broker_core.kafka.cluster.cluster import PARTITIONS_MAX
from broker_core.kafka.group.classic.states import DEAD, EMPTY
from broker_core.lab.commands.base import Command
from broker_core.lab.commands.cluster import ClusterCommand
from broker_core.lab.commands.group import MemberCommand
from broker_core.lab.fields import LANE_ID, whole
from broker_core.lab.kafka import partition_verbs as verbs
from broker_core.lab.kafka.facts import KafkaFacts
from broker_core.lab.kafka.views.cluster import partition_name
from broker_core.lab.limits import Limits
from broker_core.lab.shared.facts import LaneFacts
from broker_core.lab.shared.lane import Lane

OFFSET_MAX = 2**53 - 1
"""What a program in JavaScript can still say exactly."""
KEY_LETTERS_MAX, VALUE_LETTERS_MAX = 64, 200
WHERE = {"beginning": EARLIEST, "end": LATEST}


def read_place(args: Json) -> Json:
    """topic (None: the lane's own) and partition. Raises CommandError at the field."""
    topic = args.get("topic")
    if topic is not None and (not isinstance(topic, str) or not LANE_ID.fullmatch(topic)):
        raise CommandError("args.topic", "must be the name of a topic")
    return {
        "topic": topic,
        "partition": whole("args.partition", args.get("partition"), 0, PARTITIONS_MAX - 1),
    }


def read_offset(args: Json) -> int:
    return whole("args.offset", args.get("offset"), 0, OFFSET_MAX)


def place_in(lane: KafkaFacts, topic: str | None, number: int) -> tuple[str, int]:
    """The partition in this lane. Raises CommandError where there is none."""
    name = topic or lane.own_topic
    count = lane.partitions(name)
    if not count:
        raise CommandError("args.topic", "there is no topic {topic}", topic=name)
    if number >= count:
        raise CommandError("args.partition", "{topic} has {count} partitions", topic=name, count=count)
    return name, number


@dataclass(frozen=True, slots=True, kw_only=True)
class PartitionCommand(MemberCommand):
    """A call of the member's program about one partition, which can be made between two records. topic: None
    for the lane's own."""

    ARGS: ClassVar[frozenset[str]] = frozenset({"topic", "partition"})

    topic: str | None = None
    partition: int

    @classmethod
    def read_args(cls, args: Json, limits: Limits) -> dict[str, Any]:
        return read_place(args)

    def args(self) -> Json:
        return {"topic": self.topic, "partition": self.partition}

    def check_in(self, lane: LaneFacts) -> None:
        self.refuse_held(lane)
        cluster = cast(KafkaFacts, lane)  # `check` asks no others
        self.check_place(cluster, *place_in(cluster, self.topic, self.partition))

    def check_place(self, lane: KafkaFacts, topic: str, number: int) -> None:
        """As the consumer does, which throws for a partition that is not assigned to it."""
        owned = lane.owned_by(self.consumer)
        if owned is not None and (topic, number) not in owned:
            raise CommandError(
                "args.partition",
                "{consumer} does not own {name} now",
                consumer=self.consumer,
                name=partition_name(topic, number),
            )

    def is_paused(self, lane: KafkaFacts, topic: str, number: int) -> bool | None:
        owned = lane.owned_by(self.consumer)
        return None if owned is None else owned[topic, number]

    def topic_in(self, lane: Lane) -> str:
        return self.topic or str(lane.options["topic"])


@dataclass(frozen=True, slots=True, kw_only=True)
class PausePartition(PartitionCommand):
    """KafkaConsumer.pause: it reads nothing there until a resume, or until the partition was another's."""

    kind: ClassVar[str] = "group_pause_partition"

    def check_place(self, lane: KafkaFacts, topic: str, number: int) -> None:
        PartitionCommand.check_place(self, lane, topic, number)
        if self.is_paused(lane, topic, number):
            raise CommandError(
                "args.partition",
                "{consumer} has paused {name} already",
                consumer=self.consumer,
                name=partition_name(topic, number),
            )

    def do(self, lane: Lane, position: int) -> None:
        verbs.pause(lane, self.consumer, position, self.topic_in(lane), self.partition)


@dataclass(frozen=True, slots=True, kw_only=True)
class ResumePartition(PartitionCommand):
    """KafkaConsumer.resume."""

    kind: ClassVar[str] = "group_resume_partition"

    def check_place(self, lane: KafkaFacts, topic: str, number: int) -> None:
        PartitionCommand.check_place(self, lane, topic, number)
        if self.is_paused(lane, topic, number) is False:
            raise CommandError(
                "args.partition",
                "{consumer} has not paused {name}",
                consumer=self.consumer,
                name=partition_name(topic, number),
            )

    def do(self, lane: Lane, position: int) -> None:
        verbs.resume(lane, self.consumer, position, self.topic_in(lane), self.partition)


@dataclass(frozen=True, slots=True, kw_only=True)
class SeekPartition(PartitionCommand):
    """KafkaConsumer.seek, seekToBeginning, seekToEnd: `offset`, or `to`: beginning or end."""

    kind: ClassVar[str] = "group_seek"
    ARGS: ClassVar[frozenset[str]] = frozenset({"topic", "partition", "offset", "to"})

    offset: int | None = None
    to: str | None = None

    @classmethod
    def read_args(cls, args: Json, limits: Limits) -> dict[str, Any]:
        place, to = read_place(args), args.get("to")
        if to is None:
            return {**place, "offset": read_offset(args)}
        if not isinstance(to, str) or to not in WHERE:
            raise CommandError("args.to", "must be beginning or end")
        if args.get("offset") is not None:
            raise CommandError("args.to", "give either an offset or where to")
        return {**place, "to": to}

    def args(self) -> Json:
        return {"topic": self.topic, "partition": self.partition, "offset": self.offset, "to": self.to}

    def do(self, lane: Lane, position: int) -> None:
        offset = -1 if self.offset is None else self.offset
        verbs.seek(
            lane,
            self.consumer,
            position,
            self.topic_in(lane),
            self.partition,
            offset,
            "" if self.to is None else WHERE[self.to],
        )


@dataclass(frozen=True, slots=True, kw_only=True)
class CommitOffset(PartitionCommand):
    """KafkaConsumer.commitSync of a given offset. The consumer lets its program commit what it does not own;
    the coordinator judges the member."""

    kind: ClassVar[str] = "group_commit"
    ARGS: ClassVar[frozenset[str]] = frozenset({"topic", "partition", "offset"})

    offset: int

    @classmethod
    def read_args(cls, args: Json, limits: Limits) -> dict[str, Any]:
        return {**read_place(args), "offset": read_offset(args)}

    def args(self) -> Json:
        return {"topic": self.topic, "partition": self.partition, "offset": self.offset}

    def check_place(self, lane: KafkaFacts, topic: str, number: int) -> None:
        """Any partition will do."""

    def do(self, lane: Lane, position: int) -> None:
        verbs.commit(lane, self.consumer, position, self.topic_in(lane), self.partition, self.offset)


@dataclass(frozen=True, slots=True, kw_only=True)
class PlaceCommand(ClusterCommand):
    """About one partition, and no member. topic: None for the lane's own."""

    topic: str | None = None
    partition: int

    def nodes(self) -> list[str]:
        return []

    def check_in(self, lane: KafkaFacts) -> None:
        place_in(lane, self.topic, self.partition)

    def topic_in(self, lane: Lane) -> str:
        return self.topic or str(lane.options["topic"])

    def carry_out_in(self, lane: Lane, position: int) -> None:
        # It is no fault: it has no card.
        self.do(lane, Cause(command=position))


@dataclass(frozen=True, slots=True, kw_only=True)
class ResetOffsets(PlaceCommand):
    """kafka-consumer-groups --reset-offsets --to-offset: the tool refuses a group that has members."""

    kind: ClassVar[str] = "group_reset_offsets"
    ARGS: ClassVar[frozenset[str]] = frozenset({"topic", "partition", "offset"})

    offset: int

    @classmethod
    def read_args(cls, args: Json) -> dict[str, Any]:
        return {**read_place(args), "offset": read_offset(args)}

    def args(self) -> Json:
        return {"topic": self.topic, "partition": self.partition, "offset": self.offset}

    def check_in(self, lane: KafkaFacts) -> None:
        PlaceCommand.check_in(self, lane)
        state = lane.group_state
        if state == "":
            raise CommandError("lane", "the group has no coordinator now")
        if state not in (None, EMPTY, DEAD):
            raise CommandError(
                "lane", "the group is {state}: offsets can be reset only while it has no members", state=state
            )

    def do(self, lane: Lane, cause: Cause) -> None:
        verbs.reset_offsets(lane, self.topic_in(lane), self.partition, self.offset, cause)


@dataclass(frozen=True, slots=True, kw_only=True)
class SendRecord(PlaceCommand):
    """The lane's producer sends one more record, to this partition. key: it has one, which decides nothing
    then; the workload does not know it. tombstone: it has no value, which in a compacted topic removes its key."""

    kind: ClassVar[str] = "cluster_send_record"
    ARGS: ClassVar[frozenset[str]] = frozenset({"topic", "partition", "key", "value", "tombstone"})

    key: str | None = None
    value: str = ""
    tombstone: bool = False

    @classmethod
    def read_args(cls, args: Json) -> dict[str, Any]:
        key = args.get("key")
        if key is not None and (
            not isinstance(key, str) or not 1 <= len(key) <= KEY_LETTERS_MAX or not key.isprintable()
        ):
            raise CommandError("args.key", "must be 1 to {high} printable characters", high=KEY_LETTERS_MAX)
        value, tombstone = args.get("value", ""), args.get("tombstone", False)
        if not isinstance(value, str) or len(value) > VALUE_LETTERS_MAX or not value.isprintable():
            raise CommandError(
                "args.value", "must be at most {high} printable characters", high=VALUE_LETTERS_MAX
            )
        if not isinstance(tombstone, bool):
            raise CommandError("args.tombstone", "must be true or false")
        if tombstone and value:
            raise CommandError("args.value", "must be empty: a tombstone has no value")
        if tombstone and key is None:
            raise CommandError("args.key", "is missing: a tombstone removes the record of a key")
        return {**read_place(args), "key": key, "value": value, "tombstone": tombstone}

    def args(self) -> Json:
        own = {"key": self.key, "value": self.value, "tombstone": self.tombstone}
        return {"topic": self.topic, "partition": self.partition, **own}

    def do(self, lane: Lane, cause: Cause) -> None:
        value = None if self.tombstone else self.value
        verbs.send_record(lane, self.topic_in(lane), self.partition, self.key, value, cause)


PARTITION_COMMANDS: Sequence[type[Command]] = (
    PausePartition,
    ResumePartition,
    SeekPartition,
    CommitOffset,
    ResetOffsets,
    SendRecord,
)
