"""The form of a scenario: fields with bounds, defaults and values, for the templates. What a field's text is worth is
read in static/js/settings/read.js and judged by the core alone."""

import json
from collections.abc import Iterable, Mapping
from typing import Any

from broker_core.events import Json
from broker_core.lab.kafka.options import BROKERS, CLUSTER, GROUP, LOG, PRODUCER
from broker_core.lab.kafka.server_rules import SERVER_RULES, assigns_at_server
from broker_core.lab.pulsar.options import ACKING, SUBSCRIBING
from broker_core.lab.rabbitmq.options import QUEUE
from broker_core.lab.scenario import DEFAULT_ALGORITHM, LANE_KINDS, LANES_MAX
from broker_core.lab.setting import CHOICE, LIST, SWITCH, TABLE, TEXT, WHOLE, Setting
from broker_core.lab.settings import LANE_SETTINGS, SEED, consumer_rate, consumers
from broker_core.lab.topic import workload_topic
from broker_core.lab.tubemq.options import CLIENTS
from broker_core.lab.workload.parse import record_rate, workload_settings
from dashboard.limits import core_limits

ANY_LANE = ("topic", "network_delay_us")
"""Settings whose words are the same in lanes of each model."""
GROUPS = (CLUSTER, SUBSCRIBING, ACKING, PRODUCER, GROUP, CLIENTS, QUEUE, LOG)
"""In the order of the form."""
NAMES = {"pulsar": "Pulsar", "kafka": "Kafka", "tubemq": "TubeMQ", "rabbitmq": "RabbitMQ"}
STORED = "keys"
"""The kind of workload that holds a study's keys: a form keeps it and changes its rate."""


def form_of(scenario: Json) -> Json:
    """scenario: as `scenario_to_json` gives it. {first, workload, kinds, lanes, blank, algorithms, lanes_max}: `blank`
    is a lane of each model as one begins."""
    limits = core_limits()
    workload = scenario["workload"]
    kinds = {kind: settings for kind, settings in workload_settings(limits).items() if kind != STORED}
    return {
        "rate": shown(record_rate(limits), "workload", workload["rate"]),
        "consumers": shown(consumers(limits), "lab", scenario["consumers"]),
        "consumer_rate": shown(consumer_rate(limits), "lab", scenario["consumer_rate"]),
        "seed": shown(SEED, "lab", scenario["seed"]),
        "kind": workload["kind"],
        "kinds": [*kinds, *([STORED] if workload["kind"] == STORED else [])],
        "workload": [
            {"kind_of": kind}
            | shown(
                each, "workload", workload.get(each.name, each.default) if workload["kind"] == kind else None
            )
            for kind, settings in kinds.items()
            for each in settings
        ],
        "lanes": [lane_form(_as_asked(lane, workload_topic(workload))) for lane in scenario["lanes"]],
        "blank": [lane_form({"model": model}) for model in LANE_KINDS],
        "lanes_max": LANES_MAX,
    }


def _as_asked(lane: Json, topic: str) -> Json:
    """Without what follows from another setting, so that it goes on to follow it."""
    follows = {"topic": topic}
    if lane["model"] == "kafka":
        follows["replication_factor"] = min(BROKERS, lane["brokers"])
    return {name: value for name, value in lane.items() if name not in follows or follows[name] != value}


def lane_form(lane: Json) -> Json:
    """A lane's part of the form: its rule, and its settings by group. lane: an entry of `lanes`."""
    model: str = lane["model"]
    algorithms = [entry["id"] for entry in LANE_KINDS[model].algorithms()]
    if model == "kafka" and assigns_at_server(lane):
        algorithms += SERVER_RULES
    chosen = lane.get("algorithm", DEFAULT_ALGORITHM[model])
    return {
        "model": model,
        "name": NAMES[model],
        "id": lane.get("id", model),
        "algorithm": chosen,
        "algorithms": [
            {"id": each, "code": f"{model}.{each}"} for each in dict.fromkeys((*algorithms, chosen))
        ],
        "groups": [
            {"code": f"setting.group.{group}", "fields": fields}
            for group in GROUPS
            if (fields := list(_fields(LANE_SETTINGS[model], group, lane, model)))
        ],
    }


def _fields(settings: Iterable[Setting], group: str, lane: Mapping[str, Any], model: str) -> Iterable[Json]:
    for each in settings:
        if each.group == group:
            yield shown(each, "lane" if each.name in ANY_LANE else model, lane.get(each.name), is_named=False)


def shown(setting: Setting, scope: str, value: Any = None, *, is_named: bool = True) -> Json:
    """A field: its text is the value that is set, else the default. is_named: its label is words, not the name of the
    setting itself."""
    code = f"setting.{scope}.{setting.name}"
    value = setting.default if value is None else value
    return {
        "name": setting.name,
        "kind": SWITCH if setting.is_switch and setting.default is not None else setting.kind,
        "label": code if is_named else "",
        "about": f"{code}.about",
        "text": _text(setting.kind, value),
        "is_on": value is True,
        "default": _text(setting.kind, setting.default),
        "standard": setting.default,
        "low": setting.low,
        "high": setting.high,
        "has_range": setting.kind == WHOLE or setting.high > 0,
        "says": "key." if (scope, setting.name) == ("workload", "key") else "",
        "unit": f"setting.unit.{setting.unit}" if setting.unit else "",
        "choices": [str(choice).lower() if choice in (True, False) and type(choice) is bool else str(choice)
                    for choice in setting.choices],
        "changed_by": setting.changed_by,
    }  # fmt: skip


def _text(kind: str, value: Any) -> str:
    """As one types it."""
    if value is None:
        return ""
    if kind == LIST:
        return ", ".join(value)
    if kind == TABLE:
        return json.dumps(value, ensure_ascii=False, indent=1)
    if isinstance(value, bool):
        return str(value).lower()
    return str(value) if kind in (WHOLE, CHOICE, TEXT) else f"{value:g}"
