"""Things of every model: the lane, a consumer, a record."""

from __future__ import annotations

from collections.abc import Collection
from typing import TYPE_CHECKING

from broker_core.errors import CommandError
from broker_core.events import Json
from broker_core.lab.rabbitmq.open_reading import OpenReading
from broker_core.lab.shared.shares import shares
from broker_core.lab.why.known import Known, parts_of, said, sum_of, told_of, unknown
from broker_core.lab.workload.live_keys import NO_KEY

if TYPE_CHECKING:
    from broker_core.lab.shared.lane import Lane

ENTRIES = ("given", "received", "taken", "largest", "skipped")


def lane(lane: Lane, name: str) -> Known:
    """Its last change."""
    if name != lane.id:
        raise unknown("lane", name)
    return Known(said("lane"), is_of_change=True)


def consumer(lane: Lane, name: str) -> Known:
    known = lane.consumers.get(name)
    if known is None and isinstance(lane.reads, OpenReading):
        return client(lane.reads, name)
    if known is None:
        raise unknown("consumer", name)
    weights, units = lane.reads.weights(), lane.reads.units()
    total = sum(weights.values())
    sums = []
    if total:
        code = "share" if lane.keys_have_owners else "share_done"
        sums.append(
            sum_of(code, share=shares(lane)[name] / 1_000_000, records=weights.get(name, 0), total=total)
        )
    if units is not None:
        own = [unit for unit, owner in units.items() if owner == name]
        parts = parts_of("name", [{"name": unit} for unit in own]) if own else None
        sums.append(sum_of("partitions", parts, count=len(own), total=len(units)))
    sums.append(sum_of("unacked", unacked=lane.reads.held(known)))
    return Known(
        said(f"consumer.{lane.state_word(known)}", consumer=name),
        lambda event: is_about_consumer(event, name),
        sums,
    )


def client(reads: OpenReading, name: str) -> Known:
    """A real program that consumes."""
    known = reads.clients().get(name)
    if known is None:
        raise unknown("consumer", name)
    sums = [sum_of("unacked", unacked=known["unacked"])]
    return Known(
        said("client", consumer=name),
        lambda event: is_about_consumer(event, name) or told_of(event).get("client") == name,
        sums,
    )


def is_about_consumer(event: Json, name: str) -> bool:
    told = told_of(event)
    return (
        told.get("consumer") == name
        or name in (told.get("assignment") or ())
        or name in (told.get("node_ids") or ())
        or any(entry.get("consumer") == name for entries in ENTRIES for entry in told.get(entries) or ())
    )


def is_about_partition(event: Json, names: Collection[str], topic: str | None = None) -> bool:
    """names: what turning points call it. topic: a turning point that names another is not about it."""
    told = told_of(event)
    if topic is not None and told.get("topic", topic) != topic:
        return False
    lists = [told.get("partitions")]
    assignment = told.get("assignment")
    if isinstance(assignment, dict):
        lists += assignment.values()
    if str(told.get("partition")) in names:
        return True
    return any(str(unit) in names for units in lists if isinstance(units, list) for unit in units)


def record(lane: Lane, name: str) -> Known:
    """A record of the workload: where its key belongs now."""
    if not (name.isascii() and name.isdigit() and len(name) <= 15):
        raise CommandError("thing", "a record has a whole number of 0 or more")
    index, count = int(name), lane.next_record
    if index >= count:
        raise CommandError("thing", "has not been sent yet: {count} have by then", count=count)
    code = lane.messages.key_code(index)
    key = None if code == NO_KEY else lane.messages.key(code)
    route = lane.reads.route(index, code)
    sums = [_route_sum(lane, route)] if key is not None and route["hash"] is not None else []
    units = None if route["unit"] is None else [str(route["unit"])]
    held = _holder(lane, index)
    consumer = held or route["consumer"]
    code_word = "record.held" if held else "record.of" if consumer else "record.queued"
    return Known(
        said(code_word, record=index, key=key, consumer=consumer),
        (lambda event: is_about_partition(event, units))
        if units
        else (lambda event: consumer is not None and is_about_consumer(event, consumer)),
        sums,
    )


def _holder(lane: Lane, index: int) -> str | None:
    """Who has it and has not settled it, where the picture shows that."""
    held = lane.reads.picture().get("in_flight") or {}
    return next(
        (name for name, records in held.items() if any(each["record"] == index for each in records)), None
    )


def _route_sum(lane: Lane, route: Json) -> Json:
    units = lane.reads.units()
    if route["unit"] is None or units is None:
        return sum_of("hash", hash=route["hash"], consumer=route["consumer"])
    order = list(units)
    code, place = "hash_partition", route["hash"] % len(order)
    if order[place] != str(route["unit"]):  # by a rule of its own
        return sum_of("hash_of", hash=route["hash"], unit=route["unit"])
    return sum_of(code, hash=route["hash"], count=len(order), place=place, unit=route["unit"])
