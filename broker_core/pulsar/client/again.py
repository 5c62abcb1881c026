"""Messages that the program could not handle, or did not in time: asked for again, and in the end a dead letter.

    cannot handle it ─► negative ack, sent after its delay, looked at each third of it ─► delivered again, redelivery count + 1
                     ├─ with a retry letter topic: produced there, to be delivered after the delay, and acknowledged here
                     └─ maxRedeliverCount times already ─► produced to <topic>-<subscription>-DLQ with its key, and acknowledged

    taken and not acknowledged within the ack time-out ─► asked for again, while the program may go on with it

Shared and Key_Shared ask for single messages. Exclusive and Failover ask for everything: the client drops what it has not taken, grants permits
for as much, and the broker reads again from mark-delete on; they have no dead letters.

Source: Pulsar 3.2 client, NegativeAcksTracker, UnAckedMessageTracker (here each message has its own clock, without the ticks of a wheel),
ConsumerImpl.processPossibleToDLQ, doReconsumeLater and redeliverUnacknowledgedMessages.
"""

from __future__ import annotations

from collections import deque
from collections.abc import Container
from typing import TYPE_CHECKING

from msgspec.structs import replace

from broker_core.clock import MILLISECOND_US
from broker_core.pulsar import commands as c
from broker_core.pulsar.commands import CommandMessage
from broker_core.sim.node import Outbox

if TYPE_CHECKING:
    from broker_core.pulsar.client.consumer import Consumer, ConsumerState

ASK_AGAIN, TIME_OVER = "ask_again", "time_over"
"""Deadlines of the negative acknowledgements, and of the messages that are taken and not acknowledged."""
NACK_DELAY_MIN_US = 100 * MILLISECOND_US
"""MIN_NACK_DELAY_NANOS."""
DLQ_PRODUCER_ID, RETRY_PRODUCER_ID = 1_000_000, 1_000_001
RECONSUME_MAX = 16
"""RetryMessageUtil.MAX_RECONSUMETIMES: maxRedeliverCount of a retry letter topic without a dead-letter policy."""

Tracked = tuple[int, int, int]
"""(moment at which its time is over, consumer id, entry)."""


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


# --- negative acknowledgements, retry letters and dead letters


def told_again(consumer: Consumer, message: CommandMessage, now_us: int, out: Outbox) -> bool:
    """The program cannot handle this message. True: it is in another topic now, and to be acknowledged; else it will be asked for again."""
    state, config = consumer.state, consumer.state.config
    delay_us = config.nack_delay_us if config.backoff is None else config.backoff.delay_us(message.redelivery_count)
    if config.uses_retry_topic:
        times = message.reconsumed + 1
        if times > (config.max_redeliver or RECONSUME_MAX):
            produce(consumer, DLQ_PRODUCER_ID, dead_letter_topic(config.topic, config.subscription), message, out)
        else:
            topic = retry_topic(config.topic, config.subscription)
            produce(consumer, RETRY_PRODUCER_ID, topic, message, out, reconsumed=times, deliver_at_us=now_us + delay_us)
        return True
    if config.max_redeliver and not config.is_active_only and message.redelivery_count >= config.max_redeliver:
        produce(consumer, DLQ_PRODUCER_ID, dead_letter_topic(config.topic, config.subscription), message, out)
        return True
    if not state.waits_again:
        out.deadline(ASK_AGAIN, now_us + look_every_us(state))
    if message.places:  # its batch may wait already, for another message of it: it is asked for once, at the later time
        state.waits_again = [one for one in state.waits_again if one[1:] != (message.consumer_id, message.entry)]
    state.waits_again.append((now_us + delay_us, message.consumer_id, message.entry))
    return False


def produce(
    consumer: Consumer, producer_id: int, topic: str, message: CommandMessage, out: Outbox, *, reconsumed: int = 0, deliver_at_us: int = 0
) -> None:  # fmt: skip
    """To another topic, with its key, by a producer that is made with the first one. Its name is nobody else's, as those that brokers give are."""
    state = consumer.state
    sequence_id = state.letters.get(producer_id, 0)
    if not sequence_id:
        name = f"{state.name}-{state.connection}-{topic.rpartition('-')[2]}"
        out.send(state.connection, c.CommandProducer(producer_id, topic, -1, name))
    state.letters[producer_id] = sequence_id + 1
    key = consumer.key_of(message.message)
    letter = c.CommandSend(producer_id, message.message, key, sequence_id=sequence_id, deliver_at_us=deliver_at_us, reconsumed=reconsumed)
    out.send(state.connection, letter)


def look_every_us(state: ConsumerState) -> int:
    """How often the tracker looks for negative acknowledgements whose time has come: each third of the delay, rounded up, or the third look
    would be too early."""
    config = state.config
    return (max(config.nack_delay_us if config.backoff is None else config.backoff.min_us, NACK_DELAY_MIN_US) + 2) // 3


