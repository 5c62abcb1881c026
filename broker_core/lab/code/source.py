"""A function's text as a reader wants it: its lines with their numbers, and what of each is a word of the language, a text
or a remark."""

import inspect
import io
import keyword
import tokenize
from collections.abc import Callable
from functools import cache
from pathlib import Path
from typing import Any

from broker_core.events import Json

KEYWORD, TEXT, REMARK, PLAIN = "k", "t", "r", ""
_ROOT = Path(__file__).parents[3]
_KINDS = {tokenize.STRING: TEXT, tokenize.COMMENT: REMARK}


@cache
def source_of(function: Callable[..., Any]) -> Json:
    """{file: from the repository's root, name, lines: [{number, parts: [[kind, text]]}]}, less the common indent."""
    lines, first = inspect.getsourcelines(function)
    indent = len(lines[0]) - len(lines[0].lstrip())
    texts = [line.rstrip("\n")[indent:] if line.strip() else "" for line in lines]
    path = Path(inspect.getsourcefile(function) or "")
    return {
        "file": path.relative_to(_ROOT).as_posix(),
        "name": function.__qualname__,
        "lines": [{"number": first + place, "parts": parts} for place, parts in enumerate(_parted(texts))],
    }


def _parted(texts: list[str]) -> list[list[list[str]]]:
    kinds = [[PLAIN] * len(text) for text in texts]
    for token in tokenize.generate_tokens(io.StringIO("\n".join(texts) + "\n").readline):
        kind = (
            KEYWORD
            if token.type == tokenize.NAME and keyword.iskeyword(token.string)
            else _KINDS.get(token.type)
        )
        if kind is None:
            continue
        for row in range(token.start[0], token.end[0] + 1):
            line = kinds[row - 1]
            start = token.start[1] if row == token.start[0] else 0
            stop = token.end[1] if row == token.end[0] else len(line)
            line[start:stop] = [kind] * (stop - start)
    return [_joined(text, marks) for text, marks in zip(texts, kinds, strict=True)]


def _joined(text: str, marks: list[str]) -> list[list[str]]:
    parts: list[list[str]] = []
    for letter, kind in zip(text, marks, strict=True):
        if parts and parts[-1][0] == kind:
            parts[-1][1] += letter
        else:
            parts.append([kind, letter])
    return parts
