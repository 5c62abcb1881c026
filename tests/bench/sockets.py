"""Many websocket clients in one cheap process, so that the clients' own work does not hide the server's.

A client reads frames off the wire, looks only at the first bytes of a message for its numbers, and
acknowledges every fifth frame. Run as a program it prints one JSON line: `python -m tests.bench.sockets PORT
PATH COUNT DEAF`, once its input ends: whoever measures says when. Deaf clients never read.
"""

import asyncio
import base64
import json
import os
import re
import sys
import time
from collections.abc import Callable

_SEQ = re.compile(rb'"seq": ?(\d+)')
_FROM_SEQ = re.compile(rb'"from_seq": ?(\d+)')
_SENT_AT = re.compile(rb'"sent_at": ?([0-9.]+)')
ACK_EVERY = 5

OnText = Callable[["Client", bytes], None]


class Client(asyncio.Protocol):
    """One socket. frames, snapshots: how many came. gaps: frames that did not follow on, i.e. losses that
    were not announced."""

    def __init__(self, port: int, path: str, on_text: OnText | None = None) -> None:
        self.port, self.path, self.on_text = port, path, on_text
        self.buffer = bytearray()
        self.open = asyncio.get_running_loop().create_future()
        self.frames = self.snapshots = self.gaps = self.bytes = 0
        self.seq = -1
        self.delays_s: list[float] = []
        self.transport: asyncio.Transport | None = None

    def connection_made(self, transport: asyncio.BaseTransport) -> None:
        assert isinstance(transport, asyncio.Transport)
        self.transport = transport
        key = base64.b64encode(os.urandom(16)).decode()
        transport.write(
            f"GET {self.path} HTTP/1.1\r\nHost: 127.0.0.1:{self.port}\r\nUpgrade: "
            f"websocket\r\nConnection: Upgrade\r\n"
            f"Sec-WebSocket-Key: {key}\r\nSec-WebSocket-Version: 13\r\n\r\n".encode()
        )

    def data_received(self, data: bytes) -> None:
        self.buffer += data
        if not self.open.done():
            end = self.buffer.find(b"\r\n\r\n")
            if end < 0:
                return
            self.open.set_result(self.buffer.startswith(b"HTTP/1.1 101"))
            del self.buffer[: end + 4]
        while self._take_message():
            pass

    def _take_message(self) -> bool:
        buffer = self.buffer
        if len(buffer) < 2:
            return False
        size, start = buffer[1] & 0x7F, 2
        if size == 126:
            size, start = int.from_bytes(buffer[2:4], "big"), 4
        elif size == 127:
            size, start = int.from_bytes(buffer[2:10], "big"), 10
        if len(buffer) < start + size:
            return False
        opcode, payload = buffer[0] & 0x0F, bytes(buffer[start : start + size])
        del buffer[: start + size]
        if opcode == 1:
            self._text(payload)
        elif opcode == 9:
            self.send(10, payload)
        return True

    def _text(self, payload: bytes) -> None:
        head = payload[:200]
        self.bytes += len(payload)
        number = _SEQ.search(head)
        if number is not None:
            seq = int(number[1])
            if b'"snapshot"' in head:
                self.snapshots += 1
                self.seq = seq
            else:
                self.frames += 1
                before = _FROM_SEQ.search(head)
                if before is not None and int(before[1]) == self.seq:
                    self.seq = seq
                elif seq > self.seq:
                    self.gaps += 1
                    self.seq = seq
            if self.frames % ACK_EVERY == 0:
                self.send(1, b'{"type":"ack","seq":%d}' % seq)
        if sent_at := _SENT_AT.search(head):
            self.delays_s.append(time.time() - float(sent_at[1]))
        if self.on_text is not None:
            self.on_text(self, payload)

    def send(self, opcode: int, payload: bytes) -> None:
        """A short masked message; the mask is zero, which the protocol allows."""
        if self.transport is not None and not self.transport.is_closing():
            self.transport.write(bytes([0x80 | opcode, 0x80 | len(payload)]) + bytes(4) + payload)


async def connect(port: int, path: str, on_text: OnText | None = None) -> Client:
    """An open client. Raises ConnectionError when the handshake is refused."""
    loop = asyncio.get_running_loop()
    _transport, client = await loop.create_connection(lambda: Client(port, path, on_text), "127.0.0.1", port)
    if not await asyncio.wait_for(client.open, 30):
        raise ConnectionError(path)
    return client


def quantile(values: list[float], share: float) -> float:
    """The value below which `share` of the values lie."""
    return sorted(values)[min(len(values) - 1, int(share * len(values)))]


async def main(port: int, paths: list[str], count: int, deaf: int) -> None:
    clients = [await connect(port, paths[number % len(paths)]) for number in range(count + deaf)]
    for client in clients[count:]:
        assert client.transport is not None
        client.transport.pause_reading()
    print("connected", flush=True)
    for client in clients:
        client.frames = client.snapshots = client.gaps = 0
        client.delays_s.clear()
    await asyncio.get_running_loop().run_in_executor(None, sys.stdin.buffer.read)
    reading = clients[:count]
    delays = [delay for client in reading for delay in client.delays_s]
    print(
        json.dumps(
            {
                "frames_min": min(client.frames for client in reading),
                "frames_max": max(client.frames for client in reading),
                "gaps": sum(client.gaps for client in reading),
                "snapshots": sum(client.snapshots for client in reading),
                "closed": sum(
                    client.transport is None or client.transport.is_closing() for client in reading
                ),
                "delay_p50_ms": quantile(delays, 0.5) * 1000 if delays else None,
                "delay_p99_ms": quantile(delays, 0.99) * 1000 if delays else None,
            }
        )
    )


if __name__ == "__main__":
    asyncio.run(main(int(sys.argv[1]), sys.argv[2].split(","), int(sys.argv[3]), int(sys.argv[4])))
