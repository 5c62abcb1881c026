"""Where a lane's log may be derived it has the brokers' records, and where it would not it may not be."""

from __future__ import annotations

from typing import Any

import pytest

from broker_core.events import Json
from broker_core.kafka.cluster.names import CONTROLLER
from broker_core.lab.kafka.options import CLUSTER_FIELDS
from broker_core.lab.kafka_log.derivable import OPTIONS, is_derivable
from broker_core.lab.kafka_log.producer import LaneProducer
from broker_core.lab.lab import Lab
from broker_core.lab.scenario import scenario_from_json, scenario_to_json

pytestmark = pytest.mark.slow
SECOND = 1_000_000
LANE: Json = {"model": "kafka", "topic": "flights", "partitions": 3, "offsets_partitions": 1}
KEYLESS: Json = {"kind": "keys", "name": "orders", "keys": [["a", 5], ["b", 3]], "keyless": 4, "rate": 40}
CONSUMERS: list[tuple[str, Json]] = [
    ("join", {}),
    ("crash", {"consumer": "c1"}),
    ("group_freeze", {"consumer": "c2"}),
]


def lived(lane: Json, orders: list[tuple[str, Json]], seconds: int = 20) -> tuple[Lab, list[Json]]:
    """A lab that was given these orders three seconds apart, and the orders as its journal has them."""
    lab = Lab(
        scenario_from_json({"lanes": [{**LANE, **lane}], "consumers": 3, "workload": KEYLESS, "seed": 7})
    )
    given = []
    for number, (kind, parts) in enumerate(orders, 1):
        lab.advance_to(3 * number * SECOND)
        command = {"command_id": f"t{number}", "kind": kind, "lane": "kafka", **parts}
        lab.submit(command)
        given.append(command)
    lab.advance_to(lab.now_us + seconds * SECOND)
    return lab, given


def lane_json(lab: Lab) -> Json:
    return next(lane for lane in scenario_to_json(lab.scenario)["lanes"])


def ends(lab: Lab) -> dict[int, int]:
    """The log ends of the leaders of the lane's topic."""
    world = lab.lanes["kafka"].world
    known = world.slots[CONTROLLER].node.state.rules.topics["flights"].partitions
    return {
        number: world.slots[f"broker-{each.leader}"].node.state.disk.logs["flights", number].log_end_offset
        for number, each in enumerate(known)
        if each.leader >= 0
    }


def derived_ends(lab: Lab) -> dict[int, int]:
    producer, found = LaneProducer(lab.workload, 7, 3), dict.fromkeys(range(3), 0)
    while producer.now_us < lab.now_us:
        for number, records in producer.next_window(with_content=frozenset()).records.items():
            found[number] += len(records)
    return found


def agree(lab: Lab) -> bool:
    """Whether both hold as much, but for what is on its way."""
    real, derived = ends(lab), derived_ends(lab)
    return real.keys() == derived.keys() and all(abs(derived[each] - real[each]) <= 3 for each in real)


@pytest.mark.parametrize(
    "lane",
    [
        {},
        {"brokers": 1, "replication_factor": 1},
        {"brokers": 4, "replication_factor": 2, "placement_seed": 3},
        {"group_protocol": "consumer", "commits": "sync", "isolation_level": "read_committed"},
    ],
)
def test_where_only_consumers_come_and_go_it_has_as_many_records_as_the_brokers(lane: Json) -> None:
    lab, orders = lived(lane, CONSUMERS)
    assert is_derivable(lane_json(lab), orders) and agree(lab)


@pytest.mark.parametrize(
    ("lane", "orders"),
    [
        (
            {"acks": 1, "metadata_max_age_ms": 1000},
            [("cluster_add_partitions", {"topic": "flights", "count": 5})],
        ),
        ({"metadata_max_age_ms": 1000}, [("cluster_add_partitions", {"topic": "flights", "count": 5})]),
        ({}, [("cluster_send_record", {"partition": 1, "key": str(key)}) for key in range(5)]),
        ({"brokers": 1, "replication_factor": 1}, [("cluster_crash", {"broker": 1})]),
    ],
)
def test_where_the_brokers_logs_leave_it_there_is_none(lane: Json, orders: list[tuple[str, Json]]) -> None:
    lab, given = lived(lane, [(kind, {"args": args}) for kind, args in orders])
    assert not agree(lab), "the case shows nothing"
    assert not is_derivable(lane_json(lab), given)


@pytest.mark.parametrize(
    "option", ["retention_ms", "segment_bytes", "cleanup_policy", "acks", "idempotence", "min_insync_replicas",
               "unclean_election", "truncation", "lag_messages_max", "network_delay_us", "metadata_max_age_ms"],
)  # fmt: skip
def test_an_option_that_acts_on_what_is_written_leaves_no_derived_log(option: str) -> None:
    lane: dict[str, Any] = {"id": "kafka", "model": "kafka", "partitions": 3}
    assert is_derivable(lane, []) and not is_derivable({**lane, option: 1}, [])


def test_an_order_to_another_lane_changes_nothing_and_an_unknown_one_ends_it() -> None:
    lane = {"id": "kafka", "model": "kafka", "partitions": 3}
    assert is_derivable(lane, [{"kind": "cluster_crash", "lane": "kafka-2"}])
    assert not is_derivable(lane, [{"kind": "cluster_crash", "lane": "all"}])
    assert not is_derivable(lane, [{"kind": "something_new"}])
    assert {"id", "model", "algorithm", "topic", "partitions"} <= OPTIONS <= {
        "id", "model", "algorithm", "topic", "partitions", *CLUSTER_FIELDS,
    }  # fmt: skip
