"""Why on anything over HTTP: of the present and of the past, from the lab's stored turning points."""

import json
from typing import Any

import pytest
from django.test import Client

from dashboard.labs.past.answering import answered
from dashboard.labs.past.kept import KeptLabs
from dashboard.labs.past.look import WHY, Look
from dashboard.models import Lab, StoredEvent
from tests.dashboard.world import World

pytestmark = pytest.mark.django_db


@pytest.fixture
def lab(world: World) -> Lab:
    """Eighty seconds; c2 crashed at 20, and Kafka's coordinator found out at about 65."""
    lab = world.open(
        workload={"kind": "zipf", "keys": 40, "rate": 30}, lanes=[{"model": "kafka"}, {"model": "pulsar"}]
    )
    world.run(20.0)
    world.order(lab, "crash", consumer="c2")
    world.run(60.0)
    world.order(lab, "pause_lab")
    world.run(0.2)
    lab.refresh_from_db()
    return lab


def why(lab: Lab, lane: str, thing: str, kept: KeptLabs | None = None, **rest: Any) -> tuple[int, Any]:
    given = {"at_us": lab.clock_floor_us, **rest}
    look = Look(lab=lab.pk, kind=WHY, language="en", look="x", lane=lane, thing=thing, **given)
    status, text = answered(look, kept or KeptLabs(), lambda: None)
    return status, json.loads(text)


def test_a_partitions_owner_goes_back_to_the_order(lab: Lab) -> None:
    crash = lab.commands.get(body__kind="crash")
    status, told = why(lab, "kafka", "partition:5")
    assert status == 200 and told["at_us"] == lab.clock_floor_us
    assert told["says"]["code"] == "why.is.partition.read" and told["says"]["params"]["consumer"] != "c2"
    kinds = [event["kind"] for event in told["chain"]]
    assert kinds[0] == "kafka.group.member_expired" and "kafka.group.assigned" in kinds
    assert told["chain"][0]["cause"] == {"command": crash.position}
    assert told["orders"][str(crash.position)]["kind"] == "crash"
    stored = {row.event["id"] for row in StoredEvent.objects.filter(lab=lab)}
    assert {event["id"] for event in told["chain"]} <= stored


def test_the_past_has_the_answer_of_then(lab: Lab) -> None:
    crash_us = lab.commands.get(body__kind="crash").at_us
    kept = KeptLabs()
    for at_us, code in ((crash_us - 1, "read"), (crash_us + 1, "paused")):
        told = why(lab, "kafka", "partition:5", kept, at_us=at_us)[1]
        assert told["at_us"] == at_us and told["says"]["params"]["consumer"] == "c2"
        assert told["says"]["code"] == f"why.is.partition.{code}"
        assert all(event["at_us"] <= at_us for event in told["chain"])
    assert len(kept.labs) == 1  # the next question goes on from there


def test_the_present_is_meant_where_no_moment_is_named(client: Client, lab: Lab) -> None:
    from dashboard.labs import selectors
    from dashboard.labs.past.look import look_of

    look = look_of(selectors.lab_get(lab_id=lab.pk), WHY, {"lane": "kafka", "thing": "consumer:c1"})
    assert look.at_us == lab.clock_floor_us and (look.lane, look.thing) == ("kafka", "consumer:c1")


@pytest.mark.parametrize(
    ("query", "field"),
    [
        ({"lane": "kafka"}, "thing"),
        ({"thing": "consumer:c1"}, "lane"),
        ({"lane": "kafka", "thing": "x" * 301}, "thing"),
        ({"lane": "kafka", "thing": "consumer:c1", "kind": "join"}, "kind"),
    ],
)
def test_what_is_wrong_is_refused_at_its_field(
    client: Client, lab: Lab, query: dict[str, str], field: str
) -> None:
    answer = client.get(f"/api/labs/{lab.pk}/why/", query)
    assert answer.status_code == 400 and list(answer.json()["fields"]) == [field], answer.text


@pytest.mark.parametrize(
    ("lane", "thing", "field"),
    [("nowhere", "consumer:c1", "lane"), ("kafka", "consumer:c9", "thing"), ("kafka", "colour:red", "thing")],
)
def test_what_the_lab_does_not_have_is_refused_too(lab: Lab, lane: str, thing: str, field: str) -> None:
    status, told = why(lab, lane, thing)
    assert status == 400 and list(told["fields"]) == [field]


def test_the_beginning_is_known_though_its_turning_points_are_not_stored(lab: Lab) -> None:
    """c1 connected before the lab's clock began, and kept its place in the ring."""
    told = why(lab, "pulsar", "cursor:-1")[1]
    assert told["since_us"] is None and told["chain"] == []
    told = why(lab, "pulsar", "consumer:c3", at_us=1_000_000)[1]
    assert told["since_us"] == 0 and told["chain"][-1]["at_us"] < 0
    ids = {event["id"] for event in told["chain"]}
    assert not StoredEvent.objects.filter(lab=lab, at_us__lt=0).exists() and ids


def test_marks_of_the_system_alone_need_no_lab(lab: Lab, client: Client) -> None:
    from dashboard.labs.past.look import MARKS

    def marks(**given: Any) -> list[Any]:
        kept = KeptLabs()
        look = Look(lab=lab.pk, kind=MARKS, language="en", look="x", **given)
        status, text = answered(look, kept, lambda: None)
        assert status == 200 and bool(kept.labs) != bool(given)
        return list(json.loads(text)["marks"])

    own, every = marks(only="system"), [mark for mark in marks() if mark["by"] == "system"]
    strip = ("color", "position")
    assert own == [{name: mark[name] for name in mark if name not in strip} for mark in every]
    assert "kafka.group.member_expired" in {mark["kind"] for mark in own}
    refused = client.get(f"/api/labs/{lab.pk}/marks/", {"only": "mine"})
    assert refused.status_code == 400 and list(refused.json()["fields"]) == ["only"]
