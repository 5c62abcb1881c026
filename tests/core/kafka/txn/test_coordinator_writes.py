"""The coordinator's writes and markers: what is answered when a record is decided, what a completion repeats,
and who is passed over."""

from __future__ import annotations

from typing import Any

import pytest

from broker_core.events import Cause
from broker_core.kafka.cluster import transaction_requests as t
from broker_core.kafka.error_codes import ErrorCode as E
from broker_core.kafka.txn.coordinator import TRY_LATER, CoordinatorState, Marker, TransactionCoordinator
from broker_core.kafka.txn.records import state_partition
from broker_core.kafka.txn.states import TransactionState as S

P, Q = ("t", 0), ("t", 1)
ME = (500, 0)


class Slow:
    """A coordinator whose log holds every record until the test decides on it. Tickets are answered by
    number."""

    def __init__(self, partitions: int = 1, led: tuple[int, ...] = (0,)) -> None:
        self.node = TransactionCoordinator(CoordinatorState(partitions))
        self.answers: dict[int, Any] = {}
        self.written: list[tuple[int, int, Any]] = []
        self.calls: list[str] = []
        self.told: list[tuple[str, Any, Any]] = []
        self.next_id, self.tickets, self.now_ms = 500, 0, 0
        for number in led:
            self.node.elected(number, 3, [], 0, self)

    # what a coordinator can do

    def answer(self, ticket: int, response: Any) -> None:
        assert ticket not in self.answers, "answered twice"
        self.answers[ticket] = response

    def append(self, write: int, state_partition: int, record: Any) -> None:
        self.written.append((write, state_partition, record))

    def send_markers(self) -> None:
        self.calls.append("markers")

    def new_producer_id(self) -> int:
        if self.next_id < 0:
            return -1
        self.next_id += 1
        return self.next_id - 1

    def tell(self, kind: str, rule: str | None, inputs: Any, data: Any) -> Cause:
        self.told.append((kind, inputs, data))
        return Cause()

    # what reaches it

    def decide(self, error: E = E.NONE) -> None:
        """The oldest record is written, or is not."""
        self.node.written(self.written.pop(0)[0], error, self.now_ms, self)

    def ticket(self) -> int:
        self.tickets += 1
        return self.tickets

    def init(self, name: str = "a", producer: tuple[int, int] = (-1, -1)) -> int:
        ticket = self.ticket()
        self.node.init_producer_id(
            ticket, t.InitProducerIdRequest(name, 60_000, *producer), self.now_ms, self
        )
        return ticket

    def add(self, *partitions: tuple[str, int], name: str = "a", producer: tuple[int, int] = ME) -> int:
        ticket = self.ticket()
        self.node.add_partitions(
            ticket, t.AddPartitionsToTxnRequest(name, *producer, list(partitions)), self.now_ms, self
        )
        return ticket

    def end(self, committed: bool = True, name: str = "a", producer: tuple[int, int] = ME) -> int:
        ticket = self.ticket()
        self.node.end_transaction(ticket, t.EndTxnRequest(name, *producer, committed), self.now_ms, self)
        return ticket

    def offsets(self) -> int:
        ticket = self.ticket()
        self.node.add_offsets(
            ticket, t.AddOffsetsToTxnRequest("a", *ME, "g"), ("__consumer_offsets", 7), self.now_ms, self
        )
        return ticket

    def ask(self, request: str) -> int:
        match request:
            case "init":
                return self.init()
            case "add":
                return self.add(P)
            case "offsets":
                return self.offsets()
        return self.end()

    def known(self) -> Any:
        return self.node.state.led[0].ids["a"]

    def markers(self) -> list[Marker]:
        found = self.node.take_markers()
        for marker in found:
            marker.is_asked = True
        return found


def open_(*partitions: tuple[str, int]) -> Slow:
    """With a transaction of these partitions."""
    desk = Slow()
    desk.init()
    desk.decide()
    desk.add(*(partitions or (P,)))
    desk.decide()
    return desk


def prepared(*partitions: tuple[str, int]) -> Slow:
    desk = open_(*partitions)
    desk.end()
    desk.decide()
    return desk


# --- nothing is answered before its record is decided


def test_each_request_is_answered_when_its_record_is_written_and_not_before() -> None:
    desk = Slow()
    for request in ("init", "add", "offsets", "end"):
        ticket = desk.ask(request)
        assert ticket not in desk.answers and len(desk.written) == 1
        desk.decide()
        assert ticket in desk.answers
    assert [type(answer).__name__ for answer in desk.answers.values()] == [
        "InitProducerIdResponse", "AddPartitionsToTxnResponse", "AddOffsetsToTxnResponse", "EndTxnResponse"
    ]  # fmt: skip
    assert list(desk.known().partitions) == [P, ("__consumer_offsets", 7)]


