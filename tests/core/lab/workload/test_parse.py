"""The laws of every workload: exact arrivals, codes that depend on (seed, index) alone, honest refusals."""

import json
import os
import subprocess
import sys

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from broker_core.errors import CommandError
from broker_core.lab.limits import Limits
from broker_core.lab.workload.base import CHUNK_SIZE
from broker_core.lab.workload.parse import workload_from_json

KINDS = [
    {"kind": "flights", "key": "tail_number"},
    {"kind": "flights", "key": "route", "rate": 5000},
    {"kind": "uniform", "keys": 1000},
    {"kind": "zipf", "keys": 500, "exponent": 1.1},
    {"kind": "hot_key", "keys": 50, "share": 0.3},
]
kinds = pytest.mark.parametrize(
    "data", KINDS, ids=lambda data: "-".join(str(value) for value in data.values())
)


@given(rate=st.integers(1, 5000), index=st.integers(0, 10**9))
def test_a_record_has_arrived_at_its_arrival_and_not_a_microsecond_before(rate: int, index: int) -> None:
    workload = workload_from_json({"kind": "uniform", "rate": rate})
    at_us = workload.arrival_us(index)
    assert workload.count_until(at_us) == index + 1
    assert workload.count_until(at_us - 1) == index


@given(rate=st.integers(1, 5000), at_us=st.integers(0, 10**13))
def test_the_count_changes_only_at_arrivals(rate: int, at_us: int) -> None:
    workload = workload_from_json({"kind": "uniform", "rate": rate})
    count = workload.count_until(at_us)
    assert count == 0 or workload.arrival_us(count - 1) <= at_us
    assert workload.arrival_us(count) > at_us


@given(
    changes=st.lists(st.tuples(st.integers(0, 5_000_000), st.integers(1, 5000)), max_size=4),
    rate=st.integers(1, 5000),
    index=st.integers(0, 30_000),
)
def test_changes_of_the_rate_keep_what_has_arrived_and_count_on_from_there(
    changes: list[tuple[int, int]], rate: int, index: int
) -> None:
    workload = workload_from_json({"kind": "uniform", "rate": rate})
    at_us = 0
    for gap_us, rate in changes:  # noqa: B020  # the next one
        at_us += gap_us
        before = workload.arrival_times(0, workload.count_until(at_us))
        workload.change_rate(at_us, rate)
        assert workload.arrival_times(0, len(before)) == before and workload.count_until(at_us) == len(before)
        first = workload.arrival_us(len(before))
        assert first == at_us + 1_000_000 // rate and workload.rate == rate
    arrives = workload.arrival_us(index)
    assert (workload.count_until(arrives) > index) and workload.count_until(arrives - 1) <= index
    times = workload.arrival_times(0, 200)
    assert times == [workload.arrival_us(each) for each in range(200)] == sorted(times)
    assert workload.arrival_times(150, 200) == times[150:]


def test_the_demo_shows_thirty_six_records_in_its_first_second() -> None:
    workload = workload_from_json({})
    assert (workload.count_until(0), workload.count_until(999_999), workload.count_until(1_000_000)) == (
        0,
        35,
        36,
    )


