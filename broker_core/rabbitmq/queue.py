"""One classic queue: whose turn it is, who is at its prefetch limit, and where a message goes back to.

The consumers form a ring. A message goes to the one in front, which then steps to the back.

        ready  7 6 5 ──►  front ─► c1 ─ c2 ─ c3 ─┐        c4 (at its limit, out of the ring)
                            ▲────────────────────┘             └── ack ──► joins at the back

What makes the original's order its own:

- A consumer at its limit is taken out of the ring not when it reaches the limit but when its turn comes and
  it still has no room. So an ack that arrives before that turn costs it nothing, and one that arrives later
  puts it at the back.
- Messages wait only while every consumer is out of the ring; so a backlog goes whole to the first consumer
  that has room.
- A message that comes back takes its old place by publish order, and is marked redelivered from then on.

Left out: no_ack consumers, basic.get, priorities, single active consumer, channel-wide limits, time to live,
length limits.
Source: RabbitMQ 3.10 rabbit_queue_consumers; docs/rabbitmq/facts.md. Vectors: rabbitmq/dispatch.json.
"""

from __future__ import annotations

import heapq
from collections import deque
from collections.abc import Sequence
from dataclasses import dataclass, field, replace
from itertools import islice
from typing import Any, Self

from broker_core.errors import CommandError
from broker_core.plain import from_plain, to_plain

Delivery = tuple[str, int, bool]
"""(consumer, position, redelivered): one message on its way to one consumer."""


@dataclass(slots=True, eq=False)
class _Consumer:
    name: str
    prefetch: int  # 0: no limit
    unacked: dict[int, bool] = field(default_factory=dict)  # position -> redelivered, in order of delivery
    is_out: bool = False  # out of the ring, waiting for an ack


class Positions(deque[int]):
    """Ascending positions; in a checkpoint each unbroken run is one pair, so a backlog of a million is no
    more than that."""

    def to_json(self) -> list[list[int]]:
        """(first, count) of each run."""
        runs: list[list[int]] = []
        for position in self:
            if runs and position == runs[-1][0] + runs[-1][1]:
                runs[-1][1] += 1
            else:
                runs.append([position, 1])
        return runs

    @classmethod
    def from_json(cls, runs: list[list[int]]) -> Self:
        """The positions that wrote `runs`."""
        return cls(position for first, count in runs for position in range(first, first + count))


class Bodies:
    """at: position -> the message there, positions ascending; in a checkpoint each run in which both go up by
    one is one entry."""

    __slots__ = ("at",)

    def __init__(self, at: dict[int, int] | None = None) -> None:
        self.at = at or {}

    def to_json(self) -> list[list[int]]:
        """(first position, first message, count) of each run."""
        runs: list[list[int]] = []
        for position, message in self.at.items():
            if runs and [position, message] == [runs[-1][0] + runs[-1][2], runs[-1][1] + runs[-1][2]]:
                runs[-1][2] += 1
            else:
                runs.append([position, message, 1])
        return runs

    @classmethod
    def from_json(cls, runs: list[list[int]]) -> Self:
        """The messages that wrote `runs`."""
        return cls(
            {position + place: message + place for position, message, count in runs for place in range(count)}
        )


@dataclass(slots=True, eq=False)
class QueueState:
    """What a checkpoint holds of a queue beside the order of its ring. published, acked: how many messages
    have come in, and how many are done. bodies: of those that are not done. Delivery takes the lowest
    position first, so a message that comes back is below everything never delivered, and two containers hold
    the order: requeued, a heap of what came back (all of it redelivered), then fresh, as they came.
    """

    published: int = 0
    acked: int = 0
    bodies: Bodies = field(default_factory=Bodies)
    requeued: list[int] = field(default_factory=list)
    fresh: Positions = field(default_factory=Positions)
    consumers: dict[str, _Consumer] = field(default_factory=dict)


