"""The consumer protocol's recorded bytes against ours: Subscription, Assignment, the user data of the sticky
assignors. Exact.

Each entry is written in every version and read back. The sticky assignors' user data lists its topics in the
order of Java's maps.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from functools import partial
from typing import Any

from broker_core.conformance.assignment_match import name, partition_of
from broker_core.conformance.result import CaseResult, case, compare
from broker_core.hashing.java_map import computed_order
from broker_core.kafka.assignors.byte_fields import MalformedBytes
from broker_core.kafka.assignors.subscription_bytes import (
    VERSION_MAX,
    SchemaError,
    SubscriptionData,
    read_assignment,
    read_sticky_user_data,
    read_subscription,
    write_assignment,
    write_cooperative_user_data,
    write_sticky_user_data,
    write_subscription,
)

Json = dict[str, Any]


def run_consumer_protocol(document: Json) -> Iterator[CaseResult]:
    """`subscriptions` and `assignments`: written and read in each version; `sticky_user_data`;
    `malformed_or_newer`: what a reader makes of it."""
    sections: dict[str, Callable[[str, Json], CaseResult]] = {
        "subscriptions": _subscription,
        "assignments": _assignment,
        "sticky_user_data": _user_data,
        "malformed_or_newer": _malformed,
    }
    for section, run in sections.items():
        for index, row in enumerate(document.get(section, [])):
            case_id = f"{section}/{index}"
            yield case(case_id, partial(run, case_id, row))


def _subscription(case_id: str, row: Json) -> CaseResult:
    subscription = SubscriptionData(
        tuple(row["topics"]),
        _bytes(row["user_data"]),
        tuple(map(partition_of, row["owned"])),
        row["generation"],
        row["rack"],
    )
    encoded = {
        f"v{version}": write_subscription(subscription, version).hex() for version in range(VERSION_MAX + 1)
    }
    decoded = {version: _read(bytes.fromhex(text)) for version, text in row["encoded"].items()}
    return compare(
        case_id,
        {"encoded": row["encoded"], "decoded": row["decoded"]},
        {"encoded": encoded, "decoded": decoded},
    )


def _read(data: bytes) -> Json:
    subscription = read_subscription(data)
    return {
        "topics": list(subscription.topics),
        "user_data": _hex(subscription.user_data),
        "owned": list(map(name, subscription.owned)),
        "generation": subscription.generation,
        "rack": subscription.rack,
    }


def _assignment(case_id: str, row: Json) -> CaseResult:
    partitions, user_data = list(map(partition_of, row["partitions"])), _bytes(row["user_data"])
    encoded = {
        f"v{version}": write_assignment(partitions, user_data, version).hex()
        for version in range(VERSION_MAX + 1)
    }
    read = [read_assignment(bytes.fromhex(text)) for text in row["encoded"].values()]
    got = {
        "encoded": encoded,
        "decoded": [(list(map(name, each.partitions)), _hex(each.user_data)) for each in read],
    }
    return compare(
        case_id,
        {"encoded": row["encoded"], "decoded": [(row["decoded_partitions"], row["user_data"])] * len(read)},
        got,
    )


def _user_data(case_id: str, row: Json) -> CaseResult:
    if row.get("before_first_assignment"):
        return compare(case_id, row["hex"], None if read_sticky_user_data(None) == ([], -1) else "remembered")
    by_topic: dict[str, list[int]] = {}
    claimed = list(map(partition_of, row["partitions"]))
    for topic, number in claimed:
        by_topic.setdefault(topic, []).append(number)
    ordered = {topic: by_topic[topic] for topic in computed_order(topic for topic, _ in claimed)}
    partitions, generation = read_sticky_user_data(bytes.fromhex(row["sticky_hex"]))
    got = {
        "sticky_hex": write_sticky_user_data(ordered, row["generation"]).hex(),
        "partitions": sorted(map(name, partitions)),
        "generation": generation,
        "cooperative_hex": write_cooperative_user_data(row["generation"]).hex(),
        "cooperative_before_first_assignment": write_cooperative_user_data(-1).hex(),
    }
    return compare(
        case_id, {part: sorted(row[part]) if part == "partitions" else row[part] for part in got}, got
    )


def _malformed(case_id: str, row: Json) -> CaseResult:
    """What cannot be read is an error of one of two kinds; a newer version is read as the newest that is
    known."""
    outcome = row["subscription_outcome"]
    try:
        read = _read(bytes.fromhex(row["hex"]))
    except SchemaError:
        got: object = "SchemaException"
    except MalformedBytes:
        got = "another exception"
    else:
        got = {part: read[part] for part in outcome} if isinstance(outcome, dict) else read
    if isinstance(outcome, str):
        outcome = "SchemaException" if outcome.startswith("SchemaException") else "another exception"
    return compare(case_id, outcome, got)


def _bytes(text: str | None) -> bytes | None:
    return None if text is None else bytes.fromhex(text)


def _hex(data: bytes | None) -> str | None:
    return None if data is None else data.hex()
