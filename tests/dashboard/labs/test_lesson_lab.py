"""A lab that plays a lesson: on the Stage it shows the very numbers that the headless run shows, however
turns and processes fall."""

import json
from typing import Any

import pytest

from broker_core.lab.commands import check_command
from broker_core.lab.lesson.file import read_file, scenario_from_text, shelf
from broker_core.lab.lesson.play import Came, play
from broker_core.lab.scenario import Scenario, scenario_to_json
from dashboard.errors import Refused
from dashboard.labs import selectors, services
from dashboard.lessons import lesson_open
from dashboard.models import Lab
from tests.dashboard.world import World

pytestmark = pytest.mark.django_db
Json = dict[str, Any]


def scenario_of(name: str) -> Scenario:
    return scenario_from_text(read_file(shelf()[name]))


def opened(world: World, scenario: Scenario) -> Lab:
    lab = services.lab_open(request={"scenario": scenario_to_json(scenario)}).lab
    world.transport.watching.add(lab.pk)
    return lab


def headless(scenario: Scenario) -> dict[str, Json]:
    return {str(moment.place): moment.result for moment in play(scenario) if isinstance(moment, Came)}


def lesson(lab: Lab) -> Json:
    shown: Json = selectors.lab_snapshot(lab_id=lab.pk)["view"]["lesson"]
    return shown


def hurry(world: World, lab: Lab) -> None:
    """The clock belongs to whoever watches: a lesson may be played fast."""
    world.order(lab, "speed", args={"speed": 20})


@pytest.mark.parametrize(
    "name", ["kafka_cooperative_join", "pulsar_sticky_newcomer", "tubemq_join_restarts_everybody"]
)
def test_numbers_on_the_stage_are_those_of_the_headless_run(world: World, name: str) -> None:
    scenario = scenario_of(name)
    lab = opened(world, scenario)
    hurry(world, lab)
    world.run(scenario.lesson.lasts_us / 20e6 + 3)
    assert lesson(lab)["results"] == headless(scenario)
    view = selectors.lab_snapshot(lab_id=lab.pk)["view"]
    assert (view["playing"], view["at_us"]) == (False, scenario.lesson.lasts_us), "it rests at its end"


def test_orders_come_at_their_times_to_the_microsecond_though_a_process_dies(world: World) -> None:
    scenario = scenario_of("pulsar_four_split_and_merge")
    lab = opened(world, scenario)
    hurry(world, lab)
    world.run(0.6)
    for _process in range(3):
        world.shard = world.shard_new()  # the old one is gone without a word, its lease too
        Lab.objects.filter(pk=lab.pk).update(lease_until_ms=0)
        world.run(0.5)
    world.run(3)
    ordered = [
        (command["at_us"], command["command_id"]) for command in selectors.journal(lab=lab)["commands"]
    ]
    planned = [(entry["at_us"], entry["body"]["command_id"]) for entry in scenario.lesson.script()]
    assert [entry for entry in ordered if entry[1].startswith("lesson:")] == planned
    assert lesson(lab)["results"] == headless(scenario)


def test_a_step_stops_where_the_lesson_orders(world: World) -> None:
    """A record comes every 50 ms, and the order lies between two of them."""
    scenario = scenario_of("pulsar_sticky_newcomer")
    raw = scenario_to_json(scenario)
    raw["lesson"]["steps"][0]["frame"]["stop_us"] = 400_000
    raw["lesson"]["steps"][1]["at_us"] = 525_000
    lab = services.lab_open(request={"scenario": raw}).lab
    world.order(lab, "pause_lab")
    for _step in range(20):
        world.order(lab, "step")
        world.run(0.2)
    times = {command["command_id"]: command["at_us"] for command in selectors.journal(lab=lab)["commands"]}
    assert times["lesson:2"] == 525_000


def test_a_copy_shows_the_same_and_goes_on(world: World) -> None:
    scenario = scenario_of("pulsar_sticky_newcomer")
    lab = opened(world, scenario)
    hurry(world, lab)
    world.run(1)
    copy = services.lab_fork(lab_id=lab.pk).lab
    world.transport.watching.add(copy.pk)
    services.lab_watched(lab_ids=[copy.pk], wake=True)
    world.run(3)
    assert lesson(copy)["results"] == lesson(lab)["results"] == headless(scenario)


