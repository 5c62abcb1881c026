"""Arguments of queues and exchanges: which values the server takes, and when two declarations are the same.

Source: RabbitMQ 3.10 rabbit_amqqueue:declare_args, rabbit_misc:assert_args_equivalence; docs/rabbitmq/facts.md.
Vectors: rabbitmq/topology.json.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from types import MappingProxyType

from broker_core.rabbitmq.refusals import Refused, precondition
from broker_core.rabbitmq.values import INTEGERS, Table, Value, bare, type_name, type_of

EXPIRY_MAX_MS = 315_360_000_000
"""Ten years."""
PRIORITY_MAX = 255
DROP_HEAD, REJECT_PUBLISH, REJECT_PUBLISH_DLX = "drop-head", "reject-publish", "reject-publish-dlx"
Check = Callable[[Value, Table], str]
"""What is wrong with a value, as the server prints it; empty for nothing."""


def check_queue_arguments(arguments: Table, queue: str) -> None:
    """Raises Refused for the first argument, in the server's order, that it does not take. queue: as its texts name
    it, `queue 'q' in vhost 'v'`."""
    for name, check in QUEUE_ARGUMENTS.items():
        if name in arguments:
            wrong = check(arguments[name], arguments)
            if wrong:
                raise precondition(f"invalid arg '{name}' for {queue}: {wrong}")
    for name in OTHER_TYPES_ARGUMENTS:
        if name in arguments:
            raise precondition(f"invalid arg '{name}' for {queue} of queue type rabbit_classic_queue")


def check_same_arguments(current: Table, received: Table, names: Sequence[str], what: str) -> None:
    """Raises Refused for the first of the names in which two declarations differ."""
    for name in names:
        old, new = current.get(name), received.get(name)
        if name == "x-queue-type":
            old, new = old or "classic", new or "classic"
        if (name in current or old) and (name in received or new):
            if same_value(old, new):
                continue
            got = f"received '{shown(new)}' but current is '{shown(old)}'"
        elif name in current:
            got = f"received none but current is the value '{shown(old)}' of type '{type_name(old)}'"
        elif name in received:
            got = f"received the value '{shown(new)}' of type '{type_name(new)}' but current is none"
        else:
            continue
        raise precondition(f"inequivalent arg '{name}' for {what}: {got}")


def check_same_property(name: str, current: object, received: object, what: str) -> None:
    """Raises Refused where a declaration's property differs."""
    if current != received:
        raise precondition(
            f"inequivalent arg '{name}' for {what}: received '{shown(received)}' but current is '{shown(current)}'"
        )


def same_value(left: Value, right: Value) -> bool:
    """Integers of all widths by value, all else by type and value."""
    kinds = type_of(left), type_of(right)
    return bare(left) == bare(right) and (kinds[0] == kinds[1] or INTEGERS.issuperset(kinds))


def shown(value: Value) -> str:
    value = bare(value)
    return str(value).lower() if isinstance(value, bool) else str(value)


def not_an_integer(value: Value) -> str:
    return "" if type_of(value) in INTEGERS else f'"expected integer, got {type_name(value)}"'


def check_priority_of_consumer(arguments: Table, queue: str) -> int:
    """x-priority of a consumer."""
    if "x-priority" not in arguments:
        return 0
    wrong = not_an_integer(arguments["x-priority"])
    if wrong:
        raise precondition(f"invalid arg 'x-priority' for {queue}: {wrong}")
    return int(bare(arguments["x-priority"]))


def named_exchange(arguments: Table, name: str, what: str) -> str | None:
    """The exchange that an argument names, None without it. Raises Refused for a value that is no name."""
    if name not in arguments:
        return None
    value = arguments[name]
    if type_of(value) != "S":
        raise precondition(f"invalid type '{type_name(value)}' for arg '{name}' in {what}")
    return str(bare(value))


