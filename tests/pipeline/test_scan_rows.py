"""The scan of CSV bytes on its own: where rows begin and end, what is still unfinished, and how a field is
copied out."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from broker_core.pipeline.sources.csv_head import column_of
from broker_core.pipeline.sources.dialect import Dialect
from broker_core.pipeline.sources.text_kernels import (
    ESCAPED,
    FINE,
    OPEN_QUOTE,
    PLAIN,
    QUOTED,
    TEXT_BEHIND_QUOTE,
    new_tables,
    scan_rows,
)

ROOM = 64


def scan(
    data,
    begin=0,
    limit=None,
    is_final=True,
    wanted=(0,),
    line=1,
    row_bytes_max=1 << 20,
    room=ROOM,
    **dialect,
):
    """(rows as (text, line, fields, problem), the place after them, its line, spans, kinds)."""
    array = np.frombuffer(data, np.uint8)
    spans, kinds, rows = new_tables(room, len(wanted))
    limit = len(data) if limit is None else limit
    columns = np.array(wanted, np.int64)
    found, position, at_line = scan_rows(
        array,
        begin,
        limit,
        is_final,
        Dialect(**dialect).marks(),
        columns,
        line,
        row_bytes_max,
        spans,
        kinds,
        rows,
    )
    told = [
        (data[start:end], row_line, fields, problem)
        for start, end, row_line, fields, problem in rows[:found].tolist()
    ]
    return told, position, at_line, spans[:found], kinds[:found]


def values(data, place=0, **options):
    """The field at that place of each row, as Arrow has it."""
    _, _, _, spans, kinds = scan(data, wanted=(place,), **options)
    return column_of(np.frombuffer(data, np.uint8), spans[:, 0], kinds[:, 0]).to_pylist()


# -- rows ----------------------------------------------------------------------------------------------------


def test_rows_say_where_they_are_in_which_line_and_how_many_fields_they_have():
    told, position, line, _, _ = scan(b"a,b\n\nccc\r\n,,\n")
    assert told == [(b"a,b", 1, 2, FINE), (b"ccc\r", 3, 1, FINE), (b",,", 4, 3, FINE)]
    assert (position, line) == (13, 5)


@pytest.mark.parametrize(
    ("data", "rows"),
    [(b"", 0), (b"\n\r\n\n", 0), (b"a", 1), (b"a\n", 1), (b"a\n\n", 1), (b"a\nb", 2), (b",", 1), (b'""', 1)],
)
def test_blank_lines_are_no_rows_and_the_last_row_needs_no_line_end(data, rows):
    assert len(scan(data)[0]) == rows


def test_a_row_that_the_data_cuts_off_waits_for_more():
    told, position, line, _, _ = scan(b"a,b\nc,", is_final=False)
    assert told == [(b"a,b", 1, 2, FINE)]
    assert (position, line) == (4, 2), "reading goes on at its beginning"
    told, position, line, _, _ = scan(b'a\n"x\ny', is_final=False)
    assert (len(told), position, line) == (1, 2, 2), "and in its first line, not where the data ended"


def test_a_quote_at_the_very_end_may_be_half_of_two():
    assert scan(b'"a"', is_final=False)[0] == []
    assert scan(b'"a"', is_final=True)[0] == [(b'"a"', 1, 1, FINE)]


def test_only_rows_that_begin_before_the_limit_are_ones_own_wherever_they_end():
    data = b"aa,b\ncc,d\nee,f\n"
    assert [row[0] for row in scan(data, limit=6)[0]] == [b"aa,b", b"cc,d"]
    assert [row[0] for row in scan(data, limit=5)[0]] == [b"aa,b"]
    assert [row[0] for row in scan(data, begin=5)[0]] == [b"cc,d", b"ee,f"]


def test_a_full_table_is_handed_on_and_the_scan_goes_on_after_it():
    data = b"".join(b"r%d\n" % number for number in range(7))
    seen, begin, line = [], 0, 1
    while True:
        told, begin, line, _, _ = scan(data, begin=begin, line=line, room=3)
        if not told:
            break
        seen += told
    assert [(text, number) for text, number, _, _ in seen] == [
        (b"r%d" % number, number + 1) for number in range(7)
    ]


# -- quotes --------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("data", "field", "kind"),
    [
        (b"plain,x\n", b"plain", PLAIN),
        (b'"a,b",x\n', b"a,b", QUOTED),
        (b'"a\nb",x\n', b"a\nb", QUOTED),
        (b'"a""b",x\n', b'a"b', ESCAPED),
        (b'"",x\n', b"", QUOTED),
        (b",x\n", None, PLAIN),
        (b'""""\n', b'"', ESCAPED),
        (b'a"b,x\n', b'a"b', PLAIN),
        (b" \n", b" ", PLAIN),
        (b'"a"\r\n', b"a", QUOTED),
        (b"a\r\n", b"a", PLAIN),
        (b"a\rb\n", b"a\rb", PLAIN),
        (b"a\r", b"a", PLAIN),
        (b'"a"\r', b"a", QUOTED),
        (b'"a\r\n"\n', b"a\r\n", QUOTED),
        (b'" a "\n', b" a ", QUOTED),
    ],
)
def test_a_field_is_its_bytes_without_what_its_quotes_need(data, field, kind):
    told, _, _, _, kinds = scan(data)
    assert [problem for _, _, _, problem in told] == [FINE]
    assert (values(data), kinds[0, 0]) == ([field], kind)


