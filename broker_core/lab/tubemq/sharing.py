"""Who takes what where the clients do not work it out by the modulo: the operator deals partitions out (`operator.py`), and
each client is handed its list.

    a consumer joins, leaves or is given up; another rule; the partitions or what is subscribable of them changes;
    by lag, what waits has been uneven for long (`look_at_lag`)
          ─► deal ─► tubemq.group.dealt ─► each client whose list changed: release, connect

By `over` the whole *configured* set is dealt out, as the article advises: a broker that goes offline and comes back moves
nothing. Over the *subscribable* set its partitions leave the deal, others move to level the rest, and all again when it is back.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, cast

from broker_core.events import Cause, Json, TurningPoint
from broker_core.lab.tubemq.nodes import OPERATOR
from broker_core.lab.tubemq.operator import OWN, Deal, OperatorState
from broker_core.lab.tubemq.reading import TubeMqReading, is_alive
from broker_core.tubemq.assigners import ASSIGNERS, BY_LAG
from broker_core.tubemq.assigners.by_lag import LOOK_S, LOOKS, QUIET_LOOKS, is_uneven
from broker_core.tubemq.client.program_state import Share

if TYPE_CHECKING:
    from broker_core.lab.shared.lane import Lane

CONFIGURED, SUBSCRIBABLE = "configured", "subscribable"
OVER = (CONFIGURED, SUBSCRIBABLE)


def is_dealt(lane: Lane) -> bool:
    """Whether the operator deals the lane's partitions out."""
    return lane.algorithm in ASSIGNERS or reads_of(lane).notes.own_rule is not None


def reads_of(lane: Lane) -> TubeMqReading:
    return cast(TubeMqReading, lane.reads)


def deal(lane: Lane, cause: Cause) -> None:
    """Deal the partitions out among the consumers of the plan that a person gave no list."""
    reads = reads_of(lane)
    notes = reads.notes
    members = [name for name in notes.plan if name not in notes.by_hand]
    previous = {key: name for name, keys in notes.shares.items() for key in keys}
    status = reads.group_map()
    closed = [key for key in reads.partition_keys if not status.get(key, True)]
    rule = lane.algorithm if notes.own_rule is None else OWN
    order = Deal(
        rule, members, dealt_partitions(reads), previous, lags_of(reads), notes.own_rule or "", closed
    )
    lane.world.order(OPERATOR, order, cause)


def dealt_partitions(reads: TubeMqReading) -> list[str]:
    """Those that a rule deals out: not the ones that a person gave a client."""
    taken = {key for keys in reads.notes.by_hand.values() for key in keys}
    status = reads.group_map()
    return [
        key
        for key in reads.partition_keys
        if key not in taken and (reads.over == CONFIGURED or status.get(key, True))
    ]


def lags_of(reads: TubeMqReading) -> dict[str, int]:
    """Partition -> messages that wait."""
    return {key: partition.end - reads.place(key).offset for key, partition in reads.partitions().items()}


def look_at_lag(lane: Lane, second: int) -> None:
    """By lag, deal again once what waits has been uneven for long (`assigners/by_lag.py` has the measure). Nothing is looked
    at while a client is dead, on its way in or in the middle of a pass: that is a change of its own."""
    reads = reads_of(lane)
    notes = reads.notes
    if second % LOOK_S or lane.algorithm != BY_LAG or notes.own_rule is not None:
        return
    if notes.uneven_looks < 0:
        notes.uneven_looks += 1
        return
    reads.forget()
    lags, members = lags_of(reads), [name for name in notes.plan if name not in notes.by_hand]
    shares = {name: notes.shares.get(name, []) for name in members}
    is_quiet = reads.is_settled() and all(is_alive(lane.consumers.get(name)) for name in members)
    if not (is_quiet and is_uneven(shares, dealt_partitions(reads), lags)):
        notes.uneven_looks = 0
        return
    notes.uneven_looks += 1
    if notes.uneven_looks == LOOKS:
        notes.uneven_looks = -QUIET_LOOKS
        waiting = {name: sum(lags[key] for key in keys) for name, keys in shares.items()}
        most = max(waiting, key=waiting.__getitem__)
        data: Json = {"consumer": most, "waiting": waiting[most], "seconds": LOOKS * LOOK_S}
        said = lane.emit("tubemq.group.uneven", Cause(), "tubemq.assigner.by_lag", {}, data)
        deal(lane, said)


def hand_out(lane: Lane, event: TurningPoint) -> None:
    """The operator has dealt: each client has its list, and makes a pass if it is another one."""
    reads = reads_of(lane)
    state: OperatorState = lane.world.slots[OPERATOR].node.state
    before, reads.notes.shares = reads.notes.shares, dict(state.shares)
    reads.notes.rule_failure = None
    reads.forget()
    for name, keys in state.shares.items():
        if before.get(name) != keys:
            share(lane, name, keys, Cause(event=event.id))


def share(
    lane: Lane, name: str, keys: list[str] | None, cause: Cause, bootstrap: dict[str, int] | None = None
) -> None:
    """A client takes these partitions from now on, None: those of the modulo rule."""
    consumer = lane.consumers.get(name)
    if consumer is not None and is_alive(consumer):
        lane.world.order(consumer.incarnation, Share(keys, bootstrap or {}), cause)


def on_map(lane: Lane, event: TurningPoint) -> None:
    """A client has learned that the master's map is another one. Over the subscribable set that is another deal."""
    reads = reads_of(lane)
    if is_dealt(lane) and reads.over == SUBSCRIBABLE and event.inputs["meta_id"] > reads.notes.map_id:
        reads.notes.map_id = event.inputs["meta_id"]
        deal(lane, Cause(event=event.id))
