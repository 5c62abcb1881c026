"""Messages that are produced again, to another topic: retry letters, and dead letters.

    reconsumeLater ─► <topic>-<subscription>-RETRY, delivered after the delay      more than maxRedeliverCount times: the dead-letter topic
    comes with redelivery count >= maxRedeliverCount ─► candidate: the program has it once more
                                 └─ asked for again, or comes once more ─► <topic>-<subscription>-DLQ, and its entry is acknowledged

A candidate is an entry: of a batch all messages that came are dead letters, also those that the program has
handled.

Source: Pulsar 3.2 client, ConsumerImpl (messageReceived, receiveIndividualMessagesFromBatch,
processPossibleToDLQ, doReconsumeLater).
"""

from __future__ import annotations

from broker_core.pulsar import commands as c
from broker_core.pulsar.client.consumer_state import RedeliveringConsumer
from broker_core.pulsar.commands import CommandMessage
from broker_core.sim.node import Outbox

DLQ_PRODUCER_ID, RETRY_PRODUCER_ID = 1_000_000, 1_000_001


def dead_letter_topic(topic: str, subscription: str) -> str:
    """>>> dead_letter_topic("orders", "billing")
    'orders-billing-DLQ'
    """
    return f"{topic}-{subscription}-DLQ"


def retry_topic(topic: str, subscription: str) -> str:
    """>>> retry_topic("orders", "billing")
    'orders-billing-RETRY'
    """
    return f"{topic}-{subscription}-RETRY"


def reconsume_later(
    consumer: RedeliveringConsumer, message: CommandMessage, delay_us: int, now_us: int, out: Outbox
) -> None:
    """Produce it to the retry letter topic, to be delivered after the delay, or after the last time to the
    dead-letter topic."""
    config, times = consumer.state.config, message.reconsumed + 1
    if times > config.redeliver_max:
        produce(consumer, DLQ_PRODUCER_ID, dead_letter_topic(config.topic, config.subscription), message, out)
    else:
        topic = retry_topic(config.topic, config.subscription)
        produce(
            consumer,
            RETRY_PRODUCER_ID,
            topic,
            message,
            out,
            reconsumed=times,
            deliver_at_us=now_us + delay_us,
        )


def bury(consumer: RedeliveringConsumer, consumer_id: int, entry: int, out: Outbox) -> bool:
    """An entry is asked for again: if it is a candidate, its messages go to the dead-letter topic. False: it
    is none."""
    state, config = consumer.state, consumer.state.config
    dead = state.parts[consumer_id].candidates.pop(entry, None)
    if dead is None:
        return False
    for message in dead:
        produce(consumer, DLQ_PRODUCER_ID, dead_letter_topic(config.topic, config.subscription), message, out)
    return True


def produce(
    consumer: RedeliveringConsumer, producer_id: int, topic: str, message: CommandMessage, out: Outbox, *,
    reconsumed: int = 0, deliver_at_us: int = 0,
) -> None:  # fmt: skip
    """To another topic, with its key, by a producer that is made with the first one. Its name is nobody
    else's, as those that brokers give are."""
    state = consumer.state
    sequence_id = state.letters.get(producer_id, 0)
    if not sequence_id:
        name = f"{state.name}-{state.connection}-{topic.rpartition('-')[2]}"
        out.send(state.connection, c.CommandProducer(producer_id, topic, -1, name))
    state.letters[producer_id] = sequence_id + 1
    letter = c.CommandSend(
        producer_id,
        message.message,
        consumer.key_of(message.message),
        sequence_id=sequence_id,
        deliver_at_us=deliver_at_us,
        reconsumed=reconsumed,
    )
    out.send(state.connection, letter)
