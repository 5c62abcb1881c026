"""A task of a room: set at its fields, done by each seat in a copy of its own, and said once."""

from itertools import pairwise
from typing import Any

import pytest

from broker_core.clock import SECOND_US
from broker_core.lab.lesson.goal import Goal as CoreGoal
from dashboard import lessons
from dashboard.access import token_hash, token_new
from dashboard.errors import Refused
from dashboard.labs import services as labs
from dashboard.labs.goals import LOOK_US
from dashboard.labs.shard import Shard
from dashboard.models import Goal, Lab, Room, StoredView
from dashboard.rooms import questions, selectors, services, tasks
from dashboard.rooms.selectors import Role
from tests.dashboard.room_question import asked as asked_room
from tests.dashboard.world import LANES, World

pytestmark = pytest.mark.django_db

LAG = {"lane": "rabbitmq", "figure": "lag", "comparison": "at_least", "value": 40}
STAYS = {"lane": "rabbitmq", "figure": "redelivered", "comparison": "same", "for_s": 2}


@pytest.fixture
def presenter() -> str:
    return token_new()


@pytest.fixture
def room(world: World, presenter: str) -> Room:
    lab = labs.lab_open(request={"lanes": LANES}, visitor=presenter).lab
    world.transport.watching.add(lab.pk)
    world.run(1)
    return services.room_open(request={"lab": lab.pk}, visitor=presenter, address="here")


def seated(room: Room, name: str = "") -> str:
    visitor = token_new()
    services.seat_take(room=room, visitor=visitor, name=name)
    return visitor


def set_task(room: Room, **request: Any) -> Room:
    return tasks.task_set(room=room, role=Role.PRESENTER, request=request)


def copied(room: Room, visitor: str, number: int | None = None) -> Lab:
    number = room.tasks if number is None else number
    role = selectors.role_of(room, visitor=visitor)
    made = tasks.task_copy(room=room, role=role, number=number, visitor=visitor, address="there")
    return Lab.objects.get(pk=made)


def own(room: Room, visitor: str) -> dict[str, Any]:
    return tasks.task_of(room, selectors.seat_of(room, visitor))


def ordered(world: World, lab: Lab, visitor: str, kind: str, **rest: Any) -> None:
    world.transport.watching.add(lab.pk)
    world.transport.entries.append(lab.pk)
    labs.lab_submit(
        lab_id=lab.pk, request={"command_id": next(world.ids), "kind": kind, **rest}, visitor=visitor
    )


def refusal(act: Any) -> Refused:
    with pytest.raises(Refused) as refused:
        act()
    return refused.value


# -- setting -------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("changes", "field"),
    [
        ({"lane": "kafka"}, "lane"),
        ({"consumer": "c9"}, "consumer"),
        ({"figure": "unowned"}, "figure"),
        ({"figure": "partitions", "consumer": "c1"}, "figure"),
        ({"comparison": "near"}, "comparison"),
        ({"value": None}, "value"),
        ({"value": "4"}, "value"),
        ({"value": True}, "value"),
        ({"value": float("inf")}, "value"),
        ({"comparison": "same", "for_s": 3}, "value"),
        ({"comparison": "same", "value": None}, "for_s"),
        ({"for_s": 601}, "for_s"),
        ({"value": 0}, "value"),  # it is so already
        ({"check": 0}, "lane"),
        ({"note": "x" * 201}, "note"),
        ({"colour": "red"}, "colour"),
    ],
)
def test_what_is_asked_is_checked_at_its_field(room: Room, changes: dict[str, Any], field: str) -> None:
    refused = refusal(lambda: set_task(room, **{**LAG, **changes}))
    assert refused.status == 400 and list(refused.fields) == [field]
    room.refresh_from_db()
    assert (room.tasks, room.task) == (0, {})


def test_only_what_is_offered_can_be_asked(room: Room) -> None:
    offers = tasks.task_offers(room=room, role=Role.PRESENTER)
    assert offers["checks"] == [] and set(offers["lanes"]) == {"pulsar", "tubemq", "rabbitmq"}
    assert offers["lanes"]["tubemq"]["c1"] == ["lag", "partitions", "unacked", "rate"]
    for lane, consumers in offers["lanes"].items():
        for consumer, figures in consumers.items():
            for figure in figures:
                room = set_task(
                    room, lane=lane, consumer=consumer, figure=figure, comparison="more_than", value=1e9
                )
                assert (selectors.room_state(room)["task"] or {})["figure"] == figure


