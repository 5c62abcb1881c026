"""Fork at a moment, as a program asks for it: {until_us}, {until_position}, or both. What belongs to a
moment: tests/core/lab/test_journal.py."""

import json
from typing import Any

import pytest
from django.test import Client

from broker_core.lab import journal as journals
from broker_core.lab.journal import Journal
from broker_core.lab.scenario import scenario_from_json
from dashboard.labs import selectors, services
from dashboard.models import Checkpoint, Lab, StoredCommand
from tests.dashboard.world import World

pytestmark = pytest.mark.django_db


def fork(lab: Lab, request: Any, **rest: Any) -> Any:
    return Client(**rest).post(
        f"/api/labs/{lab.pk}/fork/", json.dumps(request), content_type="application/json"
    )


def view_of(lab: Lab) -> dict[str, Any]:
    snapshot = selectors.lab_snapshot(lab_id=lab.pk)
    assert snapshot is not None
    view: dict[str, Any] = snapshot["view"]
    return view


def driven(world: World, answer: Any) -> Lab:
    """The fork that was answered, once the worker has derived it."""
    assert answer.status_code == 201, answer.text
    lab = Lab.objects.get(pk=answer.json()["id"])
    world.transport.watching.add(lab.pk)
    world.run(0.5)
    return lab


def journal_of(lab: Lab) -> Journal:
    saved = selectors.journal(lab=lab)
    return Journal(scenario_from_json(saved["scenario"]), saved["commands"])


def of_the_core(view: dict[str, Any]) -> dict[str, Any]:
    return {name: value for name, value in view.items() if name not in ("feed", "playing", "speed")}


@pytest.fixture
def lab(world: World) -> Lab:
    """Two joins, another rule and a crash in four seconds, the second join at the time of the other rule: the
    lab was paused."""
    lab = world.open()
    world.run(1)
    world.order(lab, "join")  # position 2: 1 is the first play
    world.run(1)
    world.order(lab, "pause_lab")
    world.run(0.2)
    world.order(lab, "set_algorithm", lane="rabbitmq", args={"algorithm": "prefetch_1"})
    world.order(lab, "join")  # 4 and 5, at one time
    world.order(lab, "play")
    world.run(1)
    world.order(lab, "crash", consumer="c1")
    world.run(1)
    return lab


def at_us(lab: Lab, position: int) -> int:
    return int(
        selectors.command_get(lab_id=lab.pk, command_id=lab.commands.get(position=position).command_id)[
            "at_us"
        ]
    )


def test_every_moment_of_a_lab_can_be_forked_and_is_what_its_journal_says(world: World, lab: Lab) -> None:
    for until_us in (0, 1, at_us(lab, 2) - 1, at_us(lab, 2), at_us(lab, 5), at_us(lab, 7) + 123_456):
        copy = driven(world, fork(lab, {"until_us": until_us}))
        view = view_of(copy)
        assert (view["at_us"], view["playing"]) == (until_us, False)
        assert of_the_core(view) == of_the_core(json.loads(json.dumps(journal_of(lab).seek(until_us).view())))


def test_answer_is_that_of_a_new_lab_whose_token_commands_it(world: World, lab: Lab) -> None:
    answer = fork(lab, {"until_us": at_us(lab, 2)})
    copy = driven(world, answer)
    assert answer.json()["parent"] == lab.pk and copy.parent_id == lab.pk
    bearer = {"HTTP_AUTHORIZATION": f"Bearer {answer.json()['owner_token']}"}
    order = {"command_id": "mine", "kind": "join"}
    said = [
        Client()
        .post(f"/api/labs/{row.pk}/commands/", json.dumps(order), content_type="application/json", **bearer)
        .status_code
        for row in (copy, lab)
    ]
    assert said == [202, 403]
    before = selectors.journal(lab=lab)
    world.transport.entries.append(copy.pk)
    world.run(0.3)
    assert set(view_of(copy)["consumers"]) == {"c1", "c2", "c3", "c4", "c5"}
    assert selectors.journal(lab=lab) == before


def test_a_position_alone_is_the_moment_right_after_that_command(world: World, lab: Lab) -> None:
    together_us = at_us(lab, 4)
    assert together_us == at_us(lab, 5)
    for position, count, moment_us in (
        (0, 3, 0),
        (2, 4, at_us(lab, 2)),
        (4, 4, together_us),
        (5, 5, together_us),
    ):
        view = view_of(driven(world, fork(lab, {"until_position": position})))
        assert (len(view["consumers"]), view["at_us"]) == (count, moment_us)


def test_time_and_position_together_tell_commands_of_one_time_apart(world: World, lab: Lab) -> None:
    request = {"until_us": at_us(lab, 4), "until_position": 4, "speed": 4}
    view = view_of(driven(world, fork(lab, request)))
    assert (len(view["consumers"]), view["speed"], view["playing"]) == (4, 4, False)
    assert view["lanes"]["rabbitmq"]["algorithm"] == "prefetch_1"
    link = {"at_us": request["until_us"], "position": 4, "speed": 4}
    assert of_the_core(view_of(driven(world, fork(lab, link)))) == of_the_core(view), (
        "a copied link says the same"
    )


