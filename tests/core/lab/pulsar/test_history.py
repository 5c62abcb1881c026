"""What the page of a Pulsar subscription draws over time is kept in the lab: the same for whoever looks,
whenever, and after a restore."""

from __future__ import annotations

import json
from typing import Any

import pytest

from broker_core.lab.lab import Lab
from broker_core.lab.pulsar.history import RATES_KEPT_S
from broker_core.lab.shared.history import VALUES_MAX, pace_s
from tests.core.lab.lives import order
from tests.core.lab.small import SECOND, lab_of

TYPES = ("auto_split", "consistent_hash", "sticky", "shared", "failover", "exclusive")


def history(lab: Lab) -> dict[str, Any]:
    found: dict[str, Any] = json.loads(json.dumps(lab.view()))["lanes"]["pulsar"]["pulsar"]["history"]
    return found


@pytest.mark.parametrize("algorithm", TYPES)
def test_it_is_what_a_look_at_each_second_finds(algorithm: str) -> None:
    looked_at, left_alone = lab_of("pulsar", algorithm=algorithm), lab_of("pulsar", algorithm=algorithm)
    seen: dict[str, Any] = {}
    for kind, name in (("join", None), ("crash", "c2"), ("rejoin", "c2"), ("leave", "c1")):
        for lab in (looked_at, left_alone):
            order(lab, kind, name)
        for _ in range(9):
            looked_at.advance_to(looked_at.now_us + SECOND)
            rows = looked_at.view()["lanes"]["pulsar"]["consumers"]
            seen[str(looked_at.now_us // SECOND)] = {
                name: round(row["rate"] * 10) for name, row in rows.items()
            }
        left_alone.advance_to(looked_at.now_us)
    kept = history(left_alone)
    assert {second: row for second, row in kept.items() if second != "0"} == seen
    assert any(any(row.values()) for row in seen.values())
    assert kept == history(looked_at) and left_alone.checkpoint() == looked_at.checkpoint()


def test_who_opens_a_paused_lab_late_has_the_seconds_before_with_their_skew() -> None:
    lab = lab_of("pulsar", consumers=3, seconds=40.5)
    order(lab, "pause_lab")
    view = lab.view()
    seconds = list(view["lanes"]["pulsar"]["pulsar"]["history"])
    assert seconds[-1] == "40" and len(seconds) >= 40
    assert all(view["history"][second]["pulsar"] is not None for second in seconds[-30:])


def test_a_restored_lab_has_it_and_goes_on_with_it() -> None:
    lab = lab_of("pulsar", seconds=12)
    order(lab, "slow", "c1", rate=1)
    lab.advance_to(15 * SECOND + 500_000)
    again = Lab.restore(lab.scenario, lab.checkpoint())
    assert again.view() == lab.view() and "15" in history(again)
    for one in (lab, again):
        one.advance_to(25 * SECOND)
    assert history(again) == history(lab) and list(history(again))[-1] == "25"


def test_a_lane_under_another_rule_has_the_history_of_that_rule() -> None:
    lab = lab_of("pulsar", seconds=12)
    order(lab, "set_algorithm", lane="pulsar", algorithm="exclusive")
    assert list(history(lab))[-1] == "12"
    assert all(row.get("c2", 0) == 0 for row in history(lab).values())


def test_old_seconds_are_forgotten() -> None:
    lab = lab_of("pulsar", seconds=200, rate=2)
    assert [int(second) for second in history(lab)] == list(range(200 - RATES_KEPT_S + 1, 201))


@pytest.mark.parametrize("consumers", [1, 66, 67, 512])
def test_it_has_a_bounded_number_of_values(consumers: int) -> None:
    assert consumers * (RATES_KEPT_S // pace_s(consumers, RATES_KEPT_S)) <= VALUES_MAX


def test_of_many_consumers_a_sample_is_taken_every_few_seconds() -> None:
    lab = lab_of("pulsar", consumers=100, seconds=9, rate=4)
    assert pace_s(100, RATES_KEPT_S) == 2
    assert [int(second) for second in history(lab)] == [0, 2, 4, 6, 8]
    assert all(len(row) == 100 for row in history(lab).values())
