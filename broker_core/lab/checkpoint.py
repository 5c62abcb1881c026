"""A lab's state as bytes: MessagePack, compressed. Read by the version of the code that wrote it, else the
journal is replayed."""

import zlib

import msgspec

from broker_core.errors import ReplayError
from broker_core.events import Json

VERSION = 72
"""Raise it whenever the state of a lane or lab changes shape, or the same journal leads to another state: an
older checkpoint is then refused, and replay takes its place.
`tests/core/lab/test_state_shape.py` notices a change without it."""


def encode(state: Json) -> bytes:
    """Plain state (integer keys of dicts allowed) as bytes, the same for the same state in every process."""
    return zlib.compress(msgspec.msgpack.encode({"version": VERSION, "state": state}), level=1)


def decode(blob: bytes) -> Json:
    """What `encode` was given. Raises ReplayError for anything else."""
    try:
        document = msgspec.msgpack.decode(zlib.decompress(blob))
    except (zlib.error, msgspec.DecodeError) as error:
        raise ReplayError(0, "checkpoint", "is damaged") from error
    if not isinstance(document, dict) or document.get("version") != VERSION:
        raise ReplayError(0, "checkpoint", f"is not of version {VERSION}")
    state: Json = document["state"]
    return state
