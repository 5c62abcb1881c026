"""Who is believed when two members claim one partition, and what a leader remembers of generations."""

from broker_core.kafka.assignors import ASSIGNORS, StickyUserData, Subscription

ASKED = ("t",)


def owner(partitions: list[int], generation: int) -> Subscription:
    return Subscription(ASKED, owned=tuple(("t", number) for number in partitions), generation=generation)


def test_the_newer_generation_keeps_the_partition() -> None:
    members = {"c0": owner([0, 1], generation=4), "c1": owner([1, 2], generation=5)}
    assert ASSIGNORS["cooperative-sticky"].assign(members, {"t": 4}) == {
        "c0": [("t", 0), ("t", 3)],
        "c1": [("t", 1), ("t", 2)],
    }


def test_of_two_claims_from_one_generation_neither_counts_and_nobody_gets_it_at_once() -> None:
    members = {"c0": owner([0, 1], generation=5), "c1": owner([1, 2], generation=5)}
    assert ASSIGNORS["cooperative-sticky"].assign(members, {"t": 3}) == {"c0": [("t", 0)], "c1": [("t", 2)]}


def test_a_rejoining_eager_member_loses_to_the_one_that_took_over() -> None:
    """Its user data say generation 4, its subscription -1: it is the first that counts for its own claim."""
    back = Subscription(ASKED, user_data=StickyUserData((("t", 0), ("t", 1)), generation=4))
    kept = Subscription(
        ASKED, generation=5, user_data=StickyUserData((("t", 0), ("t", 1), ("t", 2)), generation=5)
    )
    assert ASSIGNORS["sticky"].assign({"c0": back, "c1": kept}, {"t": 3}) == {
        "c0": [("t", 2)],
        "c1": [("t", 0), ("t", 1)],
    }


def test_claims_of_what_is_gone_take_no_quota() -> None:
    members = {"c0": owner([0, 7, 8, 9], generation=1), "c1": owner([1, 2, 3], generation=1)}
    assert ASSIGNORS["cooperative-sticky"].assign(members, {"t": 4}) == {
        "c0": [("t", 0)],
        "c1": [("t", 1), ("t", 2)],
    }


def test_a_member_with_an_empty_list_gets_nothing_wherever_it_stands() -> None:
    for members in ({"c0": (), "c1": ASKED}, {"c1": (), "c0": ASKED}):
        group = {member: Subscription(topics) for member, topics in members.items()}
        given = ASSIGNORS["sticky"].assign(group, {"t": 4})
        assert {member: len(partitions) for member, partitions in given.items()} == {
            member: 4 if topics else 0 for member, topics in members.items()
        }


BACK_FROM_GENERATION_1 = {
    "c0": Subscription(
        ASKED,
        generation=2,
        user_data=StickyUserData(tuple(("t", number) for number in range(4)), generation=2),
    ),
    "c2": Subscription(("t", "w"), user_data=StickyUserData((("t", 0), ("w", 0)), generation=1)),
    "c3": Subscription(ASKED),
}


def test_an_earlier_owner_is_asked_before_one_with_less() -> None:
    """c2 was away and lost t-0 to c0. It has more than c3, yet t-0 goes back to it."""
    assert ASSIGNORS["sticky"].assign(BACK_FROM_GENERATION_1, {"t": 4, "w": 1}) == {
        "c0": [("t", 2), ("t", 3)],
        "c2": [("w", 0), ("t", 0)],
        "c3": [("t", 1)],
    }


def test_to_a_leader_that_has_seen_newer_generations_all_claims_are_earlier_ones() -> None:
    """Of two earlier claims the later one counts, and that is c0's own."""
    assert ASSIGNORS["sticky"].assign(BACK_FROM_GENERATION_1, {"t": 4, "w": 1}, max_generation=7) == {
        "c0": [("t", 2), ("t", 3)],
        "c2": [("w", 0), ("t", 1)],
        "c3": [("t", 0)],
    }
