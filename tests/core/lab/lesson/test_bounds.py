"""Scenario files that are made to hurt, or that a thousand mistakes went through: each is a lesson or a
message with its place, soon and in little memory."""

import json
import random
import re
import resource
import time
import tracemalloc

import pytest

from broker_core.errors import CommandError
from broker_core.lab.commands import COMMANDS, command_from_json
from broker_core.lab.lesson.bounds import BYTES_MAX, DEPTH_MAX, PARTS_MAX
from broker_core.lab.lesson.file import read_file, scenario_from_text, shelf
from broker_core.lab.lesson.file_error import FileError
from broker_core.lab.lesson.lined import read_lined
from broker_core.lab.scenario import scenario_from_json, scenario_to_json

SHELF = {name: read_file(path) for name, path in shelf().items()}
MANY = "a." * 12_000 + "a"
BOMBS = {
    "a dotted key of thousands of parts": f"{MANY} = 1",
    "with blanks around the dots": " . ".join(["a"] * 8_000) + " = 1",
    "with tabs around the dots": "\t.\t".join(["a"] * 8_000) + " = 1",
    "of quoted parts": ".".join(['"a"'] * 8_000) + " = 1",
    "of parts in single quotes": ".".join(["'a'"] * 8_000) + " = 1",
    "of empty quoted parts": ".".join(['""'] * 10_000) + " = 1",
    "of numbers": ".".join(map(str, range(6_000))) + " = 1",
    "a table header of thousands of parts": f"[{MANY}]",
    "a header of a list of tables of thousands of parts": f"[[{MANY}]]",
    "a header with blanks": "[ " + " . ".join(["a"] * 8_000) + " ]",
    "a dotted key below a table": f"[b]\n{MANY} = 1",
    "a dotted key in an inline table": f"a = {{{MANY} = 1}}",
    "a dotted key in a list of inline tables": f"a = [1, {{{MANY} = 1}}]",
    "a dotted key after a comment": f"# a.b\n{MANY} = 1",
    "a dotted key after a text of several lines": f'a = """\nx"""\n{MANY} = 1',
    "a dotted key behind a text that ends in four quotes": f'b = ["""x"""", {{{MANY} = 1}}]',
    "a dotted key behind a text that ends in five quotes": f"b = ['''x''''', {{{MANY} = 1}}]",
    "a dotted key behind an escaped quote": f'b = ["\\"", {{{MANY} = 1}}]',
    "a dotted key behind a text that ends in a backslash": f"b = ['\\', {{{MANY} = 1}}]",
    "lists in lists": "a = " + "[" * 20_000,
    "lists in lists that are closed": "a = " + "[" * 10_000 + "]" * 10_000,
    "lists in lists over many lines": "a = " + "[\n" * 10_000,
    "inline tables in inline tables": "a = " + "{a=" * 8_000,
    "inline tables and lists in turn": "a = " + "[{a=" * 6_000,
    "lists in lists behind a text that ends in four quotes": 'a = ["""x"""", ' + "[" * 20_000,
    "a file without an end": "a = 1\n" * 20_000,
    "a long text": 'title.en = "' + "x" * 100_000 + '"',
    "a text that is longer in UTF-8": 'title.en = "' + "长" * 12_000 + '"',
    "a comment without an end": "#" * 100_000,
    "a whole number of thousands of digits": "lasts_s = " + "9" * 5_000,
    "a whole number of thousands of digits with strokes": "lasts_s = " + "9_" * 5_000 + "9",
    "a hexadecimal number of thousands of digits": "lasts_s = 0x" + "f" * 20_000,
    "a binary number of thousands of digits": "lasts_s = 0b" + "1" * 20_000,
    "a fraction of thousands of digits": "lasts_s = 0." + "3" * 20_000,
    "an exponent of thousands of digits": "lasts_s = 1e" + "9" * 20_000,
    "a name of thousands of letters": "a" * 20_000 + " = 1",
    "a quoted name of thousands of letters": '"' + "a" * 20_000 + '" = 1',
    "thousands of headers with few parts": "\n".join(f"[a{place}.b.c.d]" for place in range(1_800)),
    "thousands of lists of tables": "[[a]]\n" * 5_000,
    "thousands of names": "\n".join(f"a{place} = 1" for place in range(3_000)),
    "quotes without an end": '"""' + '"' * 2 + "\\" * 20_000,
    "quotes and backslashes in turn": "a = " + '"\\' * 10_000,
    "a text without an end on each line": 'a = "\n' * 5_000,
    "blanks": " " * 32_000 + "=",
}  # fmt: skip


