"""A lane of the lab without records, taken through a membership history: who joins, in which order, under
which member id, with what it had before, is decided by the same lane that runs live, so every table is the
live lab's.

    start ──► at rest ──read──► table 0 ──c5 joins──► at rest ──read──► table 1 ──c3 crashes──► noticed, at rest ──read──► table 2 ...

Each change comes to rest before the next one begins (a crash: its broker has noticed it). A lab in which
changes follow faster, so that one rebalance serves several, can end elsewhere under rules that remember
(Kafka's sticky kinds). A process that stops to come back is down for so many seconds at most: what has not come
to rest by then, as of a static member, whose partitions wait for it, moves with its return or not at all.
"""

from collections.abc import Callable, Sequence
from dataclasses import replace

from broker_core.clock import SECOND_US
from broker_core.errors import InvariantError
from broker_core.lab.commands import command_from_json
from broker_core.lab.consumer import GONE, Consumer
from broker_core.lab.facts import LabFacts, facts_of_lane
from broker_core.lab.limits import DEFAULT_LIMITS
from broker_core.lab.messages import Messages
from broker_core.lab.scenario import LANE_KINDS, LaneSpec
from broker_core.lab.shared.bill import Bill
from broker_core.lab.shared.lane import Lane
from broker_core.lab.shared.setup import LaneSetup
from broker_core.lab.workload.live_keys import LiveKeys
from broker_core.lab.workload.weighted_keys import KeysWorkload
from broker_core.pipeline.strategies.base import RouteTable, Step

REST_S_MAX = 3_600
"""Virtual seconds that a change may take. The slowest known is a RabbitMQ crash, noticed within 180 s."""


def lane_states(
    spec: LaneSpec, steps: Sequence[Step], seed: int, read: Callable[[Lane, Bill | None], RouteTable]
) -> list[RouteTable]:
    """What `read` sees of the lane after each step. It gets the lane at rest, and the bill of the change
    (None: this step changed nothing on its own, see `Strategy.routes`); where a process is back before its stop
    has come to rest, that step has the table of the one before. Raises CommandError where the lane
    refuses a change, InvariantError where one never comes to rest."""
    no_records = Messages(KeysWorkload(rate=1, seed=seed, name="none", weighted=(), keyless=1))
    setup = LaneSetup(spec.id, spec.algorithm, spec.options, seed, LiveKeys(), no_records)
    lane = LANE_KINDS[spec.model].make(setup, None).begin()
    states: list[RouteTable] = []
    waiting: list[str] = []
    for place, step in enumerate(steps):
        if place == 0:
            waiting = list(step.members)
        elif step.kind in ("join", "back"):
            waiting.append(step.consumer or "")
        if waiting and not _joins_with_next(steps, place):
            lane.join([_consumer(name, lane) for name in waiting], place)
            waiting = []
            bill = _rest(lane)
        elif waiting or step.kind in ("join", "slow") or step.consumer is None:
            bill = None
        else:
            kind = "leave" if step.kind == "stop" else step.kind
            ordered = command_from_json({"command_id": "study", "kind": kind, "consumer": step.consumer})
            ordered.check(LabFacts({lane.id: facts_of_lane(lane)}, is_playing=False, limits=DEFAULT_LIMITS))
            lane.change(kind, step.consumer, place)
            if step.down_s is not None and not _comes_to_rest(lane, step.down_s):
                states.append(_unmoved(states[-1]))
                continue
            bill = _rest(lane)
        states.append(read(lane, bill))
    return states


def _unmoved(table: RouteTable) -> RouteTable:
    """The same, in a step that moves nothing."""
    return replace(table, space_moved=0 if table.space else None, partitions_moved=0 if table.units else None)


def live_names(lane: Lane) -> tuple[str, ...]:
    """Whom the broker still counts."""
    return tuple(name for name, consumer in lane.consumers.items() if consumer.state != GONE)


def _joins_with_next(steps: Sequence[Step], place: int) -> bool:
    """Whether the next step is a join of the same order: same record, one after the other."""
    if place == 0 or place + 1 == len(steps):
        return False
    here, after = steps[place], steps[place + 1]
    return here.at is not None and here.kind == after.kind == "join" and here.at == after.at


def _consumer(name: str, lane: Lane) -> Consumer:
    return Consumer(name, 1, SECOND_US, SECOND_US, lane.new_incarnation(name), lane.now_us)


def _rest(lane: Lane) -> Bill | None:
    """Let virtual time pass until the change has come to rest; a crash rests only when its broker has
    noticed."""
    if not _comes_to_rest(lane, REST_S_MAX):
        raise InvariantError(f"{lane.model}: a change has not come to rest within {REST_S_MAX} s")
    lane.ledger.settle()
    lane.out.clear()
    return lane.ledger.bill


def _comes_to_rest(lane: Lane, seconds: int) -> bool:
    """Let so much virtual time pass, or less if the change comes to rest within it. Returns whether it has."""
    until_us = lane.now_us + seconds * SECOND_US
    while lane.crash_positions or not lane.reads.is_settled():
        if lane.now_us >= until_us:
            return False
        lane.advance(lane.now_us + SECOND_US, lane.next_record, (), ())
    return True
