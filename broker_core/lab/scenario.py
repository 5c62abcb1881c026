"""A scenario: all that a lab begins with. With the seed and the commands it is the whole experiment.

`{"name", "seed", "workload": {...}, "lanes": [{"id", "model", "algorithm", ...}], "consumers": 3,
"consumer_rate": 10, "lesson"}`; every key may be left out, `{}` is the demo: 3 consumers that take 10 records
a second each, 36 flights a second by tail number, four lanes with 12 partitions.
"""

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from types import MappingProxyType

from broker_core.errors import CommandError, Names
from broker_core.events import Json
from broker_core.kafka.cluster import cluster
from broker_core.lab.fields import LANE_ID, refuse_unknown, whole
from broker_core.lab.kafka import lane as kafka
from broker_core.lab.kafka.options import CLUSTER_FIELDS, check_cluster
from broker_core.lab.kafka.server_rules import SERVER_RULES, assigns_at_server
from broker_core.lab.lesson.lesson import CLUSTER, GROUPS, PULSAR, RABBITMQ, TUBEMQ, Lesson, lesson_from_json
from broker_core.lab.limits import DEFAULT_LIMITS, Limits
from broker_core.lab.older_names import renamed
from broker_core.lab.pulsar import lane as pulsar
from broker_core.lab.pulsar.options import PULSAR_FIELDS, check_pulsar
from broker_core.lab.rabbitmq import lane as rabbitmq
from broker_core.lab.rabbitmq.topology import PREFETCH_MAX, check_topology
from broker_core.lab.shared.in_flight import Watch
from broker_core.lab.shared.lane import Lane
from broker_core.lab.shared.setup import LaneSetup
from broker_core.lab.sizing import check_scenario_size
from broker_core.lab.topic import workload_topic
from broker_core.lab.tubemq import lane as tubemq
from broker_core.lab.tubemq.options import TUBEMQ_FIELDS, check_tubemq
from broker_core.lab.workload.parse import workload_from_json


@dataclass(frozen=True, slots=True)
class LaneKind:
    """A model that a lane can run. make: a lane of it, whose messages a watch may see. algorithms: what it
    can run, the default first."""

    make: Callable[[LaneSetup, Watch | None], Lane]
    algorithms: Callable[[], list[Json]]


LANE_KINDS: Mapping[str, LaneKind] = MappingProxyType({
    "pulsar": LaneKind(pulsar.make_lane, pulsar.algorithms),
    "kafka": LaneKind(kafka.make_lane, kafka.algorithms),
    "tubemq": LaneKind(tubemq.make_lane, tubemq.algorithms),
    "rabbitmq": LaneKind(rabbitmq.make_lane, rabbitmq.algorithms),
})  # fmt: skip
DEFAULT_ALGORITHM = MappingProxyType(
    {"pulsar": "consistent_hash", "kafka": "range", "tubemq": "modulo", "rabbitmq": "prefetch_5"}
)
LANES_MAX = 8
PARTITIONS_MAX = cluster.PARTITIONS_MAX
"""Of a topic, in Kafka and TubeMQ."""
NETWORK_DELAY_MAX_US = 1_000_000
SEED_MAX = 2**63 - 1
_FIELDS = {"name", "seed", "workload", "lanes", "consumers", "consumer_rate", "lesson"}
_LANE_FIELDS = {
    "pulsar": {"network_delay_us", *PULSAR_FIELDS},
    "kafka": {"partitions", "topic", "network_delay_us", *CLUSTER_FIELDS},
    "tubemq": {"partitions", "topic", "network_delay_us", *TUBEMQ_FIELDS},
    "rabbitmq": {"topic", "prefetch", "consumer_timeout_ms", "topology", "network_delay_us"},
}


@dataclass(frozen=True, slots=True)
class LaneSpec:
    id: str
    model: str
    algorithm: str
    options: Json


