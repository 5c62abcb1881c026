"""Things of a Pulsar lane: slot (a place of the hash space, and whose slice it is in), partition (under Exclusive and
Failover), cursor."""

from __future__ import annotations

from bisect import bisect_left
from typing import TYPE_CHECKING

from broker_core.errors import CommandError
from broker_core.events import Json
from broker_core.lab.pulsar.views.subscription import pulsar_view
from broker_core.lab.why.known import Known, said, sum_of, told_of, unknown
from broker_core.lab.why.shared import is_about_consumer, is_about_partition

if TYPE_CHECKING:
    from broker_core.lab.shared.lane import Lane


def slot(lane: Lane, name: str) -> Known:
    """Whose slice of the hash space it is in, and whose it was before the last change."""
    picture = lane.reads.picture()
    if "space" not in picture:
        raise unknown("slot", name)
    if not (name.isascii() and name.isdigit() and len(name) <= 10 and int(name) < picture["space"]):
        raise CommandError("thing", "a slot is a whole number from 0 to {last}", last=picture["space"] - 1)
    number = int(name)
    start, end, owner = _slice(picture["now"], number, picture)
    was = None if picture["before"] is None else _slice(picture["before"], number, picture)[2]
    has_moved = picture["before"] is not None and was != owner
    code = "slot.none" if owner is None else "slot.moved" if has_moved and was else "slot"
    return Known(
        said(code, slot=number, start=start, end=end, consumer=owner, was=was),
        lambda event: _is_about_slot(event, owner, has_moved),
        [sum_of("slice", size=(end - start) % picture["space"] + 1, space=picture["space"])],
    )


def _slice(slices: Json, slot: int, picture: Json) -> tuple[int, int, str | None]:
    """(first slot, last slot, owner). What is above the last bound belongs to the first slice on a ring."""
    bounds, owners = slices["bounds"], slices["owners"]
    place = bisect_left(bounds, slot) % len(bounds)
    start = bounds[place - 1] + 1 if place or picture["kind"] == "ring" else 0
    owner = owners[place]
    return start % picture["space"], bounds[place], None if owner < 0 else picture["names"][owner]


def _is_about_slot(event: Json, owner: str | None, has_moved: bool) -> bool:
    """Of one that moved, whatever moved keys last; of another, what its owner is there by."""
    if has_moved:
        return "keys_total" in event["data"]
    return owner is not None and told_of(event).get("consumer") == owner


def partition(lane: Lane, name: str) -> Known:
    part = (lane.reads.picture().get("partitions") or {}).get(name)
    if part is None:
        raise unknown("partition", name)
    owner = part["owner"]
    if owner is None:
        says = said("partition.none", partition=name)
    else:
        code = "partition.paused" if part["stopped"] else "partition.active"
        says = said(code, partition=name, consumer=owner)
    acked = part["end"] - part["committed"] - part["lag"]
    params = {"lag": part["lag"], "end": part["end"], "committed": part["committed"], "acked": acked}
    return Known(
        says,
        lambda event: is_about_partition(event, (name,)) or (owner is not None and _came(event, owner)),
        [sum_of("lag_cursor", **params)] if acked >= 0 else [],
    )


def _came(event: Json, owner: str) -> bool:
    return event["kind"] in (
        "pulsar.consumer.connected",
        "pulsar.consumer.reconnected",
    ) and is_about_consumer(event, owner)


def cursor(lane: Lane, name: str) -> Known:
    """The subscription's cursor in a partition, -1 for a topic without partitions."""
    known = pulsar_view(lane)["cursors"].get(name)
    if known is None:
        raise unknown("cursor", name)
    mark, end, ahead = known["mark_delete"], known["end"], known["acked_ahead"]
    sums = []
    if known["backlog"] == end - mark - 1 - ahead:
        sums.append(sum_of("backlog", backlog=known["backlog"], end=end, first=mark + 1, ahead=ahead))
    return Known(
        said("cursor", mark_delete=mark, read=known["read"], end=end),
        lambda event: event["kind"].startswith(("pulsar.subscription.", "pulsar.consumer.seek")),
        sums,
    )
