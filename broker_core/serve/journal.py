"""The journal of a run: a Kafka log of ours with what came from outside, and a hash of what left.

    run: seed, clock, rules' version │ act: time, socket, what │ act ... │ left: time, hash of the answers │ ...

One batch for each turn, written before an answer of it leaves (a `write` call: it outlives the process). Up to
BYTES_MAX: beyond, the run goes on, and the journal says from when on it does not replay.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from hashlib import blake2b
from pathlib import Path

import msgspec

from broker_core.errors import CommandError
from broker_core.kafka.log.batch_reader import records_only
from broker_core.kafka.log.errors import CorruptRecord
from broker_core.kafka.log.memory_storage import MemoryFolder
from broker_core.kafka.log.partition_log import PartitionLog
from broker_core.kafka.log.record_batch import CODEC_MASK
from broker_core.kafka.log.settings import LogSettings
from broker_core.kafka.log.storage import Folder
from broker_core.lab.rules import RULES_VERSION
from broker_core.serve.one_file import LOG_NAME, OneFile
from broker_core.wire.acts import Act

BYTES_MAX = 64 * 1024 * 1024
SUFFIX = ".highwater"
_INT_MAX = 2**31 - 1
SETTINGS = LogSettings(segment_bytes=_INT_MAX, message_bytes_max=_INT_MAX, retention_ms=-1)


class Began(msgspec.Struct, frozen=True, tag="run", array_like=True):
    """seed, began_us: of the run. rules: version that its course follows from."""

    seed: int
    began_us: int
    rules: int = RULES_VERSION


class Came(msgspec.Struct, frozen=True, tag="act", array_like=True):
    """At `at_us` something came from outside. socket: its number, 0 for an order."""

    at_us: int
    socket: int
    act: Act


class Left(msgspec.Struct, frozen=True, tag="left", array_like=True):
    """What the sockets were answered at `at_us`, all of it, as a hash."""

    at_us: int
    digest: bytes


class Full(msgspec.Struct, frozen=True, tag="full", array_like=True):
    """From here on nothing is kept."""

    at_us: int


Entry = Began | Came | Left | Full
_encode = msgspec.msgpack.Encoder().encode
_decode = msgspec.msgpack.Decoder(Entry).decode


def digest_of(answers: Sequence[tuple[int, list[bytes]]]) -> bytes:
    """answers: (socket, bytes for it), in the order in which they leave."""
    found = blake2b(digest_size=16)
    for socket, parts in answers:
        data = b"".join(parts)
        found.update(b"%d %d " % (socket, len(data)))
        found.update(data)
    return found.digest()


class Journal:
    """path: the file it is kept in, made if it is missing; None: in memory. bytes_max: of the log."""

    def __init__(self, began: Began, path: Path | None = None, bytes_max: int = BYTES_MAX) -> None:
        self.path, self.bytes_max = path, bytes_max
        self._begin(began)

    def _begin(self, began: Began) -> None:
        self.folder: Folder = MemoryFolder() if self.path is None else OneFile(self.path)
        self._log = PartitionLog.open(self.folder, SETTINGS, now_ms=0)
        self._entries: list[bytes] = [_encode(began)]
        self._waiting = len(self._entries[0])
        self.full_from_us: int | None = None
        self.flush(0)

    @property
    def size(self) -> int:
        return self._log.size

    def note(self, at_us: int, socket: int, act: Act) -> None:
        if self.full_from_us is None:
            entry = _encode(Came(at_us, socket, act))
            self._entries.append(entry)
            self._waiting += len(entry)

    def answer(self, at_us: int, answers: Sequence[tuple[int, list[bytes]]]) -> None:
        if answers and self.full_from_us is None:
            self._entries.append(_encode(Left(at_us, digest_of(answers))))

    def flush(self, at_us: int) -> None:
        """What has been noted is in the log when this returns."""
        if not self._entries or self.full_from_us is not None:
            return
        if self._log.size + self._waiting > self.bytes_max:
            self.full_from_us = at_us
            self._entries = [_encode(Full(at_us))]
        now_ms = at_us // 1_000
        self._log.append_pairs([(b"", entry) for entry in self._entries], now_ms=now_ms)
        self._entries.clear()
        self._waiting = 0

    def begin_again(self, began: Began) -> None:
        """Another run takes the place of the one that is kept, in the same file. Raises OSError."""
        self._log.close(0)
        if self.path is not None:
            self.path.write_bytes(b"")
        self._begin(began)

    def data(self) -> bytes:
        """The file, as far as it has been written."""
        return bytes(self.folder.open(LOG_NAME).view(0, self._log.size))

    def close(self) -> None:
        self._log.close(0)


def entries_of(path: Path) -> Iterator[Entry]:
    """What a file holds, from its beginning to the last whole batch. Raises CommandError for one that is no journal."""
    try:
        data = path.read_bytes()
    except OSError as error:
        raise CommandError("file", "cannot be read: {why}", why=error.strerror or str(error)) from None
    return entries_in(data)


def entries_in(data: bytes) -> Iterator[Entry]:
    """As `entries_of`, of a file's bytes."""
    try:
        for batch in records_only(data):
            batch.ensure_valid()
            if batch.header.attributes & CODEC_MASK:
                raise CorruptRecord("a journal has no compressed batches")
            for record in batch.records():
                yield _decode(record.value or b"")
    except (CorruptRecord, msgspec.DecodeError) as error:
        raise CommandError("file", "is no run of Highwater: {why}", why=str(error)) from None
