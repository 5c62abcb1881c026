"""A lane's producers. Of its own one a person changes the acks. Transactional writers beside it: a person starts
one, stops its process for a while, and lets it go on.

They write to a topic of their own (`cluster_create_topic`), so the lane's records stay what its workload
says. Two writers with one transactional id are two instances of one application: the one that comes back from
its pause is a zombie, and is fenced. The program: `broker_core/kafka/client/producer/writer.py`.
"""

from dataclasses import dataclass
from typing import Any, ClassVar

from broker_core.errors import CommandError
from broker_core.events import Cause, Json
from broker_core.kafka.client.producer.orders import Connect, Reopen
from broker_core.kafka.client.producer.settings import ACKS_ALL
from broker_core.kafka.client.producer.writer import WriterState
from broker_core.kafka.cluster import verbs
from broker_core.kafka.cluster.cluster import transaction_topic
from broker_core.kafka.cluster.names import writer_node
from broker_core.lab.commands.cluster import ClusterCommand
from broker_core.lab.commands.cluster_operator import topic_name
from broker_core.lab.fields import CONSUMER_NAME, whole
from broker_core.lab.kafka.facts import KafkaFacts
from broker_core.lab.kafka.reading import PRODUCER
from broker_core.lab.kafka.views.cluster import brokers_of, has_topic
from broker_core.lab.messages import first_of_program
from broker_core.lab.shared.facts import LaneFacts
from broker_core.lab.shared.lane import Lane
from broker_core.lab.size import LaneSize
from broker_core.sim.slot import PAUSED, RUNNING

WRITER = "writer"
WRITERS_MAX = 8
TRANSACTION_PARTITIONS = 5


@dataclass(frozen=True, slots=True, kw_only=True)
class SetAcks(ClusterCommand):
    """acks: 0, 1, or -1 for all. They are fixed for a producer's life: the application closes its producer, which
    first sends what it has, and opens another. With the idempotence that the lane's options ask for, where acks
    allows it. No fault: it has no card."""

    kind: ClassVar[str] = "cluster_set_acks"
    ARGS: ClassVar[frozenset[str]] = frozenset({"acks"})

    acks: int

    @classmethod
    def read_args(cls, args: Json) -> dict[str, Any]:
        return {"acks": whole("args.acks", args.get("acks"), ACKS_ALL, 1)}

    def args(self) -> Json:
        return {"acks": self.acks}

    def said(self) -> Json:
        return {"acks": "all" if self.acks == ACKS_ALL else str(self.acks)}

    def nodes(self) -> list[str]:
        return [PRODUCER]

    def carry_out_in(self, lane: Lane, position: int) -> None:
        self.do(lane, Cause(command=position))

    def do(self, lane: Lane, cause: Cause) -> None:
        is_idempotent = self.acks == ACKS_ALL and lane.options.get("idempotence", True)
        lane.world.order(PRODUCER, Reopen(self.acks, is_idempotent), cause)
        lane.rules.forget_caches()


@dataclass(frozen=True, slots=True, kw_only=True)
class StartWriter(ClusterCommand):
    """writer: its number, one that no other has. transactional_id: by default the topic's name."""

    kind: ClassVar[str] = "cluster_start_writer"
    GROWS: ClassVar[str] = "args.writer"
    ARGS: ClassVar[frozenset[str]] = frozenset({"writer", "topic", "transactional_id"})

    writer: int
    topic: str
    transactional_id: str

    @classmethod
    def read_args(cls, args: Json) -> dict[str, Any]:
        topic = topic_name(args.get("topic"))
        transactional_id = args.get("transactional_id", topic)
        if not isinstance(transactional_id, str) or not CONSUMER_NAME.fullmatch(transactional_id):
            raise CommandError(
                "args.transactional_id",
                "must be 1 to 32 letters, digits or . _ -, beginning with a letter or digit",
            )
        return {
            "writer": whole("args.writer", args.get("writer"), 1, WRITERS_MAX),
            "topic": topic,
            "transactional_id": transactional_id,
        }

    def args(self) -> Json:
        return {"writer": self.writer, "topic": self.topic, "transactional_id": self.transactional_id}

    def nodes(self) -> list[str]:
        return ["controller"]

    def card(self) -> tuple[str, list[str]]:
        return self.verb, [writer_node(self.writer), self.transactional_id]

    def check_in(self, lane: KafkaFacts) -> None:
        if writer_node(self.writer) in lane.writers:
            raise CommandError("args.writer", "there is a {name} already", name=writer_node(self.writer))
        if self.topic == lane.own_topic:
            raise CommandError(
                "args.topic",
                "{topic} has the lane's own records: create another topic for a writer",
                topic=self.topic,
            )

    def grown(self, lane: LaneFacts) -> LaneSize | None:
        """The topic of the transaction coordinators' records is counted with each, though the first one alone
        makes it."""
        if not isinstance(lane, KafkaFacts):
            return None
        size = lane.size
        return size.grown(clients=1, replicas=TRANSACTION_PARTITIONS * min(3, size.brokers))

    def do(self, lane: Lane, cause: Cause) -> None:
        world, brokers = lane.world, list(brokers_of(lane.world))
        plan = transaction_topic(TRANSACTION_PARTITIONS, min(3, len(brokers)))
        if not has_topic(world, plan.name):  # as Kafka makes it when the first transactional client asks
            verbs.order_tool(world, plan.request(), cause)
        node = writer_node(self.writer)
        world.start(
            node,
            WRITER,
            WriterState.for_topic(self.topic, self.transactional_id, first_of_program(self.writer)),
        )
        world.order(node, Connect(brokers, [self.topic]), cause)


@dataclass(frozen=True, slots=True, kw_only=True)
class WriterCommand(ClusterCommand):
    """writer: its number."""

    ARGS: ClassVar[frozenset[str]] = frozenset({"writer"})
    condition: ClassVar[str]

    writer: int

    @classmethod
    def read_args(cls, args: Json) -> dict[str, Any]:
        return {"writer": whole("args.writer", args.get("writer"), 1, WRITERS_MAX)}

    def args(self) -> Json:
        return {"writer": self.writer}

    def nodes(self) -> list[str]:
        return [writer_node(self.writer)]

    def field_of(self, node: str) -> str:
        return "args.writer"

    def check_in(self, lane: KafkaFacts) -> None:
        if lane.writers.get(writer_node(self.writer)) != self.condition:
            raise CommandError(
                "args.writer",
                "{name} is not paused" if self.condition == PAUSED else "{name} is paused already",
                name=writer_node(self.writer),
            )


class PauseWriter(WriterCommand):
    """SIGSTOP, or a long garbage collection."""

    kind: ClassVar[str] = "cluster_pause_writer"
    condition: ClassVar[str] = RUNNING

    def do(self, lane: Lane, cause: Cause) -> None:
        lane.world.pause(writer_node(self.writer), cause)


class ResumeWriter(WriterCommand):
    """It continues where it stood, and does not know that time has passed."""

    kind: ClassVar[str] = "cluster_resume_writer"
    condition: ClassVar[str] = PAUSED

    def do(self, lane: Lane, cause: Cause) -> None:
        lane.world.resume(writer_node(self.writer))


WRITER_COMMANDS: tuple[type[ClusterCommand], ...] = (SetAcks, StartWriter, PauseWriter, ResumeWriter)
