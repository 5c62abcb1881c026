"""The ranking: what scores mean, what excludes, that weights decide, how sure it is, and that the reason
names the term that decides."""

from itertools import pairwise

import pytest
from hypothesis import given
from hypothesis import strategies as st

from broker_core.analysis.waiting import WAIT_S_MAX
from broker_core.errors import CommandError
from broker_core.pipeline.constraints import CONSTRAINTS, constraints_check, constraints_resolve
from broker_core.pipeline.members import history_check, history_steps
from broker_core.pipeline.originals import config_lines
from broker_core.pipeline.recommend import TIE_POINTS, WEIGHTS, rank, verdict, weights_check
from broker_core.pipeline.strategies import FAMILIES, strategies_offered, strategy_parse
from broker_core.pipeline.study_request import study_check


def strategy(name, skew, churn, waited, order, moves=(0.2, 0.3), waits=(900, 300, 80), luck=None):
    """waits: of 10,000 records, how many waited longer than 1, 2, 3 s."""
    totals = {
        "skew": skew,
        "churn": churn,
        "waited_share": waited,
        "order_share": order,
        "order_at_risk": 10_000 * order if order else order,
        "pause_partition_s": 12.5,
        "timed_records": 10_000,
    }
    consumers = {name: {"keys": None if churn is None else 5} for name in ("c1", "c2")}
    steps = [
        {"step": 0, "keys_moved_share": None},
        *({"step": n, "keys_moved_share": share} for n, share in enumerate(moves, 1)),
    ]
    known = {"waits": list(waits), "luck": luck}
    return {
        "id": name,
        "totals": totals,
        **known,
        "steps": [step | {"consumers": consumers} for step in steps],
    }


def result(*strategies, keys=10_000):
    """Two changes, 10,000 records: with as many keys none repeats."""
    workload = {"records": 10_000, "no_key": 0, "keys": keys}
    return {
        "strategies": list(strategies),
        "steps": [{"label": "4"}, {"label": "+c5"}, {"label": "+c6"}],
        "churn_least": 0.37,
        "workload": workload,
    }


RING = strategy("ring", 1.18, 0.46, 0.0, 0.0, waits=())
QUEUE = strategy("queue", 1.0, None, 0.0, 0.0973, waits=())
ROUND_ROBIN = strategy(
    "roundrobin", 1.18, 1.59, 0.02, 0.0, moves=(0.67, 0.92), waits=(900, 400, 250, 200, 150)
)
MODULO = strategy("modulo", 1.84, 1.5, 0.05, 0.0)
ALL = (RING, QUEUE, ROUND_ROBIN, MODULO)
FREE = {"keeps_order": False}


def test_scores_stand_on_scales_that_know_no_other_strategy():
    """A figure is worth the same alone, beside a worse one, beside a better one."""
    alone = {
        entry["id"]: (entry["score"], entry["terms"])
        for one in ALL
        for entry in rank(result(one), constraints=FREE)
    }
    assert {
        entry["id"]: (entry["score"], entry["terms"]) for entry in rank(result(*ALL), constraints=FREE)
    } == alone
    assert alone["queue"][1] == {
        "skew": 100,
        "churn": 100,
        "pause": 100,
        "order": pytest.approx(25.3, abs=0.05),
    }
    assert alone["ring"][1]["churn"] == 77 and alone["roundrobin"][1]["skew"] == alone["ring"][1][
        "skew"
    ] == pytest.approx(88.1, abs=0.05)


def test_forty_per_cent_at_risk_costs_more_than_a_fifth_of_one():
    """The old scale gave 0 to the study's worst figure, whatever it was."""
    little, much = (
        rank(result(strategy("s", 1.0, 0.0, 0.0, share)), constraints=FREE)[0] for share in (0.002, 0.4)
    )
    assert (little["score"], much["score"]) == (93.4, 82.0)


# -- what must hold ------------------------------------------------------------------------------------------