def said_of(text: str) -> str:
    """The message, with its place checked; "" where the text is a lesson."""
    try:
        scenario = scenario_from_text(text)
    except FileError as error:
        is_whole = error.template == "is longer than {high} bytes"
        assert error.line == 0 if is_whole else 0 < error.line <= text.count("\n") + 2
        assert error.reason
        assert len(str(error)) < 2_000
        return str(error)
    assert scenario_from_json(json.loads(json.dumps(scenario_to_json(scenario)))) == scenario
    return ""


@pytest.mark.parametrize("name", BOMBS)
def test_bomb_is_a_message_soon_and_in_little_memory(name: str) -> None:
    started_s = time.process_time()
    tracemalloc.start()
    try:
        said = said_of(BOMBS[name])
        peak = tracemalloc.get_traced_memory()[1]
    finally:
        tracemalloc.stop()
    assert said
    assert peak < 16_000_000
    assert time.process_time() - started_s < 2, "traced memory makes it ten times as slow"


@pytest.mark.parametrize(("inner", "line", "said"), [
    (".".join("a" * PARTS_MAX) + " = 1", 2, "is unknown"),
    (".".join("a" * (PARTS_MAX + 1)) + " = 1", 2, f"has a name of more than {PARTS_MAX} parts"),
    ("a = " + "[" * DEPTH_MAX + "]" * DEPTH_MAX, 2, "is unknown"),
    ("a = " + "[\n" * (DEPTH_MAX + 1), 2 + DEPTH_MAX, f"has brackets more than {DEPTH_MAX} deep"),
    (f'a = "{MANY} {"[" * 1_000}"', 2, "is unknown"),
    (f"a = 1 # {MANY[:9_000]} {'[' * 1_000}", 2, "is unknown"),
    ("\n" + "a" * 300 + " = 1", 3, "is a name or a number of more than 256 characters"),
])  # fmt: skip
def test_limit_is_said_at_its_line_and_texts_and_comments_do_not_count(
    inner: str, line: int, said: str
) -> None:
    with pytest.raises(FileError, match=re.escape(said)) as refused:
        scenario_from_text(f"seed = 1\n{inner}")
    assert refused.value.line == line


def test_each_file_that_comes_along_is_far_within_the_limits() -> None:
    for text in SHELF.values():
        assert len(text.encode()) < BYTES_MAX / 2
        assert read_lined(text).document


# -- mistakes ------------------------------------------------------------------------------------------------

NUMBERS = (
    "1e308",
    "1e309",
    "-1e308",
    "inf",
    "-inf",
    "+inf",
    "nan",
    "-nan",
    "9" * 30,
    "-" + "9" * 30,
    "9" * 250,
    "1e-400",
    "0.1e-300",
    "9223372036854775808",
    "-1",
    "0",
    "true",
    "[]",
    "{}",
    '""',
    "2026-01-01",
    "2026-01-01T00:00:00Z",
    "12:00:00",
    "0x" + "f" * 60,
)
NUMBER = re.compile(r"(?<=[=\[, ])-?\d+(?:\.\d+)?(?=[\s,\]]|$)")
VALUE = re.compile(r"(?<== ).+$", re.MULTILINE)
BYTES = "[]{}=.,\"'#\n\\ _-aé\x00\ud800\x7f0"


def mutated(chance: random.Random) -> str:
    """A file that comes along, with one to three mistakes in it."""
    text = SHELF[chance.choice(sorted(SHELF))]
    for _ in range(chance.randint(1, 3)):
        lines = text.split("\n")
        place = chance.randrange(len(lines))
        match chance.randrange(8):
            case 0 | 1 if numbers := list(NUMBER.finditer(text)):
                found = chance.choice(numbers)
                text = text[: found.start()] + chance.choice(NUMBERS) + text[found.end() :]
            case 2 if values := list(VALUE.finditer(text)):
                found = chance.choice(values)
                text = (
                    text[: found.start()]
                    + chance.choice((*NUMBERS, '"x"', "[1]", '["a", 2]', "{a = 1}", "[[]]"))
                    + text[found.end() :]
                )
            case 3:
                text = "\n".join(lines[:place] + lines[place + 1 :])
            case 4:
                text = "\n".join([*lines[:place], lines[chance.randrange(len(lines))], *lines[place:]])
            case 5:
                at = chance.randrange(len(text) + 1)
                text = text[:at] + chance.choice(BYTES) + text[at + chance.randrange(2) :]
            case 6:
                text = text[: chance.randrange(len(text) + 1)]
            case _:
                key = chance.choice(
                    (
                        "seed",
                        "lasts_s",
                        "consumers",
                        "workload.rate",
                        "workload.keys",
                        "a.b",
                        "check",
                        "lane",
                        "title",
                    )
                )
                text = f"{key} = {chance.choice(NUMBERS)}\n{text}"
    return text


