"""What of broker.conf decides about subscriptions, and the names of subscription types and order rules."""

from __future__ import annotations

from dataclasses import dataclass

from broker_core.pulsar.dispatchers.active import FAILOVER_DELAY_US
from broker_core.pulsar.dispatchers.pending import (
    READ_BATCH,
    UNACKED_PER_CONSUMER_MAX,
    UNACKED_PER_SUBSCRIPTION_MAX,
)

EXCLUSIVE, SHARED, FAILOVER, KEY_SHARED = "Exclusive", "Shared", "Failover", "Key_Shared"
TYPES = (EXCLUSIVE, SHARED, FAILOVER, KEY_SHARED)
"""SubType of PulsarApi.proto, in its order."""
UNKNOWN_TYPE = "Unsupported subscription type"
RECENTLY_JOINED, DRAINING = "recently_joined", "draining"
"""How a key stays in order when its consumer changes: 3.2's rule, and the one of PIP-379."""
STICKY = ("sticky", "sticky_current", "sticky_document")
"""Selectors of sticky ranges."""


def selector_of(algorithm: str, order: str) -> str:
    """The selector that runs where this one is configured: a broker with current's rule of order keeps sticky
    ranges as current does (#24730), so that a hole between two ranges of one consumer is nobody's. Rings and
    their versions are configured on their own.

    >>> selector_of("sticky", DRAINING), selector_of("sticky", RECENTLY_JOINED), selector_of("consistent_hash", DRAINING)
    ('sticky_current', 'sticky', 'consistent_hash')
    """
    return "sticky_current" if algorithm == "sticky" and order == DRAINING else algorithm


@dataclass(frozen=True, slots=True)
class BrokerSettings:
    """algorithm: the selector of Key_Shared; points: per consumer, for rings, None for the original's. order:
    RECENTLY_JOINED or DRAINING.
    failover_delay_us: 0 to switch at once. failover_uses_ring: the ring of names for partitions as well
    (master). failover_in_order: the documentation's rule for a topic without partitions. unacked_max,
    unacked_all_max: limits of unacknowledged messages of a consumer and of a subscription, 0 for none.
    has_dedup: brokerDeduplicationEnabled. retention: entries kept after everybody has acknowledged them."""

    algorithm: str = "consistent_hash"
    points: int | None = None
    order: str = RECENTLY_JOINED
    read_batch: int = READ_BATCH
    failover_delay_us: int = FAILOVER_DELAY_US
    failover_uses_ring: bool = False
    failover_in_order: bool = False
    unacked_max: int = UNACKED_PER_CONSUMER_MAX
    unacked_all_max: int = UNACKED_PER_SUBSCRIPTION_MAX
    has_dedup: bool = False
    retention: int = 0

    @property
    def spreads_keyless(self) -> bool:
        """Whether a message without a key is hashed by its producer's name and its sequence id, as in
        current; else all of them go to one consumer."""
        return self.order == DRAINING

    @property
    def selector(self) -> str:
        """The selector that runs by default; see `selector_of`."""
        return selector_of(self.algorithm, self.order)


@dataclass(frozen=True, slots=True)
class Asked:
    """What a consumer asks for when it subscribes. ranges: for sticky ranges. allows_out_of_order: its
    KeySharedMeta's allowOutOfOrderDelivery."""

    name: str
    type: str = EXCLUSIVE
    priority: int = 0
    ranges: tuple[tuple[int, int], ...] = ()
    allows_out_of_order: bool = False

    @property
    def policy(self) -> tuple[bool, bool]:
        """Of Key_Shared: sticky or split on its own, out of order or not."""
        return bool(self.ranges), self.allows_out_of_order
