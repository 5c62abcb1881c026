"""The panels of a lab's view are made for whoever has their page open, and kept for everybody else."""

import copy
import json
from typing import Any

import pytest

from broker_core.lab import view as views
from broker_core.lab.facts import facts_text
from broker_core.lab.lab import Lab as CoreLab
from broker_core.lab.panels import PANELS
from broker_core.lab.pieces import whole
from broker_core.lab.scenario import scenario_from_json
from dashboard.consumers import panels_of_query
from dashboard.labs.feed import Feed, Reader
from dashboard.labs.panels import EVERY_S
from dashboard.models import Lab, StoredView
from tests.dashboard.patching import apply_patch
from tests.dashboard.world import World

KAFKA = ("cluster", "group", "group_topics", "group_health")


@pytest.fixture
def world(db: None, settings: Any) -> World:
    settings.LAB_SHARDS = 1
    return World()


@pytest.fixture
def demo(world: World) -> Lab:
    lab = world.open(scenario="demo")
    world.run(8)  # its group has settled: nothing happens any more but records
    world.transport.frames.clear()
    return lab


def changed(message: dict[str, Any]) -> set[str]:
    """The panels that a frame touches."""
    paths = [operation["path"].split("/") for operation in message.get("patch", ())]
    return {path[3] for path in paths if len(path) > 3 and path[1] == "lanes" and path[3] in PANELS}


def test_a_view_has_the_panels_that_are_asked_for_and_no_others() -> None:
    lab = CoreLab(scenario_from_json({"name": "demo", "seed": 1}))
    lab.advance_to(1_000_000)
    full = lab.view()
    assert [name for name in PANELS if name in full["lanes"]["kafka"]] == list(KAFKA)
    for wanted in [(), ("cluster",), ("pulsar", "group"), PANELS]:
        view = whole(lab.viewing(wanted))
        for lane_id, lane in view["lanes"].items():
            assert lane == {
                name: part
                for name, part in full["lanes"][lane_id].items()
                if name not in PANELS or name in wanted
            }


def test_frames_carry_no_panel_whose_page_is_closed(
    world: World, demo: Lab, monkeypatch: pytest.MonkeyPatch
) -> None:
    asked: list[Any] = []
    make = views.panels_of
    monkeypatch.setattr(
        views, "panels_of", lambda lane, wanted=PANELS: asked.append(wanted) or make(lane, wanted)
    )
    world.shard.drivers[demo.pk].panels.due(world.clock.now_s, True)
    world.run(EVERY_S - 1)
    messages = world.messages(demo)
    assert len(messages) > 20 and not any(message["events"] for message in messages)
    assert set().union(*map(changed, messages)) == set()
    assert asked and set().union(*asked) == set(), "nor is one made"


def test_opening_a_page_brings_its_panels_and_closing_it_leaves_them(world: World, demo: Lab) -> None:
    driver = world.shard.drivers[demo.pk]
    world.transport.panels[demo.pk] = {"cluster"}
    world.transport.entries.append(demo.pk)  # the page's socket wakes the shard
    before = len(world.messages(demo))
    world.shard.turn()
    [first] = world.messages(demo)[before:]
    assert changed(first) == {"cluster"} and driver.view["feed"]["panels"] == ["cluster"]
    world.run(1)
    assert changed(world.messages(demo)[-1]) == {"cluster"}
    world.transport.panels[demo.pk] = set()
    world.run(1.5)
    driver.panels.due(world.clock.now_s, True)
    kept = driver.view["lanes"]["kafka"]["cluster"]
    world.run(1)
    assert driver.view["lanes"]["kafka"]["cluster"] is kept and driver.view["feed"]["panels"] == []


def test_an_order_is_seen_in_every_panel_at_once(world: World, demo: Lab) -> None:
    """A command is checked against the stored view: that must not be older than the last order."""

    def stored() -> Any:
        demo.refresh_from_db()
        return json.loads(demo.view.text)["lanes"]["kafka"]["cluster"]["brokers"]["2"]

    assert stored()["stage"] == "running"
    world.order(demo, "cluster_crash", lane="kafka", args={"broker": 2})
    world.run(0.1)
    assert stored()["stage"] != "running" and "come_back" in stored()["verbs"]
    answer = world.order(demo, "cluster_come_back", lane="kafka", args={"broker": 2})
    world.run(0.1)
    assert answer["state"] == "accepted" and "come_back" not in stored()["verbs"]


