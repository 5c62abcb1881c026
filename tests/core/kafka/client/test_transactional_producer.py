"""A transactional producer by playbook: what it asks of the coordinators, and what each of their answers
leads to. No broker, no world."""

from __future__ import annotations

from typing import Any

import pytest

from broker_core.errors import CommandError
from broker_core.kafka.client.producer import orders as o
from broker_core.kafka.client.producer.node import ClusterProducer
from broker_core.kafka.client.producer.settings import ProducerSettings
from broker_core.kafka.client.producer.state import ProducerState, Unsent
from broker_core.kafka.client.producer.states import Phase
from broker_core.kafka.cluster import requests as r
from broker_core.kafka.cluster import transaction_requests as t
from broker_core.kafka.error_codes import ErrorCode
from broker_core.kafka.group import messages as m
from broker_core.sim.node import PERSON, Closed
from tests.core.playbook import Played, play, wake

SECOND = 1_000_000
OK = ErrorCode.NONE


class Heard:
    def __init__(self) -> None:
        self.acked_values: list[int] = []
        self.failures: list[tuple[str, int]] = []

    def acked(
        self, producer: str, partition: Any, base_offset: int, values: list[int], attempts: int, now_us: int
    ) -> None:
        self.acked_values += values

    def failed(self, producer: str, partition: Any, error: ErrorCode, values: list[int], now_us: int) -> None:
        self.failures += [(error.name, value) for value in values]


class Writer:
    """A producer with topic t of two partitions, led by broker 0; broker 1 coordinates its transactions,
    broker 0 the group g."""

    def __init__(self, transactional_id: str | None = "tx", **options: Any) -> None:
        self.heard = Heard()
        self.state = ProducerState.of(ProducerSettings(transactional_id=transactional_id, **options))
        self.node, self.out = ClusterProducer(self.state, self.heard), Played("p")
        self.asked: list[tuple[int, Any]] = play(self.node, self.out, PERSON, o.Connect([0], ["t"]))
        partitions = [r.MetadataPartition(number, 0, 0, 0, [0, 1], [0, 1], []) for number in range(2)]
        brokers = [r.MetadataBroker(0), r.MetadataBroker(1)]
        self.answer(r.MetadataRequest, r.MetadataResponse(brokers, 0, [r.MetadataTopic("t", 0, partitions)]))

    def order(self, order: Any, now_us: int = 0) -> None:
        self.asked += play(self.node, self.out, PERSON, order, now_us=now_us)

    def send(self, value: int, partition: int = 0, now_us: int = 0) -> None:
        self.node.send(Unsent(value, "t", -1, partition, 100), now_us, self.out)
        self.asked += self.out.take()

    def look(self) -> list[Any]:
        """What it has asked and nobody has answered; metadata apart."""
        return [message for _, message in self.asked if not isinstance(message, r.MetadataRequest)]

    def answer(self, kind: type, response: Any, now_us: int = 0) -> Any:
        """Answer the first request of this kind. Returns it."""
        place = next(place for place, (_, message) in enumerate(self.asked) if isinstance(message, kind))
        connection, request = self.asked.pop(place)
        self.asked += play(self.node, self.out, connection, response, now_us=now_us)
        return request

    def wake(self, at_us: int = SECOND) -> None:
        """The sender looks again: every back-off is over by then."""
        self.out.deadlines["sender"] = at_us
        self.asked += wake(self.node, self.out, "sender")

    def found(self, node_id: int = 1, now_us: int = 0) -> None:
        self.answer(t.FindCoordinatorRequest, t.FindCoordinatorResponse(0, node_id), now_us)

    def begin(self, *values: int) -> Writer:
        """With an id, in a transaction, and its records waiting for their partition to be part of it."""
        self.order(o.InitTransactions())
        self.found()
        self.answer(t.InitProducerIdRequest, t.InitProducerIdResponse(0, 9, 3))
        self.order(o.BeginTransaction())
        for value in values:
            self.send(value)
        return self

    def added(self, code: int = OK, now_us: int = 0) -> Any:
        return self.answer(
            t.AddPartitionsToTxnRequest, t.AddPartitionsToTxnResponse([("t", 0, code)]), now_us
        )

    def produced(self, code: int = OK, now_us: int = 0) -> Any:
        return self.answer(
            r.ProduceRequest, r.ProduceResponse([r.ProducedPartition("t", 0, code, 0, 0)]), now_us
        )

    def kinds(self) -> list[str]:
        return [kind.removeprefix("kafka.producer.") for kind, _ in self.out.told]


