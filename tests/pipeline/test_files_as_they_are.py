"""Files as people have them: each was once read wrong, or refused without a reason (tests/pipeline/files)."""

import codecs
import tracemalloc
from decimal import Decimal
from pathlib import Path

import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from broker_core.errors import CommandError
from broker_core.pipeline.sources.csv_head import csv_columns
from broker_core.pipeline.sources.csv_rows import csv_part
from broker_core.pipeline.sources.dialect import Dialect
from broker_core.pipeline.sources.files import Part, source_files
from broker_core.pipeline.sources.kinds import sniff
from broker_core.pipeline.sources.parquet_rows import parquet_part, parquet_parts
from broker_core.pipeline.sources.preview import source_preview
from broker_core.pipeline.sources.problems import Problems
from broker_core.pipeline.sources.recognise import unusual
from broker_core.pipeline.sources.rows import BAD_TIME, REASONS
from broker_core.pipeline.sources.spec import source_check
from broker_core.pipeline.sources.workload import BAD_ARROW

FILES = Path(__file__).parent / "files"
MOMENT = 1_700_000_000_000_000  # 2023-11-14T22:13:20Z


def read(path, **given):
    """What a study of the file reads, as the page, the API and the command line ask for it."""
    path = FILES / path
    found = sniff(path, path.name)
    spec = source_check({"kind": found.kind, "path": str(path), "key": "customer"} | given)
    assert source_check(spec) == spec, "a checked source is checked again where it runs"
    batches = csv_part(spec, csv_columns(path, Dialect.of(spec)), Part(str(path)))
    return spec, [row for batch in batches for row in batch.to_pylist()]


def keys(rows):
    return [None if row["key"] is None else row["key"].decode() for row in rows]


def refused(path, **given):
    with pytest.raises(CommandError) as error:
        read(path, **given)
    return error.value.field, error.value.reason


# -- a record counts by its key ------------------------------------------------------------------------------


def test_a_bad_size_leaves_the_record_and_is_rounded():
    _, rows = read("01/orders.csv", size="bytes")
    assert keys(rows) == ["alice"] * 4 + ["bob"]
    assert [(row["bytes"], row["reason"]) for row in rows] == [
        (12, None), (12, "size_rounded"), (7, "size_rounded"), (4, "size_rounded"), (4, None),
    ]  # fmt: skip


def test_short_and_long_rows_keep_their_record():
    _, rows = read("11/ragged.csv")
    assert keys(rows) == ["alice", "alice", "bob", "alice", "bob"]
    assert [row["reason"] for row in rows] == [None, "short_row", "short_row", "long_row", None]


def test_a_row_that_ends_before_its_key_is_set_aside():
    _, rows = read("11/ragged.csv", key="amount")
    assert [row["reason"] for row in rows] == [None, "wrong_columns", "wrong_columns", "long_row", None]


def test_empty_fields_beyond_the_header_are_nothing_to_say():
    _, rows = read("11/trailing_comma.csv")
    assert (keys(rows), {row["reason"] for row in rows}) == (["alice", "bob", "alice"], {None})


# -- how a file is written -----------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("path", "found", "expected"),
    [
        ("03/spark_written.csv", {"escape": "\\"}, ["alice", "bob", "alice"]),
        ("05/semicolon.csv", {"delimiter": ";"}, ["alice", "bob", "alice"]),
        ("05/excel_sep.csv", {"delimiter": ";", "skip": 1}, ["alice", "alice"]),
        ("05/tabs.csv", {"delimiter": "\t"}, ["alice", "alice", "bob"]),
        ("09/orders.csv.zst", {}, ["alice", "bob", "alice"]),
        ("09/orders.csv.bz2", {}, ["alice", "bob", "alice"]),
        ("09/orders.zip", {}, ["alice", "bob", "alice"]),
    ],
)
def test_how_a_file_is_written_is_recognised(path, found, expected):
    spec, rows = read(path)
    assert (unusual(spec), keys(rows)) == (found, expected)
    shown = source_preview({"kind": "csv", "path": str(FILES / path)})
    assert shown["read_as"] == {name: spec[name] for name in shown["read_as"]}, "the page shows the same"


@pytest.mark.parametrize("name", ["\\t", "tab", "\t"])
def test_a_tab_has_a_name(name):
    assert read("05/tabs.csv", delimiter=name)[0]["delimiter"] == "\t"


