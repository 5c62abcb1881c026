"""`manage.py study`: a file in, a ranking and a folder of tables out; wrong input is one sentence and exit
code 2."""

import io
import json
import time

import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from django.core.management import CommandError, call_command

from broker_core.pipeline import session
from broker_core.pipeline.constraints import CONSTRAINTS
from broker_core.pipeline.result import TABLES, result_json
from dashboard.management.commands.study import Command, _Progress
from dashboard.management.study_line import history_of, kind_of, request_of, source_of


def study(*arguments, **options):
    out, err = io.StringIO(), io.StringIO()
    call_command("study", *arguments, stdout=out, stderr=err, **options)
    return out.getvalue(), err.getvalue()


@pytest.fixture
def orders(tmp_path):
    path = tmp_path / "orders.jsonl"
    path.write_text(
        "".join(f'{{"customer": "c-{number % 17}"}}\n' for number in range(200))
        + '{"customer": null}\n{"customer": ""}\nbroken\n'
    )
    return path


def test_a_stage_that_is_one_job_says_each_second_how_much_of_it_is_done():
    err, done = io.StringIO(), [0]
    command = Command(stderr=err)
    lab = {"stage": "lab", "total": 10, "rows": 50_000}
    with _Progress(command) as progress:
        progress({**lab, "done": 0, "done_now": lambda: done[0]})
        done[0] = 4
        waited = time.monotonic() + 20
        while "4 of 10" not in err.getvalue() and time.monotonic() < waited:
            time.sleep(0.02)
        progress({**lab, "stage": "writing", "done": 0, "total": 1, "done_now": None})
    assert [line.split("s  ")[1] for line in err.getvalue().splitlines()] == [
        "lab 0 of 10, 50,000 records",
        "lab 4 of 10, 50,000 records",
        "writing, 50,000 records",
    ]
    assert not progress.watcher.is_alive()


def test_the_command_prints_the_ranking_and_writes_the_tables(spark, orders, tmp_path, monkeypatch):
    monkeypatch.setattr(session, "spark_open", lambda **_: spark)
    monkeypatch.setattr(session, "spark_stop", lambda _: None)
    out, err = study(
        str(orders),
        "--key",
        "customer",
        "--out",
        str(tmp_path / "out"),
        "--strategies",
        "kafka.range",
        "kafka.sticky",
        "--members",
        "2 + c1x +c1",
        "--weights",
        "skew=10,churn=60",
        "--constraints",
        "skew_max=9,keeps_order=true",
        "--name",
        "orders in May",
    )
    lines = out.splitlines()
    head = next(place for place, line in enumerate(lines) if line.startswith("place"))
    assert lines[0].startswith("No key is too hot") or "more than an even share" in lines[0]
    assert lines[head].split() == [
        "place",
        "strategy",
        "score",
        "skew",
        "churn",
        "pause",
        "lag",
        "order",
        "why",
    ]
    assert {line.split()[2].rstrip(",") for line in lines[head + 1 : head + 3]} == {"Range", "Sticky"}
    assert lines[head + 1].startswith("1 ")
    told = result_json(tmp_path / "out")
    assert told["request"]["constraints"] == dict(CONSTRAINTS) | {
        "keeps_order": True,
        "skew_max": 9.0,
    }
    assert any(
        line.startswith(("Range", "Sticky")) and ("points ahead of" in line or "same score" in line)
        for line in lines
    )
    assert (
        told["name"] == "orders in May"
        and told["workload"]["records"] == 202
        and told["workload"]["keys"] == 18
    )
    assert [step["label"] for step in told["steps"]] == ["2", "+c3", "c1×", "+c1"]
    assert all((tmp_path / "out" / f"{name}.parquet").exists() for name in TABLES)
    assert (
        "1 record without a key and 1 with an empty one." in lines and "bad_rows.parquet: lines 203" in lines
    )
    assert any(line.startswith("202 records, 18 keys, 2 strategies") for line in lines) and any(
        "1 row could not be read" in line for line in lines
    )
    assert any(line.startswith("Pause and order were measured in the lab, on ") for line in lines)
    assert "routing" in err and "lab 0 of 2" in err


