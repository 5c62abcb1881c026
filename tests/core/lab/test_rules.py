"""The rules' version is raised when labs take another course: digests of a few courses are recorded with it,
in rules_course.json.

`python -m tests.core.lab.test_rules` records them under a version that was raised, and refuses to under one
that was not.
"""

import hashlib
import json
import sys
from collections.abc import Callable
from functools import cache
from pathlib import Path

import pytest

from broker_core.events import Json
from broker_core.lab.lab import Lab
from broker_core.lab.rules import RULES_VERSION
from broker_core.lab.scenario import scenario_from_json
from tests.core.lab.journals import random_life

pytestmark = pytest.mark.xdist_group("courses")  # each is lived once, in one process
RECORDED = Path(__file__).with_name("rules_course.json")
SECOND = 1_000_000


def demo() -> list[Json]:
    return Lab(scenario_from_json({"name": "demo"})).advance_to(90 * SECOND)


def ordered_about(seed: int) -> list[Json]:
    """A random life's journal, replayed: joins, leaves, crashes, slow consumers and other algorithms in all
    four lanes."""
    scenario, journal, ended = random_life(seed)
    lab = Lab(scenario)
    events: list[Json] = []
    for command in journal:
        events += lab.advance_to(command["at_us"])
        events += lab.submit(command)
    return events + lab.advance_to(ended.now_us)


def lanes(*of: Json) -> Callable[[], list[Json]]:
    """Forty seconds with a crash and a newcomer."""

    def course() -> list[Json]:
        lab = Lab(
            scenario_from_json(
                {"lanes": list(of), "consumers": 3, "workload": {"kind": "zipf", "keys": 300, "rate": 60}}
            )
        )
        events = lab.advance_to(10 * SECOND)
        for position, (kind, consumer) in enumerate((("crash", "c1"), ("join", None)), start=1):
            order = {
                "kind": kind,
                "lane": "all",
                "consumer": consumer,
                "args": {},
                "command_id": f"x{position}",
            }
            events += lab.submit({**order, "position": position, "at_us": lab.now_us})
            events += lab.advance_to(lab.now_us + 15 * SECOND)
        return events

    return course


COURSES: dict[str, Callable[[], list[Json]]] = {
    "demo": demo,
    **{f"ordered about, seed {seed}": lambda seed=seed: ordered_about(seed) for seed in (3, 11)},
    "a Kafka cluster": lanes(
        {"model": "kafka", "brokers": 3, "partitions": 6, "algorithm": "cooperative-sticky"}
    ),
    "Pulsar's other subscriptions": lanes(
        {"model": "pulsar", "algorithm": "shared"}, {"id": "f", "model": "pulsar", "algorithm": "failover"}
    ),
    "TubeMQ on brokers, RabbitMQ with a limit": lanes(
        {"model": "tubemq", "brokers": 2}, {"model": "rabbitmq", "algorithm": "prefetch_5"}
    ),
}


@cache
def events_of(name: str) -> list[Json]:
    return COURSES[name]()


def digest(events: list[Json]) -> str:
    """Of what happened, when, in which lane, and to whom; not of causes and rules, which only explain it."""
    facts = [(event["at_us"], event["lane"], event["kind"], event["data"]) for event in events]
    return hashlib.sha256(json.dumps(facts, sort_keys=True).encode()).hexdigest()[:16]


def recorded() -> Json:
    return dict(json.loads(RECORDED.read_text(encoding="utf-8")))


def test_the_courses_are_recorded_under_todays_version() -> None:
    kept = recorded()
    assert kept["version"] == RULES_VERSION, "record them: python -m tests.core.lab.test_rules"
    assert kept["courses"].keys() == COURSES.keys()


@pytest.mark.parametrize("name", COURSES)
def test_a_lab_takes_the_course_that_is_recorded_under_this_version(name: str) -> None:
    kept = recorded()
    if kept["version"] == RULES_VERSION:
        assert digest(events_of(name)) == kept["courses"][name], (
            "Labs take another course than before. Is that right? Then raise RULES_VERSION in "
            "broker_core/lab/rules.py, so that"
            " older labs say so, and record the courses: python -m tests.core.lab.test_rules"
        )


def test_a_course_is_more_than_a_few_events() -> None:
    """What the digest guards: the parametrized courses hold joins, crashes and changes of owners in each
    model."""
    models = {event["kind"].partition(".")[0] for name in COURSES for event in events_of(name)}
    assert {"pulsar", "kafka", "tubemq", "rabbitmq"} <= models


def record() -> int:
    """Write the courses down. 1 when they differ under the same version."""
    kept = recorded() if RECORDED.exists() else {"version": 0, "courses": {}}
    courses = {name: digest(events_of(name)) for name in COURSES}
    changed = [name for name, course in courses.items() if kept["courses"].get(name, course) != course]
    if changed and kept["version"] == RULES_VERSION:
        print(
            f"Other courses ({', '.join(changed)}) under the same version {RULES_VERSION}: raise it first.",
            file=sys.stderr,
        )
        return 1
    document = {"version": RULES_VERSION, "courses": courses}
    RECORDED.write_text(json.dumps(document, indent=2) + "\n", encoding="utf-8")
    return 0


if __name__ == "__main__":
    sys.exit(record())
