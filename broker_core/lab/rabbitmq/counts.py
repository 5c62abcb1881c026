"""What comes to the exchanges of a RabbitMQ lane, what its queues refuse, and what its programs do with what they get:
sums so far, and as they were at the end of the last seconds, for rates. All rates of a page are over these seconds."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass, field

from broker_core.events import Json
from broker_core.lab.shared.history import by_second, forget
from broker_core.rabbitmq.queues.classic import ClassicQueue

SAMPLES_KEPT = 6
PUBLISHED, DROPPED, RETURNED = range(3)
ACKED, REQUEUED, REJECTED, AUTO = range(4)
SETTLED = {"ack": ACKED, "requeue": REQUEUED, "discard": REJECTED}


@dataclass(slots=True)
class Counts:
    """exchanges: virtual host -> exchange -> messages that programs published there; those, and dead letters, that came to
    no queue and did not go back; those that went back. programs: name -> messages that it acknowledged, gave back,
    rejected, and was sent without an acknowledgement to give. exchanges_at, programs_at: second -> the same.
    limits_at: second -> virtual host -> queue with a limit -> messages that it refused, and those of them whose
    publisher heard so."""

    exchanges: dict[str, dict[str, list[int]]] = field(default_factory=dict)
    programs: dict[str, list[int]] = field(default_factory=dict)
    exchanges_at: dict[int, dict[str, dict[str, list[int]]]] = field(default_factory=dict)
    programs_at: dict[int, dict[str, list[int]]] = field(default_factory=dict)
    limits_at: dict[int, dict[str, dict[str, list[int]]]] = field(default_factory=dict)

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

    def took(self, program: str, what: int) -> None:
        counts = self.programs.get(program)
        if counts is None:
            counts = self.programs[program] = [0, 0, 0, 0]
        counts[what] += 1

    def of_exchange(self, vhost: str, exchange: str) -> list[int]:
        try:
            return self.exchanges[vhost][exchange]
        except KeyError:
            return self.exchanges.setdefault(vhost, {}).setdefault(exchange, [0, 0, 0])

    def dropped(self, vhost: str, exchange: str) -> int:
        return self.exchanges.get(vhost, {}).get(exchange, (0, 0))[DROPPED]

    def note(self, queues: Iterable[ClassicQueue], second: int, pace_s: int) -> None:
        """The second is over. pace_s: from one sample to the next."""
        for kept in (self.exchanges_at, self.programs_at, self.limits_at):
            forget(kept, second - SAMPLES_KEPT * pace_s)
        self.exchanges_at[second] = {
            vhost: {name: list(counts) for name, counts in named.items()}
            for vhost, named in self.exchanges.items()
        }
        self.programs_at[second] = {name: list(counts) for name, counts in self.programs.items()}
        limits = self.limits_at[second] = {}
        for queue in queues:
            if queue.settings.is_limited:
                of_vhost = limits.setdefault(queue.state.vhost, {})
                of_vhost[queue.name] = [queue.state.refused, queue.state.nacked]

    def restart(self) -> None:
        """The server starts: no rate is of both lives."""
        self.exchanges_at.clear()
        self.programs_at.clear()
        self.limits_at.clear()

    def view(self) -> Json:
        return {
            "exchanges": by_second(self.exchanges_at),
            "programs": by_second(self.programs_at),
            "limits": by_second(self.limits_at),
        }
