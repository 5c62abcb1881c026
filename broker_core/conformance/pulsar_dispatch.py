"""Pulsar's recorded answers against our dispatchers: who is active, whose turn it is, what a newcomer must
wait for. All cases are exact.

A case is a sequence of steps, each checked whole; the first difference is what a failed case shows.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from functools import partial
from typing import Any

from broker_core.conformance.pulsar import Check, checked
from broker_core.conformance.result import CaseResult
from broker_core.hashing.murmur3 import murmur3_32
from broker_core.pulsar.dispatchers.errors import SubscriptionRefused
from broker_core.pulsar.dispatchers.key_shared import KeySharedDispatcher, Sent
from broker_core.pulsar.dispatchers.receiver import Receiver
from broker_core.pulsar.dispatchers.shared import SharedTurns
from broker_core.pulsar.dispatchers.single_active import Change, SingleActiveDispatcher, Standby
from broker_core.pulsar.selectors import SELECTORS
from broker_core.pulsar.selectors.protocol import AssignRefused

Json = dict[str, Any]

ALGORITHMS = {"auto_split_hash_range": "auto_split", "consistent_hash_3.2.0": "consistent_hash_3_2_0",
              "consistent_hash_3.2.1": "consistent_hash", "sticky": "sticky"}  # fmt: skip
"""The files' word for a mode -> our selector."""


def run_failover(document: Json) -> Iterator[CaseResult]:
    """One case per sequence of joins and leaves on several topics at once, and one for the sequence of the
    Exclusive subscription."""
    for row in document.get("cases", []):
        yield checked(row["id"], partial(_failover, row))
    if document.get("exclusive"):
        yield checked("exclusive", partial(_exclusive, document["exclusive"]))


def run_shared_dispatch(document: Json) -> Iterator[CaseResult]:
    """One case per trace of the chooser."""
    for row in document.get("cases", []):
        yield checked(row["id"], partial(_shared_dispatch, row))


def run_key_shared_order(document: Json) -> Iterator[CaseResult]:
    """One case per trace of a Key_Shared subscription."""
    for row in document.get("cases", []):
        yield checked(row["id"], partial(_key_shared_order, row))


# -- Failover and Exclusive ----------------------------------------------------------------------------------


def _failover(row: Json) -> Iterator[Check]:
    for answer, uses_ring in (("active", False), ("active_current_with_flag", True)):
        if not any(answer in step for step in row["steps"]):
            continue
        topics = [
            SingleActiveDispatcher(topic["name"], topic["partition"], uses_ring=uses_ring)
            for topic in row["topics"]
        ]
        for index, step in enumerate(row["steps"]):
            at, refused = f"step {index}: ", None
            changes = [Change(switched=False, notified=())] * len(topics)
            try:
                changes = [_step(topic, step, row["names"]) for topic in topics]
            except (
                SubscriptionRefused
            ) as refusal:  # all topics have the same consumers, so it is the first that refuses
                refused = refusal.name
            if answer in step:
                yield at + answer, step[answer], [_id(topic.active) for topic in topics]
            if uses_ring:
                continue
            yield at + "error", step.get("error"), refused
            yield at + "switched", step["switched"], [change.switched for change in changes]
            yield (
                at + "notified",
                step["notified"],
                [[int(name) for name in change.notified] for change in changes],
            )
            for topic in topics:
                yield at + "order", step["order"], [int(name) for name in topic.order]


def _step(topic: SingleActiveDispatcher, step: Json, names: Json) -> Change:
    consumer = str(step["c"])
    if step["op"] == "join":
        return topic.add(Standby(consumer, names[consumer], step["priority"]))
    return topic.remove(consumer)


