"""What the page says of a lab's story, lane by lane, after what was ordered."""

from typing import Any

import pytest

from broker_core.lab.lab import Lab
from broker_core.lab.scenario import scenario_from_json
from dashboard.presentation import present
from dashboard.sentences import LANGUAGES
from tests.dashboard import stored_view

TWO_LINES = 88  # letters, at the width of a lane on a page of 1440


IN_ONE_LANE: list[tuple[dict[str, Any], str, str]] = [
    (
        {"kind": "cluster_crash", "args": {"broker": 2}},
        "Kafka: Broker 2 crashed. Who leads its partitions now?",
        "Kafka：Broker 2 崩溃。它的分区现在由谁领导？",
    ),
    (
        {"kind": "cluster_add_partitions", "args": {"topic": "flights", "count": 14}},
        "Kafka: Topic flights now has 14 partitions.",
        "Kafka：主题 flights 现有 14 个分区。",
    ),
    (
        {"kind": "group_freeze", "consumer": "c2"},
        "Kafka: c2 is frozen by a long GC pause: no polls, no heartbeats.",
        "Kafka：c2 被长时间 GC 停顿冻结：不 poll，也不发心跳。",
    ),
    ({"kind": "crash", "consumer": "c2"}, "c2 crashed, in Kafka only.", "c2 崩溃，只在 Kafka。"),
    ({"kind": "slow", "consumer": "c2"}, "c2 slowed down, in Kafka only.", "c2 变慢，只在 Kafka。"),
    ({"kind": "join", "args": {"count": 3}}, "3 joined, in Kafka only.", "3 个消费者加入，只在 Kafka。"),
]


@pytest.mark.parametrize(("order", "english", "chinese"), IN_ONE_LANE)
def test_the_caption_of_an_order_in_one_lane_is_a_sentence(
    order: dict[str, Any], english: str, chinese: str, words: dict[str, Any]
) -> None:
    lab = Lab(scenario_from_json({}))
    lab.advance_to(20_000_000)
    lab.submit({"command_id": "c", "lane": "kafka", "consumer": None, "args": {}, **order})
    assert [stored_view.told(present(lab.view(), words[language]))[0] for language in ("en", "zh-hans")] == [
        english,
        chinese,
    ]


class Told:
    """A lab's story and what the page says of it, lane by lane."""

    def __init__(self, words: dict[str, str], **scenario: Any) -> None:
        self.lab, self.words = Lab(scenario_from_json(scenario)), words

    def do(
        self, second: int, kind: str, consumer: str | None = None, lane: str = "all", **args: Any
    ) -> "Told":
        self.lab.advance_to(second * 1_000_000)
        self.lab.submit(
            {
                "command_id": f"t{self.lab.position}",
                "kind": kind,
                "lane": lane,
                "consumer": consumer,
                "args": args,
            }
        )
        return self

    def lanes(self, second: int) -> dict[str, dict[str, Any]]:
        self.lab.advance_to(second * 1_000_000)
        return {lane["id"]: lane for lane in present(self.lab.view(), self.words)["lanes"]}

    def sentences(self, second: int) -> dict[str, str]:
        said = {
            name: lane["slots"]["sentence"].replace("\u202f", " ")
            for name, lane in self.lanes(second).items()
        }
        assert [text for text in said.values() if len(text) > TWO_LINES] == []
        return said


def test_what_was_dark_at_the_start_is_explained_until_something_changes(
    words: dict[str, dict[str, str]],
) -> None:
    told = Told(words["en"])
    lanes, said = told.lanes(30), told.sentences(30)
    dark = {
        name: figure["value"].replace("\u202f", " ")
        for name, lane in lanes.items()
        for figure in lane["tally"]
        if figure["term"] == "dark"
    }
    assert dark["pulsar"] == dark["rabbitmq"] == "0 s" and "0 s" not in (dark["kafka"], dark["tubemq"])
    for name, text in said.items():
        rest = (
            ""
            if dark[name] == "0 s"
            else f" During start-up partitions were dark for {dark[name]} on average."
        )
        assert text == f"Nothing has changed yet.{rest}"


def test_to_remove_the_row_of_who_is_gone_is_no_leaving(words: dict[str, dict[str, str]]) -> None:
    def caption(lab: Lab) -> str:
        said: str = stored_view.told(present(lab.view(), words["en"]))[0]
        return said

    told = Told(words["en"]).do(20, "crash", "c1").do(21, "crash", "c2").do(22, "crash", "c3")
    assert caption(told.do(300, "leave", "c1").lab) == "c1 was already gone: only its row is removed."
    assert (
        caption(told.do(301, "leave", "c2", lane="kafka").lab)
        == "Kafka: c2 was already gone: only its row is removed."
    )
    silent = Told(words["en"]).do(20, "crash", "c1").do(21, "leave", "c1")
    assert caption(silent.lab) == "c1 left. Four ways to close the gap."


