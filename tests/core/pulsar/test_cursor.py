"""A cursor beside a set of what is acknowledged: whatever is said to it, it remembers that, and mark-delete
never goes back."""

import json

from hypothesis import given, settings
from hypothesis import strategies as st

from broker_core.pulsar.cursor import Cursor

MAX = 40
steps = st.lists(
    st.one_of(
        st.tuples(st.just("ack"), st.integers(-3, MAX + 3)),
        st.tuples(st.just("up_to"), st.integers(-3, MAX + 3)),
        st.tuples(st.just("read"), st.integers(1, 9)),
        st.tuples(st.just("rewind"), st.just(0)),
        st.tuples(st.just("publish"), st.integers(1, 6)),
        st.tuples(st.just("seek"), st.integers(0, MAX)),
    ),
    max_size=60,
)


@settings(max_examples=300, deadline=None)
@given(steps)
def test_it_is_the_set_of_what_is_acknowledged_and_a_place_to_read_from(order):
    cursor, acked = Cursor(), set()
    for what, number in order:
        before = cursor.mark_delete
        match what:
            case "publish":
                cursor.end += number
            case "ack":
                fresh = 0 <= number < cursor.end and number not in acked
                assert cursor.ack(number) == fresh
                acked |= {number} if fresh else set()
            case "up_to":
                taken = cursor.ack_cumulative(number)
                assert taken == (before < number < cursor.end)
                acked |= set(range(number + 1)) if taken else set()
            case "read":
                start = cursor.read_position
                unread = [position for position in range(start, cursor.end) if position not in acked]
                assert cursor.read(number) == unread[:number]
                assert cursor.read_position <= max(cursor.end, start)
            case "rewind":
                cursor.rewind()
                assert cursor.read_position == cursor.mark_delete + 1
            case "seek":
                position = min(number, cursor.end)
                cursor.reset(position)
                acked = set(range(position))
        assert what == "seek" or cursor.mark_delete >= before, "only a seek takes it back"
        assert cursor.mark_delete == next(place - 1 for place in range(cursor.end + 1) if place not in acked)
        assert all(
            cursor.is_acked(position) == (position in acked or position < 0)
            for position in range(-1, cursor.end)
        )
        assert cursor.backlog == cursor.end - len(acked)
        inside = {position for low, high in cursor.ranges for position in range(low + 1, high + 1)}
        assert inside == {position for position in acked if position > cursor.mark_delete}, (
            "open below, closed above"
        )
        assert all(one[1] < other[0] for one, other in zip(cursor.ranges, cursor.ranges[1:], strict=False)), (
            "neighbours are one range"
        )
        assert Cursor.from_json(cursor.to_json()) == cursor


def test_ten_entries_of_which_the_first_is_acknowledged_last():
    cursor = Cursor(end=10)
    for position in range(9, 0, -1):
        assert cursor.ack(position) and cursor.mark_delete == -1
    assert cursor.ranges == [(0, 9)] and cursor.backlog == 1
    assert cursor.ack(0) and (cursor.mark_delete, cursor.ranges, cursor.ahead) == (9, [], {})
    assert not cursor.ack(0) and not cursor.ack_cumulative(9) and not cursor.ack(10)


@given(acked=st.lists(st.integers(0, 19), max_size=25))
def test_a_cursor_in_a_checkpoint_is_the_same_in_whatever_order_its_entries_were_acknowledged(acked):
    cursors = []
    for order in (acked, sorted(acked), sorted(acked, reverse=True)):
        cursor = Cursor(read_position=15, end=20)
        for position in order:
            cursor.ack(position)
        cursors.append(cursor)
    plain = json.dumps(cursors[0].to_json())
    assert [json.dumps(cursor.to_json()) for cursor in cursors] == [plain] * 3
    assert Cursor.from_json(json.loads(plain)) == cursors[0]
