"""The timed measures of a study: the lab's own lane, headless, under the same membership history and the same
rates.

A history with changes at record numbers runs over those very records, if there are not too many: then this
*is* the live lab. Any other history runs on a timetable: WARM_S to begin with, then each change has JOIN_S, a
crash CRASH_S, in which its broker notices it (a RabbitMQ server may take 180 s: what that sets off falls into
a later step). A process that stops to come back has as long as it is down; one that comes back under another
name has CRASH_S, as its broker may still wait for the old one (Kafka's static members). Where the records of
the whole timetable would be more than the study allows, arrivals and consumers are slowed by one factor, so
that they are as busy as asked for; time-outs and pauses are not slowed.
"""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace

from broker_core.analysis.lag import drain_s, lag_peak, thinned
from broker_core.analysis.order import at_risk
from broker_core.analysis.pause import longest_us, stopped_us
from broker_core.analysis.waiting import waited_longer
from broker_core.clock import SECOND_US
from broker_core.events import Json
from broker_core.lab.lab import Lab
from broker_core.lab.limits import Limits
from broker_core.lab.pieces import whole
from broker_core.lab.pulsar.options import OUT_OF_ORDER, TYPE_OF
from broker_core.lab.scenario import LaneSpec, Scenario
from broker_core.lab.shared.lane import Lane
from broker_core.lab.shared.shares import skew_milli
from broker_core.lab.shared.waits import FlightWatch
from broker_core.lab.workload.base import Workload
from broker_core.pipeline.members import BACK, SLOW, STOP, Step, has_records
from broker_core.pipeline.timed_workload import without_keys

WARM_S = 60
JOIN_S = 30
CRASH_S = 75
LEVEL_S = 10
"""The level before a change is the highest lag of so many seconds: a lag of few records goes up and down on
its own."""
CURVE_POINTS = 60
_LIMITS = Limits(consumers_max=4_096, parts_max=10_000_000)
NOT_BY_KEY = frozenset(TYPE_OF)
"""Of Pulsar: every other algorithm is a rule of Key_Shared, whose broker holds a key back from its new owner
until the former one has acknowledged what it has of it (allowOutOfOrderDelivery=false, the default:
recentlyJoinedConsumers in 3.x, DrainingHashesTracker in 4.x). The lane hands such records over at once; there
they would wait, so they count as waiting and put no order at risk."""


@dataclass(frozen=True, slots=True)
class Timetable:
    """When each step begins, in microseconds of virtual time; the last entry is the end. rate: records a
    second that arrive.
    service_us: how long a consumer needs for one, consumer_rate: how many a second it takes where arrivals are
    not slowed."""

    starts_us: tuple[int, ...]
    rate: int
    service_us: int
    consumer_rate: int

    def service_us_at(self, consumer_rate: int) -> int:
        """The same for a consumer with a rate of its own, slowed by the same factor."""
        return self.service_us * self.consumer_rate // consumer_rate


