"""A figure that counts more than the last command says so: in the lane, over the table, in the sentence, in
both languages."""

from typing import Any

import pytest

from broker_core.lab.lab import Lab
from dashboard.presentation import present
from dashboard.sentences import LANGUAGES, catalogue
from tests.core.lab.test_merged_changes import at, lab_of

WORDS = catalogue()
THREE_LEFT = {"en": "Since 0:20.0: c1, c2 and c3 left", "zh-hans": "0:20.0 起：c1、c2 和 c3 离开"}
BILL = {"en": "This bill. ", "zh-hans": "本账单："}


def three_leave() -> Lab:
    return at(at(at(lab_of(consumers=5), 20, "leave", "c1"), 20.2, "leave", "c2"), 20.4, "leave", "c3")


def crash_amid_a_join() -> Lab:
    return at(at(lab_of(), 20, "join"), 20.3, "crash", "c2")


def ten_join_and_one_leaves() -> Lab:
    return at(at(lab_of(), 20, "join", count=10), 20.3, "leave", "c2")


def lanes(lab: Lab, second: float, language: str = "en") -> dict[str, dict[str, Any]]:
    """The lanes by id, as the page writes them."""
    lab.advance_to(int(second * 1_000_000))
    return {lane["id"]: lane for lane in present(lab.view(), WORDS[language])["lanes"]}


@pytest.mark.parametrize("language", LANGUAGES)
def test_three_who_leave_within_one_rebalance_stand_under_the_figure_that_counts_them(language: str) -> None:
    shown = lanes(three_leave(), 60, language)
    for name in ("kafka", "tubemq"):
        assert shown[name]["slots"]["hero_covers"] == THREE_LEFT[language]
        assert shown[name]["twin"]["caption"] == BILL[language] + THREE_LEFT[language]
    assert (
        "c3" in shown["pulsar"]["slots"]["hero_covers"]
        and "c1" not in shown["pulsar"]["slots"]["hero_covers"]
    )


def test_a_rebalance_under_way_is_for_all_who_began_it() -> None:
    assert lanes(three_leave(), 20.5)["kafka"]["slots"]["sentence"].startswith(
        "Rebalance for c1, c2 and c3: "
    )
    assert lanes(ten_join_and_one_leaves(), 20.5)["kafka"]["slots"]["sentence"].startswith(
        "Rebalance for 11 changes: "
    )
    later = at(crash_amid_a_join(), 20.5, "join")
    assert lanes(later, 20.5)["kafka"]["slots"]["sentence"].startswith("Rebalance for 2 newcomers: ")


def test_changes_of_two_kinds_are_both_named() -> None:
    assert (
        lanes(ten_join_and_one_leaves(), 60)["tubemq"]["slots"]["hero_covers"]
        == "Since 0:20.0: 10 joined, c2 left"
    )
    kafka = lanes(crash_amid_a_join(), 40)["kafka"]["slots"]
    assert kafka["hero_note"].startswith("of keys have had no consumer for ")
    assert kafka["hero_covers"].startswith("Since 0:20.") and kafka["hero_covers"].endswith(
        ": c4 joined, c2 crashed"
    )


def test_nothing_is_covered_before_the_first_change() -> None:
    assert {lane["slots"]["hero_covers"] for lane in lanes(lab_of(), 10).values()} == {""}
    assert {lane["twin"]["caption"] for lane in lanes(lab_of(), 10).values()} == {""}
    assert {lane["slots"]["hero_covers"] for lane in lanes(at(lab_of(), 20, "pause", "c2"), 30).values()} == {
        "Since 0:20.0: c2 paused"
    }
