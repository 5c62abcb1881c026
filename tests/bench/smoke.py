"""Sizes at which a bench runs in seconds: `make bench-smoke` shows that each still runs, not what it
measures.

A bench that starts processes of its own has
HIGHWATER_BENCH_SMOKE in their environment.
"""

import os
from types import ModuleType
from typing import Any

VARIABLE = "HIGHWATER_BENCH_SMOKE"

SIZES: dict[str, dict[str, Any]] = {
    "start": {"IS_CLONED": False},
    "neighbour": {"CLICKS": 2, "CONSUMERS": 8, "SETTLING_S": (0.5, 0.5)},
    "fair": {"CLICKS": 2, "SETTLING_S": 0.2},
    "labs": {"CLICKS": 2, "CROWDS": ((2, 8, 300),), "WATCHED_S": (0.5, 0.5)},
    "click": {"CLICKS": 2, "CROWD": 2},
    "room": {"ATTENDEES": 3, "DEAF": 1, "CLICKS": 2},
    "feed": {"CLIENTS": 4, "DEAF": 1, "SECONDS": 1, "LINGER_S": 1},
    "rabbitmq": {"MESSAGES": 500, "REPEATS": 1},
    "clients": {
        "MESSAGES": 200,
        "EACH": 100,
        "BODIES": (100,),
        "STARTS": 1,
        "RESETS": 1,
        "MANY": 400,
        "ROUND": 200,
        "SETTLING_S": 0.01,
    },
    "amqp": {"BINDINGS": 200, "KEYS": 200, "MATCHES": 2_000, "MESSAGES": 100, "REPEATS": 1},
    "tubemq": {"BROKERS": 2, "PARTITIONS": 50, "CLIENTS": 10, "ARRAY_KEYS": 5_000, "REPEATS": 1},
    "ring": {"CONSUMERS": 10, "REPEATS": 1, "RECORDS": 2_000},
    "core": {"WARM_S": 1, "MEASURED_S": 1, "GROWN_S": 5},
    "seek": {"SPAN_S": 20, "SEEKS": 2},
    "groups": {"GROUPS": 5, "LARGE": 10, "HEARTBEATS": 100, "PARTITIONS": 100},
    "replication": {"TURNS": 200, "ROUNDS": 1},
    "cluster": {"STRETCHES": 1, "WARM_S": 1},
    "cluster_of_one": {"RECORDS": (1_000,), "JOINS": 1},
    "log": {"LARGE_MIB": 4, "ROUNDS": 1},
    "assignors": {"STICKY_SIZES": ((20, 100), (20, 200)), "OTHERS_TIME_LIMIT_S": 10, "REPEATS": 1},
    "subscriptions": {"CONSUMERS": 20, "ARRAY_KEYS": 5_000, "RECORDS": 3_000, "FLOW": 100},
    "hash": {"KEYS": 5_000, "ARRAY_KEYS": 5_000, "PURE_PYTHON_KEYS": 500, "REPEATS": 1},
    "routing": {"KEYS": 5_000, "WORKLOADS": (("repeat", "pmod(xxhash64(id), 500)", 3),), "REPEATS": 1},
    "cluster_page": {"SECONDS": 1, "FIRST_S": 1},
    "stage": {"SECONDS": 1, "MINUTES": 0.02, "SETTLING_MS": 500},
    "kafka_log_source": {"RECORDS": 20_000, "ROUNDS": 1},
    "study": {"RECORDS": 2_000, "KEYS": 200, "WARM_RECORDS": 1_000, "JOINS": 1, "DRIVER_MEMORY": "1g"},
    "study_files": {"ROWS": 2_000, "WARM_ROWS": 200, "SIXTEEN": ["kafka.range:partitions=24"]},
    "study_cost": {
        "ROWS": 2_000,
        "REPEATS": 1,
        "COLD_RUNS": 1,
        "IS_ALL_COLD": False,
        "IS_PREPARED": False,
    },
    "soak": {"MINUTES": 0.2, "SETTLING_S": 4, "EVERY_MS": 1_000},
    "live_study": {"SECONDS": 12, "WARM_UP_S": 2},
}

ON_ONE_SPARK = ("hash", "kafka_log_source", "live_study", "routing", "study", "study_files")
"""Benches that begin Spark by `spark.py`: in a smoke they may run in one process, on one Java."""


def shrink(name: str, module: ModuleType) -> None:
    """Give a bench the sizes of a smoke. Raises AttributeError for a size that it does not have."""
    for size, value in SIZES[name].items():
        getattr(module, size)
        setattr(module, size, value)


def is_smoke() -> bool:
    """Whether this process was started by a bench that only shows that it runs."""
    return os.environ.get(VARIABLE) == "1"
