"""JSON as people have it: nested fields, arrays, pretty and concatenated objects, NaN; and many lines at once exactly as
one by one."""

import json
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from broker_core.errors import CommandError
from broker_core.pipeline.sources import jsonl_rows
from broker_core.pipeline.sources.files import Part
from broker_core.pipeline.sources.json_exact import ExactReader
from broker_core.pipeline.sources.json_paths import plain_numbers
from broker_core.pipeline.sources.json_values import split_values
from broker_core.pipeline.sources.jsonl_rows import FastReader, jsonl_part
from broker_core.pipeline.sources.kinds import sniff
from broker_core.pipeline.sources.preview import source_preview
from broker_core.pipeline.sources.spec import source_check

FILES = Path(__file__).parent / "files"


def read(path, key="customer", **given):
    path = FILES / path
    spec = source_check({"kind": sniff(path, path.name).kind, "path": str(path), "key": key} | given)
    assert source_check(spec) == spec
    return spec, [row for batch in jsonl_part(spec, Part(str(path))) for row in batch.to_pylist()]


def keys(rows):
    return [None if row["key"] is None else row["key"].decode() for row in rows]


def test_a_key_inside_objects_is_named_by_its_path():
    _, rows = read(
        "07/debezium.json", "payload.after.customer_id", time="payload.ts_ms", size="payload.after.id"
    )
    assert keys(rows) == ["c0", "c1", "c0", "c1"]
    assert [row["at_us"] for row in rows] == [1_700_000_000_000_000 + 1_000 * number for number in range(4)]
    assert [row["bytes"] for row in rows] == [0, 1, 2, 3]
    shown = source_preview({"kind": "jsonl", "path": str(FILES / "07/debezium.json")})
    assert "payload.after.customer_id" in [column["name"] for column in shown["columns"]]


def test_a_field_of_that_very_name_comes_first(tmp_path):
    path = tmp_path / "a.jsonl"
    path.write_text('{"a.b":"flat","a":{"b":"deep"}}\n')
    assert keys(read(path, "a.b")[1]) == ["flat"]


def test_a_path_through_an_array_is_refused_and_later_set_aside(tmp_path):
    path = tmp_path / "a.jsonl"
    path.write_text('{"items":[{"sku":"x"}]}\n')
    with pytest.raises(CommandError, match=r"items.sku goes through an array, which may hold several values"):
        source_check({"kind": "jsonl", "path": str(path), "key": "items.sku"})
    rows = [row for batch in jsonl_part({"key": "items.sku"}, Part(str(path))) for row in batch.to_pylist()]
    assert [(row["key"], row["reason"]) for row in rows] == [(None, "in_array")]


def test_an_array_of_objects_is_read():
    spec, rows = read("10/array.json")
    assert (spec["layout"], keys(rows)) == ("values", ["alice", "bob", "alice"])


def test_not_a_number_is_no_value_and_breaks_nothing():
    _, rows = read("10/nan.jsonl")
    assert {row["reason"] for row in rows} == {None}
    assert len(rows) == len((FILES / "10/nan.jsonl").read_text().splitlines())


ROWS = [{"customer": "a", "n": {"x": [1, "}{"]}}, {"customer": 'b"\\', "n": {}}, {"customer": "a", "n": None}]


@pytest.mark.parametrize(
    "text",
    [
        json.dumps(ROWS),
        json.dumps(ROWS, indent=2),
        "".join(json.dumps(row) for row in ROWS),
        "\n".join(json.dumps(row, indent=1) for row in ROWS),
        " [\r\n" + ",\r\n".join(json.dumps(row) for row in ROWS) + "\r\n]\r\n",
    ],
    ids=["array", "pretty array", "concatenated", "pretty", "array of lines"],
)
@pytest.mark.parametrize("block_bytes", [7, 1 << 20])
def test_objects_in_any_form_are_the_same_records(tmp_path, monkeypatch, text, block_bytes):
    path = tmp_path / "data.json"
    path.write_text(text, newline="")
    reader = jsonl_rows.PartReader
    monkeypatch.setattr(jsonl_rows, "PartReader", lambda part, encoding: reader(part, block_bytes, encoding))
    spec, rows = read(path)
    assert (spec["layout"], keys(rows)) == ("values", ["a", 'b"\\', "a"])
    lines = [text[: text.index(json.dumps(row["customer"]))].count("\n") + 1 for row in ROWS[:2]]
    starts = [text.rindex("{", 0, text.index(json.dumps(row["customer"]))) for row in ROWS[:2]]
    assert [row["line"] for row in rows[:2]] == [text[:start].count("\n") + 1 for start in starts], lines


