"""Why is this queue growing: in each state the right cause, the right consumers, and numbers that agree with it."""

from __future__ import annotations

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
        "queues": [{"name": "work", "arguments": {"x-max-length": 20}}],
        "publishers": [{"routing_key": "work"}],
        "consumers": [{"queue": "work", "prefetch": 1}],
    }
    lab = lab_of(topology, consumers=1, consumer_rate=2)
    seen = []
    for tenth in range(5, 60):
        lab.advance_to(tenth * SECOND // 10)
        queue = panel_of(lab)["vhosts"]["/"]["queues"]["work"]
        seen.append((queue["ready"] >= 20, queue["growing"]))
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