CLIENT_SEES = {
    E.NOT_LEADER_OR_FOLLOWER: E.NOT_COORDINATOR,
    E.KAFKA_STORAGE_ERROR: E.NOT_COORDINATOR,
    E.NOT_ENOUGH_REPLICAS: E.COORDINATOR_NOT_AVAILABLE,
    E.NOT_ENOUGH_REPLICAS_AFTER_APPEND: E.COORDINATOR_NOT_AVAILABLE,
    E.REQUEST_TIMED_OUT: E.COORDINATOR_NOT_AVAILABLE,
    E.UNKNOWN_TOPIC_OR_PARTITION: E.COORDINATOR_NOT_AVAILABLE,
    E.MESSAGE_TOO_LARGE: E.UNKNOWN_SERVER_ERROR,
}


@pytest.mark.parametrize(("error", "seen"), CLIENT_SEES.items(), ids=lambda error: error.name)
def test_a_record_that_is_not_written_takes_the_change_back_and_the_client_sees_a_coordinator_s_error(
    error: E, seen: E
) -> None:
    for request, state in (("init", S.EMPTY), ("add", S.EMPTY), ("offsets", S.EMPTY), ("end", S.ONGOING)):
        desk = open_() if request == "end" else Slow()
        if request in ("add", "offsets"):
            desk.init()
            desk.decide()
        ticket = desk.ask(request)
        desk.decide(error)
        answer = desk.answers[ticket]
        if request == "add":
            assert answer.results == [("t", 0, seen)]
        else:
            assert answer.error_code == seen
        assert desk.known().state is state and desk.known().pending is None


def test_a_new_coordinator_epoch_lets_no_older_record_count() -> None:
    desk = open_()
    ticket = desk.end()
    desk.node.elected(0, 4, [], 0, desk)
    desk.decide()
    assert desk.answers[ticket].error_code == E.NOT_COORDINATOR and desk.node.state.led[0].ids == {}


# --- where an id lives


def test_only_the_leader_of_an_id_s_partition_answers_for_it() -> None:
    names = {state_partition(name, 2): name for name in "abcdef"}
    desk = Slow(partitions=2, led=(1,))
    for ticket in (desk.init(names[0]), desk.add(P, name=names[0]), desk.end(name=names[0])):
        answer = desk.answers[ticket]
        code = answer.results[0][2] if isinstance(answer, t.AddPartitionsToTxnResponse) else answer.error_code
        assert code == E.NOT_COORDINATOR
    desk.init(names[1])
    assert [number for _, number, _ in desk.written] == [1]


def test_before_there_is_a_topic_nobody_coordinates() -> None:
    desk = Slow(partitions=0, led=())
    assert desk.answers[desk.init()].error_code == E.NOT_COORDINATOR


def test_an_id_that_nobody_asked_for_has_no_transaction() -> None:
    desk = Slow()
    assert [code for _, _, code in desk.answers[desk.add(P, Q)].results] == [
        E.INVALID_PRODUCER_ID_MAPPING
    ] * 2
    assert desk.answers[desk.end()].error_code == E.INVALID_PRODUCER_ID_MAPPING
    assert desk.answers[desk.offsets()].error_code == E.INVALID_PRODUCER_ID_MAPPING
    verified = desk.node.verified(t.AddPartitionsToTxnRequest("a", *ME, [P], True))
    assert verified.results == [("t", 0, E.INVALID_PRODUCER_ID_MAPPING)]


def test_without_an_id_to_give_a_producer_is_told_to_come_back_and_nothing_is_kept() -> None:
    desk = Slow()
    desk.next_id = -1
    assert (
        desk.answers[desk.init()].error_code == E.COORDINATOR_LOAD_IN_PROGRESS
        and desk.node.state.led[0].ids == {}
    )
    ticket = desk.ticket()
    desk.node.init_producer_id(ticket, t.InitProducerIdRequest(), 0, desk)
    assert desk.answers[ticket] == t.InitProducerIdResponse(E.COORDINATOR_LOAD_IN_PROGRESS, -1, -1)


def test_an_idempotent_producer_gets_an_id_of_its_own_from_anybody() -> None:
    desk = Slow(partitions=0, led=())
    for expected in (500, 501):
        ticket = desk.ticket()
        desk.node.init_producer_id(ticket, t.InitProducerIdRequest(), 0, desk)
        assert desk.answers[ticket] == t.InitProducerIdResponse(0, expected, 0)
    assert desk.written == []


# --- markers


def test_markers_go_out_with_the_prepare_and_the_last_one_writes_the_end() -> None:
    desk = prepared(P, Q)
    assert desk.calls == ["markers"]
    first, second = desk.markers()
    assert (
        first.partition,
        first.producer_id,
        first.producer_epoch,
        first.is_commit,
        first.coordinator_epoch,
    ) == (P, 500, 0, True, 3)
    assert desk.markers() == [], "they are on their way"
    desk.node.marked(first, E.NONE, 0, desk)
    assert desk.written == [] and list(desk.known().partitions) == [Q]
    desk.node.marked(second, E.NONE, 0, desk)
    assert desk.known().pending is S.COMPLETE_COMMIT
    desk.decide()
    assert desk.known().state is S.COMPLETE_COMMIT and desk.node.state.markers == []


