"""What a master and a broker refuse: the first check that fails decides, and a refused request changes
nothing."""

from __future__ import annotations

from typing import Any

import pytest

from broker_core.clock import SECOND_US
from broker_core.plain import to_plain
from broker_core.sim.node import Closed, Opened
from broker_core.tubemq import requests as r
from broker_core.tubemq.broker import Broker, BrokerState, Consumed, Partition
from broker_core.tubemq.configuration import configured
from broker_core.tubemq.group import Group, Member, Terms
from broker_core.tubemq.master import BALANCE, Master, MasterState
from tests.core.playbook import Played, play

KEY, OTHER, UNKNOWN = "1:orders:0", "1:orders:1", "1:orders:7"
AT_US = 10 * SECOND_US

# -- the master ----------------------------------------------------------------------------------------------


def master(**groups: Group) -> tuple[Master, Played]:
    return Master(MasterState(configured(["orders#1:1:2:1"]), groups=groups)), Played("master")


def group(source_count: int, **node_ids: int) -> Group:
    return Group(
        Terms(topics=["orders"], source_count=source_count),
        {client: Member(client, 1, node_id, 30 * SECOND_US) for client, node_id in node_ids.items()},
    )


@pytest.mark.parametrize(
    ("there", "client", "source_count", "node_id", "code"),
    [
        (None, "a", 2, 0, 200),
        (group(2, a=0), "b", 2, 1, 200),
        (group(2, a=0), "b", 3, 0, 429),  # the count is looked at before the node id
        (group(2, a=0), "b", 2, 0, 430),
        (group(2, a=0), "b", -2, 1, 429),
        # a group whose first member did not count its sources checks nobody (vectors: source-count-off)
        (group(-2, a=-2), "b", -2, -2, 200),
        (group(-2, a=-2), "b", 2, 0, 200),
        (group(2, a=0), "a", 3, 0, 429),  # the same client, too
        (None, "a", 2, 2, 400),
        (None, "a", 2, -1, 400),
        (None, " ", 2, 0, 400),
        (None, "a" * 1_025, 2, 0, 400),
        (group(2, a=0, b=1), "a", 5, 0, 429),
        (group(2, a=0, b=1), "a", 2, 1, 430),
        (group(2, a=0, b=1), "a", 2, 0, 200),
    ],
)  # fmt: skip
def test_registration_is_refused_by_the_first_check_that_fails(
    there: Group | None, client: str, source_count: int, node_id: int, code: int
) -> None:
    node, out = master(**({} if there is None else {"g": there}))
    before = to_plain(node.state)
    ((connection, answer),) = play(
        node, out, 6, r.RegisterRequestC2MV2(client, "g", source_count, node_id, ["orders"]), now_us=AT_US
    )
    assert (connection, answer.code) == (6, code)
    if code != r.SUCCESS:
        assert to_plain(node.state) == before and out.deadlines == {}
    else:
        member = node.state.groups["g"].members[client]
        assert (member.connection, member.node_id, member.deadline_us) == (6, node_id, AT_US + 30 * SECOND_US)
        cycle = {} if there is not None else {BALANCE: 30 * SECOND_US}
        assert out.deadlines == {f"consumer:g:{client}": AT_US + 30 * SECOND_US, **cycle}


@pytest.mark.parametrize(
    "request_of", [r.HeartRequestC2MV2, lambda client, name: r.GetPartMetaRequestC2M(client, name, -2)]
)
@pytest.mark.parametrize(("client", "name"), [("z", "g"), ("a", "other")])
def test_stranger_gets_411_and_learns_nothing(request_of: Any, client: str, name: str) -> None:
    node, out = master(g=group(2, a=0))
    before = to_plain(node.state)
    ((_, answer),) = play(node, out, 1, request_of(client, name), now_us=AT_US)
    assert answer.code == r.HB_NO_NODE and not getattr(answer, "topic_meta", None)
    assert to_plain(node.state) == before and out.deadlines == {}


