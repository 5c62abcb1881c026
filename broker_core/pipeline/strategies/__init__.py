"""The strategies that a study compares. Each module of this package with FAMILIES adds its own: a new
strategy is one small file.

>>> strategy_parse("kafka.range:partitions=24").params
{'partitions': 24}
>>> strategy_parse("pulsar.consistent_hash").id
'pulsar.consistent_hash:points=100'
"""

import re
from importlib import import_module
from pkgutil import iter_modules
from types import MappingProxyType

from broker_core.errors import CommandError, Names
from broker_core.events import Json
from broker_core.pipeline.strategies.base import NOBODY, Family, Param, RouteTable, SlotRule, Step, Strategy

__all__ = [
    "FAMILIES",
    "NOBODY",
    "Family",
    "Param",
    "RouteTable",
    "SlotRule",
    "Step",
    "Strategy",
    "strategies_default",
    "strategies_offered",
    "strategies_parse",
    "strategy_parse",
]

STRATEGIES_MAX = 32
_MODEL_ORDER = ("pulsar", "kafka", "tubemq", "rabbitmq")
_PARAM = re.compile(r"([a-z_]{1,40})=(\d{1,9})")


def _collect() -> dict[str, Family]:
    found: list[Family] = []
    for module in iter_modules(__path__, f"{__name__}."):
        found += getattr(import_module(module.name), "FAMILIES", ())
    # By model, and by algorithm where a model's families come from several files: the same order on every
    # machine.
    found.sort(key=lambda family: (_MODEL_ORDER.index(family.model), not family.is_default))
    return {family.id: family for family in found}


FAMILIES = MappingProxyType(_collect())
"""Family id -> family."""


def strategy_parse(text: object, field: str = "strategies") -> Strategy:
    """Read "model.algorithm:name=number,...". Raises CommandError at `field` for what is not known or out of
    range."""
    if not isinstance(text, str):
        raise CommandError(field, "must be text")
    family_id, _, rest = text.partition(":")
    family = FAMILIES.get(family_id)
    if family is None:
        raise CommandError(field, "must be one of {choices}", choices=Names(FAMILIES))
    given: dict[str, int] = {}
    for part in rest.split(",") if rest else ():
        match = _PARAM.fullmatch(part)
        if match is None or match[1] in given:
            raise CommandError(field, "must look like {example}", example=family.make({}, field).id)
        given[match[1]] = int(match[2])
    return family.make(given, field)


def strategies_parse(texts: object, field: str = "strategies") -> list[Strategy]:
    """Read a list of ids. Raises CommandError at `field`, or at `field`.i for the i-th; none may come
    twice."""
    if not isinstance(texts, list) or not 1 <= len(texts) <= STRATEGIES_MAX:
        raise CommandError(field, "must be a list of 1 to {high} strategies", high=STRATEGIES_MAX)
    strategies: list[Strategy] = []
    for place, text in enumerate(texts):
        strategy = strategy_parse(text, f"{field}.{place}")
        if any(strategy.id == other.id for other in strategies):
            raise CommandError(f"{field}.{place}", "{strategy} is listed twice", strategy=strategy.id)
        strategies.append(strategy)
    return strategies


def strategies_default() -> list[Strategy]:
    """What a study compares when nobody chose: the real systems' rules with their default numbers."""
    return [family.make({}, "strategies") for family in FAMILIES.values() if family.is_default]


def strategies_offered() -> list[Json]:
    """Everything that can be chosen, in the order of a page: model, algorithm, document, default, params with
    their limits."""
    return [family.to_json() for family in FAMILIES.values()]
