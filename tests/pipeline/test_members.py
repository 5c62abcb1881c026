"""Membership histories: what each kind gives, that it is one the lab would accept, and where a wrong one is
refused."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from broker_core.errors import CommandError
from broker_core.lab.lab import Lab
from broker_core.lab.scenario import scenario_from_json
from broker_core.pipeline.members import CONSUMERS_MAX, has_records, history_check, history_steps


def labels(history):
    return [step.label for step in history_steps(history_check(history))]


def test_given_changes_become_steps_with_members_in_join_order():
    steps = history_steps(
        history_check(
            {
                "kind": "given",
                "start": 2,
                "changes": [
                    {"kind": "join"},
                    {"kind": "crash", "consumer": "c1"},
                    {"kind": "rejoin", "consumer": "c1"},
                    {"kind": "leave", "consumer": "c2"},
                ],
            }
        )
    )
    assert [step.label for step in steps] == ["2", "+c3", "c1×", "+c1", "−c2"]
    assert [step.members for step in steps] == [
        ("c1", "c2"),
        ("c1", "c2", "c3"),
        ("c2", "c3"),
        ("c2", "c3", "c1"),
        ("c3", "c1"),
    ]
    assert not has_records(steps)
    assert steps[0].to_json() == {
        "step": 0,
        "kind": "start",
        "consumer": None,
        "label": "2",
        "members": ["c1", "c2"],
        "at": None,
        "change": None,
    }


def test_autoscale_goes_up_by_joins_and_down_by_the_newest():
    assert labels({"kind": "autoscale", "from": 2, "to": 4}) == ["2", "+c3", "+c4"]
    assert labels({"kind": "autoscale", "from": 4, "to": 2}) == ["4", "−c4", "−c3"]
    assert len(labels({"kind": "autoscale"})) == 63


def test_crash_storm_is_the_same_for_the_same_seed_and_ends_with_everybody_back():
    storm = {"kind": "crash_storm", "consumers": 6, "crashes": 3, "seed": 11}
    steps = history_steps(history_check(storm))
    assert steps == history_steps(history_check(storm))
    assert [step.kind for step in steps] == ["start", *["crash"] * 3, *["rejoin"] * 3]
    assert len(steps[3].members) == 3 and set(steps[-1].members) == set(steps[0].members)
    assert labels(storm | {"seed": 12}) != labels(storm)


def test_a_labs_journal_gives_its_changes_at_their_records():
    scenario = scenario_from_json(
        {"consumers": 3, "lanes": [{"model": "rabbitmq"}], "workload": {"kind": "uniform", "rate": 36}}
    )
    lab = Lab(scenario)
    commands, at = [], []
    orders = (
        (2, {"kind": "join", "args": {"count": 2}}),
        (3, {"kind": "slow", "consumer": "c1"}),
        (5, {"kind": "leave", "consumer": "c2"}),
    )
    for second, command in orders:
        lab.advance_to(second * 1_000_000)
        commands.append(
            {
                "command_id": f"k{second}",
                "lane": "all",
                **command,
                "at_us": lab.now_us,
                "position": len(commands) + 1,
            }
        )
        lab.submit(commands[-1])
        at.append(lab.record_count)
    steps = history_steps(history_check({"kind": "lab", "start": 3, "rate": 36, "commands": commands}))
    assert [(step.label, step.at) for step in steps] == [
        ("3", None),
        ("+c4", at[0]),
        ("+c5", at[0]),
        ("−c2", at[2]),
    ]
    assert steps[-1].members == tuple(lab.lanes["rabbitmq"].consumers)
    assert has_records(steps)


@pytest.mark.parametrize(
    ("history", "field"),
    [
        ("c1", "history"),
        ({"kind": "sabbatical"}, "history.kind"),
        ({"kind": "autoscale", "until": 3}, "history.until"),
        ({"kind": "autoscale", "to": CONSUMERS_MAX + 1}, "history.to"),
        ({"kind": "crash_storm", "consumers": 4, "crashes": 4}, "history.crashes"),
        ({"kind": "given", "start": 0}, "history.start"),
        ({"kind": "given", "changes": {}}, "history.changes"),
        ({"kind": "given", "changes": ["join"]}, "history.changes.0"),
        ({"kind": "given", "changes": [{"kind": "pause", "consumer": "c1"}]}, "history.changes.0.kind"),
        ({"kind": "given", "changes": [{"kind": "leave"}]}, "history.changes.0.consumer"),
        ({"kind": "given", "changes": [{"kind": "leave", "consumer": "c9"}]}, "history.changes.0.consumer"),
        (
            {
                "kind": "given",
                "changes": [{"kind": "join", "consumer": "a"}, {"kind": "join", "consumer": "a"}],
            },
            "history.changes.1.consumer",
        ),
        ({"kind": "given", "changes": [{"kind": "rejoin", "consumer": "c1"}]}, "history.changes.0.consumer"),
        (
            {"kind": "given", "changes": [{"kind": "crash", "consumer": "c1"}] * 2},
            "history.changes.1.consumer",
        ),
        ({"kind": "given", "changes": [{"kind": "join", "at": ""}]}, "history.changes.0.at"),
        ({"kind": "given", "changes": [{"kind": "join", "at": 5}, {"kind": "join"}]}, "history.changes.1.at"),
        (
            {"kind": "given", "changes": [{"kind": "join", "at": 5}, {"kind": "join", "at": 4}]},
            "history.changes.1.at",
        ),
        ({"kind": "given", "changes": [{"kind": "join", "at": True}]}, "history.changes.0.at"),
        ({"kind": "given", "start": CONSUMERS_MAX, "changes": [{"kind": "join"}]}, "history.changes.0"),
        ({"kind": "lab", "commands": [{"kind": "join", "at_us": "soon"}]}, "history.commands.0.at_us"),
    ],
)
def test_a_history_that_cannot_be_is_refused_at_its_field(history, field):
    with pytest.raises(CommandError) as refused:
        history_check(history)
    assert refused.value.field == field


@given(
    st.integers(1, 6),
    st.lists(
        st.tuples(st.sampled_from(["join", "leave", "crash", "rejoin"]), st.integers(1, 9)), max_size=25
    ),
)
def test_whatever_is_accepted_the_lab_accepts_too(start, wishes):
    """Law: a history that passes is one that a lab carries out, with the same living members after each
    step."""
    changes = []
    for kind, number in wishes:
        wish = {"kind": kind, "consumer": f"c{number}", "at": None}
        try:
            history_check({"kind": "given", "start": start, "changes": [*changes, wish]})
        except CommandError:
            continue
        changes.append(wish)
    steps = history_steps(history_check({"kind": "given", "start": start, "changes": changes}))
    lab = Lab(
        scenario_from_json(
            {"consumers": start, "lanes": [{"model": "rabbitmq"}], "workload": {"kind": "uniform"}}
        )
    )
    for step in steps[1:]:
        lab.submit({"command_id": f"s{step.step}", "kind": step.kind, "consumer": step.consumer})
        alive = {
            name for name, consumer in lab.lanes["rabbitmq"].consumers.items() if consumer.state == "live"
        }
        assert alive == set(step.members)


@pytest.mark.parametrize(
    "history",
    [
        {
            "kind": "given",
            "changes": [{"kind": "join", "at": 3}, {"kind": "crash", "consumer": "c1", "at": 9}],
        },
        {"kind": "rolling_restart"},
        {"kind": "autoscale"},
        {"kind": "crash_storm"},
        {
            "kind": "lab",
            "start": 2,
            "rate": 50,
            "commands": [{"kind": "play"}, {"kind": "join", "args": {"count": 3}, "at_us": 10}],
        },
    ],
    ids=lambda history: history["kind"],
)
def test_a_checked_history_stays_as_it_is(history):
    checked = history_check(history)
    assert history_check(checked) == checked and history_steps(checked) == history_steps(
        history_check(checked)
    )
