"""What an operator of a lane's Kafka cluster orders at its controller: a topic, a partition's replicas, an
election.

The controller itself is asked first, on a copy of what it knows, so its error is shown at the field and the
lab is unchanged. What it finds out only when the request arrives becomes a turning point, and on the card.
The requests: `broker_core/kafka/cluster/verbs.py`.
"""

import re
from abc import abstractmethod
from collections.abc import Mapping
from dataclasses import dataclass, field
from types import MappingProxyType
from typing import Any, ClassVar

from broker_core.errors import CommandError, Names
from broker_core.events import Cause, Json
from broker_core.kafka.cluster import verbs
from broker_core.kafka.cluster.cluster import BROKERS_MAX, PARTITIONS_MAX, TopicPlan
from broker_core.kafka.cluster.control_requests import ToolRequest
from broker_core.kafka.cluster.foreseen import refusal_of
from broker_core.kafka.error_codes import ErrorCode, Refused
from broker_core.lab.commands.cluster import ClusterCommand
from broker_core.lab.fields import whole
from broker_core.lab.kafka.facts import KafkaFacts
from broker_core.lab.kafka.options import CLEANUP_POLICIES, TOPIC_NUMBERS, TOPIC_SETTINGS, check_lags
from broker_core.lab.kafka.settings import topic_config
from broker_core.lab.kafka.views.cluster import partition_name
from broker_core.lab.panels import cluster_notes
from broker_core.lab.shared.facts import LaneFacts
from broker_core.lab.shared.lane import Lane
from broker_core.lab.shared.ordered_lab import OrderedLab
from broker_core.lab.size import LaneSize

TOPIC_NAME = re.compile(r"(?!\.{1,2}$)[a-zA-Z0-9._-]{1,249}")
"""Source: Kafka 3.9 clients Topic.validate."""
TOPIC_LETTERS_MAX = 32
"""Of a topic that a person makes here: the page writes it beside its partitions."""


@dataclass(frozen=True, slots=True, kw_only=True)
class OperatorCommand(ClusterCommand):
    FIELDS: ClassVar[Mapping[ErrorCode, str]]
    """Which argument an error of the controller is about; others are about the first one."""

    @abstractmethod
    def request(self) -> ToolRequest:
        """What the tool sends to the controller."""

    def nodes(self) -> list[str]:
        return ["controller"]

    def check_in(self, lane: KafkaFacts) -> None:
        self._raise(lane.refused(self.request()))

    def ask(self, lab: OrderedLab) -> None:
        """The controller knows who is alive."""
        for lane in lab.lanes_of(self.lane):
            if cluster_notes(lane) is not None:
                self._raise(refusal_of(lane.world, self.request()))

    def _raise(self, refused: Refused | None) -> None:
        if refused is not None:
            field = self.FIELDS.get(refused.code, next(iter(self.FIELDS.values())))
            raise CommandError(
                f"args.{field}", "{error}: {reason}", error=refused.code.name, reason=refused.sentence
            )

    def do(self, lane: Lane, cause: Cause) -> None:
        verbs.order_tool(lane.world, self.request(), cause)


