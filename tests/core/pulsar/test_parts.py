"""A consumer of several partitions or topics: each part for itself, while the program handles one message at
a time."""

from broker_core.pulsar import commands as c
from broker_core.pulsar.client.config import ConsumerConfig
from broker_core.pulsar.client.consumer import Consumer, HoldAcks, Resubscribe, Seek, Subscribe, Unsubscribe
from broker_core.pulsar.client.consumer_state import ConsumerState
from broker_core.pulsar.client.producer import DEFAULT, Open, Producer, ProducerState
from broker_core.pulsar.settings import FAILOVER, KEY_SHARED, SHARED
from broker_core.sim.node import PERSON, Closed
from broker_core.sim.program import DONE, Leave, Program
from tests.core.playbook import Counted, Played, play, wake

ONE, TWO = 1, 2


def consumer(kind=SHARED, *, partitions=2, queue_size=1000, **options):
    state, out = (
        ConsumerState(
            "c1", Program(100), ConsumerConfig(kind, partitions=partitions, queue_size=queue_size, **options)
        ),
        Played("c1"),
    )
    node = Consumer(state, Counted(), lambda message: message)
    subscribed = play(node, out, PERSON, Subscribe("broker", []))
    play(node, out, 1, *[c.CommandSuccess(number) for number, _ in enumerate(subscribed, 1)])
    return node, out


def of(consumer_id, *entries):
    return [c.CommandMessage(consumer_id, entry, 10 * consumer_id + entry) for entry in entries]


def test_part_that_its_broker_closes_takes_nothing_of_the_other_one_with_it():
    node, out = consumer(ack_timeout_us=5_000, cannot=13, nack_delay_us=1_000)
    state = node.state
    play(node, out, 1, *of(TWO, 1, 2), *of(ONE, 3, 4))  # 21, 22, 13, 14: of ONE entry 3 cannot be handled
    play(node, out, PERSON, HoldAcks())
    for _ in range(3):
        wake(node, out, DONE)
    assert (
        [message.message for message in state.held] == [21, 22]
        and state.waits_again
        and state.program.hand == 14
    )
    answer = play(node, out, 1, c.CommandCloseConsumer(0, ONE))
    assert [(type(command), command.consumer_id) for _, command in answer] == [(c.CommandSubscribe, ONE)]
    assert state.waits_again == [] and state.program.hand == -1 and state.hand is None
    assert [message.message for message in state.held] == [21, 22] and {
        tracked[1] for tracked in state.tracked
    } == {TWO}


def test_part_that_is_closed_forgets_what_it_held_and_the_rest_of_its_batches():
    node, out = consumer(acks_batch_index=True)
    state = node.state
    play(node, out, 1, c.CommandMessage(ONE, 7, 20, 0, (20, 21)), c.CommandMessage(TWO, 8, 30, 0, (30, 31)))
    wake(node, out, DONE)
    play(node, out, PERSON, HoldAcks())
    wake(node, out, DONE)
    wake(node, out, DONE)
    assert (
        state.parts[ONE].in_batch == {7: [0]}
        and state.parts[ONE].batches == {7: [1]}
        and [message.entry for message in state.held] == [7, 8]
    )
    play(node, out, 1, c.CommandCloseConsumer(0, ONE))
    assert state.parts[ONE].in_batch == state.parts[ONE].batches == {} and [
        message.entry for message in state.held
    ] == [8]
    assert state.parts[TWO].batches == {8: [0, 1]}


def test_closed_connection_forgets_of_every_part_what_was_not_acknowledged():
    node, out = consumer(acks_batch_index=True)
    state = node.state
    play(node, out, 1, c.CommandMessage(ONE, 7, 20, 0, (20, 21)), c.CommandMessage(TWO, 8, 30))
    wake(node, out, DONE)
    play(node, out, 1, Closed("reset"))
    assert all(part.acks == [] and part.in_batch == part.batches == {} for part in state.parts.values())
    assert "acks" not in out.deadlines and not state.connection


def test_ack_timeout_of_failover_asks_for_everything_of_all_its_parts():
    """MultiTopicsConsumerImpl has one tracker, and asks each of its consumers; a negative acknowledgement is
    its own part's."""
    node, out = consumer(FAILOVER, queue_size=10, ack_timeout_us=50, cannot=12, nack_delay_us=9_000_000)
    state = node.state
    play(node, out, 1, *of(ONE, 1, 2, 3), *of(TWO, 4))
    sent = wake(node, out, "time_over")  # 11 is in hand
    assert sent == [(1, c.CommandRedeliverUnacknowledgedMessages(part, [])) for part in (ONE, TWO)]
    assert not state.queue and state.parts[ONE].taken == 1 + 2 and state.parts[TWO].taken == 1
    assert node.traffic.log == [("dropped", 12), ("dropped", 13), ("dropped", 24)]