def test_json_is_the_whole_result_with_its_advice(spark, orders, tmp_path, monkeypatch):
    monkeypatch.setattr(session, "spark_open", lambda **_: spark)
    monkeypatch.setattr(session, "spark_stop", lambda _: None)
    options = ("--strategies", "rabbitmq.queue", "pulsar.consistent_hash", "--members", "2 c2~3", "--json")
    out, _ = study(str(orders), "--key", "customer", "--out", str(tmp_path / "out"), *options)
    told = json.loads(out)
    assert {"feasibility", "weights", "constraints", "ranking", "verdict"} <= set(told)
    assert result_json(tmp_path / "out").items() <= told.items() and told["feasibility"]["consumers"] == 2
    queue, ring = told["strategies"]
    assert queue["luck"] is None and ring["luck"]["of"] == "names" and isinstance(ring["waits"], list)
    assert told["constraints"]["keeps_up"] is True, "who says that a consumer is slow states a rate"


def test_a_source_that_breaks_while_it_is_read_is_one_sentence(spark, tmp_path, monkeypatch, capfd):
    monkeypatch.setattr(session, "spark_open", lambda **_: spark)
    monkeypatch.setattr(session, "spark_stop", lambda _: None)
    path = tmp_path / "k.parquet"
    pq.write_table(pa.table({"k": [b"a" * 100] * 1_000}), path, use_dictionary=False, compression="none")
    content = bytearray(path.read_bytes())
    content[4:60] = b"\xff" * 56
    path.write_bytes(content)
    try:
        with pytest.raises(CommandError, match=r"^the source cannot be read: k\.parquet: ") as failed:
            study(str(path), "--key", "k", "--out", str(tmp_path / "out"))
    finally:
        spark.sparkContext.setLogLevel("ERROR")
    assert failed.value.returncode == 1
    assert "Traceback" not in capfd.readouterr().err
    assert not (tmp_path / "out" / "study.json").exists()


@pytest.mark.parametrize(
    ("arguments", "words"),
    [
        (("--key", "custmer"), "--key: there is no column custmer; the columns are customer"),
        ((), "--key: name the column with the key; customer fits: 17 different values in the first 200 rows"),
        (
            ("--key", "customer", "--strategies", "kafka.sorcery"),
            "--strategies kafka.sorcery: must be one of",
        ),
        (("--key", "customer", "--members", "many"), "--members: must be like"),
        (("--key", "customer", "--members", "4 c9x"), "--members: there is no consumer c9"),
        (("--key", "customer", "--time", "when"), "--time: there is no column when"),
        (("--key", "customer", "--consumer-rate", "0"), "--consumer-rate: must"),
        (("--key", "customer", "--members", "4 ?"), "? is not a change"),
        (("--key", "customer", "--members", "{"), "is not JSON"),
        (("--key", "customer", "--weights", "skew=lots"), "--weights skew: must be a whole number"),
        (("--key", "customer", "--weights", "skew=1,churn=2,skew=3"), "--weights skew: is given twice"),
        (
            ("--key", "customer", "--constraints", "skew_max=0"),
            "--constraints skew_max: must be a number from 1 to",
        ),
        (
            ("--key", "customer", "--constraints", "keeps_order=maybe"),
            "--constraints keeps_order: must be true, false or null",
        ),
        (
            ("--key", "customer", "--constraints", "speed=1"),
            "--constraints speed: is unknown; known: drain_s_max, keeps_order",
        ),
        (("--key", "customer", "--delimiter", ";"), "--delimiter: does not apply to JSON lines"),
        (("--key", "customer", "--delimiter", ""), "--delimiter: does not apply to JSON lines"),
        (("--key", "customer", "--kind", "csv", "--delimiter", ""), "--delimiter: must be one"),
        (("--key", "customer", "--time", ""), "--time: must name a column"),
        (("--kind", "kafka_log", "--key", "customer"), "--key: does not apply to a Kafka log"),
        (("--kind", "kafka_log", "--payload", "customer"), "--payload: does not apply to a Kafka log"),
        (("--key", "customer", "--rate", "0"), "--rate: must"),
    ],
)
def test_wrong_input_is_a_sentence_and_exit_code_2(orders, tmp_path, arguments, words):
    with pytest.raises(CommandError) as refused:
        study(str(orders), "--out", str(tmp_path / "out"), *arguments)
    assert words in str(refused.value) and refused.value.returncode == 2
    assert not (tmp_path / "out").exists()


