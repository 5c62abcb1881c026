"""The loops of `columns.py`: murmur3, murmur2, Java's String hash and Erlang's phash2 of every key of a buffer.

    key    21  75  e1 ... │ 04        place ──words of four bytes──► words_end ──tail, one to three bytes──► end

Arithmetic is on unsigned 32 bits, as in the originals; each loop takes four bytes at a time where the rule
allows it. For a tail a whole word is read where the buffer goes on, and the next key's bytes are masked away:
branches on a length that changes from key to key cost more than all the arithmetic. It is in the loops
themselves: a helper with a branch in it that takes the array makes numba count the array's references in
every turn, which doubles the time.
Source: as of the scalar functions in murmur3.py (mmh3), murmur2.py, java_hash.py and phash2.py.
"""

from typing import Any

import numpy as np

from broker_core.hashing.compiled import compiled, inlined
from broker_core.hashing.murmur2 import MULTIPLIER, SEED
from broker_core.hashing.phash2 import BINARY, GOLDEN_RATIO, SMALL_MAX

C1, C2 = np.uint32(0xCC9E2D51), np.uint32(0x1B873593)
FIVE, ADDED = np.uint32(5), np.uint32(0xE6546B64)
MIX1, MIX2 = np.uint32(0x85EBCA6B), np.uint32(0xC2B2AE35)
M, SEED2 = np.uint32(MULTIPLIER), np.uint32(SEED)
GOLDEN, START, BITS_27 = np.uint32(GOLDEN_RATIO), np.uint32(BINARY), np.uint32(SMALL_MAX)
REPLACEMENT = np.uint32(0xFFFD)
HIGH_BITS = np.uint32(0x80808080)
ONE, FOUR, TAIL, BYTE = np.uint64(1), np.uint64(4), np.uint64(3), np.uint64(3)
P31_1, P31_2, P31_3, P31_4 = np.uint32(31), np.uint32(31**2), np.uint32(31**3), np.uint32(31**4)


@inlined
def word_at(data: Any, place: Any) -> Any:
    """Four bytes from `place` on, little-endian."""
    return (
        np.uint32(data[place])
        | np.uint32(np.uint32(data[place + np.uint64(1)]) << np.uint32(8))
        | np.uint32(np.uint32(data[place + np.uint64(2)]) << np.uint32(16))
        | np.uint32(np.uint32(data[place + np.uint64(3)]) << np.uint32(24))
    )


@inlined
def scrambled3(word: Any) -> Any:
    """murmur3: a word before it meets the hash."""
    turned = np.uint32(word * C1)
    return np.uint32(np.uint32(np.uint32(turned << np.uint32(15)) | np.uint32(turned >> np.uint32(17))) * C2)


@inlined
def joined3(hashed: Any, word: Any) -> Any:
    """murmur3: the hash with one more word."""
    met = np.uint32(hashed ^ scrambled3(word))
    return np.uint32(
        np.uint32(np.uint32(np.uint32(met << np.uint32(13)) | np.uint32(met >> np.uint32(19))) * FIVE) + ADDED
    )


@inlined
def finished3(hashed: Any, length: Any) -> Any:
    """murmur3: the hash of a key of so many bytes, all of which it has met."""
    mixed = np.uint32(hashed ^ np.uint32(length))
    mixed = np.uint32((mixed ^ np.uint32(mixed >> np.uint32(16))) * MIX1)
    mixed = np.uint32((mixed ^ np.uint32(mixed >> np.uint32(13))) * MIX2)
    return np.uint32(mixed ^ np.uint32(mixed >> np.uint32(16)))


@inlined
def joined2(hashed: Any, word: Any) -> Any:
    """murmur2: the hash with one more word."""
    met = np.uint32(word * M)
    return np.uint32(np.uint32(hashed * M) ^ np.uint32((met ^ np.uint32(met >> np.uint32(24))) * M))


