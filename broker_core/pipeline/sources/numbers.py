"""Sizes out of what people's files hold: texts or numbers of any type."""

from decimal import ROUND_HALF_EVEN, Decimal, InvalidOperation

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc
from numpy.typing import NDArray

Bools = NDArray[np.bool_]
SIZE_MAX = 2**53


def parse_sizes(values: pa.Array) -> tuple[pa.Array, Bools, Bools]:
    """Whole numbers of 0 or more (null for a missing one or an empty text), which values are not sizes, and which had a
    fraction and are rounded (a half to the even one)."""
    nothing = np.zeros(len(values), np.bool_)
    if values.type == pa.int64() and not values.null_count:
        bounds = pc.min_max(values)
        if len(values) and bounds["min"].as_py() >= 0 and bounds["max"].as_py() <= SIZE_MAX:
            return values, nothing, nothing
    is_rounded = nothing
    if pa.types.is_integer(values.type):
        numbers = values
    elif pa.types.is_floating(values.type) or pa.types.is_decimal(values.type):
        numbers, is_rounded = _rounded(values)
    else:
        try:
            numbers = as_int64(pc.utf8_trim_whitespace(texts_of(values)))
        except (pa.ArrowInvalid, pa.ArrowNotImplementedError, TypeError, AttributeError):
            found = [_size_of(value) for value in values.to_pylist()]
            numbers = pa.array([size for size, _ in found], pa.int64())
            is_rounded = np.array([rounded for _, rounded in found], np.bool_)
    numbers = pc.cast(numbers, pa.int64(), safe=False)
    given = is_given(values)
    is_fine = pc.fill_null(pc.and_(pc.greater_equal(numbers, 0), pc.less_equal(numbers, SIZE_MAX)), False)
    bad = given & ~np.asarray(is_fine)
    return pc.if_else(is_fine, numbers, None), bad, is_rounded & ~bad


def _rounded(values: pa.Array) -> tuple[pa.Array, Bools]:
    """Numbers with a fraction as whole ones, null where there is none, and which of them were rounded."""
    if pa.types.is_floating(values.type):
        values = pc.if_else(pc.less_equal(pc.abs(values), float(SIZE_MAX)), values, None)
    elif pa.types.is_decimal(values.type):
        values = pc.if_else(
            pc.less_equal(pc.cast(pc.abs(values), pa.float64()), float(SIZE_MAX)), values, None
        )
    # A size below 0 is none, however little it is below.
    values = pc.if_else(pc.less(pc.cast(values, pa.float64()), 0.0), None, values)
    whole = pc.round(values, round_mode="half_to_even")
    is_rounded = np.asarray(pc.fill_null(pc.not_equal(whole, values), False))
    return pc.cast(whole, pa.int64()), is_rounded


def as_int64(texts: pa.Array) -> pa.Array:
    """Raises ArrowInvalid where a text is no whole number. Arrow would read 0x10 as 16; one by one it is no number, so it
    is none here."""
    if any(pc.any(pc.starts_with(texts, prefix)).as_py() for prefix in ("0x", "0X")):
        raise pa.ArrowInvalid("a hexadecimal number")
    return pc.cast(texts, pa.int64())


def _size_of(value: object) -> tuple[int | None, bool]:
    """A size, and whether it was rounded."""
    try:
        number = Decimal(text_of(value).strip())
    except InvalidOperation:
        return None, False
    if not number.is_finite() or abs(number) > SIZE_MAX:
        return None, False
    whole = int(number.to_integral_value(ROUND_HALF_EVEN))
    return (None, False) if number < 0 else (whole, whole != number)


def text_of(value: object) -> str:
    return value.decode(errors="replace") if isinstance(value, bytes) else str(value)


def texts_of(values: pa.Array) -> pa.Array | None:
    """The values as texts, an empty one as null; None where one is not UTF-8."""
    try:
        texts = pc.cast(values, pa.string())
    except pa.ArrowInvalid:
        return None
    return pc.if_else(pc.equal(texts, ""), None, texts)


def is_given(values: pa.Array) -> Bools:
    """Which values are neither null nor an empty text."""
    given = np.asarray(values.is_valid())
    if (
        pa.types.is_string(values.type)
        or pa.types.is_binary(values.type)
        or pa.types.is_large_string(values.type)
    ):
        given = given & np.asarray(pc.fill_null(pc.greater(pc.binary_length(values), 0), False))
    return given
