"""The numbers behind a still: what a lab's view says of each lane at one moment.

`{"lanes": [{"id", "kind", ...}]}`, at most four lanes. What a lane shows, by kind:

- `ring`, `ranges`: `parts [[share of the space in 1/3600, color]]`, once around or from end to end
- `partitions`: `cells [[color of the owner, 0 for none, whether it is paused]]`
- `queue`: `ready`, `held` by each consumer
- `queues`: `queues [[name, ready, published]]` of a topology of one's own
- `replicas`: `copies [[broker, start, end, high watermark, "leads"|"follows"|"", whether it runs]]`; `lost`,
  acknowledged records that no fault left anywhere; `others [[broker, from, until]]`, offsets at which a replica in the
  ISR has records of another leader epoch than the leader has there
- `detector`: `waited_us` since a consumer crashed, `of_us` until it is noticed, or null where it has been

and `consumers [[name, color, state, share in percent]]` except for `queues` and `replicas`.
"""

from itertools import pairwise
from typing import Any

Json = dict[str, Any]
LANES_MAX = 4
SPACE_PARTS = 3600
COLORLESS = 0


def still_of(view: Json, *, shows_replicas: bool) -> Json:
    """shows_replicas: a Kafka lane is about its log and replicas, not about its group."""
    names = view["lane_order"][:LANES_MAX]
    lanes = [view["lanes"][name] for name in names]
    crashes = [lane["bill"]["at_us"] for lane in lanes if lane["bill"] and lane["bill"]["kind"] == "crash"]
    if len({lane["model"] for lane in lanes}) > 1 and crashes:
        crashed_us = min(crashes)
        read = [_detector(lane, view["at_us"], crashed_us) for lane in lanes]
    else:
        read = [_lane(lane, shows_replicas) for lane in lanes]
    return {"lanes": [{"id": name, **each} for name, each in zip(names, read, strict=True)]}


def _lane(lane: Json, shows_replicas: bool) -> Json:
    if shows_replicas:
        return _replicas(lane["cluster"])
    if lane["model"] == "rabbitmq" and lane["rabbitmq"]["has_topology"]:
        return _queues(lane)
    picture, consumers = lane["picture"], _consumers(lane)
    match picture["kind"]:
        case "ring" | "ranges":
            read = _space(picture, lane["consumers"])
        case "queue":
            read = {"ready": picture["ready"], "held": _held(lane)}
        case _:
            topics = [picture, *lane.get("group_topics", {}).values()]
            partitions = [each for topic in topics for each in topic["partitions"].values()]
            read = {"cells": [_cell(each, lane["consumers"]) for each in partitions]}
    kind = "partitions" if "cells" in read else picture["kind"]
    return {"kind": kind, **read, "consumers": consumers}


def _consumers(lane: Json) -> list[Any]:
    each = [lane["consumers"][name] for name in lane["order"]]
    return [[one["name"], one["color"], one["state"], round((one["share"] or 0) * 100)] for one in each]


def _held(lane: Json) -> list[int]:
    return [lane["consumers"][name]["unacked"] for name in lane["order"]]


def _cell(partition: Json, consumers: Json) -> list[Any]:
    owner = consumers.get(partition["owner"])
    is_paused = bool(partition.get("stopped", partition.get("dark_us") is not None)) or owner is None
    return [owner["color"] if owner else COLORLESS, is_paused]


def _space(picture: Json, consumers: Json) -> Json:
    """Neighbouring slices of one owner are one part. A bound is where a slice ends; on the ring the last one
    goes on with the first."""
    now, space = picture["now"], picture["space"]
    if not now["bounds"]:
        return {"parts": [[SPACE_PARTS, COLORLESS]]}
    ends = [*now["bounds"][:-1], space - 1] if picture["kind"] == "ranges" else [*now["bounds"], space - 1]
    owners = now["owners"] if picture["kind"] == "ranges" else [*now["owners"], now["owners"][0]]
    names, parts, before = picture["names"], [], 0
    for end, owner in zip(ends, owners, strict=True):
        upto = round((end + 1) * SPACE_PARTS / space)
        known = consumers.get(names[owner]) if owner is not None and owner >= 0 else None
        color = known["color"] if known else COLORLESS
        if parts and parts[-1][1] == color:
            parts[-1][0] += upto - before
        else:
            parts.append([upto - before, color])
        before = upto
    return {"parts": [part for part in parts if part[0]]}


def _queues(lane: Json) -> Json:
    """One queue is drawn with who holds what, several with what each one has."""
    vhosts = lane["rabbitmq"]["vhosts"].values()
    queues = [queue for vhost in vhosts for queue in vhost["queues"].values()]
    if len(queues) == 1:
        ready = queues[0]["ready"]
        return {"kind": "queue", "ready": ready, "held": _held(lane), "consumers": _consumers(lane)}
    rows = [[queue["name"], queue["ready"], queue["published"]] for queue in queues]
    return {"kind": "queues", "queues": rows}


def _replicas(cluster: Json) -> Json:
    topic = cluster["topic"]
    name = next((each for each in cluster["partitions"] if each.startswith(topic)), None)
    shown = cluster["partitions"][name or next(iter(cluster["partitions"]))]
    rows = []
    for broker in sorted(shown["copies"], key=int):
        copy = shown["copies"][broker]
        runs = cluster["brokers"][broker]["condition"] == "running"
        role = copy["role"] if runs else ""
        rows.append([int(broker), copy["start"], copy["end"], copy["high_watermark"], role, runs])
    return {"kind": "replicas", "copies": rows, "lost": _lost(cluster), "others": _others(shown, rows)}


def _others(partition: Json, rows: list[list[Any]]) -> list[list[int]]:
    leading = next((broker for broker, *_, role, _ in rows if role == "leads"), None)
    if leading is None:
        return []
    log, found = partition["copies"][str(leading)], []
    for broker, start, end, *_ in rows:
        own = partition["copies"][str(broker)]
        first, last = max(start, log["start"]), min(end, log["end"])
        bounds = {start for _, start in (*own["epochs"], *log["epochs"]) if first < start < last}
        is_asked = own["is_in_isr"] and first < last
        for since, until in pairwise(sorted({first, *bounds, last}) if is_asked else []):
            if _epoch_at(own["epochs"], since) != _epoch_at(log["epochs"], since):
                found.append([broker, since, until])
    return found


def _epoch_at(epochs: list[list[int]], offset: int) -> int | None:
    """epochs: [[epoch, its first offset]], ascending."""
    return next((epoch for epoch, start in reversed(epochs) if start <= offset), None)


def _lost(cluster: Json) -> int:
    """Records that their producer counts as done and that the leaders do not have: what the faults cost, and
    with acks=0 what was never there."""
    means = [each for fault in cluster["faults"] for each in fault["means"] if each["code"] == "lost"]
    partitions, producers = cluster["partitions"].values(), cluster["producers"].values()
    has_ends = all(each["leader"] and each["end"] is not None for each in partitions)
    there = sum(each["end"] for each in partitions) if has_ends else None
    acked = sum(each["counts"]["acked"] for each in producers)
    return max(sum(each["count"] for each in means), acked - there if there is not None else 0)


def _detector(lane: Json, now_us: int, crashed_us: int) -> Json:
    crashed = next((one for one in lane["consumers"].values() if one["state"] == "crashed"), None)
    noticed_us = lane["bill"]["at_us"] if crashed is None else now_us
    of_us = None if crashed is None else crashed["deadline_us"] - crashed_us
    return {
        "kind": "detector",
        "waited_us": noticed_us - crashed_us,
        "of_us": of_us,
        "consumers": _consumers(lane),
    }
