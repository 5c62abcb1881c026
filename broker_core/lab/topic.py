"""The topic that records are in, named after where they come from: the flights, a file, a Kafka log, keys
that a study kept.

Lanes and studies call partitions and queues so. TubeMQ hashes "broker:topic:partition", so the name is part
of a lab's scenario and of a study's request, and stays what it was when either was made.
"""

import re
from pathlib import Path

from broker_core.events import Json
from broker_core.lab.fields import LANE_ID

FLIGHTS, RECORDS = "flights", "records"
LENGTH_MAX = 32


def topic_of_name(name: str) -> str:
    """A file's name as a topic: lower case, without its endings, everything else than letters, digits, _ and
    - as one -.

    >>> topic_of_name("Orders of May.csv.gz"), topic_of_name("2013_sales.csv"), topic_of_name("订单.csv"), topic_of_name("all")
    ('orders-of-may', 'sales', 'records', 'all-records')
    """
    stem = Path(name).name.split(".")[0]
    topic = re.sub(r"[^a-z0-9_-]+", "-", stem.lower()).lstrip("0123456789-_")[:LENGTH_MAX].rstrip("-_")
    if topic in ("all", "lab"):
        return f"{topic}-records"
    return topic if LANE_ID.fullmatch(topic) else RECORDS


def workload_topic(workload: Json) -> str:
    """The topic of a checked workload; made-up keys have no source to be named after.

    >>> workload_topic({"kind": "flights"}), workload_topic({"kind": "zipf"}), workload_topic({"kind": "keys", "name": "Orders of May"})
    ('flights', 'records', 'orders-of-may')
    """
    match workload["kind"]:
        case "flights":
            return FLIGHTS
        case "keys":
            return topic_of_name(workload.get("name") or RECORDS)
    return RECORDS
