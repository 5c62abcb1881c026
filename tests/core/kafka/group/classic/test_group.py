"""The books of one classic group, without a coordinator: places, votes, leaders, checks, and the record that
holds it."""

from __future__ import annotations

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from broker_core.errors import InvariantError
from broker_core.kafka.assignors.subscription_bytes import SubscriptionData, write_subscription
from broker_core.kafka.group.classic.group import ClassicGroup, ClassicMember
from broker_core.kafka.group.classic.states import COMPLETING, EMPTY, PREPARING, REBALANCE, STABLE, next_state
from broker_core.kafka.group.codes import FENCED_INSTANCE_ID, UNKNOWN_MEMBER_ID, UNKNOWN_SERVER_ERROR, Refused
from broker_core.kafka.group.messages import JoinGroupRequest, Protocol, RequestContext
from broker_core.kafka.group.records import GroupMetadataValue, StoredMember

CONTEXT = RequestContext(1, 9)


def subscribed(*topics: str) -> bytes:
    return write_subscription(SubscriptionData(topics), 1)


def member(
    member_id: str,
    *names: str,
    instance: str | None = None,
    rebalance_ms: int = 30_000,
    topics: tuple[str, ...] = ("t",),
) -> ClassicMember:
    offered = [Protocol(name, subscribed(*topics)) for name in names or ("range",)]
    return ClassicMember(member_id, instance, "c", "/h", rebalance_ms, 10_000, "consumer", offered)


def group_of(*members: ClassicMember, waits: bool = True) -> ClassicGroup:
    group = ClassicGroup("g")
    for one in members:
        group.add(one, CONTEXT if waits else None)
    return group


def refusal(group: ClassicGroup, member_id: str, instance: str | None = None) -> int | None:
    try:
        group.check_member(member_id, instance)
    except Refused as refused:
        return refused.code
    return None


def test_an_empty_group_takes_any_type_that_offers_something() -> None:
    group = ClassicGroup("g")
    assert group.supports("connect", [Protocol("x", b"")])
    assert not group.supports("", [Protocol("x", b"")]) and not group.supports("consumer", [])


@pytest.mark.parametrize(
    ("kind", "names", "is_taken"),
    [
        ("consumer", ["sticky"], True),
        ("consumer", ["range"], False),
        ("consumer", ["own", "sticky"], True),
        ("consumer", [], False),
        ("connect", ["sticky"], False),
    ],
)
def test_others_need_the_groups_type_and_a_protocol_that_every_member_offers(
    kind: str, names: list[str], is_taken: bool
) -> None:
    group = group_of(member("a", "range", "sticky"), member("b", "sticky", "mine"))
    group.enter(REBALANCE, 0)
    assert group.supports(kind, [Protocol(name, b"") for name in names]) is is_taken


def test_who_goes_takes_its_protocols_its_instance_and_its_place_among_the_waiting_along() -> None:
    group = group_of(member("a", "range", "sticky", instance="i"), member("b", "sticky"))
    group.pending_syncs = {"a": None, "b": None}
    assert (group.waiting_count, group.offered_counts) == (2, {"range": 1, "sticky": 2})
    group.drop("a")
    assert (group.waiting_count, group.offered_counts) == (1, {"range": 0, "sticky": 1})
    assert group.static_members == {} and group.pending_syncs == {"b": None} and list(group.members) == ["b"]
    group.drop("a")
    assert group.waiting_count == 1, "who is gone is not counted twice"


def test_an_id_that_was_given_out_is_dropped_without_touching_the_members() -> None:
    group = group_of(member("a"))
    group.pending_joins["p"] = None
    assert not group.has_all_joined()
    group.drop("p")
    assert group.has_all_joined() and list(group.members) == ["a"] and group.leader == "a"


def test_one_instance_has_one_member() -> None:
    group = group_of(member("a", instance="i"))
    with pytest.raises(InvariantError, match="instance i is in group g"):
        group.add(member("b", instance="i"), None)
    assert list(group.members) == ["a"]


def test_members_that_agree_on_nothing_cannot_be_put_together() -> None:
    group = group_of(member("a", "range"))
    group.enter(REBALANCE, 0)
    with pytest.raises(Refused) as refused:
        group.add(member("b", "sticky"), None)
    assert refused.value.code == UNKNOWN_SERVER_ERROR


