"""A source as it is asked for: what is filled in, the first thing that is wrong and its field, and the topic
that it gives its name to."""

import gzip

import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from broker_core.errors import CommandError
from broker_core.pipeline.sources.dialect import NULL_WORDS, Dialect
from broker_core.pipeline.sources.generated import KEYS_MAX, RECORDS_MAX, made_up_codes, made_up_part
from broker_core.pipeline.sources.kafka_log_folders import partition_folders, segments_of
from broker_core.pipeline.sources.preview import source_preview
from broker_core.pipeline.sources.spec import source_check
from broker_core.pipeline.sources.topic import source_topic
from tests.pipeline.refusals import refused

ZIPF = {"kind": "zipf", "keys": 100, "records": 1_000}
SEGMENT = "00000000000000000000.log"


@pytest.fixture
def csv(tmp_path):
    path = tmp_path / "orders.csv"
    path.write_bytes(b"user,at,size\nx,2013-01-01,9\n")
    return {"kind": "csv", "path": str(path), "key": "user"}


# -- what is filled in ---------------------------------------------------------------------------------------


def test_a_file_is_filled_in_and_checking_it_again_changes_nothing(csv):
    checked = source_check(csv)
    assert checked == csv | Dialect(nulls=NULL_WORDS).to_json() | {
        "time": None, "size": None, "payload": None,
    }  # fmt: skip
    assert source_check(checked) == checked
    assert source_check(csv | {"time": "at", "size": "size"})["time"] == "at"


@pytest.mark.parametrize(
    ("spec", "more"),
    [
        (ZIPF, {"seed": 7, "exponent": 1.1}),
        (ZIPF | {"exponent": 0}, {"seed": 7}),
        ({"kind": "uniform", "keys": 5, "records": 9}, {"seed": 7}),
        ({"kind": "flights"}, {"key": "tail_number", "records": None}),
        ({"kind": "flights", "records": 10}, {"key": "tail_number"}),
    ],
)
def test_made_up_sources_are_filled_in(spec, more):
    checked = source_check(spec)
    assert checked == spec | more and source_check(checked) == checked


# -- refusals ------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("spec", "field"),
    [
        (None, "source"),
        ("csv", "source"),
        ({}, "source.kind"),
        ({"kind": "xml"}, "source.kind"),
        ({"kind": ["csv"]}, "source.kind"),
        ({"kind": "csv"}, "source.path"),
        ({"kind": "csv", "path": 7}, "source.path"),
        ({"kind": "csv", "path": ""}, "source.path"),
        ({"kind": "csv", "path": "a\0b", "key": "k"}, "source.path"),
        ({"kind": "csv", "path": "x", "keys": "k"}, "source.keys"),
        ({"kind": "jsonl", "path": "x", "delimiter": ","}, "source.delimiter"),
        ({"kind": "parquet", "path": "x", "header": True}, "source.header"),
        ({"kind": "kafka_log"}, "source.path"),
        ({"kind": "kafka_log", "path": "x", "topic": 7}, "source.topic"),
        ({"kind": "kafka_log", "path": "x", "from_ms": -1}, "source.from_ms"),
        ({"kind": "kafka_log", "path": "x", "until_ms": "now"}, "source.until_ms"),
        ({"kind": "kafka_log", "path": "x", "key": "k"}, "source.key"),
        ({"kind": "lab"}, "source.scenario"),
        ({"kind": "lab", "scenario": []}, "source.scenario"),
        ({"kind": "lab", "scenario": {}}, "source.records"),
        ({"kind": "lab", "scenario": {}, "records": 0}, "source.records"),
        ({"kind": "lab", "scenario": {"workload": {"kind": "storm"}}, "records": 5}, "source.kind"),
        (
            {"kind": "lab", "scenario": {"workload": {"kind": "uniform", "keys": 0}}, "records": 5},
            "source.scenario.workload.keys",
        ),
        ({"kind": "flights", "key": "captain"}, "source.key"),
        ({"kind": "flights", "records": True}, "source.records"),
        ({"kind": "zipf", "records": 1}, "source.keys"),
        (ZIPF | {"keys": KEYS_MAX["zipf"] + 1}, "source.keys"),
        (ZIPF | {"records": RECORDS_MAX + 1}, "source.records"),
        (ZIPF | {"seed": -1}, "source.seed"),
        (ZIPF | {"exponent": 5.001}, "source.exponent"),
        (ZIPF | {"exponent": True}, "source.exponent"),
        (ZIPF | {"exponent": 1.0001}, "source.exponent"),
        (ZIPF | {"exponent": float("nan")}, "source.exponent"),
        ({"kind": "uniform", "keys": 5, "records": 9, "exponent": 1}, "source.exponent"),
    ],
)
def test_the_first_thing_that_is_wrong_is_told_at_its_field(spec, field):
    assert refused(spec).field == field


