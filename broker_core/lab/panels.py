"""What a lane's view has beside the Stage's picture, for pages of their own: of a Kafka lane on a cluster
`cluster`, `group`, `group_topics` and `group_health`, of a Pulsar lane `pulsar`, of a
TubeMQ lane `tubemq`, of a RabbitMQ lane `rabbitmq`.

Together they are dearer than the picture itself, so a view is asked for by name which of them it shall have:
all, or those whose page is open.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Mapping
from typing import TYPE_CHECKING

from broker_core.events import Json
from broker_core.lab.kafka.faults import ClusterNotes
from broker_core.lab.kafka.reading import KafkaClusterReading
from broker_core.lab.kafka.views.cluster import cluster_view
from broker_core.lab.kafka.views.crash import crashes_view
from broker_core.lab.kafka.views.group import group_view
from broker_core.lab.kafka.views.group_health import health_view
from broker_core.lab.kafka.views.group_topics import topics_view
from broker_core.lab.pulsar.views.subscription import pulsar_view
from broker_core.lab.rabbitmq.reading import RabbitMqReading
from broker_core.lab.rabbitmq.views.server import rabbitmq_view
from broker_core.lab.tubemq.reading import TubeMqReading
from broker_core.lab.tubemq.views.panel import tubemq_view

if TYPE_CHECKING:
    from broker_core.lab.shared.lane import Lane

PANELS = ("cluster", "group", "group_topics", "group_health", "pulsar", "tubemq", "rabbitmq")


def cluster_notes(lane: Lane) -> ClusterNotes | None:
    """What the observers of a lane's cluster remember; None: the lane has none."""
    notes = lane.reads.notes
    return notes if isinstance(notes, ClusterNotes) else None


def panels_of(lane: Lane, wanted: Collection[str] = PANELS) -> Json:
    """Those of `wanted` that the lane has, by name; {} for lanes without a page."""
    makers = _makers(lane)
    return {name: makers[name]() for name in PANELS if name in makers and name in wanted}


def _makers(lane: Lane) -> Mapping[str, Callable[[], Json]]:
    if lane.model == "pulsar":
        return {"pulsar": lambda: pulsar_view(lane)}
    if isinstance(lane.reads, TubeMqReading):
        tubemq = lane.reads
        return {"tubemq": lambda: tubemq_view(lane, tubemq)}
    if isinstance(lane.reads, RabbitMqReading):
        rabbitmq = lane.reads
        return {"rabbitmq": lambda: rabbitmq_view(lane, rabbitmq)}
    notes, reads = cluster_notes(lane), lane.reads
    if notes is None or not isinstance(reads, KafkaClusterReading):
        return {}
    return {
        "cluster": lambda: {
            **cluster_view(lane.world),
            "topic": notes.topic,
            "faults": notes.faults.view(lane.world),
            "cut_off": notes.faults.cut_off_view(lane.world.now_us),
            "acked": notes.faults.acked.ends(),
            "crashes": crashes_view(
                lane.world, notes.faults.acked, notes.topic, reads.producer().settings.acks
            ),
            "history": notes.history.offsets_view(),
        },
        "group": lambda: group_view(lane, reads, notes),
        "group_topics": lambda: topics_view(lane, reads),
        "group_health": lambda: health_view(lane, reads, notes),
    }
