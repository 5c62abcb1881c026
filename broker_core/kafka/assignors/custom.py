'''A user's own assignor: one Python function, a pure function of what the built-in ones are given.

    COOPERATIVE = False
    def assign(members, partitions):
        """members: id -> {"topics", "owned", "generation", "instance_id", "rack"}; partitions: topic -> count. Returns id -> [(topic, number)]."""

A TubeMQ group's takes a third argument, if its function has one: what is known of each partition, topic -> [{"lag", "subscribable"}, ...] by number
(`broker_core/lab/tubemq/operator.py`).

owned: what a member holds now (cooperative), or had in its last generation (eager, which gives up all before it joins; so `sticky` learns it, too).
A cooperative one must leave a partition out until its owner has given it up, and fails else, as in Kafka (ConsumerCoordinator 3.9,
validateCooperativeAssignment).

instance_id, rack: "" for none, as None hashes by its address.

The text is checked here and run elsewhere: in a process of its own with limits of CPU, memory and system calls, which whoever starts labs
provides (`use_runner`), which checks it again. It has no imports, of attributes only the methods of lists, dicts, sets and texts, and sets that
keep the order in which they were filled, so the same text and input give the same answer wherever it runs, and a journal that holds the text
can be replayed. docs/decisions/a-custom-assignor-is-its-text.md.
'''

from __future__ import annotations

import ast
import builtins
from collections.abc import Callable, Iterator, Mapping, Sequence
from functools import lru_cache
from typing import Any

from broker_core.errors import CommandError, HighwaterError
from broker_core.hashing.java_hash import java_sorted
from broker_core.kafka.assignors.cooperative_sticky import changing_hands
from broker_core.kafka.assignors.protocol import (
    Assignment,
    Assignor,
    PartitionRacks,
    Subscription,
    TopicPartition,
)

CUSTOM, COOPERATIVE = "custom", "COOPERATIVE"
SOURCE_LETTERS_MAX = 8_000
ANSWER_PARTITIONS_MAX = 100_000
Status = Mapping[str, Sequence[Mapping[str, Any]]]
"""Topic -> what is known of each of its partitions."""
Runner = Callable[..., dict[str, Any]]
"""(source, members, partitions[, status]) -> {"assignment": {...}} or an error with its line, or 0: {"error": text,
"line": 3} of the function's own, {"code": "steps", "params": {...}, "line": 3} of a limit, from REASONS.
{"code": "off"}: such functions cannot be run here. It raises Held while it works on the answer."""
OFF = "off"
REASONS = {
    "steps": "took more than {steps:,} steps",
    "memory": "needed more memory than it may have",
    "cpu": "used more than {seconds} s of CPU",
    "long_answer": "its answer is longer than {mb} MB",
    "crashed": "crashed Python ({signal}); map(), filter() or zip() nested thousands deep do that",
    "deep_answer": "its answer is nested too deeply",
    "unreadable": "its answer cannot be read: it is no JSON",
    "not_dict": "assign() must return a dict: member id -> list of (topic, number)",
    "no_member": "there is no member {member}",
    "not_list": "{member} must have a list of (topic, number)",
    "too_many": "too many partitions",
    "no_partition": "{member}: {row} is no partition; give (topic, number)",
    "cooperative": "violates the COOPERATIVE protocol: {names} still has an owner that must give it up first",
}
"""What is wrong with a function that Python lets run, by a code that pages have words for."""

_FORBIDDEN: tuple[tuple[type[ast.AST], str], ...] = (
    (ast.Import, "import"),
    (ast.ImportFrom, "import"),
    (ast.AsyncFunctionDef, "async"),
    (ast.Await, "await"),
    (ast.AsyncFor, "async"),
    (ast.AsyncWith, "async"),
    (ast.Global, "global"),
    (ast.Nonlocal, "nonlocal"),
    (ast.ClassDef, "class"),
    (ast.Try, "try"),
    (ast.TryStar, "try"),
    (ast.With, "with"),
    (ast.Match, "match"),
    (ast.Yield, "yield"),
    (ast.YieldFrom, "yield"),
)
_PYTHONS = frozenset(dir(builtins))
BUILTINS = frozenset(
    {
        "abs",
        "all",
        "any",
        "bool",
        "dict",
        "divmod",
        "enumerate",
        "filter",
        "float",
        "frozenset",
        "int",
        "isinstance",
        "iter",
        "len",
        "list",
        "map",
        "max",
        "min",
        "next",
        "ord",
        "range",
        "repr",
        "reversed",
        "round",
        "set",
        "sorted",
        "str",
        "sum",
        "tuple",
        "zip",
        "Exception",
        "ValueError",
        "KeyError",
        "IndexError",
        "TypeError",
        "RuntimeError",
        "AssertionError",
        "StopIteration",
    }
)
METHODS = frozenset(
    {
        "add",
        "append",
        "bit_length",
        "clear",
        "copy",
        "count",
        "difference",
        "difference_update",
        "discard",
        "endswith",
        "extend",
        "find",
        "fromkeys",
        "get",
        "index",
        "insert",
        "intersection",
        "intersection_update",
        "isdigit",
        "isdisjoint",
        "issubset",
        "issuperset",
        "items",
        "join",
        "keys",
        "lower",
        "lstrip",
        "partition",
        "pop",
        "popitem",
        "remove",
        "replace",
        "reverse",
        "rfind",
        "rpartition",
        "rsplit",
        "rstrip",
        "setdefault",
        "sort",
        "split",
        "startswith",
        "strip",
        "symmetric_difference",
        "union",
        "update",
        "upper",
        "values",
        "zfill",
    }
)
"""A list of what may be used, not of what may not: a generator's `gi_frame` leads to the frames of whoever
runs it, without an underscore."""
_runner: Runner | None = None


