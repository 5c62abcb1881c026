"""Tables of owners and the units between them: one key at a time, every slot, and the array kernels say the
same."""

import numpy as np
import pyarrow as pa
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from broker_core.errors import CommandError
from broker_core.hashing.java_hash import java_text, string_hash_unsigned
from broker_core.hashing.murmur2 import MASK, murmur2
from broker_core.hashing.murmur3 import murmur3_32
from broker_core.pipeline.group_tasks import COUNTED_SCHEMA, count_by_key, first_of_keys, grouped
from broker_core.pipeline.hot_keys import key_owner
from broker_core.pipeline.members import history_check, history_steps
from broker_core.pipeline.route_tasks import units_of
from broker_core.pipeline.strategies import RouteTable, SlotRule, strategies_parse, strategy_parse
from broker_core.pipeline.units import unit_map

FEW = settings(max_examples=40, deadline=None)
HASH32 = st.integers(0, 2**32 - 1)
KEYS = [b"", b"a", b"key-1", "键".encode(), b"\xff\x00"]


def ranges(bounds, owners, names="abc", shared=(), space=16):
    return RouteTable(
        "ranges",
        tuple(names),
        tuple(names),
        np.array(owners, np.int16),
        np.array(bounds, np.int64),
        SlotRule(0xFFFFFFFF, space),
        space=space,
        shared=shared,
    )


def modulo(owners, names="ab"):
    return RouteTable(
        "modulo",
        tuple(names),
        tuple(names),
        np.array(owners, np.int16),
        np.array([], np.int64),
        SlotRule(0x7FFFFFFF, len(owners)),
    )


# -- one look-up ---------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("rule", "hash32", "slot"),
    [
        (SlotRule(0xFF), 0x1FF, 0xFF),
        (SlotRule(0xFF, 10), 0x1FF, 5),
        (SlotRule(0xFFFFFFFF, 65_535, 1), 2**32 - 1, 1),
        (SlotRule(0x7FFFFFFF, 65_536), 2**32 - 1, 65_535),
        (SlotRule(0), 7, 0),
    ],
)
def test_a_slot_is_masked_then_modulo_then_moved(rule, hash32, slot):
    assert rule(hash32) == slot


def test_a_slice_holds_its_upper_bound_and_what_is_above_the_last_is_the_firsts():
    table = ranges([3, 7, 11], [0, 1, 2])
    assert [table.owner_of(slot) for slot in range(16)] == ["a"] * 4 + ["b"] * 4 + ["c"] * 4 + ["a"] * 4


def test_nobodys_slots_have_no_owner_and_holders_of_one_point_take_turns():
    table = ranges([3, 15], [-1, -2], shared=((1, 2),))
    assert [table.owner_of(slot) for slot in (0, 3, 4, 5, 6)] == [None, None, "b", "c", "b"]


def test_a_partitions_owner_is_the_keys_and_without_owners_nobody_is():
    table = modulo([0, 1, -1])
    assert [table.owner_of(hash32) for hash32 in (0, 1, 2, 3, 2**31)] == ["a", "b", None, "a", "a"]
    free = RouteTable("none", ("a",), ("a",), np.array([], np.int16), np.array([], np.int64), SlotRule(0))
    assert free.owner_of(5) is None


@pytest.mark.parametrize("key", KEYS)
def test_a_keys_owner_goes_by_its_models_own_hash(key):
    table = modulo(range(7), "abcdefg")
    assert key_owner(key, "murmur3", table) == table.owner_of(murmur3_32(key))
    assert key_owner(key, "murmur2", table) == table.owner_of(murmur2(key) & MASK)
    assert key_owner(key, "java", table) == table.owner_of(string_hash_unsigned(java_text(key)))
    assert key_owner(key, None, table) is None


# -- units ---------------------------------------------------------------------------------------------------


@st.composite
def tables(draw):
    space = draw(st.sampled_from([16, 64]))
    names = "abcd"

    def table():
        bounds = sorted(draw(st.sets(st.integers(0, space - 1), min_size=1, max_size=5)))
        shared = tuple(
            draw(st.lists(st.permutations(range(4)).map(lambda places: tuple(places[:3])), max_size=1))
        )
        owners = [draw(st.integers(-1 - len(shared), 3)) for _ in bounds]
        return ranges(bounds, owners, names, shared, space)

    return [table() for _ in range(draw(st.integers(1, 3)))]


@FEW
@given(tables(), st.lists(HASH32, min_size=1, max_size=20))
def test_a_hashs_unit_has_in_every_table_the_owner_that_a_look_up_names(tables, hashes):
    """Law: counting by unit once tells every step."""
    units, owners = unit_map("murmur3", tables)
    assert owners.shape == (len(tables), units.count)
    slots = [table.rule(hash32) for table in tables[:1] for hash32 in hashes]
    found = units.slots[slots]
    for number, table in enumerate(tables):
        named = [None if owner < 0 else table.names[owner] for owner in owners[number, found].tolist()]
        assert named == [table.owner_of(hash32) for hash32 in hashes]


