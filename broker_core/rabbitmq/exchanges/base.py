"""What all exchange types share: their bindings, and what they answer.

Source: RabbitMQ 3.10.8 rabbit_exchange_type, rabbit_binding; docs/rabbitmq/facts.md.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from typing import Any, ClassVar

import msgspec

from broker_core.rabbitmq.exchanges.comparable import exact_table
from broker_core.rabbitmq.properties import Properties
from broker_core.rabbitmq.values import Table

Destination = tuple[str, str]
"""Where a binding leads: ("queue" or "exchange", its name)."""

Identity = tuple[Destination, str, Any]


class Binding(msgspec.Struct, array_like=True, frozen=True):
    """One way out of an exchange."""

    destination: Destination
    routing_key: str
    arguments: Table

    @property
    def identity(self) -> Identity:
        """What tells one binding from another. The order of the arguments does not, their types do."""
        return self.destination, self.routing_key, exact_table(self.arguments)


class WordMatch(msgspec.Struct, frozen=True):
    """What one word of a topic pattern stood for.

    pattern: the word of the pattern. words: the words of the key that it took; of a word that fails, the one it
    failed on, none when the key had ended.
    """

    pattern: str
    words: tuple[str, ...]
    is_match: bool


class HeaderMatch(msgspec.Struct, frozen=True):
    """How one argument of a headers binding compared with the message's header of that name.

    wanted: the argument's value, None for void, which any value fulfils. received: the header's, None for void
    as well; is_present tells an absent one. is_counted: whether this argument takes part, which the x- ones do
    not without "-with-x".
    """

    name: str
    wanted: Any
    received: Any
    is_present: bool
    is_counted: bool
    is_match: bool


class HashMatch(msgspec.Struct, frozen=True):
    """Whether the bucket of a message is one of a binding's.

    by: what is hashed, "key", "header" or "property". name: the header's or property's. value: what the message has
    there, None where it has nothing; is_present tells a header without a value. hash: of that, 27 bits. bucket: the one
    that it falls into, -1 where the exchange has none; count: of all. first, own: where the binding's own begin, and how
    many it has.
    """

    by: str
    name: str
    value: Any
    is_present: bool
    hash: int
    bucket: int
    count: int
    first: int
    own: int


class Explanation(msgspec.Struct, frozen=True):
    """Why a binding matches a message or does not.

    words: of a topic exchange, the pattern up to the first word that fails. left_over: the key's words that a
    pattern which was fulfilled to its end leaves over, so that it fails. x_match, pairs: of a headers exchange. hashed:
    of a consistent-hash exchange.
    """

    binding: Binding
    is_match: bool
    words: tuple[WordMatch, ...] = ()
    left_over: tuple[str, ...] = ()
    x_match: str = ""
    pairs: tuple[HeaderMatch, ...] = ()
    hashed: HashMatch | None = None


class ExchangeType:
    """The bindings of one exchange, in the order in which they were made, and the routing by them.

    A type overrides `route`, `messages_at`, `explain_binding`, and `check` if it refuses bindings; what it keeps beside
    the bindings for speed it updates in `add` and `remove`. Only the bindings are state, which of them are idle, and what
    each has routed. arguments: of the exchange.

    Bindings that match the same messages share a place, where `route` counts one number for all of them. What a
    binding has routed is that number without what it was when the binding was made.
    """

    name: ClassVar[str]

    def __init__(self, arguments: Table | None = None) -> None:
        self.arguments: Table = arguments or {}
        self._bindings: dict[Identity, Binding] = {}
        self._begins: dict[Identity, int] = {}
        self._idle: set[Identity] = set()

    def __len__(self) -> int:
        return len(self._bindings)

    def __iter__(self) -> Iterator[Binding]:
        return iter(self._bindings.values())

    def bind(
        self,
        destination: Destination,
        routing_key: str,
        arguments: Table,
        routed: int = 0,
        is_idle: bool = False,
    ) -> bool:
        """Add a binding that `check` lets pass. Whether it is a new one; one that is there already stays. routed, is_idle:
        what it has routed before and whether it was idle, where it comes back."""
        binding = Binding(destination, routing_key, arguments)
        if (identity := binding.identity) in self._bindings:
            return False
        self._bindings[identity] = binding
        if is_idle:
            self._idle.add(identity)
        self.add(binding)
        self._begins[identity] = self.messages_at(binding) - routed
        return True

    def unbind(self, destination: Destination, routing_key: str, arguments: Table) -> bool:
        """Remove the binding that was made with the same three. Whether there was one."""
        identity = Binding(destination, routing_key, arguments).identity
        binding = self._bindings.pop(identity, None)
        if binding is None:
            return False
        del self._begins[identity]
        self._idle.discard(identity)
        self.remove(binding)
        return True

    def unbind_destination(self, destination: Destination) -> list[Binding]:
        """Remove all bindings to a destination, which is going; they are returned."""
        gone = [binding for binding in self if binding.destination == destination]
        for binding in gone:
            self.unbind(*msgspec.structs.astuple(binding))
        return gone

    def route(self, routing_keys: Sequence[str], properties: Properties) -> Sequence[Destination]:
        """Where a message goes: each destination once, exchanges before queues, by name. Counts it at each place of
        the bindings that match it, once.

        routing_keys: its routing key, then what its CC and BCC headers add. properties: the message's. The order is the
        original's, which sorts what it found.
        """
        raise NotImplementedError

    def messages_at(self, binding: Binding) -> int:
        """Messages counted so far at the place of one of the bindings."""
        return 0

    def routed(self, binding: Binding) -> int:
        """Messages that one of the bindings has matched so far."""
        return self.messages_at(binding) - self._begins[binding.identity]

    def is_idle(self, binding: Binding) -> bool:
        """Whether one of the bindings is there and matches nothing, whatever comes."""
        return binding.identity in self._idle

    def buckets(self, binding: Binding) -> tuple[int, int]:
        """Of a consistent-hash exchange: the first bucket of one of the bindings, and how many it has."""
        return 0, 0

    def take_over(self, former: ExchangeType) -> None:
        """The bindings of another one, with what they have routed."""
        for each in former:
            self.bind(
                each.destination, each.routing_key, each.arguments, former.routed(each), former.is_idle(each)
            )

    @staticmethod
    def check_exchange(arguments: Table) -> None:
        """Raises Refused for arguments of an exchange that the type does not take."""

    @staticmethod
    def check(routing_key: str, arguments: Table) -> str:
        """Why a binding with this key and these arguments is refused, in the original's words; "" if it is not."""
        return ""

    def explain(self, routing_keys: Sequence[str], properties: Properties) -> list[Explanation]:
        """Every binding in the order they were made, with the reason why it matches or does not: of several keys by the
        first that matches, or else the first."""
        found = []
        for binding in self:
            tries = [self.explain_binding(binding, key, properties) for key in routing_keys]
            found.append(next((each for each in tries if each.is_match), tries[0]))
        return found

    def explain_binding(self, binding: Binding, routing_key: str, properties: Properties) -> Explanation:
        raise NotImplementedError

    def add(self, binding: Binding) -> None:
        """A binding was made."""

    def remove(self, binding: Binding) -> None:
        """A binding is gone."""

    def to_json(self) -> list[Any]:
        """The bindings, for a checkpoint."""
        return [[*msgspec.to_builtins(each), self.routed(each), self.is_idle(each)] for each in self]

    @classmethod
    def from_json(cls, plain: Iterable[Any]) -> ExchangeType:
        found = cls()
        for *row, routed, is_idle in plain:
            binding = msgspec.convert(row, Binding)
            found.bind(binding.destination, binding.routing_key, binding.arguments, routed, is_idle)
        return found


class Counted(dict[Destination, int]):
    """A place of bindings that match the same messages: their destinations, and how many bindings lead to each; the
    last one that goes takes its destination along. messages: those that matched.

    An exchange may hold many of them, and each is small.
    """

    __slots__ = ("messages",)

    def __init__(self) -> None:
        self.messages = 0

    def add(self, destination: Destination) -> None:
        self[destination] = self.get(destination, 0) + 1

    def remove(self, destination: Destination) -> None:
        self[destination] -= 1
        if not self[destination]:
            del self[destination]
