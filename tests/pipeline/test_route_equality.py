"""The pipeline and the core agree on the owner of every key, under every strategy;
HIGHWATER_ROUTE_KEYS=1000000 tries a million."""

import os
from collections.abc import Callable

import pytest

from broker_core.hashing.java_hash import java_text, string_hash_unsigned
from broker_core.hashing.jump_hash import jump_hash
from broker_core.hashing.murmur3 import murmur3_32
from broker_core.hashing.phash2 import phash2
from broker_core.kafka.producer.partitioner import partition_for_key
from broker_core.lab.pulsar.owners import NO_KEY_HASH_KEY
from broker_core.lab.pulsar.reading import PulsarReading
from broker_core.lab.rabbitmq.reading import RabbitMqReading
from broker_core.lab.shared.bill import Bill
from broker_core.lab.shared.lane import Lane
from broker_core.pipeline.members import history_check, history_steps
from broker_core.pipeline.routing import route_keys
from broker_core.pipeline.strategies import Strategy, strategies_offered, strategy_parse
from broker_core.pipeline.strategies.base import DEFAULT_SEED
from broker_core.pipeline.strategies.headless import lane_states
from broker_core.pipeline.strategies.pulsar_unnamed import drawn_history
from broker_core.pipeline.strategies.rabbitmq_consistent_hash import EXCHANGE, holders
from broker_core.rabbitmq.properties import NO_PROPERTIES
from tests.pipeline.keys import mixed_keys, workload

COUNT = int(os.environ.get("HIGHWATER_ROUTE_KEYS", "10000"))
HISTORY = {
    "kind": "given",
    "start": 11,  # c1 + "11" and c11 + "1" are one point of the ring of 3.2.0
    "changes": [
        {"kind": "join"},
        {"kind": "crash", "consumer": "c2"},
        {"kind": "leave", "consumer": "c1"},
        {"kind": "rejoin", "consumer": "c2"},
    ],
}
MORE = (
    "pulsar.consistent_hash:points=1",
    "pulsar.consistent_hash:points=1000",
    "kafka.range:partitions=1",
    "kafka.sticky:partitions=97",
)
STRATEGIES = [strategy_parse(f"{each['model']}.{each['algorithm']}") for each in strategies_offered()]
STRATEGIES += [strategy_parse(text) for text in MORE]


def core_owner(strategy: Strategy, steps) -> Callable[[bytes | None], str | None]:
    """The core's own answer, a key at a time: its selector, or its partitioner and what its members hold."""

    def read(lane: Lane, bill: Bill | None) -> Lane:
        return lane

    drawn = drawn_history(steps, DEFAULT_SEED) if strategy.algorithm.endswith("_unnamed") else steps
    # whose each process is, where it draws a name of its own
    whose = {
        name: each
        for now, step in zip(drawn, steps, strict=True)
        for name, each in zip(now.members, step.members, strict=True)
    }
    lane = lane_states(strategy.lane_spec(), drawn, 7, read)[-1]
    units = list((lane.reads.units() or {}).values())
    match strategy.model:
        case "pulsar" if strategy.algorithm != "shared":  # of Shared no key has an owner
            assert isinstance(lane, Lane) and isinstance(lane.reads, PulsarReading)
            select, name_of = (
                lane.reads.subscription().selector.select,
                lane.reads.owners.now(lane.reads.broker()).names,
            )
            return lambda key: whose.get(
                name_of.get(select(murmur3_32(NO_KEY_HASH_KEY if key is None else key)) or "") or ""
            )
        case "kafka" if strategy.algorithm != "keyless":  # a record without a key goes anywhere
            return lambda key: None if key is None else units[partition_for_key(key, len(units))]
        case "tubemq":
            return lambda key: (
                None if key is None else units[string_hash_unsigned(java_text(key)) % len(units)]
            )
        case "rabbitmq" if strategy.algorithm == "consistent_hash":
            assert isinstance(lane.reads, RabbitMqReading)
            return of_exchange(lane)
    return lambda key: None


def of_exchange(lane: Lane) -> Callable[[bytes | None], str | None]:
    """The lab's own exchange; a key that is no text, which no client of the lab can send, by the hash alone."""
    broker, consumers = lane.reads.broker(), holders(lane)
    vhost = broker.vhosts["/"]

    def owner(key: bytes | None) -> str:
        try:
            text = (key or b"").decode()
        except UnicodeDecodeError:
            return consumers[jump_hash(phash2(key), len(consumers))]
        ((_, queue),) = vhost.exchanges[EXCHANGE].bindings.route([text], NO_PROPERTIES)
        return broker.connections[vhost.queues[queue].state.owner].name

    return owner


@pytest.fixture(scope="module")
def routed(spark):
    keys = mixed_keys(COUNT, seed=20_261_121)
    steps = history_steps(history_check(HISTORY))
    rows = route_keys(workload(spark, keys, [1] * COUNT).records, STRATEGIES, steps).toArrow()
    return sorted(key or b"\x00none" for key in keys), rows, steps


def test_every_key_comes_back(routed):
    keys, rows, _ = routed
    assert sorted(key or b"\x00none" for key in rows.column("key").to_pylist()) == keys


@pytest.mark.parametrize("number", range(len(STRATEGIES)), ids=[strategy.id for strategy in STRATEGIES])
def test_pipeline_and_core_name_the_same_owner(routed, number):
    _, rows, steps = routed
    strategy = STRATEGIES[number]
    owner, names = core_owner(strategy, steps), strategy.routes(steps)[-1].names
    got = [None if place < 0 else names[place] for place in rows.column(f"owner_{number}").to_pylist()]
    assert got == [owner(key) for key in rows.column("key").to_pylist()]
    assert strategy.algorithm in ("queue", "shared", "keyless") or set(got) - {None}, "nobody owns anything"


def test_the_ring_of_3_2_0_has_points_that_two_share():
    """Or the units of shared points would go untested."""
    tables = strategy_parse("pulsar.consistent_hash_3_2_0").routes(history_steps(history_check(HISTORY)))
    assert any(table.shared for table in tables)
