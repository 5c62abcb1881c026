"""CSV and JSON lines without Spark: what is a row, which are bad and where, however the file is
cut."""

import csv
import gzip
import io
import json

import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from broker_core.pipeline.sources.csv_head import csv_columns
from broker_core.pipeline.sources.csv_rows import csv_part
from broker_core.pipeline.sources.dialect import Dialect
from broker_core.pipeline.sources.files import Part, cut
from broker_core.pipeline.sources.jsonl_rows import jsonl_part
from broker_core.pipeline.sources.parquet_rows import parquet_part
from broker_core.pipeline.sources.preview import source_preview
from broker_core.pipeline.sources.quote_cuts import count_part, number_lines
from broker_core.pipeline.sources.rows import SourceFailed
from broker_core.pipeline.sources.spec import source_check
from tests.pipeline.refusals import refused


def csv_rows(path, spec=None, part_bytes=1 << 30):
    spec = {"key": "k", "delimiter": ",", "header": True} | (spec or {})
    columns = csv_columns(path, Dialect.of(spec))
    return [
        row
        for part in parts_of(path, part_bytes, Dialect.of(spec))
        for batch in csv_part(spec, columns, part)
        for row in batch.to_pylist()
    ]


def jsonl_rows(path, spec=None, part_bytes=1 << 30):
    spec = {"key": "k"} | (spec or {})
    return [
        row
        for part in parts_of(path, part_bytes, None)
        for batch in jsonl_part(spec, part)
        for row in batch.to_pylist()
    ]


def parts_of(path, part_bytes, dialect):
    parts = cut([path], part_bytes)
    if parts[0].end < 0:
        return parts
    return number_lines(parts, [count_part(part, dialect) for part in parts])


def written(tmp_path_factory, content, name="data.csv"):
    path = tmp_path_factory.mktemp("source") / name
    path.write_bytes(content)
    return path


FIELDS = st.lists(st.lists(st.text(alphabet='ab,"\n\r é', max_size=5), min_size=2, max_size=2), max_size=12)


@settings(deadline=None, max_examples=50)
@given(FIELDS, st.integers(3, 40))
def test_csv_gives_the_fields_that_the_standard_reader_gives_however_it_is_cut(
    tmp_path_factory, rows, part_bytes
):
    out = io.StringIO(newline="")
    writer = csv.writer(out, quoting=csv.QUOTE_ALL, lineterminator="\r\n")
    writer.writerows([["k", "v"], *rows])
    path = written(tmp_path_factory, out.getvalue().encode())
    expected = list(csv.reader(io.StringIO(out.getvalue(), newline="")))[1:]
    found = csv_rows(path, {"payload": "v"}, part_bytes)
    assert [row["key"] for row in found] == [key.encode() for key, _ in expected]
    assert [row["bytes"] for row in found] == [
        len(key.encode()) + len(value.encode()) for key, value in expected
    ]
    assert not any(row["reason"] for row in found)


LINES = st.lists(st.sampled_from([b"a,1", b"b", b"", b"c,2,3", b"\xe9,4", b"d,", b",5"]), max_size=30)


@settings(deadline=None, max_examples=50)
@given(LINES, st.sampled_from([b"\n", b"\r\n"]), st.booleans(), st.integers(3, 30))
def test_line_numbers_of_good_and_bad_rows_do_not_depend_on_the_cut(
    tmp_path_factory, lines, newline, ends_with_newline, part_bytes
):
    content = newline.join([b"k,v", *lines]) + (newline if ends_with_newline else b"")
    path = written(tmp_path_factory, content)
    expected = [
        (number, {0: "short_row", 1: None, 2: "long_row"}[line.count(b",")])
        for number, line in enumerate(lines, 2)
        if line
    ]
    assert [(row["line"], row["reason"]) for row in csv_rows(path, part_bytes=part_bytes)] == expected


