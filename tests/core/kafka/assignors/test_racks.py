"""When racks decide, and that they never cost balance."""

from broker_core.kafka.assignors import ASSIGNORS, Subscription
from broker_core.kafka.assignors.racks import has_use_for_racks

EAST, WEST = Subscription(("t", "u"), rack="east"), Subscription(("t", "u"), rack="west")
SPLIT = {"t": [["west"], ["east"]], "u": [["west"], ["east"]]}


def test_members_read_from_their_own_rack_where_quotas_allow() -> None:
    given = ASSIGNORS["range"].assign({"c0": EAST, "c1": WEST}, {"t": 2, "u": 2}, SPLIT)
    assert given == {"c0": [("t", 1), ("u", 1)], "c1": [("t", 0), ("u", 0)]}


def test_topics_of_one_size_stay_aligned() -> None:
    only_t_is_split = {"t": [["west"], ["east"]], "u": [["east"], ["east"]]}
    given = ASSIGNORS["range"].assign({"c0": EAST, "c1": WEST}, {"t": 2, "u": 2}, only_t_is_split)
    assert given == {"c0": [("t", 1), ("u", 1)], "c1": [("t", 0), ("u", 0)]}


def test_a_replica_in_every_rack_changes_nothing() -> None:
    everywhere = {"t": [["east", "west"]] * 3}
    plain = ASSIGNORS["range"].assign({"c0": EAST, "c1": WEST}, {"t": 3})
    assert ASSIGNORS["range"].assign({"c0": EAST, "c1": WEST}, {"t": 3}, everywhere) == plain
    assert not has_use_for_racks(["east"], {("t", 0): frozenset({"east"})})


def test_sticky_lets_go_of_what_lies_in_another_rack() -> None:
    owner = Subscription(("t",), owned=(("t", 0), ("t", 1)), generation=1, rack="east")
    newcomer = Subscription(("t",), rack="west")
    racks = {"t": [["west"], ["east"]]}
    assert ASSIGNORS["cooperative-sticky"].assign({"c0": owner, "c1": newcomer}, {"t": 2}, racks) == {
        "c0": [("t", 1)],
        "c1": [],
    }


def test_balance_comes_before_racks() -> None:
    all_east = {"t": [["east"], ["east"], ["east"], ["west"]]}
    given = ASSIGNORS["sticky"].assign(
        {"c0": Subscription(("t",), rack="east"), "c1": Subscription(("t",), rack="west")}, {"t": 4}, all_east
    )
    assert [len(partitions) for partitions in given.values()] == [2, 2]
    assert ("t", 3) in given["c1"]
