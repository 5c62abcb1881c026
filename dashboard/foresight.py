"""What the last view already tells about a command: so that an impossible one is refused at once, at its field.

Only what is certain: the same checks are the lab's own, and the worker's answer counts. A view may be a second old in what time changes by
itself, never in what commands change, which is all that is looked at here.
"""

from collections.abc import Mapping
from typing import Any

from django.utils.translation import gettext as _

Json = Mapping[str, Any]


def refusal_known(view: Json, command: Json, consumers_max: int) -> dict[str, str]:
    """The field and reason for which the lab of this view would refuse a checked command; {} when it may well take it."""
    rigs: Json = view["rigs"]
    if command["rig"] != "all" and command["rig"] not in rigs:
        return {"rig": _("there is no rig %(rig)s in this lab") % {"rig": command["rig"]}}
    targets = rigs if command["rig"] == "all" else {command["rig"]: rigs[command["rig"]]}
    kind, name = command["kind"], command["consumer"]
    if kind == "join":
        return _join_refusal(targets, name, command["args"]["count"], consumers_max)
    if name is not None and not any(name in rig["consumers"] for rig in targets.values()):
        return {"consumer": _("there is no consumer %(name)s") % {"name": name}}
    if kind == "set_algorithm":
        return _algorithm_refusal(targets[command["rig"]], command["args"]["algorithm"])
    if name is not None:
        states = [rig["consumers"][name] for rig in targets.values() if name in rig["consumers"]]
        return next((refusal for consumer in states if (refusal := _state_refusal(kind, name, consumer))), {})
    return {}


def _state_refusal(kind: str, name: str, consumer: Json) -> dict[str, str]:
    """Whether a consumer in this state can take the command; the lab asks the same of its own (Rig.check)."""
    state = consumer["state"]
    has_crashed = state in ("crashed", "gone")
    if kind == "rejoin" and not has_crashed:
        return {"consumer": _("{consumer} has not crashed").format(consumer=name)}
    if kind in ("crash", "pause", "resume", "slow") and has_crashed:
        return {"consumer": _("{consumer} has crashed; it can rejoin or leave").format(consumer=name)}
    if kind == "pause" and state == "paused":
        return {"consumer": _("{consumer} is already paused").format(consumer=name)}
    if kind == "resume" and state != "paused" and not consumer["slow"]:
        return {"consumer": _("{consumer} is neither paused nor slow").format(consumer=name)}
    return {}


def _join_refusal(rigs: Json, name: str | None, count: int, consumers_max: int) -> dict[str, str]:
    for rig_id, rig in rigs.items():
        if len(rig["consumers"]) + count > consumers_max:
            return {"args.count": _("at most %(max)d consumers; %(rig)s has %(now)d") % {
                "max": consumers_max, "rig": rig_id, "now": len(rig["consumers"])}}  # fmt: skip
        if name is not None and name in rig["consumers"]:
            return {"consumer": _("%(name)s is already in %(rig)s") % {"name": name, "rig": rig_id}}
    return {}


def _algorithm_refusal(rig: Json, algorithm: str) -> dict[str, str]:
    known = [entry["id"] for entry in rig["algorithms"]]
    if algorithm not in known:
        return {"args.algorithm": _("must be one of %(known)s") % {"known": ", ".join(known)}}
    if algorithm == rig["algorithm"]:
        return {"args.algorithm": _("%(algorithm)s is already running") % {"algorithm": algorithm}}
    return {}
