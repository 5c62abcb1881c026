"""Laws of looking back: a past picture is the one that was shown, the same however one came to it, and a step back
takes a step further back."""

import json
import random
from typing import Any

import pytest
from django.test import Client

from broker_core.lab import journal
from broker_core.lab.panels import PANELS
from broker_core.lab.rules import RULES_VERSION
from dashboard.labs import writes
from dashboard.labs.past.answering import answered
from dashboard.labs.past.kept import KeptLabs
from dashboard.labs.past.look import BY_MAX, FRAMES, MARKS, STEPS, VIEW, Look
from dashboard.models import Checkpoint, Lab
from tests.dashboard.patching import apply_patch
from tests.dashboard.world import World

pytestmark = pytest.mark.django_db


def shown(lab: Lab, kept: KeptLabs | None = None, kind: str = VIEW, **rest: Any) -> Any:
    look = Look(lab=lab.pk, kind=kind, language="en", look="x", **rest)
    status, text = answered(look, KeptLabs() if kept is None else kept, lambda: None)
    assert status == 200, text
    return json.loads(text)


def bare(view: dict[str, Any]) -> dict[str, Any]:
    """Without what says of which age its panels are, and them."""
    lanes = {
        lane_id: {name: value for name, value in lane.items() if name not in PANELS}
        for lane_id, lane in view["lanes"].items()
    }
    return {**{name: value for name, value in view.items() if name != "feed"}, "lanes": lanes}


def frames_of(world: World, lab: Lab) -> dict[int, dict[str, Any]]:
    """Time -> the last view that browsers had of it."""
    views: dict[int, dict[str, Any]] = {}
    view: dict[str, Any] = {}
    for message in world.messages(lab):
        view = message["view"] if message["type"] == "snapshot" else apply_patch(view, message["patch"])
        views[message["at_us"]] = view
    return views


@pytest.fixture
def lab(world: World, monkeypatch: pytest.MonkeyPatch) -> Lab:
    """Twelve seconds at two speeds, with orders while it ran and while it was paused, and a step; with many
    checkpoints."""
    monkeypatch.setattr(journal, "CHECKPOINT_STEPS", 300)
    monkeypatch.setattr(journal, "CHECKPOINT_BYTES_PER_STEP", 10**9)
    lab = world.open(workload={"kind": "zipf", "keys": 40, "rate": 30})
    for kind, consumer, wait_s in (
        ("join", None, 2.1), ("crash", "c2", 1.3), ("pause_lab", None, 0.4), ("join", None, 0.2), ("leave", "c1", 0.2),
        ("step", None, 0.3), ("play", None, 2.0), ("rejoin", "c2", 0.7),
    ):  # fmt: skip
        world.run(wait_s)
        world.order(lab, kind, consumer=consumer)
    world.order(lab, "speed", args={"speed": 2})
    world.run(2.5)
    world.order(lab, "pause_lab")
    world.run(0.2)
    lab.refresh_from_db()
    return lab


def test_a_past_picture_is_the_one_that_browsers_had(world: World, lab: Lab) -> None:
    views, kept, dice = frames_of(world, lab), KeptLabs(), random.Random(4)
    assert Checkpoint.objects.filter(lab=lab).count() >= 5
    ordered = {row.at_us for row in lab.commands.all()}  # of these moments there are several points
    moments = dice.sample(sorted(views.keys() - ordered), 25) + [max(views)]
    for at_us in moments:
        assert bare(shown(lab, kept, at_us=at_us)["view"]) == bare(views[at_us]), at_us


def test_pictures_of_a_drag_are_those_of_their_moments_whichever_way_it_goes(lab: Lab) -> None:
    every_us, kept = 250_000, KeptLabs()
    there = list(range(11_000_000, 3_000_000, -every_us))
    for at_us in [*there, *reversed(there), *there[::7]]:
        asked = at_us + 99
        assert shown(lab, kept, at_us=asked, every_us=every_us) == shown(lab, at_us=at_us), at_us


def test_one_restore_serves_the_pictures_that_a_drag_to_the_left_asks_for_next(
    lab: Lab, monkeypatch: pytest.MonkeyPatch
) -> None:
    restored: list[int] = []
    whole = writes.state_of

    def counted(checkpoint: Checkpoint | None) -> bytes | None:
        restored.append(0 if checkpoint is None else checkpoint.at_us)
        return whole(checkpoint)

    monkeypatch.setattr(writes, "state_of", counted)
    kept, every_us = KeptLabs(), 400_000
    for at_us in range(11_000_000, 3_000_000, -every_us):
        shown(lab, kept, at_us=at_us, every_us=every_us)
    assert len(restored) <= 1 + Checkpoint.objects.filter(lab=lab).count(), "each is read once at most"


@pytest.mark.parametrize(
    "given", [{"every_us": "0"}, {"every_us": "x"}, {"every_us": "1", "step": "event", "by": "1"}]
)
def test_what_moments_are_apart_is_checked_at_the_field(
    client: Client, lab: Lab, given: dict[str, str]
) -> None:
    answer = client.get(f"/api/labs/{lab.pk}/past/", {"at_us": "1000000", **given})
    assert answer.status_code == 400
    assert list(answer.json()["fields"]) == ["every_us"]


