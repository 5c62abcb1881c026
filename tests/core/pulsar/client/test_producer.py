"""A producer: what gathers into which batch, by which partition a message goes, and what is sent again on the
next connection."""

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from broker_core.pulsar import commands as c
from broker_core.pulsar.client.producer import (
    BATCH,
    BATCH_DELAY_US,
    DEFAULT,
    GIVES_UP,
    KEY_BASED,
    RECONNECT,
    RECONNECT_US,
    GiveUp,
    Open,
    Producer,
    ProducerState,
)
from broker_core.sim.node import PERSON, Closed
from tests.core.playbook import Played, play, wake

BATCH_0 = f"{BATCH}:0"
"""The deadline of the batch of a topic without partitions, or of partition 0."""


def producer(**options):
    """Its broker is connected. A key's hash is its code."""
    node, out = Producer(ProducerState(**options), lambda code: code), Played("p")
    play(node, out, PERSON, Open("broker"))
    return node, out


def gather(node, out, *messages, now_us=0):
    """messages: (number, key), or (number, key, ordering key)."""
    for number, key, *ordering in messages:
        node.gather(number, key, now_us, out, *ordering)
    return [command for _, command in out.take()]


def batch(node, out):
    names = [name for name in out.deadlines if name.startswith(f"{BATCH}:")]
    return [command for name in names for _, command in wake(node, out, name)]


# --- batches


def test_batch_waits_for_its_delay_from_its_first_message_on():
    node, out = producer(batching=DEFAULT, batch_delay_us=5_000)
    assert gather(node, out, (0, 1), now_us=100) == gather(node, out, (1, 2), now_us=4_000) == []
    assert out.deadlines[BATCH_0] == 5_100 and len(batch(node, out)) == 1
    gather(node, out, (2, 1), now_us=9_000)
    assert out.deadlines[BATCH_0] == 14_000


@pytest.mark.parametrize("most", [1, 2, 3])
def test_full_batch_goes_out_at_once_and_the_next_one_begins_its_own_delay(most):
    node, out = producer(batching=DEFAULT, batch_max=most)
    sent = gather(node, out, *[(number, 1) for number in range(most)])
    assert (
        [command.message for command in sent] == [0]
        and BATCH_0 not in out.deadlines
        and node.state.waiting == {}
    )
    gather(node, out, (most, 1), now_us=50)
    assert out.deadlines.get(BATCH_0) == (None if most == 1 else 50 + BATCH_DELAY_US)


def test_default_batch_has_the_key_of_its_first_message_and_the_sequence_ids_of_both_ends():
    node, out = producer(batching=DEFAULT)
    gather(node, out, (10, 1, 4), (11, 2), (12, -1))
    assert batch(node, out) == [c.CommandSend(1, 10, 1, 4, 2, (10, 11, 12), first_sequence_id=0)]


@pytest.mark.parametrize("kind", [DEFAULT, KEY_BASED])
def test_batch_of_one_is_a_message_by_itself(kind):
    node, out = producer(batching=kind)
    gather(node, out, (10, 1))
    assert batch(node, out) == [c.CommandSend(1, 10, 1, -1, 0)]


def test_key_based_parts_a_batch_by_ordering_key_before_key_and_keeps_those_without_together():
    node, out = producer(batching=KEY_BASED)
    gather(node, out, (0, 1, 8), (1, 2, 8), (2, 8), (3, -1), (4, 2), (5, -1))
    assert [
        (command.batch or (command.message,), command.key, command.ordering_key)
        for command in batch(node, out)
    ] == [
        ((0, 1, 2), 1, 8),
        ((4,), 2, -1),
        ((3, 5), -1, -1),
    ]


def test_key_based_batch_has_its_highest_sequence_id_only():
    """Master's resolveStickyKey takes the metadata's sequence id, which KEY_BASED sets to the highest."""
    node, out = producer(batching=KEY_BASED)
    gather(node, out, (0, 1), (1, 2), (2, 1))
    assert [(command.sequence_id, command.first_sequence_id) for command in batch(node, out)] == [
        (1, -1),
        (2, -1),
    ]


