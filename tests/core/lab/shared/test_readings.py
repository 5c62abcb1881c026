"""What a lane's answers say of one another, at every moment of small random lives: owners, weights, darkness,
lag and the picture agree."""

import random
from collections.abc import Iterator
from typing import Any

import pytest

from broker_core.errors import CommandError
from broker_core.lab.lab import Lab
from broker_core.lab.shared.lane import Lane
from tests.core.lab.small import lab_of, lane_of, order

LANES: dict[str, dict[str, Any]] = {
    "rabbitmq": {"model": "rabbitmq"},
    "tubemq": {"model": "tubemq", "partitions": 6},
    "kafka": {"model": "kafka", "partitions": 6, "brokers": 1},
    "ring": {"model": "pulsar"},
    "sticky": {"model": "pulsar", "algorithm": "sticky"},
    "shared": {"model": "pulsar", "algorithm": "shared"},
    "failover": {"model": "pulsar", "algorithm": "failover", "partitions": 6},
    "cluster": {"model": "kafka", "partitions": 4, "brokers": 3, "offsets_partitions": 1},
}
PARTITIONED = ("tubemq", "kafka", "failover", "cluster")
KEYED = ("tubemq", "kafka", "cluster", "ring", "sticky")
WAITS = (0, 1, 40_000, 700_000, 3_000_000, 20_000_000)


def looks(name: str, seed: int) -> Iterator[tuple[Lab, Lane]]:
    """The lab at many moments of its life: before and after each order, and while its consequences come."""
    draw = random.Random(seed)
    lab = lab_of(**LANES[name], consumers=draw.choice([2, 3]), rate=8, keys=9, seconds=8)
    yield lab, lane_of(lab)
    for _ in range(7):
        kind = draw.choice(["join", "join", "leave", "crash", "crash", "rejoin", "pause", "resume", "slow"])
        try:
            order(lab, kind, None if kind == "join" else draw.choice(list(lab.seen) or ["c1"]))
        except CommandError:
            continue
        yield lab, lane_of(lab)
        for wait_us in draw.sample(WAITS, 2):
            lab.advance_to(lab.now_us + wait_us)
            yield lab, lane_of(lab)


@pytest.mark.parametrize("seed", range(2))
@pytest.mark.parametrize("name", LANES)
def test_counts_are_parts_of_what_there_is(name: str, seed: int) -> None:
    for lab, lane in looks(name, seed):
        dark, units = lane.reads.dark_units()
        part, whole = lane.reads.stuck()
        assert 0 <= dark <= units and 0 <= part <= whole
        assert lane.reads.lag() >= 0 and all(lane.reads.held(one) >= 0 for one in lane.consumers.values())
        assert all(lane.reads.waiting_for(one) >= 0 for one in lane.consumers.values())
        assert lane.next_record == lab.record_count
        assert all(weight >= 0 for weight in lane.reads.weights().values())


@pytest.mark.parametrize("seed", range(2))
@pytest.mark.parametrize("name", KEYED)
def test_route_of_a_record_leads_to_the_owner_of_its_key(name: str, seed: int) -> None:
    for lab, lane in looks(name, seed):
        owners = lane.reads.key_owners()
        assert owners is not None and len(owners) == lane.keys.count_at(lane.next_record)
        for owner, code, first in zip(owners, lane.keys.codes, lane.keys.first_seen, strict=False):
            route = lane.reads.route(first, code)
            assert route["consumer"] == owner
            if name in PARTITIONED:
                assert (lane.reads.units() or {})[route["unit"]] == owner
        assert sum(lane.reads.weights().values()) <= lab.record_count


@pytest.mark.parametrize("seed", range(2))
@pytest.mark.parametrize("name", KEYED)
def test_where_every_key_has_an_owner_the_weights_are_all_records(name: str, seed: int) -> None:
    seen = 0
    for lab, lane in looks(name, seed):
        owners = lane.reads.key_owners() or []
        if owners and None not in owners:
            seen += 1
            assert sum(lane.reads.weights().values()) == lab.record_count
    assert seen


@pytest.mark.parametrize("seed", range(2))
@pytest.mark.parametrize("name", ["tubemq", "kafka", "cluster"])
def test_picture_of_partitions_is_what_the_numbers_say(name: str, seed: int) -> None:
    for _, lane in looks(name, seed):
        rows = lane.reads.picture()["partitions"]
        assert list(rows) == list(lane.reads.units() or {}) and {
            key for key, row in rows.items() if row["stopped"]
        } == set(lane.reads.stopped())
        assert sum(row["lag"] for row in rows.values()) <= lane.reads.lag() + sum(
            lane.reads.held(one) for one in lane.consumers.values()
        )
        if name != "tubemq":  # there the picture also shows who is registered, beside whom it falls to
            assert {key: row["owner"] for key, row in rows.items()} == lane.reads.units()
