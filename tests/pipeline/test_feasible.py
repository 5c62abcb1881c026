"""What is said before any ranking: the bound that the keys set, rates that no strategy can serve, and which
strategies cannot keep up or leave consumers idle."""

import itertools

import pytest
from hypothesis import given
from hypothesis import strategies as st

from broker_core.pipeline.capacity import is_stated, overload, takes_of
from broker_core.pipeline.constraints import idle_consumers
from broker_core.pipeline.feasible import feasibility, least_share
from broker_core.pipeline.recommend import rank
from tests.pipeline.test_recommend import FREE, result, strategy


def study(shares, members=(7,), service=None, at=None):
    """A result with these hot keys; members: how many after each change."""
    steps = [{"members": [f"c{n}" for n in range(count)], "label": str(count)} for count in members]
    if at is not None:
        steps[1]["at"] = at
    keys = [{"key": f"k{place}", "share": share} for place, share in enumerate(shares)]
    asked = {} if service is None else {"request": {"service": service}}
    return {"steps": steps, "hot_keys": keys, **asked}


# -- what the keys allow -------------------------------------------------------------------------------------


def test_two_hot_keys_leave_three_of_seven_consumers_of_use():
    found = feasibility(study([0.33, 0.25, 0.01]))
    assert (found["level"], found["consumers"]) == ("limited", 7)
    assert found["hot"] == [{"key": "k0", "share": 0.33}, {"key": "k1", "share": 0.25}]
    assert found["skew_least"] == pytest.approx(2.31) and found["of_use"] == pytest.approx(3.03, abs=0.01)
    [said] = found["said"]
    assert said["code"] == "hot" and said["params"]["count"] == 2


@pytest.mark.parametrize(
    ("shares", "members", "level", "code"),
    [
        ([0.01] * 20, (7,), "fits", "fits"),
        ([], (7,), "fits", "fits"),
        ([0.19, 0.01], (6,), "fits", "warm"),
        ([0.4, 0.01], (6, 2), "limited", "hot"),
        ([0.34, 0.33, 0.33], (2,), "fits", "few"),
        ([0.25, 0.25, 0.25, 0.25], (3,), "limited", "few"),
        ([0.9], (1,), "fits", "fits"),
    ],
)
def test_what_is_said_follows_the_bound(shares, members, level, code):
    found = feasibility(study(shares, members))
    assert (found["level"], found["said"][0]["code"]) == (level, code)


def test_with_changes_at_records_the_bound_is_of_the_end():
    """Before it, fewer records were written, so the shares are others."""
    assert feasibility(study([0.5], (4, 8, 4)))["consumers"] == 8
    assert feasibility(study([0.5], (4, 8, 4), at=100))["consumers"] == 4


@given(
    st.lists(st.integers(1, 100), min_size=1, max_size=6),
    st.integers(1, 4),
)
def test_no_way_of_giving_keys_to_consumers_is_below_the_bound(weights, consumers):
    """Against all ways there are."""
    shares = sorted((weight / sum(weights) for weight in weights), reverse=True)
    least, _, _ = least_share(shares, consumers)
    best = min(
        max(sum(share for share, place in zip(shares, places, strict=True) if place == c) for c in range(4))
        for places in itertools.product(range(consumers), repeat=len(shares))
    )
    assert least <= best + 1e-9


# -- what the rates allow ------------------------------------------------------------------------------------


def test_rates_that_nobody_stated_say_nothing():
    assert not is_stated(study([0.5])) and not is_stated(
        study([0.5], service={"rate": 36, "consumer_rate": 10})
    )
    assert feasibility(study([0.5], (2,), {"rate": 36, "consumer_rate": 10}))["level"] == "fits"


def test_a_hot_key_that_brings_more_than_a_consumer_takes_fails_whatever_the_strategy():
    found = feasibility(study([0.33, 0.1], (7,), {"rate": 60, "consumer_rate": 12}))
    assert found["level"] == "fails"
    assert found["said"][0] == {
        "code": "hot_rate",
        "params": {"hot": [{"key": "k0", "share": 0.33}], "brings": pytest.approx(19.8), "takes": 12},
    }
    assert [each["code"] for each in found["said"]] == ["hot_rate", "hot"]


def test_too_few_consumers_are_told_with_how_many_are_needed():
    found = feasibility(study([0.01], (8, 4), {"rate": 50, "consumer_rate": 10}))
    assert found["said"] == [
        {"code": "too_few", "params": {"rate": 50, "consumers": 4, "takes": 40, "least": 5}}
    ]
    assert feasibility(study([0.01], (4, 8), {"rate": 50, "consumer_rate": 10}))["level"] == "fits"


# -- what a strategy leaves ----------------------------------------------------------------------------------


def shared(name, *shares, partitions=None, lag=40):
    """A strategy whose consumers have these shares after the last change."""
    made = strategy(name, 1.2, 0.1, 0.0, 0.0)
    made["totals"] |= {"lag_peak": lag, "drain_s": 12.0, "undrained": 0}
    for step in made["steps"]:
        step["consumers"] = {f"c{n}": {"keys": 5, "share": share} for n, share in enumerate(shares, 1)}
        step["partitions_total"] = partitions
    return made