def test_the_newest_moment_has_the_panels_that_are_asked_for_as_the_snapshot_has_them(
    world: World, lab: Lab
) -> None:
    world.transport.panels[lab.pk] = {"pulsar", "rabbitmq"}
    world.run(0.3)
    stored = json.loads(lab.view.text)
    lab.view.refresh_from_db()
    stored = json.loads(lab.view.text)
    past = shown(lab, at_us=stored["at_us"], panels=["pulsar", "rabbitmq"])["view"]
    assert past["feed"]["panels"] == ["pulsar", "rabbitmq"]
    assert [set(lane) & set(PANELS) for lane in past["lanes"].values()] == [{"pulsar"}, set(), {"rabbitmq"}]
    for name, panel in (("pulsar", "pulsar"), ("rabbitmq", "rabbitmq")):
        assert past["lanes"][name][panel] == stored["lanes"][name][panel]


def test_a_point_has_one_hash_however_one_comes_to_it_and_after_a_restart(lab: Lab) -> None:
    last, dice, kept = lab.clock_floor_us, random.Random(9), KeptLabs()
    points = [dice.randrange(last) for _ in range(12)]
    fresh = {at_us: shown(lab, at_us=at_us) for at_us in points}
    for at_us in [*points, *sorted(points), *sorted(points, reverse=True)]:
        found = shown(lab, kept, at_us=at_us)
        assert found == fresh[at_us]
    assert len({found["state_hash"] for found in fresh.values()}) == len(set(points))


def test_orders_of_one_microsecond_are_points_of_their_own(lab: Lab) -> None:
    join = lab.commands.get(position=5)
    pause = lab.commands.get(position=4)
    assert (pause.at_us, pause.body["kind"], join.body["kind"]) == (join.at_us, "pause_lab", "join")
    found = [shown(lab, at_us=join.at_us, until_position=position) for position in (3, 4, 5)]
    assert [each["position"] for each in found] == [3, 4, 5]
    assert [each["view"]["playing"] for each in found] == [True, False, False]
    assert len({each["state_hash"] for each in found}) == 3


def test_so_many_steps_further_and_back_lead_to_the_same_point(lab: Lab) -> None:
    for step in STEPS:
        check_steps(lab, step)


def check_steps(lab: Lab, step: str) -> None:
    kept, dice = KeptLabs(), random.Random(step)
    here = shown(lab, kept, at_us=3_000_000, step=step, by=-1)
    for _ in range(4):
        by = dice.choice([1, 2, 3, 7])
        there = shown(lab, kept, at_us=here["at_us"], until_position=here["position"], step=step, by=by)
        back = shown(
            lab, kept, at_us=there["at_us"], until_position=there["position"], step=step, by=-there["steps"]
        )
        assert there["steps"] == -back["steps"] > 0 and there["at_us"] >= here["at_us"]
        assert (back["at_us"], back["position"], back["state_hash"]) == (
            here["at_us"],
            here["position"],
            here["state_hash"],
        )
    one_by_one = here
    for _ in range(by):
        one_by_one = shown(
            lab, kept, at_us=one_by_one["at_us"], until_position=one_by_one["position"], step=step, by=1
        )
    assert one_by_one["state_hash"] == there["state_hash"], "so many at once are so many one by one"


def test_beyond_the_ends_there_are_no_steps(lab: Lab) -> None:
    for step in STEPS:
        end = shown(lab, at_us=lab.clock_floor_us, step=step, by=BY_MAX)
        assert end["at_us"] == lab.clock_floor_us and end["steps"] == 0
        start = shown(lab, at_us=0, step=step, by=-1)
        assert start["at_us"] == 0 and start["steps"] == 0


def test_a_step_by_records_shows_one_record_more(lab: Lab) -> None:
    here = shown(lab, at_us=3_000_000)["view"]["record_count"]
    assert shown(lab, at_us=3_000_000, step="record", by=4)["view"]["record_count"] == here + 4


def test_pictures_of_a_stretch_are_those_of_its_moments(lab: Lab) -> None:
    found = shown(lab, kind=FRAMES, at_us=1_000_000, until_us=6_000_000, every_us=700_000)["frames"]
    assert [frame["at_us"] for frame in found] == list(range(1_000_000, 6_000_001, 700_000))
    view: dict[str, Any] = {}
    for frame in found:
        view = frame.get("view") or apply_patch(view, frame["patch"])
        alone = shown(lab, at_us=frame["at_us"])
        assert view == alone["view"] and frame["state_hash"] == alone["state_hash"]
    told = [event["at_us"] for frame in found[1:] for event in frame["events"]]
    stored = [row.at_us for row in lab.events.order_by("seq") if 1_000_000 < row.at_us <= found[-1]["at_us"]]
    assert told == stored and told