def test_what_is_no_object_between_them_is_set_aside(tmp_path):
    path = tmp_path / "data.json"
    path.write_text('[{"customer":"a"},\n7,\n{"customer":"b"},{"customer":')
    assert [(row["key"], row["line"], row["reason"]) for row in read(path)[1]] == [
        (b"a", 1, None), (None, 2, "no_object"), (b"b", 3, None), (None, 3, "bad_json"),
    ]  # fmt: skip


# -- many at once --------------------------------------------------------------------------------------------

LINES = [
    '{"k":"a","t":1,"p":{"q":"x"}}', '{"k":"é\\n","t":2}', '{"t":3,"k":null,"p":null}', '{"k":"a","t":-0}', '{"k":7}',
    '{"k":"\\ud800","t":1}', '{"k":"a","k":"b"}', '{"k":"a"}{"k":"b"}', "", " ", '{"k":"a","t":1.50}', '{"k":"x","z":NaN}',
    '{"k":"x","t":99999999999999999999}', "[1]", '{"k":', '{"k":"a","p":[{"q":"x"}]}', '{"k":"a","p":{"q":{"r":1}}}',
    '{"k":"a","p":"text"}', ' {"k":"lead"}', '{"k":"trail"} ', '{"k":true}', '{"k":"nul\\u0000"}', '{"z":01,"k":"a"}',
]  # fmt: skip
PLAIN = '{"k":"user-1","t":1700000000000,"p":{"q":"x"},"z":[1,{"k":"no"}]}'


@settings(deadline=None, max_examples=60)
@given(
    st.lists(st.sampled_from(LINES), max_size=3),
    st.integers(0, 400),
    st.sampled_from(["\n", "\r\n"]),
    st.booleans(),
    st.binary(max_size=3),
)
def test_lines_read_at_once_are_the_lines_read_one_by_one(odd, place, newline, ends, raw):
    """Law: whatever line is among them, Arrow's rows are those of the exact reader, in order and by number."""
    spec = {"key": "k", "time": "t", "payload": "p.q"}
    lines = [PLAIN] * 400
    lines[place:place] = odd
    content = newline.join(lines).encode() + (b'\n{"k":"' + raw + b'"}' if raw else b"")
    content += newline.encode() if ends else b""
    paths = {"k": ("k",), "t": ("t",), "p.q": ("p", "q")}
    exact = ExactReader(spec, paths, {})
    split = content.split(b"\n")
    expected = exact.lines(split if split[-1] else split[:-1], 5).to_pylist()
    found = [
        row for batch in FastReader(spec, paths, {}, exact).batches(content, 5) for row in batch.to_pylist()
    ]
    assert found == expected


def test_plain_lines_are_read_at_once(monkeypatch):
    spec, paths = {"key": "k", "time": "t"}, {"k": ("k",), "t": ("t",)}
    exact = ExactReader(spec, paths, {})
    monkeypatch.setattr(exact, "batch", None)
    [batch] = FastReader(spec, paths, {}, exact).batches((PLAIN + "\n").encode() * 1_000, 1)
    assert batch.num_rows == 1_000


@given(st.lists(st.sampled_from(["{", "}", "[", "]", ",", "\n", '"', "\\", "x"]), max_size=60))
def test_whatever_the_bytes_each_value_has_its_place_among_the_spans(marks):
    """The loop writes where it is told to: a value more than there are rows for it is another's memory."""
    data = "".join(marks).encode()
    spans, end, _ = split_values(data, 0, 1, is_final=True)
    room = sum(data.count(mark) for mark in (b"{", b",", b"]", b"\n")) + 2
    assert len(spans) <= room and end <= len(data)
    bounds = [place for start, stop, _ in spans for place in (start, stop)]
    assert bounds == sorted(bounds) and all(stop > start for start, stop, _ in spans)


def test_brackets_that_end_nothing_are_values_between_them():
    assert [span[:2] for span in split_values(b"x]" * 1_000, 0, 1, is_final=True)[0]] == [
        [2 * place, 2 * place + 1] for place in range(1_000)
    ]


def test_text_that_does_not_end_is_looked_at_once():
    raw = b'{"a": NaN, "b": "' + b'\\"' * 500_000  # from each of its quotes again, it took an hour
    assert plain_numbers(raw) == raw.replace(b"NaN", b"null")
