"""A study from the file to the result: what it counts, and that it appears whole or not at all."""

import csv
import errno
import json

import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from py4j.protocol import Py4JError
from pyarrow import parquet

from broker_core.errors import CommandError
from broker_core.lab.scenario import scenario_from_json
from broker_core.pipeline import result as results
from broker_core.pipeline import study as studies
from broker_core.pipeline.measures import step_columns, total_columns
from broker_core.pipeline.recommend import rank
from broker_core.pipeline.study import StudyCancelled, StudyFailed, study_check, study_run
from broker_core.pipeline.study_errors import FAULT, explained

STRATEGIES = ["pulsar.auto_split", "kafka.cooperative-sticky:partitions=6", "rabbitmq.queue:prefetch=3"]
HISTORY = {"kind": "given", "start": 3, "changes": [{"kind": "join"}, {"kind": "crash", "consumer": "c2"}]}
KEYS = [*["hot"] * 40, *["warm"] * 20, *[f"key-{number}" for number in range(60)]]


@pytest.fixture(scope="module")
def orders(tmp_path_factory):
    """122 good rows and a broken one."""
    path = tmp_path_factory.mktemp("orders") / "orders.csv"
    with path.open("w", newline="") as file:
        writer = csv.writer(file)
        writer.writerow(["n", "customer", "note"])
        for number, key in enumerate([*KEYS, "naïve", "键"]):
            writer.writerow([number, key, "x" * 10])
        file.write("7\n")
    return path


def request(path, **changes):
    source = {"kind": "csv", "path": str(path), "key": "customer", "payload": "note"}
    return study_check(
        {"name": "orders", "source": source, "strategies": STRATEGIES, "history": HISTORY} | changes
    )


@pytest.fixture(scope="module")
def finished(spark, orders, tmp_path_factory):
    folder = tmp_path_factory.mktemp("study") / "result"
    said = []

    def on_progress(progress):
        # What the pass before had read when the next stage begins.
        if said and (rows_now := said[-1]["rows_now"]) is not None:
            said[-1]["read"] = rows_now()
        said.append(progress)

    study_run(spark, request(orders), folder, on_progress, lambda: False)
    return folder, said


def test_a_study_tells_its_progress_stage_by_stage(finished):
    _, said = finished
    stages = list(dict.fromkeys(progress["stage"] for progress in said))
    assert stages == ["reading", "grouping", "routing", "lab", "writing"]
    assert {progress["stage"]: progress["read"] for progress in said if "read" in progress} == {
        "grouping": 122
    }
    lab = [progress["done"] for progress in said if progress["stage"] == "lab"]
    assert [progress["done_now"]() for progress in said if progress["done_now"] is not None] == [
        len(STRATEGIES)
    ], "each as it ended"
    assert lab == [0, len(STRATEGIES)] and said[-1]["rows"] == 122


def test_the_result_says_all_that_its_readers_expect(finished):
    folder, _ = finished
    told = results.result_json(folder)
    assert json.loads(json.dumps(told)) == told
    assert (told["workload"]["records"], told["workload"]["keys"], told["workload"]["bad_rows"]) == (
        122,
        64,
        1,
    )
    assert [step["label"] for step in told["steps"]] == ["3", "+c4", "c2×"]
    for strategy in told["strategies"]:
        assert set(strategy["totals"]) == set(total_columns())
        assert strategy["config"]
        for step in strategy["steps"]:
            assert set(step) == {"step", "consumers", "lag", *step_columns()}
            assert sum(share["records"] for share in step["consumers"].values()) <= 122
            assert step["lag"][0][0] == 0 and len(step["lag"]) <= 60
    kafka = told["strategies"][1]
    assert kafka["steps"][1]["keys_total"] == 64 and kafka["steps"][1]["partitions_total"] == 6
    assert kafka["totals"]["churn"] == pytest.approx(
        sum(step["keys_moved_share"] for step in kafka["steps"][1:])
    )
    assert kafka["totals"]["pause_partition_s"] > 0
    queue = told["strategies"][2]
    assert (
        queue["totals"]["churn"] is None
        and queue["totals"]["pause_partition_s"] is None
        and queue["totals"]["skew"] == pytest.approx(1, abs=0.03)
    )
    assert told["churn_least"] == pytest.approx(1 / 4 + 1 / 4)
    assert [entry["id"] for entry in rank(told)] and {entry["id"] for entry in rank(told)} == set(STRATEGIES)


