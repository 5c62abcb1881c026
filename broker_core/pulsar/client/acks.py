"""What a program acknowledges, and when its broker hears of it: in groups, one by one or everything up to a
message.

    program ─► acknowledge ─► part.acks ─ 100 ms ─► ACK            a batch is acknowledged with its last message, or place by place
                    └─ a stuck program (`HoldAcks`) forgets to: held ─► `ReleaseAcks`, or the ack time-out asks for them again

Everything up to a message that is not the last of its batch: without batch index acknowledgements, up to the
entry before. Until a group has left, what it acknowledges may be sent again; such a message is dropped, and
may be sent another in its place.

Source: Pulsar 3.2 client, PersistentAcknowledgmentsGroupingTracker, BatchMessageAcker,
ConsumerBase.acknowledgeCumulativeAsync.
"""

from __future__ import annotations

from broker_core.pulsar.client.config import Part
from broker_core.pulsar.client.consumer_state import ConsumerState
from broker_core.pulsar.client.timeouts import forget_clock, forget_entry, forget_until
from broker_core.pulsar.commands import CommandAck, CommandMessage
from broker_core.sim.node import Outbox

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
    if config.acks_cumulatively:
        if config.is_active_only:
            acknowledge_up_to(state, message, now_us, out)
        else:
            refuse_cumulative(state, message, out)
        return
    if state.tracked and (config.has_parts or not message.places):
        forget_clock(state, message, now_us, out)
    part = state.parts[message.consumer_id]
    if not message.places:
        finish(state, message.consumer_id, message.entry, now_us, out)
        return
    place = message.places[0]
    if place >= 0:
        left = part.batches[message.entry]
        left.remove(place)
        if not left:
            finish(state, message.consumer_id, message.entry, now_us, out)
            return
    if config.acks_batch_index:  # of a batch that has been asked for again, too, though it completes nothing
        is_first = not part.has_gathered
        part.in_batch.setdefault(message.entry, []).append(place if place >= 0 else ~place)
        gathered(state, is_first, now_us, out)


def finish(state: ConsumerState, consumer_id: int, entry: int, now_us: int, out: Outbox) -> None:
    """An entry is acknowledged as a whole."""
    part = state.parts[consumer_id]
    is_first = not part.has_gathered
    part.batches.pop(entry, None)
    part.in_batch.pop(entry, None)
    part.candidates.pop(entry, None)
    forget_entry(state, consumer_id, entry, out)
    part.acks.append(entry)
    gathered(state, is_first, now_us, out)


def acknowledge_up_to(state: ConsumerState, message: CommandMessage, now_us: int, out: Outbox) -> None:
    """This message and all before it."""
    part, entry = state.parts[message.consumer_id], message.entry
    is_first, until = not part.has_gathered, entry
    if message.places:
        place = message.places[0]
        left = [one for one in part.batches.get(entry, ()) if one > place]
        if left or place < 0:  # what is left of an old delivery completes nothing
            until = entry - 1
            if place >= 0:
                gone = [one for one in part.batches[entry] if one <= place]
                part.batches[entry] = left
                if state.config.acks_batch_index:
                    part.in_batch = {entry: [*part.in_batch.get(entry, ()), *gone]}
    forget_until(state, message.consumer_id, until, out)
    for kept in (part.batches, part.in_batch):
        for known in [known for known in kept if known <= until]:
            del kept[known]
    if until > part.acked_up_to:
        part.acked_up_to = until
        part.acks.append(until)
    if part.has_gathered:
        gathered(state, is_first, now_us, out)


def is_acknowledged(part: Part, entry: int, place: int | None = None) -> bool:
    """Whether the program has acknowledged an entry that comes again, and the broker may not know of it
    yet."""
    return (
        entry <= part.acked_up_to
        or entry in part.acks
        or (place is not None and place in part.in_batch.get(entry, ()))
    )


def gathered(state: ConsumerState, is_first: bool, now_us: int, out: Outbox) -> None:
    """One more has come to the group of its part, or the first: it goes out with it, or now. The first one of
    all parts sets the time."""
    group_us = state.config.ack_group_us
    if not group_us:
        send_acks(state, out)
    elif is_first and (len(state.parts) == 1 or is_alone(state)):
        out.deadline(ACKS, now_us + group_us)


def is_alone(state: ConsumerState) -> bool:
    """Whether acknowledgements of one part only have gathered."""
    return sum(part.has_gathered for part in state.parts.values()) == 1


def send_acks(state: ConsumerState, out: Outbox) -> None:
    """Tell the broker what has gathered, part by part."""
    for consumer_id, part in state.parts.items():
        entries = part.acks
        if not part.has_gathered:
            continue
        part.acks = []
        places: dict[int, list[int]] | None = None
        if part.in_batch:
            places, part.in_batch = part.in_batch, {}
        if not state.config.acks_cumulatively:
            out.send(state.connection, CommandAck(consumer_id, entries, False, places))
        elif places:
            out.send(state.connection, CommandAck(consumer_id, [max(places)], True, places))
        else:
            out.send(state.connection, CommandAck(consumer_id, [max(entries)], True))


def refuse_cumulative(state: ConsumerState, message: CommandMessage, out: Outbox) -> None:
    """Its own client refuses: on Shared and Key_Shared nothing can be acknowledged up to a message. It stays
    unacknowledged."""
    if not state.refused_acks:
        out.tell(
            "pulsar.ack.refused",
            "pulsar.client.acknowledge_cumulative",
            {"type": state.config.type},
            {"consumer": state.name, "error": INVALID_CONFIGURATION, "message": NO_CUMULATIVE},
        )
    state.refused_acks += 1


def release_acks(state: ConsumerState, now_us: int, out: Outbox) -> None:
    """The stuck program goes on: what it held back it acknowledges now."""
    state.holds_acks = False
    held, state.held = state.held, []
    for message in held:
        acknowledge(state, message, now_us, out)
