"""The format of a lesson's file, with its messages and bounds."""

import json

import pytest
from hypothesis import given
from hypothesis import strategies as st

from broker_core.errors import CommandError
from broker_core.lab.commands import COMMANDS
from broker_core.lab.lab import Lab
from broker_core.lab.lesson.file import read_file, scenario_from_text, shelf
from broker_core.lab.lesson.file_error import FileError
from broker_core.lab.lesson.lined import read_lined
from broker_core.lab.scenario import scenario_from_json, scenario_to_json
from tests.core.lab.lesson.whole_lesson import WHOLE, edited


def lesson_of(text):
    return scenario_from_text(text).lesson


def test_a_file_is_a_scenario_with_a_lesson():
    scenario = scenario_from_text(WHOLE)
    assert (scenario.name, scenario.seed, scenario.consumers, scenario.lesson.lasts_us) == (
        "Two",
        7,
        2,
        12_000_000,
    )
    assert [step.at_us for step in scenario.lesson.steps] == [2_000_000, 5_500_000]
    assert scenario.lesson.steps[0].order["args"] == {"rate": 1}
    assert scenario.lesson.watch_for["en"] == "First, at_s = 3 is text here."
    assert scenario_from_json(json.loads(json.dumps(scenario_to_json(scenario)))) == scenario


@pytest.mark.parametrize(
    ("old", "new", "line", "message"),
    [
        ("lasts_s = 12", 'lasts_s = 12\npage = "groups"', 6, "page: no selectable lane has this page"),
        ('model = "rabbitmq"', 'model = "zeromq"', 25, "lane 1, model: must be one of pulsar"),
        ("rate = 10", "rate = 0", 22, "workload.rate"),
        ("consumers = 2", "consumers = -1", 6, "consumers: must be a whole number"),
        ("consumers = 2", "consumer = 2", 6, "consumer: is unknown; known: title, line"),
        ("lasts_s = 12\n", "", 1, "lasts_s: is missing: a number of seconds"),
        ("lasts_s = 12", 'lasts_s = "12"', 5, "lasts_s: must be a number of seconds from 0 to 14400"),
        ("lasts_s = 12", "lasts_s = 5", 36, "step 2, at_s: is after the end, 5.0 s"),
        ('zh = "看"', "", 8, "watch_for.zh: is missing: every text is in each language"),
        ('caption.zh = "它变慢。"\n', "", 29, "step 1, caption.zh: is missing"),
        ('caption.zh = "它变慢。"', 'caption.de = "Es"', 30, "step 1, caption.de: is unknown; known: en, zh"),
        (
            "at_s = 5.5\ndo",
            "at_s = 1\ndo",
            36,
            "step 2, at_s: time goes back: the step before it is at 2.0 s",
        ),
        ('do = "crash"', 'do = "explode"', 37, "step 2, do: must be one of join, leave"),
        (
            'do = "crash"\nconsumer = "c2"',
            "",
            35,
            "step 2: does nothing: give it a caption, an order, or both",
        ),
        ('do = "crash"\n', "", 37, "step 2, consumer: belongs to a command"),
        (
            'caption.zh = "它变慢。"',
            'caption.zh = "它变慢。"\nframe.stop_s = 1',
            31,
            "step 1, frame.stop_s: is before its caption, at 2.0 s",
        ),
        (
            'caption.zh = "它变慢。"',
            'caption.zh = "它变慢。"\nframe.stop_s = "3"',
            31,
            "step 1, frame.stop_s: must be a number of seconds",
        ),
        (
            'caption.zh = "它变慢。"',
            'caption.zh = "它变慢。"\nframe.word.en = "slow"',
            31,
            "step 1, frame.word.zh: is missing",
        ),
        (
            'caption.zh = "它变慢。"',
            'caption.zh = "它变慢。"\nframe.page = "cluster"',
            31,
            "step 1, frame.page: no selectable lane has this page",
        ),
        ('consumer = "c2"', 'consumer = "c2"\nframe.speed = 2', 39, "step 2, frame: belongs to a caption"),
        ("rate = 1\n", 'rate = "two"\n', 33, "step 1, rate: must be a whole number"),
        (
            "rate = 1\n",
            "speed = 2\n",
            33,
            "step 1, speed: is unknown; known: at_s, caption, frame, do, consumer, lane, rate",
        ),
        (
            'consumer = "c2"',
            'consumer = "c2"\nlane = "kafka"',
            39,
            "step 2, lane: must be one of all, rabbitmq",
        ),
        ('lane = "rabbitmq"\nnumber', 'lane = "kafka"\nnumber', 42, "check 1, lane: must be one of rabbitmq"),
        ("is = 1", "equals = 1", 44, "check 1, equals: is unknown; known: at_least, at_most, is"),
        ("is = 1\n", "", 40, "check 1: asks nothing: say one of is, is_not"),
        ("at_least = 100", 'at_least = "many"', 50, "check 2, at_least: must be a number"),
        ('number = "record_count"', "number = 3", 49, "check 2, number: must be the name of a number"),
        ("[watch_for]", "[watch_for", 8, "is not TOML"),
        ("consumers = 2", "consumers = 2\nconsumers = 3", 7, "is not TOML"),
        ("[[lane]]", "[[lan]]", 24, "lan: is unknown; known: title"),
        ("[watch_for]", "[[watch_for]]", 8, "watch_for: must be a text in each language"),
        ("[[lane]]", "[lane]", 24, "lane: is a list: write [[lane]], once for each"),
    ],
)
def test_what_is_wrong_is_said_with_line_and_field(old, new, line, message):
    with pytest.raises(FileError) as caught:
        scenario_from_text(WHOLE.replace(old, new, 1))
    assert str(caught.value).startswith(f"line {line}: ")
    assert message in str(caught.value)


