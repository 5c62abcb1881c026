"""What a broker and the controller answer a client that asks what it may not, or what makes no sense.

Source: Kafka 3.9 core KafkaApis, ControllerApis, SocketServer, clients common/protocol/Errors.
"""

from typing import Any

import pytest

from broker_core.kafka.cluster import control_requests as c
from broker_core.kafka.cluster import requests as r
from broker_core.kafka.cluster import transaction_requests as t
from broker_core.kafka.cluster.hosted_groups import OFFSETS_TOPIC
from broker_core.kafka.error_codes import ErrorCode as E
from broker_core.kafka.group import messages as m
from broker_core.kafka.log.record_batch import CONTROL, TRANSACTIONAL
from broker_core.kafka.log.topic_config import TopicConfig
from broker_core.kafka.replication.replica_log import LightBatch, light_batch
from broker_core.lab.checkpoint import encode
from broker_core.plain import to_plain
from broker_core.sim.node import Opened
from tests.core.kafka.cluster.controller_desk import TOOL, ControllerDesk
from tests.core.kafka.cluster.desk import CLIENT, BrokerDesk, followed, led

DENIED, NO_TOPIC = E.CLUSTER_AUTHORIZATION_FAILED, E.TOPIC_AUTHORIZATION_FAILED
PRODUCED = r.ProducePartition("t", 0, light_batch(["a"], timestamp=0))


def of_header(**fields: int) -> r.ProduceRequest:
    batch = light_batch(["a"], timestamp=0)
    changed = LightBatch(batch.header._replace(**fields), batch.data)
    return r.ProduceRequest(1, 1_000, [r.ProducePartition("t", 0, changed)])


def codes(answer: Any) -> list[int]:
    """The errors of an answer, of its parts where it has any."""
    for name in ("partitions", "results", "topics", "groups"):
        parts = getattr(answer, name, None)
        if parts:
            return [part[-1] if isinstance(part, tuple) else part.error_code for part in parts]
    return [answer.error_code]


@pytest.mark.parametrize(
    ("request_", "errors"),
    [
        (
            r.ProduceRequest(1, 1_000, [r.ProducePartition(OFFSETS_TOPIC, 0, PRODUCED.records)]),
            [E.UNKNOWN_TOPIC_OR_PARTITION],
        ),
        (r.ProduceRequest(1, 1_000, [PRODUCED, PRODUCED]), [E.NONE]),
        (of_header(attributes=CONTROL), [E.INVALID_RECORD]),
        (of_header(base_offset=3), [E.INVALID_RECORD]),
        (of_header(record_count=0, last_offset_delta=-1), [E.INVALID_RECORD]),
        (of_header(last_offset_delta=9), [E.INVALID_RECORD]),
        (of_header(producer_id=7, producer_epoch=0, base_sequence=-1), [E.INVALID_RECORD]),
        (of_header(attributes=TRANSACTIONAL), [E.TRANSACTIONAL_ID_AUTHORIZATION_FAILED]),
        (r.FetchRequest(0, [r.FetchPartition("t", 0, 0)], replica_id=2), [NO_TOPIC]),
        (r.FetchRequest(0, [], session_epoch=-7), [E.INVALID_FETCH_SESSION_EPOCH]),
        (r.DeleteRecordsRequest(0, [(OFFSETS_TOPIC, 0, 0)]), [E.INVALID_TOPIC_EXCEPTION]),
        (t.FindCoordinatorRequest("g", 7), [E.INVALID_REQUEST]),
        (t.InitProducerIdRequest(""), [E.INVALID_REQUEST]),
        (t.InitProducerIdRequest("id", producer_id=7), [E.INVALID_REQUEST]),
        (t.InitProducerIdRequest("id", producer_epoch=0), [E.INVALID_REQUEST]),
        (t.AddPartitionsToTxnRequest("", 7, 0, [("t", 0)]), [E.INVALID_REQUEST]),
        (t.AddPartitionsToTxnRequest("id", 7, 0, [("t", 0)], True), [DENIED]),
        (t.AddOffsetsToTxnRequest("", 7, 0, "g"), [E.COORDINATOR_NOT_AVAILABLE]),
        (t.EndTxnRequest("", 7, 0, True), [E.INVALID_REQUEST]),
        (t.WriteTxnMarkersRequest([t.TxnMarker(7, 0, True, [("t", 0)], 0)]), [DENIED]),
        (c.CreateTopicsRequest("u", 1, 1), [E.NOT_CONTROLLER]),
        (m.ListGroupsRequest(), [E.NONE]),
        (m.DescribeGroupsRequest(["g", "h"]), [E.NOT_COORDINATOR] * 2),
        (m.DeleteGroupsRequest(["g", "h"]), [E.NOT_COORDINATOR] * 2),
        (m.ConsumerGroupDescribeRequest(["g"]), [E.NOT_COORDINATOR]),
        (m.OffsetFetchRequest([m.OffsetFetchGroup("g"), m.OffsetFetchGroup("h")]), [E.NOT_COORDINATOR] * 2),
    ],
    ids=repr,
)
def test_what_a_broker_answers_a_client(request_: Any, errors: list[int]) -> None:
    desk = BrokerDesk({0: led(isr=(1,), replicas=(1,)), 1: followed()})
    (answer,) = desk.send(CLIENT, request_)
    assert codes(answer) == errors and CLIENT in desk.state.clients and not desk.state.held