@dataclass(frozen=True, slots=True)
class Scenario:
    """workload: as the workload's own checks accepted it. consumers: how many join at the start.
    consumer_rate: records per second each.
    lesson: what it tells and does on its own, None for a lab that only begins."""

    name: str
    seed: int
    workload: Json
    lanes: tuple[LaneSpec, ...]
    consumers: int
    consumer_rate: int
    lesson: Lesson | None = None


def parts_of_scenario(scenario: Scenario, limits: Limits = DEFAULT_LIMITS) -> int:
    """What a lab of it costs at its beginning (`size.py`)."""
    keys = workload_from_json(scenario.workload, limits, scenario.seed).key_count or 0
    return check_scenario_size(scenario.lanes, "lanes", scenario.consumers, keys, limits)


def algorithm_ids(model: str) -> list[str]:
    """The algorithms that a lane of this model can run, the default first."""
    return [entry["id"] for entry in LANE_KINDS[model].algorithms()]


def pages_of(lane: LaneSpec) -> tuple[str, ...]:
    """The pages that a lane of this kind has beside the Stage."""
    if lane.model == "kafka":
        return CLUSTER, GROUPS
    return {"pulsar": (PULSAR,), "tubemq": (TUBEMQ,), "rabbitmq": (RABBITMQ,)}.get(lane.model, ())


def scenario_from_json(raw: object, limits: Limits = DEFAULT_LIMITS) -> Scenario:
    """Check a scenario and fill in what it leaves out. Raises CommandError at the field that is wrong."""
    if not isinstance(raw, dict):
        raise CommandError("scenario", "must be an object")
    raw = renamed(raw, "lanes")
    refuse_unknown(raw, _FIELDS, "", "scenario")
    name = raw.get("name", "demo")
    if not isinstance(name, str) or not 1 <= len(name) <= 64 or not name.isprintable():
        raise CommandError("name", "must be 1 to 64 printable characters")
    seed = whole("seed", raw.get("seed", 7), 0, SEED_MAX)
    workload = workload_from_json(raw.get("workload", {}), limits, seed)
    accepted = workload.to_json()
    lanes = _check_lanes(raw.get("lanes"), workload_topic(accepted))
    consumers = whole("consumers", raw.get("consumers", 3), 0, limits.consumers_max)
    check_scenario_size(lanes, "lanes", consumers, workload.key_count or 0, limits)
    return Scenario(
        name=name,
        seed=seed,
        workload=accepted,
        lanes=lanes,
        consumers=consumers,
        consumer_rate=whole("consumer_rate", raw.get("consumer_rate", 10), 1, limits.service_per_second_max),
        lesson=lesson_from_json(raw["lesson"], {lane.id: pages_of(lane) for lane in lanes}, limits)
        if raw.get("lesson") is not None
        else None,
    )


def scenario_to_json(scenario: Scenario) -> Json:
    """The scenario as `scenario_from_json` takes it."""
    return {
        "name": scenario.name,
        "seed": scenario.seed,
        "workload": scenario.workload,
        "consumers": scenario.consumers,
        "consumer_rate": scenario.consumer_rate,
        "lanes": [
            {"id": lane.id, "model": lane.model, "algorithm": lane.algorithm, **lane.options}
            for lane in scenario.lanes
        ],
        **({} if scenario.lesson is None else {"lesson": scenario.lesson.to_json()}),
    }


def step_end_us(scenario: Scenario, now_us: int, arrival_us: int) -> int:
    """Where a step from now leads: to the next record, at arrival_us, or to a moment of the lesson before
    it."""
    return arrival_us if scenario.lesson is None else scenario.lesson.stop_us(now_us, arrival_us)