def test_the_hottest_keys_come_with_their_owners(finished):
    told = results.result_json(finished[0])
    first, second = told["hot_keys"][:2]
    assert (first["key"], first["records"], first["key_hex"]) == ("hot", 40, b"hot".hex())
    assert (second["key"], second["records"]) == ("warm", 20) and first["share"] == pytest.approx(40 / 122)
    assert set(first["owners"]) == set(STRATEGIES) and first["owners"][STRATEGIES[2]] is None
    assert first["owners"][STRATEGIES[0]] in told["steps"][-1]["members"]
    # Of the keys that come once the first by their bytes.
    assert [entry["key"] for entry in told["hot_keys"][2:]] == sorted(KEYS[60:])[:18]


def test_tables_are_parquet_with_a_version_and_bad_rows_keep_their_line(finished):
    folder, _ = finished
    for name in results.TABLES:
        table = pq.read_table(folder / f"{name}.parquet")
        assert table.schema.metadata[b"highwater.study"] == b"1"
    consumers = pq.read_table(folder / "consumers.parquet").to_pylist()
    assert len({(row["strategy"], row["step"], row["consumer"]) for row in consumers}) == len(consumers)
    bad = pq.read_table(folder / "bad_rows.parquet").to_pylist()
    assert len(bad) == 1 and bad[0]["line"] == 124 and bad[0]["text"].startswith("7")
    assert sorted(path.name for path in folder.iterdir()) == sorted(
        [*(f"{name}.parquet" for name in results.TABLES), "sample.json", "study.json"]
    )


def test_the_sample_opens_as_a_lab(finished):
    folder, _ = finished
    sample = json.loads((folder / results.SAMPLE).read_text())
    scenario = scenario_from_json({"workload": sample})
    assert scenario.workload == sample and ["hot", 40] in sample["keys"] and len(sample["keys"]) == 64


def test_a_cancelled_study_leaves_nothing_and_an_earlier_result_unharmed(spark, orders, finished, tmp_path):
    asked = []

    def after_grouping():
        asked.append(1)
        return len(asked) > 2

    with pytest.raises(StudyCancelled):
        study_run(spark, request(orders), tmp_path, lambda progress: None, after_grouping)
    assert list(tmp_path.iterdir()) == []
    before = results.manifest_json(finished[0])
    with pytest.raises(StudyCancelled):
        study_run(spark, request(orders), finished[0], lambda progress: None, lambda: True)
    assert results.manifest_json(finished[0]) == before


def test_a_full_disk_is_told_and_no_half_result_stays(spark, orders, tmp_path, monkeypatch):
    def full(*_, **__):
        raise OSError(errno.ENOSPC, "No space left on device")

    monkeypatch.setattr(studies.result, "write_result", full)
    with pytest.raises(StudyFailed, match="the disk is full"):
        study_run(
            spark, request(orders, strategies=STRATEGIES[2:]), tmp_path, lambda progress: None, lambda: False
        )
    assert list(tmp_path.iterdir()) == []
    with pytest.raises(results.ResultMissing):
        results.result_json(tmp_path)


def test_a_file_without_a_record_fails_with_that_reason(spark, tmp_path):
    path = tmp_path / "empty.parquet"
    parquet.write_table(pa.table({"customer": pa.array([], pa.string())}), path)
    asked = request(path, source={"kind": "parquet", "path": str(path), "key": "customer"})
    with pytest.raises(StudyFailed, match="this source has no records"):
        study_run(spark, asked, tmp_path / "out", lambda progress: None, lambda: False)


@pytest.mark.parametrize(
    ("rows", "source", "error"),
    [
        ("note,customer\na;1\nb;2\n", {"delimiter": ","}, "none of the 2 rows can be read; line 2 is: a;1"),
        (
            "customer,note\na,soon\nb,late\n",
            {"time": "note"},
            (
                "source.time: soon cannot be read as a time; what is read: ISO 8601, seconds to nanoseconds since "
                "1970, 20240131, RFC 1123, Apache. For any other form give a time format"
            ),
        ),
        (
            "customer,note\na,big\n",
            {"size": "note"},
            "source.size: the size is not a number of 0 or more in any row; line 2 is: a,big",
        ),
    ],
)
def test_a_source_of_which_no_row_can_be_read_is_no_study(spark, tmp_path, rows, source, error):
    path = tmp_path / "bad.csv"
    path.write_text(rows)
    with pytest.raises((StudyFailed, CommandError)) as failed:
        asked = request(path, source={"kind": "csv", "path": str(path), "key": "customer"} | source)
        study_run(spark, asked, tmp_path / "out", lambda progress: None, lambda: False)
    assert str(failed.value) == error
    assert not (tmp_path / "out" / results.MANIFEST).exists()


