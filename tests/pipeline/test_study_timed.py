"""Timed runs: the lab's own lanes, watched, cost what the lab says they cost."""

import numpy as np
import pytest

from broker_core.lab.lab import Lab
from broker_core.lab.scenario import Scenario
from broker_core.lab.shared.shares import skew_milli
from broker_core.lab.workload.weighted_keys import WEIGHT_MAX
from broker_core.pipeline.members import history_check, history_steps
from broker_core.pipeline.strategies import strategies_default, strategy_parse
from broker_core.pipeline.study_request import service_check
from broker_core.pipeline.timed import (
    CRASH_S,
    JOIN_S,
    WARM_S,
    as_timed,
    rate_thinned,
    timed_run,
    timetable,
    timetable_at_records,
)
from broker_core.pipeline.timed_tasks import Run, timed_runs
from broker_core.pipeline.timed_workload import SampleKeys, SequenceWorkload, sampled_workload

RATE, CONSUMER_RATE = 40, 10


def steps_of(*changes, start=4):
    return history_steps(history_check({"kind": "given", "start": start, "changes": [
        {"kind": kind, "consumer": consumer, "at": at} for kind, consumer, at in changes
    ]}))  # fmt: skip


def sequence(count=20_000, keys=300, ends=False, rate=RATE):
    codes = (np.arange(count) * 7919 % 1_000_003 % (keys + 1)) - 1  # -1: without a key
    return SequenceWorkload(
        rate, [f"key-{n}".encode() for n in range(keys)], codes.astype(np.int64), np.full(count, 900), ends
    )


def run(strategy, steps, workload=None, seed=7):
    workload = workload or sequence()
    table = timetable(steps, workload.rate, CONSUMER_RATE, 100_000)
    return timed_run(strategy.lane_spec(), steps, table, workload, seed)


CHANGES = (("join", None, None), ("crash", "c2", None), ("rejoin", "c2", None), ("leave", "c1", None))


@pytest.mark.parametrize("strategy", strategies_default(), ids=lambda strategy: strategy.id)
def test_a_watched_lane_goes_exactly_as_the_labs(strategy):
    """Watching changes nothing: records given out, given out twice and waiting are those of an unwatched lab
    under the same orders."""
    steps, workload = steps_of(*CHANGES), sequence()
    table = timetable(steps, RATE, CONSUMER_RATE, 100_000)
    spec = strategy.lane_spec()
    lab = Lab(Scenario("plain", 7, {}, (as_timed(spec),), 4, CONSUMER_RATE), workload=workload)
    (lane,) = lab.lanes.values()
    for step, row in zip(steps, timed_run(spec, steps, table, workload, 7), strict=True):
        redelivered = lane.reads.redelivered()
        if step.step:
            lab.submit({"command_id": f"x{step.step}", "kind": step.kind, "consumer": step.consumer})
        lab.advance_to(table.starts_us[step.step + 1])
        assert (row.lag[-1][1], row.weights, row.skew_milli) == (
            lane.reads.lag(),
            lane.reads.weights(),
            skew_milli(lane),
        )
        assert row.redelivered == lane.reads.redelivered() - redelivered
    assert lab.now_us == table.starts_us[-1] == (WARM_S + CRASH_S + 3 * JOIN_S) * 1_000_000


def test_the_longest_standstill_of_a_range_rebalance_is_the_labs_own_pause():
    """Between two settled states the bill of the live lab and the watched stops name the same longest
    pause."""
    steps = steps_of(("join", None, None))
    strategy = strategy_parse("kafka.range:partitions=12")
    timed = run(strategy, steps)
    table = timetable(steps, RATE, CONSUMER_RATE, 100_000)
    lab = Lab(Scenario("plain", 7, {}, (strategy.lane_spec(),), 4, CONSUMER_RATE), workload=sequence())
    lab.advance_to(table.starts_us[1])
    lab.submit({"command_id": "j", "kind": "join"})
    lab.advance_to(table.starts_us[2])
    (lane,) = lab.lanes.values()
    assert lane.ledger.bill.settled and timed[1].pause_longest_us == lane.ledger.bill.pause_us > 0
    assert timed[1].pause_longest_us <= timed[1].pause_partition_us <= 12 * timed[1].pause_longest_us


def test_cooperative_pauses_less_than_eager_and_pulsar_pauses_no_partition():
    steps = steps_of(("join", None, None))
    eager, cooperative, ring = (
        run(strategy_parse(name), steps)[1]
        for name in ("kafka.sticky", "kafka.cooperative-sticky", "pulsar.consistent_hash")
    )
    assert 0 < cooperative.pause_partition_us < eager.pause_partition_us
    assert ring.pause_partition_us == 0


def test_a_crash_makes_records_wait_until_somebody_notices():
    timed = run(strategy_parse("kafka.range"), steps_of(("crash", "c2", None)))
    silent_s = timed[1].pause_longest_us / 1_000_000
    assert 42 < silent_s < 52  # session timeout 45 s after the last heartbeat, then the rebalance
    # A quarter of all records, for that long, and each that waits is seen to.
    assert timed[1].waited == pytest.approx(RATE * silent_s / 4, rel=0.25)
    assert timed[1].lag_peak >= timed[1].waited * 0.8


