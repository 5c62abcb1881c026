"""Who owns what in the Pulsar lane, read from the broker's subscription: slots, the keys in them, and what a
change moved from whom.

A key is hashed (murmur3, unsigned), the selector says which of the broker's consumers has that slot, and that
consumer is a program's. An `Assignment` is one moment of this; it is made again only when the selector
answers otherwise.
"""

from __future__ import annotations

from bisect import bisect_left
from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from collections.abc import Set as AbstractSet
from functools import cached_property
from typing import NamedTuple, cast

import numpy as np
import numpy.typing as npt

from broker_core.errors import InvariantError
from broker_core.hashing.hash_range import Owner
from broker_core.hashing.murmur3 import murmur3_32
from broker_core.lab.messages import Messages
from broker_core.lab.shared.bill import Space
from broker_core.lab.shared.darkness import SPACE_UNITS
from broker_core.lab.slices import dark_slots, named_owners
from broker_core.lab.workload.live_keys import NO_KEY, LiveKeys
from broker_core.pulsar.broker import Broker
from broker_core.pulsar.entry import fallback_key
from broker_core.pulsar.selectors import Selector
from broker_core.pulsar.selectors.consistent_hash import RingSelector

NO_KEY_HASH_KEY = "NONE_KEY"
"""What 3.2 hashes for a message without a key, so that all of them go to one consumer
(Commands.peekStickyKey)."""
Slots = npt.NDArray[np.int64]


class KeyHashes(dict[int, int]):
    """Key code -> unsigned murmur3 of the bytes that decide who gets it, computed once a key. ordering_keys:
    the producer sets an ordering key, that of one of the first so many keys; 0: it sets none, and the key
    itself decides."""

    def __init__(self, messages: Messages, ordering_keys: int = 0) -> None:
        self.messages, self.ordering_keys = messages, ordering_keys

    def __missing__(self, code: int) -> int:
        value = self[code] = murmur3_32(NO_KEY_HASH_KEY if code == NO_KEY else self.key_bytes(code))
        return value

    def key_bytes(self, code: int) -> bytes:
        """Of a key, or of the ordering key that its messages have."""
        return self.messages.key_bytes(code % self.ordering_keys if self.ordering_keys else code)

    def key_text(self, code: int) -> str:
        """The text of the key that decides who gets a message; "" for a message without one."""
        return "" if code == NO_KEY else self.key_bytes(code).decode(errors="replace")


def program_names(broker: Broker) -> dict[str, str]:
    """What the broker's subscriptions call a consumer -> its program's name; of the lab's programs, not of
    the lane's own (`pulsar/readers.py`). Of a connection that is gone, the broker takes one consumer after
    the other away: those that are left have no name any more."""
    connections = broker.state.connections
    return {
        key: connections[connection].consumers[number].name
        for key, (connection, number) in sorted(
            broker.consumers.items(), key=lambda item: item[1]
        )  # a restored broker has them in another order
        if connection in connections and is_program(connections[connection].peer)
    }


def is_program(node: str) -> bool:
    """Whether a node is a program of the lab's: no consumer can be called as the lane's own nodes are.

    >>> is_program("c1"), is_program("(audit-1)")
    (True, False)
    """
    return node[0] != "("


class RawSlices(NamedTuple):
    """The selector's answer: inclusive upper bounds, and the broker's consumers behind them. Several may
    share a point of the ring: they split its slots, and each counts with its part."""

    bounds: list[int]
    holders: list[Owner]


def raw_slices(selector: Selector) -> RawSlices:
    """Of a ring the same lists as long as nothing changes."""
    if isinstance(selector, RingSelector):
        return RawSlices(*selector.shared_slices())
    bounds, holders = selector.slices()
    return RawSlices(bounds, [*holders])


