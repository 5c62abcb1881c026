"""A program that handles messages by itself: between two groups of acknowledgements nobody can notice what it
does.

    message ─► idle program begins, door opens ─► settle: handled, next, handled, ... ─► ACKS: the group goes out, the next ones are posted
                                                       └─ FLOW: half of the queue is taken, permits go out

As far as the queue says what it will handle, its groups are known, too: they are posted for the moments at
which they leave (`sim/plan.py`), and ACKS wakes it for the first one that is not known.

Quiet is a program whose messages all end the same: handled, acknowledged in a group. One that may give a
message back, is watched by an ack time-out, tells of a refusal or takes batches apart wakes for each of them,
as does one to which a person has just said something: `surface`.

See `sim/door.py`. What it does is what `Consumer.begin`, `done` and `acknowledge` do.
"""

from __future__ import annotations

from collections import deque
from itertools import islice
from typing import TYPE_CHECKING, Any

from broker_core.events import Cause
from broker_core.pulsar.client.acks import ACKS
from broker_core.pulsar.commands import CommandAck, CommandMessage
from broker_core.sim.program import DONE

if TYPE_CHECKING:
    from broker_core.pulsar.client.config import ConsumerConfig
    from broker_core.pulsar.client.consumer import Consumer, ConsumerState
    from broker_core.sim.node import Outbox

FLOW = "flow"
"""Deadline: the program begins with the message with which half of the queue is taken."""
GROUPS_MAX = 32
"""Groups of acknowledgements that are posted ahead."""
NOBODY: deque[int] = deque()
NO_CAUSE = Cause()
ROOM = 1 << 30
"""Permits keep it small."""


def can_be_quiet(config: ConsumerConfig) -> bool:
    """Whether nothing that this program does with a message shows before its acknowledgement."""
    return (
        config.ack_group_us > 0
        and not config.cannot
        and not config.timeout_us
        and not config.acks_cumulatively
    )


def go_quiet(consumer: Consumer, out: Outbox) -> bool:
    """The program has begun with a message and goes on by itself, if it may. False: it may not."""
    state = consumer.state
    if state.holds_acks or len(state.parts) != 1:
        return False
    (part,) = state.parts.values()
    if part.batches or part.has_asked or not part.is_subscribed:
        return False
    state.program.is_quiet, state.program.because = True, out.why()
    if not part.acks:
        out.deadline(ACKS, state.program.done_us + state.config.ack_group_us)
    plan(state, out)
    return True


def plan(state: ConsumerState, out: Outbox) -> None:
    """When half of the queue will be taken, if there is enough in it: then any number may come in. Else as
    many as are not enough."""
    (part,) = state.parts.values()
    wanted = state.config.refill - part.taken  # the message in hand is taken already
    here, door = len(state.queue), out.door
    if here >= wanted and not state.awaits_flow:
        state.awaits_flow = True
        out.deadline(
            FLOW, state.program.done_us + (wanted - 1) * state.program.service_us, state.program.because
        )
    room = ROOM if state.awaits_flow else wanted - 1 - here - (len(door.times) if door is not None else 0)
    if room > 0:
        out.open_door(state.connection, room)


def settle(consumer: Consumer, now_us: int, out: Outbox) -> None:
    """Everything that the program has handled by now, and what has come in meanwhile."""
    state, door = consumer.state, out.door
    program, queue = state.program, state.queue
    if not program.is_quiet:
        return
    times = NOBODY if door is None else door.times
    coming: deque[Any] = queue if door is None else door.queue
    if state.hand is not None and program.done_us <= now_us:
        work(consumer, now_us, times, coming, out)
    while times and times[0] <= now_us:
        at_us = times.popleft()
        message, because = coming.popleft()
        if state.hand is not None:
            queue.append(message)
            continue
        begin(state, message, at_us, because or NO_CAUSE)
        if program.done_us <= now_us:
            work(consumer, now_us, times, coming, out)
    leaving = state.leaving
    if leaving and leaving[0][0] <= now_us:
        (part,) = state.parts.values()
        left = 0
        while leaving and leaving[0][0] <= now_us:
            left += leaving.popleft()[1]
        del part.acks[:left]


def begin(state: ConsumerState, message: CommandMessage, at_us: int, because: Cause) -> None:
    """A message has reached the program, which was idle."""
    state.hand, state.program.hand = message, message.message
    state.program.done_us, state.program.because = at_us + state.program.service_us, because
    state.parts[message.consumer_id].taken += 1


