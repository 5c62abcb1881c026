"""Event times out of what people's files hold: texts or numbers.

    1357016100   1357016100000   1357016100000000   1357016100000000000      seconds, ms, us, ns: told by their magnitude
    2013-01-01T05:15:00.25Z   2013-01-01 05:15:00+08:00   2013-01-01         ISO 8601; without a zone it is UTC
    2013-01-01 05:15:00 UTC   2013-01-01T05:15:00[Europe/Berlin]             with the zone's name
    20130101   20130101051500                                                a date, a date and a time
    Tue, 01 Jan 2013 05:15:00 GMT   01/Jan/2013:05:15:00 +0000               RFC 1123, Apache
    01.01.2013 05:15:00   CreateTime:1357016100000                           day first; as Kafka's console consumer has it

What is written with slashes needs a choice, day-first or month-first, Excel's serial numbers the choice excel, anything
else a pattern of strptime: a time format.

A number below 10^8 is not a time: as seconds that would be before March 1973, and sequences, hours and Excel's
days are such numbers. Neither is one that, or whose microseconds, exceed signed 64 bits: many sources write 2**64 - 1
for "none".
"""

import re
from datetime import UTC, datetime, timedelta
from decimal import Decimal, InvalidOperation
from zoneinfo import ZoneInfo

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc
from numpy.typing import NDArray

from broker_core.pipeline.sources.numbers import Bools, as_int64, is_given, text_of, texts_of

DAY_FIRST, MONTH_FIRST, EXCEL = "day-first", "month-first", "excel"
FORMATS = (DAY_FIRST, MONTH_FIRST, EXCEL)
_TELLING = (None, DAY_FIRST, MONTH_FIRST)
"""With these all that tells itself is read, too."""
_NEVER_BELOW = 10**8
_SECONDS_BELOW = 10**11  # as milliseconds that would be March 1973
_MILLISECONDS_BELOW = 10**14  # as microseconds likewise
_MICROSECONDS_BELOW = 10**17
_EPOCH = datetime(1970, 1, 1, tzinfo=UTC)
_INT64_MAX = 2**63 - 1
_DAY_US = 86_400_000_000
_EXCEL_1970, _EXCEL_MAX = 25_569, 2_958_465
_DATES = (("%Y%m%d", 19_000_101, 21_001_231), ("%Y%m%d%H%M%S", 19_000_101_000_000, 21_001_231_235_959))
"""A date as one number: its pattern, the lowest and the highest."""
_KAFKA = re.compile(r"(?:CreateTime|LogAppendTime):")
_NAMED_ZONE = re.compile(r"(.*?)(Z|[+-]\d\d:?\d\d)?(?: (UTC|GMT)|\[([A-Za-z0-9_+/-]+)\])")
_RFC_1123 = re.compile(r"[A-Z][a-z]{2}, \d{1,2} [A-Z][a-z]{2} \d{4} \d\d:\d\d:\d\d (GMT|UTC|[+-]\d{4})")
_APACHE = re.compile(r"\d{1,2}/[A-Z][a-z]{2}/\d{4}:\d\d:\d\d:\d\d( [+-]\d{4})?")
_NUMERIC = re.compile(
    r"(\d{1,2})([./-])(\d{1,2})\2\d{4}(?:(, | |T)\d{1,2}:\d\d(:\d\d(\.\d{1,6})?)?( ?[AaPp][Mm])?)?"
)


def parse_times(values: pa.Array, time_format: str | None = None) -> tuple[pa.Array, Bools]:
    """Microseconds since 1970 of each value (null for a missing one or an empty text), and which values are not times.

    time_format: one of FORMATS, a pattern of strptime, or None for what tells itself.
    """
    if pa.types.is_timestamp(values.type) or pa.types.is_date(values.type):
        return _moments(values)
    is_telling = time_format in _TELLING
    if is_telling and pa.types.is_integer(values.type):
        return _scaled(values)
    if (
        pa.types.is_integer(values.type)
        or pa.types.is_floating(values.type)
        or pa.types.is_decimal(values.type)
    ):
        return _one_by_one(pc.cast(values, pa.string()), time_format)
    texts = texts_of(values)
    if texts is None:
        return _one_by_one(values, time_format)
    if is_telling:
        for convert in (_whole_numbers, _iso_times):
            found = convert(texts)
            if found is not None:
                return found
    return _by_pattern(texts, time_format)