@pytest.mark.parametrize(
    ("change", "field"),
    [
        ({"delimiter": ""}, "source.delimiter"),
        ({"delimiter": ",,"}, "source.delimiter"),
        ({"delimiter": '"'}, "source.delimiter"),
        ({"delimiter": "，"}, "source.delimiter"),
        ({"delimiter": "\n"}, "source.delimiter"),
        ({"header": "yes"}, "source.header"),
        ({"key": None}, "source.key"),
        ({"key": ""}, "source.key"),
        ({"key": 1}, "source.key"),
        ({"time": "when"}, "source.time"),
        ({"payload": ["user"]}, "source.payload"),
        ({"delimiter": ";"}, "source.key"),
    ],
)
def test_a_file_is_refused_at_the_field_that_does_not_fit_it(csv, change, field):
    assert refused(csv | change).field == field


def test_a_field_that_json_lines_leave_out_may_come_later_unless_other_fields_are_known(tmp_path):
    path = tmp_path / "a.jsonl"
    path.write_bytes(b'{"user": 1}\n{"session": 2}\n')
    assert source_check({"kind": "jsonl", "path": str(path), "key": "session"})["key"] == "session"
    assert (
        refused({"kind": "jsonl", "path": str(path), "key": "device"}).reason
        == "there is no column device; the columns are user, session"
    )
    path.write_bytes(b"[1]\n[2]\n")
    assert source_check({"kind": "jsonl", "path": str(path), "key": "device"})["key"] == "device", (
        "nothing is known of its fields"
    )


def test_of_a_folder_the_file_that_lacks_a_column_is_named_and_of_one_file_it_is_not(tmp_path):
    (tmp_path / "a.csv").write_bytes(b"user,at\nx,1\n")
    (tmp_path / "b.csv").write_bytes(b"customer,at\nx,1\n")
    error = refused({"kind": "csv", "path": str(tmp_path), "key": "user"})
    assert (error.field, error.reason) == (
        "source.key",
        "b.csv: there is no column user; the columns are customer, at",
    )


def test_hidden_and_empty_files_of_a_folder_are_not_its_files(tmp_path):
    for name, content in {
        "a.csv": b"user\nx\n",
        ".b.csv": b"other\nx\n",
        "_c.csv": b"other\nx\n",
        "d.csv": b"",
        "e.txt.bak": b"other\nx\n",
    }.items():
        (tmp_path / name).write_bytes(content)
    assert source_check({"kind": "csv", "path": str(tmp_path), "key": "user"})["key"] == "user"
    (tmp_path / "a.csv").write_bytes(b"")
    assert refused({"kind": "csv", "path": str(tmp_path), "key": "user"}).reason == "the file is empty"


# -- logs ----------------------------------------------------------------------------------------------------


def log_files(top, *names):
    for name in names:
        path = top / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_bytes(b"")
    return top


def test_partitions_of_a_log_folder_come_by_topic_and_number(tmp_path):
    log_files(tmp_path, *(f"{folder}/{SEGMENT}" for folder in ("t-10", "t-2", "a-b-0", "t-x", "plain")))
    log_files(
        tmp_path,
        "t-2/00000000000000000200.log",
        "t-2/00000000000000000200.index",
        "t-2/leader-epoch-checkpoint",
        "empty-0/notes.txt",
    )
    found = partition_folders(tmp_path)
    assert [(each.topic, each.partition, [base for base, _ in each.segments]) for each in found] == [
        ("a-b", 0, [0]),
        ("t", 2, [0, 200]),
        ("t", 10, [0]),
    ]
    assert [each.partition for each in partition_folders(tmp_path, "t")] == [2, 10]
    assert partition_folders(tmp_path / "t-2")[0].folder == tmp_path / "t-2"


def test_a_segment_by_itself_is_its_folders_partition_or_nobodys(tmp_path):
    log_files(tmp_path, f"t-3/{SEGMENT}", "loose/00000000000000000500.log", "loose/copy.log")
    ((topic, partition, segments),) = partition_folders(tmp_path / "t-3" / SEGMENT)
    assert (topic, partition, segments[0][0]) == ("t", 3, 0)
    assert [each[:2] for each in partition_folders(tmp_path / "loose" / "00000000000000000500.log")] == [
        ("segment", 0)
    ]
    assert partition_folders(tmp_path / "loose" / "00000000000000000500.log")[0].segments[0][0] == 500
    assert partition_folders(tmp_path / "loose" / "copy.log")[0].segments[0][0] == 0


def test_what_holds_no_log_is_refused_and_a_topic_that_is_not_there_with_those_that_are(tmp_path):
    log_files(tmp_path, f"b-0/{SEGMENT}", f"a-0/{SEGMENT}", "notes.txt")
    for path, reason in (
        (tmp_path / "gone", "there is no such file"),
        (tmp_path / "notes.txt", "holds no log"),
        (tmp_path.parent / "nothing", "there is no such file"),
    ):
        with pytest.raises(CommandError, match=reason):
            partition_folders(path)
    error = refused({"kind": "kafka_log", "path": str(tmp_path), "topic": "c"})
    assert (error.field, error.reason) == ("source.topic", "there is no topic c; the topics are a, b")
    assert segments_of(tmp_path / "gone") == ()