class Assignment:
    """Who owned which slots at one moment. raw: what the selector answered; owners: the same with the
    programs' names, slice by slice."""

    def __init__(self, selector: Selector, raw: RawSlices, names: Mapping[str, str]) -> None:
        """names: the broker's consumer -> its program's name."""
        self.raw = raw
        self.names = dict(names)
        self.slots, self.first_slot = selector.space, selector.first_slot
        self.owners = named_owners(raw.holders, names)
        self._is_split = any(isinstance(owner, tuple) for owner in set(raw.holders))
        self._bounds: Slots = np.array(raw.bounds, np.int64)

    @property
    def space(self) -> Space:
        return self.raw.bounds, self.owners, self.slots, self.first_slot

    def owners_of(self, slots: Slots) -> list[str | None]:
        """The program that owns each of these slots."""
        return self._picked(self.owners, slots)

    def holders_of(self, slots: Slots) -> list[str | None]:
        """The broker's consumer that owns each of these slots."""
        return self._picked(self.raw.holders, slots)

    def holder_of(self, slot: int) -> str | None:
        """The broker's consumer that owns this slot."""
        place = bisect_left(self.raw.bounds, slot)
        holder = self.raw.holders[place if place < len(self.raw.bounds) else 0]
        return holder[slot % len(holder)] if isinstance(holder, tuple) else holder

    @cached_property
    def slots_of(self) -> dict[str, int]:
        """How many slots each program owns; of a slice that several share each its part."""
        counts: dict[str, int] = {}
        low = -1
        for bound, owner in zip(self.raw.bounds, self.owners, strict=True):
            several = owner if isinstance(owner, tuple) else (owner,)
            for place, name in enumerate(several):
                if name is not None:
                    counts[name] = counts.get(name, 0) + (bound - low + place) // len(several)
            low = bound
        first = self.owners[0]
        top = first[0] if isinstance(first, tuple) else first
        if top is not None and low < self.slots - 1:  # above the highest point of a ring
            counts[top] = counts.get(top, 0) + self.slots - 1 - low
        return counts

    def spread(self, messages: int) -> dict[str, int]:
        """So many messages whose hashes are spread evenly: how many each program gets by its part of the
        slots; a gap's are nobody's."""
        found: dict[str, int] = {}
        below = 0
        for name, count in self.slots_of.items():
            found[name] = messages * (below + count) // self.slots - messages * below // self.slots
            below += count
        return found

    def dark_units(self, dead: AbstractSet[str]) -> int:
        """How many ten-thousandths of the space nobody serves: without an owner, or one of these dead."""
        dark = dark_slots(*self.raw, self.slots, self.first_slot, dead.__contains__)
        return dark * SPACE_UNITS // (self.slots - self.first_slot)

    def check(self) -> None:
        """Raise InvariantError unless each slot has one owner, or nobody: the slices ascend, end within the
        space, and belong to consumers that the broker has."""
        bounds = self._bounds
        if (
            len(bounds) != len(self.raw.holders)
            or bounds[0] < 0
            or bounds[-1] >= self.slots
            or (np.diff(bounds) <= 0).any()
        ):
            raise InvariantError("the selector's slices overlap, or leave the space")
        holders = {
            one
            for holder in set(self.raw.holders)
            for one in (holder if isinstance(holder, tuple) else (holder,))
        }
        if not holders <= {None, *self.names}:
            raise InvariantError("a slot belongs to a consumer that is not connected")

    def _picked(self, owners: Sequence[Owner], slots: Slots) -> list[str | None]:
        at = np.searchsorted(self._bounds, slots)
        at[at == len(self._bounds)] = 0
        found = [owners[place] for place in at.tolist()]
        if not self._is_split:
            return cast(list[str | None], found)
        return [
            owner[slot % len(owner)] if isinstance(owner, tuple) else owner
            for owner, slot in zip(found, slots.tolist(), strict=True)
        ]


class ProgramOfKey(dict[int, str | None]):
    """Key code -> the program that owns it in one assignment, looked up once a key; None for nobody's, and
    where each message without a key has an owner of its own."""

    def __init__(self, owners: Owners, assignment: Assignment) -> None:
        self.owners, self.assignment = owners, assignment

    def __missing__(self, code: int) -> str | None:
        is_spread = code == NO_KEY and self.owners.spreads_keyless
        holder = None if is_spread else self.assignment.holder_of(self.owners.slot_of(code))
        name = self[code] = None if holder is None else self.assignment.names[holder]
        return name


