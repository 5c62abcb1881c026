"""Sets that keep the order in which they were filled, as Python's dicts do.

A set of Python's own has its elements in the order of their hashes, and None, functions and `...` hash by
their address in Python 3.11: another order in each process. So the text never meets one: `language.py` puts
these in their place.

    a | b, a & b, a - b    in the order of a, then of b          pop()    the one that has been in it longest
"""

from collections.abc import Iterable, Iterator
from typing import Any

_VIEWS = (type({}.keys()), type({}.items()))


class _Ordered:
    """What both kinds can. An operator asks for a set on either side, as Python's do; a method takes anything
    that can be walked through."""

    __slots__ = ("_items",)

    def __init__(self, items: Iterable[Any] = ()) -> None:
        self._items = dict.fromkeys(items)

    def __class_getitem__(cls, item: Any) -> type:
        return cls

    def __iter__(self) -> Iterator[Any]:
        return iter(self._items)

    def __len__(self) -> int:
        return len(self._items)

    def __contains__(self, item: Any) -> bool:
        return item in self._items

    def __repr__(self) -> str:
        return f"{{{', '.join(map(repr, self._items))}}}" if self._items else f"{type(self).__name__}()"

    # --- methods

    def copy(self) -> "_Ordered":
        return type(self)(self._items)

    def union(self, *others: Iterable[Any]) -> "_Ordered":
        made = self.copy()
        for other in others:
            made._items |= dict.fromkeys(other)
        return made

    def intersection(self, *others: Iterable[Any]) -> "_Ordered":
        kept = self._items
        for known in map(dict.fromkeys, others):
            kept = {item: None for item in kept if item in known}
        return type(self)(kept)

    def difference(self, *others: Iterable[Any]) -> "_Ordered":
        kept = self._items
        for known in map(dict.fromkeys, others):
            kept = {item: None for item in kept if item not in known}
        return type(self)(kept)

    def symmetric_difference(self, other: Iterable[Any]) -> "_Ordered":
        there = type(self)(other)
        return self.difference(there).union(there.difference(self))

    def isdisjoint(self, other: Iterable[Any]) -> bool:
        return not any(item in self._items for item in other)

    def issubset(self, other: Iterable[Any]) -> bool:
        there = dict.fromkeys(other)
        return all(item in there for item in self._items)

    def issuperset(self, other: Iterable[Any]) -> bool:
        return all(item in self._items for item in other)

    # --- operators

    def __or__(self, other: Any) -> Any:
        return self.union(other) if is_set(other) else NotImplemented

    def __and__(self, other: Any) -> Any:
        return self.intersection(other) if is_set(other) else NotImplemented

    def __sub__(self, other: Any) -> Any:
        return self.difference(other) if is_set(other) else NotImplemented

    def __xor__(self, other: Any) -> Any:
        return self.symmetric_difference(other) if is_set(other) else NotImplemented

    def __eq__(self, other: object) -> Any:
        return self._items.keys() == dict.fromkeys(other).keys() if is_set(other) else NotImplemented  # type: ignore[call-overload]

    __hash__ = None  # type: ignore[assignment]

    def __le__(self, other: Any) -> Any:
        return self.issubset(other) if is_set(other) else NotImplemented

    def __ge__(self, other: Any) -> Any:
        return self.issuperset(other) if is_set(other) else NotImplemented

    def __lt__(self, other: Any) -> Any:
        return len(self) < len(other) and self.issubset(other) if is_set(other) else NotImplemented

    def __gt__(self, other: Any) -> Any:
        return len(self) > len(other) and self.issuperset(other) if is_set(other) else NotImplemented


class OrderedSet(_Ordered):
    __slots__ = ()

    def add(self, item: Any) -> None:
        self._items[item] = None

    def discard(self, item: Any) -> None:
        self._items.pop(item, None)

    def remove(self, item: Any) -> None:
        del self._items[item]

    def pop(self) -> Any:
        if not self._items:
            raise KeyError("pop from an empty set")
        item = next(iter(self._items))
        del self._items[item]
        return item

    def clear(self) -> None:
        self._items.clear()

    def update(self, *others: Iterable[Any]) -> None:
        self._items = self.union(*others)._items

    def intersection_update(self, *others: Iterable[Any]) -> None:
        self._items = self.intersection(*others)._items

    def difference_update(self, *others: Iterable[Any]) -> None:
        self._items = self.difference(*others)._items

    def _become(self, made: Any) -> Any:
        if made is NotImplemented:
            return NotImplemented
        self._items = made._items
        return self

    def __ior__(self, other: Any) -> Any:
        return self._become(self | other) if is_set(other) else NotImplemented

    def __iand__(self, other: Any) -> Any:
        return self._become(self & other) if is_set(other) else NotImplemented

    def __isub__(self, other: Any) -> Any:
        return self._become(self - other) if is_set(other) else NotImplemented

    def __ixor__(self, other: Any) -> Any:
        return self._become(self ^ other) if is_set(other) else NotImplemented


class OrderedFrozenSet(_Ordered):
    __slots__ = ()

    def __hash__(self) -> int:  # type: ignore[override]
        return hash(frozenset(self._items))

    def __repr__(self) -> str:
        return f"frozenset({super().__repr__()})" if self._items else "frozenset()"


OrderedSet.__name__, OrderedFrozenSet.__name__ = "set", "frozenset"  # as messages name them


def is_set(value: object) -> bool:
    return isinstance(value, (_Ordered, *_VIEWS))


def in_order(value: Any) -> Any:
    """What an operator works on: a dict's keys or items as a set of ours; they would make one of Python's
    own."""
    return OrderedSet(value) if isinstance(value, _VIEWS) else value