@pytest.mark.parametrize(
    "text",
    [
        "id,customer,amount\n1;alice;3\n2;bob;4\n",
        "id,customer,amount\n1;alice;3,50\n2;bob;4,50\n",
        'id;"customer";amount\n1\talice\tx\n2\tbob\ty\n',
        "id|customer|amount\n1,alice,\n2,bob,\n",
    ],
)
def test_a_header_may_separate_its_names_otherwise_than_the_rows(tmp_path, text):
    path = tmp_path / "a.csv"
    path.write_text(text)
    spec, rows = read(path)
    assert (csv_columns(path, Dialect.of(spec)), keys(rows)) == (
        ["id", "customer", "amount"],
        ["alice", "bob"],
    )
    assert {row["reason"] for row in rows} == {None}
    shown = source_preview({"kind": "csv", "path": str(path)})
    assert [column["name"] for column in shown["columns"]] == ["id", "customer", "amount"]


def test_a_decimal_comma_is_no_delimiter_of_a_ragged_file(tmp_path):
    path = tmp_path / "a.csv"
    path.write_text("amount;customer\n" + "1,5;alice\n" * 6 + "2,5\n" * 4)
    spec, rows = read(path)
    assert (spec["delimiter"], keys(rows).count("alice")) == (";", 6)


def test_what_a_request_says_stays():
    spec, _ = read("05/semicolon.csv", delimiter=",", key="1", header=False)
    assert (spec["delimiter"], spec["header"]) == (",", False)


def test_a_first_row_of_data_is_no_header():
    spec, rows = read("06/no_header.csv", key="2")
    assert (spec["header"], keys(rows)) == (False, ["alice", "bob", "alice", "alice"])


def test_a_consumers_output_is_a_key_and_a_value():
    spec, rows = read("06/kcat.txt", key=None)
    assert (spec["key"], spec["key_separator"]) == ("key", "\t")
    assert keys(rows) == ["alice", "bob", "alice", "alice"]
    _, rows = read("06/kcat.txt", delimiter="tab", header=False, key="1")
    assert keys(rows) == ["alice", "bob", "alice", "alice"]


def test_the_console_consumer_prints_the_time_before_the_key(tmp_path):
    path = tmp_path / "out.txt"
    path.write_text(
        'CreateTime:1700000000000\talice\t{"a":"x\\ty"}\nCreateTime:1700000001000\tnull\t{"b":"\\""}\n'
    )
    spec, rows = read(path, key=None, time="timestamp", payload="value")
    assert csv_columns(path, Dialect.of(spec)) == ["timestamp", "key", "value"]
    assert [(row["key"], row["at_us"], row["reason"]) for row in rows] == [
        (b"alice", MOMENT, None), (None, MOMENT + 1_000_000, "null_word"),
    ]  # fmt: skip


@pytest.mark.parametrize(
    "said", ["Processed a total of 2 messages", "% Reached end of topic t [0] at offset 2"]
)
def test_what_a_consumer_says_of_itself_is_set_aside(tmp_path, said):
    path = tmp_path / "out.txt"
    path.write_text(f'alice\t{{"a":1}}\nbob\t{{"a":2}}\n{said}\n')
    spec, rows = read(path, key=None)
    assert spec["key_separator"] == "\t" and keys(rows)[:2] == ["alice", "bob"]
    assert [row["reason"] for row in rows] == [None, None, "wrong_columns"]


def test_comment_lines_are_no_rows_and_a_header_may_begin_with_a_hash(tmp_path):
    path = tmp_path / "a.csv"
    path.write_text("# made by a tool, today\n# second\nid,customer\n1,alice\n# in between\n2,bob\n")
    spec, rows = read(path)
    assert (spec["comment"], keys(rows), [row["line"] for row in rows]) == ("#", ["alice", "bob"], [4, 6])
    path.write_text("#id,customer\n1,alice\n2,bob\n")
    spec, rows = read(path)
    assert (spec["comment"], keys(rows)) == ("", ["alice", "bob"])


def test_lines_before_the_header_are_skipped(tmp_path):
    path = tmp_path / "a.csv"
    path.write_text('a "report\n\nid,customer\n1,alice\n')
    _, rows = read(path, skip=2)
    assert [(row["key"], row["line"]) for row in rows] == [(b"alice", 4)]


# -- words for no value --------------------------------------------------------------------------------------


def test_null_words_are_no_keys_and_are_counted():
    _, rows = read("04/dump.csv")
    assert keys(rows) == [None] * 5 + ["alice", "bob", "alice"]
    assert [row["reason"] for row in rows] == ["null_word"] * 5 + [None] * 3


