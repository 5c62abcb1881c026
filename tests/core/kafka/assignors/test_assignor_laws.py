"""Laws that hold for every group, whatever its members ask for and had."""

from collections.abc import Mapping

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from broker_core.errors import CommandError
from broker_core.kafka.assignors import (
    ASSIGNORS,
    Assignment,
    StickyUserData,
    Subscription,
    TopicPartition,
    highest_generation,
)
from broker_core.kafka.assignors.protocol import has_equal_subscriptions, members_in_order

Counts = dict[str, int]
Group = dict[str, Subscription]

TOPICS = ("t0", "t1", "t2", "t3")
COUNTS = st.dictionaries(st.sampled_from(TOPICS), st.integers(0, 9))
MEMBERS = st.permutations([f"c{number}" for number in range(7)]).flatmap(
    lambda names: st.integers(1, len(names)).map(lambda size: names[:size])
)
LAW = settings(max_examples=40, deadline=None)
UNEVEN_LISTS = st.lists(st.sampled_from(TOPICS), unique=True).map(tuple)


@st.composite
def claims(draw: st.DrawFn) -> tuple[tuple[TopicPartition, ...], int]:
    """Any claim at all: partitions that are gone, or that others claim too, in any generation."""
    numbers = draw(st.lists(st.integers(0, 12 * 5 - 1), max_size=8))
    return tuple(((*TOPICS, "gone")[number % 5], number // 5) for number in numbers), draw(st.integers(-1, 3))


@st.composite
def groups(draw: st.DrawFn, has_equal_lists: bool = False, remembers: bool = False) -> Group:
    """A group of members, static or not, racked or not; those that remember claim whatever they like."""
    shared = draw(UNEVEN_LISTS)
    group: Group = {}
    for member in draw(MEMBERS):
        owned, generation = draw(claims()) if remembers else ((), -1)
        data = draw(st.none() | claims()) if remembers else None
        group[member] = Subscription(
            topics=shared if has_equal_lists else draw(UNEVEN_LISTS),
            owned=owned,
            generation=generation,
            user_data=None if data is None else StickyUserData(*data),
            instance_id=draw(st.none() | st.just(f"i-{member}")),
            rack=draw(st.none() | st.sampled_from(["east", "west"])),
        )
    return group


RACKS = st.none() | st.fixed_dictionaries(
    {
        topic: st.lists(st.lists(st.sampled_from(["east", "west", None]), max_size=2), max_size=9)
        for topic in TOPICS
    }
)


def asked_for(group: Group, counts: Counts) -> list[TopicPartition]:
    asked = {topic for subscription in group.values() for topic in subscription.topics}
    return sorted((topic, number) for topic in asked for number in range(counts.get(topic, 0)))


def sizes(assignment: Assignment) -> list[int]:
    return [len(partitions) for partitions in assignment.values()]


def remembering(group: Group, assignment: Assignment, generation: int) -> Group:
    """The same members, each with what it was given."""
    return {
        member: Subscription(
            subscription.topics,
            owned=tuple(assignment[member]),
            generation=generation,
            user_data=StickyUserData(tuple(assignment[member]), generation),
        )
        for member, subscription in group.items()
    }


def moved(before: Mapping[str, list[TopicPartition]], after: Mapping[str, list[TopicPartition]]) -> int:
    """How many partitions went from one member to another that was there before and still is."""
    new_owner = {partition: member for member, partitions in after.items() for partition in partitions}
    return sum(
        new_owner.get(partition, member) != member
        for member, partitions in before.items()
        if member in after
        for partition in partitions
    )


@pytest.mark.parametrize("assignor_id", ["range", "roundrobin", "sticky"])
@LAW
@given(group=groups(remembers=True), counts=COUNTS, racks=RACKS)
def test_each_partition_has_one_owner_and_that_one_asked_for_it(
    assignor_id: str, group: Group, counts: Counts, racks: dict[str, list[list[str | None]]] | None
) -> None:
    assignment = ASSIGNORS[assignor_id].assign(group, counts, racks)
    assert list(assignment) == sorted(group)
    assert sorted(partition for row in assignment.values() for partition in row) == asked_for(group, counts)
    assert all(topic in group[member].topics for member, row in assignment.items() for topic, _ in row)


@pytest.mark.parametrize("assignor_id", ["range_global", "round_robin_hashed"])
@LAW
@given(group=groups(has_equal_lists=True), counts=COUNTS)
def test_the_article_s_rules_give_everything_out_within_one(
    assignor_id: str, group: Group, counts: Counts
) -> None:
    assignment = ASSIGNORS[assignor_id].assign(group, counts)
    assert sorted(partition for row in assignment.values() for partition in row) == asked_for(group, counts)
    assert max(sizes(assignment)) - min(sizes(assignment)) <= 1


@pytest.mark.parametrize("assignor_id", ["roundrobin", "sticky"])
@LAW
@given(group=groups(has_equal_lists=True, remembers=True), counts=COUNTS, racks=RACKS)
def test_equal_subscriptions_come_out_within_one(
    assignor_id: str, group: Group, counts: Counts, racks: dict[str, list[list[str | None]]] | None
) -> None:
    spread = sizes(ASSIGNORS[assignor_id].assign(group, counts, racks))
    assert max(spread) - min(spread) <= 1


@LAW
@given(group=groups(has_equal_lists=True), counts=COUNTS)
def test_range_is_within_one_in_each_topic(group: Group, counts: Counts) -> None:
    assignment = ASSIGNORS["range"].assign(group, counts)
    for topic in counts:
        per_member = [sum(partition[0] == topic for partition in row) for row in assignment.values()]
        assert max(per_member) - min(per_member) <= 1


@LAW
@given(group=groups(), counts=COUNTS, racks=RACKS)
def test_cooperative_gives_nothing_that_another_member_still_owns(
    group: Group, counts: Counts, racks: dict[str, list[list[str | None]]] | None
) -> None:
    # Owners as they are in a sane group: nobody owns what another does.
    before = remembering(group, ASSIGNORS["roundrobin"].assign(group, counts), generation=1)
    owner_of = {partition: member for member, asked in before.items() for partition in asked.owned}
    newcomer = {"c99": Subscription(next(iter(group.values())).topics, rack="east")}
    for asked in (before | newcomer, dict(list((before | newcomer).items())[1:])):
        for member, partitions in ASSIGNORS["cooperative-sticky"].assign(asked, counts, racks).items():
            for partition in partitions:
                owner = owner_of.get(partition, member)
                assert owner == member or owner not in asked


@LAW
@given(group=groups(), counts=COUNTS)
def test_cooperative_places_everything_once_owners_have_let_go(group: Group, counts: Counts) -> None:
    assign = ASSIGNORS["cooperative-sticky"].assign
    members = remembering(group, ASSIGNORS["roundrobin"].assign(group, counts), generation=1)
    for generation in range(2, 9):
        assignment = assign(members, counts)
        if sorted(partition for row in assignment.values() for partition in row) == asked_for(group, counts):
            return
        # What a member was not given again it lets go of, and joins again.
        members = {
            member: Subscription(asked.topics, owned=tuple(assignment[member]), generation=generation)
            for member, asked in members.items()
        }
    raise AssertionError("still unplaced after seven rebalances")


@LAW
@given(group=groups(has_equal_lists=True), counts=COUNTS)
def test_sticky_keeps_all_that_balance_allows_when_one_joins(group: Group, counts: Counts) -> None:
    assign = ASSIGNORS["sticky"].assign
    before = assign(remembering(group, {member: [] for member in group}, -1), counts)
    members = remembering(group, before, generation=1)
    after = assign(members | {"c99": Subscription(next(iter(group.values())).topics)}, counts)
    # Only what the newcomer takes moves: nobody swaps.
    assert moved(before, after) == len(after["c99"]) == len(asked_for(group, counts)) // (len(group) + 1)


@LAW
@given(group=groups(has_equal_lists=True), counts=COUNTS)
def test_sticky_moves_nothing_of_the_living_when_one_leaves(group: Group, counts: Counts) -> None:
    assign = ASSIGNORS["sticky"].assign
    before = assign(remembering(group, {member: [] for member in group}, -1), counts)
    members = remembering(group, before, generation=1)
    members.pop(min(members))
    assert moved(before, assign(members, counts)) == 0


@pytest.mark.parametrize("assignor_id", ["sticky", "cooperative-sticky"])
@LAW
@given(group=groups(), counts=COUNTS)
def test_a_second_rebalance_without_a_change_moves_nothing(
    assignor_id: str, group: Group, counts: Counts
) -> None:
    assign = ASSIGNORS[assignor_id].assign
    first = assign(remembering(group, {member: [] for member in group}, -1), counts)
    second = assign(remembering(group, first, generation=1), counts)
    assert {m: sorted(row) for m, row in second.items()} == {m: sorted(row) for m, row in first.items()}


@LAW
@given(group=groups(), counts=COUNTS)
def test_range_and_round_robin_do_not_see_the_order_of_joining(group: Group, counts: Counts) -> None:
    backwards = dict(reversed(group.items()))
    for assignor_id in ("range", "roundrobin"):
        assign = ASSIGNORS[assignor_id].assign
        assert assign(group, counts) == assign(backwards, counts)


@LAW
@given(group=groups(), counts=COUNTS)
def test_the_article_s_rules_refuse_unequal_subscriptions(group: Group, counts: Counts) -> None:
    for assignor_id in ("range_global", "round_robin_hashed"):
        if not has_equal_subscriptions(group):
            with pytest.raises(CommandError, match="same topics"):
                ASSIGNORS[assignor_id].assign(group, counts)


@pytest.mark.parametrize("assignor_id", list(ASSIGNORS))
def test_a_group_without_members_gets_nothing_and_a_negative_count_is_refused(assignor_id: str) -> None:
    assert ASSIGNORS[assignor_id].assign({}, {"t": 3}) == {}
    with pytest.raises(CommandError, match="partition_counts"):
        ASSIGNORS[assignor_id].assign({"c0": Subscription(("t",))}, {"t": -1})


def test_static_members_stand_first_and_by_instance_id() -> None:
    group = {
        "a": Subscription(()),
        "b": Subscription((), instance_id="2"),
        "c": Subscription((), instance_id="10"),
    }
    assert members_in_order(group) == ["c", "b", "a"]


def test_the_highest_generation_only_grows() -> None:
    group = {"c0": Subscription((), generation=3, user_data=StickyUserData((), 5))}
    assert (highest_generation(group), highest_generation(group, 9)) == (5, 9)
