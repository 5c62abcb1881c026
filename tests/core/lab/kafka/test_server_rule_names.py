"""The server's rules (KIP-848) by their names, as the algorithm of a lane in a scenario."""

from __future__ import annotations

from typing import Any

import pytest

from broker_core.errors import CommandError
from broker_core.lab.lab import Lab
from broker_core.lab.scenario import scenario_from_json, scenario_to_json

KEYS = {"kind": "uniform", "keys": 20, "rate": 10}


def scenario(**lane: Any) -> Any:
    return scenario_from_json(
        {
            "lanes": [{"model": "kafka", "partitions": 7, "offsets_partitions": 3, **lane}],
            "consumers": 2,
            "workload": KEYS,
        }
    )


def refused(**lane: Any) -> tuple[str, str]:
    with pytest.raises(CommandError) as error:
        scenario(**lane)
    return error.value.field.removeprefix("lanes.0."), error.value.reason


@pytest.mark.parametrize(("rule", "name"), [("server_uniform", "uniform"), ("server_range", "range")])
def test_a_scenario_names_a_rule_of_the_server(rule: str, name: str) -> None:
    for more in ({}, {"remote_assignor": name}):
        made = scenario(algorithm=rule, group_protocol="consumer", **more)
        assert scenario_from_json(scenario_to_json(made)) == made, "a stored lab is read again"
        lab = Lab(made)
        lab.advance_to(12_000_000)
        lane = lab.view()["lanes"]["kafka"]
        assert (lane["algorithm"], lane["group"]["assignor"], lane["group"]["protocol"]) == (
            rule,
            name,
            "consumer",
        )


@pytest.mark.parametrize("rule", ["server_uniform", "server_range"])
def test_the_classic_protocol_refuses_them(rule: str) -> None:
    reason = (
        f"{rule} is the coordinator's own rule, for group_protocol consumer: in the classic protocol members "
        f"assign"
    )
    for more in ({}, {"group_protocol": "classic"}, {"cluster": False}):
        assert refused(algorithm=rule, **more) == ("algorithm", reason)


def test_two_that_contradict_each_other_are_refused() -> None:
    answer = refused(algorithm="server_range", group_protocol="consumer", remote_assignor="uniform")
    assert answer == ("remote_assignor", "server_range asks for the assignor range: leave one of the two out")


def test_an_unknown_name_lists_them_where_they_can_be() -> None:
    assert refused(algorithm="uniform", group_protocol="consumer")[1].endswith("server_uniform, server_range")
    assert "server" not in refused(algorithm="uniform")[1]
    assert refused(algorithm=["server_range"]) == refused(algorithm=7)
