"""Branches of a lab: copies at a moment, with a name or with what was done in them that was not done in the others."""

import json
from typing import Any

import pytest
from django.conf import settings
from django.test import Client

from dashboard.models import Lab
from tests.dashboard.world import World

pytestmark = pytest.mark.django_db

ADA, BOB = "ada-" * 6, "bob-" * 6


def browser(visitor: str | None) -> Client:
    client = Client()
    if visitor is not None:
        client.cookies[settings.VISITOR_COOKIE] = visitor
    return client


def fork(lab: Lab, visitor: str | None, **request: Any) -> Any:
    return browser(visitor).post(
        f"/api/labs/{lab.pk}/fork/", json.dumps(request), content_type="application/json"
    )


def made(world: World, answer: Any) -> Lab:
    assert answer.status_code == 201, answer.text
    lab = Lab.objects.get(pk=answer.json()["id"])
    world.transport.watching.add(lab.pk)
    world.run(0.5)
    return lab


def branches(lab: Lab, visitor: str | None) -> dict[str, dict[str, Any]]:
    answer = browser(visitor).get(f"/api/labs/{lab.pk}/branches/")
    assert answer.status_code == 200, answer.text
    return {row["id"]: row for row in answer.json()["branches"]}


@pytest.fixture
def lab(world: World) -> Lab:
    lab = world.open()
    world.run(1)
    world.order(lab, "join")
    world.run(1)
    world.order(lab, "leave", consumer="c1")
    world.run(0.5)
    lab.refresh_from_db()
    return lab


def test_two_branches_of_a_moment_say_what_was_done_in_each(world: World, lab: Lab) -> None:
    left = next(row for row in lab.commands.order_by("position") if row.body["kind"] == "leave")
    assert left.at_us is not None
    one = made(world, fork(lab, ADA, until_us=left.at_us - 1))
    two = made(world, fork(lab, ADA, until_us=left.at_us - 1, speed=2, name="  slow and steady "))
    world.order(one, "crash", consumer="c2")
    world.run(0.5)
    found = branches(one, ADA)
    assert {row["id"]: row["is"] for row in found.values()} == {
        lab.pk: "parent",
        one.pk: "self",
        two.pk: "sibling",
    }
    assert found[lab.pk]["did"] == {"en": "c1 left", "zh-hans": "c1 离开"}
    assert found[one.pk]["did"] == {"en": "c2 crashed", "zh-hans": "c2 崩溃"}
    assert found[one.pk]["mark"] == {"kind": "crash", "color": 2} and found[two.pk]["mark"] is None
    assert found[two.pk]["did"] is None and found[two.pk]["name"] == "slow and steady"
    for branch in (one, two):
        assert (found[branch.pk]["left_at_us"], found[branch.pk]["left_position"]) == (
            left.at_us - 1,
            left.position - 1,
        )
    assert found[lab.pk]["left_at_us"] is None
    assert {row["is"] for row in branches(lab, ADA).values()} == {"self", "child"}


def test_nobody_is_told_of_the_branches_of_others(world: World, lab: Lab) -> None:
    own = made(world, fork(lab, ADA, until_position=1))
    other = made(world, fork(lab, BOB, until_position=1))
    program = made(world, fork(lab, None, until_position=1))
    assert set(branches(lab, ADA)) == {lab.pk, own.pk}
    assert set(branches(lab, BOB)) == {lab.pk, other.pk}
    assert set(branches(lab, None)) == {lab.pk, program.pk}
    Lab.objects.filter(pk=own.pk).delete()
    assert set(branches(lab, ADA)) == {lab.pk}


def test_a_branch_that_is_asked_for_again_takes_its_new_name(world: World, lab: Lab) -> None:
    first = made(world, fork(lab, ADA, until_position=1, name="first"))
    again = fork(lab, ADA, until_position=1, name="second")
    assert again.json()["id"] == first.pk and again.json()["name"] == "second"
    assert fork(lab, ADA, until_position=1).json()["name"] == "second"


@pytest.mark.parametrize("name", ["", "  ", "x" * 65, "a\nb", 7, ["a"]])
def test_a_name_that_no_lab_may_have_is_refused_at_its_field(lab: Lab, name: object) -> None:
    before = Lab.objects.count()
    answer = fork(lab, ADA, until_position=1, name=name)
    assert answer.status_code == 400 and set(answer.json()["fields"]) == {"name"}
    assert Lab.objects.count() == before


def test_an_unknown_lab_has_no_branches() -> None:
    assert browser(ADA).get("/api/labs/nothing/branches/").status_code == 404
