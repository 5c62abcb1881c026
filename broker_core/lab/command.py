"""Commands: what a person may order. Checked here for shape, without a lab; whether the lab can do it is the lab's own answer.

A command is a plain dict, because it is also the journal's entry, the request's body and the share link's content:
`{"command_id", "kind", "rig": "all" | a rig's id, "consumer": name | None, "args": {...}}`, and once stored `"position"` (its place in the
journal, from 1) and `"at_us"` (the virtual time at which it took effect).
"""

import math
import re
from collections.abc import Collection, Mapping
from typing import Any

from broker_core.errors import CommandError
from broker_core.events import Json
from broker_core.lab.limits import DEFAULT_LIMITS, Limits

MEMBERSHIP_KINDS = ("join", "leave", "crash", "rejoin", "pause", "resume", "slow")
CLOCK_KINDS = ("play", "pause_lab", "step", "speed")
KINDS = (*MEMBERSHIP_KINDS, "set_algorithm", *CLOCK_KINDS)

CONSUMER_NAME = re.compile(r"[A-Za-z0-9][A-Za-z0-9._-]{0,31}")
DEMO_JOIN_ID = "demo:join"      # the consumer that the demo adds by itself when nobody presses anything: one a lab, as its id is one
COMMAND_ID = re.compile(r"[A-Za-z0-9][A-Za-z0-9._:-]{0,63}")
RIG_ID = re.compile(r"[a-z][a-z0-9_-]{0,31}")
NAME = re.compile(r"[A-Za-z_][A-Za-z0-9_]{0,63}")
SPEED_MILLI_MIN, SPEED_MILLI_MAX = 100, 20_000
SLOW_RATE_DEFAULT = 2

_FIELDS = {"command_id", "kind", "rig", "consumer", "args", "position", "at_us"}
_ARGS = {"join": {"count"}, "slow": {"rate"}, "set_algorithm": {"algorithm"}, "speed": {"speed"}}


def check_command(raw: object, limits: Limits = DEFAULT_LIMITS) -> Json:
    """Say whether `raw` has the shape of a command, and give it back complete: every key present, defaults filled in.

    Raises CommandError naming the field that is wrong.

    >>> check_command({"command_id": "x1", "kind": "join"})["args"]
    {'count': 1}
    """
    if not isinstance(raw, dict):
        raise CommandError("command", "must be an object")
    refuse_unknown(raw, _FIELDS, "", "command")
    command_id = raw.get("command_id")
    if not isinstance(command_id, str) or not COMMAND_ID.fullmatch(command_id):
        raise CommandError("command_id", "must be 1 to 64 letters, digits or . _ : -")
    kind = raw.get("kind")
    if kind not in KINDS:
        raise CommandError("kind", "must be one of {choices}", choices=", ".join(KINDS))
    rig = raw.get("rig", "all")
    if not isinstance(rig, str) or not RIG_ID.fullmatch(rig):
        raise CommandError("rig", 'must be "all" or the id of a rig')
    if kind in CLOCK_KINDS and rig != "all":
        raise CommandError("rig", "the clock belongs to the whole lab: leave this out")
    if kind == "set_algorithm" and rig == "all":
        raise CommandError("rig", "name the rig whose algorithm changes")
    command: Json = {
        "command_id": command_id,
        "kind": kind,
        "rig": rig,
        "consumer": _check_consumer(kind, raw.get("consumer")),
        "args": _check_args(kind, raw.get("args"), limits),
    }
    if kind == "join" and command["consumer"] is not None and command["args"]["count"] != 1:
        raise CommandError("args.count", "must be 1 when the consumer has a name")
    return command


def _check_consumer(kind: str, consumer: object) -> str | None:
    if kind not in MEMBERSHIP_KINDS:
        if consumer is not None:
            raise CommandError("consumer", "{kind} does not apply to one consumer: leave this out", kind=kind)
        return None
    if consumer is None:
        if kind == "join":
            return None
        raise CommandError("consumer", "name the consumer for {kind}", kind=kind)
    if not isinstance(consumer, str) or not CONSUMER_NAME.fullmatch(consumer):
        raise CommandError("consumer", "must be 1 to 32 letters, digits or . _ -, beginning with a letter or digit")
    return consumer


def _check_args(kind: str, args: object, limits: Limits) -> Json:
    if args is None:
        args = {}
    if not isinstance(args, dict):
        raise CommandError("args", "must be an object")
    refuse_unknown(args, _ARGS.get(kind, set()), "args.", "args")
    match kind:
        case "join":
            return {"count": whole("args.count", args.get("count", 1), 1, limits.consumers_max)}
        case "slow":
            return {"rate": whole("args.rate", args.get("rate", SLOW_RATE_DEFAULT), 1, limits.service_per_second_max)}
        case "set_algorithm":
            algorithm = args.get("algorithm")
            if not isinstance(algorithm, str) or not 1 <= len(algorithm) <= 64:
                raise CommandError("args.algorithm", "must be the id of an algorithm")
            return {"algorithm": algorithm}
        case "speed":
            return {"speed": _check_speed(args.get("speed"))}
    return {}


def refuse_unknown(raw: Mapping[Any, Any], known: Collection[str], prefix: str, whole_field: str) -> None:
    """Raise CommandError for the first key that is not `known`: at `prefix` + its name, or at `whole_field` if that is not a name."""
    for name in raw:
        if name not in known:
            if not isinstance(name, str) or not NAME.fullmatch(name):
                raise CommandError(whole_field, "has a field that is not a name")
            raise CommandError(f"{prefix}{name}", "is unknown; known: {names}", names=", ".join(sorted(known)))


def whole(field: str, value: object, low: int, high: int) -> int:
    """`value` as a whole number from `low` to `high`; CommandError at `field` otherwise. A bool is not a number here."""
    if isinstance(value, bool) or not isinstance(value, int) or not low <= value <= high:
        raise CommandError(field, "must be a whole number from {low} to {high}", low=low, high=high)
    return value


def _check_speed(speed: Any) -> float:
    if isinstance(speed, bool) or not isinstance(speed, int | float) or not math.isfinite(speed):
        raise CommandError("args.speed", "must be a number from {low} to {high}", low=0.1, high=20)
    if not SPEED_MILLI_MIN <= round(speed * 1000) <= SPEED_MILLI_MAX:
        raise CommandError("args.speed", "must be a number from {low} to {high}", low=0.1, high=20)
    return round(speed * 1000) / 1000
