"""Produce and Fetch at the broker."""

from broker_core.kafka import requests as r
from broker_core.kafka.assignors import Subscription
from broker_core.kafka.broker import Broker, BrokerState, PartitionRecords
from broker_core.kafka.group.group import Group, Member
from broker_core.kafka.group.states import COMPLETING
from broker_core.plain import from_plain, to_plain
from broker_core.sim.node import PERSON, Closed
from tests.core.playbook import Played, play


def broker() -> tuple[Broker, Played]:
    return Broker(BrokerState([PartitionRecords(), PartitionRecords()])), Played("broker")


def test_fetch_gives_what_there_is_of_each_partition_up_to_its_limit():
    node, out = broker()
    play(node, out, 1, *[r.ProduceRequest(0, number) for number in (5, 6, 7)])
    assert node.state.logs[0].records == [5, 6, 7]
    assert play(node, out, 2, r.FetchRequest({0: 0, 1: 0}, 500, 2)) == [
        (2, r.FetchResponse([(0, 0, [5, 6])]))
    ]


def test_offsets_stay_when_what_everybody_has_read_is_deleted():
    node, out = broker()
    log = node.state.logs[0]
    play(node, out, 1, *[r.ProduceRequest(0, number) for number in (5, 6, 7)])
    log.delete_before(2)
    log.delete_before(1)
    play(node, out, 1, r.ProduceRequest(0, 9))
    assert (log.start, log.end, log.between(2, 4)) == (2, 4, [7, 9])


def test_fetch_of_an_unknown_partition_is_refused_and_the_others_are_read():
    node, out = broker()
    play(node, out, 1, r.ProduceRequest(0, 5))
    for unknown in (2, -1):
        expected = r.FetchResponse([(0, 0, [5])], [(unknown, 7, r.UNKNOWN_TOPIC_OR_PARTITION)])
        assert play(node, out, 2, r.FetchRequest({0: 0, unknown: 7}, 500, 10)) == [(2, expected)]


def test_produce_to_an_unknown_partition_is_refused_and_nothing_is_written():
    node, out = broker()
    for unknown in (2, -1):
        expected = r.ProduceResponse(unknown, r.UNKNOWN_TOPIC_OR_PARTITION)
        assert play(node, out, 1, r.ProduceRequest(unknown, 5)) == [(1, expected)]
    assert [log.end for log in node.state.logs] == [0, 0]


def test_operator_deletes_what_nobody_will_read_and_hears_where_each_log_starts():
    node, out = broker()
    play(node, out, 1, *[r.ProduceRequest(0, number) for number in (5, 6, 7)])
    errors = {1: r.OFFSET_OUT_OF_RANGE, 2: r.UNKNOWN_TOPIC_OR_PARTITION}
    assert play(node, out, 3, r.DeleteRecordsRequest({0: 2, 1: 1, 2: 0})) == [
        (3, r.DeleteRecordsResponse({0: 2}, errors))
    ]
    assert play(node, out, 3, r.DeleteRecordsRequest({0: 1})) == [(3, r.DeleteRecordsResponse({0: 2}, {}))]
    assert node.state.logs[0].records == [7]
    assert play(node, out, PERSON, r.DeleteRecordsRequest({0: 3})) == [] and node.state.logs[0].records == []


def test_operator_may_delete_nothing_and_everything_but_no_more():
    node, out = broker()
    play(node, out, 1, r.ProduceRequest(0, 5))
    for offset, is_there in ((0, True), (1, True), (2, False), (-1, False)):
        answer = (
            r.DeleteRecordsResponse({0: offset}, {})
            if is_there
            else r.DeleteRecordsResponse({}, {0: r.OFFSET_OUT_OF_RANGE})
        )
        assert play(node, out, 3, r.DeleteRecordsRequest({0: offset})) == [(3, answer)]
    assert play(node, out, 3, r.DeleteRecordsRequest({-1: 0})) == [
        (3, r.DeleteRecordsResponse({}, {-1: r.UNKNOWN_TOPIC_OR_PARTITION}))
    ]


def test_deadline_of_a_fetch_that_was_answered_in_time_means_nothing():
    node, out = broker()
    play(node, out, 2, r.FetchRequest({0: 0}, 500, 10))
    play(node, out, 1, r.ProduceRequest(0, 9), now_us=300)
    node.wake("fetch:2", 500, out)
    assert out.take() == [] and node.state.watched == {}
    play(node, out, 2, r.FetchRequest({0: 1}, 500, 10), now_us=600)
    assert out.deadlines["fetch:2"] == 1_100


def test_fetch_outside_of_the_log_is_out_of_range_at_once():
    node, out = broker()
    play(node, out, 1, *[r.ProduceRequest(0, number) for number in (5, 6, 7)])
    node.state.logs[0].delete_before(2)
    for offset in (1, 4):
        expected = r.FetchResponse([], [(0, offset, r.OFFSET_OUT_OF_RANGE)])
        assert play(node, out, 2, r.FetchRequest({0: offset, 1: 0}, 500, 10)) == [(2, expected)]
    assert out.deadlines == {} and node.state.waiting == {}
    assert play(node, out, 2, r.ListOffsetsRequest([0, 1])) == [(2, r.ListOffsetsResponse({0: 2, 1: 0}))]


