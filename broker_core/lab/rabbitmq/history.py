"""What the page of a RabbitMQ lane draws over time: each queue's depth and what was published, delivered and
acknowledged of it so far, at the end of every second."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from dataclasses import dataclass, field

from broker_core.lab.rabbitmq.counts import Counts
from broker_core.lab.rabbitmq.paths import Paths
from broker_core.lab.shared.history import forget, pace_s
from broker_core.rabbitmq.broker_base import BrokerState
from broker_core.rabbitmq.queues.classic import ClassicQueue

KEPT_S = 180
SAMPLES_LEAST = 3
"""So many samples since its consumers last changed tell whether a queue grows."""
READY_VARIES = 1
"""By so many messages does what waits vary with the moment."""
HELD_VARIES = 5
"""By so many messages does what consumers hold vary with who works on what."""


@dataclass(slots=True)
class Crew:
    """Who works on a queue, as `crew.py` writes it, and the first second at whose end it was they."""

    who: str
    since: int


@dataclass(slots=True)
class RabbitMqNotes:
    """depths: second -> "vhost" + newline + queue -> ready, unacked, published, acked. crews: the same queues, who works on them.
    done: records of queues that a
    restart of the server did not bring back, settled and lost. counts: of exchanges and programs. paths: where the last messages went. published: of
    real clients: connection -> exchange -> messages that came there, and those of them that went back. came_bytes: of
    their sockets, so far. last_socket: the highest number that one of them had."""

    depths: dict[int, dict[str, list[int]]] = field(default_factory=dict)
    crews: dict[str, Crew] = field(default_factory=dict)
    done: int = 0
    counts: Counts = field(default_factory=Counts)
    paths: Paths = field(default_factory=Paths)
    published: dict[int, dict[str, list[int]]] = field(default_factory=dict)
    came_bytes: int = 0
    last_socket: int = 0

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

    def note(
        self, queues: Iterable[ClassicQueue], second: int, crew_of: Callable[[ClassicQueue], str]
    ) -> None:
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
            crews, self.crews = self.crews, {}
            for queue in found:
                key, who = queue_key(queue), crew_of(queue)
                known = crews.get(key)
                self.crews[key] = known if known is not None and known.who == who else Crew(who, second)

    def measured(self, queue: ClassicQueue, who: str) -> list[int]:
        """The last seconds that have samples of the queue with those who work on it now; none too few to tell."""
        key = queue_key(queue)
        crew = self.crews.get(key)
        if crew is None or crew.who != who:
            return []
        seconds = [
            second
            for second in self.counts.seconds()
            if second >= crew.since and key in self.depths.get(second, {})
        ]
        return seconds if len(seconds) >= SAMPLES_LEAST else []

    def has_changed(self, queue: ClassicQueue, who: str) -> bool:
        """Whether the queue had consumers set otherwise before those who work on it now, who are not measured yet."""
        seconds, key = self.counts.seconds(), queue_key(queue)
        was_measured = len(seconds) >= SAMPLES_LEAST and key in self.depths.get(seconds[0], {})
        return was_measured and not self.measured(queue, who)

    def is_growing(self, queue: ClassicQueue, seconds: list[int], *, with_unacked: bool) -> bool:
        """Whether more messages wait than in the first of these seconds, and not fewer than in any; with_unacked: with
        what consumers hold."""
        places = 2 if with_unacked else 1
        depths = [sum(self.depths[second][queue_key(queue)][:places]) for second in seconds]
        now = queue.ready + queue.unacked_count if with_unacked else queue.ready
        varies = HELD_VARIES if with_unacked else READY_VARIES
        return bool(depths) and depths[0] + varies < now >= max(depths) - varies


def queue_key(queue: ClassicQueue) -> str:
    """A queue's name in all virtual hosts."""
    return f"{queue.state.vhost}\n{queue.name}"
