"""Which rule a lane runs where the coordinator assigns, and which where the members do."""

from typing import Any

import pytest

from broker_core.kafka.assignors import ASSIGNORS
from broker_core.lab.kafka.server_rules import members_assignor, with_server_rule
from broker_core.lab.shared.setup import LaneSetup
from broker_core.lab.workload.live_keys import LiveKeys


def setup(algorithm: str, **options: Any) -> LaneSetup:
    return LaneSetup("kafka", algorithm, options, 7, LiveKeys(), None)  # type: ignore[arg-type]  # nobody asks for a text here


@pytest.mark.parametrize("algorithm", ["range", "sticky", "server_uniform"])
def test_where_members_assign_the_lanes_rule_stays(algorithm: str) -> None:
    for options in ({}, {"group_protocol": "classic", "remote_assignor": "range"}):
        given = setup(algorithm, **options)
        assert with_server_rule(given) is given


@pytest.mark.parametrize(
    ("algorithm", "asked", "rule", "remote"),
    [
        ("server_uniform", None, "server_uniform", None),
        ("server_range", None, "server_range", "range"),
        ("server_uniform", "range", "server_uniform", "uniform"),
        ("server_range", "range", "server_range", "range"),
        ("sticky", None, "server_uniform", None),
        ("sticky", "range", "server_range", "range"),
        ("range", None, "server_uniform", None),
    ],
)
def test_where_the_coordinator_assigns_the_lane_runs_one_of_its_two(
    algorithm: str, asked: str | None, rule: str, remote: str | None
) -> None:
    """A members' rule says nothing there: the option does, and without it the coordinator takes its first,
    uniform."""
    options = {"group_protocol": "consumer"} | ({} if asked is None else {"remote_assignor": asked})
    made = with_server_rule(setup(algorithm, **options))
    assert (made.algorithm, made.options.get("remote_assignor")) == (rule, remote)
    assert options == {"group_protocol": "consumer"} | (
        {} if asked is None else {"remote_assignor": asked}
    ), "the scenario's options are as they were"


def test_members_of_a_classic_life_in_such_a_lane_have_kafkas_first_assignor() -> None:
    assert members_assignor("sticky") is ASSIGNORS["sticky"]
    assert members_assignor("server_uniform") is members_assignor("server_range") is ASSIGNORS["range"]
