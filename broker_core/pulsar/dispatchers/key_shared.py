"""Key_Shared in order, by the rule of 3.2: who joins gets nothing at or after its join until all before it is
acknowledged.

    read ─► group by the consumer of the key's hash ─► may the group go, and how far? ─► sent, pending there ─► ack
                                                         │ no permits; an older message of the same key waits;
                                                         │ the consumer has joined at or before this position
                                                         ▼
                                                      replay set, which is read before anything new

A newcomer is "recently joined" with the read position of that moment as its limit. It stays so until
mark-delete has come up to the limit: one unacknowledged message before the join keeps it waiting, and while
anybody waits and the replay set is not empty nobody gets anything new. Without waiting consumers a read that
sends nothing makes the next one look ahead.

What keeps it fast changes nothing of that: a message that arrives while all before it is read, and the replay
set is empty or is known not to be sendable, is decided alone; if it has to wait, it joins what is known not
to be sendable, for it waits for the same.

Source: Pulsar 3.2 `PersistentStickyKeyDispatcherMultipleConsumers` over
`PersistentDispatcherMultipleConsumers`.
Vectors: pulsar/key_shared_order_3_2.json.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from broker_core.plain import kept, take_back
from broker_core.pulsar.cursor import Cursor
from broker_core.pulsar.dispatchers.pending import (
    READ_BATCH,
    UNACKED_PER_CONSUMER_MAX,
    UNACKED_PER_SUBSCRIPTION_MAX,
    PendingDispatcher,
    Sent,
)
from broker_core.pulsar.dispatchers.receiver import Receiver
from broker_core.pulsar.entry import Entries, Entry
from broker_core.pulsar.selectors.protocol import Range, Selector

__all__ = ["KeySharedDispatcher", "Sent"]

OWNERS_MAX = 1 << 16
"""Hashes whose owner is remembered; where each message without a key has its own there is no end of them."""


class KeyDispatcher(PendingDispatcher):
    """What both order rules of Key_Shared share: a key's hash names the consumer. owners: hash -> consumer,
    looked up once a hash between two changes of the selector."""

    def __init__(
        self,
        selector: Selector,
        *,
        blocks: bool = True,
        read_batch: int = READ_BATCH,
        cursor: Cursor | None = None,
        entries: Entries | None = None,
        unacked_max: int = UNACKED_PER_CONSUMER_MAX,
        unacked_all_max: int = UNACKED_PER_SUBSCRIPTION_MAX,
    ) -> None:
        super().__init__(
            cursor,
            entries,
            blocks=blocks,
            read_batch=read_batch,
            unacked_max=unacked_max,
            unacked_all_max=unacked_all_max,
        )
        self.selector = selector
        self.owners: dict[int, str | None] = {}

    def owner(self, hash32: int) -> str | None:
        """The consumer of a key with this hash."""
        owners = self.owners
        if hash32 in owners:
            return owners[hash32]
        if len(owners) >= OWNERS_MAX:
            owners.clear()
        found = owners[hash32] = self.selector.select(hash32)
        return found

    def waiting_for(self, consumer: str) -> int:
        """Entries at nobody whose key is this consumer's. Takes as long as there are entries that wait."""
        unread = range(self.cursor.read_position, self.cursor.end)
        places = [*self.replay, *(position for _, position in self.delayed), *unread]
        return sum(
            self.owner(self.entries[place].hash32) == consumer
            for place in places
            if not self.cursor.is_acked(place)
        )

    def _join(
        self, consumer: str, name: str, priority: int, permits: int, ranges: Sequence[Range] | None
    ) -> Receiver:
        """Raises what the selector raises (AssignRefused), state untouched."""
        self.selector.add(consumer, name, ranges)
        self.owners.clear()
        return self._enter(consumer, name, priority, permits)

    def _leave(self, consumer: str) -> Receiver:
        self.selector.remove(consumer)
        self.owners.clear()
        return self._exit(consumer)

    def _hold(self, position: int, hash32: int) -> None:
        """It waits. With fewer waiting than were known to be stuck, the next replay read has something to
        look at."""
        self.replay.add(position, hash32)
        if len(self.replay) <= self._stuck:
            self._stuck = 0


