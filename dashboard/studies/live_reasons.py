"""Why a live study ended on its own, told from what its query threw and from how its source is now.

Spark wraps what our reader, Java and the disk say into its own texts, so there is nothing but signs in them:
they are looked for from the surest to the vaguest, and the folder itself is asked first.
"""

import logging
from pathlib import Path

from broker_core.errors import CommandError
from broker_core.events import Json
from broker_core.pipeline.sources.kafka_log_folders import partition_folders
from dashboard.errors import Refused
from dashboard.models import Study
from dashboard.studies import reasons
from dashboard.studies.sources import request_for_pipeline

log = logging.getLogger(__name__)

_SIGNS = (
    (("No space left on device", "Disk quota exceeded"), reasons.LIVE_DISK_FULL),
    (("PermissionError", "Permission denied"), reasons.LOG_LOCKED),
    (("OutOfMemoryError", "MemoryError", "Cannot allocate memory"), reasons.LIVE_OUT_OF_MEMORY),
    (
        ("FileNotFoundError", "was removed while it was read", "were removed before they were read"),
        reasons.OVERTAKEN,
    ),
    (("worker failed to connect back", "CANNOT_OPEN_SOCKET"), reasons.OVERLOADED),
    (
        (
            "SparkContext was shut down",
            "Connection refused",
            "Answer from Java side is empty",
            "Error while sending or receiving",
        ),
        reasons.SPARK_LOST,
    ),
)


def live_reason(study: Study, error: Exception, is_spark_lost: bool) -> Json:
    """The reason for the study's row. What is left over is a fault of ours, and the worker's log has it."""
    if is_spark_lost:
        log.error("live study %s lost its Spark", study.pk, exc_info=error)
        return reasons.reason(reasons.SPARK_LOST)
    if isinstance(error, Refused):
        return _refused(study, error)
    if (found := reasons.reason_of(error)) is not None:
        return found
    if (found := _of_source(study)) is not None:
        return found
    text = f"{type(error).__name__} {error}"
    for signs, template in _SIGNS:
        if any(sign in text for sign in signs):
            return reasons.reason(template)
    log.error("live study %s failed", study.pk, exc_info=error)
    return reasons.reason(reasons.LIVE_BROKEN, error=type(error).__name__)


def _of_source(study: Study) -> Json | None:
    """What is wrong with the source as it is now; None where it could be read."""
    try:
        source = request_for_pipeline(study)["source"]
        if source["kind"] == "kafka_log":
            partition_folders(Path(source["path"]), source.get("topic"))
    except Refused as refused:
        return _refused(study, refused)
    except CommandError as error:
        return (
            reasons.reason(reasons.LOG_LOCKED)
            if isinstance(error.__cause__, PermissionError)
            else reasons.reason(reasons.LOG_GONE)
        )
    return None


def _refused(study: Study, refused: Refused) -> Json:
    if study.request["source"]["kind"] == "lab":
        return reasons.reason(reasons.SOURCE_GONE)
    return reasons.reason(
        reasons.LOG_LOCKED if isinstance(refused.__cause__, PermissionError) else reasons.LOG_GONE
    )
