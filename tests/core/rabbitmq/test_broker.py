"""The broker on its own: send this method, expect those."""

from collections.abc import Callable

from broker_core.lab import checkpoint
from broker_core.plain import from_plain, to_plain
from broker_core.rabbitmq import methods as m
from broker_core.rabbitmq.broker import Broker
from broker_core.rabbitmq.broker_base import BrokerState
from broker_core.sim.node import Closed, Opened
from tests.core.playbook import Played, wake
from tests.core.rabbitmq.plays import play, queue_of

P, A, B = 1, 2, 3  # connections of the publisher and of two workers


def broker_with(prefetch: int = 0, workers: tuple[int, ...] = (A,)) -> tuple[Broker, Played]:
    broker, out = Broker(BrokerState()), Played("broker")
    play(broker, out, P, Opened("publisher"), m.ChannelOpen(1), m.QueueDeclare(1, "q"))
    for connection in workers:
        play(
            broker,
            out,
            connection,
            Opened(f"w{connection}"),
            m.ChannelOpen(1),
            m.BasicQos(1, 0, prefetch),
            m.BasicConsume(1, "q", "c"),
        )
    return broker, out


def publish(broker: Broker, out: Played, *messages: int) -> list[tuple[int, m.BasicDeliver]]:
    return play(broker, out, P, *[m.BasicPublish(1, "", "q", message=message) for message in messages])


def test_deliveries_go_round_and_tags_count_from_one_on_each_channel():
    broker, out = broker_with(workers=(A, B))
    sent = publish(broker, out, 0, 1, 2)
    assert [(connection, method.delivery_tag, method.message) for connection, method in sent] == [
        (A, 1, 0),
        (B, 1, 1),
        (A, 2, 2),
    ]
    assert not any(method.redelivered for _, method in sent)


def test_worker_at_its_prefetch_gets_the_next_one_with_its_ack():
    broker, out = broker_with(prefetch=1)
    assert len(publish(broker, out, 0, 1)) == 1
    ((connection, method),) = play(broker, out, A, m.BasicAck(1, 1))
    assert (connection, method.delivery_tag, method.message) == (A, 2, 1)


def test_ack_of_an_unknown_tag_closes_the_channel_with_406_and_requeues():
    broker, out = broker_with(workers=(A, B))
    publish(broker, out, 0)
    sent = play(broker, out, A, m.BasicAck(1, 9))
    redelivered, close = sent
    assert redelivered == (B, m.BasicDeliver(1, "c", 1, True, "", "q", 0))
    assert close == (A, m.ChannelClose(1, 406, "PRECONDITION_FAILED - unknown delivery tag 9"))


def test_ack_multiple_takes_all_up_to_the_tag():
    broker, out = broker_with()
    publish(broker, out, 0, 1, 2)
    play(broker, out, A, m.BasicAck(1, 2, multiple=True))
    assert queue_of(broker, "q").held_by("2.1.c") == 1
    play(broker, out, A, m.BasicAck(1, 0, multiple=True))
    assert queue_of(broker, "q").held_by("2.1.c") == 0


def test_nack_brings_messages_back_to_their_old_places_marked_redelivered():
    broker, out = broker_with(prefetch=2)
    publish(broker, out, 0, 1, 2)
    sent = play(broker, out, A, m.BasicNack(1, 2, True, True))
    assert [(method.message, method.redelivered) for _, method in sent] == [(0, True), (1, True)]


def settled_at_once(
    settle: Callable[[int], object], tags: list[str], count: int, prefetch: int, more: int = 0
) -> str:
    """Several consumers on one channel; all their deliveries settled by one method. Gives who gets what
    then."""
    broker, out = broker_with(workers=())
    consumers = [m.BasicConsume(1, "q", tag) for tag in tags]
    play(broker, out, A, Opened("worker"), m.ChannelOpen(1), m.BasicQos(1, 0, prefetch), *consumers)
    publish(broker, out, *range(count + more))
    sent = play(broker, out, A, settle(count))
    return " ".join(f"{deliver.consumer_tag}:{'abcdefgh'[deliver.message]}" for _, deliver in sent)


def test_one_nack_for_several_consumers_is_carried_out_consumer_by_consumer():
    """Measured on RabbitMQ 3.10.8: in the order of the consumers' tags; each group goes out before the next
    one is back."""
    assert (
        settled_at_once(lambda tag: m.BasicNack(1, tag, True, True), ["zz", "aa"], 4, prefetch=0)
        == "zz:b aa:d zz:a aa:c"
    )
    assert (
        settled_at_once(lambda tag: m.BasicNack(1, tag, True, True), ["zz", "aa"], 2, prefetch=1)
        == "aa:b zz:a"
    )


