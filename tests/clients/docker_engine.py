"""What stands in for Docker's engine, of whose HTTP interface the suites of aiormq and aio-pika ask for a RabbitMQ: each container
is a `highwater serve`. It knows the requests that they send, and no others (404).

    create ─► start ─► json: ports │ exec: rabbitmqctl stop_app, start_app │ kill: a crash │ start: again │ delete
"""

from __future__ import annotations

import json
import re
import threading
from collections.abc import Callable
from contextlib import suppress
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any

from tests.clients.served import Served

COMMANDS = {"stop_app": "stop", "start_app": "start"}


class DockerEngine:
    """serve: starts a server. first: the one that is there already, the first container."""

    def __init__(self, serve: Callable[[], Served], first: Served) -> None:
        self._serve = serve
        self._new = [first]
        self.containers: list[Served] = []
        engine = self

        class Handler(BaseHTTPRequestHandler):
            def handle(self) -> None:
                with suppress(ConnectionError):  # the suites try whether there is an engine, and go
                    super().handle()

            def do_POST(self) -> None:
                answered = engine.answer(self.command, self.path, self._body())
                data = json.dumps(answered).encode()
                self.send_response(404 if answered is None else 200)
                self.send_header("Content-Length", str(len(data)))
                self.end_headers()
                self.wfile.write(data)

            do_GET = do_DELETE = do_POST

            def _body(self) -> Any:
                length = int(self.headers.get("Content-Length") or 0)
                return json.loads(self.rfile.read(length)) if length else {}

            def log_message(self, format: str, *arguments: object) -> None:
                """Not of interest."""

        self._http = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
        self.address = f"tcp://127.0.0.1:{self._http.server_port}"
        threading.Thread(target=self._http.serve_forever, daemon=True).start()

    def close(self) -> None:
        self._http.shutdown()
        self._http.server_close()

    def answer(self, verb: str, path: str, body: Any) -> dict[str, Any] | None:
        """What the engine says to a request; None: it knows none like that."""
        path = path.split("?")[0]
        if (verb, path) == ("POST", "/images/create"):
            return {}
        if (verb, path) == ("POST", "/containers/create"):
            self.containers.append(self._new.pop() if self._new else self._serve())
            return {"Id": str(len(self.containers) - 1)}
        found = re.fullmatch(r"/(containers|exec)/([0-9]+)(?:-([a-z_]+))?(?:/([a-z]+))?", path)
        if found is None or int(found[2]) >= len(self.containers):
            return None
        what, number, command, request = found.groups()
        container = self.containers[int(number)]
        match what, verb, request:
            case "containers", "POST", "start":
                container.act("start")
            case "containers", "POST", "kill":
                container.act("crash")
            case "containers", "DELETE", None:
                container.end()
            case "containers", "GET", "json":
                ports = {"5672/tcp": container.amqp, "5671/tcp": container.amqps}
                shown = {name: [{"HostPort": str(port)}] for name, port in ports.items()}
                return {"NetworkSettings": {"Ports": shown}}
            case "containers", "POST", "exec" if body["Cmd"][1] in COMMANDS:
                return {"Id": f"{number}-{body['Cmd'][1]}"}
            case "exec", "POST", "start" if command in COMMANDS:
                container.act(COMMANDS[command])
            case "exec", "GET", "json":
                return {"Running": False, "ExitCode": 0}
            case _:
                return None
        return {}
