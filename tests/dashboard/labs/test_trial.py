"""A change that is tried on a lab's past or present: what comes of it, and that the lab is left alone."""

import json
from typing import Any

import pytest
from django.test import Client

from dashboard.errors import Refused
from dashboard.labs.past.answering import answered
from dashboard.labs.past.kept import KeptLabs
from dashboard.labs.past.look import KEY_MAX, TRIAL, Look, look_of
from dashboard.lessons import lesson_open
from dashboard.models import Lab
from tests.dashboard.world import World

pytestmark = pytest.mark.django_db
JOIN = {"command_id": "trial", "kind": "join", "lane": "all", "consumer": None, "args": {"count": 1}}


@pytest.fixture
def lab(world: World) -> Lab:
    lab = world.open(workload={"kind": "zipf", "keys": 40, "rate": 30})
    world.run(3.0)
    world.order(lab, "pause_lab")
    world.run(0.2)
    lab.refresh_from_db()
    return lab


def tried(lab: Lab, kept: KeptLabs | None = None, **rest: Any) -> tuple[int, Any]:
    look = Look(lab=lab.pk, kind=TRIAL, language="en", look="x", **{"at_us": lab.clock_floor_us, **rest})
    status, text = answered(look, kept or KeptLabs(), lambda: None)
    return status, json.loads(text)


def test_a_trial_says_what_comes_of_a_change_and_leaves_the_lab_as_it_is(lab: Lab) -> None:
    kept, before = KeptLabs(), lab.commands.count()
    first, again = (tried(lab, kept, order=JOIN, key="k7") for _ in range(2))
    assert first == again and first[0] == 200 and not kept.labs
    outcome = first[1]["lanes"]["tubemq"]["outcome"]
    assert outcome["bill"]["kind"] == "join" and outcome["bill"]["settled"] and outcome["questions"]
    assert first[1]["lanes"]["tubemq"]["key"]["after"]["consumer"]
    assert lab.commands.count() == before


def test_without_a_change_it_says_who_has_the_key_now(lab: Lab) -> None:
    status, told = tried(lab, key="k7")
    assert status == 200 and told["lanes"]["pulsar"]["key"]["now"]["consumer"] in {"c1", "c2", "c3"}
    assert {lane["outcome"] for lane in told["lanes"].values()} == {None}


def test_what_the_lab_would_refuse_is_refused_at_its_field(lab: Lab) -> None:
    kept = KeptLabs()
    status, told = tried(lab, kept, order={**JOIN, "kind": "leave", "consumer": "nobody", "args": {}})
    assert status == 400 and list(told["fields"]) == ["consumer"] and not kept.labs


@pytest.mark.parametrize(
    ("query", "field"),
    [
        ({"kind": "nonsense"}, "kind"),
        ({"kind": "speed"}, "kind"),
        ({"kind": "join", "count": "0"}, "count"),
        ({"kind": "join", "count": "many"}, "count"),
        ({"kind": "leave"}, "consumer"),
        ({"kind": "leave", "consumer": "c 1"}, "consumer"),
        ({"kind": "join", "lane": "no such lane"}, "lane"),
        ({"consumer": "c1"}, "consumer"),
        ({"key": ""}, "key"),
        ({"key": "x" * (KEY_MAX + 1)}, "key"),
        ({"key": "k", "at_us": "999999999999"}, "at_us"),
        ({"keys": "k"}, "keys"),
    ],
)
def test_what_is_wrong_is_refused_at_its_field(
    client: Client, lab: Lab, query: dict[str, str], field: str
) -> None:
    answer = client.get(f"/api/labs/{lab.pk}/trial/", query)
    assert answer.status_code == 400 and list(answer.json()["fields"]) == [field], answer.text


def test_what_names_no_moment_is_tried_at_the_present(lab: Lab) -> None:
    look = look_of(lab, TRIAL, {"key": "k1", "kind": "leave", "consumer": "c1"})
    assert look.at_us == json.loads(lab.view.text)["at_us"] and look.until_position is None
    assert look.order == {"command_id": "trial", "kind": "leave", "lane": "all", "consumer": "c1", "args": {}}
    assert look_of(lab, TRIAL, {"key": "k1", "at_us": "1000"}).at_us == 1000


def test_a_lessons_next_order_is_tried_at_its_own_time(world: World, lab: Lab) -> None:
    refused = tried(lab, is_next=True)
    assert refused[0] == 400 and list(refused[1]["fields"]) == ["next"]
    played = lesson_open(name="pulsar_ring_join", visitor=None, address="").lab
    world.transport.watching.add(played.pk)
    world.run(14.0)
    told = tried(played, at_us=13_000_000, is_next=True)[1]
    assert told["at_us"] == 15_000_000 and told["order"]["kind"] == "join"
    assert told["lanes"]["pulsar"]["outcome"]["questions"][0]["figure"] == "keys_moved"


@pytest.mark.parametrize("query", [{"next": "2"}, {"next": "1", "kind": "join"}])
def test_the_next_order_stands_alone(lab: Lab, query: dict[str, str]) -> None:
    with pytest.raises(Refused) as refused:
        look_of(lab, TRIAL, query)
    assert list(refused.value.fields) == ["next"]
