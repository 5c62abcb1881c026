"""The books of a group of the consumer protocol, without a coordinator: owners, targets, counts, and who may
commit or fetch."""

from __future__ import annotations

from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from broker_core.errors import InvariantError
from broker_core.kafka.group.codes import (
    ILLEGAL_GENERATION,
    STALE_MEMBER_EPOCH,
    UNKNOWN_MEMBER_ID,
    UNSUPPORTED_VERSION,
    Refused,
)
from broker_core.kafka.group.consumer.group import ConsumerGroup
from broker_core.kafka.group.consumer.member import (
    STABLE,
    UNRELEASED_PARTITIONS,
    UNREVOKED_PARTITIONS,
    ConsumerMember,
)
from broker_core.kafka.group.messages import NamedTopicPartitions
from broker_core.kafka.group.records import ClassicMemberMetadata, Record, SupportedProtocol
from broker_core.kafka.group.topics import Topic, TopicsImage

A, B = "AAAAAAAAAAAAAAAAAAAAAQ", "AAAAAAAAAAAAAAAAAAAAAg"


def classic(*names: str) -> ClassicMemberMetadata:
    return ClassicMemberMetadata(10_000, [SupportedProtocol(name, b"") for name in names])


def member(member_id: str, *numbers: int, epoch: int = 5, **fields: Any) -> ConsumerMember:
    """numbers: the partitions of topic A that it holds."""
    return ConsumerMember(member_id, epoch, assigned={A: frozenset(numbers)} if numbers else {}, **fields)


def group_of(*members: ConsumerMember, **fields: Any) -> ConsumerGroup:
    group = ConsumerGroup("g", **fields)
    for one in members:
        group.put_member(one)
    return group


def code_of(check: Any, *arguments: Any) -> int | None:
    try:
        check(*arguments)
    except Refused as refused:
        return refused.code
    return None


def test_partition_belongs_to_one_member_also_while_it_is_to_be_let_go_of() -> None:
    group = group_of(member("m", 1, revoking={A: frozenset({2})}))
    assert group.owner_epochs == {(A, 1): 5, (A, 2): 5}
    for number in (1, 2):
        with pytest.raises(InvariantError, match="would have two owners"):
            group.copy().put_member(member("n", number))


def test_member_that_changes_gives_back_first_and_may_keep() -> None:
    group = group_of(member("m", 1, 2), member("n", 3))
    group.put_member(member("m", 2, epoch=6))
    assert group.owner_epochs == {(A, 2): 6, (A, 3): 5}
    group.put_member(member("n", 1, 3))
    assert group.owner_epochs == {(A, 1): 5, (A, 2): 6, (A, 3): 5}


def test_what_is_not_a_members_own_cannot_be_let_go_of() -> None:
    group = group_of(member("m", 1))
    group.owner_epochs[A, 1] = 9
    with pytest.raises(InvariantError, match="not m's to let go of"):
        group.drop_member("m")


def test_member_that_goes_takes_all_its_counts_along() -> None:
    one = member(
        "m",
        1,
        instance_id="i",
        subscribed=frozenset({"t", "u"}),
        server_assignor="range",
        classic=classic("range", "sticky"),
    )
    group = group_of(one, member("n", subscribed=frozenset({"t"})))
    assert (group.subscriber_counts, group.assignor_counts) == ({"t": 2, "u": 1}, {"range": 1})
    assert (group.classic_count, group.classic_protocol_counts, group.static_members) == (
        1,
        {"range": 1, "sticky": 1},
        {"i": "m"},
    )
    group.drop_member("m")
    assert (group.subscriber_counts, group.assignor_counts, group.owner_epochs) == ({"t": 1}, {}, {})
    assert (group.classic_count, group.classic_protocol_counts, group.static_members) == (0, {}, {})


