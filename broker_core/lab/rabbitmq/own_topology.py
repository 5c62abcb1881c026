"""What a program of a topology declares when it connects again, as programs do that make sure of what they use.

    consumer    its queue, what is bound to it with the exchanges on the way, and where its dead letters go
    publisher   its exchange or the queues that it names as keys, and where the exchange sends what it cannot route

Only what does not survive a restart, and only what its user may declare. What a person made or removed meanwhile is not
the program's.
"""

from __future__ import annotations

from collections.abc import Iterator

from broker_core.events import Json
from broker_core.rabbitmq import methods as m
from broker_core.rabbitmq.client.roles import ConsumerRole, Login, PublisherRole
from broker_core.rabbitmq.definitions import Binding, Definitions, Exchange, Queue, declares, read_definitions
from broker_core.rabbitmq.loading import DEFAULT_VHOST, allowed
from broker_core.rabbitmq.values import Table, bare
from broker_core.rabbitmq.vhost import DEFAULT_EXCHANGE, EXCHANGE, QUEUE

BEHIND = "behind"
"""An exchange with all that it leads to."""
Node = tuple[str, str]
"""QUEUE, EXCHANGE or BEHIND, and the name."""


def of_consumer(topology: Json | None, role: ConsumerRole) -> list[m.Method]:
    own = [(EXCHANGE, binding.exchange) for binding in role.bindings]
    return _declared(topology, role.login, [(QUEUE, role.queue)] if role.queue else own)


def of_publisher(topology: Json | None, role: PublisherRole) -> list[m.Method]:
    named = [(QUEUE, key) for key in role.routing_keys]
    return _declared(topology, role.login, [(EXCHANGE, role.exchange)] if role.exchange else named)


def _declared(topology: Json | None, login: Login, uses: list[Node]) -> list[m.Method]:
    if topology is None:
        return []
    definitions = read_definitions(topology, DEFAULT_VHOST)
    return allowed(definitions, login, declares(_Part(definitions, login.vhost).of(uses), login.vhost))


class _Part:
    """What of a virtual host's topology a program makes sure of."""

    def __init__(self, definitions: Definitions, vhost: str) -> None:
        self.queues = {each.name: each for each in definitions.queues if each.vhost == vhost}
        self.exchanges = {each.name: each for each in definitions.exchanges if each.vhost == vhost}
        self.bindings = [each for each in definitions.bindings if each.vhost == vhost]

    def of(self, uses: list[Node]) -> Definitions:
        """That does not survive a restart, in the order of the file."""
        found, work = set[Node](), list(uses)
        while work:
            node = work.pop()
            if node not in found:
                found.add(node)
                work += self._next(*node)
        return Definitions(
            queues=tuple(
                each for each in self.queues.values() if (QUEUE, each.name) in found and not _lasts(each)
            ),
            exchanges=tuple(
                each
                for each in self.exchanges.values()
                if (EXCHANGE, each.name) in found and not _lasts(each)
            ),
            bindings=tuple(
                each
                for each in self.bindings
                if {(each.destination_type, each.destination), (EXCHANGE, each.source)} <= found
                and not (_lasts(self.exchanges.get(each.source)) and _lasts(self._destination(each)))
            ),
        )

    def _next(self, kind: str, name: str) -> Iterator[Node]:
        if kind == BEHIND:
            yield EXCHANGE, name
            for each in self.bindings:
                if each.source == name:
                    yield (QUEUE if each.destination_type == QUEUE else BEHIND), each.destination
            return
        for each in self.bindings:
            if (each.destination_type, each.destination) == (kind, name):
                yield EXCHANGE, each.source
        known = (self.queues if kind == QUEUE else self.exchanges).get(name)
        arguments: Table = known.arguments if known else {}
        onward = bare(arguments.get("x-dead-letter-exchange" if kind == QUEUE else "alternate-exchange"))
        if onward == DEFAULT_EXCHANGE:
            yield QUEUE, bare(arguments.get("x-dead-letter-routing-key")) or name
        elif onward is not None:
            yield BEHIND, onward

    def _destination(self, binding: Binding) -> Queue | Exchange | None:
        ends: dict[str, Queue] | dict[str, Exchange] = (
            self.queues if binding.destination_type == QUEUE else self.exchanges
        )
        return ends.get(binding.destination)


def _lasts(each: Queue | Exchange | None) -> bool:
    """Whether it survives a restart. None: it is the server's own."""
    return each is None or (each.durable and not each.auto_delete)
