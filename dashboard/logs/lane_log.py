"""Whether a lab's lane has a log of its own beside its brokers' (`broker_core/lab/kafka_log/derivable.py`)."""

from broker_core.events import Json
from broker_core.lab.kafka_log.derivable import is_derivable
from dashboard.models import Lab, StoredCommand


def has_lane_log(lab: Lab, lane: Json) -> bool:
    """lane: of the lab's scenario."""
    applied = lab.commands.filter(state=StoredCommand.State.APPLIED)
    return is_derivable(lane, applied.values_list("body", flat=True).iterator())
