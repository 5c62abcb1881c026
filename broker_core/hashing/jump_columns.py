"""`jump_hash` of every key that its generator can tell apart, at once: where the seed takes 21 bits, there are 2**21 of them.

Source: the scalar functions in jump_hash.py, which the tests compare with.
"""

from typing import Any

import numpy as np
from numpy.typing import NDArray

from broker_core.errors import InvariantError
from broker_core.hashing.compiled import compiled
from broker_core.hashing.jump_hash import (
    NEXT_STAR,
    SEED_BITS,
    SEED_FACTORS,
    SEED_MASK,
    STAR,
    WORDS,
)

BUCKETS_MAX = 1 << 20

_MASK, _STAR, _NEXT = np.uint64(SEED_MASK), np.uint64(STAR), np.uint64(NEXT_STAR)
_FIRST, _SECOND, _THIRD = (np.uint64(factor) for factor in SEED_FACTORS)
_WORDS = WORDS
_SPACE = 2.0**64


def jump_slots(buckets: int) -> NDArray[np.int32]:
    """The bucket of each key from 0 to 2**21 - 1; a larger key has that of its lower 21 bits. buckets: 1 to BUCKETS_MAX.

    >>> jump_slots(5)[[21, 2]].tolist()
    [2, 0]
    """
    if not 1 <= buckets <= BUCKETS_MAX:
        raise InvariantError(f"{buckets} buckets")
    out = np.zeros(1 << SEED_BITS, np.int32)
    if buckets > 1:
        _jump_rows(buckets, out)
    return out


@compiled
def _jump_rows(buckets: Any, out: Any) -> None:
    words = np.empty(_WORDS, np.uint64)
    for key in range(len(out)):
        number = np.uint64(key) + np.uint64(1)
        state = (
            ((number * _FIRST & _MASK) << np.uint64(43))
            | ((number * _SECOND & _MASK) << np.uint64(22))
            | ((number * _THIRD & _MASK) << np.uint64(1))
            | np.uint64(1)
        )
        for place in range(_WORDS):
            state ^= state >> np.uint64(12)
            state ^= state << np.uint64(25)
            state ^= state >> np.uint64(27)
            words[_WORDS - 1 - place] = state * _STAR
        at: Any = 0
        bucket: Any = 0
        while True:
            following = (at + 1) % _WORDS
            last, word = words[at], words[following]
            word ^= word << np.uint64(31)
            word ^= word >> np.uint64(11)
            word ^= last ^ (last >> np.uint64(30))
            words[following], at = word, following
            jumped = (bucket + 1) / (np.float64(word * _NEXT) / _SPACE)
            if jumped >= buckets:
                break
            bucket = np.int64(jumped)
        out[key] = bucket