def time_us(text: str, time_format: str | None = None) -> int | None:
    """Microseconds since 1970 of one text; None if it is not a time.

    >>> time_us("1970-01-01T00:00:01.5"), time_us("1357016100"), time_us("5 o'clock")
    (1500000, 1357016100000000, None)
    >>> time_us("19700102"), time_us("45244.5"), time_us("25570.5", "excel"), time_us("2/1/1970", "day-first")
    (86400000000, None, 129600000000, 86400000000)
    """
    text = _KAFKA.sub("", text.strip(), count=1)
    micros: int | None
    try:
        number = Decimal(text)
    except InvalidOperation:
        micros = _of_text(text, time_format)
    else:
        micros = _of_number(text, number, time_format)
    return micros if micros is not None and abs(micros) <= _INT64_MAX else None


def _of_number(text: str, number: Decimal, time_format: str | None) -> int | None:
    if not number.is_finite() or not -_INT64_MAX - 1 <= number <= _INT64_MAX:
        return None
    if time_format == EXCEL:
        fits = 0 < number <= _EXCEL_MAX
        return round((number - _EXCEL_1970) * 86_400_000) * 1_000 if fits else None
    if time_format not in _TELLING:
        return _of_text(text, time_format)
    for pattern, low, high in _DATES:
        if low <= number <= high and text.isdecimal():
            return _strptime(text, pattern)
    return None if abs(number) < _NEVER_BELOW else int(number * _unit_us(abs(number)))


def _of_text(text: str, time_format: str | None) -> int | None:
    pattern = _pattern_of(text, time_format)
    if pattern is not None:
        return _strptime(text.strip("[]"), pattern)
    if time_format not in _TELLING:
        return None
    zone = None
    if named := _NAMED_ZONE.fullmatch(text):
        text, zone = named[1] + (named[2] or ""), None if named[2] else (named[4] or "UTC")
    try:
        moment = datetime.fromisoformat(text)
        return _micros(moment if zone is None or moment.tzinfo else moment.replace(tzinfo=ZoneInfo(zone)))
    except (ValueError, OSError, KeyError):  # KeyError: no zone has the name
        return None


def _pattern_of(text: str, time_format: str | None) -> str | None:
    """The pattern of strptime for a text that is written like this; None where the text is none of ours, or may be read
    both ways."""
    if time_format is not None and time_format not in FORMATS:
        return time_format
    if rfc := _RFC_1123.fullmatch(text):
        return "%a, %d %b %Y %H:%M:%S " + (rfc[1] if rfc[1].isalpha() else "%z")
    if apache := _APACHE.fullmatch(text.strip("[]")):
        return "%d/%b/%Y:%H:%M:%S" + (" %z" if apache[1] else "")
    numeric = _NUMERIC.fullmatch(text)
    if numeric is None or (time_format not in (DAY_FIRST, MONTH_FIRST) and numeric[2] != "."):
        return None
    mark = numeric[2]
    date = mark.join(("%m", "%d", "%Y") if time_format == MONTH_FIRST else ("%d", "%m", "%Y"))
    if not numeric[4]:
        return date
    half = numeric[7] or ""
    seconds = (":%S" if numeric[5] else "") + (".%f" if numeric[6] else "")
    return f"{date}{numeric[4]}{'%I' if half else '%H'}:%M{seconds}" + half[:-2] + ("%p" if half else "")


def _strptime(text: str, pattern: str) -> int | None:
    try:
        return _micros(datetime.strptime(text, pattern))  # noqa: DTZ007  without a zone it is UTC
    except (ValueError, OverflowError):
        return None


