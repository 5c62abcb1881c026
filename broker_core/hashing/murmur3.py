"""MurmurHash3 x86 32-bit with seed 0: the hash that Pulsar puts keys and ring points through.

Source: Pulsar 3.2 `Murmur3_32Hash`. Pulsar itself drops the top bit everywhere; the documentation prints the
whole unsigned number.
"""

import mmh3

MASK_31 = 0x7FFFFFFF


def murmur3_32(key: str | bytes) -> int:
    """Unsigned 32-bit hash of a key, 0 .. 2**32 - 1; text is hashed as UTF-8.

    Half of a surrogate pair becomes "?", as Java's `String.getBytes` does. Vectors: pulsar/murmur.json.

    >>> murmur3_32("Order-3459134")
    3112179635
    """
    # Encoded here: mmh3 5.3 takes text too, but half a surrogate pair makes it crash the process.
    if isinstance(key, bytes):
        return mmh3.hash(key, 0, False)
    try:
        return mmh3.hash(key.encode(), 0, False)
    except UnicodeEncodeError:
        return mmh3.hash(key.encode("utf-8", "replace"), 0, False)


def murmur3_31(key: str | bytes) -> int:
    """The 31 bits of the hash that Pulsar uses: `Murmur3_32Hash.makeHash`, 0 .. 2**31 - 1.

    >>> murmur3_31("Order-3459134")
    964695987
    """
    return murmur3_32(key) & MASK_31
