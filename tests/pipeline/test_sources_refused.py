"""What of a source is refused before anything is read, and at which field; Spark is not needed to say it."""

import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from broker_core.errors import CommandError
from broker_core.pipeline.sources.csv_rows import csv_part
from broker_core.pipeline.sources.files import Part
from broker_core.pipeline.sources.jsonl_rows import jsonl_part
from broker_core.pipeline.sources.parquet_rows import parquet_part, parquet_parts
from broker_core.pipeline.sources.preview import source_preview
from broker_core.pipeline.sources.rows import SourceFailed
from broker_core.pipeline.sources.spec import source_check
from tests.pipeline.refusals import refused


def test_wrong_column_is_refused_at_its_field_with_the_columns_that_are_there(tmp_path):
    path = tmp_path / "a.csv"
    path.write_bytes(b"user,at\nx,1\n")
    error = refused({"kind": "csv", "path": str(path), "key": "usr"})
    assert (error.field, error.reason) == ("source.key", "there is no column usr; the columns are user, at")
    assert refused({"kind": "csv", "path": str(path), "key": "user", "time": "when"}).field == "source.time"
    assert refused({"kind": "csv", "path": str(path)}).field == "source.key"


@pytest.mark.parametrize(
    ("name", "content", "said"),
    [
        ("a.csv", b"", "the file is empty"),
        ("a.csv", b"\xff\xfek\x00", "there is a header, but no row below it"),
        ("a.csv", b"\n\n", "the file is empty"),
        ("a.parquet", b"PAR1 but not", "not a Parquet"),
        ("a.csv.gz", b"\x1f\x8bnot", "cannot be read"),
    ],
)
def test_file_that_holds_nothing_readable_is_refused_at_its_path(tmp_path, name, content, said):
    (tmp_path / name).write_bytes(content)
    error = refused({"kind": name.split(".")[1], "path": str(tmp_path / name), "key": "k"})
    assert error.field == "source.path"
    assert said in error.reason


@pytest.mark.parametrize("kind", ["csv", "jsonl"])
def test_text_in_utf16_is_refused_with_its_files_name_wherever_it_stands_in_a_folder(tmp_path, kind):
    (tmp_path / f"a.{kind}").write_bytes(b"k\n1\n" if kind == "csv" else b'{"k":1}\n')
    other = tmp_path / f"b.{kind}"
    other.write_bytes("k\ny\n".encode("utf-16"))
    error = refused({"kind": kind, "path": str(tmp_path), "key": "k"})
    assert (error.field, error.reason) == ("source.path", f"b.{kind}: the text is UTF-16; save it as UTF-8")
    with pytest.raises(SourceFailed, match=r"^b\.\w+: the text is UTF-16"):
        list(
            csv_part({"key": "k"}, ["k"], Part(str(other)))
            if kind == "csv"
            else jsonl_part({"key": "k"}, Part(str(other)))
        )


def test_folder_names_the_file_that_is_no_parquet(tmp_path):
    pq.write_table(pa.table({"k": ["a"]}), tmp_path / "a.parquet")
    (tmp_path / "b.parquet").write_bytes(b"junk")
    error = refused({"kind": "parquet", "path": str(tmp_path), "key": "k"})
    assert (error.field, error.reason.split(":")[0]) == ("source.path", "b.parquet is not a Parquet file")


def test_parquet_column_that_holds_more_than_one_value_is_refused_at_its_field(tmp_path):
    path = tmp_path / "a.parquet"
    nested = {
        "tags": pa.array([[1]]),
        "at": pa.array([{"s": 1}]),
        "map": pa.array([[("a", 1)]], pa.map_(pa.string(), pa.int64())),
    }
    pq.write_table(pa.table({"k": ["a"], "coded": pa.array(["a"]).dictionary_encode(), **nested}), path)
    said = "the column tags holds list<element: int64>; a key, time, size or payload is one value per row"
    error = refused({"kind": "parquet", "path": str(path), "key": "tags"})
    assert (error.field, error.reason) == ("source.key", said)
    for field in ("time", "size", "payload"):
        for name in nested:
            error = refused({"kind": "parquet", "path": str(path), "key": "k", field: name})
            assert (error.field, f"column {name} holds" in error.reason) == (f"source.{field}", True)
    assert source_check({"kind": "parquet", "path": str(path), "key": "coded"})["key"] == "coded"
    with pytest.raises(SourceFailed) as caught:
        list(parquet_part({"key": "tags"}, Part(str(path), 0, 1)))
    assert caught.value.reason == f"a.parquet: {said}"


def test_parquet_columns_of_one_name_are_refused_at_their_field_and_others_are_read(tmp_path):
    path = tmp_path / "a.parquet"
    pq.write_table(
        pa.table([pa.array(["a"]), pa.array(["b"]), pa.array(["c"])], names=["k", "k", "other"]), path
    )
    error = refused({"kind": "parquet", "path": str(path), "key": "other", "payload": "k"})
    assert (error.field, error.reason) == ("source.payload", "2 columns have the name k")
    [part] = parquet_parts([path])
    assert [row["key"] for batch in parquet_part({"key": "other"}, part) for row in batch.to_pylist()] == [
        b"c"
    ]


