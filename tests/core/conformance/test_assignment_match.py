"""Each match class lets pass what it should, and nothing else."""

from typing import Any

import pytest

from broker_core.conformance.assignment_match import Asked, differences
from broker_core.kafka.assignors import Assignment, Subscription

Json = dict[str, Any]

RIGHT: Assignment = {"c0": [("t", 0), ("t", 1)], "c1": [("t", 2)]}
RECORDED: Json = {"assignment": {"c0": ["t-0", "t-1"], "c1": ["t-2"]}, "spread": 1, "moved": 0, "kept": 2}
OTHER_ORDER: Assignment = {"c0": [("t", 1), ("t", 0)], "c1": [("t", 2)]}
OTHER_SHARE: Assignment = {"c0": [("t", 0), ("t", 2)], "c1": [("t", 1)]}
LOPSIDED: Assignment = {"c0": [("t", 0), ("t", 1), ("t", 2)], "c1": []}
INCOMPLETE: Assignment = {"c0": [("t", 0), ("t", 1)], "c1": []}
DOUBLED: Assignment = {"c0": [("t", 0), ("t", 1)], "c1": [("t", 1)]}
INVENTED: Assignment = {"c0": [("t", 0), ("t", 1)], "c1": [("t", 3)]}
CHURNED: Assignment = {"c0": [("t", 2)], "c1": [("t", 0), ("t", 1)]}


def asked(has_racks: bool = False, u_too: bool = False, claims: Json | None = None) -> Asked:
    return Asked(
        subscriptions={"c0": Subscription(("t",)), "c1": Subscription(("t", "u") if u_too else ("t",))},
        partition_counts={"t": 3},
        has_racks=has_racks,
        is_cooperative=False,
        prior={("t", 0): "c0", ("t", 1): "c0"},
        claims=claims or {"c0": (("t", 0), ("t", 1)), "c1": ()},
    )


def is_match(match: str, got: Assignment, question: Asked | None = None, is_safety: bool = False) -> bool:
    return differences(question or asked(), RECORDED | {"match": match}, got, is_safety) == ({}, {})


@pytest.mark.parametrize(
    ("match", "passing", "failing"),
    [
        ("exact_list", [RIGHT], [OTHER_ORDER, OTHER_SHARE, INCOMPLETE]),
        ("exact_set", [RIGHT, OTHER_ORDER], [OTHER_SHARE, LOPSIDED]),
        ("hash_order", [RIGHT], [OTHER_ORDER, OTHER_SHARE]),
        (
            "insertion_order",
            [RIGHT, OTHER_ORDER],
            [OTHER_SHARE, LOPSIDED, INCOMPLETE, DOUBLED, INVENTED, CHURNED],
        ),
        ("a class of tomorrow", [], [RIGHT]),
    ],
)
def test_class_tells_right_from_wrong(
    match: str, passing: list[Assignment], failing: list[Assignment]
) -> None:
    assert [got for got in passing if not is_match(match, got)] == []
    assert [got for got in failing if is_match(match, got)] == []


@pytest.mark.parametrize(
    "question",
    [
        asked(has_racks=True),
        asked(claims={"c0": (("t", 0), ("t", 1)), "c1": (("t", 0),)}),
        asked(claims={"c0": (("t", 0), ("t", 9)), "c1": ()}),
    ],
    ids=["racks", "claimed twice", "claim of what is gone"],
)
def test_hash_order_is_quality_where_java_s_order_is_not_promised(question: Asked) -> None:
    assert is_match("hash_order", OTHER_ORDER, question)
    assert not is_match("hash_order", LOPSIDED, question)


def test_unequal_subscriptions_too_are_held_to_java_s_order() -> None:
    assert is_match("hash_order", RIGHT, asked(u_too=True))
    assert not is_match("hash_order", OTHER_ORDER, asked(u_too=True))


def test_safety_asks_only_that_nothing_is_invented_or_given_twice() -> None:
    for got in (LOPSIDED, INCOMPLETE, CHURNED):
        assert is_match("exact_list", got, is_safety=True)
    for got in (DOUBLED, INVENTED):
        assert not is_match("exact_list", got, is_safety=True)
    assert differences(asked(), {"error": "IllegalStateException"}, DOUBLED, False) != ({}, {})


def test_a_range_of_figures_counts_by_its_upper_end() -> None:
    recorded = RECORDED | {"match": "insertion_order", "spread_range": [1, 3], "moved_range": [0, 1]}
    assert differences(asked(), recorded, LOPSIDED, False) == ({}, {})
    assert differences(asked(), recorded, OTHER_SHARE, False) == ({}, {})
    assert differences(asked(), recorded, CHURNED, False) == ({"moved_max": 1}, {"moved_max": 2})


def test_a_wrong_figure_beside_a_right_assignment_is_found() -> None:
    recorded = RECORDED | {"match": "exact_list", "kept": 3}
    assert differences(asked(), recorded, RIGHT, False) == ({"kept": 3}, {"kept": 2})


THIN: Assignment = {"c0": [("t", 0)], "c1": []}
"""As even as recorded, moves nothing, and two partitions have nobody."""


def test_quality_asks_that_every_partition_has_somebody_however_even_the_rest_is() -> None:
    wanted, seen = differences(asked(), RECORDED | {"match": "insertion_order"}, THIN, False)
    assert (wanted, seen) == ({"nobody has": []}, {"nobody has": ["t-1", "t-2"]})


def test_a_cooperative_round_may_leave_out_what_a_living_member_has_to_let_go_of_and_nothing_else() -> None:
    question = Asked(**{name: getattr(asked(), name) for name in Asked.__slots__} | {"is_cooperative": True})
    assert differences(question, RECORDED | {"match": "insertion_order"}, THIN, False) == (
        {"nobody has": []},
        {"nobody has": ["t-2"]},
    )
    unclaimed = Asked(
        **{name: getattr(question, name) for name in Asked.__slots__} | {"claims": {"c0": (), "c1": ()}}
    )
    assert differences(unclaimed, RECORDED | {"match": "insertion_order"}, THIN, False)[1] == {
        "nobody has": ["t-1", "t-2"]
    }


def test_what_a_member_did_not_ask_for_and_who_is_missing_are_told() -> None:
    foreign: Assignment = {"c0": [("t", 0), ("t", 1)], "c1": [("t", 2)], "c2": []}
    assert differences(asked(), RECORDED | {"match": "insertion_order"}, foreign, False)[1] == {
        "members": ["c2"],
        "spread": 2,
    }
    question = Asked(
        subscriptions={"c0": Subscription(("t",)), "c1": Subscription(("u",))},
        partition_counts={"t": 2, "u": 1},
        has_racks=False,
        is_cooperative=False,
        prior={},
        claims={},
    )
    recorded = {"match": "insertion_order", "assignment": {}, "spread": 1}
    got: Assignment = {"c0": [("t", 0), ("u", 0)], "c1": [("t", 1)]}
    assert differences(question, recorded, got, False)[1] == {"not asked for": ["t-1 -> c1", "u-0 -> c0"]}


def test_a_recorded_figure_of_a_disputed_partition_does_not_count() -> None:
    """Of a partition that two members claim the file does not tell whom it takes for the owner."""
    disputed = asked(claims={"c0": (("t", 0), ("t", 1)), "c1": (("t", 0),)})
    recorded = RECORDED | {"match": "exact_list", "kept": 9}
    assert differences(disputed, recorded, RIGHT, False) == ({}, {})
    assert differences(asked(), recorded, RIGHT, False) != ({}, {})
