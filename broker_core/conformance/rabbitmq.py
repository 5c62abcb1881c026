"""RabbitMQ's recorded sessions against our broker node. A session passes when every channel's frames after every step,
and what is there at the end, are those of the server, by the rules of its README.

Free are only: confirms beside deliveries on a channel that does both, the grouping of the confirms of a bulk publish,
names that the server made, the time of a death, the order of names in tables that the server extended.
"""

from __future__ import annotations

import json
from collections.abc import Iterator
from functools import partial
from typing import Any

from broker_core.conformance.rabbitmq_session import Session
from broker_core.conformance.result import CaseResult, case, passed, skipped

Json = dict[str, Any]
NOT_FOLLOWED: dict[str, tuple[object, str]] = {
    "queue-arg-30": (2, "the server's own fault, which is not to be copied (facts, 120)"),
    "acks-d-28": (
        "final",
        "read in the moment before the requeue: a message is out on a channel that is closed (facts, 85)",
    ),
}
"""Where a recording is not followed: id -> the step, or the final reading, and why. Up to there it has to match."""
CONFIRMS, DELIVERIES = ("basic.ack", "basic.nack", "<confirms>"), ("basic.deliver",)


def run_sessions(document: Json) -> Iterator[CaseResult]:
    """One case per session or scenario."""
    for row in document.get("sessions") or document.get("scenarios", []):
        yield case(row["id"], partial(run_session, row))


def run_session(row: Json, clients: type[Session] = Session) -> CaseResult:
    """clients: who plays them."""
    session = clients(row.get("setup", {}), int("final" in row))
    for place, step in enumerate(row["steps"]):
        if "api" in step["op"]:
            got, expected = comparable(session.step(step)), comparable(step["recv"])
        else:
            got, expected = both(session.step(step), step)
        if got != expected:
            asked = {name: value for name, value in step.items() if name != "recv"}
            return differs(row["id"], place, {"step": place, **asked, "recv": expected}, got)
    if "final" in row:
        got, expected = comparable(sorted_final(session.final())), comparable(sorted_final(row["final"]))
        if got != expected:
            return differs(row["id"], "final", {"final": expected}, got)
    return passed(row["id"])


def differs(case_id: str, place: object, expected: Json, got: object) -> CaseResult:
    not_followed, reason = NOT_FOLLOWED.get(case_id, (None, ""))
    if place == not_followed:
        return skipped(case_id, reason)
    return CaseResult(case_id, "failed", expected, got)


def both(received: Json, step: Json) -> tuple[Json, Json]:
    """What came and what was recorded, in a form in which what is free is the same."""
    got: Json = {}
    expected: Json = {}
    for channel in {*received, *step.get("recv", {})}:
        frames, wanted = received.get(channel, []), step.get("recv", {}).get(channel, [])
        if any(frame["m"] == "<confirms>" for frame in wanted):
            frames = folded(frames)
        for all_of, side in ((frames, got), (wanted, expected)):
            side[channel] = [
                [shown(frame) for frame in all_of if frame["m"] not in CONFIRMS],
                [shown(frame) for frame in all_of if frame["m"] not in DELIVERIES],
            ]
    return got, expected


def folded(frames: list[Json]) -> list[Json]:
    """The confirms of a bulk publish as sets of tags."""
    confirms: dict[str, list[int]] = {"basic.ack": [], "basic.nack": []}
    for frame in frames:
        if frame["m"] in confirms:
            confirms[frame["m"]].append(frame["delivery_tag"])
    rest = [frame for frame in frames if frame["m"] not in confirms]
    return [*rest, {"m": "<confirms>", "acked": confirms["basic.ack"], "nacked": confirms["basic.nack"]}]


def shown(frame: Json) -> Json:
    frame = dict(frame)
    if "body_len" in frame:
        frame["body"] = frame.pop("body_char") * frame.pop("body_len")
    headers = frame.get("props", {}).get("headers")
    if headers is not None and "x-death" in headers:
        headers = headers | {"x-death": [without_time(death) for death in headers["x-death"]]}
        frame["props"] = frame["props"] | {"headers": {name: headers[name] for name in sorted(headers)}}
    return {name: comparable(value) for name, value in sorted(frame.items())}


def without_time(death: Any) -> Any:
    if not isinstance(death, dict) or "time" not in death:
        return death
    return {name: death[name] for name in sorted(death) if name != "time"}


def comparable(value: Any) -> Any:
    """True and 1 differ, and the order of names counts."""
    return (
        json.dumps(value, ensure_ascii=False)
        if isinstance(value, (dict, list))
        else (type(value).__name__, value)
    )


def sorted_final(final: Json) -> Json:
    return {
        name: {
            "queues": dict(sorted(each["queues"].items())),
            "exchanges": sorted(each["exchanges"]),
            "bindings": sorted(each["bindings"]),
        }
        for name, each in final.items()
    }
