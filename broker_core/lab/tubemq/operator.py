"""Who runs a TubeMQ group in the lab: the lane's own, no part of TubeMQ.

    TakeOff   a dead client goes off the books: what it would have sent itself at the end of shutdown()
    Deal      the application's own coordinator shares the partitions out, where clients do not by the modulo

Since the master refuses a client whose source count is not the group's, the operator keeps the counts right; and where
the count is not used, it says which client takes what.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

import msgspec

from broker_core.kafka.assignors.custom import AssignorFailed, assign_by_own_rule
from broker_core.kafka.assignors.protocol import Subscription
from broker_core.sim.node import PERSON, Outbox
from broker_core.tubemq import requests as r
from broker_core.tubemq.assigners import ASSIGNERS
from broker_core.tubemq.partition_key import broker_of, parse_partition_key

DEAL = "deal"
OWN = "own"
"""The rule that is the user's own text."""


class Connect(msgspec.Struct, frozen=True, tag="lab.tubemq.operator.connect", array_like=True):
    """A person starts the operator. brokers: node name of each broker id."""

    brokers: dict[int, str]


class TakeOff(msgspec.Struct, frozen=True, tag="lab.tubemq.operator.take_off", array_like=True):
    """A person has made sure that this client is dead. master: the active one."""

    client_id: str
    group: str
    partitions: list[str]
    master: str


class ConsumeFromMax(
    msgspec.Struct, frozen=True, tag="lab.tubemq.operator.consume_from_max", array_like=True
):
    """A person has the group begin at the end. master: the active one."""

    group: str
    master: str


class Deal(msgspec.Struct, frozen=True, tag="lab.tubemq.operator.deal", array_like=True):
    """Share these partitions out among these members. rule: of ASSIGNERS, or OWN with its text. previous: partition ->
    member that had it. lags: partition -> messages that wait. closed: partitions that may not be subscribed now."""

    rule: str
    members: list[str]
    partitions: list[str]
    previous: dict[str, str]
    lags: dict[str, int]
    source: str = ""
    closed: list[str] = []


@dataclass(slots=True)
class OperatorState:
    """brokers: node names. deal: the one that is to be worked out. shares: the last one's, member -> partitions."""

    brokers: dict[int, str] = field(default_factory=dict)
    deal: Deal | None = None
    shares: dict[str, list[str]] = field(default_factory=dict)


class Operator:
    def __init__(self, state: OperatorState) -> None:
        self.state = state

    def receive(self, connection: int, message: Any, now_us: int, out: Outbox) -> None:
        if connection != PERSON:
            return  # the answers to its requests need nothing more
        match message:
            case Connect(brokers):
                self.state.brokers = brokers
            case TakeOff(client_id, group, partitions, master):
                errands: dict[str, list[r.Request]] = {}
                for key in partitions:
                    request = r.RegisterRequestC2B(r.UNREGISTER, client_id, group, key)
                    errands.setdefault(self.state.brokers[broker_of(key)], []).append(request)
                errands[master] = [r.CloseRequestC2M(client_id, group)]
                for name, requests in errands.items():
                    self.send(name, requests, out)
            case ConsumeFromMax(group, master):
                self.send(master, [r.SetClientBalanceGroupConsumeFromMax(group)], out)
            case Deal():
                self.state.deal = message
                out.deadline(DEAL, now_us)

    def send(self, name: str, requests: list[r.Request], out: Outbox) -> None:
        """On a connection of its own: whoever it goes to may have come back since the last errand."""
        connection = out.connect(name)
        for request in requests:
            out.send(connection, request)
        out.close(connection)

    def wake(self, name: str, now_us: int, out: Outbox) -> None:
        """Work the deal out. Raises Held while the user's own rule is worked out elsewhere, and then nothing has changed."""
        deal = self.state.deal
        if deal is None:
            return
        numbers = {"members": len(deal.members), "partitions": len(deal.partitions)}
        try:
            shares = dealt(deal)
        except AssignorFailed as failed:
            self.state.deal = None
            out.tell("tubemq.group.rule_failed", f"tubemq.assigner.{deal.rule}", numbers,
                     {"reason": failed.reason, "line": failed.line, "code": failed.code, "params": failed.params})  # fmt: skip
            return
        self.state.deal, self.state.shares = None, shares
        moved = sum(
            deal.previous.get(key, member) != member for member, keys in shares.items() for key in keys
        )
        out.tell("tubemq.group.dealt", f"tubemq.assigner.{deal.rule}", numbers, {"moved": moved, **numbers})


def dealt(deal: Deal) -> dict[str, list[str]]:
    """Member -> its partitions. Raises AssignorFailed for a rule of the user's that fails."""
    if deal.rule != OWN:
        return ASSIGNERS[deal.rule](deal.members, deal.partitions, deal.previous, deal.lags)
    # As for a Kafka group: a topic is what the function knows, so each broker's part of one is a topic to it.
    counts: dict[str, int] = {}
    for key in deal.partitions:
        topic, _, number = key.rpartition(":")
        counts[topic] = max(counts.get(topic, 0), int(number) + 1)
    members = {
        member: Subscription(
            tuple(counts),
            tuple(_place(key) for key in deal.partitions if deal.previous.get(key) == member),
        )
        for member in deal.members
    }
    answer = assign_by_own_rule(deal.source, members, counts, _status(deal, counts))
    return {
        member: [f"{topic}:{number}" for topic, number in answer.get(member, ())] for member in deal.members
    }


def _status(deal: Deal, counts: Mapping[str, int]) -> dict[str, list[dict[str, int | bool]]]:
    """What a rule of the user's own is passed of each partition: how many messages wait in it, and whether it may be
    subscribed now."""
    return {
        topic: [
            {"lag": deal.lags.get(key, 0), "subscribable": key not in deal.closed}
            for key in (f"{topic}:{number}" for number in range(count))
        ]
        for topic, count in counts.items()
    }


def _place(key: str) -> tuple[str, int]:
    parsed = parse_partition_key(key)
    return f"{parsed.broker_id}:{parsed.topic}", parsed.partition_id
