"""No records at all: of a lab whose messages come from outside."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from broker_core.lab.workload.base import Stretch

NEVER_US = 1 << 62
NONE = {"kind": "none"}


class NoRecords:
    rate = 0
    rates: tuple[Stretch, ...] = ()
    key_count: int | None = 0

    def change_rate(self, at_us: int, rate: int) -> None:
        """There is nothing that could arrive more often."""

    def arrival_us(self, index: int) -> int:
        return NEVER_US

    def arrival_times(self, start: int, stop: int) -> list[int]:
        return []

    def count_until(self, at_us: int) -> int:
        return 0

    def key_code(self, index: int) -> int:
        raise IndexError(index)

    def key_codes(self, start: int, stop: int) -> list[int]:
        return []

    def codes_of(self, records: Sequence[int]) -> list[int]:
        return [self.key_code(index) for index in records]

    def key(self, code: int) -> str:
        raise IndexError(code)

    def key_bytes(self, code: int) -> bytes:
        raise IndexError(code)

    def code_of(self, key: str) -> int | None:
        return None

    def distinct_until(self, count: int) -> tuple[list[int], list[int]]:
        return [], []

    def row(self, index: int) -> dict[str, str | int | None] | None:
        return None

    def payload(self, index: int) -> str:
        return ""

    def size(self, index: int) -> int:
        return 0

    def to_json(self) -> dict[str, Any]:
        return dict(NONE)

    def view(self, record_count: int) -> dict[str, Any]:
        return {**NONE, "rate": 0, "key": None, "keys": [], "key_total": 0, "loop": 0}