class AssignorsOff(HighwaterError):
    """Nothing here can run users' assignors. A lab that needs one stops: what it would have answered is not
    known."""

    def __init__(self) -> None:
        super().__init__(
            "own assignors are off: the kernel of this machine has no filter for system calls (seccomp)"
        )


class AssignorFailed(HighwaterError):
    """The function raised, ran out of its limits or returned something else than an assignment. line: of its
    text, 0 for none. code, params: of REASONS; "" for an exception of the function's own."""

    def __init__(
        self, reason: str, line: int, code: str = "", params: Mapping[str, Any] | None = None
    ) -> None:
        self.reason, self.line, self.code, self.params = reason, line, code, dict(params or {})
        super().__init__(f"line {line}: {reason}" if line else reason)


def _failed(code: str, line: int = 0, **params: Any) -> AssignorFailed:
    return AssignorFailed(REASONS[code].format(**params), line, code, params)


def use_runner(runner: Runner | None) -> None:
    """Say who runs users' assignors in this process; None: nobody does."""
    global _runner
    _runner = runner


def check_source(source: str, *, may_take_status: bool = False) -> None:
    """Raise CommandError at args.source, with the line, for a text that is not one function `assign` or uses
    what it may not. may_take_status: `assign` may have a third argument."""
    if not 1 <= len(source) <= SOURCE_LETTERS_MAX:
        raise CommandError("args.source", "must be 1 to {high} characters", high=SOURCE_LETTERS_MAX)
    try:
        tree = ast.parse(source)
    except (SyntaxError, ValueError, RecursionError, MemoryError) as error:
        raise CommandError(
            "args.source", "line {line}: {reason}", line=getattr(error, "lineno", 0) or 0, reason=_said(error)
        ) from None
    said = dict(_cooperative(tree))
    refused = [found for node in ast.walk(tree) for found in _refused(node)]
    if refused:
        (line, _), word = min(refused + _missing(tree))
        raise CommandError("args.source", "line {line}: an assignor cannot use {word}", line=line, word=word)
    for node in ast.walk(tree):
        if (
            isinstance(node, ast.Name)
            and node.id == COOPERATIVE
            and isinstance(node.ctx, ast.Store)
            and node not in said
        ):
            reason = "line {line}: {word} must be True or False, and stand outside assign"
            raise CommandError("args.source", reason, line=node.lineno, word=COOPERATIVE)
    functions = [*_assign(tree)]
    if len(functions) != 1 or len(functions[0].args.args) not in (2, 2 + may_take_status):
        if may_take_status:
            raise CommandError("args.source", "must define assign(members, partitions, status)")
        raise CommandError("args.source", "must define assign(members, partitions)")


def _assign(tree: ast.Module) -> Iterator[ast.FunctionDef]:
    return (node for node in tree.body if isinstance(node, ast.FunctionDef) and node.name == "assign")


def _refused(node: ast.AST) -> Iterator[tuple[tuple[int, int], str]]:
    """What an assignor may not use in this node: (line, column) and its word, so that the first one in the
    text can be named."""
    place = (getattr(node, "lineno", 0), getattr(node, "col_offset", 0))
    for kind, word in _FORBIDDEN:
        if isinstance(node, kind):
            yield place, word
    match node:
        case ast.BinOp(op=ast.Pow(), left=before) | ast.AugAssign(op=ast.Pow(), target=before):
            yield _end(before), "**"
        case ast.Attribute(attr=name, value=before) if name not in METHODS:
            yield _end(before), name
        case (
            ast.Name(id=name) | ast.FunctionDef(name=name) | ast.arg(arg=name) | ast.keyword(arg=str(name))
        ) if name.startswith("_"):
            yield place, name
        case ast.Constant(value=bytes()):
            yield place, "bytes"
        case ast.Constant(value=value) if value is ...:
            yield place, "..."


def _end(node: ast.expr) -> tuple[int, int]:
    return node.end_lineno or node.lineno, node.end_col_offset or node.col_offset


