"""A program that knows beforehand when it will be done with each message: it takes them one after the other,
each for a fixed time.

    deliveries ─► ahead: when it arrives, when it is done ─► its ack is posted for the moment at which it is done
                    └─ more than PLANNED_MAX wait in the buffer; DONE wakes the program to plan the next ones

What it does is what `Worker` does step by step (`take`, `wake`), at the same moments. See `sim/plan.py`.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from broker_core.events import Cause
from broker_core.rabbitmq.client import CHANNEL, TAG
from broker_core.rabbitmq.methods import BasicAck, BasicDeliver
from broker_core.sim.program import DONE

if TYPE_CHECKING:
    from broker_core.rabbitmq.client.worker import Worker
    from broker_core.sim.node import Outbox

PLANNED_MAX = 32
"""Each is in the world's heap, which an endless prefetch would fill."""
Planned = tuple[int, int, BasicDeliver, Cause | None]
"""A message that is planned: when it arrives, when it is done, its delivery, and what that followed from."""


def arrived(worker: Worker, message: BasicDeliver, now_us: int, out: Outbox) -> None:
    """A message has arrived that was not expected: the door was shut, or as many as may be planned were."""
    state = worker.state
    settle(worker, now_us, out)
    if state.buffer or len(state.ahead) >= PLANNED_MAX:
        state.buffer.append((message.delivery_tag, message.message))
        if len(state.buffer) == 1:
            out.deadline(DONE, state.ahead[-1][1], state.program.because)
    else:
        worker.expect(message, now_us, out.why(), out)
        out.open_door(state.connection, PLANNED_MAX - len(state.ahead))


def settle(worker: Worker, now_us: int, out: Outbox) -> None:
    """How far the plan has come by now."""
    state, ahead = worker.state, worker.state.ahead
    if not ahead:
        return
    handled: list[tuple[int, int]] = []
    program, hand, done_us = state.program, -1, state.program.done_us
    while ahead and ahead[0][1] <= now_us:
        _, done_us, delivery, _ = ahead.popleft()
        state.hand_tag = (
            delivery.delivery_tag
        )  # as of the last one that it had: nothing here may depend on who looked when
        handled.append((done_us, delivery.message))
    if ahead and ahead[0][0] <= now_us:
        _, done_us, delivery, _ = ahead[0]
        state.hand_tag, hand = delivery.delivery_tag, delivery.message
    if handled:
        program.done_quietly(handled, hand, done_us, out, worker.traffic)
    else:
        program.hand, program.done_us = hand, done_us


def go_ahead(worker: Worker, now_us: int, out: Outbox) -> None:
    """Plan the message in hand, if there is one, and those that wait in the buffer."""
    state = worker.state
    ahead, buffer, program = state.ahead, state.buffer, state.program
    if program.hand >= 0:
        out.cancel(DONE)
        ahead.append(
            (now_us, program.done_us, BasicDeliver(CHANNEL, TAG, state.hand_tag, False, program.hand), None)
        )
        out.post(state.connection, BasicAck(CHANNEL, state.hand_tag), program.done_us, program.because)
    while buffer and len(ahead) < PLANNED_MAX:
        tag, message = buffer.popleft()
        worker.expect(BasicDeliver(CHANNEL, TAG, tag, False, message), now_us, out.why(), out)
    if buffer:
        out.deadline(DONE, ahead[-1][1], program.because)
    else:
        out.open_door(state.connection, PLANNED_MAX - len(ahead))


def recall(worker: Worker, now_us: int, out: Outbox) -> None:
    """What is planned and not done by now: one in hand, some in the buffer, some still on their way."""
    settle(worker, now_us, out)
    state, program = worker.state, worker.state.program
    out.withdraw(state.connection, len(state.ahead))
    here = [delivery for at_us, _, delivery, _ in state.ahead if at_us <= now_us]
    coming = [(at_us, delivery, because) for at_us, _, delivery, because in state.ahead if at_us > now_us]
    state.ahead.clear()
    state.buffer.extendleft(reversed([(delivery.delivery_tag, delivery.message) for delivery in here[1:]]))
    out.put_back(coming)
    if here:
        out.deadline(DONE, program.done_us, program.because)
