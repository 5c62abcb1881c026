"""Messages that the program gives back, or does not acknowledge in time: asked for again.

    cannot handle it ─► negative ack: its entry is noted, and asked for when its delay is over        (or a retry letter: letters.py)
    taken and not acknowledged within the ack time-out ─► its entry is asked for, while the program may go on with it
    redeliverUnacknowledgedMessages() ─► everything is asked for

                     ┌─ Shared, Key_Shared: candidates are dead letters now (letters.py), the others are named to the broker
    asked for again ─┤
                     └─ Exclusive, Failover: everything; the client drops what it has not taken, the broker reads from mark-delete on

A negative acknowledgement does nothing before its delay is over. The tracker looks at each third of the
delay, and once more than it has to before it rests. It keeps one time for an entry, the last one. The ack
time-out is counted in ticks of a second.

Source: Pulsar 3.2 client, NegativeAcksTracker, UnAckedMessageTracker, ConsumerImpl and
MultiTopicsConsumerImpl (negativeAcknowledge, trackMessage, redeliverUnacknowledgedMessages,
removeExpiredMessagesFromQueue).
"""

from __future__ import annotations

from collections import deque
from collections.abc import Container, Iterable

from msgspec.structs import replace

from broker_core.clock import MILLISECOND_US
from broker_core.pulsar import commands as c
from broker_core.pulsar.client.acks import finish
from broker_core.pulsar.client.consumer_state import ConsumerState, RedeliveringConsumer
from broker_core.pulsar.client.letters import bury
from broker_core.pulsar.client.timeouts import follow_clocks, forget_clock
from broker_core.pulsar.commands import CommandMessage
from broker_core.sim.node import Outbox

ASK_AGAIN = "ask_again"
"""Deadline: the tracker of negative acknowledgements looks."""
NACK_DELAY_MIN_US = 100 * MILLISECOND_US
"""MIN_NACK_DELAY_NANOS."""

# --- negative acknowledgements


def negative_ack(state: ConsumerState, message: CommandMessage, now_us: int, out: Outbox) -> None:
    """The program gives this message back. Its time-out is over; its entry is asked for after the delay."""
    forget_clock(state, message, now_us, out)
    key = message.consumer_id, message.entry
    state.waits_again = [waiting for waiting in state.waits_again if waiting[1:] != key]
    state.waits_again.append((now_us + nack_delay_us(state, message), *key))
    if not state.is_looking:
        state.is_looking = True
        out.deadline(ASK_AGAIN, now_us + look_every_us(state))


def nack_delay_us(state: ConsumerState, message: CommandMessage) -> int:
    """How long after now this message is asked for again."""
    config = state.config
    if config.backoff is None:
        return max(config.nack_delay_us, NACK_DELAY_MIN_US)
    return config.backoff.delay_us(message.redelivery_count)


def look_every_us(state: ConsumerState) -> int:
    """How often the tracker looks: each third of the delay, rounded up, or the third look would be too
    early."""
    config = state.config
    return (
        max(config.nack_delay_us if config.backoff is None else config.backoff.min_us, NACK_DELAY_MIN_US) + 2
    ) // 3


def ask_again(consumer: RedeliveringConsumer, now_us: int, out: Outbox) -> None:
    """A look: ask for those whose delay is over. With nothing to look for the tracker rests until the next
    negative acknowledgement."""
    state = consumer.state
    if not state.waits_again:
        state.is_looking = False
        return
    due = [waiting for waiting in state.waits_again if waiting[0] <= now_us]
    state.waits_again = [waiting for waiting in state.waits_again if waiting[0] > now_us]
    redeliver(consumer, [(consumer_id, entry) for _, consumer_id, entry in due], now_us, out)
    out.deadline(ASK_AGAIN, now_us + look_every_us(state))


# --- the ack time-out, and a program that asks for all