@pytest.mark.parametrize(
    ("at", "error"),
    [(2_000, None), (2_001, "history.changes.1.at: change 2 comes at record 2001, but there are only 2000")],
)
def test_a_change_behind_the_last_record_is_refused_at_its_field(spark, tmp_path, at, error):
    changes = [{"kind": "join", "at": 7}, {"kind": "join", "at": at}]
    source = {"kind": "uniform", "keys": 9, "records": 2_000, "seed": 1}
    asked = study_check(
        {
            "name": "late",
            "source": source,
            "strategies": STRATEGIES[:1],
            "history": {"kind": "given", "start": 2, "changes": changes},
        }
    )
    if error is None:
        study_run(spark, asked, tmp_path / "out", lambda progress: None, lambda: False)
        return
    with pytest.raises(CommandError) as failed:
        study_run(spark, asked, tmp_path / "out", lambda progress: None, lambda: False)
    assert str(failed.value) == error


def test_what_spark_throws_becomes_a_sentence():
    class Py4JNetworkError(Exception):
        __module__ = "py4j.protocol"

    said = [
        (Py4JNetworkError("Answer from Java side is empty"), "Spark was lost"),
        (ConnectionRefusedError(), "Spark was lost"),
        (Py4JNetworkError("java.lang.OutOfMemoryError: Java heap space"), "out of memory"),
        (Py4JNetworkError("task failed: No space left on device"), "the disk is full"),
        (Py4JNetworkError("strange\nmore"), "Spark failed: strange"),
        (PermissionError(13, "Permission denied"), "Permission denied"),
    ]
    for error, text in said:
        with pytest.raises(StudyFailed, match=text), explained(lambda: False):
            raise error
        with pytest.raises(StudyCancelled), explained(lambda: True):
            raise error
    with pytest.raises(ZeroDivisionError), explained(lambda: False):
        raise ZeroDivisionError  # ours: it is not dressed up as somebody else's


@pytest.mark.parametrize("unanswered", [
    "An error occurred while calling o65.range",
    "PythonSQLUtils does not exist in the JVM",
    "org.apache.spark.sql.functions.col does not exist in the JVM",
])  # fmt: skip
def test_call_that_java_did_not_answer_says_that_spark_was_lost(unanswered):
    with pytest.raises(StudyFailed, match="Spark was lost"), explained(lambda: False):
        raise Py4JError(unanswered)


def test_call_that_java_refused_says_why():
    with pytest.raises(StudyFailed, match="Spark failed"), explained(lambda: False):
        raise Py4JError(
            "An error occurred while calling o65.range. Trace:\npy4j.Py4JException: Method range([]) "
            "does not exist\n"
        )


# As py4j 0.10.9 writes what Java threw: the call, the exception, its stack, and the same for each cause.
CALLED = "An error occurred while calling o736.getResult.\n"
IN_JAVA = (
    ": org.apache.spark.SparkException: Exception thrown in awaitResult: \n\tat "
    "org.apache.spark.util.SparkThreadUtils$.awaitResult(S.scala:56)\n"
    "Caused by: org.apache.spark.SparkException: Job aborted due to stage failure: {job}\n"
    "\tat org.apache.spark.scheduler.DAGScheduler.abortStage(DAGScheduler.scala:2898)\n\t... 1 more\n"
)
LOST_TASK = (
    "Task 0 in stage 3.0 failed 4 times, most recent failure: Lost task 0.3 in stage 3.0 (TID 9) (10.0.0.7 "
    "executor 1): "
)