def test_frame_of_a_step_may_be_written_in_one_line_or_field_by_field():
    fields = 'frame.stop_s = 3.25\nframe.point = "consumer:c1"\nframe.word = { en = "slow", zh = "慢" }'
    one = 'frame = { stop_s = 3.25, point = "consumer:c1", word = { en = "slow", zh = "慢" } }'
    first, second = (
        lesson_of(edited('caption.zh = "它变慢。"', f'caption.zh = "它变慢。"\n{lines}'))
        for lines in (fields, one)
    )
    assert first == second
    frame = first.steps[0].frame
    assert (frame.stop_us, frame.point, frame.word) == (3_250_000, "consumer:c1", {"en": "slow", "zh": "慢"})
    assert first.steps[0].order["consumer"] == "c1" and first.steps[1].frame.to_json() == {}


def test_lines_of_a_text_become_one_as_its_language_writes_it():
    lesson = lesson_of(WHOLE.replace('zh = "看"', 'zh = """\n先看。\nc1 和\nc2，\n再看\n三次\n"""'))
    assert lesson.watch_for["zh"] == "先看。c1 和 c2，再看三次"


def test_a_file_without_checks_shows_nothing():
    with pytest.raises(FileError, match="check: is missing"):
        scenario_from_text(WHOLE[: WHOLE.index("[[check]]")])


def test_lines_are_those_of_the_text_whatever_the_values_hold():
    text = (
        'a = [\n  1,\n  { b = "]" },\n]\nc.d = """\nx = 1\n[y]\n"""\n[e.f]\ng = \'"\'\n[[h]]\n"i j" = 1  # k '
        "= 2\n[[h]]\n[h.l]\nm = 1\n"
    )
    assert read_lined(text).lines == {
        ("a",): 1,
        ("c",): 5,
        ("c", "d"): 5,
        ("e",): 9,
        ("e", "f"): 9,
        ("e", "f", "g"): 10,
        ("h",): 11,
        ("h", 0): 11,
        ("h", 0, "i j"): 12,
        ("h", 1): 13,
        ("h", 1, "l"): 14,
        ("h", 1, "l", "m"): 15,
    }


@pytest.mark.parametrize("kind", COMMANDS)
def test_a_step_takes_every_command_with_its_fields(kind):
    """Whatever the registry knows: a field that the command has is taken, one that it has not is refused at
    its line."""
    with pytest.raises(FileError, match="step 2, nonsense: is unknown"):
        scenario_from_text(WHOLE.replace('do = "crash"', f'do = "{kind}"\nnonsense = 1'))
    for name in COMMANDS[kind].ARGS:
        try:
            scenario_from_text(WHOLE.replace('do = "crash"', f'do = "{kind}"\n{name} = 1'))
        except FileError as error:
            assert "is unknown" not in str(error)


