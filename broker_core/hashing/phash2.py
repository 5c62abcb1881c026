"""Erlang's phash2: a hash of any term that is the same on every machine, of 27 bits.

    term ──make_hash2──► 32 bits ──► the lower 27

Terms are written as: bytes, a binary; `Atom`; int; float; tuple; list. A binary is hashed twelve bytes at a time; every
other term as one or two numbers of 32 bits, a tuple or list as its elements one after another, each mixed into what came
before. All mixing is Bob Jenkins's of 1997.
Left out: maps, processes, references, functions, bit strings that end within a byte, lists with a number of 0 to 255 in
them (texts to Erlang).
Source: Erlang/OTP 25 erts/emulator/beam/utils.c, make_hash2, block_hash. Vectors: rabbitmq/erlang_hash.json.
"""

from __future__ import annotations

from struct import pack, unpack
from typing import Any, NamedTuple

from broker_core.errors import InvariantError

BITS = 27
_MASK = (1 << 32) - 1
GOLDEN_RATIO = 0x9E3779B9
SMALL_MAX = (1 << BITS) - 1
"""Of an integer that is hashed as one word; the least is -SMALL_MAX - 1."""
_ATOM, _LIST, _TUPLE, _NEGATIVE, _POSITIVE, _FLOAT, BINARY = (
    GOLDEN_RATIO * number & _MASK for number in (3, 2, 9, 10, 11, 12, 13)
)
"""What keeps the kinds of terms apart: HCONST_n of the original."""
_EMPTY_LIST, _END_OF_LIST = 3_468_870_702, 2


class Atom(NamedTuple):
    name: str


def phash2(term: Any) -> int:
    """The hash, 0 to 2**27 - 1. Raises InvariantError for a term of another kind.

    >>> phash2(b"order-7"), phash2(Atom("undefined")), phash2((Atom("signedint"), 5))
    (114868694, 45914356, 40839585)
    """
    return _hashed(term, 0) & SMALL_MAX


def _hashed(term: Any, before: int) -> int:
    """before: the hash of what stands before the term, 0 at the beginning."""
    match term:
        case bytes():
            return _of_binary(term, (BINARY + before) & _MASK)
        case Atom(name):
            value = _of_name(name)
            return _pair(value, 0, _ATOM, before) if before else value
        case bool():
            raise InvariantError("a flag is an atom")
        case int():
            return _of_integer(term, before)
        case float():
            low, high = unpack("<II", pack("<d", term or 0.0))
            return _pair(high, low, _FLOAT, before)
        case tuple():
            hashed = _pair(len(term), 0, _TUPLE, before)
            for each in term:
                hashed = _hashed(each, hashed)
            return hashed
        case list():
            return _of_list(term, before)
    raise InvariantError(f"no hash of {type(term).__name__}")


def _of_integer(number: int, before: int) -> int:
    if -SMALL_MAX - 1 <= number <= SMALL_MAX:
        hashed = _pair(-number, 0, GOLDEN_RATIO, before) if number < 0 else before
        return _pair(number & _MASK, 0, GOLDEN_RATIO, hashed)
    sign, rest, hashed = _NEGATIVE if number < 0 else _POSITIVE, abs(number), before
    while True:
        hashed = _pair(rest & _MASK, rest >> 32 & _MASK, sign, hashed)
        rest >>= 64
        if not rest:
            return hashed


def _of_list(terms: list[Any], before: int) -> int:
    hashed = before
    for each in terms:
        if isinstance(each, int) and 0 <= each <= 255:
            raise InvariantError("no hash of a text of Erlang")
        hashed = _hashed(each, hashed)
    return _pair(_END_OF_LIST, 0, _LIST, hashed) if hashed else _EMPTY_LIST


def _of_name(name: str) -> int:
    """An atom's: the hash of ELF object files."""
    hashed = 0
    for octet in name.encode():
        hashed = ((hashed << 4) + octet) & _MASK
        high = hashed & 0xF0000000
        hashed ^= high >> 24
        hashed ^= high
    return hashed


def _of_binary(data: bytes, start: int) -> int:
    if not data:
        return start
    a = b = GOLDEN_RATIO
    c, whole = start, len(data) - len(data) % 12
    for at in range(0, whole, 12):
        a += int.from_bytes(data[at : at + 4], "little")
        b += int.from_bytes(data[at + 4 : at + 8], "little")
        c += int.from_bytes(data[at + 8 : at + 12], "little")
        a, b, c = _mixed(a & _MASK, b & _MASK, c & _MASK)
    tail = data[whole:]
    a += int.from_bytes(tail[:4], "little")
    b += int.from_bytes(tail[4:8], "little")
    # The length has the lowest byte of this word.
    c += len(data) + (int.from_bytes(tail[8:], "little") << 8)
    return _mixed(a & _MASK, b & _MASK, c & _MASK)[2]


def _pair(first: int, second: int, constant: int, before: int) -> int:
    return _mixed((constant + first) & _MASK, (constant + second) & _MASK, before)[2]


def _mixed(a: int, b: int, c: int) -> tuple[int, int, int]:
    a = (a - b - c) & _MASK ^ c >> 13
    b = (b - c - a) & _MASK ^ a << 8 & _MASK
    c = (c - a - b) & _MASK ^ b >> 13
    a = (a - b - c) & _MASK ^ c >> 12
    b = (b - c - a) & _MASK ^ a << 16 & _MASK
    c = (c - a - b) & _MASK ^ b >> 5
    a = (a - b - c) & _MASK ^ c >> 3
    b = (b - c - a) & _MASK ^ a << 10 & _MASK
    c = (c - a - b) & _MASK ^ b >> 15
    return a, b, c
