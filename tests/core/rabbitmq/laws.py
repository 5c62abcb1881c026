"""What holds of a RabbitMQ broker between any two messages that it receives."""

from __future__ import annotations

from collections import Counter

from broker_core.rabbitmq.broker import Broker
from broker_core.rabbitmq.messages import FIRST_STORED
from broker_core.rabbitmq.queues.classic import ClassicQueue


def check_laws(broker: Broker) -> None:
    holders: Counter[int] = Counter()
    for vhost in broker.state.vhosts.values():
        for name, queue in vhost.queues.items():
            assert (
                queue.name == name
                and queue.state.vhost == vhost.name
                and broker.queues[queue.number] is queue
            )
            check_queue(queue)
            holders.update(message for message in queue.bodies.values() if message >= FIRST_STORED)
        for exchange in vhost.exchanges.values():
            for binding in exchange.bindings:
                kind, destination = binding.destination
                assert destination in (vhost.queues if kind == "queue" else vhost.exchanges), (
                    "nothing leads nowhere"
                )
    held: Counter[tuple[int, str]] = Counter()
    for known in broker.state.connections.values():
        for channel in known.channels.values():
            assert channel.number not in known.closing
            assert list(channel.unacked) == sorted(channel.unacked), "delivery tags rise"
            settled = [each.settled for each in channel.settlements]
            assert not any(tag in channel.unacked for tags in settled for tag in tags)
            assert all(tag <= channel.last_tag for tags in (channel.unacked, *settled) for tag in tags)
            holders.update(
                publish.message for publish in channel.publishes if publish.message >= FIRST_STORED
            )
            for tags in (channel.unacked, *settled):
                held.update((number, channel.name) for number, *_ in tags.values() if number in broker.queues)
            for tag, number in channel.consumers.items():
                assert channel.consumer_key(tag) in broker.queues[number].consumers.by_key
    for number, queue in broker.queues.items():
        for name, at_queue in queue.consumers.channels.items():
            own = [each for each in queue.consumers.by_key.values() if each.channel == name]
            assert len(at_queue.loose) + sum(len(each.unacked) for each in own) == held[number, name]
    assert {message: stored.holders for message, stored in broker.messages.at.items()} == dict(holders)


def check_queue(queue: ClassicQueue) -> None:
    state, settings = queue.state, queue.settings
    counts = (queue.ready, queue.unacked_count, queue.acked, sum(state.dropped.values()))
    assert sum(counts) == queue.published, counts
    assert queue.ready + queue.unacked_count == len(queue.bodies)
    assert not queue.dead, "the dead are buried"
    consumers = queue.consumers
    for consumer in consumers.by_key.values():
        assert consumer.credit < 0 or consumer.credit + len(consumer.unacked) >= consumer.prefetch
    if settings.overflow == "drop-head" and settings.max_length is not None:
        assert queue.ready <= settings.max_length
    if settings.max_bytes is None:
        assert state.ready_bytes == 0
    in_ring = queue.turn_order
    assert sorted(queue.ring) == sorted(consumers.by_key) or consumers.is_single
    assert len(set(in_ring)) == len(in_ring)
    assert not in_ring or not queue.ready or consumers.is_single, (
        "nothing waits while a consumer has its turn"
    )
