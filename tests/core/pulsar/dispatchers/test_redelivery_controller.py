"""A replay set beside a plain dict of the same positions: whatever comes and goes, and in which order, both
say the same."""

from hypothesis import given, settings
from hypothesis import strategies as st

from broker_core.pulsar.dispatchers.redelivery_controller import ReplaySet

MAX = 60
steps = st.lists(st.one_of(
    st.tuples(st.just("add"), st.integers(0, MAX), st.none() | st.integers(0, 3)),
    st.tuples(st.just("append"), st.integers(1, 9), st.none() | st.integers(0, 3)),
    st.tuples(st.just("remove"), st.integers(1, 9), st.integers(1, 4)),
    st.tuples(st.just("clear"), st.just(0), st.just(0)),
), max_size=60)  # fmt: skip


def hash_of(position: int) -> int:
    """Of its entry: what most positions of a topic block."""
    return position % 3


@settings(max_examples=300, deadline=None)
@given(steps, st.booleans())
def test_it_is_the_set_of_positions_that_wait_with_the_hash_that_each_had_first(order, blocks):
    replay, plain = ReplaySet(blocks=blocks), {}
    for what, number, other in order:
        match what:
            case "add":
                replay.add(number, other)
                plain[number] = other if plain.get(number) is None else plain[number]
            case "append":
                for position in range(max(plain, default=-1) + 1, max(plain, default=-1) + 1 + number):
                    replay.add(position, other)
                    plain[position] = other
            case "remove":  # some of the first, as a read does
                gone = sorted(plain)[: number * other : other]
                replay.remove(reversed(gone) if number % 2 else gone)
                for position in gone:
                    del plain[position]
            case "clear":
                replay.clear()
                plain.clear()
        positions = sorted(plain)
        hashes = [hash32 for hash32 in plain.values() if hash32 is not None and blocks]
        assert replay.positions == list(replay) == positions and len(replay) == len(plain)
        assert replay.first(3) == positions[:3]
        assert replay.counts == {hash32: hashes.count(hash32) for hash32 in hashes}
        assert [replay.has_hash([hash32, 9]) for hash32 in range(4)] == [
            hash32 in hashes for hash32 in range(4)
        ]
        assert all((position in replay) == (position in plain) for position in range(MAX))
        again = ReplaySet(blocks=blocks)
        again.restore(replay.to_json(hash_of), hash_of)
        assert again.to_json(hash_of) == replay.to_json(hash_of) and again.counts == replay.counts
        assert (again.positions, again.waiting) == (replay.positions, replay.waiting)


def test_taking_from_the_front_moves_nothing_that_is_behind() -> None:
    replay = ReplaySet()
    for position in range(100):
        replay.add(position)
    replay.remove(range(0, 20, 2))
    assert replay.first(12) == [*range(1, 20, 2), 20, 21] and len(replay) == 90
    replay.add(4)
    assert replay.first(3) == [1, 3, 4], "one from before the front finds its place"
