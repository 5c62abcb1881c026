"""How a file of rows is written, told by its first rows: what the page shows, the API fills in and the command line
prints. What a request says stays; only the rest is looked for.

    encoding       a byte order mark; every second byte zero: UTF-16; not UTF-8, but text of cp1252
    sep=;          Excel's first line names the delimiter
    key_separator  every line is a word, a tab and JSON: kcat, kafka-console-consumer
    comment        the first lines begin with #, and are no header
    delimiter      the one that cuts the most rows, the first among them, into as many fields; a header may separate its
                   names otherwise
    escape         backslashes before quotes leave fewer broken rows than doubled quotes do
    header         no cell of the first row is a number or a date, and none of them repeats below

Source of the approach, to try each way and count the rows that fit: Mark Raasveldt, DuckDB's sniffer (2023).
"""

from __future__ import annotations

import re
from collections import Counter
from pathlib import Path

import msgspec

from broker_core.errors import CommandError
from broker_core.events import Json
from broker_core.pipeline.sources.csv_head import key_value_columns, other_header, scan_head
from broker_core.pipeline.sources.dialect import DELIMITERS, NULL_WORDS, Dialect
from broker_core.pipeline.sources.encodings import BOM, WIDE, encoding_of
from broker_core.pipeline.sources.files import raw_head
from broker_core.pipeline.sources.json_layout import LINES, layout_of
from broker_core.pipeline.sources.text_kernels import FINE
from broker_core.pipeline.sources.times import time_us

HEAD_BYTES = 256 << 10
ROWS = 200
COLUMNS_MAX = 500
CONSOLE_NULL = "null"
"""What Kafka's console consumer prints for no key."""
_SEP = re.compile(rb'"?sep=(.)"?\r?(?:\n|$)', re.IGNORECASE)
_TWO = 2
_CONSUMER_SAYS = re.compile(rb"(Processed a total of \d+ messages|% Reached end of topic .+)\r?")
_NUMBER = re.compile(rb"[-+]?\d+([.,]\d+)?")