def test_order_must_hold_where_keys_repeat_and_whoever_breaks_it_stands_last_without_a_place():
    ranked = rank(result(*ALL, keys=500))
    assert [(entry["id"], entry["place"]) for entry in ranked] == [
        ("ring", 1),
        ("roundrobin", 2),
        ("modulo", 3),
        ("queue", None),
    ]
    queue = ranked[-1]
    broken = [{"code": "keeps_order", "params": {"count": 973, "value": 0.0973, "is_owned": False}}]
    assert (queue["score"], queue["is_best"], queue["excluded"]) == (None, False, broken)
    assert (
        queue["why"] == [{"code": "excluded", "params": {"broken": broken}}] and queue["terms"]["skew"] == 100
    )
    assert all("queue" not in str(entry["why"]) for entry in ranked[:-1]), (
        "who is excluded is compared with nobody"
    )
    for study, constraints in ((result(*ALL, keys=10_000), None), (result(*ALL, keys=500), FREE)):
        assert [entry["id"] for entry in rank(study, constraints=constraints)[:2]] == ["ring", "queue"], (
            "no key repeats, or no order is asked for"
        )


def test_a_queue_is_no_guarantee_of_order_even_if_none_was_at_risk():
    lucky = strategy("queue", 1.0, None, 0.0, 0.0)
    assert rank(result(lucky, keys=500))[0]["excluded"][0]["params"] == {
        "count": 0,
        "value": 0.0,
        "is_owned": False,
    }
    for step in lucky["steps"]:
        step["consumers"] = {"c1": {"keys": None}}
    assert not rank(result(lucky, keys=500))[0]["excluded"], "one consumer keeps the order of all"


def test_bounds_exclude_with_the_figure_and_the_limit():
    ranked = rank(result(*ALL), constraints={"keeps_order": False, "wait_s_max": 4, "skew_max": 1.5})
    assert [entry["id"] for entry in ranked if not entry["excluded"]] == ["ring", "queue"]
    broken = {entry["id"]: entry["excluded"] for entry in ranked}
    assert broken["roundrobin"] == [
        {"code": "wait_s_max", "params": {"value": 0.02, "seconds": 4, "limit": 1}}
    ]
    assert broken["modulo"] == [{"code": "skew_max", "params": {"value": 1.84, "limit": 1.5}}]
    exactly = rank(
        result(*ALL),
        constraints={"keeps_order": False, "wait_s_max": 4, "wait_percent_max": 2, "skew_max": 1.84},
    )
    assert not any(entry["excluded"] for entry in exactly), "the limit itself is allowed"


def test_where_nothing_is_left_it_is_said_which_constraint_excludes_most():
    ranked = rank(result(*ALL, keys=500), constraints={"skew_max": 1.1, "wait_s_max": 1})
    assert all(entry["excluded"] for entry in ranked) and not any(entry["is_best"] for entry in ranked)
    assert verdict(ranked) == {
        "code": "none",
        "params": {"constraint": "skew_max", "excluded": 3, "count": 4},
    }


def test_constraints_that_cannot_be_are_refused_at_their_field():
    assert constraints_check(None) == dict(CONSTRAINTS)
    assert constraints_check(constraints_check({"skew_max": 2})) == constraints_check({"skew_max": 2})
    for raw, field in (
        ([], "constraints"),
        ({"speed": 1}, "constraints.speed"),
        ({"keeps_order": 1}, "constraints.keeps_order"),
        ({"keeps_up": "yes"}, "constraints.keeps_up"),
        ({"no_idle": 0}, "constraints.no_idle"),
        ({"drain_s_max": -1}, "constraints.drain_s_max"),
        ({"skew_max": 0.9}, "constraints.skew_max"),
        ({"skew_max": True}, "constraints.skew_max"),
        ({"wait_s_max": 0}, "constraints.wait_s_max"),
        ({"wait_s_max": 1.5}, "constraints.wait_s_max"),
        ({"wait_s_max": float("nan")}, "constraints.wait_s_max"),
        ({"wait_s_max": 10**400}, "constraints.wait_s_max"),
        ({"wait_s_max": "5"}, "constraints.wait_s_max"),
        ({"wait_percent_max": 101}, "constraints.wait_percent_max"),
    ):
        with pytest.raises(CommandError) as refused:
            constraints_check(raw)
        assert refused.value.field == field


