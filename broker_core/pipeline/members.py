"""The membership history of a study: who is there at the start, and who joins, leaves, crashes or comes back,
one change after another.

    {"kind": "given", "start": 4, "changes": [{"kind": "join", "consumer": "c5", "at": null}, ...]}
    {"kind": "rolling_restart", "consumers": 8, "down_s": 30}       each in turn restarts
    {"kind": "autoscale", "from": 2, "to": 64}                      one joins after another; from 64 to 2 the newest leave first
    {"kind": "crash_storm", "consumers": 16, "crashes": 8, "seed": 7}   so many crash, then come back in the same order
    {"kind": "lab", "start": 3, "rate": 36, "commands": [...]}      a lab's journal: its changes to all lanes, at their records

`at` is the index of the record before which the change happens; null in all changes: each step is measured
over the whole workload. Names are the lab's: c1, c2, ... at the start, and a joiner without a name gets the
next number that nobody has had. A change "slow" leaves everybody where they are: from then on the consumer takes
`rate` records a second.

A change "restart" is two steps: a process stops, and is back `down_s` seconds later, under its own name or, as
a pod that is replaced, under a new one (`names`: "own" or "new"). Without a consumer it goes through all who are
there, one after another: a deployment.
"""

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from types import MappingProxyType
from typing import NamedTuple

from broker_core.clock import SECOND_US
from broker_core.errors import CommandError, Names
from broker_core.events import Json
from broker_core.lab.fields import consumer_name, refuse_unknown, whole
from broker_core.lab.limits import DEFAULT_LIMITS
from broker_core.lab.older_names import renamed
from broker_core.rng import SeededRandom

CONSUMERS_MAX = DEFAULT_LIMITS.consumers_max
CHANGES_MAX = 1_024
RECORD_MAX = 2**53
SEED_MAX = 2**63 - 1
MEMBERSHIP_KINDS = ("join", "leave", "crash", "rejoin")
SLOW, RESTART = "slow", "restart"
CHANGE_KINDS = (*MEMBERSHIP_KINDS, SLOW, RESTART)
START, STOP, BACK = "start", "stop", "back"
"""Kinds of steps beside those of changes: the start, and the two of a restart."""
OWN, NEW = "own", "new"
NAMES = (OWN, NEW)
DOWN_S, ROLLING_DOWN_S, DOWN_S_MAX = 10, 30, 3_600
STEPS_MAX = 2 * CHANGES_MAX
_FIELDS_OF = MappingProxyType({SLOW: ("rate",), RESTART: ("down_s", "names")})


@dataclass(frozen=True, slots=True)
class Step:
    """One state of the membership. step: from 0, which is the start. members: who is there after the change,
    in join order; one who crashed is not among them (its broker has noticed), one that came back is at the
    end. at: as in the history; None at the start. rate: of a consumer that slows, else None. down_s: of one that
    stops to come back, after how many seconds. change: the place of its change in the history; None at the start."""

    step: int
    kind: str
    consumer: str | None
    label: str
    members: tuple[str, ...]
    at: int | None
    rate: int | None = None
    down_s: int | None = None
    change: int | None = None

    def to_json(self) -> Json:
        """The step as a result shows it."""
        return {
            "step": self.step,
            "kind": self.kind,
            "consumer": self.consumer,
            "label": self.label,
            "members": list(self.members),
            "at": self.at,
            "change": self.change,
            **({} if self.rate is None else {"rate": self.rate}),
            **({} if self.down_s is None else {"down_s": self.down_s}),
        }


def history_check(raw: object) -> Json:
    """The history complete, as it was given otherwise. Raises CommandError at the field of `history` that is
    wrong.

    >>> history_check({"kind": "autoscale", "to": 3})
    {'kind': 'autoscale', 'from': 2, 'to': 3}
    """
    if not isinstance(raw, dict):
        raise CommandError("history", "must be an object")
    kind = raw.get("kind", "given")
    if not isinstance(kind, str) or kind not in _KINDS:
        raise CommandError("history.kind", "must be one of {choices}", choices=Names(_KINDS))
    known, check, _ = _KINDS[kind]
    refuse_unknown(raw, {"kind", *known}, "history.", "history")
    checked: Json = {"kind": kind, **check(raw)}
    history_steps(checked)  # who may do what is known only by going through it
    return checked