def timetable(steps: Sequence[Step], rate: int, consumer_rate: int, records_max: int) -> Timetable:
    """A timetable for a history without records. rate: of all records; consumer_rate: that one consumer
    takes."""
    lengths = [WARM_S, *(_length_s(steps[place], steps[place - 1]) for place in range(1, len(steps)))]
    starts = [0]
    for length in lengths:
        starts.append(starts[-1] + length * SECOND_US)
    thin = max(1, min(rate, records_max * SECOND_US // starts[-1]))
    return Timetable(tuple(starts), thin, SECOND_US * rate // (consumer_rate * thin), consumer_rate)


def _length_s(step: Step, before: Step) -> int:
    if step.down_s is not None:
        return step.down_s
    is_renamed = step.kind == BACK and step.consumer != before.consumer
    return CRASH_S if step.kind == "crash" or is_renamed else JOIN_S


def rate_thinned(steps: Sequence[Step], service: Json) -> Json | None:
    """What the timed runs make of a rate that would bring too many records; None where they keep it.

    service: as `service_check` gives it. `{"rate", "rate_run", "records_max", "only_beyond"}`: asked for, run
    at, how many records a run takes;
    only_beyond: the changes are at record numbers, so it is thinned only if the data has more than
    records_max.
    """
    rate, records_max = service["rate"], service["records_max"]
    run = timetable(steps, rate, service["consumer_rate"], records_max).rate
    return (
        None
        if run == rate
        else {"rate": rate, "rate_run": run, "records_max": records_max, "only_beyond": has_records(steps)}
    )


def timetable_at_records(
    steps: Sequence[Step], workload: Workload, records: int, consumer_rate: int
) -> Timetable:
    """The times at which a history's records arrive: a change comes right after the record before its own."""
    starts = [0] + [workload.arrival_us((step.at or 0) - 1) if step.at else 0 for step in steps[1:]]
    end_us = workload.arrival_us(records - 1) if records else 0
    return Timetable(
        (*starts, max(end_us, starts[-1])), workload.rate, SECOND_US // consumer_rate, consumer_rate
    )


@dataclass(frozen=True, slots=True)
class TimedStep:
    """What one step of one strategy cost in the timed run. lag_before: the level in the seconds before the
    change.
    lag: seconds after the change -> records that arrived and are not done.
    weights: as the lane had them when the step ended (Lane.weights). waits: of the records that arrived in the
    step, how many waited longer than 1 s, 2 s, ...; one that was never done waited until the end of the run."""

    step: int
    records: int
    waited: int
    redelivered: int
    order_at_risk: int
    pause_partition_us: int
    pause_longest_us: int
    lag_before: int
    lag: list[tuple[float, int]]
    waits: list[int]
    weights: dict[str, int]
    skew_milli: int | None

    @property
    def lag_peak(self) -> int | None:
        return lag_peak(self.lag)

    @property
    def drain_s(self) -> float | None:
        """Until no more wait than before the change; each consumer may have one record in hand."""
        return drain_s(self.lag, max(self.lag_before, len(self.weights)))


class History:
    """The steps of a history, ordered in a lab of one lane. paces: node -> (from when on, how long it needs for a record),
    of those that were slowed."""

    def __init__(self, lab: Lab, table: Timetable) -> None:
        self.lab, self.table = lab, table
        self.joining: list[str] = []
        self.paces: dict[str, list[tuple[int, int]]] = {}

    def service_us(self, node: str, done_us: int) -> int:
        """How long a node needed for the record that it was done with then: the one in its hand keeps the pace at which it
        began."""
        for since_us, service_us in reversed(self.paces.get(node, [])):
            if since_us + service_us <= done_us:
                return service_us
        return self.table.service_us

    def change(self, step: Step, *, joins_with_next: bool) -> None:
        """Carry out a step now. joins_with_next: the next step is a join of the same order, so this one waits
        for it, as in the lab."""
        if step.kind == SLOW:
            for lane in self.lab.lanes.values():
                lane.change(
                    step.kind, step.consumer or "", step.step, self.table.service_us_at(step.rate or 1)
                )
                self._note_pace(lane, step.consumer or "")
        elif step.kind not in ("join", BACK):
            kind = "leave" if step.kind == STOP else step.kind
            self.lab.submit({"command_id": f"step-{step.step}", "kind": kind, "consumer": step.consumer})
            if step.kind == "rejoin":
                for lane in self.lab.lanes.values():
                    self._note_pace(lane, step.consumer or "")
        else:
            self._join(step, joins_with_next=joins_with_next)

    def _note_pace(self, lane: Lane, name: str) -> None:
        consumer = lane.consumers[name]
        self.paces.setdefault(consumer.incarnation, []).append((lane.now_us, consumer.service_us))

    def _join(self, step: Step, *, joins_with_next: bool) -> None:
        self.joining.append(step.consumer or "")
        if not joins_with_next:
            (lane,) = self.lab.lanes.values()
            whole(self.lab.join_lanes([lane], self.joining, step.step))
            self.joining = []
            lane.reads.check()


def timed_run(
    spec: LaneSpec,
    steps: Sequence[Step],
    table: Timetable,
    workload: Workload,
    seed: int,
    *,
    keyless_size: int | None = None,
) -> list[TimedStep]:
    """Run one strategy through the history. keyless_size: its producer sends no keys, and a record without
    a size of its own has so many bytes; the order of the keys is watched all the same. None: it sends them."""
    watch = FlightWatch(None if keyless_size is None else workload.key_code)
    workload = workload if keyless_size is None else without_keys(workload, keyless_size)
    scenario = Scenario("timed", seed, {}, (as_timed(spec),), len(steps[0].members), 1)
    lab = Lab(scenario, _LIMITS, workload=workload, watch=watch, service_us=table.service_us)
    (lane,) = lab.lanes.values()
    history = History(lab, table)
    rows: list[Json] = []
    curve = [(0.0, 0)]
    for place, step in enumerate(steps):
        start_us, until_us = table.starts_us[place], table.starts_us[place + 1]
        level = max(lag for _, lag in curve[-LEVEL_S:])
        before: Json = {
            "records": lab.record_count,
            "waited": watch.waited,
            "redelivered": lane.reads.redelivered(),
            "lag_before": level,
        }
        if place:
            history.change(
                step,
                joins_with_next=start_us == until_us
                and place + 1 < len(steps)
                and _is_one_order(step, steps[place + 1]),
            )
        curve = [(0.0, lane.reads.lag()), *_curve(lab, lane, start_us, until_us)]
        rows.append(
            before
            | {
                "lag": thinned(curve, CURVE_POINTS),
                "weights": dict(lane.reads.weights()),
                "skew_milli": skew_milli(lane),
            }
        )
    watch.finish(lane.now_us)
    ends: Json = {
        "records": lab.record_count,
        "waited": watch.waited,
        "redelivered": lane.reads.redelivered(),
    }
    waits_us = list(_waits_us(watch, workload, history, lane.now_us))
    risks = [flight.sent_us for flight in at_risk(watch.flights)]
    timed: list[TimedStep] = []
    for place, (row, after) in enumerate(zip(rows, [*rows[1:], ends], strict=True)):
        start_us, until_us = table.starts_us[place], table.starts_us[place + 1]
        last = place + 1 == len(rows)
        early = sum(start_us <= sent_us < until_us or (last and sent_us >= until_us) for sent_us in risks)
        timed.append(TimedStep(
            step=place,
            records=after["records"] - row["records"],
            waited=after["waited"] - row["waited"] + (early if holds_keys(spec) else 0),
            redelivered=after["redelivered"] - row["redelivered"],
            waits=waited_longer(waits_us[row["records"]:after["records"]]),
            order_at_risk=0 if holds_keys(spec) else early,
            pause_partition_us=stopped_us(watch.stops, start_us, until_us),
            pause_longest_us=longest_us(watch.stops, start_us, until_us + last),
            **{name: row[name] for name in ("lag_before", "lag", "weights", "skew_milli")},
        ))  # fmt: skip
    return timed


def _waits_us(watch: FlightWatch, workload: Workload, history: History, end_us: int) -> Iterator[int]:
    """How long each record waited for a consumer to turn to it; what is not done yet has waited until the
    end."""
    for index, (done, node) in enumerate(zip(watch.done_us, watch.done_by, strict=True)):
        until_us = end_us if done is None else done - history.service_us(node, done)
        yield max(0, until_us - workload.arrival_us(index))


def as_timed(spec: LaneSpec) -> LaneSpec:
    """The lane as a timed run has it: where the original holds a key back, what comes too early is let
    through, seen and counted as held back."""
    return replace(spec, options=spec.options | {"order": OUT_OF_ORDER}) if holds_keys(spec) else spec


def holds_keys(spec: LaneSpec) -> bool:
    """Whether the original's broker holds a key back until its former owner is done with it."""
    return spec.model == "pulsar" and spec.algorithm not in NOT_BY_KEY


def _is_one_order(step: Step, after: Step) -> bool:
    """Joins at one and the same record are one order, as they are in the lab and in the strategies'
    tables."""
    return step.at is not None and step.kind == after.kind == "join" and step.at == after.at


def _curve(lab: Lab, lane: Lane, start_us: int, until_us: int) -> Iterator[tuple[float, int]]:
    """The lag at each whole second after the change, and at the end of the step."""
    at_us = start_us
    while at_us < until_us:
        at_us = min(at_us + SECOND_US, until_us)
        lab.advance_to(at_us)
        yield round((at_us - start_us) / SECOND_US, 3), lane.reads.lag()