def test_marks_are_of_all_that_was_ordered_and_of_what_the_brokers_did(lab: Lab) -> None:
    found = shown(lab, kind=MARKS)["marks"]
    orders = [mark["kind"] for mark in found if mark["by"] == "person"]
    assert orders == ["join", "join", "crash", "join", "leave", "rejoin"]
    assert [mark["at_us"] for mark in found] == sorted(mark["at_us"] for mark in found)
    said = [mark["caption"]["en"] for mark in found if mark["kind"] == "leave"]
    assert said == ["c1 left"]
    assert all(
        mark["caption"]["en"] and mark["caption"]["zh-hans"] != mark["caption"]["en"] for mark in found
    )


# -- over HTTP: what is refused before any work ---------------------------------------------------------------


@pytest.fixture
def still(world: World) -> Lab:
    """One that has come to its first millisecond."""
    lab = world.open()
    Lab.objects.filter(pk=lab.pk).update(clock_floor_us=1_000)
    return lab


def asked(lab_id: str, path: str = "past/", **query: object) -> Any:
    return Client().get(f"/api/labs/{lab_id}/{path}", {name: str(value) for name, value in query.items()})


@pytest.mark.parametrize(
    ("path", "query", "field"),
    [
        ("past/", {}, "at_us"),
        ("past/", {"at_us": "-1"}, "at_us"),
        ("past/", {"at_us": "1.5"}, "at_us"),
        ("past/", {"at_us": "x"}, "at_us"),
        ("past/", {"at_us": 10**14}, "at_us"),
        ("past/", {"at_us": 10**30}, "at_us"),
        ("past/", {"at_us": 1, "position": "x"}, "position"),
        ("past/", {"at_us": 1, "position": 999}, "position"),
        ("past/", {"at_us": 1, "speed": 2}, "speed"),
        ("past/", {"at_us": 1, "step": "record"}, "by"),
        ("past/", {"at_us": 1, "by": 1}, "step"),
        ("past/", {"at_us": 1, "step": "day", "by": 1}, "step"),
        ("past/", {"at_us": 1, "step": "record", "by": 0}, "by"),
        ("past/", {"at_us": 1, "step": "record", "by": BY_MAX + 1}, "by"),
        ("past/", {"at_us": 1, "step": "record", "by": "1e3"}, "by"),
        ("past/", {"at_us": 1, "look": ""}, "look"),
        ("past/", {"at_us": 1, "look": "a b"}, "look"),
        ("past/", {"at_us": 1, "look": "a" * 65}, "look"),
        ("past/", {"at_us": 1, "colour": "red"}, "colour"),
        ("past/frames/", {"at_us": 1, "every_us": 1}, "until_us"),
        ("past/frames/", {"at_us": 5, "until_us": 4, "every_us": 1}, "until_us"),
        ("past/frames/", {"at_us": 5, "until_us": 10**14, "every_us": 1}, "until_us"),
        ("past/frames/", {"at_us": 5, "until_us": 6}, "every_us"),
        ("past/frames/", {"at_us": 5, "until_us": 6, "every_us": 0}, "every_us"),
        ("past/frames/", {"at_us": 0, "until_us": 100, "every_us": 1}, "every_us"),
        ("past/frames/", {"at_us": 0, "until_us": 9, "every_us": 1, "step": "record", "by": 1}, "by"),
        ("marks/", {"at_us": 1}, "at_us"),
    ],
)
def test_what_is_wrong_is_refused_at_its_field(
    still: Lab, path: str, query: dict[str, object], field: str
) -> None:
    answer = asked(still.pk, path, **query)
    assert answer.status_code == 400 and list(answer.json()["fields"]) == [field], answer.text


def test_a_lab_of_older_rules_or_none_is_not_looked_back_at(still: Lab) -> None:
    assert asked("nothing", at_us=0).status_code == 404
    assert Client().post(f"/api/labs/{still.pk}/past/").status_code == 405
    Lab.objects.filter(pk=still.pk).update(rules_version=RULES_VERSION - 1)
    for path, query in (("past/", {"at_us": 0}), ("marks/", {})):
        answer = asked(still.pk, path, **query)
        assert answer.status_code == 409 and str(RULES_VERSION) in answer.json()["fields"]["lab"][0]


def test_a_far_moment_is_reached_from_a_checkpoint_on_the_way_and_is_the_same(
    lab: Lab, monkeypatch: pytest.MonkeyPatch
) -> None:
    stepped: list[int] = []
    step = KeptLabs._stepped
    monkeypatch.setattr(KeptLabs, "_stepped", lambda *given: (stepped.append(1), step(*given))[1])

    def to_the_end() -> tuple[str, int]:
        kept = KeptLabs()
        for at_us in (500_000, lab.clock_floor_us):
            look = Look(lab=lab.pk, kind=VIEW, language="en", look="x", at_us=at_us)
            stepped.clear()
            status, text = answered(look, kept, lambda: None)
            assert status == 200
        return json.loads(text)["state_hash"], len(stepped)

    on_foot, steps = to_the_end()
    monkeypatch.setattr("dashboard.labs.past.kept.JUMP_US", 1_000_000)
    jumped, fewer = to_the_end()
    assert jumped == on_foot and fewer < steps / 2