def test_a_copy_under_another_seed_shows_what_that_run_shows(world: World) -> None:
    scenario = scenario_of("pulsar_ring_join")
    lab = opened(world, scenario)
    hurry(world, lab)
    world.run(3)
    copy = services.lab_fork(lab_id=lab.pk, request={"seed": 9}).lab
    world.transport.watching.add(copy.pk)
    services.lab_watched(lab_ids=[copy.pk], wake=True)
    world.run(3)
    other = headless(scenario_from_text(read_file(shelf()["pulsar_ring_join"]), seed=9))
    assert lesson(copy)["results"] == other != headless(scenario)


def test_what_a_visitor_orders_is_said(world: World) -> None:
    lab = opened(world, scenario_of("pulsar_sticky_newcomer"))
    world.run(0.5)
    assert lesson(lab)["meddled_us"] is None
    world.order(lab, "join")
    world.run(0.3)
    assert lesson(lab)["meddled_us"] is not None


def test_a_program_may_send_a_lesson_and_is_told_what_is_wrong_with_it() -> None:
    raw = json.loads(json.dumps(scenario_to_json(scenario_of("pulsar_sticky_newcomer"))))
    raw["lesson"]["steps"][1]["order"]["kind"] = "explode"
    with pytest.raises(Refused) as caught:
        services.lab_open(request={"scenario": raw})
    assert list(caught.value.fields) == ["lesson.steps.1.order.kind"]


def test_ids_of_a_lesson_are_its_own(world: World) -> None:
    lab = opened(world, scenario_of("pulsar_sticky_newcomer"))
    with pytest.raises(Refused):
        services.lab_submit(lab_id=lab.pk, request=check_command({"command_id": "lesson:2", "kind": "play"}))


def framed(world: World, name: str) -> Lab:
    lab = lesson_open(name=name, visitor=None, address="").lab
    world.transport.watching.add(lab.pk)
    services.lab_watched(lab_ids=[lab.pk], wake=True)
    return lab


def clock(lab: Lab) -> tuple[bool, int]:
    view = selectors.lab_snapshot(lab_id=lab.pk)["view"]
    return view["playing"], view["at_us"]


def test_a_lesson_that_is_opened_from_the_list_pauses_at_its_first_frame_and_goes_on_when_ordered(
    world: World,
) -> None:
    lab = framed(world, "kafka_cluster_high_watermark")
    world.run(1)
    assert clock(lab)[0] and lesson(lab)["caption"] == -1, "on its way for some seconds"
    world.run(3)
    first, second, *_rest = lesson(lab)["captions"]
    assert clock(lab) == (False, first["stop_us"]) and lesson(lab)["caption"] == 0
    kinds = [command["kind"] for command in selectors.journal(lab=lab)["commands"]]
    assert kinds == ["play_until", "cluster_slow_link", "cluster_slow_link"], "what the frame orders is done"
    world.run(3)
    assert clock(lab) == (False, first["stop_us"]), "it waits"
    world.order(lab, "play_until", args={"until_us": second["stop_us"], "speed": second["speed"]})
    world.run(4)
    assert clock(lab) == (False, second["stop_us"])


def test_another_process_does_not_go_beyond_the_frame(world: World) -> None:
    lab = framed(world, "pulsar_sticky_newcomer")
    world.run(1)
    stop_us = lesson(lab)["captions"][1]["stop_us"]
    world.order(lab, "play_until", args={"until_us": stop_us, "speed": 20})
    world.run(0.3)
    world.shard = world.shard_new()
    Lab.objects.filter(pk=lab.pk).update(lease_until_ms=0)
    world.run(3)
    assert clock(lab) == (False, stop_us)


def test_a_lesson_in_frames_shows_the_numbers_of_the_headless_run(world: World) -> None:
    scenario = scenario_of("pulsar_four_split_and_merge")
    lab = framed(world, "pulsar_four_split_and_merge")
    for stop_us, _speed in [way for way in scenario.lesson.ways() if way[0] > 0]:
        world.run(0.5)
        if selectors.lab_snapshot(lab_id=lab.pk)["view"]["at_us"] < stop_us:
            world.order(lab, "play_until", args={"until_us": stop_us, "speed": 20})
            world.run(1)
    assert lesson(lab)["results"] == headless(scenario)
