"""What one can wait for in a run. The server looks after each of its steps, so that nothing outside polls."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Protocol

from broker_core.errors import CommandError
from broker_core.events import Json
from broker_core.rabbitmq.queues.classic import ClassicQueue
from broker_core.serve.run import Run


class Condition(Protocol):
    def is_met(self, run: Run) -> bool: ...

    def seen(self, run: Run) -> Json:
        """How it is now, for JSON."""
        ...

    def words(self) -> str:
        """What is waited for."""
        ...


@dataclass(frozen=True, slots=True)
class QueueState:
    """A queue is there, with exactly this many messages ready and unacked, and at least this many consumers; None: any
    number."""

    queue: str
    vhost: str = "/"
    ready: int | None = None
    unacked: int | None = None
    consumers: int | None = None

    def is_met(self, run: Run) -> bool:
        queue = _queue(run, self.vhost, self.queue)
        return (
            queue is not None
            and self.ready in (None, queue.ready)
            and self.unacked in (None, queue.unacked_count)
            and (self.consumers is None or len(queue.consumers.by_key) >= self.consumers)
        )

    def seen(self, run: Run) -> Json:
        queue = _queue(run, self.vhost, self.queue)
        return {"vhost": self.vhost, "queue": self.queue, **({} if queue is None else counts(queue))}

    def words(self) -> str:
        wanted = [
            f"{name}={value}"
            for name in ("ready", "unacked", "consumers")
            if (value := getattr(self, name)) is not None
        ]
        return f"queue {self.queue}" + (f" with {', '.join(wanted)}" if wanted else "")


@dataclass(frozen=True, slots=True)
class FaultHits:
    """A fault has struck at least this often."""

    fault: int
    hits: int = 1

    def is_met(self, run: Run) -> bool:
        row = run.faults.rows.get(self.fault)
        return row is not None and row.hits >= self.hits

    def seen(self, run: Run) -> Json:
        return run.faults.plain(run.faults.row(self.fault))

    def words(self) -> str:
        return f"fault {self.fault} with hits={self.hits}"


def counts(queue: ClassicQueue) -> Json:
    return {
        "ready": queue.ready,
        "unacked": queue.unacked_count,
        "consumers": len(queue.consumers.by_key),
    }


def _queue(run: Run, vhost: str, name: str) -> ClassicQueue | None:
    """None also while the server is down: it serves no queue then."""
    if not run.is_up:
        return None
    known = run.broker.state.vhosts.get(vhost)
    if known is None:
        return None
    return known.queues.get(name)


class NotMet(CommandError, TimeoutError):
    """What was waited for has not come in time. seen: how it was then."""

    def __init__(self, condition: Condition, seen: Json, timeout_s: float) -> None:
        found = ", ".join(f"{name}={value}" for name, value in seen.items() if name not in ("vhost", "queue"))
        super().__init__(
            "timeout_s", "{what} has not come in {seconds} s; it is {found}",
            what=condition.words(), seconds=timeout_s, found=found or "not there",
        )  # fmt: skip
        self.seen = seen