@pytest.mark.parametrize("error", sorted(TRY_LATER), ids=lambda error: error.name)
def test_a_marker_that_could_not_be_written_now_goes_again(error: E) -> None:
    desk = prepared()
    (marker,) = desk.markers()
    desk.node.marked(marker, error, 0, desk)
    assert [again.partition for again in desk.markers()] == [P] and desk.known().state is S.PREPARE_COMMIT


@pytest.mark.parametrize(
    "error", [E.TRANSACTION_COORDINATOR_FENCED, E.INVALID_PRODUCER_EPOCH, E.UNKNOWN_SERVER_ERROR]
)
def test_one_that_is_refused_for_good_is_given_up_and_the_transaction_left_as_it_is(error: E) -> None:
    desk = prepared()
    (marker,) = desk.markers()
    desk.node.marked(marker, error, 0, desk)
    assert desk.markers() == [] and list(desk.known().partitions) == [P] and desk.written == []


def test_an_end_that_could_not_be_written_is_written_again() -> None:
    desk = prepared()
    (marker,) = desk.markers()
    desk.node.marked(marker, E.NONE, 0, desk)
    desk.decide(E.NOT_ENOUGH_REPLICAS)
    assert (
        len(desk.written) == 1
        and desk.known().state is S.PREPARE_COMMIT
        and desk.known().pending is S.COMPLETE_COMMIT
    )
    desk.decide()
    assert desk.known().state is S.COMPLETE_COMMIT


def test_who_resigned_has_no_markers_any_more_and_an_answer_to_one_means_nothing() -> None:
    desk = prepared()
    (marker,) = desk.markers()
    desk.node.resigned(0)
    desk.node.marked(marker, E.NONE, 0, desk)
    assert desk.node.state.markers == [] and desk.written == []


@pytest.mark.parametrize("state", [S.PREPARE_COMMIT, S.PREPARE_ABORT, S.ONGOING, S.COMPLETE_COMMIT])
def test_who_is_elected_again_completes_what_was_prepared_under_its_new_epoch_and_forgets_its_older_markers(
    state: S,
) -> None:
    desk = prepared()
    records = [["a", 500, 0, -1, -1, 60_000, state.value, [["t", 1]], 10, 20]]
    desk.node.elected(0, 9, records, 30, desk)
    is_prepared = state in (S.PREPARE_COMMIT, S.PREPARE_ABORT)
    expected = [(Q, state is S.PREPARE_COMMIT, 9)] if is_prepared else []
    assert [
        (marker.partition, marker.is_commit, marker.coordinator_epoch) for marker in desk.markers()
    ] == expected
    assert desk.known().started_ms == 10 and desk.written == []


def test_one_whose_markers_were_all_written_before_is_completed_without_any() -> None:
    desk = Slow(led=())
    desk.node.elected(0, 9, [["a", 500, 0, -1, -1, 60_000, "prepare_abort", [], 10, 20]], 30, desk)
    desk.decide()
    assert desk.known().state is S.COMPLETE_ABORT and desk.calls == []


def test_markers_of_another_partition_of_the_state_topic_stay() -> None:
    desk = Slow(partitions=2, led=(0, 1))
    names = {state_partition(name, 2): name for name in "abcdef"}
    for number in (0, 1):
        producer = (500 + number, 0)
        desk.init(names[number])
        desk.decide()
        desk.add(P, name=names[number], producer=producer)
        desk.decide()
        desk.end(name=names[number], producer=producer)
        desk.decide()
    desk.node.resigned(0)
    assert [marker.transactional_id for marker in desk.markers()] == [names[1]]


# --- time-outs


def test_only_what_lasts_too_long_is_aborted_and_it_says_what_was_in_it() -> None:
    desk = open_(P, Q)
    desk.node.abort_timed_out(60_000, desk)
    assert desk.told == [] and desk.written == []
    desk.node.abort_timed_out(60_001, desk)
    ((kind, inputs, data),) = desk.told
    assert kind == "kafka.transaction.timed_out" and inputs == {
        "transaction_timeout_us": 60_000_000,
        "partitions": ["t-0", "t-1"],
    }
    assert data == {"transactional_id": "a", "producer_id": 500, "epoch_before": 0}
    desk.node.abort_timed_out(70_000, desk)
    assert len(desk.told) == 1, "its fence is being written"
    desk.decide()
    assert [(marker.is_commit, marker.producer_epoch) for marker in desk.markers()] == [
        (False, 1),
        (False, 1),
    ]


def test_a_time_out_whose_record_fails_is_tried_again_at_the_next_round_with_the_same_epoch() -> None:
    desk = open_()
    desk.node.abort_timed_out(60_001, desk)
    desk.decide(E.NOT_ENOUGH_REPLICAS)
    assert desk.known().state is S.ONGOING and desk.known().producer_epoch == 1, "no client has it"
    desk.node.abort_timed_out(70_001, desk)
    desk.decide()
    assert (desk.known().state, desk.known().producer_epoch, desk.known().has_failed_fence) == (
        S.PREPARE_ABORT,
        1,
        False,
    )
