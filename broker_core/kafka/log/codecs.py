"""The four codecs of a record batch, in the framings that Kafka's clients write.

    1 gzip     one gzip member                       2 snappy   xerial: a header, then blocks of (length, raw snappy)
    3 lz4      one frame of independent blocks       4 zstd     one frame

The original reads a compressed batch as a stream: records that came out before the stream breaks are looked
at first, and a bad checksum at the end is noticed at the end. `decompress` keeps that order by giving what
came out together with what went wrong.

Source: Kafka clients 3.9.2, common/compress. The compression itself: cramjam, and the standard library's
zlib.
"""

from __future__ import annotations

import struct
import zlib
from dataclasses import dataclass
from enum import IntEnum

import cramjam

from broker_core.kafka.log.errors import UnknownCodec
from broker_core.kafka.log.varint import Buffer

XERIAL_HEADER = b"\x82SNAPPY\x00" + struct.pack(">ii", 1, 1)
XERIAL_MAGIC = XERIAL_HEADER[:8]
XERIAL_BLOCK_BYTES = 32 * 1024
# Magic, version 1 with independent blocks, blocks of 64 KiB at most, and the checksum of the two bytes before
# it. The frame that cramjam itself writes has blocks that lean on each other, which the original's reader
# refuses.
LZ4_HEADER = bytes.fromhex("04224d18 60 40 82")
LZ4_BLOCK_BYTES = 64 * 1024
_GZIP_TRAILER_BYTES = 8
_GZIP_WINDOW_BITS = 31  # zlib's way to say "gzip, largest window"
_GZIP_SYSTEM = 9  # the header's last byte: which operating system wrote it
_UNKNOWN_SYSTEM = b"\xff"  # what Java says since 16; zlib names the system
_INT = struct.Struct(">i")
_LITTLE_INT = struct.Struct("<I")
_STORED_BIT = 1 << 31


class Codec(IntEnum):
    """compression.type, with its number in bits 0 to 2 of a batch's attributes."""

    NONE = 0
    GZIP = 1
    SNAPPY = 2
    LZ4 = 3
    ZSTD = 4

    @classmethod
    def of(cls, number: int) -> Codec:
        """Tell the codec. Raises UnknownCodec for 5, 6 and 7."""
        if number > cls.ZSTD:
            raise UnknownCodec(f"compression type {number}")
        return cls(number)


@dataclass(frozen=True, slots=True)
class Decompressed:
    """What came out of a stream. failure: what was wrong after the last byte that came out; None: nothing."""

    data: Buffer
    failure: str | None = None


def compress(codec: Codec, data: bytes) -> bytes:
    """Compress a batch's records. The same data gives the same bytes, whenever and wherever.

    >>> bytes(decompress(Codec.LZ4, compress(Codec.LZ4, b"abc" * 50)).data) == b"abc" * 50
    True
    """
    match codec:
        case Codec.NONE:
            return data
        case Codec.GZIP:
            packer = zlib.compressobj(wbits=_GZIP_WINDOW_BITS)
            packed = packer.compress(data) + packer.flush()
            return packed[:_GZIP_SYSTEM] + _UNKNOWN_SYSTEM + packed[_GZIP_SYSTEM + 1 :]
        case Codec.SNAPPY:
            blocks = [
                bytes(cramjam.snappy.compress_raw(data[start : start + XERIAL_BLOCK_BYTES]))
                for start in range(0, len(data), XERIAL_BLOCK_BYTES)
            ]
            return XERIAL_HEADER + b"".join(_INT.pack(len(block)) + block for block in blocks)
        case Codec.LZ4:
            return _compress_lz4(data)
        case Codec.ZSTD:
            return bytes(cramjam.zstd.compress(data, 3))