def file_head(path: Path, given: Json) -> tuple[bytes, str]:
    """A file's first bytes in UTF-8 and its encoding. Raises CommandError as `raw_head` does, and at source.encoding for
    UTF-16 that is given and makes one long line of several."""
    raw = raw_head(path, HEAD_BYTES)
    encoding = given.get("encoding") or encoding_of(raw)
    if encoding in WIDE:
        text = raw[: len(raw) // 2 * 2].decode(encoding, errors="replace")
        if "\n" not in text and b"\n" in raw:
            raise CommandError("source.encoding", "the file is not {encoding}", encoding=encoding)
        raw = text.encode()
    return raw.removeprefix(BOM), encoding


def dialect_recognised(path: Path, given: Json) -> Dialect:
    """given: the fields of the dialect that a request gives, checked. Raises CommandError as `raw_head` does."""
    head, encoding = file_head(path, given)
    found: Json = {"nulls": NULL_WORDS, **given, "encoding": encoding}
    sep = _SEP.match(head)
    if sep and "skip" not in given:
        found["skip"] = 1
    begins = _without(head, found.get("skip", 0))
    if not {"key_separator", "delimiter", "header"} & set(given) and _is_consumed(begins):
        found["key_separator"] = "\t"
    if found.get("key_separator"):
        if "nulls" not in given:
            found["nulls"] = (*NULL_WORDS, CONSOLE_NULL)
        return Dialect.of(found)
    if sep:
        found.setdefault("delimiter", sep[1].decode("latin-1"))
    if "comment" not in given and _has_comments(begins, given.get("delimiter")):
        found["comment"] = "#"
    found |= _best(head, found)
    if "header" not in given:
        found["header"] = _has_header(head, Dialect.of(found))
    return Dialect.of(found)


def _without(head: bytes, lines: int) -> bytes:
    for _ in range(lines):
        head = head.partition(b"\n")[2]
    return head


def _lines(head: bytes) -> list[bytes]:
    """The first whole lines that are not blank."""
    lines = head.split(b"\n")
    if len(head) >= HEAD_BYTES // 2:
        lines = lines[:-1]
    return [line for line in lines[:ROWS] if line.strip()]


def _is_consumed(head: bytes) -> bool:
    """Whether each line is a consumer's: a key, a tab, JSON; but for what it says of itself, where both of its outputs went
    into the file."""
    lines = [line for line in _lines(head) if not _CONSUMER_SAYS.fullmatch(line)]
    return bool(lines) and all(_is_key_and_json(line) for line in lines)


def _is_key_and_json(line: bytes) -> bool:
    fields = len(key_value_columns(line.split(b"\t", 3)))
    parts = line.rstrip(b"\r").split(b"\t", fields - 1)
    if len(parts) < fields or not parts[-1].startswith((b"{", b"[")):
        return False
    try:
        msgspec.json.decode(parts[-1])
    except (msgspec.DecodeError, UnicodeDecodeError, RecursionError):
        return False
    return True


def _has_comments(head: bytes, delimiter: str | None) -> bool:
    """Whether the first lines begin with #, and are no header of what follows."""
    lines = _lines(head)
    start = next((place for place, line in enumerate(lines) if not line.startswith(b"#")), len(lines))
    if not start or start == len(lines):
        return False
    marks = [delimiter] if delimiter else DELIMITERS
    header, following = lines[start - 1], lines[start]
    return not any(following.count(mark.encode()) == header.count(mark.encode()) > 0 for mark in marks)


def _best(head: bytes, found: Json) -> Json:
    """The delimiter and the escape character that fit most rows."""
    delimiters = [found["delimiter"]] if "delimiter" in found else DELIMITERS
    escapes = [found["escape"]] if "escape" in found else ["", "\\"] if b'\\"' in head else [""]
    ways = [{"delimiter": mark, "escape": escape} for mark in delimiters for escape in escapes]
    # Of equal ones the first: max keeps it.
    return max(ways, key=lambda way: _fit(head, Dialect.of(found | way)))


def _fit(head: bytes, dialect: Dialect) -> tuple[int, int]:
    """How well a way of reading fits: whether there is more than one column at all, and as many names in the first row
    as fields in most; and how many rows are whole and have as many fields as most."""
    scanned = scan_head(head, dialect, ROWS, 1, is_final=len(head) < HEAD_BYTES // 2)
    if not len(scanned.rows):
        return 0, 0
    fields, problems = scanned.rows[:, 3].tolist(), scanned.rows[:, 4].tolist()
    whole = [count for count, problem in zip(fields, problems, strict=True) if problem == FINE]
    usual = Counter(whole).most_common(1)[0][0] if whole else 0
    alike = whole.count(usual)
    if usual < _TWO:
        return 0, alike
    if fields[0] == usual:
        return 3, alike
    if dialect.header and other_header(head, scanned, dialect, usual) is not None:
        return 2, alike
    return int(fields[0] > 1), alike


def _has_header(head: bytes, dialect: Dialect) -> bool:
    probe = scan_head(head, dialect, ROWS, COLUMNS_MAX, is_final=len(head) < HEAD_BYTES // 2)
    if len(probe.rows) < 2:
        return True
    first, below = probe.values(0), [probe.values(row) for row in range(1, len(probe.rows))]
    if any(_is_datum(cell) for cell in first):
        return False
    repeats = [
        any(place < len(row) and row[place] == cell for row in below)
        for place, cell in enumerate(first)
        if cell
    ]
    # All of them again: the header of another file, copied in.
    return not any(repeats) or all(repeats)


def _is_datum(cell: bytes | None) -> bool:
    return cell is not None and (
        _NUMBER.fullmatch(cell) is not None or time_us(cell.decode(errors="replace")) is not None
    )


def recognised(kind: str, path: Path, given: Json) -> Json:
    """The settings of a csv or jsonl file as a source has them."""
    if kind == "csv":
        return dialect_recognised(path, given).to_json()
    head, encoding = file_head(path, given)
    return {"encoding": encoding, "layout": given.get("layout") or layout_of(head) or LINES}


def unusual(source: Json) -> Json:
    """The settings of a source that are not those of a plain file: comma-separated UTF-8 with a header."""
    plain = Dialect(nulls=NULL_WORDS).to_json() | {"key_separator": "", "layout": LINES}
    return {name: source[name] for name in plain if name in source and source[name] != plain[name]}
