"""One step of a member towards its target (KIP-848), as a table: the cases of Kafka 3.9's
CurrentAssignmentBuilder, and its laws."""

from __future__ import annotations

from collections.abc import Mapping

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from broker_core.kafka.group.codes import FENCED_MEMBER_EPOCH, Refused
from broker_core.kafka.group.consumer.member import (
    STABLE,
    UNKNOWN,
    UNRELEASED_PARTITIONS,
    UNREVOKED_PARTITIONS,
    ConsumerMember,
)
from broker_core.kafka.group.consumer.reconcile import reconciled
from broker_core.kafka.group.messages import TopicPartitions

A, B = "AAAAAAAAAAAAAAAAAAAAAQ", "AAAAAAAAAAAAAAAAAAAAAg"
Held = Mapping[str, set[int]]


def partitions(held: Held) -> dict[str, frozenset[int]]:
    return {topic: frozenset(numbers) for topic, numbers in held.items()}


def member(
    state: int, epoch: int, assigned: Held, revoking: Held | None = None, previous: int = 10
) -> ConsumerMember:
    return ConsumerMember(
        "m", epoch, previous, state, assigned=partitions(assigned), revoking=partitions(revoking or {})
    )


def step(
    one: ConsumerMember, target: Held, epoch: int, owned: Held | None = None, taken: Held | None = None
) -> ConsumerMember:
    """taken: what others have; the member's own is counted as its own."""
    owners = {
        (topic, number): 1
        for held in (one.assigned, one.revoking, taken or {})
        for topic, numbers in held.items()
        for number in numbers
    }
    listed = (
        None
        if owned is None
        else [TopicPartitions(topic, sorted(numbers)) for topic, numbers in owned.items()]
    )
    return reconciled(
        one, {topic: tuple(sorted(numbers)) for topic, numbers in target.items()}, epoch, owners, listed
    )


HAS: Held = {A: {1, 2, 3}, B: {4, 5, 6}}


@pytest.mark.parametrize(
    ("before", "target", "epoch", "owned", "taken", "after"),
    [
        pytest.param(
            member(STABLE, 10, HAS), HAS, 11, None, None, member(STABLE, 11, HAS), id="only the epoch is new"
        ),
        pytest.param(
            member(STABLE, 10, HAS),
            {A: {1, 2, 3, 4}, B: {4, 5, 6, 7}},
            11,
            None,
            None,
            member(STABLE, 11, {A: {1, 2, 3, 4}, B: {4, 5, 6, 7}}),
            id="what is free is taken at once",
        ),
        pytest.param(
            member(STABLE, 10, HAS),
            {A: {2, 3, 4}, B: {5, 6, 7}},
            11,
            None,
            None,
            member(UNREVOKED_PARTITIONS, 10, {A: {2, 3}, B: {5, 6}}, {A: {1}, B: {4}}),
            id="first let go, and nothing is taken before",
        ),
        pytest.param(
            member(STABLE, 10, HAS),
            {A: {1, 2, 3, 4}, B: {4, 5, 6, 7}},
            11,
            None,
            {A: {4}, B: {7}},
            member(UNRELEASED_PARTITIONS, 11, HAS),
            id="what others hold is waited for in the new epoch",
        ),
        pytest.param(
            member(STABLE, 10, HAS),
            {A: {1, 2, 3, 4}, B: {4, 5, 6, 7}},
            11,
            None,
            {A: {4}},
            member(UNRELEASED_PARTITIONS, 11, {A: {1, 2, 3}, B: {4, 5, 6, 7}}),
            id="what is free is taken meanwhile",
        ),
        pytest.param(
            member(STABLE, 10, HAS),
            {A: {2, 3, 5}, B: {5, 6, 8}},
            11,
            {A: {2, 3}},
            {A: {5}, B: {8}},
            member(UNRELEASED_PARTITIONS, 11, {A: {2, 3}, B: {5, 6}}),
            id="who reports without them need not be told",
        ),
        pytest.param(
            member(STABLE, 10, {A: {1}, B: {2}}),
            {B: {2}},
            11,
            None,
            None,
            member(UNREVOKED_PARTITIONS, 10, {B: {2}}, {A: {1}}),
            id="a whole topic goes",
        ),
        pytest.param(
            member(UNREVOKED_PARTITIONS, 10, {A: {2, 3}}, {A: {1}}),
            {A: {2, 3}},
            11,
            {A: {2, 3}},
            None,
            member(STABLE, 11, {A: {2, 3}}),
            id="all is let go",
        ),
        pytest.param(
            member(UNREVOKED_PARTITIONS, 10, {A: {2, 3}}, {A: {1}}),
            {A: {2, 3}},
            14,
            {A: {2, 3}},
            None,
            member(STABLE, 14, {A: {2, 3}}),
            id="it takes the newest epoch, not the next",
        ),
        pytest.param(
            member(UNREVOKED_PARTITIONS, 10, {A: {2, 3}}, {A: {1}}),
            {A: {3}},
            12,
            {A: {2, 3}},
            None,
            member(UNREVOKED_PARTITIONS, 11, {A: {3}}, {A: {2}}),
            id="more to let go, one epoch on",
        ),
        pytest.param(
            member(UNREVOKED_PARTITIONS, 10, {A: {2, 3}}, {A: {1}}),
            {A: {2, 3, 4}},
            11,
            {A: {2, 3}},
            {A: {4}},
            member(UNRELEASED_PARTITIONS, 11, {A: {2, 3}}),
            id="all is let go, and others have not",
        ),
        pytest.param(
            member(UNRELEASED_PARTITIONS, 11, {A: {2, 3}}),
            {A: {2, 3, 4}},
            11,
            None,
            None,
            member(STABLE, 11, {A: {2, 3, 4}}, previous=11),
            id="the others have let go",
        ),
        pytest.param(
            member(UNRELEASED_PARTITIONS, 11, {A: {2, 3}}),
            {A: {2, 3, 4, 5}},
            11,
            None,
            {A: {5}},
            member(UNRELEASED_PARTITIONS, 11, {A: {2, 3, 4}}, previous=11),
            id="one of the others has",
        ),
        pytest.param(
            member(UNRELEASED_PARTITIONS, 11, {A: {2, 3}}),
            {A: {2}},
            12,
            None,
            None,
            member(UNREVOKED_PARTITIONS, 11, {A: {2}}, {A: {3}}, previous=11),
            id="a new target takes from one who waits",
        ),
        pytest.param(
            member(UNKNOWN, 11, {A: {1}}, {A: {2}}),
            {A: {1, 7}},
            12,
            {},
            None,
            member(STABLE, 12, {A: {1, 7}}, previous=11),
            id="a state of a newer broker, and nothing held",
        ),
    ],
)
def test_step(
    before: ConsumerMember,
    target: Held,
    epoch: int,
    owned: Held | None,
    taken: Held | None,
    after: ConsumerMember,
) -> None:
    assert step(before, target, epoch, owned, taken) == after


