"""Messages that the program could not handle, or did not in time: asked for again, and in the end a dead letter.

    cannot handle it ─► negative ack, sent after its delay, looked at each third of it ─► delivered again, redelivery count + 1
                     └─ delivered maxRedeliverCount times again already ─► to <topic>-<subscription>-DLQ with its key, and acknowledged

Source: Pulsar 3.2 client, NegativeAcksTracker, UnAckedMessageTracker (here each message has its own clock, without the ticks of a wheel),
ConsumerImpl.processPossibleToDLQ. Only Shared and Key_Shared have dead letters; the others ask for everything again.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from broker_core.clock import MILLISECOND_US
from broker_core.pulsar import commands as c
from broker_core.pulsar.commands import CommandMessage
from broker_core.pulsar.settings import KEY_SHARED, SHARED
from broker_core.sim.node import Outbox

if TYPE_CHECKING:
    from broker_core.pulsar.client.consumer import ConsumerState

ASK_AGAIN, TIME_OVER = "ask_again", "time_over"
"""Deadlines of the negative acknowledgements, and of the message in hand."""
LOOK_MIN_US = 100 * MILLISECOND_US
DLQ_PRODUCER_ID = 1_000_000


def dead_letter_topic(topic: str, subscription: str) -> str:
    """>>> dead_letter_topic("orders", "billing")
    'orders-billing-DLQ'
    """
    return f"{topic}-{subscription}-DLQ"


def told_again(state: ConsumerState, message: CommandMessage, now_us: int, out: Outbox) -> bool:
    """The program cannot handle this message. True: it is a dead letter now, and to be acknowledged; else it will be asked for again."""
    config = state.config
    if config.max_redeliver and config.type in (SHARED, KEY_SHARED) and message.redelivery_count >= config.max_redeliver:
        topic = dead_letter_topic(config.topic, config.subscription)
        out.send(state.connection, c.CommandProducer(DLQ_PRODUCER_ID, topic, -1, f"{state.name}-DLQ"))
        out.send(state.connection, c.CommandSend(DLQ_PRODUCER_ID, message.message, -1))
        return True
    delay_us = config.nack_delay_us if config.backoff is None else config.backoff.delay_us(message.redelivery_count)
    if not state.waits_again:
        out.deadline(ASK_AGAIN, now_us + look_every_us(state))
    state.waits_again.append((now_us + delay_us, message.consumer_id, message.entry))
    return False


def look_every_us(state: ConsumerState) -> int:
    """How often the tracker looks for negative acknowledgements whose time has come."""
    config = state.config
    return max((config.nack_delay_us if config.backoff is None else config.backoff.min_us) // 3, LOOK_MIN_US)


def ask_again(state: ConsumerState, now_us: int, out: Outbox) -> None:
    """Ask for those whose delay is over, a partition at a time."""
    due: dict[int, list[int]] = {}
    for at_us, consumer_id, entry in state.waits_again:
        if at_us <= now_us:
            due.setdefault(consumer_id, []).append(entry)
    state.waits_again = [waiting for waiting in state.waits_again if waiting[0] > now_us]
    for consumer_id, entries in due.items():
        state.parts[consumer_id].batches = {
            entry: places for entry, places in state.parts[consumer_id].batches.items() if entry not in entries
        }
        out.send(state.connection, c.CommandRedeliverUnacknowledgedMessages(consumer_id, sorted(set(entries))))
    if state.waits_again:
        out.deadline(ASK_AGAIN, now_us + look_every_us(state))


def start_clock(state: ConsumerState, now_us: int, out: Outbox) -> None:
    """The program has taken a message: it has until the time-out to acknowledge it."""
    out.deadline(TIME_OVER, now_us + state.config.ack_timeout_us)


def give_up_waiting(state: ConsumerState, out: Outbox) -> None:
    """The message in hand is not acknowledged in time: it is asked for again, while the program goes on with it."""
    if state.hand is not None:
        out.send(state.connection, c.CommandRedeliverUnacknowledgedMessages(state.hand.consumer_id, [state.hand.entry]))
