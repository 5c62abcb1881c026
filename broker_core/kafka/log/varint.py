"""Integers of one to ten bytes, as records write them: seven bits a byte, lowest first, the top bit says
"more".

A *varint* is 32 bits wide and a *varlong* 64; both are zigzag, so that small negative numbers stay short
(0, -1, 1, -2 are 0, 1, 2, 3). Readers are as lenient as the original: bits beyond the width are dropped, and
only a last byte that says "more" is an error.

Source: Kafka clients 3.9.2, ByteUtils. Vectors: kafka/records/varint_crc.json.
"""

from __future__ import annotations

VARINT_BYTES_MAX = 5
VARLONG_BYTES_MAX = 10
_MASK_32 = 0xFFFFFFFF
_MASK_64 = 0xFFFFFFFFFFFFFFFF

Buffer = bytes | bytearray | memoryview


class VarintError(ValueError):
    """The bytes are not an integer of that width."""


class VarintTooLong(VarintError):
    """The last byte that the width allows says that another one follows."""


class VarintCutShort(VarintError):
    """The buffer ends inside the integer."""


def encode_varint(value: int) -> bytes:
    """Write a number of 64 bits at most; a varint and a varlong of the same number are the same bytes.

    >>> encode_varint(-1).hex(), encode_varint(300).hex()
    ('01', 'd804')
    """
    return (
        VARINTS[value]
        if 0 <= value < len(VARINTS)
        else encode_unsigned_varint((value << 1 ^ value >> 63) & _MASK_64)
    )


def encode_unsigned_varint(value: int) -> bytes:
    """Write a number of 0 or more without zigzag.

    >>> encode_unsigned_varint(300).hex()
    'ac02'
    """
    encoded = bytearray()
    while value > 0x7F:
        encoded.append(value & 0x7F | 0x80)
        value >>= 7
    encoded.append(value)
    return bytes(encoded)


def read_varint(buffer: Buffer, position: int) -> tuple[int, int]:
    """Read a 32-bit number; give it and the position after it. Raises VarintTooLong, VarintCutShort.

    >>> read_varint(bytes.fromhex("d804"), 0)
    (300, 2)
    """
    value, position = _read(buffer, position, VARINT_BYTES_MAX)
    value &= _MASK_32
    return value >> 1 ^ -(value & 1), position


def read_varlong(buffer: Buffer, position: int) -> tuple[int, int]:
    """Read a 64-bit number; give it and the position after it. Raises VarintTooLong, VarintCutShort."""
    value, position = _read(buffer, position, VARLONG_BYTES_MAX)
    value &= _MASK_64
    return value >> 1 ^ -(value & 1), position


def read_unsigned_varint(buffer: Buffer, position: int) -> tuple[int, int]:
    """Read a 32-bit number without zigzag, 0 to 2^32 - 1; give it and the position after it.

    >>> read_unsigned_varint(bytes.fromhex("ac02"), 0)
    (300, 2)
    """
    value, position = _read(buffer, position, VARINT_BYTES_MAX)
    return value & _MASK_32, position


def _read(buffer: Buffer, position: int, bytes_max: int) -> tuple[int, int]:
    value = 0
    for shift in range(0, 7 * bytes_max, 7):
        if position >= len(buffer):
            raise VarintCutShort("the buffer ends inside a number")
        byte = buffer[position]
        position += 1
        value |= (byte & 0x7F) << shift
        if byte < 0x80:
            return value, position
    raise VarintTooLong(f"a number of more than {bytes_max} bytes")


# Lengths and offset deltas are nearly always in here; a look-up costs a tenth of the loop.
VARINTS = tuple(encode_unsigned_varint(value << 1) for value in range(1 << 14))
"""0 to 16,383, written: for writers that cannot afford a call per number."""
