"""The records of a timed run: a study's own, in their order, or drawn by their keys' weights where there are
too many."""

from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
from numpy.typing import NDArray

from broker_core.lab.workload.base import EvenArrivals, Workload, distinct_codes
from broker_core.lab.workload.weighted_keys import WEIGHT_MAX, KeysWorkload, WeightedKeys, key_text

HOT_KEYS = 1_000
"""So many of the hottest keys are in a sample for certain; as many of the others stand for all the rest."""


@dataclass(frozen=True, slots=True)
class SampleKeys:
    """Keys with weights that represent a workload. hottest: the most frequent ones, exactly. others: some of
    the rest, drawn evenly.
    other_records: how many records the rest has in all. keyless: records without a key."""

    hottest: WeightedKeys
    others: WeightedKeys
    other_records: int
    keyless: int

    def weighted(self) -> tuple[WeightedKeys, int]:
        """Keys with weights, and the weight of keyless records: the hottest keep their share, the others
        share the rest in proportion to one another. So the sample is as skewed as the whole.

        >>> SampleKeys([(b"a", 50)], [(b"b", 2), (b"c", 1)], 30, 20).weighted()
        ([(b'a', 50), (b'b', 20), (b'c', 10)], 20)
        """
        drawn = sum(weight for _, weight in self.others)
        stretched = [(key, max(1, round(weight * self.other_records / drawn))) for key, weight in self.others]
        return _fitting([*self.hottest, *stretched], self.keyless)


def _fitting(weighted: WeightedKeys, keyless: int) -> tuple[WeightedKeys, int]:
    """The same proportions in weights that a workload takes; what is there keeps a weight of at least 1."""
    largest = max([keyless, *(weight for _, weight in weighted)], default=0)
    if largest <= WEIGHT_MAX:
        return weighted, keyless
    divisor = -(-largest // WEIGHT_MAX)
    return [(key, max(1, weight // divisor)) for key, weight in weighted], -(-keyless // divisor)


@dataclass(slots=True)
class SequenceWorkload(EvenArrivals):
    """Given records in their order. codes: per record the place of its key in `keys`, -1 for none. sizes: per
    record its bytes.

    ends: after the last one nothing arrives any more; otherwise they begin again, as the flights do.
    """

    rate: int
    keys: Sequence[bytes]
    codes: NDArray[np.int64]
    sizes: NDArray[np.int64]
    ends: bool
    key_count: int | None = None

    def __post_init__(self) -> None:
        self.key_count = len(self.keys)

    def count_until(self, at_us: int) -> int:
        """How many records have arrived at or before `at_us`."""
        count = EvenArrivals.count_until(self, at_us)
        return min(count, len(self.codes)) if self.ends else count

    def key_code(self, index: int) -> int:
        """The code of the record's key; -1: it has none."""
        return int(self.codes[index % len(self.codes)])

    def codes_of(self, records: Sequence[int]) -> list[int]:
        """The key codes of these records."""
        codes: list[int] = np.take(self.codes, records, mode="wrap").tolist() if records else []
        return codes

    def key_codes(self, start: int, stop: int) -> list[int]:
        """The key codes of records start..stop-1."""
        codes: list[int] = np.take(self.codes, np.arange(start, stop), mode="wrap").tolist()
        return codes

    def key(self, code: int) -> str:
        """The key as it is shown."""
        return key_text(self.keys[code])

    def key_bytes(self, code: int) -> bytes:
        """The key itself."""
        return self.keys[code]

    def code_of(self, key: str) -> int | None:
        """The code of the key with this text; None: no record can have it."""
        data = key.encode()
        return next((code for code, known in enumerate(self.keys) if known == data), None)

    def distinct_until(self, count: int) -> tuple[list[int], list[int]]:
        """Codes of the keys among the first `count` records by first appearance, and the record in which each
        appeared first."""
        return distinct_codes(self.codes[:count])

    def row(self, index: int) -> None:
        """None: what else a record holds plays no part in a timed run."""

    def payload(self, index: int) -> str:
        """As many bytes as the record has: a producer without a key asks for nothing but the size."""
        return " " * int(self.sizes[index % len(self.sizes)])

    def size(self, index: int) -> int:
        """As many bytes as the record has."""
        return int(self.sizes[index % len(self.sizes)])

    def to_json(self) -> dict[str, Any]:
        """What can be said of it in a few words; it is not kept."""
        return {"kind": "sequence", "rate": self.rate}

    def view(self, record_count: int) -> dict[str, Any]:
        """As the others'."""
        return self.to_json() | {
            "key": None,
            "keys": [],
            "key_total": len(self.keys),
            "loop": record_count // max(1, len(self.codes)),
        }


def without_keys(workload: Workload, size: int) -> SequenceWorkload:
    """Records at the same times, none of which has a key; their sizes are their own where they have some, else `size`
    bytes: how long a producer sticks to a partition follows from them."""
    if isinstance(workload, SequenceWorkload):
        return replace(workload, codes=np.full(len(workload.codes), -1, np.int64))
    return SequenceWorkload(workload.rate, [], np.array([-1]), np.array([size]), ends=False)


def sampled_workload(sample: SampleKeys, rate: int, seed: int) -> KeysWorkload:
    """Records drawn by the sample's weights."""
    weighted, keyless = sample.weighted()
    return KeysWorkload(rate, seed, "sample", weighted, keyless)