def test_who_is_not_connected_takes_new_ranges_for_later():
    node, out = consumer(KEY_SHARED, partitions=0)
    play(node, out, 1, Closed("reset"))
    assert play(node, out, PERSON, Resubscribe([(0, 9)], 2)) == []
    assert node.state.ranges == [(0, 9)] and node.state.config.priority == 2


def test_who_leaves_before_it_has_started_never_connects():
    node, out = Consumer(ConsumerState("c1", Program(100)), Counted()), Played("c1")
    assert play(node, out, PERSON, Subscribe("broker", [], 500)) == [] and out.deadlines == {"started": 500}
    assert (
        play(node, out, PERSON, Leave()) == []
        and out.deadlines == {}
        and out.closed == []
        and out.connected == {}
    )


def test_who_starts_late_connects_then():
    node, out = Consumer(ConsumerState("c1", Program(100)), Counted()), Played("c1")
    play(node, out, PERSON, Subscribe("broker", [], 500))
    assert wake(node, out, "started") == [(1, c.CommandSubscribe(1, 1, "c1", []))] and out.connected == {
        1: "broker"
    }


def test_seek_goes_to_each_part_but_not_to_the_retry_letters():
    node, out = consumer(uses_retry_topic=True)
    assert [part.topic for part in node.state.parts.values()] == [
        "topic",
        "topic",
        "topic-subscription-RETRY",
    ]
    sent = play(node, out, PERSON, Seek(3))
    assert sent == [(1, c.CommandSeek(4, ONE, 3, 0)), (1, c.CommandSeek(5, TWO, 3, 0))]
    play(node, out, 1, c.CommandCloseConsumer(0, ONE))
    assert play(node, out, PERSON, Seek(-1, 9_000)) == [(1, c.CommandSeek(7, TWO, -1, 9_000))], (
        "a part that is not let in moves nothing"
    )


def test_unsubscribing_takes_every_part_away_and_a_refusal_keeps_its_own():
    node, out = consumer()
    play(node, out, 1, *of(ONE, 1), *of(TWO, 2))
    assert play(node, out, PERSON, Unsubscribe()) == [
        (1, c.CommandUnsubscribe(3, ONE)),
        (1, c.CommandUnsubscribe(4, TWO)),
    ]
    play(
        node,
        out,
        1,
        c.CommandSuccess(3),
        c.CommandError(4, "MetadataError", "Unconnected or shared consumer attempting to unsubscribe"),
    )
    state = node.state
    assert [part.is_subscribed for part in state.parts.values()] == [False, True]
    assert state.program.hand == 22, (
        "the message in hand was the other part's, so the program goes on with its own"
    )
    assert not state.is_subscribed and state.has_unsubscribed


def test_batch_of_several_topics_is_parted_by_its_keys():
    node, out = Producer(ProducerState(batching=DEFAULT, topics=2), lambda code: code), Played("p")
    assert [(command.topic, command.partition) for _, command in play(node, out, PERSON, Open("broker"))] == [
        ("topic-0", -1),
        ("topic-1", -1),
    ]
    for number, key in ((0, 4), (1, 5), (2, 6), (3, 7)):
        node.gather(number, key, 0, out)
    sent = [command for place in (0, 1) for _, command in wake(node, out, f"batch:{place}")]
    assert [(command.producer_id, command.batch) for command in sent] == [(1, (0, 2)), (2, (1, 3))]


def test_single_messages_are_shared_out_over_several_topics_too():
    node, out = Producer(ProducerState(topics=2), lambda code: code), Played("p")
    play(node, out, PERSON, Open("broker"))
    assert [node.send(number, key)[1].producer_id for number, key in enumerate((4, 5, -1, -1, -1))] == [
        1,
        2,
        1,
        2,
        1,
    ]


def test_connecting_again_tells_how_many_messages_go_out_a_second_time():
    node, out = (
        Producer(ProducerState(batching=DEFAULT, waits_for_receipts=True), lambda code: code),
        Played("p"),
    )
    play(node, out, PERSON, Open("broker"))
    for number in range(3):
        node.gather(number, 1, 0, out)
    wake(node, out, "batch:0")
    node.gather(3, 1, 0, out, -1, 5_000)
    play(node, out, 1, Closed("reset"))
    wake(node, out, "reconnect")
    assert out.told == [("pulsar.producer.sent_again", {"messages": 4})]
