"""RabbitMQ's consistent-hash exchange: each consumer binds a queue of its own with a weight of 1, so that a key stays with
one consumer, in order.

The queue is exclusive: it goes with its consumer, the buckets of all that bound later move down, and what waited in it is
lost. Names play no part; who was bound before whom does, which the lane's own network decides.
"""

from collections.abc import Mapping, Sequence

import numpy as np

from broker_core.errors import InvariantError
from broker_core.events import Json
from broker_core.hashing.jump_columns import jump_slots
from broker_core.hashing.jump_hash import SEED_BITS, SEED_MASK
from broker_core.lab.rabbitmq.reading import RabbitMqReading
from broker_core.lab.rabbitmq.topology import check_topology
from broker_core.lab.shared.bill import Bill
from broker_core.lab.shared.lane import Lane
from broker_core.pipeline.strategies.base import (
    NOBODY,
    Family,
    Owners,
    RouteTable,
    SlotRule,
    Step,
    Strategy,
    config_file,
)
from broker_core.pipeline.strategies.headless import lane_states, live_names
from broker_core.pipeline.strategies.rabbitmq import PREFETCHED, prefetch_lane
from broker_core.rabbitmq.exchanges.consistent_hash import ConsistentHash
from broker_core.rabbitmq.loading import DEFAULT_VHOST

EXCHANGE, WEIGHT = "keys", "1"
VERSION = "RabbitMQ 3.10"
TOPOLOGY: Json = {
    "exchanges": [{"name": EXCHANGE, "type": ConsistentHash.name}],
    "publishers": [{"exchange": EXCHANGE, "routing_key": "{key}"}],
    "consumers": [{"queue": "", "bindings": [{"exchange": EXCHANGE, "routing_key": WEIGHT}]}],
}


def _lane(given: Mapping[str, int]) -> tuple[str, Json]:
    algorithm, options = prefetch_lane(given)
    return algorithm, {**options, "topology": check_topology(TOPOLOGY, "topology")}


def _routes(strategy: Strategy, steps: Sequence[Step], seed: int, topic: str) -> list[RouteTable]:
    names: dict[str, int] = {}
    before: list[Owners] = []

    def read(lane: Lane, bill: Bill | None) -> RouteTable:
        for name in lane.consumers:
            names.setdefault(name, len(names))
        owners = np.array([names[name] for name in holders(lane)], np.int16)
        moved = _moved(before[-1], owners) if before else None
        before.append(owners)
        return RouteTable(
            kind="buckets",
            names=tuple(names),
            live=live_names(lane),
            owners=owners,
            bounds=np.array([], np.int64),
            rule=SlotRule(SEED_MASK),
            space=1 << SEED_BITS,
            space_moved=moved,
        )

    return lane_states(strategy.lane_spec(topic=topic), steps, seed, read)


def holders(lane: Lane) -> list[str]:
    """The consumer of each bucket."""
    if not isinstance(lane.reads, RabbitMqReading):
        raise InvariantError("no lane of RabbitMQ")
    broker = lane.reads.broker()
    vhost = broker.vhosts[DEFAULT_VHOST]
    exchange = vhost.exchanges[EXCHANGE].bindings
    found = sorted((*exchange.buckets(each), each.destination[1]) for each in exchange)
    return [
        broker.connections[vhost.queues[queue].state.owner].name
        for _, count, queue in found
        for _ in range(count)
    ]


def _moved(before: Owners, now: Owners) -> int:
    """The part of the slots that have changed hands, in millionths."""
    was, held = (
        owners[jump_slots(len(owners))] if len(owners) else np.full(1 << SEED_BITS, NOBODY, np.int16)
        for owners in (before, now)
    )
    return round(int((was != held).sum()) * 1_000_000 / len(was))


def _config(strategy: Strategy, _: RouteTable) -> list[Json]:
    return [
        config_file(
            "server",
            VERSION,
            ["rabbitmq-plugins enable rabbitmq_consistent_hash_exchange"],
        ),
        config_file(
            "consumer (Java)",
            VERSION,
            [
                f'channel.exchangeDeclare("{EXCHANGE}", "{ConsistentHash.name}", true);',
                "String queue = channel.queueDeclare().getQueue();  // its own: it goes with the consumer, and what waits in it",
                f'channel.queueBind(queue, "{EXCHANGE}", "{WEIGHT}");  // a weight',
                f"channel.basicQos({strategy.params['prefetch']});  // 0: no limit",
                "channel.basicConsume(queue, false, consumer);",
            ],
        ),
        config_file(
            "producer (Java)",
            VERSION,
            [f'channel.basicPublish("{EXCHANGE}", key, properties, body);'],
        ),
    ]


FAMILIES = (
    Family(
        "rabbitmq",
        "consistent_hash",
        "phash2",
        PREFETCHED,
        _lane,
        _routes,
        is_default=False,
        config=_config,
    ),
)
