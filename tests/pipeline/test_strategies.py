"""Strategies: what is offered, what is refused, and that their tables and counts are the live lab's."""

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from broker_core.errors import CommandError
from broker_core.hashing.murmur3 import murmur3_32
from broker_core.lab.lab import Lab
from broker_core.lab.scenario import scenario_from_json, scenario_to_json
from broker_core.pipeline.group_tasks import count_by_key
from broker_core.pipeline.members import history_check, history_steps
from broker_core.pipeline.route_tasks import units_of
from broker_core.pipeline.routing import route_counts
from broker_core.pipeline.sources.read import source_read
from broker_core.pipeline.strategies import (
    FAMILIES,
    strategies_default,
    strategies_offered,
    strategies_parse,
    strategy_parse,
)
from broker_core.pipeline.strategies.base import RouteTable, SlotRule
from broker_core.pipeline.units import SLOTS_MAX, unit_map
from tests.pipeline.keys import mixed_keys, workload

RATE = 200
# Every change comes to rest before the next: Kafka's slowest, a crash, takes 45 s and a heartbeat.
CHANGES = [
    ("join", None, 8),
    ("crash", "c2", 18),
    ("rejoin", "c2", 72),
    ("leave", "c1", 82),
    ("join", None, 92),
]
END_S = 102
LANES = {
    "pulsar.consistent_hash:points=100": {"model": "pulsar", "algorithm": "consistent_hash"},
    "pulsar.consistent_hash_3_2_0:points=7": {
        "model": "pulsar",
        "algorithm": "consistent_hash_3_2_0",
        "points": 7,
    },
    "pulsar.auto_split": {"model": "pulsar", "algorithm": "auto_split"},
    "pulsar.sticky": {"model": "pulsar", "algorithm": "sticky"},
    "kafka.range:partitions=24": {"model": "kafka", "algorithm": "range", "partitions": 24},
    "kafka.sticky:partitions=13": {"model": "kafka", "algorithm": "sticky", "partitions": 13},
    "kafka.cooperative-sticky:partitions=12": {"model": "kafka", "algorithm": "cooperative-sticky"},
    "tubemq.modulo:partitions=12,brokers=3": {"model": "tubemq", "algorithm": "modulo"},
}


# -- ids -----------------------------------------------------------------------------------------------------


def test_every_family_can_be_asked_for_by_its_id():
    for offered in strategies_offered():
        strategy = strategy_parse(f"{offered['model']}.{offered['algorithm']}")
        assert strategy_parse(strategy.id) == strategy
        assert {param["name"]: param["default"] for param in offered["params"]} == strategy.params
    assert [strategy.id for strategy in strategies_default()] == [
        "pulsar.auto_split",
        "pulsar.consistent_hash:points=100",
        "pulsar.consistent_hash_current:points=100",
        "pulsar.sticky",
        "kafka.range:partitions=12",
        "kafka.roundrobin:partitions=12",
        "kafka.sticky:partitions=12",
        "kafka.cooperative-sticky:partitions=12",
        "tubemq.modulo:partitions=12,brokers=3",
        "rabbitmq.queue:prefetch=5",
    ]


@pytest.mark.parametrize(
    ("text", "reason"),
    [
        ("kafka.fair", "must be one of pulsar.auto_split"),
        ("kafka.range:points=3", "kafka.range has no parameter points"),
        ("kafka.range:partitions=0", "must be a whole number from 1 to 1000"),
        ("pulsar.consistent_hash:points=1001", "must be a whole number from 1 to 1000"),
        ("kafka.range:partitions", "must look like kafka.range:partitions=12"),
        ("kafka.range:partitions=1,partitions=2", "must look like"),
        ("tubemq.modulo:partitions=10,brokers=3", "must be a multiple of the number of brokers"),
        (7, "must be text"),
    ],
)
def test_what_is_no_strategy_is_refused_where_it_stands(text, reason):
    with pytest.raises(CommandError, match=reason) as refused:
        strategies_parse(["rabbitmq.queue", text])
    assert refused.value.field == "strategies.1"


def test_a_strategy_comes_once():
    with pytest.raises(CommandError, match=r"kafka\.range:partitions=12 is listed twice"):
        strategies_parse(["kafka.range", "kafka.range:partitions=12"])


