"""What a file of messages is, told by its first bytes; its name only decides where they leave it open."""

import re
import zlib
from dataclasses import dataclass
from pathlib import Path

import msgspec

HEAD_BYTES = 64 * 1024
PARQUET_MAGIC = b"PAR1"
GZIP_MAGIC = b"\x1f\x8b"
BATCH_MAGIC_AT, BATCH_MAGIC = 16, 2      # Kafka's record batch v2: the byte after base offset, length and leader epoch
BATCH_HEADER_BYTES = 61
_SEGMENT = re.compile(r"\d{20}\.log")


@dataclass(frozen=True, slots=True)
class FileKind:
    """kind: as a source's `kind`. stored_name: a name whose ending tells every reader how to open it, compression included."""

    kind: str
    stored_name: str


def sniff(path: Path, name: str) -> FileKind | None:
    """The kind of a file that a person calls `name`; None for one that no source reads.

    CSV is what remains: any text without zero bytes, whatever its encoding. An empty file has no kind.
    """
    with path.open("rb") as file:
        head = file.read(HEAD_BYTES)
        file.seek(max(0, file.seek(0, 2) - len(PARQUET_MAGIC)))
        tail = file.read()
    if not head:
        return None
    if head.startswith(PARQUET_MAGIC) and tail == PARQUET_MAGIC:
        return FileKind("parquet", "data.parquet")
    if head.startswith(GZIP_MAGIC):
        inner = _text_kind(_gunzip(head), name.lower().removesuffix(".gz"))
        return FileKind(inner, f"data.{inner}.gz") if inner else None
    if name.endswith(".log") and len(head) >= BATCH_HEADER_BYTES and head[BATCH_MAGIC_AT] == BATCH_MAGIC:
        return FileKind("kafka_log", name if _SEGMENT.fullmatch(name) else f"{0:020}.log")
    text = _text_kind(head, name.lower())
    return FileKind(text, f"data.{text}") if text else None


def _gunzip(head: bytes) -> bytes:
    """As much of the text as the first bytes hold; nothing when they are damaged."""
    try:
        return zlib.decompressobj(wbits=31).decompress(head, HEAD_BYTES)
    except zlib.error:
        return b""


def _text_kind(head: bytes, name: str) -> str | None:
    if not head or b"\0" in head:
        return None
    first = next((line for line in head.splitlines() if line.strip()), b"")
    if first.lstrip(b"\xef\xbb\xbf").lstrip().startswith(b"{") and (_is_json(first) or name.endswith((".jsonl", ".ndjson", ".json"))):
        return "jsonl"
    return "jsonl" if name.endswith((".jsonl", ".ndjson")) else "csv"


def _is_json(line: bytes) -> bool:
    try:
        return isinstance(msgspec.json.decode(line.lstrip(b"\xef\xbb\xbf")), dict)
    except (msgspec.DecodeError, RecursionError, UnicodeDecodeError):
        return False
