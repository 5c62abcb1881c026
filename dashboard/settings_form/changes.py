"""What of wanted settings changes a lab that runs: the commands that do it, and the settings that take a new lab."""

from collections.abc import Iterable
from dataclasses import dataclass, field

from broker_core.events import Json
from broker_core.kafka.client.group_consumer.settings import CLASSIC
from broker_core.kafka.client.producer.settings import ACKS_ALL
from broker_core.lab.facts import LabFacts
from broker_core.lab.kafka.facts import KafkaFacts
from broker_core.lab.kafka.server_rules import SERVER_RULES, assigns_at_server
from broker_core.lab.pulsar.facts import PulsarFacts
from broker_core.lab.pulsar.options import ORDERS
from broker_core.lab.pulsar.views.what_if import next_name
from broker_core.lab.rabbitmq.lane import PREFETCH
from broker_core.lab.shared.facts import LaneFacts
from broker_core.lab.tubemq.facts import TubeMqFacts

OUT = ("crashed", "gone")
"""States of a consumer that takes nothing."""
RATE = "workload.rate"
COMMANDS_MAX = 64
"""Of a kind; a change that would take more is one for a new lab."""


@dataclass(slots=True)
class Changes:
    """orders: {kind, lane, consumer?, args}, as POST /api/labs/<id>/commands/ takes them. rest: fields that need a new
    lab, as they are in a scenario."""

    orders: list[Json] = field(default_factory=list)
    rest: list[str] = field(default_factory=list)

    def add(self, where: str, orders: list[Json]) -> None:
        if 0 < len(orders) <= COMMANDS_MAX:
            self.orders += orders
        else:
            self.rest.append(where)


def settings_now(scenario: Json, facts: LabFacts | None, view: Json | None) -> Json:
    """The settings of a lab as commands have left them, without its lesson. view: the last one, for what the programs of
    consumers and producers do."""
    now = {name: value for name, value in scenario.items() if name != "lesson"}
    if facts is None:
        return now
    lanes = []
    for lane in scenario["lanes"]:
        known = facts.lanes[lane["id"]]
        changed: Json = {} if rule_of(lane) == known.algorithm else {"algorithm": known.algorithm}
        if (
            isinstance(known, PulsarFacts)
            and known.order is not None
            and ("order" in lane or known.order != ORDERS[0])
        ):
            changed["order"] = known.order
        if isinstance(known, TubeMqFacts):
            changed["partitions"] = known.size.partitions
        if isinstance(known, KafkaFacts) and known.own_topic in known.topics:
            changed["partitions"] = known.topics[known.own_topic]
        if view is not None:
            changed |= _of_programs({**lane, **changed}, view["lanes"][lane["id"]])
        kept = {
            name: value
            for name, value in lane.items()
            if name != "remote_assignor" or not changed.get("algorithm")
        }
        lanes.append({**kept, **changed})
    rates = set() if view is None else {rate for lane in view["lanes"].values() for rate in _rates(lane)}
    (rate,) = rates if len(rates) == 1 else (scenario["consumer_rate"],)
    alive = max(len(_alive(lane)) for lane in facts.lanes.values())
    if view is not None:
        now["workload"] = {**now["workload"], "rate": view["workload"]["rate"]}
    return {**now, "lanes": lanes, "consumers": alive, "consumer_rate": rate}


def _rates(lane: Json) -> list[int]:
    own = (each for each in lane["consumers"].values() if not each.get("is_real"))
    return [each["capacity"] for each in own if each["state"] not in OUT]


def _of_programs(lane: Json, seen: Json) -> Json:
    """What all programs of a lane do alike, where it is not what the lane began with."""
    found: Json = {}
    protocols = {each["protocol"] for each in seen.get("group", {}).get("members", {}).values()}
    if len(protocols) == 1 and protocols != {lane.get("group_protocol", CLASSIC)}:
        (found["group_protocol"],) = protocols
    acks = seen.get("cluster", {}).get("producers", {}).get("producer", {}).get("acks")
    if acks is not None and acks != lane.get("acks", ACKS_ALL):
        found["acks"] = acks
    counts = {
        each["prefetch_count"]
        for vhost in seen.get("rabbitmq", {}).get("vhosts", {}).values()
        for each in vhost["consumers"].values()
    }
    began_with = lane.get("prefetch", PREFETCH.get(lane["algorithm"]))
    if len(counts) == 1 and "topology" not in lane and counts != {began_with}:
        (found["prefetch"],) = counts
    return found


