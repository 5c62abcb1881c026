"""Who consumes which partition when the clients decide: the modulo rule of TubeMQ's own example, and its
pass.

    every client alone:   configured keys ──uint32(hash(key)) mod source_count == node_id──► assigned

                                  registered                 assigned
                               ┌───────────────┬───────────┬───────────────┐
          one pass:            │  disconnect   │   keep    │    connect    │      (a key that is not subscribable now is
                               └───────────────┴───────────┴───────────────┘       disconnected, and stays assigned)

Nobody is asked, and nothing is sorted or counted: each key is on its own. So adding partitions moves no
other, and a broker that goes offline moves none; but another source_count moves most of them.
Source: TubeMQ (InLong a6c7a6a670) ClientBalanceConsumerExample. Vectors: tubemq/mod_assign.json,
set_difference.json.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterable, Iterator, Mapping
from functools import lru_cache
from itertools import takewhile
from typing import Any

import msgspec

from broker_core.errors import CommandError
from broker_core.hashing.java_hash import java_sorted, string_hash_unsigned

_key_hash = lru_cache(maxsize=16_384)(
    string_hash_unsigned
)  # every client asks for every configured key, at every pass
SUCCESS = 200
CLIENT_SHUTDOWN = 420

KEEP_STORED_OFFSET = -1
"""As bootstrap offset: go on from what the broker has stored."""


def node_of(key: str, source_count: int) -> int:
    """Give the node that a partition key falls to. Raises CommandError for a source_count below 1.

    >>> node_of("1:test:0", 2), node_of("1:test:0", 3)
    (1, 2)
    """
    if source_count < 1:
        raise CommandError("source_count", "must be 1 or more")
    return _key_hash(key) % source_count


def is_owned(key: str, source_count: int, node_id: int) -> bool:
    """Say whether the example's predicate gives the key to this node.

    source_count: the group's number of clients; below 0 it is switched off, and then no client owns anything,
    because its node id is switched off as well (-2). The bare predicate, asked with such a count all the
    same, takes the remainder by its size.
    Raises CommandError for 0, by which nothing can be divided.

    >>> is_owned("1:test:0", 2, 1), is_owned("1:test:0", -2, -2)
    (True, False)
    """
    if source_count == 0:
        raise CommandError("source_count", "must not be 0")
    # The hash is taken as unsigned: a signed remainder would be negative for half of all keys, which then had
    # no owner.
    return _key_hash(key) % abs(source_count) == node_id


def owned_by(keys: Iterable[str], source_count: int, node_id: int) -> list[str]:
    """Give the keys of one node, in key order (UTF-16 units). Over the nodes 0..source_count-1 each key
    appears once.

    >>> owned_by(["1:test:1", "1:test:0", "2:test:0"], 2, 0)
    ['1:test:1', '2:test:0']
    """
    return [*_owned_by(tuple(keys), source_count, node_id)]


def _owned_by(keys: tuple[str, ...], source_count: int, node_id: int) -> Iterable[str]:
    if source_count < 1:
        return java_sorted(key for key in keys if is_owned(key, source_count, node_id))
    return _shares(keys, source_count).get(node_id, ())


@lru_cache(maxsize=64)
def _shares(keys: tuple[str, ...], source_count: int) -> dict[int, list[str]]:
    """Node -> its keys in key order. Once for all clients of a group: each asks with the same keys and count."""
    shares: dict[int, list[str]] = {}
    for key in java_sorted(keys):
        shares.setdefault(node_of(key, source_count), []).append(key)
    return shares


class Disconnect(msgspec.Struct, frozen=True, tag="disconnect"):
    """disconnectFromPartition(key)."""

    key: str


class Connect(msgspec.Struct, frozen=True, tag="connect"):
    """connect2Partition(key, bootstrap_offset). bootstrap_offset: bytes in the partition's index log, -1: as
    stored."""

    key: str
    bootstrap_offset: int


Call = Disconnect | Connect


def assigner_pass(
    status: Mapping[str, bool],
    registered: Collection[str],
    *,
    source_count: int,
    node_id: int,
    saved_offsets: Mapping[str, int],
    call: Callable[[Call], int],
) -> Iterator[tuple[Call, int]]:
    """Walk the example's loop once, after a metadata query that succeeded.

    status: every configured key -> subscribable; when it is empty the pass makes no call.
    registered: the keys that this client holds now.
    saved_offsets: what the client last consumed of each key, overriding what the broker stored.
    call: makes the call and gives its result code: 200, or why not (410 another owner, 420 this client is
    shut down, ...). Yields each call with its code, in order: releases by key, then connects by key. The
    caller keeps the set of registered keys; a call changes it when its code is 200. A refused connect is
    tried again by the next pass.

    >>> calls = assigner_pass({"1:t:0": True, "1:t:1": True}, ["1:t:0"], source_count=2, node_id=0,
    ...                       saved_offsets={}, call=lambda _: 200)
    >>> [(one, code) for one, code in calls]
    [(Disconnect(key='1:t:0'), 200), (Connect(key='1:t:1', bootstrap_offset=-1), 200)]
    """
    rule: dict[str, Any] = {"source_count": source_count, "node_id": node_id, "saved_offsets": saved_offsets}
    calls = planned_calls(status, registered, **rule)
    while calls:
        one = calls.pop(0)
        code = call(one)
        yield one, code
        if code == CLIENT_SHUTDOWN:
            if isinstance(one, Connect):
                return
            # Only the loop of releases ends, as in the original: connects are still tried, even of keys that
            # it did not get to.
            reached = takewhile(one.key.__ne__, java_sorted(registered))
            kept = [key for key in reached if status.get(key) and is_owned(key, source_count, node_id)]
            calls = planned_calls(status, kept, **rule)


def planned_calls(
    status: Mapping[str, bool],
    registered: Iterable[str],
    *,
    source_count: int,
    node_id: int,
    saved_offsets: Mapping[str, int],
) -> list[Call]:
    """The calls of one pass in their order, for a client that makes them one after another; arguments as for
    `assigner_pass`."""
    if not status:
        # The example takes an empty answer for "nothing known yet", so it releases nothing.
        return []
    assigned = [key for key in owned_by(status, source_count, node_id) if status[key]]
    wanted, held = set(assigned), set(registered)
    if wanted == held:  # as at most passes
        return []
    releases: list[Call] = [Disconnect(key) for key in java_sorted(held - wanted)]
    return releases + [
        Connect(key, saved_offsets.get(key, KEEP_STORED_OFFSET)) for key in assigned if key not in held
    ]
