"""Acknowledgements that a broker only notes: nothing follows from them but counts, so they wait at its door
until somebody needs the counts.

    client ── post ──► [ door: when each group arrives ] ◄── arrived_by, note ── broker        no step of the world for an acknowledgement

Who gets a message depends on an acknowledgement only while somebody waits for one: a newcomer under recently
joined, a draining slot, a consumer or subscription at its limit. Then, and while consumers come and go, the
door is shut, and each acknowledgement is a step again.

Where each consumer acknowledges what it has, the order of two of them says nothing, and all of a consumer are
noted together.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from operator import itemgetter
from typing import TYPE_CHECKING, NamedTuple

from broker_core.errors import InvariantError
from broker_core.pulsar.commands import CommandAck

if TYPE_CHECKING:
    from broker_core.pulsar.broker import Broker
    from broker_core.pulsar.subscription import Subscription
    from broker_core.pulsar.topic import Topic
    from broker_core.sim.network import Link

ANY_NUMBER = 1 << 30


class Noted(NamedTuple):
    """What has arrived on a connection: when each, ascending, and what."""

    connection: int
    times: list[int]
    commands: list[CommandAck]

    @property
    def entries(self) -> list[int]:
        """All that is acknowledged."""
        entries: list[int] = []
        for command in self.commands:
            entries += command.entries
        return entries

    def of_consumers(self) -> dict[int, Noted]:
        """The same for each consumer of the connection."""
        first = self.commands[0].consumer_id
        for command in self.commands:
            if command.consumer_id != first:
                break
        else:  # the usual case, short for speed
            return {first: self}
        parts: dict[int, Noted] = {}
        for at_us, command in zip(self.times, self.commands, strict=True):
            part = parts.setdefault(command.consumer_id, Noted(self.connection, [], []))
            part.times.append(at_us)
            part.commands.append(command)
        return parts


def arrived_by(now_us: int, doors: Mapping[int, Link]) -> list[Noted]:
    """What has arrived at the doors by now; it waits there no longer."""
    arrived: list[Noted] = []
    for connection, link in doors.items():
        times, queue = link.times, link.queue
        if times and times[0] <= now_us:
            when: list[int] = []
            commands: list[CommandAck] = []
            while times and times[0] <= now_us:
                when.append(times.popleft())
                commands.append(queue.popleft()[0])
            arrived.append(Noted(connection, when, commands))
    return arrived


def note(broker: Broker, arrived: Sequence[Noted]) -> None:
    """These acknowledgements arrived, and nobody was sent anything because of them."""
    acked: dict[int, tuple[Topic, Subscription, list[tuple[str, Noted]]]] = {}
    for noted in arrived:
        if noted.connection in broker.state.connections:
            broker.state.connections[noted.connection].awaits_pong = False
        for consumer_id, part in noted.of_consumers().items():
            known = broker.of_consumer.get((noted.connection, consumer_id))
            if known is not None:  # else it is closed meanwhile
                topic, subscription, key = known
                acked.setdefault(id(subscription), (topic, subscription, []))[2].append((key, part))
    for topic, subscription, parts in acked.values():
        dispatcher, cursor = subscription.attached, subscription.cursor
        for _, part in parts:
            if part.times[-1] > dispatcher.now_us:
                dispatcher.now_us = part.times[-1]
        mark_delete = cursor.mark_delete
        subscription.note_acks(parts)
        if dispatcher.has_news:
            raise InvariantError(
                f"something follows from acknowledgements in {subscription.name} that were only noted"
            )
        if cursor.mark_delete != mark_delete:
            topic.trim(broker.settings.retention)


def in_order(parts: Sequence[tuple[str, Noted]]) -> list[tuple[str, Sequence[int]]]:
    """(consumer, what it acknowledged), one after the other as they arrived; of one microsecond and
    connection by consumer."""
    arrived = [
        (at_us, part.connection, consumer, command.entries)
        for consumer, part in parts for at_us, command in zip(part.times, part.commands, strict=True)
    ]  # fmt: skip
    return [(consumer, entries) for _, _, consumer, entries in sorted(arrived, key=itemgetter(0, 1))]
