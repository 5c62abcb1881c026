"""The command line `manage.py run_scenario`."""

import io
import json
import re
from pathlib import Path

import pytest
from django.core.management import CommandError, call_command

from broker_core.lab.lab import Lab
from broker_core.lab.lesson.numbers import NoSuchNumber, number_at
from broker_core.lab.scenario import scenario_from_json
from broker_core.lab.view import lab_numbers, lane_view

DOCS = Path(__file__).parents[2] / "docs" / "scenarios.md"
NAME = "kafka_eager_join"


@pytest.fixture
def example(tmp_path):
    """The whole example of the docs, as a file."""
    path = tmp_path / "my_lesson.toml"
    path.write_text(re.search(r"```toml\n(.*?)```", DOCS.read_text(), re.DOTALL)[1])
    return path


def test_every_number_that_the_docs_name_is_there():
    """In the lane of one model at least, after a change; what follows a dot stands for the name before it."""
    lab = Lab(scenario_from_json({"consumers": 3}))
    lab.advance_to(20_000_000)
    lab.submit({"command_id": "x", "kind": "join"})
    lab.advance_to(40_000_000)
    clustered = Lab(
        scenario_from_json({"lanes": [{"model": "kafka", "brokers": 3, "offsets_partitions": 5}]})
    )
    clustered.advance_to(10_000_000)
    lanes = [lane_view(its, lane) for its in (lab, clustered) for lane in its.lanes.values()]
    table = DOCS.read_text().split("## The numbers")[1].split("## Adding")[0]
    rows = [line.split("|")[1] for line in table.splitlines() if line.startswith("| `")]
    names = [re.findall(r"`([^`]+)`", row) for row in rows]
    assert sum(map(len, names)) > 25
    for before, name in [(row[0].rpartition(".")[0], name) for row in names for name in row]:
        if name.startswith("."):
            name = f"{before}{name}"
        # Those are there once something has happened.
        if not name.startswith(("events.", "cluster.faults.", "group_health.findings.", "group_topics.")):
            assert any(is_there(view, name) for view in [*lanes, lab_numbers(lab)]), name


def is_there(view, name):
    try:
        number_at(view, name)
    except NoSuchNumber:
        return False
    return True


def run(*args, **options):
    out = io.StringIO()
    call_command("run_scenario", *map(str, args), stdout=out, **options)
    return out.getvalue()


def test_the_example_of_the_docs_holds(example):
    told = run(example)
    assert "0:10.0  c1 slows down to one record a second." in told
    assert "0:10.0  > slow c1 rate=1" in told
    assert (
        "[holds] rabbitmq consumers.c1.unacked = 5 (asked: 5): records in c1's hands: its prefetch count"
        in told
    )
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
    assert [step["caption"] for step in answers[2]["steps"]] == [
        step["caption"] for step in answers[0]["steps"]
    ]


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
        (
            'number = "lag"',
            'number = "lga"',
            "check 2, number: there is no lga at 0:30.0; there are: algorithm",
        ),
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
    for name, message in (
        ("nothing", "cannot be read"),
        (".", "cannot be read"),
        ("bytes", "line 2: is not UTF-8"),
        ("long", "is longer than"),
    ):
        with pytest.raises(CommandError, match=message) as caught:
            run(tmp_path / name)
        assert caught.value.returncode == 2
    with pytest.raises(CommandError, match="--seed"):
        run(NAME, seed=-1)
