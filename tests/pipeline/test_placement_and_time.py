"""Where keyless records go, when a timed run's steps begin, and what its records are: the arithmetic between
a study and the lab."""

from itertools import pairwise

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from broker_core.clock import SECOND_US
from broker_core.kafka.producer.placement import Placement
from broker_core.pipeline.keyless import by_unit, in_turn, kafka_partitions, spread_evenly, unit_of_keyless
from broker_core.pipeline.members import history_check, history_steps
from broker_core.pipeline.strategies import strategy_parse
from broker_core.pipeline.timed import (
    CRASH_S,
    JOIN_S,
    WARM_S,
    TimedStep,
    as_timed,
    rate_thinned,
    timetable,
    timetable_at_records,
)
from broker_core.pipeline.timed_workload import SampleKeys, SequenceWorkload, sampled_workload
from broker_core.pipeline.units import unit_map
from broker_core.rng import SeededRandom

FEW = settings(max_examples=40, deadline=None)


def steps_of(*kinds, at=None, start=4):
    changes = [
        {"kind": kind, "consumer": None if kind == "join" else "c1", "at": None if at is None else at[place]}
        for place, kind in enumerate(kinds)
    ]
    return history_steps(history_check({"kind": "given", "start": start, "changes": changes}))


def units_of(text):
    strategy = strategy_parse(text)
    return unit_map(strategy.hash, strategy.routes(steps_of("join", start=2)))[0]


# -- records without a key -----------------------------------------------------------------------------------


@FEW
@given(
    st.lists(st.tuples(st.integers(0, 10**6), st.integers(0, 10**9)), min_size=1, max_size=4),
    st.integers(1, 40),
)
def test_spreading_loses_nothing_and_no_partition_has_two_more_than_another(totals, partitions):
    spread = spread_evenly(np.array(totals, np.int64), partitions)
    assert spread.shape == (len(totals), partitions, 2)
    assert spread.sum(axis=1).tolist() == [list(total) for total in totals]
    assert (spread.max(axis=1) - spread.min(axis=1)).max() <= 1
    assert (np.diff(spread, axis=1) <= 0).all(), "the first ones get one more"


@FEW
@given(st.integers(0, 60), st.integers(1, 9))
def test_in_turn_every_partition_has_its_turn_beginning_with_the_first(count, partitions):
    places = in_turn(count, partitions).tolist()
    assert places == [number % partitions for number in range(count)]


def test_pulsar_gives_all_records_without_a_key_to_the_owner_of_none_key():
    units = units_of("pulsar.consistent_hash")
    totals = np.array([[7, 70], [3, 30]], np.int64)
    counts = by_unit("pulsar", units, totals, None, 7, ())
    assert counts[:, unit_of_keyless("pulsar", units)].tolist() == totals.tolist()
    assert counts.sum(axis=1).tolist() == totals.tolist()
    in_order = (np.zeros(10, np.int64), np.ones(10, np.int64))
    assert (by_unit("pulsar", units, totals, in_order, 7, ()) == counts).all(), "their order does not matter"


@pytest.mark.parametrize("model", ["kafka", "tubemq"])
def test_keyless_records_in_order_are_counted_in_the_stretch_in_which_they_came(model):
    units = units_of(
        "kafka.range:partitions=3" if model == "kafka" else "tubemq.modulo:partitions=3,brokers=1"
    )
    places, sizes = np.array([0, 0, 1, 1, 1]), np.array([10, 20, 30, 40, 50])
    counts = by_unit(model, units, np.array([[2, 30], [3, 120]]), (places, sizes), 7, ())
    assert counts.sum(axis=1).tolist() == [[2, 30], [3, 120]]
    if model == "tubemq":
        assert counts[:, :, 0].tolist() == [[1, 1, 0], [1, 1, 1]], (
            "the third record is the first of its stretch, and not of the turn"
        )
        assert counts[1, :, 1].tolist() == [40, 50, 30]


def test_where_the_order_is_not_known_all_partitions_get_as_much():
    units = units_of("kafka.range:partitions=4")
    assert by_unit("kafka", units, np.array([[10, 100]]), None, 7, ()).tolist() == [
        [[3, 25], [3, 25], [2, 25], [2, 25]]
    ]


def test_kafkas_keyless_records_stick_to_a_partition_for_a_batch_as_the_labs_producer_does():
    sizes = [900] * 200
    random, placement = SeededRandom(5), Placement(6)
    expected = [placement.of_keyless(size, random.below) for size in sizes]
    found = kafka_partitions(sizes, 6, 5, ()).tolist()
    assert found == expected
    changes = sum(one != other for one, other in pairwise(found))
    assert 0 < changes < 30 and len(set(found)) > 2
    assert kafka_partitions(sizes, 6, 6, ()).tolist() != found, "which partitions follows from the seed"


# -- timetables ----------------------------------------------------------------------------------------------