@pytest.mark.parametrize(
    "text",
    ["pulsar.consistent_hash:points=7", "tubemq.modulo:partitions=8,brokers=2", "rabbitmq.queue:prefetch=20"],
)
def test_a_lab_can_be_opened_with_a_strategys_numbers(text):
    """The scenario takes the lane, gives it back, and a lane switched to another rule goes by that rule's own
    number."""
    spec = strategy_parse(text).lane_spec("mine")
    scenario = scenario_from_json(
        {
            "lanes": [{"id": spec.id, "model": spec.model, "algorithm": spec.algorithm, **spec.options}],
            "consumers": 1,
        }
    )
    (lane,) = scenario.lanes
    assert (lane.id, lane.model, lane.algorithm) == (spec.id, spec.model, spec.algorithm)
    assert lane.options.items() >= spec.options.items()
    assert scenario_from_json(scenario_to_json(scenario)) == scenario
    if spec.model == "rabbitmq":
        lab = Lab(scenario)
        assert lab.lanes["mine"].reads.prefetch == 20
        lab.submit(
            {"command_id": "1", "kind": "set_algorithm", "lane": "mine", "args": {"algorithm": "prefetch_1"}}
        )
        assert lab.lanes["mine"].reads.prefetch == 1
        assert Lab.restore(scenario, lab.checkpoint()).lanes["mine"].reads.prefetch == 1


# -- units ---------------------------------------------------------------------------------------------------


@settings(deadline=None, max_examples=60)
@given(data=st.data())
def test_a_unit_has_the_owner_of_each_of_its_slots_in_every_step(data):
    """Ranges with gaps, a wrap and shared points, drawn at random, in a space that is no power of two: small
    (units by slot) or large (cells)."""
    space = data.draw(st.integers(64, 3_000) | st.integers(SLOTS_MAX + 1, 1 << 20))
    rule = SlotRule(0xFFFFFFFF, space)
    names, shared = ("c1", "c2", "c3"), ((0, 1), (2, 0, 1))
    tables = []
    for _ in range(data.draw(st.integers(1, 4))):
        bounds = sorted(data.draw(st.sets(st.integers(0, space - 1), min_size=1, max_size=12)))
        owners = [data.draw(st.integers(-3, 2)) for _ in bounds]
        tables.append(
            RouteTable(
                "ranges",
                names,
                names,
                np.array(owners, np.int16),
                np.array(bounds, np.int64),
                rule,
                space,
                shared=shared,
            )
        )
    units, by_step = unit_map("murmur3", tables)
    keys = [str(number).encode() for number in range(400)]
    at = units_of(units, pa.array(keys))
    for table, owners in zip(tables, by_step, strict=True):
        got = [None if owner < 0 else names[owner] for owner in owners[at].tolist()]
        assert got == [table.owner_of(murmur3_32(key)) for key in keys]


# -- counts --------------------------------------------------------------------------------------------------


def read_in_tasks(spark, folder, keys, sizes, *, ordinals=False):
    """The same keys from Parquet, by a study's own reader, in two files of several row groups."""
    middle = len(keys) // 3
    for number, mine in enumerate((slice(None, middle), slice(middle, None))):
        table = pa.table(
            {"key": pa.array(keys[mine], pa.binary()), "size": pa.array(sizes[mine], pa.int64())}
        )
        pq.write_table(table, folder / f"{number}.parquet", row_group_size=max(1, middle - 1))
    return source_read(
        spark, {"kind": "parquet", "path": str(folder), "key": "key", "size": "size"}, ordinals=ordinals
    )


def assert_same(one, other):
    """All numbers of all strategies."""
    assert (one.records, one.bytes, one.keys, one.no_key, one.empty_key) == (
        other.records,
        other.bytes,
        other.keys,
        other.no_key,
        other.empty_key,
    )
    for mine, theirs in zip(one.strategies, other.strategies, strict=True):
        for name in (
            "records",
            "bytes",
            "keys",
            "nobody",
            "keys_moved",
            "keys_total",
            "records_moved",
            "bytes_moved",
        ):
            assert np.array_equal(getattr(mine, name), getattr(theirs, name)), (mine.strategy.id, name)


