"""A lab's state as bytes: MessagePack. Read by the version of the code that wrote it, else the journal is
replayed.

    state ─ encode ─► bytes ─ pack ─► what is stored       alone, or against the bytes of an older checkpoint: then
                                                           it holds little more than what has changed since
"""

import msgspec
import zstandard

from broker_core.errors import ReplayError
from broker_core.events import Json

VERSION = 150
"""Raise it whenever the state of a lane or lab changes shape, or the same journal leads to another state: an
older checkpoint is then refused, and replay takes its place.
`tests/core/lab/test_state_shape.py` notices a change without it."""
LEVEL = 3
"""The lowest at which zstd finds most of what is the same as in the older one."""
WINDOW_LOG_MIN, WINDOW_LOG_MAX = 16, 27


def encode(state: Json) -> bytes:
    """Plain state (integer keys of dicts allowed) as bytes, the same for the same state in every process."""
    return msgspec.msgpack.encode({"version": VERSION, "state": state})


def decode(encoded: bytes) -> Json:
    """What `encode` was given. Raises ReplayError for anything else."""
    try:
        document = msgspec.msgpack.decode(encoded)
    except msgspec.DecodeError as error:
        raise ReplayError(0, "checkpoint", "is damaged") from error
    if not isinstance(document, dict) or document.get("version") != VERSION:
        raise ReplayError(0, "checkpoint", f"is not of version {VERSION}")
    state: Json = document["state"]
    return state


def pack(encoded: bytes, base: bytes | None = None) -> bytes:
    """The bytes compressed, with a checksum. base: those of an older checkpoint, without which they
    cannot be unpacked."""
    size = len(encoded) + len(base or b"")
    parameters = zstandard.ZstdCompressionParameters.from_level(
        LEVEL,
        window_log=min(max(size.bit_length(), WINDOW_LOG_MIN), WINDOW_LOG_MAX),
        write_checksum=True,
    )
    return zstandard.ZstdCompressor(dict_data=_base(base), compression_params=parameters).compress(encoded)


def unpack(packed: bytes, base: bytes | None = None) -> bytes:
    """What `pack` was given. Raises ReplayError for anything else, and for another base."""
    try:
        return zstandard.ZstdDecompressor(
            dict_data=_base(base), max_window_size=1 << WINDOW_LOG_MAX
        ).decompress(packed)
    except zstandard.ZstdError as error:
        raise ReplayError(0, "checkpoint", "is damaged") from error


def _base(base: bytes | None) -> zstandard.ZstdCompressionDict | None:
    return (
        None
        if base is None
        else zstandard.ZstdCompressionDict(base, dict_type=zstandard.DICT_TYPE_RAWCONTENT)
    )
