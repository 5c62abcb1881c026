"""What a runner remembers, and in how many bytes."""

from hypothesis import given
from hypothesis import strategies as st

from dashboard.assignors.answers import Answers

KEYS = [bytes([number]) * 32 for number in range(6)]


@given(st.lists(st.tuples(st.sampled_from(KEYS), st.integers(0, 400)), max_size=40))
def test_it_never_holds_more_than_its_bytes_and_the_newest_stay(steps: list[tuple[bytes, int]]) -> None:
    answers, newest = Answers(1_000), dict[bytes, int]()
    for key, size in steps:
        answers.keep(key, b"x" * size)
        newest.pop(key, None)
        newest[key] = size
        held = {known for known in KEYS if answers._known.get(known) is not None}
        assert answers.bytes == sum(32 + newest[known] for known in held) <= 1_000
        assert held == set(list(newest)[-len(held) :]) and key in held


def test_who_is_asked_for_again_stays_longer() -> None:
    answers = Answers(1_000)
    for key in KEYS[:3]:
        answers.keep(key, b"x" * 200)
    assert answers.get(KEYS[0]) == b"x" * 200
    answers.keep(KEYS[3], b"x" * 400)
    assert answers.get(KEYS[0]) is not None and answers.get(KEYS[1]) is None
    answers.clear()
    assert answers.bytes == 0 and answers.get(KEYS[0]) is None