def test_a_result_stored_before_there_were_constraints_is_ranked():
    request = study_check({"source": {"kind": "zipf", "keys": 5, "records": 9, "exponent": 1, "seed": 1}})
    assert request["constraints"] == constraints_check(None) and study_check(request) == request
    assert constraints_resolve(result(RING, keys=500), {})["keeps_order"] is True
    older = {"keeps_order": False, "pause_s_max": 5, "skew_max": None}
    assert constraints_check(older) == dict(CONSTRAINTS) | {"keeps_order": False, "wait_s_max": 5}
    assert constraints_check({"pause_s_max": None}) == dict(CONSTRAINTS)
    assert constraints_check({"pause_s_max": float("inf")})["wait_s_max"] == WAIT_S_MAX
    with pytest.raises(CommandError):
        constraints_check({"pause_s_max": "5"})


# -- how sure ------------------------------------------------------------------------------------------------


def test_who_is_ahead_by_no_more_than_a_sample_can_move_is_tied():
    first = strategy("first", 1.0, 0.0, 0.0, 0.0)
    two, far = strategy("two", 1.0, 0.1, 0.0, 0.0), strategy("far", 1.0, 0.4, 0.0, 0.0)
    ranked = rank(result(first, two, far))
    assert [(entry["score"], entry["is_best"]) for entry in ranked] == [
        (100, True),
        (98.5, True),
        (94, False),
    ]
    assert verdict(ranked) == {
        "code": "tied",
        "params": {"id": "first", "than": "two", "points": 1.5, "margin": TIE_POINTS},
    }
    assert verdict(rank(result(first, far))) == {
        "code": "ahead",
        "params": {"id": "first", "than": "far", "points": 6.0, "margin": TIE_POINTS},
    }
    assert verdict(rank(result(first, strategy("twin", 1.0, 0.0, 0.0, 0.0))))["code"] == "level"
    assert verdict(rank(result(first, QUEUE, keys=500))) == {
        "code": "only",
        "params": {"id": "first", "count": 2},
    }
    assert verdict(rank(result())) is None


def test_reasons_name_what_costs_most_points_and_what_is_done_best():
    study = result(*ALL)
    ranked = rank(study, WEIGHTS)
    assert [entry["id"] for entry in ranked] == ["ring", "queue", "roundrobin", "modulo"]
    why = {entry["id"]: entry["why"] for entry in ranked}
    assert why["ring"][0]["params"]["parts"][0] == {
        "term": "churn",
        "points": 6.9,
        "value": 0.46,
        "step": "+c6",
        "step_share": 0.3,
    }
    assert [part["term"] for part in why["ring"][0]["params"]["parts"]] == ["churn", "skew"]
    assert why["queue"][0]["params"]["parts"] == [
        {"term": "order", "points": 14.9, "value": 0.0973, "is_owned": False}
    ]
    assert why["queue"][1] == {
        "code": "best",
        "params": {"term": "churn", "value": None, "other": 0.46, "than": "ring", "is_shared": False},
    }
    churn = {"term": "churn", "points": 23.9, "value": 1.59, "step": "+c6", "step_share": 0.92}
    assert why["roundrobin"][0]["params"]["parts"][0] == churn
    assert [part["term"] for part in why["modulo"][0]["params"]["parts"]] == ["churn", "skew"]
    assert rank(study, WEIGHTS | {"order": 0})[0]["why"][0] == {"code": "lost.none", "params": {}}


def test_a_term_without_weight_gives_no_reason_and_one_that_all_share_is_nobodys_merit():
    study = result(
        strategy("a", 1.2, 1.0, 0.1, 0.0),
        strategy("b", 2.0, 2.0, 0.2, 0.0),
        strategy("c", 3.0, 1.5, 0.05, 0.0),
    )
    told = {entry["id"]: entry["why"] for entry in rank(study, WEIGHTS | {"churn": 0})}
    assert {part["term"] for why in told.values() for part in why[0]["params"]["parts"]} == {"skew", "pause"}
    assert [told[name][1]["params"]["term"] for name in "ac"] == ["skew", "pause"] and len(told["b"]) == 1


