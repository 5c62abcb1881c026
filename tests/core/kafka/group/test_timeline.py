"""The map that remembers what is not below the high watermark, against the plain idea: a copy of the map at
the end of each append."""

from __future__ import annotations

from hypothesis import given, settings
from hypothesis import strategies as st

from broker_core.kafka.group.timeline import Timeline


def test_reader_sees_the_value_before_the_oldest_append_that_is_not_confirmed() -> None:
    line: Timeline[str, int] = Timeline()
    line.put("a", 1)
    line.seal(1)
    line.commit(1)
    line.put("a", 2)
    line.seal(2)
    line.put("a", 3)
    assert (line.get("a"), line.committed("a")) == (3, 1)
    line.commit(2)
    assert line.committed("a") == 2, "what no append has taken is not confirmed either"
    line.seal(4)
    line.commit(3)
    assert line.committed("a") == 2
    line.commit(4)
    assert line.committed("a") == 3 and line.layers == []


def test_several_changes_within_one_append_remember_the_value_before_the_first() -> None:
    line: Timeline[str, int] = Timeline()
    line.put("a", 1)
    line.put("a", 2)
    assert line.committed("a") is None
    line.undo()
    assert line.present == {} and line.open == {}


def test_removed_key_is_there_for_readers_and_stands_last() -> None:
    line: Timeline[str, int] = Timeline()
    for key in "ab":
        line.put(key, 1)
    line.seal(2)
    line.commit(2)
    line.remove("a")
    line.remove("nobody")
    line.put("c", 5)
    assert list(line.committed_keys()) == ["b", "a"] and list(line.present) == ["b", "c"]
    line.seal(3)
    line.commit(3)
    assert list(line.committed_keys()) == ["b", "c"]


def test_key_that_was_made_and_removed_in_one_append_was_never_there() -> None:
    line: Timeline[str, int] = Timeline()
    line.put("a", 1)
    line.remove("a")
    assert list(line.committed_keys()) == [] and line.committed("a") is None
    line.undo()
    assert line.present == {}


def test_append_of_nothing_leaves_no_layer() -> None:
    line: Timeline[str, int] = Timeline()
    line.seal(7)
    assert line.layers == []


STEP = st.one_of(
    st.tuples(st.just("put"), st.sampled_from("abc"), st.integers(0, 9)),
    st.tuples(st.just("remove"), st.sampled_from("abc"), st.just(0)),
    st.tuples(st.sampled_from(["seal", "undo"]), st.just(""), st.just(0)),
    st.tuples(st.just("commit"), st.just(""), st.integers(0, 12)),
)


@settings(max_examples=50, deadline=None)
@given(st.lists(STEP, max_size=30))
def test_law_readers_see_the_copy_of_the_last_append_that_is_confirmed(
    steps: list[tuple[str, str, int]],
) -> None:
    line: Timeline[str, int] = Timeline()
    copies: list[tuple[int, dict[str, int]]] = [(0, {})]
    now: dict[str, int] = {}
    end = confirmed = 0
    for kind, key, number in steps:
        match kind:
            case "put":
                line.put(key, number)
                now[key] = number
            case "remove":
                line.remove(key)
                now.pop(key, None)
            case "seal":
                end += 1
                line.seal(end)
                copies.append((end, dict(now)))
            case "undo":
                line.undo()
                now = dict(copies[-1][1])
            case _:
                confirmed = max(confirmed, min(number, end))
                line.commit(confirmed)
        (seen,) = [copy for at, copy in copies if at == confirmed]
        assert line.present == now
        assert {key: line.committed(key) for key in "abc"} == {key: seen.get(key) for key in "abc"}
        assert sorted(line.committed_keys()) == sorted(seen)
