"""The transaction coordinator on its own: send it this, expect that; its log and the leaders are played by
the test."""

import pytest

from broker_core.errors import InvariantError
from broker_core.events import Cause
from broker_core.kafka.cluster import transaction_requests as t
from broker_core.kafka.error_codes import ErrorCode
from broker_core.kafka.txn.coordinator import CoordinatorState, TransactionCoordinator
from broker_core.kafka.txn.records import loaded, state_partition
from broker_core.kafka.txn.states import TRANSITIONS, TransactionState, TransactionStep
from broker_core.kafka.txn.transactional_id import TransactionalId, stepped
from broker_core.plain import from_plain, to_plain

NONE, FENCED, CONCURRENT = ErrorCode.NONE, ErrorCode.PRODUCER_FENCED, ErrorCode.CONCURRENT_TRANSACTIONS
T0, T1 = ("t", 0), ("t", 1)


class Desk:
    """A coordinator of one partition, whose log takes everything at once unless `holds` or `fails` say
    otherwise."""

    def __init__(self, records=(), epoch=3):
        self.log, self.answers, self.told, self.held = list(records), [], [], []
        self.holds, self.fails, self.ids, self.now_ms = False, None, iter(range(500, 600)), 0
        self.node = TransactionCoordinator(CoordinatorState(1))
        self.node.elected(0, epoch, list(records), 0, self)

    def answer(self, ticket, response):
        self.answers.append(response)

    def append(self, write, state_partition, record):
        if self.holds:
            self.held.append((write, record))
        elif self.fails:
            self.node.written(write, self.fails, self.now_ms, self)
        else:
            self.log.append(record)
            self.node.written(write, NONE, self.now_ms, self)

    def release(self):
        for write, record in self.held:
            self.log.append(record)
            self.node.written(write, NONE, self.now_ms, self)
        self.held.clear()

    def send_markers(self): ...

    def new_producer_id(self):
        return next(self.ids)

    def tell(self, kind, rule, inputs, data):
        self.told.append(kind)
        return Cause()

    # requests

    def init(self, producer=(-1, -1), timeout_ms=60_000):
        self.node.init_producer_id(1, t.InitProducerIdRequest("a", timeout_ms, *producer), self.now_ms, self)
        answer = self.answers[-1]
        return (
            (answer.producer_id, answer.producer_epoch)
            if not answer.error_code
            else ErrorCode(answer.error_code)
        )

    def add(self, producer, *partitions, verify_only=False):
        self.node.add_partitions(
            1, t.AddPartitionsToTxnRequest("a", *producer, list(partitions), verify_only), self.now_ms, self
        )
        return [ErrorCode(code) for _, _, code in self.answers[-1].results]

    def end(self, producer, committed=True):
        self.node.end_transaction(1, t.EndTxnRequest("a", *producer, committed), self.now_ms, self)
        return ErrorCode(self.answers[-1].error_code)

    def mark(self, error=NONE):
        """Every leader answers the markers that are missing. Gives them: (partition, is_commit, epoch)."""
        markers = self.node.take_markers()
        for marker in markers:
            marker.is_asked = True
            self.node.marked(marker, error, self.now_ms, self)
        return [(marker.partition, marker.is_commit, marker.producer_epoch) for marker in markers]

    @property
    def known(self):
        return self.node.state.led[0].ids["a"]


def test_transaction_goes_through_its_states_and_each_is_a_record():
    desk = Desk()
    producer = desk.init()
    assert producer == (500, 0)
    assert desk.add(producer, T0, T1) == [NONE, NONE] and desk.known.state is TransactionState.ONGOING
    assert desk.end(producer) is NONE and desk.known.state is TransactionState.PREPARE_COMMIT, (
        "answered before the markers"
    )
    assert desk.mark() == [(T0, True, 0), (T1, True, 0)]
    assert [record[6] for record in desk.log] == ["empty", "ongoing", "prepare_commit", "complete_commit"]
    assert desk.known.partitions == {} and loaded(desk.log) == {"a": desk.known}


