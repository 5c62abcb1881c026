"""What a person does to a member of the consumer group on a Kafka cluster, and to what the group reads.

    freeze, thaw     the process is frozen, as in a long garbage collection: no heartbeats
    session.timeout.ms stick, unstick   the program does not come back from a record: heartbeats go on
             max.poll.interval.ms restart          close(), and after a moment a new process; with another
             strategy or protocol, if given
    subscribe        to other topics, or to those that match a regular expression
    assignor         all members restart with a Python function of the user's own that shares the partitions out
    add_partitions   to a topic

What each does to the world: `broker_core/lab/kafka/verbs.py`.
"""

import re
from abc import abstractmethod
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, ClassVar

from broker_core.clock import SECOND_US
from broker_core.errors import CommandError, Names
from broker_core.events import Cause, Json
from broker_core.kafka.assignors import ASSIGNORS
from broker_core.kafka.assignors.custom import check_source
from broker_core.kafka.client.group_consumer.settings import CLASSIC, CONSUMER
from broker_core.kafka.cluster import verbs
from broker_core.kafka.cluster.cluster import PARTITIONS_MAX
from broker_core.lab.commands.base import Command, ConsumerCommand
from broker_core.lab.commands.cluster import ClusterCommand, clusters
from broker_core.lab.facts import LabFacts
from broker_core.lab.fields import LANE_ID, whole
from broker_core.lab.kafka import verbs as member_verbs
from broker_core.lab.kafka.facts import KafkaFacts
from broker_core.lab.limits import Limits
from broker_core.lab.shared.facts import LaneFacts
from broker_core.lab.shared.lane import Lane
from broker_core.lab.size import LaneSize

DOWN_S, DOWN_S_MAX = 2, 3_600
TOPICS_MAX = 16
PATTERN_LETTERS_MAX, REPEATS_MAX = 64, 4


