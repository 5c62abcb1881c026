"""Conversations recorded from TubeMQ's broker, played on ours: every code, offset, owner and batch. Exact.

The recorded run scripted its message store, so a case does too: `batch_messages` at most in a read, and a log that
`set_range` moves.
"""

from __future__ import annotations

from collections.abc import Iterator
from functools import partial
from typing import Any

from broker_core.conformance.outbox import Answers
from broker_core.conformance.result import CaseResult, case, compare
from broker_core.tubemq import requests as r
from broker_core.tubemq.broker import Broker, BrokerState, Partition
from broker_core.tubemq.message_log import HEADER_BYTES, MessageLog

Json = dict[str, Any]

SIZE = 100
"""Of each message's data."""
CONNECTION = 1


def run_broker_register(document: Json) -> Iterator[CaseResult]:
    """Register, read, commit, release, heartbeat and expiry at one broker, step by step."""
    for row in document.get("cases", []):
        yield case(row["id"], partial(_conversation, row))


def _conversation(row: Json) -> CaseResult:
    conversation = Conversation(row)
    for number, step in enumerate(row["steps"]):
        expected = _without_text(step["result"])
        got = conversation.act(step["do"])
        if got != expected or not conversation.stands_as(step["after"]):
            return CaseResult(
                row["id"],
                "failed",
                {"step": number, "do": step["do"], "result": expected, "after": step["after"]},
                {"result": got, "after": conversation.after()},
            )
    return compare(row["id"], None, None)


def _without_text(result: Json) -> Json:
    """Of a recorded result, what is part of the contract: texts are not."""
    return {name: value for name, value in result.items() if name != "msg"}


class Conversation:
    """One broker with the case's topics, logs and stored offsets."""

    def __init__(self, row: Json) -> None:
        self.broker_id = row["broker_id"]
        keys = [
            f"{self.broker_id}:{topic}:{number}"
            for topic, count in row["topics"].items()
            for number in range(count)
        ]
        state = BrokerState(self.broker_id, {}, row["batch_messages"] * (HEADER_BYTES + SIZE))
        state.partitions = {key: _log(row["min_offset"], row["max_offset"]) for key in keys}
        self.node = Broker(state)
        self.answers = Answers()
        for name, offset in row["stored_offsets"].items():
            group, _, partition = name.partition(":")
            self.node.place(group, f"{self.broker_id}:{partition}").offset = offset // r.ENTRY_BYTES

    def act(self, do: Json) -> Json:
        """One step; what is answered, in the form of a recorded result."""
        match do["op"]:
            case "timeout_check":
                for name in list(self.answers.deadlines):
                    self.node.wake(name, 0, self.answers)
                return {"code": 0}
            case "heartbeat":
                keys = [f"{self.broker_id}:{partition}" for partition in do["partitions"]]
                answer = self.ask(r.HeartBeatRequestC2B(do["consumer"], do["group"], keys))
                failures = [f"{code} {key.partition(':')[2]}" for code, key in answer.failures]
                return {"code": r.SUCCESS, "has_partition_failure": bool(failures), "failures": failures}
        key = f"{self.broker_id}:{do['topic']}:{do['partition']}"
        if do["op"] == "set_range":
            moved = _log(do["min"], do["max"])
            partition = self.node.state.partitions[key]
            partition.log, partition.end = moved.log, moved.end
            return {"code": 0}
        client, group = do["consumer"], do["group"]
        if do["op"] == "expire":  # no time passes here: the owner's 30 s are over now
            place = self.node.known_place(group, key)
            if place is not None and place.owner == client:
                place.deadline_us = 0
            return {"code": 0}
        return self.request(do, client, group, key)

    def request(self, do: Json, client: str, group: str, key: str) -> Json:
        request: r.Request
        match do["op"]:
            case "register":
                offset = -1 if do["offset"] is None else do["offset"]
                request = r.RegisterRequestC2B(
                    r.REGISTER, client, group, key, offset, read_status=do["read_status"]
                )
            case "unregister":
                request = r.RegisterRequestC2B(r.UNREGISTER, client, group, key, -1, do["last_consumed"])
            case "get":
                request = r.GetMessageRequestC2B(client, group, key, do["last_consumed"])
            case "commit":  # not sent: yes
                request = r.CommitOffsetRequestC2B(client, group, key, do["consumed"] is not False)
            case other:
                raise ValueError(f"unknown step {other!r}")
        answer = self.ask(request)
        result = {"code": answer.code}
        if do["op"] == "unregister":
            return result
        is_good = answer.code == r.SUCCESS
        result |= {
            "curr_offset": answer.curr_offset if is_good else -1,
            "max_offset": answer.max_offset if is_good else None,
        }
        if do["op"] == "get":
            result["messages"] = len(answer.messages)
        return result

    def ask(self, request: r.Request) -> Any:
        self.node.receive(CONNECTION, request, 0, self.answers)
        return self.answers.take_one()

    def after(self) -> Json:
        """What the broker knows now."""
        state = self.node.state
        places = {
            f"{group}:{key.partition(':')[2]}": place
            for key, partition in (state.partitions | state.absent).items()
            for group, place in partition.groups.items()
        }
        return {
            "owners": {name: place.owner for name, place in places.items() if place.owner},
            "offsets": {name: place.offset * r.ENTRY_BYTES for name, place in places.items()},
            "pending": {
                name: place.pending * r.ENTRY_BYTES for name, place in places.items() if place.pending
            },
        }

    def stands_as(self, expected: Json) -> bool:
        """Whether the broker knows this. The original shows only offsets that a request has made it load."""
        got = self.after()
        shown = {name: got["offsets"].get(name) for name in expected["offsets"]}
        return {**got, "offsets": shown} == expected


def _log(min_offset: int, max_offset: int) -> Partition:
    start, end = min_offset // r.ENTRY_BYTES, max_offset // r.ENTRY_BYTES
    count = end - start
    log = MessageLog(start, list(range(count)), [HEADER_BYTES + SIZE] * count)
    return Partition(end, log=log, keeps_read=True)