def test_one_ack_for_several_consumers_frees_each_of_them_whole_before_the_next():
    """The same rule of rabbit_channel (foreach_per_queue): a consumer takes all that it has room for, not one
    for each ack."""
    assert (
        settled_at_once(lambda tag: m.BasicAck(1, tag, True), ["zz", "aa"], 4, prefetch=2, more=4)
        == "aa:e aa:f zz:g zz:h"
    )


def test_one_nack_for_several_queues_goes_by_their_names():
    broker, out = broker_with(workers=())
    play(broker, out, P, m.QueueDeclare(1, "a"))
    play(
        broker,
        out,
        A,
        Opened("worker"),
        m.ChannelOpen(1),
        m.BasicConsume(1, "q", "1"),
        m.BasicConsume(1, "a", "2"),
    )
    publish(broker, out, 0)
    play(broker, out, P, m.BasicPublish(1, "", "a", message=1))
    sent = play(broker, out, A, m.BasicNack(1, 0, True, True))
    assert [(deliver.consumer_tag, deliver.message) for _, deliver in sent] == [("2", 1), ("1", 0)]


def test_closed_channel_gives_what_it_held_to_the_others_in_publish_order():
    broker, out = broker_with(workers=(A, B))
    publish(broker, out, 0, 1, 2, 3)
    *moved, ok = play(broker, out, A, m.ChannelClose(1, 200, "Goodbye"))
    assert [(connection, method.message, method.redelivered) for connection, method in moved] == [
        (B, 0, True),
        (B, 2, True),
    ]
    assert ok == (A, m.ChannelCloseOk(1))
    kind, data = out.told[-1]
    assert (kind, data["consumer"], data["delivered"], data["ready"]) == (
        "rabbitmq.channel.closed",
        "w2",
        2,
        0,
    )
    assert (
        data["turns"] == ["w3"]
        and data["received"] == [{"consumer": "w3", "records": 2}]
        and data["skipped"] == []
    )


def test_cancelled_consumer_gets_nothing_more_and_keeps_what_it_holds():
    broker, out = broker_with()
    publish(broker, out, 0)
    assert play(broker, out, A, m.BasicCancel(1, "c")) == []
    assert publish(broker, out, 1) == []
    assert queue_of(broker, "q").ready == 1
    play(broker, out, A, m.BasicAck(1, 1))
    assert broker.state.connections[A].channels[1].unacked == {}


def test_consuming_a_queue_that_is_not_there_is_refused_with_404():
    broker, out = broker_with(workers=())
    sent = play(broker, out, A, Opened("w"), m.ChannelOpen(1), m.BasicConsume(1, "nowhere", "c"))
    assert sent == [(A, m.ChannelClose(1, 404, "NOT_FOUND - no queue 'nowhere' in vhost '/'"))]


def test_second_look_in_a_row_that_heard_nothing_closes_the_connection():
    broker, out = broker_with(workers=(A, B))
    publish(broker, out, 0)
    wake(broker, out, "heartbeat:2")  # heard of since the connection was opened
    assert A not in out.closed
    wake(broker, out, "heartbeat:2")  # the first that heard nothing
    assert A not in out.closed
    sent = wake(broker, out, "heartbeat:2")
    assert (
        out.blamed == [A] and out.closed == [A] and sent == [(B, m.BasicDeliver(1, "c", 1, True, "", "q", 0))]
    )
    assert [kind for kind, _ in out.told[-2:]] == [
        "rabbitmq.connection.missed_heartbeats",
        "rabbitmq.channel.closed",
    ]


def test_any_method_counts_as_a_sign_of_life():
    broker, out = broker_with()
    for _ in range(5):
        wake(broker, out, "heartbeat:2")
        play(broker, out, A, m.Heartbeat())
    assert out.closed == []


def test_connection_closed_by_its_peer_requeues_at_once():
    broker, out = broker_with(workers=(A, B))
    publish(broker, out, 0)
    assert play(broker, out, A, Closed("closed")) == [(B, m.BasicDeliver(1, "c", 1, True, "", "q", 0))]
    assert A not in broker.state.connections and "heartbeat:2" not in out.deadlines


def test_a_restored_broker_gives_the_same_messages_to_the_same_workers():
    broker, out = broker_with(prefetch=2, workers=(A, B))
    publish(broker, out, 0, 1, 2, 3, 4, 5)
    play(broker, out, A, m.BasicNack(1, 1, requeue=True))
    twin, again = Broker(checkpointed(broker.state)), Played("broker")
    for connection, method in (
        (A, m.BasicAck(1, 2)),
        (B, m.BasicNack(1, 1, requeue=True)),
        (P, m.BasicPublish(1, "", "q", message=6)),
        (B, m.BasicAck(1, 2)),
    ):
        assert play(twin, again, connection, method) == play(broker, out, connection, method)
    assert to_plain(twin.state) == to_plain(broker.state)


def checkpointed(state: BrokerState) -> BrokerState:
    kept: BrokerState = from_plain(checkpoint.decode(checkpoint.encode(to_plain(state))), BrokerState)
    return kept
