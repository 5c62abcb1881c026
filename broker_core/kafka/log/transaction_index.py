"""The index of aborted transactions: which records of a segment a read_committed reader must pass over.

    version 2   producer id 8   first offset 8   last offset 8   last stable offset 8

The file is there only where a transaction was aborted.
Source: Kafka 3.9 storage/internals/log/TransactionIndex, AbortedTxn.
"""

from __future__ import annotations

import struct
from collections.abc import Iterable, Iterator
from typing import NamedTuple

from broker_core.kafka.log.storage import Folder

_ROW = struct.Struct(">hqqqq")
_VERSION = 0


class AbortedTransaction(NamedTuple):
    """Records of that producer from first to last offset do not count."""

    producer_id: int
    first_offset: int
    last_offset: int
    last_stable_offset: int


def add_aborted(folder: Folder, name: str, aborted: AbortedTransaction) -> None:
    """Append a row; the file is made if it is missing. Raises StorageFull."""
    file = folder.open(name)
    try:
        file.append(_ROW.pack(_VERSION, *aborted))
        file.flush()
    finally:
        file.close()


def replace_aborted(folder: Folder, name: str, rows: Iterable[AbortedTransaction]) -> None:
    """Write the whole file in one step; without rows there is none. Raises StorageFull."""
    content = b"".join(_ROW.pack(_VERSION, *row) for row in rows)
    if content:
        folder.replace(name, content)
    else:
        folder.remove(name)


def truncate_aborted(folder: Folder, name: str, offset: int) -> None:
    """Drop the rows of transactions that ended at or after the offset."""
    rows = list(read_aborted(folder, name))
    kept = [row for row in rows if row.last_offset < offset]
    if len(kept) < len(rows):
        replace_aborted(folder, name, kept)


def read_aborted(folder: Folder, name: str) -> Iterator[AbortedTransaction]:
    """Give the rows; nothing if there is no such file."""
    try:
        content = folder.read(name)
    except FileNotFoundError:
        return
    yield from read_rows(content)


def read_rows(content: bytes) -> Iterator[AbortedTransaction]:
    """Give the rows of a file's content. A torn last row is left out."""
    whole = len(content) // _ROW.size * _ROW.size
    for _, *fields in _ROW.iter_unpack(content[:whole]):
        yield AbortedTransaction(*fields)
