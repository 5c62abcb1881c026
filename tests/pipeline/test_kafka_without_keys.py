"""Kafka without keys: every partition gets as much, so shares follow from how many partitions a consumer has, and a hot
key is no consumer's burden; what is given up is order, and the timed runs see it."""

import numpy as np
import pytest

from broker_core.lab.workload.weighted_keys import KeysWorkload
from broker_core.pipeline.members import history_check, history_steps
from broker_core.pipeline.recommend import rank
from broker_core.pipeline.strategies import strategy_parse
from broker_core.pipeline.timed import timed_run, timetable
from broker_core.pipeline.timed_workload import SequenceWorkload, without_keys
from tests.pipeline.pure_study import pure_study

TENANTS = [("acme", 3_300), ("globex", 2_500), *((f"shop-{number}", 14) for number in range(300))]
KEYLESS, KEYED = "kafka.keyless:partitions=12", "kafka.range:partitions=12"


def still(consumers):
    return {"kind": "given", "start": consumers}


@pytest.fixture
def study(tmp_path):
    return lambda *args, **more: pure_study(tmp_path / "case", *args, **more)


def reasons(result, **asked):
    return {entry["id"]: [each["code"] for each in entry["excluded"]] for entry in rank(result, **asked)}


@pytest.mark.parametrize(("consumers", "skew"), [(4, 1.0), (8, 1.333), (7, 1.166)])
def test_shares_are_those_of_the_partitions_whatever_the_keys_are(study, consumers, skew):
    """12 partitions of 8: four consumers have two, which is 2 / 1.5 of the mean; of 7: five have two, 2 x 7 / 12.
    Thousandths are rounded down, as everywhere."""
    found, keyed = study(TENANTS, [KEYLESS, KEYED], still(consumers))["strategies"]
    assert found["totals"]["skew"] == pytest.approx(skew) and keyed["totals"]["skew"] > 1.3
    shares = found["steps"][0]["consumers"]
    assert sum(share["records"] for share in shares.values()) in range(10_000 - consumers, 10_001)
    assert all(share["keys"] is None for share in shares.values())
    assert found["totals"]["churn"] is None, "no key has an owner, so none can move"


def test_partitions_move_all_the_same_and_the_counts_that_suit_are_named(study):
    history = {"kind": "given", "start": 7, "changes": [{"kind": "join"}]}
    found = study(TENANTS, [KEYLESS], history)["strategies"][0]
    assert found["steps"][1]["partitions_moved"] > 0 and found["steps"][1]["partitions_total"] == 12
    assert found["luck"]["of"] == "partitions" and all(
        count % 8 in (0, 7) for count in found["luck"]["suits"]
    )


def test_counts_are_named_for_the_whole_group_also_where_the_worst_step_has_fewer(study):
    """A rolling restart: two of five have three of 12 partitions, but the counts are for six (23: 4 x 6 / 23 is
    within 5 %)."""
    found = study(TENANTS, [KEYLESS], {"kind": "rolling_restart", "consumers": 6})["strategies"][0]
    assert found["totals"]["skew"] == pytest.approx(1.25) and found["luck"]["suits"] == [6, 12, 18, 23]


def test_it_keeps_no_order_and_needs_partitions_as_any_of_kafka(study):
    result = study(TENANTS, [KEYLESS, KEYED], still(16))
    assert reasons(result)[KEYLESS] == ["keeps_order", "no_idle"]
    assert reasons(result, constraints={"keeps_order": False, "no_idle": False})[KEYLESS] == []


def test_each_consumer_has_its_partitions_so_a_slow_one_falls_behind_alone(study):
    """600 records a second over 4 consumers are 150 for each: one of 100 cannot, though all together take 700."""
    history = {"kind": "given", "start": 4, "changes": [{"kind": "slow", "consumer": "c2", "rate": 100}]}
    result = study(TENANTS, [KEYLESS], history, rate=600, consumer_rate=200)
    [entry] = rank(result, constraints={"keeps_order": False})
    assert entry["excluded"][0]["params"] | {"lag": None} == {
        "consumer": "c2", "gets": pytest.approx(150), "takes": 100, "count": 1, "lag": None,
    }  # fmt: skip


def test_a_timed_run_sends_no_keys_and_watches_their_order(study):
    few = [(f"user-{number}", 3) for number in range(4)]
    keyless, keyed = study(few, [KEYLESS, KEYED], still(3), rate=30, consumer_rate=11, is_timed=True)[
        "strategies"
    ]
    assert keyless["totals"]["order_at_risk"] > 0 == keyed["totals"]["order_at_risk"]
    # Four keys are in at most four partitions of 12; without them the producer goes through all.
    assert keyless["steps"][0]["lag_peak"] < keyed["steps"][0]["lag_peak"] / 2


def test_records_in_their_order_keep_their_sizes_and_lose_their_keys():
    given = SequenceWorkload(10, [b"a", b"b"], np.array([0, 1, -1]), np.array([5, 6, 7]), ends=True)
    plain = without_keys(given, 99)
    assert plain.key_codes(0, 3) == [-1, -1, -1] and [plain.size(index) for index in range(3)] == [5, 6, 7]
    assert given.key_codes(0, 3) == [0, 1, -1]
    drawn = without_keys(KeysWorkload(10, 7, "cases", [(b"a", 3)], 0), 99)
    assert drawn.key_codes(0, 5) == [-1] * 5 and drawn.arrival_us(4) == 500_000 and drawn.size(4) == 99


def test_a_run_without_keys_sticks_by_bytes_and_is_the_same_for_the_same_seed():
    """Small records: one partition for many of them, so one consumer has all of a short run; large ones go round."""
    steps = history_steps(history_check(still(3)))
    table = timetable(steps, 20, 10, 1_000)
    workload = KeysWorkload(table.rate, 7, "cases", [(b"a", 3), (b"b", 2)], 0)
    spec = strategy_parse(KEYLESS).lane_spec()
    small, again, large = (
        timed_run(spec, steps, table, workload, 7, keyless_size=size) for size in (10, 10, 8_000)
    )
    assert small == again
    # 32 KB are two batches: 20 records of 8 KB would be five partitions' worth.
    assert (
        len([held for held in small[0].weights.values() if held])
        < 3
        == len([held for held in large[0].weights.values() if held])
    )
