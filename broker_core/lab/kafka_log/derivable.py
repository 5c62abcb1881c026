"""Whether a lane's log follows from its scenario alone, so that it can be derived (`lane.py`).

The derived log asks the workload for the records and knows no broker. It has what the brokers have only as long as
each record reaches its partition once, by the number of partitions that the scenario says. An option or an order
that may change what the brokers' logs hold ends that for good: settings of the topic, acks, a fault, more
partitions, a record by hand. Then the brokers' logs alone are the lane's.
"""

from collections.abc import Iterable

from broker_core.events import Json
from broker_core.lab.commands.base import ALL

OPTIONS = frozenset(
    {
        "id", "model", "algorithm", "topic", "partitions", "cluster", "brokers", "replication_factor", "racks",
        "placement_seed", "more_topics", "groups", "group_protocol", "group_coordinator", "remote_assignor",
        "static_members", "commits", "auto_offset_reset", "isolation_level", "migration_policy",
        "session_timeout_ms", "heartbeat_interval_ms", "max_poll_interval_ms", "max_poll_records",
        "auto_commit_interval_ms", "group_max_size", "initial_rebalance_delay_ms", "offsets_partitions",
        "offsets_retention_minutes", "offsets_retention_check_interval_ms",
    }
)  # fmt: skip
"""Of a lane: they say where the replicas are and how groups read, never what is written."""
ORDERS = frozenset(
    {
        "play", "pause_lab", "speed", "step", "set_algorithm", "set_order",
        "join", "leave", "rejoin", "crash", "pause", "resume", "slow",
    }
)  # fmt: skip
"""About the lab's time and the lane's consumers; and any about the group, which moves offsets and no record."""
OF_GROUPS = "group_"


def is_derivable(lane: Json, orders: Iterable[Json]) -> bool:
    """lane: as a scenario's JSON has it. orders: the commands that the lab has carried out.

    >>> lane = {"id": "kafka", "model": "kafka", "partitions": 3}
    >>> is_derivable(lane, [{"kind": "join", "lane": "all"}]), is_derivable({**lane, "acks": 1}, [])
    (True, False)
    >>> is_derivable(lane, [{"kind": "cluster_add_partitions", "lane": "kafka"}])
    False
    """
    return lane.keys() <= OPTIONS and all(
        order["kind"] in ORDERS or order["kind"].startswith(OF_GROUPS)
        for order in orders
        if order.get("lane", ALL) in (ALL, lane["id"])
    )
