"""How a file holds JSON objects: one a line, or one after another in any form, told by its first bytes."""

from __future__ import annotations

import json

LINES, VALUES = "lines", "values"
LAYOUTS = (LINES, VALUES)


def layout_of(head: bytes) -> str | None:
    """How a file's first bytes hold objects; None where they hold none."""
    text = head.decode(errors="replace")
    first = next((line for line in text.split("\n") if line.strip()), "")
    if _object_at(first.strip(), 0):
        return LINES
    start = len(text) - len(text.lstrip(" \t\r\n"))
    if text[start : start + 1] == "[":
        start = len(text) - len(text[start + 1 :].lstrip(" \t\r\n"))
    return VALUES if text[start : start + 1] == "{" and _object_at(text, start, is_whole=False) else None


def _object_at(text: str, start: int, *, is_whole: bool = True) -> bool:
    try:
        value, end = json.JSONDecoder().raw_decode(text, start)
    except (ValueError, RecursionError):
        return False
    return isinstance(value, dict) and (not is_whole or end == len(text))