@settings(max_examples=50, deadline=None)
@given(
    keys=st.lists(st.tuples(st.integers(-1, 3), st.integers(-1, 2)), max_size=20),
    kind=st.sampled_from((DEFAULT, KEY_BASED)),
    partitions=st.integers(0, 3),
    most=st.integers(1, 7),
)
def test_every_message_is_sent_once_each_key_in_order_and_each_partition_by_rising_sequence_ids(
    keys, kind, partitions, most
):
    node, out = producer(batching=kind, partitions=partitions, batch_max=most)
    sent = gather(node, out, *[(number, key, ordering) for number, (key, ordering) in enumerate(keys)])
    if node.state.waiting:
        sent += batch(node, out)
    flat = [number for command in sent for number in (command.batch or (command.message,))]
    assert sorted(flat) == list(range(len(keys)))
    sticky = [key if ordering < 0 else ordering for key, ordering in keys]
    for key in set(sticky) - {-1}:
        mine = [number for number in flat if sticky[number] == key]
        assert mine == sorted(mine), "a key's messages are in order"
        assert (
            len(
                {
                    command.producer_id
                    for command in sent
                    for number in (command.batch or (command.message,))
                    if sticky[number] == key
                }
            )
            == 1
        )
    for producer_id in {command.producer_id for command in sent}:
        ids = [command.sequence_id for command in sent if command.producer_id == producer_id]
        assert ids == sorted(set(ids)), "or deduplication would drop what comes late"
    if kind == KEY_BASED:
        assert all(
            len({sticky[number] for number in command.batch or (command.message,)}) == 1 for command in sent
        )


def test_delayed_message_ends_the_batch_before_it_and_goes_by_itself():
    node, out = producer(batching=KEY_BASED)
    gather(node, out, (0, 1), (1, 2))
    node.gather(2, 1, 0, out, deliver_at_us=9_000)
    assert [(command.message, command.sequence_id, command.deliver_at_us) for _, command in out.take()] == [
        (0, 0, 0),
        (1, 1, 0),
        (2, 2, 9_000),
    ]
    assert BATCH_0 not in out.deadlines and node.state.first_of_batch is None


@pytest.mark.parametrize(("batching", "kept"), [("", None), (DEFAULT, 0)])
def test_first_message_of_the_batch_is_known_also_after_it_was_sent(batching, kept):
    node, out = producer(batching=batching)
    gather(node, out, (0, 1), (1, 2))
    assert (node.state.first_of_batch and node.state.first_of_batch.message) == kept
    if batching:
        batch(node, out)
        assert node.state.first_of_batch.message == 0
        gather(node, out, (2, 3))
        assert node.state.first_of_batch.message == 2


# --- partitions


@pytest.mark.parametrize("kind", [DEFAULT, KEY_BASED])
def test_each_partition_has_a_batch_of_its_own_with_its_own_delay_and_size(kind):
    node, out = producer(batching=kind, partitions=3, batch_max=3)
    node.gather(0, 4, 0, out)
    node.gather(1, 5, 400, out)
    assert out.deadlines == {"batch:1": BATCH_DELAY_US, "batch:2": 400 + BATCH_DELAY_US}
    node.gather(2, 4, 500, out)
    node.gather(3, 4, 600, out)
    assert [(command.producer_id, command.batch) for _, command in out.take()] == [(2, (0, 2, 3))]
    assert list(out.deadlines) == ["batch:2"], "the other one waits for its time"
    assert [(command.producer_id, command.message) for _, command in wake(node, out, "batch:2")] == [(3, 1)]


def test_with_batches_what_has_no_key_goes_to_one_partition_for_ten_delays_and_then_to_the_next():
    node, out = producer(batching=DEFAULT, partitions=3, batch_delay_us=2_000)
    for number, now_us in enumerate((0, 19_999, 20_000, 39_000, 41_000, 60_000)):
        node.gather(number, -1, now_us, out)
    assert {place: [one.message for one in batch] for place, batch in node.state.waiting.items()} == {
        0: [0, 1, 5],
        1: [2, 3],
        2: [4],
    }


def test_application_with_several_topics_takes_them_in_turn_whatever_gathers():
    node, out = producer(batching=DEFAULT, topics=2)
    gather(node, out, (0, -1), (1, -1), (2, -1))
    assert {place: [one.message for one in batch] for place, batch in node.state.waiting.items()} == {
        0: [0, 2],
        1: [1],
    }


def test_delayed_message_ends_the_batch_of_its_own_partition_only():
    node, out = producer(batching=KEY_BASED, partitions=2)
    gather(node, out, (0, 0), (1, 1))
    node.gather(2, 1, 0, out, deliver_at_us=9_000)
    assert [command.message for _, command in out.take()] == [1, 2] and list(node.state.waiting) == [0]


def test_key_is_hashed_without_its_top_bit():
    node, _ = producer(partitions=3)
    assert [node.partition(code) for code in (0, 4, 2**31 + 4, 2**32 - 1)] == [0, 1, 1, (2**31 - 1) % 3]


@pytest.mark.parametrize("options", [{"partitions": 3}, {"topics": 3}])
def test_messages_without_a_key_go_to_each_in_turn_and_those_with_one_leave_the_turn_alone(options):
    node, _ = producer(**options)
    commands = [node.send(number, key)[1] for number, key in enumerate((-1, 5, -1, 5, -1, -1))]
    assert [command.producer_id for command in commands] == [1, 3, 2, 3, 3, 1]
    assert [command.sequence_id for command in commands] == list(range(6))


