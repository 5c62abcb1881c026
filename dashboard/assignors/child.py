"""The process in which a user's assignor runs: no imports, no files, no network, no other process; bounded CPU, memory and steps.

    stdin   {"source", "members", "partitions"} ─► limits ─► assign(members, partitions) ─► stdout   {"assignment"} or {"error", "line"}

It is started by `runner.py`, and shares nothing with the project. Four locks, each by itself:

    the tree of the text   only what an assignor needs: methods of lists, dicts, sets and texts, no imports        `check`, as in the core
    builtins               a short list; no `hash`, as a function's is its address, and no `getattr`               BUILTINS
    an audit hook          refuses to open, import, connect, start, look into frames; it cannot be taken out       `lock`
    the kernel             CPU, memory, no new file descriptor, so no file and no socket; RLIMIT_NPROC binds everybody but root

Steps are counted line by line, so that a loop ends at the same step on every machine; a loop within one line by its instructions.
"""

import ast
import json
import resource
import sys

STEPS_MAX = 300_000
INSTRUCTIONS_MAX = 10 * STEPS_MAX
"""More than so many lines take, a quarter of a second: the shard of a lab waits for each member that leads."""
MEMORY_BYTES = 256 << 20
CPU_S = 1
NAME = "<assignor>"
BUILTINS = (
    "abs", "all", "any", "bool", "dict", "divmod", "enumerate", "filter", "float", "frozenset", "int", "isinstance", "iter", "len", "list",
    "map", "max", "min", "next", "ord", "range", "repr", "reversed", "round", "set", "sorted", "str", "sum", "tuple", "zip",
    "Exception", "ValueError", "KeyError", "IndexError", "TypeError", "RuntimeError", "AssertionError", "StopIteration",
)  # fmt: skip


METHODS = frozenset({
    "add", "append", "bit_length", "clear", "copy", "count", "difference", "difference_update", "discard", "endswith", "extend", "find",
    "fromkeys", "get", "index", "insert", "intersection", "intersection_update", "isdigit", "isdisjoint", "issubset", "issuperset",
    "items", "join", "keys", "lower", "lstrip", "partition", "pop", "popitem", "remove", "replace", "reverse", "rfind", "rpartition",
    "rsplit", "rstrip", "setdefault", "sort", "split", "startswith", "strip", "symmetric_difference", "union", "update", "upper",
    "values", "zfill",
})  # fmt: skip
FORBIDDEN = (
    ast.Import, ast.ImportFrom, ast.AsyncFunctionDef, ast.Await, ast.AsyncFor, ast.AsyncWith, ast.Global, ast.Nonlocal, ast.ClassDef, ast.Try,
    ast.TryStar, ast.With, ast.Match, ast.Yield, ast.YieldFrom, ast.Pow,
)  # fmt: skip
ALLOWED_EVENTS = ("exec", "sys.settrace")


class TooManySteps(BaseException):
    """It took more steps than it may."""


class Refused(BaseException):
    """The text uses what it may not. line: where."""

    def __init__(self, word, line):
        super().__init__(f"an assignor cannot use {word}")
        self.line = line


def check(tree):
    """Raise Refused for a tree that has more than an assignor needs."""
    for node in ast.walk(tree):
        line = getattr(node, "lineno", 0)
        if isinstance(node, FORBIDDEN):
            raise Refused(type(node).__name__, line)
        if isinstance(node, ast.Attribute) and node.attr not in METHODS:
            raise Refused(node.attr, line)
        if isinstance(node, ast.Name) and node.id.startswith("_"):
            raise Refused(node.id, line)


def lock():
    """From here on nothing can be opened, imported, connected or started in this process, whoever asks."""

    def refuse(event, arguments):
        if event not in ALLOWED_EVENTS:
            raise RuntimeError(f"{event} is not allowed")

    sys.addaudithook(refuse)


def main() -> None:
    """Read the order, run it, write the answer."""
    order = json.load(sys.stdin)
    sys.stdin.close()
    for limit, value in (
        (resource.RLIMIT_CPU, CPU_S), (resource.RLIMIT_AS, MEMORY_BYTES), (resource.RLIMIT_FSIZE, 0), (resource.RLIMIT_NPROC, 0),
        (resource.RLIMIT_NOFILE, 0), (resource.RLIMIT_CORE, 0),
    ):  # fmt: skip
        resource.setrlimit(limit, (value, value))
    sys.stdout.write(answer(order))
    sys.stdout.flush()


def answer(order: dict) -> str:
    """The answer as JSON."""
    steps = instructions = line = 0

    def count(frame, event, arg):
        nonlocal steps, instructions, line
        if event == "opcode":
            instructions += 1
        elif event == "line":
            steps, line = steps + 1, frame.f_lineno
        elif event == "call":
            frame.f_trace_opcodes = True
        if steps > STEPS_MAX or instructions > INSTRUCTIONS_MAX:
            raise TooManySteps
        return count

    known = __builtins__ if isinstance(__builtins__, dict) else vars(__builtins__)
    space = {"__builtins__": {name: known[name] for name in BUILTINS}, "__name__": "assignor"}
    try:
        tree = ast.parse(order["source"], NAME)
        check(tree)
        code = compile(tree, NAME, "exec")
        lock()
        sys.settrace(count)
        exec(code, space)
        given = space["assign"](order["members"], order["partitions"])
        sys.settrace(None)
        return json.dumps({"assignment": given})
    except Refused as error:
        return json.dumps({"error": str(error), "line": error.line})
    except TooManySteps:
        return failed({"code": "steps", "params": {"steps": STEPS_MAX}}, line)
    except MemoryError:
        return failed({"code": "memory", "params": {}}, line)
    except BaseException as error:
        return failed({"error": f"{type(error).__name__}: {error}"[:300]}, line)
    finally:
        sys.settrace(None)


def failed(why: dict, line: int) -> str:
    """why: as the core asks a runner for it (custom.py: Runner). line: the last one of the user's own text that was reached."""
    sys.settrace(None)
    return json.dumps({**why, "line": line})


if __name__ == "__main__":
    main()
