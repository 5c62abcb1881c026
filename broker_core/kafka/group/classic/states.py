"""The states of a classic group, and what leads from one to the next: one table, from which code, docs and
page are drawn.

    Empty ──join──► PreparingRebalance ──all joined──► CompletingRebalance ──leader synced──► Stable
      ▲                  │        ▲                            │                                │
      └──── all left ────┘        └──────── join, leave, expiry, sync time-out ─────────────────┘

Source: Kafka 3.9 ClassicGroupState.
"""

from collections.abc import Mapping
from types import MappingProxyType

from broker_core.errors import InvariantError

EMPTY, PREPARING, COMPLETING, STABLE, DEAD = (
    "Empty",
    "PreparingRebalance",
    "CompletingRebalance",
    "Stable",
    "Dead",
)
REBALANCE, ALL_JOINED, ALL_LEFT, LEADER_SYNCED = "rebalance", "all joined", "all left", "leader synced"

TRANSITIONS: Mapping[tuple[str, str], str] = MappingProxyType({
    (EMPTY, REBALANCE): PREPARING,
    (STABLE, REBALANCE): PREPARING,
    (COMPLETING, REBALANCE): PREPARING,
    (PREPARING, ALL_JOINED): COMPLETING,
    (PREPARING, ALL_LEFT): EMPTY,
    (COMPLETING, LEADER_SYNCED): STABLE,
})  # fmt: skip


def next_state(state: str, event: str) -> str:
    """The state after an event. Raises InvariantError where the table has none: the coordinator itself went
    wrong.

    >>> next_state(EMPTY, REBALANCE)
    'PreparingRebalance'
    """
    try:
        return TRANSITIONS[state, event]
    except KeyError:
        raise InvariantError(f"a group in {state} cannot see {event!r}") from None
