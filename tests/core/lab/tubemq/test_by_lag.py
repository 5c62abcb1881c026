"""By lag, the operator deals again once what waits has been uneven for long, and does not swing."""

from __future__ import annotations

from itertools import pairwise

import pytest

from broker_core.lab.lab import Lab
from tests.core.lab.tubemq.tubemq_lab import at, kinds, lab_of, lane_of


def lags(lab: Lab) -> dict[str, int]:
    reads = lane_of(lab).reads
    reads.forget()
    return {
        name: sum(reads.partitions()[key].end - reads.place(key).offset for key in keys)
        for name, keys in reads.notes.shares.items()
    }


def test_lag_that_stays_uneven_is_dealt_out_again_after_thirty_seconds_and_then_not_for_a_minute() -> None:
    lab = lab_of(algorithm="by_lag", consumers=2, partitions=12, brokers=3, rate=20)
    at(lab, 20, "slow", "c1", rate=2)
    events = at(lab, 170)
    uneven = [event for event in events if event["kind"] == "tubemq.group.uneven"]
    assert 1 <= len(uneven) <= 2
    first = uneven[0]
    assert first["at_us"] >= 50_000_000 and first["data"]["consumer"] == "c1"
    assert first["data"]["waiting"] >= 100 and first["data"]["seconds"] == 30
    assert all(b["at_us"] - a["at_us"] >= 90_000_000 for a, b in pairwise(uneven))
    dealt = [event for event in events if event["kind"] == "tubemq.group.dealt"]
    assert [event["cause"]["event"] for event in dealt] == [event["id"] for event in uneven]
    assert all(event["data"]["moved"] > 0 for event in dealt)


@pytest.mark.parametrize("slow", [False, True])
def test_even_lag_and_a_burst_move_nothing(slow: bool) -> None:
    lab = lab_of(algorithm="by_lag", consumers=2, partitions=12, brokers=3, rate=20)
    if slow:  # for less than three looks
        at(lab, 21, "slow", "c1", rate=2)
        at(lab, 38, "slow", "c1", rate=1000)
    assert "group.uneven" not in kinds(at(lab, 120)) and "group.dealt" not in kinds(at(lab, 121))


def test_nothing_is_dealt_again_while_a_client_is_dead() -> None:
    lab = lab_of(algorithm="by_lag", consumers=3, partitions=12, brokers=3, rate=60)
    at(lab, 20, "crash", "c1")
    assert "group.uneven" not in kinds(at(lab, 100))
    assert max(lags(lab).values()) > 1_000, "its partitions wait for it"
