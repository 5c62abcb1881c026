"""TubeMQ's broker under watch, and the laws of what it answers.

one reader     a batch goes to the client that the broker took last for its partition, and to no other
at least once  a read begins at what is confirmed: nothing confirmed is read again, nothing is passed over
"""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any

from broker_core.tubemq import requests as r
from broker_core.tubemq.broker import Broker, BrokerState, Consumed


@dataclass
class Ledger:
    """What the brokers have said, of each group and partition. owner: client id. confirmed: offset. reads: how many
    batches were given."""

    owner: dict[tuple[str, str], str] = field(default_factory=dict)
    confirmed: dict[tuple[str, str], int] = field(default_factory=dict)
    reads: int = 0
    handed_over: int = 0

    def claimed(self, group: str, key: str, client_id: str) -> None:
        """A client registered, while nobody else had the partition."""
        before = self.owner.get((group, key), "")
        assert before in ("", client_id), f"{key} of {group} was {before}'s, and is {client_id}'s now"
        self.handed_over += not before
        self.owner[group, key] = client_id

    def read(self, group: str, key: str, client_id: str, first: int) -> None:
        assert self.owner.get((group, key)) == client_id, (
            f"{client_id} reads {key} of {group}, which is another's"
        )
        assert first == self.confirmed.get((group, key), 0), f"{key} of {group} is read from {first}"
        self.reads += 1


class WatchedBroker(Broker):
    def __init__(self, state: BrokerState, ledger: Ledger) -> None:
        super().__init__(state)
        self.ledger = ledger

    def receive(self, connection: int, message: Any, now_us: int, out: Any) -> None:
        key = getattr(message, "partition", "")
        place = self.known_place(getattr(message, "group", ""), key)
        before = (0, 0, "") if place is None else (place.offset, place.pending, place.owner)
        super().receive(connection, message, now_us, out)
        place = self.known_place(getattr(message, "group", ""), key)
        if place is not None:
            self.look(message, before, place)

    def wake(self, name: str, now_us: int, out: Any) -> None:
        super().wake(name, now_us, out)
        self.forget_the_silent()

    def look(self, message: Any, before: tuple[int, int, str], place: Consumed) -> None:
        match message:
            case r.RegisterRequestC2B(op_type=r.REGISTER) if place.owner == message.client_id:
                self.ledger.claimed(message.group, message.partition, message.client_id)
            case r.RegisterRequestC2B():
                self.forget_the_silent()
            case r.GetMessageRequestC2B() if place.owner == message.client_id and place.pending:
                self.confirmed(message, place)
                self.ledger.read(message.group, message.partition, message.client_id, place.offset)
            case r.CommitOffsetRequestC2B() if before[2] == message.client_id:
                assert place.offset in (before[0], before[0] + before[1]), (
                    "a confirmation is of the batch that was read"
                )
                self.confirmed(message, place)

    def confirmed(self, message: Any, place: Consumed) -> None:
        at = message.group, message.partition
        assert place.offset >= self.ledger.confirmed.get(at, 0), f"{at} goes back to {place.offset}"
        self.ledger.confirmed[at] = place.offset

    def forget_the_silent(self) -> None:
        """Whoever was removed, or has released, owns nothing."""
        for key, partition in self.state.partitions.items():
            for group, place in partition.groups.items():
                if not place.owner:
                    self.ledger.owner.pop((group, key), None)