def test_next_instance_gets_the_next_epoch_and_the_one_before_is_refused():
    desk = Desk()
    old, new = desk.init(), desk.init()
    assert (old, new) == ((500, 0), (500, 1))
    assert (
        desk.add(old, T0) == [FENCED]
        and desk.end(old) is FENCED
        and desk.add((7, 0), T0) == [ErrorCode.INVALID_PRODUCER_ID_MAPPING]
    )
    assert desk.add(new, T0) == [NONE]


def test_next_instance_aborts_the_open_transaction_and_has_to_ask_again():
    desk = Desk()
    old = desk.init()
    desk.add(old, T0)
    assert desk.init() is CONCURRENT and desk.known.producer_epoch == 1, "an epoch that nobody gets"
    assert desk.init() is CONCURRENT and desk.told == ["kafka.transaction.producer_fenced"]
    assert desk.mark() == [(T0, False, 1)]
    assert desk.init() == (500, 2) and desk.end(old) is FENCED


def test_requests_while_a_record_is_being_written_are_told_to_come_back():
    desk = Desk()
    producer = desk.init()
    desk.holds = True
    desk.node.add_partitions(1, t.AddPartitionsToTxnRequest("a", *producer, [T0]), 0, desk)
    assert (
        desk.end(producer) is CONCURRENT
        and desk.init() is CONCURRENT
        and desk.add(producer, T1) == [CONCURRENT]
    )
    desk.release()
    assert desk.known.state is TransactionState.ONGOING and list(desk.known.partitions) == [T0]


def test_end_that_is_asked_again_is_answered_as_before_and_the_other_end_is_refused():
    desk = Desk()
    producer = desk.init()
    assert desk.end(producer) is ErrorCode.INVALID_TXN_STATE
    desk.add(producer, T0)
    desk.end(producer)
    assert desk.end(producer) is CONCURRENT and desk.end(producer, False) is ErrorCode.INVALID_TXN_STATE
    assert desk.add(producer, T1) == [CONCURRENT] and desk.init() is CONCURRENT
    desk.mark()
    assert desk.end(producer) is NONE and desk.end(producer, False) is ErrorCode.INVALID_TXN_STATE


def test_producer_that_bumps_its_epoch_gets_the_same_answer_again_when_that_was_lost():
    desk = Desk()
    old = desk.init()
    assert desk.init(old) == (500, 1) and desk.init(old) == (500, 1)
    assert desk.init((500, 1)) == (500, 2) and desk.init(old) is FENCED and desk.init((9, 0)) is FENCED


def test_epochs_end_and_a_new_producer_id_begins():
    desk = Desk()
    desk.init()
    desk.known.producer_epoch = 2**15 - 2
    assert desk.init() == (501, 0)


def test_record_that_cannot_be_written_changes_nothing():
    desk = Desk()
    producer = desk.init()
    desk.fails = ErrorCode.NOT_ENOUGH_REPLICAS
    assert (
        desk.add(producer, T0) == [ErrorCode.COORDINATOR_NOT_AVAILABLE]
        and desk.known.state is TransactionState.EMPTY
    )
    desk.fails = ErrorCode.NOT_LEADER_OR_FOLLOWER
    assert desk.add(producer, T0) == [ErrorCode.NOT_COORDINATOR]
    desk.fails = None
    assert desk.add(producer, T0) == [NONE]


def test_fence_that_could_not_be_written_does_not_use_up_another_epoch():
    desk = Desk()
    producer = desk.init()
    desk.add(producer, T0)
    desk.fails = ErrorCode.NOT_ENOUGH_REPLICAS
    assert (
        desk.init() is ErrorCode.COORDINATOR_NOT_AVAILABLE
        and desk.init() is ErrorCode.COORDINATOR_NOT_AVAILABLE
    )
    desk.fails = None
    assert desk.init() is CONCURRENT and desk.mark() == [(T0, False, 1)] and desk.init() == (500, 2)