def test_null_words_are_a_choice_and_quoted_ones_are_data(tmp_path):
    assert keys(read("04/dump.csv", nulls=["NULL"])[1])[:5] == ["\\N"] * 3 + [None] * 2
    assert keys(read("04/dump.csv", nulls=[])[1])[:5] == ["\\N"] * 3 + ["NULL"] * 2
    path = tmp_path / "a.csv"
    path.write_text('customer,n\n"NULL",x\nNULL,y\n')
    assert keys(read(path)[1]) == ["NULL", None]


# -- encodings -----------------------------------------------------------------------------------------------

TEXT = "customer,n\nZoë,x\nJosé,y\nZoë,z\n"


@pytest.mark.parametrize(
    ("content", "encoding"),
    [
        (codecs.BOM_UTF16_LE + TEXT.encode("utf-16-le"), "utf-16-le"),
        (codecs.BOM_UTF16_BE + TEXT.encode("utf-16-be"), "utf-16-be"),
        (TEXT.encode("utf-16-le"), "utf-16-le"),
        (TEXT.encode("cp1252"), "cp1252"),
        (TEXT.encode(), "utf-8"),
    ],
)
def test_keys_are_the_utf_8_that_a_producer_would_send(tmp_path, content, encoding):
    path = tmp_path / "a.csv"
    path.write_bytes(content)
    spec, rows = read(path)
    assert (spec["encoding"], keys(rows)) == (encoding, ["Zoë", "José", "Zoë"])


@pytest.mark.parametrize(("kind", "text"), [("csv", TEXT), ("jsonl", '{"customer":"a"}\n')])
def test_an_encoding_that_the_file_has_not_is_refused_at_its_field(tmp_path, kind, text):
    path = tmp_path / f"a.{kind}"
    path.write_bytes(text.encode())
    with pytest.raises(CommandError) as refused:
        source_preview({"kind": kind, "path": str(path), "encoding": "utf-16-be"})
    assert (refused.value.field, refused.value.reason) == ("source.encoding", "the file is not utf-16-be")


def test_bytes_of_the_file_are_the_keys_where_one_asks_for_them(tmp_path):
    path = tmp_path / "a.csv"
    path.write_bytes(TEXT.encode("cp1252"))
    assert read(path, encoding="bytes")[1][0]["key"] == "Zoë".encode("cp1252")


# -- times ---------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("path", "column", "given", "first"),
    [
        ("02/yyyymmdd.csv", "day", {}, 1_704_067_200_000_000),
        ("02/excel_serial.csv", "when", {"time_format": "excel"}, MOMENT),
        ("12/bigquery_utc.csv", "ts", {}, MOMENT),
        ("12/german.csv", "ts", {}, MOMENT),
        ("12/german.csv", "ts", {"time_format": "%d.%m.%Y %H:%M:%S"}, MOMENT),
        ("12/rfc1123.csv", "ts", {}, MOMENT),
    ],
)
def test_times_as_people_write_them(path, column, given, first):
    _, rows = read(path, time=column, **given)
    assert rows[0]["at_us"] == first
    assert {row["reason"] for row in rows} == {None}


def test_excels_days_are_refused_and_never_1970():
    field, reason = refused("02/excel_serial.csv", time="when")
    assert (field, reason) == (
        "source.time_format", "45244.92592593 is no time since 1970; if it is a date of Excel, choose excel",
    )  # fmt: skip


@pytest.mark.parametrize(
    ("texts", "found"),
    [
        (["13/11/2023", "01/11/2023"], "day-first"),
        (["11/13/2023 10:00 PM", "11/01/2023 9:00 AM"], "month-first"),
        (["01/02/2023", "02/02/2023"], None),
    ],
)
def test_slashes_are_read_where_a_day_beyond_12_tells_else_one_chooses(tmp_path, texts, found):
    path = tmp_path / "a.csv"
    path.write_text("customer,ts\n" + "".join(f"x,{text}\n" for text in texts))
    if found is None:
        assert refused(path, time="ts")[1] == (
            "say whether 01/02/2023 has the day or the month first: day-first, month-first"
        )
        found = "day-first"
        _, rows = read(path, time="ts", time_format=found)
        assert rows[0]["at_us"] == 1_675_209_600_000_000
    else:
        assert read(path, time="ts")[0]["time_format"] == found


@pytest.mark.parametrize(
    ("time_format", "said"),
    [
        ("dd.mm", "must be one of"),
        ("%Q", "is not a pattern of strptime"),
        ("%d.%d.%Y", "is not a pattern of strptime"),
        ("%Y week %W", "does not read"),
        (7, "text"),
    ],
)
def test_a_time_format_that_cannot_be_is_refused_at_its_field(time_format, said):
    field, reason = refused("12/german.csv", time="ts", time_format=time_format)
    assert field == "source.time_format" and said in reason


