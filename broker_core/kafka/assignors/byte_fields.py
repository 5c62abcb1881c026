"""Reading and writing the fields of Kafka's old (not flexible) message formats: big-endian numbers, strings
and arrays with their length.

Source: Kafka 3.9 org.apache.kafka.common.protocol.ByteBufferAccessor and the classes that its message
generator makes.
"""

from __future__ import annotations

import struct
from collections.abc import Callable, Sequence
from typing import TypeVar

T = TypeVar("T")


class MalformedBytes(ValueError):
    """Bytes that are not what their schema says: a length that is larger than what is left, or a null that
    may not be."""


class Underflow(MalformedBytes):
    """A number is cut off by the end."""


class FieldReader:
    """Reads fields one after the other. Raises Underflow where a number is cut off, else MalformedBytes.

    >>> FieldReader(bytes.fromhex("000141")).string()
    'A'
    """

    def __init__(self, data: bytes) -> None:
        self._data = data
        self._at = 0

    @property
    def left(self) -> int:
        """How many bytes are not read yet."""
        return len(self._data) - self._at

    def int16(self) -> int:
        return self._number(">h", 2)

    def int32(self) -> int:
        return self._number(">i", 4)

    def int8(self) -> int:
        return self._number(">b", 1)

    def int64(self) -> int:
        return self._number(">q", 8)

    def raw(self, size: int) -> bytes:
        """So many bytes as they are."""
        return self._take(size)

    def unsigned_varint(self) -> int:
        """A number of seven bits a byte, the lowest first."""
        value = shift = 0
        while True:
            part = self._number(">B", 1)
            value |= (part & 0x7F) << shift
            if part < 0x80:
                return value
            shift += 7
            if shift > 28:
                raise MalformedBytes("a varint of more than 32 bits")

    def string(self) -> str:
        text = self.nullable_string()
        if text is None:
            raise MalformedBytes("a string that may not be null is null")
        return text

    def nullable_string(self) -> str | None:
        size = self.int16()
        return None if size < 0 else self._take(size).decode(errors="replace")

    def nullable_bytes(self) -> bytes | None:
        size = self.int32()
        return None if size < 0 else self._take(size)

    def array(self, item: Callable[[], T]) -> list[T]:
        count = self.int32()
        if count < 0:
            raise MalformedBytes("an array that may not be null is null")
        if count > self.left:
            raise MalformedBytes(f"an array of {count} with {self.left} bytes left")
        return [item() for _ in range(count)]

    def _take(self, size: int) -> bytes:
        if size > self.left:
            raise MalformedBytes(f"{size} bytes wanted, {self.left} left")
        taken = self._data[self._at : self._at + size]
        self._at += size
        return taken

    def _number(self, layout: str, size: int) -> int:
        if size > self.left:
            raise Underflow(f"a number of {size} bytes with {self.left} left")
        (number,) = struct.unpack_from(layout, self._data, self._at)
        self._at += size
        return int(number)


def int16_bytes(number: int) -> bytes:
    return struct.pack(">h", number)


def int32_bytes(number: int) -> bytes:
    return struct.pack(">i", number)


def string_bytes(text: str | None) -> bytes:
    """A string after its length; None is length -1."""
    if text is None:
        return int16_bytes(-1)
    data = text.encode()
    return int16_bytes(len(data)) + data


def nullable_bytes(data: bytes | None) -> bytes:
    """Bytes after their length; None is length -1."""
    return int32_bytes(-1) if data is None else int32_bytes(len(data)) + data


def array_bytes(items: Sequence[bytes]) -> bytes:
    """An array of what is written already."""
    return int32_bytes(len(items)) + b"".join(items)