def test_a_whole_transaction_in_the_order_of_its_requests():
    writer = Writer().begin(7)
    assert writer.look() == [t.AddPartitionsToTxnRequest("tx", 9, 3, [("t", 0)])]
    writer.added()
    (produce,) = writer.look()
    assert produce.partitions[0].records.header.is_transactional
    writer.order(o.CommitTransaction())
    assert [type(message) for message in writer.look()] == [r.ProduceRequest], (
        "EndTxn waits for the last batch"
    )
    writer.produced()
    assert writer.look() == [t.EndTxnRequest("tx", 9, 3, True)]
    writer.answer(t.EndTxnRequest, t.EndTxnResponse(0))
    assert (
        writer.state.transaction.phase is Phase.READY
        and writer.state.counts.committed == 1
        and writer.heard.acked_values == [7]
    )


def test_a_transaction_with_nothing_in_it_asks_nobody():
    writer = Writer().begin()
    writer.order(o.CommitTransaction())
    assert (
        writer.look() == []
        and writer.state.transaction.phase is Phase.READY
        and writer.state.counts.committed == 1
    )


def test_every_request_carries_the_transactions_timeout_and_what_the_producer_had():
    writer = Writer(transaction_timeout_us=90 * SECOND)
    writer.order(o.InitTransactions())
    writer.found()
    assert writer.look() == [t.InitProducerIdRequest("tx", 90_000, -1, -1)]


@pytest.mark.parametrize("code", [ErrorCode.NOT_COORDINATOR, ErrorCode.COORDINATOR_NOT_AVAILABLE])
def test_a_coordinator_that_is_none_any_more_is_looked_for_after_the_back_off(code):
    writer = Writer().begin(7)
    writer.added(code)
    assert writer.look() == [] and writer.state.transaction.retry_at_us > 0
    writer.wake()
    assert [type(message) for message in writer.look()] == [t.FindCoordinatorRequest]
    writer.found(0, SECOND)
    assert writer.look() == [t.AddPartitionsToTxnRequest("tx", 9, 3, [("t", 0)])], (
        "what was asked is asked again"
    )


def test_nobody_who_coordinates_is_waited_for_longer_each_time_and_another_error_ends_the_producer():
    writer = Writer()
    writer.order(o.InitTransactions())
    waits, now_us = [], 0
    for _ in range(3):
        writer.answer(
            t.FindCoordinatorRequest, t.FindCoordinatorResponse(ErrorCode.COORDINATOR_NOT_AVAILABLE), now_us
        )
        waits.append(writer.state.transaction.retry_at_us - now_us)
        now_us = writer.state.transaction.retry_at_us
        writer.wake(now_us)
    assert waits == sorted(set(waits))
    writer.answer(t.FindCoordinatorRequest, t.FindCoordinatorResponse(ErrorCode.INVALID_TXN_STATE), now_us)
    assert writer.state.transaction.phase is Phase.FATAL_ERROR and writer.kinds()[-1] == "failed"


def test_the_first_partitions_of_a_transaction_wait_less_for_the_one_before_it_than_later_ones():
    """While the coordinator still writes the markers of the transaction before."""
    writer = Writer(retry_backoff_us=500_000).begin(7)
    writer.added(ErrorCode.CONCURRENT_TRANSACTIONS, 1_000)
    assert writer.state.transaction.retry_at_us == 1_000 + 20_000
    writer.wake(21_000)
    writer.added(OK, 21_000)
    writer.send(8, 1, 21_000)
    ((_, request),) = [entry for entry in writer.asked if isinstance(entry[1], t.AddPartitionsToTxnRequest)]
    assert request.partitions == [("t", 1)]
    writer.answer(
        t.AddPartitionsToTxnRequest,
        t.AddPartitionsToTxnResponse([("t", 1, ErrorCode.CONCURRENT_TRANSACTIONS)]),
        22_000,
    )
    assert writer.state.transaction.retry_at_us - 22_000 >= 400_000


