"""What a command's check may look at: the lab itself when it carries the command out, or a view of it when a
web process answers at once.

Only what commands change is here, never what time changes by itself: a view may be a second old.
"""

from collections import Counter
from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, NamedTuple, Protocol, cast

from broker_core.clock import SECOND_US
from broker_core.events import Json
from broker_core.kafka.cluster.control_requests import (
    AlterPartitionReassignmentsRequest,
    CreateTopicsRequest,
    ToolRequest,
)
from broker_core.kafka.cluster.foreseen import refusal_of, refusal_of_move, refusal_of_new_topic
from broker_core.kafka.cluster.names import broker_node
from broker_core.kafka.cluster.state import SHUTTING_DOWN
from broker_core.kafka.error_codes import Refused
from broker_core.lab.consumer import CRASHED, FROZEN, GONE, PAUSED, STUCK
from broker_core.lab.lanes.kafka_cluster_group import consumer_state, group_of
from broker_core.lab.limits import Limits
from broker_core.lab.size import LaneSize
from broker_core.lab.sizing import parts_of_lab, size_of_lane
from broker_core.lab.views.kafka_cluster import partition_count, topics_of
from broker_core.lab.views.kafka_links import clients_of, cut_ways, nodes_of, writers_of
from broker_core.lab.views.kafka_verbs import broker_stage, broker_verbs

if TYPE_CHECKING:
    from broker_core.lab.lab import Lab
    from broker_core.lab.lanes.lane import Lane
    from broker_core.lab.lanes.pulsar import PulsarRules


class ConsumerFacts(NamedTuple):
    """has_crashed: also after its broker has noticed. has_own_pace: somebody has made it slower or faster
    than the scenario says. is_frozen,
    is_stuck: of one on a Kafka cluster."""

    has_crashed: bool
    is_paused: bool
    has_own_pace: bool
    is_frozen: bool
    is_stuck: bool


class BrokerFacts(NamedTuple):
    """stage: how far its process has come, or why it does nothing. verbs: what can be done to it."""

    stage: str
    verbs: Sequence[str]


class LaneFacts(Protocol):
    """order: the order rule of a Pulsar lane's Key_Shared, None where it has none. has_receipts: its Pulsar
    producer waits for them.
    nodes: of its Kafka cluster, brokers, controller and clients;
    empty: it has none. topics: with their numbers of partitions. broker: by its number; None: not known. cut:
    who of two is not heard by the other. refused: what the controller would say of a request; None: it would
    carry it out, or is not known. writers: by name, with their condition. partitions: of a topic of the
    cluster, 0 where there is none of that name. group_state: "" while nobody coordinates; owned: the (topic,
    partition) of a consumer's program, and whether it has paused it; None: not known, as both change by
    themselves. size: None: not known."""

    @property
    def id(self) -> str: ...
    @property
    def model(self) -> str: ...
    @property
    def algorithm(self) -> str: ...
    @property
    def order(self) -> str | None: ...
    @property
    def algorithms(self) -> Sequence[str]: ...
    @property
    def has_receipts(self) -> bool: ...
    @property
    def names(self) -> Collection[str]: ...
    @property
    def nodes(self) -> Collection[str]: ...
    def consumer(self, name: str) -> ConsumerFacts: ...
    def broker(self, number: int) -> BrokerFacts | None: ...
    def cut(self, one: str, other: str) -> Sequence[str] | None: ...
    def partitions(self, topic: str) -> int | None: ...
    @property
    def topics(self) -> Mapping[str, int]: ...
    def refused(self, request: ToolRequest) -> Refused | None: ...
    @property
    def writers(self) -> Mapping[str, str]: ...
    @property
    def own_topic(self) -> str: ...
    @property
    def group_state(self) -> str | None: ...
    def owned(self, name: str) -> Mapping[tuple[str, int], bool] | None: ...
    @property
    def size(self) -> LaneSize | None: ...
    def size_under(self, algorithm: str) -> LaneSize | None: ...


@dataclass(frozen=True, slots=True)
class LabFacts:
    """lanes: by id, in the lab's order. parts: what the lab costs now (`size.py`), 0 where that is not
    known."""

    lanes: dict[str, LaneFacts]
    is_playing: bool
    limits: Limits
    parts: int = 0


def _facts(state: str, has_own_pace: bool) -> ConsumerFacts:
    return ConsumerFacts(
        state in (CRASHED, GONE), state == PAUSED, has_own_pace, state == FROZEN, state == STUCK
    )


def facts_of_lab(lab: "Lab") -> LabFacts:
    return LabFacts(
        {lane.id: facts_of_lane(lane) for lane in lab.lanes.values()},
        lab.playing,
        lab.limits,
        parts_of_lab(lab),
    )


def facts_of_lane(lane: "Lane") -> LaneFacts:
    return _Lane(lane)


def facts_of_view(view: Json, limits: Limits) -> LabFacts:
    """view: as `lab_view` makes it."""
    normal = SECOND_US // (SECOND_US // view["consumer_rate"])
    lanes: dict[str, LaneFacts] = {
        lane_id: _LaneView(lane_id, view["rigs"][lane_id], normal) for lane_id in view["rig_order"]
    }
    return LabFacts(lanes, view["playing"], limits, view.get("parts", 0))