def test_nothing_between_commas_is_null_and_two_quotes_are_an_empty_text():
    assert [values(b'a,,"",b\n', place) for place in range(4)] == [[b"a"], [None], [b""], [b"b"]]


def test_a_column_that_a_short_row_lacks_is_null_and_nobody_elses():
    assert values(b"a,b\nc\nd,e\n", 1) == [b"b", None, b"e"]


def test_two_wanted_columns_may_be_the_same_one():
    _, _, _, spans, _ = scan(b"a,bc\n", wanted=(1, 0, 1))
    assert spans[0].tolist() == [[2, 4], [0, 1], [2, 4]]


@pytest.mark.parametrize("delimiter", ["\t", ";", "|", " ", "a"])
def test_any_byte_may_separate(delimiter):
    data = f'x{delimiter}"1{delimiter}2"{delimiter}y\n'.encode()
    assert [values(data, place, delimiter=delimiter) for place in range(3)] == [
        [b"x"],
        [f"1{delimiter}2".encode()],
        [b"y"],
    ]


def test_text_behind_a_closing_quote_makes_its_row_bad_and_ends_with_its_field():
    told, _, _, _, _ = scan(b'"a"x,b\n"c",d\n')
    assert told == [(b'"a"x,b', 1, 2, TEXT_BEHIND_QUOTE), (b'"c",d', 2, 2, FINE)]


def test_a_quote_that_closes_on_a_later_line_before_text_was_another_ones_and_costs_its_own_line_alone():
    """`"b` opens, the next quote on line 3 is another field's: lines 2 and 3 are rows."""
    told, _, _, _, _ = scan(b'a,"b\nc,d\ne,"f"\n')
    assert [(line, problem) for _, line, _, problem in told] == [(1, TEXT_BEHIND_QUOTE), (2, FINE), (3, FINE)]


def test_a_quote_that_never_closes_costs_its_line_alone():
    told, _, line, _, _ = scan(b'a\n"b\nc\nd\n')
    assert [(text, number, problem) for text, number, _, problem in told] == [
        (b"a", 1, FINE), (b'"b', 2, OPEN_QUOTE), (b"c", 3, FINE), (b"d", 4, FINE),
    ]  # fmt: skip
    assert line == 5


def test_a_quote_that_stays_open_for_longer_than_a_row_may_be_is_given_up_before_the_end():
    data = b'"b\n' + b"c\n" * 20
    assert scan(data, is_final=False, row_bytes_max=1_000)[0] == []
    told, _, _, _, _ = scan(data, is_final=False, row_bytes_max=10)
    assert [problem for _, _, _, problem in told] == [OPEN_QUOTE, *[FINE] * 20]


# -- laws ----------------------------------------------------------------------------------------------------

TEXTS = st.text(st.sampled_from('ab",\n\r'), max_size=30).map(str.encode)


@settings(max_examples=50, deadline=None)
@given(TEXTS)
def test_every_byte_is_in_one_row_or_a_line_end_and_a_row_is_in_the_line_of_its_first_byte(data):
    """Law, whatever the quotes do: rows come in order and do not overlap."""
    array = np.frombuffer(data, np.uint8)
    spans, kinds, rows = new_tables(ROOM, 1)
    found, position, _ = scan_rows(
        array, 0, len(data), True, Dialect().marks(), np.zeros(1, np.int64), 1, 1 << 20, spans, kinds, rows
    )
    ends = [0, *rows[:found, 1].tolist()]
    starts = [*rows[:found, 0].tolist(), len(data)]
    assert all(
        end <= start and data[end:start].strip(b"\r\n") == b""
        for end, start in zip(ends, starts, strict=True)
    )
    assert rows[:found, 2].tolist() == [1 + data[:start].count(b"\n") for start in starts[:-1]]
    assert position == len(data)


@settings(max_examples=50, deadline=None)
@given(
    st.lists(
        st.lists(st.none() | st.text(st.sampled_from('xy",\n\r é'), max_size=6), min_size=2, max_size=3),
        max_size=6,
    )
)
def test_what_is_written_with_quotes_is_read_back(table):
    def written(value):
        return "" if value is None else '"' + value.replace('"', '""') + '"'

    data = "".join(",".join(map(written, row)) + "\n" for row in table).encode()
    told, _, _, _, _ = scan(data)
    assert [(fields, problem) for _, _, fields, problem in told] == [(len(row), FINE) for row in table]
    for place in range(2):
        assert values(data, place) == [None if row[place] is None else row[place].encode() for row in table]