def _check_lanes(raw: object, topic: str) -> tuple[LaneSpec, ...]:
    if raw is None:
        raw = [{"model": model} for model in LANE_KINDS]
    if not isinstance(raw, list) or not 1 <= len(raw) <= LANES_MAX:
        raise CommandError("lanes", "must be a list of 1 to {high} lanes", high=LANES_MAX)
    specs: list[LaneSpec] = []
    for place, entry in enumerate(raw):
        where = f"lanes.{place}"
        if not isinstance(entry, dict):
            raise CommandError(where, "must be an object")
        model = entry.get("model")
        if not isinstance(model, str) or model not in LANE_KINDS:
            raise CommandError(f"{where}.model", "must be one of {choices}", choices=Names(LANE_KINDS))
        refuse_unknown(entry, {"id", "model", "algorithm"} | _LANE_FIELDS[model], f"{where}.", where)
        lane_id = entry.get("id", model)
        if not isinstance(lane_id, str) or not LANE_ID.fullmatch(lane_id) or lane_id in ("all", "lab"):
            raise CommandError(
                f"{where}.id", "must be 1 to 32 lower-case letters, digits, _ or -, and not all or lab"
            )
        if any(spec.id == lane_id for spec in specs):
            raise CommandError(f"{where}.id", "{lane} is listed twice", lane=lane_id)
        algorithm = entry.get("algorithm", DEFAULT_ALGORITHM[model])
        _check_algorithm(model, algorithm, entry, where)
        specs.append(LaneSpec(lane_id, model, algorithm, _check_options(model, entry, where, topic)))
    return tuple(specs)


def _check_algorithm(model: str, algorithm: object, entry: Json, where: str) -> None:
    """Raise CommandError unless a lane of this model can run it. A rule of the server's needs a group that
    the coordinator assigns."""
    known = algorithm_ids(model)
    name = SERVER_RULES.get(algorithm) if model == "kafka" and isinstance(algorithm, str) else None
    if name is not None and not assigns_at_server(entry):
        raise CommandError(
            f"{where}.algorithm",
            "{rule} is the coordinator's own rule, for group_protocol consumer: in the classic protocol "
            "members assign",
            rule=algorithm,
        )
    if name is not None and entry.get("remote_assignor", name) != name:
        raise CommandError(
            f"{where}.remote_assignor",
            "{rule} asks for the assignor {name}: leave one of the two out",
            rule=algorithm,
            name=name,
        )
    if model == "kafka" and assigns_at_server(entry):
        known = [*known, *SERVER_RULES]
    if algorithm not in known:
        raise CommandError(f"{where}.algorithm", "must be one of {choices}", choices=Names(known))


def _check_options(model: str, entry: Json, where: str, source_topic: str) -> Json:
    options: Json = {}
    if "network_delay_us" in entry:
        options["network_delay_us"] = whole(
            f"{where}.network_delay_us", entry["network_delay_us"], 1, NETWORK_DELAY_MAX_US
        )
    if model == "pulsar":
        return options | check_pulsar(entry, where)
    topic = entry.get("topic", source_topic)
    if not isinstance(topic, str) or not LANE_ID.fullmatch(topic):
        raise CommandError(f"{where}.topic", "must be 1 to 32 lower-case letters, digits, _ or -")
    options["topic"] = topic
    if model in ("kafka", "tubemq"):
        options["partitions"] = whole(f"{where}.partitions", entry.get("partitions", 12), 1, PARTITIONS_MAX)
    if model == "kafka":
        options |= check_cluster(entry, where, topic)
    if model == "tubemq":
        options |= check_tubemq(entry, where, options["partitions"])
    if "prefetch" in entry:
        # Instead of the number in the algorithm's name, until the lane is switched to another.
        options["prefetch"] = whole(f"{where}.prefetch", entry["prefetch"], 0, PREFETCH_MAX)
    if "consumer_timeout_ms" in entry:
        options["consumer_timeout_ms"] = whole(
            f"{where}.consumer_timeout_ms", entry["consumer_timeout_ms"], 0, rabbitmq.CONSUMER_TIMEOUT_MAX_MS
        )
    if entry.get("topology") is not None:
        options["topology"] = check_topology(entry["topology"], f"{where}.topology")
    return options