def test_a_lab_at_rest_has_all_panels_of_its_last_moment(world: World, demo: Lab) -> None:
    driver = world.shard.drivers[demo.pk]
    world.shard._rest(driver)
    stored = json.loads(demo.view.text)
    full = driver.core.view()
    for lane_id, lane in full["lanes"].items():
        for name in PANELS:
            assert stored["lanes"][lane_id].get(name) == json.loads(json.dumps(lane.get(name)))
    assert stored["feed"]["panels"] == list(PANELS)


def test_view_plus_patches_is_the_servers_view_whatever_pages_open_and_close(world: World) -> None:
    lab = world.open(scenario="demo")
    world.run(0.3)
    driver = world.shard.drivers[lab.pk]
    world.transport.frames.clear()
    view = copy.deepcopy(driver.view)
    for panels in (set(), {"cluster"}, {"group", "group_health"}, set(), {"pulsar"}, set(KAFKA)):
        world.transport.panels[lab.pk] = panels
        world.run(1.3)
        world.order(lab, "join")
        world.run(0.2)
    for message in world.messages(lab):
        view = apply_patch(view, message["patch"]) if message["type"] == "frame" else message["view"]
    assert view == json.loads(json.dumps(driver.view))


@pytest.mark.parametrize(
    ("query", "panels"),
    [
        ("", []),
        ("panels=", []),
        ("panels=cluster", ["cluster"]),
        ("panels=pulsar,group,cluster", ["cluster", "group", "pulsar"]),
        ("panels=cluster&panels=group", ["cluster", "group"]),
        ("panels=nonsense,group,group", ["group"]),
        ("panel=group", []),
    ],
)
def test_a_sockets_address_names_the_panels_of_its_page(query: str, panels: list[str]) -> None:
    assert panels_of_query(query) == panels


@pytest.mark.asyncio
async def test_a_lab_is_marked_with_the_panels_of_all_its_readers(monkeypatch: pytest.MonkeyPatch) -> None:
    marks: list[tuple[str, list[str]]] = []
    feed = Feed()

    async def mark(lab_ids: list[str]) -> None:
        marks.extend((lab_id, sorted(feed.labs[lab_id].panels)) for lab_id in lab_ids)

    async def nothing(*_a: Any, **_about: Any) -> None: ...

    monkeypatch.setattr("dashboard.labs.feed.in_thread", lambda function: nothing)
    monkeypatch.setattr(feed, "_mark", mark)
    monkeypatch.setattr(feed, "_start_reading", nothing)
    readers = [Reader(nothing, panels) for panels in ([], ["cluster"], ["cluster"], ["group", "cluster"])]
    for reader in readers:
        lab = await feed.watch("one", reader)
    assert marks == [("one", []), ("one", ["cluster"]), ("one", ["cluster", "group"])]
    lab.leave(readers[-1])
    assert lab.panels == {"cluster"}


def test_facts_are_stored_as_they_are_after_each_order_and_not_made_again_in_between(
    world: World, demo: Lab, monkeypatch: pytest.MonkeyPatch
) -> None:
    made = []
    real = CoreLab.facts
    monkeypatch.setattr(CoreLab, "facts", lambda core: made.append(core.now_us) or real(core))
    world.run(EVERY_S - 1)
    assert len(made) <= 1, "several views were stored, and nothing was ordered"
    for kind, rest in [
        ("join", {}),
        ("pause", {"consumer": "c1"}),
        ("crash", {"consumer": "c2"}),
        ("resume", {"consumer": "c1"}),
        ("pause_lab", {}),
        ("play", {}),
    ]:
        world.order(demo, kind, **rest)
        world.run(0.2)
        core = world.shard.drivers[demo.pk].core
        assert StoredView.objects.get(pk=demo.pk).facts == facts_text(real(core)), kind
    world.run(40)  # the crash is noticed
    stored = StoredView.objects.get(pk=demo.pk).facts
    assert stored == facts_text(real(world.shard.drivers[demo.pk].core))