@pytest.mark.parametrize(
    "text",
    [
        "pulsar.consistent_hash:points=3",
        "pulsar.sticky",
        "kafka.range:partitions=7",
        "tubemq.modulo:partitions=6,brokers=2",
    ],
)
def test_the_kernels_find_the_unit_that_one_key_has(text):
    strategy = strategy_parse(text)
    steps = history_steps(
        history_check(
            {"kind": "given", "start": 2, "changes": [{"kind": "join"}, {"kind": "leave", "consumer": "c1"}]}
        )
    )
    routes = strategy.routes(steps)
    units, owners = unit_map(strategy.hash, routes)
    keys = [b"key-%d" % number for number in range(200)]
    found = units_of(units, pa.array(keys)).tolist()
    for number, table in enumerate(routes):
        named = [None if owners[number, unit] < 0 else table.names[owners[number, unit]] for unit in found]
        assert named == [key_owner(key, strategy.hash, table) for key in keys]


# -- strategies by their ids ---------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("text", "reason"),
    [
        (7, "must be text"),
        ("kafka", "must be one of"),
        ("kafka.range:", None),
        ("kafka.range:partitions", "must look like kafka.range:partitions=12"),
        ("kafka.range:partitions=4,partitions=4", "must look like"),
        ("kafka.range:partitions=-4", "must look like"),
        ("kafka.range:partitions=4,", "must look like"),
        ("kafka.range:brokers=4", "kafka.range has no parameter brokers"),
        ("kafka.range:partitions=0", "must be a whole number"),
        ("kafka.range:partitions=1000000000", "must look like"),
        ("tubemq.modulo:partitions=7,brokers=3", "must be a multiple of the number of brokers"),
        ("pulsar.sticky:points=4", "pulsar.sticky has no parameter"),
        (" kafka.range", "must be one of"),
        ("rabbitmq.queue:prefetch=5", None),
    ],
)
def test_an_id_is_read_or_told_what_is_wrong_with_it(text, reason):
    if reason is None:
        assert strategy_parse(strategy_parse(text).id).id == strategy_parse(text).id
        return
    with pytest.raises(CommandError) as refused:
        strategy_parse(text, "strategies.3")
    assert refused.value.field == "strategies.3" and reason in refused.value.reason


def test_two_ids_of_one_strategy_are_the_same_and_come_once():
    assert strategy_parse("tubemq.modulo:brokers=3,partitions=12").id == strategy_parse("tubemq.modulo").id
    with pytest.raises(CommandError) as refused:
        strategies_parse(["kafka.range", "tubemq.modulo", "tubemq.modulo:brokers=3"])
    assert (refused.value.field, refused.value.reason) == (
        "strategies.2",
        "tubemq.modulo:partitions=12,brokers=3 is listed twice",
    )


@pytest.mark.parametrize(
    "texts", [[], None, "kafka.range", [f"kafka.range:partitions={number}" for number in range(1, 34)]]
)
def test_a_study_has_one_to_thirty_two_strategies(texts):
    with pytest.raises(CommandError) as refused:
        strategies_parse(texts)
    assert refused.value.field == "strategies"
    assert len(strategies_parse([f"kafka.range:partitions={number}" for number in range(1, 33)])) == 32


@pytest.mark.parametrize("prefetch", [0, 1, 5, 7, 250])
def test_a_queues_prefetch_is_its_lanes_whether_the_lab_has_a_name_for_it_or_not(prefetch):
    from broker_core.lab.rabbitmq.lane import PREFETCH

    spec = strategy_parse(f"rabbitmq.queue:prefetch={prefetch}").lane_spec()
    assert spec.options.get("prefetch", PREFETCH[spec.algorithm]) == prefetch


# -- counting keys -------------------------------------------------------------------------------------------

RECORDS = st.lists(st.tuples(st.none() | st.sampled_from(KEYS), st.integers(0, 50)), max_size=40)


def batches(records, size):
    for start in range(0, len(records), size):
        part = records[start : start + size]
        yield pa.record_batch(
            {
                "key": pa.array([key for key, _ in part], pa.binary()),
                "bytes": pa.array([count for _, count in part], pa.int64()),
                "ordinal": pa.array(range(start, start + len(part)), pa.int64()),
            }
        )


@FEW
@given(
    RECORDS,
    st.integers(1, 9),
    st.lists(st.integers(0, 45), max_size=3).map(sorted),
    st.integers(1, 4),
    st.integers(1, 12),
)
def test_counted_keys_add_up_to_their_records_stretch_by_stretch(records, size, ats, held, pending):
    counted = list(count_by_key(ats, held_keys=held, pending_rows=pending)(batches(records, size)))
    found = {}
    for row in grouped([COUNTED_SCHEMA.empty_table(), *counted]).to_pylist():
        assert (row["key"], row["place"]) not in found, "a key comes once in a stretch"
        found[row["key"], row["place"]] = (row["records"], row["bytes"])
    expected = {}
    for ordinal, (key, bytes_) in enumerate(records):
        place = sum(at <= ordinal for at in ats)
        known = expected.get((key, place), (0, 0))
        expected[key, place] = (known[0] + 1, known[1] + bytes_)
    assert found == expected


@FEW
@given(st.sets(st.tuples(st.none() | st.sampled_from(KEYS), st.integers(0, 5)), max_size=12).map(list))
def test_a_key_is_new_in_the_first_stretch_that_has_it(rows):
    first = first_of_keys(
        pa.array([key for key, _ in rows], pa.binary()), np.array([place for _, place in rows], np.int64)
    )
    earliest = {}
    for key, place in rows:
        earliest[key] = min(place, earliest.get(key, place))
    assert first.tolist() == [int(place == earliest[key]) for key, place in rows]