def work(consumer: Consumer, now_us: int, times: deque[int], coming: deque[Any], out: Outbox) -> None:
    """It is done with the message in hand, and with those after it, up to now or until it is idle."""
    state = consumer.state
    program, queue, hand = state.program, state.queue, state.hand
    (part,) = state.parts.values()
    acks, done_us, service_us = part.acks, program.done_us, program.service_us
    handled: list[tuple[int, int]] = []
    while hand is not None and done_us <= now_us:
        handled.append((done_us, hand.message))
        acks.append(hand.entry)
        if queue:
            hand = queue.popleft()
        elif times and times[0] < done_us:
            times.popleft()
            hand = coming.popleft()[0]
        else:
            hand = None
            break
        done_us += service_us
    part.taken += len(handled) - (hand is None)
    state.hand = hand
    program.done_quietly(handled, -1 if hand is None else hand.message, done_us, out, consumer.traffic)


def group_goes(consumer: Consumer, now_us: int, out: Outbox) -> None:
    """The group of acknowledgements goes out, and the next one begins with the message in hand. A program
    that idles waits for the next message."""
    settle(consumer, now_us - 1, out)  # its deadline is older than that of the message in hand would be
    state = consumer.state
    for consumer_id, part in state.parts.items():  # there is one
        if part.acks:
            acks, part.acks = part.acks, []
            out.feed(state.connection, CommandAck(consumer_id, acks))
    if state.hand is None:
        state.program.is_quiet = False
        out.shut_door()
        return
    out.deadline(ACKS, post_groups(state, out) + state.config.ack_group_us, state.program.because)
    door = out.door
    if (
        door is None or not door.room
    ):  # else as many as before: what was taken since has left the queue as well
        plan(state, out)


def post_groups(state: ConsumerState, out: Outbox) -> int:
    """Post the groups that are known. Returns when the first message after them is done."""
    program, queue, hand = state.program, state.queue, state.hand
    assert hand is not None  # a group has just gone out, and the next one begins with it
    group_us, done_us, service_us = state.config.ack_group_us, program.done_us, program.service_us
    size = (group_us - 1) // service_us + 1  # the first message and those done before the group leaves
    known = min(len(queue) // size, GROUPS_MAX)  # of one that the queue ends in nobody knows the rest
    if not known:
        return done_us
    entries = [message.entry for message in islice(queue, known * size - 1)]
    entries.insert(0, hand.entry)
    groups = [CommandAck(hand.consumer_id, entries[at : at + size]) for at in range(0, known * size, size)]
    leaves_us, step_us = done_us + group_us, size * service_us
    out.post_each(state.connection, groups, leaves_us, step_us, program.because)
    state.leaving += [(at_us, size) for at_us in range(leaves_us, leaves_us + known * step_us, step_us)]
    return done_us + known * step_us


def recall(consumer: Consumer, now_us: int, out: Outbox) -> None:
    """The program wakes for each group."""
    settle(consumer, now_us, out)
    state = consumer.state
    if state.leaving:
        out.withdraw(state.connection, len(state.leaving))
        out.deadline(ACKS, state.leaving[0][0], state.program.because)
        state.leaving.clear()


def take_permits(consumer: Consumer, now_us: int, out: Outbox) -> None:
    """Half of the queue is taken."""
    consumer.state.awaits_flow = False
    recall(consumer, now_us, out)  # or what has not left would be before the permits
    for consumer_id in consumer.state.parts:
        consumer.grant(consumer_id, 0, out)
    out.shut_door()  # more may be on their way than are not enough for the next half
    if consumer.state.hand is not None:
        plan(consumer.state, out)


def surface(consumer: Consumer, now_us: int, out: Outbox) -> None:
    """From here on the node wakes for each message."""
    out.shut_door()
    recall(consumer, now_us, out)
    for consumer_id in consumer.state.parts:
        consumer.grant(consumer_id, 0, out)
    wake_for_each(consumer, out)


def wake_for_each(consumer: Consumer, out: Outbox) -> None:
    state = consumer.state
    state.program.is_quiet = state.awaits_flow = False
    out.cancel(FLOW)
    if state.hand is not None:
        out.deadline(DONE, state.program.done_us, state.program.because)
    if not any(part.acks for part in state.parts.values()):
        out.cancel(ACKS)
