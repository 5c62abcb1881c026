"""Sticky ranges as a person types them, and what would come of them: refused, covered, gaps and overlaps."""

from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from broker_core.errors import CommandError
from broker_core.events import Json
from broker_core.lab.pulsar.views.ranges import RANGES_MAX, check_ranges, ranges_from_text
from tests.core.lab.small import lab_of, order

RANGES = st.lists(st.tuples(st.integers(-99, 70_000), st.integers(-99, 70_000)), max_size=6)


@settings(max_examples=25)
@given(RANGES, st.sampled_from([", ", ";", "\n", " ,\n"]), st.sampled_from(["-", "..", " - ", " .. "]))
def test_typed_ranges_are_read_as_they_were_meant(
    ranges: list[tuple[int, int]], between: str, sign: str
) -> None:
    assert ranges_from_text(between.join(f"{first}{sign}{last}" for first, last in ranges)) == ranges


@pytest.mark.parametrize(
    "text", ["5", "5-", "-", "a-b", "0-9 10-19", "0—9", "0-1234567890", "0..9..12", "1.5-3", "０-９"]
)
def test_text_that_is_no_range_is_said_again_in_part(text: str) -> None:
    with pytest.raises(CommandError, match="must be ranges such as 0-16383, 32768-49151") as refused:
        ranges_from_text(f"0-9, {text}")
    assert refused.value.field == "ranges" and refused.value.reason.endswith(f": {text}")


def test_long_nonsense_is_cut_and_there_are_at_most_64_ranges() -> None:
    with pytest.raises(CommandError) as refused:
        ranges_from_text("x" * 900)
    assert refused.value.reason.endswith(f": {'x' * 32}")
    assert (
        len(ranges_from_text(",".join(["0-1"] * RANGES_MAX))) == RANGES_MAX
        and ranges_from_text(" ,, \n;") == []
    )
    with pytest.raises(CommandError, match="at most 64 ranges"):
        ranges_from_text(",".join(["0-1"] * (RANGES_MAX + 1)))


def panel_of(algorithm: str = "sticky", consumers: int = 2) -> Json:
    lab = lab_of("pulsar", algorithm=algorithm, consumers=consumers, seconds=1)
    panel: Json = lab.view()["lanes"]["pulsar"]["pulsar"]
    return panel


def test_two_consumers_share_the_space_and_each_may_keep_what_it_has() -> None:
    panel = panel_of()
    own = {name: [tuple(pair) for pair in known["ranges"]] for name, known in panel["consumers"].items()}
    for name, ranges in own.items():
        assert check_ranges(panel, name, ranges) == {
            "refused": None,
            "covered": 65_536,
            "space": 65_536,
            "gaps": [],
            "overlaps": [],
        }


def test_newcomer_that_wants_what_somebody_has_is_refused_with_whom_and_where() -> None:
    panel = panel_of()
    answer = check_ranges(panel, "c3", [(30_000, 40_000)])
    assert answer["refused"]["conflict"] in ("c1", "c2") and answer["refused"]["message"]
    assert sorted(answer["overlaps"]) == [[30_000, 32_767, "c1"], [32_768, 40_000, "c2"]]
    assert answer["gaps"] == [] and answer["covered"] == 65_536


def test_one_that_gives_a_part_up_leaves_a_gap() -> None:
    """The rule of 3.2 serves between two ranges of one consumer, so only what is outside of them all is a
    gap."""
    panel = panel_of()
    first, last = panel["consumers"]["c2"]["ranges"][0]
    answer = check_ranges(panel, "c2", [(first + 100, last)])
    assert (answer["refused"], answer["gaps"], answer["covered"]) == (
        None,
        [[first, first + 99]],
        65_536 - 100,
    )


@pytest.mark.parametrize(
    ("ranges", "own"),
    [
        ([(0, 9), (5, 12)], [[5, 9, ""]]),
        ([(5, 12), (0, 9)], [[5, 9, ""]]),
        ([(0, 9), (10, 12)], []),
        ([(0, 9), (9, 9)], [[9, 9, ""]]),
    ],
)
def test_ranges_that_overlap_one_another_are_told_as_its_own(
    ranges: list[tuple[int, int]], own: list[list[Any]]
) -> None:
    answer = check_ranges(panel_of(consumers=0), "c1", ranges)
    assert answer["overlaps"] == own and (answer["refused"] is None) == (not own)


@pytest.mark.parametrize(
    ("ranges", "is_refused"),
    [([], True), ([(5, 2)], True), ([(0, 65_536)], True), ([(-1, 5)], True), ([(0, 65_535)], False)],
)
def test_what_the_client_would_not_send_is_refused_and_what_is_left_is_told_as_gaps(
    ranges: list[tuple[int, int]], is_refused: bool
) -> None:
    answer = check_ranges(panel_of(consumers=0), "c1", ranges)
    assert (answer["refused"] is not None) == is_refused
    if not ranges:
        assert answer["gaps"] == [[0, 65_535]] and answer["covered"] == 0


def test_in_the_articles_notation_the_end_is_outside() -> None:
    panel = panel_of("sticky_document", consumers=0)
    answer = check_ranges(panel, "c1", [(0, 100)])
    assert answer["refused"] is None and answer["gaps"][0][0] == 100
    assert check_ranges(panel, "c1", [(0, 50), (50, 100)])["overlaps"] == []


def test_lane_without_sticky_ranges_has_nothing_to_check() -> None:
    for algorithm in ("consistent_hash", "shared"):
        with pytest.raises(CommandError, match="has no sticky ranges"):
            check_ranges(panel_of(algorithm), "c1", [(0, 9)])


def test_what_the_page_foresees_is_what_the_broker_says() -> None:
    lab = lab_of("pulsar", algorithm="sticky", consumers=2, seconds=1)
    panel = lab.view()["lanes"]["pulsar"]["pulsar"]
    for ranges in ([[40_000, 50_000]], [[0, 40_000]]):
        foreseen = check_ranges(panel, "c2", [(first, last) for first, last in ranges])
        told = order(lab, "pulsar_ranges", "c2", seconds=1, ranges=ranges)
        assert any("refused" in event["kind"] for event in told) == (foreseen["refused"] is not None)
