"""What the controller refuses: each request of a broker or a tool, each of the original's errors, its state
unchanged, and no broker hears of it.

Brokers 1, 2 and 3 have registered with epochs 0, 1 and 2 and are not fenced; t-0 is led by 1 and t-1 by 2,
with all in sync.
"""

import pytest

from broker_core.kafka.cluster import control_requests as c
from broker_core.kafka.error_codes import ErrorCode as E
from broker_core.lab.checkpoint import encode
from broker_core.plain import to_plain
from tests.core.kafka.cluster.nodes import MS, controller

TOOL = 9


@pytest.fixture
def three():
    node, out = controller()
    epochs = {}
    for broker in (1, 2, 3):
        node.receive(broker, c.BrokerRegistrationRequest(broker, None, broker), 0, out)
        epochs[broker] = next(
            message.broker_epoch
            for _, message in out.take()
            if isinstance(message, c.BrokerRegistrationResponse)
        )
    for broker, epoch in epochs.items():
        node.receive(broker, c.BrokerHeartbeatRequest(broker, epoch, 99), 1 * MS, out)
    node.receive(TOOL, c.CreateTopicsRequest("t", assignments=[[1, 2, 3], [2, 3, 1]]), 2 * MS, out)
    out.take(), out.told.clear()
    return node, out, epochs


def refused(three, request, connection=TOOL):
    """The one answer, to who asked; the state is unchanged, nothing is reported, and no broker gets a
    delta."""
    node, out, _ = three
    before = encode(to_plain(node.state))
    node.receive(connection, request, 5 * MS, out)
    ((to, answer),) = out.take()
    assert to == connection and encode(to_plain(node.state)) == before and out.told == []
    return answer


# --- brokers


def test_registration_while_another_process_of_the_broker_counts_as_alive(three):
    assert (
        refused(three, c.BrokerRegistrationRequest(1, None, 77)).error_code == E.DUPLICATE_BROKER_REGISTRATION
    )


@pytest.mark.parametrize("broker, is_stale", [(8, False), (1, True)])
def test_heartbeat_of_a_process_that_is_not_registered(three, broker, is_stale):
    epoch = three[2][1] + 50 if is_stale else 0
    assert refused(three, c.BrokerHeartbeatRequest(broker, epoch, 99)).error_code == E.STALE_BROKER_EPOCH


@pytest.mark.parametrize(
    "broker, epoch, error", [(8, 0, E.BROKER_ID_NOT_REGISTERED), (1, 50, E.STALE_BROKER_EPOCH)]
)
def test_producer_ids_for_a_process_that_is_not_registered(three, broker, epoch, error):
    answer = refused(three, c.AllocateProducerIdsRequest(broker, epoch))
    assert (answer.error_code, answer.producer_id_len) == (error, 0)


def alter(
    three,
    *,
    broker=1,
    broker_epoch=None,
    key=("t", 0),
    leader_epoch=0,
    partition_epoch=0,
    isr=(1, 2),
    recovery=0,
    member_epoch=None,
):
    epochs = three[2]
    members = [
        (member, epochs.get(member, 0) if member_epoch is None or member == broker else member_epoch)
        for member in isr
    ]
    own = epochs[broker] if broker_epoch is None else broker_epoch
    return c.AlterPartitionRequest(broker, own, *key, leader_epoch, partition_epoch, members, recovery)


@pytest.mark.parametrize("changed, error", [
    ({"broker_epoch": 50}, E.STALE_BROKER_EPOCH),
    ({"key": ("t", 7)}, E.UNKNOWN_TOPIC_OR_PARTITION),
    ({"key": ("x", 0)}, E.UNKNOWN_TOPIC_ID),
    ({"leader_epoch": -1}, E.FENCED_LEADER_EPOCH),
    ({"leader_epoch": 4}, E.NOT_CONTROLLER),
    ({"partition_epoch": 4}, E.NOT_CONTROLLER),
    ({"partition_epoch": -1}, E.INVALID_UPDATE_VERSION),
    ({"broker": 2}, E.INVALID_REQUEST),
    ({"isr": (2, 3)}, E.INVALID_REQUEST),
    ({"isr": (1, 8)}, E.INVALID_REQUEST),
    ({"isr": ()}, E.INVALID_REQUEST),
    ({"recovery": 1}, E.INVALID_REQUEST),
    ({"member_epoch": 50}, E.INELIGIBLE_REPLICA),
], ids=lambda value: "-".join(value) if isinstance(value, dict) else None)  # fmt: skip
def test_an_isr_that_a_leader_may_not_have(three, changed, error):
    answer = refused(three, alter(three, **changed), connection=changed.get("broker", 1))
    assert (answer.error_code, answer.isr, answer.leader_id) == (error, [], -1)


