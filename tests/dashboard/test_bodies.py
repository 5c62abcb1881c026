"""What a request may bring: told to the sender at once where it is too much, on the real web server, and
nothing of it is kept."""

import contextlib
import json
import socket
import time
from pathlib import Path
from typing import Any

from tests.dashboard.processes import UPLOAD_MAX, Site

BODY_MAX = 65 * 2**20 + 2**10


def answer_to(site: Site, head: bytes, *pieces: bytes) -> tuple[int, Any]:
    """(status, JSON) that comes back for these bytes, which may be less than was announced."""
    with socket.create_connection(("127.0.0.1", site.port), timeout=20) as client:
        client.sendall(head)
        with contextlib.suppress(ConnectionError):
            for piece in pieces:
                client.sendall(piece)
        received = b""
        with contextlib.suppress(ConnectionError):
            while data := client.recv(65_536):
                received += data
    top, _, body = received.partition(b"\r\n\r\n")
    return int(top.split()[1]), json.loads(body)


def request_head(length: int | None, *more: bytes) -> bytes:
    size = b"Transfer-Encoding: chunked" if length is None else b"Content-Length: %d" % length
    lines = [
        b"POST /api/studies/uploads/ HTTP/1.1",
        b"Host: 127.0.0.1",
        b"Content-Type: multipart/form-data; boundary=x",
        size,
    ]
    return b"\r\n".join([*lines, b"Connection: close", *more, b"", b""])


def form(content: bytes) -> bytes:
    return (
        b'--x\r\nContent-Disposition: form-data; name="file"; filename="a.csv"\r\n\r\n'
        + content
        + b"\r\n--x--\r\n"
    )


def kept(site: Site) -> list[Path]:
    return [
        path for folder in ("uploads", "tmp") for path in (site.run_dir / folder).rglob("*") if path.is_file()
    ]


def test_body_beyond_every_limit_is_refused_before_it_comes(site: Site) -> None:
    status, body = answer_to(site, request_head(10**12, b"Expect: 100-continue"))
    assert (status, list(body["fields"])) == (413, ["body"])


def test_endless_body_is_refused_while_it_comes(site: Site) -> None:
    piece = b"%x\r\n" % 2**20 + b"x" * 2**20 + b"\r\n"
    status, body = answer_to(site, request_head(None), *[piece] * (BODY_MAX // 2**20 + 4))
    assert (status, list(body["fields"])) == (413, ["body"])
    assert kept(site) == []


def test_file_above_the_limit_is_refused_at_its_field(site: Site) -> None:
    content = form(b"k\n" + b"x" * (UPLOAD_MAX + 100_000))
    status, body = answer_to(site, request_head(len(content)), content)
    assert (status, list(body["fields"])) == (413, ["file"])
    assert kept(site) == []


def test_long_body_reaches_the_service_as_it_was_sent(site: Site) -> None:
    lines = b"".join(b"key-%d\n" % number for number in range(150_000))
    content = form(b"k\n" + lines)
    status, body = answer_to(site, request_head(len(content)), content)
    assert status == 201, body
    assert [path.read_bytes() for path in kept(site)] == [b"k\n" + lines]


def test_site_lives_on_after_all_this(site: Site) -> None:
    site.wait_healthy(10)


def test_bodies_of_one_address_at_one_time_are_bounded(site: Site) -> None:
    """Ten of the largest may be on their way; the next is told to come later, and finds a place once one has
    gone."""
    with contextlib.ExitStack() as stack:
        waiting = [
            stack.enter_context(socket.create_connection(("127.0.0.1", site.port), timeout=20))
            for _body in range(10)
        ]
        for client in waiting:
            client.sendall(request_head(BODY_MAX - 2**10) + b"--x")
        time.sleep(0.5)
        status, body = answer_to(site, request_head(BODY_MAX - 2**10))
        assert (status, list(body["fields"])) == (429, ["body"])
        assert "try again" in body["fields"]["body"][0]
        small = form(b"k,n\na,1\n")
        assert answer_to(site, request_head(len(small)), small)[0] == 201, "a short one is nobody's burden"
        for client in waiting:
            client.close()
        waiting.clear()
    content = form(b"k,n\n" + b"a,1\n" * 100_000)
    deadline = time.monotonic() + 10
    while (
        status := answer_to(site, request_head(len(content)), content)[0]
    ) == 429 and time.monotonic() < deadline:
        time.sleep(0.1)
    assert status == 201
