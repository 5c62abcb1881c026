"""Key_Shared in order, by the rule after PIP-379: only keys with unacknowledged messages at their old
consumer wait.

    c1 has slot 7 with two messages unacknowledged; c2 joins and takes slot 7

    draining   7 -> (c1, 2)      7 -> (c1, 1)      -               what arrives for slot 7 waits in the replay set; every other slot
                  c1 acks            c1 acks       10 ms later     of c2 is served at once
                                                   it goes to c2

No join position plays a part. Not for sticky ranges, and not with allowOutOfOrderDelivery. Entries that wait
are looked through one by one: what has a consumer with permits, is not draining, and has no older entry of
its slot before it that is held back, goes.

Source: Pulsar 4 `DrainingHashesTracker`, `PersistentStickyKeyDispatcherMultipleConsumers` (pip/pip-379.md).
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, ClassVar

from broker_core.plain import kept, take_back
from broker_core.pulsar.cursor import Cursor
from broker_core.pulsar.dispatchers.key_shared import KeyDispatcher, Sent
from broker_core.pulsar.dispatchers.pending import (
    READ_BATCH,
    UNACKED_PER_CONSUMER_MAX,
    UNACKED_PER_SUBSCRIPTION_MAX,
)
from broker_core.pulsar.entry import Entries, Entry
from broker_core.pulsar.selectors.protocol import Range, Selector

UNBLOCKING_US = 10_000
"""keySharedUnblockingIntervalMs: so long after a slot has drained the dispatcher reads again."""
LOOK_AHEAD_PER_CONSUMER, LOOK_AHEAD_PER_SUBSCRIPTION = 2_000, 20_000
"""keySharedLookAheadMsgInReplayThreshold: with so many entries waiting nothing new is read."""


@dataclass(slots=True)
class Draining:
    """consumer: who has the slot's unacknowledged entries. count: how many. blocked: how often something had
    to wait for them."""

    consumer: str
    count: int = 0
    blocked: int = 0


@dataclass(eq=False, repr=False)
class DrainingState:
    """draining: slot -> who must acknowledge before its new consumer gets it. unblocked: something that had
    to wait may go, and nobody has read since; has_timer: that is set. drained: slots that were draining and
    are done."""

    draining: dict[int, Draining] = field(default_factory=dict)
    unblocked: bool = False
    drained: int = 0
    has_timer: bool = False


class DrainingDispatcher(KeyDispatcher, DrainingState):
    """is_sticky: where the ranges are the consumers' own, nothing drains."""

    ASKED_AGAIN_BLOCKS: ClassVar[bool] = True

    def __init__(
        self,
        selector: Selector,
        *,
        is_sticky: bool = False,
        read_batch: int = READ_BATCH,
        cursor: Cursor | None = None,
        entries: Entries | None = None,
        unacked_max: int = UNACKED_PER_CONSUMER_MAX,
        unacked_all_max: int = UNACKED_PER_SUBSCRIPTION_MAX,
    ) -> None:
        super().__init__(
            selector,
            read_batch=read_batch,
            cursor=cursor,
            entries=entries,
            unacked_max=unacked_max,
            unacked_all_max=unacked_all_max,
        )
        self.is_sticky = is_sticky
        self.on_settled = self.was_acked
        DrainingState.__init__(self)

    # -- consumers -------------------------------------------------------------------------------------------

    def connect(
        self, consumer: str, name: str, permits: int, ranges: Sequence[Range] | None = None, priority: int = 0
    ) -> list[Sent]:
        """Let a consumer in with its first permits. Raises what the selector raises (AssignRefused), state
        untouched."""
        self._join(consumer, name, priority, permits, ranges)
        self._recount()
        return self.read_on()

    def disconnect(self, consumer: str) -> list[Sent]:
        """Out of the selector; what it has not acknowledged waits to be sent again. One that is not connected
        changes nothing."""
        if consumer not in self.consumers:
            return []
        gone = self._leave(consumer)
        self._recount()
        if not self.consumers:
            return []
        for position, hash32 in gone.pending.items():
            self._again(position, hash32)
        return self.read_on()

    def _recount(self) -> None:
        """Owners have changed: what is pending at somebody who does not own its slot any more is draining."""
        if self.is_sticky:
            return
        before, self.draining = self.draining, {}
        for consumer, known in self.consumers.items():
            for hash32 in known.pending.values():
                if self.owner(hash32) != consumer:
                    slot = self.slot(hash32)
                    entry = self.draining.setdefault(
                        slot, Draining(consumer, 0, before[slot].blocked if slot in before else 0)
                    )
                    entry.count += 1

    # -- messages --------------------------------------------------------------------------------------------

    def was_acked(self, consumer: str, hash32: int) -> None:
        """An entry of this hash is not pending at the consumer any more: its slot may have drained."""
        if not self.draining:
            return
        slot = self.slot(hash32)
        entry = self.draining.get(slot)
        if entry is None or entry.consumer != consumer:
            return
        entry.count -= 1
        if not entry.count:
            del self.draining[slot]
            self.drained += 1
            if entry.blocked:  # any read from now on may send it, the timer only sees to it that there is one
                self.unblocked = self.has_news = True
                self.changed()

    def unblock(self) -> list[Sent]:
        """The interval after a slot has drained is over."""
        self.unblocked = self.has_timer = False
        self.changed()
        return self.read_on()

    def arrived(self, position: int, entry: Entry) -> list[Sent]:
        cursor = self.cursor
        cursor.end = position + 1
        if entry.deliver_at_us:
            self.has_delayed = True
        if self.available <= 0:
            return []
        if (
            cursor.read_position != position
            or self.is_full
            or self.has_delayed
            or (self.replay.waiting and not self._stuck)
        ):
            return self.read_on()
        if self._stuck and len(self.replay) >= self._waiting_max():
            return []
        cursor.read_position = position + 1
        owner = self._goes_to(entry.hash32)
        if owner is None:
            self.replay.add(position, entry.hash32)
            self._stuck = 1
            return []
        self._take(self.consumers[owner], position, entry)
        return [(owner, position)]

    def read_on(self) -> list[Sent]:
        sent: list[Sent] = []
        while self.available > 0:
            count = min(self.read_batch, self.available)
            if self.replay.waiting and not self._stuck:
                if self._send_waiting(count, sent):
                    continue
                self._stuck = 1
            if self.is_full or (self.replay.waiting and len(self.replay) >= self._waiting_max()):
                break
            read = self.cursor.read(count)
            if not read:
                break
            for position in self._without_delayed(read):
                entry = self.entries[position]
                owner = self._goes_to(entry.hash32)
                if owner is None:
                    self.replay.add(position, entry.hash32)
                    self._stuck = 1
                else:
                    self._take(self.consumers[owner], position, entry)
                    sent.append((owner, position))
        return sent

    def _send_waiting(self, count: int, sent: list[Sent]) -> bool:
        """Send up to `count` of those that wait, lowest first. True: something went, or was acknowledged
        meanwhile."""
        held: set[int] = set()
        chosen: list[int] = []
        owners: list[str] = []
        acked = []
        left = {
            consumer: max(known.permits, 0)
            for consumer, known in self.consumers.items()
            if not known.is_blocked
        }
        for position in self.replay:
            if len(chosen) == count:
                break
            if self.cursor.is_acked(position):
                acked.append(position)
                continue
            hash32 = self.entries[position].hash32
            slot = self.slot(hash32)
            if slot in held:
                continue
            owner = self.owner(hash32)
            if owner is None or left.get(owner, 0) <= 0 or self._is_draining(slot):
                held.add(slot)
                continue
            left[owner] -= 1
            chosen.append(position)
            owners.append(owner)
        self.replay.remove(acked)
        gone = []
        for position, owner in zip(chosen, owners, strict=True):
            known = self.consumers[owner]
            if not known.is_available:  # batches took what was left
                continue
            gone.append(position)
            self._take(known, position, self.entries[position])
            sent.append((owner, position))
        self.replay.remove(gone)
        return bool(chosen or acked)

    def _goes_to(self, hash32: int) -> str | None:
        """The consumer that a new entry may go to now; None: it waits."""
        owner = self.owner(hash32)
        if owner is None or hash32 in self.replay.counts or not self.consumers[owner].is_available:
            return None
        return None if self.draining and self._is_draining(self.slot(hash32)) else owner

    def slot(self, hash32: int) -> int:
        """What a key drains by: its slot, 1 instead of 0, which means "no hash" there (makeStickyKeyHash)."""
        return self.selector.slot(hash32) or 1

    def _is_draining(self, slot: int) -> bool:
        entry = self.draining.get(slot)
        if entry is None:
            return False
        entry.blocked += 1
        return True

    def _waiting_max(self) -> int:
        return min(LOOK_AHEAD_PER_CONSUMER * len(self.consumers), LOOK_AHEAD_PER_SUBSCRIPTION)

    # -- checkpoints -----------------------------------------------------------------------------------------

    def to_json(self) -> dict[str, Any]:
        return {
            **super().to_json(),
            **kept(self, DrainingState),
            "selector": self.selector.to_json(),
            "stuck": self._stuck,
        }

    def restore(self, state: Mapping[str, Any]) -> None:
        super().restore(state)
        take_back(self, DrainingState, state)
        self._stuck = state[
            "stuck"
        ]  # else what waits would be looked through once more, and counted as blocked once more