def test_a_member_that_shuts_down_does_not_come_into_the_isr(three):
    node, out, epochs = three
    node.receive(1, alter(three), 3 * MS, out)
    node.receive(3, c.BrokerHeartbeatRequest(3, epochs[3], 99, False, True), 3 * MS, out)
    out.take(), out.told.clear()
    now = node.told["t", 0]
    request = alter(three, isr=(1, 2, 3), leader_epoch=now.leader_epoch, partition_epoch=now.partition_epoch)
    assert refused(three, request, connection=1).error_code == E.INELIGIBLE_REPLICA


# --- a tool


@pytest.mark.parametrize("request_, error", [
    (c.CreateTopicsRequest("t", 1, 1), E.TOPIC_ALREADY_EXISTS),
    (c.CreateTopicsRequest("u", 0, 1), E.INVALID_PARTITIONS),
    (c.CreateTopicsRequest("u", assignments=[[1, 1]]), E.INVALID_REPLICA_ASSIGNMENT),
    (c.CreateTopicsRequest("u", assignments=[[1, 8]]), E.INVALID_REPLICA_ASSIGNMENT),
    (c.CreateTopicsRequest("u", assignments=[[]]), E.INVALID_REPLICA_ASSIGNMENT),
    (c.CreatePartitionsRequest("x", 2), E.UNKNOWN_TOPIC_OR_PARTITION),
    (c.CreatePartitionsRequest("t", 2), E.INVALID_PARTITIONS),
    (c.CreatePartitionsRequest("t", 1), E.INVALID_PARTITIONS),
    (c.CreatePartitionsRequest("t", 4, [[1, 2]]), E.INVALID_REPLICA_ASSIGNMENT),
    (c.CreatePartitionsRequest("t", 3, [[1, 2, 8]]), E.INVALID_REPLICA_ASSIGNMENT),
    (c.AlterPartitionReassignmentsRequest("x", 0, [1]), E.UNKNOWN_TOPIC_OR_PARTITION),
    (c.AlterPartitionReassignmentsRequest("t", 7, [1]), E.UNKNOWN_TOPIC_OR_PARTITION),
    (c.AlterPartitionReassignmentsRequest("t", 0, [1, 8]), E.INVALID_REPLICA_ASSIGNMENT),
    (c.AlterPartitionReassignmentsRequest("t", 0, []), E.INVALID_REPLICA_ASSIGNMENT),
    (c.AlterPartitionReassignmentsRequest("t", 0, None), E.NO_REASSIGNMENT_IN_PROGRESS),
    (c.UnregisterBrokerRequest(8), E.BROKER_ID_NOT_REGISTERED),
])  # fmt: skip
def test_what_a_tool_may_not_ask_for(three, request_, error):
    answer = refused(three, request_)
    assert answer.error_code == error and answer.error_message


@pytest.mark.parametrize("factor", [4, 0, -3])
def test_a_replication_factor_that_the_brokers_cannot_give(three, factor):
    """The placer has shuffled the brokers before it looks at the factor, as the original's does
    (StripedReplicaPlacer); nothing else changes."""
    node, out, _ = three
    before = encode(to_plain(node.state.rules.topics))
    node.receive(TOOL, c.CreateTopicsRequest("u", 1, factor), 5 * MS, out)
    ((_, answer),) = out.take()
    assert (
        answer.error_code == E.INVALID_REPLICATION_FACTOR
        and encode(to_plain(node.state.rules.topics)) == before
        and out.told == []
    )


def test_each_partition_of_an_election_is_decided_by_itself(three):
    answer = refused(three, c.ElectLeadersRequest(0, [("t", 0), ("t", 7), ("x", 0)]))
    assert answer.results == [
        ("t", 0, E.ELECTION_NOT_NEEDED),
        ("t", 7, E.UNKNOWN_TOPIC_OR_PARTITION),
        ("x", 0, E.UNKNOWN_TOPIC_OR_PARTITION),
    ]
    assert refused(three, c.ElectLeadersRequest(0)).results == [], (
        "asked for all, those that need none are passed over"
    )
