"""The files of a source, and the parts in which several tasks read them.

A part is a run of bytes of one file: rows that *start* in it are its own, wherever they end. A compressed
file and a file of another kind than lines are one part each, so every row has one reader and line numbers are
exact: counting the lines before a part, and settling where its rows begin (quote_cuts.py), is a pass over the
bytes that parses nothing.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import IO

from broker_core.errors import CommandError, Names
from broker_core.pipeline.sources.encodings import BOM, UTF16_MARKS
from broker_core.pipeline.sources.kinds import ensure_none_refused
from broker_core.pipeline.sources.rows import SourceFailed
from broker_core.pipeline.sources.unpacked import (
    PACKED,
    UNPACK_ERRORS,
    ManyInside,
    open_bytes,
    packing_of,
)
from broker_core.real_files import files_below

PART_BYTES = 32 << 20
BLOCK_BYTES = 4 << 20
HEAD_BYTES = 64 << 10
ROW_BYTES_MAX = 64 << 20
PLAIN_ENDINGS = {"csv": (".csv", ".tsv", ".txt"), "jsonl": (".jsonl", ".ndjson", ".json")}
ENDINGS = {
    **{
        kind: (*endings, *(ending + packed for packed in PACKED.values() for ending in endings))
        for kind, endings in PLAIN_ENDINGS.items()
    },
    "parquet": (".parquet", ".parq"),
}
FIRST_ROW_TOO_LONG = "the first row is longer than {bytes} bytes, so its columns cannot be shown"


@dataclass(frozen=True, slots=True)
class Part:
    """Bytes [start, end) of a file; end -1: to its end. first_line: the number of the line at `start`, or
    that contains `start`."""

    path: str
    start: int = 0
    end: int = -1
    first_line: int = 1
    first_ordinal: int = 0


def source_files(kind: str, path: Path) -> list[Path]:
    """The real path of the file, or of those in the folder that are of the kind, by name; other files, hidden
    ones, empty ones and links that lead out of the folder are left out.

    Raises CommandError at source.path: nothing there, not readable, empty, a folder without a file of the
    kind, or a file of a format that no source reads.
    """
    try:
        if path.is_dir():
            inside = [file for file in files_below(path.resolve()) if not file.name.startswith((".", "_"))]
            files = [file for file in inside if file.name.lower().endswith(ENDINGS[kind])]
            if not files:
                ensure_none_refused(inside, is_alone=False)
                raise CommandError(
                    "source.path",
                    "the folder holds no {kind} file; a name ends in {endings}",
                    kind=kind,
                    endings=Names(ENDINGS[kind]),
                )
            files = [file for file in files if file.stat().st_size]
        elif path.exists():
            files = [path.resolve()] if path.stat().st_size else []
        else:
            raise CommandError("source.path", "there is no such file")
        if not files:
            raise CommandError("source.path", "the file is empty")
        ensure_none_refused(files, is_alone=not path.is_dir())
    except OSError as error:
        raise CommandError(
            "source.path", "cannot be read: {reason}", reason=error.strerror or type(error).__name__
        ) from error
    return files


def ensure_text(path: Path, encoding: str = "utf-8") -> None:
    """Look at a file's first bytes. Raises SourceFailed as its reader does."""
    next(PartReader(Part(str(path)), HEAD_BYTES, encoding).blocks(), None)


FILES_LOOKED_AT_MAX = 64
"""Of a folder, when it is asked for; what is wrong with a later file is reported by the task that reads
it."""


def head_of(path: Path, size: int, encoding: str = "utf-8") -> bytes:
    """The first bytes, without a byte order mark; UTF-16 as UTF-8. Raises CommandError at source.path as `raw_head`, and
    for UTF-16 that is read as something else."""
    head = raw_head(path, size, encoding)
    if head.startswith(UTF16_MARKS):
        raise CommandError("source.path", "the text is UTF-16; save it as UTF-8")
    return head.removeprefix(BOM)