@pytest.mark.parametrize(
    ("member_id", "instance", "code"),
    [
        ("s", "i", None),
        ("d", None, None),
        ("s", None, None),
        ("gone", None, UNKNOWN_MEMBER_ID),
        ("s", "nobody", UNKNOWN_MEMBER_ID),
        ("gone", "i", FENCED_INSTANCE_ID),
        ("d", "i", FENCED_INSTANCE_ID),
        ("", "i", FENCED_INSTANCE_ID),
    ],
)
def test_the_instance_is_looked_at_before_the_id(
    member_id: str, instance: str | None, code: int | None
) -> None:
    assert refusal(group_of(member("s", instance="i"), member("d")), member_id, instance) == code


def test_leader_that_has_joined_stays_and_one_that_has_not_is_followed_in_javas_order() -> None:
    """In a table of 16 slots `c` is after `b`, whoever was first."""
    group = group_of(member("z"), member("c"), member("b"))
    assert group.elect_joined_leader() and group.leader == "z"
    group.members["z"].awaits_join = None
    assert group.elect_joined_leader() and group.leader == "b"
    for one in group.members.values():
        one.awaits_join = None
    assert not group.elect_joined_leader() and group.leader == "b", "nobody is there: it stays who it was"
    assert not ClassicGroup("h").elect_joined_leader()


@pytest.mark.parametrize(
    ("offers", "chosen"),
    [
        ([("range", "sticky"), ("range", "sticky"), ("sticky", "range")], "range"),
        ([("mine", "sticky", "range"), ("sticky", "range"), ("range", "sticky")], "sticky"),
        ([("range",), ("sticky", "range"), ("sticky", "range")], "range"),
    ],
    ids=["majority", "a first choice of one alone does not count", "only what all offer"],
)
def test_vote(offers: list[tuple[str, ...]], chosen: str) -> None:
    assert (
        group_of(*(member(f"m{place}", *names) for place, names in enumerate(offers))).select_protocol()
        == chosen
    )


@pytest.mark.parametrize(("is_old", "chosen"), [(False, "range"), (True, "roundrobin")])
def test_tie_of_the_vote_goes_by_the_map_of_each_coordinators_language(is_old: bool, chosen: str) -> None:
    """Java's HashMap hands out `range` first, Scala's immutable one `roundrobin`, whoever votes first."""
    group = ClassicGroup("g", is_old=is_old)
    for one in (member("a", "roundrobin", "range"), member("b", "range", "roundrobin")):
        group.add(one, CONTEXT)
    assert group.select_protocol() == chosen


def test_update_replaces_protocols_and_timeouts_and_keeps_the_counts_right() -> None:
    group = group_of(member("a", "range"), member("b", "range", "sticky"))
    request = JoinGroupRequest("g", 7_000, "a", "consumer", [Protocol("sticky", b"new")], 9_000)
    group.update(group.members["a"], request)
    one = group.members["a"]
    assert (one.session_timeout_ms, one.rebalance_timeout_ms, one.metadata("sticky")) == (
        7_000,
        9_000,
        b"new",
    )
    assert group.offered_counts == {"range": 1, "sticky": 2} and group.select_protocol() == "sticky"
    with pytest.raises(Refused):
        one.metadata("range")


def test_next_generation_counts_on_and_forgets_who_had_not_synced() -> None:
    group = group_of(member("a", "range", topics=("t", "u")), member("b", "range", topics=("v",)))
    group.enter(REBALANCE, 5)
    group.pending_syncs = {"a": None}
    group.begin_generation(9)
    assert (group.state, group.previous_state, group.generation, group.protocol, group.state_since_ms) == (
        COMPLETING,
        PREPARING,
        1,
        "range",
        9,
    )
    assert group.subscribed_topics == {"t", "u", "v"} and group.pending_syncs == {}
    assert group.is_subscribed("v") and not group.is_subscribed("w")


def test_generation_without_members_empties_the_group() -> None:
    group = group_of(member("a"))
    group.enter(REBALANCE, 0)
    group.drop("a")
    group.begin_generation(7)
    assert (group.state, group.generation, group.protocol, group.leader) == (EMPTY, 1, None, None)
    assert group.subscribed_topics == set(), (
        "a group of consumers that nobody reads for: nothing is subscribed to"
    )
    assert not group.is_subscribed("t")


