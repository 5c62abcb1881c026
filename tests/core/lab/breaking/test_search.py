"""The search: the same tries for the same seed, only what is allowed, and the moment to the millisecond."""

import json
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from broker_core.lab.breaking.case import Case, case_from_json
from broker_core.lab.breaking.drawing import Drawing
from broker_core.lab.breaking.schedule import Fault, in_turn, script_of
from broker_core.lab.breaking.search import DONE, SEARCHING, SHRINKING, Search
from broker_core.lab.breaking.shrinking import size_of, smaller
from broker_core.lab.journal import Journal
from broker_core.lab.pieces import whole
from broker_core.rng import SeededRandom

MAY = [
    {"do": "cluster_crash", "most": 2, "from_us": 2_000_000, "until_us": 9_000_000},
    {"do": "cluster_come_back", "most": 1},
    {"do": "cluster_cut_link", "most": 1, "args": {"one": "broker-2", "other": "producer"}},
    {"do": "join", "most": 2},
    {"do": "leave", "most": 1},
]


def a_case(**changes: Any) -> Case:
    raw: dict[str, Any] = {
        "scenario": {
            "workload": {"kind": "uniform", "keys": 12, "rate": 12},
            "consumers": 2,
            "consumer_rate": 15,
            "lanes": [{"model": "rabbitmq", "algorithm": "prefetch_unlimited"}],
        },
        "promise": {"kind": "queue_at_most", "at_most": 60},
        "may": [{"do": "slow", "most": 1}, {"do": "leave", "most": 1}],
        "lasts_us": 40_000_000,
    }
    return case_from_json({**raw, **changes})


def kafka_case() -> Case:
    scenario = {"lanes": [{"model": "kafka", "partitions": 2}], "consumers": 2}
    return a_case(scenario=scenario, promise={"kind": "nothing_lost"}, may=MAY)


def ended(search: Search) -> Search:
    while search.phase != DONE:
        whole(search.trying())
    return search


def test_same_seed_gives_the_same_tries_however_often_it_is_stored_in_between() -> None:
    at_once, stored = ended(Search(a_case(), 3)), Search(a_case(), 3)
    phases = set()
    while stored.phase != DONE:
        phases.add(stored.phase)
        whole(stored.trying())
        stored = Search.from_json(a_case(), 3, json.loads(json.dumps(stored.to_json())))
    assert phases == {SEARCHING, SHRINKING}
    assert stored.to_json() == at_once.to_json()


def test_a_promise_that_is_kept_is_found_by_no_seed_and_counts_its_tries() -> None:
    search = Search(a_case(promise={"kind": "queue_at_most", "at_most": 1_000}), 3)
    for _ in range(6):
        whole(search.trying())
    assert (search.phase, search.tries, search.broken) == (SEARCHING, 6, None)
    assert search.fruitful and search.worst > 60, "what came furthest is kept, to be changed"


@given(seed=st.integers(0, 2**32))
def test_only_what_is_allowed_is_drawn(seed: int) -> None:
    case = kafka_case()
    drawing, fruitful = Drawing(case, SeededRandom(seed)), []
    for _ in range(6):
        schedule = drawing.next(fruitful)
        fruitful.append(schedule)
        assert list(schedule) == sorted(schedule, key=lambda fault: fault.at_us)
        for may in case.may:
            chosen = [fault for fault in schedule if fault.kind == may.do]
            assert len(chosen) <= may.most
            assert all(may.from_us <= fault.at_us <= may.until_us for fault in chosen)
            assert all(may.args.items() <= fault.args.items() for fault in chosen), "what is fixed stays"
        for place, fault in enumerate(schedule, start=1):
            fault.body(case.lane.id, place)


@given(
    times=st.lists(st.integers(2_000_000, 9_000_000), min_size=1, max_size=2),
    joins=st.lists(st.integers(0, 39_999_999), max_size=2),
)
def test_each_smaller_schedule_is_simpler_and_allowed(times: list[int], joins: list[int]) -> None:
    crashes = [Fault(at_us, "cluster_crash", None, {"broker": 1}) for at_us in times]
    schedule = in_turn([*crashes, *(Fault(at_us, "join", None, {"count": 1}) for at_us in joins)])
    windows = {may.do: may for may in kafka_case().may}
    for candidate in smaller(schedule, kafka_case().may):
        assert size_of(candidate) < size_of(schedule)
        assert all(
            windows[fault.kind].from_us <= fault.at_us <= windows[fault.kind].until_us for fault in candidate
        )


def test_the_moment_is_the_first_millisecond_and_the_script_leads_to_it() -> None:
    case = a_case()
    search = ended(Search(case, 3))
    lane, moment_us = case.lane.id, search.moment_us
    assert moment_us % 1_000 == 0
    script = script_of(search.broken.schedule, lane, moment_us)
    commands = [
        {**entry["body"], "position": place, "at_us": entry["at_us"]}
        for place, entry in enumerate(script, start=1)
    ]
    journal = Journal(case.scenario, commands)
    assert case.promise.measure(journal.seek(moment_us).lanes[lane]) > 60
    before = Journal(case.scenario, commands[:-1])
    assert case.promise.measure(before.seek(moment_us - 1_000).lanes[lane]) <= 60
    assert not journal.seek(moment_us).playing, "paused, to be looked at"


@pytest.mark.parametrize(
    ("promise", "may", "kinds"),
    [
        ({"kind": "one_owner"}, [{"do": "group_freeze", "most": 1, "from_us": 8_000_000}], ["group_freeze"]),
        (
            {"kind": "pause_at_most", "at_most": 8},
            [{"do": "crash", "most": 1, "from_us": 8_000_000}],
            ["crash"],
        ),
    ],
)
def test_a_kafka_group_breaks_it_by_a_frozen_or_a_dead_member(
    promise: dict[str, Any], may: list[dict[str, Any]], kinds: list[str]
) -> None:
    lane = {"model": "kafka", "partitions": 4, "brokers": 1, "session_timeout_ms": 10_000}
    scenario = {"lanes": [lane], "consumers": 2, "workload": {"kind": "uniform", "keys": 9, "rate": 5}}
    search = Search(a_case(scenario=scenario, promise=promise, may=may), 1)
    while search.broken is None and search.tries < 10:
        whole(search.trying())
    assert [fault.kind for fault in search.broken.schedule] == kinds


def test_a_lab_with_several_lanes_searches_in_the_one_of_the_promise() -> None:
    lanes = [{"model": "kafka"}, {"model": "rabbitmq", "id": "other"}]
    case = a_case(scenario={"lanes": lanes}, lane="other")
    assert [lane.id for lane in case.scenario.lanes] == ["other"]
    assert case_from_json(case.to_json()) == case