def rule_of(lane: Json) -> str:
    """The rule that a lane of these settings runs: of a Kafka group of KIP-848 one of the server's."""
    if lane["model"] != "kafka" or not assigns_at_server(lane):
        return str(lane["algorithm"])
    name = SERVER_RULES.get(lane["algorithm"], lane.get("remote_assignor", next(iter(SERVER_RULES.values()))))
    return next(rule for rule, each in SERVER_RULES.items() if each == name)


def changes_of(now: Json, wanted: Json, facts: LabFacts | None, view: Json | None) -> Changes:
    """now: as `settings_now`; wanted: a scenario as the core accepted it. The name is no setting."""
    found, newcomers = Changes(), []
    lanes = {} if facts is None else facts.lanes
    for part in ("seed", "workload"):
        for where in _differing(part, now[part], wanted[part]):
            is_rate = where == RATE and lanes
            found.add(where, [_order("record_rate", "all", rate=wanted[part]["rate"])] if is_rate else [])
    if now["consumers"] != wanted["consumers"]:
        more = wanted["consumers"] - now["consumers"]
        found.add("consumers", [_order("join", "all", count=more)] if more > 0 and lanes else [])
        newcomers = _next_names(view["consumers"], more) if view is not None else []
    if now["consumer_rate"] != wanted["consumer_rate"]:
        names = dict.fromkeys([*(name for lane in lanes.values() for name in _alive(lane)), *newcomers])
        rate = wanted["consumer_rate"]
        found.add("consumer_rate", [_order("slow", "all", consumer=name, rate=rate) for name in names])
    if [(lane["id"], lane["model"]) for lane in now["lanes"]] != [
        (lane["id"], lane["model"]) for lane in wanted["lanes"]
    ]:
        found.rest.append("lanes")
        return found
    for place, (old, new) in enumerate(zip(now["lanes"], wanted["lanes"], strict=True)):
        for name in dict.fromkeys((*old, *new)):
            if name == "algorithm" and rule_of(old) == rule_of(new):
                continue  # at the coordinator a rule of the members' is none
            if old.get(name) != new.get(name):
                where = f"lanes.{place}.{name}"
                known = lanes.get(new["id"])
                found.add(where, [] if known is None else list(_of_lane(known, name, old, new, newcomers)))
    return found


def _of_lane(lane: LaneFacts, name: str, old: Json, new: Json, newcomers: list[str]) -> Iterable[Json]:
    """The commands for one setting of a lane; none where it takes a new lab."""
    value = new.get(name)
    if value is None:
        return
    match name:
        case "algorithm" if value in lane.algorithms:
            yield _order("set_algorithm", lane.id, algorithm=value)
        case "order" if isinstance(lane, PulsarFacts) and lane.order is not None:
            yield _order("set_order", lane.id, order=value)
        case "partitions" if isinstance(lane, KafkaFacts) and value > old["partitions"]:
            yield _order("cluster_add_partitions", lane.id, topic=lane.own_topic, count=value)
        case "partitions" if isinstance(lane, TubeMqFacts) and value > old["partitions"]:
            for broker in range(1, new["brokers"] + 1):
                yield _order("tubemq_expand", lane.id, broker=broker, count=value // new["brokers"])
        case "acks":
            yield _order("cluster_set_acks", lane.id, acks=value)
        case "group_protocol":
            for consumer in (*_alive(lane), *newcomers):
                yield _order("group_restart", lane.id, consumer=consumer, protocol=value)
        case "prefetch":
            for consumer in (*_alive(lane), *newcomers):
                yield _order("rabbitmq_consume", lane.id, consumer=consumer, prefetch=value)


def _next_names(seen: Iterable[str], count: int) -> list[str]:
    """Of the consumers that join next."""
    names = list(seen)
    for _ in range(count):
        names.append(next_name(names))
    return names[len(names) - max(0, count) :]


def _order(kind: str, lane: str, consumer: str | None = None, **args: object) -> Json:
    return {"kind": kind, "lane": lane, **({} if consumer is None else {"consumer": consumer}), "args": args}


def _alive(lane: LaneFacts) -> list[str]:
    return [name for name, each in lane.consumers.items() if not each.has_crashed]


def _differing(part: str, old: object, new: object) -> list[str]:
    if not isinstance(old, dict) or not isinstance(new, dict):
        return [part] if old != new else []
    if old["kind"] != new["kind"]:
        return [f"{part}.kind"]
    return [f"{part}.{name}" for name in dict.fromkeys((*old, *new)) if old.get(name) != new.get(name)]
