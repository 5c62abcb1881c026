"""The Python of an assignor: what a text may hold, and what takes the place of what would differ from process
to process.

    the text's tree ─► check ─► rewritten ─► compile            {a, b}, {x for ...}, a - b, a | b, a & b, a ^ b   ordered sets (`ordered.py`)
                                                                f"{x}", a % b, str, repr                          texts without addresses (`texts.py`)

What is put in has names with a space, which no text can say.
"""

import ast
import operator
from collections.abc import Callable
from typing import Any

from .ordered import OrderedFrozenSet, OrderedSet, in_order
from .texts import Text, plain, represented, shown

NAME = "<assignor>"
BUILTINS = (
    "abs",
    "all",
    "any",
    "bool",
    "dict",
    "divmod",
    "enumerate",
    "filter",
    "float",
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
    "reversed",
    "round",
    "sorted",
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
)
"""No `hash` and no `id`, as an object's may be its address, and no `getattr`."""
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
FORBIDDEN = (
    ast.Import,
    ast.ImportFrom,
    ast.AsyncFunctionDef,
    ast.Await,
    ast.AsyncFor,
    ast.AsyncWith,
    ast.Global,
    ast.Nonlocal,
    ast.ClassDef,
    ast.Try,
    ast.TryStar,
    ast.With,
    ast.Match,
    ast.Yield,
    ast.YieldFrom,
    ast.Pow,
)
_NAMED = ((ast.Name, "id"), (ast.FunctionDef, "name"), (ast.arg, "arg"), (ast.keyword, "arg"))


class Refused(BaseException):
    """The text uses what it may not. line: where."""

    def __init__(self, word: str, line: int) -> None:
        super().__init__(f"an assignor cannot use {word}")
        self.line = line


def check(tree: ast.AST) -> None:
    """Raise Refused for a tree that has more than an assignor needs."""
    for node in ast.walk(tree):
        line = getattr(node, "lineno", 0)
        if isinstance(node, FORBIDDEN):
            raise Refused(type(node).__name__, line)
        if isinstance(node, ast.Attribute) and node.attr not in METHODS:
            raise Refused(node.attr, line)
        if isinstance(node, ast.Constant) and (isinstance(node.value, bytes) or node.value is ...):
            raise Refused("bytes" if isinstance(node.value, bytes) else "...", line)
        for kind, field in _NAMED:
            if isinstance(node, kind) and (getattr(node, field) or "").startswith("_"):
                raise Refused(getattr(node, field), line)


# --- what takes the place of what differs

Operation = Callable[[Any, Any], Any]
_OPERATIONS: dict[type[ast.operator], tuple[str, Operation, Operation]] = {
    ast.Sub: ("-", operator.sub, operator.isub),
    ast.BitOr: ("|", operator.or_, operator.ior),
    ast.BitAnd: ("&", operator.and_, operator.iand),
    ast.BitXor: ("^", operator.xor, operator.ixor),
    ast.Mod: ("%", operator.mod, operator.imod),
}
_ITEM, _SET, _SHOWN = "item then", "ordered set", "shown text"


def _careful(operation: Operation) -> Operation:
    def operate(left: Any, right: Any) -> Any:
        made = operation(in_order(left), in_order(right))
        return plain(made) if type(made) is str else made

    return operate


def _operate_item(operate: Operation, holder: Any, index: Any, right: Any) -> None:
    """`holder[index] -= right`."""
    holder[index] = operate(holder[index], right)


class _Rewriter(ast.NodeTransformer):
    def visit_Set(self, node: ast.Set) -> ast.AST:
        self.generic_visit(node)
        return _call(node, _SET, ast.List(node.elts, ast.Load()))

    def visit_SetComp(self, node: ast.SetComp) -> ast.AST:
        self.generic_visit(node)
        return _call(node, _SET, ast.ListComp(node.elt, node.generators))

    def visit_BinOp(self, node: ast.BinOp) -> ast.AST:
        self.generic_visit(node)
        known = _OPERATIONS.get(type(node.op))
        return node if known is None else _call(node, f"a {known[0]}", node.left, node.right)

    def visit_AugAssign(self, node: ast.AugAssign) -> ast.AST:
        self.generic_visit(node)
        known, target = _OPERATIONS.get(type(node.op)), node.target
        if known is None:
            return node
        if isinstance(target, ast.Name):
            made = _call(node, f"a {known[0]}=", ast.Name(target.id, ast.Load()), node.value)
            return ast.fix_missing_locations(ast.copy_location(ast.Assign([target], made), node))
        if isinstance(target, ast.Subscript) and not isinstance(target.slice, ast.Slice):
            operate = ast.Name(f"a {known[0]}=", ast.Load())
            return ast.fix_missing_locations(
                ast.copy_location(
                    ast.Expr(_call(node, _ITEM, operate, target.value, target.slice, node.value)), node
                )
            )
        return node  # of a slice or an attribute, which Python refuses

    def visit_FormattedValue(self, node: ast.FormattedValue) -> ast.AST:
        self.generic_visit(node)
        value = _call(node, _SHOWN, node.value, ast.Constant(node.conversion))
        return ast.copy_location(ast.FormattedValue(value, -1, node.format_spec), node)


def _call(node: ast.AST, name: str, *given: ast.expr) -> ast.expr:
    return ast.fix_missing_locations(
        ast.copy_location(ast.Call(ast.Name(name, ast.Load()), list(given), []), node)
    )


def rewritten(tree: ast.Module) -> ast.Module:
    """The tree with what differs from process to process replaced; its lines stay."""
    made: ast.Module = _Rewriter().visit(tree)
    return made


def space() -> dict[str, Any]:
    """The globals in which a rewritten text runs."""
    known = __builtins__ if isinstance(__builtins__, dict) else vars(__builtins__)
    careful = {f"a {sign}": _careful(operation) for sign, operation, _ in _OPERATIONS.values()}
    in_place = {f"a {sign}=": _careful(operation) for sign, _, operation in _OPERATIONS.values()}
    own = {"set": OrderedSet, "frozenset": OrderedFrozenSet, "str": Text, "repr": represented}
    put_in = {_SET: OrderedSet, _SHOWN: shown, _ITEM: _operate_item}
    return {
        "__builtins__": {name: known[name] for name in BUILTINS} | own | careful | in_place | put_in,
        "__name__": "assignor",
    }
