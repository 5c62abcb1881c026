"""A program around a ClientBalanceConsumer that is played without a world."""

from __future__ import annotations

from typing import Any

from broker_core.sim.node import PERSON
from broker_core.sim.program import Program
from broker_core.tubemq import requests as r
from broker_core.tubemq.client.balance_program import BalanceProgram
from broker_core.tubemq.client.consumer_object import FIRST, ConsumerConfig, ConsumerObject
from broker_core.tubemq.client.program_state import ProgramState, Start
from tests.core.playbook import Counted, Played, play, wake

MASTER, ONE, TWO = 1, 2, 3
"""Its connections, in the order in which it opens them."""
META = ["t#1:1:2:1"]
OWN, OTHER = "1:t:0", "1:t:1"
FOUR, KEYS = ["t#1:1:2:1,2:1:2:1"], ["1:t:0", "1:t:1", "2:t:0", "2:t:1"]
ASSIGNER, READER = "call:assigner", "call:reader"
"""Deadlines of calls that wait."""


def program_state(
    client_id: str = "a", source_count: int = 1, node_id: int = 0, service_us: int = 100
) -> ProgramState:
    client = ConsumerObject(client_id, "g", ConsumerConfig(FIRST))
    return ProgramState(client, Program(service_us), ["t"], source_count, node_id)


def booted(source_count: int = 1, node_id: int = 0) -> tuple[BalanceProgram, Played, Counted]:
    """It has asked the master to take it."""
    counted = Counted()
    node, out = BalanceProgram(program_state("a", source_count, node_id), counted), Played("a")
    assert play(node, out, PERSON, Start(["master"], {1: "b1", 2: "b2"}, 500)) == []
    ((connection, request),) = wake(node, out, "boot")
    assert connection == MASTER and type(request) is r.RegisterRequestC2MV2
    return node, out, counted


def queried(meta: list[str] = META, source_count: int = 1) -> tuple[BalanceProgram, Played, Counted]:
    """The master has taken it, and named its partitions."""
    node, out, counted = booted(source_count)
    assert play(node, out, MASTER, r.RegisterResponseM2C(200)) == [(MASTER, query(-2))]
    play(node, out, MASTER, r.GetPartMetaResponseM2C(200, 1, meta, [1, 2]))
    return node, out, counted


def started(meta: list[str] = META) -> tuple[BalanceProgram, Played, Counted]:
    """It holds all partitions of its topic, and has read them to the end; they rest."""
    node, out, counted = queried(meta)
    state = node.state.consumer
    for key in state.metadata.status:
        play(node, out, ONE if key[0] == "1" else TWO, r.RegisterResponseB2C(200, r.REGISTER, key, 0, 0))
    while (call := state.calls["reader"]).connection >= 0:
        play(node, out, call.connection, r.GetMessageResponseB2C(404, call.key, [], 0, 0))
    return node, out, counted


def asking(meta: list[str] = META) -> tuple[BalanceProgram, Played, Counted]:
    """It has asked for a batch of its first partition; the others are in turn behind it."""
    node, out, counted = started(meta)
    node.wake(READER, 400_000, out)
    out.take()
    return node, out, counted


def reading(*numbers: int) -> tuple[BalanceProgram, Played, Counted]:
    """It works on a batch of its first partition."""
    node, out, counted = asking()
    play(node, out, ONE, batch(OWN, *numbers))
    return node, out, counted


def query(meta_id: int) -> r.GetPartMetaRequestC2M:
    return r.GetPartMetaRequestC2M("a", "g", meta_id)


def ask(key: str) -> r.GetMessageRequestC2B:
    return r.GetMessageRequestC2B("a", "g", key)


def confirm(key: str) -> r.CommitOffsetRequestC2B:
    return r.CommitOffsetRequestC2B("a", "g", key, True)


def confirmed(key: str, code: int = 200) -> r.CommitOffsetResponseB2C:
    return r.CommitOffsetResponseB2C(code, key, 28, 280)


def batch(key: str, *numbers: int) -> r.GetMessageResponseB2C:
    return r.GetMessageResponseB2C(200, key, list(numbers), 0, 9)


def refusal(code: int, key: str) -> r.GetMessageResponseB2C:
    return r.GetMessageResponseB2C(code, key, [], 0, 0)


def connect(key: str, offset: int = -1) -> r.RegisterRequestC2B:
    return r.RegisterRequestC2B(r.REGISTER, "a", "g", key, offset)


def release(key: str) -> r.RegisterRequestC2B:
    return r.RegisterRequestC2B(r.UNREGISTER, "a", "g", key)


def answered(key: str, code: int = 200, op_type: int = r.REGISTER) -> r.RegisterResponseB2C:
    return r.RegisterResponseB2C(code, op_type, key, 0, 280)


def calls(sent: list[Any]) -> list[Any]:
    """What was sent but for reads."""
    return [message for _, message in sent if type(message) is not r.GetMessageRequestC2B]
