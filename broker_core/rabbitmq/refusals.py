"""How the broker refuses a method: the exception with its code and text, raised before anything has changed.

Source: RabbitMQ 3.10 rabbit_misc:protocol_error; docs/rabbitmq/facts.md.
"""

from __future__ import annotations

from broker_core.rabbitmq import reply_codes as codes

WORDS = {
    codes.ACCESS_REFUSED: "ACCESS_REFUSED", codes.NOT_FOUND: "NOT_FOUND",
    codes.RESOURCE_LOCKED: "RESOURCE_LOCKED", codes.PRECONDITION_FAILED: "PRECONDITION_FAILED",
    codes.SYNTAX_ERROR: "SYNTAX_ERROR", codes.COMMAND_INVALID: "COMMAND_INVALID",
    codes.CHANNEL_ERROR: "CHANNEL_ERROR", codes.NOT_ALLOWED: "NOT_ALLOWED",
    codes.NOT_IMPLEMENTED: "NOT_IMPLEMENTED", codes.RESOURCE_ERROR: "RESOURCE_ERROR",
    codes.INTERNAL_ERROR: "INTERNAL_ERROR", codes.CONNECTION_FORCED: "CONNECTION_FORCED",
}  # fmt: skip
TEXT_BYTES_MAX = 255
"""reply_text is a short string."""


class Refused(Exception):
    """A method's exception; it closes the channel, or the connection where its code is one of those."""

    def __init__(self, code: int, text: str) -> None:
        super().__init__(text)
        self.code = code
        self.text = fitting(f"{WORDS[code]} - {text}")

    @property
    def is_hard(self) -> bool:
        """Whether it closes the whole connection."""
        return self.code >= codes.FRAME_ERROR or self.code == codes.CONNECTION_FORCED


def fitting(text: str) -> str:
    """As much of a text as a short string carries, with dots in place of the rest.

    >>> len(fitting("é" * 200).encode())
    255
    """
    if len(text.encode()) <= TEXT_BYTES_MAX:
        return text
    return text.encode()[: TEXT_BYTES_MAX - 3].decode(errors="ignore") + "..."


class Broken(Refused):
    """The original's own process fails where it does not expect what came: the connection is closed without a word."""

    def __init__(self) -> None:
        super().__init__(codes.INTERNAL_ERROR, "")
        self.text = WORDS[codes.INTERNAL_ERROR]


def precondition(text: str) -> Refused:
    return Refused(codes.PRECONDITION_FAILED, text)


def not_found(text: str) -> Refused:
    return Refused(codes.NOT_FOUND, text)


def access_refused(text: str) -> Refused:
    return Refused(codes.ACCESS_REFUSED, text)