def decompress(codec: Codec, data: Buffer) -> Decompressed:
    """Take a batch's records out of their stream; never raises for what the stream holds."""
    match codec:
        case Codec.NONE:
            return Decompressed(data)
        case Codec.GZIP:
            return _decompress_gzip(bytes(data))
        case Codec.SNAPPY:
            return _decompress_snappy(bytes(data))
        case Codec.LZ4 | Codec.ZSTD:
            unpack = cramjam.lz4.decompress if codec is Codec.LZ4 else cramjam.zstd.decompress
            try:
                return Decompressed(bytes(unpack(bytes(data))))
            except cramjam.DecompressionError as error:
                return Decompressed(b"", f"{codec.name.lower()}: {error}")


def _decompress_gzip(data: bytes) -> Decompressed:
    unpacker = zlib.decompressobj(wbits=_GZIP_WINDOW_BITS)
    plain = b""
    try:
        # The trailer on its own: a wrong checksum must not hide the data before it.
        plain = unpacker.decompress(data[:-_GZIP_TRAILER_BYTES])
        plain += unpacker.decompress(data[-_GZIP_TRAILER_BYTES:])
    except zlib.error as error:
        return Decompressed(plain, f"gzip: {error}")
    return Decompressed(plain, None if unpacker.eof else "gzip: the stream ends early")


def _decompress_snappy(data: bytes) -> Decompressed:
    plain: list[bytes] = []
    # Clients of other languages send one raw block without the xerial frame; the original's reader takes it
    # too.
    position = len(XERIAL_HEADER) if data.startswith(XERIAL_MAGIC) else 0
    try:
        if not position:
            return Decompressed(bytes(cramjam.snappy.decompress_raw(data)))
        while position < len(data):
            (size,) = _INT.unpack_from(data, position)
            position += _INT.size
            if not 0 <= size <= len(data) - position:
                return Decompressed(b"".join(plain), "snappy: a block ends early")
            plain.append(bytes(cramjam.snappy.decompress_raw(data[position : position + size])))
            position += size
    except (cramjam.DecompressionError, struct.error) as error:
        return Decompressed(b"".join(plain), f"snappy: {error}")
    return Decompressed(b"".join(plain))


def _compress_lz4(data: bytes) -> bytes:
    frame = [LZ4_HEADER]
    for start in range(0, len(data), LZ4_BLOCK_BYTES):
        plain = data[start : start + LZ4_BLOCK_BYTES]
        block = bytes(cramjam.lz4.compress_block(plain, store_size=False))
        if len(block) < len(plain):
            frame += (_LITTLE_INT.pack(len(block)), block)
        else:  # does not shrink: stored as it is, and the top bit of the length says so
            frame += (_LITTLE_INT.pack(len(plain) | _STORED_BIT), plain)
    frame.append(_LITTLE_INT.pack(0))
    return b"".join(frame)


def with_right_lz4_checksum(frame: bytes) -> bytes:
    """Give an lz4 frame with the header checksum that the frame format asks for: the second byte of its
    fields' xxHash.

    >>> frame = compress(Codec.LZ4, b"abc")
    >>> with_right_lz4_checksum(frame[:6] + b"?" + frame[7:]) == frame
    True
    """
    if len(frame) < len(LZ4_HEADER):
        return frame
    flags = frame[4]
    end = 6 + (8 if flags & 0x08 else 0) + (4 if flags & 0x01 else 0)  # the content's size, a dictionary's id
    return frame[:end] + bytes([_xxhash32(frame[4:end]) >> 8 & 0xFF]) + frame[end + 1 :]


def _xxhash32(data: bytes) -> int:
    """Seed 0, at most 15 bytes."""
    word = 0xFFFFFFFF
    value = 374761393 + len(data)
    whole = len(data) // 4 * 4
    for (lane,) in struct.iter_unpack("<I", data[:whole]):
        value = value + lane * 3266489917 & word
        value = ((value << 17 | value >> 15) & word) * 668265263 & word
    for octet in data[whole:]:
        value = value + octet * 374761393 & word
        value = ((value << 11 | value >> 21) & word) * 2654435761 & word
    value = (value ^ value >> 15) * 2246822519 & word
    value = (value ^ value >> 13) * 3266489917 & word
    return value ^ value >> 16
