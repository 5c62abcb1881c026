"""A broker's log at a moment of its lab's past: what it had on its disk then, to the byte."""

from typing import Any

import pytest
from asgiref.sync import sync_to_async
from django.test import Client

from dashboard.labs.past.answering import answered
from dashboard.labs.past.kept import KeptLabs
from dashboard.labs.past.look import Look
from dashboard.logs import moments
from dashboard.logs.writer import LogWriter
from dashboard.models import Lab
from tests.dashboard.world import World

pytestmark = [pytest.mark.django_db, pytest.mark.usefixtures("run_dir")]


@pytest.fixture
def kept(monkeypatch: pytest.MonkeyPatch) -> KeptLabs:
    """The worker that looks back, in this process."""
    labs = KeptLabs()

    async def ask(look: Look) -> tuple[int, bytes]:
        status, text = await sync_to_async(lambda: answered(look, labs, lambda: None))()
        return status, text.encode()

    monkeypatch.setattr(moments, "ask", ask)
    return labs


@pytest.fixture
def lab(world: World, kept: KeptLabs) -> Lab:
    """Twenty seconds; broker 2 crashed at ten."""
    lab = world.open(
        lanes=[{"model": "kafka", "partitions": 3, "brokers": 3, "segment_ms": 4_000}], workload={"rate": 40}
    )
    world.run(10)
    world.order(lab, "cluster_crash", args={"broker": 2})
    world.run(10)
    world.order(lab, "pause_lab")
    world.run(0.5)
    lab.refresh_from_db()
    return lab


def ask(lab: Lab, question: str = "", **query: Any) -> Any:
    return Client().get(f"/api/labs/{lab.pk}/kafka/log/{question}", query)


def written(lab: Lab, **query: Any) -> Any:
    ask(lab, **query)
    LogWriter().turn()
    return ask(lab, **query).json()


def test_the_folder_is_what_the_broker_had_then(world: World, lab: Lab) -> None:
    ask(lab, partition=1, broker=1)
    world.run(2.5)
    now = written(lab, partition=1, broker=1)
    then = written(lab, partition=1, broker=1, until_us=8_000_000)
    assert then["is_past"] and then["at_us"] == 8_000_000 and not now["is_past"]
    assert 0 < then["end_offset"] < now["end_offset"] and then["records_of_lab"] == 320
    assert then["behind_us"] == 0 and then["segments"][-1]["active"]
    both = [segment for segment in then["segments"][:-1] if segment["state"] != "deleted"]
    kept = {segment["base_offset"]: segment for segment in now["segments"]}
    for segment in both:  # a closed segment stays as it is, to the byte
        if segment["base_offset"] in kept and kept[segment["base_offset"]]["state"] != "deleted":
            assert segment["bytes"] == kept[segment["base_offset"]]["bytes"]


def test_roles_and_conditions_are_those_of_then(lab: Lab) -> None:
    before = written(lab, partition=0, broker=2, until_us=9_000_000)
    after = written(lab, partition=0, broker=2, until_us=19_000_000)
    conditions = [
        {each["id"]: each["condition"] for each in found["brokers"]}[2] for found in (before, after)
    ]
    assert conditions[0] == "running" and conditions[1] == "crashed"
    assert before["end_offset"] < after["end_offset"] <= before["end_offset"] + 20


def test_a_look_up_searches_the_log_of_then(lab: Lab) -> None:
    then = written(lab, partition=1, broker=1, until_us=8_000_000)
    last = then["end_offset"] - 1
    found = ask(lab, "lookup/", partition=1, broker=1, until_us=8_000_000, offset=last).json()
    assert found["found"] == last
    late = ask(lab, "lookup/", partition=1, broker=1, until_us=8_000_000, offset=last + 1)
    assert late.status_code == 200 and late.json()["found"] is None


@pytest.mark.parametrize(
    ("query", "status", "field"),
    [
        ({"until_us": "soon"}, 400, "until_us"),
        ({"until_us": 10**12}, 400, "until_us"),
        ({"until_us": 5_000_000, "until_position": "x"}, 400, "until_position"),
        ({"until_us": 5_000_000, "broker": 8}, 404, "broker"),
        ({"until_us": 5_000_000, "topic": "none"}, 400, "topic"),
        ({"until_us": 5_000_000, "look": "!"}, 400, "look"),
    ],
)
def test_what_cannot_be_is_refused_at_its_field(
    lab: Lab, query: dict[str, Any], status: int, field: str
) -> None:
    refused = ask(lab, **query)
    fields = refused.json()["fields"]
    assert refused.status_code == status and list(fields) == [field]
    assert [type(reason) for reason in fields[field]] == [str]


def test_the_shard_says_nothing_of_a_folder_of_the_past(world: World, lab: Lab) -> None:
    written(lab, partition=1, broker=1, until_us=8_000_000)
    world.order(lab, "play")
    world.run(6.0)
    assert written(lab, partition=1, broker=1, until_us=8_000_000)["at_us"] == 8_000_000
