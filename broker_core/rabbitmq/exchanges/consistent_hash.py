"""Consistent hashing: each message to one destination, the same for the same key as long as the bindings stay. A binding's
key is a weight, how many buckets it gives its destination.

    bind q1 "2", bind q2 "1"      buckets   0   1   2            unbind q1      buckets   0
                                            q1  q1  q2                                    q2

    routing key ──phash2──► 27 bits ──jump──► bucket ──► destination

New buckets come at the end: of the keys that move, all move to them. Buckets that go let the later ones move down: keys of
those move as well, which a ring of hashes would leave alone. A destination has the buckets of one of its bindings; the
others are idle, and they stay so when that one, or any other of them, is unbound, which takes all its buckets away.
Left out: the memory that the original takes, an entry for each bucket.
Source: rabbitmq_consistent_hash_exchange 3.10.8; docs/rabbitmq/facts.md. Vectors: rabbitmq/consistent_hash_exchange.json.
"""

from __future__ import annotations

import re
from bisect import bisect_right
from collections.abc import Sequence
from typing import Any

from broker_core.hashing.jump_hash import jump_hash
from broker_core.hashing.phash2 import phash2
from broker_core.rabbitmq.erlang import binary
from broker_core.rabbitmq.exchanges.base import (
    Binding,
    Destination,
    ExchangeType,
    Explanation,
    HashMatch,
    Identity,
)
from broker_core.rabbitmq.properties import Properties
from broker_core.rabbitmq.refusals import Broken, precondition
from broker_core.rabbitmq.terms import UNDEFINED, octets, typed
from broker_core.rabbitmq.values import Table, Value, type_of

HEADER, PROPERTY = "hash-header", "hash-property"
PROPERTIES = ("correlation_id", "message_id", "timestamp")
KEY = "key"
_WEIGHT = re.compile(r"[+-]?[0-9]+")


class ConsistentHash(ExchangeType):
    """_holders: destination -> the binding that it has its buckets from, in the order of the buckets. _ends: of each, the
    bucket behind its last one."""

    name = "x-consistent-hash"

    def __init__(self, arguments: Table | None = None) -> None:
        self._holders: dict[Destination, Binding] = {}
        self._destinations: list[Destination] = []
        self._ends: list[int] = []
        self._messages: dict[Identity, int] = {}
        super().__init__(arguments)

    @staticmethod
    def check_exchange(arguments: Table) -> None:
        for name in (HEADER, PROPERTY):
            if name in arguments and type_of(arguments[name]) != "S":
                raise Broken
        if HEADER in arguments and PROPERTY in arguments:
            raise precondition("hash-header and hash-property are mutually exclusive")
        if PROPERTY in arguments and arguments[PROPERTY] not in PROPERTIES:
            raise precondition(f"Unsupported property: {text_of(arguments[PROPERTY])}")

    @staticmethod
    def check(routing_key: str, arguments: Table) -> str:
        if _WEIGHT.fullmatch(routing_key) is None:
            return f"The binding key must be an integer: {binary(routing_key.encode())}"
        return "" if weight_of(routing_key) > 0 else "The binding key must be greater than 0"

    @property
    def bucket_count(self) -> int:
        return self._ends[-1] if self._ends else 0

    def buckets(self, binding: Binding) -> tuple[int, int]:
        if self.is_idle(binding):
            return 0, 0
        count = weight_of(binding.routing_key)
        return self._ends[self._destinations.index(binding.destination)] - count, count

    def route(self, routing_keys: Sequence[str], properties: Properties) -> Sequence[Destination]:
        if not self._ends:
            return ()
        hashed = phash2(self._term(routing_keys, properties))
        place = bisect_right(self._ends, jump_hash(hashed, self._ends[-1]))
        destination = self._destinations[place]
        self._messages[self._holders[destination].identity] += 1
        return (destination,)

    def messages_at(self, binding: Binding) -> int:
        return self._messages[binding.identity]

    def add(self, binding: Binding) -> None:
        self._messages[binding.identity] = 0
        if self.is_idle(binding):
            return
        if binding.destination in self._holders:
            self._idle.add(binding.identity)
            return
        self._holders[binding.destination] = binding
        self._destinations.append(binding.destination)
        self._ends.append(self.bucket_count + weight_of(binding.routing_key))

    def remove(self, binding: Binding) -> None:
        del self._messages[binding.identity]
        if self._holders.pop(binding.destination, None) is None:
            return
        self._idle.update(each.identity for each in self if each.destination == binding.destination)
        holders = list(self._holders.values())
        self._destinations.clear()
        self._ends.clear()
        for each in holders:
            self._destinations.append(each.destination)
            self._ends.append(self.bucket_count + weight_of(each.routing_key))

    def explain(self, routing_keys: Sequence[str], properties: Properties) -> list[Explanation]:
        by, name, value, is_present = self._hashed_by(routing_keys, properties)
        hashed, count = phash2(self._term(routing_keys, properties)), self.bucket_count
        bucket = jump_hash(hashed, count) if count else -1
        found = []
        for binding in self:
            first, own = self.buckets(binding)
            match = HashMatch(by, name, value, is_present, hashed, bucket, count, first, own)
            found.append(Explanation(binding, first <= bucket < first + own, hashed=match))
        return found

    def _hashed_by(self, routing_keys: Sequence[str], properties: Properties) -> tuple[str, str, Value, bool]:
        """What is hashed of a message, the name of it, its value, and whether the message has it."""
        if HEADER in self.arguments:
            name, headers = text_of(self.arguments[HEADER]), properties.headers or {}
            return "header", name, headers.get(name), name in headers
        if PROPERTY in self.arguments:
            name = text_of(self.arguments[PROPERTY])
            value = getattr(properties, name)
            return "property", name, value, value is not None
        return KEY, "", routing_keys[0], True

    def _term(self, routing_keys: Sequence[str], properties: Properties) -> Any:
        """The same as the original hashes it: a header with its type, `undefined` for what is missing."""
        by, _, value, is_present = self._hashed_by(routing_keys, properties)
        if not is_present:
            return UNDEFINED
        return typed(value) if by == "header" else str(value).encode()


def text_of(value: Value) -> str:
    """A long string; octets that are no UTF-8 are those of no name."""
    return octets(value).decode(errors="backslashreplace")


def weight_of(routing_key: str) -> int:
    """Buckets of a binding with this key, which `check` lets pass."""
    return int(routing_key)


EXCHANGE = ConsistentHash
