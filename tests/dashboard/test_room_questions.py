"""A question to a room: who asks, who answers, and what everybody may know of it when."""

import json
from concurrent.futures import ThreadPoolExecutor
from contextlib import suppress
from threading import Barrier, BrokenBarrierError
from typing import Any

import pytest
from django.db import connection
from django.test import Client

from dashboard.access import token_new
from dashboard.errors import Refused
from dashboard.labs import services as labs
from dashboard.labs.past.answering import answered
from dashboard.labs.past.kept import KeptLabs
from dashboard.labs.past.look import Look
from dashboard.models import Room, RoomSeat
from dashboard.rooms import answers, api, questions, selectors, services
from dashboard.rooms.selectors import CLOSED, OPEN, TOLD, Role
from dashboard.stills.recorded import recorded_frames
from dashboard.threads import in_thread
from tests.dashboard.room_question import asked, told
from tests.dashboard.world import World

pytestmark = pytest.mark.django_db


@pytest.fixture
def presenter() -> str:
    return token_new()


@pytest.fixture
def room(presenter: str) -> Room:
    lab = labs.lab_open(request={}, visitor=presenter).lab
    return services.room_open(request={"lab": lab.pk}, visitor=presenter, address="here")


def seated(room: Room, name: str = "") -> str:
    visitor = token_new()
    services.seat_take(room=room, visitor=visitor, name=name)
    return visitor


def give(room: Room, visitor: str | None, **request: Any) -> Any:
    given = {"number": room.question, **request}
    role = selectors.role_of(room, visitor=visitor)
    return answers.answer_give(room=room, role=role, visitor=visitor, request=given)


def stage(room: Room, to: str | None = None, **rest: Any) -> Room:
    return questions.question_set(room=room, role=Role.PRESENTER, number=room.question, stage=to, **rest)


def refusal(act: Any) -> Refused:
    with pytest.raises(Refused) as refused:
        act()
    return refused.value


@pytest.mark.django_db(transaction=True)
def test_a_place_and_marks_of_one_seat_that_come_at_once_are_both_kept(
    room: Room, monkeypatch: pytest.MonkeyPatch
) -> None:
    room = asked(room)
    visitor = seated(room)
    give(room, visitor, chosen=0)
    both, read = Barrier(2), answers.intact

    def read_together(stored: Any) -> Any:
        if "chosen" in stored:  # the seat's own: the other one may come now
            with suppress(BrokenBarrierError):
                both.wait(0.5)
        return read(stored)

    monkeypatch.setattr(answers, "intact", read_together)

    def one(**given: Any) -> None:
        give(room, visitor, **given)
        connection.close()

    with ThreadPoolExecutor(2) as threads:
        for done in [threads.submit(one, chosen=1), threads.submit(one, marks=["3"])]:
            done.result()
    assert RoomSeat.objects.get().answer == {"chosen": 1, "marks": ["3"]}


# -- the question --------------------------------------------------------------------------------------------


def test_nobody_is_sent_the_truth_before_it_is_told(room: Room) -> None:
    room = asked(room)
    state = selectors.room_state(room)["asked"]
    (question,) = [
        each
        for each in told()["lanes"]["kafka"]["outcome"]["questions"]
        if each["figure"] == "partitions_moved"
    ]
    assert state["question"] == {name: question[name] for name in ("figure", "total", "answers")}
    assert state["marking"] == {"kind": "partition", "total": 4} and state["told"] is None
    room = stage(room, CLOSED, bars_shown=True)
    assert selectors.room_state(room)["asked"]["told"] is None
    assert "true" not in (answers.tally(room) or {})["heat"]
    room = stage(room, TOLD)
    state, heat = selectors.room_state(room)["asked"], (answers.tally(room) or {})["heat"]
    assert state["told"]["truth"] == question["truth"] and state["told"]["value"] == question["value"]
    assert heat["true"] == told()["lanes"]["kafka"]["outcome"]["moved_units"]


