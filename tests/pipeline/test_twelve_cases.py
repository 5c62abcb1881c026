"""Twelve questions that people bring, each with the answer that experts give and why. docs/analyze/choosing.md tells
the reasoning; here the advice is held to it."""

import pytest

from broker_core.pipeline.feasible import feasibility
from broker_core.pipeline.recommend import rank, verdict
from tests.pipeline.pure_study import pure_study

RING, SPLIT, QUEUE = "pulsar.consistent_hash:points=100", "pulsar.auto_split", "rabbitmq.queue:prefetch=5"
MODULO = "tubemq.modulo:partitions=24,brokers=3"


def kafka(rule, partitions):
    return f"kafka.{rule}:partitions={partitions}"


def grown(start, joins):
    return {"kind": "given", "start": start, "changes": [{"kind": "join"}] * joins}


def still(consumers):
    return {"kind": "given", "start": consumers}


EVEN = [(f"user-{number}", 3) for number in range(4_000)]
TENANTS = [("acme", 3_300), ("globex", 2_500), *((f"shop-{number}", 14) for number in range(300))]


@pytest.fixture
def study(tmp_path):
    return lambda *args, **more: pure_study(tmp_path / "case", *args, **more)


def places(result, **asked):
    return {entry["id"]: entry for entry in rank(result, **asked)}


def reasons(entry):
    return [each["code"] for each in entry["excluded"]]


def test_1_two_tenants_have_most_of_the_records(study):
    """A multi-tenant topic keyed by tenant. No rule divides a tenant: split these keys or give them a topic,
    before anybody compares assignors."""
    result = study(TENANTS, [RING, SPLIT, kafka("sticky", 24), QUEUE], still(7))
    found = feasibility(result)
    assert found["level"] == "limited" and [key["key"] for key in found["hot"]] == ["acme", "globex"]
    assert found["of_use"] == pytest.approx(3.03, abs=0.01)
    assert all(
        strategy["totals"]["skew"] >= found["skew_least"] - 0.001
        for strategy in result["strategies"]
        if strategy["id"] != QUEUE
    )


def test_2_one_tenant_brings_more_than_a_consumer_takes(study):
    """The same topic at a rate: its lag grows for good, whatever is chosen, and the honest answer is none."""
    result = study(TENANTS, [RING, SPLIT, kafka("sticky", 24), QUEUE], still(7), rate=600, consumer_rate=180)
    assert feasibility(result)["level"] == "fails"
    ranked = rank(result)
    assert verdict(ranked)["code"] == "none" and verdict(ranked)["params"]["constraint"] == "keeps_up"
    free = places(result, constraints={"keeps_order": False})
    assert not free[QUEUE]["excluded"] and reasons(free[RING]) == ["keeps_up"], (
        "without order a queue serves it"
    )


def test_3_more_consumers_than_partitions(study):
    """Six partitions, sixteen consumers: ten are idle, so it is no second place. More partitions are the cure."""
    result = study(EVEN, [kafka("range", 6), kafka("range", 32), RING], still(16))
    found = places(result)
    assert found[kafka("range", 6)]["excluded"][0]["params"] == {
        "count": 10,
        "partitions": 6,
        "consumers": 16,
    }
    assert not found[kafka("range", 32)]["excluded"]
    few = next(each for each in result["strategies"] if each["id"] == kafka("range", 6))
    assert few["luck"]["suits"] and min(few["luck"]["suits"]) >= 16


def test_4_tasks_without_an_order(study):
    """Independent tasks, each with an id of its own: there is no order to keep, so a shared queue is the most
    even and moves nothing."""
    tasks = [(f"task-{number}", 1) for number in range(3_000)]
    ranked = rank(study(tasks, [RING, kafka("range", 12), QUEUE], grown(3, 3)))
    assert ranked[0]["id"] == QUEUE and ranked[0]["place"] == 1 and not ranked[0]["excluded"]