@kinds
@settings(max_examples=40, deadline=None)
@given(start=st.integers(0, 700_000), length=st.integers(0, 2 * CHUNK_SIZE + 3))
def test_codes_of_a_range_are_the_codes_of_its_records(
    data: dict[str, object], start: int, length: int
) -> None:
    workload = workload_from_json(data)
    codes = workload.key_codes(start, start + length)
    assert len(codes) == length
    step = max(1, length // 50)
    assert codes[::step] == [workload.key_code(index) for index in range(start, start + length, step)]


@kinds
@settings(max_examples=40, deadline=None)
@given(
    records=st.lists(st.integers(0, 5 * CHUNK_SIZE), max_size=30),
    first=st.integers(0, 340_000),
    few=st.lists(st.integers(0, 99), max_size=9),
)
def test_codes_of_records_are_in_their_order(
    data: dict[str, object], records: list[int], first: int, few: list[int]
) -> None:
    workload = workload_from_json(data)
    for asked in (records, [first + more for more in few]):
        assert workload.codes_of(asked) == [workload.key_code(index) for index in asked]


@kinds
@pytest.mark.parametrize("count", [0, 1, 37, 5000, 340_000])
def test_distinct_keys_are_those_that_a_reader_would_have_noted(data: dict[str, object], count: int) -> None:
    workload = workload_from_json(data)
    first_seen: dict[int, int] = {}
    for index, code in enumerate(workload.key_codes(0, count)):
        if code >= 0:
            first_seen.setdefault(code, index)
    assert workload.distinct_until(count) == (list(first_seen), list(first_seen.values()))


@kinds
def test_json_there_and_back_is_the_same_workload(data: dict[str, object]) -> None:
    workload = workload_from_json(data)
    again = workload_from_json(json.loads(json.dumps(workload.to_json())))
    assert again.to_json() == workload.to_json()
    assert again.key_codes(0, 1000) == workload.key_codes(0, 1000)


@kinds
def test_many_chunks_later_an_early_record_still_has_its_key(data: dict[str, object]) -> None:
    workload = workload_from_json(data)
    early = workload.key_code(5)
    for chunk in range(200):
        workload.key_code(chunk * CHUNK_SIZE)
    assert workload.key_code(5) == early


def test_a_seed_gives_the_same_keys_in_every_process() -> None:
    program = (
        "from broker_core.lab.workload.parse import workload_from_json as w\n"
        f"print([w(data, seed=11).key_codes(10, 60) for data in {KINDS!r}])"
    )
    outputs = {
        subprocess.run(
            [sys.executable, "-c", program],
            env=os.environ | {"PYTHONHASHSEED": hash_seed},
            capture_output=True,
            text=True,
            check=True,
        ).stdout
        for hash_seed in ("0", "1")
    }
    assert outputs == {f"{[workload_from_json(data, seed=11).key_codes(10, 60) for data in KINDS]}\n"}


def test_seeds_differ() -> None:
    data = {"kind": "uniform", "keys": 1000}
    assert workload_from_json(data, seed=1).key_codes(0, 50) != workload_from_json(data, seed=2).key_codes(
        0, 50
    )


@pytest.mark.parametrize(
    ("data", "field"),
    [
        ([], "workload"),
        ({"kind": "birds"}, "workload.kind"),
        ({"kind": ["flights"]}, "workload.kind"),
        ({"rate": 0}, "workload.rate"),
        ({"rate": True}, "workload.rate"),
        ({"rate": 36.0}, "workload.rate"),
        ({"rate": "36"}, "workload.rate"),
        ({"rate": 5001}, "workload.rate"),
        ({"key": "pilot"}, "workload.key"),
        ({"key": None}, "workload.key"),
        ({"keys": 10}, "workload.keys"),
        ({"kind": "uniform", "keys": 0}, "workload.keys"),
        ({"kind": "uniform", "keys": 10**7}, "workload.keys"),
        ({"kind": "hot_key", "keys": 1}, "workload.keys"),
        ({"kind": "zipf", "exponent": float("nan")}, "workload.exponent"),
        ({"kind": "zipf", "exponent": float("inf")}, "workload.exponent"),
        ({"kind": "zipf", "exponent": 5.001}, "workload.exponent"),
        ({"kind": "zipf", "exponent": 1.2345}, "workload.exponent"),
        ({"kind": "zipf", "exponent": True}, "workload.exponent"),
        ({"kind": "hot_key", "share": -0.1}, "workload.share"),
        ({"kind": "hot_key", "share": 1.5}, "workload.share"),
        ({"kind": "hot_key", "share": 10**400}, "workload.share"),
    ],
)
def test_what_makes_no_sense_is_refused_at_its_field(data: object, field: str) -> None:
    with pytest.raises(CommandError) as refusal:
        workload_from_json(data)
    assert refusal.value.field == field


def test_limits_are_the_callers() -> None:
    assert workload_from_json({"rate": 9000}, Limits(records_per_second_max=9000)).rate == 9000


@pytest.mark.parametrize(
    "data", [{"kind": "flights"}, {"kind": "zipf", "keys": 300}, {"kind": "keys", "keys": [["é", 1]]}]
)
def test_size_of_a_record_is_that_of_its_payload(data):
    workload = workload_from_json(data)
    for index in (*range(400), 336_775, 336_776, 700_001):
        assert workload.size(index) == len(workload.payload(index).encode()), index