def test_what_is_better_than_the_mean_and_not_lost_is_told_where_nothing_is_best():
    first, last = strategy("first", 1.0, 0.0, 0.0, 0.0), strategy("last", 3.0, 2.0, 0.2, 0.0)
    between = rank(result(first, strategy("between", 2.0, 1.4, 0.0005, 0.0), last))[1]["why"]
    assert [part["term"] for part in between[0]["params"]["parts"]] == ["churn", "skew"]
    assert between[1] == {
        "code": "near",
        "params": {"term": "pause", "value": 0.0005, "other": 0.0, "than": "first"},
    }


def test_scores_that_read_the_same_are_told_apart_by_what_would_decide():
    """One is more even, the other moves less: nobody fits best."""
    worst = strategy("worst", 3.0, 2.0, 0.1, 0.0)
    ranked = rank(result(strategy("even", 1.0, 1.0, 0.0, 0.0), strategy("calm", 2.0, 0.0, 0.0, 0.0), worst))
    assert [entry["score"] for entry in ranked[:2]] == [85, 85]
    assert ranked[0]["why"][0] == {
        "code": "tied.differs",
        "params": {
            "than": "calm",
            "ahead": {"term": "skew", "value": 1.0, "other": 2.0},
            "behind": {"term": "churn", "value": 1.0, "other": 0.0},
        },
    }
    assert [entry["why"][0]["code"] for entry in ranked] == ["tied.differs", "tied.differs", "lost"]
    close = rank(result(strategy("a", 1.0, 1.0, 0.0, 0.0), strategy("b", 1.01, 1.0, 0.0, 0.0), worst))
    assert [entry["why"][0]["code"] for entry in close] == ["tied.ahead", "tied.behind", "lost"]


def test_one_strategy_has_no_other_and_twins_are_equal():
    assert rank(result(RING))[0]["why"] == [{"code": "only", "params": {}}]
    assert rank(result(RING, QUEUE, keys=500))[0]["why"] == [{"code": "only.left", "params": {}}]
    twins = rank(result(RING, strategy("twin", 1.18, 0.46, 0.0, 0.0)))
    assert [entry["why"][0] for entry in twins] == [
        {"code": "equal", "params": {"than": name}} for name in ("twin", "ring")
    ]
    assert rank(result()) == []


STRATEGY = st.builds(
    strategy,
    st.uuids().map(str),
    st.floats(1, 8),
    st.none() | st.floats(0, 2),
    st.none() | st.floats(0, 1),
    st.none() | st.floats(0, 1),
)
BOUND = st.none() | st.floats(1, 8)


@given(
    st.lists(STRATEGY, min_size=1, max_size=8),
    st.fixed_dictionaries({name: st.integers(0, 100) for name in WEIGHTS}),
    st.fixed_dictionaries(
        {
            "keeps_order": st.sampled_from([None, True, False]),
            "wait_s_max": st.none() | st.integers(1, 8),
            "skew_max": BOUND,
        }
    ),
    st.sampled_from([500, 10_000]),
)
def test_a_better_strategy_never_stands_behind_and_who_is_excluded_stands_last(
    strategies, weights, constraints, keys
):
    if not any(weights.values()):
        return
    ranked = rank(result(*strategies, keys=keys), weights, constraints)
    assert sorted(entry["id"] for entry in ranked) == sorted(one["id"] for one in strategies)
    kept = [entry for entry in ranked if not entry["excluded"]]
    scores = [entry["score"] for entry in kept]
    assert ranked[: len(kept)] == kept and [entry["place"] for entry in kept] == list(range(1, len(kept) + 1))
    assert scores == sorted(scores, reverse=True) and all(0 <= score <= 100 for score in scores)
    place = {entry["id"]: number for number, entry in enumerate(kept)}
    for one in strategies:
        for other in strategies:
            if one["id"] not in place or other["id"] not in place:
                continue
            pairs = [
                (one["totals"][name] or 0, other["totals"][name] or 0)
                for name in ("skew", "churn", "waited_share", "order_share")
            ]
            if all(mine <= theirs for mine, theirs in pairs) and place[one["id"]] > place[other["id"]]:
                assert kept[place[one["id"]]]["score"] == kept[place[other["id"]]]["score"]
    assert (verdict(ranked)["code"] == "none") is not bool(kept)


