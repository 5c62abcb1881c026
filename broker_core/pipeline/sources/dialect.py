"""How a text file of rows is written: one object that the page, the API and the command line fill in, and that every
reader of rows goes by.

    delimiter      ","     between two fields; "\\t" and "tab" are a tab
    header         true    the first row names the columns; else they are "1", "2", ...
    skip           0       lines before the header or the first row
    comment        ""      a line that begins with this character is no row
    escape         ""      the character before a quote inside quotes; none: a quote is doubled
    nulls          [...]   words that stand for no value where they are not quoted
    encoding       utf-8   utf-16-le, utf-16-be, cp1252; bytes: nothing is decoded
    key_separator  ""      each line is a key, this character, and a value, which may hold anything: what kcat -K and
                           kafka-console-consumer --property print.key=true print

What a request leaves out is recognised in the file's first rows (recognise.py).
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np
import pyarrow as pa

from broker_core.errors import CommandError, Names
from broker_core.events import Json
from broker_core.lab.fields import whole
from broker_core.pipeline.sources.encodings import CP1252, ENCODINGS, UTF_8
from broker_core.pipeline.sources.json_layout import LAYOUTS
from broker_core.pipeline.sources.text_kernels import MARKS, NO_MARK

QUOTE = ord('"')
DELIMITERS = (",", ";", "\t", "|")
"""Those that are recognised."""
NULL_WORDS = ("NULL", "\\N", "NA")
SKIP_MAX = 10_000
NULLS_MAX, NULL_BYTES_MAX = 20, 32
FIELDS = ("delimiter", "header", "skip", "comment", "escape", "nulls", "encoding", "key_separator")
_NAMED = {"\\t": "\t", "tab": "\t", "comma": ",", "semicolon": ";", "pipe": "|", "space": " "}
_ALL_FIELDS = 1 << 40
_CP1252 = [bytes([code]).decode("cp1252", errors="ignore") or chr(code) for code in range(256)]


@dataclass(frozen=True)
class Dialect:
    delimiter: str = ","
    header: bool = True
    skip: int = 0
    comment: str = ""
    escape: str = ""
    nulls: tuple[str, ...] = ()
    encoding: str = UTF_8
    key_separator: str = ""

    @classmethod
    def of(cls, spec: Mapping[str, Any]) -> Dialect:
        """Of a source that was checked, or of what a request gives."""
        given = {name: spec[name] for name in FIELDS if spec.get(name) is not None}
        if "nulls" in given:
            given["nulls"] = tuple(given["nulls"])
        if given.get("key_separator"):
            given |= {"header": False, "delimiter": given["key_separator"]}
        return cls(**given)

    def to_json(self) -> Json:
        """As a source has it."""
        if self.key_separator:
            return {
                "key_separator": self.key_separator, "skip": self.skip, "nulls": list(self.nulls),
                "encoding": self.encoding,
            }  # fmt: skip
        return {
            "delimiter": self.delimiter, "header": self.header, "skip": self.skip, "comment": self.comment,
            "escape": self.escape, "nulls": list(self.nulls), "encoding": self.encoding,
        }  # fmt: skip

    def marks(self, fields_max: int | None = None) -> MARKS:
        """For `scan_rows`. fields_max: the columns of lines with a key separator."""
        delimiter = ord(self.delimiter)
        if self.key_separator:
            return delimiter, NO_MARK, NO_MARK, NO_MARK, fields_max or 2
        return delimiter, QUOTE, _mark(self.escape), _mark(self.comment), _ALL_FIELDS

    @property
    def quote_and_escape(self) -> tuple[int, int]:
        return QUOTE, _mark(self.escape)

    @cached_property
    def null_words(self) -> tuple[Any, Any]:
        """words uint8 [word, byte] and their lengths, for `copy_fields`."""
        encoded = [word.encode() for word in self.nulls]
        words = np.zeros((len(encoded), NULL_BYTES_MAX), np.uint8)
        for place, word in enumerate(encoded):
            words[place, : len(word)] = np.frombuffer(word, np.uint8)
        return words, np.array([len(word) for word in encoded], np.int64)

    def text(self, raw: bytes) -> str:
        """Bytes of the file as text, for a person."""
        if self.encoding == CP1252:
            return "".join(map(_CP1252.__getitem__, raw))
        return raw.decode(errors="backslashreplace")

    def in_utf_8(self, values: pa.Array) -> pa.Array:
        """Binary values of the file as the UTF-8 that a producer would send; as they are where nothing is decoded."""
        if self.encoding != CP1252:
            return values
        start, end = values.offset, values.offset + len(values)
        offsets = np.frombuffer(values.buffers()[1], np.int32)[start : end + 1]
        content = values.buffers()[2]
        used = (
            np.frombuffer(content, np.uint8)[offsets[0] : offsets[-1]] if content is not None else offsets[:0]
        )
        if not len(used) or used.max() < 0x80:
            return values
        distinct = values.dictionary_encode()
        texts = [self.text(value).encode() for value in distinct.dictionary.to_pylist()]
        return pa.array(texts, pa.binary()).take(distinct.indices)


def dialect_check(raw: Json, names: tuple[str, ...] = FIELDS) -> Json:
    """What a request gives of it, each checked alone; the others are left to be recognised.

    Raises CommandError at source.<field>.
    """
    given = {name: raw[name] for name in names if raw.get(name) is not None}
    checked = {name: _CHECKS[name](f"source.{name}", value) for name, value in given.items()}
    if checked.get("key_separator"):
        for name in ("delimiter", "header", "comment", "escape"):
            if name in checked:
                raise CommandError(f"source.{name}", "does not apply where there is a key separator")
    return checked


def character(field: str, raw: object) -> str:
    """One ASCII character, or its name: "\\\\t", "tab"."""
    found = _NAMED.get(raw, raw) if isinstance(raw, str) else raw
    if not isinstance(found, str) or len(found) != 1 or not found.isascii() or found in '"\r\n':
        raise CommandError(field, "must be one ASCII character, neither a quote nor a line break")
    return found


def _mark(text: str) -> int:
    return ord(text) if text else NO_MARK


def _character_or_none(field: str, raw: object) -> str:
    return "" if raw == "" else character(field, raw)


def _header(field: str, raw: object) -> bool:
    if not isinstance(raw, bool):
        raise CommandError(field, "must be true or false")
    return raw


def _skip(field: str, raw: object) -> int:
    return whole(field, raw, 0, SKIP_MAX)


def _nulls(field: str, raw: object) -> list[str]:
    if not isinstance(raw, list | tuple) or len(raw) > NULLS_MAX:
        raise CommandError(field, "must be a list of at most {high} words", high=NULLS_MAX)
    for word in raw:
        if (
            not isinstance(word, str)
            or not 0 < len(word.encode()) <= NULL_BYTES_MAX
            or not word.isprintable()
        ):
            raise CommandError(field, "a word is 1 to {high} printable bytes", high=NULL_BYTES_MAX)
    return list(dict.fromkeys(raw))


def _encoding(field: str, raw: object) -> str:
    if raw not in ENCODINGS:
        raise CommandError(field, "must be one of {choices}", choices=Names(ENCODINGS))
    return str(raw)


def _layout(field: str, raw: object) -> str:
    if raw not in LAYOUTS:
        raise CommandError(field, "must be one of {choices}", choices=Names(LAYOUTS))
    return str(raw)


_CHECKS: Mapping[str, Callable[[str, Any], Any]] = {
    "delimiter": character,
    "header": _header,
    "skip": _skip,
    "comment": _character_or_none,
    "escape": _character_or_none,
    "nulls": _nulls,
    "encoding": _encoding,
    "key_separator": _character_or_none,
    "layout": _layout,
}
