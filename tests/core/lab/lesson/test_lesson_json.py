"""A lesson as a part of a scenario's JSON: what each field may hold, which lane may stand in front, and where
a lab on its way stops."""

from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from broker_core.errors import CommandError
from broker_core.lab.lesson.checks import ASKS
from broker_core.lab.lesson.lesson import ASKED_MAX, CHECKS_MAX, STEPS_MAX, Lesson, lesson_from_json
from broker_core.lab.limits import Limits

BOTH = {"en": "a", "zh": "b"}
LANES = {"kafka": ("cluster", "groups"), "rabbitmq": ("rabbitmq",)}
HUGE = 10**400


def raw(**changed: Any) -> dict[str, Any]:
    checks = [{"number": "lag", "asks": {"is": 0}, "says": BOTH}]
    return {
        "title": BOTH,
        "line": BOTH,
        "watch_for": BOTH,
        "you_will_learn": BOTH,
        "lasts_us": 10_000,
        "checks": checks,
        **changed,
    }


def lesson(**changed: Any) -> Lesson:
    return lesson_from_json(raw(**changed), LANES, Limits())


def refused(**changed: Any) -> tuple[str, str] | None:
    try:
        lesson(**changed)
    except CommandError as error:
        return error.field.removeprefix("lesson."), error.reason
    return None


def check(**changed: Any) -> list[dict[str, Any]]:
    return [{"number": "lag", "asks": {"is": 0}, "says": BOTH, **changed}]


def step(at_us: int = 0, **changed: Any) -> dict[str, Any]:
    return {"at_us": at_us, "order": {"kind": "play"}, **changed}


def test_lesson_reads_back_as_it_was_written() -> None:
    order = {"kind": "slow", "lane": "kafka", "consumer": "c1", "args": {"rate": 3}}
    steps = [
        {"at_us": 0, "caption": BOTH},
        {"at_us": 5, "order": order},
        {"at_us": 5, "caption": BOTH, "order": {"kind": "join"}},
    ]
    made = lesson(
        steps=steps,
        front="kafka",
        page="groups",
        checks=check(at_us=9, lane="kafka", asks={"at_least": 1, "less_than": 2.5}),
    )
    assert lesson_from_json(made.to_json(), LANES, Limits()) == made
    assert made.to_json()["steps"][1] == {"at_us": 5, "order": order}, "the ids of its orders are its own"


FRAME = {
    "word": BOTH, "stop_us": 8, "page": "groups", "lane": "kafka", "point": "consumer:c2", "plate": BOTH, "speed": 0.5,
}  # fmt: skip


def framed(at_us: int = 5, **frame: Any) -> list[dict[str, Any]]:
    return [{"at_us": at_us, "caption": BOTH, "frame": frame}]


def test_frame_of_a_caption_reads_back_as_it_was_written() -> None:
    made = lesson(steps=framed(**FRAME))
    assert lesson_from_json(made.to_json(), LANES, Limits()) == made
    assert made.to_json()["steps"][0]["frame"] == FRAME
    assert "frame" not in lesson(steps=[{"at_us": 0, "caption": BOTH}]).to_json()["steps"][0]