def test_a_lessons_own_check_is_a_task(world: World, presenter: str) -> None:
    lab = lessons.lesson_open(name="rabbitmq_one_to_one", visitor=presenter, address="").lab
    world.transport.watching.add(lab.pk)
    world.run(1)
    room = services.room_open(request={"lab": lab.pk}, visitor=presenter, address="here")
    checks = tasks.task_offers(room=room, role=Role.PRESENTER)["checks"]
    room = set_task(room, check=1, note="Without a second consumer.")
    task = selectors.room_state(room)["task"] or {}
    assert task["goal"]["number"] == checks[1]["number"] and task["says"] == checks[1]["says"]
    assert task["note"] == "Without a second consumer." and task["number"] == 1
    assert list(refusal(lambda: set_task(room, check=3)).fields) == ["check"]
    assert list(refusal(lambda: set_task(room, check=0)).fields) == ["check"], "it is so already"


def test_a_room_has_a_question_or_a_task(room: Room) -> None:
    room = asked_room(room, lane="rabbitmq")
    room = set_task(room, **LAG)
    assert room.stage == ""
    refused = refusal(
        lambda: questions.question_look(
            room=room, role=Role.PRESENTER, request={"kind": "join", "lane": "rabbitmq"}
        )
    )
    assert refused.status == 409
    room = tasks.task_end(room=room, role=Role.PRESENTER, recall=True)
    assert selectors.room_state(room)["task"] is None and room.recalls == 1
    assert questions.question_look(
        room=room, role=Role.PRESENTER, request={"kind": "join", "lane": "rabbitmq"}
    )


def test_two_tasks_set_at_once_have_two_numbers(room: Room) -> None:
    first, second = set_task(room, **LAG), set_task(room, **STAYS)
    assert (first.tasks, second.tasks) == (1, 2)


# -- doing ---------------------------------------------------------------------------------------------------


def test_each_seat_has_one_copy_of_the_lab_as_it_was_when_the_task_was_set(world: World, room: Room) -> None:
    ana, bo = seated(room, "Ana"), seated(room)
    room = set_task(room, **LAG)
    set_at = room.task["until_us"]
    first = copied(room, ana)
    world.run(2)
    second = copied(room, bo)
    assert copied(room, ana).pk == first.pk != second.pk
    assert first.clock_floor_us == second.clock_floor_us == set_at
    assert second.visitor_hash == token_hash(bo) and second.parent_id == room.lab_id
    assert refusal(lambda: copied(room, ana, number=2)).status == 409
    room = tasks.task_end(room=room, role=Role.PRESENTER)
    assert refusal(lambda: copied(room, ana)).status == 409
    assert Lab.objects.filter(pk=first.pk).exists(), "a copy stays one's own"


def test_a_locked_room_still_gives_the_tasks_copy(room: Room) -> None:
    ana = seated(room)
    room = services.room_order(room=room, role=Role.PRESENTER, locked=True)
    assert copied(set_task(room, **LAG), ana)


def test_the_copy_of_the_task_before_makes_room_for_the_next(room: Room) -> None:
    ana, bo = seated(room), seated(room)
    room = set_task(room, **LAG)
    older, others = copied(room, ana), copied(room, bo)
    room = set_task(room, **STAYS)
    newer = copied(room, ana)
    assert set(Lab.objects.filter(goal__isnull=False)) == {newer, others}
    assert Lab.everything.get(pk=older.pk).deleted_at is not None


