"""Who owns what in the Pulsar lane: the selector's slots, the keys in them, and what a change moved from whom.

A record's key is hashed (murmur3, unsigned), the subscription's selector says which session has that slot, and the session belongs to a
consumer. What is asked often is kept until the assignment changes (`owners_changed`). `pulsar.py` adds traffic and membership.
"""

from collections import deque
from collections.abc import Sequence

from broker_core.events import Json
from broker_core.hashing.hash_range import Owner
from broker_core.hashing.murmur3 import murmur3_32
from broker_core.lab.bill import Space
from broker_core.lab.darkness import SPACE_UNITS
from broker_core.lab.keys import NO_KEY
from broker_core.lab.lanes.pulsar_moves import EXPLAINED_MAX, KEYS_MAX, first_of, taken_facts
from broker_core.lab.rig import Rig, RigSetup
from broker_core.lab.slices import dark_slots, named_owners, slices_view
from broker_core.pulsar.key_shared import KeySharedSubscription
from broker_core.pulsar.selectors import make_selector
from broker_core.pulsar.selectors.consistent_hash import RingSelector

NO_KEY_HASH_KEY = "NONE_KEY"
"""What 3.2 hashes for a record without a key, so that all of them go to one consumer (Commands.peekStickyKey)."""
RINGS = ("consistent_hash", "consistent_hash_3_2_0", "consistent_hash_current", "ring_document")

Ranges = list[tuple[int, int]]


class PulsarOwnersRig(Rig):
    """The subscription, its sessions and their keys."""

    model = "pulsar"
    records_are_indexes = True
    STATE = (*Rig.STATE, "subscription", "queues", "taken", "name_of", "code_counts", "keyless", "ranges", "remembered", "done")
    subscription: KeySharedSubscription
    queues: dict[str, deque[int]]
    taken: dict[str, int]
    name_of: dict[str, str]
    code_counts: dict[int, int]
    keyless: int
    ranges: dict[str, Ranges]
    remembered: dict[str, Ranges]
    done: int

    def __init__(self, setup: RigSetup) -> None:
        super().__init__(setup)
        self.queue_size: int = self.options.get("receiver_queue_size", 1000)
        self.subscription = KeySharedSubscription(make_selector(self.algorithm, self.options.get("points")))
        self.queues = {}
        self.taken = {}
        self.name_of = {}
        self.code_counts = {}
        self.ranges, self.remembered = {}, {}
        self.keyless = 0
        self.done = 0
        self.hashes: dict[int, int] = {}
        self.on_loaded()

    def on_loaded(self) -> None:
        self.owner_cache: dict[int, str | None] = {}
        self.owner_weights: dict[str, int] | None = None
        self.space_cache: Space | None = None
        self.picture_cache: Json | None = None

    def hash_of(self, code: int) -> int:
        """Unsigned murmur3 of the key, computed once a key."""
        value = self.hashes.get(code)
        if value is None:
            key = NO_KEY_HASH_KEY if code == NO_KEY else self.texts.key_bytes(code)
            value = self.hashes[code] = murmur3_32(key)
        return value

    def owners_changed(self) -> None:
        self.owner_cache.clear()
        self.owner_weights = None
        self.space_cache = None
        self.picture_cache = None

    def owner_of(self, code: int) -> str | None:
        cache = self.owner_cache
        if code in cache:
            return cache[code]
        session = self.subscription.selector.select(self.hash_of(code))
        owner = cache[code] = None if session is None else self.name_of[session]
        return owner

    def weights(self) -> dict[str, int]:
        if self.owner_weights is None:
            weights = dict.fromkeys(self.name_of.values(), 0)
            for code, count in self.code_counts.items():
                owner = self.owner_of(code)
                if owner is not None:
                    weights[owner] += count
            self.owner_weights = weights
        return self.owner_weights

    def key_owners(self) -> list[str | None]:
        live = self.keys.count_at(self.next_record)
        return [self.owner_of(code) for code in self.keys.codes[:live]]

    def units(self) -> None:
        return None

    def owned_slices(self) -> tuple[Sequence[int], Sequence[Owner]]:
        """Slices and the sessions that own them. Where several share one ring point they split its slots: each counts with its part."""
        selector = self.subscription.selector
        return (selector.shared_slices if isinstance(selector, RingSelector) else selector.slices)()

    def space(self) -> Space:
        if self.space_cache is None:
            selector = self.subscription.selector
            bounds, owners = self.owned_slices()
            self.space_cache = (list(bounds), named_owners(owners, self.name_of), selector.space, selector.first_slot)
        return self.space_cache

    def is_dead(self, session: str) -> bool:
        """Whether its program is dead and the broker does not know yet."""
        return session in self.crash_positions

    def dark_units(self) -> tuple[int, int]:
        selector = self.subscription.selector
        dark = dark_slots(*self.owned_slices(), selector.space, selector.first_slot, self.is_dead)
        return dark * SPACE_UNITS // (selector.space - selector.first_slot), SPACE_UNITS

    def stuck(self) -> tuple[int, int]:
        live = self.keys.count_at(self.next_record)
        if not live:
            return self.dark_units()
        select = self.subscription.selector.select
        owners = [select(self.hash_of(code)) for code in self.keys.codes[:live]]
        return sum(session is None or self.is_dead(session) for session in owners), live

    # -- what a change moved ---------------------------------------------------------------------------------------------------------------

    def begin_change(self, position: int, kind: str, name: str) -> None:
        super().begin_change(position, kind, name)
        self.picture_cache = None  # it shows what was before the change

    def owners_to_explain(self) -> tuple[Space, list[str | None]] | None:
        """The space and each live key's owner before a turning point that is to tell what it moved; None where it need not."""
        if len(self.why) >= EXPLAINED_MAX or self.keys.count_at(self.next_record) > KEYS_MAX:
            return None
        return self.space(), self.key_owners()

    def moved_since(self, was: list[str | None]) -> list[tuple[int, str | None, str | None]]:
        """(key code, owner before, owner now) of each live key that has another owner."""
        return [(code, old, now) for code, old, now in zip(self.keys.codes, was, self.key_owners(), strict=False) if old != now]

    def taken_by(self, name: str, was: tuple[Space, list[str | None]] | None) -> Json:
        """What the newcomer `name` took, slice by slice."""
        if was is None:
            return {}
        slot = self.subscription.selector.slot
        moved = [(slot(self.hash_of(code)), old) for code, old, now in self.moved_since(was[1]) if now == name]
        return taken_facts(name, was[0], self.space(), moved, len(was[1]), self.algorithm in RINGS)

    def space_picture(self) -> Json:
        """The part of the picture that changes only with the assignment."""
        bounds, owners, slots, _ = self.space()
        sessions = self.owned_slices()[1]
        dead = {owner for owner in set(sessions) if (session := first_of(owner)) is not None and self.is_dead(session)}
        was = self.bill.space_before if self.bill else None
        # Who owns something, by first appearance: asked once for each owner, because a large ring has tens of thousands of slices.
        shown = map(first_of, dict.fromkeys([*owners, *(was[1] if was else ())]))
        names = [name for name in dict.fromkeys([*self.consumers, *shown]) if name is not None]
        is_ring = self.algorithm in RINGS
        return {
            "kind": "ring" if is_ring else "ranges", "space": slots, "names": names,
            "points": len(owners) - owners.count(None) if is_ring else None,
            "now": slices_view(bounds, owners, slots, names, [owner in dead for owner in sessions] if dead else None),
            "before": slices_view(was[0], was[1], slots, names) if was and any(was[1]) else None,
        }  # fmt: skip
