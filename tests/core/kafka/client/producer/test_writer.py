"""The application around a transactional producer: what its loop does next, and what it waits for."""

from __future__ import annotations

from typing import Any

from broker_core.kafka.client.producer import orders as o
from broker_core.kafka.client.producer.states import Phase
from broker_core.kafka.client.producer.writer import (
    EVERY_US,
    RECORDS_A_TRANSACTION,
    WRITE,
    Writer,
    WriterState,
)
from broker_core.kafka.cluster import requests as r
from broker_core.kafka.cluster import transaction_requests as t
from broker_core.kafka.error_codes import ErrorCode
from broker_core.plain import from_plain, to_plain
from broker_core.sim.node import PERSON
from tests.core.kafka.client.producer.producer_bench import Heard, Middle
from tests.core.playbook import play, wake


class App:
    """The application with a broker that leads, coordinates and takes everything; `silent` kinds it does not
    answer."""

    def __init__(self) -> None:
        self.heard = Heard()
        self.state = WriterState.for_topic("t", "tx")
        self.node = Writer(self.state, self.heard)
        self.out: Any = Middle("w")
        self.silent: tuple[type, ...] = ()
        self.refusal = 0
        self.log: list[str] = []
        self.now_us = 0
        self.serve(play(self.node, self.out, PERSON, o.Connect([0], ["t"])))

    def serve(self, sent: list[Any]) -> None:
        waiting = list(sent)
        while waiting:
            connection, message = waiting.pop(0)
            self.log.append(type(message).__name__.removesuffix("Request"))
            if not isinstance(message, self.silent):
                waiting += play(self.node, self.out, connection, self.response(message), now_us=self.now_us)

    def response(self, message: Any) -> Any:
        match message:
            case r.MetadataRequest():
                rows = [r.MetadataPartition(0, 0, 0, 0, [0], [0], [])]
                return r.MetadataResponse([r.MetadataBroker(0)], 0, [r.MetadataTopic("t", 0, rows)])
            case r.ProduceRequest():
                code, self.refusal = self.refusal, 0
                return r.ProduceResponse([r.ProducedPartition("t", 0, code, 0, 0)])
            case t.FindCoordinatorRequest():
                return t.FindCoordinatorResponse(0, 0)
            case t.InitProducerIdRequest():
                return t.InitProducerIdResponse(0, 9, max(0, message.producer_epoch + 1))
            case t.AddPartitionsToTxnRequest():
                return t.AddPartitionsToTxnResponse([(*partition, 0) for partition in message.partitions])
        return t.EndTxnResponse(0)

    def steps(self, count: int) -> list[str]:
        """So many times half a second: what it asked meanwhile."""
        before = len(self.log)
        for _ in range(count):
            self.now_us = self.out.deadlines[WRITE]
            self.serve(wake(self.node, self.out, WRITE))
        return self.log[before:]


def test_it_starts_by_asking_for_its_id_and_writes_nothing_before_its_first_half_second() -> None:
    app = App()
    assert (
        app.log == ["Metadata", "FindCoordinator", "InitProducerId"]
        and app.state.transaction.phase is Phase.READY
    )
    assert app.out.deadlines[WRITE] == EVERY_US and app.heard.acked_batches == []


def test_a_transaction_is_four_records_one_each_half_second_and_then_its_commit() -> None:
    app = App()
    assert app.steps(1) == ["AddPartitionsToTxn", "Produce"]
    assert app.steps(RECORDS_A_TRANSACTION - 1) == ["Produce"] * 3
    assert app.steps(1) == ["EndTxn"] and app.state.counts.committed == 1
    assert app.steps(1) == ["AddPartitionsToTxn", "Produce"], "and the next one begins"
    assert app.now_us == 6 * EVERY_US and [values for _, values, _ in app.heard.acked_batches] == [
        [number] for number in range(5)
    ]


def test_over_a_minute_it_does_the_same_again_and_again() -> None:
    app = App()
    app.steps(5 * 12)
    assert (app.state.counts.committed, app.state.counts.acked) == (12, 48)


def test_while_it_has_no_id_it_stands_still_and_looks_again() -> None:
    app = App()
    app.state.transaction.phase = Phase.INITIALIZING
    app.state.transaction.asked = "InitProducerId"
    assert app.steps(3) == [] and app.out.deadlines[WRITE] == 4 * EVERY_US


def test_while_its_commit_waits_nothing_new_begins() -> None:
    app = App()
    app.silent = (t.EndTxnRequest,)
    app.steps(5)
    assert (
        app.state.transaction.phase is Phase.COMMITTING and app.steps(4) == [] and app.state.counts.sent == 4
    )


def test_after_an_error_it_aborts_and_begins_again_under_the_next_epoch() -> None:
    app = App()
    app.steps(1)
    app.refusal = ErrorCode.MESSAGE_TOO_LARGE
    assert app.steps(1) == ["Produce"] and app.state.transaction.phase is Phase.ABORTABLE_ERROR
    assert app.steps(1) == ["EndTxn", "InitProducerId"]
    assert app.state.sequences.producer_epoch == 1 and app.state.counts.aborted == 1
    app.steps(4)
    assert app.state.written == 4, "all four of them again"
    app.steps(1)
    assert app.state.counts.committed == 1


def test_one_that_is_fenced_ends_and_sets_no_deadline_any_more() -> None:
    app = App()
    app.steps(1)
    app.refusal = ErrorCode.PRODUCER_FENCED
    app.steps(2)
    assert app.state.transaction.phase is Phase.FATAL_ERROR and WRITE not in app.out.deadlines


def test_the_sender_s_deadline_is_not_the_application_s() -> None:
    app = App()
    app.steps(1)
    app.node.wake("sender", 2 * EVERY_US, app.out)
    assert app.state.written == 1 and app.state.counts.sent == 1


def test_it_is_kept_whole_in_the_middle_of_a_transaction() -> None:
    app = App()
    app.steps(3)
    assert from_plain(to_plain(app.state), WriterState) == app.state and app.state.written == 3