JSON_LINES = st.lists(
    st.sampled_from(
        [
            '{"k":"a"}',
            '{"k":null}',
            "{}",
            "",
            "[1]",
            '{"k":',
            '{"k":7,"x":"é"}',
            '{"k":"\\u00e9\\n"}',
            '{"x":{"k":1}}',
            "7",
        ]
    ),
    max_size=30,
)


@settings(deadline=None, max_examples=50)
@given(JSON_LINES, st.booleans(), st.integers(3, 40))
def test_json_lines_agree_with_the_standard_reader_however_they_are_cut(
    tmp_path_factory, lines, ends_with_newline, part_bytes
):
    path = written(
        tmp_path_factory,
        ("\n".join(lines) + ("\n" if ends_with_newline else "")).encode() or b"\n",
        "data.jsonl",
    )
    expected = []
    for number, line in enumerate(lines, 1):
        if not line:
            continue
        try:
            value = json.loads(line)
        except ValueError:
            expected.append((number, "bad_json", None))
            continue
        if not isinstance(value, dict):
            expected.append((number, "no_object", None))
            continue
        key = value.get("k")
        expected.append(
            (
                number,
                None,
                None if key is None else (key if isinstance(key, str) else json.dumps(key)).encode(),
            )
        )
    assert [
        (row["line"], row["reason"], row["key"]) for row in jsonl_rows(path, part_bytes=part_bytes)
    ] == expected


def test_empty_quoted_field_is_an_empty_key_and_an_empty_field_is_no_key(tmp_path):
    path = tmp_path / "a.csv"
    path.write_bytes(b'k,v\n"",1\n,2\n')
    assert [row["key"] for row in csv_rows(path)] == [b"", None]


def test_keys_stay_the_bytes_that_stand_in_the_file(tmp_path):
    path = tmp_path / "a.csv"
    path.write_bytes(b"\xef\xbb\xbfk;v\ncaf\xe9;1\nna\xc3\xafve;2\n\x00\xff;3\n")
    rows = csv_rows(path, {"delimiter": ";", "encoding": "bytes"})
    assert [row["key"] for row in rows] == [b"caf\xe9", "naïve".encode(), b"\x00\xff"]


def test_key_of_a_megabyte_comes_through(tmp_path):
    path = tmp_path / "a.csv"
    big = b"x" * (1 << 20)
    path.write_bytes(b"k,v\n" + (big + b",1\n") * 9)
    rows = csv_rows(path)
    assert [row["key"] for row in rows] == [big] * 9
    assert {row["bytes"] for row in rows} == {1 << 20}


def test_quote_that_is_never_closed_costs_its_line_and_no_other(tmp_path):
    path = tmp_path / "a.csv"
    path.write_bytes(b'k,v\na,1\n"open,2\nb,3\n')
    rows = csv_rows(path)
    assert [(row["line"], row["reason"], row["key"]) for row in rows] == [
        (2, None, b"a"),
        (3, "open_quote", None),
        (4, None, b"b"),
    ]
    assert rows[1]["text"] == '"open,2'


STRAY = b'k,v\na,1\n"open,2\nc,3\nd,4\n"e",5\nf,6\n'


def test_stray_quote_that_meets_the_next_one_costs_its_line_and_no_other(tmp_path):
    path = tmp_path / "a.csv"
    path.write_bytes(STRAY)
    rows = csv_rows(path)
    assert [(row["line"], row["reason"]) for row in rows] == [
        (2, None),
        (3, "text_behind_quote"),
        (4, None),
        (5, None),
        (6, None),
        (7, None),
    ]
    assert [row["key"] for row in rows] == [b"a", None, b"c", b"d", b"e", b"f"] and rows[1][
        "text"
    ] == '"open,2'
    shown = source_preview({"kind": "csv", "path": str(path)})
    assert shown["bad"] == 1 and [row[0] for row in shown["rows"]] == ["a", "c", "d", "e", "f"]


def test_quoted_line_breaks_before_a_stray_quote_stay_in_their_row(tmp_path):
    path = tmp_path / "a.csv"
    path.write_bytes(b'k,v,w\n"two\nlines","stray,1\nb,2,3\n"c",4,5\n')
    rows = csv_rows(path)
    assert [(row["line"], row["reason"], row["key"]) for row in rows] == [
        (2, "text_behind_quote", None),
        (4, None, b"b"),
        (5, None, b"c"),
    ]
    assert rows[0]["text"] == '"two\nlines","stray,1'


