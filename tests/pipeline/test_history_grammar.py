"""Membership histories in words: what each kind fills in, how a wrong one is refused, and the steps that kinds
of one history share."""

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from broker_core.errors import CommandError
from broker_core.lab.limits import DEFAULT_LIMITS
from broker_core.pipeline.members import (
    CHANGES_MAX,
    CONSUMERS_MAX,
    RECORD_MAX,
    has_records,
    history_check,
    history_steps,
)

FEW = settings(max_examples=40, deadline=None)


def given_history(*changes, start=3):
    return {"kind": "given", "start": start, "changes": list(changes)}


def change(kind, consumer=None, at=None):
    return {"kind": kind, "consumer": consumer, "at": at}


def lab_history(*commands, start=2, rate=50):
    return {"kind": "lab", "start": start, "rate": rate, "commands": list(commands)}


def steps(history):
    return history_steps(history_check(history))


def told(history):
    with pytest.raises(CommandError) as refused:
        history_check(history)
    return refused.value.field, refused.value.reason


# -- what is filled in ---------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("history", "checked"),
    [
        ({}, {"kind": "given", "start": 4, "changes": []}),
        (
            {"kind": "rolling_restart"},
            {"kind": "rolling_restart", "consumers": 8, "down_s": 30, "names": "own"},
        ),
        ({"kind": "autoscale", "from": 5}, {"kind": "autoscale", "from": 5, "to": 64}),
        ({"kind": "crash_storm"}, {"kind": "crash_storm", "consumers": 16, "crashes": 8, "seed": 7}),
        (
            {"kind": "crash_storm", "consumers": 3},
            {"kind": "crash_storm", "consumers": 3, "crashes": 1, "seed": 7},
        ),
        (
            {"kind": "crash_storm", "consumers": 2},
            {"kind": "crash_storm", "consumers": 2, "crashes": 1, "seed": 7},
        ),
        ({"kind": "lab"}, {"kind": "lab", "start": 3, "rate": 36, "commands": []}),
    ],
)
def test_what_a_history_leaves_out_is_filled_in(history, checked):
    assert history_check(history) == checked


def test_a_change_is_kept_with_all_its_fields():
    assert history_check(given_history({"kind": "join"}))["changes"] == [
        {"kind": "join", "consumer": None, "at": None}
    ]


def test_a_history_without_changes_is_its_start():
    (only,) = steps({})
    assert (only.step, only.kind, only.members, only.label, only.at) == (
        0,
        "start",
        ("c1", "c2", "c3", "c4"),
        "4",
        None,
    )
    assert not has_records([only])


# -- names ---------------------------------------------------------------------------------------------------


def test_a_joiner_without_a_name_gets_the_next_number_that_nobody_has_had():
    history = given_history(
        change("join", "c5"), change("join"), change("leave", "c4"), change("join"), change("join"), start=3
    )
    assert [step.consumer for step in steps(history)] == [None, "c5", "c4", "c4", "c6", "c7"], (
        "c4 left, and its name is used up"
    )


def test_who_left_may_join_again_under_its_name_and_stands_last():
    history = given_history(change("leave", "c1"), change("join", "c1"), start=2)
    assert [step.members for step in steps(history)] == [("c1", "c2"), ("c2",), ("c2", "c1")]


def test_a_crashed_one_may_leave_for_good_and_then_be_a_newcomer():
    history = given_history(change("crash", "c1"), change("leave", "c1"), change("join", "c1"))
    assert [step.label for step in steps(history)] == ["3", "c1×", "−c1", "+c1"]
    assert [step.members for step in steps(history)][2:] == [("c2", "c3"), ("c2", "c3", "c1")]


def test_everybody_may_go():
    assert steps(given_history(change("leave", "c1"), change("crash", "c2"), start=2))[-1].members == ()