def test_a_task_is_done_once_its_check_holds_in_ones_own_copy(
    world: World, room: Room, monkeypatch: pytest.MonkeyPatch, django_capture_on_commit_callbacks: Any
) -> None:
    ana, bo = seated(room, "Ana"), seated(room)
    room = set_task(room, **LAG)
    copy = copied(room, ana)
    copied(room, bo)
    services.seat_moved(seat_id=selectors.seat_of(room, ana).pk, is_looking=True)  # type: ignore[union-attr]
    for consumer in ("c1", "c2", "c3"):
        ordered(world, copy, ana, "leave", lane="rabbitmq", consumer=consumer)
    world.run(0.5)
    assert own(room, ana) == {"number": 1, "labs": [copy.pk], "is_done": False}
    assert tasks.progress(room) == {"type": "progress", "number": 1, "of": 2, "at": 1, "done": 0, "names": []}
    ordered(world, copy, ana, "play")
    told = []
    monkeypatch.setattr(
        "dashboard.labs.transport.Transport.tell_answered", lambda _self, code: told.append(code)
    )
    with django_capture_on_commit_callbacks(execute=True):
        world.run(8)
    assert own(room, ana)["is_done"] and not own(room, bo)["is_done"] and told == [room.code]
    assert (tasks.progress(room) or {})["names"] == ["Ana"] and (tasks.progress(room) or {})["done"] == 1
    held_at = Goal.objects.get(seat__name="Ana").held_at
    world.run(2)
    assert Goal.objects.get(seat__name="Ana").held_at == held_at, "once"
    Lab.objects.filter(pk=copy.pk).delete()
    assert own(room, ana) == {"number": 1, "labs": [], "is_done": True}, "done stays done"


def test_what_is_to_stay_so_counts_the_copys_own_time(world: World, room: Room) -> None:
    ana = seated(room)
    room = set_task(room, **STAYS)
    copy = copied(room, ana)
    world.transport.watching.add(copy.pk)
    world.transport.entries.append(copy.pk)
    world.run(4)
    assert not own(room, ana)["is_done"], "it is paused"
    ordered(world, copy, ana, "play")
    world.run(1)
    assert not own(room, ana)["is_done"]
    world.run(2)
    assert own(room, ana)["is_done"]


def taken_over(world: World, copy: Lab) -> Shard:
    """Another process has the lab: the one before died without a word."""
    Lab.objects.filter(pk=copy.pk).update(lease_until_ms=0)
    other = world.shard_new()
    world.run(0.05, other)
    return other


def test_what_has_been_counted_survives_the_process_that_counted_it(world: World, room: Room) -> None:
    ana = seated(room)
    room = set_task(room, **{**STAYS, "for_s": 6})
    copy = copied(room, ana)
    ordered(world, copy, ana, "play")
    world.run(2.5)
    since_us = counting(world.shard, copy).since_us
    assert since_us == copy.clock_floor_us
    other = taken_over(world, copy)
    assert counting(other, copy).since_us == since_us
    world.run(1, other)
    third = taken_over(world, copy)
    while not own(room, ana)["is_done"]:
        assert third.drivers[copy.pk].core.now_us < since_us + 7 * SECOND_US
        world.run(0.05, third)
    assert third.drivers[copy.pk].core.now_us >= since_us + 6 * SECOND_US


def counting(shard: Shard, copy: Lab) -> CoreGoal:
    found = shard.drivers[copy.pk].goal.goal
    assert found is not None
    return found


def test_what_was_shown_and_not_stored_is_looked_at_again(
    world: World, room: Room, monkeypatch: pytest.MonkeyPatch
) -> None:
    ana = seated(room)
    room = set_task(room, **{**STAYS, "for_s": 60})
    copy = copied(room, ana)
    ordered(world, copy, ana, "play")
    world.run(2.5)
    stored_us = StoredView.objects.get(pk=copy.pk).at_us
    copy.refresh_from_db()
    seen: list[int] = []
    look = CoreGoal.look

    def looked(goal: CoreGoal, lab: Any, view: Any) -> bool:
        seen.append(lab.now_us)
        return look(goal, lab, view)

    monkeypatch.setattr(CoreGoal, "look", looked)
    taken_over(world, copy)
    gaps = [later - earlier for earlier, later in pairwise([stored_us, *seen])]
    assert copy.clock_floor_us > stored_us + SECOND_US, "a browser may have seen more than is stored"
    assert max(gaps) <= LOOK_US and min(gaps) > 0 and seen[-1] >= copy.clock_floor_us


def test_a_branch_of_ones_own_copy_goes_on_with_the_task_and_anothers_does_not(
    world: World, room: Room
) -> None:
    ana = seated(room)
    room = set_task(room, **STAYS)
    copy = copied(room, ana)
    branch = labs.lab_fork(
        lab_id=copy.pk, request={"until_us": copy.clock_floor_us, "speed": 4}, visitor=ana
    ).lab
    other = labs.lab_fork(lab_id=copy.pk, visitor=token_new()).lab
    assert own(room, ana)["labs"] == [branch.pk, copy.pk] and other.goal_id is None
    ordered(world, branch, ana, "play")
    world.run(2)
    assert own(room, ana)["is_done"]
