"""What if: where a key's messages go, and where they would go after the next join or after each leave. By the
broker's own rules, over a view.

    key ─► murmur3 ─► slot ─► consumer                       Key_Shared: a copy of the broker's selector is asked
    key ─► murmur3 ─► partition ─► active consumer           Exclusive, Failover: a copy of the partition's picker is asked

Nothing of the lab is touched: `panel` is what `pulsar_view` made of it.
"""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from typing import Any

from broker_core.errors import CommandError
from broker_core.events import Json
from broker_core.hashing.murmur3 import MASK_31, murmur3_32
from broker_core.lab.pulsar.owners import NO_KEY_HASH_KEY
from broker_core.lab.pulsar.sticky_join import plan_join
from broker_core.lab.workload.base import Workload
from broker_core.pulsar.dispatchers.errors import ConsumerBusy
from broker_core.pulsar.dispatchers.single_active import SingleActiveDispatcher, Standby
from broker_core.pulsar.selectors import AssignRefused, Selector, selector_from_json
from broker_core.pulsar.settings import EXCLUSIVE, SHARED

KEY_BYTES_MAX = 512
LEAVERS_MAX = 64
"""Consumers whose leave is tried, one by one."""
NEWCOMER = "newcomer"


def what_if(
    panel: Mapping[str, Any], algorithm: str, key: str, newcomer: str, ordering_key: str | None = None
) -> Json:
    """Where one key goes. key: its text, "" for a message without one. newcomer: the name of who joins next.
    ordering_key: the one that the producer sets beside the key, which decides in its place; None: it sets
    none.

    Returns {"key", "ordering_key", "hash", "hash31", "slot", "partition", "topic", "consumer", "range",
    "joins", "leaves"}: consumer and the two answers are programs' names or None for nobody; slot and range
    (first and last slot of its slice; first > last where it wraps) are Key_Shared's, partition is that of a
    partitioned topic, topic the full name where one consumer is active on each. joins: {"name", "consumer",
    "refused"}: who has the key after the newcomer joined, or the broker's words with which it is refused.
    leaves: {a consumer: who has the key after it left}, only those whose leave moves it. In Shared a key has
    no owner: all are None, and so they are, with the hash, for a message without a key where each such
    message has a hash of its own.
    Raises CommandError at a field that is wrong.
    """
    raw = _bytes(key, "key") if ordering_key is None else _bytes(ordering_key, "ordering_key")
    hash32 = murmur3_32(raw or NO_KEY_HASH_KEY.encode())
    answer: Json = {
        "key": key,
        "ordering_key": ordering_key,
        "hash": hash32,
        "hash31": hash32 & MASK_31,
        "slot": None,
        "partition": None,
        "topic": None,
        "consumer": None,
        "range": None,
        "joins": {"name": newcomer, "consumer": None, "refused": None},
        "leaves": {},
    }
    if panel["type"] == SHARED:
        return answer
    if panel.get("spreads_keyless") and not raw:
        return answer | {"hash": None, "hash31": None}
    if panel["selector"] is not None:
        return answer | _by_selector(panel, algorithm, hash32, newcomer)
    if panel["failover"] is not None:
        return answer | _by_partition(panel, algorithm, raw, hash32, newcomer)
    return answer


def ordering_key_of(workload: Workload, ordering_keys: int, key: str) -> str | None:
    """The ordering key that the lane's producer sets beside a key: that of one of the first `ordering_keys`
    keys of the workload, in turn. None: it sets none, or no such key is ever sent. Takes as long as the
    workload has keys."""
    if not ordering_keys or not key:
        return None
    code = next((code for code in range(workload.key_count or 0) if workload.key(code) == key), None)
    return None if code is None else workload.key(code % ordering_keys)


def _bytes(text: str, field: str) -> bytes:
    raw = text.encode("utf-8", "surrogatepass")
    if len(raw) > KEY_BYTES_MAX:
        raise CommandError(field, "at most {limit} bytes", limit=KEY_BYTES_MAX)
    return raw


def next_name(seen: Collection[str]) -> str:
    """The name that the lab gives the next consumer: the first of c1, c2, ... that nobody has had.

    >>> next_name(["c1", "c3"])
    'c2'
    """
    return next(name for number in range(1, len(seen) + 2) if (name := f"c{number}") not in seen)


# -- Key_Shared ----------------------------------------------------------------------------------------------