class Owners:
    """Who owns what now, as a cache: all of it follows from the broker's state and from how many messages of
    each key there were."""

    def __init__(
        self,
        messages: Messages,
        keys: LiveKeys,
        selector: Selector,
        ordering_keys: int = 0,
        spreads_keyless: bool = False,
    ) -> None:
        """keys: the lab's. selector: an empty one of the lane's rule; it says which slot a hash has.
        spreads_keyless: whether each message without a key has a hash of its own, by its number; then NO_KEY
        has no owner."""
        self.hashes = KeyHashes(messages, ordering_keys)
        self.keys = keys
        self.nobody = selector
        self._slot = selector.slot
        self._slots: Slots = np.zeros(0, np.int64)
        self._now: Assignment | None = None
        self._is_good = False
        self._key_owners: list[str | None] = []
        self._holders: dict[int, str | None] = {}
        self._weights: Counter[str | None] | None = None
        self._programs: dict[int, str | None] = {}
        self._unweighed: list[int] = []
        self.spreads_keyless = spreads_keyless

    def forget(self) -> None:
        """The selector may have changed: ask it again before the next answer."""
        self._is_good = False

    def now(self, broker: Broker) -> Assignment:
        """The assignment, the same object as long as nothing has changed."""
        if self._now is not None and self._is_good:
            return self._now
        known = broker.find()
        selector = (None if known is None else known.selector) or self.nobody
        raw = raw_slices(selector)
        if self._now is None or self._now.raw != raw:
            self._now = Assignment(selector, raw, program_names(broker))
            self._key_owners, self._weights = [], None
            self._holders.clear()
            self._programs = ProgramOfKey(self, self._now)
        self._is_good = True
        return self._now

    def slots(self, count: int) -> Slots:
        """The slot of each of the first `count` live keys."""
        known = len(self._slots)
        if known < count:
            new = [self._slot(self.hashes[code]) for code in self.keys.codes[known:count]]
            self._slots = np.concatenate((self._slots, np.array(new, np.int64)))
        return self._slots[:count]

    def key_owners(self, broker: Broker, count: int) -> list[str | None]:
        """The program that owns each of the first `count` live keys."""
        now, known = self.now(broker), len(self._key_owners)
        if known < count:
            self._key_owners = self._key_owners + now.owners_of(self.slots(count)[known:])
        return self._key_owners[:count]

    def slot_of(self, code: int) -> int:
        return self._slot(self.hashes[code])

    def place_of(self, broker: Broker, code: int, producer: str, number: int) -> tuple[int, str | None]:
        """The slot of a message and the broker's consumer that owns it. number: its sequence id at its
        producer."""
        if code != NO_KEY or not self.spreads_keyless:
            return self.slot_of(code), self.holder_of(broker, code)
        slot = self._slot(murmur3_32(fallback_key(producer, number)))
        return slot, self.now(broker).holder_of(slot)

    def holder_of(self, broker: Broker, code: int) -> str | None:
        """The broker's consumer that owns this key."""
        now = self.now(broker)
        if code not in self._holders:
            self._holders[code] = now.holder_of(self.slot_of(code))
        return self._holders[code]

    def note(self, codes: Iterable[int]) -> None:
        """Messages with these keys have been published."""
        self._unweighed += codes

    def weights(self, broker: Broker, counts: Mapping[int, int]) -> dict[str, int]:
        """Program -> messages so far whose key is its own now. counts: of each key, all those that were noted
        among them. Messages without a key that are spread count with each program's part of the slots: which
        hashes they had is not kept.
        """
        now = self.now(broker)
        if self._weights is None:
            self._weights = Counter(dict.fromkeys(now.names.values(), 0))
            for code, count in counts.items():
                self._weights[self._programs[code]] += count
        else:
            self._weights.update(map(self._programs.__getitem__, self._unweighed))
        self._unweighed.clear()
        keyless = now.spread(counts[NO_KEY]) if self.spreads_keyless and counts.get(NO_KEY) else {}
        return {
            name: weight + keyless.get(name, 0) for name, weight in self._weights.items() if name is not None
        }
