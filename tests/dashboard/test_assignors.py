"""A user's own assignor: what its text may hold, the process that bounds it, and a group that runs it."""

from __future__ import annotations

import sys
from typing import Any

import pytest

from broker_core.errors import CommandError
from broker_core.kafka.assignors import custom
from broker_core.kafka.assignors.custom import (
    BUILTINS,
    METHODS,
    AssignorFailed,
    check_source,
    custom_assignor,
)
from broker_core.kafka.assignors.protocol import Subscription
from broker_core.lab.journal import Journal
from broker_core.lab.lab import Lab
from broker_core.lab.scenario import scenario_from_json
from dashboard.assignors.child import language
from dashboard.assignors.child.limits import CPU_S, MEMORY_BYTES
from dashboard.assignors.runner import RUNNER, Runner
from mqsite.keeper import ROOT
from tests.core.lab.kafka.test_group_commands import LANE, SECOND, lane_of, order

EVEN = """
def assign(members, partitions):
    names = sorted(members)
    return {name: [(t, n) for t in partitions for n in range(partitions[t]) if names[n % len(names)] == name] for name in names}
"""
TWICE = (
    "def assign(members, partitions):\n    return {name: [(t, n) for t in partitions for n in "
    "range(partitions[t])] for name in members}\n"
)
WRONG = "def assign(members, partitions):\n    first = min(members)\n    return {first: [1 // 0]}\n"
SHORT_CHILD = (
    "from dashboard.assignors.child import limits; limits.CPU_S = 1; "
    "runpy.run_module('dashboard.assignors.child', run_name='__main__')"
)
MEMBERS = {"c1": Subscription(("t",)), "c2": Subscription(("t",))}


@pytest.fixture
def waits(monkeypatch: pytest.MonkeyPatch) -> None:
    """Called outside a lab's step, an assignor waits for its process."""
    monkeypatch.setattr(custom, "_runner", RUNNER.run)


def assign(source: str) -> Any:
    check_source(source)
    return custom_assignor(source).assign(MEMBERS, {"t": 3})


@pytest.mark.usefixtures("waits")
def test_it_is_given_what_the_built_in_ones_are_given() -> None:
    assert assign(EVEN) == {"c1": [("t", 0), ("t", 2)], "c2": [("t", 1)]}
    assert assign(TWICE) == {name: [("t", 0), ("t", 1), ("t", 2)] for name in MEMBERS}


@pytest.mark.parametrize(
    ("source", "line", "reason"),
    [
        (WRONG, 3, "integer division or modulo by zero"),
        ("def assign(members, partitions):\n    return memberz\n", 2, "name 'memberz' is not defined"),
        ("def assign(members, partitions):\n    return members['x']\n", 2, "KeyError: 'x'"),
        ("def assign(members, partitions):\n    assert len(members) > 9\n", 2, "AssertionError"),
        ("def assign(members, partitions):\n    raise ValueError(assign)\n", 2, "<function assign>"),
        (
            "def assign(members, partitions):\n    return {str(map(len, [])): []}\n",
            0,
            "there is no member <map object>",
        ),
        ("def assign(members, partitions):\n    raise ValueError('a\\ud800\\0\\nb')\n", 2, "a   b"),
        (
            "def assign(members, partitions):\n    while True:\n        pass\n",
            0,
            "took more than 300,000 steps",
        ),
        ("def assign(members, partitions):\n    while True: pass\n", 2, "took more than 300,000 steps"),
        (
            (
                "def assign(members, partitions):\n    return {m: [] for m in members for n in "
                "range(10000000)}\n"
            ),
            2,
            "took more than 300,000 steps",
        ),
        (
            "def assign(members, partitions):\n    x = [0]\n    while True:\n        x += x\n",
            4,
            "needed more memory than it may have",
        ),
        (
            "def assign(members, partitions):\n    return open('/etc/passwd')\n",
            2,
            "name 'open' is not defined",
        ),
        (
            (
                "def assign(members, partitions):\n    x = [1]\n    for n in range(100000):\n        x = "
                "map(abs, "
                "x)\n    return {'c1': list(x)}\n"
            ),
            0,
            "crashed Python (SIGSEGV); map(), filter() or zip() nested thousands deep do that",
        ),
        (
            (
                "def assign(members, partitions):\n    x = []\n    for n in range(900):\n        x = [x]\n   "
                " return "
                "{'c1': x}\n"
            ),
            0,
            None,
        ),
        (
            "def assign(members, partitions):\n    return {'c1': [('t', 0)] * 500000}\n",
            0,
            "its answer is longer than 4 MB",
        ),
        (
            "def assign(members, partitions):\n    return 5\n",
            0,
            "assign() must return a dict: member id -> list of (topic, number)",
        ),
        ("def assign(members, partitions):\n    return {'c9': []}\n", 0, "there is no member c9"),
        (
            "def assign(members, partitions):\n    return {'c1': [('t', 3)]}\n",
            0,
            "c1: ['t', 3] is no partition; give (topic, number)",
        ),
    ],
)
@pytest.mark.usefixtures("waits")
def test_what_goes_wrong_has_a_reason_and_its_line(source: str, line: int, reason: str | None) -> None:
    with pytest.raises(AssignorFailed) as failed:
        assign(source)
    assert reason is None or failed.value.reason == reason
    assert failed.value.line == line or line == 0


