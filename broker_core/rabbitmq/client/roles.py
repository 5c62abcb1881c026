"""What a client program was written to do: how a publisher makes a message of a record, how a consumer takes one.
Plain data, so that a program's state holds it.
"""

from __future__ import annotations

from dataclasses import dataclass, field

from broker_core.rabbitmq.values import Table

LATE, AUTO, NEVER, REJECT, REQUEUE = "late", "auto", "never", "reject", "requeue"
ACKS = (LATE, AUTO, NEVER, REJECT, REQUEUE)
"""When it is done with a message, the program acknowledges it (late), does nothing (auto: the broker counted it as
acknowledged when it sent it; never: it stays unacked), rejects it for good, or gives it back to the queue."""


@dataclass(slots=True)
class Login:
    user: str = "guest"
    password: str = "guest"
    vhost: str = "/"


@dataclass(slots=True)
class OwnBinding:
    exchange: str
    routing_key: str = ""
    arguments: Table = field(default_factory=dict)


@dataclass(slots=True)
class ConsumerRole:
    """queue: "" for one of its own, which the broker names, with these bindings. is_declared: the program declares
    the queue, as the tutorials do; else it is there. only: the routing key of the messages that are not
    acknowledged late, whatever `ack` says; "" for all."""

    login: Login
    queue: str
    prefetch_count: int = 0
    is_declared: bool = False
    bindings: list[OwnBinding] = field(default_factory=list)
    ack: str = LATE
    only: str = ""
    priority: int = 0
    is_exclusive: bool = False


@dataclass(slots=True)
class PublisherRole:
    """routing_keys, headers, priorities: by turns; `{key}` in them is the record's key. declares: a queue that it
    declares first, "" for none. delivery_mode, expiration: 0 and "" for none."""

    name: str
    login: Login
    exchange: str
    routing_keys: list[str]
    headers: list[Table] = field(default_factory=list)
    priorities: list[int] = field(default_factory=list)
    delivery_mode: int = 0
    expiration: str = ""
    mandatory: bool = False
    confirms: bool = False
    declares: str = ""

    @property
    def has_properties(self) -> bool:
        return bool(self.headers or self.priorities or self.delivery_mode or self.expiration)
