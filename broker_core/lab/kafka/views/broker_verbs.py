"""What a person may do now to each broker and each link of a Kafka cluster, by name: the orders of
`broker_core/kafka/cluster/verbs.py`.

`quick_disk`, `set_clock` and `quick_link` take back what `slow_disk`, `skew_clock` and `slow_link` have done.
"""

from __future__ import annotations

from broker_core.kafka.cluster.state import DOWN, SHUTTING_DOWN, BrokerState
from broker_core.sim.slot import CRASHED, PAUSED, RUNNING, Slot


def broker_stage(slot: Slot) -> str:
    """How far its process has come, or why it does nothing: "paused", "crashed"."""
    state: BrokerState = slot.node.state
    return state.stage if slot.condition == RUNNING else slot.condition


def broker_verbs(slot: Slot) -> list[str]:
    """Those that are not refused, the mildest first."""
    state: BrokerState = slot.node.state
    always = [
        "quick_disk" if slot.disk.write_us else "slow_disk",
        "set_clock" if state.skew_ms else "skew_clock",
    ]
    loses = [] if slot.disk.is_lost else ["lose_disk"]
    if slot.condition == CRASHED or state.stage == DOWN:
        return ["come_back", *loses]
    if slot.condition == PAUSED:
        return ["resume", "crash", "cut_power", *loses]
    stops = [] if state.stage == SHUTTING_DOWN else ["stop"]
    return [*stops, "pause", "crash", "cut_power", *loses, *always]


def link_verbs(cut_count: int, is_slow: bool) -> list[str]:
    """cut_count: how many of its two ways are cut."""
    ways = {0: ["cut_link"], 1: ["heal_link", "cut_link"]}.get(cut_count, ["heal_link"])
    return [*ways, "quick_link" if is_slow else "slow_link"]


def writer_verbs(slot: Slot) -> list[str]:
    """Of a transactional writer."""
    return ["resume_writer" if slot.condition == PAUSED else "pause_writer"]
