"""Schemas of what is sent and answered. A lab's are made of its settings, a command's of the registry of commands: no
bound is written twice."""

from typing import Any

from broker_core.lab.commands import COMMANDS
from broker_core.lab.fields import LANE_ID
from broker_core.lab.scenario import LANE_KINDS, LANES_MAX
from broker_core.lab.setting import CHOICE, DECIMAL, LIST, SWITCH, TABLE, WHOLE, Setting
from broker_core.lab.settings import LANE_SETTINGS, SEED, consumer_rate, consumers
from broker_core.lab.workload.parse import record_rate, workload_settings
from dashboard.limits import core_limits
from dashboard.sentences import SENTENCES
from dashboard.settings_form.fields import ANY_LANE, STORED

Json = dict[str, Any]

NAME: Json = {"type": "string", "minLength": 1, "maxLength": 64}
FREE: Json = {"type": "object"}
_TYPES = {DECIMAL: "number", LIST: "array", TABLE: "object"}
_TABLES_THAT_ARE_LISTS = ("more_topics",)


def ref(name: str) -> Json:
    return {"$ref": f"#/components/schemas/{name}"}


def answer(*fields: str) -> Json:
    """An object that has these fields at least."""
    return {"type": "object", "required": list(fields), "properties": {field: {} for field in fields}}


def of_setting(setting: Setting, scope: str) -> Json:
    """A setting's schema, with its bounds, default and sentence."""
    found: Json
    if setting.kind == WHOLE:
        found = {"type": "integer", "minimum": setting.low, "maximum": setting.high}
    elif setting.kind == CHOICE:
        found = {"enum": list(setting.choices)}
    elif setting.kind == SWITCH:
        found = {"type": "boolean"}
    else:
        found = {"type": _TYPES.get(setting.kind, "string")}
    if setting.name in _TABLES_THAT_ARE_LISTS:
        found["type"] = "array"
    if found["type" if "type" in found else "enum"] == "array":
        found["items"] = {}
    if setting.kind == DECIMAL:
        found |= {"minimum": setting.low, "maximum": setting.high}
    if setting.default is not None:
        found["default"] = setting.default
    about = f"setting.{scope}.{setting.name}.about"
    return found | ({"description": str(SENTENCES[about])} if about in SENTENCES else {})


def lane(model: str) -> Json:
    settings = {
        each.name: of_setting(each, "lane" if each.name in ANY_LANE else model)
        for each in LANE_SETTINGS[model]
    }
    algorithms = [entry["id"] for entry in LANE_KINDS[model].algorithms()]
    return {
        "type": "object",
        "required": ["model"],
        "properties": {
            "model": {"const": model},
            "id": {"type": "string", "pattern": f"^{LANE_ID.pattern}$"},
            "algorithm": {"type": "string", "examples": algorithms},
            **settings,
        },
    }


def workload(kind: str) -> Json:
    limits = core_limits()
    settings = {each.name: of_setting(each, "workload") for each in workload_settings(limits)[kind]}
    if kind == STORED:
        settings["keys"] = {"type": "array", "items": {"type": "array"}}
    rate = of_setting(record_rate(limits), "workload")
    return {
        "type": "object",
        "required": ["kind"],
        "properties": {"kind": {"const": kind}, **settings, "rate": rate},
    }


def components() -> dict[str, Json]:
    """Name -> schema."""
    limits = core_limits()
    lab: Json = {
        "name": NAME,
        "seed": of_setting(SEED, "lab"),
        "workload": {"anyOf": [ref(f"Workload_{kind}") for kind in workload_settings(limits)]},
        "lanes": {
            "type": "array", "minItems": 1, "maxItems": LANES_MAX,
            "items": {"anyOf": [ref(f"Lane_{model}") for model in LANE_KINDS]},
        },
        "consumers": of_setting(consumers(limits), "lab"),
        "consumer_rate": of_setting(consumer_rate(limits), "lab"),
    }  # fmt: skip
    return {
        "Scenario": {"type": "object", "properties": lab},
        "LabRequest": {"type": "object", "properties": {**lab, "scenario": ref("Scenario")}},
        **{f"Workload_{kind}": workload(kind) for kind in workload_settings(limits)},
        **{f"Lane_{model}": lane(model) for model in LANE_KINDS},
        "Lab": answer("id", "name", "seed", "workload", "lanes", "status", "position", "rules"),
        "OpenedLab": answer("id", "owner_token", "name", "seed", "workload", "lanes", "status"),
        "Command": {
            "type": "object",
            "required": ["command_id", "kind"],
            "properties": {
                "command_id": {"type": "string", "pattern": "^[A-Za-z0-9][A-Za-z0-9._:-]{0,63}$"},
                "kind": {"enum": list(COMMANDS)},
                "lane": {"type": "string", "default": "all"},
                "consumer": {"type": ["string", "null"]},
                "args": {
                    "type": "object",
                    "description": "; ".join(
                        f"{kind}: {', '.join(sorted(command.ARGS))}"
                        for kind, command in COMMANDS.items()
                        if command.ARGS
                    ),
                },
            },
        },
        "Refusal": {
            "type": "object",
            "required": ["fields"],
            "properties": {
                "fields": {
                    "type": "object",
                    "additionalProperties": {"type": "array", "items": {"type": "string"}},
                }
            },
        },
    }
