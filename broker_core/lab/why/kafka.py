"""Things of a Kafka lane: partition (who reads it), replicas (of a partition, who leads and who is in sync), replica
(one broker's copy), broker, group."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

from broker_core.events import Json
from broker_core.lab.kafka.reading import KafkaClusterReading
from broker_core.lab.kafka.views.cluster import cluster_view
from broker_core.lab.why.known import UNSAID, Known, parts_of, said, sum_of, told_of, unknown
from broker_core.lab.why.shared import is_about_partition

if TYPE_CHECKING:
    from broker_core.lab.shared.lane import Lane

OF_READERS = ("kafka.group.", "kafka.consumer.", "kafka.member.", "kafka.admin.")
SILENCING = ("cluster_crash", "cluster_cut_power", "cluster_lose_disk", "cluster_pause", "cluster_stop")
WAKING = ("cluster_come_back", "cluster_resume")
OF_REPLICAS = ("kafka.partition.", "kafka.replica.", "kafka.log.", "kafka.controller.")


def partition(lane: Lane, name: str) -> Known:
    """A partition of the lane's own topic, by its number."""
    picture = lane.reads.picture()
    part = picture["partitions"].get(name)
    if part is None:
        raise unknown("partition", name)
    topic = picture["topic"]
    sums = [
        sum_of("lag_position", lag=part["lag"], end=part["end"], position=part["position"]),
    ]
    if part["committed"] is not None and part["high_watermark"] is not None:
        lag = part["high_watermark"] - part["committed"]
        sums.append(
            sum_of(
                "lag_committed", lag=lag, high_watermark=part["high_watermark"], committed=part["committed"]
            )
        )
    if part["lag"] != part["end"] - part["position"]:
        del sums[0]
    return Known(
        _read_by(name, part["owner"], part["stopped"]),
        lambda event: event["kind"].startswith(OF_READERS) and is_about_partition(event, (name,), topic),
        sums,
        part["owner"],
        lambda event: _owner_after(event, name, topic),
    )


def _read_by(name: str, owner: str | None, is_stopped: bool) -> Json:
    if owner is None:
        return said("partition.none", partition=name)
    return said("partition.paused" if is_stopped else "partition.read", partition=name, consumer=owner)


def _owner_after(event: Json, name: str, topic: str) -> Any:
    """The group's word counts, and what a member says when it begins to read."""
    told = told_of(event)
    if told.get("topic", topic) != topic:
        return UNSAID
    assignment = told.get("assignment")
    if event["kind"].startswith("kafka.group.") and isinstance(assignment, dict):
        lists = {owner: units for owner, units in assignment.items() if isinstance(units, list)}
        owners = [owner for owner, units in lists.items() if name in map(str, units)]
        return owners[0] if owners else None
    if event["kind"] == "kafka.consumer.assigned" and name in map(str, told.get("partitions") or ()):
        return told["consumer"]
    return UNSAID


def _cluster(lane: Lane) -> Json:
    if not isinstance(lane.reads, KafkaClusterReading):
        return {"partitions": {}, "brokers": {}}
    return cluster_view(lane.world)


def replicas(lane: Lane, name: str) -> Known:
    """topic-number: the leader, the in-sync replicas, the high watermark."""
    part = _cluster(lane)["partitions"].get(name)
    if part is None:
        raise unknown("partition", name)
    topic, number = name.rsplit("-", 1)
    params = {"partition": name, "leader": part["leader"], "isr": part["isr"], "epoch": part["leader_epoch"]}
    has_leader = part["leader"] is not None and part["leader"] >= 0
    return Known(
        said("replicas" if has_leader else "replicas.none", **params),
        lambda event: event["kind"].startswith(OF_REPLICAS) and _names(event, topic, number),
        _watermark(part) if has_leader else [],
    )


def _names(event: Json, topic: str, number: str) -> bool:
    told = told_of(event)
    return told.get("topic") == topic and str(told.get("partition")) == number