def _exclusive(rows: Sequence[Json]) -> Iterator[Check]:
    """The steps are given in words: "A joins", "B joins while A is alive", "A leaves", "a consumer that never
    joined leaves"."""
    topic = SingleActiveDispatcher("persistent://public/default/t", is_exclusive=True)
    ids: dict[str, str] = {}
    for row in rows:
        who, _, does = row["step"].partition(" ")
        name = who if len(who) == 1 else row["step"]
        consumer = ids.setdefault(name, str(len(ids) + 1))
        got: Json
        try:
            change = topic.remove(consumer) if "leaves" in does else topic.add(Standby(consumer, name))
            got = {
                "active": _id(topic.active),
                "order": [int(known) for known in topic.order],
                "switched": change.switched,
                "notified": [int(known) for known in change.notified],
            }
        except SubscriptionRefused as refusal:
            got = {"error": refusal.name, "message": refusal.message}
        yield row["step"], row["result"], got


def _id(consumer: str | None) -> int | None:
    return None if consumer is None else int(consumer)


# -- Shared --------------------------------------------------------------------------------------------------


def _shared_dispatch(row: Json) -> Iterator[Check]:
    turns = SharedTurns()
    for index, step in enumerate(row["steps"]):
        got: Json = {}
        match step["op"]:
            case "add":
                turns.add(Receiver(str(step["c"]), step["priority"], step["permits"]))
            case "remove":
                turns.remove(str(step["c"]))
            case "flow":
                turns.flow(str(step["c"]), step["n"])
                known = turns.find(str(step["c"]))
                got["permits_after"] = known.permits if known is not None else None
            case "next":
                chosen = turns.next()
                if chosen is not None:
                    chosen.permits -= min(step["take"], chosen.permits)
                got["chosen"] = None if chosen is None else int(chosen.consumer)
            case other:
                raise ValueError(f"unknown operation {other!r}")
        got |= {"list": [int(known.consumer) for known in turns.consumers], "index_after": turns.index}
        for name, value in got.items():
            if name in step:
                yield f"step {index}: {name}", step[name], value


# -- Key_Shared ----------------------------------------------------------------------------------------------


def _key_shared_order(row: Json) -> Iterator[Check]:
    out_of_order = row["allow_out_of_order"]
    selector = SELECTORS[ALGORITHMS[row["mode"]]]()
    dispatcher = KeySharedDispatcher(selector, allows_out_of_order=out_of_order, read_batch=row["read_batch"])
    for index, step in enumerate(row["steps"]):
        got: Json = {}
        try:
            sent = _key_shared_step(dispatcher, step)
        except AssignRefused:
            sent, got = [], {"error": "ConsumerAssignException"}
        delivered: dict[str, list[int]] = {}
        for consumer, position in sent:
            delivered.setdefault(consumer, []).append(position)
        cursor = dispatcher.cursor
        got |= {
            "delivered": delivered,
            "pending": {name: known for name, known in dispatcher.pending().items() if known},
            "mark_delete": cursor.mark_delete,
            "acked_ahead": sorted(cursor.ahead),
            "read_position": cursor.read_position,
            "replay": dispatcher.replay.first(len(dispatcher.replay)),
            "recently_joined": None
            if out_of_order
            else [[int(name), limit] for name, limit in dispatcher.recently_joined.items()],
        }
        expect = step["expect"]
        yield f"step {index}: error", expect.get("error"), got.get("error")
        for name, value in expect.items():
            yield f"step {index}: {name}", value, got.get(name)


def _key_shared_step(dispatcher: KeySharedDispatcher, step: Json) -> list[Sent]:
    match step["op"]:
        case "join":
            asked = step.get("ranges")
            ranges = None if asked is None else [(start, end) for start, end in asked]
            return dispatcher.connect(str(step["c"]), step["name"], step["permits"], ranges)
        case "leave":
            return dispatcher.disconnect(str(step["c"]))
        case "flow":
            return dispatcher.flow(str(step["c"]), step["n"])
        case "publish":
            return dispatcher.publish([murmur3_32(key) for key in step["keys"]])
        case "ack":
            return dispatcher.ack(step["positions"])
        case "nack":
            return dispatcher.redeliver(str(step["c"]), step["positions"])
        case other:
            raise ValueError(f"unknown operation {other!r}")
