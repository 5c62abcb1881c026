"""A link opens a lab at the moment and speed at which it was copied: as a copy, paused; the original goes
on."""

from typing import Any

import pytest
from django.test import Client

from dashboard.errors import Refused
from dashboard.labs import selectors, services
from dashboard.models import Lab
from tests.dashboard.world import World

pytestmark = pytest.mark.django_db


def view_of(lab: Lab) -> dict[str, Any]:
    snapshot = selectors.lab_snapshot(lab_id=lab.pk)
    assert snapshot is not None
    view: dict[str, Any] = snapshot["view"]
    return view


def opened(world: World, lab: Lab, **moment: Any) -> Lab:
    copy = services.lab_fork(lab_id=lab.pk, request=moment).lab
    world.transport.watching.add(copy.pk)
    world.run(0.5)
    return copy


def seen(view: dict[str, Any]) -> dict[str, Any]:
    """What a page shows of the lab itself, without who drives it and how fast."""
    return {
        name: value for name, value in view.items() if name not in ("feed", "playing", "speed", "own_speed")
    }


def changed_lab(world: World) -> tuple[Lab, dict[str, Any]]:
    """A lab with a newcomer and another rule, its view then; then much more happens."""
    lab = world.open()
    world.run(1)
    world.order(lab, "join")
    world.run(1)
    world.order(lab, "set_algorithm", lane="rabbitmq", args={"algorithm": "prefetch_1"})
    world.run(0.5)
    world.order(lab, "speed", args={"speed": 4})
    world.run(0.5)
    then = view_of(lab)
    world.order(lab, "crash", consumer="c1")
    world.run(2)
    return lab, then


def test_copy_shows_the_lab_as_it_was_then_paused_at_its_speed(world: World) -> None:
    lab, then = changed_lab(world)
    copy = opened(
        world, lab, at_us=then["at_us"], position=max(int(place) for place in then["timeline"]), speed=4
    )
    now = view_of(copy)
    assert seen(now) == seen(then)
    assert (now["at_us"], now["playing"], now["speed"]) == (then["at_us"], False, 4)
    assert set(now["consumers"]) == {"c1", "c2", "c3", "c4"}
    assert now["lanes"]["rabbitmq"]["algorithm"] == "prefetch_1"
    assert now["lanes"]["pulsar"]["consumers"]["c1"]["state"] == "live"
    assert [event["id"] for event in selectors.events_since(lab_id=copy.pk, seq=0)] == [
        event["id"]
        for event in selectors.events_since(lab_id=lab.pk, seq=0)
        if event["at_us"] <= then["at_us"]
    ]


def test_copy_plays_on_by_itself_and_the_original_is_untouched(world: World) -> None:
    lab, then = changed_lab(world)
    journal = selectors.journal(lab=lab)
    copy = opened(world, lab, at_us=then["at_us"], speed=20)
    world.order(copy, "play")
    world.order(copy, "leave", consumer="c4")
    world.run(0.5)
    assert view_of(copy)["at_us"] > then["at_us"] and view_of(copy)["speed"] == 20
    assert selectors.journal(lab=Lab.objects.get(pk=lab.pk)) == journal
    assert "c4" in view_of(lab)["lanes"]["tubemq"]["consumers"]


def test_what_a_paused_lab_was_ordered_at_the_same_time_but_later_is_left_out(world: World) -> None:
    lab = world.open()
    world.run(1)
    world.order(lab, "pause_lab")
    first = world.order(lab, "join")
    world.run(0.3)
    then = view_of(lab)
    world.order(lab, "join")
    world.run(0.3)
    assert view_of(lab)["at_us"] - then["at_us"] < 20_000, "a paused lab lets a request through, and no more"
    assert set(view_of(opened(world, lab, at_us=then["at_us"], position=first["position"]))["consumers"]) == {
        "c1",
        "c2",
        "c3",
        "c4",
    }
    assert "c5" in view_of(opened(world, lab, at_us=then["at_us"]))["consumers"]


def test_a_step_that_was_made_after_the_link_was_copied_is_left_out(world: World) -> None:
    lab = world.open()
    world.run(1)
    world.order(lab, "pause_lab")
    world.run(0.3)
    then = view_of(lab)
    world.order(lab, "step")
    world.run(0.3)
    copy = opened(world, lab, at_us=then["at_us"], position=0)
    assert seen(view_of(copy)) == seen(then)