@pytest.mark.parametrize(
    "owned", [None, {A: {1}}, {A: {1, 2, 3}}, {A: {1}, B: {9}}], ids=["silent", "it", "all", "it and others"]
)
def test_who_still_reports_one_of_them_or_nothing_at_all_stays_as_it_is(owned: Held | None) -> None:
    before = member(UNREVOKED_PARTITIONS, 10, {A: {2, 3}}, {A: {1}, B: {4}})
    assert step(before, {A: {2}}, 12, owned) is before


def test_stable_member_of_the_targets_epoch_is_left_alone_whatever_it_reports() -> None:
    before = member(STABLE, 11, HAS)
    assert step(before, {A: {9}}, 11, {}) is before


@pytest.mark.parametrize("owned", [None, {A: {1}}], ids=["silent", "something"])
def test_member_of_an_unknown_state_that_may_hold_partitions_is_fenced(owned: Held | None) -> None:
    with pytest.raises(Refused) as refused:
        step(member(UNKNOWN, 11, {A: {1}}), {A: {1}}, 12, owned)
    assert refused.value.code == FENCED_MEMBER_EPOCH


def test_nothing_to_hold_leaves_no_empty_topics_behind() -> None:
    after = step(member(STABLE, 10, {A: {1}}), {}, 11, {})
    assert (after.assigned, after.revoking, after.state, after.epoch) == ({}, {}, STABLE, 11)


NUMBERS = st.sets(st.integers(0, 5))


@settings(max_examples=50, deadline=None)
@given(NUMBERS, NUMBERS, st.lists(st.tuples(st.booleans(), NUMBERS), min_size=1, max_size=6))
def test_law_no_step_gives_what_is_taken_nor_takes_what_may_stay(
    has: set[int], target: set[int], reports: list[tuple[bool, set[int]]]
) -> None:
    """A member that reports what it still holds, among others that hold something: it never gets beyond
    target and what it had."""
    now = member(STABLE, 10, {A: has} if has else {})
    holds = set(has)
    for lets_go, taken in reports:
        others = taken - holds - set(now.assigned.get(A, ())) - set(now.revoking.get(A, ()))
        if lets_go:
            holds &= set(now.assigned.get(A, frozenset()))
        before = set(now.assigned.get(A, ()))
        now = step(now, {A: target}, 11, {A: holds} if holds else {}, {A: others})
        after = set(now.assigned.get(A, ()))
        assert not after & others, "what another has is not given"
        assert after <= target | before and before & target <= after, "what it may keep stays"
        assert (now.state == STABLE) <= (after == target)
        assert bool(now.revoking) is (now.state == UNREVOKED_PARTITIONS)
        holds |= after