def test_bad_rows_say_why_and_show_their_text(tmp_path):
    path = tmp_path / "a.csv"
    path.write_bytes(
        b'k,at,n\na,2013-01-01T00:00:00Z,5\nb,noon,5\nc,1357016100,-1\nd,,\n"e"x,1,1\nf,,,'
        + b"f" * 500
        + b"\n"
    )
    rows = csv_rows(path, {"time": "at", "size": "n"})
    assert [(row["line"], row["reason"]) for row in rows] == [
        (2, None),
        (3, "bad_time"),
        (4, "bad_size"),
        (5, None),
        (6, "text_behind_quote"),
        (7, "long_row"),
    ]
    assert (rows[0]["at_us"], rows[0]["bytes"], rows[3]["at_us"]) == (1356998400000000, 5, None)
    assert (rows[1]["text"], len(rows[5]["text"])) == ("b,noon,5", 200)


def test_compressed_file_reads_as_the_plain_one(tmp_path):
    content = b"k,v\n" + b"".join(b"key-%d,%d\n" % (number, number) for number in range(5_000))
    (tmp_path / "a.csv").write_bytes(content)
    (tmp_path / "b.csv.gz").write_bytes(gzip.compress(content))
    assert csv_rows(tmp_path / "a.csv", part_bytes=1_000) == csv_rows(tmp_path / "b.csv.gz", part_bytes=1_000)


def test_each_file_of_a_folder_goes_by_its_own_header(tmp_path):
    spec = {"key": "k", "time": "at", "delimiter": ",", "header": True}
    (tmp_path / "a.csv").write_bytes(b"k,at\na,1357000001\n")
    (tmp_path / "b.csv").write_bytes(b"at,more,k\n1357000002,x,b\n3,c\n")
    (tmp_path / "c.csv").write_bytes(b"\n")
    (tmp_path / "d.csv").write_bytes(b"at," + b"w" * 70_000 + b",k\n1357000004,,d\n")
    columns = csv_columns(tmp_path / "a.csv", Dialect())
    parts = cut([tmp_path / name for name in ("a.csv", "b.csv", "c.csv", "d.csv")])
    found = [
        [
            (row["key"], row["at_us"], row["reason"])
            for batch in csv_part(spec, columns, part)
            for row in batch.to_pylist()
        ]
        for part in parts
    ]
    assert found == [
        [(b"a", 1357000001_000_000, None)],
        [(b"b", 1357000002_000_000, None), (None, None, "wrong_columns")],
        [],
        [(b"d", 1357000004_000_000, None)],
    ]
    assert source_check({"kind": "csv", "path": str(tmp_path), "key": "k", "time": "at"})["time"] == "at"


def test_part_in_the_middle_of_a_file_goes_by_its_header(tmp_path):
    (tmp_path / "b.csv").write_bytes(b"at,k\n" + b"1,b\n" * 9)
    spec = {"key": "k", "time": "at", "delimiter": ",", "header": True}
    parts = parts_of(tmp_path / "b.csv", 10, Dialect())
    assert len(parts) > 3
    found = [
        row["key"]
        for part in parts
        for batch in csv_part(spec, ["k", "at"], part)
        for row in batch.to_pylist()
    ]
    assert found == [b"b"] * 9


