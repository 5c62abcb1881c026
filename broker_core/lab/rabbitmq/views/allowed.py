"""Would this be allowed? What a user's permissions say of an operation, without doing it."""

from __future__ import annotations

from broker_core.rabbitmq.permissions import CONFIGURE, READ, WRITE, User, check_access, check_topic_access
from broker_core.rabbitmq.refusals import Refused

OPERATIONS = {
    "queue.declare": ((CONFIGURE, "queue"),), "queue.delete": ((CONFIGURE, "queue"),),
    "exchange.declare": ((CONFIGURE, "exchange"),), "exchange.delete": ((CONFIGURE, "exchange"),),
    "queue.bind": ((WRITE, "queue"), (READ, "exchange")), "queue.unbind": ((WRITE, "queue"), (READ, "exchange")),
    "basic.publish": ((WRITE, "exchange"),), "basic.consume": ((READ, "queue"),), "basic.get": ((READ, "queue"),),
    "queue.purge": ((READ, "queue"),),
}  # fmt: skip
"""Operation -> the rights that it needs, in the order in which the server asks for them."""


def refusal_of(
    known: User | None,
    user: str,
    vhost: str,
    operation: str,
    queue: str = "",
    exchange: str = "",
    exchange_type: str = "",
    key: str = "",
) -> str:
    """The server's text, with its code, for an operation of OPERATIONS that this user's permissions do not allow; ""
    for one that they do. known: the user of that name, None where there is none. exchange_type: "" where there is
    no such exchange."""
    if known is None or vhost not in known.permissions:
        return f"530 NOT_ALLOWED - access to vhost '{vhost}' refused for user '{user}'"
    try:
        for what, kind in OPERATIONS[operation]:
            check_access(known, vhost, what, kind, queue if kind == "queue" else exchange)
        if exchange_type == "topic" and operation in ("basic.publish", "queue.bind"):
            what = WRITE if operation == "basic.publish" else READ
            check_topic_access(known, vhost, what, exchange, key)
    except Refused as refused:
        return f"{refused.code} {refused.text}"
    return ""