class WorkQueue:
    """A queue and its consumers. Every method that can set messages moving returns the deliveries, in the
    order they happen.

    Positions are the messages' places in publish order, from 0: one message may be published twice, and has two
    then. Errors leave the queue unchanged.

    >>> queue = WorkQueue()
    >>> queue.consume("c1", 1), queue.consume("c2", 1)
    ([], [])
    >>> [queue.publish(message) for message in (70, 71, 72)]
    [[('c1', 0, False)], [('c2', 1, False)], []]
    >>> queue.ack("c2", 1)
    [('c2', 2, False)]
    >>> queue.cancel_and_close("c1"), queue.ready
    ([], 1)
    """

    __slots__ = ("_out", "_ring", "bodies", "consumers", "fresh", "requeued", "state")

    def __init__(self, state: QueueState | None = None) -> None:
        self.state = state = state or QueueState()
        self.consumers, self.requeued, self.fresh = state.consumers, state.requeued, state.fresh
        self.bodies = state.bodies.at
        self._ring: deque[_Consumer] = deque()  # the front is served next
        self._out: dict[str, _Consumer] = {}  # at their limit when their turn came, in that order

    # Consumers

    def consume(self, consumer: str, prefetch: int) -> list[Delivery]:
        """A consumer joins at the back of the ring, with the ready messages it has room for.

        prefetch: unacked messages it may hold, 0 for no limit. Raises CommandError: name in use, negative
        prefetch.
        """
        if consumer in self.consumers:
            raise CommandError("consumer", f"{consumer} consumes already")
        if prefetch < 0:
            raise CommandError("prefetch", "must be 0 (no limit) or more")
        self.consumers[consumer] = newcomer = _Consumer(consumer, prefetch)
        self._ring.append(newcomer)
        return self._dispatch()

    def cancel(self, consumer: str) -> None:
        """The consumer takes nothing more; what it holds stays with its channel, and may still be acked or
        nacked."""
        self._leave_ring(self._known(consumer))

    def cancel_and_close(self, *consumers: str) -> list[Delivery]:
        """A channel closes or its connection drops: its consumers go, and what they held goes back,
        redelivered, to the others.

        consumers: all that the channel had. Everything is back in its place before the first message moves
        on.
        """
        leavers = [self._known(name) for name in consumers]
        for leaver in leavers:
            self._leave_ring(leaver)
            del self.consumers[leaver.name]
        self._requeue([position for leaver in leavers for position in leaver.unacked])
        return self._dispatch()

    # Messages

    def publish(self, message: int) -> list[Delivery]:
        """A message arrives, and takes the next position."""
        state = self.state
        position = state.published
        state.published += 1
        self.bodies[position] = message
        self.fresh.append(position)
        return self._dispatch()

    def ack(self, consumer: str, *positions: int) -> list[Delivery]:
        """The consumer is done with messages. If it was out of the ring it joins at the back and may take
        what waits, as much as they leave room for.

        Raises CommandError for a message that it does not hold.
        """
        holder = self._known(consumer)
        self._give_up(holder, positions)
        self.state.acked += len(positions)
        for position in positions:
            del self.bodies[position]
        if not holder.is_out:
            return []
        self._join_ring(holder)
        return self._dispatch()

    def nack(self, consumer: str, *positions: int) -> list[Delivery]:
        """The consumer gives messages back (basic.nack or basic.reject with requeue): old places,
        redelivered, next in turn.

        That may well be the same consumer. Raises CommandError for a message that it does not hold.
        """
        holder = self._known(consumer)
        returned = list(dict.fromkeys(positions))
        self._give_up(holder, returned)
        self._requeue(returned)
        if holder.is_out and returned:
            self._join_ring(holder)
        return self._dispatch()

    # Questions

    @property
    def published(self) -> int:
        """How many messages have come in."""
        return self.state.published

    @property
    def acked(self) -> int:
        """How many messages are done."""
        return self.state.acked

    @property
    def ready(self) -> int:
        """How many messages wait for a consumer with room."""
        return len(self.requeued) + len(self.fresh)

    def message(self, position: int) -> int:
        """The message at a position that is not done."""
        return self.bodies[position]

    def head(self, count: int) -> list[tuple[int, bool]]:
        """The next `count` ready messages as (position, redelivered), the first to go first."""
        messages = [(position, True) for position in _smallest(self.requeued, count)]
        fresh = iter(self.fresh)
        while len(messages) < count and (position := next(fresh, None)) is not None:
            messages.append((position, False))
        return messages

    @property
    def ring(self) -> list[str]:
        """The consumers in turn order, then those out of the ring in the order in which their turn passed
        them by."""
        return self.turn_order + self.passed_over

    @property
    def turn_order(self) -> list[str]:
        """The consumers whose turn comes, the next one first."""
        return [consumer.name for consumer in self._ring]

    @property
    def passed_over(self) -> list[str]:
        """Those that lost their place because their turn came and their prefetch was full, in that order."""
        return list(self._out)

    def unacked(self, consumer: str, count: int | None = None) -> list[tuple[int, bool]]:
        """What the consumer holds as (position, redelivered), in order of delivery: all, or the first
        `count`."""
        return list(islice(self._known(consumer).unacked.items(), count))

    def holds(self, consumer: str, message: int) -> bool:
        """Whether the consumer holds that message."""
        return any(self.bodies[position] == message for position in self._known(consumer).unacked)

    def unacked_count(self, consumer: str) -> int:
        """How many messages the consumer holds."""
        return len(self._known(consumer).unacked)

    # State as plain JSON

    def to_json(self) -> dict[str, Any]:
        """The whole state, so that `from_json` gives a queue that behaves the same from here on."""
        state = replace(
            self.state, requeued=sorted(self.requeued)
        )  # which is a heap, and the same one in every process
        return {"state": to_plain(state), "ring": self.turn_order, "out": self.passed_over}

    @classmethod
    def from_json(cls, state: dict[str, Any]) -> WorkQueue:
        """The queue that `to_json` described."""
        queue = cls(from_plain(state["state"], QueueState))
        queue._ring.extend(queue.consumers[name] for name in state["ring"])
        queue._out = {name: queue.consumers[name] for name in state["out"]}
        return queue

    # How

    def _dispatch(self) -> list[Delivery]:
        ring, requeued, fresh = self._ring, self.requeued, self.fresh
        deliveries: list[Delivery] = []
        while ring and (fresh or requeued):
            consumer = ring.popleft()
            if consumer.prefetch and len(consumer.unacked) >= consumer.prefetch:
                # Its turn came and it has no room: only now does it lose its place.
                consumer.is_out = True
                self._out[consumer.name] = consumer
                continue
            redelivered = bool(requeued)
            position = heapq.heappop(requeued) if redelivered else fresh.popleft()
            consumer.unacked[position] = redelivered
            deliveries.append((consumer.name, position, redelivered))
            ring.append(consumer)
        return deliveries

    def _give_up(self, holder: _Consumer, positions: Sequence[int]) -> None:
        """The consumer holds these messages no more. Raises CommandError, and it holds all, where it did not
        hold one of them."""
        for position in positions:
            if position not in holder.unacked:
                raise CommandError("position", f"{holder.name} holds no message {position}")
        for position in positions:
            del holder.unacked[position]

    def _requeue(self, positions: list[int]) -> None:
        # One heap operation a message for a few, one pass over all for many.
        if len(positions) * 8 < len(self.requeued):
            for position in positions:
                heapq.heappush(self.requeued, position)
        else:
            self.requeued.extend(positions)
            heapq.heapify(self.requeued)

    def _join_ring(self, consumer: _Consumer) -> None:
        del self._out[consumer.name]
        consumer.is_out = False
        self._ring.append(consumer)

    def _leave_ring(self, consumer: _Consumer) -> None:
        if consumer.is_out:
            del self._out[consumer.name]
            consumer.is_out = False
        elif consumer in self._ring:  # not when it was cancelled before
            self._ring.remove(consumer)

    def _known(self, consumer: str) -> _Consumer:
        try:
            return self.consumers[consumer]
        except KeyError:
            raise CommandError("consumer", f"no consumer {consumer} on this queue") from None


def _smallest(heap: list[int], count: int) -> list[int]:
    """The `count` lowest of a heap in order, without a look at the rest: a parent is never above its
    children."""
    found: list[int] = []
    frontier = [(heap[0], 0)] if heap else []
    while frontier and len(found) < count:
        value, index = heapq.heappop(frontier)
        found.append(value)
        for child in (2 * index + 1, 2 * index + 2):
            if child < len(heap):
                heapq.heappush(frontier, (heap[child], child))
    return found
