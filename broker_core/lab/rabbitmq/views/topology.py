"""The picture of one virtual host: who publishes to which exchange, what is bound to what and by which key, the
queues, who reads them, and the two ways back.

    publishers ──publish──► exchanges ──bindings──► queues ──consume──► consumers
        ▲                     │  ▲                   │
        └───── returns ───────┘  └── dead letters ───┘

Nodes and edges are kept by an id of their own, and every count is a sum since the lab began, so that the patch of
a frame names only what moved; a page makes rates of two frames. An edge names its two nodes by their ids.
"""

from __future__ import annotations

import msgspec

from broker_core.events import Json
from broker_core.rabbitmq.values import Table


class PublisherNode(msgspec.Struct, frozen=True):
    """A connection that publishes. name: the program's. user: by whose permissions. published: messages so far; nacked:
    those that a queue refused, of one with confirms. is_blocked: the broker takes nothing from it for now (memory or disk alarm).
    is_real: it came from outside the lab."""

    name: str
    user: str
    published: int = 0
    is_blocked: bool = False
    nacked: int = 0
    is_real: bool = False


class ExchangeNode(msgspec.Struct, frozen=True):
    """name: "" is the default exchange. arguments: as declared. alternate: the exchange that takes what this
    one cannot route, "" for none. published: messages that came in so far: published, as dead letters and from
    other exchanges. unroutable: those that matched no binding, also when the alternate took them. dropped:
    published here or dead letters, that came to no queue at all and did not go back."""

    name: str
    type: str
    durable: bool = False
    auto_delete: bool = False
    internal: bool = False
    alternate: str = ""
    published: int = 0
    unroutable: int = 0
    dropped: int = 0
    arguments: Table = {}


class QueueNode(msgspec.Struct, frozen=True):
    """arguments: as declared. ready, unacked: messages now. waiting: of a queue with priorities, how many
    of the ready have each, of those that there are. published, delivered, acked: so far. refused: for its limit, so far;
    nacked: those of them whose publisher heard so. dead_letters_to:
    exchange of its dead letters, None for none ("" is the default exchange). growing: why it grows, a code of
    `dashboard/sentences`, "" when it does not; growing_by: the consumers it names, by id. is_delay: nobody
    reads it, its messages wait on purpose. is_full: it is at its limit, or has refused or dropped a message for it
    within the last seconds. has_changed: those who consume it, or how, have changed so lately that nothing can be said."""

    name: str
    durable: bool = False
    exclusive: bool = False
    auto_delete: bool = False
    arguments: Table = {}
    ready: int = 0
    unacked: int = 0
    published: int = 0
    delivered: int = 0
    acked: int = 0
    dead_letters_to: str | None = None
    growing: str = ""
    growing_by: list[str] = []
    waiting: dict[str, int] = {}
    is_delay: bool = False
    refused: int = 0
    nacked: int = 0
    is_full: bool = False
    has_changed: bool = False


class ConsumerNode(msgspec.Struct, frozen=True):
    """One basic.consume. name: of the program's row, whose colour it has. prefetch_count: 0 for no limit. is_active: of a
    single active consumer's queue, whether it is the one. is_gone: it died, and the broker does not know yet. is_real: it came
    from outside the lab."""

    name: str
    tag: str
    queue: str
    prefetch_count: int = 0
    unacked: int = 0
    no_ack: bool = False
    priority: int = 0
    is_active: bool = True
    is_gone: bool = False
    is_real: bool = False


class PublishEdge(msgspec.Struct, frozen=True):
    """publisher: its id. exchange: by name. published: messages so far."""

    publisher: str
    exchange: str
    published: int = 0


class BindingEdge(msgspec.Struct, frozen=True):
    """kind: of the destination, "queue" or "exchange". routed: messages that took this way so far. first_bucket, buckets:
    of a consistent-hash exchange, where those of the binding begin and how many there are."""

    source: str
    kind: str
    destination: str
    routing_key: str = ""
    arguments: Table = {}
    routed: int = 0
    first_bucket: int = 0
    buckets: int = 0


class DeadLetterEdge(msgspec.Struct, frozen=True):
    """From a queue to the exchange of its dead letters. reasons: rejected, expired, maxlen or delivery_limit -> so
    far."""

    queue: str
    exchange: str
    routing_key: str = ""
    reasons: dict[str, int] = {}


class ReturnEdge(msgspec.Struct, frozen=True):
    """Mandatory messages that matched no binding, back to who published them. routing_key: the last one's."""

    exchange: str
    publisher: str
    routing_key: str = ""
    returned: int = 0


class TopologyView(msgspec.Struct, frozen=True):
    """One virtual host as the page draws it. vhosts: all there are. changes: how often a binding has come or gone.

    Exchanges and queues go by name, publishers by their connection's number, consumers by `connection.channel.tag`,
    bindings by `binding_id`.
    """

    vhost: str
    vhosts: list[str] = []
    changes: int = 0
    publishers: dict[str, PublisherNode] = {}
    exchanges: dict[str, ExchangeNode] = {}
    queues: dict[str, QueueNode] = {}
    consumers: dict[str, ConsumerNode] = {}
    publishes: dict[str, PublishEdge] = {}
    bindings: dict[str, BindingEdge] = {}
    dead_letters: dict[str, DeadLetterEdge] = {}
    returns: dict[str, ReturnEdge] = {}

    def to_json(self) -> Json:
        plain: Json = msgspec.to_builtins(self)
        return plain


def binding_id(source: str, kind: str, destination: str, routing_key: str, arguments: Table) -> str:
    """What the page calls a binding: JSON of what tells it from others, which no name can forge.

    >>> binding_id("orders", "queue", "eu", "*.eu.#", {})
    '["orders","queue","eu","*.eu.#"]'
    """
    parts: list[object] = [source, kind, destination, routing_key]
    if arguments:
        parts.append(dict(sorted(arguments.items())))
    return msgspec.json.encode(parts).decode()