def test_transaction_that_lasts_too_long_is_fenced_and_aborted():
    desk = Desk()
    producer = desk.init(timeout_ms=1_000)
    desk.now_ms = 50
    desk.add(producer, T0)
    desk.node.abort_timed_out(1_050, desk)
    assert desk.told == [], "exactly the time-out is not yet too long"
    desk.node.abort_timed_out(1_051, desk)
    assert desk.told == ["kafka.transaction.timed_out"] and desk.mark() == [(T0, False, 1)]
    assert desk.end(producer) is FENCED and desk.known.state is TransactionState.COMPLETE_ABORT


def test_next_coordinator_completes_what_was_prepared():
    desk = Desk()
    producer = desk.init()
    desk.add(producer, T0, T1)
    desk.end(producer, committed=False)
    after = Desk(desk.log, epoch=4)
    assert (
        after.mark() == [(T0, False, 0), (T1, False, 0)]
        and after.known.state is TransactionState.COMPLETE_ABORT
    )
    assert {marker[0] for marker in desk.mark()} == {T0, T1}, (
        "the old one does not know that it is one no more: its markers are fenced"
    )


def test_next_coordinator_goes_on_with_an_open_transaction():
    desk = Desk()
    producer = desk.init()
    desk.add(producer, T0)
    after = Desk(desk.log, epoch=4)
    assert after.add(producer, T1) == [NONE] and after.end(producer) is NONE and len(after.mark()) == 2


def test_coordinator_that_resigned_answers_nothing_and_its_appends_come_to_nothing():
    desk = Desk()
    producer = desk.init()
    desk.holds = True
    desk.node.add_partitions(1, t.AddPartitionsToTxnRequest("a", *producer, [T0]), 0, desk)
    desk.node.resigned(0)
    desk.release()
    assert [code for _, _, code in desk.answers[-1].results] == [ErrorCode.NOT_COORDINATOR]
    assert desk.init() is ErrorCode.NOT_COORDINATOR and desk.end(producer) is ErrorCode.NOT_COORDINATOR


def test_marker_is_sent_again_until_a_leader_has_it_and_given_up_when_a_newer_coordinator_did():
    desk = Desk()
    producer = desk.init()
    desk.add(producer, T0)
    desk.end(producer)
    assert (
        len(desk.mark(ErrorCode.NOT_LEADER_OR_FOLLOWER)) == len(desk.mark(ErrorCode.NETWORK_EXCEPTION)) == 1
    )
    assert len(desk.mark(ErrorCode.TRANSACTION_COORDINATOR_FENCED)) == 1 and desk.mark() == []
    assert desk.known.state is TransactionState.PREPARE_COMMIT, "the newer coordinator completes it"


def test_leader_asks_whether_its_partition_is_part_of_the_transaction():
    desk = Desk()
    producer = desk.init()
    desk.add(producer, T0)
    assert desk.add(producer, T0, T1, verify_only=True) == [NONE, ErrorCode.INVALID_TXN_STATE]
    desk.end(producer)
    assert desk.add(producer, T0, verify_only=True) == [CONCURRENT] and list(desk.known.partitions) == [T0]


@pytest.mark.parametrize("timeout_ms", [0, 900_001])
def test_timeout_beyond_the_brokers_limit_is_refused(timeout_ms):
    assert Desk().init(timeout_ms=timeout_ms) is ErrorCode.INVALID_TRANSACTION_TIMEOUT


def test_state_is_kept_whole():
    desk = Desk()
    producer = desk.init()
    desk.add(producer, T0)
    desk.end(producer)
    desk.holds = True
    desk.mark()
    kept = desk.node.state
    assert kept.writes and from_plain(to_plain(kept), CoordinatorState) == kept


def test_only_what_the_table_names_can_happen():
    for state in TransactionState:
        for step in TransactionStep:
            known = TransactionalId("a", 1, 1, 0, state=state)
            if (state, step) in TRANSITIONS:
                assert stepped(known, step, 5).state is TRANSITIONS[state, step]
            else:
                with pytest.raises(InvariantError):
                    stepped(known, step, 5)


def test_id_lives_where_javas_hash_says():
    assert [state_partition(name) for name in ("orders", "a", "polygenelubricants")] == [31, 47, 0]