def expiration_ms(text: str) -> int:
    """The milliseconds of a message's expiration. Raises Refused for text that is none.

    >>> expiration_ms("60000")
    60000
    """
    digits = text[1:] if text[:1] in ("+", "-") else text
    count = next((place for place, letter in enumerate(digits) if letter not in "0123456789"), len(digits))
    if not count:
        raise precondition(f"invalid expiration '{text}': no_integer")
    if digits[count:]:
        raise precondition(f"invalid expiration '{text}': {{leftover_string,\"{digits[count:]}\"}}")
    wrong = _expiry(-int(digits[:20]) if text[0] == "-" else int(digits[:20]))
    if wrong:
        raise precondition(f"invalid expiration '{text}': {wrong}")
    return int(digits)


def _expiry(value: int) -> str:
    if value < 0:
        return f"{{value_negative,{value}}}"
    return f"{{value_too_large,{value}}}" if value > EXPIRY_MAX_MS else ""


def _time(value: Value, arguments: Table) -> str:
    return not_an_integer(value) or _expiry(bare(value))


def _positive_time(value: Value, arguments: Table) -> str:
    return not_an_integer(value) or ("{value_zero,0}" if bare(value) == 0 else _expiry(bare(value)))


def _count(value: Value, arguments: Table) -> str:
    return not_an_integer(value) or (f"{{value_negative,{bare(value)}}}" if bare(value) < 0 else "")


def _priority(value: Value, arguments: Table) -> str:
    too_high = f"{{max_value_exceeded,{bare(value)}}}"
    return _count(value, arguments) or (too_high if bare(value) > PRIORITY_MAX else "")


def _of_type(value: Value, letter: str) -> str:
    return "" if type_of(value) == letter else f"{{unacceptable_type,{type_name(value)}}}"


def _name(value: Value, arguments: Table) -> str:
    return _of_type(value, "S")


def _dead_letter_key(value: Value, arguments: Table) -> str:
    lone = "routing_key_but_no_dlx_defined"
    return _of_type(value, "S") or ("" if "x-dead-letter-exchange" in arguments else lone)


def _overflow(value: Value, arguments: Table) -> str:
    known = bare(value) in (DROP_HEAD, REJECT_PUBLISH, REJECT_PUBLISH_DLX)
    return _of_type(value, "S") or ("" if known else "invalid_overflow")


def _mode(value: Value, arguments: Table) -> str:
    known = bare(value) in ("default", "lazy")
    return _of_type(value, "S") or ("" if known else f"\"unsupported queue mode '{bare(value)}'\"")


def _version(value: Value, arguments: Table) -> str:
    known = bare(value) in (1, 2)
    return _count(value, arguments) or ("" if known else f"\"unsupported queue version '{bare(value)}'\"")


def _flag(value: Value, arguments: Table) -> str:
    return _of_type(value, "t")


def _type(value: Value, arguments: Table) -> str:
    known = bare(value) == "classic"
    return _of_type(value, "S") or ("" if known else f"\"unsupported queue type '{bare(value)}'\"")


QUEUE_ARGUMENTS: Mapping[str, Check] = MappingProxyType(
    {
        "x-expires": _positive_time, "x-message-ttl": _time, "x-dead-letter-exchange": _name,
        "x-dead-letter-routing-key": _dead_letter_key, "x-max-length": _count, "x-max-length-bytes": _count,
        "x-max-priority": _priority, "x-overflow": _overflow, "x-queue-mode": _mode,
        "x-queue-version": _version, "x-single-active-consumer": _flag, "x-queue-type": _type,
    }
)  # fmt: skip
"""Argument -> its check, in the order in which the server looks at them."""
OTHER_TYPES_ARGUMENTS = (
    "x-dead-letter-strategy", "x-max-in-memory-length", "x-max-in-memory-bytes", "x-delivery-limit",
    "x-quorum-initial-group-size", "x-max-age", "x-stream-max-segment-size-bytes", "x-initial-cluster-size",
)  # fmt: skip
"""Of quorum queues and streams, which a classic queue refuses."""


def check_queue_type(arguments: Table, is_durable: bool, queue: str) -> None:
    """A quorum queue or a stream has to be durable; that is refused first. Raises Refused."""
    if bare(arguments.get("x-queue-type")) in ("quorum", "stream") and not is_durable:
        raise Refused(406, f"invalid property 'non-durable' for {queue}")