@pytest.mark.parametrize("delimiter", ["é", "，", "", ";;", '"', "\n", "\udc80", 7])
def test_delimiter_is_one_ascii_character(tmp_path, delimiter):
    path = tmp_path / "a.csv"
    path.write_bytes(b"k,v\n")
    error = refused({"kind": "csv", "path": str(path), "key": "k", "delimiter": delimiter})
    assert (error.field, error.reason) == (
        "source.delimiter",
        "must be one ASCII character, neither a quote nor a line break",
    )
    if delimiter:
        with pytest.raises(CommandError, match="one ASCII character"):
            source_preview({"kind": "csv", "path": str(path), "delimiter": delimiter})


@pytest.mark.parametrize(
    "content",
    [
        b"k,v\ra,1\rb,2\r",
        b"k,v\ra,1\rb,2",
        b'"k","v"\r"a","1"\r',
        b"k,v\ra,1\rb,2\n",
        b"k,v\r" + b"a,1\r" * 300_000,
    ],
)
def test_lines_that_end_in_carriage_returns_alone_are_refused(tmp_path, content):
    path = tmp_path / "a.csv"
    path.write_bytes(content)
    for more in ({"key": "k"}, {"key": "v"}, {"key": "1", "header": False}):
        error = refused({"kind": "csv", "path": str(path)} | more)
        assert (error.field, error.reason) == ("source.path", "line ends must be LF or CRLF")
        with pytest.raises(SourceFailed, match=r"^a\.csv: line ends must be LF or CRLF$"):
            list(csv_part(more, ["k", "v"], Part(str(path))))
    with pytest.raises(CommandError, match="line ends"):
        source_preview({"kind": "csv", "path": str(path)})
    (tmp_path / "0.csv").write_bytes(b"k,v\r\na,1\r\n")
    assert (
        refused({"kind": "csv", "path": str(tmp_path), "key": "k"}).reason
        == "a.csv: line ends must be LF or CRLF"
    )


def test_objects_between_carriage_returns_alone_are_objects_one_after_another(tmp_path):
    path = tmp_path / "a.jsonl"
    path.write_bytes(b'{"k":1}\r{"k":2}\r')
    spec = source_check({"kind": "jsonl", "path": str(path), "key": "k"})
    rows = [row for batch in jsonl_part(spec, Part(str(path))) for row in batch.to_pylist()]
    assert (spec["layout"], [row["key"] for row in rows]) == ("values", [b"1", b"2"])


def test_path_that_is_not_there_is_refused(tmp_path):
    assert (
        refused({"kind": "csv", "path": str(tmp_path / "no.csv"), "key": "k"}).reason
        == "there is no such file"
    )


def test_folder_with_mixed_files_reads_those_of_its_kind_and_one_without_says_so(tmp_path):
    (tmp_path / "b.csv").write_bytes(b"k\n1\n")
    (tmp_path / "a.csv").write_bytes(b"k\n2\n")
    (tmp_path / "empty.csv").write_bytes(b"")
    (tmp_path / "_SUCCESS").write_bytes(b"")
    (tmp_path / "notes.md").write_bytes(b"# notes")
    spec = source_check({"kind": "csv", "path": str(tmp_path), "key": "k"})
    assert source_preview(spec)["rows"] == [["2"]]
    error = refused({"kind": "parquet", "path": str(tmp_path), "key": "k"})
    assert (error.field, "no parquet file" in error.reason) == ("source.path", True)


def test_made_up_source_says_what_it_cannot_do():
    assert refused({"kind": "zipf", "keys": 2_000_000, "records": 10}).field == "source.keys"
    assert refused({"kind": "zipf", "keys": 10, "records": 10, "exponent": 9}).field == "source.exponent"
    assert refused({"kind": "uniform", "keys": 10}).field == "source.records"
    assert refused({"kind": "flights", "key": "tail"}).field == "source.key"
    assert refused({"kind": "lab", "records": 5}).field == "source.scenario"
    assert (
        refused({"kind": "lab", "records": 5, "scenario": {"workload": {"kind": "odd"}}}).field
        == "source.kind"
    )
    assert refused({"kind": "cvs"}).field == "source.kind"
    assert refused([]).field == "source"
    assert refused({"kind": "zipf", "keys": 10, "records": 10, "colour": 1}).field == "source.colour"


@pytest.mark.parametrize("content", [b"user,at\n", b"user,at", b"user,at\r", b'"us\ner",at\r\n\r\n'])
def test_a_header_without_a_row_is_refused_at_the_look_at_the_file(tmp_path, content):
    path, spec = tmp_path / "a.csv", {"kind": "csv", "path": str(tmp_path / "a.csv"), "key": "at"}
    path.write_bytes(content)
    error = refused(spec)
    assert (error.field, error.reason) == ("source.path", "there is a header, but no row below it")
    with pytest.raises(CommandError, match="no row below it"):
        source_preview(spec)
    assert source_check(spec | {"header": False, "key": "1"})["path"] == str(path)
    (tmp_path / "b.csv").write_bytes(content + b"\nx,1")
    assert source_check(spec | {"path": str(tmp_path)})["key"] == "at"
