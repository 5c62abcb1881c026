"""What becomes of a message that a queue drops by rule: a copy with the history of its deaths in its headers.

Source: RabbitMQ 3.10 rabbit_dead_letter; docs/rabbitmq/facts.md. Vectors: rabbitmq/dispatch.json, sessions.json.gz
(theme deadletter).
"""

from __future__ import annotations

from typing import Any

import msgspec

from broker_core.clock import SECOND_US
from broker_core.rabbitmq.messages import Stored
from broker_core.rabbitmq.properties import Content
from broker_core.rabbitmq.queues.classic import REJECTED
from broker_core.rabbitmq.values import Table, Value, bare, type_of

Entry = dict[str, Any]
"""One table of x-death."""


def carried_keys(headers: Table) -> list[str]:
    """The routing keys in the headers CC and BCC."""
    keys = []
    for name in ("CC", "BCC"):
        listed = headers.get(name)
        if type_of(listed) == "A":
            keys += [bare(key) for key in bare(listed) if type_of(key) == "S"]
    return keys


def dead_copy(
    dead: Stored, number: int, reason: str, queue: str, exchange: str, key: str | None, now_us: int
) -> Stored:
    """The message that goes to the dead letter exchange. number: id of the one that died. key: the queue's own for dead
    letters; None keeps the message's."""
    properties = dead.content.properties
    headers = properties.headers or {}
    entry: Entry = {
        "reason": reason,
        "queue": queue,
        "time": {"$t": "T", "v": now_us // SECOND_US},
        "exchange": dead.exchange,
        "routing-keys": [dead.routing_keys[0], *carried_keys(headers)],
    }
    if properties.expiration is not None:
        entry["original-expiration"] = properties.expiration
    headers = with_death(headers, entry)
    if key is not None:
        headers.pop("CC", None)
    content = Content(
        msgspec.structs.replace(properties, headers=headers, expiration=None),
        dead.content.body,
        dead.content.message,
    )
    return Stored(content, exchange, dead.routing_keys if key is None else [key], number)


def with_death(headers: Table, entry: Entry) -> Table:
    """The headers with one more death, sorted by name. The first entry keeps its fields as they are, every later one
    has them sorted, and a death that is there already counts once more and goes to the front.

    >>> entry = {"reason": "expired", "queue": "q", "exchange": "x"}
    >>> [each["count"]["v"] for each in with_death(with_death({}, entry), entry)["x-death"]]
    [2]
    """
    headers = dict(headers)
    counted = {"count": {"$t": "l", "v": 1}} | entry
    deaths = bare(headers.get("x-death")) if type_of(headers.get("x-death")) == "A" else None
    if deaths is None:
        headers |= {
            "x-first-death-reason": entry["reason"],
            "x-first-death-queue": entry["queue"],
            "x-first-death-exchange": entry["exchange"],
            "x-death": [counted],
        }
        return _sorted(headers)
    tables = [bare(death) for death in deaths if type_of(death) == "F"]
    known = [death for death in tables if _event(death) == _event(entry)]
    others = [death for death in tables if _event(death) != _event(entry)]
    if known:
        count = bare(known[0].get("count", 0))
        counted = known[0] | {"count": {"$t": "l", "v": count + 1 if isinstance(count, int) else 1}}
    else:
        others.reverse()
    return _sorted(headers | {"x-death": [_sorted(counted), *others]})


def is_cycle(queue: str, headers: Table, reason: str) -> bool:
    """Whether a message with these headers, which died for this reason, has been to the queue before and no client
    rejected it on the way: then it goes there no more."""
    deaths = headers.get("x-death")
    if reason == REJECTED or type_of(deaths) != "A":
        return False
    way = []
    for death in bare(deaths):
        table = bare(death) if type_of(death) == "F" else {}
        way.append(bare(table.get("reason")))
        if bare(table.get("queue")) == queue:
            return REJECTED not in way
    return False


def _event(death: Entry) -> tuple[Value, Value]:
    return bare(death.get("queue")), bare(death.get("reason"))


def _sorted(table: Table) -> Table:
    return {name: table[name] for name in sorted(table, key=str.encode)}
