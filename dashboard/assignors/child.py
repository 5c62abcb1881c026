"""The process in which a user's assignor runs: no imports, no files, no network, no other process; bounded CPU, memory and steps.

    stdin   {"source", "members", "partitions"} ─► limits ─► assign(members, partitions) ─► stdout   {"assignment"} or {"error", "line"}

It is started by `runner.py`, and shares nothing with the project. The kernel refuses every new file or socket (RLIMIT_NOFILE)
and every new process (RLIMIT_NPROC); steps are counted line by line, so that a loop ends at the same step on every machine.
"""

import json
import resource
import sys

STEPS_MAX = 300_000
MEMORY_BYTES = 256 << 20
CPU_S = 2
NAME = "<assignor>"
BUILTINS = (
    "abs", "all", "any", "bool", "dict", "divmod", "enumerate", "filter", "float", "frozenset", "hash", "int", "isinstance", "iter", "len", "list",
    "map", "max", "min", "next", "ord", "range", "repr", "reversed", "round", "set", "sorted", "str", "sum", "tuple", "zip",
    "Exception", "ValueError", "KeyError", "IndexError", "TypeError", "RuntimeError", "AssertionError", "StopIteration",
)  # fmt: skip


class TooManySteps(BaseException):
    """It took more steps than it may."""


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
    steps = 0

    def count(frame, event, arg):
        nonlocal steps
        if event == "line":
            steps += 1
            if steps > STEPS_MAX:
                raise TooManySteps
        return count

    known = __builtins__ if isinstance(__builtins__, dict) else vars(__builtins__)
    space = {"__builtins__": {name: known[name] for name in BUILTINS}, "__name__": "assignor"}
    try:
        code = compile(order["source"], NAME, "exec")
        sys.settrace(count)
        exec(code, space)
        given = space["assign"](order["members"], order["partitions"])
        sys.settrace(None)
        return json.dumps({"assignment": given})
    except TooManySteps as error:
        return failed(f"took more than {STEPS_MAX:,} steps", error)
    except MemoryError as error:
        return failed("needed more memory than it may have", error)
    except BaseException as error:
        return failed(f"{type(error).__name__}: {error}"[:300], error)
    finally:
        sys.settrace(None)


def failed(text: str, error: BaseException) -> str:
    """With the last line of the user's own text that was reached."""
    sys.settrace(None)
    line, trace = 0, error.__traceback__
    while trace is not None:
        if trace.tb_frame.f_code.co_filename == NAME:
            line = trace.tb_lineno
        trace = trace.tb_next
    return json.dumps({"error": text, "line": line})


if __name__ == "__main__":
    main()
