"""Who runs a TubeMQ group in the lab, and what the lab itself knows of it: the lane's own, no part of TubeMQ.

Since the master refuses a client whose source count is not the group's, an operator has to keep the counts
right. The lane's notes hold the plan, which consumer is which node id; the operator takes a dead client off
the books by sending what it would have sent itself at the end of `shutdown()`.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any

import msgspec

from broker_core.sim.node import PERSON, Outbox
from broker_core.tubemq import requests as r
from broker_core.tubemq.partition_key import broker_of


class Connect(msgspec.Struct, frozen=True, tag="lab.tubemq.operator.connect", array_like=True):
    """A person starts the operator. brokers: node name of each broker id."""

    master: str
    brokers: dict[int, str]


class TakeOff(msgspec.Struct, frozen=True, tag="lab.tubemq.operator.take_off", array_like=True):
    """A person has made sure that this client is dead."""

    client_id: str
    group: str
    partitions: list[str]


@dataclass(slots=True)
class Notes:
    """plan: consumer of each node id; its length is the source count of the last restart. count_at_rest: what
    it was when the lane last came to rest, None before the first time. readers: partition -> client that
    reads it, as the clients have told. stopped: partition -> since when nobody who is alive has read it, of
    those that were read before.
    """

    plan: list[str] = field(default_factory=list)
    count_at_rest: int | None = None
    readers: dict[str, str] = field(default_factory=dict)
    stopped: dict[str, int] = field(default_factory=dict)

    def begin_reading(self, client_id: str, partitions: list[str], now_us: int) -> dict[str, int]:
        """The client reads these and no others. Gives those that nobody read lately, with since when."""
        self.stop_reading(
            client_id,
            now_us,
            [key for key, reader in self.readers.items() if reader == client_id and key not in partitions],
        )
        self.readers |= dict.fromkeys(partitions, client_id)
        return {key: self.stopped.pop(key) for key in partitions if key in self.stopped}

    def stop_reading(self, client_id: str, now_us: int, partitions: list[str] | None = None) -> None:
        """The client reads these no longer; None: nothing at all."""
        if partitions is None:
            partitions = [key for key, reader in self.readers.items() if reader == client_id]
        for key in partitions:
            if self.readers.get(key) == client_id:
                del self.readers[key]
                self.stopped.setdefault(key, now_us)


@dataclass(slots=True)
class OperatorState:
    """master, brokers: connections; brokers by their ids."""

    master: int = 0
    brokers: dict[int, int] = field(default_factory=dict)


class Operator:
    def __init__(self, state: OperatorState) -> None:
        self.state = state

    def receive(self, connection: int, message: Any, now_us: int, out: Outbox) -> None:
        if connection != PERSON:
            return  # the answers to its requests need nothing more
        match message:
            case Connect(master, brokers):
                self.state.master = out.connect(master)
                self.state.brokers = {broker_id: out.connect(name) for broker_id, name in brokers.items()}
            case TakeOff(client_id, group, partitions):
                for key in partitions:
                    out.send(
                        self.state.brokers[broker_of(key)],
                        r.RegisterRequestC2B(r.UNREGISTER, client_id, group, key),
                    )
                out.send(self.state.master, r.CloseRequestC2M(client_id, group))

    def wake(self, name: str, now_us: int, out: Outbox) -> None:
        """It sets no deadlines."""
