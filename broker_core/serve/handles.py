"""What a test holds of a broker: of one in a thread of its own (`threads.py`), whose calls wait, or of one on the test's own
loop (`here.py`), whose waits are awaited."""

from __future__ import annotations

import asyncio
from abc import abstractmethod
from collections.abc import Callable
from pathlib import Path
from typing import Any, TypeVar

from broker_core.events import Json
from broker_core.serve.control import TIMEOUT_S, Control
from broker_core.serve.story import last_events

T = TypeVar("T")


class Handle:
    """url: for a client. host, port: where it listens."""

    def __init__(self, control: Control, host: str, port: int) -> None:
        self.control, self.host, self.port = control, host, port

    @property
    def url(self) -> str:
        return f"amqp://guest:guest@{self.host}:{self.port}/"

    @abstractmethod
    def ask(self, call: Callable[[], T]) -> T:
        """The result of a call on the server's loop."""

    # -- looking

    def state(self) -> Json:
        """Of the server: is_up, connections, alarms, at_us (of the run, microseconds) ..."""
        return self.ask(self.control.state)

    def queues(self) -> list[Json]:
        """Each with vhost, queue, durable, arguments, ready, unacked, consumers."""
        return self.ask(self.control.queues)

    def connections(self) -> list[Json]:
        """Each with its name (connection), number, state, user, vhost, channels, consumers, unacked, is_blocked."""
        return self.ask(self.control.connections)

    def faults(self) -> list[Json]:
        """Each with its id, what was said of it, matches, hits, held (methods that wait), is_over."""
        return self.ask(self.control.faults)

    def unmet(self) -> list[Json]:
        """Faults that had to strike, and have not."""
        return self.ask(self.control.unmet)

    def events(self, last: int = 20) -> list[str]:
        """The last events of the run in words, the newest last."""
        return last_events(self.ask(self.control.journal), last)

    # -- ordering

    def crash(self) -> None:
        """The server's process dies: connections break, and what was on its way to the disk is lost; see `start`."""
        self.ask(lambda: self.control.act("crash"))

    def stop(self) -> None:
        """The server stops clean; see `start`."""
        self.ask(lambda: self.control.act("stop"))

    def start(self) -> None:
        """The server that is down starts with what its disk has."""
        self.ask(lambda: self.control.act("start"))

    def alarm(self, resource: str = "memory", *, is_on: bool = True) -> None:
        """resource: memory or disk. Publishers are blocked meanwhile."""
        self.ask(lambda: self.control.alarm(resource, is_on))

    def define(self, definitions: Json) -> None:
        """Users, virtual hosts, permissions, exchanges, queues, bindings, as RabbitMQ exports them."""
        self.ask(lambda: self.control.define(definitions))

    def reset(self) -> None:
        """The run begins again with what it began with: clients are cut off, and faults are gone."""
        self.ask(self.control.reset)

    def save(self, path: Path | str) -> Path:
        """Keep the run as a file, which `highwater replay` plays again. Returns its path. Raises OSError."""
        path = Path(path)
        path.write_bytes(self.ask(self.control.journal))
        return path

    def _set(self, do: str, method: str, fields: dict[str, Any]) -> int:
        given = {"do": do, **({"method": method} if method else {}), **fields}
        return int(self.ask(lambda: self.control.set_fault(given))["id"])


class FaultHandle:
    """One fault. id: its number in the run."""

    def __init__(self, handle: Handle, number: int) -> None:
        self._handle, self.id = handle, number

    def state(self) -> Json:
        """What was said of it, with matches, hits, held and is_over. Raises CommandError after a reset."""
        return self._handle.ask(lambda: self._handle.control.fault(self.id))

    @property
    def hits(self) -> int:
        """How many methods it has struck."""
        return int(self.state()["hits"])

    @property
    def held(self) -> int:
        """How many methods wait because of it, with those behind them."""
        return int(self.state()["held"])

    def release(self) -> None:
        """What it holds goes on, what it broke is whole again, and it strikes no more."""
        self._handle.ask(lambda: self._handle.control.release_fault(self.id))

    def remove(self) -> None:
        """Release it, and forget it: nobody asks whether it has struck."""
        self._handle.ask(lambda: self._handle.control.remove_fault(self.id))