def test_of_two_partitions_the_one_that_was_refused_decides():
    writer = Writer().begin(7)
    writer.send(8, 1)
    writer.added()
    writer.answer(
        t.AddPartitionsToTxnRequest,
        t.AddPartitionsToTxnResponse([("t", 1, ErrorCode.OPERATION_NOT_ATTEMPTED)]),
    )
    assert ("t", 1) in writer.state.transaction.added, "by itself it says nothing"
    other = Writer().begin(7)
    results = [("t", 0, ErrorCode.OPERATION_NOT_ATTEMPTED), ("t", 1, ErrorCode.INVALID_TXN_STATE)]
    other.answer(t.AddPartitionsToTxnRequest, t.AddPartitionsToTxnResponse(results))
    assert other.state.transaction.phase is Phase.FATAL_ERROR


@pytest.mark.parametrize("code", [ErrorCode.INVALID_PRODUCER_EPOCH, ErrorCode.PRODUCER_FENCED])
def test_a_newer_instance_ends_it_for_good(code):
    writer = Writer().begin(7)
    writer.send(8)
    writer.added(code)
    assert writer.state.transaction.phase is Phase.FATAL_ERROR and writer.kinds()[-1] == "fenced"
    assert writer.heard.failures == [("PRODUCER_FENCED", 7), ("PRODUCER_FENCED", 8)]
    with pytest.raises(CommandError, match="the producer has failed for good: PRODUCER_FENCED"):
        writer.order(o.AbortTransaction())


@pytest.mark.parametrize("code", [ErrorCode.UNKNOWN_PRODUCER_ID, ErrorCode.INVALID_PRODUCER_ID_MAPPING])
def test_a_coordinator_that_has_forgotten_the_id_fails_the_transaction_and_is_asked_for_another_without_endtxn(
    code,
):
    writer = Writer().begin(7)
    writer.added(code)
    assert (
        writer.state.transaction.phase is Phase.ABORTABLE_ERROR and writer.kinds()[-1] == "transaction_failed"
    )
    assert writer.out.told[-1][1] == {"partitions": 0}
    writer.order(o.AbortTransaction())
    assert writer.look() == [t.InitProducerIdRequest("tx", 60_000, 9, 3)] and writer.heard.failures[0][1] == 7
    writer.answer(t.InitProducerIdRequest, t.InitProducerIdResponse(0, 12, 0))
    assert writer.state.transaction.phase is Phase.READY and writer.state.counts.aborted == 1
    writer.order(o.BeginTransaction())
    writer.send(8)
    writer.added()
    (produce,) = writer.look()
    header = produce.partitions[0].records.header
    assert (header.producer_id, header.producer_epoch, header.base_sequence) == (12, 0, 0)


def test_a_batch_that_is_refused_fails_its_transaction_once_and_the_next_one_has_a_new_epoch():
    writer = Writer().begin(7)
    writer.added()
    writer.produced(ErrorCode.MESSAGE_TOO_LARGE)
    assert writer.state.transaction.phase is Phase.ABORTABLE_ERROR and writer.state.sequences.is_bump_required
    assert writer.kinds().count("transaction_failed") == 1 and writer.heard.failures == [
        ("MESSAGE_TOO_LARGE", 7)
    ]
    with pytest.raises(CommandError):
        writer.order(o.CommitTransaction())
    writer.order(o.AbortTransaction())
    writer.answer(t.EndTxnRequest, t.EndTxnResponse(0))
    assert (
        writer.look() == [t.InitProducerIdRequest("tx", 60_000, 9, 3)]
        and not writer.state.sequences.is_bump_required
    )


def test_what_fails_while_it_aborts_is_no_second_failure():
    writer = Writer().begin(7)
    writer.added()
    writer.order(o.AbortTransaction())
    writer.produced(ErrorCode.MESSAGE_TOO_LARGE)
    assert "transaction_failed" not in writer.kinds() and "batch_failed" not in writer.kinds()
    assert writer.look() == [t.EndTxnRequest("tx", 9, 3, False)]


def test_what_follows_a_batch_that_was_refused_takes_its_numbers():
    writer = Writer(linger_us=0).begin(7)
    writer.added()
    writer.send(8)
    first, second = (message.partitions[0].records.header.base_sequence for message in writer.look())
    assert (first, second) == (0, 1)
    writer.produced(ErrorCode.MESSAGE_TOO_LARGE)
    (following,) = writer.state.accumulator.batches.values()
    assert (
        following.base_sequence == 0
        and following.is_reset
        and writer.state.sequences.of(("t", 0)).next_sequence == 1
    )


