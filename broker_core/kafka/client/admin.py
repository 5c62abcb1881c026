"""An operator's tool: it takes a member that does not answer out of its group.

Source: Kafka 3.9 KafkaAdminClient.removeMembersFromConsumerGroup, which sends a LeaveGroup in the member's
name. (Its interface names static members one by one, and dynamic ones only all at once; on the wire a dynamic
member's id does as well.)
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import msgspec

from broker_core.kafka import requests as r
from broker_core.sim.node import Closed, Outbox


class RemoveMember(msgspec.Struct, frozen=True, tag="kafka.admin.remove_member", array_like=True):
    """A person removes this member of a group at its coordinator, the node `broker`."""

    broker: str
    group_id: str
    member_id: str


@dataclass(slots=True)
class AdminState:
    connection: int = 0


class Admin:
    def __init__(self, state: AdminState) -> None:
        self.state = state

    def receive(self, connection: int, message: Any, now_us: int, out: Outbox) -> None:
        match message:
            case RemoveMember(broker, group_id, member_id):
                if not self.state.connection:
                    self.state.connection = out.connect(broker)
                out.send(self.state.connection, r.LeaveGroupRequest(group_id, member_id))
            case Closed():
                self.state.connection = 0

    def wake(self, name: str, now_us: int, out: Outbox) -> None:
        """It sets no deadlines."""