def test_ordering_key_chooses_the_partition_before_the_key():
    node, _ = producer(partitions=3)
    assert node.send(0, 1, 2)[1] == c.CommandSend(3, 0, 1, 2, 0)
    assert node.send(1, 1, 0)[1].producer_id == 1, "the first of all keys has code 0"


def test_without_partitions_there_is_one_producer_and_no_turn():
    node, _ = producer()
    assert [node.send(number, -1)[1].producer_id for number in range(3)] == [
        1,
        1,
        1,
    ] and node.state.next_partition == 0


# --- connections


@pytest.mark.parametrize(("options", "wanted"), [
    ({}, [(1, "topic", -1)]), ({"partitions": 2, "topic": "t"}, [(1, "t", 0), (2, "t", 1)]),
    ({"topics": 2}, [(1, "topic-0", -1), (2, "topic-1", -1)]),
])  # fmt: skip
@pytest.mark.parametrize("waits", [False, True])
def test_there_is_a_producer_for_each_partition_or_topic(options, wanted, waits):
    node, out = Producer(ProducerState(waits_for_receipts=waits, **options)), Played("p")
    sent = [command for _, command in play(node, out, PERSON, Open("broker"))]
    assert [(command.producer_id, command.topic, command.partition) for command in sent] == wanted
    assert {command.wants_receipts for command in sent} == {waits} and out.told == []


def test_who_waits_for_no_receipts_stays_where_it_is_when_its_connection_ends():
    node, out = producer()
    play(node, out, 1, Closed("reset"))
    assert RECONNECT not in out.deadlines and node.state.connection == 1


def test_who_waits_for_receipts_connects_again_after_a_tenth_of_a_second():
    node, out = producer(waits_for_receipts=True)
    play(node, out, 1, Closed("reset"), now_us=7_000)
    assert out.deadlines == {RECONNECT: 7_000 + RECONNECT_US} and node.state.connection == 0
    assert wake(node, out, RECONNECT) == [(2, c.CommandProducer(1, "topic", -1, "", True))] and out.told == []
    assert out.connected == {1: "broker", 2: "broker"}


def test_batch_that_gathers_without_a_connection_goes_out_with_the_next_one():
    node, out = producer(waits_for_receipts=True, batching=DEFAULT)
    play(node, out, 1, Closed("reset"))
    gather(node, out, (0, 1), (1, 1))
    assert batch(node, out) == [] and list(node.state.unconfirmed) == [1]
    assert [command for _, command in wake(node, out, RECONNECT)][1:] == [
        c.CommandSend(1, 0, 1, -1, 1, (0, 1), first_sequence_id=0)
    ]


def test_what_is_lost_without_receipts_is_lost():
    node, out = producer()
    node.state.connection = 0
    assert gather(node, out, (0, 1)) == [] and node.state.unconfirmed == {}


def test_receipt_that_comes_twice_or_for_nothing_confirms_once():
    node, out = producer(waits_for_receipts=True)
    gather(node, out, (0, 1), (1, 1))
    assert (
        play(
            node,
            out,
            1,
            c.CommandSendReceipt(1, 0, 5),
            c.CommandSendReceipt(1, 0, -1),
            c.CommandSendReceipt(1, 77, 9),
        )
        == []
    )
    assert list(node.state.unconfirmed) == [1]


def test_giving_up_needs_a_connection():
    node, out = producer(waits_for_receipts=True)
    play(node, out, 1, Closed("reset"))
    play(node, out, PERSON, GiveUp(2_000))
    assert GIVES_UP not in out.deadlines
    wake(node, out, RECONNECT)
    play(node, out, PERSON, GiveUp(2_000), now_us=1_000_000)
    assert out.deadlines == {GIVES_UP: 1_002_000}
    assert (
        wake(node, out, GIVES_UP) == []
        and out.closed == [2]
        and out.deadlines == {RECONNECT: 1_002_000 + RECONNECT_US}
    )


def test_partitions_are_confirmed_by_one_sequence_of_numbers():
    node, out = producer(waits_for_receipts=True, partitions=2)
    sent = gather(node, out, (0, 0), (1, 1), (2, 0))
    assert [(command.producer_id, command.sequence_id) for command in sent] == [(1, 0), (2, 1), (1, 2)]
    play(node, out, 1, c.CommandSendReceipt(2, 1, 0), Closed("reset"))
    again = [command for _, command in wake(node, out, RECONNECT)]
    assert again[2:] == [sent[0], sent[2]] and out.told == [("pulsar.producer.sent_again", {"messages": 2})]
