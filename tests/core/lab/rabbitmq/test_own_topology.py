"""After a restart a program declares what it used again, where its user may; where it cannot, the page says with which
code and text it was refused."""

from __future__ import annotations

from typing import Any

import pytest

from broker_core.lab.lab import Lab
from broker_core.lab.lesson.file import read_file, scenario_from_text, shelf
from broker_core.lab.panels import panels_of
from tests.core.lab.rabbitmq.test_topology import SECOND, lab_of, order

SHELF = shelf()
TOPOLOGIES = [
    name for name in SHELF if name.startswith("rabbitmq_") and "[lane.topology]" in read_file(SHELF[name])
]


def restarted(lab: Lab, lane: str) -> tuple[Any, Any]:
    """The panel before a crash, and after the programs have connected again."""
    lab.advance_to(6 * SECOND)
    before = panels_of(lab.lanes[lane])["rabbitmq"]
    for place, verb in enumerate(("crash", "start")):
        given = {"command_id": f"x{place}", "kind": f"rabbitmq_{verb}", "lane": lane, "args": {}}
        lab.submit(given)
        lab.advance_to(lab.now_us + 2 * SECOND)
    lab.advance_to(lab.now_us + 16 * SECOND)
    return before, panels_of(lab.lanes[lane])["rabbitmq"]


@pytest.mark.parametrize("scenario", TOPOLOGIES)
def test_programs_of_every_scenario_work_again_after_a_crash(scenario: str) -> None:
    lab = Lab(scenario_from_text(read_file(SHELF[scenario])))
    for lane in list(lab.lanes):
        if lab.lanes[lane].reads.topology is None:
            continue
        lab = Lab(scenario_from_text(read_file(SHELF[scenario])))
        before, after = restarted(lab, lane)
        for vhost, graph in before["vhosts"].items():
            now = after["vhosts"][vhost]
            assert {
                each["queue"] for each in graph["consumers"].values() if "amq.gen" not in each["queue"]
            } <= set(now["queues"])
            assert len(now["consumers"]) == len(graph["consumers"])
            assert graph["exchanges"].keys() == now["exchanges"].keys()
            bound = {key for key, each in graph["bindings"].items() if "amq.gen" not in each["destination"]}
            assert bound <= now["bindings"].keys()
        assert after["refused"] == before["refused"]


def test_what_a_program_may_not_declare_it_leaves_and_its_row_says_what_it_lacks() -> None:
    topology = {
        "users": [{"name": "till", "password": "till"}],
        "permissions": [{"user": "till", "vhost": "/", "configure": "", "write": ".*", "read": ".*"}],
        "queues": [{"name": "work", "durable": False}, {"name": "kept"}],
        "publishers": [{"routing_key": "kept"}],
        "consumers": [{"queue": "work", "user": "till"}, {"queue": "kept"}],
    }
    lab = lab_of(topology, consumers=2)
    before, after = restarted(lab, "rabbitmq")
    assert before["refused"] == {}
    assert after["refused"] == {"c1": "404 NOT_FOUND - no queue 'work' in vhost '/'"}
    assert [each["name"] for each in after["vhosts"]["/"]["consumers"].values()] == ["c2"]


def test_a_publisher_that_cannot_make_its_exchange_says_so() -> None:
    topology = {
        "users": [{"name": "till", "password": "till"}],
        "permissions": [{"user": "till", "vhost": "/", "configure": "", "write": ".*", "read": ".*"}],
        "exchanges": [{"name": "x", "type": "fanout", "durable": False}],
        "queues": [{"name": "kept"}],
        "publishers": [{"exchange": "x", "user": "till", "name": "till"}],
        "consumers": [{"queue": "kept"}],
    }
    _, after = restarted(lab_of(topology, consumers=1), "rabbitmq")
    assert after["refused"] == {"till": "404 NOT_FOUND - no exchange 'x' in vhost '/'"}


def test_where_dead_letters_and_unrouted_messages_go_is_made_again() -> None:
    topology = {
        "exchanges": [
            {"name": "x", "type": "direct", "durable": False, "arguments": {"alternate-exchange": "rest"}},
            {"name": "rest", "type": "fanout", "durable": False},
            {"name": "dead", "type": "fanout", "durable": False},
        ],
        "queues": [
            {"name": "work", "durable": False, "arguments": {"x-dead-letter-exchange": "dead"}},
            {"name": "morgue", "durable": False},
            {"name": "left", "durable": False},
        ],
        "bindings": [
            {"source": source, "destination": to, "destination_type": "queue", "routing_key": key}
            for source, to, key in (("x", "work", "a"), ("rest", "left", ""), ("dead", "morgue", ""))
        ],
        "publishers": [{"exchange": "x", "routing_key": ["a", "b"]}],
        "consumers": [{"queue": "work", "ack": "reject"}],
    }
    _, after = restarted(lab_of(topology, consumers=1), "rabbitmq")
    graph = after["vhosts"]["/"]
    assert {name: each["published"] > 9 for name, each in graph["queues"].items()} == {
        "work": True, "morgue": True, "left": True,
    }  # fmt: skip


def test_what_a_person_made_is_not_the_programs_own() -> None:
    topology = {
        "queues": [{"name": "work", "durable": False}],
        "publishers": [{"routing_key": "work"}],
        "consumers": [{"queue": "work"}],
    }
    lab = lab_of(topology, consumers=1)
    order(lab, "rabbitmq_declare_queue", vhost="/", name="mine", durable=False)
    _, after = restarted(lab, "rabbitmq")
    assert list(after["vhosts"]["/"]["queues"]) == ["work"]
