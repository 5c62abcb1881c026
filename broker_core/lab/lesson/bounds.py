"""What a scenario file may look like, checked before a TOML reader sees it.

A TOML reader keeps every prefix of a dotted name, so `a.a.a...` of n parts costs it n² of memory, and
brackets in brackets cost a call each. Here a text is only cut into its tokens, once, from left to right:

    a.b.c = [[1], {x = "a.b"}]        3 parts, 2 brackets deep; what is inside a text or a comment does not count
"""

import re

from broker_core.lab.lesson.file_error import FileError

BYTES_MAX = 32 * 1024
PARTS_MAX, DEPTH_MAX, WORD_MAX = 8, 16, 256
"""Of one dotted name; of brackets; of a name or a number without quotes, in characters."""
_TOKEN = re.compile(
    r'(?P<text>"""(?:\\.|"{1,2}(?!")|[^"\\])*+(?:"{3,5}|\Z)|\'\'\'(?:\'{1,2}(?!\')|[^\'])*+(?:\'{3,5}|\Z)|"(?:\\[^\n]|[^"\\\n])*+"?|\'[^\'\n]*+\'?)'
    r"|(?P<comment>#[^\n]*+)|(?P<word>[A-Za-z0-9_+-]++)|(?P<dot>\.)|(?P<open>[\[{])|(?P<close>[\]}])|(?P<line>\n)|(?P<blank>[ "
    r"\t]++)|(?P<other>.)",
    re.DOTALL,
)


def check_bounds(text: str) -> None:
    """Raise FileError for a text that is too long, whose names have too many parts, or whose brackets are too
    deep. The text need not be TOML."""
    if len(text) > BYTES_MAX or len(text.encode(errors="replace")) > BYTES_MAX:
        raise FileError(0, "", "is longer than {high} bytes", high=BYTES_MAX)
    line, depth, dots = 1, 0, 0
    for token in _TOKEN.finditer(text):
        kind, word = token.lastgroup, token[0]
        if kind in ("word", "text"):
            if kind == "word" and len(word) > WORD_MAX:
                raise FileError(
                    line,
                    word[:24] + "...",
                    "is a name or a number of more than {high} characters",
                    high=WORD_MAX,
                )
            line += word.count("\n")
        elif kind == "dot":
            dots += 1
            if dots >= PARTS_MAX:
                raise FileError(line, "", "has a name of more than {high} parts", high=PARTS_MAX)
        elif kind != "blank":
            dots = 0
            line += kind == "line"
            depth = depth + 1 if kind == "open" else max(0, depth - 1) if kind == "close" else depth
            if depth > DEPTH_MAX:
                raise FileError(line, "", "has brackets more than {high} deep", high=DEPTH_MAX)
