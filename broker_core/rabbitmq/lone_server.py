"""A RabbitMQ server without a world: what it would refuse of a method, asked without a lab and without a trace of it."""

from __future__ import annotations

from typing import Any

from broker_core.events import Cause, Json
from broker_core.rabbitmq import methods as m
from broker_core.rabbitmq import operator as server
from broker_core.rabbitmq.broker import Broker
from broker_core.rabbitmq.broker_base import BrokerState
from broker_core.rabbitmq.client import CHANNEL
from broker_core.rabbitmq.client.roles import Login
from broker_core.rabbitmq.queues.classic import ClassicQueue, QueueState
from broker_core.rabbitmq.vhost import Vhost, made
from broker_core.sim.disk import Disk
from broker_core.sim.node import PERSON, Opened

Refusal = tuple[int, str]
"""The server's code and text."""


class LoneServer:
    """A login keeps its connection until the server closes it."""

    def __init__(self) -> None:
        self.state = BrokerState()
        self._broker, self._out = Broker(self.state), _NoWorld()
        self._connections: dict[tuple[str, str], int] = {}
        self._last = 0

    @classmethod
    def like(cls, state: BrokerState) -> LoneServer:
        """With the virtual hosts, exchanges and queues of another, and without their messages."""
        alone = cls()
        for name, vhost in state.vhosts.items():
            own = alone.state.vhosts[name] = Vhost(name)
            for each in vhost.exchanges.values():
                own.exchanges[each.name] = made(
                    each.name,
                    each.type_,
                    each.is_durable,
                    each.is_auto_delete,
                    each.is_internal,
                    each.arguments,
                )
            for queue in vhost.queues.values():
                its = queue.state
                own.queues[its.name] = ClassicQueue(
                    QueueState(
                        its.number,
                        its.name,
                        name,
                        its.is_durable,
                        its.is_auto_delete,
                        its.owner,
                        its.arguments,
                    )
                )
        alone.state.last_queue = state.last_queue
        return alone

    def order(self, order: server.Order) -> None:
        self._broker.receive(PERSON, order, 0, self._out)

    def refusal(self, login: Login, method: m.Method) -> Refusal | None:
        """Also where the server refuses the login or the virtual host. What it does not refuse is done."""
        key = (login.user, login.vhost)
        self._out.sent.clear()
        if key not in self._connections:
            self._last += 1
            for opening in (
                Opened("operator"), m.ConnectionStartOk(response=f"\0{login.user}\0{login.password}"),
                m.ConnectionTuneOk(), m.ConnectionOpen(login.vhost), m.ChannelOpen(CHANNEL),
            ):  # fmt: skip
                if self._refused() is None:
                    self._broker.receive(self._last, opening, 0, self._out)
            self._connections[key] = self._last
        if self._refused() is None:
            self._broker.receive(self._connections[key], method, 0, self._out)
        refused = self._refused()
        if refused is not None:
            del self._connections[key]
        return refused

    def _refused(self) -> Refusal | None:
        for answer in self._out.sent:
            if isinstance(answer, m.ChannelClose | m.ConnectionClose):
                return answer.reply_code, answer.reply_text
        return None


class _NoWorld:
    """An outbox that leads nowhere; what the broker answers is kept."""

    name = "broker"

    def __init__(self) -> None:
        self.disk = Disk()
        self.sent: list[Any] = []

    def connect(self, to: str) -> int:
        return 0

    def send(self, connection: int, message: Any) -> None:
        self.sent.append(message)

    def close(self, connection: int) -> None: ...

    def unsent(self, connection: int) -> int:
        return 0

    def deadline(self, name: str, at_us: int, because: Cause | None = None) -> None: ...

    def cancel(self, name: str) -> None: ...

    def draw(self, stream: str, limit: int) -> int:
        return 0

    def tell(self, kind: str, rule: str | None, inputs: Json, data: Json) -> Cause:
        return Cause()

    def because(self, cause: Cause) -> None: ...

    def why(self) -> Cause:
        return Cause()

    def blame_silence(self, connection: int) -> None: ...
