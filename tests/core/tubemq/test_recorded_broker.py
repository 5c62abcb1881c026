"""Conversations recorded from TubeMQ's broker (InLong a6c7a6a670, BrokerServiceServer), played on ours: every
code, offset, owner and batch.

Recorded offsets are bytes of an index log that begins at `min_offset`, 28 an entry; ours count messages from
0. A conversation is played up to the first step that needs what our broker leaves out; `PLAYED_STEPS` says
how many that are, so that none can drop out unseen.
"""

from __future__ import annotations

import gzip
import json
from collections.abc import Container
from pathlib import Path
from typing import Any

import pytest

from broker_core.tubemq import requests as r
from broker_core.tubemq.broker import Broker, BrokerState, Partition
from broker_core.tubemq.message_log import HEADER_BYTES
from tests.core.playbook import Played, play

VECTORS = Path(__file__).parents[2] / "vectors" / "tubemq" / "broker_register.json.gz"
CASES: dict[str, dict[str, Any]] = {
    case["id"]: case for case in json.loads(gzip.decompress(VECTORS.read_bytes()))["cases"]
}
ENTRY_BYTES = 28
SIZE = 100
"""Of each message; the recorded reads were told how many messages to give."""
CONNECTION = 1

PLAYED_STEPS = {
    "offset-first": 1,
    "offset-stored": 1,
    "occupied": 7,
    "occupied-expired": 7,
    "timeout-job": 8,
    "consume": 9,
    "re-register": 7,
    "unregister": 8,
    "wrong-owner": 8,
    "log-moved": 1,
    "rand-0": 4,
    "rand-1": 7,
    "rand-3": 7,
    "rand-4": 7,
    "rand-5": 6,
    "rand-7": 3,
    "rand-8": 4,
    "rand-10": 2,
    "rand-11": 3,
    "rand-16": 7,
    "rand-17": 4,
    "rand-19": 1,
    "rand-22": 4,
    "rand-24": 5,
    "rand-25": 4,
    "rand-26": 1,
    "rand-27": 3,
    "rand-28": 1,
}
"""Conversation -> steps of it that are played; of those that are not named here, none."""


def beyond_the_model(case: dict[str, Any], step: dict[str, Any]) -> str:
    """Why our broker cannot play this step, empty when it can."""
    do = step["do"]
    if any(
        not case["min_offset"] <= offset <= case["max_offset"] for offset in case["stored_offsets"].values()
    ):
        return "stored offsets outside the log"
    if do["op"] == "set_range":
        return "a log whose start or end moves by itself"
    if do["op"] == "register":
        is_given = do["offset"] is not None and do["offset"] >= 0
        from_stored = do["read_status"] == 0 or (do["read_status"] == 1 and is_given)
        if not from_stored and step["result"]["code"] == r.SUCCESS:
            return "read positions other than from the stored offset"
        if do["offset"] is not None and 0 <= do["offset"] < case["min_offset"]:
            return "a log that does not begin at 0"
        if do["offset"] is not None and do["offset"] % ENTRY_BYTES:
            return "offsets in bytes"
    if do["op"] not in ("heartbeat", "expire", "timeout_check") and do["partition"] >= case["topics"].get(
        do["topic"], 0
    ):
        return "a partition that the broker does not have"
    return ""


def playable(case: dict[str, Any]) -> list[dict[str, Any]]:
    """The steps before the first that is beyond the model."""
    steps: list[dict[str, Any]] = []
    for step in case["steps"]:
        if beyond_the_model(case, step):
            break
        steps.append(step)
    return steps