@pytest.mark.parametrize(("client", "name"), [("z", "g"), ("a", "other")])
def test_close_of_a_stranger_changes_nothing(client: str, name: str) -> None:
    node, out = master(g=group(2, a=0))
    before = to_plain(node.state)
    assert play(node, out, 1, r.CloseRequestC2M(client, name)) == [] and to_plain(node.state) == before


def test_what_changed_in_a_topic_reaches_a_group_with_the_next_cycle() -> None:
    node, out = master(g=group(1, a=0))

    def query(known: int) -> tuple[int, list[str]]:
        ((_, answer),) = play(node, out, 1, r.GetPartMetaRequestC2M("a", "g", known))
        return answer.topic_meta_id, answer.topic_meta

    assert query(-2) == (1, ["orders#1:1:2:1"])
    node.state.brokers[1].is_online = False
    assert query(-2) == (1, ["orders#1:1:2:1"])
    node.wake(BALANCE, 30 * SECOND_US, out)
    assert (query(1), query(30_000)) == ((30_000, ["orders#1:1:2:0"]), (30_000, [])), "the clock's, in ms"
    node.wake(BALANCE, 60 * SECOND_US, out)
    assert query(-2) == (30_000, ["orders#1:1:2:0"]), "the same content keeps its number"
    assert out.deadlines[BALANCE] == 90 * SECOND_US


@pytest.mark.parametrize(
    ("change", "code"),
    [
        ({"topics": []}, 400),
        ({"topics": [" "]}, 400),
        ({"topics": ["orders"] * 1_025}, 400),
        ({"topics": ["nope"]}, 431),
        ({"conditions": ["other#a"]}, 400),
        ({"group": "h", "topics": ["secret"]}, 450),
        ({"topics": ["audit"]}, 425),
        ({"conditions": ["orders#a"]}, 426),
        ({"source_count": 3}, 429),
        ({"node_id": 0}, 430),
        ({"topics": [" orders ", "orders"], "conditions": ["orders#"]}, 200),
    ],
    ids=repr,
)
def test_client_that_balances_for_itself_must_agree_with_its_group(change: dict[str, Any], code: int) -> None:
    node, out = master(g=group(2, a=0))
    node.state.brokers = configured(["orders#1:1:2:1", "audit#1:1:1:1", "secret#1:1:1:1"])
    node.state.authorized = {"secret": ["g"]}
    asked = {"client_id": "b", "group": "g", "source_count": 2, "node_id": 1, "topics": ["orders"]}
    before = to_plain(node.state)
    ((_, answer),) = play(node, out, 6, r.RegisterRequestC2MV2(**(asked | change)))
    assert answer.code == code
    assert code == r.SUCCESS or to_plain(node.state) == before


def test_client_whose_partitions_the_master_gives_out_has_no_place_among_those_that_balance() -> None:
    node, out = master(g=group(2, a=0))
    ((_, answer),) = play(node, out, 6, r.RegisterRequestC2M("s", "g", ["orders"]))
    assert answer.code == 424


@pytest.mark.parametrize(
    ("change", "code"),
    [
        ({"session_key": " "}, 400),
        ({"total_count": 0}, 400),
        ({"required_partition": "1:orders:0"}, 400),
        ({"required_partition": "1:nope:0=1"}, 400),
        ({"required_partition": "1:orders:0=x"}, 400),
        ({"require_bound": False}, 424),
        ({"session_key": "k2"}, 427),
        ({"select_big": False}, 428),
        ({"total_count": 3}, 429),
        ({"required_partition": "1:orders:0=5,1:orders:1=6"}, 200),
    ],
    ids=repr,
)
def test_bound_client_must_agree_with_its_group(change: dict[str, Any], code: int) -> None:
    node, out = master()
    bound = {"group": "g", "topics": ["orders"], "require_bound": True, "session_key": "k", "total_count": 2}
    ((_, first),) = play(node, out, 6, r.RegisterRequestC2M(client_id="a", **bound))
    ((_, answer),) = play(node, out, 6, r.RegisterRequestC2M(client_id="b", **(bound | change)))
    assert (first.code, answer.code) == (200, code)


