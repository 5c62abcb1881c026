"""Times and sizes out of whatever a column holds: one value means the same as text, number or Arrow's own
type, alone or beside others."""

from datetime import UTC, date, datetime, timedelta

import numpy as np
import pyarrow as pa
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from broker_core.pipeline.sources.numbers import SIZE_MAX, parse_sizes
from broker_core.pipeline.sources.rows import (
    BAD_SIZE,
    BAD_TIME,
    Columns,
    bad_text,
    code_of,
    columns_shown,
    rows_batch,
)
from broker_core.pipeline.sources.times import parse_times, time_us

FEW = settings(max_examples=50, deadline=None)
INT64 = st.integers(-(2**63), 2**63 - 1)
MOMENT = 1_357_016_100


def times(values, kind=None):
    found, is_bad = parse_times(pa.array(values, kind))
    return found.to_pylist(), is_bad.tolist()


def sizes(values, kind=None):
    found, is_bad, _ = parse_sizes(pa.array(values, kind))
    return found.to_pylist(), is_bad.tolist()


# -- times ---------------------------------------------------------------------------------------------------


@FEW
@given(st.lists(st.one_of(INT64, st.integers(-3 * 10**9, 3 * 10**9)), min_size=1, max_size=5))
def test_a_number_is_the_same_time_as_number_as_text_as_bytes_and_one_by_one(numbers):
    """Law: how a column is stored does not matter, nor what stands beside a value."""
    expected = [time_us(str(number)) for number in numbers]
    assert times(numbers, pa.int64())[0] == expected
    texts = [str(number) for number in numbers]
    assert times(texts)[0] == times([text.encode() for text in texts], pa.binary())[0] == expected
    mixed, is_bad = times([*texts, "not a time"])
    assert mixed == [*expected, None] and is_bad == [each is None for each in mixed]


@FEW
@given(st.datetimes(datetime(1700, 1, 1), datetime(2250, 1, 1)), st.integers(-14 * 60, 14 * 60))
def test_a_moment_is_the_same_whatever_its_zone_and_its_separator(moment, minutes):
    moment = moment.replace(tzinfo=UTC)
    expected = (moment - datetime(1970, 1, 1, tzinfo=UTC)) // timedelta(microseconds=1)
    shifted = moment + timedelta(minutes=minutes)
    sign, away = "+-"[minutes < 0], abs(minutes)
    local = (
        shifted.replace(tzinfo=None).isoformat(sep=" ", timespec="microseconds")
        + f"{sign}{away // 60:02d}:{away % 60:02d}"
    )
    plain = moment.replace(tzinfo=None).isoformat(timespec="microseconds")
    for text in (plain, plain.replace("T", " "), plain + "Z", local):
        assert times([text]) == ([expected], [False]), text
        assert times([text, "never"]) == ([expected, None], [False, True]), text


@pytest.mark.parametrize(
    ("number", "unit_us"),
    [
        (10**8, 1_000_000),
        (10**11 - 1, 1_000_000),
        (10**11, 1_000),
        (10**14 - 1, 1_000),
        (10**14, 1),
        (10**17 - 1, 1),
    ],
)
def test_the_unit_is_told_by_the_magnitude_on_both_sides_of_1970(number, unit_us):
    assert times([number, -number])[0] == [number * unit_us, -number * unit_us]
    assert times([f" {number} ", f"-{number}"])[0] == [number * unit_us, -number * unit_us]


