"""An operator's tool at the brokers: it takes a member that does not answer out of its group, deletes records
that nobody needs, and commits offsets for a group without members.

Source: Kafka 3.9 KafkaAdminClient.removeMembersFromConsumerGroup, which sends a LeaveGroup in the member's
name (its interface names static members one by one, and dynamic ones only all at once; on the wire a dynamic
member's id does as well), deleteRecords, and alterConsumerGroupOffsets, an OffsetCommit of nobody: the
coordinator refuses it while the group has members (UNKNOWN_MEMBER_ID).
"""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any

import msgspec

from broker_core.kafka.cluster.requests import DeleteRecordsRequest
from broker_core.kafka.group.decoded import code_name
from broker_core.kafka.group.messages import LeaveGroupRequest, OffsetCommitRequest, OffsetCommitResponse
from broker_core.sim.node import Closed, Outbox


class Ask(msgspec.Struct, frozen=True, tag="kafka.operator.ask", array_like=True):
    """A person sends this to a broker, the node `broker`: who it must go to, the tool was told."""

    broker: str
    request: LeaveGroupRequest | DeleteRecordsRequest | OffsetCommitRequest


@dataclass(slots=True)
class OperatorState:
    """connections: node of a broker -> connection."""

    connections: dict[str, int] = field(default_factory=dict)


class Operator:
    def __init__(self, state: OperatorState) -> None:
        self.state = state

    def receive(self, connection: int, message: Any, now_us: int, out: Outbox) -> None:
        connections = self.state.connections
        match message:
            case Ask(broker, request):
                if broker not in connections:
                    connections[broker] = out.connect(broker)
                out.send(connections[broker], request)
            case OffsetCommitResponse(topics):
                for topic in topics:
                    for entry in topic.partitions:
                        data = {"topic": topic.name, "partition": entry.partition_index}
                        if entry.error_code:
                            out.tell(
                                "kafka.admin.offsets_refused",
                                None,
                                {},
                                {**data, "error": code_name(entry.error_code)},
                            )
                        else:
                            out.tell("kafka.admin.offsets_committed", None, {}, data)
            case Closed():
                self.state.connections = {
                    broker: number for broker, number in connections.items() if number != connection
                }

    def wake(self, name: str, now_us: int, out: Outbox) -> None:
        """It sets no deadlines."""
