"""The sentence of a Kafka lane once things have come to rest, and while they change.

rebalancing, the first one, a crash that nobody has noticed ─► while it lasts, what is true of it now ─► settled, or assigned to who is silent
"""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING

from broker_core.events import Json
from broker_core.kafka.group.classic.states import COMPLETING, PREPARING
from broker_core.lab.kafka.rebalance import HOLD_UPS
from broker_core.lab.shared.bill import Bill
from broker_core.lab.shared.codes import code_of

if TYPE_CHECKING:
    from broker_core.lab.shared.lane import Lane

ASSIGNED_TO_SILENT = "kafka.assigned_to_silent"
RESTARTING = ("kafka.restarting", "kafka.restarting_static")
CHANGING = ("kafka.first", "kafka.rebalancing", "kafka.crash_pending", ASSIGNED_TO_SILENT, *RESTARTING)
"""Sentences that depend on when somebody looks."""


def say_settled(lane: Lane, bill: Bill, silent: int, *, cooperative: bool) -> None:
    """Things have come to rest. silent: partitions that are assigned to who is silent."""
    params = {"consumer": bill.consumer, "pause_us": bill.pause_us, "partitions_moved": bill.partitions_moved,
              "partitions_total": bill.partitions_total, "stopped": bill.partitions_stopped}  # fmt: skip
    lane.say(ASSIGNED_TO_SILENT if silent else settled_code(params, cooperative=cooperative), **params)


def settled_code(params: Json, *, cooperative: bool) -> str:
    return code_of(
        "kafka.settled",
        stopped=params["stopped"] > 0,
        cooperative=cooperative,
        moved=bool(params["partitions_moved"]),
    )


def sentence_now(
    lane: Lane, state: str, silent: int, *, cooperative: bool, rebalance: Callable[[str, int], Json]
) -> Json:
    """One of the CHANGING sentences as it is now. state: of the group. rebalance(consumer, count): what is
    true of the rebalance that runs."""
    sentence = lane.sentence
    code, params = sentence["code"], sentence["params"]
    if code == "kafka.rebalancing":
        return rebalance(params["consumer"], params["count"])
    if code == ASSIGNED_TO_SILENT:
        return {
            "code": code if silent else settled_code(params, cooperative=cooperative),
            "params": params | {"waiting": silent},
        }
    bill = lane.ledger.kept_bill
    if bill is not None and state in (PREPARING, COMPLETING):
        now = rebalance(bill.consumer, 1)
        return now if now["code"] in HOLD_UPS else sentence
    return sentence