def test_standby_master_answers_with_its_exception_and_changes_nothing() -> None:
    node, out = master(g=group(2, a=0))
    node.state.is_standby = True
    before = to_plain(node.state)
    asked = (
        r.RegisterRequestC2MV2("b", "g", 2, 1, ["orders"]),
        r.RegisterRequestC2M("s", "g", ["orders"]),
        r.HeartRequestC2MV2("a", "g"),
        r.GetPartMetaRequestC2M("a", "g", -2),
    )
    assert [message for _, message in play(node, out, 6, *asked)] == [r.STANDBY] * 4
    assert to_plain(node.state) == before


# -- a broker ------------------------------------------------------------------------------------------------


SIZE = 100


def broker(
    owner: str = "a", deadline_us: int = 30 * SECOND_US, messages: int = 4, pending: int = 0, offset: int = 0
) -> tuple[Broker, Played]:
    """One partition of which `owner` is registered, on connection 3, and one of which nobody is."""
    node, out = Broker(BrokerState(1, {KEY: Partition(), OTHER: Partition()})), Played("broker")
    play(node, out, 9, *[r.SendMessageRequestP2B(KEY, 70 + number, SIZE) for number in range(messages)])
    node.state.partitions[KEY].groups["g"] = Consumed(
        offset, pending, owner, 3 if owner else 0, deadline_us if owner else 0
    )
    return node, out


def ask(node: Broker, out: Played, request: Any, now_us: int = AT_US) -> Any:
    ((connection, answer),) = play(node, out, 5, request, now_us=now_us)
    assert connection == 5, "who asks is answered, on its connection"
    return answer


@pytest.mark.parametrize(
    ("request_", "code"),
    [
        (r.RegisterRequestC2B(r.REGISTER, "b", "g", KEY), 410),
        (r.RegisterRequestC2B(r.REGISTER, "b", "g", KEY, 2), 410),
        (r.RegisterRequestC2B(r.UNREGISTER, "b", "g", KEY, -1, True), 412),
        (r.RegisterRequestC2B(r.UNREGISTER, "a", "other", KEY), 411),
        (r.RegisterRequestC2B(r.UNREGISTER, "a", "g", OTHER), 411),
        (r.RegisterRequestC2B(r.REGISTER, "b", "g", "9:none:0"), 403),
        (r.RegisterRequestC2B(r.UNREGISTER, "b", "g", UNKNOWN), 411),
        (r.GetMessageRequestC2B("b", "g", KEY), 412),
        (r.GetMessageRequestC2B("a", "other", KEY), 411),
        (r.GetMessageRequestC2B("a", "g", OTHER), 411),
        (r.GetMessageRequestC2B("a", "g", UNKNOWN), 411),
        (r.CommitOffsetRequestC2B("b", "g", KEY, True), 401),
        (r.CommitOffsetRequestC2B("a", "other", KEY, True), 401),
        (r.CommitOffsetRequestC2B("a", "g", OTHER, True), 401),
        (r.CommitOffsetRequestC2B("a", "g", UNKNOWN, True), 403),
    ],
)
def test_what_is_not_the_askers_is_refused_and_stays_as_it_was(request_: Any, code: int) -> None:
    node, out = broker(pending=1)
    place = node.state.partitions[KEY].groups["g"]
    before, log = to_plain(place), list(node.state.partitions[KEY].log.messages)
    answer = ask(node, out, request_)
    assert answer.code == code and answer.partition == request_.partition
    assert not getattr(answer, "messages", None)
    assert to_plain(place) == before and node.state.partitions[KEY].log.messages == log
    assert out.told == [] and out.deadlines == {} and node.state.read_again == 0


def test_refused_register_says_where_the_owner_is() -> None:
    node, out = broker(offset=2)
    answer = ask(node, out, r.RegisterRequestC2B(r.REGISTER, "b", "g", KEY))
    assert (answer.op_type, answer.curr_offset, answer.max_offset) == (
        r.REGISTER,
        2 * r.ENTRY_BYTES,
        4 * r.ENTRY_BYTES,
    )


