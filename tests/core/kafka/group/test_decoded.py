"""What a message of a group says, as a person reads it."""

from broker_core.kafka.assignors.subscription_bytes import (
    SubscriptionData,
    write_assignment,
    write_subscription,
)
from broker_core.kafka.cluster.transaction_requests import FindCoordinatorRequest, FindCoordinatorResponse
from broker_core.kafka.group import messages as m
from broker_core.kafka.group.decoded import ANSWERS, KINDS, fields_of, subscription_text, worst_code


def said(message, names=None):
    return dict(map(tuple, fields_of(message, names or {})))


def test_a_join_shows_what_is_in_its_bytes_and_nothing_that_is_at_its_default():
    owned = SubscriptionData(("t", "u"), None, (("t", 2), ("t", 0), ("t", 1), ("u", 5)), 4)
    request = m.JoinGroupRequest(
        "g",
        45_000,
        "c1-x",
        "consumer",
        [m.Protocol("range", write_subscription(owned))],
        300_000,
        client_id="c1",
    )
    assert said(request) == {
        "group_id": "g", "session_timeout_ms": "45000", "member_id": "c1-x", "protocol_type": "consumer",
        "protocols.range": "topics t,u; owned t 0-2 u 5; generation 4", "rebalance_timeout_ms": "300000",
    }  # fmt: skip


def test_only_the_leader_reads_who_else_is_there():
    members = [
        m.JoinGroupMember("a", None, write_subscription(SubscriptionData(("t",)))),
        m.JoinGroupMember("b", "i", b"\x00"),
    ]
    leads = said(m.JoinGroupResponse("a", 0, 3, "consumer", "range", "a", members=members))
    assert (leads["generation_id"], leads["leader"]) == ("3", "a")
    assert (leads["members.a"], leads["members.b"]) == ("topics t", "1 bytes")
    assert not any(
        name.startswith("members") for name in said(m.JoinGroupResponse("b", 0, 3, "consumer", "range", "a"))
    )


def test_an_assignment_is_read_from_its_bytes():
    given = write_assignment([("t", 3), ("t", 1), ("t", 2)])
    assert said(m.SyncGroupResponse(0, "consumer", "range", given))["assignment"] == "t 1-3"
    assert (
        said(m.SyncGroupRequest("g", 1, "a", assignments=[m.MemberAssignment("b", given)]))["assignments.b"]
        == "t 1-3"
    )


def test_the_consumer_protocol_names_topics_by_ids():
    request = m.ConsumerGroupHeartbeatRequest(
        "g", "m", 3, topic_partitions=[m.TopicPartitions("id-of-t", [0, 1])]
    )
    assert said(request, {"id-of-t": "t"}) == {
        "group_id": "g",
        "member_id": "m",
        "member_epoch": "3",
        "topic_partitions": "t 0-1",
    }
    assert said(request)["topic_partitions"] == "id-of-t 0-1"
    answer = m.ConsumerGroupHeartbeatResponse(
        0, "m", 4, 5_000, m.Assignment([m.TopicPartitions("id-of-t", [2])])
    )
    assert said(answer, {"id-of-t": "t"})["assignment"] == "t 2"


def test_offsets_stand_beside_their_partitions():
    commit = m.OffsetCommitRequest(
        "g", 1, "a", [m.CommittedTopic("t", [m.CommittedPartition(1, 7), m.CommittedPartition(0, 5)])]
    )
    assert said(commit)["topics.t"] == "0: 5, 1: 7"
    answer = m.OffsetCommitResponse(
        [m.TopicResult("t", [m.PartitionResult(0), m.PartitionResult(1, 22), m.PartitionResult(2, 22)])]
    )
    assert (said(answer)["topics.t"], worst_code(answer)) == ("0: NONE, 1-2: ILLEGAL_GENERATION", 22)
    known = m.OffsetFetchResponse(
        [
            m.OffsetFetchGroupResult(
                "g", [m.FetchedTopicResult("t", [m.FetchedPartition(0, 5), m.FetchedPartition(1)])]
            )
        ]
    )
    assert said(known)["topics.t"] == "0: 5, 1: -1"


def test_a_refusal_has_its_name_wherever_the_code_stands():
    assert said(m.HeartbeatResponse(27)) == {"error_code": "REBALANCE_IN_PROGRESS"}
    assert said(FindCoordinatorResponse(15))["error_code"] == "COORDINATOR_NOT_AVAILABLE"
    left = m.LeaveGroupResponse(0, [m.MemberResponse("a", None, 25)])
    assert (worst_code(left), said(left)["members.a"]) == (25, "UNKNOWN_MEMBER_ID")


def test_each_request_that_is_told_has_an_answer_of_its_kind():
    assert sorted(KINDS.values()) == sorted(ANSWERS.values())
    assert KINDS[FindCoordinatorRequest] == ANSWERS[FindCoordinatorResponse]


def test_bytes_that_are_no_subscription_are_only_counted():
    assert subscription_text(b"") == "0 bytes"
