"""Hottest keys and a fair sample with bounded memory: exact while everything fits, within the stated error
when not."""

from collections import Counter

import pyarrow as pa
from hypothesis import given, settings
from hypothesis import strategies as st

from broker_core.pipeline.hot_key_tasks import ERROR, HOT, SAMPLED, KeySummary, merge, short_key, summarise
from broker_core.pipeline.hot_keys import HotKey, KeyProfile


def mixed(key):
    """A stand-in for Spark's xxhash64: any fixed number of the key will do."""
    return 0 if not key else int.from_bytes(key * 8, "big") * 0x9E3779B97F4A7C15 % 2**63


def batches(keys, size=50):
    for start in range(0, len(keys), size):
        part = keys[start : start + size]
        mixes, ones = ([each(key) for key in part] for each in (mixed, lambda _: 1))
        yield pa.record_batch(
            {
                "key": pa.array(part, pa.binary()),
                "mix": pa.array(mixes, pa.int64()),
                "records": pa.array(ones, pa.int64()),
            }
        )


def profile(tasks, sampled=5, hottest=1000, **bounds):
    first = [batch for keys in tasks for batch in summarise(sampled, **bounds)(batches(keys))]
    rows = [row for batch in merge(sampled, hottest, **bounds)(first) for row in batch.to_pylist()]
    error = sum(row["records"] for row in rows if row["kind"] == ERROR)
    hot = [(row["key"], row["records"]) for row in rows if row["kind"] == HOT]
    return hot, error, {row["key"]: row["records"] for row in rows if row["kind"] == SAMPLED}


def test_small_workloads_are_counted_exactly_the_hottest_first():
    hot, error, sample = profile([[b"a", b"b", b"a"], [b"b", b"a", b"c"]])
    assert hot == [(b"a", 3), (b"b", 2), (b"c", 1)] and error == 0
    assert sample == {b"a": 3, b"b": 2, b"c": 1}


KEYS = st.lists(st.integers(0, 30).map(lambda n: b"key-%d" % (n * n)), max_size=300)


@settings(max_examples=60)
@given(st.lists(KEYS, min_size=1, max_size=4), st.integers(1, 12))
def test_kept_counts_are_never_too_high_and_too_low_by_the_error_at_most(tasks, kept_rows):
    true = Counter(key for keys in tasks for key in keys)
    hot, error, sample = profile(tasks, kept_rows=kept_rows)
    found = dict(hot)
    assert len(found) <= kept_rows
    for key, count in true.items():
        assert count - error <= found.get(key, 0) <= count
    # The sample's counts are exact whatever had to go, and it holds the keys with the smallest mix.
    assert sample == {key: true[key] for key in sorted(true, key=mixed)[:5]}


def test_memory_is_bounded_by_bytes_too_and_long_keys_are_stood_for_in_the_sample():
    long = [bytes([letter]) * 5_000 for letter in b"abcdefgh"]
    summary = KeySummary(sampled=100, kept_bytes=12_000)
    for batch in batches(long * 3 + [b"hot"] * 40):
        summary.add(pa.Table.from_batches([batch]))
    summary.settle()
    assert summary.hot.nbytes < 13_000
    assert (
        summary.hot["key"].to_pylist()[0] == b"hot"
        and 40 - summary.error <= summary.hot["records"][0].as_py() <= 40
    )
    assert set(summary.sample["key"].to_pylist()) == {b"hot", *map(short_key, long)}
    assert len(short_key(long[0])) == 64 and short_key(b"x" * 1_024) == b"x" * 1_024


def test_a_profile_stands_for_the_whole_workload():
    known = KeyProfile(
        [HotKey(b"hot", 500, 0), HotKey(b"warm", 100, 0)], [(b"hot", 500), (b"a", 3), (b"b", 1)]
    )
    sample = known.sample(records=1_050, no_key=50)
    assert sample.hottest == [(b"hot", 500), (b"warm", 100)] and sample.others == [(b"a", 3), (b"b", 1)]
    assert sample.other_records == 400 and sample.keyless == 50
    everything = KeyProfile([HotKey(b"a", 2, 0)], [(b"a", 2)]).sample(records=2, no_key=0)
    assert everything.weighted() == ([(b"a", 2)], 0)
