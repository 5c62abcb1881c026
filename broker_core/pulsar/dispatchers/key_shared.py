"""Key_Shared in order, by the rule of 3.2: who joins gets nothing at or after its join until all before it is acknowledged.

    read ─► group by the consumer of the key's hash ─► may the group go, and how far? ─► sent, pending there ─► ack
                                                         │ no permits; an older message of the same key waits;
                                                         │ the consumer has joined at or before this position
                                                         ▼
                                                      replay set, which is read before anything new

A newcomer is "recently joined" with the read position of that moment as its limit. It stays so until mark-delete has come up to the limit: one
unacknowledged message before the join keeps it waiting, and while anybody waits and the replay set is not empty nobody gets anything
new. Without waiting consumers a read that sends nothing makes the next one look ahead.

Source: Pulsar 3.2 `PersistentStickyKeyDispatcherMultipleConsumers` over `PersistentDispatcherMultipleConsumers`.
Vectors: pulsar/key_shared_order_3_2.json.
"""

from collections.abc import Sequence
from dataclasses import dataclass, field

from broker_core.pulsar.cursor import Cursor
from broker_core.pulsar.dispatchers.replay import ReplaySet
from broker_core.pulsar.selectors.protocol import Range, Selector

READ_BATCH = 100
"""dispatcherMaxReadBatchSize: entries of one read."""

Sent = tuple[str, int]
"""(consumer, position)."""


@dataclass(slots=True)
class KeySharedConsumer:
    """permits: messages that it can take. pending: sent and not acknowledged, position -> hash of its key."""

    permits: int = 0
    pending: dict[int, int] = field(default_factory=dict)


class KeySharedDispatcher:
    """One Key_Shared subscription of one topic; every method that can send returns what was sent, in order.

    Positions are entry numbers from 0. recently_joined: consumer -> read position at its join, oldest first.
    """

    def __init__(self, selector: Selector, *, allows_out_of_order: bool = False, read_batch: int = READ_BATCH) -> None:
        self.selector = selector
        self.allows_out_of_order = allows_out_of_order
        self.read_batch = read_batch
        self.cursor = Cursor()
        self.consumers: dict[str, KeySharedConsumer] = {}
        self.recently_joined: dict[str, int] = {}
        self.replay = ReplaySet(blocks=not allows_out_of_order)
        self._hashes: list[int] = []
        self._looks_ahead = False

    # -- consumers -----------------------------------------------------------------------------------------------------

    def connect(self, consumer: str, name: str, permits: int, ranges: Sequence[Range] | None = None) -> list[Sent]:
        """Let a consumer in with its first permits. Raises what the selector raises (AssignRefused), state untouched."""
        self.selector.add(consumer, name, ranges)
        if not self.consumers:
            self.cursor.rewind()
            self.replay.clear()
        self.consumers[consumer] = KeySharedConsumer(permits)
        if not self.allows_out_of_order and len(self.consumers) > 1 and self.cursor.since_first_unacked > 1:
            self.recently_joined[consumer] = self.cursor.read_position
        return self._read_on()

    def disconnect(self, consumer: str) -> list[Sent]:
        """Out of the selector first, then what it has not acknowledged waits to be sent again."""
        self.selector.remove(consumer)
        gone = self.consumers.pop(consumer)
        if not self.consumers:
            self.replay.clear()
            self.recently_joined.clear()
            return []
        for position, hash32 in gone.pending.items():
            self.replay.add(position, hash32)
        sent = self._read_on()
        self.recently_joined.pop(consumer, None)
        if len(self.consumers) == 1:
            self.recently_joined.clear()
        self._let_go()
        return sent + self._read_on()

    def flow(self, consumer: str, permits: int) -> list[Sent]:
        """The consumer can take so many more."""
        self.consumers[consumer].permits += permits
        return self._read_on()

    # -- messages ------------------------------------------------------------------------------------------------------

    def publish(self, hashes: Sequence[int]) -> list[Sent]:
        """Messages arrive at the end of the topic. hashes: unsigned murmur3 of their keys."""
        self._hashes.extend(hashes)
        self.cursor.end += len(hashes)
        return self._read_on()

    def ack(self, positions: Sequence[int]) -> list[Sent]:
        """Acknowledge messages one by one, whoever has them."""
        for position in positions:
            self.cursor.ack(position)
            for known in self.consumers.values():
                known.pending.pop(position, None)
        self._let_go()
        return self._read_on()

    def redeliver(self, consumer: str, positions: Sequence[int]) -> list[Sent]:
        """A client asks for messages of its own again (negative ack). Their hashes are not known here, so they block nothing."""
        known = self.consumers[consumer]
        for position in positions:
            if known.pending.pop(position, None) is not None:
                self.replay.add(position)
        return self._read_on()

    def pending(self) -> dict[str, list[int]]:
        """Consumer -> positions sent to it and not acknowledged, ascending."""
        return {name: sorted(known.pending) for name, known in self.consumers.items()}

    # -- reading -------------------------------------------------------------------------------------------------------

    def _read_on(self) -> list[Sent]:
        """Read until nothing more can be sent."""
        sent: list[Sent] = []
        while any(known.permits > 0 for known in self.consumers.values()):
            count = min(self.read_batch, sum(max(known.permits, 0) for known in self.consumers.values()))
            looks_ahead, self._looks_ahead = self._looks_ahead, False
            replayed = [] if looks_ahead else self.replay.first(count)
            if replayed:
                entries = [position for position in replayed if not self.cursor.is_acked(position)]
                for position in set(replayed) - set(entries):
                    self.replay.remove(position)
            else:
                entries = self.cursor.read(count)
                if not entries:
                    break
            now = self._send(entries, is_replay=bool(replayed)) if entries else []
            sent.extend(now)
            if now or not entries:
                continue
            if not self.recently_joined:
                self._looks_ahead = True
            elif replayed:
                break
        return sent

    def _send(self, entries: Sequence[int], *, is_replay: bool) -> list[Sent]:
        groups: dict[str, list[int]] = {}
        for position in entries:
            owner = self.selector.select(self._hashes[position])
            if owner is None:
                self.replay.add(position, self._hashes[position])
            else:
                groups.setdefault(owner, []).append(position)
        sent: list[Sent] = []
        for consumer, positions in groups.items():
            known = self.consumers[consumer]
            count = self._allowed(consumer, positions, is_replay=is_replay)
            for position in positions[count:]:
                self.replay.add(position, self._hashes[position])
            for position in positions[:count]:
                self.replay.remove(position)
                known.pending[position] = self._hashes[position]
                sent.append((consumer, position))
            known.permits -= count
        return sent

    def _allowed(self, consumer: str, positions: Sequence[int], *, is_replay: bool) -> int:
        """How many of these messages, from the first on, may go to their consumer now."""
        count = min(len(positions), max(self.consumers[consumer].permits, 0))
        if not is_replay and self.replay.has_hash({self._hashes[position] for position in positions}):
            return 0
        self._let_go()
        limit = self.recently_joined.get(consumer)
        if limit is None:
            return count
        if is_replay:
            limit = min(limit, next(iter(self.recently_joined.values())))
        return next((place for place, position in enumerate(positions[:count]) if position >= limit), count)

    def _let_go(self) -> None:
        """Newcomers before whose join all is acknowledged wait no longer: from the oldest on, up to the first that must."""
        for consumer, limit in list(self.recently_joined.items()):
            if limit > self.cursor.mark_delete + 1:
                break
            del self.recently_joined[consumer]
