"""Who made the mistake decides how it looks: the error tree of the core.

A refusal that the *original* broker would give is an event or a code, never one of these.
"""


class HighwaterError(Exception):
    """Base of every error that the core raises on purpose."""


class SentenceError(HighwaterError):
    """One sentence tells a person what went wrong.

    reason: the sentence; the `{places}` of `template` are filled from `values`. The page translates the template, not the filled text.
    """

    def __init__(self, template: str, **values: object) -> None:
        self.template = template
        self.values = values
        self.reason = template.format(**values) if values else template
        super().__init__(self.reason)


class CommandError(SentenceError):
    """A caller of ours gave an impossible command; the state is untouched.

    field: the part of the request that is wrong ("consumer", "args.count", "workload.rate"), so a form can show the text beside it.

    >>> str(CommandError("args.count", "must be 1 to {high}", high=512))
    'args.count: must be 1 to 512'
    """

    def __init__(self, field: str, template: str, **values: object) -> None:
        super().__init__(template, **values)
        self.field = field

    def __str__(self) -> str:
        return f"{self.field}: {self.reason}"


class ReplayError(HighwaterError):
    """A journal or checkpoint cannot be read back. seq: the position of the entry; kind: what it claims to be."""

    def __init__(self, seq: int, kind: str, reason: str = "cannot be replayed") -> None:
        super().__init__(f"entry {seq} ({kind}) {reason}")
        self.seq = seq
        self.kind = kind
        self.reason = reason


class InvariantError(HighwaterError):
    """We broke our own rule. Nobody catches it but the driver, which stops the lab and keeps its journal: that is the bug report."""