def history_steps(history: Json) -> list[Step]:
    """The steps of a history that `history_check` gave: the start and one for each change, two for a restart.

    >>> [step.label for step in history_steps({"kind": "rolling_restart", "consumers": 2})]
    ['2', '−c1', '+c1', '−c2', '+c2']
    """
    start, changes = _KINDS[history["kind"]][2](history)
    group = _Group([f"c{number}" for number in range(1, start + 1)])
    steps = [Step(0, START, None, str(start), tuple(group.members), None)]
    for place, change in enumerate(changes):
        where = f"history.changes.{place}"
        for part in group.parts(change):
            if len(steps) > STEPS_MAX:
                raise CommandError(where, "makes more than {high} steps", high=STEPS_MAX)
            name = group.change(part.kind, part.consumer, where)
            label = _LABELS[part.kind].format(name, part.rate)
            there = tuple(group.members)
            steps.append(
                Step(len(steps), part.kind, name, label, there, part.at, part.rate, part.down_s, place)
            )
    return steps


_LABELS = {
    "join": "+{}",
    "leave": "−{}",
    "crash": "{}×",
    "rejoin": "+{}",
    SLOW: "{}~{}",
    STOP: "−{}",
    BACK: "+{}",
}


class _Change(NamedTuple):
    kind: str
    consumer: str | None
    at: int | None
    rate: int | None = None
    down_s: int | None = None
    names: str = OWN


@dataclass(slots=True)
class _Group:
    """Who is there, who is down and may come back, and every name that anybody has had."""

    members: list[str]
    down: list[str] = field(default_factory=list)
    names: set[str] = field(init=False)
    next_number: int = 1

    def __post_init__(self) -> None:
        self.names = set(self.members)

    def parts(self, change: _Change) -> Iterator[_Change]:
        """The steps of a change, one for each, but two for each restart; who restarts where nobody is named is
        known when it begins."""
        if change.kind != RESTART:
            yield change
            return
        named = [change.consumer] if change.consumer is not None else list(self.members)
        for name in named:
            yield _Change(STOP, name, None, down_s=change.down_s)
            yield _Change(BACK, name if change.names == OWN else None, None)

    def change(self, kind: str, name: str | None, where: str) -> str:
        """Carry it out. Returns whom it is about. Raises CommandError at `where`.consumer where that cannot
        be."""
        field_name = f"{where}.consumer"
        if name is None:
            if kind not in ("join", BACK):
                raise CommandError(field_name, "name the consumer for {kind}", kind=kind)
            name = self.free_name()
        if kind == "join" and (name in self.members or name in self.down):
            raise CommandError(field_name, "{consumer} already exists", consumer=name)
        if kind == "crash" and name in self.down:
            raise CommandError(field_name, "{consumer} has crashed; it can rejoin or leave", consumer=name)
        if kind == "rejoin" and name not in self.down:
            raise CommandError(field_name, "{consumer} has not crashed", consumer=name)
        if kind in (SLOW, STOP) and name in self.down:
            raise CommandError(field_name, "{consumer} has crashed; it can rejoin or leave", consumer=name)
        if kind in ("leave", "crash", SLOW, STOP) and name not in self.members and name not in self.down:
            raise CommandError(field_name, "there is no consumer {consumer}", consumer=name)
        if kind in ("join", "rejoin", BACK):
            if len(self.members) >= CONSUMERS_MAX:
                raise CommandError(where, "at most {limit} consumers", limit=CONSUMERS_MAX)
            self.down = [other for other in self.down if other != name]
            self.members.append(name)
            self.names.add(name)
        elif kind != SLOW:
            self.members = [other for other in self.members if other != name]
            self.down = [other for other in self.down if other != name]
            if kind == "crash":
                self.down.append(name)
        return name

    def free_name(self) -> str:
        """The next of c1, c2, ... that nobody has had, as the lab names a joiner."""
        while f"c{self.next_number}" in self.names:
            self.next_number += 1
        return f"c{self.next_number}"