def test_member_that_asks_for_something_else_is_counted_once() -> None:
    group = group_of(
        member("m", subscribed=frozenset({"t"}), server_assignor="range", classic=classic("range"))
    )
    group.put_member(member("m", subscribed=frozenset({"u"}), server_assignor="uniform"))
    assert (group.subscriber_counts, group.assignor_counts, group.classic_count) == (
        {"u": 1},
        {"uniform": 1},
        0,
    )
    assert group.is_subscribed("u") and not group.is_subscribed("t") and group.member_peak == 1


def test_target_moves_to_its_new_member_whichever_record_comes_first() -> None:
    group = group_of(member("m"), member("n"))
    group.put_target("m", {A: (1, 2), B: (1,)})
    group.put_target("n", {A: (2, 3)})
    assert group.targeted == {(A, 1): "m", (A, 2): "n", (A, 3): "n", (B, 1): "m"}
    group.put_target("m", {A: (1,)})
    assert group.targeted == {(A, 1): "m", (A, 2): "n", (A, 3): "n"}, (
        "what went to another is not taken from it"
    )
    group.drop_target("n")
    assert group.targeted == {(A, 1): "m"} and group.target == {"m": {A: (1,)}}


def test_static_members_target_is_that_of_whoever_has_its_instance() -> None:
    group = group_of(member("m", instance_id="i"))
    group.put_target("m", {A: (1,)})
    assert group.target_of("new", "i") == {A: (1,)} == group.target_of("m")
    assert group.target_of("m", "nobody") == {} == group.target_of("new")


@pytest.mark.parametrize(
    ("epoch", "assigned", "members", "state"),
    [
        (0, 0, [], "Empty"),
        (7, 3, [], "Empty"),
        (6, 5, [member("m")], "Assigning"),
        (5, 5, [member("m")], "Stable"),
        (5, 5, [member("m"), member("n", epoch=4)], "Reconciling"),
        (5, 5, [member("m", state=UNRELEASED_PARTITIONS)], "Reconciling"),
        (5, 5, [member("m", state=UNREVOKED_PARTITIONS, epoch=4)], "Reconciling"),
    ],
)
def test_state_follows_from_members_and_epochs(
    epoch: int, assigned: int, members: list[ConsumerMember], state: str
) -> None:
    assert group_of(*members, epoch=epoch, assignment_epoch=assigned).state == state


@pytest.mark.parametrize(
    ("who", "epoch", "is_transactional", "version", "code"),
    [
        ("nobody", 5, False, 8, UNKNOWN_MEMBER_ID),
        ("", -1, False, 9, UNKNOWN_MEMBER_ID),
        ("new", 9, False, 8, UNSUPPORTED_VERSION),
        ("new", 9, False, 9, STALE_MEMBER_EPOCH),
        ("new", 4, False, 9, STALE_MEMBER_EPOCH),
        ("new", 5, False, 9, None),
        ("new", 5, True, 3, None),
        ("new", 4, True, 3, STALE_MEMBER_EPOCH),
        ("old", 4, False, 8, ILLEGAL_GENERATION),
        ("old", 5, False, 2, None),
    ],
)
def test_commit_is_checked_for_member_version_and_epoch(
    who: str, epoch: int, is_transactional: bool, version: int, code: int | None
) -> None:
    """An old client cannot know member epochs; a classic member calls them generations, and may be of any
    version."""
    group = group_of(member("new"), member("old", classic=classic("range")))
    assert code_of(group.check_commit, who, epoch, is_transactional, version) == code


def test_group_without_members_takes_a_commit_without_an_epoch_alone() -> None:
    group = ConsumerGroup("g")
    assert code_of(group.check_commit, "", -1, False, 1) is None
    assert code_of(group.check_commit, "m", 0, False, 9) == UNKNOWN_MEMBER_ID


