"""A membership history in a few words: a line an order, each with its second.

    10 join             a consumer joins; `10 join 3`: three
    25 crash c2         it falls silent         leave, rejoin, pause, resume: the same form
    40 slow c1 2        it takes 2 records a second
    45 rate 60          60 records a second arrive
    50 broker_crash 2   a broker of each Kafka lane; broker_back: it comes back

Lines end with a new line or a semicolon. What it gives is a lab's own script, checked as anybody's orders are.
"""

import re
from collections.abc import Sequence
from dataclasses import dataclass

from broker_core.clock import SECOND_US
from broker_core.errors import CommandError, Names
from broker_core.events import Json
from broker_core.lab.commands import check_command
from broker_core.lab.limits import DEFAULT_LIMITS, Limits

OWN_IDS = "lab:compare:"
ORDERS_MAX, SECONDS_MAX = 40, 1800
TEXT_MAX = 4_000
_NAMED = ("leave", "crash", "rejoin", "pause", "resume", "slow")
RATE = "rate"
_BROKERS = {"broker_crash": "cluster_crash", "broker_back": "cluster_come_back"}
KINDS = ("join", *_NAMED, RATE, *_BROKERS)
_COMMANDS = {**_BROKERS, RATE: "record_rate"}
_TIME = re.compile(r"[0-9]{1,4}(\.[0-9]{1,3})?")


@dataclass(frozen=True, slots=True)
class Order:
    """One line of it."""

    at_us: int
    kind: str
    who: str = ""
    number: int | None = None

    def to_text(self) -> str:
        seconds = f"{self.at_us / SECOND_US:g}"
        number = "" if self.number is None else str(self.number)
        return " ".join(part for part in (seconds, self.kind, self.who, number) if part)

    def body(self, place: int, limits: Limits) -> Json:
        """As a journal holds it. place: from 1."""
        args: Json = {}
        if self.kind in _BROKERS:
            args = {"broker": self.number}
        elif self.number is not None:
            args = {"rate" if self.kind in ("slow", RATE) else "count": self.number}
        raw = {
            "command_id": f"{OWN_IDS}{place}",
            "kind": _COMMANDS.get(self.kind, self.kind),
            "lane": "all",
            **({"consumer": self.who} if self.who else {}),
            "args": args,
        }
        return check_command(raw, limits)


def read_history(
    text: str, consumers: int, models: Sequence[str], limits: Limits = DEFAULT_LIMITS
) -> list[Order]:
    """The orders of a text, by time. consumers: how many are there at the start. models: of the lanes.

    Raises CommandError at `history`, which names the line: no time, no order, what no lab would take, nobody of that name
    by then, an order that not every lane understands.
    """
    if len(text) > TEXT_MAX:
        raise CommandError("history", "is longer than {high} characters", high=TEXT_MAX)
    orders = [
        _order(place, line.split(), models, limits)
        for place, line in enumerate(re.split(r"[\n;]", text), start=1)
        if line.strip()
    ]
    if len(orders) > ORDERS_MAX:
        raise CommandError("history", "has more than {high} orders", high=ORDERS_MAX)
    orders.sort(key=lambda order: order.at_us)
    _check_names(orders, consumers)
    return orders


def _order(place: int, words: list[str], models: Sequence[str], limits: Limits) -> Order:
    time, kind, rest = words[0], words[1] if len(words) > 1 else "", words[2:]
    if not _TIME.fullmatch(time) or float(time) > SECONDS_MAX:
        raise CommandError(
            "history",
            "line {line}: begins with a time in seconds, 0 to {high}, as in: 25 crash c2",
            line=place,
            high=SECONDS_MAX,
        )
    if kind not in KINDS:
        raise CommandError(
            "history", "line {line}: after the time comes one of {choices}", line=place, choices=Names(KINDS)
        )
    at_us = int(time.partition(".")[0]) * SECOND_US + int(f"{time.partition('.')[2]:0<6}"[:6])
    numbers = [int(word) for word in rest if word.isascii() and word.isdigit() and len(word) <= 6]
    names = [word for word in rest if not (word.isascii() and word.isdigit())]
    if kind in _BROKERS and set(models) != {"kafka"}:
        raise CommandError(
            "history",
            "line {line}: {kind} is for comparisons of Kafka alone: other models have no such broker",
            line=place,
            kind=kind,
        )
    wanted = (
        int(kind in _NAMED),
        {"join": (0, 1), "slow": (0, 1)}.get(kind, (1, 1) if kind in _COMMANDS else (0, 0)),
    )
    if len(names) != wanted[0] or not wanted[1][0] <= len(numbers) <= wanted[1][1] or len(rest) > 2:
        example = {"join": "10 join 2", "slow": "40 slow c1 2", RATE: "45 rate 60"}.get(
            kind, f"25 {kind} {2 if kind in _BROKERS else 'c2'}"
        )
        raise CommandError(
            "history", "line {line}: is to be written as in: {example}", line=place, example=example
        )
    order = Order(at_us, kind, names[0] if names else "", numbers[0] if numbers else None)
    try:
        order.body(place, limits)
    except CommandError as error:
        raise CommandError("history", "line {line}: {why}", line=place, why=error) from error
    return order


def _check_names(orders: Sequence[Order], consumers: int) -> None:
    """Newcomers have the next free names, as in any lab."""
    known = consumers
    for order in orders:
        if order.kind == "join":
            known += order.number or 1
        elif order.who and order.who not in (names := [f"c{number}" for number in range(1, known + 1)]):
            values = {"name": order.who, "time": f"{order.at_us / SECOND_US:g}", "known": Names(names[:12])}
            raise CommandError(
                "history", "nobody is called {name} at {time} s: by then there are {known}", **values
            )


def script_of(orders: Sequence[Order], lasts_us: int, limits: Limits = DEFAULT_LIMITS) -> list[Json]:
    """A lab's script [{at_us, body}]: it hurries through its course, and is paused at the end, to be looked at.

    Raises CommandError at `history` for an order after the end.
    """
    hurry = {"command_id": f"{OWN_IDS}speed", "kind": "speed", "args": {"speed": 20}}
    end = {"command_id": f"{OWN_IDS}end", "kind": "pause_lab"}
    script = [{"at_us": 0, "body": check_command(hurry)}]
    for place, order in enumerate(orders, start=1):
        if order.at_us >= lasts_us:
            values = {"order": order.to_text(), "seconds": lasts_us // SECOND_US}
            raise CommandError("history", "{order}: comes after the end, at {seconds} s", **values)
        # Each at its own microsecond, so that those of one second keep their order.
        script.append({"at_us": order.at_us + place, "body": order.body(place, limits)})
    return [*script, {"at_us": lasts_us, "body": check_command(end)}]


def history_text(script: Sequence[Json]) -> str:
    """What `read_history` reads, of a script of `script_of`."""
    kinds = {kind: name for name, kind in _COMMANDS.items()}
    lines = []
    for place, entry in enumerate(script[1:-1], start=1):
        body, args = entry["body"], entry["body"]["args"]
        number = args.get("broker", args.get("rate"))
        if body["kind"] == "join":
            number = args["count"] if args["count"] > 1 else None
        order = Order(
            entry["at_us"] - place, kinds.get(body["kind"], body["kind"]), body["consumer"] or "", number
        )
        lines.append(order.to_text())
    return "\n".join(lines)