def _micros(moment: datetime) -> int:
    return (moment.replace(tzinfo=moment.tzinfo or UTC) - _EPOCH) // timedelta(microseconds=1)


def _by_pattern(texts: pa.Array, time_format: str | None) -> tuple[pa.Array, Bools]:
    """Texts that are written like the first of them at once, the others one by one."""
    first = next((text for text in (texts[place].as_py() for place in range(len(texts))) if text), "")
    pattern = _pattern_of(first.strip(), time_format)
    if pattern is None and time_format in _TELLING:
        plain = pc.replace_substring_regex(texts, r"^(?:CreateTime|LogAppendTime):", "")
        plain = pc.replace_substring_regex(plain, r"(Z|[+-]\d\d:?\d\d)\[[A-Za-z0-9_+/-]+\]$", r"\1")
        plain = pc.replace_substring_regex(plain, r"(?: UTC| GMT|\[UTC\]|\[GMT\])$", "Z")
        for convert in (_whole_numbers, _iso_times):
            found = convert(plain)
            if found is not None:
                return found
    if pattern is None or "%f" in pattern:
        return _one_by_one(texts, time_format)
    try:
        stripped = pc.utf8_trim(texts, "[] ") if first.startswith("[") else texts
        moments = pc.strptime(stripped, format=pattern, unit="us", error_is_null=True)
    except (pa.ArrowInvalid, pa.ArrowNotImplementedError):
        return _one_by_one(texts, time_format)
    times = pc.cast(moments, pa.int64())
    if times.null_count == texts.null_count:
        return times, np.zeros(len(texts), np.bool_)
    left = np.flatnonzero(np.asarray(texts.is_valid()) & np.asarray(times.is_null()))
    found, is_bad = _one_by_one(texts.take(pa.array(left)), time_format)
    every = times.to_numpy(zero_copy_only=False).astype(object)
    every[np.asarray(times.is_null())] = None
    every[left] = found.to_pylist()
    bad = np.zeros(len(texts), np.bool_)
    bad[left] = is_bad
    return pa.array([None if each is None else int(each) for each in every], pa.int64()), bad


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
    given = np.asarray(values.is_valid())
    may_be_date = given & _may_be_date(numbers)
    if may_be_date.any():
        distinct, place_of = np.unique(numbers[may_be_date], return_inverse=True)
        dates = [time_us(str(number)) for number in distinct.tolist()]
        micros[may_be_date] = np.array([date or 0 for date in dates])[place_of]
        is_bad[may_be_date] = np.array([date is None for date in dates])[place_of]
    is_bad |= given & (size < _NEVER_BELOW) & ~may_be_date
    return pa.array(micros, pa.int64(), mask=~given | is_bad), is_bad


def _may_be_date(numbers: NDArray[np.int64]) -> Bools:
    """Which numbers are within the bounds of a date as one number."""
    found = np.zeros(len(numbers), np.bool_)
    for _, low, high in _DATES:
        found |= (numbers >= low) & (numbers <= high)
    return found


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
        return _scaled(as_int64(texts))
    except pa.ArrowInvalid:
        return None


def _iso_times(texts: pa.Array) -> tuple[pa.Array, Bools] | None:
    for kind in (pa.timestamp("us"), pa.timestamp("us", "UTC")):
        try:
            return pc.cast(pc.cast(texts, kind), pa.int64()), np.zeros(len(texts), np.bool_)
        except pa.ArrowInvalid:
            continue
    return None


def _one_by_one(values: pa.Array, time_format: str | None) -> tuple[pa.Array, Bools]:
    given = is_given(values)
    micros = [
        time_us(text_of(value), time_format) if each else None
        for value, each in zip(values.to_pylist(), given.tolist(), strict=True)
    ]
    times = pa.array(micros, pa.int64())
    return times, given & np.asarray(times.is_null())
