"""What a master that gives partitions out has planned, and what the next of them waits for.

    planned ─► each loser hears of it ─► and reports ─► the gainer hears of it ─► and registers

While one member has still to release something, none is asked to register anything.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from broker_core.events import Json
from broker_core.lab.tubemq.reading import TubeMqReading, is_alive
from broker_core.tubemq.balancing import is_loss
from broker_core.tubemq.client.heartbeats import TO_MASTER
from broker_core.tubemq.client_id import host_of
from broker_core.tubemq.group import Member

if TYPE_CHECKING:
    from broker_core.lab.shared.lane import Lane

LOSER_HEARS, LOSER_REPORTS, GAINER_HEARS, GAINER_REGISTERS = (
    "loser_hears",
    "loser_reports",
    "gainer_hears",
    "gainer_registers",
)


def given(registered: list[str], member: Member | None) -> list[str]:
    """What a client has once all that the master wants of it is done."""
    keys = set(registered)
    for event in member.events if member is not None else ():
        keys = keys - set(event.partitions) if is_loss(event) else keys | set(event.partitions)
    return sorted(keys)


def waits(lane: Lane, reads: TubeMqReading) -> dict[str, Json]:
    """Partition that is on its way to a client -> what that waits for: {code, until_us, loser}."""
    members = reads.members().values() if reads.by_master else ()
    loser = next((each for each in members if any(map(is_loss, each.events))), None)
    found: dict[str, Json] = {}
    for member in members:
        for event in member.events:
            if not is_loss(event):
                is_pushed = event.event_id == member.pushed
                wait = _of_gainer(lane, member, is_pushed) if loser is None else _of_loser(lane, loser)
                found |= dict.fromkeys(event.partitions, wait)
    return found


def _of_loser(lane: Lane, loser: Member) -> Json:
    has_heard = loser.events[0].event_id == loser.pushed
    code = LOSER_REPORTS if has_heard else LOSER_HEARS
    name = host_of(loser.client_id)
    return {"code": code, "loser": name, "until_us": _next_beat_us(lane, name)}


def _of_gainer(lane: Lane, gainer: Member, is_pushed: bool) -> Json:
    if is_pushed:
        return {"code": GAINER_REGISTERS}
    return {"code": GAINER_HEARS, "until_us": _next_beat_us(lane, host_of(gainer.client_id))}


def _next_beat_us(lane: Lane, name: str) -> int | None:
    """When a client sends its next heartbeat to the master."""
    consumer = lane.consumers.get(name)
    if consumer is None or not is_alive(consumer):
        return None
    slot = lane.world.slots[consumer.incarnation]
    made = slot.deadlines.get(TO_MASTER)
    heap = lane.world.heap if made is not None else ()
    return next(
        (at_us for at_us, order, place, _ in heap if place is slot and made and order == made[0]), None
    )
