"""A producer's sequences: when a batch may go, what its number is, and what a gap means."""

import pytest

from broker_core.kafka.client.producer.batch import Batch
from broker_core.kafka.client.producer.sequences import EPOCH_MAX, Sequences

P, Q = ("t", 0), ("t", 1)


class Line:
    """Batches of a producer with id 5, epoch 2."""

    def __init__(self):
        self.sequences = Sequences(5, 2)
        self.batches = {}

    def batch(self, count=1, partition=P):
        number = len(self.batches) + 1
        made = self.batches[number] = Batch(number, partition, 0, 0, list(range(count)))
        return made

    def given(self, count=1, partition=P, *, is_transactional=False):
        made = self.batch(count, partition)
        self.sequences.give(made, is_transactional)
        return made

    def may_drain(self, batch):
        return self.sequences.may_drain(batch, self.batches)


def numbers(*batches):
    return [(batch.producer_id, batch.producer_epoch, batch.base_sequence) for batch in batches]


def test_numbers_follow_one_another_in_each_partition_for_itself():
    line = Line()
    assert numbers(line.given(3), line.given(2, Q), line.given(1)) == [(5, 2, 0), (5, 2, 0), (5, 2, 3)]


def test_numbers_go_round_after_the_highest():
    line = Line()
    line.sequences.of(P).producer_id, line.sequences.of(P).producer_epoch = 5, 2
    line.sequences.of(P).next_sequence = 2**31 - 2
    first, second = line.given(3), line.given()
    assert (first.base_sequence, first.last_sequence, second.base_sequence) == (2**31 - 2, 0, 1)


def test_nothing_goes_without_an_id():
    line = Line()
    line.sequences.adopt(-1, -1)
    assert not line.may_drain(line.batch())


def test_a_batch_that_was_sent_before_waits_until_it_is_the_first_in_flight():
    line = Line()
    first, second = line.given(), line.given()
    assert line.may_drain(first) and not line.may_drain(second)
    line.sequences.drop(first)
    assert line.may_drain(second)
    line.sequences.drop(second)
    assert line.may_drain(second), "nothing else is in flight"


def test_a_new_one_waits_for_those_of_an_older_epoch_and_then_begins_at_zero():
    line = Line()
    old = line.given(2)
    line.sequences.adopt(5, 3)
    new = line.batch()
    assert not line.may_drain(new) and line.may_drain(old)
    line.sequences.acked(old, 10)
    assert line.may_drain(new)
    line.sequences.give(new, False)
    assert numbers(new) == [(5, 3, 0)] and line.sequences.of(P).last_acked == -1


def test_a_new_one_waits_while_its_partition_is_in_doubt_and_others_do_not():
    line = Line()
    expired = line.given(2)
    line.sequences.mark_unresolved(expired)
    assert not line.may_drain(line.batch()) and line.may_drain(line.batch(1, Q))
    line.sequences.is_bump_required = True
    assert not line.may_drain(line.batch(1, Q)), "with a new epoch to come, none"


def test_an_acknowledgement_moves_on_and_never_back():
    line = Line()
    first, second = line.given(2), line.given(3)
    line.sequences.acked(second, 12)
    line.sequences.acked(first, 10)
    entry = line.sequences.of(P)
    assert (entry.last_acked, entry.last_acked_offset, entry.in_flight) == (4, 14, [])
    line.sequences.acked(line.given(), -1)
    assert (entry.last_acked, entry.last_acked_offset) == (5, 14), "the broker no longer knows where"
    at_zero = Line()
    at_zero.sequences.acked(at_zero.given(1), 0)
    assert at_zero.sequences.of(P).last_acked_offset == 0


def test_a_batch_that_is_not_in_flight_or_of_an_unknown_partition_is_dropped_without_a_word():
    line = Line()
    first = line.given()
    line.sequences.drop(first)
    line.sequences.drop(first)
    line.sequences.drop(line.batch(1, Q))
    line.sequences.close_gap(line.batch(1, Q), line.batches)
    assert line.sequences.of(P).in_flight == [] and Q not in line.sequences.partitions


@pytest.mark.parametrize(("is_acked_later", "given_up"), [(True, []), (False, [P])])
def test_a_doubt_is_settled_when_nothing_is_in_flight_by_whether_its_successor_was_acked(
    is_acked_later, given_up
):
    line = Line()
    expired, later = line.given(2), line.given()
    line.sequences.drop(expired)
    line.sequences.mark_unresolved(expired)
    assert line.sequences.settled() == [] and P in line.sequences.unresolved, "one is still in flight"
    if is_acked_later:
        line.sequences.acked(later, 10)
    else:
        line.sequences.drop(later)
    assert line.sequences.settled() == given_up and line.sequences.unresolved == {}


def test_the_highest_doubt_of_a_partition_counts():
    line = Line()
    first, second = line.given(2), line.given(3)
    for batch in (second, first):
        line.sequences.mark_unresolved(batch)
    assert line.sequences.unresolved == {P: 5}


def test_a_new_epoch_numbers_what_is_in_flight_anew_where_it_was_asked_for():
    line = Line()
    first, second, other = line.given(2), line.given(1), line.given(1, Q)
    line.sequences.drop(first)
    line.sequences.ask_bump(P)
    line.sequences.mark_unresolved(first)
    line.sequences.bump(line.batches)
    assert numbers(second, other) == [(5, 3, 0), (5, 2, 0)] and (second.is_reset, other.is_reset) == (
        True,
        False,
    )
    assert (
        line.sequences.of(P).next_sequence == 1
        and line.sequences.unresolved == {}
        and not line.sequences.is_bump_required
    )


def test_after_the_last_epoch_the_id_is_given_up():
    line = Line()
    line.sequences.adopt(5, EPOCH_MAX)
    line.sequences.bump(line.batches)
    assert not line.sequences.has_producer_id and line.sequences.producer_epoch == -1


def test_a_gap_is_closed_by_what_follows_it_and_by_nothing_before_it():
    line = Line()
    before, failed, after = (line.given(count, is_transactional=True) for count in (2, 3, 1))
    line.sequences.drop(failed)
    line.sequences.close_gap(failed, line.batches)
    assert numbers(before, after) == [(5, 2, 0), (5, 2, 2)] and (before.is_reset, after.is_reset) == (
        False,
        True,
    )
    assert after.is_transactional and line.sequences.of(P).next_sequence == 3
