"""A quote does not make a file one task: wherever a CSV is cut, its parts give the rows of the whole file."""

import csv
import io

import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st

from broker_core.pipeline.sources.csv_rows import csv_part
from broker_core.pipeline.sources.dialect import Dialect
from broker_core.pipeline.sources.files import Part, cut
from broker_core.pipeline.sources.quote_cuts import count_part, number_lines

SPEC = {"key": "1", "payload": "2", "delimiter": ",", "header": False}


def cut_parts(path, part_bytes, **dialect):
    parts = cut([path], part_bytes)
    if parts[0].end < 0:
        return parts
    found = Dialect(header=False, **dialect)
    return number_lines(parts, [count_part(part, found) for part in parts])


def rows(path, parts, **dialect):
    return [
        row
        for part in parts
        for batch in csv_part(SPEC | dialect, ["1", "2"], part)
        for row in batch.to_pylist()
    ]


FIELD = st.text(alphabet='ab,"\n\r\\ é', max_size=6)


@settings(deadline=None, max_examples=50)
@given(st.lists(st.lists(FIELD, min_size=2, max_size=2), max_size=12), st.integers(2, 40))
def test_well_formed_rows_do_not_depend_on_the_cut_and_need_no_single_task(
    tmp_path_factory, table, part_bytes
):
    out = io.StringIO(newline="")
    csv.writer(out, lineterminator="\n").writerows([["k", "v"], *table])
    path = tmp_path_factory.mktemp("cut") / "a.csv"
    path.write_bytes(out.getvalue().encode())
    assert rows(path, cut_parts(path, part_bytes)) == rows(path, [Part(str(path))])


@settings(deadline=None, max_examples=150)
@given(
    st.lists(
        st.sampled_from(["a", ",", '"', '""', '","', "\\", "\n", "\r\n", "#", '\n#"']),
        min_size=1,
        max_size=40,
    ).map("".join),
    st.integers(1, 20),
    st.sampled_from(["", "\\"]),
    st.sampled_from(["", "#", ","]),
)
@example('a\n"b\nc","d"\n"e"f\n', 3, "", "")
@example('\\"\n"\\\\"\n"\\"\n', 2, "\\", "")
@example('#,"\na\n"b\n#c"\n#"d,"\n', 2, "", "#")
@example('a\n#"""""""""\n"b\n"\n', 4, "", "#")
def test_whatever_the_quotes_do_the_parts_give_the_rows_of_the_whole_file(
    tmp_path_factory, text, part_bytes, escape, comment
):
    path = tmp_path_factory.mktemp("cut") / "a.csv"
    path.write_bytes(text.encode())
    how = {"escape": escape, "comment": comment}
    assert rows(path, cut_parts(path, part_bytes, **how), **how) == rows(path, [Part(str(path))], **how)


def test_a_large_file_with_quotes_is_read_in_parts(tmp_path):
    path = tmp_path / "a.csv"
    path.write_bytes(b'a,"two\nlines, and ""quotes"""\n' * 1_000)
    parts = cut_parts(path, 4_096)
    assert len(parts) == len(cut([path], 4_096)) > 5
    assert [row["line"] for row in rows(path, parts)] == list(range(1, 2_001, 2))


def test_comment_lines_with_quotes_of_their_own_leave_a_file_in_parts(tmp_path):
    path = tmp_path / "a.csv"
    path.write_bytes(b'# it\'s 5" wide, "so\n' + b'a,"two\n# lines"\n#"\nb,c\n' * 1_000)
    parts = cut_parts(path, 4_096, comment="#")
    assert len(parts) == len(cut([path], 4_096)) > 4
    found = rows(path, parts, comment="#")
    assert [row["line"] for row in found[:4]] == [2, 5, 6, 9]
    assert found == rows(path, [Part(str(path))], comment="#") and len(found) == 2_000


@pytest.mark.parametrize("text", ['a,"open\n', 'a,"two\nlines"x\n'])
def test_a_quote_whose_end_is_only_found_by_reading_makes_the_file_one_part(tmp_path, text):
    path = tmp_path / "a.csv"
    path.write_bytes(b"a,b\n" * 50 + text.encode() + b"c,d\n" * 50)
    assert cut_parts(path, 64) == [Part(str(path))]
