"""Playing the broker without a world, for tests of what it does with messages: a client's greeting is said for it, and
answers that only say "done" are left out."""

from __future__ import annotations

from typing import Any

from broker_core.rabbitmq import methods as m
from broker_core.rabbitmq.client import hello
from broker_core.rabbitmq.queues.classic import ClassicQueue, Delivery
from broker_core.rabbitmq.queues.consumers import Consumer
from broker_core.sim.node import Opened
from tests.core import playbook
from tests.core.playbook import Played

ANSWERS = (
    m.ConnectionStart, m.ConnectionTune, m.ConnectionOpenOk, m.ChannelOpenOk, m.QueueDeclareOk, m.BasicQosOk,
    m.BasicConsumeOk, m.BasicCancelOk,
)  # fmt: skip


def play(node: Any, out: Played, connection: int, *messages: Any, now_us: int = 0) -> list[Any]:
    """`playbook.play`; an `Opened` is followed by the client's greeting."""
    said: list[Any] = []
    for message in messages:
        said += (message, *hello(message.peer)) if type(message) is Opened else (message,)
    sent = playbook.play(node, out, connection, *said, now_us=now_us)
    return [(to, without_ids(method)) for to, method in sent if not isinstance(method, ANSWERS)]


def without_ids(method: Any) -> Any:
    """A close without the numbers of the method that caused it; the recorded sessions have those."""
    if isinstance(method, m.ChannelClose | m.ConnectionClose):
        method.class_id = method.method_id = 0
    return method


def queue_of(node: Any, name: str) -> Any:
    """The queue of that name in the default virtual host."""
    return node.state.vhosts["/"].queues[name]


class WorkQueue:
    """A queue on its own, whose consumers are each on a channel of its own. Deliveries are (consumer, position,
    redelivered); messages are those that the test publishes."""

    def __init__(self, queue: ClassicQueue | None = None) -> None:
        self.queue = queue or ClassicQueue()

    def consume(self, name: str, prefetch: int) -> list[tuple[str, int, bool]]:
        return shown(self.queue.consume(Consumer(name, name, "t", prefetch), False, 0))

    def cancel(self, name: str) -> None:
        if name in self.queue.consumers.by_key:
            self.queue.cancel(name)

    def unacked(self, name: str, count: int | None = None) -> list[tuple[int, bool]]:
        channel = self.queue.consumers.channels.get(name)
        loose = {} if channel is None else channel.loose
        own = self.queue.unacked(name) or [(position, again) for position, (_, again) in loose.items()]
        return own[:count]

    def cancel_and_close(self, *names: str) -> list[tuple[str, int, bool]]:
        _, positions = self.queue.remove_channels(names)
        return shown(self.queue.give_back(positions, 0))

    def publish(self, message: int) -> list[tuple[str, int, bool]]:
        return shown(self.queue.publish(message, 0))

    def ack(self, name: str, *positions: int) -> list[tuple[str, int, bool]]:
        return shown(self.queue.ack(name, name, list(positions), 0))

    def nack(self, name: str, *positions: int) -> list[tuple[str, int, bool]]:
        return shown(self.queue.requeue(name, name, list(dict.fromkeys(positions)), 0))

    def unacked_count(self, name: str) -> int:
        return len(self.unacked(name))

    @property
    def state(self) -> Any:
        return self.queue.state

    @property
    def requeued(self) -> list[int]:
        return self.queue.state.levels[0].requeued

    @property
    def fresh(self) -> Any:
        return self.queue.state.levels[0].fresh

    def to_json(self) -> Any:
        return self.queue.to_json()

    @classmethod
    def from_json(cls, plain: Any) -> WorkQueue:
        return cls(ClassicQueue.from_json(plain))

    def __getattr__(self, name: str) -> Any:
        return getattr(self.queue, name)


def shown(deliveries: list[Delivery]) -> list[tuple[str, int, bool]]:
    return [(each.consumer.key, each.position, each.redelivered) for each in deliveries]