def test_5_orders_of_a_customer_must_not_overtake_one_another(study):
    """Events of one entity, some of it many: per-key order decides before anything else, and a queue with several
    consumers has none."""
    result = study(EVEN, [RING, kafka("cooperative-sticky", 24), QUEUE], still(6))
    found = places(result)
    assert reasons(found[QUEUE]) == ["keeps_order"] and found[QUEUE]["place"] is None
    assert not found[RING]["excluded"] and not found[kafka("cooperative-sticky", 24)]["excluded"]


def test_6_a_group_that_scales_while_its_consumers_hold_state(study):
    """Consumers with a cache or a store per key: what moves is rebuilt, so rules that move little lead, and
    those that share from scratch at each change (RoundRobin, modulo) are last."""
    kept, shuffled = [RING, kafka("cooperative-sticky", 24)], [kafka("roundrobin", 24), MODULO]
    weights = {"skew": 20, "churn": 80, "pause": 0, "order": 0}
    ranked = rank(study(EVEN, [*shuffled, *kept], grown(4, 6)), weights)
    assert {entry["id"] for entry in ranked[:2]} == set(kept)
    assert ranked[1]["score"] - ranked[2]["score"] > 20


def test_7_partitions_that_do_not_divide(study):
    """Twelve partitions over eight consumers: four have two, so the skew is a third too high with the evenest
    keys. The count is the cure, not the assignor."""
    result = study(EVEN, [kafka("sticky", 12), kafka("sticky", 48), kafka("range", 12)], still(8))
    found, skews = places(result), {each["id"]: each["totals"]["skew"] for each in result["strategies"]}
    assert skews[kafka("sticky", 12)] > 1.3 and skews[kafka("sticky", 48)] < 1.15
    assert found[kafka("sticky", 48)]["place"] == 1
    assert verdict(rank(result))["code"] in ("ahead", "luck")
    twelve = next(each for each in result["strategies"] if each["id"] == kafka("sticky", 12))
    assert all(count % 8 in (0, 7) for count in twelve["luck"]["suits"])


def test_8_a_ring_with_too_few_points(study):
    """One point a consumer leaves arcs of any length; a hundred even them out. With many light keys that is the
    whole difference."""
    points = [f"pulsar.consistent_hash:points={count}" for count in (1, 10, 100)]
    result = study(EVEN, points, still(8))
    skews = [each["totals"]["skew"] for each in result["strategies"]]
    assert skews[0] > skews[1] > skews[2] and skews[0] > 1.8 and skews[2] < 1.4
    assert rank(result)[0]["id"] == points[2]
    bands = [each["luck"]["high"] - each["luck"]["low"] for each in result["strategies"]]
    assert bands[0] > bands[1] > bands[2]


def test_9_three_big_customers_and_two_consumers(study):
    """Two of three equal keys must share a consumer: a finer key or a third consumer, not another rule."""
    three = [("a", 1_000), ("b", 1_000), ("c", 1_000)]
    found = feasibility(study(three, [RING, kafka("sticky", 24)], still(2)))
    assert [each["code"] for each in found["said"]] == ["few"]
    assert found["skew_least"] == pytest.approx(4 / 3, abs=0.001)
    assert feasibility(study(three, [RING], still(3)))["said"][0]["code"] == "fits"


def test_10_too_few_consumers_for_the_rate(study):
    """1,000 records a second, 100 a consumer: eight cannot, ten are needed. No order, no rule changes that."""
    result = study(EVEN, [RING, kafka("sticky", 24), QUEUE], still(8), rate=1_000, consumer_rate=100)
    [said] = [each for each in feasibility(result)["said"] if each["code"] == "too_few"]
    assert said["params"]["least"] == 10
    ranked = rank(result, constraints={"keeps_order": False})
    assert all("keeps_up" in reasons(entry) for entry in ranked)


