"""What a lane's view has beside the Stage's picture, for pages of their own, where it runs on a Kafka
cluster: `cluster`, `group`, `group_topics`, `group_health`; of a Pulsar lane: `pulsar`."""

from __future__ import annotations

from typing import TYPE_CHECKING

from broker_core.events import Json
from broker_core.lab.lanes.kafka_cluster_reading import KafkaClusterReading
from broker_core.lab.observers.kafka_faults import ClusterNotes
from broker_core.lab.views.kafka_cluster import cluster_view
from broker_core.lab.views.kafka_group import group_view
from broker_core.lab.views.kafka_group_health import health_view
from broker_core.lab.views.kafka_group_topics import topics_view
from broker_core.lab.views.pulsar import pulsar_view

if TYPE_CHECKING:
    from broker_core.lab.lanes.lane import Lane


def cluster_notes(lane: Lane) -> ClusterNotes | None:
    """What the observers of a lane's cluster remember; None: the lane has none."""
    notes = lane.reads.notes
    return notes if isinstance(notes, ClusterNotes) else None


def panels_of(lane: Lane) -> Json:
    """By name; {} for lanes without a page."""
    if lane.model == "pulsar":
        return {"pulsar": pulsar_view(lane)}
    notes = cluster_notes(lane)
    reads = lane.reads
    if notes is None or not isinstance(reads, KafkaClusterReading):
        return {}
    return {
        "cluster": {
            **cluster_view(lane.world),
            "topic": notes.topic,
            "faults": notes.faults.view(lane.world),
            "history": notes.history.offsets_view(),
        },
        "group": group_view(lane, reads, notes),
        "group_topics": topics_view(lane, reads),
        "group_health": health_view(lane, reads, notes),
    }