@pytest.mark.parametrize(
    ("text", "sentence"),
    [
        (
            CALLED + IN_JAVA.format(job=LOST_TASK + "java.lang.IllegalStateException: Unread block data"),
            "Spark failed: IllegalStateException: Unread block data",
        ),
        (
            CALLED
            + IN_JAVA.format(
                job="Total size of serialized results of 9 tasks (1.1 GiB) is bigger than "
                "spark.driver.maxResultSize "
                "(1024.0 MiB)"
            ),
            (
                "Spark failed: Total size of serialized results of 9 tasks (1.1 GiB) is bigger than "
                "spark.driver.maxResultSize (1024.0 MiB)"
            ),
        ),
        (
            CALLED
            + ": org.apache.spark.SparkException: Job 7 cancelled because SparkContext was stopped\n\tat "
            "a.b(C.scala:1)\n",
            "Spark failed: Job 7 cancelled because SparkContext was stopped",
        ),
        (
            CALLED
            + IN_JAVA.format(
                job=LOST_TASK
                + "ExecutorLostFailure (executor 1 exited caused by one of the running tasks) Reason: "
                "Remote RPC client"
            ),
            (
                "a Spark executor ended while it worked, often because memory ran out: give it more, or "
                "study fewer "
                "records"
            ),
        ),
        (CALLED, "Spark failed and gave no reason: see the log of the analysis worker"),
    ],
)
def test_job_that_fails_says_what_spark_gave_as_the_reason(text, sentence):
    with pytest.raises(StudyFailed) as failed, explained(lambda: False):
        raise Py4JError(text)
    assert failed.value.reason == sentence


# As pyspark 4.3 writes it: with the JVM's part where that is asked for.
WORKER_TRACEBACK = """An exception was thrown from the Python worker:
Traceback (most recent call last):
  File "pyspark.zip/pyspark/worker.py", line 4207, in invoke_udf
    func, profiler, deserializer, serializer = read_udfs(
                                               ^^^^^^^^^^
  File "broker_core/pipeline/route_tasks.py", line 31, in route_task
    yield owners["owner_3"]
          ~~~~~~^^^^^^^^^^^
KeyError: 'owner_3'
"""
JVM_PART = """
 SQLSTATE: 38000

JVM stacktrace:
org.apache.spark.api.python.PythonException
\tat org.apache.spark.errors.SparkErrorUtils.SQLSTATE: no line of ours(SparkErrorUtils.scala:1)
"""


@pytest.mark.parametrize(
    "text", [WORKER_TRACEBACK, WORKER_TRACEBACK + JVM_PART, "Job aborted: " + WORKER_TRACEBACK + JVM_PART]
)
def test_what_breaks_in_a_python_worker_is_named_as_our_fault(text):
    class PythonException(Exception):
        __module__ = "pyspark.errors.exceptions.captured"

    with pytest.raises(StudyFailed) as failed, explained(lambda: False):
        raise PythonException(text)
    assert (failed.value.template, failed.value.reason) == (
        FAULT,
        "Highwater itself failed: KeyError: 'owner_3'",
    )
    with pytest.raises(StudyFailed, match="out of memory"), explained(lambda: False):
        raise PythonException(
            text.replace("KeyError: 'owner_3'", "pyarrow.lib.ArrowMemoryError: malloc of size 64 failed")
        )


@pytest.mark.parametrize(
    ("change", "field"),
    [
        ({"name": ""}, "name"),
        ({"strategies": []}, "strategies"),
        ({"strategies": ["kafka.range", "kafka.sorcery"]}, "strategies.1"),
        (
            {
                "history": {"kind": "autoscale", "from": 1, "to": 512},
                "strategies": [f"kafka.range:partitions={n}" for n in range(1, 9)],
            },
            "history",
        ),
        ({"service": {"rate": 0}}, "service.rate"),
        ({"weights": {"skew": -1}}, "weights.skew"),
        ({"seed": "x"}, "seed"),
        ({"colour": 1}, "colour"),
    ],
)
def test_a_request_that_cannot_be_is_refused_at_its_field(orders, change, field):
    with pytest.raises(CommandError) as refused:
        request(orders, **change)
    assert refused.value.field == field


@pytest.mark.parametrize(
    ("source", "topic"),
    [
        ({"kind": "flights", "key": "carrier"}, "flights"),
        ({"kind": "uniform", "keys": 9, "records": 1_000}, "records"),
        ({"kind": "csv", "key": "customer"}, "orders"),
    ],
)
def test_a_study_is_counted_under_the_name_of_its_source(orders, source, topic):
    file = {"path": str(orders)} if source["kind"] == "csv" else {}
    assert study_check({"source": source | file})["topic"] == topic


def test_a_checked_request_stays_as_it_is(orders):
    checked = request(orders)
    assert study_check(checked) == checked and study_check(json.loads(json.dumps(checked))) == checked
