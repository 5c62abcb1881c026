"""A record's passport over HTTP: what became of it, orders in between included."""

import json
from typing import Any

import pytest
from django.test import Client

from dashboard.labs.past.answering import answered
from dashboard.labs.past.kept import KeptLabs
from dashboard.labs.past.look import PASSPORT, Look
from dashboard.models import Lab
from tests.dashboard.world import World

pytestmark = pytest.mark.django_db


@pytest.fixture
def lab(world: World) -> Lab:
    """Fourteen seconds of 30 records each; c2 crashed at five."""
    lab = world.open(workload={"kind": "zipf", "keys": 40, "rate": 30})
    world.run(5.0)
    world.order(lab, "crash", consumer="c2")
    world.run(9.0)
    world.order(lab, "pause_lab")
    world.run(0.2)
    lab.refresh_from_db()
    return lab


def passport(lab: Lab, **rest: Any) -> tuple[int, Any]:
    kept = KeptLabs()
    look = Look(lab=lab.pk, kind=PASSPORT, language="en", look="x", **{"at_us": lab.clock_floor_us, **rest})
    status, text = answered(look, kept, lambda: None)
    assert not kept.labs  # a watched lab is nobody's picture
    return status, json.loads(text)


def test_a_record_is_followed_to_the_moment_that_is_asked_about(lab: Lab) -> None:
    status, told = passport(lab, record=30)
    assert status == 200 and told["record"] == 30 and told["until_us"] == lab.clock_floor_us
    done = [step for lane in told["lanes"].values() for step in lane["steps"] if step["kind"] == "done"]
    assert done
    at_us = min(step["at_us"] for step in done) - 1
    earlier = passport(lab, record=30, at_us=at_us)[1]
    assert earlier["until_us"] == at_us
    for lane_id, lane in earlier["lanes"].items():
        assert lane["steps"] == [step for step in told["lanes"][lane_id]["steps"] if step["at_us"] <= at_us]


def test_an_order_in_between_is_carried_out(lab: Lab) -> None:
    crashed_us = lab.commands.get(body__kind="crash").at_us
    lanes = passport(lab, record=30)[1]["lanes"]
    after = [step for lane in lanes.values() for step in lane["steps"] if step["at_us"] > crashed_us]
    assert all(step["consumer"] != "c2" for step in after)


def test_the_newest_record_of_a_key_is_taken(lab: Lab) -> None:
    key = passport(lab, record=40)[1]["key"]
    newest = passport(lab, key=key)[1]
    assert newest["key"] == key and newest["record"] >= 40


def test_without_a_record_it_is_one_of_half_a_minute_ago_or_the_first(lab: Lab) -> None:
    assert passport(lab)[1]["record"] == 0


@pytest.mark.parametrize(
    ("query", "field"),
    [
        ({"record": "1", "key": "k"}, "record"),
        ({"record": "-1"}, "record"),
        ({"record": "x"}, "record"),
        ({"record": "1", "at_us": "999999999999"}, "at_us"),
        ({"key": ""}, "key"),
        ({"record": "1", "kind": "join"}, "kind"),
    ],
)
def test_what_is_wrong_is_refused_at_its_field(
    client: Client, lab: Lab, query: dict[str, str], field: str
) -> None:
    answer = client.get(f"/api/labs/{lab.pk}/passport/", query)
    assert answer.status_code == 400 and list(answer.json()["fields"]) == [field], answer.text


@pytest.mark.parametrize(("asked", "field"), [({"record": 9_999}, "record"), ({"key": "nothing"}, "key")])
def test_a_record_that_was_not_sent_has_none(lab: Lab, asked: dict[str, Any], field: str) -> None:
    status, told = passport(lab, **asked)
    assert status == 400 and list(told["fields"]) == [field]
