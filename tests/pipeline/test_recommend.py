"""The ranking: what scores mean, that weights decide, and that the reason names the term that decides."""

from itertools import pairwise

import pytest
from hypothesis import given
from hypothesis import strategies as st

from broker_core.errors import CommandError
from broker_core.pipeline.members import history_check, history_steps
from broker_core.pipeline.originals import config_lines
from broker_core.pipeline.recommend import WEIGHTS, rank, weights_check
from broker_core.pipeline.strategies import FAMILIES, strategies_offered, strategy_parse


def strategy(name, skew, churn, waited, order, moves=(0.2, 0.3)):
    totals = {
        "skew": skew, "churn": churn, "waited_share": waited, "order_share": order, "order_at_risk": 7, "pause_partition_s": 12.5,
        "pause_longest_s": 3.0,
    }  # fmt: skip
    steps = [{"step": 0, "keys_moved_share": None}, *({"step": n, "keys_moved_share": share} for n, share in enumerate(moves, 1))]
    return {"id": name, "totals": totals, "steps": steps}


def result(*strategies):
    return {"strategies": list(strategies), "steps": [{"label": "4"}, {"label": "+c5"}, {"label": "+c6"}], "churn_least": 0.37}


RING = strategy("ring", 1.18, 1.84, 0.0, 0.0)
QUEUE = strategy("queue", 1.0, None, 0.0, 0.0013)
ROUND_ROBIN = strategy("roundrobin", 1.18, 9.34, 0.02, 0.0, moves=(0.67, 0.92))
MODULO = strategy("modulo", 1.84, 8.84, 0.05, 0.0)


def test_the_ideal_scores_100_in_each_term_and_the_worst_of_the_study_0():
    ranked = {entry["id"]: entry for entry in rank(result(RING, QUEUE, ROUND_ROBIN, MODULO))}
    assert ranked["queue"]["terms"] == {"skew": 100, "churn": 100, "pause": 100, "order": 0}
    assert ranked["modulo"]["terms"]["skew"] == ranked["modulo"]["terms"]["pause"] == 0
    assert ranked["roundrobin"]["terms"]["churn"] == 0
    ring = ranked["ring"]["terms"]
    assert ring["skew"] == pytest.approx(100 * (1 - 0.18 / 0.84), abs=0.05) and ring["churn"] == pytest.approx(100 * (1 - 1.84 / 9.34), abs=0.05)
    assert ranked["ring"]["score"] == pytest.approx(0.3 * ring["skew"] + 0.3 * ring["churn"] + 20 + 20, abs=0.1)


def test_reasons_name_what_costs_most_points_and_what_is_done_best():
    study = result(RING, QUEUE, ROUND_ROBIN, MODULO)
    ranked = rank(study, WEIGHTS)
    assert [entry["id"] for entry in ranked] == ["ring", "queue", "roundrobin", "modulo"]
    why = {entry["id"]: entry["why"] for entry in ranked}
    ring = {"term": "skew", "points": 6.4, "value": 1.18}, {"term": "churn", "points": 5.9, "value": 1.84}
    assert why["ring"][0] == {"code": "lost", "params": {"parts": list(ring)}}
    assert why["ring"][1] == {"code": "best", "params": {"term": "churn", "value": 1.84, "other": 8.84, "than": "modulo", "is_shared": False}}
    assert why["queue"][0]["params"]["parts"] == [{"term": "order", "points": 20.0, "value": 0.0013, "is_owned": False}]
    assert why["queue"][1] == {"code": "best", "params": {"term": "churn", "value": None, "other": 1.84, "than": "ring", "is_shared": False}}
    churn = {"term": "churn", "points": 30.0, "value": 9.34, "step": "+c6", "step_share": 0.92}
    assert why["roundrobin"][0]["params"]["parts"][0] == churn
    assert [(part["term"], part["points"]) for part in why["roundrobin"][0]["params"]["parts"]] == [("churn", 30.0), ("pause", 8.0)]
    assert [part["term"] for part in why["modulo"][0]["params"]["parts"]] == ["skew", "churn", "pause"]
    assert rank(study, WEIGHTS | {"order": 0})[0]["why"][0] == {"code": "lost.none", "params": {}}


def test_a_term_without_weight_gives_no_reason_and_one_that_all_share_is_nobodys_merit():
    study = result(strategy("a", 1.2, 1.0, 0.1, 0.0), strategy("b", 2.0, 2.0, 0.2, 0.0), strategy("c", 3.0, 1.5, 0.05, 0.0))
    told = {entry["id"]: entry["why"] for entry in rank(study, WEIGHTS | {"churn": 0})}
    assert {part["term"] for why in told.values() for part in why[0]["params"]["parts"]} == {"skew", "pause"}
    assert [told[name][1]["params"]["term"] for name in "ac"] == ["skew", "pause"] and len(told["b"]) == 1
    first, last = strategy("first", 1.0, 0.0, 0.0, 0.0), strategy("last", 3.0, 4.0, 0.2, 0.0)
    between = rank(result(first, strategy("between", 2.0, 2.0, 0.01, 0.0), last))[1]["why"]
    assert [part["term"] for part in between[0]["params"]["parts"]] == ["skew", "churn"]
    assert between[1] == {"code": "near", "params": {"term": "pause", "value": 0.01, "other": 0.0, "than": "first"}}


