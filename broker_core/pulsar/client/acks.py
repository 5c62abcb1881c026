"""What a program acknowledges, and when its broker is told: in groups, one by one or everything up to a message.

    program ─► acknowledge ─► part.acks ─ 100 ms ─► ACK            a batch is acknowledged with its last message, or place by place
                    └─ a stuck program (`HoldAcks`) forgets to: held ─► `ReleaseAcks`, or the ack time-out asks for them again

Source: Pulsar 3.2 client, PersistentAcknowledgmentsGroupingTracker, BatchMessageAcker, ConsumerBase.acknowledgeCumulativeAsync.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from broker_core.pulsar.client.again import forget_clock
from broker_core.pulsar.commands import CommandAck, CommandMessage
from broker_core.sim.node import Outbox

if TYPE_CHECKING:
    from broker_core.pulsar.client.consumer import ConsumerState

ACKS = "acks"
"""Deadline of the acknowledgements that gather."""
INVALID_CONFIGURATION = "InvalidConfigurationException"
NO_CUMULATIVE = "Cannot use cumulative acks on a non-exclusive/non-failover subscription"


def acknowledge(state: ConsumerState, message: CommandMessage, now_us: int, out: Outbox) -> None:
    """The program is done with this message and says so; a stuck one does not."""
    if state.holds_acks:
        state.held.append(message)
        return
    config = state.config
    if config.acks_cumulatively and not config.is_active_only:
        refuse_cumulative(state, message, out)
        return
    if state.tracked:
        forget_clock(state, message, now_us, out)
    part = state.parts[message.consumer_id]
    if not message.places and not part.in_batch:  # the usual case, short for speed
        acks = part.acks
        acks.append(message.entry)
        if len(acks) == 1 or not config.ack_group_us:
            gathered(state, len(acks), now_us, out)
        return
    places = 0
    if message.places:
        place = message.places[0]
        if place < 0:  # its batch has been asked for again: it completes nothing
            if config.acks_batch_index:
                part.in_batch.setdefault(message.entry, []).append(~place)
                gathered(state, part.gathered, now_us, out)
            return
        left = part.batches[message.entry]
        left.remove(place)
        if left:
            if config.acks_batch_index:
                part.in_batch.setdefault(message.entry, []).append(place)
                gathered(state, part.gathered, now_us, out)
            return
        del part.batches[message.entry]
        places = len(part.in_batch.pop(message.entry, ()))  # with which the group may have begun
    part.acks.append(message.entry)
    gathered(state, part.gathered + places, now_us, out)


def gathered(state: ConsumerState, count: int, now_us: int, out: Outbox) -> None:
    """One more has come to the group of its part, as its count-th: it goes out with it, or now. The first one of all parts sets the time."""
    group_us = state.config.ack_group_us
    if not group_us:
        send_acks(state, out)
    elif count == 1 and (len(state.parts) == 1 or is_alone(state)):
        out.deadline(ACKS, now_us + group_us)


def is_alone(state: ConsumerState) -> bool:
    """Whether acknowledgements of one part only have gathered."""
    parts = (part for part in state.parts.values() if part.acks or part.in_batch)
    next(parts, None)
    return next(parts, None) is None


def send_acks(state: ConsumerState, out: Outbox) -> None:
    """Tell the broker what has gathered, part by part."""
    for consumer_id, part in state.parts.items():
        entries = part.acks
        if not entries and not part.in_batch:
            continue
        part.acks = []
        places: dict[int, list[int]] | None = None
        if part.in_batch:
            places, part.in_batch = part.in_batch, {}
        if not state.config.acks_cumulatively:
            out.send(state.connection, CommandAck(consumer_id, entries, False, places))
        elif entries:
            out.send(state.connection, CommandAck(consumer_id, [max(entries)], True))


def refuse_cumulative(state: ConsumerState, message: CommandMessage, out: Outbox) -> None:
    """Its own client refuses: on Shared and Key_Shared nothing can be acknowledged up to a message. It stays unacknowledged."""
    if not state.refused_acks:
        out.tell("pulsar.ack.refused", "pulsar.client.acknowledge_cumulative", {"type": state.config.type},
                 {"consumer": state.name, "error": INVALID_CONFIGURATION, "message": NO_CUMULATIVE})  # fmt: skip
    state.refused_acks += 1


def release_acks(state: ConsumerState, now_us: int, out: Outbox) -> None:
    """The stuck program goes on: what it held back it acknowledges now."""
    state.holds_acks = False
    held, state.held = state.held, []
    for message in held:
        acknowledge(state, message, now_us, out)
