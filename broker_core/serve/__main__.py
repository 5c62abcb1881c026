"""`highwater serve`: a RabbitMQ server for real clients, on this machine alone unless told otherwise.

    highwater serve --amqp 5672 [--amqps PORT --certificate FILE --key FILE] [--host 127.0.0.1]
                    [--control PORT] [--definitions FILE] [--scenario FILE] [--seed N] [--journal FILE] [--json]
    highwater replay FILE
    highwater open FILE [--site http://127.0.0.1:8000]

`serve` prints one line when it is ready, and runs until it is interrupted. `replay` runs a journal again and says whether
every answer is the same: exit code 0, 1 where one is another, 2 for a file that is no run, 3 where a rule of ours breaks.
`open` hands a journal to a site of Highwater that runs, and prints the address of the lab that it becomes.
"""

from __future__ import annotations

import argparse
import asyncio
import json
import signal
import ssl
import sys
from pathlib import Path
from typing import TYPE_CHECKING

from broker_core.errors import CommandError, InvariantError
from broker_core.events import Json
from broker_core.kafka.log.storage import StorageFull
from broker_core.serve.control import Control
from broker_core.serve.journal import Began, Journal
from broker_core.serve.replay import replay
from broker_core.serve.run import Run
from broker_core.serve.scenario import Scenario, read_definitions_file, read_scenario
from broker_core.serve.server import Server, epoch_us

if TYPE_CHECKING:
    from broker_core.serve.http_control import HttpControl

DIFFERS, REFUSED, FAILED = 1, 2, 3
SITE = "http://127.0.0.1:8000"


def main(arguments: list[str] | None = None) -> int:
    options = _options(arguments)
    try:
        if options.command == "replay":
            return _replay(options.file)
        if options.command == "open":
            return _open(options)
        return asyncio.run(_serve(options))
    except CommandError as error:
        print(f"highwater: {error}", file=sys.stderr)
        return REFUSED


def _options(arguments: list[str] | None) -> argparse.Namespace:
    parser = argparse.ArgumentParser(
        prog="highwater", description="A message broker for real clients, to replay."
    )
    commands = parser.add_subparsers(dest="command", required=True)
    serve = commands.add_parser("serve", help="a RabbitMQ server for real clients")
    add = serve.add_argument
    add("--amqp", type=_port, default=5672, metavar="PORT", help="of AMQP 0-9-1; 0: any that is free")
    add("--amqps", type=_port, metavar="PORT", help="with TLS, too; needs --certificate and --key")
    add("--certificate", type=Path, metavar="FILE", help="the server's, as PEM")
    add("--key", type=Path, metavar="FILE", help="its private key, as PEM")
    add("--host", default="127.0.0.1", help="address to listen on; by default only this machine's")
    add("--control", type=_port, metavar="PORT", help="of the control over HTTP; 0: any that is free")
    add("--definitions", type=Path, metavar="FILE", help="definitions as RabbitMQ exports them")
    add("--scenario", type=Path, metavar="FILE", help="definitions and faults to begin with, as TOML")
    add("--seed", type=int, default=0, metavar="N", help="what names that the server makes follow from")
    add("--journal", type=Path, metavar="FILE", help="keep the run in a new file, to replay it")
    add("--json", action="store_true", help="print the ready line as JSON")
    again = commands.add_parser("replay", help="run a journal again and compare every answer")
    again.add_argument("file", type=Path, metavar="FILE")
    opened = commands.add_parser("open", help="see a journal as a lab, on a site that runs")
    opened.add_argument("file", type=Path, metavar="FILE")
    opened.add_argument("--site", default=SITE, metavar="URL", help=f"where it runs; by default {SITE}")
    return parser.parse_args(arguments)


def _port(text: str) -> int:
    if not text.isdecimal() or int(text) > 65_535:
        raise argparse.ArgumentTypeError(f"{text} is no port; 0 to 65535")
    return int(text)


