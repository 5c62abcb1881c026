"""Event times and sizes out of what people's files hold: texts or numbers.

    1357016100   1357016100000   1357016100000000   1357016100000000000      seconds, ms, us, ns: told by their magnitude
    2013-01-01T05:15:00.25Z   2013-01-01 05:15:00+08:00   2013-01-01         ISO 8601; without a zone it is UTC

A number is not a time if it, or its microseconds, exceeds signed 64 bits: many sources write 2**64 - 1 for
"none".
"""

from datetime import UTC, datetime, timedelta
from decimal import Decimal, InvalidOperation

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc
from numpy.typing import NDArray

Bools = NDArray[np.bool_]
SIZE_MAX = 2**53
_SECONDS_BELOW = 10**11  # as milliseconds that would be March 1973
_MILLISECONDS_BELOW = 10**14  # as microseconds likewise
_MICROSECONDS_BELOW = 10**17
_EPOCH = datetime(1970, 1, 1, tzinfo=UTC)
_INT64_MAX = 2**63 - 1
_DAY_US = 86_400_000_000


def parse_times(values: pa.Array) -> tuple[pa.Array, Bools]:
    """Microseconds since 1970 of each value (null for a missing one or an empty text), and which values are
    not times."""
    if pa.types.is_timestamp(values.type) or pa.types.is_date(values.type):
        return _moments(values)
    if pa.types.is_integer(values.type):
        return _scaled(values)
    if pa.types.is_floating(values.type) or pa.types.is_decimal(values.type):
        return _one_by_one(pc.cast(values, pa.string()))
    texts = _texts(values)
    if texts is not None:
        for convert in (_whole_numbers, _iso_times):
            found = convert(texts)
            if found is not None:
                return found
    return _one_by_one(values)


def parse_sizes(values: pa.Array) -> tuple[pa.Array, Bools]:
    """Whole numbers of 0 or more (null for a missing one or an empty text), and which values are not
    sizes."""
    numbers = values
    if values.type == pa.int64() and not values.null_count:
        bounds = pc.min_max(values)
        if len(values) and bounds["min"].as_py() >= 0 and bounds["max"].as_py() <= SIZE_MAX:
            return values, np.zeros(len(values), np.bool_)
    if not pa.types.is_integer(values.type):
        texts = _texts(values) if not pa.types.is_floating(values.type) else values
        try:
            numbers = (
                _as_int64(pc.utf8_trim_whitespace(texts))
                if texts is not values
                else pc.cast(texts, pa.int64())
            )
        except (pa.ArrowInvalid, pa.ArrowNotImplementedError, TypeError, AttributeError):
            numbers = pa.array([_size_of(value) for value in values.to_pylist()], pa.int64())
    numbers = pc.cast(numbers, pa.int64(), safe=False)
    given = _is_given(values)
    is_fine = pc.fill_null(pc.and_(pc.greater_equal(numbers, 0), pc.less_equal(numbers, SIZE_MAX)), False)
    bad = given & ~np.asarray(is_fine)
    return pc.if_else(is_fine, numbers, None), bad


def time_us(text: str) -> int | None:
    """Microseconds since 1970 of one text; None if it is not a time.

    >>> time_us("1970-01-01T00:00:01.5"), time_us("1357016100"), time_us("5 o'clock")
    (1500000, 1357016100000000, None)
    """
    text = text.strip()
    try:
        number = Decimal(text)
        if not number.is_finite() or not -_INT64_MAX - 1 <= number <= _INT64_MAX:
            return None
        micros = int(number * _unit_us(abs(number)))
    except InvalidOperation:
        try:
            moment = datetime.fromisoformat(text)
        except ValueError:
            return None
        micros = (moment.replace(tzinfo=moment.tzinfo or UTC) - _EPOCH) // timedelta(microseconds=1)
    return micros if abs(micros) <= _INT64_MAX else None


def _unit_us(magnitude: Decimal) -> Decimal:
    if magnitude < _SECONDS_BELOW:
        return Decimal(1_000_000)
    if magnitude < _MILLISECONDS_BELOW:
        return Decimal(1_000)
    return Decimal(1) if magnitude < _MICROSECONDS_BELOW else Decimal("0.001")


