"""A program that handles fetched records by itself: until it asks for more, commits or rebalances nobody can notice what it does.

    DONE ─► next record ─► next ─► ...          a fetch is under way: until its answer, or until the buffer is empty
                             └─ DONE: the record after which a partition has nothing in the buffer is the next step, and a fetch goes out

A commit that is due, a rebalance that it has heard of and an assignment that has arrived wait for the record in hand only, and so does a
person's word. See `sim/door.py`.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from broker_core.sim.program import DONE

if TYPE_CHECKING:
    from broker_core.kafka.client.consumer import Consumer
    from broker_core.sim.node import Outbox

NEVER = 1 << 62


def plan(consumer: Consumer, out: Outbox) -> None:
    """When the program's next step is that can be noticed."""
    state, program = consumer.state, consumer.state.program
    planned, state.quiet_until_us = state.quiet_until_us, NEVER
    if program.hand < 0:
        return
    if consumer.traffic.is_watched or program.is_paused or state.commit_due or state.must_rejoin or state.pending is not None:
        state.quiet_until_us = program.done_us
    elif not state.is_fetching:
        takes = takes_until_empty(consumer)
        state.quiet_until_us = program.done_us + max(takes - 1, 0) * program.service_us
    if state.quiet_until_us == NEVER:
        out.cancel(DONE)
    elif state.quiet_until_us != planned:
        out.deadline(DONE, state.quiet_until_us, program.because)


def takes_until_empty(consumer: Consumer) -> int:
    """How many records the program takes, in turn from all partitions, until one of them has nothing in the buffer; 0: one has nothing now."""
    state = consumer.state
    buffer, owned = state.buffer, state.owned
    if not owned or len(buffer) < len(owned):
        return 0
    return min((len(buffer[number].records) - 1) * len(owned) + (place - state.turn) % len(owned) + 1 for place, number in enumerate(owned))


def settle(consumer: Consumer, now_us: int, out: Outbox) -> None:
    """The records that the program has handled by now, but for one with which a step comes."""
    state, program = consumer.state, consumer.state.program
    done_us, until_us = program.done_us, min(now_us + 1, state.quiet_until_us)
    if program.hand < 0 or done_us >= until_us:
        return
    hand, handled = program.hand, []
    while done_us < until_us:
        handled.append((done_us, hand))
        hand = consumer.next_record()
        if hand < 0:
            break
        done_us += program.service_us
    program.done_quietly(handled, hand, done_us, out, consumer.traffic)
