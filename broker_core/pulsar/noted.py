"""Acknowledgements that a broker only notes: nothing follows from them but counts, so they wait at its door until somebody needs the counts.

    client ── post ──► [ door: when each group arrives ] ◄── arrived_by, note ── broker        no step of the world for an acknowledgement

Who gets a message depends on an acknowledgement only while somebody waits for one: a newcomer under recently joined, a draining slot, a
consumer or subscription at its limit. Then, and while consumers come and go, the door is shut, and each acknowledgement is a step again.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING

from broker_core.errors import InvariantError
from broker_core.pulsar.commands import CommandAck

if TYPE_CHECKING:
    from broker_core.pulsar.broker import Broker
    from broker_core.pulsar.subscription import Subscription
    from broker_core.pulsar.topic import Topic
    from broker_core.sim.network import Link

ANY_NUMBER = 1 << 30
Noted = tuple[int, int, CommandAck]
"""(when it arrived, on which connection, what)."""


def arrived_by(now_us: int, doors: Mapping[int, Link]) -> list[Noted]:
    """What has arrived at the doors by now, in the order of arrival; it waits there no longer."""
    arrived: list[Noted] = []
    for connection, link in doors.items():
        times, queue = link.times, link.queue
        while times and times[0] <= now_us:
            arrived.append((times.popleft(), connection, queue.popleft()[0]))
    if len(doors) > 1:
        arrived.sort(key=_order)
    return arrived


def note(broker: Broker, arrived: Sequence[Noted]) -> None:
    """These acknowledgements arrived, and nobody was sent anything because of them."""
    acked: dict[int, tuple[Topic, Subscription, list[tuple[str, Sequence[int]]]]] = {}
    for at_us, connection, command in arrived:
        known = broker.of_consumer.get((connection, command.consumer_id))
        if known is None:  # it is closed meanwhile
            continue
        topic, subscription, key = known
        dispatcher = subscription.attached
        if dispatcher.now_us < at_us:
            dispatcher.now_us = at_us
        found = acked.get(id(subscription))
        if found is None:
            found = acked[id(subscription)] = topic, subscription, []
        found[2].append((key, command.entries))
    for topic, subscription, groups in acked.values():
        cursor = subscription.cursor
        mark_delete = cursor.mark_delete
        subscription.note_acks(groups)
        if subscription.attached.has_news:
            raise InvariantError(f"something follows from acknowledgements in {subscription.name} that were only noted")
        if cursor.mark_delete != mark_delete:
            topic.trim(broker.settings.retention)


def _order(arrived: Noted) -> tuple[int, int]:
    return arrived[:2]
