"""Who is idle because there are more consumers than partitions, and who is idle for another reason."""

import pytest

from broker_core.lab.shared.idle import idle_view
from tests.core.lab.small import consumer, paper


def test_more_consumers_than_partitions_leave_some_idle() -> None:
    lane = paper(consumer("c1"), consumer("c2"), consumer("c3"), units={"0": "c1", "1": "c2"})
    assert idle_view(lane) == {"count": 1, "of": 3, "partitions": 2}


def test_where_everybody_has_one_there_is_nothing_to_say() -> None:
    assert idle_view(paper(consumer("c1"), units={"0": "c1", "1": "c1"})) is None


@pytest.mark.parametrize(
    ("state", "counted"),
    [("live", True), ("paused", True), ("crashed", True), ("gone", False), ("waiting", False)],
)
def test_one_that_is_gone_or_still_waits_to_be_let_in_is_idle_for_another_reason(
    state: str, counted: bool
) -> None:
    lane = paper(consumer("c1"), consumer("c2", state), units={"0": "c1"})
    assert idle_view(lane) == ({"count": 1, "of": 2, "partitions": 1} if counted else None)


def test_slow_one_counts_as_any_other() -> None:
    assert idle_view(paper(consumer("c1"), consumer("c2", service_us=900_000), units={"0": "c1"})) == {
        "count": 1,
        "of": 2,
        "partitions": 1,
    }


def test_while_partitions_are_still_handed_out_nobody_is_idle() -> None:
    assert idle_view(paper(consumer("c1"), units={"0": None}, is_settled=False)) is None


def test_model_without_partitions_has_nobody_idle_for_want_of_one() -> None:
    assert idle_view(paper(consumer("c1"))) is None


def test_partition_of_nobody_keeps_nobody_busy() -> None:
    assert idle_view(paper(consumer("c1"), units={"0": None, "1": None})) == {
        "count": 1,
        "of": 1,
        "partitions": 2,
    }
