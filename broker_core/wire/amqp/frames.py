"""Bytes as frames, and frames as bytes.

    type (1)  channel (2)  payload size (4)  payload  0xCE          and once, before all: "AMQP" 0 0 9 1

Source: AMQP 0-9-1; RabbitMQ 3.10 rabbit_reader:handle_input, whose refusals these are.
"""

from __future__ import annotations

from dataclasses import dataclass
from struct import Struct
from typing import NamedTuple

from broker_core.rabbitmq.connection import FRAME_SIZE_MIN
from broker_core.wire.amqp.errors import RemoteProtocolError, frame_error

METHOD, HEADER, BODY, HEARTBEAT = 1, 2, 3, 8
FRAME_END, FRAME_END_BYTE = 0xCE, b"\xce"
EMPTY_FRAME_SIZE = 8
PROTOCOL_HEADER = b"AMQP\x00\x00\x09\x01"

HEAD = Struct(">BHI")


class Frame(NamedTuple):
    kind: int
    channel: int
    payload: bytes


@dataclass(slots=True, eq=False, init=False)
class FrameReader:
    """Cuts what comes into frames, wherever it is cut. Behind a refused one it continues where the original does: after the
    frame, or after the head of one that is too large.

    frame_max: size of a whole frame that the peer may send, 0 for any; it is refused by its head, before its payload
    is here, so that no claim of a size takes memory. expects_header: the peer begins with the protocol header. data: what has come
    and is not dropped yet; before `at` it is read.
    """

    frame_max: int
    expects_header: bool
    data: bytearray
    at: int

    def __init__(self, frame_max: int = FRAME_SIZE_MIN, expects_header: bool = False) -> None:
        self.frame_max = frame_max
        self.expects_header = expects_header
        self.data = bytearray()
        self.at = 0

    def feed(self, data: bytes) -> None:
        if self.at:
            del self.data[: self.at]
            self.at = 0
        self.data += data

    def next_frame(self) -> Frame | None:
        """The next whole frame, None until more bytes come. Raises RemoteProtocolError."""
        data, at = self.data, self.at
        if self.expects_header and not self._take_header():
            return None
        at = self.at
        if len(data) - at < HEAD.size:
            return None
        kind, channel, size = HEAD.unpack_from(data, at)
        # The original lets a payload have the size of a whole frame.
        if self.frame_max and size > self.frame_max:
            self.at = at + HEAD.size
            raise frame_error(kind, b"", f"{{frame_too_large,{size},{self.frame_max - EMPTY_FRAME_SIZE}}}")
        end = at + HEAD.size + size
        if len(data) <= end:
            return None
        payload = bytes(data[at + HEAD.size : end])
        self.at = end + 1
        if data[end] != FRAME_END:
            raise frame_error(kind, payload, f"{{invalid_frame_end_marker,{data[end]}}}")
        return Frame(kind, channel, payload)

    def _take_header(self) -> bool:
        """Take the protocol header. Raises RemoteProtocolError with code 0 for another one: the answer is
        PROTOCOL_HEADER, then the end."""
        if len(self.data) < len(PROTOCOL_HEADER):
            return False
        if self.data[: len(PROTOCOL_HEADER)] != PROTOCOL_HEADER:
            raise RemoteProtocolError(0, "another protocol header")
        self.at = len(PROTOCOL_HEADER)
        self.expects_header = False
        return True


def write_frame(kind: int, channel: int, payload: bytes) -> bytes:
    return HEAD.pack(kind, channel, len(payload)) + payload + FRAME_END_BYTE
