"""Before a transaction's first batch in a partition: its leader asks the coordinator whether the partition is
part of the transaction (KIP-890).

    Produce ─► no transaction open here ─► guard ─► AddPartitionsToTxn, verify only ─► coordinator
            ◄─ append with the guard ◄── it is ◄──┘        it is not ─► TRANSACTION_ABORTABLE

Without it a batch that comes late, after the marker, would open a transaction that nobody ends, and the last
stable offset would never advance again. Questions go over one connection to each coordinator, which answers
in their order.

Source: Kafka 3.9 core AddPartitionsToTxnManager,
ReplicaManager.maybeStartTransactionVerificationForPartitions.
"""

from __future__ import annotations

from broker_core.kafka.cluster import transaction_requests as t
from broker_core.kafka.cluster.hosting import Host
from broker_core.kafka.cluster.names import broker_node
from broker_core.kafka.cluster.requests import ProduceRequest
from broker_core.kafka.cluster.state import QuestionLink, TopicPartition, Verification
from broker_core.kafka.error_codes import ErrorCode
from broker_core.kafka.producer.partitioner import coordinator_partition
from broker_core.kafka.txn.records import TRANSACTION_STATE_TOPIC
from broker_core.sim.node import Outbox

REQUEST_TIMEOUT_US = 30_000_000

CLIENT_SEES = {
    ErrorCode.NOT_COORDINATOR: ErrorCode.NOT_ENOUGH_REPLICAS,
    ErrorCode.COORDINATOR_NOT_AVAILABLE: ErrorCode.NOT_ENOUGH_REPLICAS,
    ErrorCode.CONCURRENT_TRANSACTIONS: ErrorCode.NOT_ENOUGH_REPLICAS,
    ErrorCode.NETWORK_EXCEPTION: ErrorCode.NOT_ENOUGH_REPLICAS,
    ErrorCode.PRODUCER_FENCED: ErrorCode.INVALID_PRODUCER_EPOCH,
    ErrorCode.INVALID_TXN_STATE: ErrorCode.TRANSACTION_ABORTABLE,
}
"""The coordinator's answer -> what the producer gets; NOT_ENOUGH_REPLICAS is an error that passes, so it
sends the batch again."""


def is_asked(
    host: Host, connection: int, request: ProduceRequest, transactional_id: str, now_us: int, out: Outbox
) -> bool:
    """Ask the coordinator about the partitions that need it; False: none does."""
    state = host.state
    guards: dict[TopicPartition, int] = {}
    producer = (-1, -1)
    for part in request.partitions:
        header, replica = part.records.header, state.replicas.get((part.topic, part.index))
        log = None if replica is None or not replica.partition.is_leader else replica.partition.log
        if log is not None and header.is_transactional and log.settings.verifies_transactions:
            producer = (header.producer_id, header.producer_epoch)
            guard = log.start_verification(*producer, header.base_sequence, state.now_ms(now_us))
            if guard is not None:
                guards[part.topic, part.index] = guard
    if not guards:
        return False
    host.hold(connection)
    state.transactions.verifying[connection] = Verification(request, guards)
    question = t.AddPartitionsToTxnRequest(transactional_id, *producer, list(guards), verify_only=True)
    count = host.transactions.state.partition_count or sum(
        topic == TRANSACTION_STATE_TOPIC for topic, _ in state.registrations
    )
    leader = (
        host.leader_known((TRANSACTION_STATE_TOPIC, coordinator_partition(transactional_id, count)))[0]
        if count
        else -1
    )
    known = state.brokers.get(leader)
    if known is None or known.is_fenced:
        _decided(host, connection, ErrorCode.COORDINATOR_NOT_AVAILABLE, None, now_us, out)
    elif leader == state.broker_id:
        _decided(host, connection, ErrorCode.NONE, host.transactions.verified(question), now_us, out)
    else:
        link = state.transactions.questions.get(leader)
        if link is None:
            link = state.transactions.questions[leader] = QuestionLink(out.connect(broker_node(leader)))
        link.asked.append((connection, now_us))
        out.send(link.connection, question)
        if len(link.asked) == 1:
            out.deadline(f"verify:{leader}", now_us + REQUEST_TIMEOUT_US)
    return True


def answered(
    host: Host, connection: int, answer: t.AddPartitionsToTxnResponse, now_us: int, out: Outbox
) -> None:
    """A coordinator's answer, to the oldest question on this connection."""
    for link in host.state.transactions.questions.values():
        if link.connection == connection and link.asked:
            producing, _ = link.asked.popleft()
            _decided(host, producing, ErrorCode.NONE, answer, now_us, out)
            return


def link_lost(host: Host, coordinator: int, now_us: int, out: Outbox) -> None:
    """The connection to a coordinator broke: nobody knows, and the producer asks again."""
    for producing, _ in host.state.transactions.questions.pop(coordinator).asked:
        _decided(host, producing, ErrorCode.NETWORK_EXCEPTION, None, now_us, out)


def verify_over(host: Host, rest: str, now_us: int, out: Outbox) -> None:
    """Perhaps a coordinator has been silent for too long."""
    coordinator = int(rest)
    link = host.state.transactions.questions.get(coordinator)
    if link is None or not link.asked:
        return
    over_us = link.asked[0][1] + REQUEST_TIMEOUT_US
    if over_us > now_us:
        out.deadline(f"verify:{coordinator}", over_us)
        return
    out.blame_silence(link.connection)
    out.close(link.connection)
    link_lost(host, coordinator, now_us, out)


def _decided(
    host: Host,
    connection: int,
    error: ErrorCode,
    answer: t.AddPartitionsToTxnResponse | None,
    now_us: int,
    out: Outbox,
) -> None:
    """What the coordinator says of each partition is known: go on with the produce, unless its connection has
    gone."""
    verification = host.state.transactions.verifying.get(connection)
    if verification is None:
        return
    said = (
        {(topic, number): ErrorCode(code) for topic, number, code in answer.results}
        if answer is not None
        else {}
    )
    for key in verification.guards:
        found = said.get(key, error)
        if found is not ErrorCode.NONE:
            verification.errors[key] = CLIENT_SEES.get(found, found)
    host.consequences.verified(host, connection, verification.request, now_us, out)
