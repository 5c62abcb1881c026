"""The four hashes of the models over whole Arrow columns, bit for bit, without making a Python object of a
key.

    murmur3_column   `murmur3_32`, Pulsar: unsigned; selectors mask it themselves       bytes of the key
    murmur2_column   `murmur2`, Kafka: signed; the partitioner clears the sign bit      bytes of the key
    phash2_column    `phash2`, RabbitMQ's consistent-hash exchange: 27 bits             bytes of the key
    java_column      `string_hash_unsigned(java_text(key))`, TubeMQ: unsigned           UTF-16 units of the decoded key

    offsets   0   4   4   9 ...      key i is data[offsets[i] : offsets[i + 1]]; a column's slice begins at its own offset,
    data      u21aé..                a missing key is whatever the caller says (`missing`), an empty one is hashed as any other

Columns: binary, string, their large kinds, fixed-size binary, dictionaries of these, and null; arrays, slices
and chunked arrays. Text is hashed as its UTF-8. java_column decodes as `new String(bytes, UTF_8)` does: a
sequence that is not UTF-8 counts as U+FFFD, once for each longest beginning of a character, and once for a
surrogate that somebody encoded.

Source: the scalar functions beside this file, which the tests compare with. Vectors: pulsar/murmur.json,
kafka/partitioner.json, rabbitmq/erlang_hash.json.
"""

from collections.abc import Callable
from typing import Any

import numpy as np
import pyarrow as pa
from numpy.typing import NDArray

from broker_core.errors import CommandError
from broker_core.hashing.column_kernels import java_rows, murmur2_rows, murmur3_rows, phash2_rows

Bytes = NDArray[np.uint8]
Offsets = NDArray[np.signedinteger[Any]]
Hashes = NDArray[np.uint32]
_Rows = Callable[[Any, Any, Any], None]

_NO_BYTES: Bytes = np.frombuffer(b"", np.uint8)


def murmur3_column(keys: pa.Array | pa.ChunkedArray, missing: int = 0) -> Hashes:
    """Unsigned murmur3 of each key; `missing` where there is none. Raises CommandError for a column of
    another type.

    >>> murmur3_column(pa.array(["Order-3459134", None])).tolist()
    [3112179635, 0]
    """
    return _hashed(keys, murmur3_rows, missing)


def murmur2_column(keys: pa.Array | pa.ChunkedArray, missing: int = 0) -> NDArray[np.int32]:
    """Signed murmur2 of each key; `missing` where there is none. Raises CommandError for a column of another
    type.

    >>> murmur2_column(pa.array([b"21", b"", None])).tolist()
    [-973932308, 275646681, 0]
    """
    return _hashed(keys, murmur2_rows, missing).view(np.int32)


def java_column(keys: pa.Array | pa.ChunkedArray, missing: int = 0) -> Hashes:
    """Unsigned String.hashCode of each decoded key; `missing` where there is none. Raises CommandError for a
    column of another type.

    >>> java_column(pa.array(["polygenelubricants", "\\U0001f600", None])).tolist()
    [2147483648, 1772899, 0]
    """
    return _hashed(keys, java_rows, missing)


def phash2_column(keys: pa.Array | pa.ChunkedArray, missing: int = 0) -> Hashes:
    """Erlang's phash2 of each key as a binary; `missing` where there is none. Raises CommandError for a column of
    another type.

    >>> phash2_column(pa.array(["order-7", None])).tolist()
    [114868694, 0]
    """
    return _hashed(keys, phash2_rows, missing)


def key_buffers(keys: pa.Array) -> tuple[Bytes, Offsets]:
    """The bytes and the offsets of a binary or string array, not copied: key i is data[offsets[i] : offsets[i
    + 1]].

    Raises CommandError for an array of another type.
    """
    kind = keys.type
    if pa.types.is_fixed_size_binary(kind) or pa.types.is_string_view(kind) or pa.types.is_binary_view(kind):
        keys = keys.cast(pa.large_binary())
        kind = keys.type
    if pa.types.is_binary(kind) or pa.types.is_string(kind):
        width: type[np.signedinteger[Any]] = np.int32
    elif pa.types.is_large_binary(kind) or pa.types.is_large_string(kind):
        width = np.int64
    else:
        raise CommandError("key", "must be text or bytes, not {type}", type=str(kind))
    _, offsets, data = keys.buffers()
    if len(keys) == 0:
        return _NO_BYTES, np.frombuffer(bytes(8), width)[:1]
    ends = np.frombuffer(offsets, width)[keys.offset : keys.offset + len(keys) + 1]
    return (_NO_BYTES if data is None or data.size == 0 else np.frombuffer(data, np.uint8)), ends


def _hashed(keys: pa.Array | pa.ChunkedArray, rows: _Rows, missing: int) -> Hashes:
    if isinstance(keys, pa.ChunkedArray):
        parts = [_hashed(chunk, rows, missing) for chunk in keys.chunks]
        return np.concatenate(parts) if parts else np.zeros(0, np.uint32)
    if pa.types.is_null(keys.type):
        return np.full(len(keys), missing & 0xFFFFFFFF, np.uint32)
    if pa.types.is_dictionary(keys.type):
        distinct = _hashed(keys.dictionary, rows, missing)
        places = keys.indices.fill_null(0).to_numpy(zero_copy_only=False)
        hashes = distinct[places] if len(distinct) else np.zeros(len(keys), np.uint32)
    else:
        data, offsets = key_buffers(keys)
        # Both are read-only, always: numba compiles a loop again for arrays that can be written to.
        hashes = np.empty(len(keys), np.uint32)
        rows(data, offsets, hashes)
    if keys.null_count:
        hashes[keys.is_null().to_numpy(zero_copy_only=False)] = missing & 0xFFFFFFFF
    return hashes
