"""What comes to the exchanges of a RabbitMQ lane, what its queues refuse, and what its programs do with what they get:
sums so far, and as they were at the end of the last seconds, for rates. All rates of a page are over these seconds."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass, field

from broker_core.events import Json
from broker_core.lab.shared.history import by_second, forget
from broker_core.rabbitmq.queues.classic import MAXLEN, ClassicQueue

SAMPLES_KEPT = 6
PUBLISHED, DROPPED, RETURNED = range(3)
ACKED, REQUEUED, REJECTED, AUTO = range(4)
SETTLED = {"ack": ACKED, "requeue": REQUEUED, "discard": REJECTED}


@dataclass(slots=True)
class Counts:
    """exchanges: virtual host -> exchange -> messages that programs published there; those, and dead letters, that came to
    no queue and did not go back; those that went back. programs: virtual host -> name -> messages that it acknowledged,
    gave back, rejected, and was sent without an acknowledgement to give. exchanges_at, programs_at: second -> the same.
    limits_at: second -> virtual host -> queue with a limit -> messages that it refused, those of them whose publisher
    heard so, and those that it dropped. held_at: second -> consumer's key -> messages that it held."""

    exchanges: dict[str, dict[str, list[int]]] = field(default_factory=dict)
    programs: dict[str, dict[str, list[int]]] = field(default_factory=dict)
    exchanges_at: dict[int, dict[str, dict[str, list[int]]]] = field(default_factory=dict)
    programs_at: dict[int, dict[str, dict[str, list[int]]]] = field(default_factory=dict)
    limits_at: dict[int, dict[str, dict[str, list[int]]]] = field(default_factory=dict)
    held_at: dict[int, dict[str, int]] = field(default_factory=dict)

    def published(self, vhost: str, exchange: str, reaches: bool, is_returned: bool) -> None:
        counts = self.of_exchange(vhost, exchange)
        counts[PUBLISHED] += 1
        if is_returned:
            counts[RETURNED] += 1
        elif not reaches:
            counts[DROPPED] += 1

    def died(self, vhost: str, exchange: str, reaches: bool) -> None:
        """A dead letter comes to its exchange."""
        if not reaches:
            self.of_exchange(vhost, exchange)[DROPPED] += 1

    def took(self, vhost: str, program: str, what: int) -> None:
        try:
            self.programs[vhost][program][what] += 1
        except KeyError:
            self.programs.setdefault(vhost, {})[program] = [int(each == what) for each in range(4)]

    def of_exchange(self, vhost: str, exchange: str) -> list[int]:
        try:
            return self.exchanges[vhost][exchange]
        except KeyError:
            return self.exchanges.setdefault(vhost, {}).setdefault(exchange, [0, 0, 0])

    def dropped(self, vhost: str, exchange: str) -> int:
        return self.exchanges.get(vhost, {}).get(exchange, (0, 0))[DROPPED]

    def seconds(self) -> list[int]:
        """Those that have samples, oldest first: no restart of the server lies between them."""
        return list(self.exchanges_at)

    def has_overflowed(self, queue: ClassicQueue, since: int) -> bool:
        """Whether it has refused or dropped a message for its limit after that second."""
        before = self.limits_at.get(since, {}).get(queue.state.vhost, {}).get(queue.name)
        return before is not None and _overflow(queue) != before

    def note(self, queues: Iterable[ClassicQueue], second: int, pace_s: int) -> None:
        """The second is over. pace_s: from one sample to the next."""
        for kept in (self.exchanges_at, self.programs_at, self.limits_at, self.held_at):
            forget(kept, second - SAMPLES_KEPT * pace_s)
        self.exchanges_at[second], self.programs_at[second] = _copy(self.exchanges), _copy(self.programs)
        limits, held = self.limits_at.setdefault(second, {}), self.held_at.setdefault(second, {})
        for queue in queues:
            if queue.settings.is_limited:
                limits.setdefault(queue.state.vhost, {})[queue.name] = _overflow(queue)
            for consumer in queue.consumers.by_key.values():
                held[consumer.key] = len(consumer.unacked)

    def restart(self) -> None:
        """The server starts: no rate is of both lives."""
        for kept in (self.exchanges_at, self.programs_at, self.limits_at, self.held_at):
            kept.clear()

    def view(self) -> Json:
        return {
            "exchanges": by_second(self.exchanges_at),
            "programs": by_second(self.programs_at),
            "limits": by_second(self.limits_at),
        }


def _copy(counts: dict[str, dict[str, list[int]]]) -> dict[str, dict[str, list[int]]]:
    return {vhost: {name: list(each) for name, each in named.items()} for vhost, named in counts.items()}


def _overflow(queue: ClassicQueue) -> list[int]:
    return [queue.state.refused, queue.state.nacked, queue.state.dropped.get(MAXLEN, 0)]