@pytest.mark.parametrize("part", range(8))
def test_2000_files_with_mistakes_are_each_a_lesson_or_a_message(part: int) -> None:
    before_kb = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
    started_s = time.process_time()
    said = [said_of(mutated(random.Random(seed))) for seed in range(250 * part, 250 * (part + 1))]
    assert sum(map(bool, said)) > 150
    assert time.process_time() - started_s < 30
    assert resource.getrusage(resource.RUSAGE_SELF).ru_maxrss - before_kb < 100_000


# -- numbers in any place ------------------------------------------------------------------------------------

WRONG = (1e308, -1e308, float("inf"), float("-inf"), float("nan"), 10**400, -(10**400), 2**63, 2**64, 1e-300,
         True, None, "1", [], {}, [[]], {"a": {}})  # fmt: skip
EVERYTHING = {
    "name": "all",
    "seed": 3,
    "consumers": 2,
    "consumer_rate": 5,
    "workload": {"kind": "zipf", "keys": 9, "rate": 5, "exponent": 1.5},
    "lanes": [
        {
            "model": "kafka",
            "partitions": 4,
            "network_delay_us": 500,
            "brokers": 3,
            "replication_factor": 2,
            "min_insync_replicas": 1,
            "acks": -1,
            "idempotence": True,
            "truncation": "fetch",
            "lag_messages_max": 9,
            "racks": ["a", "b", "c"],
            "group_protocol": "classic",
            "remote_assignor": "uniform",
            "offsets_partitions": 5,
            "static_members": False,
            "commits": "auto",
            "unclean_election": False,
            "more_topics": [{"name": "b", "partitions": 3}],
            "groups": {"audit": {"consumers": 1, "rate": 10, "assignor": "range"}},
            "session_timeout_ms": 6000,
            "heartbeat_interval_ms": 100,
            "placement_seed": 3,
        },
        {
            "model": "pulsar",
            "receiver_queue_size": 10,
            "points": 10,
            "nack_delay_us": 100_000,
            "priorities": {"c1": 1},
            "subscriptions": {"audit": {"type": "shared", "consumers": 2, "rate": 3}},
            "delayed_every": 3,
            "delay_us": 10,
        },
        {"model": "tubemq", "partitions": 6, "brokers": 3},
        {"model": "rabbitmq", "prefetch": 3},
    ],
    "lesson": {
        "title": {"en": "a", "zh": "b"},
        "line": {"en": "a", "zh": "b"},
        "watch_for": {"en": "a", "zh": "b"},
        "you_will_learn": {"en": "a", "zh": "b"},
        "front": "kafka",
        "page": "stage",
        "lasts_us": 9_000_000,
        "steps": [
            {"at_us": 1, "caption": {"en": "a", "zh": "b"}},
            {"at_us": 5, "order": {"kind": "slow", "consumer": "c1", "args": {"rate": 2}}},
        ],
        "checks": [
            {
                "at_us": 5,
                "lane": "kafka",
                "number": "lag",
                "asks": {"at_most": 3},
                "says": {"en": "a", "zh": "b"},
            }
        ],
    },
}


def places(value: object, way: tuple[str | int, ...] = ()) -> list[tuple[str | int, ...]]:
    inner = value.items() if isinstance(value, dict) else enumerate(value) if isinstance(value, list) else ()
    return [way, *(place for key, each in inner for place in places(each, (*way, key)))]


def with_value(whole: object, way: tuple[str | int, ...], value: object) -> object:
    if not way:
        return value
    copy = dict(whole) if isinstance(whole, dict) else list(whole)  # type: ignore[call-overload]
    copy[way[0]] = with_value(copy[way[0]], way[1:], value)
    return copy


def test_no_number_in_any_place_of_a_scenario_is_more_than_a_refusal_at_a_field() -> None:
    assert scenario_from_json(EVERYTHING).lesson is not None
    refused = 0
    for way in places(EVERYTHING):
        for wrong in WRONG:
            try:
                json.dumps(
                    scenario_to_json(scenario_from_json(with_value(EVERYTHING, way, wrong))), allow_nan=False
                )
            except CommandError as error:
                refused += 1
                assert error.field
                assert error.reason
    assert refused > 1_000


def test_no_number_in_any_argument_of_a_command_is_more_than_a_refusal_at_a_field() -> None:
    for kind, made in COMMANDS.items():
        for name in sorted(made.ARGS):
            for wrong in WRONG:
                try:
                    command_from_json(
                        {
                            "command_id": "x",
                            "kind": kind,
                            "consumer": "c1",
                            "lane": "kafka",
                            "args": {name: wrong},
                        }
                    )
                    command_from_json(
                        {"command_id": "x", "kind": kind, "lane": "kafka", "args": {name: wrong}}
                    )
                except CommandError as error:
                    assert error.field
