"""A virtual host: its exchanges with their bindings, its queues, and the way of a message through them.

    publish ─► exchange ─ bindings ─► queue          each queue once, however many ways lead there
                  │   └──────────────► exchange ─► ...
                  └ nothing matches ─► alternate exchange ─► ...

Names are a virtual host's own. An auto-delete exchange goes with the last binding that it is the source of, and
takes the bindings to itself along, so that its sources may go as well.
Source: RabbitMQ 3.10 rabbit_exchange, rabbit_binding; docs/rabbitmq/facts.md. Vectors: rabbitmq/topology.json.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field

import msgspec

from broker_core.rabbitmq.exchanges import EXCHANGE_TYPES, Binding, ExchangeType, Explanation
from broker_core.rabbitmq.properties import Properties
from broker_core.rabbitmq.queues.classic import ClassicQueue
from broker_core.rabbitmq.values import Table, bare

QUEUE, EXCHANGE = "queue", "exchange"
DEFAULT_EXCHANGE = ""
PREDECLARED = {
    "": "direct", "amq.direct": "direct", "amq.fanout": "fanout", "amq.topic": "topic", "amq.headers": "headers",
    "amq.match": "headers", "amq.rabbitmq.trace": "topic",
}  # fmt: skip
"""Exchanges of a fresh virtual host, all durable -> type."""
TRACE = "amq.rabbitmq.trace"


@dataclass(slots=True, eq=False)
class Exchange:
    """bindings: what it is the source of. published: messages that came in so far, from publishers, as dead letters and
    from other exchanges; one of a transaction when it is published. unroutable: those that matched nothing, also when
    the alternate took them."""

    name: str
    type_: str
    is_durable: bool = False
    is_auto_delete: bool = False
    is_internal: bool = False
    arguments: Table = field(default_factory=dict)
    bindings: ExchangeType = field(default_factory=ExchangeType)
    published: int = 0
    unroutable: int = 0

    def __post_init__(self) -> None:
        """What comes out of a checkpoint has its bindings, and learns their type here."""
        former = self.bindings
        if type(former) is ExchangeType:
            self.bindings = EXCHANGE_TYPES[self.type_](self.arguments)
            self.bindings.take_over(former)

    @property
    def alternate(self) -> str | None:
        """The exchange that takes what matches nothing here."""
        name: str | None = bare(self.arguments.get("alternate-exchange"))
        return name


def made(
    name: str, type_: str, is_durable: bool, is_auto_delete: bool, is_internal: bool, arguments: Table
) -> Exchange:
    """An exchange without bindings."""
    return Exchange(
        name, type_, is_durable, is_auto_delete, is_internal, arguments, EXCHANGE_TYPES[type_](arguments)
    )


def predeclared() -> dict[str, Exchange]:
    return {name: made(name, type_, True, False, name == TRACE, {}) for name, type_ in PREDECLARED.items()}


class Hop(msgspec.Struct, frozen=True):
    """A message leaves an exchange. kind, name: where it comes to. match: by which binding and why, None: the exchange has
    none that matches, and this is its alternate."""

    source: str
    kind: str
    name: str
    match: Explanation | None = None


@dataclass(slots=True, eq=False)
class Vhost:
    """changes: how often a binding has come or gone so far: two messages with the same number met the same ones."""

    name: str
    exchanges: dict[str, Exchange] = field(default_factory=predeclared)
    queues: dict[str, ClassicQueue] = field(default_factory=dict)
    changes: int = 0

    def route(self, exchange: str, keys: Sequence[str], properties: Properties) -> list[ClassicQueue]:
        """The queues that a message reaches, each once, the last by name first, which is the original's order. Counts it
        at the exchanges and bindings on its way. exchange: one that is there."""
        if exchange == DEFAULT_EXCHANGE:
            return self.route_by_name(keys)
        work, seen = [exchange], {exchange}
        found: set[str] = set()
        while work:
            source = self.exchanges.get(work.pop())
            if source is None:
                continue
            if source.name == DEFAULT_EXCHANGE:  # as an alternate
                found.update(queue.name for queue in self.route_by_name(keys))
                continue
            source.published += 1
            destinations = source.bindings.route(keys, properties)
            if not destinations:
                source.unroutable += 1
                if source.alternate is not None:
                    destinations = [(EXCHANGE, source.alternate)]
            for kind, name in destinations:
                if kind == QUEUE:
                    found.add(name)
                elif name not in seen:
                    seen.add(name)
                    work.append(name)
        return [self.queues[name] for name in sorted(found, reverse=True)]

    def explain(self, exchange: str, keys: Sequence[str], properties: Properties) -> list[Hop]:
        """The way that `route` takes, hop by hop from the exchange on; nothing is counted."""
        work, found = [exchange], list[Hop]()
        for name in work:
            source = self.exchanges.get(name)
            if source is None:
                continue
            hops = self._hops_from(source, keys, properties)
            found += hops
            reached = dict.fromkeys(hop.name for hop in hops if hop.kind == EXCHANGE)
            work += [name for name in reached if name not in work]
        return found

    def _hops_from(self, source: Exchange, keys: Sequence[str], properties: Properties) -> list[Hop]:
        if source.name == DEFAULT_EXCHANGE:
            named = [Binding((QUEUE, key), key, {}) for key in dict.fromkeys(keys) if key in self.queues]
            return [Hop("", QUEUE, each.routing_key, Explanation(each, True)) for each in named]
        explained = source.bindings.explain(keys, properties)
        hops = [Hop(source.name, *each.binding.destination, each) for each in explained if each.is_match]
        if not hops and source.alternate is not None:
            return [Hop(source.name, EXCHANGE, source.alternate)]
        return hops

    def route_by_name(self, keys: Sequence[str]) -> list[ClassicQueue]:
        """What the default exchange does."""
        queues, default = self.queues, self.exchanges[DEFAULT_EXCHANGE]
        found = [queues[key] for key in sorted(set(keys), reverse=True) if key in queues]
        default.published += 1
        if not found:
            default.unroutable += 1
        for queue in found:
            queue.state.named += 1
        return found

    def routed(self, source: str, binding: Binding) -> int:
        """Messages that a binding has matched so far."""
        if source == DEFAULT_EXCHANGE:
            return self.queues[binding.routing_key].state.named
        return self.exchanges[source].bindings.routed(binding)

    def bind(
        self,
        source: str,
        kind: str,
        destination: str,
        key: str,
        arguments: Table,
        routed: int = 0,
        is_idle: bool = False,
    ) -> None:
        """Both ends are there. routed, is_idle: of a binding that comes back, see `ExchangeType.bind`."""
        bindings = self.exchanges[source].bindings
        self.changes += bindings.bind((kind, destination), key, arguments, routed, is_idle)

    def unbind(self, source: str, kind: str, destination: str, key: str, arguments: Table) -> None:
        """What an auto-delete source loses with its last binding is the source."""
        exchange = self.exchanges[source]
        if exchange.bindings.unbind((kind, destination), key, arguments):
            self.changes += 1
            self._gone_if_unused(exchange)

    def is_bound(self, source: str, kind: str, destination: str, key: str, arguments: Table) -> bool:
        identity = Binding((kind, destination), key, arguments).identity
        return any(binding.identity == identity for binding in self.exchanges[source].bindings)

    def delete_exchange(self, name: str) -> None:
        """With the bindings from it and to it."""
        del self.exchanges[name]
        self.changes += 1
        self._unbind_destination(EXCHANGE, name)

    def delete_queue(self, name: str) -> ClassicQueue:
        """With the bindings to it. What it holds is the caller's to drop."""
        queue = self.queues.pop(name)
        self.changes += 1
        self._unbind_destination(QUEUE, name)
        return queue

    def declared(self) -> int:
        """Exchanges, queues and bindings that clients declared."""
        bindings = sum(len(exchange.bindings) for exchange in self.exchanges.values())
        return len(self.exchanges) - len(PREDECLARED) + len(self.queues) + bindings

    def bindings(self) -> Iterator[tuple[str, Binding]]:
        """(source, binding) of all exchanges; those of the default exchange, one for each queue, first."""
        for name in self.queues:
            yield DEFAULT_EXCHANGE, Binding((QUEUE, name), name, {})
        for exchange in self.exchanges.values():
            for binding in exchange.bindings:
                yield exchange.name, binding

    def _unbind_destination(self, kind: str, name: str) -> None:
        for exchange in list(self.exchanges.values()):
            if exchange.bindings.unbind_destination((kind, name)) and exchange.name in self.exchanges:
                self._gone_if_unused(exchange)

    def _gone_if_unused(self, exchange: Exchange) -> None:
        if exchange.is_auto_delete and not len(exchange.bindings) and exchange.name in self.exchanges:
            self.delete_exchange(exchange.name)
