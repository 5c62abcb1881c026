"""What one exchange would do with a message: every binding with its reason, and who gets a copy.

The page draws it as it is, a row a binding; nothing is published for it, and no rule is in the browser.
"""

from __future__ import annotations

import msgspec

from broker_core.events import Json
from broker_core.lab.rabbitmq.views.topology import binding_id
from broker_core.rabbitmq.exchanges import ExchangeType, Explanation
from broker_core.rabbitmq.exchanges.base import HashMatch, HeaderMatch
from broker_core.rabbitmq.exchanges.topic_words import words_of
from broker_core.rabbitmq.properties import Properties


class TriedWord(msgspec.Struct, frozen=True):
    """A word of a pattern over the key's words `at` to `at + width`: what it stood for, or the one it fails on
    (width 0: the key had ended, or `#` took no word)."""

    pattern: str
    at: int
    width: int
    is_match: bool


class TriedBinding(msgspec.Struct, frozen=True):
    """binding: id in the topology. is_again: an earlier row leads to the same destination already, so that this
    match gives no second copy. left_over: of a pattern fulfilled to its end, how many words of the key are left.
    """

    binding: str
    kind: str
    destination: str
    routing_key: str
    is_match: bool
    is_again: bool = False
    words: tuple[TriedWord, ...] = ()
    left_over: int = 0
    x_match: str = ""
    pairs: tuple[HeaderMatch, ...] = ()
    hashed: HashMatch | None = None


class TriedMessage(msgspec.Struct, frozen=True):
    """words: the key's, which are the columns. rows: the matching bindings first, then by how they were made.
    queues, exchanges: names that get a copy. refused: the broker's code and text if `user` may not publish here,
    else ""."""

    exchange: str
    type: str
    routing_key: str
    words: tuple[str, ...]
    rows: tuple[TriedBinding, ...]
    queues: tuple[str, ...]
    exchanges: tuple[str, ...]
    user: str = ""
    refused: str = ""

    def to_json(self) -> Json:
        plain: Json = msgspec.to_builtins(self)
        return plain


def try_message(
    name: str,
    exchange: ExchangeType,
    routing_key: str,
    properties: Properties,
    user: str = "",
    refused: str = "",
) -> TriedMessage:
    """Lay a message beside every binding of an exchange. name: the exchange's. refused: of who publishes as
    `user`, as the broker's permissions say.

    Left out: bindings of the exchanges that get a copy, and the alternate exchange.
    """
    explained = exchange.explain([routing_key], properties)
    explained.sort(key=lambda each: not each.is_match)
    reached: set[tuple[str, str]] = set()
    rows = []
    for each in explained:
        rows.append(row_of(name, each, each.binding.destination in reached))
        if each.is_match:
            reached.add(each.binding.destination)
    copies = exchange.route([routing_key], properties)
    return TriedMessage(
        exchange=name,
        type=exchange.name,
        routing_key=routing_key,
        words=tuple(words_of(routing_key)),
        rows=tuple(rows),
        queues=tuple(destination for kind, destination in copies if kind == "queue"),
        exchanges=tuple(destination for kind, destination in copies if kind == "exchange"),
        user=user,
        refused=refused,
    )


def row_of(source: str, explained: Explanation, is_reached: bool) -> TriedBinding:
    """One binding of the exchange `source`. is_reached: an earlier row leads to its destination."""
    binding = explained.binding
    kind, destination = binding.destination
    words, at = [], 0
    for word in explained.words:
        words.append(TriedWord(word.pattern, at, len(word.words), word.is_match))
        at += len(word.words)
    return TriedBinding(
        binding=binding_id(source, kind, destination, binding.routing_key, binding.arguments),
        kind=kind,
        destination=destination,
        routing_key=binding.routing_key,
        is_match=explained.is_match,
        is_again=explained.is_match and is_reached,
        words=tuple(words),
        left_over=len(explained.left_over),
        x_match=explained.x_match,
        pairs=explained.pairs,
        hashed=explained.hashed,
    )
