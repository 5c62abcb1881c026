"""Conversations recorded from TubeMQ's master, played on ours: every code, metadata entry and group. Exact."""

from __future__ import annotations

from collections.abc import Iterator
from functools import partial
from typing import Any

from broker_core.conformance.outbox import Answers
from broker_core.conformance.result import CaseResult, case, passed
from broker_core.tubemq import requests as r
from broker_core.tubemq.configuration import ConfiguredBroker, Placement
from broker_core.tubemq.group import CLIENT_REBALANCE
from broker_core.tubemq.master import BALANCE, Master, MasterState
from broker_core.tubemq.metadata import UNDEFINED

Json = dict[str, Any]

CONNECTION = 1
THREW = -1
"""The recorded code of a call that threw."""


def run_master_register(document: Json) -> Iterator[CaseResult]:
    """Register, heartbeat, metadata query and close at one master, step by step."""
    for row in document.get("cases", []):
        yield case(row["id"], partial(_conversation, row))


def configured_brokers(brokers: Json) -> dict[int, ConfiguredBroker]:
    """A recorded cluster: id -> topics with stores and partitions, and whether it is online."""
    return {
        int(broker_id): ConfiguredBroker(
            {
                topic: Placement(placed["stores"], placed["partitions_per_store"], placed["accept_subscribe"])
                for topic, placed in broker["topics"].items()
            },
            broker["online"],
        )
        for broker_id, broker in brokers.items()
    }


def _conversation(row: Json) -> CaseResult:
    state = MasterState(configured_brokers(row["brokers"]))
    state.authorized = {topic: [] for topic in row["auth_required_topics"]}
    # The recorder sets this beside the master; only the note says so.
    state.is_standby = "standby master" in row["note"]
    node, answers = Master(state), Answers()
    for number, step in enumerate(row["steps"]):
        expected = {name: value for name, value in step["result"].items() if name != "msg"}
        expected["groups"] = step["groups_after"]
        got = _act(node, answers, step["do"])
        got["groups"] = {name: shown_group(state, name) for name in (*step["groups_after"], *state.groups)}
        if got != expected:
            return CaseResult(row["id"], "failed", {"step": number, "do": step["do"], **expected}, got)
    return passed(row["id"])


def _act(node: Master, answers: Answers, do: Json) -> Json:
    """One step; what is answered, in the form of a recorded result."""
    state = node.state
    match do["op"]:
        case "broker":
            state.brokers[do["id"]].is_online = do["online"]
            return {"code": 0}
        case "refresh_meta":
            node.wake(BALANCE, 0, answers)
            return {"code": 0}
        case "blacklist":
            listed: list[str] = do["topics"]
            state.black_lists = dict.fromkeys(state.groups, listed)
            return {"code": 0}
        case "close":
            node.receive(CONNECTION, r.CloseRequestC2M(do["consumer"], do["group"]), 0, answers)
            return {"code": r.SUCCESS}
    node.receive(CONNECTION, _request(do), 0, answers)
    answer = answers.take_one()
    if answer == r.STANDBY:
        return {"code": THREW}
    if isinstance(answer, r.GetPartMetaResponseM2C):
        return {"code": answer.code, "topic_meta": answer.topic_meta}
    return {"code": answer.code}


def _request(do: Json) -> r.Request:
    client, group = do["consumer"], do["group"]
    match do["op"]:
        case "heartbeat":
            return r.HeartRequestC2MV2(client, group)
        case "get_part_meta":
            return r.GetPartMetaRequestC2M(client, group, UNDEFINED)
        case "register_client_balance":
            return r.RegisterRequestC2MV2(
                client, group, do["source_count"], do["node_id"], do["topics"], do["conditions"]
            )
        case "register_server_balance":
            return r.RegisterRequestC2M(client, group, do["topics"], do["conditions"])
        case "register_bound":
            return r.RegisterRequestC2M(
                client,
                group,
                do["topics"],
                do["conditions"],
                True,
                do["session_key"],
                do["source_count"],
                do["select_big"] is not False,
                do["required_partition"] or "",
            )
    raise ValueError(f"unknown step {do['op']!r}")


def shown_group(state: MasterState, name: str) -> Json | None:
    """A group as the recorder shows it."""
    group = state.groups.get(name)
    if group is None:
        return None
    balances_itself = group.terms.kind == CLIENT_REBALANCE
    return {
        "type": group.terms.kind,
        "source_count": group.terms.source_count,
        "topics": group.terms.topics,
        "members": {client_id: member.node_id for client_id, member in group.members.items()},
        "client_balanced_list": balances_itself,
        "server_balanced_list": not balances_itself,
    }
