"""How fast TubeMQ's clients share a large topic among themselves, and how fast partition keys are hashed.

Prints a table when run as a script; `make bench` calls `run()`.
"""

import pyarrow as pa

from broker_core.hashing.columns import java_column
from broker_core.tubemq import assignment
from broker_core.tubemq.assignment import planned_calls
from tests.bench.cpu import in_turn

Figure = tuple[str, float, str, str, str]

BROKERS, PARTITIONS, CLIENTS = 100, 100, 200
"""Brokers of the topic, partitions on each, clients of the group."""
ARRAY_KEYS = 1_000_000
PYTHON_KEYS = 20_000
REPEATS = 5


def run() -> list[Figure]:
    """Measure everything. Returns (what, value, unit, bar, note) rows."""
    return [_assignment(), _hashing()]


def _assignment() -> Figure:
    """A client joins: every client works out its share again, and what to release and to connect."""
    status = {f"{broker}:t:{number}": True for broker in range(BROKERS) for number in range(PARTITIONS)}
    held = [assignment.owned_by(status, CLIENTS - 1, node_id) for node_id in range(CLIENTS - 1)] + [[]]

    def assign_again() -> None:
        # The first client to ask pays for all: nothing is known of this set and count, nor any key hashed.
        assignment._shares.cache_clear()
        assignment._key_hash.cache_clear()
        calls = sum(
            len(planned_calls(status, own, source_count=CLIENTS, node_id=node_id, saved_offsets={}))
            for node_id, own in enumerate(held)
        )
        assert calls > len(status) / 2

    ((taken, _),) = in_turn([assign_again], REPEATS)
    return (
        f"{len(status):,} partitions, {CLIENTS} clients: all assign themselves again",
        round(taken * 1_000, 1),
        "ms",
        "at most 200",
        "nothing known beforehand",
    )


def _hashing() -> Figure:
    keys = [f"{number % 100}:topic-{number % 7}:{number}" for number in range(ARRAY_KEYS)]
    column, few = pa.array(keys), keys[:PYTHON_KEYS]
    java_column(column)
    loop, ours = in_turn([lambda: [_loop_hash(key) for key in few], lambda: java_column(column)], REPEATS)
    return (
        "partition keys hashed as an array: a Python loop over ours",
        round(loop[0] / len(few) / (ours[0] / len(keys)), 1),
        "times",
        "at least 5",
        f"ours {ours[0] / len(keys) * 1e9:.1f} ns a key",
    )


def _loop_hash(key: str) -> int:
    hashed = 0
    for unit in key.encode():
        hashed = (hashed * 31 + unit) & 0xFFFFFFFF
    return hashed


if __name__ == "__main__":
    for figure in run():
        print(*figure, sep=" | ")
