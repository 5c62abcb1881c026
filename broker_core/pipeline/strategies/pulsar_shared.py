"""A Shared subscription: records go to consumers in turn, whatever their key is."""

from collections.abc import Mapping

from broker_core.events import Json
from broker_core.pipeline.strategies.base import Family, RouteTable, Strategy, config_file
from broker_core.pipeline.strategies.turns import turn_routes


def _lane(given: Mapping[str, int]) -> tuple[str, Json]:
    return "shared", dict(given)


def _config(_strategy: Strategy, _start: RouteTable) -> list[Json]:
    return [
        config_file(
            "consumer (Java)",
            "Pulsar 3.2, 4.x",
            [".subscriptionType(SubscriptionType.Shared)", ".receiverQueueSize(1000)"],
        )
    ]


FAMILIES = (Family("pulsar", "shared", None, (), _lane, turn_routes, is_default=False, config=_config),)
