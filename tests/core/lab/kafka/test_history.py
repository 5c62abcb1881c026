"""What the pages of a cluster draw over time is kept in the lab: the same for whoever looks, whenever, and
after a restore."""

from __future__ import annotations

import json
from typing import Any

import pytest

from broker_core.lab.kafka.history import LAGS_KEPT_S, OFFSETS_KEPT_S, ClusterHistory
from broker_core.lab.kafka.reading import KafkaClusterReading
from broker_core.lab.lab import Lab
from broker_core.lab.scenario import scenario_from_json
from broker_core.lab.shared.history import VALUES_MAX, pace_s
from tests.core.lab.lives import order

SECOND = 1_000_000
LANE: dict[str, Any] = {"model": "kafka", "partitions": 3}


def lab_of(**lane: Any) -> Lab:
    return Lab(
        scenario_from_json(
            {
                "seed": 3,
                "consumers": 2,
                "lanes": [{**LANE, **lane}],
                "workload": {"kind": "uniform", "keys": 20, "rate": 9},
            }
        )
    )


def kept(lab: Lab) -> ClusterHistory:
    reads = lab.lanes["kafka"].reads
    assert isinstance(reads, KafkaClusterReading)
    return reads.notes.history


def test_it_is_what_a_look_at_each_second_finds() -> None:
    looked_at, left_alone = lab_of(), lab_of()
    seen: dict[int, Any] = {}
    lags: dict[int, Any] = {}
    for lab in (looked_at, left_alone):
        order(lab, "cluster_crash", lane="kafka", broker=1)
    for second in range(1, 41):
        looked_at.advance_to(second * SECOND)
        panel = looked_at.view()["lanes"]["kafka"]
        for name, part in panel["cluster"]["partitions"].items():
            seen.setdefault(second, {})[name] = {
                broker: copy["end"] for broker, copy in part["copies"].items()
            }
        lags[second] = [part["lag"] for part in panel["group_health"]["partitions"].values()]
    left_alone.advance_to(40 * SECOND)
    assert kept(looked_at) == kept(left_alone)
    assert {
        second: {name: part["ends"] for name, part in row.items()}
        for second, row in kept(left_alone).offsets.items()
        if second
    } == seen
    known = {second: row for second, row in kept(left_alone).lags.items() if second}
    assert len(known) > 10 and known == {second: lags[second] for second in known}


def test_a_view_carries_it_as_json() -> None:
    lab = lab_of()
    lab.advance_to(20 * SECOND)
    panels = json.loads(json.dumps(lab.view()["lanes"]["kafka"]))
    row = panels["cluster"]["history"]["20"][f"{panels['cluster']['topic']}-0"]
    large = panels["cluster"]["partitions"][f"{panels['cluster']['topic']}-0"]
    assert row == {
        "leader": large["leader"],
        "high_watermark": large["high_watermark"],
        "ends": {b: c["end"] for b, c in large["copies"].items()},
    }
    assert panels["group_health"]["history"]["20"] == [
        part["lag"] for part in panels["group_health"]["partitions"].values()
    ]


def test_while_no_process_leads_there_is_no_high_watermark_and_the_copies_still_end_somewhere() -> None:
    lab = lab_of(partitions=1, brokers=1, replication_factor=1)
    lab.advance_to(10 * SECOND)
    order(lab, "cluster_crash", lane="kafka", broker=1)
    lab.advance_to(12 * SECOND)
    (part,) = kept(lab).offsets[12].values()
    assert part["leader"] is None and part["high_watermark"] is None and part["ends"]["1"] > 0
    assert 12 not in kept(lab).lags


@pytest.mark.parametrize("copies", [1, 9, 66, 67, 288, 512 * 9])
def test_it_has_a_bounded_number_of_values(copies: int) -> None:
    assert copies * (OFFSETS_KEPT_S // pace_s(copies, OFFSETS_KEPT_S)) <= VALUES_MAX


def test_old_seconds_are_forgotten() -> None:
    lab = lab_of(partitions=1)
    lab.advance_to(200 * SECOND)
    assert list(kept(lab).offsets) == list(range(200 - OFFSETS_KEPT_S + 1, 201))
    assert list(kept(lab).lags) == list(range(200 - LAGS_KEPT_S + 1, 201))


def test_a_restored_lab_has_it_and_goes_on_with_it() -> None:
    lab = lab_of()
    lab.advance_to(12 * SECOND)
    order(lab, "cluster_slow_link", lane="kafka", one="broker-1", other="broker-2", delay_us=200_000)
    lab.advance_to(15 * SECOND + 500_000)
    again = Lab.restore(lab.scenario, lab.checkpoint())
    assert again.view() == lab.view()
    for one in (lab, again):
        one.advance_to(25 * SECOND)
    assert kept(again) == kept(lab) and list(kept(again).offsets)[-1] == 25
    (card,) = again.view()["lanes"]["kafka"]["cluster"]["faults"]
    assert (card["verb"], card["amount_us"]) == ("slow_link", 200_000)
