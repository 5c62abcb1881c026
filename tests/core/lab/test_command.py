"""Bad commands get a message at the field; a lab refuses what it cannot do and stays unchanged."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from broker_core.errors import CommandError
from broker_core.lab.commands import check_command
from broker_core.lab.lab import Lab
from broker_core.lab.scenario import scenario_from_json, scenario_to_json

pytestmark = pytest.mark.slow

BASE = {"command_id": "x1", "kind": "join"}


@pytest.mark.parametrize(
    ("change", "field"),
    [
        ({"command_id": ""}, "command_id"),
        ({"command_id": "a" * 65}, "command_id"),
        ({"kind": "explode"}, "kind"),
        ({"kind": ["join"]}, "kind"),
        ({"lane": 3}, "lane"),
        ({"consumer": "<script>"}, "consumer"),
        ({"consumer": "a" * 33}, "consumer"),
        ({"consumer": "c1\n"}, "consumer"),
        *(({"consumer": name}, "consumer") for name in ("broker", "publisher", "producer", "operator")),
        ({"args": {"count": 1_000_000}}, "args.count"),
        ({"args": {"count": True}}, "args.count"),
        ({"args": {"count": 1.0}}, "args.count"),
        ({"args": {"count": 2}, "consumer": "c9"}, "args.count"),
        ({"args": []}, "args"),
        ({"args": {"colour": 1}}, "args.colour"),
        ({"extra": 1}, "extra"),
        ({"kind": "leave"}, "consumer"),
        ({"kind": "play", "consumer": "c1"}, "consumer"),
        ({"kind": "play", "lane": "kafka"}, "lane"),
        ({"kind": "speed"}, "args.speed"),
        ({"kind": "speed", "args": {"speed": float("nan")}}, "args.speed"),
        ({"kind": "speed", "args": {"speed": 21}}, "args.speed"),
        ({"kind": "slow", "consumer": "c1", "args": {"rate": 0}}, "args.rate"),
        ({"kind": "set_algorithm", "args": {"algorithm": "range"}}, "lane"),
        ({"kind": "set_algorithm", "lane": "kafka"}, "args.algorithm"),
    ],
)
def test_wrong_shape_is_named_at_its_field(change, field):
    with pytest.raises(CommandError) as caught:
        check_command({**BASE, **change})
    assert caught.value.field == field


json_values = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats() | st.text(),
    lambda v: st.lists(v) | st.dictionaries(st.text(), v),
    max_leaves=8,
)


@given(raw=json_values)
def test_no_input_does_anything_but_pass_or_be_refused(raw):
    try:
        check_command(raw)
    except CommandError as error:
        assert error.field and error.reason


@given(
    raw=st.dictionaries(
        st.sampled_from(["name", "seed", "workload", "lanes", "consumers", "consumer_rate"]), json_values
    )
)
def test_no_scenario_does_anything_but_pass_or_be_refused(raw):
    try:
        scenario = scenario_from_json(raw)
    except CommandError as error:
        assert error.field and error.reason
    else:
        assert scenario_from_json(scenario_to_json(scenario)) == scenario


@pytest.fixture
def lab():
    lab = Lab(scenario_from_json({"workload": {"kind": "uniform", "keys": 50, "rate": 40}}))
    lab.advance_to(8_000_000)
    return lab


@pytest.mark.parametrize(
    ("command", "field"),
    [
        ({"kind": "join", "consumer": "c1"}, "consumer"),
        ({"kind": "join", "args": {"count": 510}}, "args.count"),
        ({"kind": "leave", "consumer": "nobody"}, "consumer"),
        ({"kind": "rejoin", "consumer": "c1"}, "consumer"),
        ({"kind": "resume", "consumer": "c1"}, "consumer"),
        ({"kind": "join", "lane": "nats"}, "lane"),
        ({"kind": "set_algorithm", "lane": "kafka", "args": {"algorithm": "modulo"}}, "args.algorithm"),
        ({"kind": "set_algorithm", "lane": "kafka", "args": {"algorithm": "range"}}, "args.algorithm"),
    ],
)
def test_lab_refuses_what_it_cannot_do_and_stays_as_it_was(lab, command, field):
    before = lab.checkpoint()
    with pytest.raises(CommandError) as caught:
        lab.submit({"command_id": "x1", **command})
    assert caught.value.field == field
    assert lab.checkpoint() == before


def test_step_goes_one_record_further_and_only_while_paused(lab):
    count = lab.record_count
    lab.submit({"command_id": "x1", "kind": "step"})
    assert lab.record_count == count + 1
    lab.submit({"command_id": "x2", "kind": "play"})
    with pytest.raises(CommandError):
        lab.submit({"command_id": "x3", "kind": "step"})
    assert lab.record_count == count + 1


@pytest.mark.parametrize(
    "name", ["master", "client", "lab", "all", "broker-x", "coordinator", "admin", "network", "world"]
)
def test_whoever_may_join_joins_every_lane(name):
    lab = Lab(scenario_from_json({}))
    lab.submit({"command_id": "a", "kind": "join", "consumer": name})
    lab.advance_to(30_000_000)
    assert all(name in lane.consumers for lane in lab.lanes.values())
