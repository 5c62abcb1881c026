"""Seeded draws for synthetic workloads: record i's draw is a pure function of (seed, i), in whole numbers
throughout.

A counter-based generator (SplitMix64: the counter times an odd constant, then a mixing function) needs no
state, so a seek to record one million costs nothing and a checkpoint holds nothing. Vectorised in uint64; no
float decides a key.

Source: Steele, Lea and Flood, "Fast splittable pseudorandom number generators", OOPSLA 2014 (the mixing
function of SplitMix64).
"""

from math import isqrt

import numpy as np
from numpy.typing import NDArray

U64 = NDArray[np.uint64]

_MASK_64 = (1 << 64) - 1
_GOLDEN = 0x9E3779B97F4A7C15
_LOW_32 = np.uint64(0xFFFF_FFFF)
_32 = np.uint64(32)
# Fractional bits of the fixed-point logarithms; a mantissa of 1.31 bits squares within 64.
_FRACTION_BITS = 31
# The most frequent key's weight: a million keys of this weight still sum below 2**63.
_WEIGHT_BITS = 43


def draws(seed: int, stream: int, start: int, stop: int) -> U64:
    """One 64-bit draw for each record start..stop-1. seed: any integer. stream: tells apart several draws for
    one record.

    >>> [hex(int(d)) for d in draws(0, 0, 0, 2)] == [hex(int(d)) for d in draws(0, 0, 1, 2)]
    False
    """
    base = _mix_one(_mix_one(seed & _MASK_64) + stream * _GOLDEN & _MASK_64)
    z: U64 = np.arange(start + 1, stop + 1, dtype=np.uint64) * np.uint64(_GOLDEN) + np.uint64(base)
    z = (z ^ (z >> np.uint64(30))) * np.uint64(0xBF58476D1CE4E5B9)
    z = (z ^ (z >> np.uint64(27))) * np.uint64(0x94D049BB133111EB)
    mixed: U64 = z ^ (z >> np.uint64(31))
    return mixed


def _mix_one(z: int) -> int:
    z = (z + _GOLDEN) & _MASK_64
    z = ((z ^ (z >> 30)) * 0xBF58476D1CE4E5B9) & _MASK_64
    z = ((z ^ (z >> 27)) * 0x94D049BB133111EB) & _MASK_64
    return z ^ (z >> 31)


def scale(draw: U64, limit: int) -> U64:
    """Map draws from 0..2**64-1 evenly to 0..limit-1: the high 64 bits of draw * limit, exactly. limit: 1 to
    2**63.

    >>> scale(np.array([0, 1 << 63, (1 << 64) - 1], dtype=np.uint64), 10).tolist()
    [0, 5, 9]
    """
    high, low = draw >> _32, draw & _LOW_32
    limit_high, limit_low = np.uint64(limit >> 32), np.uint64(limit & 0xFFFF_FFFF)
    middle = high * limit_low + (low * limit_low >> _32)
    carry = low * limit_high + (middle & _LOW_32)
    scaled: U64 = high * limit_high + (middle >> _32) + (carry >> _32)
    return scaled


def zipf_table(key_count: int, exponent_milli: int) -> U64:
    """Cumulative weights of keys 1..key_count, where key k weighs 2**43 / k ** (exponent_milli / 1000),
    rounded down.

    A draw below the last entry belongs to the first key whose entry exceeds it. The powers come from
    fixed-point logarithms with 31 fractional bits (relative error below one in a million), integers from end
    to end, so the table is the same on every machine.

    >>> zipf_table(3, 1000).tolist()[0] == 1 << 43
    True
    """
    log = _log2(np.arange(1, key_count + 1, dtype=np.uint64))
    power = log * np.uint64(exponent_milli) // np.uint64(1000)
    return np.cumsum(_exp2_negative(power), dtype=np.uint64)


def _log2(numbers: U64) -> U64:
    """log2 of numbers below 2**20, in units of 2**-31: the whole part by comparison, each further bit by
    squaring the mantissa."""
    whole = np.zeros_like(numbers)
    for bit in range(1, 21):
        whole += (numbers >> np.uint64(bit)) > 0
    mantissa = (numbers << np.uint64(_FRACTION_BITS)) >> whole
    log = whole << np.uint64(_FRACTION_BITS)
    for bit in range(_FRACTION_BITS - 1, -1, -1):
        mantissa = (mantissa * mantissa) >> np.uint64(_FRACTION_BITS)
        carried = mantissa >> np.uint64(_FRACTION_BITS + 1)  # 1 where the square reached 2
        mantissa >>= carried
        log |= carried << np.uint64(bit)
    return log


def _exp2_negative(power: U64) -> U64:
    """2**43 * 2**-power, rounded down, for powers in units of 2**-31."""
    result = np.full_like(power, 1 << 32)
    root = 1 << 63  # one half of 2**64; its repeated square roots are 2**-(1/2), 2**-(1/4), ...
    for bit in range(_FRACTION_BITS - 1, -1, -1):
        root = isqrt(root << 64)
        factor = np.uint64(root >> 32)
        result = np.where((power >> np.uint64(bit)) & np.uint64(1), (result * factor) >> _32, result)
    whole = np.minimum(power >> np.uint64(_FRACTION_BITS), np.uint64(63))
    weights: U64 = (result << np.uint64(_WEIGHT_BITS - 32)) >> whole
    return weights
