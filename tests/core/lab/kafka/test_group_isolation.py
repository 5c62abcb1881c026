"""isolation.level of a lane's consumers: how far they read, what they never see, and their lag up to the last
stable offset."""

from __future__ import annotations

from typing import Any

import pytest

from broker_core.errors import CommandError
from broker_core.lab.lab import Lab
from broker_core.lab.scenario import scenario_from_json
from tests.core.lab.kafka.test_group_commands import LANE, SECOND, lane_of, order

pytestmark = pytest.mark.slow


def lab_with_writer(level: str, protocol: str = "classic") -> Lab:
    """c1 reads `refunds`, into which writer 1 writes transactions of four records, from virtual second 12
    on."""
    lane = {
        **LANE,
        "partitions": 1,
        "metadata_max_age_ms": 2_000,
        "isolation_level": level,
        "group_protocol": protocol,
    }
    lab = Lab(
        scenario_from_json(
            {
                "lanes": [lane],
                "consumers": 1,
                "consumer_rate": 100,
                "workload": {"kind": "uniform", "keys": 20, "rate": 2},
            }
        )
    )
    lab.advance_to(2 * SECOND)
    order(lab, "cluster_create_topic", 4, args={"topic": "refunds", "partitions": 1})
    order(lab, "group_subscribe", 6, consumer="c1", args={"topics": ["refunds"]})
    order(lab, "cluster_start_writer", 0, args={"writer": 1, "topic": "refunds"})
    return lab


def refunds(lab: Lab) -> Any:
    return lane_of(lab)["group_topics"]["refunds"]["partitions"]["0"]


@pytest.mark.parametrize("protocol", ["classic", "consumer"])
def test_read_committed_waits_for_the_marker_and_read_uncommitted_does_not(protocol: str) -> None:
    found = {}
    for level in ("read_uncommitted", "read_committed"):
        lab = lab_with_writer(level, protocol)
        lab.advance_to(lab.now_us + 2 * SECOND)
        order(lab, "cluster_pause_writer", 10, args={"writer": 1})
        part = refunds(lab)
        found[level] = part["position"]
        assert part["stable"] == 0 and part["high_watermark"] > 0, "the transaction hangs"
        assert part["stable_lag"] == 0 and part["lag"] == part["high_watermark"] - (part["committed"] or 0)
        order(lab, "cluster_resume_writer", 10, args={"writer": 1})
        part = refunds(lab)
        assert part["position"] >= 5, "the first transaction, with its marker, is read"
    assert found["read_committed"] == 0 and found["read_uncommitted"] > 0


def test_records_of_an_aborted_transaction_reach_a_read_uncommitted_consumer_alone() -> None:
    finished, ends = {}, {}
    for level in ("read_uncommitted", "read_committed"):
        lab = lab_with_writer(level)
        lab.advance_to(lab.now_us + 2 * SECOND)
        order(lab, "cluster_pause_writer", 2, args={"writer": 1})
        aborted = refunds(lab)["high_watermark"]
        # A second instance with the same transactional id fences the first one: its open transaction is
        # aborted.
        order(lab, "cluster_start_writer", 5, args={"writer": 2, "topic": "refunds"})
        order(lab, "cluster_pause_writer", 10, args={"writer": 2})
        part = refunds(lab)
        ends[level] = (aborted, part["stable"])
        finished[level] = lane_of(lab)["group"]["members"]["c1"]["finished"]
        open_ = part["high_watermark"] - part["stable"]
        assert part["position"] == (part["stable"] if level == "read_committed" else part["high_watermark"])
        finished[level] -= open_ if level == "read_uncommitted" else 0
    assert ends["read_uncommitted"] == ends["read_committed"] and ends["read_committed"][0] > 0
    assert finished["read_uncommitted"] - finished["read_committed"] == ends["read_committed"][0]


def test_it_is_one_of_two_names() -> None:
    for entry, reason in (
        ({"isolation_level": "serializable"}, "must be one of read_uncommitted, read_committed"),
        ({"isolation_level": 1}, "must be one of read_uncommitted, read_committed"),
    ):
        with pytest.raises(CommandError) as refused:
            scenario_from_json({"lanes": [{"model": "kafka", **entry}]})
        assert (refused.value.field, refused.value.reason) == ("lanes.0.isolation_level", reason)
