"""The coordinator inside its broker: send this request, expect that answer, that deadline, that turning
point."""

from broker_core.clock import SECOND_US
from broker_core.kafka import requests as r
from broker_core.kafka.assignors import Subscription
from broker_core.kafka.broker import Broker, BrokerState
from broker_core.kafka.group.group import Group
from broker_core.kafka.group.states import COMPLETING, EMPTY, PREPARING, STABLE, TRANSITIONS
from broker_core.sim.node import Closed, Opened
from tests.core.playbook import Played, play, wake

A, B, C = 1, 2, 3
SUBSCRIPTION = Subscription(("t",))


def coordinator() -> tuple[Broker, Played]:
    node, out = Broker(BrokerState([])), Played("broker", draws=(1, 2, 3, 4, 5))
    for connection in (A, B, C):
        play(node, out, connection, Opened(f"client{connection}"))
    return node, out


def first_join(node, out, connection, now_us=0, session_us=45 * SECOND_US):
    """The id that a newcomer is given."""
    request = r.JoinGroupRequest(
        "g", "", f"c{connection}", session_us, 300 * SECOND_US, "range", SUBSCRIPTION
    )
    ((_, answer),) = play(node, out, connection, request, now_us=now_us)
    assert answer.error_code == r.MEMBER_ID_REQUIRED
    return answer.member_id


def join(node, out, connection, member_id="", now_us=0, session_us=45 * SECOND_US):
    member_id = member_id or first_join(node, out, connection, now_us, session_us)
    request = r.JoinGroupRequest(
        "g", member_id, f"c{connection}", session_us, 300 * SECOND_US, "range", SUBSCRIPTION
    )
    return play(node, out, connection, request, now_us=now_us)


def heartbeat(node, out, connection, generation, member_id, now_us=0):
    ((_, answer),) = play(
        node, out, connection, r.HeartbeatRequest("g", generation, member_id), now_us=now_us
    )
    return answer.error_code


def group_of(node) -> Group:
    return node.state.groups["g"]


def stable(*connections) -> tuple[Broker, Played, list[str]]:
    """A group of so many members whose leader has synced. Returns their ids, the leader first."""
    node, out = coordinator()
    for connection in connections:
        assert join(node, out, connection) == []
    while group_of(node).state == PREPARING:
        wake(node, out, "join:g")
    out.take()
    ids = list(group_of(node).members)
    for connection, member_id in reversed(list(zip(connections, ids, strict=True))):
        play(
            node,
            out,
            connection,
            r.SyncGroupRequest("g", 1, member_id, {ids[0]: [0, 1]} if member_id == ids[0] else {}),
        )
    assert group_of(node).state == STABLE
    return node, out, ids


def test_first_members_wait_three_seconds_and_three_more_if_somebody_joined_meanwhile():
    node, out = coordinator()
    assert join(node, out, A) == [] and out.deadlines["join:g"] == 3 * SECOND_US
    join(node, out, B, now_us=SECOND_US)
    assert wake(node, out, "join:g") == [] and out.deadlines["join:g"] == 6 * SECOND_US
    answers = wake(node, out, "join:g")
    assert [(connection, answer.generation_id, len(answer.members)) for connection, answer in answers] == [
        (A, 1, 2),
        (B, 1, 0),
    ]
    assert group_of(node).state == COMPLETING


def test_followers_sync_waits_for_the_leaders_and_both_get_their_part():
    node, out = coordinator()
    join(node, out, A), join(node, out, B)
    wake(node, out, "join:g"), wake(node, out, "join:g")
    a, b = group_of(node).members
    assert play(node, out, B, r.SyncGroupRequest("g", 1, b, {})) == []
    answers = play(node, out, A, r.SyncGroupRequest("g", 1, a, {a: [0], b: [1]}))
    assert answers == [(A, r.SyncGroupResponse(0, [0])), (B, r.SyncGroupResponse(0, [1]))]
    assert out.told[-1] == ("kafka.group.assigned", {"generation": 1, "assignment": {a: [0], b: [1]}})
    assert play(node, out, B, r.SyncGroupRequest("g", 1, b, {})) == [(B, r.SyncGroupResponse(0, [1]))]


def test_newcomer_starts_a_rebalance_that_members_learn_of_from_their_heartbeats():
    node, out, (a,) = stable(A)
    assert heartbeat(node, out, A, 1, a) == r.NONE
    assert join(node, out, B) == []
    assert heartbeat(node, out, A, 1, a) == r.REBALANCE_IN_PROGRESS
    answers = join(node, out, A, a)
    assert [(connection, answer.generation_id) for connection, answer in answers] == [(A, 2), (B, 2)]


def test_heartbeat_of_a_stranger_or_of_another_generation_is_refused():
    node, out, (a,) = stable(A)
    assert heartbeat(node, out, A, 1, "nobody") == r.UNKNOWN_MEMBER_ID
    assert heartbeat(node, out, A, 9, a) == r.ILLEGAL_GENERATION


def test_silent_member_costs_the_group_one_rebalance_after_its_session_timeout():
    node, out, (a, b) = stable(A, B)
    heartbeat(node, out, A, 1, a, now_us=10 * SECOND_US)
    wake(node, out, f"session:g:{b}")
    assert out.blamed[-1] == B
    assert [kind for kind, _ in out.told[-2:]] == [
        "kafka.group.member_expired",
        "kafka.group.rebalance_started",
    ]
    assert group_of(node).state == PREPARING and list(group_of(node).members) == [a]
    ((_, answer),) = join(node, out, A, a)
    assert (answer.generation_id, answer.leader) == (2, a)


