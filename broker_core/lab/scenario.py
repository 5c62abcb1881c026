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
from broker_core.lab.fields import LANE_ID, refuse_unknown
from broker_core.lab.kafka import lane as kafka
from broker_core.lab.kafka.options import check_cluster
from broker_core.lab.kafka.server_rules import SERVER_RULES, assigns_at_server
from broker_core.lab.lesson.frames import CLUSTER, GROUPS, PULSAR, RABBITMQ, TUBEMQ
from broker_core.lab.lesson.lesson import Lesson, lesson_from_json
from broker_core.lab.limits import DEFAULT_LIMITS, Limits
from broker_core.lab.older_names import renamed
from broker_core.lab.pulsar import lane as pulsar
from broker_core.lab.pulsar.options import check_pulsar
from broker_core.lab.rabbitmq import lane as rabbitmq
from broker_core.lab.rabbitmq.options import BEGAN, check_rabbitmq
from broker_core.lab.settings import (
    KAFKA_PARTITIONS,
    LANE_SETTINGS,
    SEED,
    TUBEMQ_PARTITIONS,
    consumer_rate,
    consumers,
    network_delay,
)
from broker_core.lab.shared.in_flight import Watch
from broker_core.lab.shared.lane import Lane
from broker_core.lab.shared.setup import LaneSetup
from broker_core.lab.sizing import check_scenario_size
from broker_core.lab.topic import workload_topic
from broker_core.lab.tubemq import lane as tubemq
from broker_core.lab.tubemq.options import check_tubemq
from broker_core.lab.workload.none import NONE
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
_FIELDS = {"name", "seed", "workload", "lanes", "consumers", "consumer_rate", "lesson"}
_LANE_FIELDS = {
    model: {"id", "model", "algorithm", *(each.name for each in settings)}
    for model, settings in LANE_SETTINGS.items()
}
_ON_NO_FORM = {"kafka": {"cluster"}, "rabbitmq": {BEGAN.name}}
"""The first of older labs."""


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
    seed = SEED.check(raw.get("seed", SEED.default), SEED.name)
    workload = workload_from_json(raw.get("workload", {}), limits, seed)
    accepted = workload.to_json()
    lanes = _check_lanes(raw.get("lanes"), workload_topic(accepted))
    count, rate = consumers(limits), consumer_rate(limits)
    joined = count.check(raw.get(count.name, count.default), count.name)
    check_scenario_size(lanes, "lanes", joined, workload.key_count or 0, limits)
    _check_open(lanes, joined, accepted)
    return Scenario(
        name=name,
        seed=seed,
        workload=accepted,
        lanes=lanes,
        consumers=joined,
        consumer_rate=rate.check(raw.get(rate.name, rate.default), rate.name),
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
        refuse_unknown(entry, _LANE_FIELDS[model] | _ON_NO_FORM.get(model, set()), f"{where}.", where)
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


def _check_open(lanes: tuple[LaneSpec, ...], consumers: int, workload: Json) -> None:
    """A lane that real clients come to is alone with them; records that nobody sends are of such a lab alone."""
    is_open = any(BEGAN.name in lane.options for lane in lanes)
    if is_open != (workload == NONE):
        raise CommandError("workload.kind", "none belongs to a lab that is open to clients, and to no other")
    if is_open and len(lanes) > 1:
        raise CommandError("lanes", "a lane that is open to clients is the only one of its lab")
    if is_open and consumers:
        raise CommandError("consumers", "must be 0 in a lab that is open to clients")


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
    delay = network_delay("")
    if delay.name in entry:
        options[delay.name] = delay.check(entry[delay.name], f"{where}.{delay.name}")
    if model == "pulsar":
        return options | check_pulsar(entry, where)
    topic = entry.get("topic", source_topic)
    if not isinstance(topic, str) or not LANE_ID.fullmatch(topic):
        raise CommandError(f"{where}.topic", "must be 1 to 32 lower-case letters, digits, _ or -")
    options["topic"] = topic
    if model == "rabbitmq":
        return options | check_rabbitmq(entry, where)
    partitions = KAFKA_PARTITIONS if model == "kafka" else TUBEMQ_PARTITIONS
    options["partitions"] = partitions.check(
        entry.get("partitions", partitions.default), f"{where}.partitions"
    )
    if model == "kafka":
        return options | check_cluster(entry, where, topic)
    return options | check_tubemq(entry, where, options["partitions"])
