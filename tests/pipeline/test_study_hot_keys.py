"""Hottest keys and a fair sample: exact, and the same however the keys came together."""

import random

import numpy as np
import pyarrow as pa
from hypothesis import given, settings
from hypothesis import strategies as st

from broker_core.hashing.xxhash64 import xxhash64_column
from broker_core.pipeline.hot_keys import HotKey, KeyProfile, KeySummary, short_key


def mix(key):
    return xxhash64_column(pa.array([key], pa.binary()))[0]


def profile(parts, **bounds):
    """Each part summed up alone, then joined."""
    joined = KeySummary(**bounds)
    for part in parts:
        one = KeySummary(**bounds)
        for start in range(0, len(part), 7):
            keys, counts = zip(*part[start : start + 7], strict=True)
            one.add(pa.array(keys, pa.binary()), np.array(counts, np.int64))
        joined.join_hot(one.hot)
        joined.join_sample(one.sample)
    return joined.profile()


COUNTS = st.dictionaries(
    st.integers(0, 200).map(lambda n: b"key-%d" % (n * n)), st.integers(1, 9), max_size=120
)


@settings(max_examples=60)
@given(COUNTS, st.integers(1, 12), st.integers(1, 12), st.integers(1, 5))
def test_the_hottest_and_the_sample_are_those_of_all_keys(counts, hottest, sampled, parts):
    pairs = list(counts.items())
    random.Random(len(pairs)).shuffle(pairs)
    found = profile([pairs[part::parts] for part in range(parts)], hottest=hottest, sampled=sampled)
    expected = sorted(counts.items(), key=lambda pair: (-pair[1], pair[0]))[:hottest]
    assert [(hot.key, hot.records) for hot in found.hottest] == expected
    assert found.sampled == [(key, counts[key]) for key in sorted(counts, key=mix)[:sampled]]


def test_hot_keys_take_bounded_memory_and_long_keys_are_stood_for_in_the_sample():
    long = [bytes([letter]) * 5_000 for letter in b"abcdefgh"]
    found = profile([[(key, 3) for key in long], [(b"hot", 40)]], kept_bytes=12_000)
    assert [hot.key for hot in found.hottest] == [b"hot", *sorted(long)[:2]]
    assert {key for key, _ in found.sampled} == {b"hot", *map(short_key, long)}
    assert len(short_key(long[0])) == 64 and short_key(b"x" * 1_024) == b"x" * 1_024


def test_a_profile_stands_for_the_whole_workload():
    known = KeyProfile([HotKey(b"hot", 500), HotKey(b"warm", 100)], [(b"hot", 500), (b"a", 3), (b"b", 1)])
    sample = known.sample(records=1_050, no_key=50)
    assert sample.hottest == [(b"hot", 500), (b"warm", 100)] and sample.others == [(b"a", 3), (b"b", 1)]
    assert sample.other_records == 400 and sample.keyless == 50
    everything = KeyProfile([HotKey(b"a", 2)], [(b"a", 2)]).sample(records=2, no_key=0)
    assert everything.weighted() == ([(b"a", 2)], 0)
