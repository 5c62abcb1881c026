"""RoundRobin and the article's two rules, case by case: one circle over all topics, members that are stepped
over, hashes, one row cut in runs."""

from __future__ import annotations

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from broker_core.hashing.java_hash import string_hash
from broker_core.kafka.assignors import ASSIGNORS, AssignmentRefused, Subscription
from broker_core.kafka.assignors.range_global import assign_range_global
from broker_core.kafka.assignors.round_robin import assign_round_robin
from broker_core.kafka.assignors.round_robin_hashed import assign_round_robin_hashed


def group(**topics: str) -> dict[str, Subscription]:
    return {member: Subscription(tuple(asked)) for member, asked in topics.items()}


def test_circle_goes_on_from_topic_to_topic() -> None:
    assert assign_round_robin(group(a="tu", b="tu"), {"t": 3, "u": 3}) == {
        "a": [("t", 0), ("t", 2), ("u", 1)], "b": [("t", 1), ("u", 0), ("u", 2)],
    }  # fmt: skip


def test_who_does_not_read_the_topic_is_stepped_over_and_so_may_end_with_less() -> None:
    """Kafka's own example: a reads t, b reads t and u, c reads all three, one, two and three partitions."""
    given_out = assign_round_robin(group(a="t", b="tu", c="tuv"), {"t": 1, "u": 2, "v": 3})
    assert given_out == {"a": [("t", 0)], "b": [("u", 0)], "c": [("u", 1), ("v", 0), ("v", 1), ("v", 2)]}


def test_circle_begins_with_static_members_by_instance_and_then_ids() -> None:
    members = {
        "a": Subscription(("t",)),
        "z": Subscription(("t",), instance_id="2"),
        "y": Subscription(("t",), instance_id="10"),
    }
    assert assign_round_robin(members, {"t": 3}) == {"a": [("t", 2)], "z": [("t", 1)], "y": [("t", 0)]}


@pytest.mark.parametrize(
    "counts", [{}, {"t": 0}, {"x": 4}], ids=["no topics", "no partitions", "topics that nobody reads"]
)
@pytest.mark.parametrize("rule", [assign_round_robin, assign_range_global, assign_round_robin_hashed])
def test_nothing_to_deal_leaves_everybody_idle(rule: object, counts: dict[str, int]) -> None:
    assert callable(rule) and rule(group(b="t", a="t"), counts) == {"a": [], "b": []}


def test_more_members_than_partitions_leave_the_last_idle() -> None:
    assert assign_round_robin(group(a="t", b="t", c="t"), {"t": 2})["c"] == []


READS = st.dictionaries(
    st.sampled_from("abcd"), st.lists(st.sampled_from("tuv"), unique=True).map(tuple), min_size=1
)


@settings(max_examples=50, deadline=None)
@given(READS, st.fixed_dictionaries({topic: st.integers(0, 5) for topic in "tuv"}))
def test_law_each_partition_goes_to_the_next_reader_of_its_topic(
    reads: dict[str, tuple[str, ...]], counts: dict[str, int]
) -> None:
    given_out = assign_round_robin({member: Subscription(asked) for member, asked in reads.items()}, counts)
    owner = {partition: member for member, row in given_out.items() for partition in row}
    circle = sorted(reads)
    at = 0
    for topic in "tuv":
        for number in range(counts[topic] if any(topic in asked for asked in reads.values()) else 0):
            skipped = 0
            while topic not in reads[circle[at % len(circle)]]:
                at, skipped = at + 1, skipped + 1
            assert owner.pop((topic, number)) == circle[at % len(circle)] and skipped < len(circle)
            at += 1
    assert owner == {}


def test_global_range_cuts_one_row_of_all_topics() -> None:
    given_out = assign_range_global(group(a="tu", b="tu", c="tu"), {"u": 3, "t": 4})
    assert given_out == {
        "a": [("t", 0), ("t", 1), ("t", 2)],
        "b": [("t", 3), ("u", 0)],
        "c": [("u", 1), ("u", 2)],
    }


def test_hashed_row_is_sorted_by_the_signed_hash_of_each_name() -> None:
    counts = {"t": 12, "audit-log": 3}
    given_out = assign_round_robin_hashed({"a": Subscription(tuple(counts))}, counts)
    hashes = [string_hash(f"{topic}-{number}") for topic, number in given_out["a"]]
    assert hashes == sorted(hashes) and hashes[0] < 0 < hashes[-1], (
        "a sum that overflows counts as negative, as in Java"
    )
    assert given_out["a"].index(("t", 9)) < given_out["a"].index(("t", 10))


def test_partitions_of_one_hash_stand_by_topic_and_number() -> None:
    """`Aa` and `BB` have one hash, so have their partitions of one number."""
    given_out = assign_round_robin_hashed(
        {"a": Subscription(("BB", "Aa")), "b": Subscription(("Aa", "BB"))}, {"BB": 2, "Aa": 2}
    )
    assert given_out == {"a": [("Aa", 0), ("Aa", 1)], "b": [("BB", 0), ("BB", 1)]}


@pytest.mark.parametrize("assignor_id", ["range_global", "round_robin_hashed"])
def test_articles_rules_name_themselves_when_they_refuse(assignor_id: str) -> None:
    with pytest.raises(AssignmentRefused, match=assignor_id):
        ASSIGNORS[assignor_id].assign(group(a="t", b="tu"), {"t": 2})
    same = {"b": Subscription(("u", "t")), "a": Subscription(("t", "u"))}
    assert list(ASSIGNORS[assignor_id].assign(same, {"t": 1, "u": 1})) == ["a", "b"], (
        "the order of topics is no difference"
    )


def test_articles_rules_know_no_static_members() -> None:
    members = {"b": Subscription(("t",), instance_id="0"), "a": Subscription(("t",))}
    assert assign_range_global(members, {"t": 2}) == {"a": [("t", 0)], "b": [("t", 1)]}
    assert assign_round_robin_hashed(members, {"t": 2})["a"] == [("t", 0)]