async def _serve(options: argparse.Namespace) -> int:
    tls = _tls(options)
    begins_with = [Scenario(read_definitions_file(options.definitions))] if options.definitions else []
    begins_with += [read_scenario(options.scenario)] if options.scenario else []
    began_us = epoch_us()
    server = Server(Run(options.seed, began_us), _journal(options, began_us), asyncio.get_running_loop())
    try:
        ready, control = await _begin(server, options, begins_with, tls)
    except CommandError:
        if options.journal is not None:
            options.journal.unlink(missing_ok=True)  # of a run that was none
        raise
    ended = asyncio.Event()
    for number in (signal.SIGINT, signal.SIGTERM):
        server.loop.add_signal_handler(number, ended.set)
    print(json.dumps(ready) if options.json else _words(ready), flush=True)
    server.failed.add_done_callback(lambda _: ended.set())
    await ended.wait()
    await server.close()
    if control is not None:
        control.close()
    if not server.failed.done():
        return 0
    print(f"highwater: stopped, {_why(server.failed.result(), options.journal)}", file=sys.stderr)
    return FAILED


async def _begin(
    server: Server, options: argparse.Namespace, begins_with: list[Scenario], tls: ssl.SSLContext | None
) -> tuple[Json, HttpControl | None]:
    """Load what the server begins with, and listen. Returns what the ready line says. Raises CommandError."""
    server.begin([act for scenario in begins_with for act in scenario.acts()])
    port = await _listen(server, "amqp", options.host, options.amqp)
    host = f"[{options.host}]" if ":" in options.host else options.host
    ready: Json = {"amqp": port, "host": options.host, "url": f"amqp://guest:guest@{host}:{port}/"}
    if tls is not None:
        ready["amqps"] = await _listen(server, "amqps", options.host, options.amqps, tls)
    control = None if options.control is None else _control(server, options.control)
    if control is not None:
        ready["control"] = f"http://{control.host}:{control.port}/"
    return ready, control


def _control(server: Server, port: int) -> HttpControl:
    """On this machine alone, whatever --host says: it has no password."""
    from broker_core.serve.http_control import HttpControl  # 40 ms, for those who want it

    host = "127.0.0.1"
    try:
        return HttpControl(Control(server), server.loop, host, port)
    except OSError as error:
        why = error.strerror or str(error)
        raise CommandError("control", "{host}:{port}: {why}", host=host, port=port, why=why) from None


def _words(ready: Json) -> str:
    control = f", control {ready['control']}" if "control" in ready else ""
    return f"highwater: ready{control}, {ready['url']}"


def _why(error: Exception, journal: Path | None) -> str:
    if isinstance(error, OSError | StorageFull):
        return f"the journal cannot be written: {error}"
    kept = (
        "with --journal FILE what leads there is kept"
        if journal is None
        else "the journal has what led there"
    )
    return f"{kept}: {error!r}"


def _tls(options: argparse.Namespace) -> ssl.SSLContext | None:
    if options.amqps is None:
        return None
    if options.certificate is None or options.key is None:
        raise CommandError("amqps", "needs --certificate and --key")
    context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
    try:
        context.load_cert_chain(options.certificate, options.key)
    except OSError as error:
        raise CommandError("certificate", "cannot be used: {why}", why=error.strerror or str(error)) from None
    return context


def _journal(options: argparse.Namespace, began_us: int) -> Journal:
    path = options.journal
    if path is not None and path.exists():
        raise CommandError("journal", "{file} is there already", file=str(path))
    try:
        return Journal(Began(options.seed, began_us), path)
    except (OSError, StorageFull) as error:
        why = getattr(error, "strerror", None) or str(error)
        raise CommandError("journal", "cannot be written: {why}", why=why) from None


async def _listen(server: Server, field: str, host: str, port: int, tls: ssl.SSLContext | None = None) -> int:
    try:
        return await server.listen(host, port, tls)
    except OSError as error:
        why = error.strerror or str(error)
        raise CommandError(field, "{host}:{port}: {why}", host=host, port=port, why=why) from None


def _replay(path: Path) -> int:
    try:
        found = replay(path)
    except InvariantError as error:
        print(f"highwater: the run breaks a rule of ours: {error}", file=sys.stderr)
        return FAILED
    if found.differs is not None:
        print(f"highwater: {found.differs}")
        return DIFFERS
    until = (
        ""
        if found.full_from_us is None
        else f", up to {found.full_from_us / 1_000_000:.3f} s; more was not kept"
    )
    print(f"highwater: {found.acts} acts, {found.answered} turns with the same answers{until}")
    return 0


def _open(options: argparse.Namespace) -> int:
    from broker_core.serve.opening import open_on_site  # what speaks HTTP, for those who want it

    print(open_on_site(options.file, options.site))
    return 0


if __name__ == "__main__":
    sys.exit(main())