@pytest.mark.parametrize(
    ("who", "epoch", "code"),
    [
        (None, -1, None),
        (None, 3, UNKNOWN_MEMBER_ID),
        ("new", 5, None),
        ("new", -1, STALE_MEMBER_EPOCH),
        ("old", 4, ILLEGAL_GENERATION),
        ("gone", 5, UNKNOWN_MEMBER_ID),
        ("", -1, UNKNOWN_MEMBER_ID),
    ],
)
def test_fetch_that_names_a_member_must_be_at_its_epoch(
    who: str | None, epoch: int, code: int | None
) -> None:
    assert (
        code_of(group_of(member("new"), member("old", classic=classic("range"))).check_fetch, who, epoch)
        == code
    )


@pytest.mark.parametrize(
    ("kind", "names", "is_taken"),
    [
        ("consumer", ["range"], True),
        ("consumer", ["mine", "range"], True),
        ("consumer", ["sticky"], False),
        ("connect", ["range"], False),
        ("consumer", [], False),
    ],
)
def test_classic_newcomer_must_offer_what_all_classic_members_do(
    kind: str, names: list[str], is_taken: bool
) -> None:
    group = group_of(
        member("a", classic=classic("range", "sticky")), member("b", classic=classic("range")), member("new")
    )
    assert group.supports_classic(kind, names) is is_taken
    assert ConsumerGroup("h").supports_classic("consumer", names) is bool(names)


def test_last_speaker_of_the_consumer_protocol_is_known() -> None:
    group = group_of(member("a", classic=classic("range")), member("new"))
    assert group.are_others_classic("new") and not group.are_others_classic("a")
    group.put_member(member("more"))
    assert not group.are_others_classic("new")


def test_who_waits_for_a_release_waits_until_nobody_holds_any_of_it() -> None:
    waiting = member("m", 1, state=UNRELEASED_PARTITIONS)
    group = group_of(waiting, member("n", 2))
    group.put_target("m", {A: (1, 2, 3)})
    assert group.waits_for_release(waiting)
    group.put_member(member("n"))
    assert not group.waits_for_release(waiting)
    assert not group.waits_for_release(member("m", 1, state=STABLE))


def test_what_a_change_of_members_would_mean_changes_nothing_yet() -> None:
    group = group_of(member("m", subscribed=frozenset({"t", "u"})), member("n", subscribed=frozenset({"t"})))
    changed = group.subscribers_with([group.members["m"]], member("m", subscribed=frozenset({"t", "v"})))
    assert changed == {"t": 2, "v": 1} and group.subscriber_counts == {"t": 2, "u": 1}
    assert group.subscribers_with(list(group.members.values()), None) == {}


def test_only_topics_that_exist_are_written() -> None:
    image = TopicsImage.of([Topic("t", A, 3, (("east",), (), ("west", "east")))])
    stored = ConsumerGroup("g").topics_for({"gone": 1, "t": 2}, image)
    assert list(stored) == ["t"] and stored["t"].num_partitions == 3
    assert [(part.partition, sorted(part.racks)) for part in stored["t"].partition_metadata] == [
        (0, ["east"]),
        (2, ["east", "west"]),
    ]


@pytest.mark.parametrize(
    ("asked", "old", "new", "present", "would"),
    [
        (["range", "range", "uniform"], None, None, "range", "range"),
        (["range", "uniform"], "uniform", "range", "uniform", "range"),
        (["range", "range", "range"], "range", "uniform", "range", "range"),
        (["range"], "range", "uniform", "range", "uniform"),
        ([], None, "range", None, "range"),
        (["range"], "range", None, "range", None),
    ],
    ids=["majority", "tie", "one more", "the last one", "the first one", "nobody asks any more"],
)
def test_assignor_that_most_members_ask_for(
    asked: list[str], old: str | None, new: str | None, present: str | None, would: str | None
) -> None:
    group = group_of(*(member(f"m{place}", server_assignor=name) for place, name in enumerate(asked)))
    assert group.preferred_assignor() == present
    assert (
        group.preferred_assignor_with(member("x", server_assignor=old), member("x", server_assignor=new))
        == would
    )


