"""Why a study failed, as its row keeps it: a template and its values, put into words in the reader's
language.

The pipeline's own reasons (StudyFailed, CommandError, SparkUnavailable) come as template and values already;
these are the runner's.
"""

import re

from django.utils.translation import gettext

from broker_core.errors import Names
from broker_core.events import Json
from broker_core.pipeline.sources.kinds import REFUSALS
from broker_core.pipeline.study_errors import FAULT
from dashboard.errors import listed

WORKER_DIED = "The analysis worker ended while this study ran. Nothing of it was kept; start it again."
WORKER_STOPPED = "The server was stopped while this study ran. Nothing of it was kept; start it again."
SPARK_LOST = (
    "Spark was lost while this study ran: its Java process ended, often because memory ran out. A new one "
    "starts with the next study."
)
DISK_FULL = "The disk is full. Nothing of this study was kept."
SOURCE_GONE = "The data of this study no longer exists."
DAMAGED = "What is stored of this study cannot be read: its {column} is damaged."
BROKEN = "The pipeline failed with {error}. This is a fault in Highwater; see the log of the analysis worker."

# Of a live study: its windows so far stay, and it can be started again.
LOG_GONE = "The log folder of this study no longer exists, or is no longer open for studies."
LOG_LOCKED = "The system does not let this server read the log folder of this study."
OVERTAKEN = (
    "Retention deleted a segment while it was being read. Start it again: it continues with what the log "
    "still holds."
)
LIVE_DISK_FULL = "The disk is full, so the live study ended. Free some space, then start it again."
LIVE_OUT_OF_MEMORY = (
    "Spark ran out of memory, so the live study ended. Give it more, or watch one topic, or start with what "
    "arrives from now on."
)
OVERLOADED = (
    "A Python process of Spark did not respond in time: this machine is overloaded. Start it again later."
)
LIVE_BROKEN = (
    "The live study failed with {error}. This is a fault in Highwater; see the log of the analysis worker."
)

ALL = (
    WORKER_DIED, WORKER_STOPPED, SPARK_LOST, DISK_FULL, SOURCE_GONE, DAMAGED,
    BROKEN, LOG_GONE, LOG_LOCKED, OVERTAKEN, LIVE_DISK_FULL, LIVE_OUT_OF_MEMORY,
    OVERLOADED, LIVE_BROKEN,
)  # fmt: skip
# A reader inside Spark's tasks is heard as a line of English text: its sentences, to be found in it again.
READERS = (
    "{file}: line ends must be LF or CRLF",
    "{file}: {count} columns have the name {name}",
    "{file}: the column {name} holds {type}; a key, time, size or payload is one value per row",
    "{file}: there is no column {name}; the columns are {columns}",
    "{file}: the text is UTF-16; save it as UTF-8",
    "{file}: was removed while it was being read",
    "{file}: the archive holds {count} files; a zip is read if it holds one",
    "{file}: the batch at {position} is damaged: {reason}",
    "{file}: the row in line {line} is longer than {bytes} bytes",
    (
        "{partition}: offsets {begin} to {last} were removed before they were read; failOnDataLoss=false "
        "continues without them"
    ),
)
_PATTERNS = [
    (template, re.compile(re.sub(r"\\\{(\w+)\\\}", r"(?P<\1>.+?)", re.escape(template))))
    for template in (*READERS, *REFUSALS)
]

PASSING = (OVERTAKEN, OVERLOADED)
"""Faults of a live study that are over when it is begun again."""
_FAULTS = (BROKEN, LIVE_BROKEN, FAULT)


def reason(template: str, **values: object) -> Json:
    """A reason as the row keeps it: values as texts, whole numbers and lists of names."""
    return {"template": template, "values": {name: _kept(value) for name, value in values.items()}}


def _kept(value: object) -> int | str | list[str]:
    if isinstance(value, Names):
        return list(value.each)
    return value if isinstance(value, int) else str(value)


def reason_of(error: Exception) -> Json | None:
    """The reason that an error of the core brings along; None for one that is not about the request."""
    template, values = getattr(error, "template", None), getattr(error, "values", None)
    if not isinstance(template, str) or not isinstance(values, dict):
        return None
    found = reason(template, **values)
    field = getattr(error, "field", None)
    return {**found, "field": field} if isinstance(field, str) else found


def is_fault(stored: Json | None) -> bool:
    """Whether it failed by a mistake of ours, which nothing in the request can mend."""
    return stored is not None and stored["template"] in _FAULTS


def in_words(stored: Json | None) -> str | None:
    """The sentence in the reader's language."""
    if stored is None:
        return None
    text = gettext(stored["template"])
    values = {name: _in_words(value) for name, value in stored["values"].items()}
    return text.format(**values) if values else text


def _in_words(value: int | str | list[str]) -> int | str:
    if isinstance(value, list):
        return listed(value)
    return _of_reader(value) if isinstance(value, str) else value


def _of_reader(text: str) -> str:
    """What a reader said, in the reader's language; anything else as it is."""
    for template, pattern in _PATTERNS:
        if found := pattern.fullmatch(text):
            return gettext(template).format(**found.groupdict())
    return text
