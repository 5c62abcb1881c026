"""The command line `manage.py run_scenario`."""

import io
import json
import re
from pathlib import Path

import pytest
from django.core.management import CommandError, call_command

DOCS = Path(__file__).parents[2] / "docs" / "scenarios.md"
NAME = "kafka_eager_join"


@pytest.fixture
def example(tmp_path):
    """The whole example of the docs, as a file."""
    path = tmp_path / "my_lesson.toml"
    path.write_text(re.search(r"```toml\n(.*?)```", DOCS.read_text(), re.DOTALL)[1])
    return path


def run(*args, **options):
    out = io.StringIO()
    call_command("run_scenario", *map(str, args), stdout=out, **options)
    return out.getvalue()


def test_the_example_of_the_docs_holds(example):
    told = run(example)
    assert "0:10.0  c1 slows down to one record a second." in told
    assert "0:10.0  > slow c1 rate=1" in told
    assert "[holds] rabbitmq consumers.c1.unacked = 5 (asked: 5): records in c1's hands: its prefetch count" in told
    assert told.rstrip().endswith("2 of 2 checks hold")
    assert "0:10.0  c1 慢到每秒一条。" in run(example, language="zh")


def test_a_scenario_goes_by_its_name_and_the_list_has_it():
    assert NAME in run()
    answer = json.loads(run(NAME, json=True))
    assert (answer["scenario"], answer["seed"], answer["failed"], answer["holds"]) == (NAME, 7, 0, True)
    assert [check["came"] for check in answer["checks"] if check["number"] == "bill.partitions_moved"] == [6]


def test_another_seed_is_another_run_of_the_same_story(example):
    answers = [json.loads(run(example, json=True, seed=seed)) for seed in (8, 8, 9)]
    assert answers[0] == answers[1]
    assert answers[2]["seed"] == 9
    assert [step["caption"] for step in answers[2]["steps"]] == [step["caption"] for step in answers[0]["steps"]]


def test_a_check_that_fails_is_exit_code_1_and_says_what_came(example):
    example.write_text(example.read_text().replace("is = 5", "is = 6"))
    with pytest.raises(CommandError, match="1 of 2 checks fail") as caught:
        run(example)
    assert caught.value.returncode == 1
    out = io.StringIO()
    with pytest.raises(CommandError):
        call_command("run_scenario", str(example), json=True, stdout=out)
    answer = json.loads(out.getvalue())
    assert (answer["failed"], answer["checks"][0]["came"], answer["checks"][0]["asks"]) == (1, 5, {"is": 6})


@pytest.mark.parametrize(
    ("old", "new", "message"),
    [
        ("at_s = 10", "at_s = ten", "is not TOML"),
        ('do = "slow"', 'do = "slowly"', "step 2, do: must be one of join, leave"),
        ('number = "lag"', 'number = "lga"', "check 2, number: there is no lga at 0:30.0; there are: algorithm"),
        ('consumer = "c1"', 'consumer = "c7"', "step 2, consumer: there is no consumer c7"),
    ],
)
def test_a_file_that_is_wrong_is_exit_code_2_with_line_and_field(example, old, new, message):
    text = example.read_text()
    example.write_text(text.replace(old, new))
    with pytest.raises(CommandError, match=r"my_lesson\.toml, line \d+: ") as caught:
        run(example)
    assert caught.value.returncode == 2
    assert message in str(caught.value)


def test_what_is_no_file_is_one_sentence(tmp_path):
    (tmp_path / "bytes").write_bytes(b"a = 1\n\xff\xfe")
    (tmp_path / "long").write_text("#" * 70_000)
    for name, message in (("nothing", "cannot be read"), (".", "cannot be read"), ("bytes", "line 2: is not UTF-8"), ("long", "is longer than")):
        with pytest.raises(CommandError, match=message) as caught:
            run(tmp_path / name)
        assert caught.value.returncode == 2
    with pytest.raises(CommandError, match="--seed"):
        run(NAME, seed=-1)
