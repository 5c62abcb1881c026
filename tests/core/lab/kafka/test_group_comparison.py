"""The same history under each assignor and protocol: the lane's own figures come out again, and the protocols
differ as they should."""

import pytest

from broker_core.errors import CommandError
from broker_core.events import Json
from broker_core.kafka.assignors import custom
from broker_core.lab.kafka.group_comparison import BY_NAME, VARIANTS, compare, figures
from broker_core.lab.lab import Lab
from broker_core.lab.pieces import whole
from broker_core.lab.scenario import scenario_from_json

SECOND = 1_000_000
pytestmark = pytest.mark.slow


def lab_with_a_history(algorithm: str = "range", protocol: str = "classic") -> Lab:
    lane = {
        "id": "kafka",
        "model": "kafka",
        "brokers": 3,
        "offsets_partitions": 5,
        "algorithm": algorithm,
        "group_protocol": protocol,
    }
    lab = Lab(scenario_from_json({"lanes": [lane], "consumers": 3}))
    for at_s, kind, consumer in ((12, "join", None), (24, "leave", "c1"), (36, "join", None)):
        lab.advance_to(at_s * SECOND)
        position = lab.position + 1
        lab.submit(
            {
                "command_id": f"x{position}",
                "kind": kind,
                "lane": "kafka",
                "consumer": consumer,
                "args": {},
                "position": position,
            }
        )
    lab.advance_to(50 * SECOND)
    return lab


def rows_of(lab: Lab) -> dict[str, Json]:
    return {step.row["name"]: step.row for step in compare(lab, "kafka") if step.row is not None}


@pytest.fixture(scope="module")
def rows() -> dict[str, Json]:
    return rows_of(lab_with_a_history())


def test_each_variant_has_gone_through_the_whole_history(rows: dict[str, Json]) -> None:
    assert list(rows) == [variant.name for variant in VARIANTS] == list(BY_NAME)
    assert {row["members"] for row in rows.values()} == {4}
    assert all(row["generation"] >= 4 for row in rows.values())


def test_what_the_lane_itself_ran_under_comes_out_as_it_was(rows: dict[str, Json]) -> None:
    assert rows["range"] == figures(lab_with_a_history().lanes["kafka"], BY_NAME["range"])
    assert rows["consumer"] == figures(
        lab_with_a_history(protocol="consumer").lanes["kafka"], BY_NAME["consumer"]
    )


def test_sticky_assignors_move_less_and_only_eager_ones_leave_every_partition_dark_at_once(
    rows: dict[str, Json],
) -> None:
    # A join takes 3 of 12 from others, a leave gives 3 of 12 to others, a join takes 3 again: 9 is the least.
    assert (
        rows["sticky"]["moved"]
        == rows["cooperative-sticky"]["moved"]
        == 9
        < rows["range"]["moved"]
        < rows["roundrobin"]["moved"]
    )
    assert {name for name, row in rows.items() if row["dark_most"] == 12} == {
        "range",
        "roundrobin",
        "sticky",
        "range_global",
        "round_robin_hashed",
    }
    assert rows["cooperative-sticky"]["dark_most"] <= 3
    assert {row["spread"] for row in rows.values()} == {0}


def test_the_servers_range_gives_neighbours_to_one_member(rows: dict[str, Json]) -> None:
    assert rows["consumer_range"]["protocol"] == "consumer" and rows["consumer_range"]["spread"] == 0
    lab = lab_with_a_history(protocol="consumer")
    lane = whole(lab.lane_under("kafka", "range", BY_NAME["consumer_range"].options))
    assert lane.options["remote_assignor"] == "range"


SWAPPED = """
def assign(members, partitions):
    given = {member: [] for member in members}
    order = sorted(members)
    for topic in partitions:
        for number in range(partitions[topic]):
            given[order[number % len(order)]].append((topic, number))
    return given
"""


def test_a_users_own_assignor_is_compared_from_the_beginning(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(
        custom, "_runner", plainly
    )  # put back afterwards: other tests of this process need the dashboard's
    lab = lab_with_a_history()
    lab.submit(
        {
            "command_id": "own",
            "kind": "group_assignor",
            "lane": "kafka",
            "args": {"source": SWAPPED},
            "position": lab.position + 1,
        }
    )
    lab.advance_to(70 * SECOND)
    found = rows_of(lab)
    assert list(found) == [*BY_NAME, "custom"]
    assert found["custom"]["moved"] == found["roundrobin"]["moved"], "it shares out as round robin does"
    assert found["sticky"]["moved"] == 9, "the others did not restart for it"


def plainly(source: str, members: Json, partitions: Json) -> Json:
    """The function without the process around it, as it is known here."""
    names: Json = {}
    exec(source, names)
    return {
        "assignment": {
            member: [list(one) for one in taken]
            for member, taken in names["assign"](members, partitions).items()
        }
    }


def test_comparing_changes_nothing_in_the_lab() -> None:
    lab, other = lab_with_a_history(), lab_with_a_history()
    steps = compare(lab, "kafka")
    for _ in range(200):
        next(steps)
    assert lab.checkpoint() == other.checkpoint()


@pytest.mark.parametrize("protocol", ["classic", "consumer"])
def test_while_nobody_coordinates_the_group_is_what_its_members_know_of_it(protocol: str) -> None:
    lab = lab_with_a_history(protocol=protocol)
    lane = lab.lanes["kafka"]
    variant = BY_NAME["range" if protocol == "classic" else "consumer"]
    before, coordinator = figures(lane, variant), lane.reads.look().group.coordinator
    position = lab.position + 1
    crash = {
        "command_id": "crash",
        "kind": "cluster_crash",
        "lane": "kafka",
        "args": {"broker": coordinator},
        "position": position,
    }
    lab.submit(crash)
    assert lane.reads.look().group.coordinator is None
    after = figures(lane, variant)
    assert {name: after[name] for name in ("generation", "members", "spread")} == {
        name: before[name] for name in ("generation", "members", "spread")
    }


def test_progress_only_goes_on() -> None:
    shares = [
        (step.variant.name, step.share)
        for step in compare(lab_with_a_history(), "kafka")
        if step.variant.name == "range"
    ]
    assert (
        shares == sorted(shares, key=lambda entry: entry[1])
        and shares[-1] == ("range", 1.0)
        and shares[0][1] < 0.1
    )


def test_a_lane_without_a_cluster_has_nothing_to_compare() -> None:
    with pytest.raises(CommandError):
        next(compare(Lab(scenario_from_json({"lanes": [{"model": "tubemq"}]})), "tubemq"))
