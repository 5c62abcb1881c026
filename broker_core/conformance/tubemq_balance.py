"""Recorded cycles of TubeMQ's server-side balance, played on our master: consumers register, report with heartbeats
what they hold, and do what the answers ask of them. Exact.

The order of Java's hash maps and the random numbers of a run are in the file: clients are walked, partitions listed
and consumers drawn in that order.
"""

from __future__ import annotations

from collections.abc import Iterator
from functools import partial
from typing import Any

from broker_core.conformance.outbox import Answers
from broker_core.conformance.result import CaseResult, case, compare, passed
from broker_core.conformance.tubemq_master import configured_brokers
from broker_core.tubemq import requests as r
from broker_core.tubemq.configuration import ConfiguredBroker, Placement
from broker_core.tubemq.master import BALANCE, BALANCE_PERIOD_US, Master, MasterState
from broker_core.tubemq.server_balance import partition_order

Json = dict[str, Any]

CONNECTION, GROUP = 1, "g"


def run_server_start_assign(document: Json) -> Iterator[CaseResult]:
    """The first cycle after a master's start."""
    for row in document.get("cases", []):
        yield case(row["id"], partial(_start, row))


def run_server_cycles(document: Json) -> Iterator[CaseResult]:
    """Later cycles, with consumers and brokers that come and go."""
    for row in document.get("cases", []):
        yield case(row["id"], partial(_cycles, row))


def run_server_resource_rate(document: Json) -> Iterator[CaseResult]:
    """The check of how many clients a group needs at least."""
    for row in document.get("cases", []):
        yield case(row["id"], partial(_rates, row))


class Balanced:
    """A master and the consumers of one group. held: what each consumer holds, in order of connecting."""

    def __init__(self, brokers: dict[int, ConfiguredBroker], topics: list[str]) -> None:
        self.node, self.answers, self.topics = Master(MasterState(brokers)), Answers(), topics
        self.held: dict[str, list[str]] = {}
        self.now_us = 0

    def join(self, client: str) -> None:
        self.node.receive(CONNECTION, r.RegisterRequestC2M(client, GROUP, self.topics), 0, self.answers)
        self.answers.take_one()
        self.held[client] = []

    def leave(self, client: str) -> None:
        self.node.receive(CONNECTION, r.CloseRequestC2M(client, GROUP), 0, self.answers)
        del self.held[client]

    def change(self, what: str) -> None:
        verb, _, name = what.partition(" ")
        match verb:
            case "join":
                self.join(name)
            case "leave":
                self.leave(name)
            case "broker_down" | "broker_up":
                self.node.state.brokers[int(name)].is_online = verb == "broker_up"
            case other:
                raise ValueError(f"unknown change {other!r}")

    def walk_in(self, order: list[str]) -> None:
        """The master walks its clients in this order."""
        members = self.node.state.groups[GROUP].members
        self.node.state.groups[GROUP].members = {client: members[client] for client in order}

    def cycle(self, number: int) -> None:
        self.node.wake(BALANCE, number * BALANCE_PERIOD_US, self.answers)

    def beat(self, client: str, done: int = 0) -> r.ConsumerEvent | None:
        self.node.receive(
            CONNECTION, r.HeartRequestC2M(client, GROUP, self.held[client], done), 0, self.answers
        )
        event: r.ConsumerEvent | None = self.answers.take_one().event
        return event

    def settle(self) -> tuple[Json, Json]:
        """All consumers do what they are asked. Gives who has disconnected and connected what, by key."""
        changes: tuple[Json, Json] = ({}, {})
        done = dict.fromkeys(self.held, 0)
        is_open = True
        while is_open:
            is_open = any(done.values())
            for client in self.held:
                event, done[client] = self.beat(client, done[client]), 0
                if event is None:
                    continue
                is_open, done[client] = True, event.event_id
                is_gain = event.kind in (r.CONNECT, r.ONLY_CONNECT)
                changes[is_gain][client] = sorted(event.partitions)
                if is_gain:
                    self.held[client] += event.partitions
                else:
                    self.held[client] = [key for key in self.held[client] if key not in event.partitions]
        return changes

    def check(self) -> Json:
        check = self.node.state.groups[GROUP].check
        return {
            "max_broker_count": check.broker_count,
            "current_rate": check.rate,
            "min_required_clients": check.clients_min,
        }


def _start(row: Json) -> CaseResult:
    balanced = Balanced(configured_brokers(row["brokers"]), row["topics"])
    balanced.node.state.allowed_rates = {GROUP: row["allowed_broker_client_rate"]}
    for client in row["consumers_in_join_order"]:
        balanced.join(client)
    balanced.cycle(1)
    _, connected = balanced.settle()
    # Consumers without a partition may be listed or absent in a file; they say the same.
    expected = {client: keys for client, keys in row["expected"].items() if keys}
    check = {**balanced.check(), "balanced": bool(balanced.node.state.groups[GROUP].check.status)}
    return compare(row["id"], [expected, row["resource_check"]], [connected, check])


def _cycles(row: Json) -> CaseResult:
    balanced = Balanced(configured_brokers(row["brokers"]), row["topics"])
    for client in row["cycles"][0]["consumer_order"]:
        balanced.join(client)
    for number, cycle in enumerate(row["cycles"]):
        for change in cycle["before"]:
            balanced.change(change)
        balanced.walk_in(cycle["consumer_order"])
        for client, topics in cycle["held_order"].items():
            balanced.held[client] = [key for _, keys in topics for key in keys]
            balanced.beat(client)
        chosen = dict(zip(cycle["unassigned_order"] or [], cycle["random_choices"], strict=True))
        balanced.answers.draws = [chosen[key] for key in sorted(chosen, key=partition_order)]
        balanced.cycle(1 if cycle["rule"] == "start" else number + 2)
        disconnected, connected = balanced.settle()
        got = {
            "disconnect": disconnected,
            "connect": connected,
            "after": {client: sorted(keys) for client, keys in balanced.held.items()},
        }
        expected = {name: cycle[name] for name in got}
        if got != expected:
            return CaseResult(row["id"], "failed", {"cycle": number, **expected}, got)
    return passed(row["id"])


def _rates(row: Json) -> CaseResult:
    counts = {step["max_broker_count"] for step in row["steps"]}
    brokers = {broker_id: ConfiguredBroker({"t": Placement(1, 1)}) for broker_id in range(1, max(counts) + 1)}
    balanced = Balanced(brokers, ["t"])
    balanced.node.state.allowed_rates = {GROUP: row["allowed_broker_client_rate"]}
    got = []
    for number, step in enumerate(row["steps"]):
        for broker_id, broker in brokers.items():
            broker.is_online = broker_id <= step["max_broker_count"]
        balanced.change(step["do"])
        balanced.answers.draws = [0] * len(brokers)
        balanced.cycle(number + 2)
        disconnected, connected = balanced.settle()
        # In the recorded run nothing came of a plan.
        for client in balanced.held:
            balanced.held[client] = []
            balanced.beat(client)
        got.append(
            {
                "do": step["do"],
                "consumers": len(balanced.node.state.groups[GROUP].members),
                "status": balanced.node.state.groups[GROUP].check.status,
                "allocated_something": bool(disconnected or connected),
                **balanced.check(),
            }
        )
    return compare(row["id"], row["steps"], got)