def _by_selector(panel: Mapping[str, Any], algorithm: str, hash32: int, newcomer: str) -> Json:
    names: Mapping[str, str] = panel["holders"]
    now = selector_from_json(panel["selector"])
    slot, holder = now.slot(hash32), now.select(hash32)
    joins: Json = {"name": newcomer, "consumer": None, "refused": None}
    try:
        after = selector_from_json(panel["selector"])
        _join(after, panel, algorithm, newcomer)
        joins["consumer"] = _named(after.select(hash32), {**names, NEWCOMER: newcomer})
    except AssignRefused as refused:
        joins["refused"] = refused.message
    leaves: Json = {}
    for key in list(names)[:LEAVERS_MAX]:
        without = selector_from_json(panel["selector"])
        without.remove(key)
        left = without.select(hash32)
        if left != holder:
            leaves[names[key]] = _named(left, names)
    return {
        "slot": slot,
        "consumer": _named(holder, names),
        "range": slice_of(now, slot),
        "joins": joins,
        "leaves": leaves,
    }


def _join(selector: Selector, panel: Mapping[str, Any], algorithm: str, newcomer: str) -> None:
    """The newcomer enters. With sticky ranges the lab chooses its ranges, and who makes room subscribes again
    with the rest."""
    if not algorithm.startswith("sticky"):
        selector.add(NEWCOMER, newcomer)
        return
    owned = {
        name: [(first, last) for first, last in known["ranges"]]
        for name, known in panel["consumers"].items()
        if known["connected"]
    }
    source, kept, given = plan_join(owned, newcomer, algorithm == "sticky_document")
    for key, name in panel["holders"].items():
        if name == source:
            selector.remove(key)
            selector.add(key, name, kept)
    selector.add(NEWCOMER, newcomer, given)


def slice_of(selector: Selector, slot: int) -> list[int] | None:
    """First and last slot of the slice that holds a slot, first > last where it wraps around; None: nobody
    has it.

    >>> from broker_core.pulsar.selectors import make_selector
    >>> selector = make_selector("auto_split")
    >>> for name in "ab": selector.add(name)
    >>> slice_of(selector, 40_000)
    [32769, 65535]
    """
    bounds, owners = selector.slices()
    place = next((place for place, bound in enumerate(bounds) if bound >= slot), None)
    if place is None:  # above the highest point of a ring
        return [bounds[-1] + 1, bounds[0]]
    if owners[place] is None:
        return None
    if place:
        return [bounds[place - 1] + 1, bounds[place]]
    return [bounds[-1] + 1 if bounds[-1] < selector.space - 1 else selector.first_slot, bounds[0]]


def _named(holder: str | None, names: Mapping[str, str]) -> str | None:
    return None if holder is None else names.get(holder)


# -- Exclusive and Failover ----------------------------------------------------------------------------------


def _by_partition(panel: Mapping[str, Any], algorithm: str, raw: bytes, hash32: int, newcomer: str) -> Json:
    """The producer's router sends a key to the hash modulo the partitions, one without a key to each in
    turn."""
    topics, partitions = panel["topics"], panel["partitions"]
    count = topics or partitions
    place = (hash32 & MASK_31) % count if count and raw else None
    if count and not raw:
        return {"partition": None}
    order: Sequence[tuple[str, int]] = [(name, priority) for name, priority in panel["failover"]["order"]]
    is_exclusive = panel["type"] == EXCLUSIVE
    partition = place if partitions else None
    topic = panel["topic"]
    if partition is not None:
        topic = f"{topic.rpartition('-partition-')[0]}-partition-{partition}"
    elif topics:
        topic = f"{topic.rpartition('-')[0]}-{place}"

    def picked(members: Sequence[tuple[str, int]]) -> str | None:
        picker = SingleActiveDispatcher(
            topic,
            -1 if partition is None else partition,
            is_exclusive=is_exclusive,
            uses_ring=panel["failover"]["uses_ring"],
            in_order=algorithm == "failover_document" and not count,
        )
        for name, priority in members:
            picker.add(Standby(name, name, priority))
        return picker.active

    now = picked(order)
    joins: Json = {"name": newcomer, "consumer": None, "refused": None}
    try:
        joins["consumer"] = picked([*order, (newcomer, panel["priorities"].get(newcomer, 0))])
    except ConsumerBusy as busy:
        joins["refused"] = str(busy)
    leaves = {
        name: left
        for name, _ in order[:LEAVERS_MAX]
        if (left := picked([one for one in order if one[0] != name])) != now
    }
    return {"partition": partition, "topic": topic, "consumer": now, "joins": joins, "leaves": leaves}
