"""Why is this queue growing: in each state the right cause, the right consumers, and numbers that agree with it."""

from __future__ import annotations

from itertools import pairwise
from typing import Any

import pytest

from broker_core.lab.lab import Lab
from broker_core.lab.lesson.file import read_file, scenario_from_text, shelf
from broker_core.lab.rabbitmq.views.growth import (
    AT_PREFETCH,
    GIVEN_BACK,
    NO_CONSUMER,
    NO_LIMIT,
    ONLY_READER,
    SLOW,
    UNACKED,
)
from tests.core.lab.rabbitmq.test_paths import panel_of, panels_of
from tests.core.lab.rabbitmq.test_topology import SECOND, lab_of, order


def played(
    role: dict[str, Any],
    acts: tuple[tuple[str, str], ...] = (),
    arguments: dict[str, Any] | None = None,
    consumers: int = 1,
    **fields: Any,
) -> Any:
    """The queue `work` after a while, and the names of whom it names. acts: (verb, consumer), after 3 seconds."""
    topology = {
        "queues": [{"name": "work", "arguments": arguments or {}}, {"name": "other"}],
        "publishers": [{"routing_key": "work"}],
        "consumers": [{"queue": "work", **role}],
    }
    lab = lab_of(topology, consumers=consumers, **fields)
    lab.advance_to(3 * SECOND)
    for verb, consumer in acts:
        order(lab, verb, consumer)
    lab.advance_to(lab.now_us + 10 * SECOND)
    panel = panel_of(lab)
    graph = panel["vhosts"]["/"]
    queue = graph["queues"]["work"]
    held = sum(each["unacked"] for each in graph["consumers"].values() if each["queue"] == "work")
    assert queue["unacked"] == held, "the table's number is the sum of its consumers'"
    (*_, (_, before), (_, now)) = [(at, row["/\nwork"]) for at, row in panel["history"].items()]
    taken, acked = now[2] - before[2], now[3] - before[3]
    lost = taken - acked - (now[0] + now[1] - before[0] - before[1])
    assert lost >= 0 and (lost == 0 or arguments), "what comes in is acknowledged, waits, or is held"
    return queue["growing"], sorted(graph["consumers"][key]["name"] for key in queue["growing_by"])


LATE, SLOWLY = {"prefetch": 5}, {"consumer_rate": 2}


@pytest.mark.parametrize(
    ("expected", "named", "given"),
    [
        (NO_CONSUMER, [], {"role": {"queue": "other"}}),
        (UNACKED, ["c1"], {"role": LATE, "acts": (("pause", "c1"),)}),
        (UNACKED, ["c1"], {"role": LATE, "acts": (("crash", "c1"),)}),
        (UNACKED, ["c1"], {"role": {"prefetch": 5, "ack": "never"}}),
        (UNACKED, ["c1"], {"role": {"prefetch": 0, "ack": "never"}}),
        (UNACKED, ["c1"], {"role": {"prefetch": 0}, "acts": (("pause", "c1"),)}),
        (UNACKED, ["c2"], {"role": LATE, "consumers": 2, "acts": (("pause", "c2"),), **SLOWLY}),
        (GIVEN_BACK, ["c1"], {"role": {"prefetch": 5, "ack": "requeue"}}),
        (AT_PREFETCH, ["c1"], {"role": {"prefetch": 1}, **SLOWLY}),
        (AT_PREFETCH, ["c1", "c2"], {"role": LATE, "consumers": 2, **SLOWLY}),
        (ONLY_READER, ["c2"], {  # the active one: c1 came later and stands by
            "role": LATE, "consumers": 2, "arguments": {"x-single-active-consumer": True}, **SLOWLY,
        }),
        (SLOW, ["c1"], {"role": {"prefetch": 0}, **SLOWLY}),
        (SLOW, ["c1", "c2"], {"role": {"prefetch": 0}, "consumers": 2, **SLOWLY}),
        (ONLY_READER, ["c1"], {"role": {"prefetch": 5, "exclusive": True}, **SLOWLY}),
        (ONLY_READER, ["c1"], {"role": {"prefetch": 0, "exclusive": True}, **SLOWLY}),
        (NO_LIMIT, ["c2"], {"role": {"prefetch": 0}, "consumers": 2, "acts": (("slow", "c2"),), "consumer_rate": 60}),
        (NO_LIMIT, ["c2"], {
            "role": {"prefetch": 0}, "consumers": 3, "acts": (("slow", "c2"),), "consumer_rate": 60,
        }),
        ("", [], {"role": LATE, "consumers": 3, "consumer_rate": 60}),
        ("", [], {"role": {"prefetch": 0}, "consumers": 3, "consumer_rate": 60}),
        ("", [], {"role": {"ack": "auto"}, **SLOWLY}),
        ("", [], {"role": LATE, "arguments": {"x-max-length": 20}, **SLOWLY}),
        ("", [], {"role": {"queue": "other"}, "arguments": {
            "x-message-ttl": 60_000, "x-dead-letter-exchange": "", "x-dead-letter-routing-key": "other",
        }}),
    ],
)  # fmt: skip
def test_the_cause_in_each_state(expected: str, named: list[str], given: dict[str, Any]) -> None:
    assert played(**given) == (expected, named)


