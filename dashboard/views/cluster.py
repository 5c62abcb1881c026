"""The page of a lab's Kafka cluster. Reads, presents and draws; nothing else."""

from typing import Any

from django.http import HttpRequest, HttpResponse
from django.views.decorators.cache import never_cache
from django.views.decorators.http import require_safe

from broker_core.lab.kafka.options import CLEANUP_POLICIES
from dashboard.models import Lab
from dashboard.views.lane_page import lane_page

OPERATOR_KEYS = (
    ("create_topic", "N"),
    ("add_partitions", "A"),
    ("reassign", "M"),
    ("elect", "E"),
    ("elect_unclean", "U"),
    ("start_writer", "W"),
)
"""The orders to the controller, each with its key: static/js/cluster/operator.js."""
FACTOR_DEFAULT = 3
SETTINGS = (
    ("retention_ms", "retention.ms"),
    ("retention_bytes", "retention.bytes"),
    ("segment_ms", "segment.ms"),
    ("segment_bytes", "segment.bytes"),
    ("min_cleanable_dirty_ratio_percent", "min.cleanable.dirty.ratio, %"),
    ("delete_retention_ms", "delete.retention.ms"),
    ("min_compaction_lag_ms", "min.compaction.lag.ms"),
    ("max_compaction_lag_ms", "max.compaction.lag.ms"),
)
"""Numbers that a new topic may set for its own logs, under Kafka's names."""


@require_safe
@never_cache
async def of_lab(request: HttpRequest, lab_id: str) -> HttpResponse:
    """A lab's cluster; ?lane= where a lab has several Kafka lanes. 404 where it has none."""
    return await lane_page(request, lab_id, "cluster", ("cluster",), _fill)


def _fill(context: dict[str, Any], lab: Lab, view: dict[str, Any], lane: str) -> None:
    brokers = len(view["lanes"][lane]["cluster"]["brokers"])
    context["page"] |= {"cluster": {"lane": lane}}
    context |= {
        "operator": OPERATOR_KEYS,
        "factor": min(FACTOR_DEFAULT, brokers),
        "policies": CLEANUP_POLICIES,
        "settings": SETTINGS,
    }
