"""A TOML text whose fields know their lines, so that a message can say where something is wrong.

The standard library's reader gives values without places. Here only the places are found: a line begins a
table (`[lane]`, `[[step]]`) or a field (`caption.en = ...`); what stands inside a value, over several lines
or not, belongs to the field's line.
"""

import re
import tomllib
from dataclasses import dataclass, field

from broker_core.events import Json
from broker_core.lab.lesson.bounds import check_bounds
from broker_core.lab.lesson.file_error import FileError

Path = tuple[str | int, ...]
"""The way to a field: ("step", 2, "caption", "zh") is the Chinese caption of the third step."""
_NAME = r'(?:[A-Za-z0-9_-]+|"[^"\n]*"|\'[^\'\n]*\')'
_NAMES = rf"{_NAME}(?:\s*\.\s*{_NAME})*"
_TABLE = re.compile(rf"\s*(\[\[?)\s*({_NAMES})\s*\]\]?")
_FIELD = re.compile(rf"\s*({_NAMES})\s*=")
_TOKEN = re.compile(
    r'"""(?:[^\\]|\\.)*?"""|\'\'\'.*?\'\'\'|"(?:[^"\\\n]|\\.)*"|\'[^\'\n]*\'|#[^\n]*|[\[\]{}]|\n', re.DOTALL
)
_PLACE = re.compile(r" \(at line (\d+), column \d+\)$| \(at end of document\)$")


@dataclass(frozen=True, slots=True)
class Lined:
    """document: what the text says. lines: path -> line, from 1, of tables and of fields."""

    document: Json
    lines: dict[Path, int] = field(default_factory=dict)

    def line_of(self, path: Path) -> int:
        """The line of a field; of one that is missing or inside a value, that of what holds it; 1 for the
        whole."""
        while path and path not in self.lines:
            path = path[:-1]
        return self.lines.get(path, 1)


def read_lined(text: str) -> Lined:
    """Read a TOML text. Raises FileError with the line for one that is not TOML, or too much for a reader
    (`bounds.py`).

    >>> read_lined('seed = 7\\n[[step]]\\nat_s = 1\\n').lines
    {('seed',): 1, ('step',): 2, ('step', 0): 2, ('step', 0, 'at_s'): 3}
    """
    text = text.removeprefix("\ufeff").replace("\r\n", "\n")
    check_bounds(text)
    try:
        document = tomllib.loads(text)
    except tomllib.TOMLDecodeError as error:
        place = _PLACE.search(str(error))
        line = int(place[1]) if place and place[1] else text.count("\n") + 1
        raise FileError(line, "", "is not TOML: {error}", error=_PLACE.sub("", str(error))) from error
    except ValueError as error:  # a date that no calendar has
        raise FileError(1, "", "is not TOML: {error}", error=str(error)) from error
    return Lined(document, _lines_of(text))


def _lines_of(text: str) -> dict[Path, int]:
    """text: valid TOML."""
    lines: dict[Path, int] = {}
    counts: dict[Path, int] = {}
    table: Path = ()
    for number, line in _outer_lines(text):
        if found := _TABLE.match(line):
            table = _in_lists(tuple(_split(found[2])), counts)
            for length in range(1, len(table) + (found[1] == "[[")):
                lines.setdefault(table[:length], number)
            if found[1] == "[[":
                counts[table] = counts.get(table, -1) + 1
                table = (*table, counts[table])
            lines.setdefault(table, number)
        elif found := _FIELD.match(line):
            path = table
            for name in _split(found[1]):
                path = (*path, name)
                lines.setdefault(path, number)
    return lines


def _outer_lines(text: str) -> list[tuple[int, str]]:
    """The lines at which something new begins: not those within a string or within brackets."""
    starts, depth, number, at = [(1, 0)], 0, 1, 0
    for token in _TOKEN.finditer(text):
        word = token[0]
        at = token.end()
        if word == "\n":
            number += 1
            if not depth:
                starts.append((number, at))
        elif word in "[{":
            depth += 1
        elif word in "]}":
            depth -= 1
        else:
            number += word.count("\n")
    ends = ((number, at, text.find("\n", at)) for number, at in starts)
    return [(number, text[at : end if end >= 0 else None]) for number, at, end in ends]


def _in_lists(names: tuple[str, ...], counts: dict[Path, int]) -> Path:
    """A table's names as a path: what stands below a list of tables belongs to the last of them."""
    path: Path = ()
    for place, name in enumerate(names):
        path = (*path, name)
        if place < len(names) - 1 and path in counts:
            path = (*path, counts[path])
    return path


def _split(names: str) -> list[str]:
    return [name.strip("\"'") for name in re.findall(_NAME, names)]
