"""What a websocket may bring on the wire: floods of pings and endless fragments close it, on the real web
server; others notice nothing."""

import contextlib
import os
import socket
import struct
import time
from collections.abc import Iterator

import pytest

from tests.dashboard.processes import Site

TEXT, CONTINUED, PING, PONG = 1, 0, 9, 10


def frame(opcode: int, payload: bytes = b"", *, fin: bool = True) -> bytes:
    """As a client sends it, masked with zeros."""
    size = bytes([0x80 | len(payload)]) if len(payload) < 126 else b"\xff" + struct.pack(">Q", len(payload))
    if 126 <= len(payload) < 65_536:
        size = b"\xfe" + struct.pack(">H", len(payload))
    return bytes([opcode | (0x80 if fin else 0)]) + size + b"\0\0\0\0" + payload


class Wire:
    """A socket of a lab, byte by byte."""

    def __init__(self, site: Site, lab_id: str) -> None:
        self.socket = socket.create_connection(("127.0.0.1", site.port), timeout=10)
        key = b"Sec-WebSocket-Key: " + b"A" * 22 + b"=="
        lines = [
            b"GET /ws/labs/%s/ HTTP/1.1" % lab_id.encode(),
            b"Host: 127.0.0.1",
            b"Upgrade: websocket",
            b"Connection: Upgrade",
            b"Sec-WebSocket-Version: 13",
            key,
            b"",
            b"",
        ]
        self.socket.sendall(b"\r\n".join(lines))
        self.received = b""
        while b"\r\n\r\n" not in self.received:
            self.received += self.socket.recv(4096)
        status, _, self.received = self.received.partition(b"\r\n\r\n")
        assert b" 101 " in status

    def frames(self, within_s: float) -> Iterator[tuple[int, bytes]]:
        """(opcode, payload) of what comes, until the other side is gone or nothing came for so long."""
        self.socket.settimeout(within_s)
        while True:
            while (parsed := self._parsed()) is not None:
                yield parsed
            try:
                more = self.socket.recv(65_536)
            except TimeoutError:
                return
            except ConnectionError:
                more = b""
            if not more:
                yield -1, b""
                return
            self.received += more

    def _parsed(self) -> tuple[int, bytes] | None:
        if len(self.received) < 2:
            return None
        length, head = self.received[1] & 0x7F, 2
        if length >= 126:
            wide = 2 if length == 126 else 8
            if len(self.received) < 2 + wide:
                return None
            length, head = int.from_bytes(self.received[2 : 2 + wide], "big"), 2 + wide
        if len(self.received) < head + length:
            return None
        opcode, payload = self.received[0] & 0xF, self.received[head : head + length]
        self.received = self.received[head + length :]
        return opcode, payload

    def ends(self, within_s: float = 5.0) -> tuple[int | None, bool]:
        """(the code it was closed with, whether the connection was cut)."""
        code, until_s = None, time.monotonic() + within_s
        for opcode, payload in self.frames(within_s):
            if opcode == 8:
                code = int.from_bytes(payload[:2], "big")
            if opcode == -1:
                return code, True
            if time.monotonic() > until_s:
                break
        return code, False

    def pour(self, piece: bytes, times: int) -> None:
        with contextlib.suppress(OSError):
            for _time in range(times):
                self.socket.sendall(piece)


@pytest.fixture(scope="module")
def lab_id(site: Site) -> str:
    status, lab = site.request("POST", "/api/labs/", {"lanes": [{"model": "rabbitmq"}], "consumers": 1})
    assert status == 201, lab
    return str(lab["id"])


@pytest.fixture
def wire(site: Site, lab_id: str) -> Iterator[Wire]:
    opened = Wire(site, lab_id)
    yield opened
    opened.socket.close()


FLOODS = {
    "pings": (frame(PING, b"x" * 125) * 50, 200, 4429),
    "pings without a payload": (frame(PING) * 500, 20, 4429),
    "pongs that answer nothing": (frame(PONG, b"x") * 200, 50, 4429),
    "fragments": (frame(CONTINUED, b"x" * 10, fin=False), 200, 1009),
    "fragments of nothing": (frame(CONTINUED, fin=False), 2_000, 1009),
    "fragments with pings between them": (frame(CONTINUED, b"x", fin=False) + frame(PING), 200, 1009),
    "large fragments": (frame(CONTINUED, b"x" * 60_000, fin=False), 200, 1009),
}


@pytest.mark.parametrize(("piece", "times", "code"), FLOODS.values(), ids=FLOODS)
def test_a_flood_of_frames_closes_the_socket(wire: Wire, piece: bytes, times: int, code: int) -> None:
    if code == 1009:
        wire.pour(frame(TEXT, b"{", fin=False), 1)
    wire.pour(piece, times)
    assert wire.ends() == (code, True)


def test_fragments_that_come_slowly_close_the_socket_too(wire: Wire) -> None:
    wire.pour(frame(TEXT, b"{", fin=False), 1)
    for _fragment in range(20):
        wire.pour(frame(CONTINUED, fin=False), 1)
        time.sleep(0.02)
    assert wire.ends() == (1009, True)


def test_who_reads_nothing_of_what_it_asks_for_is_cut_too(site: Site, lab_id: str) -> None:
    wire = Wire(site, lab_id)
    wire.pour(frame(PING, os.urandom(125)) * 100, 2_000)
    time.sleep(2)
    with contextlib.suppress(ConnectionError):
        while wire.socket.recv(65_536):
            pass
    wire.socket.close()


def test_a_client_that_pings_now_and_then_and_sends_a_message_in_two_pieces_stays(wire: Wire) -> None:
    for _second in range(3):
        wire.pour(frame(PING, b"still there"), 5)
        wire.pour(frame(TEXT, b'{"type": "sna', fin=False), 1)
        wire.pour(frame(CONTINUED, b'pshot"}'), 1)
        time.sleep(0.2)
    code, is_cut = wire.ends(1.0)
    assert (code, is_cut) == (None, False)


def test_the_site_lives_on_after_all_this(site: Site) -> None:
    site.wait_healthy(10)