@dataclass(eq=False, repr=False)
class KeySharedState:
    """recently_joined: consumer -> read position at its join, oldest first. looks_ahead: the next read passes
    the replay set by."""

    recently_joined: dict[str, int] = field(default_factory=dict)
    looks_ahead: bool = False


class KeySharedDispatcher(KeyDispatcher, KeySharedState):
    """One Key_Shared subscription of one topic; every method that can send returns what was sent, in order.

    Positions are entry numbers from 0. let_go: newcomers that wait no longer, for whoever empties it.
    """

    def __init__(
        self,
        selector: Selector,
        *,
        allows_out_of_order: bool = False,
        read_batch: int = READ_BATCH,
        cursor: Cursor | None = None,
        entries: Entries | None = None,
        unacked_max: int = UNACKED_PER_CONSUMER_MAX,
        unacked_all_max: int = UNACKED_PER_SUBSCRIPTION_MAX,
    ) -> None:
        super().__init__(
            selector,
            blocks=not allows_out_of_order,
            read_batch=read_batch,
            cursor=cursor,
            entries=entries,
            unacked_max=unacked_max,
            unacked_all_max=unacked_all_max,
        )
        self.allows_out_of_order = allows_out_of_order
        KeySharedState.__init__(self)
        self.let_go: list[str] = []

    # -- consumers -------------------------------------------------------------------------------------------

    def connect(
        self, consumer: str, name: str, permits: int, ranges: Sequence[Range] | None = None, priority: int = 0
    ) -> list[Sent]:
        """Let a consumer in with its first permits. Raises what the selector raises (AssignRefused), state
        untouched."""
        self._join(consumer, name, priority, permits, ranges)
        if not self.allows_out_of_order and len(self.consumers) > 1 and self.cursor.since_first_unacked > 1:
            self.recently_joined[consumer] = self.cursor.read_position
        return self.read_on()

    def disconnect(self, consumer: str) -> list[Sent]:
        """Out of the selector first, then what it has not acknowledged waits to be sent again. One that is
        not connected changes nothing."""
        if consumer not in self.consumers:
            return []
        gone = self._leave(consumer)
        if not self.consumers:
            self.recently_joined.clear()
            return []
        for position, hash32 in gone.pending.items():
            self._again(position, hash32)
        sent = self.read_on()
        self.recently_joined.pop(consumer, None)
        if len(self.consumers) == 1:
            self.recently_joined.clear()
        self._let_go()
        self.changed()
        return sent + self.read_on()

    # -- messages --------------------------------------------------------------------------------------------

    def arrived(self, position: int, entry: Entry) -> list[Sent]:
        cursor, replay = self.cursor, self.replay
        cursor.end = position + 1
        if entry.deliver_at_us:
            self.has_delayed = True
        available = self.available
        if available <= 0:
            return []
        if (
            cursor.read_position != position or self.recently_joined or self.is_full or self.has_delayed
            or (replay.waiting and self._stuck < self.read_batch and self._stuck < available)
        ):  # fmt: skip
            return self.read_on()
        self.looks_ahead = False
        cursor.read_position = position + 1
        hash32 = entry.hash32
        owner = None if hash32 in replay.counts else self.owner(hash32)
        known = None if owner is None else self.consumers[owner]
        if known is None or not known.is_available or known.unacked >= self.each_max:
            # It waits behind those known not to be sendable, for what they wait for or for its own consumer:
            # they stay known.
            replay.add(position, hash32)
            return []
        self._take(known, position, entry)
        return [(known.consumer, position)]

    def _acked(self) -> bool:
        if not self.recently_joined:
            return False
        before = len(self.recently_joined)
        self._let_go()
        if len(self.recently_joined) == before:
            return False
        self.changed()
        return True

    # -- reading ---------------------------------------------------------------------------------------------

    def read_on(self) -> list[Sent]:
        sent: list[Sent] = []
        while self.available > 0:
            count = min(self.read_batch, self.available)
            looks_ahead, self.looks_ahead = self.looks_ahead, False
            replayed: list[int] = []
            if not looks_ahead and self.replay.waiting:
                if count <= self._stuck:
                    if self.recently_joined:
                        break
                    looks_ahead = True
                else:
                    replayed = self.replay.first(count)
            if replayed:
                mark_delete, ahead = self.cursor.mark_delete, self.cursor.ahead
                entries = [
                    position for position in replayed if position > mark_delete and position not in ahead
                ]
                if len(entries) < len(replayed):
                    self.replay.remove([position for position in replayed if self.cursor.is_acked(position)])
            elif self.is_full:
                break
            else:
                read = self.cursor.read(count)
                if not read:
                    break
                entries = self._without_delayed(read)
            now = self._send(entries, is_replay=bool(replayed)) if entries else []
            sent.extend(now)
            if now or not entries:
                continue
            if replayed and len(entries) == len(replayed):
                self._stuck = count
            if not self.recently_joined:
                self.looks_ahead = True
        return sent

    def _send(self, positions: Sequence[int], *, is_replay: bool) -> list[Sent]:
        entries, owners = self.entries, self.owners
        waiting = self.replay.waiting
        holds = not is_replay or self.replay.blocks  # else all of them wait already, and no hash is noted
        groups: dict[str | None, list[int]] = {}
        for position in positions:
            hash32 = entries[position].hash32
            owner = owners[hash32] if hash32 in owners else self.owner(hash32)
            if owner in groups:
                groups[owner].append(position)
            else:
                groups[owner] = [position]
        sent: list[Sent] = []
        for consumer, mine in groups.items():
            count = 0
            if consumer is not None:
                known = self.consumers[consumer]
                count = self._allowed(known, mine, is_replay=is_replay)
                self._take_all(known, mine[:count])
                sent += [(consumer, position) for position in mine[:count]]
            for position in mine[count:] if holds else ():
                if waiting.get(position) is None:  # else it waits already, with its hash
                    self._hold(position, entries[position].hash32)
        if is_replay:
            self.replay.remove([position for _, position in sent])
            if sent or len(waiting) <= self._stuck:
                self._stuck = 0
        return sent

    def _allowed(self, known: Receiver, positions: Sequence[int], *, is_replay: bool) -> int:
        """How many of these entries, from the first on, may go to their consumer now."""
        count = 0 if known.is_blocked else min(len(positions), max(known.permits, 0))
        if self.unacked_max:
            count = min(count, max(self.unacked_max - known.unacked, 0))
        if not is_replay and self.replay.has_hash(self.entries[position].hash32 for position in positions):
            return 0
        self._let_go()
        limit = self.recently_joined.get(known.consumer)
        if limit is None:
            return count
        if is_replay:
            limit = min(limit, next(iter(self.recently_joined.values())))
        return next((place for place, position in enumerate(positions[:count]) if position >= limit), count)

    def _let_go(self) -> None:
        """Newcomers before whose join all is acknowledged wait no longer: from the oldest on, up to the first
        that must."""
        if not self.recently_joined:
            return
        for consumer, limit in list(self.recently_joined.items()):
            if limit > self.cursor.mark_delete + 1:
                break
            del self.recently_joined[consumer]
            self.let_go.append(consumer)
            self.has_news = True

    # -- checkpoints -----------------------------------------------------------------------------------------

    def to_json(self) -> dict[str, Any]:
        return {**super().to_json(), **kept(self, KeySharedState), "selector": self.selector.to_json()}

    def restore(self, state: Mapping[str, Any]) -> None:
        super().restore(state)
        take_back(self, KeySharedState, state)
