"""The running bill on its own: what it takes from a bill, what it makes of finished records, and which
figures a model has."""

import pytest

from broker_core.lab.shared.bill import Bill
from broker_core.lab.shared.tally import Tally


def bill(position: int, keys_moved: int) -> Bill:
    one = Bill(position, "join", "c1", 0, None, None, None, {}, None, 0, 0, 0)
    one.keys_moved = keys_moved
    return one


def test_start_moves_nothing_neither_on_a_bill_that_is_over_nor_on_the_present_one() -> None:
    tally = Tally()
    tally.take_over(bill(0, 7))
    tally.take_over(bill(1, 3))
    tally.take_over(bill(2, 4))
    assert tally.keys_moved == 7
    assert tally.to_view(0, bill(0, 5), 0, True, None)["keys_moved"] == 7
    assert tally.to_view(0, bill(3, 5), 0, True, None)["keys_moved"] == 12
    assert tally.to_view(0, None, 0, True, None)["keys_moved"] == 7


def test_looking_takes_nothing_over() -> None:
    tally, present = Tally(), bill(1, 5)
    assert [tally.to_view(0, present, 0, True, None)["keys_moved"] for _ in range(2)] == [5, 5]


@pytest.mark.parametrize(
    ("keys_have_owners", "partitions", "figures"),
    [(True, 12, (0, 40, 4)), (True, None, (0, None, 4)), (False, None, (None, None, 4))],
)
def test_a_model_without_owners_has_no_moved_keys_and_one_without_partitions_no_sum(
    keys_have_owners: bool, partitions: int | None, figures: tuple[int | None, int | None, int]
) -> None:
    tally = Tally()
    tally.darkness.fold(10, 2, 10)
    view = tally.to_view(30, None, 6, keys_have_owners, partitions)
    assert (view["keys_moved"], view["dark_partition_us"], view["dark_us"]) == figures and view[
        "redelivered"
    ] == 6


def test_finished_records_are_folded_once_and_in_their_order() -> None:
    tally = Tally(finished=[4, 2, 9])
    tally.fold_finished(lambda records: [0 for _ in records])
    assert tally.finished == [] and tally.to_view(0, None, 0, True, None)["out_of_order"] == 1
    tally.finished.extend([8, 10])
    tally.fold_finished(lambda records: [0 for _ in records])
    assert tally.to_view(0, None, 0, True, None)["out_of_order"] == 2, "8 came after 9 of the stretch before"