# -- refusals in words ---------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("history", "field", "reason"),
    [
        (given_history(change("join", "c2")), "history.changes.0.consumer", "c2 already exists"),
        (
            given_history(change("crash", "c2"), change("join", "c2")),
            "history.changes.1.consumer",
            "c2 already exists",
        ),
        (
            given_history(change("crash", "c2"), change("crash", "c2")),
            "history.changes.1.consumer",
            "c2 has crashed; it can rejoin or leave",
        ),
        (given_history(change("rejoin", "c2")), "history.changes.0.consumer", "c2 has not crashed"),
        (
            given_history(change("leave", "c2"), change("rejoin", "c2")),
            "history.changes.1.consumer",
            "c2 has not crashed",
        ),
        (given_history(change("crash", "c9")), "history.changes.0.consumer", "there is no consumer c9"),
        (
            given_history(change("leave", "c2"), change("leave", "c2")),
            "history.changes.1.consumer",
            "there is no consumer c2",
        ),
        (given_history(change("rejoin")), "history.changes.0.consumer", "name the consumer for rejoin"),
        (given_history(change("join", at="")), "history.changes.0.at", "say before which record it happens"),
        (
            given_history(change("join"), change("join", at=3)),
            "history.changes.1.at",
            "give a record for all changes, or for none",
        ),
        (
            given_history(change("join", at=9), change("join", at=8)),
            "history.changes.1.at",
            "must not happen before the change above it",
        ),
        ({"kind": "given", "speed": 1}, "history.speed", None),
        ({"kind": 7}, "history.kind", None),
        ({"kind": None}, "history.kind", None),
        (given_history({"kind": "join", "count": 2}), "history.changes.0.count", None),
        (given_history(change("join", "C 1")), "history.changes.0.consumer", None),
        (given_history(change("join", at=RECORD_MAX + 1)), "history.changes.0.at", None),
        (given_history(change("join", at=-1)), "history.changes.0.at", None),
        ({"kind": "crash_storm", "consumers": 1}, "history.consumers", None),
        ({"kind": "crash_storm", "crashes": 0}, "history.crashes", None),
        ({"kind": "crash_storm", "seed": -1}, "history.seed", None),
        ({"kind": "rolling_restart", "consumers": True}, "history.consumers", None),
        ({"kind": "rolling_restart", "down_s": 0}, "history.down_s", None),
        ({"kind": "rolling_restart", "names": "others"}, "history.names", "must be one of own, new"),
        (
            given_history({"kind": "restart", "consumer": "c9"}),
            "history.changes.0.consumer",
            "there is no consumer c9",
        ),
        (given_history({"kind": "restart", "down_s": 3_601}), "history.changes.0.down_s", None),
        (given_history({"kind": "restart", "names": True}), "history.changes.0.names", None),
        (given_history({"kind": "join", "down_s": 3}), "history.changes.0.down_s", None),
        (
            given_history({"kind": "restart", "consumer": "c1", "at": 40}),
            "history.changes.0.at",
            "a restart takes seconds, not records: let the consumer leave and join",
        ),
        (
            given_history(*[{"kind": "restart"}] * 500),
            "history.changes.341",
            "makes more than 2048 steps",
        ),
        ({"kind": "autoscale", "from": 0}, "history.from", None),
        ({"kind": "autoscale", "from": "2"}, "history.from", None),
        (
            given_history(*[change("join")] * 5, start=CONSUMERS_MAX - 4),
            "history.changes.4",
            f"at most {CONSUMERS_MAX} consumers",
        ),
        ({"kind": "given", "changes": [change("join")] * (CHANGES_MAX + 1)}, "history.changes", None),
    ],
)
def test_what_cannot_be_is_told_at_its_field(history, field, reason):
    found = told(history)
    assert found[0] == field
    assert reason is None or found[1] == reason


def test_a_wrong_change_behind_a_wrong_field_is_not_what_is_told():
    """Fields are looked at before anybody goes through the history."""
    assert told(given_history(change("leave", "c9"), change("pause")))[0] == "history.changes.1.kind"