@pytest.mark.parametrize(
    ("now_ms", "epoch", "needs"), [(99, 7, False), (100, 7, True), (99, 6, True), (0, 8, False)]
)
def test_topics_are_looked_up_when_their_time_is_over_or_the_write_of_the_last_look_was_lost(
    now_ms: int, epoch: int, needs: bool
) -> None:
    assert ConsumerGroup("g", epoch=epoch, refresh_at_ms=100, refresh_epoch=7).needs_refresh(now_ms) is needs


def test_instance_whose_member_is_gone_is_refused_and_an_unknown_one_is_none() -> None:
    group = group_of(member("m", instance_id="i"))
    assert group.static_member("nobody") is None
    group.static_members["j"] = "gone"
    assert code_of(group.static_member, "j") == UNKNOWN_MEMBER_ID


def test_tombstones_take_members_apart_before_the_group_goes() -> None:
    group = group_of(member("m"), member("n"))
    tombstones = group.tombstones()
    records = [record for record in tombstones if isinstance(record, Record) and record.value is None]
    assert len(records) == len(tombstones) and [
        record.key.type.removeprefix("ConsumerGroup") for record in records
    ] == [
        *["CurrentMemberAssignment"] * 2,
        *["TargetAssignmentMember"] * 2,
        "TargetAssignmentMetadata",
        *["MemberMetadata"] * 2,
        "PartitionMetadata",
        "Metadata",
    ]


def test_described_group_leaves_topics_out_that_are_gone() -> None:
    one = member("m", 2, 1, subscribed=frozenset({"u", "t"}), rack_id="east").with_(
        revoking={B: frozenset({0})}
    )
    group = group_of(one, epoch=6, assignment_epoch=5)
    group.put_target("m", {A: (1,), B: (0,)})
    told = group.described("uniform", TopicsImage.of([Topic("t", A, 3)]))
    assert (told.group_state, told.group_epoch, told.assignment_epoch, told.assignor_name) == (
        "Assigning",
        6,
        5,
        "uniform",
    )
    (shown,) = told.members
    assert (shown.subscribed_topic_names, shown.rack_id, shown.member_epoch) == (["t", "u"], "east", 5)
    assert shown.assignment.topic_partitions == [NamedTopicPartitions(A, "t", [1, 2])]
    assert shown.target_assignment.topic_partitions == [NamedTopicPartitions(A, "t", [1])]


CHANGE = st.tuples(
    st.sampled_from("mno"),
    st.sampled_from(["put", "drop"]),
    st.sets(st.integers(0, 3)),
    st.sets(st.sampled_from("tuv")),
    st.sampled_from([None, "i", "j"]),
)


@settings(max_examples=50, deadline=None)
@given(st.lists(CHANGE, max_size=12))
def test_law_the_books_are_what_counting_the_members_gives(
    changes: list[tuple[str, str, set[int], set[str], str | None]],
) -> None:
    group = ConsumerGroup("g")
    for epoch, (name, act, numbers, topics, assignor) in enumerate(changes):
        if act == "drop":
            if name in group.members:
                group.drop_member(name)
        else:
            free = {number for number in numbers if (A, number) not in group.owner_epochs}
            group.put_member(
                member(name, *free, epoch=epoch, subscribed=frozenset(topics), server_assignor=assignor)
            )
        held = {
            (A, number): one.epoch for one in group.members.values() for number in one.assigned.get(A, ())
        }
        assert group.owner_epochs == held
        subscribed = [topic for one in group.members.values() for topic in one.subscribed]
        assert group.subscriber_counts == {topic: subscribed.count(topic) for topic in subscribed}
        asked = [one.server_assignor for one in group.members.values() if one.server_assignor]
        assert group.assignor_counts == {name: asked.count(name) for name in asked}
