"""Finding the rows and fields of a CSV in its bytes. Nothing is decoded: a key is its bytes in the file,
whatever its encoding.

    plain,"quoted, with a comma","two ""quotes"" inside",      a field that begins with a quote ends at the next single one;
    "two                                                       inside it a newline is data, and a doubled quote one quote.
    lines",,""                                                 Nothing between two commas is null, two quotes are an empty text.

A blank line is not a row, nor is one that begins with the comment character. A row ends with a line feed, before
which a carriage return does not count. With an escape character, as Spark, Hive and MySQL write it, that character
before a quote or before itself inside quotes is that one character.
`scan_rows` is one piece: with the field in a separate function, called or written in, it takes 1.4 to 2.6
times as long.
Source: RFC 4180; where it leaves a choice, that of Spark's reader (null against empty).
"""

from __future__ import annotations

from typing import Any

import numpy as np

from broker_core.hashing.compiled import compiled

NEWLINE, RETURN = 10, 13
FINE, OPEN_QUOTE, TEXT_BEHIND_QUOTE = 0, 1, 2
PLAIN, QUOTED, ESCAPED = 0, 1, 2
"""How a field was written: ESCAPED is quoted, with doubled or escaped quotes inside."""
NO_MARK = 256
"""In place of a character that means nothing in this file: no byte equals it."""
MARKS = tuple[int, int, int, int, int]
"""delimiter, quote, escape, comment, and how many fields a row has at most: what follows belongs to the last."""


@compiled
def scan_rows(
    data: Any,
    begin: int,
    limit: int,
    is_final: bool,
    marks: MARKS,
    wanted: Any,
    line: int,
    row_bytes_max: int,
    spans: Any,
    kinds: Any,
    rows: Any,
) -> tuple[int, int, int]:
    """Find the rows that start in [begin, limit), as many as fit into `rows`.

    data: uint8; rows may end after the limit. marks: as MARKS. is_final: nothing follows the data, so its last row needs no
    newline. wanted: places of the columns to note. line: number of the line at `begin`. Fills spans [row,
    wanted, 2] (start, end of the field), kinds [row, wanted] and rows [row, 5] (start, end, line, fields,
    problem). A quote that is still open at the end of all data, or after row_bytes_max, makes its line bad
    and nothing else: reading goes on with the next line. So does one that closes on a later line with text
    after it: it was another field's quote, and the lines between are rows. Returns how many rows, the place
    after them and its line.
    """
    delimiter, quote, escape, comment, fields_max = marks
    stop = len(data)
    found = 0
    position = begin
    while position < limit and position < stop and found < len(rows):
        if data[position] == NEWLINE:
            position += 1
            line += 1
            continue
        if data[position] == RETURN and position + 1 < stop and data[position + 1] == NEWLINE:
            position += 2
            line += 1
            continue
        if data[position] == comment:
            end = position
            while end < stop and data[end] != NEWLINE:
                end += 1
            if end >= stop and not is_final:
                return found, position, line
            position = end + 1 if end < stop else stop
            line += 1
            continue
        row_start, row_line = position, line
        field = 0
        problem = FINE
        is_whole = False
        is_open = False
        is_stray = False
        row_end = position
        for column in range(len(wanted)):
            spans[found, column, 0] = 0
            spans[found, column, 1] = 0
            kinds[found, column] = PLAIN
        while True:
            kind = PLAIN
            if position < stop and data[position] == quote:
                kind = QUOTED
                position += 1
                start, open_line = position, line
                is_open = True
                while position < stop:
                    byte = data[position]
                    if byte == escape:
                        if position + 1 >= stop:
                            position += 1
                            continue
                        if data[position + 1] == quote or data[position + 1] == escape:
                            kind = ESCAPED
                            position += 2
                            continue
                    elif byte == quote:
                        if position + 1 < stop and data[position + 1] == quote:
                            kind = ESCAPED
                            position += 2
                            continue
                        # At the end of the data so far nobody knows yet whether another quote follows.
                        is_open = position + 1 >= stop and not is_final
                        break
                    if byte == NEWLINE:
                        line += 1
                    position += 1
                if is_open:
                    break
                end = position
                position += 1
                if position < stop and data[position] == RETURN:
                    if (position + 1 < stop and data[position + 1] == NEWLINE) or (
                        position + 1 >= stop and is_final
                    ):
                        position += 1
                if position < stop and data[position] != delimiter and data[position] != NEWLINE:
                    if not (data[position] == RETURN and position + 1 >= stop):
                        problem = TEXT_BEHIND_QUOTE
                        if line > open_line:
                            is_stray = True
                            position, line = start, open_line
                            break
                    while position < stop and data[position] != delimiter and data[position] != NEWLINE:
                        position += 1
            else:
                start = position
                is_last = field + 1 >= fields_max
                while (
                    position < stop and (is_last or data[position] != delimiter) and data[position] != NEWLINE
                ):
                    position += 1
                end = position
                if (
                    end > start
                    and data[end - 1] == RETURN
                    and (position >= stop or data[position] == NEWLINE)
                ):
                    end -= 1
            for column in range(len(wanted)):
                if wanted[column] == field:
                    spans[found, column, 0] = start
                    spans[found, column, 1] = end
                    kinds[found, column] = kind
            field += 1
            row_end = position
            if position >= stop:
                is_whole = is_final
                break
            if data[position] == NEWLINE:
                position += 1
                line += 1
                is_whole = True
                break
            position += 1
        if is_open and (is_final or stop - row_start > row_bytes_max):
            problem = OPEN_QUOTE
            position, line = row_start, row_line
            is_stray = True
        if is_stray:
            while position < stop and data[position] != NEWLINE:
                position += 1
            row_end = position
            if position < stop:
                position += 1
            line += 1
            is_whole = True
        if not is_whole:
            return found, row_start, row_line
        rows[found, 0] = row_start
        rows[found, 1] = row_end
        rows[found, 2] = row_line
        rows[found, 3] = field
        rows[found, 4] = problem
        found += 1
    return found, position, line