LINES = WHOLE.splitlines()
VALUES = st.sampled_from(
    [
        "3",
        "-1",
        "1e400",
        "nan",
        "true",
        '"c1"',
        '""',
        '"\\u0000"',
        "[]",
        "{}",
        '{ en = "a", zh = "b" }',
        "[[[]]]",
        "2026-01-01",
        "9" * 5000,
        "'x'",
        '"' + "x" * 3000 + '"',
        "0x1F",
        "{ en = 1, zh = 2 }",
        '["en", "zh"]',
    ]
)
EDITS = st.one_of(
    st.tuples(st.just("drop"), st.integers(0, len(LINES) - 1), st.just("")),
    st.tuples(st.just("value"), st.integers(0, len(LINES) - 1), VALUES),
    st.tuples(st.just("insert"), st.integers(0, len(LINES) - 1),
              st.sampled_from(["x = 1", "[x]", "[[step]]", "[[check]]", '"""', "front = 1", "[lane.x]"])),
)  # fmt: skip


@given(st.lists(EDITS, min_size=1, max_size=4))
def test_whatever_a_file_holds_it_is_a_scenario_or_an_error_with_a_line(edits):
    lines = list(LINES)
    for how, place, text in edits:
        if how == "value" and "=" in lines[place]:
            lines[place] = f"{lines[place].split('=')[0]}= {text}"
        elif how != "value":
            lines[place] = "" if how == "drop" else f"{lines[place]}\n{text}"
    try:
        scenario = scenario_from_text("\n".join(lines))
    except FileError as error:
        assert 0 < error.line <= sum(line.count("\n") + 1 for line in lines) + 1
        assert error.reason
    else:
        assert scenario_from_json(json.loads(json.dumps(scenario_to_json(scenario)))) == scenario


def test_title_of_a_lane_is_the_lessons_and_wrong_ones_are_told_at_their_line() -> None:
    titled = WHOLE.replace(
        'model = "rabbitmq"\n', 'model = "rabbitmq"\ntitle.en = "One queue"\ntitle.zh = "一个队列"\n'
    )
    scenario = scenario_from_text(titled)
    assert scenario.lesson is not None and scenario.lesson.lanes == {
        "rabbitmq": {"en": "One queue", "zh": "一个队列"}
    }
    assert scenario.lanes == scenario_from_text(WHOLE).lanes
    assert Lab(scenario).view()["lesson"]["lanes"] == scenario.lesson.lanes
    with pytest.raises(FileError, match=r"line 27: lane 1, title.zh: must be a text of 1 to 40 characters"):
        scenario_from_text(titled.replace("一个队列", " "))
    with pytest.raises(FileError, match=r"lane 1, title: must be a text in each language"):
        scenario_from_text(WHOLE.replace('model = "rabbitmq"\n', 'model = "rabbitmq"\ntitle = "One queue"\n'))


@pytest.mark.parametrize("text", ["a = 2026-13-01", "=" * 1000, "\x00", '"""'])
def test_text_that_no_reader_expects_is_refused(text):
    with pytest.raises(FileError, match="is not TOML"):
        scenario_from_text(text)


def test_a_caption_holds_no_control_characters():
    with pytest.raises(FileError, match=r"line 30: step 1, caption.zh: must not hold control characters"):
        scenario_from_text(edited('caption.zh = "它变慢。"', 'caption.zh = "它\\u0000慢。"'))


def test_a_lesson_is_bounded():
    raw = scenario_to_json(scenario_from_text(WHOLE))
    for change, field in (
        ({"steps": raw["lesson"]["steps"] * 101}, "lesson.steps"),
        ({"title": {"en": "x" * 61, "zh": "二"}}, "lesson.title.en"),
        ({"lasts_us": 10**12}, "lesson.lasts_us"),
        ({"front": "kafka"}, "lesson.front"),
        ({"page": "learn"}, "lesson.page"),
        ({"page": "cluster"}, "lesson.page"),
    ):
        with pytest.raises(CommandError) as caught:
            scenario_from_json({**raw, "lesson": {**raw["lesson"], **change}})
        assert caught.value.field == field


def test_files_are_short_enough_to_be_read_as_a_page():
    for path in shelf().values():
        assert len(read_file(path).splitlines()) < 250
