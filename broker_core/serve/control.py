"""What one may ask of a server that runs, and order it: the same for a program in this process (`threads.py`, `here.py`) and
over HTTP (`http_control.py`).

Every call belongs on the server's loop. Errors: CommandError at the field, and then nothing has changed.
"""

from __future__ import annotations

import asyncio
from collections.abc import Mapping
from contextlib import suppress
from typing import Any

from broker_core.errors import CommandError, Names
from broker_core.events import Json
from broker_core.rabbitmq.operator import SetAlarm
from broker_core.serve.conditions import Condition, FaultHits, NotMet, QueueState, counts
from broker_core.serve.run import Run
from broker_core.serve.server import Server
from broker_core.wire.acts import Crash, Define, EndFault, ServerAct, SetFault, Start, Stop
from broker_core.wire.faults.fault import read_fault

TIMEOUT_S, TIMEOUT_S_MAX = 5.0, 600.0
RESOURCES = ("memory", "disk")
_ACTS: Mapping[str, type[Crash | Stop | Start]] = {"crash": Crash, "stop": Stop, "start": Start}


class Control:
    """server: whom it asks. name: of the virtual host that is meant where none is said."""

    def __init__(self, server: Server) -> None:
        self.server = server

    @property
    def run(self) -> Run:
        return self.server.run

    # -- looking ---------------------------------------------------------------------------------------------

    def state(self) -> Json:
        """Of the server as a whole. at_us: of the run, microseconds since it began."""
        run = self.run
        return {
            "is_up": run.is_up,
            "seed": run.seed,
            "at_us": self.server.now_us(),
            "connections": len(run.broker.connections) if run.is_up else 0,
            "alarms": list(run.broker.state.alarms) if run.is_up else [],
            "journal_bytes": self.server.journal.size,
            "full_from_us": self.server.journal.full_from_us,
        }

    def queues(self) -> list[Json]:
        """By virtual host and name; those of a server that is down are not there."""
        if not self.run.is_up:
            return []
        return [
            {
                "vhost": vhost.name,
                "queue": queue.name,
                "durable": queue.state.is_durable,
                "arguments": dict(queue.state.arguments),
                **counts(queue),
            }
            for vhost in self.run.broker.state.vhosts.values()
            for queue in sorted(vhost.queues.values(), key=lambda each: each.name)
        ]

    def connections(self) -> list[Json]:
        """In the order in which they were opened. connection: its name, as the client says it; number: of it alone."""
        if not self.run.is_up:
            return []
        return [
            {
                "connection": known.name,
                "number": number,
                "state": known.state,
                "user": known.user,
                "vhost": known.vhost,
                "channels": len(known.channels),
                "consumers": sum(len(channel.consumers) for channel in known.channels.values()),
                "unacked": known.unacked_count(),
                "is_blocked": known.is_blocked,
            }
            for number, known in self.run.broker.connections.items()
        ]

    def faults(self) -> list[Json]:
        return [self.run.faults.plain(row) for row in self.run.faults.rows.values()]

    def fault(self, number: int) -> Json:
        return self.run.faults.plain(self.run.faults.row(number))

    def unmet(self) -> list[Json]:
        """Faults that had to strike, and have not."""
        return [self.run.faults.plain(row) for row in self.run.faults.unmet()]

    # -- ordering --------------------------------------------------------------------------------------------

    def set_fault(self, fields: Mapping[str, Any]) -> Json:
        """fields: of `Fault`, by name. Returns it with its id."""
        self.server.order(SetFault(read_fault(fields)))
        return self.fault(self.run.faults.last)

    def release_fault(self, number: int) -> Json:
        """What it holds goes on, what it broke is whole again, and it strikes no more."""
        self.server.order(EndFault(number))
        return self.fault(number)

    def remove_fault(self, number: int) -> None:
        self.server.order(EndFault(number, True))

    def act(self, do: str) -> Json:
        """do: crash, stop or start."""
        if do not in _ACTS:
            raise CommandError("do", "must be one of {names}", names=Names(_ACTS))
        self.server.order(_ACTS[do]())
        return self.state()

    def alarm(self, resource: str, is_on: bool) -> Json:
        """resource: memory or disk."""
        if resource not in RESOURCES:
            raise CommandError("resource", "must be one of {names}", names=Names(RESOURCES))
        self.server.order(SetAlarm(resource, is_on))
        return self.state()

    def define(self, definitions: Json) -> None:
        """definitions: as RabbitMQ's management exports them."""
        order: ServerAct = Define(definitions)
        self.server.order(order)

    def reset(self) -> None:
        """The run begins again with nothing in it: clients are cut off, and faults are gone."""
        self.server.reset()

    def journal(self) -> bytes:
        """The run so far, as a `.highwater` file."""
        return self.server.journal.data()

    # -- waiting ---------------------------------------------------------------------------------------------

    async def wait_for_queue(
        self,
        queue: str,
        *,
        vhost: str = "/",
        ready: int | None = None,
        unacked: int | None = None,
        consumers: int | None = None,
        timeout_s: float = TIMEOUT_S,
    ) -> Json:
        """Until the queue is there, has exactly so many messages ready and unacked, and at least so many consumers.

        Returns how it was then. Raises NotMet, a TimeoutError.
        """
        condition = QueueState(queue, vhost, ready, unacked, consumers)
        return await self.wait(condition, timeout_s)

    async def wait_for_fault(self, number: int, hits: int = 1, timeout_s: float = TIMEOUT_S) -> Json:
        """Until the fault has struck so often. Raises NotMet, a TimeoutError."""
        self.run.faults.row(number)
        return await self.wait(FaultHits(number, hits), timeout_s)

    async def wait(self, condition: Condition, timeout_s: float) -> Json:
        server = self.server
        if not 0 <= timeout_s <= TIMEOUT_S_MAX:
            raise CommandError("timeout_s", "must be 0 to {high}", high=round(TIMEOUT_S_MAX))
        if condition.is_met(server.run):
            return condition.seen(server.run)
        future: asyncio.Future[Json] = server.loop.create_future()
        server.waiting[future] = condition
        try:
            with suppress(TimeoutError):
                async with asyncio.timeout(timeout_s):
                    return await future
            raise NotMet(condition, condition.seen(server.run), timeout_s)
        finally:
            server.waiting.pop(future, None)