def test_as_many_changes_as_may_be_and_as_many_consumers():
    swing = [change("join", "x"), change("leave", "x")] * (CHANGES_MAX // 2)
    assert len(steps(given_history(*swing))) == CHANGES_MAX + 1
    assert len(steps({"kind": "autoscale", "from": 1, "to": CONSUMERS_MAX})[-1].members) == CONSUMERS_MAX


# -- made-up kinds -------------------------------------------------------------------------------------------


@FEW
@given(st.integers(1, 9))
def test_a_rolling_restart_has_never_more_than_one_missing_and_ends_as_it_began(count):
    found = steps({"kind": "rolling_restart", "consumers": count})
    assert len(found) == 1 + 2 * count
    assert [len(step.members) for step in found] == [count] + [count - 1, count] * count
    assert found[-1].members == found[0].members, "each has stood last once"
    assert [step.consumer for step in found[1::2]] == list(found[0].members)


@FEW
@given(st.integers(1, 12), st.integers(1, 12))
def test_autoscale_changes_the_group_by_one_at_a_time_and_back_again(low, high):
    up, down = (
        steps({"kind": "autoscale", "from": low, "to": high}),
        steps({"kind": "autoscale", "from": high, "to": low}),
    )
    assert len(up) == len(down) == 1 + abs(high - low)
    assert [step.members for step in up] == [step.members for step in reversed(down)], (
        "the newest leave first"
    )


@FEW
@given(
    st.integers(2, 10).flatmap(lambda count: st.tuples(st.just(count), st.integers(1, count - 1))),
    st.integers(0, 99),
)
def test_a_storm_strikes_so_many_different_ones_and_leaves_somebody(sizes, seed):
    consumers, crashes = sizes
    found = steps({"kind": "crash_storm", "consumers": consumers, "crashes": crashes, "seed": seed})
    struck = [step.consumer for step in found[1 : 1 + crashes]]
    assert (
        len(set(struck)) == crashes and min(len(step.members) for step in found) == consumers - crashes >= 1
    )
    assert [step.consumer for step in found[1 + crashes :]] == struck, (
        "they come back in the order in which they fell"
    )


# -- a lab's journal -----------------------------------------------------------------------------------------


def test_of_a_journal_only_the_changes_to_all_lanes_count():
    kept = {"kind": "join", "consumer": None, "at_us": 5}
    others = [
        {"kind": "play"},
        {"kind": "slow", "consumer": "c1", "at_us": 1},
        {"kind": "leave", "consumer": "c1", "lane": "kafka", "at_us": 1},
    ]
    checked = history_check(lab_history(*others, kept))
    assert checked["commands"] == [kept | {"lane": "all", "args": {"count": 1}}]


@pytest.mark.parametrize(
    ("at_us", "rate", "record"),
    [
        (0, 50, 0), (19_999, 50, 0), (20_000, 50, 1), (1_000_000, 50, 50), (1_000_000, 1, 1), (999_999, 1, 0),
    ],
)  # fmt: skip
def test_an_order_comes_before_the_first_record_that_arrives_after_it(at_us, rate, record):
    """As the lab counts arrivals: at 50 records a second the first one arrives after 20 ms."""
    from broker_core.lab.workload.base import EvenArrivals
    from broker_core.pipeline.timed_workload import SequenceWorkload

    found = steps(lab_history({"kind": "join", "at_us": at_us}, rate=rate))
    assert (found[1].at, has_records(found)) == (record, True)
    assert EvenArrivals.count_until(SequenceWorkload(rate, [], [], [], ends=False), at_us) == record


def test_several_who_join_at_once_are_steps_at_one_record():
    found = steps(lab_history({"kind": "join", "at_us": 100_000, "args": {"count": 3}}))
    assert [(step.label, step.at) for step in found] == [("2", None), ("+c3", 5), ("+c4", 5), ("+c5", 5)]


def test_a_journal_may_have_as_many_changes_as_any_history():
    swing = [{"kind": kind, "consumer": "x", "at_us": 9} for kind in ("join", "leave")] * (CHANGES_MAX // 2)
    assert len(steps(lab_history(*swing))) == CHANGES_MAX + 1


@pytest.mark.parametrize(
    ("commands", "field"),
    [
        (["join"], "history.commands.0"), ([{"kind": "join"}], "history.commands.0.at_us"),
        ([{"kind": "join", "at_us": 9}, {"kind": "join", "at_us": 8}], "history.commands.1.at_us"),
        ([{"kind": "join", "at_us": 9, "args": {"count": 0}}], "history.commands.0.args.count"),
        ([{"kind": "join", "at_us": 9, "args": [3]}], "history.commands.0.args.count"),
        ([{"kind": "leave", "consumer": "", "at_us": 9}], "history.commands.0.consumer"),
        ([{"kind": "join", "at_us": 9, "args": {"count": 1}}] * (CHANGES_MAX + 1), "history.commands"),
    ],
)  # fmt: skip
def test_a_journal_that_no_lab_wrote_is_refused_at_its_command(commands, field):
    assert told(lab_history(*commands))[0] == field


RATE_MAX = DEFAULT_LIMITS.records_per_second_max


@pytest.mark.parametrize(
    ("rate", "is_fine"), [(1, True), (0, False), (RATE_MAX, True), (RATE_MAX + 1, False)]
)
def test_a_labs_rate_is_one_that_a_lab_may_have(rate, is_fine):
    if is_fine:
        assert history_check(lab_history(rate=rate))["rate"] == rate
    else:
        assert told(lab_history(rate=rate))[0] == "history.rate"