def test_one_step_that_works_for_ever_is_ended_by_its_cpu_time(monkeypatch: pytest.MonkeyPatch) -> None:
    """CPU_S of the child is what the kernel ends it after: here a second."""
    short = f"import runpy, sys; sys.path.insert(0, {str(ROOT)!r}); {SHORT_CHILD}"
    runner = Runner((sys.executable, "-c", short))
    monkeypatch.setattr(custom, "_runner", runner.run)
    with pytest.raises(AssignorFailed) as failed:
        assign("def assign(members, partitions):\n    return sum(range(1000000000000))\n")
    assert failed.value.reason == f"used more than {CPU_S} s of CPU"


@pytest.mark.parametrize(
    ("source", "said"),
    [
        ("import os\ndef assign(a, b):\n    return {}", "line 1"),
        ("def assign(a, b):\n    return a.__class__", "line 2"),
        ("def assign(a, b):\n    return 9 ** 9", "line 2"),
        ("def assign(a, b):\n    return len(a).real", "line 2"),
        ("def assign(a, b):\n  return (", "line 2"),
        ("x = 1", "must define"),
        ("def assign(a):\n    return {}", "must define"),
        ("", "must be 1 to"),
        ("def assign(a, b):\n    return '{0.x}'.format(a)", "line 2"),
        ("class A:\n    pass\ndef assign(a, b):\n    return {}", "line 1"),
        ("def assign(a, b):\n    return __import__('os')", "line 2"),
    ],
)
def test_a_text_that_may_not_run_is_refused_with_its_line(source: str, said: str) -> None:
    with pytest.raises(CommandError) as refused:
        check_source(source)
    assert refused.value.field == "args.source" and said in str(refused.value)


ESCAPES = [
    (
        "def assign(members, partitions):\n    g = (g for g in [1])\n    return "
        "str(g.gi_frame.f_back.f_globals['sys'])"
    ),
    "def assign(members, partitions):\n    return ().__class__.__base__.__subclasses__()",
    "def assign(members, partitions):\n    return assign.__globals__",
    (
        "def assign(members, partitions):\n    match members:\n        case dict(__class__=found):\n         "
        "   return found"
    ),
    "def assign(members, partitions):\n    return '{0.__class__}'.format(members)",
    "def assign(members, partitions):\n    return [].append.__self__",
    (
        "def assign(members, partitions):\n    try:\n        return 1\n    except* ValueError as found:\n    "
        "    return found.exceptions"
    ),
]


@pytest.mark.parametrize("source", ESCAPES)
def test_a_way_out_through_frames_or_classes_is_refused_by_the_text_check_and_by_the_process_itself(
    source: str,
) -> None:
    with pytest.raises(CommandError):
        check_source(source)
    answer = RUNNER.run(source, {"c1": {}}, {"t": 1})
    assert answer["error"].startswith("an assignor cannot use") and answer["line"] in (2, 3)


def test_the_page_about_groups_says_the_processs_limits() -> None:
    said = (ROOT / "docs/kafka/groups.md").read_text(encoding="utf-8")
    assert f"{MEMORY_BYTES >> 20} MB, {CPU_S} s of CPU" in said


def test_both_checks_allow_the_same() -> None:
    assert language.METHODS == METHODS
    assert {name for name in language.space()["__builtins__"] if name.isidentifier()} == BUILTINS


# --- in a group


def lab_of() -> Lab:
    lab = Lab(
        scenario_from_json(
            {
                "lanes": [LANE],
                "consumers": 3,
                "consumer_rate": 50,
                "workload": {"kind": "uniform", "keys": 40, "rate": 20},
            }
        )
    )
    lab.advance_to(12 * SECOND)
    return lab


def test_a_group_runs_it_and_newcomers_have_it_too() -> None:
    lab = lab_of()
    order(lab, "group_assignor", 15, args={"source": EVEN})
    owners = [part["owner"] for part in lane_of(lab)["picture"]["partitions"].values()]
    assert owners == ["c1", "c2", "c3", "c1", "c2", "c3"] and lane_of(lab)["group"]["assignor"] == "custom"
    order(lab, "join", 15)
    assert {part["owner"] for part in lane_of(lab)["picture"]["partitions"].values()} == {
        "c1",
        "c2",
        "c3",
        "c4",
    }
    order(lab, "group_assignor", 15, args={"source": None})
    assert lane_of(lab)["group"]["assignor"] == "range"
    assert "source" not in str(lane_of(lab))


KEEPS = """
def assign(members, partitions):
    given = {name: [] for name in sorted(members)}
    free = [(t, n) for t in partitions for n in range(partitions[t])]
    share, over = divmod(len(free), len(given))
    for place, name in enumerate(given):
        given[name] = [(t, n) for t, n in members[name]["owned"] if (t, n) in free][:share + (place < over)]
        free = [one for one in free if one not in given[name]]
    for one in free:
        least = min(given, key=lambda name: len(given[name]))
        if not COOPERATIVE or not [name for name in members if list(one) in members[name]["owned"]]:
            given[least].append(one)
    return given
"""