def ask_again(consumer: Consumer, now_us: int, out: Outbox) -> None:
    """Ask for those whose delay is over."""
    state = consumer.state
    due = [waiting for waiting in state.waits_again if waiting[0] <= now_us]
    state.waits_again = [waiting for waiting in state.waits_again if waiting[0] > now_us]
    redeliver(consumer, due, now_us, out)
    if state.waits_again:
        out.deadline(ASK_AGAIN, now_us + look_every_us(state))


# --- the ack time-out


def start_clock(state: ConsumerState, message: CommandMessage, now_us: int, out: Outbox) -> None:
    """The program has taken a message: it has until the time-out to acknowledge it."""
    state.tracked.append((now_us + state.config.ack_timeout_us, message.consumer_id, message.entry))
    if len(state.tracked) == 1:
        out.deadline(TIME_OVER, state.tracked[0][0])


def forget_clock(state: ConsumerState, message: CommandMessage, now_us: int, out: Outbox) -> None:
    """It is acknowledged, or given back: no time-out any more. Of a batch, one of its messages."""
    place = next((place for place, one in enumerate(state.tracked) if one[1:] == (message.consumer_id, message.entry)), None)
    if place is not None:
        del state.tracked[place]
        set_clock(state, out)


def set_clock(state: ConsumerState, out: Outbox) -> None:
    if state.tracked:
        out.deadline(TIME_OVER, state.tracked[0][0])
    else:
        out.cancel(TIME_OVER)


def time_over(consumer: Consumer, now_us: int, out: Outbox) -> None:
    """What is not acknowledged in time is asked for again, also the message in hand, with which the program goes on."""
    state = consumer.state
    late = [one for one in state.tracked if one[0] <= now_us]
    state.tracked = [one for one in state.tracked if one[0] > now_us]
    redeliver(consumer, late, now_us, out)
    set_clock(state, out)


# --- both


def redeliver(consumer: Consumer, wanted: list[Tracked], now_us: int, out: Outbox) -> None:
    """Ask for these entries, a part at a time; where one consumer has everything, for all that it has."""
    state = consumer.state
    due: dict[int, set[int]] = {}
    for _, consumer_id, entry in wanted:
        due.setdefault(consumer_id, set()).add(entry)
    for consumer_id, entries in due.items():
        part = state.parts[consumer_id]
        if state.config.is_active_only:
            dropped = consumer.clear_queue(consumer_id, now_us, out)
            outlive(state, consumer_id, part.batches)
            part.batches.clear()
            state.held = [message for message in state.held if message.consumer_id != consumer_id]
            state.tracked = [one for one in state.tracked if one[1] != consumer_id]
            state.waits_again = [one for one in state.waits_again if one[1] != consumer_id]
            out.send(state.connection, c.CommandRedeliverUnacknowledgedMessages(consumer_id, []))
            consumer.grant(consumer_id, dropped, out)
            continue
        removed = take_from_queue(consumer, consumer_id, entries, now_us, out)
        outlive(state, consumer_id, entries)
        part.batches = {entry: places for entry, places in part.batches.items() if entry not in entries}
        state.held = [message for message in state.held if message.consumer_id != consumer_id or message.entry not in entries]
        out.send(state.connection, c.CommandRedeliverUnacknowledgedMessages(consumer_id, sorted(entries)))
        if removed:
            consumer.grant(consumer_id, removed, out)


def take_from_queue(consumer: Consumer, consumer_id: int, entries: set[int], now_us: int, out: Outbox) -> int:
    """Drop what is asked for again from the front of the queue, and the message behind it, which is then asked for as well. Returns how many
    messages. Where another entry is in front, all stay.

    Source: Pulsar 3.2 client, ConsumerImpl.removeExpiredMessagesFromQueue.
    """
    queue, removed = consumer.state.queue, 0
    if not queue or queue[0].consumer_id != consumer_id or queue[0].entry not in entries:
        return 0
    asked = frozenset(entries)
    while queue and queue[0].consumer_id == consumer_id:
        message = queue.popleft()
        consumer.traffic.dropped(out.name, message.message, now_us)
        removed += 1
        if message.entry not in asked:
            entries.add(message.entry)
            break
    return removed


def outlive(state: ConsumerState, consumer_id: int, entries: Container[int]) -> None:
    """These batches come again: what the program still has of their old delivery completes nothing when it is done. Its place says so: ~place.

    Source: Pulsar 3.2 client, BatchMessageAcker: each delivery of a batch has its own.
    """

    def old(message: CommandMessage) -> CommandMessage:
        comes_again = message.consumer_id == consumer_id and message.entry in entries and message.places and message.places[0] >= 0
        return replace(message, places=(~message.places[0],)) if comes_again else message

    state.queue = deque(map(old, state.queue))
    if state.hand is not None:
        state.hand = old(state.hand)
