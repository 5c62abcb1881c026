"""What a RabbitMQ lane counts at its exchanges and of its programs: published is not copied, sent without an
acknowledgement is not acknowledged, and what no queue gets is dropped."""

from __future__ import annotations

from typing import Any

import pytest

from broker_core.lab.lab import Lab
from broker_core.lab.lesson.file import read_file, scenario_from_text, shelf
from broker_core.lab.panels import panels_of
from tests.core.lab.rabbitmq.test_topology import SECOND, lab_of, order


def panel_at(scenario: str, second: int, lane: str = "rabbitmq") -> Any:
    lab = Lab(scenario_from_text(read_file(shelf()[scenario])))
    lab.advance_to(second * SECOND)
    return panels_of(lab.lanes[lane])["rabbitmq"]


def per_second(samples: Any, *path: str) -> list[float]:
    """Of the last samples, each count a second."""
    (first, *_, last) = samples
    rows = [samples[first], samples[last]]
    for name in path:
        rows = [row[name] for row in rows]
    return [(now - before) / (int(last) - int(first)) for before, now in zip(*rows, strict=True)]


@pytest.mark.parametrize(
    ("scenario", "lane", "exchange", "counts"),
    [
        ("rabbitmq_topics", "lost", "animals", [12, 8, 0]),
        ("rabbitmq_topics", "stars", "animals", [12, 4, 0]),
        ("rabbitmq_routing", "rabbitmq", "levels", [12, 0, 0]),
        ("rabbitmq_publish_subscribe", "rabbitmq", "logs", [12, 0, 0]),
    ],
)
def test_what_comes_to_an_exchange_and_what_of_it_no_queue_gets(
    scenario: str, lane: str, exchange: str, counts: list[int]
) -> None:
    panel = panel_at(scenario, 9, lane)
    assert per_second(panel["flows"]["exchanges"], "/", exchange) == pytest.approx(counts, abs=0.5)
    dropped = panel["vhosts"]["/"]["exchanges"][exchange]["dropped"]
    assert (dropped > 30) == bool(counts[1])


@pytest.mark.parametrize(
    ("ack", "counts"),
    [("late", [9, 0, 0, 0]), ("auto", [0, 0, 0, 9]), ("reject", [0, 0, 9, 0]), ("never", [0, 0, 0, 0])],
)
def test_what_a_program_does_with_what_it_gets(ack: str, counts: list[int]) -> None:
    topology = {
        "queues": [{"name": "work"}],
        "publishers": [{"routing_key": "work"}],
        "consumers": [{"queue": "work", "ack": ack}],
    }
    lab = lab_of(topology, consumers=1, workload={"kind": "uniform", "keys": 4, "rate": 9}, consumer_rate=60)
    lab.advance_to(9 * SECOND)
    flows = panels_of(lab.lanes["rabbitmq"])["rabbitmq"]["flows"]["programs"]
    found = per_second(flows, "/", "c1") if any(counts) else [0, 0, 0, 0]
    assert found == pytest.approx(counts, abs=0.5) and len(flows) == 6


def test_what_is_given_back_is_not_acknowledged() -> None:
    lab = Lab(scenario_from_text(read_file(shelf()["rabbitmq_poison_message"])))
    lab.advance_to(6 * SECOND)
    order(lab, "rabbitmq_publish", exchange="work", routing_key="poison", seconds=8)
    flows = panels_of(lab.lanes["rabbitmq"])["rabbitmq"]["flows"]["programs"]
    acked, given_back, rejected, auto = per_second(flows, "/", "c1")
    assert given_back > 5 > acked and rejected == auto == 0


def test_a_mandatory_message_that_goes_back_is_not_dropped() -> None:
    panel = panel_at("rabbitmq_mandatory_returned", 9)
    returned = sum(each["returned"] for each in panel["vhosts"]["/"]["returns"].values())
    (counts,) = {
        tuple(counts) for counts in list(panel["flows"]["exchanges"].values())[-1]["/"].values() if counts[2]
    }
    assert counts[2] and abs(counts[2] - returned) <= 12


def test_dead_letters_that_no_queue_gets_are_dropped_at_their_exchange() -> None:
    topology = {
        "exchanges": [{"name": "dead", "type": "direct"}],
        "queues": [{"name": "work", "arguments": {"x-dead-letter-exchange": "dead"}}],
        "publishers": [{"routing_key": "work"}],
        "consumers": [{"queue": "work", "ack": "reject"}],
    }
    lab = lab_of(topology, consumers=1, consumer_rate=60)
    lab.advance_to(5 * SECOND)
    panel = panels_of(lab.lanes["rabbitmq"])["rabbitmq"]
    graph = panel["vhosts"]["/"]
    assert graph["exchanges"]["dead"]["dropped"] == graph["dead_letters"]["work"]["reasons"]["rejected"] > 20


@pytest.mark.parametrize(("key", "unrouted"), [("key-1.created", None), ("nothing.has.this", True)])
def test_a_message_by_hand_that_no_queue_gets_says_so_beside_its_confirm(key: str, unrouted: Any) -> None:
    topology = {
        "exchanges": [{"name": "orders", "type": "topic"}],
        "queues": [{"name": "all"}],
        "bindings": [
            {
                "source": "orders",
                "destination": "all",
                "destination_type": "queue",
                "routing_key": "*.created",
            }
        ],
        "publishers": [{"exchange": "orders", "routing_key": "{key}.created"}],
        "consumers": [{"queue": "all"}],
    }
    lab = lab_of(topology, consumers=1)
    lab.advance_to(SECOND)
    events = order(lab, "rabbitmq_publish", exchange="orders", routing_key=key)
    (answer,) = [event for event in events if event["kind"] == "rabbitmq.operator.answered"]
    assert answer["data"].get("unrouted") is unrouted


def test_a_queue_whose_messages_expire_one_by_one_is_a_delay() -> None:
    topology = {
        "queues": [
            {
                "name": "wait",
                "arguments": {"x-dead-letter-exchange": "", "x-dead-letter-routing-key": "work"},
            },
            {"name": "work"},
        ],
        "publishers": [{"routing_key": "wait", "expiration": "4000"}],
        "consumers": [{"queue": "work"}],
    }
    lab = lab_of(topology, consumers=1)
    lab.advance_to(3 * SECOND)
    wait = panels_of(lab.lanes["rabbitmq"])["rabbitmq"]["vhosts"]["/"]["queues"]["wait"]
    assert (wait["is_delay"], wait["growing"]) == (True, "") and wait["ready"] > 9
