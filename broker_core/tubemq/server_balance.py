"""Who gets which partition when the master decides: the rules of its cycles.

    first cycle after the master's start:   each topic's partitions cut into runs, one for each consumer
    later:   keep what is held ─► partitions free?  yes: each to a consumer drawn at random, no more in this cycle
                                                    no:  level: the over-full give, those below the mean take

A new consumer so waits for a cycle in which nothing is free. Levelling is the original's, and not exact: a consumer
at the mean takes nothing more, and what is given and not taken has no owner until the next cycle.
Source: TubeMQ (InLong a6c7a6a670) DefaultLoadBalancer. Vectors: tubemq/server_start_assign.json, server_cycles.json,
server_resource_rate.json. Bound groups: `bound_groups.py`.
"""

from __future__ import annotations

from collections import deque
from collections.abc import Callable, Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from itertools import groupby

from broker_core.hashing.java_hash import java_sorted
from broker_core.tubemq.assignment import node_of
from broker_core.tubemq.metadata import UNDEFINED
from broker_core.tubemq.partition_key import parse_partition_key

BLOCKED, PASSED = 0, 1
ALLOWED_RATE = 1_000
"""Brokers for each client, unless a group has a setting of its own."""


@dataclass(slots=True)
class ResourceCheck:
    """Whether a group has clients enough for its brokers; made until it passes once, and then never again.

    status: UNDEFINED before the first check. rate: brokers of the widest topic for each client, rounded down.
    clients_min: how many would do, UNDEFINED where there are enough.
    """

    status: int = UNDEFINED
    broker_count: int = UNDEFINED
    rate: int = UNDEFINED
    clients_min: int = UNDEFINED

    def is_passed(self, subscribable: Iterable[str], client_count: int, allowed_rate: int) -> bool:
        """Make the check unless it has passed. allowed_rate: 1 or more."""
        if self.status == PASSED:
            return True
        brokers: dict[str, set[int]] = {}
        for key in map(parse_partition_key, subscribable):
            brokers.setdefault(key.topic, set()).add(key.broker_id)
        self.broker_count = max((len(of_topic) for of_topic in brokers.values()), default=0)
        self.rate = self.broker_count // client_count
        self.status = BLOCKED if self.rate > allowed_rate else PASSED
        self.clients_min = -(-self.broker_count // allowed_rate) if self.status == BLOCKED else UNDEFINED
        return self.status == PASSED


@dataclass(slots=True)
class Plan:
    """What a cycle takes and gives: client -> partition keys."""

    disconnect: dict[str, list[str]] = field(default_factory=dict)
    connect: dict[str, list[str]] = field(default_factory=dict)


def partition_order(key: str) -> tuple[int, str, int]:
    """The order of partitions at the master: by broker, topic and number."""
    return parse_partition_key(key)


def in_runs(subscribable: Iterable[str], clients: Collection[str]) -> dict[str, list[str]]:
    """The first cycle's assignment: each topic alone is cut into contiguous runs over the clients by id, the first
    ones get one more. Gives every client's partitions, in the master's order.

    >>> in_runs(["1:t:0", "1:t:1", "2:t:0"], ["b", "a"])
    {'a': ['1:t:0', '1:t:1'], 'b': ['2:t:0']}
    """
    assigned: dict[str, list[str]] = {client: [] for client in java_sorted(clients)}

    def topic_of(key: str) -> str:
        return parse_partition_key(key).topic

    for _, of_topic in groupby(sorted(sorted(subscribable, key=partition_order), key=topic_of), key=topic_of):
        run = deque(of_topic)
        each, more = divmod(len(run), len(assigned))
        for index, own in enumerate(assigned.values()):
            own.extend(run.popleft() for _ in range(each + (index < more)))
    return assigned


def by_hash(subscribable: Iterable[str], clients: Collection[str]) -> dict[str, list[str]]:
    """The article's rule, which the code does not have: the hash of each key of the whole set, modulo the number of
    clients, names the client by its place in the order of ids.

    >>> by_hash(["1:test:0", "1:test:1"], ["b", "a"])
    {'a': ['1:test:1'], 'b': ['1:test:0']}
    """
    names = java_sorted(clients)
    assigned: dict[str, list[str]] = {client: [] for client in names}
    for key in sorted(subscribable, key=partition_order):
        assigned[names[node_of(key, len(names))]].append(key)
    return assigned


def change_to(assigned: Mapping[str, Sequence[str]], held: Mapping[str, Sequence[str]]) -> Plan:
    """What has to be taken and given so that each client holds what it is assigned."""
    plan = Plan()
    for client, wanted in assigned.items():
        _note(plan.disconnect, client, [key for key in held[client] if key not in wanted])
        _note(plan.connect, client, [key for key in wanted if key not in held[client]])
    return plan


def next_cycle(
    held: Mapping[str, Sequence[str]], subscribable: Collection[str], draw: Callable[[int], int]
) -> Plan:
    """A later cycle's changes. held: client -> keys as it reported them, in the order in which clients are walked.
    draw: gives a random index below its argument; asked once for each free partition, in the master's order.

    >>> next_cycle({"a": ["1:t:0", "1:t:1", "1:t:2"], "b": []}, ["1:t:0", "1:t:1", "1:t:2"], lambda count: 0)
    Plan(disconnect={'a': ['1:t:0']}, connect={'b': ['1:t:0']})
    """
    plan, kept = Plan(), _kept(held, set(subscribable))
    for client, keys in held.items():
        _note(plan.disconnect, client, [key for key in keys if key not in kept[client]])
    owned = {key for keys in kept.values() for key in keys}
    free = sorted((key for key in subscribable if key not in owned), key=partition_order)
    if free:
        clients = list(held)
        for key in free:
            plan.connect.setdefault(clients[draw(len(clients))], []).append(key)
        return plan
    _level(kept, plan)
    return plan


def _kept(held: Mapping[str, Sequence[str]], subscribable: Collection[str]) -> dict[str, list[str]]:
    """What each client goes on holding. A key that two of them report stays with the first."""
    seen: set[str] = set()
    kept: dict[str, list[str]] = {}
    for client, keys in held.items():
        kept[client] = [key for key in dict.fromkeys(keys) if key in subscribable and key not in seen]
        seen.update(kept[client])
    return kept


def _level(kept: Mapping[str, Sequence[str]], plan: Plan) -> None:
    mean, rest = divmod(sum(map(len, kept.values())), len(kept))
    most = mean + bool(rest)
    given: deque[str] = deque()
    for client, keys in kept.items():
        if len(keys) > mean:
            # As many as there are partitions over may stay one above the mean, the first in the walk.
            target = mean + bool(rest)
            rest -= bool(rest)
            taken = keys[: len(keys) - target]
            given.extend(taken)
            _note(plan.disconnect, client, taken)
    for client, keys in kept.items():
        if not keys or len(keys) < mean:
            count = min(most - len(keys), len(given))
            _note(plan.connect, client, [given.popleft() for _ in range(count)])


def _note(changes: dict[str, list[str]], client: str, keys: Iterable[str]) -> None:
    found = list(keys)
    if found:
        changes.setdefault(client, []).extend(found)
