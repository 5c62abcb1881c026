"""A key of a Key_Shared subscription is at one consumer at a time, and in order, over a long life; nothing is
lost, nothing acknowledged comes again.

HIGHWATER_PULSAR_MESSAGES says how long: 1,000,000 messages in `make simulate`.
"""

import os

import pytest

from broker_core.pulsar.dispatchers.draining import DrainingDispatcher
from broker_core.pulsar.dispatchers.key_shared import KeySharedDispatcher
from broker_core.pulsar.selectors import make_selector
from tests.simulation.key_shared_life import KeySharedLife

MESSAGES = int(os.environ.get("HIGHWATER_PULSAR_MESSAGES", "30000"))
RULES = ["consistent_hash", "auto_split"]
ROOMY, SCARCE = 500, 30
"""Permits that a consumer grants. With few the backlog grows, and every look through what waits takes longer:
such a life is shorter."""
SCARCE_MESSAGES_MAX = 60_000


def live(dispatcher, *, joins_during_replay, permits=ROOMY):
    messages = MESSAGES if permits == ROOMY else min(MESSAGES, SCARCE_MESSAGES_MAX)
    life = KeySharedLife(dispatcher, 7, messages, permits)
    life.live(joins_during_replay=joins_during_replay)
    print(
        f"\n{messages:,} messages, {life.names} consumers: {life.misplaced} at two consumers, "
        f"{life.disordered} out of order"
    )
    return life


@pytest.mark.parametrize("permits", [SCARCE, ROOMY])
@pytest.mark.parametrize("algorithm", RULES)
def test_with_draining_hashes_a_key_is_at_one_consumer_and_in_order(algorithm, permits):
    life = live(DrainingDispatcher(make_selector(algorithm)), joins_during_replay=True, permits=permits)
    assert (life.misplaced, life.disordered) == (0, 0) and life.names > 20


@pytest.mark.parametrize("algorithm", RULES)
def test_by_the_rule_of_3_2_it_is_while_nobody_joins_in_a_replay(algorithm):
    life = live(KeySharedDispatcher(make_selector(algorithm)), joins_during_replay=False)
    assert (life.misplaced, life.disordered) == (0, 0) and life.names > 20


def test_the_gap_of_3_2_is_counted():
    """Who joins while the replay set holds what a leaver had may get some of it past an older message of its
    key (docs/pulsar/dispatchers.md)."""
    life = live(
        KeySharedDispatcher(make_selector("consistent_hash")), joins_during_replay=True, permits=SCARCE
    )
    assert 0 < life.misplaced < life.messages // 20


def test_with_out_of_order_delivery_it_is_at_several():
    life = live(
        KeySharedDispatcher(make_selector("consistent_hash"), allows_out_of_order=True),
        joins_during_replay=True,
    )
    assert life.misplaced > 0