@dataclass(frozen=True, slots=True, kw_only=True)
class MemberCommand(ConsumerCommand):
    """An order about one consumer, in each lane that has it and a cluster."""

    def check(self, lab: LabFacts) -> None:
        lanes = clusters(self, lab)
        if not lanes:
            raise CommandError("lane", "there is no Kafka cluster with a consumer group in this lab")
        ConsumerCommand.check(self, LabFacts({lane.id: lane for lane in lanes}, lab.is_playing, lab.limits))

    def carry_out_in(self, lane: Lane, position: int) -> None:
        if member_verbs.has_group(lane):
            self.do(lane, position)

    @abstractmethod
    def do(self, lane: Lane, position: int) -> None:
        """In one lane, which has the consumer and a cluster."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Freeze(MemberCommand):
    """Its process is frozen: no poll, no heartbeat; its connections stay."""

    kind: ClassVar[str] = "group_freeze"

    def check_in(self, lane: LaneFacts) -> None:
        self.refuse_held(lane)

    def do(self, lane: Lane, position: int) -> None:
        member_verbs.freeze(lane, self.consumer, position)


@dataclass(frozen=True, slots=True, kw_only=True)
class Thaw(MemberCommand):
    """It continues where it stood, perhaps as a zombie."""

    kind: ClassVar[str] = "group_thaw"

    def check_in(self, lane: LaneFacts) -> None:
        if not lane.consumer(self.consumer).is_frozen:
            raise CommandError("consumer", "{consumer} is not frozen", consumer=self.consumer)

    def do(self, lane: Lane, position: int) -> None:
        member_verbs.thaw(lane, self.consumer, position)


@dataclass(frozen=True, slots=True, kw_only=True)
class StickPoll(MemberCommand):
    """Its program does not come back from its next record; the heartbeat thread goes on."""

    kind: ClassVar[str] = "group_stick"

    def check_in(self, lane: LaneFacts) -> None:
        self.refuse_held(lane)

    def do(self, lane: Lane, position: int) -> None:
        member_verbs.stick(lane, self.consumer, position)


@dataclass(frozen=True, slots=True, kw_only=True)
class UnstickPoll(MemberCommand):
    """It comes back, and polls."""

    kind: ClassVar[str] = "group_unstick"

    def check_in(self, lane: LaneFacts) -> None:
        if not lane.consumer(self.consumer).is_stuck:
            raise CommandError("consumer", "{consumer} is not stuck", consumer=self.consumer)

    def do(self, lane: Lane, position: int) -> None:
        member_verbs.unstick(lane, self.consumer, position)


@dataclass(frozen=True, slots=True, kw_only=True)
class Restart(MemberCommand):
    """It closes, and its process starts again `down_s` seconds later; a static member under the same
    group.instance.id.

    assignors: partition.assignment.strategy from then on, the preferred first; protocol: group.protocol;
    None: as it was.
    """

    kind: ClassVar[str] = "group_restart"
    ARGS: ClassVar[frozenset[str]] = frozenset({"down_s", "assignors", "protocol"})

    down_s: int = DOWN_S
    assignors: tuple[str, ...] | None = None
    protocol: str | None = None

    @classmethod
    def read_args(cls, args: Json, limits: Limits) -> dict[str, Any]:
        assignors, protocol = args.get("assignors"), args.get("protocol")
        if assignors is not None:
            known = (
                isinstance(assignors, list)
                and assignors
                and all(isinstance(name, str) and name in ASSIGNORS for name in assignors)
            )
            if not known or len(set(assignors)) < len(assignors):
                raise CommandError(
                    "args.assignors",
                    "must be a list of different ones of {choices}",
                    choices=Names(ASSIGNORS),
                )
        if protocol not in (None, CLASSIC, CONSUMER):
            raise CommandError("args.protocol", "must be one of {choices}", choices=f"{CLASSIC}, {CONSUMER}")
        down_s = whole("args.down_s", args.get("down_s", DOWN_S), 1, DOWN_S_MAX)
        return {
            "down_s": down_s,
            "assignors": None if assignors is None else tuple(assignors),
            "protocol": protocol,
        }

    def args(self) -> Json:
        return {
            "down_s": self.down_s,
            "assignors": None if self.assignors is None else list(self.assignors),
            "protocol": self.protocol,
        }

    def check_in(self, lane: LaneFacts) -> None:
        self.refuse_crashed(lane)
        self.refuse_frozen(lane)

    def do(self, lane: Lane, position: int) -> None:
        set_to: Json = {}
        if self.assignors is not None:
            set_to["assignors"] = list(self.assignors)
        if self.protocol is not None:
            set_to["group_protocol"] = self.protocol
        member_verbs.restart(lane, self.consumer, position, self.down_s * SECOND_US, set_to)


@dataclass(frozen=True, slots=True, kw_only=True)
class ChangeSubscription(MemberCommand):
    """It reads these topics from its next poll on, or with a pattern those whose whole name matches; with
    neither the lane's own."""

    kind: ClassVar[str] = "group_subscribe"
    ARGS: ClassVar[frozenset[str]] = frozenset({"topics", "pattern"})

    topics: tuple[str, ...] | None = None
    pattern: str | None = None

    @classmethod
    def read_args(cls, args: Json, limits: Limits) -> dict[str, Any]:
        topics, pattern = args.get("topics"), args.get("pattern")
        if topics is not None:
            if (
                not isinstance(topics, list)
                or not 1 <= len(topics) <= TOPICS_MAX
                or not all(_is_topic(name) for name in topics)
            ):
                raise CommandError(
                    "args.topics", "must be a list of 1 to {high} names of topics", high=TOPICS_MAX
                )
            if pattern is not None:
                raise CommandError("args.pattern", "give either topics or a pattern")
        if pattern is not None:
            is_plain = (
                isinstance(pattern, str) and len(pattern) <= PATTERN_LETTERS_MAX and _PLAIN.fullmatch(pattern)
            )
            if not is_plain or pattern.count("*") + pattern.count("+") > REPEATS_MAX:
                raise CommandError(
                    "args.pattern",
                    "must be letters, digits, _ - . | and up to {repeats} of .* and .+, {high} in all",
                    repeats=REPEATS_MAX,
                    high=PATTERN_LETTERS_MAX,
                )
        return {"topics": None if topics is None else tuple(dict.fromkeys(topics)), "pattern": pattern}

    def args(self) -> Json:
        return {"topics": None if self.topics is None else list(self.topics), "pattern": self.pattern}

    def check_in(self, lane: LaneFacts) -> None:
        self.refuse_crashed(lane)
        self.refuse_frozen(lane)
        if lane.consumer(self.consumer).is_stuck:
            raise CommandError("consumer", "{consumer} is stuck in a record", consumer=self.consumer)

    def do(self, lane: Lane, position: int) -> None:
        topics = None if self.topics is None else list(self.topics)
        member_verbs.subscribe(lane, self.consumer, position, topics, self.pattern)