def test_11_two_that_differ_by_the_draw_are_tied(study):
    """A few heavy keys on two rings of the same kind, and on partition counts next to each other: what is ahead today
    is behind with other names or one partition more. Experts choose by churn and operations, not by that."""
    zipf = [(f"key-{number}", 20_000 // number) for number in range(1, 500)]
    result = study(zipf, [RING, "pulsar.consistent_hash_current:points=100", kafka("range", 24)], still(8))
    ranked = rank(result, {"skew": 100, "churn": 0, "pause": 0, "order": 0})
    assert all(entry["is_best"] for entry in ranked)
    assert verdict(ranked)["code"] in ("luck", "tied", "level")
    found = next(each for each in result["strategies"] if each["id"] == kafka("range", 24))["luck"]
    assert found["high"] - found["low"] > 0.5


def test_12_a_rolling_restart_with_a_promise_on_waiting(study):
    """Each consumer leaves and comes back, and records shall not wait longer than a second. What counts is what waits,
    not that a partition of Kafka has no owner for two seconds: few records arrive in them. Pulsar and a queue hand
    on at once; of TubeMQ's clients all stop at each change."""
    few = [(f"user-{number}", 3) for number in range(200)]
    chosen = [SPLIT, QUEUE, MODULO, kafka("range", 12)]
    history = {"kind": "rolling_restart", "consumers": 3}
    result = study(few, chosen, history, is_timed=True, rate=30, consumer_rate=40)
    found = places(result, constraints={"keeps_order": False, "wait_s_max": 1})
    assert [name for name in chosen if found[name]["excluded"]] == [MODULO]
    assert reasons(found[MODULO]) == ["wait_s_max"]
    assert found[MODULO]["excluded"][0]["params"]["value"] > 0.01
    paused = next(each for each in result["strategies"] if each["id"] == kafka("range", 12))["totals"]
    assert paused["pause_longest_s"] > 1, "a bound of the pause would have excluded it"


def test_a_shared_subscription_is_as_even_as_a_queue_and_keeps_no_order(study):
    """What its lane measures is its own: Key_Shared holds keys back, Shared does not."""
    few = [(f"user-{number}", 3) for number in range(20)]
    result = study(few, ["pulsar.shared", SPLIT], still(3), rate=30, consumer_rate=20, is_timed=True)
    shared, split = (each["totals"] for each in result["strategies"])
    assert shared["skew"] == 1.0 and shared["order_at_risk"] > 0 == split["order_at_risk"]
    assert reasons(places(result)["pulsar.shared"]) == ["keeps_order"]
    assert result["strategies"][0]["luck"] is None


def test_a_slow_consumer_holds_up_its_keys_and_not_those_of_others(study):
    """`c2~5`: under a rule with owners its keys wait; a queue gives it less."""
    few = [(f"user-{number}", 3) for number in range(200)]
    history = {"kind": "given", "start": 3, "changes": [{"kind": "slow", "consumer": "c2", "rate": 2}]}
    result = study(few, [SPLIT, QUEUE], history, rate=30, consumer_rate=25, is_timed=True)
    found = places(result, constraints={"keeps_order": False})
    assert [step["label"] for step in result["steps"]] == ["3", "c2~2"]
    assert reasons(found[SPLIT]) == ["keeps_up"] and found[SPLIT]["excluded"][0]["params"]["consumer"] == "c2"
    assert not found[QUEUE]["excluded"]
    split, queue = (each["totals"] for each in result["strategies"])
    assert split["undrained"] == 1 and split["lag_peak"] > 5 * queue["lag_peak"]
    assert split["churn"] == 0, "nobody comes or goes"


def test_work_of_a_slow_consumer_is_not_waiting(study):
    """With consumers to spare each record has one at once, however long that one works on it."""
    few = [(f"user-{number}", 3) for number in range(200)]
    history = {"kind": "given", "start": 8, "changes": [{"kind": "slow", "consumer": "c2", "rate": 22}]}
    one_each = "rabbitmq.queue:prefetch=1"
    result = study(few, [one_each], history, rate=5_000, consumer_rate=3_000, is_timed=True)
    assert sum(result["strategies"][0]["waits"]) <= 1, "one may be in its hand when the run ends"