def test_a_question_goes_forward_and_is_put_away(room: Room) -> None:
    room = stage(asked(room), CLOSED)
    assert refusal(lambda: stage(room, OPEN)).status == 409
    assert refusal(lambda: stage(room, "soon")).fields.keys() == {"stage"}
    assert refusal(lambda: stage(room, bars_shown=1)).fields.keys() == {"bars_shown"}
    room = questions.question_end(room=room, role=Role.PRESENTER)
    assert selectors.room_state(room)["asked"] is None and answers.tally(room) is None
    assert refusal(lambda: stage(room, TOLD)).status == 409
    assert asked(room).question == 2


def test_another_lab_puts_the_question_away_and_another_page_does_not(room: Room, presenter: str) -> None:
    room = asked(room)
    show = {"room": room, "role": Role.PRESENTER}
    assert services.room_show(**show, lab_id=None, shown={"page": "pulsar"}).stage == OPEN
    other = labs.lab_open(request={}, visitor=presenter).lab
    assert services.room_show(**show, lab_id=other.pk, shown={}).stage == ""


@pytest.mark.parametrize(
    ("request_", "field"),
    [
        ({"lane": "kafka"}, "kind"),
        ({"kind": "join"}, "lane"),
        ({"kind": "explode", "lane": "kafka"}, "kind"),
        ({"kind": "join", "lane": "kafka", "truth": 1}, "truth"),
        ({"kind": "leave", "lane": "kafka", "consumer": ["c1"]}, "consumer"),
        ({"next": 1, "kind": "join", "lane": "kafka"}, "next"),
        ({"kind": "join", "lane": "kafka", "at_us": -1}, "at_us"),
        ({"kind": "join", "lane": "kafka", "figure": ["moved"]}, "figure"),
    ],
)
def test_what_is_asked_is_checked_at_its_field(room: Room, request_: dict[str, Any], field: str) -> None:
    refused = refusal(lambda: questions.question_look(room=room, role=Role.PRESENTER, request=request_))
    assert refused.status == 400 and list(refused.fields) == [field]


def test_a_change_with_nothing_to_ask_about_is_refused_and_changes_nothing(room: Room) -> None:
    nothing = told()
    nothing["lanes"]["kafka"]["outcome"]["questions"] = []
    request = {"kind": "join", "lane": "kafka"}
    ask = {"room": room, "role": Role.PRESENTER, "request": request, "told": nothing}
    assert refusal(lambda: questions.question_ask(**ask)).fields.keys() == {"lane"}
    room.refresh_from_db()
    assert room.version == 1 and room.stage == ""