def _scaled(values: pa.Array) -> tuple[pa.Array, Bools]:
    """Whole numbers in microseconds; floor division for nanoseconds, as for texts."""
    is_bad = np.zeros(len(values), np.bool_)
    if values.type == pa.uint64():
        is_bad = np.asarray(pc.fill_null(pc.greater(values, pa.scalar(_INT64_MAX, pa.uint64())), False))
    numbers = np.asarray(pc.fill_null(pc.cast(values, pa.int64(), safe=False), 0))
    # The lowest number is its own absolute value; unsigned it is right.
    size = np.abs(numbers).view(np.uint64)
    micros = np.where(
        size < _SECONDS_BELOW,
        numbers * 1_000_000,
        np.where(
            size < _MILLISECONDS_BELOW,
            numbers * 1_000,
            np.where(size < _MICROSECONDS_BELOW, numbers, _toward_zero(numbers)),
        ),
    )
    return pa.array(micros, pa.int64(), mask=~np.asarray(values.is_valid()) | is_bad), is_bad


def _toward_zero(numbers: NDArray[np.int64]) -> NDArray[np.int64]:
    whole: NDArray[np.int64] = numbers // 1_000 + ((numbers < 0) & (numbers % 1_000 != 0))
    return whole


def _moments(values: pa.Array) -> tuple[pa.Array, Bools]:
    """Timestamps and dates in microseconds; finer ones are cut off."""
    try:
        options = pc.CastOptions(
            pa.timestamp("us", getattr(values.type, "tz", None)), allow_time_truncate=True
        )
        return pc.cast(pc.cast(values, options=options), pa.int64()), np.zeros(len(values), np.bool_)
    except pa.ArrowInvalid:
        is_days = pa.types.is_date32(values.type)
        per_unit = (
            _DAY_US
            if is_days
            else 1_000
            if pa.types.is_date64(values.type) or values.type.unit == "ms"
            else 1_000_000
        )
        numbers = pc.cast(pc.cast(values, pa.int32()) if is_days else values, pa.int64())
        fits = pc.and_(
            pc.less_equal(numbers, _INT64_MAX // per_unit),
            pc.greater_equal(numbers, -(_INT64_MAX // per_unit)),
        )
        is_bad = ~np.asarray(pc.fill_null(fits, True))
        return pc.multiply(pc.if_else(fits, numbers, None), per_unit), is_bad


def _whole_numbers(texts: pa.Array) -> tuple[pa.Array, Bools] | None:
    try:
        return _scaled(_as_int64(texts))
    except pa.ArrowInvalid:
        return None


def _as_int64(texts: pa.Array) -> pa.Array:
    """Raises ArrowInvalid where a text is no whole number. Arrow would read 0x10 as 16; one by one it is no
    number, so it is none here."""
    if any(pc.any(pc.starts_with(texts, prefix)).as_py() for prefix in ("0x", "0X")):
        raise pa.ArrowInvalid("a hexadecimal number")
    return pc.cast(texts, pa.int64())


def _iso_times(texts: pa.Array) -> tuple[pa.Array, Bools] | None:
    for kind in (pa.timestamp("us"), pa.timestamp("us", "UTC")):
        try:
            return pc.cast(pc.cast(texts, kind), pa.int64()), np.zeros(len(texts), np.bool_)
        except pa.ArrowInvalid:
            continue
    return None


def _one_by_one(values: pa.Array) -> tuple[pa.Array, Bools]:
    given = _is_given(values)
    micros = [
        time_us(_text(value)) if is_given else None
        for value, is_given in zip(values.to_pylist(), given.tolist(), strict=True)
    ]
    times = pa.array(micros, pa.int64())
    return times, given & np.asarray(times.is_null())


def _size_of(value: object) -> int | None:
    try:
        number = Decimal(_text(value).strip())
    except InvalidOperation:
        return None
    return int(number) if number.is_finite() and number == int(number) and abs(number) <= SIZE_MAX else None


def _text(value: object) -> str:
    return value.decode(errors="replace") if isinstance(value, bytes) else str(value)


def _texts(values: pa.Array) -> pa.Array | None:
    """The values as texts, an empty one as null; None where one is not UTF-8."""
    try:
        texts = pc.cast(values, pa.string())
    except pa.ArrowInvalid:
        return None
    return pc.if_else(pc.equal(texts, ""), None, texts)


def _is_given(values: pa.Array) -> Bools:
    """Which values are neither null nor an empty text."""
    given = np.asarray(values.is_valid())
    if (
        pa.types.is_string(values.type)
        or pa.types.is_binary(values.type)
        or pa.types.is_large_string(values.type)
    ):
        given = given & np.asarray(pc.fill_null(pc.greater(pc.binary_length(values), 0), False))
    return given