# --- offsets of a group


def with_offsets() -> Writer:
    writer = Writer().begin()
    writer.order(o.SendOffsets("g", [("t", 0, 5)], 2, "member"))
    assert writer.look() == [t.AddOffsetsToTxnRequest("tx", 9, 3, "g")]
    writer.answer(t.AddOffsetsToTxnRequest, t.AddOffsetsToTxnResponse(0))
    assert writer.look() == [t.FindCoordinatorRequest("g", t.GROUP)]
    writer.found(0)
    return writer


def committed(code: int) -> m.TxnOffsetCommitResponse:
    return m.TxnOffsetCommitResponse([m.TopicResult("t", [m.PartitionResult(0, code)])])


def test_offsets_go_to_the_groups_own_coordinator_with_the_members_generation():
    writer = with_offsets()
    (request,) = writer.look()
    assert (request.group_id, request.generation_id, request.member_id) == ("g", 2, "member")
    writer.answer(m.TxnOffsetCommitRequest, committed(OK))
    assert writer.state.transaction.offsets == []
    writer.order(o.CommitTransaction())
    assert writer.look() == [t.EndTxnRequest("tx", 9, 3, True)]


@pytest.mark.parametrize("code", [ErrorCode.NOT_COORDINATOR, ErrorCode.COORDINATOR_NOT_AVAILABLE])
def test_a_groups_coordinator_that_has_moved_is_looked_for_and_the_transactions_own_is_kept(code):
    writer = with_offsets()
    writer.answer(m.TxnOffsetCommitRequest, committed(code))
    assert writer.state.transaction.group_coordinators == {} and writer.state.transaction.coordinator == 1
    writer.wake()
    assert writer.look() == [t.FindCoordinatorRequest("g", t.GROUP)]


@pytest.mark.parametrize("code", [22, 25, 82])
def test_a_group_that_has_gone_on_without_the_member_fails_the_transaction_and_not_the_producer(code):
    writer = with_offsets()
    writer.answer(m.TxnOffsetCommitRequest, committed(code))
    assert writer.state.transaction.phase is Phase.ABORTABLE_ERROR and writer.state.transaction.offsets == []


@pytest.mark.parametrize("code", [ErrorCode.PRODUCER_FENCED, ErrorCode.INVALID_PRODUCER_EPOCH])
def test_a_group_that_says_that_the_producer_is_fenced_ends_it(code):
    """TransactionManager.isFatalException: of offsets an old epoch is as final as a newer instance."""
    writer = with_offsets()
    writer.answer(m.TxnOffsetCommitRequest, committed(code))
    assert writer.state.transaction.phase is Phase.FATAL_ERROR


# --- connections


def test_a_connection_that_breaks_before_the_answer_means_to_look_for_the_coordinator_and_ask_again():
    writer = Writer().begin(7)
    connection = next(
        connection for connection, message in writer.asked if isinstance(message, t.AddPartitionsToTxnRequest)
    )
    writer.asked.clear()
    writer.asked += play(writer.node, writer.out, connection, Closed("reset"))
    assert writer.state.transaction.asked == "" and writer.state.transaction.coordinator == -1
    writer.wake()
    assert [type(message) for message in writer.look()] == [t.FindCoordinatorRequest]


def test_one_question_is_on_its_way_at_a_time():
    writer = Writer().begin(7)
    writer.send(8, 1)
    writer.wake()
    assert len(writer.look()) == 1 and writer.state.transaction.asked == "AddPartitionsToTxn"
    writer.added()
    assert [
        message.partitions for message in writer.look() if isinstance(message, t.AddPartitionsToTxnRequest)
    ] == [[("t", 1)]]


def test_only_a_record_sent_in_a_transaction_is_taken():
    writer = Writer()
    writer.order(o.InitTransactions())
    writer.found()
    writer.answer(t.InitProducerIdRequest, t.InitProducerIdResponse(0, 9, 3))
    for order in (o.CommitTransaction(), o.AbortTransaction(), o.SendOffsets("g", [("t", 0, 1)])):
        with pytest.raises(CommandError):
            writer.order(order)
    assert writer.look() == []
