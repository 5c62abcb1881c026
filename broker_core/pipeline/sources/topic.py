"""The topic that a source's records are in: a study's partitions, and the lanes of the lab it is opened as, bear its name.

A file gives its own name, a Kafka log its topic, a lab the topic of its lanes. TubeMQ hashes "broker:topic:partition", so the name is part of
the study's request and the same wherever the study is counted or opened.
"""

import re
from pathlib import Path

from broker_core.events import Json
from broker_core.lab.commands.fields import RIG_ID

FLIGHTS, RECORDS = "flights", "records"
LENGTH_MAX = 32


def topic_of_name(name: str) -> str:
    """A file's name as a topic: lower case, without its endings, everything else than letters, digits, _ and - as one -.

    >>> topic_of_name("Orders of May.csv.gz"), topic_of_name("2013_sales.csv"), topic_of_name("订单.csv"), topic_of_name("all")
    ('orders-of-may', 'sales', 'records', 'all-records')
    """
    stem = Path(name).name.split(".")[0]
    topic = re.sub(r"[^a-z0-9_-]+", "-", stem.lower()).lstrip("0123456789-_")[:LENGTH_MAX].rstrip("-_")
    if topic in ("all", "lab"):
        return f"{topic}-records"
    return topic if RIG_ID.fullmatch(topic) else RECORDS


def source_topic(source: Json) -> str:
    """The topic of a checked source."""
    match source["kind"]:
        case "flights":
            return FLIGHTS
        case "kafka_log" if source.get("topic"):
            return topic_of_name(source["topic"].replace(".", "-"))
        case "lab":
            rigs = source["scenario"].get("rigs") or []
            return next((rig["topic"] for rig in rigs if isinstance(rig, dict) and isinstance(rig.get("topic"), str)), FLIGHTS)
        case "zipf" | "uniform":
            return RECORDS
    return topic_of_name(source["path"])