@pytest.mark.parametrize("nanos", [10**17, 10**17 + 999, 1_357_016_100_123_456_789])
def test_nanoseconds_are_cut_off_toward_1970_before_it_too(nanos):
    assert times([nanos, -nanos])[0] == [nanos // 1_000, -(nanos // 1_000)]
    assert times([str(nanos), f"-{nanos}"])[0] == [nanos // 1_000, -(nanos // 1_000)]


@pytest.mark.parametrize("empty", [None, ""])
def test_a_missing_time_is_null_and_not_wrong(empty):
    assert times([empty, str(MOMENT)]) == ([None, MOMENT * 1_000_000], [False, False])
    assert times([empty], pa.string()) == ([None], [False])
    assert times([empty, "x"]) == ([None, None], [False, True])


@pytest.mark.parametrize(
    "text",
    [
        "2013-13-01",
        "2013-02-30",
        "5 o'clock",
        "1357016100s",
        "0x10",
        "0X1f",
        "--5",
        "T",
        "inf",
        "-inf",
        "nan",
        "1e400",
        "2013/01/01",
        "﻿2013-01-01",
        " ",
        "\x00",
    ],
)
def test_what_is_no_time_is_wrong_and_leaves_its_neighbours_alone(text):
    assert times([text, str(MOMENT), None]) == ([None, MOMENT * 1_000_000, None], [True, False, False])
    assert times([text]) == ([None], [True])


def test_bytes_that_are_no_text_are_wrong_times():
    assert times([b"\xff\xfe", b"1357016100"], pa.binary()) == ([None, MOMENT * 1_000_000], [True, False])


def test_a_decimal_keeps_its_fraction_down_to_the_microsecond():
    assert times(["1357016100.0000019"])[0] == [MOMENT * 1_000_000 + 1]
    assert times([MOMENT + 0.5, None, float("nan"), float("inf")], pa.float64()) == (
        [MOMENT * 1_000_000 + 500_000, None, None, None],
        [False, False, True, True],
    )


@pytest.mark.parametrize(
    ("value", "kind", "micros"),
    [
        (datetime(2013, 1, 1, 4, 55), pa.timestamp("s"), MOMENT * 1_000_000),
        (datetime(2013, 1, 1, 4, 55), pa.timestamp("ns"), MOMENT * 1_000_000),
        (datetime(2013, 1, 1, 4, 55, tzinfo=UTC), pa.timestamp("ms", "Asia/Shanghai"), MOMENT * 1_000_000),
        (date(2013, 1, 1), pa.date32(), 1_356_998_400_000_000),
        (date(1969, 12, 31), pa.date64(), -86_400_000_000),
        (MOMENT, pa.uint32(), MOMENT * 1_000_000),
        (-MOMENT, pa.int32(), -MOMENT * 1_000_000),
    ],
)
def test_arrows_own_types_are_read_as_they_are_and_a_zone_moves_nothing(value, kind, micros):
    assert times([value, None], kind) == ([micros, None], [False, False])


# -- sizes ---------------------------------------------------------------------------------------------------


@FEW
@given(st.lists(st.integers(-(2**55), 2**55), min_size=1, max_size=5))
def test_a_size_is_the_same_as_number_as_text_and_one_by_one(numbers):
    fine = [0 <= number <= SIZE_MAX for number in numbers]
    expected = [number if is_fine else None for number, is_fine in zip(numbers, fine, strict=True)]
    wrong = [not is_fine for is_fine in fine]
    texts = [f" {number} " for number in numbers]
    assert sizes(numbers, pa.int64()) == (expected, wrong) == sizes(texts)
    assert sizes([*texts, "x"]) == ([*expected, None], [*wrong, True])


@pytest.mark.parametrize(
    ("values", "kind", "expected", "wrong"),
    [
        ([SIZE_MAX, SIZE_MAX + 1], pa.int64(), [SIZE_MAX, None], [False, True]),
        ([2**64 - 1, 3], pa.uint64(), [None, 3], [True, False]),
        ([5, None, -1], pa.int8(), [5, None, None], [False, False, True]),
        ([2.0, 2.5, None, -0.4], pa.float64(), [2, 2, None, None], [False, False, False, True]),
        ([float("nan"), 1.0], pa.float64(), [None, 1], [True, False]),
        (["1e3", "0", "-0"], pa.string(), [1_000, 0, 0], [False, False, False]),
        (["0x10", "3"], pa.string(), [None, 3], [True, False]),
        (["inf", "nan", "0.0"], pa.string(), [None, None, 0], [True, True, False]),
        ([b"12", b"", None], pa.binary(), [12, None, None], [False, False, False]),
        ([], pa.int64(), [], []),
    ],
)
def test_a_size_is_a_number_of_zero_or_more_that_a_double_holds(values, kind, expected, wrong):
    assert sizes(values, kind) == (expected, wrong)


# -- rows put together ---------------------------------------------------------------------------------------


def batch(keys, times=None, sizes=None, payload=None, reasons=()):
    columns = Columns(
        pa.array(keys, pa.binary()),
        None if times is None else pa.array(times),
        None if sizes is None else pa.array(sizes),
        None if payload is None else np.array(payload, np.int64),
    )
    codes = np.array([0 if reason is None else code_of(reason) for reason in reasons], np.int8)
    return rows_batch(
        columns,
        np.arange(10, 10 + len(keys)),
        codes if reasons else None,
        lambda place: b"row %d\r\n" % place,
    ).to_pylist()


def test_without_a_size_a_record_has_its_keys_and_its_payloads_bytes():
    assert [row["bytes"] for row in batch([b"abc", None, b""])] == [3, 0, 0]
    assert [row["bytes"] for row in batch([b"abc", None, b""], payload=[7, 5, 0])] == [10, 5, 0]


def test_a_named_size_is_the_size_and_a_missing_one_is_zero():
    rows = batch([b"abc", b"d"], sizes=["40", None], payload=[7, 7])
    assert [(row["bytes"], row["reason"]) for row in rows] == [(40, None), (0, None)]


def test_the_first_thing_that_is_wrong_with_a_row_is_its_reason():
    rows = batch(
        [b"a", b"b", b"c", b"d"],
        ["x", "x", str(MOMENT), str(MOMENT)],
        ["-1", "1", "-1", "1"],
        reasons=["open_quote", None, None, None],
    )
    assert [row["reason"] for row in rows] == ["open_quote", BAD_TIME, BAD_SIZE, None]
    assert [row["text"] for row in rows] == ["row 0", "row 1", "row 2", None]
    assert [row["line"] for row in rows] == [10, 11, 12, 13]


def test_a_bad_rows_text_is_cut_on_whole_characters_and_shows_what_is_no_text():
    assert bad_text(b"a" * 500) == "a" * 200
    assert bad_text("键".encode() * 500) == "键" * 200
    assert bad_text(b"\xff" * 500) == ("\\xff" * 500)[:200]
    assert bad_text(b"a,b \r\n") == "a,b "


def test_column_names_are_told_in_one_line_and_not_all_of_a_thousand():
    assert str(columns_shown(["a b", "c\nd"])) == "a b, c d"
    assert str(columns_shown([])) == "-"
    many = [f"c{number}" for number in range(1_000)]
    assert str(columns_shown(many[:40])).endswith("c39") and str(columns_shown(many)).endswith("c39, …")
