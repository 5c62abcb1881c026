"""What the page says at moments within a change: words, figures and tables of one frame, the same from server
and browser."""

import json
import re
from pathlib import Path
from typing import Any

import pytest

from broker_core.lab.lab import Lab
from broker_core.lab.scenario import scenario_from_json
from dashboard.presentation import present
from dashboard.sentences import LANGUAGES, catalogue
from tests.core.lab.lives import lanes
from tests.dashboard.stored_view import told

ROOT = Path(__file__).resolve().parents[2]
SECOND = 1_000_000
WORDS = catalogue()
PLACES = re.compile(r"\{(\w+)")
TWO_LINES = 88  # letters, at the width of a lane on a page of 1440
KAFKA = {"lanes": [{"model": "kafka"}]}


def lab_after(
    scenario: dict[str, Any], *orders: tuple[float, str, str | None, dict[str, Any]], until_s: float
) -> dict[str, Any]:
    """The view at `until_s` of a lab that was given these orders, each (virtual second, kind, consumer,
    args)."""
    lab = Lab(scenario_from_json(scenario))
    for position, (at_s, kind, consumer, args) in enumerate(orders, start=1):
        lab.advance_to(round(at_s * SECOND))
        lab.submit(
            {
                "command_id": f"x{position}",
                "kind": kind,
                "lane": "all",
                "consumer": consumer,
                "args": args,
                "position": position,
            }
        )
    lab.advance_to(round(until_s * SECOND))
    return lab.view()


def shown(view: dict[str, Any], language: str = "en") -> dict[str, Any]:
    return present(view, WORDS[language])


def kafka_says(algorithm: str, after_s: float) -> tuple[str, str, int]:
    """Sentence, pause figure and hatched partitions so many seconds after a join at 20 s."""
    scenario = {"lanes": [{"model": "kafka", "algorithm": algorithm}]}
    view = lab_after(scenario, (20, "join", None, {"count": 1}), until_s=20 + after_s)
    lane = shown(view)["lanes"][0]
    pause = next(figure["value"] for figure in lane["figures"] if figure["label"] == "pause")
    return (
        lane["slots"]["sentence"],
        pause.replace("\u202f", " "),
        sum(p["stopped"] for p in view["lanes"]["kafka"]["picture"]["partitions"].values()),
    )


def test_an_eager_rebalance_is_told_moment_by_moment() -> None:
    announced, *joining, over = [kafka_says("sticky", after_s) for after_s in (0.31, 1.33, 1.37, 1.41, 5.0)]
    assert announced == (
        "Rebalance for c4: members learn by heartbeat; no partition is paused yet.",
        "0 s",
        0,
    )
    assert {(sentence, hatched) for sentence, _, hatched in joining} == {
        ("Rebalance for c4: 3 of 4 members have joined; 8 of 12 partitions are paused.", 8)
    }
    assert (
        over[0].replace("\u202f", " ")
        == f"12 of 12 partitions were paused for up to {over[1]}; 3 changed hands."
    )


def test_a_cooperative_rebalance_counts_what_the_picture_hatches() -> None:
    *joining, over = [
        kafka_says("cooperative-sticky", after_s) for after_s in (0.31, 1.31, 1.55, 1.62, 2.51, 3.51, 12.0)
    ]
    for sentence, pause, hatched in joining:
        assert (f"only {hatched} partitions are paused" if hatched else "no partition is paused") in sentence
        assert (pause == "0 s") == (hatched == 0)
    assert {hatched for _, _, hatched in joining} == {0, 3}
    assert over[0].startswith("Only what moves was paused: 3 partitions for up to ") and over[2] == 0


