"""What a file of messages is, told by its first bytes; its name only decides where they leave it open."""

import codecs
import re
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

from broker_core.errors import CommandError, SentenceError
from broker_core.pipeline.sources.encodings import in_utf_8
from broker_core.pipeline.sources.json_layout import layout_of
from broker_core.pipeline.sources.unpacked import UNPACK_ERRORS, ZIP_MARK, open_bytes, packing_in
from broker_core.real_files import open_file

HEAD_BYTES = 64 * 1024
PARQUET_MAGIC = b"PAR1"
BATCH_MAGIC_AT, BATCH_MAGIC = (
    16,
    2,
)  # Kafka's record batch v2: the byte after base offset, length and leader epoch
BATCH_HEADER_BYTES = 61
TEXT_ENDINGS = (".csv", ".tsv", ".txt", ".jsonl", ".ndjson", ".json")
PARQUET_ENDINGS = (".parquet", ".parq")
# First bytes of files that are not text, whatever their names, beside those that are refused by name: Parquet,
# zip, PNG, PDF, Kafka's first batch.
NO_TEXT = (PARQUET_MAGIC, b"PK\x03\x04", b"\x89PNG", b"%PDF", b"\0\0\0\0")
DELIMITERS = (b",", b";", b"\t", b"|")
LINES_LOOKED_AT = 20
EXCEL = "is an Excel workbook: save it as CSV UTF-8"
ORC = "is an ORC file: write it as Parquet"
ORC_MAGIC = b"ORC"  # at the beginning, and before the last byte
_ARROW = "is an Arrow or Feather file: write it as Parquet"
_REFUSED = {
    b"\xd0\xcf\x11\xe0": EXCEL,
    b"Obj\x01": "is an Avro file: write it as Parquet, or as JSON lines with avro-tools tojson",
    b"ARROW1\x00\x00": _ARROW,
    b"FEA1\x00\x00\x00\x00": _ARROW,
    b"\xff\xff\xff\xff": _ARROW,
    b"\xfd7zXZ\x00": "is packed with xz: unpack it first",
    b"\x04\x22\x4d\x18": "is packed with lz4: unpack it first, or pack it with zstd",
    b"7z\xbc\xaf\x27\x1c": "is a 7-Zip archive: unpack it first",
    b"SQLite format 3": "is an SQLite database: export the table as CSV",
}
"""First bytes of files that no source reads -> what they are, and what to do."""
REFUSALS = tuple(dict.fromkeys((*_REFUSED.values(), ORC)))
_MARKS = (ZIP_MARK, ORC_MAGIC, *_REFUSED)
_MARK_BYTES = max(map(len, _MARKS))
_CONTROL = re.compile(rb"[\x00-\x08\x0b\x0c\x0e-\x1f\x7f]")
_SEGMENT = re.compile(r"\d{20}\.log")


@dataclass(frozen=True, slots=True)
class FileKind:
    """kind: as a source's `kind`. stored_name: a name whose ending tells every reader how to open it,
    compression included."""

    kind: str
    stored_name: str


def sniff(path: Path, name: str) -> FileKind | None:
    """The kind of a file that a person calls `name`; None for one that no source reads.

    CSV is what remains: any text, whatever its encoding. Zero bytes may be in it, as keys are data, where its
    name says that it is text or its lines do. An empty file has no kind.
    """
    head, tail = _ends(path)
    if not head:
        return None
    if head.startswith(PARQUET_MAGIC) and tail == PARQUET_MAGIC:
        return FileKind("parquet", "data.parquet")
    if _refusal(head, tail):
        return None
    if packing := packing_in(head):
        inner = _text_kind(_unpacked(path), name.lower().removesuffix(packing))
        return FileKind(inner, f"data.{inner}{packing}") if inner else None
    if name.endswith(".log") and len(head) >= BATCH_HEADER_BYTES and head[BATCH_MAGIC_AT] == BATCH_MAGIC:
        return FileKind("kafka_log", name if _SEGMENT.fullmatch(name) else f"{0:020}.log")
    text = _text_kind(head, name.lower())
    return FileKind(text, f"data.{text}") if text else None


def refusal(path: Path) -> str | None:
    """What a file is that no source reads, and what to do, as a sentence; None where nothing is known of it."""
    with open_file(path) as file:
        if not file.read(_MARK_BYTES).startswith(_MARKS):
            return None
    return _refusal(*_ends(path))


def ensure_none_refused(files: Sequence[Path], *, is_alone: bool) -> None:
    """Raise CommandError at source.path for the first file that no source reads, with its name unless it is alone."""
    for file in files:
        if said := refusal(file):
            sentence = SentenceError(said)
            raise (
                CommandError("source.path", said)
                if is_alone
                else CommandError("source.path", "{name} {reason}", name=file.name, reason=sentence)
            )


def _ends(path: Path) -> tuple[bytes, bytes]:
    """A file's first HEAD_BYTES, and its last four bytes, where Parquet and ORC have a mark."""
    with open_file(path) as file:
        head = file.read(HEAD_BYTES)
        file.seek(max(0, file.seek(0, 2) - len(PARQUET_MAGIC)))
        return head, file.read()


def _refusal(head: bytes, tail: bytes) -> str | None:
    if _is_excel(head):
        return EXCEL
    # A text may begin with these three letters.
    if head.startswith(ORC_MAGIC) and tail.startswith(ORC_MAGIC):
        return ORC
    return next((sentence for mark, sentence in _REFUSED.items() if head.startswith(mark)), None)


def _is_excel(head: bytes) -> bool:
    return head.startswith(ZIP_MARK) and (b"xl/" in head or b"[Content_Types].xml" in head)


def _unpacked(path: Path) -> bytes:
    """As much of the text as is looked at; nothing where the file is damaged."""
    try:
        with open_bytes(path) as file:
            return file.read(HEAD_BYTES)
    except UNPACK_ERRORS:
        return b""


def _text_kind(head: bytes, name: str) -> str | None:
    if not head or (name.endswith(PARQUET_ENDINGS) and not _is_plain(head)):
        return None
    if head.startswith(tuple(_REFUSED)):
        return None
    head = in_utf_8(head)
    if b"\0" in head:
        says_text = name.endswith(TEXT_ENDINGS) and not head.startswith(NO_TEXT)
        if not says_text and not _has_even_lines(head):
            return None
    if head.lstrip().startswith((b"{", b"[")) and (
        layout_of(head) or (head.lstrip().startswith(b"{") and name.endswith((".jsonl", ".ndjson", ".json")))
    ):
        return "jsonl"
    return "jsonl" if name.endswith((".jsonl", ".ndjson")) else "csv"


def _is_plain(head: bytes) -> bool:
    """Whether it is lines of UTF-8 without a control character; its last character may be cut off."""
    try:
        codecs.getincrementaldecoder("utf-8")().decode(head)
    except UnicodeDecodeError:
        return False
    return not head.startswith(PARQUET_MAGIC) and b"\n" in head and _CONTROL.search(head) is None


def _has_even_lines(head: bytes) -> bool:
    """Whether a plain header names columns and the next lines have as many."""
    first, *lines = head.split(b"\n")[:LINES_LOOKED_AT]
    if len(head) == HEAD_BYTES and len(lines) < LINES_LOOKED_AT - 1:
        lines = lines[:-1]  # cut off by us
    lines = [line for line in lines if line]
    if not lines or _CONTROL.search(first):
        return False
    return any(
        first.count(mark) and all(line.count(mark) == first.count(mark) for line in lines)
        for mark in DELIMITERS
    )
