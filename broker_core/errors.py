"""Who made the mistake decides how it looks: the error tree of the core.

A refusal that the *original* broker would give is an event or a code, never one of these.
"""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any, Self


class HighwaterError(Exception):
    """Base of every error that the core raises on purpose."""


class SentenceError(HighwaterError):
    """One sentence tells a person what went wrong.

    reason: the sentence; the `{places}` of `template` are filled from `values`. The page translates the
    template, not the filled text.
    """

    def __init__(self, template: str, **values: object) -> None:
        self.template = template
        self.values = values
        self.reason = template.format(**values) if values else template
        super().__init__(self.reason)


class Names(str):
    """Several names as one value of a sentence. A page joins `each` as its language does: Chinese lists names
    with its own comma.

    >>> text = Names(["c1", "c2"])
    >>> text, text.each
    ('c1, c2', ('c1', 'c2'))
    """

    each: tuple[str, ...]

    def __new__(cls, names: Iterable[str]) -> Self:
        each = tuple(names)
        text = super().__new__(cls, ", ".join(each))
        text.each = each
        return text

    def __getnewargs__(self) -> tuple[Any, ...]:
        # A refusal travels between processes: what it is made from is its names, not its text.
        return (self.each,)


class CommandError(SentenceError):
    """A caller of ours gave an impossible command; the state is untouched.

    field: the part of the request that is wrong ("consumer", "args.count", "workload.rate"), so a form can
    show the text beside it. others: what is wrong at other fields of the same request.

    >>> str(CommandError("args.count", "must be 1 to {high}", high=512))
    'args.count: must be 1 to 512'
    """

    def __init__(self, field: str, template: str, **values: object) -> None:
        super().__init__(template, **values)
        self.field = field
        self.others: tuple[CommandError, ...] = ()

    @classmethod
    def of_all(cls, errors: Iterable[CommandError]) -> CommandError:
        """One refusal for all that is wrong: the first, which has the others with it."""
        first, *others = errors
        first.others = (*first.others, *others)
        return first

    def within(self, part: str) -> CommandError:
        """The same, of a request that has this one as its part.

        >>> str(CommandError("code", "must be a number").within("args"))
        'args.code: must be a number'
        """
        return CommandError(f"{part}.{self.field}", self.template, **self.values)

    def __str__(self) -> str:
        return f"{self.field}: {self.reason}"


class ReplayError(HighwaterError):
    """A journal or checkpoint cannot be read back. seq: the position of the entry; kind: what it claims to
    be."""

    def __init__(self, seq: int, kind: str, reason: str = "cannot be replayed") -> None:
        super().__init__(f"entry {seq} ({kind}) {reason}")
        self.seq = seq
        self.kind = kind
        self.reason = reason


class InvariantError(HighwaterError):
    """We broke our own rule. Nobody catches it but the driver, which stops the lab and keeps its journal:
    that is the bug report."""