def test_the_engine_works_the_question_out_and_the_presenter_sends_no_truth(
    world: World, client: Client, presenter: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    engine: list[str] = []

    async def ask(look: Look) -> tuple[int, bytes]:
        status, text = await in_thread(answered)(look, KeptLabs(), lambda: None)
        engine.append(text)
        return status, text.encode()

    monkeypatch.setattr(api, "ask", ask)
    lab = world.open(lanes=[{"model": "kafka", "partitions": 4}])
    world.run(3.0)
    room = services.room_open(request={"lab": lab.pk}, visitor=presenter, address="here")
    client.cookies["highwater_visitor"] = presenter
    path = f"/api/rooms/{room.code}/question/"
    sent = {"content_type": "application/json"}
    answer = client.post(path, json.dumps({"kind": "join", "lane": "kafka"}), **sent)
    assert answer.status_code == 201, answer.content
    state = answer.json()["asked"]
    assert state["change"] == {"kind": "join", "consumer": None} and len(state["question"]["answers"]) >= 3
    assert b"truth" not in answer.content
    closing = client.patch(path, json.dumps({"number": 1, "stage": "told"}), **sent)
    (question, *_others) = json.loads(engine[0])["lanes"]["kafka"]["outcome"]["questions"]
    told_now = closing.json()["asked"]["told"]
    assert (told_now["value"], told_now["truth"]) == (question["value"], question["truth"])
    wrong = client.post(path, json.dumps({"kind": "leave", "consumer": "nobody", "lane": "kafka"}), **sent)
    assert wrong.status_code == 400 and list(wrong.json()["fields"]) == ["consumer"]


# -- a question of a slide -----------------------------------------------------------------------------------

DECK = {"page": "deck", "lecture": "assignors"}


def on_slide(room: Room, number: int) -> Room:
    shown = {**DECK, "chosen": {"slide": str(number)}}
    return services.room_show(room=room, role=Role.PRESENTER, lab_id=None, shown=shown)


def ask_slide(room: Room, **request: Any) -> Room:
    return questions.slide_ask(room=room, role=Role.PRESENTER, request=request)


def test_a_slides_own_question_is_answered_and_told_as_any_other(presenter: str) -> None:
    room = services.room_open(request={"shown": DECK}, visitor=presenter, address="here")
    ana, ben = seated(room), seated(room)
    room = ask_slide(on_slide(room, 2), slide=2, question=1)
    state = selectors.room_state(room)["asked"] or {}
    assert state["slide"] == {"lecture": "assignors", "slide": 2, "question": 1}
    assert state["question"]["answers"] == [0, 1, 2] and state["told"] is None
    assert give(room, ana, chosen=1)["chosen"] == 1
    give(room, ben, chosen=0)
    for wrong in ({"chosen": 3}, {"marks": ["1"]}):
        assert refusal(lambda given=wrong: give(room, ana, **given)).status == 400
    room = stage(room, bars_shown=True)
    counted = answers.tally(room) or {}
    assert (counted["counts"], counted["heat"], counted["of"]) == ([1, 1, 0], None, 2)
    room = stage(room, TOLD)
    assert (selectors.room_state(room)["asked"] or {})["told"] == {"truth": 1, "value": None}


def test_a_lessons_question_on_a_slide_has_the_engines_truth(room: Room) -> None:
    room = stage(ask_slide(on_slide(room, 4), slide=4, question=1), TOLD)
    state = selectors.room_state(room)["asked"] or {}
    recorded = recorded_frames()["kafka_eager_join"][2]["ask"]["question"]
    assert state["told"]["truth"] == recorded["truth"] and len(state["question"]["answers"]) == 4


def test_a_slides_question_goes_with_its_slide(room: Room) -> None:
    room = ask_slide(on_slide(room, 2), slide=2, question=1)
    assert on_slide(room, 2).stage == OPEN, "an answer was opened on it, or the picture went on"
    assert on_slide(room, 3).stage == ""
    room = ask_slide(on_slide(room, 2), slide=2, question=1)
    room = services.room_show(room=room, role=Role.PRESENTER, lab_id=room.lab_id, shown={})
    assert room.stage == "", "the lab is shown"
    room = on_slide(asked(room), 2)
    assert room.stage == OPEN, "what is asked about the lab waits for it"


@pytest.mark.parametrize(
    ("request_", "field"),
    [
        ({"slide": 1, "question": 1}, "question"),
        ({"slide": 2, "question": 2}, "question"),
        ({"slide": 2, "question": True}, "question"),
        ({"slide": 11, "question": 1}, "slide"),
        ({"slide": "2", "question": 1}, "slide"),
        ({"slide": 2, "question": 1, "lane": "kafka"}, "lane"),
    ],
)
def test_only_what_a_slide_asks_can_be_asked(room: Room, request_: dict[str, Any], field: str) -> None:
    room = on_slide(room, 2)
    refused = refusal(lambda: ask_slide(room, **request_))
    assert refused.status == 400 and list(refused.fields) == [field]
    room.refresh_from_db()
    assert (room.question, room.stage) == (0, "")


def test_a_slide_is_asked_about_where_one_is_shown(client: Client, room: Room, presenter: str) -> None:
    assert refusal(lambda: ask_slide(room, slide=2, question=1)).status == 409
    client.cookies["highwater_visitor"] = presenter
    on_slide(room, 2)
    path, body = f"/api/rooms/{room.code}/question/", json.dumps({"slide": 2, "question": 1})
    sent = client.post(path, body, content_type="application/json")
    assert sent.status_code == 201 and sent.json()["asked"]["number"] == 1


# -- answers -------------------------------------------------------------------------------------------------


def test_a_seat_answers_once_and_changes_its_answer_until_the_question_is_closed(room: Room) -> None:
    room, ana, ben = asked(room), seated(room, "Ana"), seated(room)
    assert give(room, ana, chosen=1) == {"number": 1, "chosen": 1, "marks": None}
    give(room, ana, chosen=2)
    assert give(room, ana, marks=["3", "1", "3"]) == {"number": 1, "chosen": 2, "marks": ["3", "1"]}
    give(room, ben, chosen=2)
    counted = answers.tally(room) or {}
    assert (counted["answered"], counted["of"], counted["counts"], counted["heat"]) == (2, 2, None, None)
    room = stage(room, bars_shown=True)
    shown = answers.tally(room) or {}
    assert sum(shown["counts"]) == shown["counts"][2] == 2
    assert shown["heat"] == {"kind": "partition", "who": 1, "marks": {"3": 1, "1": 1}}
    room = stage(room, CLOSED, bars_shown=False)
    assert refusal(lambda: give(room, ben, chosen=0)).status == 409
    assert (answers.tally(room) or {})["counts"] is None
    assert (answers.tally(stage(room, TOLD)) or {})["counts"] == shown["counts"]


def test_an_answer_that_is_on_its_way_while_the_question_is_closed_does_not_count(room: Room) -> None:
    room, ana = asked(room), seated(room)
    stage(room, CLOSED)
    assert refusal(lambda: give(room, ana, chosen=0)).fields.keys() == {"number"}, (
        "this copy of the row is old"
    )
    assert (answers.tally(room) or {})["answered"] == 0


def test_an_answer_belongs_to_its_question(room: Room) -> None:
    room, ana = asked(room), seated(room)
    give(room, ana, chosen=1, marks=["1"])
    seat = selectors.seat_of(room, ana)
    assert answers.answer_of(room, seat)["chosen"] == 1
    room = asked(room)
    assert answers.answer_of(room, seat) == {"number": 2, "chosen": None, "marks": None}
    assert refusal(lambda: give(room, ana, number=1, chosen=0)).status == 409
    assert give(room, ana, chosen=0)["marks"] is None


def test_who_has_no_seat_does_not_answer(room: Room, presenter: str) -> None:
    room = asked(room)
    for visitor in (presenter, token_new(), None):
        assert refusal(lambda visitor=visitor: give(room, visitor, chosen=0)).status == 403
    assert (answers.tally(room) or {})["answered"] == 0


@pytest.mark.parametrize(
    ("request_", "field"),
    [
        ({}, "chosen"),
        ({"chosen": 4}, "chosen"),
        ({"chosen": True}, "chosen"),
        ({"chosen": "1"}, "chosen"),
        ({"marks": "1"}, "marks"),
        ({"marks": [1]}, "marks"),
        ({"marks": ["x" * 25]}, "marks"),
        ({"marks": ["1"] * 65}, "marks"),
        ({"name": "Ana"}, "name"),
    ],
)
def test_an_answer_is_checked_at_its_field(room: Room, request_: dict[str, Any], field: str) -> None:
    room = asked(room)
    refused = refusal(lambda: give(room, seated(room), **request_))
    assert refused.status == 400 and list(refused.fields) == [field]


def test_an_answer_is_changed_so_often_and_no_oftener(room: Room) -> None:
    room, ana, ben = asked(room), seated(room), seated(room)
    for number in range(answers.CHANGES_MAX):
        give(room, ana, chosen=number % 2)
    assert refusal(lambda: give(room, ana, chosen=0)).status == 429
    give(room, ben, chosen=0)
    room = asked(room)
    give(room, ana, chosen=0)


def test_marks_in_a_hash_space_are_counted_by_its_parts(room: Room) -> None:
    room = stage(asked(room, "pulsar"), bars_shown=True)
    marks = room.asked["marks"]
    assert marks["kind"] == "slot"
    size = marks["space"]
    ana, ben = seated(room), seated(room)
    width = size // answers.BINS
    give(room, ana, marks=["0", str(width - 1)])
    give(room, ben, marks=["1", str(size - 1)])
    assert (answers.tally(room) or {})["heat"]["marks"] == {str(width // 2): 2, str(size - width // 2): 1}
    for wrong in (str(size), "-1", "x"):
        assert refusal(lambda wrong=wrong: give(room, ana, marks=[wrong])).fields.keys() == {"marks"}