class Conversation:
    def __init__(self, case: dict[str, Any]) -> None:
        self.broker_id, self.start = case["broker_id"], case["min_offset"]
        keys = [
            f"{self.broker_id}:{topic}:{number}"
            for topic, count in case["topics"].items()
            for number in range(count)
        ]
        self.node = Broker(
            BrokerState(
                self.broker_id,
                {key: Partition() for key in keys},
                case["batch_messages"] * (HEADER_BYTES + SIZE),
            )
        )
        self.out = Played("broker")
        for key in keys:
            play(
                self.node,
                self.out,
                CONNECTION,
                *[r.SendMessageRequestP2B(key, n, SIZE) for n in range(self.entries(case["max_offset"]))],
            )
        for name, offset in case["stored_offsets"].items():
            group, topic, number = name.split(":")
            self.place(group, f"{self.broker_id}:{topic}:{number}").offset = self.entries(offset)

    def entries(self, offset: int) -> int:
        return (offset - self.start) // ENTRY_BYTES

    def bytes(self, entries: int) -> int:
        return self.start + entries * ENTRY_BYTES

    def place(self, group: str, key: str) -> Any:
        return self.node.place(group, key)

    def act(self, do: dict[str, Any]) -> dict[str, Any]:
        """One step. Gives what our answer has of the recorded result."""
        if do["op"] == "timeout_check":
            for name in list(self.out.deadlines):
                self.node.wake(name, 0, self.out)
            return {}
        client, group = do["consumer"], do["group"]
        if do["op"] == "heartbeat":
            keys = [f"{self.broker_id}:{partition}" for partition in do["partitions"]]
            ((_, answer),) = play(self.node, self.out, CONNECTION, r.HeartBeatRequestC2B(client, group, keys))
            return {"failures": [f"{code} {key.partition(':')[2]}" for code, key in answer.failures]}
        key = f"{self.broker_id}:{do['topic']}:{do['partition']}"
        request: Any
        match do["op"]:
            case "expire":  # no time passes here: the owner's 30 s are over now
                self.place(group, key).deadline_us = 0
                return {}
            case "register":
                offset = -1 if do["offset"] is None or do["offset"] < 0 else self.entries(do["offset"])
                request = r.RegisterRequestC2B(r.REGISTER, client, group, key, offset)
            case "unregister":
                request = r.RegisterRequestC2B(
                    r.UNREGISTER, client, group, key, last_pack_consumed=do["last_consumed"]
                )
            case "get":
                if do["last_consumed"]:  # here a request of its own, as the real client's confirmConsume
                    play(self.node, self.out, CONNECTION, r.CommitOffsetRequestC2B(client, group, key, True))
                request = r.GetMessageRequestC2B(client, group, key)
            case "commit":
                request = r.CommitOffsetRequestC2B(
                    client, group, key, do["consumed"] is not False
                )  # not sent: yes
        ((_, answer),) = play(self.node, self.out, CONNECTION, request)
        result = {"code": answer.code}
        if answer.code == r.SUCCESS and do["op"] != "unregister":
            result |= {"curr_offset": self.bytes(answer.curr_offset)}
            if do["op"] == "get":
                result |= {"messages": len(answer.messages)}
        return result

    def after(self, loaded: Container[str]) -> dict[str, Any]:
        """What the broker knows now. loaded: the places whose offset the original had loaded, the only ones
        it shows."""
        places = {
            f"{group}:{key.partition(':')[2]}": place
            for key, partition in self.node.state.partitions.items()
            for group, place in partition.groups.items()
        }
        return {
            "owners": {name: place.owner for name, place in places.items() if place.owner},
            "offsets": {name: self.bytes(place.offset) for name, place in places.items() if name in loaded},
            "pending": {name: place.pending * ENTRY_BYTES for name, place in places.items() if place.pending},
        }


@pytest.mark.parametrize("name", PLAYED_STEPS)
def test_broker_answers_as_recorded(name: str) -> None:
    case = CASES[name]
    conversation = Conversation(case)
    for number, step in enumerate(playable(case)):
        got = conversation.act(step["do"])
        assert got == {field: step["result"][field] for field in got}, (number, step["do"])
        assert conversation.after(step["after"]["offsets"]) == step["after"], (number, step["do"])


def test_played_are_exactly_the_steps_that_need_nothing_left_out() -> None:
    assert {name: count for name, case in CASES.items() if (count := len(playable(case)))} == PLAYED_STEPS