@pytest.mark.parametrize(
    ("frame", "field", "reason"),
    [
        ([], "", "must be an object"),
        ({"pointer": "x"}, ".pointer", "is unknown"),
        ({"word": {"en": "a"}}, ".word.zh", "is missing"),
        ({"word": {"en": "a" * 29, "zh": "b"}}, ".word.en", "must be a text of 1 to 28 characters"),
        ({"stop_us": 4}, ".stop_us", "is before its caption, at 5e-06 s"),
        ({"stop_us": 10_001}, ".stop_us", "is after 0.01 s, where"),
        ({"stop_us": True}, ".stop_us", "must be"),
        ({"page": "learn"}, ".page", "must be one of stage, cluster"),
        ({"page": "pulsar"}, ".page", "no selectable lane has this page"),
        ({"page": "cluster", "lane": "rabbitmq"}, ".page", "no selectable lane has this page"),
        ({"lane": "tubemq"}, ".lane", "must be one of kafka, rabbitmq"),
        ({"point": "c2"}, ".point", "must be a kind and an id, as broker:2"),
        ({"point": "broker:"}, ".point", "must be a kind and an id"),
        ({"point": 2}, ".point", "must be a kind and an id"),
        ({"point": "hw:2"}, ".point", "page stage has no hw to point at; it has lane, picture"),
        ({"point": "brokr:2", "page": "cluster"}, ".point", "page cluster has no brokr to point at"),
        ({"point": "broker:" + "2" * 80}, ".point", "must be a kind and an id"),
        ({"plate": BOTH}, ".plate", "belongs to a pointer: say at what, with point"),
        ({"point": "lane:kafka", "plate": {"en": "a b c d", "zh": "b"}}, ".plate.en", "must be at most 3 words"),
        ({"speed": 0}, ".speed", "must be a number from 0.1 to 20"),
        ({"speed": HUGE}, ".speed", "must be a number from 0.1 to 20"),
    ],
)  # fmt: skip
def test_what_is_wrong_with_a_frame_is_said_at_its_field(frame: Any, field: str, reason: str) -> None:
    answer = refused(steps=[{"at_us": 5, "caption": BOTH, "frame": frame}])
    assert answer is not None and (answer[0], reason in answer[1]) == (f"steps.0.frame{field}", True), answer


def test_frame_belongs_to_a_caption_and_its_stop_comes_before_the_next_one() -> None:
    bare = [{"at_us": 5, "order": {"kind": "join"}, "frame": {"word": BOTH}}]
    assert refused(steps=bare) == ("steps.0.frame", "belongs to a caption: give it one")
    answer = refused(steps=[*framed(stop_us=7), step(7), {"at_us": 7, "caption": BOTH}])
    assert answer is not None and answer[0] == "steps.0.frame.stop_us"
    assert refused(steps=[*framed(stop_us=6), step(6), {"at_us": 7, "caption": BOTH}]) is None


def test_ways_lead_from_stop_to_stop_in_some_seconds_each() -> None:
    second = 1_000_000
    made = lesson(
        lasts_us=400 * second,
        steps=[
            *framed(0),
            *framed(2 * second, stop_us=6 * second),
            {"at_us": 20 * second, "caption": BOTH},
            *framed(20 * second, speed=7),
            *framed(20_200_000),
            step(30 * second),
        ],
    )
    assert [each.stop_us for each in made.frames()] == [0, 6 * second, 20 * second, 20_200_000]
    assert made.ways() == [
        (0, 0.1), (6 * second, 2.0), (20 * second, 7.0), (20_200_000, 0.1), (400 * second, 20.0),
    ]  # fmt: skip
    assert made.opening()["args"] == {"until_us": 6 * second, "speed": 2.0}, (
        "the start itself is there already"
    )


def test_orders_of_a_lesson_have_ids_by_their_place_and_the_lab_is_paused_at_its_end() -> None:
    made = lesson(steps=[{"at_us": 0, "caption": BOTH}, step(5), step(7, order={"kind": "join"})])
    assert [
        (entry["at_us"], entry["body"]["command_id"], entry["body"]["kind"]) for entry in made.script()
    ] == [
        (5, "lesson:2", "play"),
        (7, "lesson:3", "join"),
        (10_000, "lesson:end", "pause_lab"),
    ]


def test_lanes_have_titles_in_each_language_and_only_lanes_that_there_are() -> None:
    made = lesson(lanes={"rabbitmq": BOTH})
    assert made.lanes == {"rabbitmq": BOTH} and lesson_from_json(made.to_json(), LANES, Limits()) == made
    assert lesson().lanes == {} and "lanes" not in lesson().to_json()
    assert refused(lanes=[]) == ("lanes", "must be an object")
    assert refused(lanes={"tubemq": BOTH}) == ("lanes.tubemq", "is unknown; known: kafka, rabbitmq")
    assert refused(lanes={"kafka": {"en": "a"}}) == (
        "lanes.kafka.zh",
        "is missing: every text is in each language, en, zh",
    )
    assert refused(lanes={"kafka": {"en": "a" * 41, "zh": "b"}}) == (
        "lanes.kafka.en",
        "must be a text of 1 to 40 characters",
    )