def test_a_queue_that_has_just_reached_its_maximum_grows_no_more() -> None:
    topology = {
        "queues": [{"name": "work", "arguments": {"x-max-length": 60}}],
        "publishers": [{"routing_key": "work"}],
        "consumers": [{"queue": "work", "prefetch": 1}],
    }
    lab = lab_of(topology, consumers=1, consumer_rate=2)
    seen = []
    for tenth in range(5, 90):
        lab.advance_to(tenth * SECOND // 10)
        queue = panel_of(lab)["vhosts"]["/"]["queues"]["work"]
        seen.append((queue["ready"] >= 60, queue["growing"]))
    assert {cause for is_full, cause in seen if is_full} == {""} and (False, AT_PREFETCH) in seen


def test_a_poison_message_that_goes_around_is_the_cause_until_it_is_cured() -> None:
    lab = Lab(scenario_from_text(read_file(shelf()["rabbitmq_poison_message"])))
    lab.advance_to(6 * SECOND)

    def why() -> Any:
        graph = panel_of(lab)["vhosts"]["/"]
        return graph["queues"]["jobs"]["growing"], [
            graph["consumers"][key]["name"] for key in graph["queues"]["jobs"]["growing_by"]
        ]

    assert why() == ("", [])
    order(lab, "rabbitmq_publish", exchange="work", routing_key="poison", seconds=8)
    assert why() == (GIVEN_BACK, ["c1"])
    order(lab, "rabbitmq_consume", "c1", ack="reject", seconds=8)
    assert why() == ("", [])


@pytest.mark.parametrize(
    ("lane", "cause"), [("unlimited", (NO_LIMIT, ["c2"])), ("ten", ("", [])), ("one", ("", []))]
)
def test_a_slow_worker_that_hoards_its_turns_is_named_with_the_limit_that_it_lacks(
    lane: str, cause: Any
) -> None:
    lab = Lab(scenario_from_text(read_file(shelf()["rabbitmq_fast_and_slow"])))
    lab.advance_to(5 * SECOND)
    lab.submit({"command_id": "x1", "kind": "slow", "lane": "all", "consumer": "c2", "args": {"rate": 1}})
    lab.advance_to(20 * SECOND)
    graph = panels_of(lab.lanes[lane])["rabbitmq"]["vhosts"]["/"]
    (queue,) = graph["queues"].values()
    assert (queue["growing"], [graph["consumers"][key]["name"] for key in queue["growing_by"]]) == cause


def seen_of(
    lab: Lab, queue: str, tenths: range, lane: str = "rabbitmq"
) -> list[tuple[float, int, str, list[str]]]:
    """(second, ready, cause, whom it names) of a queue, ten times a second."""
    seen = []
    for tenth in tenths:
        lab.advance_to(tenth * SECOND // 10)
        graph = panels_of(lab.lanes[lane])["rabbitmq"]["vhosts"]["/"]
        node = graph["queues"][queue]
        names = [graph["consumers"][key]["name"] for key in node["growing_by"]]
        seen.append((tenth / 10, node["ready"], node["growing"], names))
    return seen


def test_a_consumer_that_takes_over_is_not_blamed_for_what_was_before_it() -> None:
    lab = Lab(scenario_from_text(read_file(shelf()["rabbitmq_single_active_consumer"])))
    for second, kind, consumer, args in (
        (4, "join", None, {}), (8, "slow", "c1", {"rate": 4}), (20, "leave", "c1", {}),
    ):  # fmt: skip
        lab.advance_to(second * SECOND)
        before = panel_of(lab)["vhosts"]["/"]["queues"]["ordered"]["growing"]
        given = {"command_id": f"x{second}", "kind": kind, "lane": "all", "args": args}
        lab.submit(given | ({} if consumer is None else {"consumer": consumer}))
    assert before == ONLY_READER
    lab.advance_to(20 * SECOND + SECOND // 10)
    assert panel_of(lab)["vhosts"]["/"]["queues"]["ordered"]["has_changed"]
    seen = seen_of(lab, "ordered", range(202, 260))
    assert {cause for _, _, cause, _ in seen} == {""} and seen[0][1] > seen[-1][1]


def test_a_slow_consumer_that_takes_over_is_named_once_it_is_measured() -> None:
    topology = {
        "queues": [{"name": "work", "arguments": {"x-single-active-consumer": True}}],
        "publishers": [{"routing_key": "work"}],
        "consumers": [{"queue": "work", "prefetch": 5}],
    }
    lab = lab_of(topology, consumers=2, consumer_rate=2)
    lab.advance_to(8 * SECOND)
    order(lab, "leave", "c2")
    left = lab.now_us * 10 // SECOND
    causes = [(cause, names) for _, _, cause, names in seen_of(lab, "work", range(left + 1, left + 40))]
    first = causes.index((ONLY_READER, ["c1"]))
    assert not panel_of(lab)["vhosts"]["/"]["queues"]["work"]["has_changed"]
    assert 15 < first < 35 and set(map(str, causes[:first])) == {str(("", []))}


@pytest.mark.parametrize(
    ("verb", "args"), [("resume", {}), ("leave", {}), ("join", {}), ("rabbitmq_consume", {"ack": "late"})]
)
def test_a_queue_that_shrinks_is_not_growing(verb: str, args: dict[str, Any]) -> None:
    topology = {
        "queues": [{"name": "work"}],
        "publishers": [{"routing_key": "work"}],
        "consumers": [{"queue": "work", "prefetch": 5}],
    }
    lab = lab_of(topology, consumers=2, consumer_rate=20, workload={"kind": "uniform", "keys": 4, "rate": 12})
    lab.advance_to(SECOND)
    for consumer in ("c1", "c2"):
        if verb == "rabbitmq_consume":
            order(lab, verb, consumer, ack="never")
        else:
            order(lab, "pause", consumer)
    lab.advance_to(9 * SECOND)
    assert panel_of(lab)["vhosts"]["/"]["queues"]["work"]["growing"] == UNACKED
    order(lab, verb, None if verb == "join" else "c1", **args)
    if verb == "rabbitmq_consume":
        order(lab, "rabbitmq_settle", "c1", how="ack")
    start = lab.now_us * 10 // SECOND
    seen = seen_of(lab, "work", range(start + 1, start + 30))
    fallen = [each for before, each in pairwise(seen) if each[1] < before[1]]
    assert {cause for _, _, cause, _ in fallen} <= {""} and bool(fallen) == (verb != "leave")


def test_the_cause_is_whose_unacked_grows() -> None:
    lab = Lab(scenario_from_text(read_file(shelf()["rabbitmq_fast_and_slow"])))
    lab.advance_to(2 * SECOND)
    given = {
        "kind": "rabbitmq_consume",
        "lane": "unlimited",
        "consumer": "c1",
        "args": {"prefetch": 4, "ack": "never"},
    }
    lab.submit({"command_id": "x1", **given})
    lab.submit({"command_id": "x2", "kind": "slow", "lane": "all", "consumer": "c2", "args": {"rate": 1}})
    lab.advance_to(20 * SECOND)
    graph = panels_of(lab.lanes["unlimited"])["rabbitmq"]["vhosts"]["/"]
    held = {each["name"]: each["unacked"] for each in graph["consumers"].values()}
    assert held["c1"] == 4 and held["c2"] > 50
    (queue,) = graph["queues"].values()
    assert (queue["growing"], [graph["consumers"][key]["name"] for key in queue["growing_by"]]) == (
        SLOW,
        ["c2"],
    )


LIMITS = [{"x-max-length": 50}, {"x-max-length-bytes": 5_000}]


@pytest.mark.parametrize("limit", LIMITS, ids=["length", "bytes"])
@pytest.mark.parametrize("overflow", ["drop-head", "reject-publish"])
def test_a_queue_at_its_limit_does_not_grow_at_any_moment(limit: dict[str, int], overflow: str) -> None:
    topology = {
        "queues": [{"name": "work", "arguments": {**limit, "x-overflow": overflow}}],
        "publishers": [{"routing_key": "work"}],
        "consumers": [{"queue": "work", "prefetch": 1}],
    }
    lab = lab_of(topology, consumers=1, consumer_rate=4, workload={"kind": "uniform", "keys": 4, "rate": 12})
    lab.advance_to(3 * SECOND)
    causes, is_full = [], []
    for tenth in range(31, 400):
        lab.advance_to(tenth * SECOND // 10)
        node = panel_of(lab)["vhosts"]["/"]["queues"]["work"]
        causes.append(node["growing"])
        is_full.append(node["is_full"])
    first = is_full.index(True)
    assert 0 < first < 360 and set(causes[first:]) == {""} and all(is_full[first:])
    assert AT_PREFETCH in causes[:first]


def test_a_queue_that_is_new_has_not_changed() -> None:
    lab = lab_of(
        {
            "queues": [{"name": "work"}],
            "publishers": [{"routing_key": "work"}],
            "consumers": [{"queue": "work"}],
        }
    )
    seen = []
    for tenth in range(1, 60):
        lab.advance_to(tenth * SECOND // 10)
        seen += [each["has_changed"] for each in panel_of(lab)["vhosts"]["/"]["queues"].values()]
    order(lab, "rabbitmq_declare_queue", name="other")
    assert not any(seen) and not panel_of(lab)["vhosts"]["/"]["queues"]["other"]["has_changed"]


def test_a_queue_of_a_limit_that_is_drained_is_not_full() -> None:
    topology = {
        "queues": [
            {"name": "work", "arguments": {"x-max-length": 5}},
            {"name": "none", "arguments": {"x-max-length": 0}},
        ],
        "publishers": [{"routing_key": "work"}],
        "consumers": [{"queue": "work", "prefetch": 1}],
    }
    lab = lab_of(topology, consumers=1, consumer_rate=200)
    lab.advance_to(3 * SECOND)
    queues = panel_of(lab)["vhosts"]["/"]["queues"]
    assert not queues["work"]["is_full"] and not queues["none"]["is_full"]
