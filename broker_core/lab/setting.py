"""One setting of a scenario, declared once: its check, what a form offers of it, and the command that changes it on a
lab that runs. The words are in dashboard/sentences/settings/."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from broker_core.errors import CommandError, Names
from broker_core.lab.fields import whole

WHOLE, DECIMAL, CHOICE, SWITCH, TEXT, LIST, TABLE = (
    "whole",
    "decimal",
    "choice",
    "switch",
    "text",
    "list",
    "table",
)
"""Of what a setting is. The last three, and decimals, are checked where they belong: a text by the rule of names, a
list of names, a table of names and what each sets."""
SIMPLE = (WHOLE, CHOICE, SWITCH)


@dataclass(frozen=True, slots=True)
class Setting:
    """default: what holds without it; None: nothing, or what another setting decides. unit: of a number, a code of
    words. group: where a form has it. changed_by: a kind of command, "" where it takes a new lab."""

    name: str
    kind: str
    low: int = 0
    high: int = 0
    default: Any = None
    choices: tuple[Any, ...] = ()
    unit: str = ""
    group: str = ""
    changed_by: str = ""

    @property
    def is_switch(self) -> bool:
        """Whether it is on or off, however its refusal is worded."""
        return self.kind == SWITCH or self.choices == (True, False)

    def check(self, value: object, field: str) -> Any:
        """The value, if the setting takes it. Raises CommandError at `field`."""
        if self.kind == WHOLE:
            return whole(field, value, self.low, self.high)
        if self.kind == SWITCH:
            if not isinstance(value, bool):
                raise CommandError(field, "must be true or false")
        elif value not in self.choices or type(value) is not type(self.choices[0]):
            raise CommandError(field, "must be one of {choices}", choices=Names(map(str, self.choices)))
        return value


def number(
    name: str,
    low: int,
    high: int,
    default: int | None = None,
    unit: str = "",
    *,
    group: str,
    changed_by: str = "",
) -> Setting:
    """A whole number."""
    return Setting(name, WHOLE, low, high, default, unit=unit, group=group, changed_by=changed_by)


def choice(
    name: str, choices: tuple[Any, ...], default: object = None, *, group: str, changed_by: str = ""
) -> Setting:
    """One of these."""
    return Setting(name, CHOICE, default=default, choices=choices, group=group, changed_by=changed_by)


def switch(name: str, *, group: str) -> Setting:
    """On or off; off without it."""
    return Setting(name, SWITCH, default=False, group=group)