def test_member_that_is_parked_in_join_is_waiting_and_not_silent():
    node, out, (a, b) = stable(A, B)
    join(node, out, C)
    join(node, out, A, a)
    wake(node, out, f"session:g:{a}")
    assert a in group_of(node).members
    wake(node, out, f"session:g:{b}")
    assert b not in group_of(node).members and group_of(node).generation == 2


def test_rebalance_timeout_ends_the_join_phase_without_those_who_are_missing():
    node, out, (a, b) = stable(A, B)
    join(node, out, C)
    join(node, out, A, a)
    answers = wake(node, out, "join:g")
    assert sorted(connection for connection, _ in answers) == [A, C] and b not in group_of(node).members


def test_leader_that_leaves_is_followed_by_another_and_the_last_one_empties_the_group():
    node, out, (a, b) = stable(A, B)
    assert play(node, out, A, r.LeaveGroupRequest("g", a)) == [(A, r.LeaveGroupResponse(0))]
    assert group_of(node).leader == b and group_of(node).state == PREPARING
    play(node, out, B, r.LeaveGroupRequest("g", b))
    assert (group_of(node).state, group_of(node).generation, group_of(node).leader) == (EMPTY, 2, None)
    assert play(node, out, B, r.LeaveGroupRequest("g", b)) == [(B, r.LeaveGroupResponse(r.UNKNOWN_MEMBER_ID))]


def test_rejoin_with_nothing_new_is_answered_at_once_for_a_follower_and_rebalances_for_the_leader():
    node, out, (a, b) = stable(A, B)
    ((connection, answer),) = join(node, out, B, b)
    assert (connection, answer.generation_id, answer.members) == (B, 1, [])
    assert join(node, out, A, a) == [] and group_of(node).state == PREPARING


def test_who_has_not_synced_in_time_is_removed():
    node, out = coordinator()
    join(node, out, A), join(node, out, B)
    wake(node, out, "join:g"), wake(node, out, "join:g")
    _, b = group_of(node).members
    play(node, out, B, r.SyncGroupRequest("g", 1, b, {}))
    answers = wake(node, out, "sync:g")
    assert answers == [(B, r.SyncGroupResponse(r.REBALANCE_IN_PROGRESS, []))]
    assert list(group_of(node).members) == [b] and group_of(node).state == PREPARING


def test_commit_is_checked_for_member_generation_and_a_missing_assignment():
    node, out, (a, b) = stable(A, B)

    def commit(member_id, generation, connection=A):
        ((_, answer),) = play(
            node, out, connection, r.OffsetCommitRequest("g", generation, member_id, {0: 7})
        )
        return answer.error_code

    assert [commit("nobody", 1), commit(a, 2), commit(a, 1)] == [
        r.UNKNOWN_MEMBER_ID,
        r.ILLEGAL_GENERATION,
        r.NONE,
    ]
    join(node, out, C)
    assert commit(a, 1) == r.NONE  # the old generation may still commit while the next one gathers
    join(node, out, A, a), join(node, out, B, b)
    assert group_of(node).state == COMPLETING and commit(a, 2) == r.REBALANCE_IN_PROGRESS
    ((_, answer),) = play(node, out, A, r.OffsetFetchRequest("g", [0, 1]))
    assert answer.offsets == {0: 7, 1: -1}


def test_join_under_an_unknown_id_is_refused_and_leaves_the_group_as_it_was():
    node, out, (a,) = stable(A)
    ((_, answer),) = join(node, out, B, "made-up")
    assert (
        answer.error_code == r.UNKNOWN_MEMBER_ID
        and list(group_of(node).members) == [a]
        and group_of(node).state == STABLE
    )


def test_newcomer_that_does_not_come_back_with_its_id_holds_up_the_others_until_it_leaves_or_times_out_or_hangs_up():
    for end in ("leave", "time-out", "close"):
        node, out, (a,) = stable(A)
        pending = first_join(node, out, B)
        assert list(group_of(node).members) == [a] and group_of(node).state == STABLE
        join(node, out, C)
        assert join(node, out, A, a) == []
        if end == "leave":
            sent = play(node, out, B, r.LeaveGroupRequest("g", pending))
            assert sent.pop(0) == (B, r.LeaveGroupResponse(r.NONE))
        elif end == "close":
            sent = play(node, out, B, Closed("closed"))
        else:
            sent = wake(node, out, f"session:g:{pending}")
        assert sorted(connection for connection, _ in sent) == [A, C] and group_of(node).generation == 2


def test_join_phase_that_is_over_does_not_wait_for_who_has_only_an_id():
    node, out, (a,) = stable(A)
    first_join(node, out, B)
    join(node, out, C)
    join(node, out, A, a)
    assert sorted(connection for connection, _ in wake(node, out, "join:g")) == [A, C]


def test_member_that_expires_in_a_rebalance_still_has_the_partitions_that_it_was_last_assigned():
    node, out, (a, _) = stable(A, B)
    join(node, out, C)
    out.told.clear()
    wake(node, out, f"session:g:{a}")
    assert out.told[0] == ("kafka.group.member_expired", {"member_id": a, "partitions": [0, 1]})


def test_every_state_of_the_table_can_be_left_and_reached():
    states = {EMPTY, PREPARING, COMPLETING, STABLE}
    assert {state for state, _ in TRANSITIONS} == states == set(TRANSITIONS.values())