@dataclass(frozen=True, slots=True)
class _Lane:
    lane: "Lane"

    @property
    def id(self) -> str:
        return self.lane.id

    @property
    def model(self) -> str:
        return self.lane.model

    @property
    def algorithm(self) -> str:
        return self.lane.algorithm

    @property
    def order(self) -> str | None:
        return cast("PulsarRules", self.lane.rules).order if self.lane.model == "pulsar" else None

    @property
    def has_receipts(self) -> bool:
        return self.lane.model == "pulsar" and cast("PulsarRules", self.lane.rules).receipts

    @property
    def algorithms(self) -> Sequence[str]:
        return [entry["id"] for entry in self.lane.algorithms()]

    @property
    def names(self) -> Collection[str]:
        return self.lane.consumers.keys()

    def consumer(self, name: str) -> ConsumerFacts:
        known = self.lane.consumers[name]
        return _facts(known.state, known.service_us != known.normal_us)

    def partitions(self, topic: str) -> int | None:
        return partition_count(self.lane.world, topic)

    @property
    def nodes(self) -> Collection[str]:
        return [*nodes_of(self.lane.world), *clients_of(self.lane.world)]

    @property
    def topics(self) -> Mapping[str, int]:
        return topics_of(self.lane.world)

    def refused(self, request: ToolRequest) -> Refused | None:
        return refusal_of(self.lane.world, request)

    @property
    def writers(self) -> Mapping[str, str]:
        return writers_of(self.lane.world)

    @property
    def own_topic(self) -> str:
        notes = self.lane.reads.notes
        return getattr(notes, "topic", "")

    @property
    def size(self) -> LaneSize:
        return size_of_lane(self.lane)

    def size_under(self, algorithm: str) -> LaneSize:
        return size_of_lane(self.lane, algorithm)

    def broker(self, number: int) -> BrokerFacts | None:
        slot = self.lane.world.slots[broker_node(number)]
        return BrokerFacts(broker_stage(slot), broker_verbs(slot))

    def cut(self, one: str, other: str) -> Sequence[str] | None:
        nodes = clients_of(self.lane.world)
        ways = cut_ways(self.lane.world, nodes.get(one, one), nodes.get(other, other))
        return [one if way == nodes.get(one, one) else other for way in ways]

    @property
    def group_state(self) -> str | None:
        group = group_of(self.lane.world, self.own_topic)
        return "" if group.coordinator is None else group.state

    def owned(self, name: str) -> Mapping[tuple[str, int], bool] | None:
        state = consumer_state(self.lane.world.slots[self.lane.consumers[name].incarnation])
        return {partition: known.is_paused for partition, known in state.subscribed.assigned.items()}


@dataclass(frozen=True, slots=True)
class _LaneView:
    """normal: records a second that a consumer finishes when nobody has changed its pace."""

    id: str
    view: Json
    normal: int

    @property
    def model(self) -> str:
        return str(self.view["model"])

    @property
    def algorithm(self) -> str:
        return str(self.view["algorithm"])

    @property
    def order(self) -> str | None:
        known: str | None = self.view["pulsar"]["order"] if "pulsar" in self.view else None
        return known

    @property
    def has_receipts(self) -> bool:
        return "pulsar" in self.view and self.view["pulsar"]["producer"] is not None

    @property
    def algorithms(self) -> Sequence[str]:
        return [entry["id"] for entry in self.view["algorithms"]]

    @property
    def names(self) -> Collection[str]:
        return list(self.view["consumers"])

    def consumer(self, name: str) -> ConsumerFacts:
        known = self.view["consumers"][name]
        return _facts(known["state"], known["capacity"] != self.normal)

    def partitions(self, topic: str) -> int | None:
        cluster = self.view.get("cluster")
        return (
            None
            if cluster is None
            else sum(name.rpartition("-")[0] == topic for name in cluster["partitions"])
        )

    @property
    def nodes(self) -> Collection[str]:
        cluster = self.view.get("cluster")
        return (
            []
            if cluster is None
            else ["controller", *(f"broker-{broker}" for broker in cluster["brokers"]), *cluster["clients"]]
        )

    @property
    def topics(self) -> Mapping[str, int]:
        return Counter(name.rpartition("-")[0] for name in self.view["cluster"]["partitions"])

    @property
    def writers(self) -> Mapping[str, str]:
        return {
            name: client["condition"]
            for name, client in self.view["cluster"]["clients"].items()
            if client["verbs"]
        }

    @property
    def own_topic(self) -> str:
        return str(self.view["cluster"]["topic"])

    def refused(self, request: ToolRequest) -> Refused | None:
        """Who is alive changes by itself; a topic that is there stays, and so do the brokers."""
        brokers = {int(broker) for broker in self.view["cluster"]["brokers"]}
        if isinstance(request, CreateTopicsRequest):
            return refusal_of_new_topic(request, self.topics, len(brokers))
        if isinstance(request, AlterPartitionReassignmentsRequest):
            return refusal_of_move(request, brokers)
        return None

    @property
    def size(self) -> LaneSize | None:
        """Not known of a view from before labs had one."""
        return LaneSize(**self.view["size"]) if "size" in self.view else None

    def size_under(self, algorithm: str) -> None:
        """Not known: a view does not hold the lane's options."""

    def broker(self, number: int) -> BrokerFacts | None:
        """Not known of one that is shutting down: when it is down no command says."""
        known = self.view["cluster"]["brokers"][str(number)]
        return None if known["stage"] == SHUTTING_DOWN else BrokerFacts(known["stage"], known["verbs"])

    def cut(self, one: str, other: str) -> Sequence[str] | None:
        link: Json | None = self.view["cluster"]["links"].get("{}>{}".format(*sorted((one, other))))
        ways: list[str] = [] if link is None else link["cut"]
        return ways

    @property
    def group_state(self) -> str | None:
        return None

    def owned(self, name: str) -> Mapping[tuple[str, int], bool] | None:
        return None