@compiled
def copy_fields(
    data: Any,
    spans: Any,
    kinds: Any,
    quote: int,
    escape: int,
    words: Any,
    lengths: Any,
    offsets: Any,
    present: Any,
    is_word: Any,
    out: Any,
) -> int:
    """Copy fields one after another, doubled and escaped quotes as one. A field that is not quoted is null where it is
    empty or one of the null words.

    spans [row, 2], kinds [row]; words [word, byte], lengths [word]: the null words; fills offsets [row + 1],
    present [row], is_word [row]; out: at least as long as all fields. Returns the bytes written.
    """
    written = 0
    for row in range(len(spans)):
        offsets[row] = written
        start, end, kind = spans[row, 0], spans[row, 1], kinds[row]
        present[row] = end > start or kind != PLAIN
        is_word[row] = False
        if kind == ESCAPED:
            position = start
            while position < end:
                byte = data[position]
                following = data[position + 1] if position + 1 < end else NO_MARK
                if byte == escape and following in (quote, escape):
                    out[written] = following
                    position += 2
                else:
                    out[written] = byte
                    position += 2 if byte == quote else 1
                written += 1
            continue
        if kind == PLAIN:
            for word in range(len(lengths)):
                if lengths[word] == end - start and end > start:
                    place = 0
                    while place < lengths[word] and data[start + place] == words[word, place]:
                        place += 1
                    if place == lengths[word]:
                        is_word[row] = True
                        present[row] = False
            if is_word[row]:
                continue
        for position in range(start, end):
            out[written] = data[position]
            written += 1
    offsets[len(spans)] = written
    return written


def new_tables(row_count_max: int, column_count: int) -> tuple[Any, Any, Any]:
    """Room for `scan_rows`: spans, kinds, rows."""
    return (
        np.empty((row_count_max, column_count, 2), np.int64),
        np.empty((row_count_max, column_count), np.uint8),
        np.empty((row_count_max, 5), np.int64),
    )
