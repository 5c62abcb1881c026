"""The code that ran, over HTTP: the last run of an algorithm at a moment, what it was given and what it gave."""

import json
import re
from typing import Any

import pytest
from django.test import Client

from broker_core.lab.code.catalogue import algorithms
from dashboard.labs.past.answering import answered
from dashboard.labs.past.kept import KeptLabs
from dashboard.labs.past.look import CODE, Look
from dashboard.models import Lab
from tests.dashboard.world import World

pytestmark = pytest.mark.django_db


@pytest.fixture
def lab(world: World) -> Lab:
    """Forty seconds; c4 joined at twelve, broker 2 crashed at eighteen."""
    lanes = [{"model": model} for model in ("pulsar", "kafka", "tubemq", "rabbitmq")]
    lab = world.open(lanes=lanes, workload={"kind": "uniform", "keys": 100, "rate": 36})
    world.run(12.0)
    world.order(lab, "join")
    world.run(6.0)
    world.order(lab, "cluster_crash", lane="kafka", args={"broker": 2})
    world.run(22.0)
    world.order(lab, "pause_lab")
    world.run(0.2)
    lab.refresh_from_db()
    return lab


def run(lab: Lab, lane: str, of: str, **rest: Any) -> tuple[int, Any]:
    kept = KeptLabs()
    look = Look(
        lab=lab.pk,
        kind=CODE,
        language="en",
        look="x",
        lane=lane,
        thing=of,
        **{"at_us": lab.clock_floor_us, **rest},
    )
    status, text = answered(look, kept, lambda: None)
    assert not kept.labs  # a watched lab is nobody's picture
    return status, json.loads(text)


def at_end(call: Any) -> dict[str, str]:
    """The variables as the call left them."""
    known = dict(call["given"])
    for step in call["steps"]:
        known |= step["changed"]
    return known


def test_a_rule_that_runs_at_changes_is_found_at_the_last_of_them(lab: Lab) -> None:
    status, told = run(lab, "kafka", "kafka.range")
    call = told["call"]
    assert status == 200 and 12_000_000 < call["at_us"] < 18_000_000
    assert sorted(name for name in ("c1", "c2", "c3", "c4") if name in call["given"]["subscriptions"]) == [
        "c1", "c2", "c3", "c4",
    ]  # fmt: skip
    assert call["result"] == at_end(call)["assignment"] and "('records', 2)" in call["result"]
    numbers = [line["number"] for line in told["source"]["lines"]]
    assert {step["line"] for step in call["steps"]} <= set(numbers)
    text = ["".join(part for _kind, part in line["parts"]) for line in told["source"]["lines"]]
    last = text[numbers.index(call["steps"][-1]["line"])]
    assert last.strip() == "return assignment"


def test_what_runs_all_the_time_is_of_the_last_two_seconds(lab: Lab) -> None:
    told = run(lab, "kafka", "kafka.producer_places")[1]
    call = told["call"]
    assert lab.clock_floor_us - call["at_us"] < 2_000_000
    known = at_end(call)
    assert known["partition"] == f"('records', {known['number']})"
    hashed = int(re.search(r"key_hash=(\d+)", call["given"]["record"])[1])  # type: ignore[index]
    assert int(known["number"]) == hashed % int(known["count"])


def test_a_moment_has_its_own_last_run(lab: Lab) -> None:
    early = run(lab, "kafka", "kafka.range", at_us=11_900_000)[1]["call"]
    assert early["at_us"] < 12_000_000 and "c4" not in early["given"]["subscriptions"]
    late, again = (run(lab, "pulsar", "pulsar.ring_join")[1] for _ in range(2))
    assert late == again, "the same moment has the same run"
    assert late["call"]["at_us"] < 13_000_000 and "c4" in late["call"]["given"]["name"]


def test_what_has_not_run_says_so(lab: Lab) -> None:
    told = run(lab, "kafka", "kafka.truncation_point", at_us=11_000_000)[1]
    assert told["call"] is None and told["since_us"] == 0
    assert told["source"]["name"] == "Fetcher._point_of_truncation"


@pytest.mark.parametrize(
    ("lane", "of", "field"),
    [("nowhere", "kafka.range", "lane"), ("kafka", "kafka.none", "of"), ("kafka", "pulsar.active", "of")],
)
def test_what_there_is_not_is_refused_at_its_field(lab: Lab, lane: str, of: str, field: str) -> None:
    status, told = run(lab, lane, of)
    assert status == 400 and list(told["fields"]) == [field]


def test_the_list_has_each_algorithm_of_the_labs_lanes(lab: Lab) -> None:
    lanes = Client().get(f"/api/labs/{lab.pk}/code/").json()["lanes"]
    found = [row["id"] for rows in lanes.values() for row in rows]
    assert sorted(found) == sorted(algorithms())
    assert Client().get("/api/labs/none/code/").status_code == 404
