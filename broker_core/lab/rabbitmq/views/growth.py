"""Why is this queue growing? Its depth, ready and unacked together, rises while the same consumers work on it: because
nobody takes what comes in, because those who hold more and more settle none of it or give each back, because a slow one
without a prefetch limit hoards its turns while others are free, because only one may read it, because all have as many
as their prefetch lets them, or because they are too slow."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import TYPE_CHECKING

from broker_core.lab.consumer import CRASHED, GONE, PAUSED
from broker_core.lab.rabbitmq.crew import connection_of, working
from broker_core.lab.rabbitmq.history import HELD_VARIES
from broker_core.lab.rabbitmq.reading import BROKER, RabbitMqReading
from broker_core.rabbitmq.client.roles import NEVER, REQUEUE, ConsumerRole
from broker_core.rabbitmq.queues.classic import ClassicQueue
from broker_core.rabbitmq.queues.consumers import Consumer
from broker_core.sim.slot import RUNNING

if TYPE_CHECKING:
    from broker_core.lab.shared.lane import Lane

NO_CONSUMER, UNACKED, GIVEN_BACK = "no_consumer", "unacked", "given_back"
NO_LIMIT, ONLY_READER, AT_PREFETCH, SLOW = "no_limit", "only_reader", "at_prefetch", "slow"
CAUSES = (NO_CONSUMER, UNACKED, GIVEN_BACK, NO_LIMIT, ONLY_READER, AT_PREFETCH, SLOW)


def growing(
    lane: Lane, reads: RabbitMqReading, queue: ClassicQueue, crew_of: Callable[[ClassicQueue], str]
) -> tuple[str, list[str]]:
    """One of CAUSES, and through which consumers, by their keys; "" for a queue that does not grow. In a delay queue, which
    nobody reads and whose messages go on when their time is over, they wait on purpose. crew_of: of `crew.py`; of those
    who have just begun to work on a queue nothing is known."""
    if lane.world.condition(BROKER) != RUNNING or is_full(reads, queue):
        return "", []
    consumers, notes = working(queue), reads.notes
    seconds = notes.measured(queue, crew_of(queue))
    # What a prefetch limits rises and falls with every message; only without a limit can it be the queue that grows there.
    is_limited = all(each.prefetch or not each.needs_ack for each in consumers)
    if not notes.is_growing(queue, seconds, with_unacked=not is_limited):
        return "", []
    if not consumers:
        return ("" if is_delay(queue) else NO_CONSUMER), []
    named = consumers if is_limited else _growers(notes.counts.held_at[seconds[0]], consumers)
    stuck = [each.key for each in named if each.unacked and _settles_nothing(lane, reads, each)]
    if stuck:
        return UNACKED, stuck
    givers = [each.key for each in named if _gives_back(lane, reads, queue, each)]
    if givers:
        return GIVEN_BACK, givers
    hoarders = _hoarders(consumers, named)
    if hoarders:
        return NO_LIMIT, hoarders
    keys = [each.key for each in named]
    if queue.settings.is_single_active or queue.state.owner or any(each.is_exclusive for each in consumers):
        return ONLY_READER, keys
    return (AT_PREFETCH if all(_is_full(each) for each in named) else SLOW), keys


def _growers(before: Mapping[str, int], consumers: list[Consumer]) -> list[Consumer]:
    """Those that hold more than before, and at least half as much more as the one that holds most more."""
    more = [len(each.unacked) - before.get(each.key, 0) for each in consumers]
    most = max(more)
    if most <= 0:
        return consumers
    return [each for each, own in zip(consumers, more, strict=True) if own * 2 >= most]


def _hoarders(consumers: list[Consumer], named: list[Consumer]) -> list[str]:
    """Those without a prefetch limit that hold more and more while another, which has room, holds next to nothing."""
    least = min((len(each.unacked) for each in consumers if not _is_full(each)), default=0)
    if least > HELD_VARIES:
        return []
    limitless = [each for each in named if each.needs_ack and not each.prefetch]
    return [each.key for each in limitless if len(each.unacked) > least + HELD_VARIES and len(consumers) > 1]


def _is_full(consumer: Consumer) -> bool:
    return bool(consumer.prefetch) and len(consumer.unacked) >= consumer.prefetch


def is_full(reads: RabbitMqReading, queue: ClassicQueue) -> bool:
    """It is at its limit: as many are ready as may be, or it has refused or dropped one lately."""
    longest, seconds = queue.settings.max_length, reads.notes.counts.seconds()
    if longest and queue.ready >= longest:
        return True
    return bool(seconds) and reads.notes.counts.has_overflowed(queue, seconds[0])


def is_delay(queue: ClassicQueue) -> bool:
    """Nobody reads it, and its messages go on when their time is over."""
    settings = queue.settings
    expires = settings.ttl_ms is not None or queue.next_expiry_us() is not None
    return expires and settings.dead_letter_exchange is not None and not queue.consumers.by_key


def _settles_nothing(lane: Lane, reads: RabbitMqReading, consumer: Consumer) -> bool:
    """Whether its program is dead or paused, or never acknowledges."""
    program = reads.program_of(connection_of(consumer))
    if program is None:
        return connection_of(consumer) in reads.dead()
    if program.state in (PAUSED, CRASHED, GONE):
        return True
    role: ConsumerRole = lane.world.slots[program.incarnation].node.state.role
    return role.ack == NEVER


def _gives_back(lane: Lane, reads: RabbitMqReading, queue: ClassicQueue, consumer: Consumer) -> bool:
    """Whether its program gives back every message that it holds now."""
    program = reads.program_of(connection_of(consumer))
    if program is None:
        return False
    role: ConsumerRole = lane.world.slots[program.incarnation].node.state.role
    if role.ack != REQUEUE or not role.only:
        return role.ack == REQUEUE
    keys = {reads.routing_key(queue, position) for position in consumer.unacked}
    return keys == {role.only}