def test_a_second_resume_gives_the_full_speed_back(words: dict[str, dict[str, str]]) -> None:
    told = Told(words["en"]).do(20, "slow", "c1").do(25, "pause", "c1")
    said = []
    for second in (30, 35):
        shown = present(told.do(second, "resume", "c1").lab.view(), words["en"])
        said.append((stored_view.told(shown)[0], {lane["slots"]["hero_covers"] for lane in shown["lanes"]}))
    assert said == [
        ("c1 resumed.", {"Since 0:30.0: c1 resumed"}),
        ("c1 works at full speed again.", {"Since 0:35.0: c1 got its full speed back"}),
    ]
    alone = present(told.do(40, "slow", "c1").do(45, "resume", "c1", lane="kafka").lab.view(), words["en"])
    assert stored_view.told(alone)[0] == "c1 got its full speed back, in Kafka only."
    ticks = list(told.lab.view()["timeline"].values())
    assert ["full_speed" in tick for tick in ticks if tick["kind"] == "resume"] == [False, True, True]


@pytest.mark.parametrize("language", LANGUAGES)
def test_after_a_broker_crashed_it_is_not_said_that_nothing_has_changed(
    language: str, words: dict[str, dict[str, str]]
) -> None:
    lanes = [{"model": "kafka"}, {"model": "kafka", "id": "other"}]
    said = Told(words[language], lanes=lanes).do(20, "cluster_crash", lane="kafka", broker=2).sentences(30)
    assert said["kafka"] == words[language]["none_cluster"] and said["other"].startswith(
        words[language]["none"]
    )
    lanes = [*lanes, {"model": "tubemq", "id": "alone"}, {"model": "pulsar"}]
    said = Told(words[language], lanes=lanes).do(20, "cluster_crash", broker=2).sentences(30)
    assert said["kafka"] == said["other"] == words[language]["none_cluster"]
    assert all(said[lane].startswith(words[language]["none"]) for lane in ("alone", "pulsar"))


def test_when_the_last_one_leaves_nobody_is_said_to_take_over(words: dict[str, dict[str, str]]) -> None:
    told = Told(words["en"], consumers=1).do(20, "leave", "c1")
    lanes = told.lanes(30)
    said = told.sentences(30)
    assert (
        "c1, the last one, left" in said["pulsar"]
        and "neighbours" not in said["pulsar"]
        and "others" not in said["pulsar"]
    )
    assert said["kafka"] == "c1 left: the group has no members, all 12 partitions wait."
    assert said["tubemq"] == "sourceCount 0: all clients stopped, the 12 partitions wait."
    assert said["rabbitmq"].startswith("c1, the last one, left")
    figures = {
        (figure["term"], figure["value"])
        for lane in lanes.values()
        for figure in lane["figures"]
        if figure["term"] == "redelivered"
    }
    assert figures == {("redelivered", "0")}
    assert [lanes[name]["slots"]["hero"] for name in ("pulsar", "kafka", "tubemq")] == ["100\u202f%"] * 3
    assert {
        lane["slots"]["hero_note"].split(":")[-1].replace("\u202f", " ").strip() for lane in lanes.values()
    } == {"no consumer for 10 s"}


FIRST_TO_JOIN = {
    1: ("is the only consumer", "is the only consumer"),
    10: ("The 10 newcomers share every key", "The 10 newcomers take what waits in the queue"),
}


def test_who_joins_an_empty_lane_finds_no_others(words: dict[str, dict[str, str]]) -> None:
    for count in FIRST_TO_JOIN:
        told = Told(words["en"], consumers=1).do(20, "leave", "c1").do(25, "join", count=count)
        said = told.sentences(60)
        assert not [text for text in said.values() if "others" in text or "Nothing to move" in text]
        assert "group started" in said["tubemq"]
        pulsar, rabbitmq = FIRST_TO_JOIN[count]
        assert pulsar in said["pulsar"] and rabbitmq in said["rabbitmq"]
        lanes = told.lanes(60)
        assert [lanes[name]["slots"]["hero"] for name in ("pulsar", "kafka", "tubemq")] == ["100\u202f%"] * 3
        figures = [figure for name in ("kafka", "tubemq") for figure in lanes[name]["figures"]]
        assert [figure["value"] for figure in figures if figure["term"] == "partitions"] == ["12", "12"]


@pytest.mark.parametrize("algorithm", ["consistent_hash", "sticky"])
def test_when_the_last_one_crashes_what_is_noticed_goes_to_nobody(
    algorithm: str, words: dict[str, dict[str, str]]
) -> None:
    told = Told(
        words["en"],
        consumers=1,
        lanes=[
            {"model": "pulsar", "algorithm": algorithm},
            {"model": "kafka", "algorithm": "range"},
            {"model": "tubemq", "algorithm": "modulo"},
            {"model": "rabbitmq", "algorithm": "prefetch_5"},
        ],
    )
    said = told.do(20, "crash", "c1").sentences(400)
    assert not [
        text for text in said.values() if "others" in text or "redelivered" in text or "read again" in text
    ]
    assert [text for text in said.values() if "wait" in text or "unregistered until" in text] == list(
        said.values()
    )
    assert {
        figure["value"]
        for lane in told.lanes(400).values()
        for figure in lane["figures"]
        if figure["term"] == "redelivered"
    } == {"0"}