@pytest.mark.parametrize("is_read_in_tasks", [False, True])
def test_counts_agree_with_a_plain_count(spark, tmp_path, is_read_in_tasks):
    keys = mixed_keys(6_000, seed=5)
    sizes = [number * 37 % 900 for number in range(len(keys))]
    steps = history_steps(history_check({"kind": "rolling_restart", "consumers": 3}))
    strategies = strategies_default()
    records = (
        read_in_tasks(spark, tmp_path, keys, sizes) if is_read_in_tasks else workload(spark, keys, sizes)
    )
    counts = route_counts(records, strategies, steps)
    present = [key for key in keys if key is not None]
    assert (counts.records, counts.bytes, counts.keys) == (len(keys), sum(sizes), len(set(present)))
    assert (counts.no_key, counts.empty_key) == (keys.count(None), keys.count(b""))
    assert counts.no_key_bytes == sum(size for key, size in zip(keys, sizes) if key is None)
    for each in counts.strategies:
        if each.strategy.hash:
            assert (each.records.sum(axis=1) + each.nobody[:, 0] == len(keys)).all()


def test_without_an_order_keyless_records_are_spread_and_it_is_said(spark):
    keys = [None] * 25 + [b"k"] * 5
    steps = history_steps(history_check({"kind": "given", "start": 1}))
    strategies = strategies_parse(["kafka.range:partitions=10", "pulsar.auto_split"])
    counts = route_counts(workload(spark, keys, [3] * 30, ordinals=False), strategies, steps)
    assert not counts.keyless_exact
    assert [each.records.tolist() for each in counts.strategies] == [[[30]], [[30]]]
    assert [each.bytes.tolist() for each in counts.strategies] == [[[90]], [[90]]]
    assert route_counts(workload(spark, keys, [3] * 30, ordinals=False), strategies[1:], steps).keyless_exact


def test_an_empty_workload_counts_nothing(spark):
    steps = history_steps(history_check({"kind": "given", "start": 2}))
    counts = route_counts(workload(spark, [], []), strategies_default(), steps)
    assert (counts.records, counts.keys, counts.bytes) == (0, 0, 0)
    assert all(not each.records.any() for each in counts.strategies)


def test_a_history_that_names_records_counts_the_same_wherever_the_records_are_read(spark, tmp_path):
    keys = mixed_keys(3_000, seed=6)
    sizes = [number % 700 for number in range(len(keys))]
    changes = [
        {"kind": "join", "at": 700},
        {"kind": "leave", "consumer": "c1", "at": 700},
        {"kind": "join", "at": 2_999},
    ]
    steps = history_steps(history_check({"kind": "given", "start": 3, "changes": changes}))
    read = read_in_tasks(spark, tmp_path, keys, sizes, ordinals=True)
    one, other = (
        route_counts(records, strategies_default(), steps) for records in (read, workload(spark, keys, sizes))
    )
    assert one.keyless_exact and other.keyless_exact
    assert_same(one, other)


def test_a_task_that_may_hold_few_keys_hands_them_on_and_loses_none():
    rows = [
        pa.record_batch(
            {"key": [b"%d" % (number % 701) for number in range(at, at + 999)], "bytes": range(999)}
        )
        for at in range(50)
    ]
    rows += [pa.record_batch({"key": pa.array([None, b"", None], pa.binary()), "bytes": [1, None, 3]})]
    whole = pa.Table.from_batches(rows)
    expected = whole.group_by("key").aggregate([("bytes", "sum"), ([], "count_all")]).sort_by("key")
    for held_keys, least, most in ((100, 6 * 701, 7 * 703), (10_000, 703, 703)):
        found = pa.concat_tables(count_by_key([], held_keys, pending_rows=8_000)(rows))
        assert least <= found.num_rows <= most
        again = found.group_by("key").aggregate([("bytes", "sum"), ("records", "sum")]).sort_by("key")
        for mine, theirs in (("bytes_sum", "bytes_sum"), ("records_sum", "count_all"), ("key", "key")):
            assert again[mine].to_pylist() == expected[theirs].to_pylist()