def test_file_of_a_folder_that_lacks_a_column_is_refused_with_both_names(tmp_path):
    (tmp_path / "a.csv").write_bytes(b"k,at\na,1357000001\n")
    (tmp_path / "b.csv").write_bytes(b"key,at\nb,1\n")
    said = "b.{}: there is no column k; the columns are key, at"
    error = refused({"kind": "csv", "path": str(tmp_path), "key": "k"})
    assert (error.field, error.reason) == ("source.key", said.format("csv"))
    with pytest.raises(SourceFailed) as caught:
        list(csv_part({"key": "k"}, ["k", "at"], Part(str(tmp_path / "b.csv"))))
    assert caught.value.reason == said.format("csv")
    pq.write_table(pa.table({"at": [1], "k": ["a"]}), tmp_path / "a.parquet")
    pq.write_table(pa.table({"key": ["a"], "at": [1]}), tmp_path / "b.parquet")
    error = refused({"kind": "parquet", "path": str(tmp_path), "key": "at", "payload": "k"})
    assert (error.field, error.reason) == ("source.payload", said.format("parquet"))
    with pytest.raises(SourceFailed) as caught:
        list(parquet_part({"key": "k"}, Part(str(tmp_path / "b.parquet"), 0, 1)))
    assert caught.value.reason == said.format("parquet")


def test_files_without_header_go_by_place(tmp_path):
    (tmp_path / "a.csv").write_bytes(b"a,1\n")
    (tmp_path / "b.csv").write_bytes(b"2,b\n")
    spec = source_check({"kind": "csv", "path": str(tmp_path), "key": "1", "header": False})
    parts = cut([tmp_path / "a.csv", tmp_path / "b.csv"])
    found = [
        row["key"]
        for part in parts
        for batch in csv_part(spec, ["1", "2"], part)
        for row in batch.to_pylist()
    ]
    assert found == [b"a", b"2"]


def test_first_of_two_columns_of_one_name_counts_as_the_preview_shows_it(tmp_path):
    path = tmp_path / "a.csv"
    path.write_bytes(b"k,k\na,b\n")
    assert [row["key"] for row in csv_rows(path)] == [b"a"]
    assert [column["name"] for column in source_preview({"kind": "csv", "path": str(path)})["columns"]] == [
        "k",
        "k",
    ]


def test_gzip_that_breaks_off_fails_with_its_name(tmp_path):
    path = tmp_path / "torn.csv.gz"
    path.write_bytes(gzip.compress(b"k,v\n" + b"a,1\n" * 10_000)[:-20])
    with pytest.raises(SourceFailed, match=r"torn\.csv\.gz"):
        list(csv_part({"key": "k"}, ["k", "v"], Part(str(path))))


def test_json_line_that_is_no_utf8_is_set_aside_with_its_number(tmp_path):
    path = tmp_path / "a.jsonl"
    path.write_bytes(b'{"k":"a"}\n{"k":"caf\xe9"}\n\n{"k":"b","at":"1970-01-01 00:00:01"}\n')
    rows = jsonl_rows(path, {"time": "at"})
    assert [(row["line"], row["reason"], row["key"]) for row in rows] == [
        (1, None, b"a"),
        (2, "bad_utf8", None),
        (4, None, b"b"),
    ]
    assert rows[1]["text"] == '{"k":"caf\\xe9"}'
    assert rows[2]["at_us"] == 1_000_000


def test_file_without_header_has_numbered_columns(tmp_path):
    path = tmp_path / "a.csv"
    path.write_bytes(b"x,1\ny,2\n")
    spec = source_check({"kind": "csv", "path": str(path), "key": "1", "header": False})
    assert [row["key"] for row in csv_rows(path, spec)] == [b"x", b"y"]


@pytest.mark.parametrize(
    ("content", "header", "keys"),
    [
        (b"k,v\r\r\na,1\n", True, [b"a"]),
        (b'"k\rx",v\na,1\n', None, [b"k\rx", b"a"]),
        (b"\ra,1\nb,2\n", None, [b"\ra", b"b"]),
        (b'k,v\n"a\rb",1\nc\rd,2\n', True, [b"a\rb", b"c\rd"]),
    ],
)
def test_carriage_return_within_a_key_stays(tmp_path, content, header, keys):
    path = tmp_path / "a.csv"
    path.write_bytes(content)
    spec = source_check(
        {"kind": "csv", "path": str(path), "key": "k" if header else "1", "header": bool(header)}
    )
    assert [row["key"] for row in csv_rows(path, spec)] == keys