def test_a_step_that_leads_beyond_the_moment_is_left_out(world: World) -> None:
    lab = world.open(workload={"kind": "uniform", "keys": 5, "rate": 1})
    world.run(1.5)
    world.order(lab, "pause_lab")
    world.run(0.2)
    paused_us = view_of(lab)["at_us"]
    world.order(lab, "step")
    world.run(0.2)
    stepped = view_of(lab)
    assert stepped["at_us"] == 2_000_000 > paused_us + 2
    between = view_of(driven(world, fork(lab, {"until_us": paused_us + 1})))
    assert (between["at_us"], between["record_count"]) == (paused_us + 1, 1)
    after = view_of(driven(world, fork(lab, {"until_position": 3})))
    assert of_the_core(after) == of_the_core(stepped)


def test_a_fork_tells_each_turning_point_once_and_derives_from_its_parent_s_checkpoint(
    world: World, monkeypatch: pytest.MonkeyPatch
) -> None:
    lab = world.open(workload={"kind": "uniform", "rate": 2000})
    monkeypatch.setattr(journals, "CHECKPOINT_STEPS", 100)
    monkeypatch.setattr(journals, "CHECKPOINT_BYTES_PER_STEP", 10**9)
    world.run(1.2)
    world.order(lab, "join")
    world.run(2.5)
    checkpoint = Checkpoint.objects.filter(lab=lab).order_by("at_us").last()
    assert checkpoint is not None and checkpoint.position == 2, "after the join"
    until_us = checkpoint.at_us + 1_000
    answer = fork(lab, {"until_us": until_us})
    assert Checkpoint.objects.get(lab_id=answer.json()["id"]).at_us == checkpoint.at_us
    copy = driven(world, answer)
    assert of_the_core(view_of(copy)) == of_the_core(
        json.loads(json.dumps(journal_of(lab).seek(until_us).view()))
    )
    told = selectors.events_since(lab_id=copy.pk, seq=0)
    assert (
        told
        == [event for event in selectors.events_since(lab_id=lab.pk, seq=0) if event["at_us"] <= until_us]
        and told
    )


def test_a_fork_of_a_lab_that_still_loads_takes_its_borrowed_commands_along(world: World, lab: Lab) -> None:
    other = services.lab_fork(lab_id=lab.pk, request={"seed": 9}).lab  # nobody has driven it yet
    until_us = at_us(lab, 5)
    assert len(view_of(driven(world, fork(other, {"until_us": until_us})))["consumers"]) == 5


@pytest.mark.parametrize(
    ("request_", "field"),
    [
        ({"until_us": -1}, "until_us"),
        ({"until_us": "soon"}, "until_us"),
        ({"until_us": True}, "until_us"),
        ({"until_us": 1.5}, "until_us"),
        ({"until_us": 10**12}, "until_us"),
        ({"until_us": 10**30}, "until_us"),
        ({"until_us": [1]}, "until_us"),
        ({"until_position": -1}, "until_position"),
        ({"until_position": "2"}, "until_position"),
        ({"until_position": False}, "until_position"),
        ({"until_position": 8}, "until_position"),
        ({"until_us": 0, "until_position": 8}, "until_position"),
        ({"until_us": 0, "speed": 99}, "speed"),
        ({"until_us": 0, "at_us": 0}, "at_us"),
        ({"until_position": 1, "position": 1}, "position"),
        ({"until_us": 0, "seed": 4}, "seed"),
        ({"until": 0}, "until"),
        ({"speed": 2}, "at_us"),
    ],
)
def test_wrong_input_is_refused_at_its_field_and_makes_no_lab(lab: Lab, request_: Any, field: str) -> None:
    answer = fork(lab, request_)
    assert answer.status_code == 400 and list(answer.json()["fields"]) == [field], answer.text
    assert Lab.objects.count() == 1


def test_a_moment_that_has_not_come_is_refused(world: World, lab: Lab) -> None:
    lab.refresh_from_db()
    assert fork(lab, {"until_us": lab.clock_floor_us}).status_code == 201
    assert "not yet at" in fork(lab, {"until_us": lab.clock_floor_us + 1}).json()["fields"]["until_us"][0]
    waits = world.order(lab, "join")["position"]
    assert (
        "has not been made yet" in fork(lab, {"until_position": waits}).json()["fields"]["until_position"][0]
    )
    world.run(0.2)
    assert StoredCommand.objects.get(lab=lab, position=waits).state == "applied"
    assert fork(lab, {"until_position": waits}).status_code == 201


def test_quotas_hold_and_an_unknown_lab_is_404(lab: Lab, settings: Any) -> None:
    settings.LABS_ADDRESS_MAX = 1
    assert fork(lab, {"until_us": 0}, REMOTE_ADDR="192.0.2.7").status_code == 201
    answer = fork(lab, {"until_us": 0}, REMOTE_ADDR="192.0.2.7")
    assert answer.status_code == 429 and list(answer.json()["fields"]) == ["lab"] and answer["Retry-After"]
    lab.pk = "nobody"
    assert fork(lab, {"until_us": 0}).status_code == 404