def test_keys_of_a_megabyte_pass(spark):
    keys = [bytes([number]) * (1 << 20) for number in range(12)] * 2
    steps = history_steps(history_check({"kind": "given", "start": 3}))
    counts = route_counts(
        workload(spark, keys, [1] * 24), strategies_parse(["kafka.range", "pulsar.auto_split"]), steps
    )
    assert (counts.records, counts.keys) == (24, 12)


@pytest.fixture(scope="module")
def live():
    """A lab that lived through the history: its bills at rest, its weights before each change and at the
    end."""
    # Studies run the Kafka lane without replicas.
    plain = {"kafka": {"brokers": 1}}
    lanes = [
        {"id": f"r{number}", **lane, **plain.get(lane["model"], {})}
        for number, lane in enumerate(LANES.values())
    ]
    scenario = scenario_from_json(
        {
            "workload": {"kind": "flights", "key": "tail_number", "rate": RATE},
            "lanes": lanes,
            "consumers": 4,
            "consumer_rate": 10_000,
        }
    )
    lab = Lab(scenario)
    bills, weights = [], []
    for position, (kind, consumer, at_s) in enumerate(CHANGES, 1):
        lab.advance_to(at_s * 1_000_000)
        assert all(lane.ledger.bill.settled for lane in lab.lanes.values())
        bills.append({lane_id: lane.ledger.bill for lane_id, lane in lab.lanes.items()})
        weights.append({lane_id: dict(lane.reads.weights()) for lane_id, lane in lab.lanes.items()})
        lab.submit(
            {"command_id": str(position), "kind": kind, **({"consumer": consumer} if consumer else {})}
        )
    lab.advance_to(END_S * 1_000_000)
    bills.append({lane_id: lane.ledger.bill for lane_id, lane in lab.lanes.items()})
    weights.append({lane_id: dict(lane.reads.weights()) for lane_id, lane in lab.lanes.items()})
    return lab, bills, weights


@pytest.fixture(scope="module")
def counted(spark, live):
    """The same records through the pipeline."""
    lab = live[0]
    codes = lab.workload.key_codes(0, lab.record_count)
    keys = [None if code < 0 else lab.workload.key_bytes(code) for code in codes]
    sizes = [
        len(lab.workload.payload(index).encode()) + len(keys[index] or b"") for index in range(len(keys))
    ]
    changes = [
        {"kind": kind, "consumer": consumer, "at": lab.workload.count_until(at_s * 1_000_000)}
        for kind, consumer, at_s in CHANGES
    ]
    steps = history_steps(history_check({"kind": "given", "start": 4, "changes": changes}))
    return route_counts(workload(spark, keys, sizes), strategies_parse(list(LANES)), steps)


@pytest.mark.parametrize("number", range(len(LANES)), ids=list(LANES))
def test_counts_are_those_of_the_live_lab(live, counted, number):
    """Loads before every change and at the end, partitions and hash space moved, and keys moved where the
    change rests at once."""
    _, bills, weights = live
    counts, lane_id = counted.strategies[number], f"r{number}"
    assert counted.keyless_exact and counted.no_key > 0
    for step, seen in enumerate(weights):
        got = dict(zip(counts.names, counts.records[step].tolist(), strict=True))
        assert {name: got[name] for name in seen[lane_id]} == seen[lane_id]
        assert sum(got.values()) == sum(seen[lane_id].values())
    for step in range(1, len(CHANGES) + 1):
        bill, table = bills[step][lane_id], counts.tables[step]
        assert (table.partitions_moved, table.space_moved) == (
            bill.partitions_moved,
            bill.space_moved_millionths,
        )
        if (
            bill.kind != "crash"
        ):  # a crash's bill begins when the broker notices, keys that came since then are on it
            assert (counts.keys_moved[step], counts.keys_total[step]) == (bill.keys_moved, bill.keys_total)


def test_joins_of_one_order_are_one_change(spark):
    """Two that join at one record share a rebalance, as `join` with a count of 2 does in the lab."""
    joins = [{"kind": "join", "at": 10}, {"kind": "join", "at": 10}]
    steps = history_steps(history_check({"kind": "given", "start": 2, "changes": joins}))
    for family in FAMILIES.values():
        before, between, after = family.make({}, "strategies").routes(steps)
        assert between.live == before.live and set(after.live) == {"c1", "c2", "c3", "c4"}
        assert np.array_equal(before.owners, between.owners)
