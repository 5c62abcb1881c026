"""Order of keys, record by record: a stretch that ends anywhere counts the same, and a checkpoint holds
records, not keys."""

from hypothesis import given, settings
from hypothesis import strategies as st

from broker_core.lab.shared.key_order import KeyOrder

FINISHED = st.lists(st.tuples(st.integers(0, 40), st.integers(-1, 5)), max_size=30)


def finish(order: KeyOrder, finished: list[tuple[int, int]]) -> KeyOrder:
    order.finish([record for record, _ in finished], [code for _, code in finished])
    return order


def test_record_finished_twice_in_a_row_is_a_duplicate_and_no_disorder() -> None:
    assert finish(KeyOrder(), [(4, 0), (4, 0)]).count == 0
    assert finish(KeyOrder(), [(4, 0), (6, 0), (4, 0), (4, 0)]).count == 2


def test_records_without_a_key_are_never_out_of_order_and_put_no_key_out_of_order() -> None:
    assert finish(KeyOrder(), [(9, -1), (3, -1), (3, 0), (4, 1)]).count == 0


def test_key_that_comes_later_finds_those_known_before_as_they_were() -> None:
    order = finish(KeyOrder(), [(7, 0), (8, -1)])
    finish(order, [(2, 3), (5, 0), (6, -1)])
    assert order.count == 1


@settings(max_examples=25)
@given(FINISHED, st.integers(0, 30))
def test_where_a_stretch_ends_does_not_matter(finished: list[tuple[int, int]], cut: int) -> None:
    whole, parts = finish(KeyOrder(), finished), finish(finish(KeyOrder(), finished[:cut]), finished[cut:])
    assert (whole.count, whole.to_json()) == (parts.count, parts.to_json())


@settings(max_examples=25)
@given(st.lists(st.integers(0, 200), max_size=30), FINISHED)
def test_order_from_a_checkpoint_counts_on_as_the_live_one(
    records: list[int], later: list[tuple[int, int]]
) -> None:
    """A record has one key: here its number modulo 7, 6 for none."""

    def codes_of(numbers: object) -> list[int]:
        return [-1 if number % 7 == 6 else number % 7 for number in numbers]  # type: ignore[attr-defined]

    live = KeyOrder()
    live.finish(records, codes_of(records))
    again = KeyOrder.from_json(live.to_json())
    again.know_keys(codes_of)
    more = [record for record, _ in later]
    for order in (live, again):
        order.finish(more, codes_of(more))
    assert again.count == live.count and again.to_json() == live.to_json()


def test_checkpoint_counts_nothing_twice_however_often_it_is_taken() -> None:
    order = finish(KeyOrder(), [(5, 0), (2, 0), (9, 1)])
    assert order.to_json() == order.to_json() == {"count": 1, "steps": [5, 4]}