STATED = {"request": {"service": {"rate": 60, "consumer_rate": 20}}}


def test_who_gives_a_consumer_more_than_it_takes_is_excluded_with_the_figures():
    even, uneven = shared("even", 0.25, 0.25, 0.25, 0.25), shared("uneven", 0.4, 0.35, 0.15, 0.1, lag=900)
    ranked = rank(result(uneven, even) | STATED)
    assert [(entry["id"], entry["place"]) for entry in ranked] == [("even", 1), ("uneven", None)]
    assert ranked[1]["excluded"] == [
        {
            "code": "keeps_up",
            "params": {
                "consumer": "c1", "gets": pytest.approx(24), "takes": 20, "count": 2, "lag": 900,
            },
        }
    ]  # fmt: skip
    for constraints, asked in (({"keeps_up": False}, STATED), (None, {})):
        assert not any(
            entry["excluded"] for entry in rank(result(uneven, even) | asked, constraints=constraints)
        )


def test_a_consumer_that_takes_just_what_it_gets_keeps_up_and_unowned_records_burden_nobody():
    exact = shared("exact", 1 / 3, 1 / 3, 1 / 3)
    assert overload(exact, STATED) is None
    half = shared("half", 0.5, 0.5)
    assert overload(half, STATED)["count"] == 2
    half["steps"][-1]["unowned_share"] = 0.4
    assert overload(half, STATED) is None


def test_a_backlog_has_to_be_worked_off_in_time():
    quick, slow, never = shared("quick", 1.0), shared("slow", 1.0), shared("never", 1.0)
    slow["totals"]["drain_s"], never["totals"]["undrained"] = 31.5, 2
    ranked = rank(result(quick, slow, never), constraints=FREE | {"drain_s_max": 30})
    broken = {entry["id"]: entry["excluded"] for entry in ranked}
    assert broken == {
        "quick": [],
        "slow": [{"code": "drain_s_max", "params": {"value": 31.5, "limit": 30}}],
        "never": [{"code": "drain_s_max", "params": {"value": None, "limit": 30, "count": 2}}],
    }


def test_six_partitions_and_sixteen_consumers_are_no_second_place():
    few, enough = shared("few", *[1 / 16] * 16, partitions=6), shared("enough", *[1 / 16] * 16, partitions=16)
    assert idle_consumers(enough) is None and idle_consumers(shared("none", 0.5, 0.5)) is None
    ranked = rank(result(few, enough))
    assert [(entry["id"], entry["place"]) for entry in ranked] == [("enough", 1), ("few", None)]
    assert ranked[1]["excluded"] == [
        {"code": "no_idle", "params": {"count": 10, "partitions": 6, "consumers": 16}}
    ]
    assert not any(entry["excluded"] for entry in rank(result(few, enough), constraints={"no_idle": False}))


# -- a slow consumer -----------------------------------------------------------------------------------------


def slowed(rate, members=("c1", "c2", "c3", "c4"), **more):
    steps = [
        {"step": 0, "kind": "start", "consumer": None, "members": list(members), "label": "4"},
        {"step": 1, "kind": "slow", "consumer": "c2", "rate": rate, "members": list(members), "label": "c2~"},
    ]
    return {"steps": steps, "hot_keys": [{"key": "a", "share": 0.01}]} | STATED | more


def test_a_slow_consumer_falls_behind_with_a_share_that_the_others_would_bear():
    even = shared("even", 0.25, 0.25, 0.25, 0.25)
    assert overload(even, slowed(16)) is None and overload(even, STATED | {"steps": []}) is None
    assert overload(even, slowed(10)) == {"consumer": "c2", "gets": 15.0, "takes": 10, "count": 1}
    assert is_stated({"steps": slowed(10)["steps"]}), "who says that one is slow states a rate"
    left = slowed(10)
    left["steps"].append({"kind": "leave", "consumer": "c2", "members": ["c1", "c3", "c4"]})
    assert takes_of(left) == {}, "who comes back is a new process"


def test_where_consumers_take_turns_a_slow_one_gets_less():
    queue = shared("queue", 0.25, 0.25, 0.25, 0.25)
    for share in queue["steps"][-1]["consumers"].values():
        share["keys"] = None
    assert overload(queue, slowed(1)) is None, "60 arrive, 61 are taken"
    fewer = slowed(1, request={"service": {"rate": 62, "consumer_rate": 20}})
    assert overload(queue, fewer) == {"consumer": None, "gets": 62.0, "takes": 61, "count": 4}


def test_the_consumers_that_are_needed_count_the_slow_one_as_it_is():
    found = feasibility(slowed(1, request={"service": {"rate": 70, "consumer_rate": 20}}))
    assert found["said"][0] == {
        "code": "too_few",
        "params": {"rate": 70, "consumers": 4, "takes": 61, "least": 5},
    }