@dataclass(frozen=True, slots=True, kw_only=True)
class CreateTopic(OperatorCommand):
    """Its replicas are placed by the controller. min_insync_replicas, unclean_election: settings of the
    topic. config: what it sets for its own logs, by the names of `TOPIC_SETTINGS`."""

    kind: ClassVar[str] = "cluster_create_topic"
    GROWS: ClassVar[str] = "args.partitions"
    ARGS: ClassVar[frozenset[str]] = frozenset(
        {
            "topic",
            "partitions",
            "replication_factor",
            "min_insync_replicas",
            "unclean_election",
            *TOPIC_SETTINGS,
        }
    )
    FIELDS: ClassVar[Mapping[ErrorCode, str]] = MappingProxyType({
        ErrorCode.TOPIC_ALREADY_EXISTS: "topic", ErrorCode.INVALID_TOPIC_EXCEPTION: "topic",
        ErrorCode.INVALID_REPLICATION_FACTOR: "replication_factor", ErrorCode.INVALID_PARTITIONS: "partitions",
    })  # fmt: skip

    topic: str
    partitions: int
    replication_factor: int
    min_insync_replicas: int = 1
    unclean_election: bool = False
    config: Mapping[str, int | str] = field(default_factory=dict)

    @classmethod
    def read_args(cls, args: Json) -> dict[str, Any]:
        return {
            "topic": topic_name(args.get("topic")),
            "partitions": whole("args.partitions", args.get("partitions", 1), 1, PARTITIONS_MAX),
            "replication_factor": whole(
                "args.replication_factor", args.get("replication_factor", 3), 1, BROKERS_MAX
            ),
            "min_insync_replicas": whole(
                "args.min_insync_replicas", args.get("min_insync_replicas", 1), 1, BROKERS_MAX
            ),
            "unclean_election": yes_or_no("args.unclean_election", args.get("unclean_election", False)),
            "config": topic_settings(args),
        }

    def args(self) -> Json:
        return {
            "topic": self.topic, "partitions": self.partitions, "replication_factor": self.replication_factor,
            "min_insync_replicas": self.min_insync_replicas, "unclean_election": self.unclean_election,
            **self.config,
        }  # fmt: skip

    def check_in(self, lane: KafkaFacts) -> None:
        there = sum(lane.topics.values())
        if there + self.partitions > PARTITIONS_MAX:
            raise CommandError(
                "args.partitions",
                "at most {limit} partitions in a lane; it has {count}",
                limit=PARTITIONS_MAX,
                count=there,
            )
        OperatorCommand.check_in(self, lane)

    def grown(self, lane: LaneFacts) -> LaneSize | None:
        if not isinstance(lane, KafkaFacts):
            return None
        return lane.size.grown(partitions=self.partitions, replicas=self.partitions * self.replication_factor)

    def card(self) -> tuple[str, list[str]]:
        return self.verb, [self.topic]

    def request(self) -> ToolRequest:
        return TopicPlan(
            self.topic,
            self.partitions,
            self.replication_factor,
            self.min_insync_replicas,
            self.unclean_election,
            config=topic_config(self.config),
        ).request()


@dataclass(frozen=True, slots=True, kw_only=True)
class Reassign(OperatorCommand):
    """replicas: brokers that are to have the partition, the preferred leader first; None: take a move
    back."""

    kind: ClassVar[str] = "cluster_reassign"
    GROWS: ClassVar[str] = "args.replicas"
    ARGS: ClassVar[frozenset[str]] = frozenset({"topic", "partition", "replicas"})
    FIELDS: ClassVar[Mapping[ErrorCode, str]] = MappingProxyType({
        ErrorCode.INVALID_REPLICA_ASSIGNMENT: "replicas", ErrorCode.NO_REASSIGNMENT_IN_PROGRESS: "replicas",
        ErrorCode.UNKNOWN_TOPIC_OR_PARTITION: "partition",
    })  # fmt: skip

    topic: str
    partition: int
    replicas: tuple[int, ...] | None

    @classmethod
    def read_args(cls, args: Json) -> dict[str, Any]:
        replicas = args.get("replicas")
        if replicas is not None and (not isinstance(replicas, list) or not 1 <= len(replicas) <= BROKERS_MAX):
            raise CommandError("args.replicas", "must be a list of 1 to {high} brokers", high=BROKERS_MAX)
        return {
            "topic": topic_name(args.get("topic")),
            "partition": whole("args.partition", args.get("partition"), 0, PARTITIONS_MAX - 1),
            "replicas": None
            if replicas is None
            else tuple(whole("args.replicas", broker, 1, BROKERS_MAX) for broker in replicas),
        }

    def args(self) -> Json:
        return {
            "topic": self.topic,
            "partition": self.partition,
            "replicas": None if self.replicas is None else list(self.replicas),
        }

    def grown(self, lane: LaneFacts) -> LaneSize | None:
        """Until they have caught up, the former replicas stay, too."""
        if not isinstance(lane, KafkaFacts):
            return None
        return lane.size.grown(replicas=len(self.replicas or ()))

    def card(self) -> tuple[str, list[str]]:
        name = partition_name(self.topic, self.partition)
        return (
            ("take_back", [name])
            if self.replicas is None
            else (self.verb, [name, " ".join(map(str, self.replicas))])
        )

    def request(self) -> ToolRequest:
        return verbs.reassign_request(self.topic, self.partition, self.replicas)


