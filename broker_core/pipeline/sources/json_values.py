"""JSON values that are not one a line: an array of objects, objects one after another, objects over several lines.

[{"user": "a"},        {"user": "a"}{"user": "b"}        {
 {"user": "b"}]                                            "user": "a"
                                                         }
"""

from __future__ import annotations

from typing import Any

import numpy as np

from broker_core.hashing.compiled import compiled
from broker_core.pipeline.sources.json_layout import LINES

_BETWEEN = b" \t\r\n,[]"
_OBJECTS_LOOKED_AT = 1_000


def objects_in(data: bytes, layout: str, *, is_final: bool) -> list[bytes]:
    """The first values of some bytes, as they are written."""
    if layout == LINES:
        lines = data.split(b"\n")
        return lines if is_final else lines[:-1]
    spans, _, _ = split_values(data, 0, 1, is_final=is_final)
    return [data[start:end] for start, end, _ in spans[:_OBJECTS_LOOKED_AT]]


def split_values(data: bytes, begin: int, line: int, *, is_final: bool) -> tuple[list[list[int]], int, int]:
    """The values from `begin` on as [start, end, line]; where reading goes on, and its line.

    What is no object between two of them is a value, too, up to the next comma or line end.
    """
    # One of these ends each value, or begins it; the last may have none.
    spans = np.empty((sum(map(data.count, (b"{", b",", b"]", b"\n"))) + 2, 3), np.int64)
    found, position, line = _split(
        np.frombuffer(data, np.uint8), begin, line, is_final, np.frombuffer(_BETWEEN, np.uint8), spans
    )
    return spans[:found].tolist(), position, line


@compiled
def _split(
    data: Any, begin: int, line: int, is_final: bool, between: Any, spans: Any
) -> tuple[int, int, int]:
    stop = len(data)
    found = 0
    position = begin
    while position < stop:
        byte = data[position]
        is_between = False
        for place in range(len(between)):
            if byte == between[place]:
                is_between = True
        if is_between:
            if byte == 10:
                line += 1
            position += 1
            continue
        start, start_line, depth, is_text = position, line, 0, False
        is_object = byte == 123
        is_whole = False
        while position < stop:
            byte = data[position]
            if byte == 10:
                if not is_object:
                    is_whole = True
                    break
                line += 1
            if is_text:
                if byte == 92:
                    position += 1
                elif byte == 34:
                    is_text = False
            elif byte == 34:
                is_text = True
            elif byte == 123:
                if not is_object:
                    is_whole = True
                    break
                depth += 1
            elif byte == 125 and is_object:
                depth -= 1
                if depth == 0:
                    position += 1
                    is_whole = True
                    break
            elif (byte == 44 or byte == 93) and not is_object:
                is_whole = True
                break
            position += 1
        if not is_whole and not is_final:
            return found, start, start_line
        end = min(position, stop)
        spans[found, 0] = start
        spans[found, 1] = end
        spans[found, 2] = start_line
        found += 1
        position = end
    return found, position, line
