"""A program that handles fetched records on its own: until it asks for more, commits or rebalances, what it
does cannot be noticed.

    DONE ─► next record ─► next ─► ...          a fetch is under way: until its answer, or until the buffer is empty
                             └─ DONE: the record after which a partition has nothing in the buffer is the next step, and a fetch goes out

A commit that is due, a rebalance that it has heard of and an assignment that has arrived wait for the record
in hand only, and so does a person's word. See `sim/door.py`.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING

from broker_core.sim.program import DONE

if TYPE_CHECKING:
    from broker_core.kafka.client.consumer import Consumer, Fetched
    from broker_core.sim.node import Outbox

NEVER = 1 << 62


def plan(consumer: Consumer, out: Outbox) -> None:
    """When the program's next step is that can be noticed."""
    state, program = consumer.state, consumer.state.program
    planned, until_us = state.quiet_until_us, NEVER
    if program.hand >= 0:
        if (
            consumer.traffic.is_watched
            or program.is_paused
            or state.commit_due
            or state.must_rejoin
            or state.pending is not None
        ):
            until_us = program.done_us
        elif not state.is_fetching:
            until_us = program.done_us
            if len(state.buffer) >= len(state.owned) > 0:
                until_us += (
                    takes_until_empty(state.buffer, state.owned, state.turn) - 1
                ) * program.service_us
        if until_us == NEVER:
            if planned != NEVER:
                out.cancel(DONE)
        elif until_us != planned:
            out.deadline(DONE, until_us, program.because)
    state.quiet_until_us = until_us


def takes_until_empty(buffer: Mapping[int, Fetched], owned: Sequence[int], turn: int) -> int:
    """How many records the program takes, in turn from all partitions, until one of them, which all have
    some, has nothing in the buffer."""
    count, fewest = len(owned), NEVER
    wait = count - turn  # until the turn comes to a partition
    for number in owned:
        takes = (len(buffer[number].records) - 1) * count + wait % count
        if takes < fewest:
            fewest = takes
        wait += 1
    return fewest + 1


def settle(consumer: Consumer, now_us: int, out: Outbox) -> None:
    """The records that the program has handled by now, but for one with which a step comes."""
    state, program = consumer.state, consumer.state.program
    done_us, until_us = program.done_us, now_us + 1
    if state.quiet_until_us < until_us:
        until_us = state.quiet_until_us
    if program.hand < 0 or done_us >= until_us:
        return
    service_us = program.service_us
    if not state.buffer or done_us + service_us >= until_us:  # only the one in hand
        handled = [(done_us, program.hand)]
        hand = consumer.next_record()
        program.done_quietly(
            handled, hand, done_us if hand < 0 else done_us + service_us, out, consumer.traffic
        )
        return
    taken = consumer.next_records((until_us - 1 - done_us) // service_us + 1)
    handled, hand = [(done_us, program.hand)], -1
    for record in taken:
        done_us += service_us
        if done_us >= until_us:
            hand = record
            break
        handled.append((done_us, record))
    program.done_quietly(handled, hand, done_us, out, consumer.traffic)