def test_a_queue_puts_the_order_of_a_hot_key_at_risk_and_a_partition_never():
    one_key = SequenceWorkload(
        RATE, [b"hot"], np.zeros(4_000, np.int64), np.ones(4_000, np.int64), ends=False
    )
    queue = run(strategy_parse("rabbitmq.queue:prefetch=5"), steps_of(("join", None, None)), one_key)
    assert sum(step.order_at_risk for step in queue) > 0.5 * sum(step.records for step in queue)
    for name in ("kafka.range", "kafka.cooperative-sticky", "tubemq.modulo"):
        assert sum(step.order_at_risk for step in run(strategy_parse(name), steps_of(*CHANGES), one_key)) == 0


def test_two_joins_at_one_record_are_one_order():
    steps = steps_of(("join", None, 2_000), ("join", None, 2_000))
    workload = sequence(6_000, ends=True)
    strategy = strategy_parse("kafka.sticky")
    table = timetable_at_records(steps, workload, 6_000, CONSUMER_RATE)
    timed = timed_run(strategy.lane_spec(), steps, table, workload, 7)
    lab = Lab(Scenario("plain", 7, {}, (strategy.lane_spec(),), 4, CONSUMER_RATE), workload=workload)
    lab.advance_to(workload.arrival_us(1_999))
    assert lab.record_count == 2_000
    lab.submit({"command_id": "two", "kind": "join", "args": {"count": 2}})
    lab.advance_to(workload.arrival_us(5_999))
    (lane,) = lab.lanes.values()
    assert [step.records for step in timed] == [2_000, 0, 4_000]
    assert timed[-1].weights == lane.reads.weights() and timed[-1].lag[-1][1] == lane.reads.lag()


def test_a_long_history_is_thinned_and_stays_as_busy():
    steps = steps_of(*[("join", None, None)] * 20)
    table = timetable(steps, 5_000, 100, 50_000)
    seconds = table.starts_us[-1] / 1_000_000
    assert table.rate * seconds <= 50_000
    assert table.rate * table.service_us == pytest.approx(5_000 * 10_000, rel=0.001)


@pytest.mark.slow
def test_runs_in_sparks_tasks_are_those_of_this_process_in_the_order_of_the_strategies(spark):
    steps, workload = steps_of(*CHANGES), sequence()
    table = timetable(steps, RATE, CONSUMER_RATE, 10_000)
    specs = [
        strategy_parse(name).lane_spec() for name in ("rabbitmq.queue", "kafka.range", "pulsar.auto_split")
    ]
    timed = timed_runs(spark, [Run(spec, steps) for spec in specs], table, workload, 7)
    assert timed == [timed_run(spec, steps, table, workload, 7) for spec in specs] and timed[0] != timed[1]


def test_a_sample_keeps_the_hottest_keys_share_and_all_the_others():
    sample = SampleKeys([(b"hot", 500), (b"warm", 100)], [(b"a", 3), (b"b", 1)], 400, 50)
    weighted, keyless = sample.weighted()
    assert weighted == [(b"hot", 500), (b"warm", 100), (b"a", 300), (b"b", 100)] and keyless == 50
    codes = np.array(sampled_workload(sample, 36, 7).key_codes(0, 40_000))
    assert np.mean(codes == 0) == pytest.approx(500 / 1_050, abs=0.01)
    assert np.mean(codes == -1) == pytest.approx(50 / 1_050, abs=0.01)


def test_weights_too_large_for_a_lab_keep_their_proportions():
    weighted, keyless = SampleKeys([(b"hot", WEIGHT_MAX * 4), (b"b", WEIGHT_MAX)], [], 0, 8).weighted()
    assert weighted == [(b"hot", WEIGHT_MAX), (b"b", WEIGHT_MAX // 4)] and keyless == 2


def test_pulsar_holds_a_key_back_instead_of_putting_its_order_at_risk():
    timed = run(strategy_parse("pulsar.consistent_hash"), steps_of(("join", None, None)))
    assert sum(step.order_at_risk for step in timed) == 0
    assert timed[1].waited > 0


@pytest.mark.parametrize(
    ("rate", "history", "told"),
    [
        (36, {"kind": "given", "start": 4, "changes": [{"kind": "join"}]}, None),
        (
            1_000,
            {"kind": "given", "start": 4, "changes": [{"kind": "join"}]},
            {"rate_run": 111, "only_beyond": False},
        ),
        (
            1_000,
            {"kind": "given", "start": 4, "changes": [{"kind": "join", "at": 10}]},
            {"rate_run": 111, "only_beyond": True},
        ),
    ],
)
def test_rate_that_the_timed_runs_cannot_keep_is_known_before_they_run(rate, history, told):
    """A warm-up of 60 s and a change of 30 s: 10,000 records are 111 a second."""
    service = service_check({"rate": rate})
    thinned = rate_thinned(history_steps(history_check(history)), service)
    assert thinned == (told and {"rate": rate, "records_max": 10_000} | told)