def test_ctrl_c_while_the_input_is_looked_at_is_a_sentence_too(orders, tmp_path, monkeypatch):
    def stopped(_):
        raise KeyboardInterrupt

    monkeypatch.setattr("dashboard.management.commands.study.study_check", stopped)
    with pytest.raises(CommandError, match=r"^cancelled; no result was written$") as refused:
        study(str(orders), "--key", "customer", "--out", str(tmp_path / "out"))
    assert refused.value.returncode == 130


@pytest.mark.parametrize(("option", "value"), [("--time", "hour"), ("--delimiter", ","), ("--kind", "csv")])
def test_flights_take_a_key_and_nothing_else(tmp_path, option, value):
    with pytest.raises(CommandError, match=f"^{option}: does not apply to the flights$") as refused:
        study("flights", option, value, "--out", str(tmp_path / "out"))
    assert refused.value.returncode == 2 and not (tmp_path / "out").exists()


def test_history_that_the_shell_took_apart_is_said_to_need_quotes(orders, tmp_path):
    with pytest.raises(CommandError, match=r'put the history in quotes: --members "4 \+c3 -c1"'):
        study(
            str(orders), "--key", "customer", "--out", str(tmp_path / "out"), "--members", "2", "+c3", "-c1"
        )
    with pytest.raises(CommandError, match="unrecognized arguments: surplus"):
        study(str(orders), "--key", "customer", "--out", str(tmp_path / "out"), "surplus")


def test_a_file_that_is_not_there_or_has_no_known_name(tmp_path):
    for name, words in (
        ("gone.csv", "FILE: there is no such file"),
        ("gone", "does not exist"),
        ("", "say what"),
    ):
        with pytest.raises(CommandError) as refused:
            study(str(tmp_path / name), "--key", "k", "--out", str(tmp_path / "out"))
        assert words in str(refused.value) and refused.value.returncode == 2


@pytest.mark.parametrize(
    ("names", "kind"),
    [
        (["orders.csv"], "csv"),
        (["ORDERS.CSV"], "csv"),
        (["orders.tsv.gz"], "csv"),
        (["orders.jsonl.gz"], "jsonl"),
        (["part-0.parq"], "parquet"),
        (["README.md", "part-0.parquet"], "parquet"),
        (["about.txt", "00000000000000000000.log"], "kafka_log"),
    ],
)
def test_every_name_that_a_source_reads_tells_its_kind(tmp_path, names, kind):
    for name in names:
        (tmp_path / name).write_bytes(b"")
    assert kind_of(tmp_path / names[0] if len(names) == 1 else tmp_path) == kind


def test_what_is_typed_of_a_file_goes_into_the_request_and_the_rest_is_recognised():
    defaults = dict.fromkeys(("kind", "time", "size", "payload", "delimiter")) | {"key": "k", "file": "a.tsv"}
    assert "delimiter" not in source_of(defaults)
    assert source_of(defaults | {"delimiter": "tab"})["delimiter"] == "tab"


def test_histories_are_written_in_few_words():
    assert history_of("2..64") == {"kind": "autoscale", "from": 2, "to": 64}
    assert history_of("rolling 8") == {"kind": "rolling_restart", "consumers": 8}
    assert history_of("storm 16 8") == {"kind": "crash_storm", "consumers": 16, "crashes": 8}
    changes = history_of("4 + +blue -c2 c3x +c3 c1×")["changes"]
    assert [(change["kind"], change["consumer"]) for change in changes] == [
        ("join", None), ("join", "blue"), ("leave", "c2"), ("crash", "c3"), ("rejoin", "c3"), ("crash", "c1"),
    ]  # fmt: skip


def test_the_flights_need_no_file():
    left_out = (
        "name",
        "kind",
        "key",
        "time",
        "size",
        "payload",
        "delimiter",
        "strategies",
        "rate",
        "consumer_rate",
        "weights",
        "constraints",
    )
    defaults = dict.fromkeys(left_out)
    assert request_of(defaults | {"file": "flights", "members": "4"})["source"] == {
        "kind": "flights",
        "key": "tail_number",
    }
