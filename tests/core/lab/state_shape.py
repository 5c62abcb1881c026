"""The shape of what a checkpoint holds: each class of a lab's state with its fields, found from the roots by
their annotations."""

from __future__ import annotations

import ast
import hashlib
import inspect
import textwrap
from collections.abc import Iterable
from dataclasses import fields, is_dataclass
from enum import Enum
from typing import Any, get_args, get_type_hints

import msgspec

from broker_core.kafka.cluster import hosted_groups
from broker_core.lab.lab import Lab, LabState
from broker_core.lab.scenario import scenario_from_json
from broker_core.lab.shared.lane_orders import LaneState
from broker_core.lab.shared.ledger import LedgerState
from broker_core.sim.design import Counters
from broker_core.sim.keeping import WorldState
from broker_core.sim.network import LinkState

SUBSCRIPTIONS = ("auto_split", "exclusive", "failover", "shared")
LANES = [
    {"model": "kafka"},
    {"model": "tubemq"},
    {"model": "rabbitmq"},
    *({"id": algorithm, "model": "pulsar", "algorithm": algorithm} for algorithm in SUBSCRIPTIONS),
]


def shape() -> dict[str, str]:
    """Class -> digest of its fields' names and types; of one that writes itself, of how it does."""
    found: dict[str, str] = {}
    waiting = list(roots())
    while waiting:
        kind = waiting.pop()
        name = f"{kind.__module__}.{kind.__qualname__}"
        if name not in found and name.startswith("broker_core."):
            text, named = described(kind)
            found[name] = hashlib.sha256(text.encode()).hexdigest()[:12]
            waiting += named
    return dict(sorted(found.items()))


def roots() -> Iterable[type]:
    yield from (LabState, LaneState, LedgerState, Counters, WorldState, LinkState)
    yield from hosted_groups._KINDS.values()  # named by their class in a checkpoint
    lab = Lab(scenario_from_json({"workload": {"kind": "uniform", "keys": 5, "rate": 1}, "lanes": LANES}))
    for lane in lab.lanes.values():
        yield type(lane.reads.notes)
        yield from (state for state, _ in lane.world.design.kinds.values())
        yield from classes_in(lane.world.design.messages)


def described(kind: type) -> tuple[str, list[type]]:
    """(what is said of a class, the classes that it names)."""
    if issubclass(kind, Enum):
        return repr([(member.name, member.value) for member in kind]), []
    own = vars(kind).get("to_json")
    if own is not None:
        return code_of(own) + code_of(vars(kind).get("from_json")), fields_of(kind)[1]
    return fields_of(kind)


def fields_of(kind: type) -> tuple[str, list[type]]:
    tag = None
    if is_dataclass(kind):
        names = [each.name for each in fields(kind)]
    elif issubclass(kind, msgspec.Struct):
        names, tag = (
            list(kind.__struct_fields__),
            (kind.__struct_config__.tag, kind.__struct_config__.array_like),
        )
    else:
        names = list(getattr(kind, "_fields", ()))
    hints = get_type_hints(kind) if names else {}
    return repr((tag, [(name, spelled(hints[name])) for name in names])), [
        named for name in names for named in classes_in(hints[name])
    ]


def classes_in(annotation: Any) -> list[type]:
    if isinstance(annotation, type) and not get_args(annotation):
        return [annotation]
    return [named for part in get_args(annotation) for named in classes_in(part)]


def spelled(annotation: Any) -> str:
    """A type in words that do not depend on where its module stands in memory."""
    return (
        getattr(annotation, "__name__", "")
        if isinstance(annotation, type) and not get_args(annotation)
        else str(annotation)
    )


def code_of(method: Any) -> str:
    """The code of a method without its words; "": there is none."""
    function = getattr(method, "__func__", method)
    if function is None:
        return ""
    tree = ast.parse(textwrap.dedent(inspect.getsource(function)))
    body = tree.body[0].body  # type: ignore[attr-defined]
    if isinstance(body[0], ast.Expr) and isinstance(body[0].value, ast.Constant):
        del body[0]
    return "".join(ast.dump(statement) for statement in body)