def owners_of(lab: Lab) -> list[str | None]:
    return [part["owner"] for part in lane_of(lab)["picture"]["partitions"].values()]


def test_an_eager_one_is_told_what_each_member_had_so_it_can_keep_it() -> None:
    lab = lab_of()
    order(lab, "group_assignor", 15, args={"source": "COOPERATIVE = False\n" + KEEPS})
    before = owners_of(lab)
    told = order(lab, "join", 15)
    after = owners_of(lab)
    assert sum(was != now for was, now in zip(before, after, strict=True)) == 1 and "c4" in after
    assert {e["rule"] for e in told if e["kind"] == "kafka.consumer.revoked"} == {"kafka.consumer.eager"}
    assert not lane_of(lab)["group"]["is_cooperative"]


def test_a_cooperative_one_moves_a_partition_in_two_rebalances() -> None:
    lab = lab_of()
    order(lab, "group_assignor", 15, args={"source": "COOPERATIVE = True\n" + KEEPS})
    before, generation = owners_of(lab), lane_of(lab)["group"]["generation"]
    assert lane_of(lab)["group"]["is_cooperative"]
    told = order(lab, "join", 20)
    after, group = owners_of(lab), lane_of(lab)["group"]
    assert sum(was != now for was, now in zip(before, after, strict=True)) == 1 and "c4" in after
    assert group["generation"] == generation + 2 and group["state"] == "Stable"
    revoked = [e for e in told if e["kind"] == "kafka.consumer.revoked"]
    assert [e["rule"] for e in revoked] == ["kafka.consumer.cooperative"] and len(
        revoked[0]["data"]["partitions"]
    ) == 1


def test_a_cooperative_one_that_hands_on_what_is_still_owned_fails_as_in_kafka() -> None:
    lab = lab_of()
    order(lab, "group_assignor", 15, args={"source": "COOPERATIVE = True\n" + EVEN})
    told = order(lab, "join", 30)
    reasons = {e["data"]["reason"] for e in told if e["kind"] == "kafka.consumer.assignor_failed"}
    assert reasons and all("violates" in reason for reason in reasons)


def test_the_page_says_cooperative_of_what_the_members_run_not_of_the_lanes_rule() -> None:
    lab = Lab(scenario_from_json({"lanes": [LANE | {"algorithm": "cooperative-sticky"}], "consumers": 2}))
    lab.advance_to(12 * SECOND)
    assert lane_of(lab)["group"]["is_cooperative"]
    order(lab, "group_assignor", 15, args={"source": EVEN})
    assert lane_of(lab)["group"]["assignor"] == "custom" and not lane_of(lab)["group"]["is_cooperative"]


@pytest.mark.parametrize("source", ["COOPERATIVE = 1\n" + EVEN, "COOPERATIVE = len([1])\n" + EVEN])
def test_cooperative_is_true_or_false(source: str) -> None:
    with pytest.raises(CommandError, match="COOPERATIVE"):
        check_source(source)


def test_a_partition_with_two_owners_is_read_twice_and_the_lane_counts_it() -> None:
    lab = lab_of()
    before = lane_of(lab)["tally"]["redelivered"]
    order(lab, "group_assignor", 20, args={"source": TWICE})
    view = lane_of(lab)
    assert {len(owned) for owned in view["group_health"]["owned"].values()} == {6}
    assert view["tally"]["redelivered"] - before > 300, "three programs read every record of 20 s"
    lab.lanes["kafka"].reads.check()


def test_an_error_ends_the_leader_and_is_told_with_its_line() -> None:
    lab = lab_of()
    told = order(lab, "group_assignor", 15, args={"source": WRONG})
    failed = [event for event in told if event["kind"] == "kafka.consumer.assignor_failed"]
    assert [event["data"]["consumer"] for event in failed] and {
        event["inputs"]["line"] for event in failed
    } == {3}
    assert lane_of(lab)["picture"]["state"] == "Empty", "one leader after the other"
    order(lab, "group_assignor", 20, args={"source": EVEN})
    assert {part["owner"] for part in lane_of(lab)["picture"]["partitions"].values()} == {"c1", "c2", "c3"}


def test_a_replay_and_a_checkpoint_give_the_same_group() -> None:
    lab = lab_of()
    command = {
        "command_id": "a1",
        "kind": "group_assignor",
        "args": {"source": EVEN},
        "position": 1,
        "at_us": lab.now_us,
    }
    lab.submit(command)
    lab.advance_to(lab.now_us + 4 * SECOND)
    other = Lab.restore(lab.scenario, lab.checkpoint())
    for each in (lab, other):
        each.advance_to(each.now_us + 10 * SECOND)
    RUNNER.answers.clear()
    again = Journal(lab.scenario, [command]).seek(lab.now_us)
    assert lab.checkpoint() == other.checkpoint() == again.checkpoint()
