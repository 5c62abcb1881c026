"""The command line `manage.py break_it`."""

import io
import json
import re
from pathlib import Path

import pytest
from django.core.management import CommandError, call_command

from broker_core.lab.breaking.faults import FAULTS
from broker_core.lab.breaking.file import cases
from broker_core.lab.breaking.promise import KINDS
from dashboard.sentences import SENTENCES

DOCS = (Path(__file__).parents[2] / "docs" / "break.md").read_text()


def run(*args, **options):
    """(what it prints, exit code)."""
    out = io.StringIO()
    try:
        call_command("break_it", *map(str, args), stdout=out, **options)
    except CommandError as error:
        return out.getvalue(), error.returncode, str(error)
    return out.getvalue(), 0, ""


def test_a_promise_that_breaks_is_exit_code_1_with_the_shortest_schedule_and_its_moment(tmp_path):
    example = tmp_path / "mine.toml"
    example.write_text(re.search(r"```toml\n(.*?)```", DOCS, re.DOTALL)[1])
    printed, code, _ = run(example, tries=60)
    assert code == 1
    assert re.search(r"Tried \d+ schedules, and the promise broke", printed)
    assert "the link between broker-" in printed and "crashed" in printed
    assert re.search(r"\d+\.\d{3} s  the promise is broken", printed)


def test_what_the_docs_show_is_what_it_prints():
    shown = re.search(r"\n((?:    .*\n)+)\n\"None broke it\"", DOCS)[1]
    printed, code, _ = run("kafka_acks_1", tries=60, language="en")
    assert code == 1 and [line.strip().replace("\u202f", " ") for line in printed.splitlines()] == [
        line.strip() for line in shown.splitlines()
    ]


def test_one_that_none_breaks_is_exit_code_0_and_says_how_many_it_tried():
    printed, code, _ = run("rabbitmq_prefetch_1", tries=5, language="zh")
    assert code == 0 and "尝试了 5 种安排，都没有打破它。" in printed


def test_its_time_bounds_it():
    printed, code, _ = run("rabbitmq_prefetch_1", seconds=0.2, json=True)
    answer = json.loads(printed)
    assert code == 0 and answer["tries"] >= 1 and answer["broken"] is False and answer["moment_us"] is None


def test_programs_get_the_schedule_as_orders_and_another_seed_searches_otherwise():
    printed, code, _ = run("pulsar_out_of_order_allowed", tries=40, seed=1, json=True)
    answer = json.loads(printed)
    assert code == 1 and answer["seed"] == 1
    assert answer["schedule"][-1]["at_us"] < answer["moment_us"]


@pytest.mark.parametrize(
    ("args", "options", "message"),
    [
        (["nowhere.toml"], {}, "cannot be read"),
        (["kafka_acks_1"], {"seed": -1}, "--seed"),
        (["kafka_acks_1"], {"tries": 0}, "--tries"),
        (["kafka_acks_1"], {"seconds": float("nan")}, "--seconds"),
    ],
)
def test_bad_input_is_exit_code_2(args, options, message):
    _, code, said = run(*args, **options)
    assert code == 2 and message in said


def test_a_wrong_field_is_exit_code_2_with_its_line(tmp_path):
    wrong = tmp_path / "wrong.toml"
    wrong.write_text(cases()["kafka_acks_1"].read_text().replace("most = 1", "most = 99", 1))
    _, code, said = run(wrong)
    line = next(place for place, text in enumerate(wrong.read_text().splitlines(), 1) if text == "most = 99")
    assert code == 2 and f"line {line}: may 1, most: must be a whole number from 1 to 5" in said


def test_the_list_names_each_case():
    printed, code, _ = run()
    assert code == 0 and all(name in printed for name in cases())


def test_every_promise_and_every_fault_has_its_words_and_is_in_the_docs():
    for kind in KINDS:
        assert {f"break.promise.{kind}", f"break.promised.{kind}"} <= SENTENCES.keys() and f"`{kind}`" in DOCS
    for kind in FAULTS:
        assert f"break.may.{kind}" in SENTENCES and f"`{kind}`" in DOCS
        assert f"break.did.{kind}" in SENTENCES or f"tick.{kind}" in SENTENCES
