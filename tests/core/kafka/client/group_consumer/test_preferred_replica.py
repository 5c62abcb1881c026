"""A follower that the leader names for reading, and when it is given up."""

from __future__ import annotations

import pytest

from broker_core.kafka.cluster import requests as r
from broker_core.sim.node import Closed
from tests.core.kafka.client.consumer_bench import SECOND, Bench


def asked_brokers(bench: Bench) -> dict[int, int]:
    """Broker -> position, of the fetches of partition 0; they are taken out of what was sent."""
    state = bench.state
    brokers = [state.network.broker_of[connection] for connection, _ in bench.to(r.FetchRequest)]
    return {broker: state.fetches.sessions[broker].sent["t", 0][0] for broker in brokers}


def fetched(bench: Bench, broker: int, now_us: int, *, code: int = 0, prefers: int = -1) -> None:
    """The broker answers the fetch of partition 0: nothing new, an error, or that it is to be read from
    another replica."""
    part = r.FetchedPartition("t", 0, code, 5, 5, 0, (), None, prefers)
    bench.node.receive(bench.state.network.connections[broker], r.FetchResponse([part]), now_us, bench.out)


def pass_time(bench: Bench, until_us: int) -> None:
    """Wake it for what is due, and give it the metadata that it asks for."""
    bench.serve(until_us)
    while due := [
        (at_us, name)
        for name, at_us in bench.out.deadlines.items()
        if at_us <= until_us and name != "heartbeat"
    ]:
        at_us, name = min(due)
        del bench.out.deadlines[name]
        bench.node.wake(name, at_us, bench.out)
        bench.serve(at_us)


@pytest.mark.parametrize("way", ["closed", "timed out", "refused", "out of range"])
def test_a_preferred_replica_that_cannot_serve_is_given_up_for_the_leader(way: str) -> None:
    bench = Bench(client_rack="c")
    bench.start()
    bench.join(0)
    assert asked_brokers(bench) == {1: 0}
    fetched(bench, 1, SECOND, prefers=3)
    assert asked_brokers(bench) == {3: 0}, "the follower in its rack"
    now_us = 2 * SECOND
    if way == "closed":
        bench.node.receive(bench.state.network.connections[3], Closed("reset"), now_us, bench.out)
    elif way == "timed out":
        now_us = 40 * SECOND
        pass_time(bench, now_us)
    else:
        fetched(bench, 3, now_us, code=1 if way == "out of range" else 6)
    pass_time(bench, now_us + SECOND)
    assert asked_brokers(bench) == {1: 0}


def test_a_preferred_replica_that_is_not_among_the_brokers_is_passed_over() -> None:
    bench = Bench(client_rack="c")
    bench.start()
    bench.join(0)
    asked_brokers(bench)
    fetched(bench, 1, SECOND, prefers=9)
    assert asked_brokers(bench) == {1: 0}
    assert bench.to(r.MetadataRequest), "there may be newer metadata"


def test_a_preferred_replica_is_one_for_as_long_as_metadata_are_valid() -> None:
    bench = Bench(client_rack="c", metadata_max_age_ms=300_000)
    bench.start()
    bench.join(0)
    asked_brokers(bench)
    fetched(bench, 1, 0, prefers=3)
    assert asked_brokers(bench) == {3: 0}
    fetched(bench, 3, 299 * SECOND)
    assert asked_brokers(bench) == {3: 0}
    fetched(bench, 3, 301 * SECOND)
    assert asked_brokers(bench) == {1: 0}