def test_check_without_a_time_is_at_the_end_and_without_a_lane_asks_the_lab() -> None:
    (only,) = lesson().checks
    assert (only.at_us, only.lane) == (10_000, "")


@pytest.mark.parametrize(
    ("front", "page", "answer"),
    [
        (None, "stage", None), ("kafka", "groups", None), (None, "groups", None), ("rabbitmq", "stage", None),
        ("rabbitmq", "rabbitmq", None),
        ("kafka", "rabbitmq", ("page", "no selectable lane has this page")),
        ("rabbitmq", "groups", ("page", "no selectable lane has this page")),
        (None, "pulsar", ("page", "no selectable lane has this page")),
        ("tubemq", "stage", ("front", "must be one of kafka, rabbitmq")),
        (None, "learn", ("page", "must be one of stage, cluster, groups, pulsar, tubemq, rabbitmq")),
        (["kafka"], "stage", ("front", "must be one of kafka, rabbitmq")),
    ],
)  # fmt: skip
def test_page_is_one_that_the_lane_in_front_has(
    front: Any, page: str, answer: tuple[str, str] | None
) -> None:
    assert refused(front=front, page=page) == answer


@pytest.mark.parametrize("name", ["title", "line", "watch_for", "you_will_learn"])
@pytest.mark.parametrize(
    ("texts", "field"),
    [
        (None, ""),
        ("text", ""),
        ({"en": "a"}, ".zh"),
        ({"en": "a", "zh": " \n"}, ".zh"),
        ({"en": "", "zh": "b"}, ".en"),
        ({"en": 1, "zh": "b"}, ".en"),
        ({"en": "a\x07b", "zh": "b"}, ".en"),
        ({"en": "a", "zh": "b", "de": "c"}, ".de"),
        ({"en": "\ud800", "zh": "b"}, ".en"),
    ],
)
def test_text_is_in_each_language_and_holds_no_control_characters(name: str, texts: Any, field: str) -> None:
    answer = refused(**{name: texts})
    assert answer is not None and answer[0] == f"{name}{field}"


@pytest.mark.parametrize(
    ("name", "most"), [("title", 60), ("line", 200), ("watch_for", 2_000), ("you_will_learn", 2_000)]
)
def test_text_has_a_greatest_length_without_the_blanks_at_its_edges(name: str, most: int) -> None:
    assert refused(**{name: {"en": f"  {'x' * most}\n", "zh": "b"}}) is None
    assert refused(**{name: {"en": "x" * (most + 1), "zh": "b"}}) == (
        f"{name}.en",
        f"must be a text of 1 to {most} characters",
    )


@pytest.mark.parametrize(
    ("written", "read"),
    [
        ("一\n二", "一二"),
        ("用 c1\n和 c2", "用 c1 和 c2"),
        ("一\nc1", "一 c1"),
        ("c1\n一", "c1 一"),
        ("a\nb", "a b"),
        ("完。\nc1", "完。c1"),
        ("，\nc1", "，c1"),
        ("  一 \n\n 二 ", "一二"),
        ("c1\n，好", "c1，好"),
    ],
)
def test_lines_of_chinese_are_joined_without_a_blank_but_beside_a_latin_letter(
    written: str, read: str
) -> None:
    assert lesson(line={"en": "a\n  b", "zh": written}).line == {"en": "a b", "zh": read}