def test_copy_of_a_moment_does_the_script_that_came_after_it(world: World) -> None:
    body = {"command_id": "study:1", "kind": "join", "lane": "all", "consumer": "late", "args": {"count": 1}}
    lab = services.lab_open(request={}, script=[{"at_us": 2_000_000, "body": body}]).lab
    world.transport.watching.add(lab.pk)
    world.run(3)
    copy = opened(world, lab, at_us=1_000_000)
    assert "late" in view_of(lab)["consumers"] and "late" not in view_of(copy)["consumers"]
    world.order(copy, "play")
    world.run(2)
    assert "late" in view_of(copy)["consumers"]


def test_copy_of_a_copy_is_possible(world: World) -> None:
    lab, then = changed_lab(world)
    copy = opened(world, lab, at_us=then["at_us"], speed=4)
    assert seen(view_of(opened(world, copy, at_us=then["at_us"], speed=1))) == seen(then)


@pytest.mark.parametrize(
    ("moment", "field"),
    [
        ({"at_us": 10**12}, "at_us"),
        ({"at_us": -1}, "at_us"),
        ({"at_us": "soon"}, "at_us"),
        ({"at_us": True}, "at_us"),
        ({"at_us": 1.5}, "at_us"),
        ({"position": 3}, "at_us"),
        ({"at_us": 0, "position": -1}, "position"),
        ({"at_us": 0, "speed": 21}, "speed"),
        ({"at_us": 0, "speed": "fast"}, "speed"),
        ({"at_us": 0, "workload": {"key": "carrier"}}, "workload"),
    ],
)
def test_moment_that_is_none_is_refused_at_its_field(
    world: World, moment: dict[str, Any], field: str
) -> None:
    lab = world.open()
    world.run(1)
    with pytest.raises(Refused) as refused:
        services.lab_fork(lab_id=lab.pk, request=moment)
    assert refused.value.status == 400 and list(refused.value.fields) == [field]
    assert Lab.objects.count() == 1


def test_link_with_a_moment_makes_no_lab_until_somebody_opens_it_in_a_browser(world: World) -> None:
    lab = world.open()
    world.run(2)
    answer = Client().get(f"/lab/{lab.pk}/?at_us=1500000&position=1&speed=4")
    assert answer.status_code == 200 and Lab.objects.count() == 1
    assert "0:01.5" in answer.text and "×4" in answer.text and "copy" in answer.text


@pytest.mark.parametrize(
    "query",
    [
        "at_us=",
        "at_us=soon",
        "at_us=-5",
        "at_us=99999999999999999999",
        "at_us=1e3",
        "at_us=9000000000",
        "position=4",
        "speed=4",
        "at_us=0&speed=x",
        "at_us=0&speed=99",
        "at_us=0&position=%00",
    ],
)
def test_link_with_a_wrong_moment_says_so_and_leads_to_the_lab(world: World, query: str) -> None:
    lab = world.open()
    world.run(1)
    answer = Client().get(f"/lab/{lab.pk}/?{query}")
    assert answer.status_code == 400 and Lab.objects.count() == 1
    assert (
        f'href="/lab/{lab.pk}/"' in answer.text
        and "This link does not name a moment of the lab" in answer.text
    )


def test_a_link_opened_twice_gives_the_visitor_the_same_copy_until_it_is_changed(world: World) -> None:
    lab, then = changed_lab(world)
    moment = {"at_us": then["at_us"], "position": max(int(place) for place in then["timeline"]), "speed": 4}

    def fork(visitor: str | None, **changes: Any) -> services.OpenedLab:
        return services.lab_fork(lab_id=lab.pk, request={**moment, **changes}, visitor=visitor)

    first = fork("ann")
    again = fork("ann")
    assert again.lab.pk == first.lab.pk
    others = {
        fork("bob").lab.pk,
        fork(None).lab.pk,
        fork("ann", speed=1).lab.pk,
        fork("ann", at_us=then["at_us"] - 100_000).lab.pk,
    }
    assert len(others) == 4 and first.lab.pk not in others
    world.transport.watching.add(first.lab.pk)
    world.run(0.5)
    assert fork("ann").lab.pk == first.lab.pk  # looked at, not changed
    mine = fork("ann")
    services.lab_submit(
        lab_id=first.lab.pk, request={"command_id": "x", "kind": "play", "args": {}}, bearer=mine.owner_token
    )
    fresh = fork("ann").lab.pk
    assert fresh != first.lab.pk
    Lab.objects.filter(pk=fresh).update(status=Lab.Status.FAILED)
    assert fork("ann").lab.pk not in (fresh, first.lab.pk)