# -- the topic -----------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("source", "topic"),
    [
        ({"kind": "csv", "path": "/data/Orders in May.csv.gz"}, "orders-in-may"),
        ({"kind": "kafka_log", "path": "/logs", "topic": "shop.orders"}, "shop-orders"),
        ({"kind": "zipf"}, "records"),
        ({"kind": "uniform"}, "records"),
        ({"kind": "flights"}, "flights"),
        (
            {
                "kind": "lab",
                "scenario": {"lanes": [{"model": "pulsar"}, {"model": "kafka", "topic": "orders"}]},
            },
            "orders",
        ),
        ({"kind": "lab", "scenario": {"lanes": ["kafka", {"topic": 7}]}}, "flights"),
        ({"kind": "lab", "scenario": {"workload": {"kind": "zipf"}}}, "records"),
        ({"kind": "lab", "scenario": {"lanes": None, "workload": None}}, "flights"),
    ],
)
def test_a_source_names_its_topic(source, topic):
    assert source_topic(source) == topic


# -- previews ------------------------------------------------------------------------------------------------


def test_a_preview_of_a_compressed_file_shows_what_is_in_it_and_the_size_that_it_has(tmp_path):
    path = tmp_path / "a.csv.gz"
    path.write_bytes(
        gzip.compress(
            b"user,at,note\n"
            + b"".join(b"u%d,2026-01-%02d,\n" % (number % 3, 1 + number) for number in range(20))
        )
    )
    shown = source_preview({"kind": "csv", "path": str(path)}, rows=2)
    assert [(column["name"], column["type"]) for column in shown["columns"]] == [
        ("user", "text"),
        ("at", "time"),
        ("note", "text"),
    ]
    assert shown["rows"] == [["u0", "2026-01-01", None], ["u1", "2026-01-02", None]]
    assert (shown["key"], shown["bad"], shown["bytes"]) == ("user", 0, path.stat().st_size)


def test_a_preview_of_json_lines_has_each_field_once_and_lists_as_json(tmp_path):
    path = tmp_path / "a.jsonl"
    path.write_bytes(b'{"a": 1.5, "b": ["x"]}\n\n{"c": true, "a": null}\nnot json\n\xff\n{"a": 2}')
    shown = source_preview({"kind": "jsonl", "path": str(path)})
    assert [(column["name"], column["type"]) for column in shown["columns"]] == [
        ("a", "number"),
        ("b", "text"),
        ("c", "text"),
    ]
    assert shown["rows"] == [["1.5", '["x"]', None], [None, None, "true"], ["2", None, None]]
    assert shown["bad"] == 2


def test_a_preview_of_an_empty_parquet_shows_its_columns(tmp_path):
    path = tmp_path / "a.parquet"
    pq.write_table(pa.table({"k": pa.array([], pa.string()), "n": pa.array([], pa.int64())}), path)
    shown = source_preview({"kind": "parquet", "path": str(path)})
    assert ([column["name"] for column in shown["columns"]], shown["rows"], shown["key"]) == (
        ["k", "n"],
        [],
        None,
    )


def test_a_preview_counts_bad_rows_and_shows_good_ones(tmp_path):
    path = tmp_path / "a.csv"
    path.write_bytes(b'k,v\n1,2\n3\n4,5,6\n"7"x,8\n9,\xff\n')
    shown = source_preview({"kind": "csv", "path": str(path)})
    assert (shown["rows"], shown["bad"]) == ([["1", "2"], ["3", None], ["4", "5"], ["9", "ÿ"]], 1)


@pytest.mark.parametrize(
    "spec", [{"kind": "csv"}, {"kind": "parquet", "path": 7}, {"kind": "nothing"}, {"kind": "zipf"}]
)
def test_a_preview_of_what_is_no_source_is_refused(spec):
    with pytest.raises(CommandError):
        source_preview(spec)


# -- made-up keys --------------------------------------------------------------------------------------------


@pytest.mark.parametrize("kind", ["zipf", "uniform"])
def test_any_part_of_made_up_records_is_the_same_as_in_the_whole(kind):
    spec = source_check({"kind": kind, "keys": 50, "records": 1_000, "seed": 3})
    whole = made_up_codes(spec, 0, 1_000).tolist()
    assert made_up_codes(spec, 200, 300).tolist() == whole[200:300]
    assert all(0 <= code < 50 for code in whole) and len(set(whole)) > 20
    (batch,) = made_up_part(spec, 998, 1_000)
    assert batch.to_pylist() == [
        {
            "key": b"key-%d" % whole[place],
            "at_us": None,
            "bytes": len(b"key-%d" % whole[place]),
            "ordinal": place,
        }
        for place in (998, 999)
    ]
    assert made_up_codes(spec | {"seed": 4}, 0, 1_000).tolist() != whole
