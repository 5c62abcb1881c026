"""A user's own assignor: what its text may say, what the function is given, and what of its answer is
believed. Who runs it is played here."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest

from broker_core.errors import CommandError
from broker_core.kafka.assignors import StickyUserData, Subscription, custom
from broker_core.kafka.assignors.custom import (
    SOURCE_LETTERS_MAX,
    AssignorFailed,
    check_source,
    custom_assignor,
)

GOOD = "def assign(members, partitions):\n    return {name: [] for name in sorted(members)}\n"
Answer = dict[str, Any]
Plays = Callable[[Answer], list[tuple[Any, ...]]]


@pytest.fixture
def runner(monkeypatch: pytest.MonkeyPatch) -> Plays:
    """Give the answer of the process that runs the text; get what it was asked. The site's own runner is back
    after the test."""

    def answers(answer: Answer) -> list[tuple[Any, ...]]:
        asked: list[tuple[Any, ...]] = []

        def run(*call: Any) -> Answer:
            asked.append(call)
            return answer

        monkeypatch.setattr(custom, "_runner", run)
        return asked

    return answers


def body(line: str) -> str:
    return f"def assign(members, partitions):\n    {line}\n    return {{}}\n"


@pytest.mark.parametrize(
    ("source", "line", "word"),
    [
        ("import os\n" + GOOD, 1, "import"),
        (body("from os import path"), 2, "import"),
        (body("global x"), 2, "global"),
        (body("class A: pass"), 2, "class"),
        (body("x = (yield)"), 2, "yield"),
        (body("with x: pass"), 2, "with"),
        (body("x = 2 ** 9"), 2, "**"),
        (body("x **= 9"), 2, "**"),
        (body("x = members.mro"), 2, "mro"),
        (body("x = members.__class__"), 2, "__class__"),
        (body("x = _y"), 2, "_y"),
        (body("x = f'{__name__}'"), 2, "__name__"),
        (body("x = open('/etc/passwd').read()"), 2, "open"),
        (body("print(members.mro)"), 2, "print"),
        (body("x = [hash(n) ** 2 for n in members]"), 2, "hash"),
        (body("x = members.mro.__class__"), 2, "mro"),
        (body("x = eval('1') ** 2"), 2, "eval"),
        (body("x = 2 ** eval('1')"), 2, "**"),
        (body("hash = 1; x = hash.real"), 2, "real"),
        (body("x = [n.read() for n in ()]; import os"), 2, "read"),
        ("async def other():\n    pass\n" + GOOD, 1, "async"),
        (body("x = [n.format for n in members]"), 2, "format"),
    ],
)
def test_word_that_may_not_be_used_is_named_with_its_line(source: str, line: int, word: str) -> None:
    with pytest.raises(CommandError) as refused:
        check_source(source)
    assert (
        str(refused.value).endswith(f"line {line}: an assignor cannot use {word}")
        and refused.value.field == "args.source"
    )


@pytest.mark.parametrize(
    "given",
    [
        "type = 1",
        "x = [1 for type in members]",
        "x = (lambda type: 1)(1)",
        "x = (type := 1)",
        "for type in (): x = 1",
        "def type(n): return n",
    ],
)
def test_name_of_pythons_that_the_text_itself_gives_is_not_to_blame(given: str) -> None:
    source = body(f"{given}\n    x = type\n    x = x.mro")
    with pytest.raises(CommandError, match="line 4: an assignor cannot use mro"):
        check_source(source)


def test_function_of_pythons_that_is_not_there_is_no_refusal_alone() -> None:
    check_source(body("x = open('/etc/passwd')"))


@pytest.mark.parametrize(
    "source",
    [
        "x = 1\n",
        "def assign(members):\n    return {}\n",
        "def assign(a, b, c):\n    return {}\n",
        GOOD + GOOD,
        "def other(a, b):\n    return {}\n",
        "if True:\n    def assign(members, partitions):\n        return {}\n",
    ],
    ids=["no function", "one argument", "three", "two functions", "another name", "not at the top"],
)
def test_text_must_define_assign_once_with_its_two_arguments(source: str) -> None:
    with pytest.raises(CommandError, match=r"must define assign\(members, partitions\)"):
        check_source(source)


@pytest.mark.parametrize(
    ("source", "said"),
    [
        ("", "1 to 8000"),
        ("#" * (SOURCE_LETTERS_MAX + 1), "1 to 8000"),
        ("def assign(:\n", "line 1"),
        ("x = '\0'", "line 0"),
    ],
)
def test_text_that_is_empty_too_long_or_no_python_is_refused(source: str, said: str) -> None:
    with pytest.raises(CommandError, match=said):
        check_source(source)


def test_text_of_the_longest_length_with_methods_of_lists_and_dicts_is_taken() -> None:
    source = body(
        "x = sorted(members.items()); y = 'a'.join([n.upper() for n in members]); "
        "members.setdefault('a', []).append(1)"
    )
    check_source(source + "#" * (SOURCE_LETTERS_MAX - len(source)))


@pytest.mark.parametrize(
    "line",
    [
        "COOPERATIVE = 1\n",
        "COOPERATIVE = not True\n",
        "a = COOPERATIVE = True\n",
        "COOPERATIVE, x = True, 1\n",
        "for COOPERATIVE in ():\n    pass\n",
    ],
)
def test_cooperative_is_said_plainly_or_not_at_all(line: str) -> None:
    with pytest.raises(CommandError, match="COOPERATIVE must be True or False"):
        check_source(line + GOOD)
    with pytest.raises(CommandError, match="COOPERATIVE must be True or False"):
        check_source(body("COOPERATIVE = True"))


@pytest.mark.parametrize(
    ("head", "is_cooperative"),
    [("", False), ("COOPERATIVE = True\n", True), ("COOPERATIVE = True\nCOOPERATIVE = False\n", False)],
)
def test_last_word_on_cooperation_counts(head: str, is_cooperative: bool) -> None:
    check_source(head + GOOD)
    assignor = custom_assignor(head + GOOD)
    assert (assignor.cooperative, assignor.remembers, assignor.id) == (is_cooperative, True, "custom")


def test_function_is_given_members_and_topics_by_name_and_what_each_had(runner: Plays) -> None:
    asked = runner({"assignment": {"a": [["t", 1], ["t", 0], ["t", 1]]}})
    members = {
        "b": Subscription(("t",), owned=(("t", 0),), generation=4, rack="east"),
        "a": Subscription(("u", "t"), user_data=StickyUserData((("t", 1),), 3), instance_id="i"),
    }
    assert custom_assignor(GOOD).assign(members, {"u": 1, "t": 2}) == {"a": [("t", 1), ("t", 0)], "b": []}, (
        "a partition twice is once"
    )
    ((source, told, counts),) = asked
    assert source == GOOD and list(told) == ["a", "b"] and list(counts.items()) == [("t", 2), ("u", 1)]
    assert told["b"] == {
        "topics": ["t"],
        "owned": [["t", 0]],
        "generation": 4,
        "instance_id": "",
        "rack": "east",
    }
    assert told["a"] == {
        "topics": ["u", "t"],
        "owned": [["t", 1]],
        "generation": -1,
        "instance_id": "i",
        "rack": "",
    }


@pytest.mark.parametrize(
    ("given_out", "code", "said"),
    [
        ([], "not_dict", "must return a dict"),
        ({"x": []}, "no_member", "there is no member x"),
        ({"a": "t0"}, "not_list", "a must have a list"),
        ({"a": [["t", 2]]}, "no_partition", r"\['t', 2\] is no partition"),
        ({"a": [["t", -1]]}, "no_partition", "no partition"),
        ({"a": [["u", 0]]}, "no_partition", "no partition"),
        ({"a": [["t", True]]}, "no_partition", "no partition"),
        ({"a": [["t"]]}, "no_partition", "no partition"),
        ({"a": [("t", 0)]}, "no_partition", "no partition"),
        ({"a": [["t", 0]] * 100_001}, "too_many", "too many partitions"),
    ],
)
def test_answer_is_believed_only_as_far_as_it_names_members_and_partitions_that_there_are(
    given_out: Any, code: str, said: str, runner: Plays
) -> None:
    runner({"assignment": given_out})
    with pytest.raises(AssignorFailed, match=said) as failed:
        custom_assignor(GOOD).assign({"a": Subscription(("t",))}, {"t": 2})
    assert (failed.value.code, failed.value.line) == (code, 0)


def test_partition_may_have_two_owners_or_none(runner: Plays) -> None:
    runner({"assignment": {"a": [["t", 0]], "b": [["t", 0]]}})
    members = {"a": Subscription(("t",)), "b": Subscription(())}
    assert custom_assignor(GOOD).assign(members, {"t": 2}) == {"a": [("t", 0)], "b": [("t", 0)]}


@pytest.mark.parametrize(
    ("answer", "code", "line", "text"),
    [
        ({"error": "KeyError: 'x'", "line": 3}, "", 3, "line 3: KeyError: 'x'"),
        ({"error": "gone", "line": 0}, "", 0, "gone"),
        (
            {"code": "steps", "params": {"steps": 300_000}, "line": 2},
            "steps",
            2,
            "line 2: took more than 300,000 steps",
        ),
    ],
)
def test_what_went_wrong_in_the_process_is_told_with_its_line(
    answer: Answer, code: str, line: int, text: str, runner: Plays
) -> None:
    runner(answer)
    with pytest.raises(AssignorFailed) as failed:
        custom_assignor(GOOD).assign({"a": Subscription(("t",))}, {"t": 2})
    assert (failed.value.code, failed.value.line, str(failed.value)) == (code, line, text)


def test_nobody_to_run_it_is_said_so(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(custom, "_runner", None)
    with pytest.raises(AssignorFailed, match="no process for custom assignors"):
        custom_assignor(GOOD).assign({"a": Subscription(("t",))}, {"t": 2})


@pytest.mark.parametrize(
    ("head", "is_refused"), [("", False), ("COOPERATIVE = True\n", True)], ids=["eager", "cooperative"]
)
def test_cooperative_one_must_leave_out_what_its_owner_has_not_given_up(
    head: str, is_refused: bool, runner: Plays
) -> None:
    members = {
        "a": Subscription(("t",), owned=tuple(("t", number) for number in range(9))),
        "b": Subscription(("t",)),
    }
    runner({"assignment": {"a": [["t", 0]], "b": [["t", number] for number in range(8, 0, -1)]}})
    if is_refused:
        with pytest.raises(AssignorFailed, match=r"t-1, t-2, t-3, t-4, t-5 still has an owner") as failed:
            custom_assignor(head + GOOD).assign(members, {"t": 9})
        assert failed.value.code == "cooperative"
        runner({"assignment": {"a": [["t", 0]], "b": []}})
    assert custom_assignor(head + GOOD).assign(members, {"t": 9})["a"] == [("t", 0)]