@pytest.mark.parametrize("language", LANGUAGES)
def test_consumers_without_a_partition_are_counted_with_the_reason(language: str) -> None:
    lanes = {lane["id"]: lane for lane in shown(lab_after({"consumers": 34}, until_s=30), language)["lanes"]}
    said = {name: lane["slots"]["idle"] for name, lane in lanes.items()}
    if language == "en":
        assert (
            said["kafka"] == "22 of 34 members have no partition: 12 partitions keep at most 12 members busy."
        )
        assert said["tubemq"] == "25 of 34 clients have no partition: none of the 12 maps to their nodeId."
    assert "22" in said["kafka"] and "25" in said["tubemq"] and not said["pulsar"] + said["rabbitmq"]


@pytest.mark.parametrize("language", LANGUAGES)
def test_kafkas_table_has_position_and_committed_and_both_lags_by_name(language: str) -> None:
    view = lab_after(KAFKA, (10, "crash", "c2", {}), until_s=13)
    table = shown(view, language)["lanes"][0]["twin"]
    words, parts = WORDS[language], view["lanes"]["kafka"]["picture"]["partitions"]
    assert table["head"][2:8] == [
        words[f"twin.{name}"]
        for name in ("hw", "leo", "position", "records_lag", "committed", "committed_lag")
    ]
    for row in table["rows"]:
        hw, leo, position, lag, committed, committed_lag = (
            int(text.replace("\u202f", "")) for text in row[2:8]
        )
        assert (hw - position, hw - committed) == (lag, committed_lag)
        assert hw <= leo and parts[row[0]]["lag"] == leo - position
        assert (row[1] != parts[row[0]]["owner"]) == parts[row[0]]["stopped"]
    assert sum(part["stopped"] for part in parts.values()) == 4


def test_after_a_slow_consumer_every_lane_has_figures_of_that_change() -> None:
    view = lab_after({}, (10, "join", None, {"count": 1}), (20, "slow", "c2", {"rate": 2}), until_s=25)
    texts = shown(view)
    assert told(texts)[0] == "c2 is set to 2 records a second. Who waits?"
    assert {lane["bill"]["position"] for lane in view["lanes"].values()} == {2}
    assert {lane["bill"]["keys_moved"] for lane in view["lanes"].values()} == {0}
    assert view["lanes"]["pulsar"]["picture"]["before"] == view["lanes"]["pulsar"]["picture"]["now"]


def test_pulsars_chain_and_sentence_name_one_number_for_what_a_dead_consumer_had() -> None:
    view = lab_after({"consumer_rate": 5}, (30, "crash", "c2", {}), until_s=100)
    lane = view["lanes"]["pulsar"]
    (gone,) = [event for event in lane["why"] if event["kind"] == "pulsar.consumer.disconnected"]
    assert lane["sentence"]["params"]["unacked"] == gone["inputs"]["unacked"] > 0
    assert gone["data"]["redelivered"] <= gone["inputs"]["unacked"]


@pytest.mark.xdist_group("lives")  # lived once, in one process
def test_every_place_of_a_sentence_is_filled() -> None:
    said = {(lane["sentence"]["code"], frozenset(lane["sentence"]["params"])) for _, lane in lanes()}
    for code, params in said:
        written = {"left_us", "algorithm"} | ({"who"} if "consumer" in params else set())  # by the presenter
        for text in (
            WORDS["en"][code],
            WORDS["en"].get(f"{code}_many", ""),
            WORDS["en"].get(f"{code}_idle", ""),
        ):
            assert set(PLACES.findall(text)) - params <= written, code


@pytest.mark.xdist_group("lives")
def test_every_sentence_of_a_lane_fits_its_two_lines_with_the_question_behind_it() -> None:
    told = {json.dumps([lane["sentence"], lane["algorithm"]]): (view, lane) for view, lane in lanes()}
    said = {present_sentence(view, lane) for view, lane in told.values()}
    assert [text for text in said if len(text) > TWO_LINES] == []


def present_sentence(view: dict[str, Any], lane: dict[str, Any]) -> str:
    (shown_lane,) = present(
        {**view, "lanes": {lane["model"]: lane}, "lane_order": [lane["model"]]}, WORDS["en"]
    )["lanes"]
    return str(shown_lane["slots"]["sentence"])