@pytest.mark.parametrize(
    ("steps", "answer"),
    [
        ({}, ("steps", f"must be a list of at most {STEPS_MAX} entries")),
        ([step()] * (STEPS_MAX + 1), ("steps", f"must be a list of at most {STEPS_MAX} entries")),
        ([3], ("steps.0", "must be an object")),
        ([step(), step(-1)], ("steps.1.at_us", "must be a whole number from 0 to 14400000000")),
        ([step(4), step(3)], ("steps.1.at_us", "time goes back: the step before it is at 4e-06 s")),
        ([step(10_001)], ("steps.0.at_us", "is after the end, 0.01 s")),
        ([{"at_us": 0}], ("steps.0", "does nothing: give it a caption, an order, or both")),
        ([step(order=3)], ("steps.0.order", "must be an object")),
        ([step(order={"kind": "leave"})], ("steps.0.order.consumer", "name the consumer for leave")),
        (
            [step(order={"kind": "play", "lane": "kafka"})],
            ("steps.0.order.lane", "play belongs to the whole lab: leave this out"),
        ),
        (
            [step(order={"kind": "join", "lane": "tubemq"})],
            ("steps.0.order.lane", "must be one of all, kafka, rabbitmq"),
        ),
        ([step(note=1)], ("steps.0.note", "is unknown; known: at_us, caption, frame, order")),
        ([step(10_000), step(10_000)], None),
    ],
)
def test_steps_are_in_the_order_of_time_and_each_does_something(
    steps: Any, answer: tuple[str, str] | None
) -> None:
    assert refused(steps=steps) == answer


@pytest.mark.parametrize(
    ("checks", "field"),
    [
        ([], "checks"),
        (None, "checks"),
        (check() * (CHECKS_MAX + 1), "checks"),
        ([3], "checks.0"),
        (check(at_us=0), "checks.0.at_us"),
        (check(at_us=10_001), "checks.0.at_us"),
        (check(lane="tubemq"), "checks.0.lane"),
        (check(lane=None), "checks.0.lane"),
        (check(number=""), "checks.0.number"),
        (check(number="x" * 201), "checks.0.number"),
        (check(number="a\nb"), "checks.0.number"),
        (check(asks={}), "checks.0"),
        (check(asks={"equals": 1}), "checks.0.asks.equals"),
        (check(says=None), "checks.0.says"),
        (check(extra=1), "checks.0.extra"),
    ],
)
def test_check_asks_something_of_a_number_before_the_end(checks: Any, field: str) -> None:
    answer = refused(checks=checks)
    assert answer is not None and answer[0] == field


@pytest.mark.parametrize(
    ("asks", "is_one"),
    [
        ({"is": "live"}, True),
        ({"is": True}, True),
        ({"is_not": 3}, True),
        ({"at_least": 0.5}, True),
        ({"at_least": "1"}, False),
        ({"at_most": True}, False),
        ({"is": None}, False),
        ({"is": [1]}, False),
        ({"is": "x" * 201}, False),
        ({"more_than": float("nan")}, False),
        ({"less_than": float("inf")}, False),
        ({"at_least": HUGE}, False),
        ({"is": -HUGE}, False),
        ({"at_least": 1, "less_than": "2"}, False),
    ],
)
def test_what_is_asked_is_a_number_and_of_an_exact_question_also_a_text_or_true_or_false(
    asks: dict[str, Any], is_one: bool
) -> None:
    answer = refused(checks=check(asks=asks))
    assert (answer is None) == is_one and (answer is None or answer[0] == f"checks.0.asks.{list(asks)[-1]}")


@pytest.mark.parametrize("name", ASKS)
@pytest.mark.parametrize("wanted", [1e308, -1e308, ASKED_MAX + 1, -ASKED_MAX - 1, 1.5e15])
def test_number_that_no_lab_can_reach_is_refused_with_its_bounds(name: str, wanted: float) -> None:
    assert refused(checks=check(asks={name: wanted})) == (
        f"checks.0.asks.{name}", "must be a number from -1000000000000000 to 1000000000000000",
    )  # fmt: skip
    for edge in (ASKED_MAX, -ASKED_MAX, 1e15):
        assert refused(checks=check(asks={name: edge})) is None


@settings(max_examples=25)
@given(st.lists(st.integers(1, 99), max_size=6), st.integers(0, 100), st.integers(1, 60))
def test_lab_on_its_way_stops_at_the_first_moment_of_the_lesson_before_its_goal(
    times: list[int], now_us: int, ahead_us: int
) -> None:
    made = lesson(steps=[step(at_us) for at_us in sorted(times)], checks=check(at_us=50))
    between = [at_us for at_us in (*times, 50) if now_us < at_us < now_us + ahead_us]
    assert made.stop_us(now_us, now_us + ahead_us) == min(between, default=now_us + ahead_us)