def test_a_column_without_times_is_refused_with_the_forms_that_are_read():
    field, reason = refused("12/german.csv", time="customer")
    assert field == "source.time" and reason.startswith(
        "alice cannot be read as a time; what is read: ISO 8601"
    )


def test_preview_of_very_many_columns_takes_memory_for_those_that_it_shows(tmp_path):
    path = tmp_path / "wide.csv"
    path.write_text(",".join(f"c{number}" for number in range(9_000)) + "\n" + "7,7\n" * 10_000)
    tracemalloc.start()
    try:
        shown = source_preview({"kind": "csv", "path": str(path)})
        _, most = tracemalloc.get_traced_memory()
    finally:
        tracemalloc.stop()
    assert len(shown["columns"]) == 200 and most < 200 << 20


# -- what there is to say ------------------------------------------------------------------------------------


def bad(reasons, first=1):
    rows = [
        {"line": line, "reason": reason, "text": f"row {line}", "file": "a.csv"}
        for line, reason in enumerate(reasons, first)
    ]
    return pa.RecordBatch.from_pylist(rows, BAD_ARROW)


def test_problems_of_several_tasks_are_counted_by_reason_with_the_first_three_lines():
    together = Problems(4)
    for first, reasons in ((1, ["null_word"] * 9), (10, ["bad_json", *["null_word"] * 2, *["bad_json"] * 9])):
        one = Problems(4)
        one.add(bad(reasons, first))
        together.join_summary(one.summary().to_pylist())
    assert together.set_aside == 10
    assert [row["line"] for row in together.bad_rows()] == [10, 13, 14, 15]
    told = {each["reason"]: each for each in together.to_json()}
    assert [(name, each["rows"], each["kept"]) for name, each in told.items()] == [
        ("bad_json", 10, False), ("null_word", 11, True),
    ]  # fmt: skip
    assert [row["line"] for row in told["null_word"]["lines"]] == [1, 2, 3]
    assert BAD_TIME in REASONS


# -- Parquet -------------------------------------------------------------------------------------------------


def read_parquet(path, **given):
    spec = source_check({"kind": "parquet", "path": str(path)} | given)
    assert source_check(spec) == spec
    parts = parquet_parts(source_files("parquet", Path(spec["path"])))
    rows = [row for part in parts for batch in parquet_part(spec, part) for row in batch.to_pylist()]
    return spec, rows


def test_a_key_inside_a_struct_is_named_by_its_path():
    path = FILES / "07/struct.parquet"
    assert sorted(keys(read_parquet(path, key="value.customer")[1])) == ["a", "a", "b"]
    shown = source_preview({"kind": "parquet", "path": str(path)})
    assert [column["name"] for column in shown["columns"]] == ["value.customer", "value.n"]
    with pytest.raises(
        CommandError, match=r"there is no column value.no; the columns are value, value.customer, value.n"
    ):
        read_parquet(path, key="value.no")


def test_a_struct_with_missing_parents_and_a_column_of_that_very_name(tmp_path):
    rows = [
        {"v": {"a": {"b": "x"}, "t": 1}, "v.t": "own"},
        {"v": None, "v.t": None},
        {"v": {"a": None, "t": 2}},
    ]
    path = tmp_path / "a.parquet"
    pq.write_table(pa.Table.from_pylist(rows), path)
    assert keys(read_parquet(path, key="v.a.b")[1]) == ["x", None, None]
    assert keys(read_parquet(path, key="v.t")[1]) == ["own", None, None]
    pq.write_table(pa.table({"v": [[{"b": 1}]]}), path)
    with pytest.raises(CommandError, match="is one value per row"):
        read_parquet(path, key="v.b")


@pytest.mark.parametrize("kind", [pa.float64(), pa.float32(), pa.decimal128(12, 2)])
def test_sizes_with_a_fraction_are_rounded_and_no_record_is_lost(tmp_path, kind):
    path = tmp_path / "a.parquet"
    values = [12, Decimal("12.5"), Decimal("13.5"), Decimal("-0.25"), None]
    sizes = pa.array(values, pa.decimal128(12, 2)).cast(kind)
    pq.write_table(pa.table({"customer": list("aabcd"), "n": sizes}), path)
    assert [(row["bytes"], row["reason"]) for row in read_parquet(path, key="customer", size="n")[1]] == [
        (12, None), (12, "size_rounded"), (14, "size_rounded"), (0, "bad_size"), (0, None),
    ]  # fmt: skip