class HereFault(FaultHandle):
    async def wait(self, hits: int = 1, timeout: float = TIMEOUT_S) -> None:  # noqa: ASYNC109
        """Until it has struck so often. timeout: seconds. Raises NotMet, a TimeoutError."""
        await self._handle.control.wait_for_fault(self.id, hits, timeout)


class Here(Handle):
    """A broker on this loop: waits are awaited, all else is done when the call returns."""

    def ask(self, call: Callable[[], T]) -> T:
        return call()

    def fault(self, do: str, method: str = "", **fields: Any) -> HereFault:
        """From now on methods meet a fault; `wire/faults/fault.py` has its fields. Raises CommandError at the field."""
        return HereFault(self, self._set(do, method, fields))

    async def wait_for_queue(
        self,
        queue: str,
        *,
        vhost: str = "/",
        ready: int | None = None,
        unacked: int | None = None,
        timeout: float = TIMEOUT_S,  # noqa: ASYNC109
    ) -> Json:
        """Until the queue is there, with exactly so many messages; None: any number. timeout: seconds. Returns how it was.
        Raises NotMet, a TimeoutError."""
        return await self.control.wait_for_queue(
            queue, vhost=vhost, ready=ready, unacked=unacked, timeout_s=timeout
        )

    async def wait_for_consumer(
        self,
        queue: str,
        count: int = 1,
        *,
        vhost: str = "/",
        timeout: float = TIMEOUT_S,  # noqa: ASYNC109
    ) -> Json:
        """Until the queue has at least so many consumers. timeout: seconds. Raises NotMet, a TimeoutError."""
        return await self.control.wait_for_queue(queue, vhost=vhost, consumers=count, timeout_s=timeout)


class ThreadFault(FaultHandle):
    def __init__(self, handle: Threaded, number: int) -> None:
        super().__init__(handle, number)
        self._threaded = handle

    def wait(self, hits: int = 1, timeout: float = TIMEOUT_S) -> None:
        """Until it has struck so often. timeout: seconds. Raises NotMet, a TimeoutError."""
        control = self._threaded.control
        self._threaded.wait(lambda: control.wait_for_fault(self.id, hits, timeout))


class Threaded(Handle):
    """A broker on a loop of its own, in another thread: every call waits for its result. From any thread but that one."""

    def __init__(self, control: Control, host: str, port: int) -> None:
        super().__init__(control, host, port)
        self.loop = control.server.loop

    def ask(self, call: Callable[[], T]) -> T:
        async def carry_out() -> T:
            return call()

        return asyncio.run_coroutine_threadsafe(carry_out(), self.loop).result()

    def wait(self, call: Callable[[], Any]) -> Any:
        async def carry_out() -> Any:
            return await call()

        return asyncio.run_coroutine_threadsafe(carry_out(), self.loop).result()

    def fault(self, do: str, method: str = "", **fields: Any) -> ThreadFault:
        """From now on methods meet a fault; docs/clients/faults.md has its fields. Raises CommandError at the field.

        `rabbitmq.fault("refuse", "queue.declare", queue="orders", code=403)`
        """
        return ThreadFault(self, self._set(do, method, fields))

    def wait_for_queue(
        self,
        queue: str,
        *,
        vhost: str = "/",
        ready: int | None = None,
        unacked: int | None = None,
        timeout: float = TIMEOUT_S,
    ) -> Json:
        """Until the queue is there, with exactly so many messages; None: any number. timeout: seconds. Returns how it was.
        Raises NotMet, a TimeoutError."""
        control = self.control
        found: Json = self.wait(
            lambda: control.wait_for_queue(
                queue, vhost=vhost, ready=ready, unacked=unacked, timeout_s=timeout
            )
        )
        return found

    def wait_for_consumer(
        self, queue: str, count: int = 1, *, vhost: str = "/", timeout: float = TIMEOUT_S
    ) -> Json:
        """Until the queue has at least so many consumers. timeout: seconds. Raises NotMet, a TimeoutError."""
        control = self.control
        found: Json = self.wait(
            lambda: control.wait_for_queue(queue, vhost=vhost, consumers=count, timeout_s=timeout)
        )
        return found
