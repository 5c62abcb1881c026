"""A person's own keys with their weights: how a study is opened as a lab.

    {"kind": "keys", "name": "orders", "keys": [["N725MQ", 575], [{"hex": "ff00"}, 3]], "keyless": 2512,
    "rate": 36}

Each key comes as often as it weighs, keyless records as often as `keyless` weighs; which record has which key
is drawn as for the made-up workloads. A key is text, or `{"hex"}` where its bytes are not UTF-8; lanes hash
the bytes (`key_bytes`), and such a key appears with its odd bytes written out ("\\xff\\x00").
"""

import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from itertools import accumulate
from typing import Any

import numpy as np

from broker_core.errors import CommandError
from broker_core.lab.workload.base import CodeArray, CodeChunks, EvenArrivals, KeyedPayloads, distinct_until
from broker_core.lab.workload.draws import U64, draws, scale

KEYS_MAX = 2_000
KEY_BYTES_MAX = 1_024
NAME_LENGTH_MAX = 64
WEIGHT_MAX = 2**40
"""2,001 weights of this size still sum below 2**53, exact in JSON everywhere."""

WeightedKeys = Sequence[tuple[bytes, int]]


@dataclass(slots=True)
class KeysWorkload(EvenArrivals):
    """Record i's key follows from (seed, i) and the weights. weighted: distinct keys as bytes, each with its
    weight; code = place."""

    rate: int
    seed: int
    name: str
    weighted: WeightedKeys
    keyless: int
    key_count: int | None = field(init=False)
    _sums: U64 = field(init=False, repr=False)
    _texts: list[str] = field(init=False, repr=False)
    _chunks: CodeChunks = field(init=False, repr=False)
    _sizes: KeyedPayloads = field(init=False, repr=False)

    def __post_init__(self) -> None:
        self.key_count = len(self.weighted)
        # Keyless records are last, after every key.
        self._sums = np.array(
            [*accumulate(weight for _, weight in self.weighted), self._total()], dtype=np.uint64
        )
        self._texts = [key_text(key) for key, _ in self.weighted]
        self._chunks = CodeChunks(self._codes)
        self._sizes = KeyedPayloads(lambda code: self._payload(0, code))

    def _total(self) -> int:
        return sum(weight for _, weight in self.weighted) + self.keyless

    def _codes(self, start: int, stop: int) -> CodeArray:
        places = np.searchsorted(
            self._sums, scale(draws(self.seed, 0, start, stop), self._total()), side="right"
        ).astype(np.int64)
        return np.where(places == len(self.weighted), np.int64(-1), places)

    def key_code(self, index: int) -> int:
        """The code of the record's key; -1: it has none."""
        return self._chunks.at(index)

    def codes_of(self, records: Sequence[int]) -> list[int]:
        """The key codes of these records."""
        return self._chunks.of(records)

    def key_codes(self, start: int, stop: int) -> list[int]:
        """The key codes of records start..stop-1."""
        return self._chunks.between(start, stop)

    def key(self, code: int) -> str:
        """The key as it is shown."""
        return self._texts[code]

    def key_bytes(self, code: int) -> bytes:
        """The key itself."""
        return self.weighted[code][0]

    def code_of(self, key: str) -> int | None:
        """The code of the key with this text; None: no record can have it."""
        data = key.encode()
        return next((code for code, (known, _) in enumerate(self.weighted) if known == data), None)

    def distinct_until(self, count: int) -> tuple[list[int], list[int]]:
        """Codes of the keys among the first `count` records by first appearance, and the record in which each
        appeared first."""
        return distinct_until(self._codes, count, len(self.weighted))

    def row(self, index: int) -> None:
        """None: of the person's own records only the keys are known."""

    def payload(self, index: int) -> str:
        """The record as JSON: its index and its key as it is shown, null for none."""
        return self._payload(index, self.key_code(index))

    def size(self, index: int) -> int:
        """Of the payload, in bytes."""
        return self._sizes[self._chunks.at(index)] + len(str(index))

    def _payload(self, index: int, code: int) -> str:
        return json.dumps(
            {"record": index, "key": self._texts[code] if code >= 0 else None}, separators=(",", ":")
        )

    def to_json(self) -> dict[str, Any]:
        """What `workload_from_json` reads back."""
        return {
            "kind": "keys",
            "name": self.name,
            "keys": [[key_json(key), weight] for key, weight in self.weighted],
            "keyless": self.keyless,
            "rate": self.rate,
        }

    def view(self, record_count: int) -> dict[str, Any]:
        """The view's `workload`: without the keys, which no page lists and every frame would carry."""
        return {
            "kind": "keys",
            "name": self.name,
            "rate": self.rate,
            "key": None,
            "keys": [],
            "key_total": len(self.weighted),
            "loop": 0,
        }


def keys_workload(data: Mapping[str, Any], rate: int, seed: int) -> KeysWorkload:
    """The workload that `data` describes; its rate has been checked. Raises CommandError at the field that is
    wrong."""
    name = data.get("name", "keys")
    if not isinstance(name, str) or not 1 <= len(name) <= NAME_LENGTH_MAX or not name.isprintable():
        raise CommandError("workload.name", "must be 1 to 64 printable characters")
    entries = data.get("keys")
    if not isinstance(entries, Sequence) or isinstance(entries, str) or len(entries) > KEYS_MAX:
        raise CommandError(
            "workload.keys", "must be a list of at most {high} keys with their weights", high=KEYS_MAX
        )
    weighted = [_entry(f"workload.keys.{place}", entry) for place, entry in enumerate(entries)]
    if len(dict(weighted)) != len(weighted):
        raise CommandError("workload.keys", "names a key twice")
    keyless = _weight("workload.keyless", data.get("keyless", 0), 0)
    if not weighted and not keyless:
        raise CommandError("workload.keys", "needs a key, or a weight for keyless")
    return KeysWorkload(rate, seed, name, weighted, keyless)


def _entry(where: str, entry: object) -> tuple[bytes, int]:
    if not isinstance(entry, Sequence) or isinstance(entry, str) or len(entry) != 2:
        raise CommandError(where, "must be a key and its weight")
    key = key_from_json(entry[0])
    if key is None or len(key) > KEY_BYTES_MAX:
        raise CommandError(where, 'must be a text or {{"hex"}} of at most {high} bytes', high=KEY_BYTES_MAX)
    return key, _weight(where, entry[1], 1)


def _weight(where: str, value: object, low: int) -> int:
    if type(value) is not int or not low <= value <= WEIGHT_MAX:
        raise CommandError(where, "must be a whole number from {low} to {high}", low=low, high=WEIGHT_MAX)
    return value


def key_json(key: bytes) -> str | dict[str, str]:
    """A key in JSON: its text, or its bytes in hex where they are not UTF-8.

    >>> key_json(b"JFK"), key_json(b"\\xff")
    ('JFK', {'hex': 'ff'})
    """
    try:
        return key.decode()
    except UnicodeDecodeError:
        return {"hex": key.hex()}


def key_from_json(value: object) -> bytes | None:
    """What `key_json` was given; None for anything else."""
    try:
        if isinstance(value, str):
            return value.encode()
        if isinstance(value, dict) and set(value) == {"hex"} and isinstance(value["hex"], str):
            return bytes.fromhex(value["hex"])
    except ValueError:  # half a surrogate pair, or no hex
        return None
    return None


def key_text(key: bytes) -> str:
    """A key as it is shown: bytes that are not UTF-8 are written out.

    >>> key_text(b"caf\\xc3\\xa9 \\xff")
    'café \\\\xff'
    """
    return key.decode("utf-8", "backslashreplace")
