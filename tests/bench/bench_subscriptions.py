"""How fast Pulsar's subscriptions are: arrays of keys to their consumers beside a loop of mmh3 and bisect,
and Key_Shared with the flights' keys.

The look-up of one key beside uhashring's is in `bench_ring.py`.
"""

import time
from bisect import bisect_left
from collections.abc import Callable

import mmh3
import numpy as np
import pyarrow as pa

from broker_core.hashing.murmur3 import MASK_31, murmur3_32
from broker_core.lab.workload.flights_table import open_flights
from broker_core.pipeline.route_tasks import units_of
from broker_core.pipeline.strategies.base import RouteTable
from broker_core.pipeline.strategies.pulsar import slot_rule
from broker_core.pipeline.units import unit_map
from broker_core.pulsar.dispatchers.draining import DrainingDispatcher
from broker_core.pulsar.dispatchers.key_shared import KeySharedDispatcher
from broker_core.pulsar.entry import Entry
from broker_core.pulsar.selectors.consistent_hash import RingSelector

Figure = tuple[str, float, str, str, str]

CONSUMERS, ARRAY_KEYS = 1_000, 500_000
RECORDS, FLOW, ACKS = 200_000, 1_000, 100


def run() -> list[Figure]:
    """Measure everything. Returns (what, value, unit, bar, note) rows."""
    figures = [_arrays()]
    for name, make in (("3.2's order", KeySharedDispatcher), ("draining hashes", DrainingDispatcher)):
        rate = max(RECORDS / _dispatched(make(RingSelector())) for _ in range(3))
        what = f"Key_Shared, {name}, 16 consumers, tail numbers, {FLOW:,} a flow: delivered and acked"
        figures.append(
            (what, rate, "records/s", "at least 100,000", f"{RECORDS:,} records, CPU time of one core")
        )
    return figures


def _arrays() -> Figure:
    ring = RingSelector()
    names = {f"consumer-{number}": number for number in range(CONSUMERS)}
    for name in names:
        ring.add(name)
    bounds, holders = ring.shared_slices()
    # Who shares a point takes turns by the remainder: as its own list, so that both sides look the same thing
    # up.
    shared = {
        holder: place
        for place, holder in enumerate({holder for holder in holders if isinstance(holder, tuple)})
    }
    owners = [-2 - shared[holder] if isinstance(holder, tuple) else names[str(holder)] for holder in holders]
    table = RouteTable(
        "ranges",
        tuple(names),
        tuple(names),
        np.array(owners, np.int32),
        np.array(bounds, np.int64),
        slot_rule(ring),
        ring.space,
        shared=tuple(tuple(names[name] for name in holder) for holder in shared),
    )
    units, owner_of = unit_map("murmur3", [table])
    keys = [f"Order-{number}".encode() for number in range(ARRAY_KEYS)]
    column, last = pa.array(keys), len(bounds)
    found: list[list[int]] = [[], []]

    def ours() -> None:
        found[0] = owner_of[0][units_of(units, column)]  # type: ignore[assignment]  # an array, which is the point

    def theirs() -> None:
        found[1] = []
        for key in keys:
            slot = mmh3.hash(key, 0, False) & MASK_31
            place = bisect_left(bounds, slot)
            owner = owners[place if place < last else 0]
            found[1].append(
                owner if owner >= 0 else table.shared[-2 - owner][slot % len(table.shared[-2 - owner])]
            )

    ours()  # compiled once
    mine, peer = (
        min(times) for times in zip(*((_seconds(ours), _seconds(theirs)) for _ in range(5)), strict=True)
    )
    assert list(found[0]) == found[1]
    note = f"{mine / ARRAY_KEYS * 1e9:.0f} ns a key against {peer / ARRAY_KEYS * 1e9:.0f} ns"
    return (
        f"array of keys to {CONSUMERS:,} consumers: a loop of mmh3 and bisect over ours",
        peer / mine,
        "times",
        "at least 5",
        note,
    )


def _dispatched(dispatcher: KeySharedDispatcher | DrainingDispatcher) -> float:
    """CPU seconds: records arrive one by one, are acknowledged a hundred at a time, and each consumer grants
    a thousand permits when it has had as many."""
    flights = open_flights()
    rows = [row for row in range(RECORDS + 10_000) if flights.value("tailnum", row)][:RECORDS]
    hash_of: dict[object, int] = {}
    hashes = [
        hash_of.setdefault(tail, murmur3_32(str(tail)))
        for tail in (flights.value("tailnum", row) for row in rows)
    ]
    for number in range(16):
        dispatcher.connect(f"c{number}", f"c{number}", 2 * FLOW)
    return _seconds(lambda: _work(dispatcher, hashes))


def _work(dispatcher: KeySharedDispatcher | DrainingDispatcher, hashes: list[int]) -> None:
    entries, had = dispatcher.entries, dict.fromkeys(dispatcher.consumers, 0)
    waiting: dict[str, list[int]] = {consumer: [] for consumer in had}
    for position, hash32 in enumerate(hashes):
        entry = entries[position] = Entry(hash32, position)
        for consumer, sent in dispatcher.arrived(position, entry):
            acks = waiting[consumer]
            acks.append(sent)
            if len(acks) == ACKS:
                dispatcher.ack(acks, consumer)
                for acked in acks:
                    del entries[acked]
                acks.clear()
            had[consumer] += 1
            if had[consumer] % FLOW == 0:
                dispatcher.flow(consumer, FLOW)


def _seconds(work: Callable[[], object]) -> float:
    """Processor time, which a busy machine stretches less than the wall clock does."""
    start = time.process_time()
    work()
    return time.process_time() - start


if __name__ == "__main__":
    for figure in run():
        print(*figure, sep="; ")
