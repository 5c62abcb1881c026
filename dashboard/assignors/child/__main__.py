"""The process in which a user's assignor runs: no imports, no files, no network, no other process; bounded
CPU, memory and steps.

    stdin   {"source", "arguments"} ─► locks ─► assign(*arguments) ─► stdout   {"assignment"} or {"error", "line"}

It is started by `runner.py`, and shares nothing with the project. Four locks, each enough alone:

    the tree of the text   only what an assignor needs: methods of lists, dicts, sets and texts, no imports        `language.check`, as in the core
    builtins               a short list, without `hash` and `getattr`                                              `language.BUILTINS`
    an audit hook          refuses to open, import, connect, start, look into frames; it cannot be taken out       `lock`
    the kernel             lets through few system calls, for root, too; CPU, memory, no new file descriptor       `system_calls`, `limits`

Steps are counted line by line, so that a loop ends at the same step on every machine; a loop within one line
by its instructions.
"""

import ast
import json
import os
import sys
import unicodedata  # noqa: F401  # a text may name a letter, "\N{...}", and nothing can be loaded later
from pathlib import Path
from typing import Any

if not __package__:  # started as a folder
    __package__ = "child"  # noqa: A001
    sys.path[0] = str(Path(__file__).resolve().parent.parent)

from .language import NAME, Refused, check, rewritten, space
from .limits import ANSWER_BYTES_MAX, INSTRUCTIONS_MAX, STEPS_MAX, limit
from .system_calls import NoFilter, shut
from .texts import plain

ERROR_LETTERS_MAX = 300
ALLOWED_EVENTS = ("exec", "sys.settrace")


class TooManySteps(BaseException):
    """It took more steps than it may."""


def lock() -> None:
    """From here on nothing can be opened, imported, connected or started in this process, whoever asks."""

    def refuse(event: str, arguments: tuple[Any, ...]) -> None:
        if event not in ALLOWED_EVENTS:
            raise RuntimeError(f"{event} is not allowed")

    sys.addaudithook(refuse)


def main() -> None:
    """Read the order, run it, write the answer, and end at once: what Python does at its end needs more than
    is let through."""
    order = json.load(sys.stdin)
    sys.stdin.close()
    limit()
    try:
        shut()
    except NoFilter:
        text = json.dumps({"code": "off", "params": {}, "line": 0})
    else:
        text = answer(order)
    data = text.encode()
    while data:
        data = data[os.write(1, data) :]
    os._exit(0)


def answer(order: dict[str, Any]) -> str:
    """The answer as JSON."""
    steps = instructions = line = 0
    globals_ = space()

    def count(frame: Any, event: str, arg: Any) -> Any:
        nonlocal steps, instructions, line
        if event == "opcode":
            instructions += 1
        elif event == "line":
            steps, line = steps + 1, frame.f_lineno
        elif event == "call":
            if frame.f_globals is not globals_:
                return None  # what is put in place of Python's own counts as one instruction, as that did
            frame.f_trace_opcodes = True
        if steps > STEPS_MAX or instructions > INSTRUCTIONS_MAX:
            raise TooManySteps
        return count

    try:
        tree = ast.parse(order["source"], NAME)
        check(tree)
        code = compile(rewritten(tree), NAME, "exec")
        lock()
        sys.settrace(count)
        exec(code, globals_)
        given = globals_["assign"](*order["arguments"])
        sys.settrace(None)
        try:
            text = json.dumps({"assignment": given}, ensure_ascii=False)
        except RecursionError:
            return failed({"code": "deep_answer", "params": {}}, 0)
        if len(text.encode()) > ANSWER_BYTES_MAX:
            return failed({"code": "long_answer", "params": {"mb": ANSWER_BYTES_MAX >> 20}}, 0)
        return text
    except Refused as error:
        return failed({"error": str(error)}, error.line)
    except TooManySteps:
        return failed({"code": "steps", "params": {"steps": STEPS_MAX}}, line)
    except MemoryError:
        return failed({"code": "memory", "params": {}}, line)
    except BaseException as error:
        return failed({"error": said(error)}, line)
    finally:
        sys.settrace(None)


def failed(why: dict[str, Any], line: int) -> str:
    """why: as the core asks a runner for it (custom.py: Runner). line: the last one of the user's own text
    that was reached."""
    sys.settrace(None)
    return json.dumps({**why, "line": line})


def said(error: BaseException) -> str:
    """What an exception says; with its kind where that is no sentence: a key that is missing is said by its
    name alone."""
    text = str(error)
    if not text or isinstance(error, (KeyError, StopIteration)):
        text = f"{type(error).__name__}: {text}" if text else type(error).__name__
    return plain(text)[:ERROR_LETTERS_MAX]


if __name__ == "__main__":
    main()