def _watermark(part: Json) -> list[Json]:
    """The leader's high watermark: the smallest end offset that it knows of the in-sync replicas."""
    leader = part["copies"].get(str(part["leader"]))
    if leader is None or not leader["followers"]:
        return []
    ends = {str(part["leader"]): leader["end"]}
    ends |= {
        broker: known["end"] for broker, known in leader["followers"].items() if int(broker) in part["isr"]
    }
    least, mark = min(ends.values()), leader["high_watermark"]
    items = [{"broker": broker, "end": end} for broker, end in ends.items()]
    code = "high_watermark" if least == mark else "high_watermark_waits"
    return [sum_of(code, parts_of("end", items), high_watermark=mark, least=least)]


def replica(lane: Lane, name: str) -> Known:
    """topic-number/broker: one copy of a partition."""
    whole, _slash, broker = name.partition("/")
    part = _cluster(lane)["partitions"].get(whole) or {"copies": {}}
    copy = part["copies"].get(broker)
    if copy is None:
        raise unknown("replica", name)
    topic, number = whole.rsplit("-", 1)
    params = {"partition": whole, "broker": broker, "end": copy["end"], "mark": copy["high_watermark"]}
    is_leader = copy["role"] == "leads"
    sums = _watermark(part) if is_leader else []
    leader = part["copies"].get(str(part["leader"]))
    if not is_leader and leader is not None:
        params["leader"] = part["leader"]
        behind = leader["end"] - copy["end"]
        sums.append(sum_of("replica_behind", behind=behind, leader_end=leader["end"], end=copy["end"]))
        sums.append(
            sum_of("follower_mark", mark=copy["high_watermark"], leader_mark=leader["high_watermark"])
        )
    code = "replica.leader" if is_leader else "replica.in_sync" if copy["is_in_isr"] else "replica.out"
    return Known(
        said(code, **params),
        lambda event: (
            event["kind"].startswith(OF_REPLICAS)
            and _names(event, topic, number)
            and str(told_of(event).get("broker", broker)) == broker
        ),
        sums,
    )


def broker(lane: Lane, name: str) -> Known:
    known = _cluster(lane)["brokers"].get(name)
    if known is None:
        raise unknown("broker", name)
    code = "broker.fenced" if known["is_fenced"] else "broker"
    return Known(
        said(code, broker=name, condition=known["condition"], leads=known["leads"]),
        lambda event: _is_about_broker(event, int(name)),
    )


def _is_about_broker(event: Json, number: int) -> bool:
    told = told_of(event)
    named = [told.get("broker"), told.get("leader"), told.get("coordinator"), told.get("was_leader")]
    moved = [*(told.get("came") or ()), *(told.get("left") or ())]
    return event["kind"].startswith((*OF_REPLICAS, "kafka.broker.")) and number in [*named, *moved]


def group(lane: Lane, name: str) -> Known:
    """The lane's own group."""
    picture = lane.reads.picture()
    return Known(
        said("group", group=name, state=picture["state"], generation=picture["generation"]),
        lambda event: event["kind"].startswith("kafka.group."),
    )


def with_silencer(event: Json, lane_id: str, orders: Mapping[int, Json]) -> Json:
    """The controller that fences a broker heard nothing and knows no more; the lab knows whose order silenced it."""
    if event["kind"] != "kafka.broker.fenced" or (event["cause"] or {}).get("command") is not None:
        return event
    about = [
        position
        for position, tick in orders.items()
        if tick["kind"] in SILENCING + WAKING
        and str(tick.get("broker")) == str(event["data"]["broker"])
        and tick.get("lane") in (None, lane_id)
        and tick["at_us"] <= event["at_us"]
    ]
    if not about or orders[max(about)]["kind"] in WAKING:
        return event
    return {**event, "cause": {"command": max(about)}}
