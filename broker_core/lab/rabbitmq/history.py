"""What the page of a RabbitMQ lane draws over time: each queue's depth and what was published, delivered and
acknowledged of it so far, at the end of every second."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass, field

from broker_core.lab.rabbitmq.counts import Counts
from broker_core.lab.rabbitmq.paths import Paths
from broker_core.lab.shared.history import forget, pace_s
from broker_core.rabbitmq.broker_base import BrokerState
from broker_core.rabbitmq.queues.classic import ClassicQueue

KEPT_S = 180
GROWS_S = 5
"""A queue that has more messages than so many samples before grows."""
HELD_VARIES = 5
"""By so many messages does what consumers hold vary with who works on what."""


@dataclass(slots=True)
class RabbitMqNotes:
    """depths: second -> "vhost" + newline + queue -> ready, unacked, published, acked. done: records of queues that a
    restart of the server did not bring back, settled and lost. counts: of exchanges and programs. paths: where the last messages went."""

    depths: dict[int, dict[str, list[int]]] = field(default_factory=dict)
    done: int = 0
    counts: Counts = field(default_factory=Counts)
    paths: Paths = field(default_factory=Paths)

    def note_restart(self, before: BrokerState, after: BrokerState, now_us: int) -> None:
        """The server starts with this state, after that one: what was in and out a second before says nothing now."""
        self.counts.restart()
        for name, vhost in before.vhosts.items():
            for queue in vhost.queues.values():
                found = after.vhosts[name].queues.get(queue.name)
                lost = [
                    before.messages.record(message)
                    for position, message in queue.bodies.items()
                    if found is None or position not in found.bodies
                ]
                self.paths.lost(lost, queue.name, now_us)
        self.done += sum(
            queue.published
            for name, vhost in before.vhosts.items()
            for queue in vhost.queues.values()
            if queue.name not in after.vhosts[name].queues
        )

    def note(self, queues: Iterable[ClassicQueue], second: int) -> None:
        """The second is over."""
        forget(self.depths, second - KEPT_S)
        found = list(queues)
        pace = pace_s(len(found), KEPT_S)
        if second >= 0 and second % pace == 0:
            self.counts.note(found, second, pace)
            self.depths[second] = {
                queue_key(queue): [queue.ready, queue.unacked_count, queue.published, queue.acked]
                for queue in found
            }

    def is_growing(self, queue: ClassicQueue, *, with_unacked: bool) -> bool:
        """Whether more messages wait than a few samples before; with_unacked: with what consumers hold."""
        seconds = list(self.depths)[-GROWS_S:]
        before = next((self.depths[second].get(queue_key(queue)) for second in seconds), None)
        if before is None:
            return False
        if with_unacked:
            return queue.ready + queue.unacked_count > before[0] + before[1] + HELD_VARIES
        return queue.ready > before[0] + 1


def queue_key(queue: ClassicQueue) -> str:
    """A queue's name in all virtual hosts."""
    return f"{queue.state.vhost}\n{queue.name}"
