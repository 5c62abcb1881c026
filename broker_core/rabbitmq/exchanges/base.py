"""What all exchange types share: their bindings, and what they answer.

Source: RabbitMQ 3.10.8 rabbit_exchange_type, rabbit_binding; docs/rabbitmq/facts.md.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from typing import Any, ClassVar

import msgspec

from broker_core.rabbitmq.exchanges.comparable import exact_table
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


class Explanation(msgspec.Struct, frozen=True):
    """Why a binding matches a message or does not.

    words: of a topic exchange, the pattern up to the first word that fails. left_over: the key's words that a
    pattern which was fulfilled to its end leaves over, so that it fails. x_match, pairs: of a headers exchange.
    """

    binding: Binding
    is_match: bool
    words: tuple[WordMatch, ...] = ()
    left_over: tuple[str, ...] = ()
    x_match: str = ""
    pairs: tuple[HeaderMatch, ...] = ()


class ExchangeType:
    """The bindings of one exchange, in the order in which they were made, and the routing by them.

    A type overrides `route`, `messages_at`, `explain_binding`, and `check` if it refuses bindings; what it keeps beside
    the bindings for speed it updates in `add` and `remove`. Only the bindings are state, and what each has routed.

    Bindings that match the same messages share a place, where `route` counts one number for all of them. What a
    binding has routed is that number without what it was when the binding was made.
    """

    name: ClassVar[str]

    def __init__(self, bindings: Iterable[Binding] = ()) -> None:
        self._bindings: dict[Identity, Binding] = {}
        self._begins: dict[Identity, int] = {}
        for binding in bindings:
            self.bind(*msgspec.structs.astuple(binding))

    def __len__(self) -> int:
        return len(self._bindings)

    def __iter__(self) -> Iterator[Binding]:
        return iter(self._bindings.values())

    def bind(self, destination: Destination, routing_key: str, arguments: Table, routed: int = 0) -> bool:
        """Add a binding that `check` lets pass. Whether it is a new one; one that is there already stays. routed: what
        it has routed before, where it comes back."""
        binding = Binding(destination, routing_key, arguments)
        if (identity := binding.identity) in self._bindings:
            return False
        self._bindings[identity] = binding
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
        self.remove(binding)
        return True

    def unbind_destination(self, destination: Destination) -> list[Binding]:
        """Remove all bindings to a destination, which is going; they are returned."""
        gone = [binding for binding in self if binding.destination == destination]
        for binding in gone:
            self.unbind(*msgspec.structs.astuple(binding))
        return gone

    def route(self, routing_keys: Sequence[str], headers: Table) -> Sequence[Destination]:
        """Where a message goes: each destination once, exchanges before queues, by name. Counts it at each place of
        the bindings that match it, once.

        routing_keys: its routing key, then what its CC and BCC headers add. The order is the original's, which
        sorts what it found.
        """
        raise NotImplementedError

    def messages_at(self, binding: Binding) -> int:
        """Messages counted so far at the place of one of the bindings."""
        return 0

    def routed(self, binding: Binding) -> int:
        """Messages that one of the bindings has matched so far."""
        return self.messages_at(binding) - self._begins[binding.identity]

    def take_over(self, former: ExchangeType) -> None:
        """The bindings of another one, with what they have routed."""
        for each in former:
            self.bind(each.destination, each.routing_key, each.arguments, former.routed(each))

    @staticmethod
    def check(arguments: Table) -> str:
        """Why a binding with these arguments is refused, in the original's words; "" if it is not."""
        return ""

    def explain(self, routing_key: str, headers: Table) -> list[Explanation]:
        """Every binding in the order they were made, with the reason why it matches or does not."""
        return [self.explain_binding(binding, routing_key, headers) for binding in self]

    def explain_binding(self, binding: Binding, routing_key: str, headers: Table) -> Explanation:
        raise NotImplementedError

    def add(self, binding: Binding) -> None:
        """A binding was made."""

    def remove(self, binding: Binding) -> None:
        """A binding is gone."""

    def to_json(self) -> list[Any]:
        """The bindings, for a checkpoint."""
        return [[*msgspec.to_builtins(binding), self.routed(binding)] for binding in self]

    @classmethod
    def from_json(cls, plain: Iterable[Any]) -> ExchangeType:
        found = cls()
        for *row, routed in plain:
            each = msgspec.convert(row, Binding)
            found.bind(each.destination, each.routing_key, each.arguments, routed)
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
