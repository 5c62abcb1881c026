"""What may happen: kinds of faults, how many of each at most, and within which time."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field

from broker_core.errors import CommandError, Names
from broker_core.events import Json
from broker_core.lab.breaking.faults import BROKER, CONSUMER, FAULTS, LINK, NOBODY, faults_of
from broker_core.lab.breaking.schedule import Fault
from broker_core.lab.commands import COMMANDS
from broker_core.lab.fields import refuse_unknown, whole
from broker_core.lab.limits import Limits

MOST_MAX, KINDS_MAX = 5, 12
_DRAWN: Mapping[str, Json] = {
    CONSUMER: {},
    NOBODY: {},
    BROKER: {"broker": 1},
    LINK: {"one": "broker-1", "other": "broker-2"},
}
"""Arguments that a search draws, unless the allowance has them."""


@dataclass(frozen=True, slots=True)
class May:
    """This may happen. most: how often at most. args: of its command; a
    broker or the ends of a link are drawn where it does not name them."""

    do: str
    most: int
    from_us: int
    until_us: int
    args: Json = field(default_factory=dict)

    def to_json(self) -> Json:
        """As `allowance_from_json` takes it."""
        named = {"do": self.do, "most": self.most, "from_us": self.from_us, "until_us": self.until_us}
        return {**named, "args": self.args}


def allowance_from_json(raw: object, model: str, lasts_us: int, limits: Limits) -> tuple[May, ...]:
    """`[{"do", "most", "from_us"?, "until_us"?, "args"?}]`. Raises CommandError at the field that is wrong, which begins
    with `may`."""
    if not isinstance(raw, list) or not 1 <= len(raw) <= KINDS_MAX:
        raise CommandError("may", "must be a list of 1 to {high} kinds of faults", high=KINDS_MAX)
    allowed = tuple(_may(entry, f"may.{place}", model, lasts_us, limits) for place, entry in enumerate(raw))
    for place, may in enumerate(allowed):
        if any(may.do == other.do for other in allowed[:place]):
            raise CommandError(f"may.{place}.do", "{kind} is listed twice", kind=may.do)
    return allowed


def _may(raw: object, where: str, model: str, lasts_us: int, limits: Limits) -> May:
    if not isinstance(raw, dict):
        raise CommandError(where, "must be an object")
    refuse_unknown(raw, ("do", "most", "from_us", "until_us", "args"), f"{where}.", where)
    do, known = raw.get("do"), faults_of(model)
    if not isinstance(do, str) or do not in known:
        raise CommandError(f"{where}.do", "must be one of {choices}", choices=Names(known))
    most = whole(f"{where}.most", raw.get("most"), 1, MOST_MAX)
    from_us = whole(f"{where}.from_us", raw.get("from_us", 0), 0, lasts_us - 1)
    until_us = raw.get("until_us", lasts_us - 1)
    if until_us == lasts_us:
        until_us -= 1
    until_us = whole(f"{where}.until_us", until_us, from_us, lasts_us - 1)
    args = raw.get("args", {})
    if not isinstance(args, dict):
        raise CommandError(f"{where}.args", "must be an object")
    kind = FAULTS[do]
    refuse_unknown(args, COMMANDS[do].ARGS, f"{where}.args.", f"{where}.args")
    may = May(do, most, from_us, until_us, {**kind.args, **args})
    try:
        Fault(0, do, "c1" if kind.about == CONSUMER else None, {**_DRAWN[kind.about], **may.args}).body(
            "all", 1, limits
        )
    except CommandError as error:
        error.field = f"{where}.{error.field}"
        raise
    return may


def faults_most(allowed: Sequence[May]) -> int:
    """How many faults a schedule has at most."""
    return sum(may.most for may in allowed)