@inlined
def finished2(hashed: Any) -> Any:
    """murmur2: the hash of a key whose words and tail it has met."""
    mixed = np.uint32((hashed ^ np.uint32(hashed >> np.uint32(13))) * M)
    return np.uint32(mixed ^ np.uint32(mixed >> np.uint32(15)))


@inlined
def joined31(hashed: Any, word: Any) -> Any:
    """Java: the hash with four units, a byte each."""
    return np.uint32(
        np.uint32(hashed * P31_4)
        + np.uint32(np.uint32(word & np.uint32(0xFF)) * P31_3)
        + np.uint32(np.uint32(np.uint32(word >> np.uint32(8)) & np.uint32(0xFF)) * P31_2)
        + np.uint32(np.uint32(np.uint32(word >> np.uint32(16)) & np.uint32(0xFF)) * P31_1)
        + np.uint32(word >> np.uint32(24))
    )


@inlined
def mixed_jenkins(a: Any, b: Any, c: Any) -> Any:
    """phash2: three words stirred into one another."""
    a = np.uint32(np.uint32(a - b - c) ^ np.uint32(c >> np.uint32(13)))
    b = np.uint32(np.uint32(b - c - a) ^ np.uint32(a << np.uint32(8)))
    c = np.uint32(np.uint32(c - a - b) ^ np.uint32(b >> np.uint32(13)))
    a = np.uint32(np.uint32(a - b - c) ^ np.uint32(c >> np.uint32(12)))
    b = np.uint32(np.uint32(b - c - a) ^ np.uint32(a << np.uint32(16)))
    c = np.uint32(np.uint32(c - a - b) ^ np.uint32(b >> np.uint32(5)))
    a = np.uint32(np.uint32(a - b - c) ^ np.uint32(c >> np.uint32(3)))
    b = np.uint32(np.uint32(b - c - a) ^ np.uint32(a << np.uint32(10)))
    c = np.uint32(np.uint32(c - a - b) ^ np.uint32(b >> np.uint32(15)))
    return a, b, c


@compiled
def phash2_rows(data: Any, offsets: Any, out: Any) -> None:
    """Erlang's phash2 of each key, a binary, into `out`: 27 bits."""
    for row in range(len(out)):
        place, end = np.uint64(offsets[row]), np.uint64(offsets[row + 1])
        length = end - place
        if length == np.uint64(0):
            out[row] = START & BITS_27
            continue
        a, b, c = GOLDEN, GOLDEN, START
        while place + np.uint64(12) <= end:
            a = np.uint32(a + word_at(data, place))
            b = np.uint32(b + word_at(data, place + FOUR))
            c = np.uint32(c + word_at(data, place + np.uint64(8)))
            a, b, c = mixed_jenkins(a, b, c)
            place += np.uint64(12)
        c = np.uint32(c + np.uint32(length))
        at = np.uint64(0)
        while place + at < end:  # the length has the lowest byte of the third word
            octet = np.uint32(data[place + at])
            if at < FOUR:
                a = np.uint32(a + np.uint32(octet << np.uint32(at << BYTE)))
            elif at < np.uint64(8):
                b = np.uint32(b + np.uint32(octet << np.uint32((at - FOUR) << BYTE)))
            else:
                c = np.uint32(c + np.uint32(octet << np.uint32((at - np.uint64(7)) << BYTE)))
            at += ONE
        a, b, c = mixed_jenkins(a, b, c)
        out[row] = np.uint32(c & BITS_27)


@compiled
def murmur3_rows(data: Any, offsets: Any, out: Any) -> None:
    """MurmurHash3 x86 32-bit, seed 0, of each key into `out`."""
    size = np.uint64(len(data))
    for row in range(len(out)):
        place, end = np.uint64(offsets[row]), np.uint64(offsets[row + 1])
        length = end - place
        words_end = end - (length & TAIL)
        hashed = np.uint32(0)
        while place < words_end:
            hashed = joined3(hashed, word_at(data, place))
            place += FOUR
        if place < end:
            if place + FOUR <= size:
                word = np.uint32(word_at(data, place) & np.uint32((ONE << ((end - place) << BYTE)) - ONE))
            else:
                word = np.uint32(0)
                at = end
                while at > place:
                    at -= ONE
                    word = np.uint32(np.uint32(word << np.uint32(8)) | np.uint32(data[at]))
            hashed ^= scrambled3(word)
        out[row] = finished3(hashed, length)


