"""The controller on a desk: brokers and a tool send it requests, and a test sees who gets what. Broker n
is on connection n."""

from typing import Any

from broker_core.events import Json
from broker_core.hashing.java_random import JavaRandom
from broker_core.kafka.cluster import control_requests as c
from broker_core.kafka.cluster.controller_node import ControllerNode, ControllerState
from broker_core.kafka.cluster.settings import ClusterSettings
from broker_core.kafka.controller.controller import Controller
from broker_core.kafka.replication.registration import PartitionRegistration
from broker_core.sim.node import Opened
from tests.core.kafka.cluster.nodes import MS, Out

TOOL = 9


class ControllerDesk:
    """brokers: registered, unfenced and read up to now. assignments: of topic t, if there are any."""

    def __init__(
        self,
        brokers: int = 3,
        assignments: list[list[int]] | None = None,
        min_isr: int = 1,
        unclean: bool = False,
        **settings: Any,
    ) -> None:
        self.node, self.out = (
            ControllerNode(ControllerState(Controller(JavaRandom.seeded(1)), ClusterSettings(**settings))),
            Out(),
        )
        self.now_us = 0
        self.epochs: dict[int, int] = {}
        for broker in range(1, brokers + 1):
            self.send(broker, Opened(f"broker-{broker}"), after_ms=0)
            self.register(broker)
        for broker in self.epochs:
            self.beat(broker)
        if assignments:
            self.tool(
                c.CreateTopicsRequest(
                    "t", assignments=assignments, min_insync_replicas=min_isr, unclean_leader_election=unclean
                )
            )
        self.forget()

    def forget(self) -> None:
        """What was said until now is of no interest."""
        self.out.take()
        self.out.told.clear()
        self.out.facts.clear()

    @property
    def state(self) -> ControllerState:
        return self.node.state

    def send(self, connection: int, message: Any, *, after_ms: int = 1) -> list[Any]:
        """Let it receive that, a moment later. Gives what it has sent on that connection; the rest waits for
        `sent_to`."""
        self.now_us += after_ms * MS
        self.node.receive(connection, message, self.now_us, self.out)  # type: ignore[arg-type]
        return self.sent_to(connection)

    def sent_to(self, connection: int) -> list[Any]:
        mine = [message for where, message in self.out.sent if where == connection]
        self.out.sent = [each for each in self.out.sent if each[0] != connection]
        return mine

    def wake(self, name: str) -> None:
        self.now_us = max(self.now_us, self.out.deadlines.pop(name))
        self.node.wake(name, self.now_us, self.out)  # type: ignore[arg-type]

    # --- what they ask

    def register(
        self,
        broker: int,
        incarnation: int | None = None,
        *,
        rack: str | None = None,
        connection: int | None = None,
    ) -> list[Any]:
        request = c.BrokerRegistrationRequest(broker, rack, broker if incarnation is None else incarnation)
        answers = self.send(broker if connection is None else connection, request)
        if not answers[0].error_code:
            self.epochs[broker] = answers[0].broker_epoch
        return answers

    def beat(
        self,
        broker: int,
        *,
        fence: bool = False,
        shut_down: bool = False,
        connection: int | None = None,
        after_ms: int = 1,
    ) -> list[Any]:
        request = c.BrokerHeartbeatRequest(
            broker, self.epochs[broker], self.state.end_offset, fence, shut_down
        )
        return self.send(broker if connection is None else connection, request, after_ms=after_ms)

    def alter(self, broker: int, *isr: int, part: int = 0, recovery: int = 0) -> list[Any]:
        """The leader asks for an ISR, with the epochs that hold."""
        known = self.known(part)
        members = [(member, self.epochs[member]) for member in isr]
        return self.send(
            broker,
            c.AlterPartitionRequest(
                broker,
                self.epochs[broker],
                "t",
                part,
                known.leader_epoch,
                known.partition_epoch,
                members,
                recovery,
            ),
        )

    def tool(self, request: Any) -> c.ControlResponse:
        (answer,) = self.send(TOOL, request)
        assert isinstance(answer, c.ControlResponse)
        return answer

    # --- what is seen

    def known(self, part: int = 0) -> PartitionRegistration:
        return self.state.rules.topics["t"].partitions[part]

    def facts(self, kind: str) -> list[tuple[Json, Json]]:
        """(inputs, data) of the turning points of that kind."""
        return [(inputs, data) for told, inputs, data in self.out.facts if told == kind]


def deltas(messages: list[Any]) -> list[c.MetadataDelta]:
    return [message for message in messages if isinstance(message, c.MetadataDelta)]