# -- given: as a person wrote it -----------------------------------------------------------------------------


def _check_given(raw: Json) -> Json:
    start = whole("history.start", raw.get("start", 4), 1, CONSUMERS_MAX)
    changes = raw.get("changes", [])
    if not isinstance(changes, list) or len(changes) > CHANGES_MAX:
        raise CommandError("history.changes", "must be a list of at most {high} changes", high=CHANGES_MAX)
    checked: list[Json] = []
    for place, change in enumerate(changes):
        where = f"history.changes.{place}"
        if not isinstance(change, dict):
            raise CommandError(where, "must be an object")
        kind, consumer, at = change.get("kind"), change.get("consumer"), change.get("at")
        if not isinstance(kind, str) or kind not in CHANGE_KINDS:
            raise CommandError(f"{where}.kind", "must be one of {choices}", choices=Names(CHANGE_KINDS))
        refuse_unknown(change, {"kind", "consumer", "at", *_FIELDS_OF.get(kind, ())}, f"{where}.", where)
        if consumer is not None:
            consumer_name(consumer, f"{where}.consumer")
        if at == "":
            raise CommandError(f"{where}.at", "say before which record it happens")
        if at is not None:
            whole(f"{where}.at", at, 0, RECORD_MAX)
            if kind == RESTART:
                raise CommandError(
                    f"{where}.at", "a restart takes seconds, not records: let the consumer leave and join"
                )
        if checked and (at is None) != (checked[0]["at"] is None):
            raise CommandError(f"{where}.at", "give a record for all changes, or for none")
        if checked and at is not None and at < checked[-1]["at"]:
            raise CommandError(f"{where}.at", "must not happen before the change above it")
        checked.append({"kind": kind, "consumer": consumer, "at": at, **_more(kind, change, where)})
    return {"start": start, "changes": checked}


def _more(kind: str, change: Json, where: str) -> Json:
    """What only this kind of change has: of a consumer that slows, how many records a second it takes; of a
    restart, how long it takes and under which name."""
    if kind == SLOW:
        high = DEFAULT_LIMITS.service_per_second_max
        return {"rate": whole(f"{where}.rate", change.get("rate"), 1, high)}
    return _restart(change, f"{where}.", DOWN_S) if kind == RESTART else {}


def _restart(raw: Json, where: str, down_s: int) -> Json:
    names = raw.get("names", OWN)
    if not isinstance(names, str) or names not in NAMES:
        raise CommandError(f"{where}names", "must be one of {choices}", choices=Names(NAMES))
    return {"down_s": whole(f"{where}down_s", raw.get("down_s", down_s), 1, DOWN_S_MAX), "names": names}


def _given(history: Json) -> tuple[int, list[_Change]]:
    return history["start"], [
        _Change(
            change["kind"],
            change["consumer"],
            change["at"],
            change.get("rate"),
            change.get("down_s"),
            change.get("names", OWN),
        )
        for change in history["changes"]
    ]


# -- made up -------------------------------------------------------------------------------------------------


def _check_rolling(raw: Json) -> Json:
    consumers = whole("history.consumers", raw.get("consumers", 8), 1, CONSUMERS_MAX)
    return {"consumers": consumers, **_restart(raw, "history.", ROLLING_DOWN_S)}


def _rolling(history: Json) -> tuple[int, list[_Change]]:
    return history["consumers"], [
        _Change(RESTART, None, None, down_s=history["down_s"], names=history["names"])
    ]


def _check_autoscale(raw: Json) -> Json:
    return {
        "from": whole("history.from", raw.get("from", 2), 1, CONSUMERS_MAX),
        "to": whole("history.to", raw.get("to", 64), 1, CONSUMERS_MAX),
    }