def _missing(tree: ast.Module) -> list[tuple[tuple[int, int], str]]:
    """Where the text uses a function of Python's that is not there, and that it has not made itself. Alone
    this is no refusal: it raises a NameError once it is reached. Before something refused it is what the user
    looks for: `open` in `open(path).read()`."""
    names = [node for node in ast.walk(tree) if isinstance(node, ast.Name)]
    own = {node.id for node in names if isinstance(node.ctx, ast.Store)}
    own |= {
        node.arg if isinstance(node, ast.arg) else node.name
        for node in ast.walk(tree)
        if isinstance(node, ast.arg | ast.FunctionDef)
    }
    return [
        ((node.lineno, node.col_offset), node.id) for node in names if node.id in _PYTHONS - BUILTINS - own
    ]


def _cooperative(tree: ast.Module) -> list[tuple[ast.expr, bool]]:
    """Where the text says COOPERATIVE = True or False, outside its functions and alone on its line."""
    return [
        (target, node.value.value) for node in tree.body if isinstance(node, ast.Assign)
        for target in node.targets[:1]
        if isinstance(target, ast.Name) and target.id == COOPERATIVE and len(node.targets) == 1
        and isinstance(node.value, ast.Constant) and isinstance(node.value.value, bool)
    ]  # fmt: skip


@lru_cache(maxsize=64)
def custom_assignor(source: str) -> Assignor:
    """The user's function as an assignor, eager if it does not say otherwise. Its `assign` raises
    AssignorFailed."""
    cooperative = any(value for _, value in _cooperative(ast.parse(source))[-1:])

    def rule(
        subscriptions: Mapping[str, Subscription],
        counts: Mapping[str, int],
        racks: PartitionRacks | None,
        generation: int,
    ) -> Assignment:
        assignment = _asked(source, subscriptions, counts)
        if cooperative and (early := sorted(changing_hands(subscriptions, assignment))):
            # Plain text: what is reported of a failure is kept in checkpoints.
            raise _failed("cooperative", names=", ".join(f"{topic}-{number}" for topic, number in early[:5]))
        return assignment

    return Assignor(CUSTOM, rule, cooperative=cooperative, remembers=True)


@lru_cache(maxsize=64)
def _takes_status(source: str) -> bool:
    return any(len(function.args.args) > 2 for function in _assign(ast.parse(source)))


def assign_by_own_rule(
    source: str, subscriptions: Mapping[str, Subscription], counts: Mapping[str, int], status: Status
) -> Assignment:
    """What the user's function gives each member, where no group protocol stands around it. status: passed to a
    function with a third argument. Raises AssignorFailed."""
    extra = ({topic: [*rows] for topic, rows in sorted(status.items())},) if _takes_status(source) else ()
    return _asked(source, subscriptions, counts, *extra)


def _asked(
    source: str, subscriptions: Mapping[str, Subscription], counts: Mapping[str, int], *extra: Any
) -> Assignment:
    """The answer of whoever runs the function, checked."""
    if _runner is None:
        raise AssignorFailed("no process for custom assignors here", 0)
    members = {member: _told(subscriptions[member]) for member in java_sorted(subscriptions)}
    answer = _runner(source, members, dict(sorted(counts.items())), *extra)
    if answer.get("code") == OFF:
        raise AssignorsOff
    if "code" in answer:
        raise _failed(str(answer["code"]), int(answer["line"]), **answer["params"])
    if "error" in answer:
        raise AssignorFailed(_printable(str(answer["error"])), int(answer["line"]))
    return _checked(answer["assignment"], subscriptions, counts)


def _told(subscription: Subscription) -> dict[str, Any]:
    owned = subscription.owned or (subscription.user_data.partitions if subscription.user_data else ())
    return {
        "topics": list(subscription.topics),
        "owned": [list(partition) for partition in owned],
        "generation": subscription.generation,
        "instance_id": subscription.instance_id or "",
        "rack": subscription.rack or "",
    }


def _printable(text: str) -> str:
    """What a page and a database take, whatever a user wrote."""
    return "".join(letter if letter.isprintable() else " " for letter in text)


def _checked(given: Any, subscriptions: Mapping[str, Subscription], counts: Mapping[str, int]) -> Assignment:
    """Only partitions that there are, for members that there are. One partition may have two owners, or none:
    that is the function's affair."""
    if not isinstance(given, dict):
        raise _failed("not_dict")
    assignment: Assignment = {member: [] for member in subscriptions}
    total = 0
    for member, rows in given.items():
        if member not in assignment:
            raise _failed("no_member", member=_printable(str(member)[:100]))
        if not isinstance(rows, list):
            raise _failed("not_list", member=member)
        total += len(rows)
        if total > ANSWER_PARTITIONS_MAX:
            raise _failed("too_many")
        assignment[member] = list(dict.fromkeys(_partition(member, row, counts) for row in rows))
    return assignment


def _partition(member: str, row: Any, counts: Mapping[str, int]) -> TopicPartition:
    is_pair = isinstance(row, list) and len(row) == 2 and isinstance(row[0], str) and type(row[1]) is int
    if not is_pair or not 0 <= row[1] < counts.get(row[0], 0):
        raise _failed("no_partition", member=member, row=repr(row)[:200])
    return row[0], row[1]


def _said(error: BaseException) -> str:
    return error.msg if isinstance(error, SyntaxError) and error.msg else type(error).__name__