def test_weights_that_cannot_be_are_refused_at_their_field():
    assert weights_check(None) == dict(WEIGHTS)
    for raw, field in (
        ([], "weights"),
        ({"speed": 1}, "weights.speed"),
        ({"skew": 101}, "weights.skew"),
        ({"skew": True}, "weights.skew"),
        (dict.fromkeys(WEIGHTS, 0), "weights"),
    ):
        with pytest.raises(CommandError) as refused:
            weights_check(raw)
        assert refused.value.field == field
    with pytest.raises(CommandError, match="at least one weight must be above 0"):
        rank(result(RING, QUEUE), dict.fromkeys(WEIGHTS, 0))
    assert rank(result(RING, QUEUE), {}) == rank(result(RING, QUEUE), WEIGHTS)


# -- lines for the original ----------------------------------------------------------------------------------

STEPS = history_steps(history_check({"kind": "given", "start": 3}))


def lines(text):
    chosen = strategy_parse(text)
    return [line for part in config_lines(chosen, chosen.routes(STEPS)[0]) for line in part["lines"]]


def test_every_strategy_that_an_original_has_comes_with_its_lines_and_no_other():
    for offer in strategies_offered():
        family = FAMILIES[f"{offer['model']}.{offer['algorithm']}"]
        assert bool(lines(family.id)) is not offer["document"], family.id


def test_the_lines_carry_the_parameters_under_the_originals_names():
    assert "subscriptionKeySharedConsistentHashingReplicaPoints=250" in lines(
        "pulsar.consistent_hash:points=250"
    )
    for ring in ("pulsar.consistent_hash", "pulsar.consistent_hash_current"):
        assert [line for line in lines(ring) if "consumerName" in line] == [
            f'.consumerName("c{number}")' for number in (1, 2, 3)
        ]
    assert "session.timeout.ms=45000" in lines("kafka.range")
    assert "subscriptionKeySharedUseConsistentHashing=false" in lines("pulsar.auto_split")
    kafka = lines("kafka.cooperative-sticky:partitions=24")
    assert (
        "partition.assignment.strategy=org.apache.kafka.clients.consumer.CooperativeStickyAssignor" in kafka
    )
    assert kafka[-1].endswith("--partitions 24")
    assert lines("rabbitmq.queue:prefetch=9")[0].startswith("channel.basicQos(9);")
    tubemq = lines("tubemq.modulo:partitions=12,brokers=4")
    assert tubemq[0].startswith("numPartitions=3 ") and ", 3, nodeId" in tubemq[1]


def test_sticky_ranges_hold_both_ends_and_tile_the_slots():
    ranges = [line for line in lines("pulsar.sticky") if "Range.of" in line]
    bounds = sorted(
        tuple(map(int, part.split(")")[0].split(", ")))
        for line in ranges
        for part in line.split("Range.of(")[1:]
    )
    assert len(ranges) == 3 and bounds[0][0] == 0 and bounds[-1][1] == 65_535
    assert all(end + 1 == start for (_, end), (start, _) in pairwise(bounds))


def test_who_leaves_four_times_as_much_in_the_dark_is_not_level_with_who_hands_it_on():
    """A crash storm: one hands a crashed consumer's partitions on and moves keys for it, the other leaves
    them dark and moves none."""
    handed_on, kept = strategy("handed on", 1.75, 1.52, 0.043, 0.0), strategy("kept", 1.75, 0.0, 0.165, 0.0)
    terms = {entry["id"]: entry["terms"] for entry in rank(result(handed_on, kept), WEIGHTS)}
    assert terms["handed on"]["pause"] - terms["kept"]["pause"] > 30
    assert [entry["id"] for entry in rank(result(handed_on, kept), WEIGHTS | {"churn": 10, "pause": 40})] == [
        "handed on",
        "kept",
    ]
