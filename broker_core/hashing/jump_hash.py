"""Jump consistent hash: a key's bucket out of any number of buckets, without a table.

    buckets     1   2   3   4   5   6 ...
    bucket      0   1   2   2   2   5 ...      key 21 jumps to the newest bucket, or stays: of n + 1 buckets,
                    ▲   ▲           ▲          1 / (n + 1) of the keys are in the newest one

Where a key jumps next is drawn by a generator that the key seeds, so that each key has its own row of jumps. RabbitMQ
draws with Erlang's exs1024, whose seed takes the lower 21 bits of a number: keys that have those in common share a row.
Source: Lamping and Veach, A Fast, Minimal Memory, Consistent Hash Algorithm, 2014; Erlang/OTP 25 rand, exs1024;
rabbitmq_consistent_hash_exchange 3.10.8. Vectors: rabbitmq/erlang_hash.json.
"""

from __future__ import annotations

SEED_BITS = 21
SEED_MASK = (1 << SEED_BITS) - 1
MASK = (1 << 64) - 1
WORDS = 16
SEED_FACTORS = (2_097_131, 2_097_133, 2_097_143)
STAR, NEXT_STAR = 2_685_821_657_736_338_717, 1_181_783_497_276_652_981


class Exs1024:
    """Erlang's generator xorshift1024*, seeded by three times the same number. _words: its 1,024 bits, the word that is
    used next at _at."""

    __slots__ = ("_at", "_words")

    def __init__(self, seed: int) -> None:
        number = (seed & SEED_MASK) + 1
        first, second, third = (number * factor & SEED_MASK for factor in SEED_FACTORS)
        state = first << 43 | second << 22 | third << 1 | 1
        words = []
        for _ in range(WORDS):
            state ^= state >> 12
            state ^= state << 25 & MASK
            state ^= state >> 27
            words.append(state * STAR & MASK)
        # The original's list is built from its end, and its head is used first.
        self._words, self._at = words[::-1], 0

    def uniform(self) -> float:
        """The next number, 0.0 to 1.0."""
        words, at, following = self._words, self._at, (self._at + 1) % WORDS
        last, word = words[at], words[following]
        word ^= word << 31 & MASK
        word ^= word >> 11
        word ^= last ^ last >> 30
        words[following], self._at = word, following
        return (word * NEXT_STAR & MASK) / 2.0**64


def jump_hash(key: int, buckets: int) -> int:
    """The bucket of a key, 0 to buckets - 1. key: 0 or more. buckets: 1 or more.

    >>> [jump_hash(1_234, buckets) for buckets in (1, 2, 3, 4, 100)]
    [0, 0, 0, 3, 87]
    """
    if buckets == 1:
        return 0
    generator = Exs1024(key)
    bucket = following = 0
    while following < buckets:
        bucket = following
        following = int((bucket + 1) / generator.uniform())
    return bucket