@pytest.mark.parametrize(("now_us", "is_removed"), [(30 * SECOND_US - 1, False), (30 * SECOND_US, True)])
def test_owner_counts_as_dead_when_its_thirty_seconds_are_over_to_the_microsecond(
    now_us: int, is_removed: bool
) -> None:
    node, out = broker(pending=1)
    assert (
        ask(node, out, r.RegisterRequestC2B(r.REGISTER, "b", "g", KEY), now_us).code == r.PARTITION_OCCUPIED
    )
    place = node.state.partitions[KEY].groups["g"]
    assert (place.owner, place.pending) == (("", 0) if is_removed else ("a", 1))
    assert out.blamed == ([3] if is_removed else [])
    assert ask(node, out, r.RegisterRequestC2B(r.REGISTER, "b", "g", KEY), now_us).code == (
        r.SUCCESS if is_removed else r.PARTITION_OCCUPIED
    )


def test_dead_owner_that_comes_back_first_keeps_its_partition() -> None:
    node, out = broker(pending=1)
    assert ask(node, out, r.RegisterRequestC2B(r.REGISTER, "a", "g", KEY), 99 * SECOND_US).code == r.SUCCESS
    place = node.state.partitions[KEY].groups["g"]
    assert (place.owner, place.pending, place.connection, place.deadline_us) == (
        "a",
        0,
        5,
        129 * SECOND_US,
    ) and out.told == []


def test_dead_owners_request_is_served_as_long_as_nobody_noticed() -> None:
    node, out = broker()
    assert ask(node, out, r.GetMessageRequestC2B("a", "g", KEY), 99 * SECOND_US).messages == [70, 71, 72, 73]
    assert node.state.partitions[KEY].groups["g"].deadline_us == 129 * SECOND_US


@pytest.mark.parametrize("is_consumed", [True, False])
def test_unregister_moves_the_stored_offset_only_if_the_batch_was_handled(is_consumed: bool) -> None:
    node, out = broker(pending=2)
    answer = ask(node, out, r.RegisterRequestC2B(r.UNREGISTER, "a", "g", KEY, -1, is_consumed))
    place = node.state.partitions[KEY].groups["g"]
    assert (answer.code, answer.op_type, answer.curr_offset, answer.max_offset) == (
        200,
        r.UNREGISTER,
        2 * r.ENTRY_BYTES if is_consumed else 0,
        4 * r.ENTRY_BYTES,
    )
    assert (place.owner, place.pending, place.offset) == ("", 0, 2 if is_consumed else 0)


def test_sweep_that_comes_after_the_owner_was_removed_tells_nothing_more() -> None:
    node, out = broker(owner="")
    ask(node, out, r.RegisterRequestC2B(r.REGISTER, "a", "g", KEY), 0)
    ask(node, out, r.RegisterRequestC2B(r.REGISTER, "b", "g", KEY), 30 * SECOND_US)
    node.wake(f"registration:g:{KEY}", 30 * SECOND_US, out)
    assert [kind for kind, _ in out.told] == ["tubemq.broker.registration_timed_out"] and out.blamed == [5]
    assert node.state.partitions[KEY].groups["g"].owner == ""


def test_broker_keeps_its_owners_when_their_connections_come_and_go() -> None:
    """A registration ends with its 30 s, not with its connection."""
    node, out = broker(pending=1)
    before = to_plain(node.state)
    assert (
        play(node, out, 3, Closed("reset"), Opened("c1")) == []
        and to_plain(node.state) == before
        and out.told == []
    )


def test_what_is_no_request_of_the_service_is_answered_by_its_exception() -> None:
    node, out = broker()
    assert play(node, out, 5, r.HeartRequestC2MV2("a", "g")) == [(5, r.NO_METHOD)]
    chief, out = master()
    assert play(chief, out, 5, r.HeartBeatRequestC2B("a", "g", [KEY])) == [(5, r.NO_METHOD)]
    assert play(chief, out, 5, r.RegisterResponseM2C(200)) == [(5, r.NO_METHOD)]


def test_master_keeps_its_members_when_their_connections_come_and_go() -> None:
    node, out = master(g=group(2, a=0))
    before = to_plain(node.state)
    assert (
        play(node, out, 1, Closed("reset"), Opened("c1")) == []
        and to_plain(node.state) == before
        and out.deadlines == {}
    )