def seconds(table):
    return [at // SECOND_US for at in table.starts_us]


def test_a_crash_has_the_time_in_which_it_is_noticed_and_a_join_its_own():
    table = timetable(steps_of("join", "crash", "rejoin"), 36, 10, 50_000)
    assert seconds(table) == [
        0,
        WARM_S,
        WARM_S + JOIN_S,
        WARM_S + JOIN_S + CRASH_S,
        WARM_S + CRASH_S + 2 * JOIN_S,
    ]
    assert (table.rate, table.service_us) == (36, 100_000)


@FEW
@given(st.integers(1, 20_000), st.integers(1, 500), st.integers(1_000, 100_000), st.integers(0, 12))
def test_a_thinned_run_takes_no_more_records_than_it_may_and_is_as_busy(
    rate, consumer_rate, records_max, joins
):
    table = timetable(steps_of(*["join"] * joins), rate, consumer_rate, records_max)
    duration_s = table.starts_us[-1] / SECOND_US
    assert 1 <= table.rate <= rate
    assert table.rate == 1 or table.rate * duration_s <= records_max
    asked, run = rate / consumer_rate, table.rate * table.service_us / SECOND_US
    assert run == pytest.approx(asked, rel=0.001, abs=table.rate / SECOND_US)


@pytest.mark.parametrize(
    ("rate", "records_max", "run"),
    [(36, 50_000, 36), (834, 50_000, 833), (833, 50_000, 833), (5_000, 1_000, 16)],
)
def test_a_rate_is_thinned_only_where_the_records_would_be_too_many(rate, records_max, run):
    """A warm-up alone is 60 s."""
    service = {"rate": rate, "consumer_rate": 10, "records_max": records_max}
    told = rate_thinned(steps_of(), service)
    assert (told["rate_run"] if told else rate) == run
    assert (told is None) == (run == rate)


def workload(count, rate=50, ends=True):
    return SequenceWorkload(rate, [b"a", b"b"], np.arange(count) % 2, np.full(count, 5), ends)


def test_a_change_at_a_record_comes_right_after_the_one_before_it():
    records = workload(200)
    table = timetable_at_records(steps_of("join", "join", "join", at=[0, 1, 100]), records, 200, 10)
    assert table.starts_us == (0, 0, records.arrival_us(0), records.arrival_us(99), records.arrival_us(199))
    assert (table.rate, table.service_us) == (50, 100_000)


def test_a_change_at_the_end_of_the_records_has_no_time_left_and_none_at_all_is_no_time():
    records = workload(10)
    assert (
        timetable_at_records(steps_of("join", at=[10]), records, 10, 10).starts_us[-2:]
        == (records.arrival_us(9),) * 2
    )
    assert timetable_at_records(steps_of(), records, 0, 10).starts_us == (0, 0)


def test_only_pulsar_runs_otherwise_than_its_lane_so_that_what_is_held_back_is_seen():
    pulsar, kafka = (
        strategy_parse("pulsar.consistent_hash").lane_spec(),
        strategy_parse("kafka.range").lane_spec(),
    )
    assert as_timed(kafka) == kafka
    assert (
        as_timed(pulsar).options != pulsar.options
        and as_timed(pulsar).options | pulsar.options == as_timed(pulsar).options
    )


def timed(lag, lag_before=0, weights=None):
    figures = dict.fromkeys(
        ("records", "waited", "redelivered", "order_at_risk", "pause_partition_us", "pause_longest_us"), 0
    )
    return TimedStep(
        step=1, lag_before=lag_before, lag=lag, waits=[], weights=weights or {}, skew_milli=None, **figures
    )


def test_a_backlog_is_worked_off_when_no_more_wait_than_before_or_than_there_are_consumers():
    curve = [(0.0, 4), (1.0, 30), (2.0, 9), (3.0, 3)]
    assert timed(curve).lag_peak == 30
    assert timed(curve, lag_before=3).drain_s == 3.0
    assert timed(curve, lag_before=9).drain_s == 2.0
    assert timed(curve, weights=dict.fromkeys("abcdefghi", 1)).drain_s == 2.0, (
        "each consumer may have one record in hand"
    )
    assert timed(curve, lag_before=2).drain_s is None


# -- the records of a timed run ------------------------------------------------------------------------------


def test_given_records_end_or_begin_again():
    once, again = workload(3), workload(3, ends=False)
    late = 10 * SECOND_US
    assert (once.count_until(late), once.count_until(0)) == (3, 0)
    assert again.count_until(late) > 3
    assert again.key_codes(2, 8) == [0, 0, 1, 0, 0, 1] == again.codes_of([2, 3, 4, 5, 6, 7])
    assert [again.key_code(index) for index in (2, 3, 4)] == [0, 0, 1]
    assert again.codes_of([]) == []


def test_each_given_record_has_its_own_size_and_key():
    records = SequenceWorkload(
        9, ["é".encode(), b"\xff"], np.array([1, -1, 0]), np.array([3, 0, 7]), ends=True
    )
    assert [len(records.payload(index)) for index in range(4)] == [3, 0, 7, 3]
    assert (records.key(0), records.key_bytes(1), records.key_code(1)) == ("é", b"\xff", -1)
    assert records.distinct_until(3) == ([1, 0], [0, 2]), "no key is not a key"
    assert records.view(7)["loop"] == 2


@FEW
@given(
    st.lists(st.integers(1, 10**12), max_size=5),
    st.lists(st.integers(1, 1_000), max_size=5),
    st.integers(0, 10**12),
    st.integers(0, 10**12),
)
def test_a_samples_weights_are_a_labs_and_nobody_is_lost(hottest, others, other_records, keyless):
    sample = SampleKeys(
        [(b"h%d" % n, w) for n, w in enumerate(hottest)],
        [(b"o%d" % n, w) for n, w in enumerate(others)],
        other_records,
        keyless,
    )
    weighted, none = sample.weighted()
    assert [key for key, _ in weighted] == [b"h%d" % n for n in range(len(hottest))] + [
        b"o%d" % n for n in range(len(others))
    ]
    assert all(weight >= 1 for _, weight in weighted) and (none > 0) == (keyless > 0)
    if weighted:
        drawn = sampled_workload(sample, 36, 7)
        assert set(drawn.key_codes(0, 50)) <= {-1, *range(len(weighted))}
