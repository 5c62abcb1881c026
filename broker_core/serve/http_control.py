"""The control over HTTP: JSON in, JSON out; docs/clients/control.md.

    request (a thread of its own, so that a wait may last) ─► the server's loop ─► Control

A page of some site that a person visits must not reach it: the request's host has to be an address of this machine, and
what changes something has to come as application/json, which a browser lets no foreign page send.
"""

from __future__ import annotations

import asyncio
import json
import re
import socket
import threading
from contextlib import suppress
from http import HTTPStatus
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any
from urllib.parse import urlsplit

from broker_core.errors import CommandError
from broker_core.serve.conditions import NotMet
from broker_core.serve.control import Control
from broker_core.serve.http_routes import Answer, find_route

BODY_BYTES_MAX = 16 << 20
IDLE_S = 60
REQUESTS_MAX = 64
"""Requests, and connections that are kept for the next one, at a time: each has a thread."""
TURN_AWAY_S = 0.2
_FULL = (
    b"HTTP/1.1 503 Service Unavailable\r\nContent-Type: application/json\r\nConnection: close\r\nContent-Length: 47\r\n\r\n"
    b'{"detail": "as many requests as fit are asked"}'
)
_LOCAL = re.compile(r"(127(\.\d{1,3}){3}|localhost|\[::1\])(:\d{1,5})?", re.IGNORECASE)


class HttpControl:
    """control: what it asks, on `loop`. port: where it listens. host: the address; where it is not this machine's own, a
    request has to name just that."""

    def __init__(self, control: Control, loop: asyncio.AbstractEventLoop, host: str, port: int) -> None:
        """port: 0 for any that is free. Raises OSError."""
        self.control, self.loop, self.host = control, loop, host
        self._http = _Listener(self, port)
        self.port = int(self._http.server_address[1])
        threading.Thread(
            target=self._http.serve_forever, args=(0.05,), name="highwater control", daemon=True
        ).start()

    def close(self) -> None:
        self._http.shutdown()
        self._http.server_close()

    def answer(self, verb: str, path: str, fields: dict[str, Any]) -> Answer:
        """Called from the request's thread. Raises CommandError."""
        call = find_route(verb, path)
        return asyncio.run_coroutine_threadsafe(call(self.control, fields), self.loop).result()

    def knows(self, host: str) -> bool:
        """Whether a request that names this host is meant for us."""
        name = host.rsplit(":", 1)[0].strip("[]")
        return _LOCAL.fullmatch(host) is not None or name == self.host


class _Listener(ThreadingHTTPServer):
    daemon_threads = True

    def __init__(self, owner: HttpControl, port: int) -> None:
        self.owner, self.room = owner, threading.BoundedSemaphore(REQUESTS_MAX)
        self.address_family = socket.AF_INET6 if ":" in owner.host else socket.AF_INET
        super().__init__((owner.host, port), _Request)

    def process_request(self, request: Any, client_address: Any) -> None:
        if self.room.acquire(blocking=False):
            super().process_request(request, client_address)
            return
        with suppress(OSError):
            request.settimeout(TURN_AWAY_S)
            request.recv(1 << 16)  # closed with its request unread, the answer would be lost
            request.sendall(_FULL)
        self.shutdown_request(request)

    def process_request_thread(self, request: Any, client_address: Any) -> None:
        try:
            super().process_request_thread(request, client_address)
        finally:
            self.room.release()


class _Refused(Exception):
    """status: why the request is not answered. Its body has not been read."""

    def __init__(self, status: HTTPStatus, text: str) -> None:
        super().__init__(text)
        self.status, self.text = status, text


class _Request(BaseHTTPRequestHandler):
    protocol_version = "HTTP/1.1"
    server_version, sys_version = "highwater", ""
    timeout = IDLE_S
    server: _Listener

    def do_GET(self) -> None:
        self._answer()

    do_POST = do_DELETE = do_GET

    def log_message(self, format: str, *args: Any) -> None:
        pass

    def _answer(self) -> None:
        try:
            fields = self._fields()
            status, content = self.server.owner.answer(self.command, urlsplit(self.path).path, fields)
        except _Refused as refused:
            self.close_connection = True
            status, content = refused.status, {"detail": refused.text}
        except NotMet as error:
            status, content = HTTPStatus.GATEWAY_TIMEOUT, {**_refusal(error), "seen": error.seen}
        except CommandError as error:
            is_about_us = error.field == "server"
            status, content = HTTPStatus.CONFLICT if is_about_us else HTTPStatus.BAD_REQUEST, _refusal(error)
        self._write(status, content)

    def _fields(self) -> dict[str, Any]:
        """Raises _Refused; CommandError for a body that is no object."""
        if not self.server.owner.knows(self.headers.get("Host", "")):
            raise _Refused(HTTPStatus.MISDIRECTED_REQUEST, "the host is none of this machine")
        if "Transfer-Encoding" in self.headers:
            raise _Refused(HTTPStatus.LENGTH_REQUIRED, "a body needs its Content-Length")
        length = self.headers.get("Content-Length", "0")
        if not re.fullmatch("[0-9]{1,12}", length) or int(length) > BODY_BYTES_MAX:
            raise _Refused(HTTPStatus.REQUEST_ENTITY_TOO_LARGE, f"a body has at most {BODY_BYTES_MAX} bytes")
        if self.command == "POST" and self.headers.get_content_type() != "application/json":
            raise _Refused(HTTPStatus.UNSUPPORTED_MEDIA_TYPE, "Content-Type must be application/json")
        body = self.rfile.read(int(length))
        if not body:
            return {}
        try:
            fields = json.loads(body)
        except (ValueError, RecursionError) as error:
            raise CommandError("body", "is no JSON: {why}", why=str(error)) from None
        if not isinstance(fields, dict):
            raise CommandError("body", "must be an object")
        return fields

    def _write(self, status: HTTPStatus, content: Any) -> None:
        if isinstance(content, bytes):
            kind, data = "application/octet-stream", content
        else:
            kind, data = "application/json", json.dumps(content, default=repr).encode() + b"\n"
        self.send_response(status)
        self.send_header("Content-Type", kind)
        self.send_header("Content-Length", str(len(data)))
        if self.close_connection:
            self.send_header("Connection", "close")
        self.end_headers()
        self.wfile.write(data)


def _refusal(error: CommandError) -> dict[str, Any]:
    return {"fields": {each.field: [each.reason] for each in (error, *error.others)}}