_PLAIN = re.compile(r"(?:[A-Za-z0-9_|-]|\.[*+]?)+")
"""What cannot be made slow: no groups, so no repetition of a repetition, and few of them."""


def _is_topic(name: object) -> bool:
    return isinstance(name, str) and LANE_ID.fullmatch(name) is not None


@dataclass(frozen=True, slots=True, kw_only=True)
class AddPartitions(ClusterCommand):
    """A topic of the cluster has `count` partitions in all from now on."""

    kind: ClassVar[str] = "cluster_add_partitions"
    GROWS: ClassVar[str] = "args.count"
    ARGS: ClassVar[frozenset[str]] = frozenset({"topic", "count"})

    topic: str
    count: int

    @classmethod
    def read_args(cls, args: Json) -> dict[str, Any]:
        if not _is_topic(args.get("topic")):
            raise CommandError("args.topic", "must be the name of a topic")
        return {"topic": args["topic"], "count": whole("args.count", args.get("count"), 2, PARTITIONS_MAX)}

    def args(self) -> Json:
        return {"topic": self.topic, "count": self.count}

    def nodes(self) -> list[str]:
        return []

    def check(self, lab: LabFacts) -> None:
        holding = clusters(self, lab)
        if holding and not any(lane.partitions(self.topic) for lane in holding):
            raise CommandError("args.topic", "there is no topic {topic}", topic=self.topic)
        ClusterCommand.check(self, lab)

    def check_in(self, lane: KafkaFacts) -> None:
        now = lane.partitions(self.topic)
        if now and self.count <= now:
            raise CommandError("args.count", "must be more than the {now} partitions that there are", now=now)

    def grown(self, lane: LaneFacts) -> LaneSize | None:
        now = lane.partitions(self.topic) if isinstance(lane, KafkaFacts) else 0
        more = self.count - now if now else 0
        # With a replica on each broker: how many the topic has is not among the facts.
        return lane.size.grown(partitions=more, replicas=more * lane.size.brokers) if more > 0 else None

    def carry_out_in(self, lane: Lane, position: int) -> None:
        # It is no fault: it has no card.
        self.do(lane, Cause(command=position))
        lane.rules.forget_caches()

    def do(self, lane: Lane, cause: Cause) -> None:
        verbs.create_partitions(lane.world, self.topic, self.count, cause)


@dataclass(frozen=True, slots=True, kw_only=True)
class DeployAssignor(ClusterCommand):
    """Every member restarts with an assignor of the user's own; source: its text, None: with the lane's rule
    again."""

    kind: ClassVar[str] = "group_assignor"
    ARGS: ClassVar[frozenset[str]] = frozenset({"source"})

    source: str | None

    @classmethod
    def read_args(cls, args: Json) -> dict[str, Any]:
        source = args.get("source")
        if source is not None:
            if not isinstance(source, str):
                raise CommandError("args.source", "must be a text")
            check_source(source)
        return {"source": source}

    def args(self) -> Json:
        return {"source": self.source}

    def nodes(self) -> list[str]:
        return []

    def check_in(self, lane: KafkaFacts) -> None:
        """A group can always be given another assignor."""

    def carry_out_in(self, lane: Lane, position: int) -> None:
        if member_verbs.has_group(lane):
            member_verbs.deploy_assignor(lane, position, self.source)

    def do(self, lane: Lane, cause: Cause) -> None:
        """It is done to the lane's programs, in `carry_out_in`."""

    def said(self) -> Json:
        return {"own": 0 if self.source is None else 1}


GROUP_COMMANDS: Sequence[type[Command]] = (
    Freeze,
    Thaw,
    StickPoll,
    UnstickPoll,
    Restart,
    ChangeSubscription,
    DeployAssignor,
    AddPartitions,
)
