"""Flow control: how fast a group may read that is far behind, or that finds nothing.

    rules, as an operator writes them:
    [{"type": 0, "rule": [{"start": "08:00", "end": "17:59", "dltInM": 1024, "limitInM": 20, "freqInMs": 1000}]},
     {"type": 1, "rule": [{"zeroCnt": 3, "freqInMs": 500}]}]

Type 0 holds at some hours for who lags by more than `dltInM`: no more than `limitInM` MiB a minute, a twelfth of that
in 5 s; then `freqInMs` of rest. Type 1: after `zeroCnt` reads in a row that found nothing a partition rests `freqInMs`.
A limit is looked up once a minute and holds until the next look.
Source: TubeMQ (InLong) FlowCtrlRuleHandler, FlowCtrlItem, ConsumerNodeInfo (broker), PartitionExt (client). [read]
The code compares `dltInM` with a lag in bytes, whatever its name says; so do we. Left out: type 3, for
filters, which nothing in a lab has (docs/tubemq/facts.md, "Flow control").
"""

from __future__ import annotations

import json
from dataclasses import dataclass
from functools import lru_cache
from typing import Any

from broker_core.clock import MILLISECOND_US, SECOND_US
from broker_core.errors import CommandError

MINUTE_US, SAMPLE_US = 60 * SECOND_US, 5 * SECOND_US
SAMPLES = 12
MIB = 1024 * 1024
FIRST_READ_BYTES = 327_680
"""Of a first read after registering (CFG_STORE_DEFAULT_MSG_READ_UNIT)."""
NO_LIMIT = 1 << 62


@dataclass(frozen=True, slots=True)
class DataLimit:
    """start, end: hour * 100 + minute. lag: above it in bytes the rule holds."""

    start: int
    end: int
    lag: int
    bytes_a_minute: int
    rest_us: int


@dataclass(frozen=True, slots=True)
class FlowRules:
    """data: by start. empty_reads: (how many in a row, rest in microseconds), the most first."""

    data: tuple[DataLimit, ...] = ()
    empty_reads: tuple[tuple[int, int], ...] = ()

    def data_limit(self, lag: int, now_us: int) -> DataLimit | None:
        """The first rule that holds for this lag at this hour. The world's clock begins at 00:00.

        >>> rules = parse_rules('[{"type": 0, "rule": [{"start": "00:00", "end": "01:00", "dltInM": 30, '
        ...                     '"limitInM": 1, "freqInMs": 200}]}]')
        >>> rules.data_limit(30, 0), rules.data_limit(31, 0).rest_us, rules.data_limit(31, 61 * MINUTE_US)
        (None, 200000, None)
        """
        hour, minute = divmod(now_us // MINUTE_US % 1_440, 60)
        at = hour * 100 + minute
        held = (rule for rule in self.data if lag > rule.lag and rule.start <= at <= rule.end)
        return next(held, None)

    def rest_after_empty(self, count: int, otherwise_us: int) -> int:
        """How long a partition rests after so many reads in a row that found nothing."""
        return next((rest_us for most, rest_us in self.empty_reads if count >= most), otherwise_us)


@lru_cache(maxsize=64)
def parse_rules(text: str) -> FlowRules:
    """An operator's rules; a blank text has none. Raises CommandError for what the original refuses.

    >>> parse_rules('[{"type": 1, "rule": [{"zeroCnt": 3, "freqInMs": 500}, {"zeroCnt": 9, "freqInMs": 2000}]}]')
    FlowRules(data=(), empty_reads=((9, 2000000), (3, 500000)))
    """
    if not text.strip():
        return FlowRules()
    try:
        records = json.loads(text)
        found = {int(record["type"]): record["rule"] for record in records}
        if not found.keys() <= {0, 1, 2, 3}:
            raise CommandError("flow_rules", "type must be 0, 1, 2 or 3")
        data = sorted((_data_limit(rule) for rule in found.get(0, ())), key=lambda rule: rule.start)
        empty = sorted((_empty_reads(rule) for rule in found.get(1, ())), reverse=True)
    except (KeyError, TypeError, ValueError, AttributeError) as error:
        raise CommandError("flow_rules", "is not a list of rules as TubeMQ has them") from error
    return FlowRules(tuple(data), tuple(empty))


def _data_limit(rule: dict[str, Any]) -> DataLimit:
    start, end = _time(rule["start"]), _time(rule["end"])
    if start >= end:
        raise CommandError("flow_rules", "start must be before end")
    lag, limit = _least(rule, "dltInM", 21), _least(rule, "limitInM", 0)
    return DataLimit(start, end, lag, limit * MIB, _least(rule, "freqInMs", 200) * MILLISECOND_US)


def _empty_reads(rule: dict[str, Any]) -> tuple[int, int]:
    return _least(rule, "zeroCnt", 1), _least(rule, "freqInMs", 0) * MILLISECOND_US


def _least(rule: dict[str, Any], name: str, least: int) -> int:
    number = int(rule[name])
    if number < least:
        raise CommandError("flow_rules", "{name} must be {least} or more", name=name, least=least)
    return number


def _time(text: str) -> int:
    hour, minute = (int(part) for part in text.split(":"))
    if not (0 <= hour <= 24 and 0 <= minute <= 59):
        raise CommandError("flow_rules", "{time} is no time of day", time=text)
    return hour * 100 + minute


@dataclass(slots=True)
class Pace:
    """How much one owner has read of a partition. Times are the ends of windows; a window that is over at the next
    look begins again then."""

    minute_ends_us: int = -1
    sample_ends_us: int = -1
    in_minute: int = 0
    in_sample: int = 0
    bytes_a_minute: int = NO_LIMIT
    rest_us: int = 0
    read_until: int = -1  # offset after the last batch, below 0 before the first
    empty_reads: int = 0  # in a row

    def read(self, size: int) -> None:
        """A batch of so many bytes."""
        self.in_minute += size
        self.in_sample += size

    def look(self, limit: DataLimit | None, now_us: int) -> None:
        """Windows that are over begin again; the limit is that of the moment, if its minute is over."""
        if now_us > self.minute_ends_us:
            self.in_minute = self.in_sample = 0
            self.bytes_a_minute = NO_LIMIT if limit is None else limit.bytes_a_minute
            self.rest_us = 0 if limit is None else limit.rest_us
            self.minute_ends_us, self.sample_ends_us = now_us + MINUTE_US, now_us + SAMPLE_US
        elif now_us > self.sample_ends_us:
            self.in_sample = 0
            self.sample_ends_us = now_us + SAMPLE_US

    @property
    def is_over(self) -> bool:
        """Whether all that it may read now has been read."""
        return self.in_sample >= self.bytes_a_minute // SAMPLES or self.in_minute >= self.bytes_a_minute