@pytest.mark.parametrize(
    ("metadata", "topics"),
    [(b"", None), (b"\x00\x01", None), (b"\xff\xff", None), (subscribed("t"), {"t"})],
    ids=["no bytes", "cut", "version", "whole"],
)
def test_subscription_that_is_none_leaves_the_topics_unknown_and_then_all_of_them_count(
    metadata: bytes, topics: set[str] | None
) -> None:
    one = member("a")
    one.protocols = [Protocol("range", metadata)]
    group = group_of(one)
    group.protocol = "range"
    assert group.read_subscribed_topics() == topics
    group.subscribed_topics = group.read_subscribed_topics()
    assert group.is_subscribed("anything") is (topics is None)


def test_length_that_does_not_fit_fails_the_step_as_in_the_original() -> None:
    one = member("a")
    one.protocols = [Protocol("range", bytes.fromhex("0000" + "00000001" + "7fff"))]
    group = group_of(one)
    group.protocol = "range"
    with pytest.raises(Refused) as refused:
        group.read_subscribed_topics()
    assert refused.value.code == UNKNOWN_SERVER_ERROR


def test_group_of_others_than_consumers_is_subscribed_to_nothing() -> None:
    group = ClassicGroup("g", protocol_type="connect", protocol="x")
    assert group.read_subscribed_topics() is None and not group.is_subscribed("t")


def test_longest_rebalance_timeout_counts() -> None:
    assert (
        group_of(
            member("a", rebalance_ms=5), member("b", rebalance_ms=9), member("c", rebalance_ms=7)
        ).rebalance_timeout_ms()
        == 9
    )
    assert ClassicGroup("g").rebalance_timeout_ms() == 0


@pytest.mark.parametrize(
    ("state", "event"),
    [(STABLE, "leader synced"), (EMPTY, "all joined"), (PREPARING, "rebalance"), (COMPLETING, "all left")],
)
def test_way_that_the_table_does_not_have_is_our_own_mistake(state: str, event: str) -> None:
    with pytest.raises(InvariantError, match=state):
        next_state(state, event)


def test_record_before_version_1_has_one_timeout_for_both_and_loads_so() -> None:
    stored = StoredMember("a", None, "c", "/h", -1, 12_000, subscribed("t"), b"x")
    group = ClassicGroup.from_value("g", GroupMetadataValue("consumer", 4, "range", "a", -1, [stored]))
    assert (group.members["a"].rebalance_timeout_ms, group.members["a"].session_timeout_ms) == (
        12_000,
        12_000,
    )
    assert (group.state, group.state_since_ms, group.members["a"].is_new) == (STABLE, None, False)


def test_record_of_an_empty_group_has_no_type_and_no_leader() -> None:
    group = ClassicGroup.from_value("g", GroupMetadataValue("", 3, None, None, 77, []))
    assert (group.state, group.protocol_type, group.generation, group.state_since_ms, group.leader) == (
        EMPTY,
        None,
        3,
        77,
        None,
    )
    assert group.to_record().value == GroupMetadataValue("", 3, None, None, 77, [])


NAMES = st.lists(st.sampled_from(["range", "sticky", "mine"]), min_size=1, unique=True)


@settings(max_examples=40, deadline=None)
@given(
    st.dictionaries(
        st.text("abcz-9", min_size=1, max_size=4),
        st.tuples(NAMES, st.binary(max_size=3)),
        min_size=1,
        max_size=6,
    ),
    st.booleans(),
)
def test_law_what_a_record_holds_is_written_again_the_same(
    offers: dict[str, tuple[list[str], bytes]], is_old: bool
) -> None:
    group = ClassicGroup("g", is_old=is_old)
    for number, (member_id, (names, assignment)) in enumerate(offers.items()):
        one = member(member_id, "both", *names, instance=f"i{number}" if number % 2 else None)
        one.assignment = assignment
        group.add(one, CONTEXT)
    group.enter(REBALANCE, 1)
    group.begin_generation(2)
    value = group.to_record().value
    assert isinstance(value, GroupMetadataValue)
    loaded = ClassicGroup.from_value("g", value, is_old)
    again = loaded.to_record().value
    assert isinstance(again, GroupMetadataValue)
    # A successor's map has the members in the order of the record, so two in one slot may change places.
    assert sorted(again.members, key=lambda each: each.member_id) == sorted(
        value.members, key=lambda each: each.member_id
    )
    assert (again.generation, again.protocol, again.leader, again.protocol_type) == (
        value.generation,
        value.protocol,
        value.leader,
        "consumer",
    )
    assert (
        loaded.static_members == group.static_members
        and loaded.subscribed_topics == {"t"}
        and loaded.waiting_count == 0
    )
    assert loaded.leader == group.leader and loaded.member_peak == len(offers)
