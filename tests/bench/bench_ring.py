"""How fast the hash ring and the Key_Shared dispatcher are, the ring beside uhashring's in the same run.

Prints a table when run as a script; `make bench` calls `run()`. uhashring gets the same hash function
(murmur3) and the same number of points, so that the ratios compare rings and not hashes.
"""

import time
from collections.abc import Callable

from uhashring import HashRing as OtherRing

from broker_core.hashing.murmur3 import murmur3_32
from broker_core.pulsar.dispatchers.key_shared import KeySharedDispatcher
from broker_core.pulsar.entry import Entry
from broker_core.pulsar.selectors import SELECTORS
from broker_core.pulsar.selectors.consistent_hash import POINTS, RingSelector

Figure = tuple[str, float, str, str, str]

CONSUMERS = 1_000
KEYS = [f"Order-{number}" for number in range(20_000)]
REPEATS = 15
RECORDS = 200_000


def run() -> list[Figure]:
    """Measure everything. Returns (what, value, unit, bar, note) rows."""
    names = [f"consumer-{number}" for number in range(CONSUMERS)]
    ours = RingSelector()
    for name in names:
        ours.add(name)
    theirs = OtherRing(nodes=names, vnodes=POINTS, hash_fn=murmur3_32)
    adding, other_adding = [], []
    looking, other_looking = [], []
    # In turns, so that a busy moment of the machine falls on both; look-ups on their own, as an add of the
    # other ring rewrites megabytes, and whoever looks up first after it would pay for that.
    for _ in range(REPEATS):
        adding.append(_seconds(lambda: ours.add("newcomer")))
        other_adding.append(_seconds(lambda: theirs.add_node("newcomer")))
        ours.remove("newcomer")
        theirs.remove_node("newcomer")
    for _ in range(REPEATS):
        looking.append(_seconds(lambda: [ours.select(murmur3_32(key)) for key in KEYS]))
        other_looking.append(_seconds(lambda: [theirs.get_node(key) for key in KEYS]))
    add, other_add, look, other_look = min(adding), min(other_adding), min(looking), min(other_looking)
    ring = f"ring of {CONSUMERS:,} consumers x {POINTS} points"
    per_key = 1e9 / len(KEYS)
    return [
        (
            f"{ring}: time to add one, over uhashring's",
            round(add / other_add, 4),
            "ratio",
            "at most 0.2",
            f"{add * 1e3:.2f} ms against {other_add * 1e3:.1f} ms",
        ),
        (
            f"{ring}: look-up rate, over uhashring's",
            round(other_look / look, 2),
            "ratio",
            "at least 1.3",
            f"{look * per_key:.0f} ns against {other_look * per_key:.0f} ns a key, hashing included",
        ),
        (
            "Key_Shared in order, 16 consumers: dispatch + ack, per record",
            round(_dispatch_us(), 2),
            "us",
            "at most 10",
            f"{RECORDS:,} records",
        ),
    ]


def _seconds(work: Callable[[], object]) -> float:
    """Processor time, which a busy machine stretches less than the wall clock does."""
    start = time.process_time()
    work()
    return time.process_time() - start


def _dispatch_us() -> float:
    """Time per record of a Key_Shared subscription of 16 in order: records arrive one by one, are
    acknowledged a hundred at a time, and each consumer grants a thousand permits when it has had as many."""
    dispatcher = KeySharedDispatcher(SELECTORS["consistent_hash"]())
    for number in range(16):
        dispatcher.connect(f"c{number}", f"c{number}", 2_000)
    hashes = [murmur3_32(f"N{number}") for number in range(1_500)]

    def work() -> None:
        entries, had = dispatcher.entries, dict.fromkeys(dispatcher.consumers, 0)
        waiting: dict[str, list[int]] = {consumer: [] for consumer in had}
        for position in range(RECORDS):
            entry = entries[position] = Entry(hashes[position % 1_500], position)
            for consumer, sent in dispatcher.arrived(position, entry):
                acks = waiting[consumer]
                acks.append(sent)
                if len(acks) == 100:
                    dispatcher.ack(acks, consumer)
                    for acked in acks:
                        del entries[acked]
                    acks.clear()
                had[consumer] += 1
                if had[consumer] % 1_000 == 0:
                    dispatcher.flow(consumer, 1_000)

    return _seconds(work) * 1e6 / RECORDS


if __name__ == "__main__":
    for what, value, unit, bar, note in run():
        print(f"{what}: {value} {unit} (bar: {bar}; {note})")
