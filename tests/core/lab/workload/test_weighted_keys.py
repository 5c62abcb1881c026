"""A person's own keys as a lab's workload: their weights, their bytes, and what is refused."""

from collections import Counter

import pytest
from hypothesis import given
from hypothesis import strategies as st

from broker_core.errors import CommandError
from broker_core.hashing.murmur2 import murmur2
from broker_core.lab.lab import Lab
from broker_core.lab.scenario import scenario_from_json
from broker_core.lab.workload.parse import workload_from_json
from broker_core.lab.workload.weighted_keys import key_from_json, key_json

ORDERS = {
    "kind": "keys",
    "name": "orders",
    "keys": [["a", 60], [{"hex": "ff00"}, 30], ["", 9]],
    "keyless": 1,
    "rate": 36,
}


def test_keys_come_as_often_as_they_weigh():
    workload = workload_from_json(ORDERS)
    counts = Counter(workload.key_codes(0, 100_000))
    assert set(counts) == {0, 1, 2, -1}
    for code, share in ((0, 0.6), (1, 0.3), (2, 0.09), (-1, 0.01)):
        assert counts[code] / 100_000 == pytest.approx(share, abs=0.006)


def test_what_is_read_back_is_what_was_given():
    workload = workload_from_json(ORDERS)
    assert workload.to_json() == ORDERS
    assert [workload.key_code(index) for index in range(500)] == workload.key_codes(0, 500)
    codes, first = workload.distinct_until(5_000)
    assert [workload.key_code(index) for index in first] == codes and sorted(codes) == [0, 1, 2]


def test_a_binary_key_is_hashed_as_its_bytes_and_shown_in_writing():
    scenario = scenario_from_json(
        {"workload": {"kind": "keys", "keys": [[{"hex": "ff00"}, 1]]}, "lanes": [{"model": "kafka"}]}
    )
    lab = Lab(scenario)
    lab.advance_to(1_000_000)
    assert lab.view()["lanes"]["kafka"]["route"]["hash"] == murmur2(b"\xff\x00") & 0x7FFFFFFF
    assert lab.view()["recent"]["0"]["key"] == "\\xff\x00"
    assert lab.view()["workload"]["keys"] == [], "no page lists them"
    assert Lab.restore(scenario, lab.checkpoint()).view() == lab.view()


@given(st.binary(max_size=40))
def test_any_key_goes_through_json(key):
    assert key_from_json(key_json(key)) == key


@pytest.mark.parametrize(("change", "field"), [
    ({"keys": []} | {"keyless": 0}, "workload.keys"),
    ({"keys": "abc"}, "workload.keys"),
    ({"keys": [["a", 1], ["a", 2]]}, "workload.keys"),
    ({"keys": [["k", 1]] * 2_001}, "workload.keys"),
    ({"keys": [["a"]]}, "workload.keys.0"),
    ({"keys": [["a", 0]]}, "workload.keys.0"),
    ({"keys": [["a", True]]}, "workload.keys.0"),
    ({"keys": [[{"hex": "zz"}, 1]]}, "workload.keys.0"),
    ({"keys": [["\ud800", 1]]}, "workload.keys.0"),
    ({"keys": [["x" * 1_025, 1]]}, "workload.keys.0"),
    ({"keyless": -1}, "workload.keyless"),
    ({"name": "a\nb"}, "workload.name"),
    ({"exponent": 1}, "workload.exponent"),
])  # fmt: skip
def test_what_cannot_be_is_refused_at_its_field(change, field):
    with pytest.raises(CommandError) as refused:
        workload_from_json(ORDERS | change)
    assert refused.value.field == field
