"""Bytes that break the protocol, by whose they are."""

from __future__ import annotations

from broker_core.errors import HighwaterError
from broker_core.rabbitmq.erlang import binary, listed
from broker_core.rabbitmq.reply_codes import FRAME_ERROR, UNEXPECTED_FRAME

SNIPPET_BYTES, REPLY_TEXT_BYTES_MAX = 16, 255


class RemoteProtocolError(HighwaterError):
    """The peer's bytes break the protocol; nothing more of the connection can be read.

    reply_code, reply_text, class_id, method_id: what connection.close answers; a code of 0: nothing is sent, the
    connection just ends.
    """

    def __init__(self, reply_code: int, reply_text: str, method: tuple[int, int] = (0, 0)) -> None:
        encoded = reply_text.encode()
        if len(encoded) > REPLY_TEXT_BYTES_MAX:
            reply_text = encoded[: REPLY_TEXT_BYTES_MAX - 3].decode(errors="ignore") + "..."
        super().__init__(reply_text)
        self.reply_code, self.reply_text = reply_code, reply_text
        self.class_id, self.method_id = method


class LocalProtocolError(HighwaterError):
    """We were asked to send what the wire cannot carry."""


def frame_error(kind: int, payload: bytes, error: str) -> RemoteProtocolError:
    """A frame that is none. Source: RabbitMQ 3.10 rabbit_reader:frame_error."""
    return RemoteProtocolError(FRAME_ERROR, f"FRAME_ERROR - {_snippet(kind, payload)}: {error}")


def misplaced_frame(kind: int, payload: bytes) -> RemoteProtocolError:
    """A frame on a channel where it has no place. Source: RabbitMQ 3.10 rabbit_reader:unexpected_frame."""
    return RemoteProtocolError(UNEXPECTED_FRAME, f"UNEXPECTED_FRAME - {_snippet(kind, payload)}")


def unexpected_frame(text: str, method: tuple[int, int] = (0, 0)) -> RemoteProtocolError:
    """A frame out of turn. Source: RabbitMQ 3.10 rabbit_command_assembler:unexpected_frame."""
    return RemoteProtocolError(UNEXPECTED_FRAME, f"UNEXPECTED_FRAME - {text}", method)


def undecodable(payload: bytes, method: tuple[int, int] = (0, 0)) -> RemoteProtocolError:
    """Fields that do not fit their method. Source: RabbitMQ 3.10 rabbit_misc:frame_error."""
    return RemoteProtocolError(
        FRAME_ERROR, f"FRAME_ERROR - cannot decode {listed(payload[:REPLY_TEXT_BYTES_MAX])}", method
    )


def _snippet(kind: int, payload: bytes) -> str:
    which = "all" if len(payload) <= SNIPPET_BYTES else f"first {SNIPPET_BYTES}"
    return f"type {kind}, {which} octets = {binary(payload[:SNIPPET_BYTES])}"
