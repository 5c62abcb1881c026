"""Other groups on a Kafka lane's topic: each gets every record, whatever the lab's own group and its
consumers do."""

import pytest

from broker_core.errors import CommandError
from broker_core.lab.lab import Lab
from broker_core.lab.scenario import scenario_from_json, scenario_to_json

pytestmark = pytest.mark.slow

SECOND = 1_000_000
BOTH = {"audit": {}, "billing": {"consumers": 3, "rate": 4, "assignor": "roundrobin"}}


def lab_of(groups=BOTH, consumers=4, rate=20, **options):
    lane = {"model": "kafka", "partitions": 6, "groups": groups, **options}
    return Lab(
        scenario_from_json(
            {
                "lanes": [lane],
                "consumers": consumers,
                "workload": {"kind": "uniform", "keys": 50, "rate": rate},
            }
        )
    )


def order(lab, kind, consumer=None, seconds=1.0, **args):
    given = {"command_id": f"n{lab.position + 1}", "kind": kind, "args": args}
    lab.submit(given if consumer is None else {**given, "consumer": consumer})
    lab.advance_to(lab.now_us + int(seconds * SECOND))


def lane_of(lab):
    return lab.view()["lanes"]["kafka"]


def groups(lab):
    return lane_of(lab)["group"]["groups"]


def handled(group):
    return sum(consumer["finished"] for consumer in group["consumers"].values())


@pytest.mark.parametrize(
    "options", [{}, {"group_protocol": "consumer"}, {"offsets_partitions": 1}, {"brokers": 1}]
)
def test_each_group_gets_every_record_at_its_own_pace(options):
    lab = lab_of(**options)
    lab.advance_to(30 * SECOND)
    found = groups(lab)
    assert handled(found["audit"]) >= lab.record_count - 5
    assert 270 <= handled(found["billing"]) <= 360, (
        "three consumers of four a second each: it falls behind, alone"
    )
    assert found["audit"]["lag"] < 130 < found["billing"]["lag"], (
        "what was handled and not committed counts as lag, five seconds of it"
    )
    assert lane_of(lab)["lag"] < found["billing"]["lag"]


def test_within_a_group_a_partition_is_one_members_alone():
    lab = lab_of()
    lab.advance_to(20 * SECOND)
    for group in groups(lab).values():
        assert sorted(number for one in group["consumers"].values() for number in one["partitions"]) == list(
            range(6)
        )
    assert {name: one["partitions"] for name, one in groups(lab)["billing"]["consumers"].items()} == {
        "billing-1": [0, 3], "billing-2": [1, 4], "billing-3": [2, 5],
    }  # fmt: skip


def test_nothing_of_them_is_told_as_the_labs():
    lab = lab_of()
    told = [event for _ in range(10) for event in lab.advance_to(lab.now_us + SECOND)]
    lab.submit({"command_id": "n1", "kind": "crash", "consumer": "c1"})
    told += lab.advance_to(lab.now_us + 60 * SECOND)
    lab.submit({"command_id": "n2", "kind": "join", "args": {"count": 1}})
    told += lab.advance_to(lab.now_us + 10 * SECOND)
    names = {event["data"].get("consumer") for event in told} - {None}
    assert names == {"c1", "c2", "c3", "c4", "c5"} and "kafka.group.member_expired" in {
        event["kind"] for event in told
    }
    assert not any("group" in event["data"] for event in told)
    assert {one["member"] for one in lane_of(lab)["group"]["exchanges"].values()} <= {
        "c1",
        "c2",
        "c3",
        "c4",
        "c5",
    }
    members = lane_of(lab)["group"]["members"].values()
    assert {member["consumer"] for member in members if member["member_id"] is not None} == {
        "c2",
        "c3",
        "c4",
        "c5",
    }
    assert all(group["generation"] == 1 for group in groups(lab).values()), "the lab's rebalances are its own"


def test_the_brokers_keep_a_record_until_the_slowest_group_has_committed_it():
    lab = lab_of()
    lab.advance_to(150 * SECOND)
    view = lane_of(lab)
    committed = groups(lab)["billing"]["committed"]
    starts = {number: one["start"] for number, one in view["group"]["partitions"].items()}
    assert any(starts.values()) and all(start <= committed.get(number, 0) for number, start in starts.items())
    faster = lab_of({"audit": {}})
    faster.advance_to(150 * SECOND)
    ends = lane_of(faster)["group"]["partitions"]
    assert sum(one["start"] for one in ends.values()) > sum(starts.values())


def test_a_group_outlives_its_coordinator():
    lab = lab_of({"audit": {"consumers": 2}})
    lab.advance_to(20 * SECOND)
    before = groups(lab)["audit"]
    lab.submit({"command_id": "kill", "kind": "cluster_crash", "args": {"broker": before["coordinator"]}})
    lab.advance_to(lab.now_us + 60 * SECOND)
    after = groups(lab)["audit"]
    assert after["coordinator"] not in (None, before["coordinator"]) and after["state"] == "Stable"
    assert handled(after) >= lab.record_count - 10, "and it goes on where it had committed"


@pytest.mark.parametrize("at_s", [0.5, 4.2, 9.9, 31.3])
def test_a_restored_lab_goes_on_the_same(at_s):
    lab = lab_of()
    lab.advance_to(int(at_s * SECOND))
    again = Lab.restore(lab.scenario, lab.checkpoint())
    for one in (lab, again):
        one.advance_to(40 * SECOND)
    assert lab.checkpoint() == again.checkpoint() and groups(lab) == groups(again)


def test_groups_are_part_of_the_scenario():
    scenario = scenario_from_json({"lanes": [{"model": "kafka", "groups": {"audit": {"consumers": 2}}}]})
    assert scenario.lanes[0].options["groups"] == {
        "audit": {"consumers": 2, "rate": 100, "assignor": "range"}
    }
    assert scenario_from_json(scenario_to_json(scenario)) == scenario


@pytest.mark.parametrize(
    ("given", "field"),
    [
        ([], "groups"),
        ({"lab": {}}, "groups"),
        ({"A b": {}}, "groups"),
        ({f"g{number}": {} for number in range(9)}, "groups"),
        ({"audit": 3}, "groups.audit"),
        ({"audit": {"pace": 1}}, "groups.audit.pace"),
        ({"audit": {"consumers": 0}}, "groups.audit.consumers"),
        ({"audit": {"consumers": 9}}, "groups.audit.consumers"),
        ({"audit": {"rate": True}}, "groups.audit.rate"),
        ({"audit": {"assignor": "fair"}}, "groups.audit.assignor"),
    ],
)
def test_what_is_wrong_is_said_at_its_field(given, field):
    with pytest.raises(CommandError) as error:
        lab_of(given)
    assert error.value.field == f"lanes.0.{field}"
