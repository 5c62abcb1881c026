"""A folder that is being written, up to where its writer has told."""

from pathlib import Path

from broker_core.events import Json
from broker_core.kafka.log.file_names import LOG, file_name
from broker_core.lab.kafka_log.opened import OpenedLog


def opened_part(path: Path, told: Json) -> OpenedLog:
    """The folder as its state says it is: what is written at this moment is not looked at."""
    segments = told.get("segments", [])
    sizes = {file_name(base, LOG): size for base, size in segments[-1:]}
    live = [base for base, _size in segments]
    return OpenedLog(
        path, start_offset=told.get("start_offset"), live=live, sizes=sizes, end_offset=told.get("end_offset")
    )