def _autoscale(history: Json) -> tuple[int, list[_Change]]:
    start, stop = history["from"], history["to"]
    if stop >= start:
        return start, [_Change("join", f"c{number}", None) for number in range(start + 1, stop + 1)]
    return start, [_Change("leave", f"c{number}", None) for number in range(start, stop, -1)]


def _check_storm(raw: Json) -> Json:
    consumers = whole("history.consumers", raw.get("consumers", 16), 2, CONSUMERS_MAX)
    return {
        "consumers": consumers,
        # One must be left, or there is no share to measure.
        "crashes": whole("history.crashes", raw.get("crashes", max(1, consumers // 2)), 1, consumers - 1),
        "seed": whole("history.seed", raw.get("seed", 7), 0, SEED_MAX),
    }


def _storm(history: Json) -> tuple[int, list[_Change]]:
    names = [f"c{number}" for number in range(1, history["consumers"] + 1)]
    random = SeededRandom(history["seed"])
    struck = [names.pop(random.below("study.crash", len(names))) for _ in range(history["crashes"])]
    return history["consumers"], [
        _Change(kind, name, None) for kind in ("crash", "rejoin") for name in struck
    ]


# -- from a lab ----------------------------------------------------------------------------------------------


def _check_lab(raw: Json) -> Json:
    start = whole("history.start", raw.get("start", 3), 1, CONSUMERS_MAX)
    rate = whole("history.rate", raw.get("rate", 36), 1, DEFAULT_LIMITS.records_per_second_max)
    commands = raw.get("commands", [])
    if not isinstance(commands, list):
        raise CommandError("history.commands", "must be a list of a lab's commands")
    kept: list[Json] = []
    for place, command in enumerate(commands):
        where = f"history.commands.{place}"
        if not isinstance(command, dict):
            raise CommandError(where, "must be an object")
        command = renamed(command, "lane", f"{where}.")
        if command.get("kind") not in MEMBERSHIP_KINDS or command.get("lane", "all") != "all":
            continue
        consumer, args = command.get("consumer"), command.get("args") or {}
        if consumer is not None:
            consumer_name(consumer, f"{where}.consumer")
        at_us = whole(f"{where}.at_us", command.get("at_us"), kept[-1]["at_us"] if kept else 0, RECORD_MAX)
        count = whole(
            f"{where}.args.count", args.get("count", 1) if isinstance(args, dict) else None, 1, CONSUMERS_MAX
        )
        kept.append(
            {
                "kind": command["kind"],
                "lane": "all",
                "consumer": consumer,
                "args": {"count": count},
                "at_us": at_us,
            }
        )
    if sum(command["args"]["count"] for command in kept) > CHANGES_MAX:
        raise CommandError("history.commands", "must be a list of at most {high} changes", high=CHANGES_MAX)
    return {"start": start, "rate": rate, "commands": kept}


def _lab(history: Json) -> tuple[int, list[_Change]]:
    changes: list[_Change] = []
    for command in history["commands"]:
        # As the lab counts arrivals: EvenArrivals.count_until.
        at = ((command["at_us"] + 1) * history["rate"] - 1) // SECOND_US
        changes += [_Change(command["kind"], command["consumer"], max(0, at))] * command["args"]["count"]
    return history["start"], changes


_Kind = tuple[tuple[str, ...], Callable[[Json], Json], Callable[[Json], tuple[int, list[_Change]]]]
_KINDS: Mapping[str, _Kind] = MappingProxyType({
    "given": (("start", "changes"), _check_given, _given),
    "rolling_restart": (("consumers", "down_s", "names"), _check_rolling, _rolling),
    "autoscale": (("from", "to"), _check_autoscale, _autoscale),
    "crash_storm": (("consumers", "crashes", "seed"), _check_storm, _storm),
    "lab": (("start", "rate", "commands"), _check_lab, _lab),
})  # fmt: skip
HISTORY_KINDS: tuple[str, ...] = tuple(_KINDS)
"""What `history.kind` may be."""


def has_records(steps: Sequence[Step]) -> bool:
    """Whether the changes happen at records; otherwise each step is measured over the whole workload."""
    return len(steps) > 1 and steps[1].at is not None