@compiled
def murmur2_rows(data: Any, offsets: Any, out: Any) -> None:
    """Kafka's murmur2 of each key into `out`, its 32 bits unsigned."""
    size = np.uint64(len(data))
    for row in range(len(out)):
        place, end = np.uint64(offsets[row]), np.uint64(offsets[row + 1])
        length = end - place
        words_end = end - (length & TAIL)
        hashed = np.uint32(SEED2 ^ np.uint32(length))
        while place < words_end:
            hashed = joined2(hashed, word_at(data, place))
            place += FOUR
        if place < end:
            if place + FOUR <= size:
                word = np.uint32(word_at(data, place) & np.uint32((ONE << ((end - place) << BYTE)) - ONE))
            else:
                word = np.uint32(0)
                at = end
                while at > place:
                    at -= ONE
                    word = np.uint32(np.uint32(word << np.uint32(8)) | np.uint32(data[at]))
            hashed = np.uint32((hashed ^ word) * M)
        out[row] = finished2(hashed)


@compiled
def java_rows(data: Any, offsets: Any, out: Any) -> None:
    """String.hashCode of each key, decoded from UTF-8, into `out`, its 32 bits unsigned."""
    for row in range(len(out)):
        place, end = np.uint64(offsets[row]), np.uint64(offsets[row + 1])
        hashed = np.uint32(0)
        while place < end:
            if place + FOUR <= end:
                word = word_at(data, place)
                if word & HIGH_BITS == np.uint32(0):  # four letters of ASCII: four units
                    hashed = joined31(hashed, word)
                    place += FOUR
                    continue
            if data[place] < 0x80:
                hashed = np.uint32(np.uint32(hashed * P31_1) + np.uint32(data[place]))
                place += ONE
                continue
            code, size = decoded(data, place, end)
            place += np.uint64(size)
            if code > 0xFFFF:  # a pair of surrogates: two units
                code -= 0x10000
                hashed = np.uint32(np.uint32(hashed * P31_1) + np.uint32(0xD800 + (code >> 10)))
                code = 0xDC00 + (code & 0x3FF)
            hashed = np.uint32(np.uint32(hashed * P31_1) + np.uint32(code))
        out[row] = hashed


@compiled
def decoded(data: Any, place: Any, end: Any) -> Any:
    """The character that begins at `place` with a byte of 0x80 or more, and how many bytes it takes.

    U+FFFD for what is none, with the bytes that one U+FFFD stands for in Java: the longest beginning of a
    character, a whole encoded surrogate, else one byte.
    """
    lead = np.int64(data[place])
    if 0xC2 <= lead <= 0xDF:
        need, code, low, high = 1, lead & 0x1F, 0x80, 0xBF
    elif 0xE0 <= lead <= 0xEF:
        need, code, low, high = 2, lead & 0x0F, 0x80, 0xBF
        if lead == 0xE0:
            low = 0xA0
    elif 0xF0 <= lead <= 0xF4:
        need, code, low, high = 3, lead & 0x07, 0x80, 0xBF
        if lead == 0xF0:
            low = 0x90
        elif lead == 0xF4:
            high = 0x8F
    else:
        return np.int64(0xFFFD), 1
    size = 1
    while size <= need:
        if place + np.uint64(size) >= end:
            return np.int64(0xFFFD), size
        byte = np.int64(data[place + np.uint64(size)])
        if byte < low or byte > high:
            return np.int64(0xFFFD), size
        code = code << 6 | byte & 0x3F
        low, high = 0x80, 0xBF
        size += 1
    if 0xD800 <= code <= 0xDFFF:
        return np.int64(0xFFFD), size
    return code, size