@pytest.mark.parametrize(
    "request_",
    [m.DescribeGroupsRequest([]), m.DeleteGroupsRequest([]), m.OffsetFetchRequest([]),
     m.ConsumerGroupDescribeRequest([]), r.MetadataRequest([]), r.ProduceRequest(1, 0, []),
     r.FetchRequest(500, [])],
    ids=repr,
)  # fmt: skip
def test_a_request_about_nothing_is_answered_with_nothing(request_: Any) -> None:
    desk = BrokerDesk()
    (answer,) = desk.send(CLIENT, request_)
    assert not [part for part in (getattr(answer, "partitions", []), getattr(answer, "groups", [])) if part]
    assert not desk.state.held


@pytest.mark.parametrize(
    "message",
    [r.FetchResponse([]), r.ProduceResponse([]), c.MetadataDelta(99, [], [], [], True), c.ControlResponse(0),
     c.BrokerHeartbeatResponse(0), c.AllocateProducerIdsResponse(0, 5, 9), t.WriteTxnMarkersResponse([]),
     t.AddPartitionsToTxnResponse([]), m.FailedCall(3), m.WriteTxnMarkers(7, 0, True),
     c.BrokerRegistrationRequest(2), c.BrokerHeartbeatRequest(2, 0, 0), c.AllocateProducerIdsRequest(2, 0),
     c.AlterPartitionRequest(1, 3, "t", 0, 0, 0, [(1, 3)]), r.FetchRequest(2**31, []),
     r.ListOffsetsRequest([r.ListOffsetsPartition("t", 0, 2**63)]), r.ProduceRequest(2**15, 0, []),
     of_header(producer_epoch=2**15), r.DeleteRecordsRequest(0, [("t", 0, 2**70)])],
    ids=repr,
)  # fmt: skip
def test_what_is_no_request_of_a_client_closes_its_connection(message: Any) -> None:
    desk = BrokerDesk()
    before = encode(to_plain(desk.state.disk))
    desk.send(CLIENT, r.FetchRequest(500, [r.FetchPartition("t", 0, 0)]))
    assert desk.send(CLIENT, message) == [] and desk.out.closed == [CLIENT]
    state = desk.state
    assert CLIENT not in state.clients and not state.held and not state.sessions
    assert encode(to_plain(state.disk)) == before


@pytest.mark.parametrize(
    ("request_", "error"),
    [
        (c.BrokerRegistrationRequest(4), DENIED),
        (c.BrokerHeartbeatRequest(1, 0, 0, want_fence=True), DENIED),
        (c.AlterPartitionRequest(1, 0, "t", 0, 0, 0, []), DENIED),
        (c.AllocateProducerIdsRequest(1, 0), DENIED),
        (c.CreateTopicsRequest("u", 1, 1), NO_TOPIC),
        (c.CreatePartitionsRequest("t", 9), NO_TOPIC),
        (c.ElectLeadersRequest(1), DENIED),
        (c.AlterPartitionReassignmentsRequest("t", 0, [2]), DENIED),
        (c.UnregisterBrokerRequest(1), DENIED),
        (r.FetchRequest(0, []), E.INVALID_REQUEST),
    ],
    ids=repr,
)
def test_what_the_controller_answers_a_client(request_: Any, error: int) -> None:
    desk = ControllerDesk(3, [[1, 2, 3]])
    desk.send(50, Opened("client"))
    before = encode(to_plain(desk.state))
    (answer,) = desk.send(50, request_)
    assert answer.error_code == error and encode(to_plain(desk.state)) == before


@pytest.mark.parametrize(
    ("request_", "error"),
    [
        (c.CreateTopicsRequest("", 1, 1), E.INVALID_TOPIC_EXCEPTION),
        (c.CreateTopicsRequest("n" * 250, 1, 1), E.INVALID_TOPIC_EXCEPTION),
        (c.CreateTopicsRequest("u", 2**31 - 1, 1), E.POLICY_VIOLATION),
        (c.CreateTopicsRequest("u", 1, 1, [], 0), E.INVALID_CONFIG),
        (c.CreateTopicsRequest("u", 1, 1, config=TopicConfig(segment_bytes=13)), E.INVALID_CONFIG),
        (c.CreateTopicsRequest("u", 1, 1, config=TopicConfig(retention_ms=2**63)), E.INVALID_CONFIG),
        (c.CreatePartitionsRequest("t", 2**31 - 1), E.POLICY_VIOLATION),
        (c.ElectLeadersRequest(7), E.INVALID_REQUEST),
    ],
    ids=repr,
)
def test_what_the_controller_refuses_an_operator(request_: Any, error: int) -> None:
    desk = ControllerDesk(3, [[1, 2, 3]])
    before = encode(to_plain(desk.state))
    (answer,) = desk.send(TOOL, request_)
    assert answer.error_code == error and encode(to_plain(desk.state)) == before


@pytest.mark.parametrize(
    "message", [r.MetadataRequest(), c.ControlResponse(0), c.UnregisterBrokerRequest(2**40)]
)
def test_what_is_no_request_to_the_controller_closes_the_connection(message: Any) -> None:
    desk = ControllerDesk(3)
    desk.send(50, Opened("client"))
    assert desk.send(50, message) == [] and desk.out.closed == [50] and 50 not in desk.state.clients


def test_no_client_writes_to_an_internal_topic_that_is_there() -> None:
    desk = BrokerDesk()
    told = [c.MetadataTopicState(OFFSETS_TOPIC, 1)]
    desk.delta({0: led(isr=(1,), replicas=(1,))}, topic=OFFSETS_TOPIC, topics=told)
    batch = r.ProducePartition(OFFSETS_TOPIC, 0, light_batch(["a"], timestamp=0))
    (answer,) = desk.send(CLIENT, r.ProduceRequest(1, 1_000, [batch]))
    assert codes(answer) == [E.INVALID_TOPIC_EXCEPTION]
