"""The topic of a study's source: its partitions, and the lanes of the lab it is opened as, bear its name.

A file gives its own name, a Kafka log its topic, a lab the topic of its lanes; so the name is the same
wherever the study is counted or opened.
"""

from broker_core.events import Json
from broker_core.lab.topic import FLIGHTS, RECORDS, topic_of_name, workload_topic


def source_topic(source: Json) -> str:
    """The topic of a checked source."""
    match source["kind"]:
        case "flights":
            return FLIGHTS
        case "kafka_log" if source.get("topic"):
            return topic_of_name(source["topic"].replace(".", "-"))
        case "lab":
            lanes = source["scenario"].get("lanes") or []
            unnamed = workload_topic({"kind": FLIGHTS} | (source["scenario"].get("workload") or {}))
            return next(
                (
                    lane["topic"]
                    for lane in lanes
                    if isinstance(lane, dict) and isinstance(lane.get("topic"), str)
                ),
                unnamed,
            )
        case "zipf" | "uniform":
            return RECORDS
    return topic_of_name(source["path"])
