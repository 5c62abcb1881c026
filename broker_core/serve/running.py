"""A broker for a test: in a thread of its own, or on the test's own loop.

with run() as rabbitmq:                      async with run_here() as rabbitmq:
    pika.URLParameters(rabbitmq.url)             await aio_pika.connect(rabbitmq.url)
    rabbitmq.wait_for_queue("q", ready=0)        await rabbitmq.wait_for_queue("q", ready=0)
"""

from __future__ import annotations

import asyncio
import threading
from collections.abc import AsyncIterator, Iterator
from concurrent.futures import Future
from contextlib import asynccontextmanager, contextmanager, suppress
from dataclasses import dataclass
from pathlib import Path

from broker_core.errors import CommandError
from broker_core.events import Json
from broker_core.serve.control import Control
from broker_core.serve.handles import Here, Threaded
from broker_core.serve.journal import Began, Journal
from broker_core.serve.run import Run
from broker_core.serve.scenario import Scenario, read_definitions_file, read_scenario
from broker_core.serve.server import Server, epoch_us
from broker_core.wire.acts import ServerAct


@dataclass(frozen=True, slots=True)
class Beginning:
    """port: 0 for any that is free. seed: what names that the server makes follow from. journal: a new file to keep the run
    in, else it is kept in memory. first: orders with which the run begins."""

    host: str
    port: int
    seed: int
    journal: Path | None
    first: list[ServerAct]


def _beginning(
    host: str,
    port: int,
    seed: int,
    definitions: Path | str | Json | None,
    scenario: Path | str | None,
    journal: Path | str | None,
) -> Beginning:
    if isinstance(definitions, Path | str):
        definitions = read_definitions_file(Path(definitions))
    path = None if journal is None else Path(journal)
    if path is not None and path.exists():
        raise CommandError("journal", "{file} is there already", file=str(path))
    first = Scenario(definitions).acts() + (read_scenario(Path(scenario)).acts() if scenario else [])
    return Beginning(host, port, seed, path, first)


@asynccontextmanager
async def _served(beginning: Beginning) -> AsyncIterator[tuple[Server, int]]:
    """Raises OSError where it cannot listen; at the end what has broken the server, if anything has."""
    began = Began(beginning.seed, epoch_us())
    run, journal = Run(began.seed, began.began_us), Journal(began, beginning.journal)
    server = Server(run, journal, asyncio.get_running_loop())
    try:
        server.begin(beginning.first)
        yield server, await server.listen(beginning.host, beginning.port)
    finally:
        await server.close()
    if server.failed.done():
        raise server.failed.result()


@asynccontextmanager
async def run_here(
    *,
    host: str = "127.0.0.1",
    port: int = 0,
    seed: int = 0,
    definitions: Path | str | Json | None = None,
    scenario: Path | str | None = None,
    journal: Path | str | None = None,
) -> AsyncIterator[Here]:
    """A RabbitMQ server on the running loop, which may be a virtual one (`virtual.py`).

    port: 0 for any that is free. definitions: a file as RabbitMQ exports it, or what it holds. scenario: a TOML file of
    definitions and faults. journal: a new file to keep the run in; else it is in memory, for `save`.
    Raises CommandError at the argument, OSError where it cannot listen; at the end InvariantError if it broke a rule of
    ours.
    """
    beginning = _beginning(host, port, seed, definitions, scenario, journal)
    async with _served(beginning) as (server, listens_at):
        yield Here(Control(server), host, listens_at)


@contextmanager
def run(
    *,
    host: str = "127.0.0.1",
    port: int = 0,
    seed: int = 0,
    definitions: Path | str | Json | None = None,
    scenario: Path | str | None = None,
    journal: Path | str | None = None,
) -> Iterator[Threaded]:
    """A RabbitMQ server in a thread of its own; arguments and errors are those of `run_here`."""
    beginning = _beginning(host, port, seed, definitions, scenario, journal)
    ready: Future[tuple[Threaded, asyncio.Event]] = Future()
    ended: Future[None] = Future()

    async def serve() -> None:
        async with _served(beginning) as (server, listens_at):
            enough = asyncio.Event()
            server.failed.add_done_callback(lambda _: enough.set())
            ready.set_result((Threaded(Control(server), host, listens_at), enough))
            await enough.wait()

    def work() -> None:
        try:
            asyncio.run(serve())
            ended.set_result(None)
        except BaseException as error:
            (ended if ready.done() else ready).set_exception(error)

    thread = threading.Thread(target=work, name="highwater", daemon=True)
    thread.start()
    handle, enough = ready.result()
    try:
        yield handle
    finally:
        with suppress(RuntimeError):  # a server that broke has closed its loop on its own
            handle.loop.call_soon_threadsafe(enough.set)
        thread.join()
    ended.result()
