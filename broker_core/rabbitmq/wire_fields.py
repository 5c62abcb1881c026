"""What a field of a method carries on the wire. Inside the world no codec stands between a client and the broker, so
the broker refuses what none could have sent.

Source: AMQP 0-9-1, the domains of its fields.
"""

from __future__ import annotations

from collections.abc import Callable, Hashable
from functools import cache
from typing import Any

from broker_core.rabbitmq import methods as m
from broker_core.rabbitmq import reply_codes as codes
from broker_core.rabbitmq.properties import NO_PROPERTIES, Content, Properties
from broker_core.rabbitmq.refusals import Refused
from broker_core.rabbitmq.values import fits

SHORT_MAX, LONG_MAX, LONGLONG_MAX, SHORTSTR_BYTES_MAX = 65_535, (1 << 32) - 1, (1 << 64) - 1, 255
"""What a field for a short number, a long one, a delivery tag or a name carries on the wire."""
LONG_STRINGS = {"mechanisms", "locales", "challenge", "response", "new_secret", "channel_id"}
LONGS = {"frame_max", "prefetch_size", "message_count", "consumer_count"}
LONGLONGS = {"delivery_tag", "timestamp"}
OCTETS = {"version_major", "version_minor", "delivery_mode", "priority"}
UNCHECKED = {"message", "delivery_tag", "channel"}
"""Fields whose values the broker and its handlers refuse with words of their own."""
Check = Callable[[Any], bool]


def is_short_text(text: str) -> bool:
    """Whether a field for a short name carries this text.

    >>> is_short_text("q" * 255), is_short_text("é" * 128)
    (True, False)
    """
    return len(text) <= SHORTSTR_BYTES_MAX // 4 or len(text.encode(errors="replace")) <= SHORTSTR_BYTES_MAX


def check_fields(method: Any) -> None:
    """Raises Refused for the first field with a value that it does not carry, where the codec of a real connection
    refuses it: the specification's syntax-error, a connection exception."""
    for name, carries in checks_of(method.__class__):
        value = getattr(method, name)
        if not carries(value):
            raise Refused(codes.SYNTAX_ERROR, f"{name.rstrip('_')} {value!r:.80} does not fit its field")
    if type(method) is m.BasicPublish:
        check_content(method.message)


def check_content(message: int | Content) -> None:
    """Raises Refused."""
    if type(message) is int or message.properties is NO_PROPERTIES:  # type: ignore[union-attr]
        return
    for name, carries in checks_of(Properties):
        value = getattr(message.properties, name)  # type: ignore[union-attr]
        if value is not None and not carries(value):
            raise Refused(codes.SYNTAX_ERROR, f"{name} {value!r:.80} does not fit its field")


@cache
def checks_of(kind: Hashable) -> tuple[tuple[str, Check], ...]:
    """Field -> whether it carries a value, of a method or of the properties."""
    found: list[tuple[str, Check]] = []
    for name, annotation in vars(kind).get("__annotations__", {}).items():
        of = str(annotation).removesuffix(" | None")
        if of == "str" and name not in LONG_STRINGS:
            found.append((name, is_short_text))
        elif of == "int" and name not in UNCHECKED:
            found.append((name, number_check(name)))
        elif of == "Table":
            found.append((name, is_table))
    return tuple(found)


def number_check(name: str) -> Check:
    most = 255 if name in OCTETS else SHORT_MAX
    most = LONG_MAX if name in LONGS else LONGLONG_MAX if name in LONGLONGS else most
    return lambda value: 0 <= value <= most


def is_table(value: Any) -> bool:
    return isinstance(value, dict) and all(is_short_text(name) for name in value) and fits(value)
