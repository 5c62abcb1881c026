"""Things of a TubeMQ lane: partition."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from broker_core.events import Json
from broker_core.lab.tubemq.reading import TubeMqReading
from broker_core.lab.why.known import UNSAID, Known, said, sum_of, told_of, unknown
from broker_core.lab.why.shared import is_about_partition

if TYPE_CHECKING:
    from broker_core.lab.shared.lane import Lane

LOSES = ("tubemq.client.stopped", "tubemq.client.released", "tubemq.client.disconnected")


def partition(lane: Lane, name: str) -> Known:
    """A partition, as broker:topic:number."""
    assert isinstance(lane.reads, TubeMqReading)
    part = lane.reads.picture()["partitions"].get(name)
    if part is None:
        raise unknown("partition", name)
    owner, assigned = part["owner"], part["assigned"]
    if owner is None:
        says = said("partition.unregistered", partition=name, assigned=assigned)
    elif assigned is not None and assigned != owner:
        says = said("partition.held", partition=name, consumer=owner, assigned=assigned)
    else:
        code = "partition.paused" if part["stopped"] else "partition.registered"
        says = said(code, partition=name, consumer=owner)
    place, end = lane.reads.place(name), lane.reads.partitions()[name].end
    sums = [sum_of("lag_confirmed", lag=part["lag"], end=end, confirmed=place.offset)]
    return Known(
        says,
        lambda event: is_about_partition(event, (name,)),
        sums,
        owner,
        lambda event: _owner_after(event, name),
    )


def _owner_after(event: Json, name: str) -> Any:
    told = told_of(event)
    if event["kind"] == "tubemq.broker.registration_timed_out":
        return None if told.get("partition") == name else UNSAID
    named = told.get("partitions")
    if not isinstance(named, list) or name not in named:  # some turning points only count them
        return UNSAID
    if event["kind"] == "tubemq.client.connected":
        return told["consumer"]
    return None if event["kind"] in LOSES else UNSAID