def time_over(consumer: RedeliveringConsumer, now_us: int, out: Outbox) -> None:
    """What is not acknowledged in time is asked for again, also the message in hand, with which the program
    goes on."""
    state = consumer.state
    late = [(one[1], one[2]) for one in state.tracked if one[0] <= now_us]
    state.tracked = [one for one in state.tracked if one[0] > now_us]
    if late and state.config.is_active_only:
        redeliver_all(consumer, now_us, out)
    else:
        redeliver(consumer, late, now_us, out)
    follow_clocks(state, out)


def redeliver_all(consumer: RedeliveringConsumer, now_us: int, out: Outbox) -> None:
    """redeliverUnacknowledgedMessages(), of every part: no message becomes a dead letter by it, and no
    negative acknowledgement is forgotten."""
    for consumer_id, part in consumer.state.parts.items():
        if part.is_subscribed:
            redeliver_part(consumer, consumer_id, now_us, out)


# --- both


def redeliver(
    consumer: RedeliveringConsumer, wanted: Iterable[tuple[int, int]], now_us: int, out: Outbox
) -> None:
    """Ask for these (consumer id, entry), a part at a time; where one consumer has everything, for all that
    it has."""
    state = consumer.state
    due: dict[int, set[int]] = {}
    for consumer_id, entry in wanted:
        due.setdefault(consumer_id, set()).add(entry)
    for consumer_id, entries in due.items():
        if state.config.is_active_only:
            redeliver_part(consumer, consumer_id, now_us, out)
            continue
        removed = take_from_queue(consumer, consumer_id, entries, now_us, out)
        let_go_of(state, consumer_id, entries)
        asked = []
        for entry in sorted(entries):
            if bury(consumer, consumer_id, entry, out):
                finish(state, consumer_id, entry, now_us, out)
            else:
                asked.append(entry)
        state.parts[consumer_id].has_asked = True
        if asked:
            out.send(state.connection, c.CommandRedeliverUnacknowledgedMessages(consumer_id, asked))
        if removed:
            consumer.grant(consumer_id, removed, out)


def redeliver_part(consumer: RedeliveringConsumer, consumer_id: int, now_us: int, out: Outbox) -> None:
    """Ask for all that a part has: what the program has not taken is dropped, and may be sent again."""
    state = consumer.state
    part = state.parts[consumer_id]
    dropped = consumer.clear_queue(consumer_id, now_us, out)
    let_go_of(
        state,
        consumer_id,
        {*part.batches, *(message.entry for message in state.held if message.consumer_id == consumer_id)},
    )
    state.tracked = [one for one in state.tracked if one[1] != consumer_id]
    follow_clocks(state, out)
    part.has_asked = True
    out.send(state.connection, c.CommandRedeliverUnacknowledgedMessages(consumer_id, []))
    consumer.grant(consumer_id, dropped, out)


def let_go_of(state: ConsumerState, consumer_id: int, entries: Container[int]) -> None:
    """These entries are asked for again: their batches begin again, and a stuck program acknowledges nothing
    of them when it is released."""
    part = state.parts[consumer_id]
    outlive(state, consumer_id, entries)
    part.batches = {entry: places for entry, places in part.batches.items() if entry not in entries}
    state.held = [
        message
        for message in state.held
        if message.consumer_id != consumer_id or message.entry not in entries
    ]


def take_from_queue(
    consumer: RedeliveringConsumer, consumer_id: int, entries: set[int], now_us: int, out: Outbox
) -> int:
    """Drop what is asked for again from the front of the queue, and the message behind it, which is then
    asked for as well. Returns how many messages. Where another entry is in front, all stay.

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
    """These batches come again: what the program still has of their old delivery completes nothing when it is
    done. Its place says so: ~place.

    Source: Pulsar 3.2 client, BatchMessageAcker: each delivery of a batch has its own.
    """

    def old(message: CommandMessage) -> CommandMessage:
        comes_again = (
            message.consumer_id == consumer_id
            and message.entry in entries
            and message.places
            and message.places[0] >= 0
        )
        return replace(message, places=(~message.places[0],)) if comes_again else message

    state.queue = deque(map(old, state.queue))
    state.held = list(map(old, state.held))
    if state.hand is not None:
        state.hand = old(state.hand)
