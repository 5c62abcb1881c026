"""A lab with a script gives itself its commands when their virtual time has come, once, whichever process
drives it."""

from typing import Any

import pytest

from dashboard.labs import selectors, services, writes
from dashboard.models import Lab, StoredCommand
from tests.dashboard.world import World

pytestmark = pytest.mark.django_db


def entry(at_s: float, kind: str, consumer: str) -> dict[str, Any]:
    args = {"count": 1} if kind == "join" else {}
    body = {
        "command_id": f"study:{kind}-{consumer}",
        "kind": kind,
        "lane": "all",
        "consumer": consumer,
        "args": args,
    }
    return {"at_us": int(at_s * 1_000_000), "body": body}


SCRIPT = [entry(1, "join", "c4"), entry(2, "leave", "c1"), entry(3, "join", "c5")]


def opened(world: World, script: list[dict[str, Any]]) -> Lab:
    lab = services.lab_open(request={}, script=script).lab
    world.transport.watching.add(lab.pk)
    return lab


def play(world: World, lab: Lab, seconds: float) -> None:
    """Somebody opens this lab and watches it for so long."""
    world.transport.watching.add(lab.pk)
    services.lab_watched(lab_ids=[lab.pk], wake=True)
    world.run(seconds)


def commands(lab: Lab) -> list[tuple[str, str | None, int]]:
    return [
        (command["kind"], command["consumer"], command["at_us"] // 1_000_000)
        for command in selectors.journal(lab=lab)["commands"]
    ]


def test_script_plays_at_its_times_and_goes_into_the_journal(world: World) -> None:
    lab = opened(world, SCRIPT)
    world.run(1.5)
    assert commands(lab) == [("play", None, 0), ("join", "c4", 1)]
    world.run(2.5)
    assert commands(lab) == [("play", None, 0), ("join", "c4", 1), ("leave", "c1", 2), ("join", "c5", 3)]
    positions = [command["position"] for command in selectors.journal(lab=lab)["commands"]]
    assert positions == [1, 2, 3, 4]


def test_what_a_visitor_orders_in_between_keeps_its_place(world: World) -> None:
    lab = opened(world, SCRIPT)
    world.run(1.5)
    world.order(lab, "join", consumer="mine")
    world.run(2.5)
    assert [consumer for _kind, consumer, _at in commands(lab)] == [None, "c4", "mine", "c1", "c5"]


def test_next_holder_goes_on_with_what_is_left(world: World) -> None:
    lab = opened(world, SCRIPT)
    world.run(1.5)
    world.shard.let_go()
    successor = world.shard_new()
    world.run(3, successor)
    assert [consumer for _kind, consumer, _at in commands(lab)] == [None, "c4", "c1", "c5"]


def test_paused_lab_pauses_its_script(world: World) -> None:
    lab = opened(world, SCRIPT)
    world.run(0.5)
    world.order(lab, "pause_lab")
    world.run(5)
    assert [kind for kind, *_rest in commands(lab)] == ["play", "pause_lab"]


def test_copy_takes_along_what_is_left(world: World) -> None:
    lab = opened(world, SCRIPT)
    world.run(1.5)
    copy = services.lab_fork(lab_id=lab.pk).lab
    play(world, copy, 3)
    assert commands(copy) == [("play", None, 0), ("join", "c4", 1), ("leave", "c1", 2), ("join", "c5", 3)]


def test_copy_made_between_acceptance_and_application_keeps_the_command(world: World) -> None:
    lab = opened(world, SCRIPT)
    world.run(1.5)
    row = Lab.objects.get(pk=lab.pk)
    writes.orders_accept(lab.pk, row.epoch, [SCRIPT[1]["body"]])
    assert selectors.command_get(lab_id=lab.pk, command_id="study:leave-c1")["state"] == "accepted"
    copy, other = (
        services.lab_fork(lab_id=lab.pk).lab,
        services.lab_fork(lab_id=lab.pk, request={"seed": 9}).lab,
    )
    for each in (copy, other):
        play(world, each, 4)
        assert [consumer for _kind, consumer, _at in commands(each)] == [None, "c4", "c1", "c5"]


def test_copy_does_not_order_again_what_was_refused(world: World) -> None:
    lab = opened(world, [entry(1, "leave", "late"), entry(3, "join", "c4")])
    world.run(1.5)
    world.order(lab, "join", consumer="late")
    world.run(0.5)
    copy = services.lab_fork(lab_id=lab.pk).lab
    play(world, copy, 3)
    assert [consumer for _kind, consumer, _at in commands(copy)] == [None, "late", "c4"]


def test_entry_whose_id_somebody_used_up_is_left_out_and_the_rest_goes_on(world: World) -> None:
    lab = opened(world, SCRIPT)
    world.run(0.5)
    StoredCommand.objects.create(
        lab=lab, command_id="study:join-c4", position=2, body=SCRIPT[0]["body"], state="refused", at_us=0
    )
    Lab.objects.filter(pk=lab.pk).update(position=2)
    world.run(3)
    assert [consumer for _kind, consumer, _at in commands(lab)] == [None, "c1", "c5"]


def test_order_that_is_impossible_by_then_is_refused_and_the_rest_goes_on(world: World) -> None:
    lab = opened(world, [entry(1, "leave", "nobody"), entry(2, "join", "c4")])
    world.run(3)
    assert commands(lab) == [("play", None, 0), ("join", "c4", 2)]
    assert selectors.command_get(lab_id=lab.pk, command_id="study:leave-nobody")["state"] == "refused"