@dataclass(frozen=True, slots=True, kw_only=True)
class Elect(OperatorCommand):
    """The preferred leader again; unclean: anybody alive, where nobody leads. topic and partition: None: all
    that need it."""

    kind: ClassVar[str] = "cluster_elect"
    ARGS: ClassVar[frozenset[str]] = frozenset({"topic", "partition", "unclean"})
    FIELDS: ClassVar[Mapping[ErrorCode, str]] = MappingProxyType({ErrorCode.ELECTION_NOT_NEEDED: "partition"})

    topic: str | None = None
    partition: int | None = None
    unclean: bool = False

    @classmethod
    def read_args(cls, args: Json) -> dict[str, Any]:
        topic, partition = args.get("topic"), args.get("partition")
        if (topic is None) is not (partition is None):
            raise CommandError("args.partition", "name a topic and a partition, or neither")
        return {
            "topic": None if topic is None else topic_name(topic),
            "partition": None
            if partition is None
            else whole("args.partition", partition, 0, PARTITIONS_MAX - 1),
            "unclean": yes_or_no("args.unclean", args.get("unclean", False)),
        }

    def args(self) -> Json:
        return {"topic": self.topic, "partition": self.partition, "unclean": self.unclean}

    def card(self) -> tuple[str, list[str]]:
        how = "elect_unclean" if self.unclean else "elect"
        return (
            (f"{how}_all", [])
            if self.topic is None or self.partition is None
            else (how, [partition_name(self.topic, self.partition)])
        )

    def request(self) -> ToolRequest:
        wanted = None if self.topic is None or self.partition is None else [(self.topic, self.partition)]
        return verbs.elect_request(wanted, unclean=self.unclean)


def topic_name(value: object) -> str:
    """A topic's name; CommandError at args.topic otherwise."""
    if not isinstance(value, str) or not TOPIC_NAME.fullmatch(value):
        raise CommandError(
            "args.topic",
            "INVALID_TOPIC_EXCEPTION: a name has 1 to 249 of a-z A-Z 0-9 . _ - and is neither . nor ..",
        )
    if len(value) > TOPIC_LETTERS_MAX or value.startswith("__"):
        raise CommandError(
            "args.topic", "must be at most {high} characters, and not begin with __", high=TOPIC_LETTERS_MAX
        )
    return value


def topic_settings(args: Json) -> dict[str, int | str]:
    """What a topic sets for its own logs. Raises CommandError at the field that is wrong."""
    found: dict[str, int | str] = {
        name: setting.check(args[name], f"args.{name}")
        for name, setting in TOPIC_NUMBERS.items()
        if name in args
    }
    if "cleanup_policy" in args:
        policy = args["cleanup_policy"]
        if policy not in CLEANUP_POLICIES:
            raise CommandError(
                "args.cleanup_policy", "must be one of {choices}", choices=Names(CLEANUP_POLICIES)
            )
        found["cleanup_policy"] = policy
    check_lags(found, "args.")
    return found


def yes_or_no(field: str, value: object) -> bool:
    if not isinstance(value, bool):
        raise CommandError(field, "must be true or false")
    return value


OPERATOR_COMMANDS: tuple[type[ClusterCommand], ...] = (CreateTopic, Reassign, Elect)