def test_fetch_without_news_waits_for_the_next_record():
    node, out = broker()
    assert play(node, out, 2, r.FetchRequest({0: 0, 1: 0}, 500, 10), now_us=40) == []
    assert out.deadlines == {"fetch:2": 540}
    assert play(node, out, 1, r.ProduceRequest(1, 9)) == [(2, r.FetchResponse([(1, 0, [9])]))]
    assert play(node, out, 1, r.ProduceRequest(1, 9)) == []


def test_fetch_that_waited_long_enough_is_answered_with_nothing():
    node, out = broker()
    play(node, out, 2, r.FetchRequest({0: 0}, 500, 10))
    node.wake("fetch:2", 500, out)
    assert out.take() == [(2, r.FetchResponse([]))]


def test_later_fetch_waits_its_own_time_though_its_connection_had_an_earlier_deadline():
    node, out = broker()
    play(node, out, 2, r.FetchRequest({0: 0}, 500, 10))
    play(node, out, 1, r.ProduceRequest(0, 9), now_us=300)
    play(node, out, 2, r.FetchRequest({0: 1}, 500, 10), now_us=400)
    node.wake("fetch:2", 500, out)
    assert out.take() == [] and out.deadlines["fetch:2"] == 900
    node.wake("fetch:2", 900, out)
    assert out.take() == [(2, r.FetchResponse([]))]


def test_restored_broker_answers_the_fetches_that_waited():
    node, out = broker()
    for connection in (3, 2):
        play(node, out, connection, r.FetchRequest({0: 0}, 500, 10))
    again = Broker(from_plain(to_plain(node.state), BrokerState))
    assert [connection for connection, _ in play(again, out, 1, r.ProduceRequest(0, 9))] == [3, 2]


def test_fetch_of_a_connection_that_closed_is_forgotten():
    node, out = broker()
    play(node, out, 2, r.FetchRequest({0: 0}, 500, 10), Closed("reset"))
    assert play(node, out, 1, r.ProduceRequest(0, 9)) == [] and out.deadlines == {}


def test_member_whose_connection_closed_is_answered_no_more():
    node, out = broker()
    member = Member("m", 2, 45_000_000, 300_000_000, Subscription(("t",)), awaits_sync=True)
    other = Member("n", 3, 45_000_000, 300_000_000, Subscription(("t",)), awaits_sync=True)
    node.state.groups["g"] = Group("g", COMPLETING, 1, "n", members={"m": member, "n": other})
    play(node, out, 2, Closed("reset"))
    answers = play(node, out, 4, r.LeaveGroupRequest("g", "n"))
    assert [connection for connection, _ in answers if connection == 2] == [] and "m" in node.state.groups[
        "g"
    ].members


def test_two_groups_that_wait_for_one_partition_both_get_the_record():
    node, out = broker()
    for connection in (2, 3):
        play(node, out, connection, r.FetchRequest({0: 0}, 500, 10))
    assert [connection for connection, _ in play(node, out, 1, r.ProduceRequest(0, 9))] == [2, 3]


def test_unknown_group_refuses_what_only_a_member_may_and_is_not_made():
    node, out = broker()
    unknown = r.UNKNOWN_MEMBER_ID
    assert play(node, out, 1, r.HeartbeatRequest("g", 0, "m")) == [(1, r.HeartbeatResponse(unknown))]
    assert play(node, out, 1, r.SyncGroupRequest("g", 0, "m", {})) == [(1, r.SyncGroupResponse(unknown, []))]
    assert play(node, out, 1, r.LeaveGroupRequest("g", "m")) == [(1, r.LeaveGroupResponse(unknown))]
    assert play(node, out, 1, r.OffsetFetchRequest("g", [0])) == [(1, r.OffsetFetchResponse({0: -1}))]
    assert play(node, out, 1, r.OffsetCommitRequest("g", 0, "m", {0: 4})) == [
        (1, r.OffsetCommitResponse(r.ILLEGAL_GENERATION))
    ]
    ((_, answer),) = play(
        node, out, 1, r.JoinGroupRequest("g", "m", "c", 1, 1, "range", Subscription(("t",)))
    )
    assert answer.error_code == unknown and node.state.groups == {}


def test_newcomer_makes_its_group():
    node, out = broker()
    ((_, answer),) = play(node, out, 1, r.JoinGroupRequest("g", "", "c", 1, 1, "range", Subscription(("t",))))
    assert answer.error_code == r.MEMBER_ID_REQUIRED and list(node.state.groups) == ["g"]


def test_simple_consumer_commits_without_joining_as_long_as_the_group_has_no_members():
    node, out = broker()
    commit = r.OffsetCommitRequest("g", r.NO_GENERATION, "", {0: 4})
    assert play(node, out, 1, commit) == [(1, r.OffsetCommitResponse(r.NONE))]
    assert play(node, out, 1, r.OffsetFetchRequest("g", [0, 1])) == [
        (1, r.OffsetFetchResponse({0: 4, 1: -1}))
    ]
    ((_, answer),) = play(node, out, 2, r.JoinGroupRequest("g", "", "c", 1, 1, "range", Subscription(("t",))))
    play(node, out, 2, r.JoinGroupRequest("g", answer.member_id, "c", 1, 1, "range", Subscription(("t",))))
    assert play(node, out, 1, commit) == [(1, r.OffsetCommitResponse(r.UNKNOWN_MEMBER_ID))]