def test_scores_that_read_the_same_are_told_apart_by_what_would_decide():
    """One is more even, the other moves less: nobody fits best."""
    worst = strategy("worst", 3.0, 4.0, 0.1, 0.0)
    ranked = rank(result(strategy("even", 1.0, 2.0, 0.0, 0.0), strategy("calm", 2.0, 0.0, 0.0, 0.0), worst))
    assert [entry["score"] for entry in ranked[:2]] == [85, 85]
    assert ranked[0]["why"][0] == {
        "code": "tied.differs",
        "params": {
            "than": "calm", "ahead": {"term": "skew", "value": 1.0, "other": 2.0}, "behind": {"term": "churn", "value": 2.0, "other": 0.0},
        },
    }  # fmt: skip
    assert [entry["why"][0]["code"] for entry in ranked] == ["tied.differs", "tied.differs", "lost"]
    close = rank(result(strategy("a", 1.0, 2.0, 0.0, 0.0), strategy("b", 1.01, 2.0, 0.0, 0.0), worst))
    assert [entry["why"][0]["code"] for entry in close] == ["tied.ahead", "tied.behind", "lost"]


def test_small_differences_do_not_make_a_worst_one():
    close = rank(result(strategy("a", 1.01, 0.4, 0.0, 0.0), strategy("b", 1.02, 0.4, 0.0, 0.0)))
    assert close[1]["terms"]["skew"] > 95 and close[1]["score"] > 60


def test_one_strategy_has_no_other_and_twins_are_equal():
    assert rank(result(RING))[0]["why"] == [{"code": "only", "params": {}}]
    twins = rank(result(RING, strategy("twin", 1.18, 1.84, 0.0, 0.0)))
    assert [entry["why"][0] for entry in twins] == [{"code": "equal", "params": {"than": name}} for name in ("twin", "ring")]
    assert rank(result()) == []


STRATEGY = st.builds(
    strategy, st.uuids().map(str), st.floats(1, 8), st.none() | st.floats(0, 20), st.none() | st.floats(0, 1), st.none() | st.floats(0, 1)
)


@given(st.lists(STRATEGY, min_size=1, max_size=8), st.fixed_dictionaries({name: st.integers(0, 100) for name in WEIGHTS}))
def test_scores_stay_in_bounds_and_descend_and_a_better_strategy_never_stands_behind(strategies, weights):
    if not any(weights.values()):
        return
    ranked = rank(result(*strategies), weights)
    scores = [entry["score"] for entry in ranked]
    assert scores == sorted(scores, reverse=True) and all(0 <= score <= 100 for score in scores)
    place = {entry["id"]: number for number, entry in enumerate(ranked)}
    for one in strategies:
        for other in strategies:
            pairs = [(one["totals"][name] or 0, other["totals"][name] or 0) for name in ("skew", "churn", "waited_share", "order_share")]
            if all(mine <= theirs for mine, theirs in pairs) and place[one["id"]] > place[other["id"]]:
                assert ranked[place[one["id"]]]["score"] == ranked[place[other["id"]]]["score"]


def test_weights_that_cannot_be_are_refused_at_their_field():
    assert weights_check(None) == dict(WEIGHTS)
    for raw, field in (([], "weights"), ({"speed": 1}, "weights.speed"), ({"skew": 101}, "weights.skew"), ({"skew": True}, "weights.skew"),
                       (dict.fromkeys(WEIGHTS, 0), "weights")):  # fmt: skip
        with pytest.raises(CommandError) as refused:
            weights_check(raw)
        assert refused.value.field == field
    with pytest.raises(CommandError, match="something must matter"):
        rank(result(RING, QUEUE), dict.fromkeys(WEIGHTS, 0))
    assert rank(result(RING, QUEUE), {}) == rank(result(RING, QUEUE), WEIGHTS)


# -- lines for the original ------------------------------------------------------------------------------------------------------------

STEPS = history_steps(history_check({"kind": "given", "start": 3}))


def lines(text):
    chosen = strategy_parse(text)
    return [line for part in config_lines(chosen, chosen.routes(STEPS)[0]) for line in part["lines"]]


def test_every_strategy_that_an_original_has_comes_with_its_lines_and_no_other():
    for offer in strategies_offered():
        family = FAMILIES[f"{offer['model']}.{offer['algorithm']}"]
        assert bool(lines(family.id)) is not offer["document"], family.id


def test_the_lines_carry_the_parameters_under_the_originals_names():
    assert "subscriptionKeySharedConsistentHashingReplicaPoints=250" in lines("pulsar.consistent_hash:points=250")
    assert "subscriptionKeySharedUseConsistentHashing=false" in lines("pulsar.auto_split")
    kafka = lines("kafka.cooperative-sticky:partitions=24")
    assert "partition.assignment.strategy=org.apache.kafka.clients.consumer.CooperativeStickyAssignor" in kafka
    assert kafka[-1].endswith("--partitions 24")
    assert lines("rabbitmq.queue:prefetch=9")[0].startswith("channel.basicQos(9);")
    tubemq = lines("tubemq.modulo:partitions=12,brokers=4")
    assert tubemq[0].startswith("numPartitions=3 ") and ", 3, nodeId" in tubemq[1]


def test_sticky_ranges_hold_both_ends_and_tile_the_slots():
    ranges = [line for line in lines("pulsar.sticky") if "Range.of" in line]
    bounds = sorted(tuple(map(int, part.split(")")[0].split(", "))) for line in ranges for part in line.split("Range.of(")[1:])
    assert len(ranges) == 3 and bounds[0][0] == 0 and bounds[-1][1] == 65_535
    assert all(end + 1 == start for (_, end), (start, _) in pairwise(bounds))
