"""Another rule while records wait: the lane goes through the same past under it, and what a course of it has
confirmed it does not read again."""

from typing import Any

import pytest

from broker_core.lab.panels import panels_of
from tests.core.lab.tubemq.tubemq_lab import at, lab_of, lane_of

LANES = {"partitions": 6, "brokers": 3}


def with_backlog(algorithm: str) -> Any:
    """The group was on the black list for a minute, and hundreds of records wait."""
    lab = lab_of(consumers=2, rate=30, algorithm=algorithm, **LANES)
    at(lab, 60, "tubemq_black_list", listed=True)
    at(lab, 120, "tubemq_black_list", listed=False)
    at(lab, 150)
    return lab


def offsets(lab: Any) -> dict[str, tuple[int, int]]:
    partitions = panels_of(lane_of(lab), ["tubemq"])["tubemq"]["partitions"]
    return {key: (each["offset"], each["lag"]) for key, each in partitions.items()}


@pytest.mark.parametrize(
    ("first", "then"), [("server", "article"), ("article", "modulo"), ("modulo", "server")]
)
def test_lane_that_is_switched_under_a_backlog_is_where_the_other_rule_would_have_brought_it(
    first: str, then: str
) -> None:
    lab = with_backlog(first)
    assert sum(lag for _, lag in offsets(lab).values()) > 100
    lab.submit({"command_id": "s", "kind": "set_algorithm", "lane": "tubemq", "args": {"algorithm": then}})
    assert offsets(lab) == offsets(with_backlog(then))
    before = offsets(lab)
    for second in range(151, 190):
        at(lab, second)
        now = offsets(lab)
        assert all(now[key][0] >= before[key][0] for key in now), "what is confirmed is not read again"
        before = now
