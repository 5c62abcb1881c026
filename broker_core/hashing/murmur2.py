"""Murmur2 with Kafka's seed: it decides which partition a keyed record goes to.

Source: Kafka clients 3.9.2, org.apache.kafka.common.utils.Utils.murmur2. Vectors: kafka/partitioner.json.
"""

SEED = 0x9747B28C
MULTIPLIER = 0x5BD1E995
SHIFT = 24
MASK = 0xFFFFFFFF


def murmur2(data: bytes) -> int:
    """Hash `data` to a signed 32-bit integer, as Kafka's Java does.

    Kafka reads little-endian 4-byte words; a tail of 1 to 3 bytes is mixed in unsigned. Never raises.

    >>> murmur2(b"21"), murmur2(b"")
    (-973932308, 275646681)
    """
    hashed = (SEED ^ len(data)) & MASK
    whole = len(data) & ~3
    for index in range(0, whole, 4):
        word = int.from_bytes(data[index : index + 4], "little") * MULTIPLIER & MASK
        word = (word ^ word >> SHIFT) * MULTIPLIER & MASK
        hashed = hashed * MULTIPLIER & MASK ^ word
    if whole < len(data):
        hashed = (hashed ^ int.from_bytes(data[whole:], "little")) * MULTIPLIER & MASK
    hashed = (hashed ^ hashed >> 13) * MULTIPLIER & MASK
    hashed ^= hashed >> 15
    return hashed - (1 << 32) if hashed & 0x80000000 else hashed
