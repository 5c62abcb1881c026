"""The ack time-out's clocks: which messages the program has taken and not acknowledged, and when their time
is over.

    ticks    |        |        |        |        each second, from when the consumer was made
    taken      x                                 time-out 2 s: it is over at the third tick after that, 2 to 3 s later

The consumer of one topic has a clock for an entry: it starts with the first message of a batch, and ends with
the last acknowledgement or with a negative one. A consumer of several (partitions, topics, a retry letter
topic) has one for each message.

Source: Pulsar 3.2 client, UnAckedMessageTracker, ConsumerImpl.trackMessage, MultiTopicsConsumerImpl,
ConsumerBuilderImpl.deadLetterPolicy.
"""

from __future__ import annotations

from broker_core.clock import SECOND_US
from broker_core.pulsar.client.consumer_state import ConsumerState
from broker_core.pulsar.commands import CommandMessage
from broker_core.sim.node import Outbox

TIME_OVER = "time_over"
"""Deadline: the first clock that runs is over."""
TICK_US = SECOND_US
"""ackTimeoutTickTime; no longer than the time-out."""
WHOLE = -1
"""In place of a message's place: the clock is its entry's."""


def start_clock(state: ConsumerState, message: CommandMessage, now_us: int, out: Outbox) -> None:
    """The program has taken a message: it has until the time-out to acknowledge it. A clock that runs is not
    set back."""
    key = clock_of(state, message)
    if any(one[1:] == key for one in state.tracked):
        return
    state.tracked.append((over_us(state, now_us), *key))
    if len(state.tracked) == 1:
        out.deadline(TIME_OVER, state.tracked[0][0])


def clock_of(state: ConsumerState, message: CommandMessage) -> tuple[int, int, int]:
    place = WHOLE
    if message.places and state.config.has_parts:
        place = message.places[0] if message.places[0] >= 0 else ~message.places[0]
    return message.consumer_id, message.entry, place


def over_us(state: ConsumerState, now_us: int) -> int:
    """When the time of a message that is taken now is over.

    Source: the tracker has one set of messages more than the time-out has ticks; each tick empties the oldest
    one.
    """
    timeout_us = state.config.timeout_us
    tick_us = min(TICK_US, timeout_us)
    ticks = (now_us - state.ticks_from_us) // tick_us + 1 + -(-timeout_us // tick_us)
    return state.ticks_from_us + ticks * tick_us


def forget_clock(state: ConsumerState, message: CommandMessage, now_us: int, out: Outbox) -> None:
    """It is acknowledged, or given back: no time-out any more."""
    key = clock_of(state, message)
    if state.tracked:
        state.tracked = [one for one in state.tracked if one[1:] != key]
        follow_clocks(state, out)


def forget_entry(state: ConsumerState, consumer_id: int, entry: int, out: Outbox) -> None:
    """The same for the whole of an entry."""
    if state.tracked:
        state.tracked = [one for one in state.tracked if one[1] != consumer_id or one[2] != entry]
        follow_clocks(state, out)


def forget_until(state: ConsumerState, consumer_id: int, entry: int, out: Outbox) -> None:
    """The same for all entries up to one."""
    if state.tracked:
        state.tracked = [one for one in state.tracked if one[1] != consumer_id or one[2] > entry]
        follow_clocks(state, out)


def follow_clocks(state: ConsumerState, out: Outbox) -> None:
    """Wake when the first clock is over, if one runs."""
    if state.tracked:
        out.deadline(TIME_OVER, state.tracked[0][0])
    else:
        out.cancel(TIME_OVER)
