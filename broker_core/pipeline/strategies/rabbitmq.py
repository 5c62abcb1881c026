"""A RabbitMQ queue: keys have no owner, a record goes to the consumer whose turn it is. The table says only
who is there."""

from collections.abc import Mapping

from broker_core.events import Json
from broker_core.lab.rabbitmq.lane import PREFETCH
from broker_core.lab.rabbitmq.topology import PREFETCH_MAX
from broker_core.pipeline.strategies.base import (
    Family,
    Param,
    RouteTable,
    Strategy,
    config_file,
)
from broker_core.pipeline.strategies.turns import turn_routes

PREFETCHED = (Param("prefetch", 5, 0, PREFETCH_MAX),)
_ALGORITHMS = {count: name for name, count in PREFETCH.items()}


def prefetch_lane(given: Mapping[str, int]) -> tuple[str, Json]:
    """The lab names three numbers; any other is an option of the lane, under the name of the default."""
    prefetch = given["prefetch"]
    if prefetch in _ALGORITHMS:
        return _ALGORITHMS[prefetch], {}
    return next(iter(PREFETCH)), {"prefetch": prefetch}


def _config(strategy: Strategy, _: RouteTable) -> list[Json]:
    return [
        config_file(
            "consumer (Java)",
            "RabbitMQ 3.x, 4.x",
            [
                f"channel.basicQos({strategy.params['prefetch']});  // 0: no limit",
                'channel.basicConsume("QUEUE", false, consumer);',
            ],
        )
    ]


FAMILIES = (
    Family(
        "rabbitmq",
        "queue",
        None,
        PREFETCHED,
        prefetch_lane,
        turn_routes,
        config=_config,
    ),
)