def test_who_was_given_up_long_ago_leaves_without_a_trace(words: dict[str, dict[str, str]]) -> None:
    said = Told(words["en"]).do(20, "crash", "c2").do(300, "leave", "c2").sentences(320)
    assert [said[name] for name in ("pulsar", "kafka", "rabbitmq")] == [
        "c2 had already been removed: nothing else changes."
    ] * 3


@pytest.mark.parametrize("language", LANGUAGES)
def test_ten_who_joined_stay_ten_when_any_lane_switches_its_rule(
    language: str, words: dict[str, dict[str, str]]
) -> None:
    told = Told(words[language]).do(12, "join", count=10)
    before = told.sentences(40)
    told.do(40, "set_algorithm", lane="kafka", algorithm="sticky").do(
        40, "set_algorithm", lane="rabbitmq", algorithm="prefetch_1"
    )
    after = told.sentences(40)
    assert [after[name] for name in ("pulsar", "tubemq", "rabbitmq")] == [
        before[name] for name in ("pulsar", "tubemq", "rabbitmq")
    ]
    told.do(40, "set_algorithm", lane="pulsar", algorithm="auto_split").do(40, "slow", "c1", rate=2)
    assert (
        "c4" not in after["pulsar"] + after["rabbitmq"]
        and "10" in after["pulsar"]
        and "10" in after["rabbitmq"]
    )


def test_the_running_bill_stands_in_each_lane_with_its_terms(words: dict[str, dict[str, str]]) -> None:
    lanes = Told(words["en"]).do(20, "crash", "c2").lanes(400)
    assert {tuple(item["term"] for item in lane["tally"]) for lane in lanes.values()} == {
        ("keys_moved", "dark", "redelivered", "out_of_order")
    }
    assert lanes["rabbitmq"]["tally"][0]["value"] == "–"
    assert lanes["tubemq"]["slots"]["hero_note"].startswith("of keys have had no consumer for 6")
    assert lanes["kafka"]["slots"]["hero_note"].startswith("of keys had no consumer for 4")


@pytest.mark.parametrize(
    ("kind", "args", "english", "chinese"),
    [
        (
            "cluster_slow_disk",
            {"broker": 2, "write_us": 30_000},
            "The disk of broker 2 is slowed to 30 ms per write.",
            "Broker 2 的磁盘变慢：每次写入 30 毫秒。",
        ),
        (
            "cluster_slow_disk",
            {"broker": 2, "write_us": 0},
            "The disk of broker 2 is fast again.",
            "Broker 2 的磁盘恢复正常速度。",
        ),
        (
            "cluster_skew_clock",
            {"broker": 1, "skew_ms": 40},
            "The clock of broker 1 is set 40 ms ahead.",
            "Broker 1 的时钟调快了 40 毫秒。",
        ),
        (
            "cluster_skew_clock",
            {"broker": 1, "skew_ms": -40},
            "The clock of broker 1 is set 40 ms behind.",
            "Broker 1 的时钟调慢了 40 毫秒。",
        ),
        (
            "cluster_skew_clock",
            {"broker": 1, "skew_ms": 0},
            "The clock of broker 1 is right again.",
            "Broker 1 的时钟已校准。",
        ),
        (
            "cluster_slow_link",
            {"one": "broker-2", "other": "broker-3", "delay_us": 200_000},
            "The link between broker-2 and broker-3 is slowed to 0.2 s.",
            "broker-2 与 broker-3 之间的链路变慢：单程 0.2 秒。",
        ),
        (
            "cluster_slow_link",
            {"one": "broker-2", "other": "broker-3"},
            "The link between broker-2 and broker-3 is fast again.",
            "broker-2 与 broker-3 之间的链路恢复正常速度。",
        ),
        (
            "cluster_cut_link",
            {"one": "broker-2", "other": "broker-3", "one_way": True},
            "The link between broker-2 and broker-3 is cut one way: nothing from broker-2 arrives.",
            "broker-2 与 broker-3 之间的链路单向断开：broker-2 发出的消息都无法到达。",
        ),
    ],
)
def test_caption_of_an_order_for_a_cluster_says_by_how_much_and_which_way(
    kind: str, args: dict[str, Any], english: str, chinese: str, words: dict[str, dict[str, str]]
) -> None:
    lab = Told(words["en"], lanes=[{"model": "kafka"}, {"model": "rabbitmq"}]).do(2, kind, **args).lab
    said = [
        stored_view.told(present(lab.view(), words[language]))[0].replace("\u202f", " ").replace("\xa0", " ")
        for language in ("en", "zh-hans")
    ]
    assert said == [english, chinese]
