"""Where the rows of a part begin, in a CSV whose fields may hold newlines inside quotes.

Whether a newline ends a row depends on all quotes before it. Each part is looked at alone, once for each state in
which the bytes before it may have left off; putting the states of all parts one after the other then says which was
true. Only the quotes are visited, so this costs a tenth of reading the rows.

    part 0   outside ─► inside
    part 1   outside ─► inside, or inside ─► outside: the first row begins behind the newline after the closing quote

A comment line's quotes are none, and a part may begin in the middle of one: a state of its own. Where a quote is not
closed, or has text behind it in another line, where it began is found by reading on (text_kernels.py): such a file is one
part. Within a line stray quotes do no harm.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from itertools import groupby
from pathlib import Path
from typing import Any

import numpy as np

from broker_core.hashing.compiled import compiled
from broker_core.pipeline.sources.csv_head import skipped
from broker_core.pipeline.sources.dialect import Dialect
from broker_core.pipeline.sources.encodings import BOM
from broker_core.pipeline.sources.files import Part
from broker_core.pipeline.sources.text_kernels import NEWLINE, NO_MARK, RETURN
from broker_core.real_files import open_file

OUTSIDE, INSIDE, BEHIND, COMMENT = 0, 1, 2, 3
"""How a part begins: between fields, in a quoted one, with the second quote of a pair inside a quoted one, or in a
comment line."""
_BEFORE, _AFTER = 64, 2
"""Bytes beside a part that say what its first and last quotes are."""
_QUOTE = ord('"')


@dataclass(frozen=True, slots=True)
class Counted:
    """Of a part: its newlines, whether a quote is in it, and for each state in which it may begin, how it ends, where
    the first row begins (-1: nowhere), how many newlines are before that, and whether that is all there is to say (0, 1).
    ways: of a part without quotes empty."""

    lines: int
    has_quote: bool
    ways: tuple[int, ...] = ()


def count_part(part: Part, dialect: Dialect | None) -> Counted:
    """Look at a part's bytes. dialect: of a CSV; None where a quote has no meaning."""
    with open_file(Path(part.path)) as file:
        begin = max(0, part.start - _BEFORE)
        file.seek(begin)
        content = file.read(part.end - begin + _AFTER)
    start, end = part.start - begin, part.end - begin
    lines, has_quote = content.count(b"\n", start, end), content.find(b'"', start, end) >= 0
    if dialect is None or dialect.key_separator:
        return Counted(lines, has_quote=False)
    rows_from = start
    if part.start == 0:
        rows_from = len(BOM) if content.startswith(BOM) else 0
        rows_from, _ = skipped(content, dialect.skip, rows_from)
    data = np.frombuffer(content, np.uint8)
    quotes = np.flatnonzero(data[rows_from:end] == _QUOTE) + rows_from
    delimiter, _, escape, comment, _ = dialect.marks()
    ways: list[int] = []
    for state in (OUTSIDE, INSIDE, BEHIND) if comment == NO_MARK else (OUTSIDE, INSIDE, BEHIND, COMMENT):
        ended, first, is_regular = _walk(
            data, quotes, state, rows_from, end, part.start == 0, delimiter, escape, comment
        )
        before = content.count(b"\n", start, first) if first >= 0 else 0
        ways += [ended, first + begin if first >= 0 else -1, before, int(is_regular)]
    return Counted(lines, has_quote, tuple(ways))


def number_lines(parts: list[Part], counts: Sequence[Counted]) -> list[Part]:
    """The parts with their first lines, and where quotes matter with their first rows; a file in which that is not to be
    said part by part is one."""
    numbered: list[Part] = []
    pairs = zip(parts, counts, strict=True)
    for path, group in groupby(pairs, key=lambda pair: pair[0].path):
        of_file = list(group)
        is_quoted = any(count.has_quote for _, count in of_file)
        made = _settled(of_file) if is_quoted else _plain(of_file)
        numbered += [Part(path)] if made is None else made
    return numbered


def _plain(of_file: list[tuple[Part, Counted]]) -> list[Part]:
    made, line = [], 1
    for part, count in of_file:
        made.append(replace(part, first_line=line))
        line += count.lines
    return made


def _settled(of_file: list[tuple[Part, Counted]]) -> list[Part] | None:
    """None where the quotes of a part do not say where its rows begin."""
    made, line, state = [], 1, OUTSIDE
    for part, count in of_file:
        ended, first, before, is_regular = count.ways[4 * state : 4 * state + 4]
        if not is_regular or first < 0:
            return None
        made.append(part if part.start == 0 else replace(part, start=first, first_line=line + before))
        line, state = line + count.lines, ended
    return made if state in (OUTSIDE, COMMENT) else None


@compiled
def _walk(
    data: Any,
    quotes: Any,
    state: int,
    begin: int,
    end: int,
    is_first: bool,
    delimiter: int,
    escape: int,
    comment: int,
) -> tuple[int, int, bool]:
    """From quote to quote. quotes: their places in [begin, end). Returns the state at the end, where the first row
    begins, or -1, and whether no quote has text behind it in another line."""
    stop = len(data)
    first = begin if is_first else -1
    outside_from = begin - 1 if begin > 0 else begin
    opened = -1
    number = 0
    # Which line is a comment is looked for up to `seen`.
    seen = outside_from
    is_comment = state == COMMENT or (is_first and begin < end and data[begin] == comment)
    if state == COMMENT:
        state = OUTSIDE
    if state == BEHIND:
        if not len(quotes) or quotes[0] != begin:
            return OUTSIDE, -1, False
        number = 1
        state = INSIDE
    while number < len(quotes):
        place = quotes[number]
        number += 1
        if state == OUTSIDE:
            while comment != NO_MARK and seen < place:
                if data[seen] == NEWLINE:
                    is_comment = data[seen + 1] == comment
                seen += 1
            if is_comment:
                continue
            is_field = place == begin and is_first
            if place > 0 and (data[place - 1] == delimiter or data[place - 1] == NEWLINE):
                is_field = True
            if is_field:
                position = outside_from
                while first < 0 and position < place:
                    if data[position] == NEWLINE:
                        first = position + 1
                    position += 1
                state = INSIDE
                opened = place
            continue
        escapes = 0
        while (
            place - 1 - escapes > opened and place - 1 - escapes >= 0 and data[place - 1 - escapes] == escape
        ):
            escapes += 1
        if escapes % 2 == 1:
            continue
        if place + 1 < stop and data[place + 1] == data[place]:
            if place + 1 >= end:
                return BEHIND, first, True
            number += 1
            continue
        state = OUTSIDE
        seen = outside_from = place + 1
        is_comment = False
        after = place + 1
        if after < stop and data[after] == RETURN and (after + 1 >= stop or data[after + 1] == NEWLINE):
            after += 1
        if after < stop and data[after] != delimiter and data[after] != NEWLINE:
            if opened < 0:
                return state, first, False
            for position in range(opened, place):
                if data[position] == NEWLINE:
                    return state, first, False
    if state == OUTSIDE:
        position = outside_from
        while first < 0 and position < end:
            if data[position] == NEWLINE:
                first = position + 1
            position += 1
        while comment != NO_MARK and seen < end:
            if data[seen] == NEWLINE:
                # A line that begins behind the end is the next part's to look at.
                is_comment = seen + 1 < end and data[seen + 1] == comment
            seen += 1
        if is_comment:
            state = COMMENT
    return state, first, True