def raw_head(path: Path, size: int, encoding: str = "utf-8") -> bytes:
    """The first bytes of a file out of its packing. Raises CommandError at source.path for one that is damaged."""
    try:
        with open_bytes(path, encoding) as file:
            return file.read(size)
    except ManyInside as error:
        raise CommandError(
            "source.path", "the archive holds {count} files; a zip is read if it holds one", count=error.count
        ) from error
    except UNPACK_ERRORS as error:
        raise CommandError("source.path", "cannot be read: {reason}", reason=str(error)[:200]) from error


def cut(paths: list[Path], part_bytes: int = PART_BYTES, *, is_whole: bool = False) -> list[Part]:
    """The files in parts, first lines still unknown for all but the first part of a file. is_whole: each file is one, as
    a packed one always is."""
    parts: list[Part] = []
    for path in paths:
        size = path.stat().st_size
        if is_whole or size <= part_bytes or packing_of(path) is not None:
            parts.append(Part(str(path)))
        else:
            parts += [
                Part(str(path), start, min(start + part_bytes, size)) for start in range(0, size, part_bytes)
            ]
    return parts


@dataclass(slots=True)
class Block:
    """Bytes of a part. begin: where the first unread row starts; limit: rows that start here are the next
    part's. line: of `begin`."""

    data: bytes
    begin: int
    limit: int
    line: int
    is_final: bool


class PartReader:
    """Gives a part's bytes block by block; after each, the reader says how far the whole rows went."""

    def __init__(self, part: Part, block_bytes: int = BLOCK_BYTES, encoding: str = "utf-8") -> None:
        self.part = part
        self._encoding = encoding
        self._block_bytes = block_bytes
        self._consumed = 0
        self._line = 0

    def consumed(self, end: int, line: int) -> None:
        """The rows up to `end` of the block are read; the next one is in that line."""
        self._consumed, self._line = end, line

    def blocks(self) -> Iterator[Block]:
        """Each block begins with the rest of the one before. Raises SourceFailed for UTF-16, a broken gzip or
        a row beyond ROW_BYTES_MAX."""
        part = self.part
        name = Path(part.path).name
        try:
            with open_bytes(Path(part.path), self._encoding) as file:
                position, line = _first_row(file, part)
                rest = b""
                is_final = False
                while not is_final and (part.end < 0 or position < part.end):
                    more = file.read(self._block_bytes)
                    is_final = not more
                    data = rest + more
                    if position == 0 and data.startswith(UTF16_MARKS):
                        raise SourceFailed("{file}: the text is UTF-16; save it as UTF-8", file=name)
                    begin = len(BOM) if position == 0 and data.startswith(BOM) else 0
                    limit = len(data) if part.end < 0 else min(len(data), part.end - position)
                    self._consumed, self._line = begin, line
                    yield Block(data, begin, limit, line, is_final)
                    line = self._line
                    position += self._consumed
                    rest = data[self._consumed :]
                    if len(rest) > ROW_BYTES_MAX + BLOCK_BYTES:
                        raise SourceFailed(
                            "{file}: the row in line {line} is longer than {bytes} bytes",
                            file=name,
                            line=line,
                            bytes=ROW_BYTES_MAX,
                        )
        except ManyInside as error:
            raise SourceFailed(
                "{file}: the archive holds {count} files; a zip is read if it holds one",
                file=name,
                count=error.count,
            ) from error
        except UNPACK_ERRORS as error:
            raise SourceFailed("{file}: {reason}", file=name, reason=str(error)[:200]) from error


def _first_row(file: IO[bytes], part: Part) -> tuple[int, int]:
    """Go to the first row that starts in the part; its place and line."""
    if part.start == 0:
        return 0, part.first_line
    # A row starts at the part's very first byte only if the byte before it is a newline.
    file.seek(part.start - 1)
    position = part.start - 1
    while block := file.read(BLOCK_BYTES):
        found = block.find(b"\n")
        if found >= 0:
            position += found + 1
            file.seek(position)
            return position, part.first_line + (position > part.start)
        position += len(block)
    return position, part.first_line
