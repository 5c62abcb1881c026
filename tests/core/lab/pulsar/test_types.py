"""What is reported of a Pulsar lane in each subscription type: small labs, a change, and the sentence that it
leaves."""

from typing import Any

import pytest

from broker_core.lab.consumer import Consumer
from broker_core.lab.lab import Lab
from broker_core.lab.pulsar.sentences import others_of
from tests.core.lab.small import consumer, lab_of, lane_of, order, paper

Step = tuple[str, str | None, float, dict[str, Any]]
GIVEN_UP_S = 62


def step(name: str, who: str | None = None, seconds: float = 3, **args: Any) -> Step:
    return name, who, seconds, args


def lived(algorithm: str, consumers: int, *steps: Step, **lane: Any) -> Lab:
    lab = lab_of("pulsar", algorithm=algorithm, consumers=consumers, rate=4, seconds=3, **lane)
    for name, who, seconds, args in steps:
        order(lab, name, who, seconds, **args)
    return lab


@pytest.mark.parametrize(
    ("algorithm", "consumers", "steps", "code", "params"),
    [
        ("shared", 2, [step("join")], "shared.join", {"consumer": "c3"}),
        ("shared", 2, [step("join", count=2)], "shared.join_many", {"count": 2}),
        ("shared", 3, [step("leave", "c1")], None, {"consumer": "c1", "several": 1}),
        ("shared", 1, [step("leave", "c1")], "shared.leave_last", {}),
        (
            "shared",
            3,
            [step("crash", "c1", GIVEN_UP_S)],
            "shared.crash_noticed",
            {"consumer": "c1", "several": 1},
        ),
        (
            "shared",
            2,
            [step("crash", "c1", GIVEN_UP_S)],
            "shared.crash_noticed",
            {"several": 0, "other": "c2"},
        ),
        ("shared", 1, [step("crash", "c1", GIVEN_UP_S)], "crash_noticed_last", {"consumer": "c1"}),
        ("shared", 2, [step("pause", "c1")], "paused", {}),
        ("failover", 1, [step("leave", "c1")], "failover.leave_last", {}),
        ("failover", 2, [step("crash", "c1", GIVEN_UP_S)], "failover.crash_noticed", {"consumer": "c1"}),
        ("failover", 1, [step("crash", "c1", GIVEN_UP_S)], "failover.crash_noticed_last", {}),
        ("exclusive", 0, [step("join")], "exclusive.join", {"consumer": "c1", "count": 1}),
        ("exclusive", 1, [step("join")], "refused", {"consumer": "c2", "count": 1}),
        (
            "exclusive",
            1,
            [step("join", count=3)],
            "refused_many",
            {"count": 3, "refused": ["c2", "c3", "c4"]},
        ),
        ("exclusive", 1, [step("leave", "c1")], "exclusive.leave", {"consumer": "c1"}),
    ],
)
def test_sentence_after_each_change(
    algorithm: str, consumers: int, steps: list[Step], code: str | None, params: dict[str, Any]
) -> None:
    sentence = lane_of(lived(algorithm, consumers, *steps)).sentence
    assert code is None or sentence["code"] == f"pulsar.{code}"
    assert params.items() <= sentence["params"].items()


@pytest.mark.parametrize("kind", ["shared", "failover", "exclusive"])
def test_pause_is_told_as_the_type_makes_it(kind: str) -> None:
    lane = lane_of(lived(kind, 1, step("pause", "c1")))
    assert (
        lane.sentence["code"] == "pulsar.paused"
        and lane.narrator.sentence_now(lane)["code"] == f"pulsar.{kind}.paused"
    )


@pytest.mark.parametrize("partitions", [0, 1, 3])
def test_newcomer_to_failover_stands_by_unless_a_partition_is_its_own(partitions: int) -> None:
    lane = lane_of(lived("failover", 2, step("join"), partitions=partitions))
    active = list((lane.reads.units() or {}).values()).count("c3")
    assert lane.sentence["params"]["active"] == active
    assert lane.sentence["code"] == ("pulsar.failover.join" if active else "pulsar.failover.join_standby")


@pytest.mark.parametrize("is_active", [True, False])
def test_one_who_leaves_failover_without_a_partition_stood_by(is_active: bool) -> None:
    lab = lived("failover", 2, partitions=1)
    active = set((lane_of(lab).reads.units() or {}).values())
    leaver = next(name for name in ("c1", "c2") if (name in active) == is_active)
    order(lab, "leave", leaver, seconds=3)
    assert lane_of(lab).sentence["code"] == ("pulsar.failover.leave" if is_active else "pulsar.standby_left")


def test_refusals_of_one_change_are_told_together_and_those_of_a_later_change_anew() -> None:
    lab = lived("exclusive", 1, step("join", count=2), step("join"))
    assert (
        lane_of(lab).sentence["params"]["refused"] == ["c4"]
        and lane_of(lab).sentence["code"] == "pulsar.refused"
    )


def test_one_who_is_refused_on_every_partition_is_named_once() -> None:
    lab = lived("exclusive", 1, step("join"), partitions=3)
    assert lane_of(lab).sentence["params"]["refused"] == ["c2"]


@pytest.mark.parametrize(
    ("deduplication", "code"), [(False, "pulsar.sent_again"), (True, "pulsar.sent_again_dropped")]
)
def test_what_a_producer_sends_again_is_kept_twice_unless_the_broker_drops_it(
    deduplication: bool, code: str
) -> None:
    lab = lived(
        "shared", 1, step("pulsar_lose_receipts", seconds=8), receipts=True, deduplication=deduplication
    )
    assert lane_of(lab).sentence["code"] == code and lane_of(lab).sentence["params"]["count"] > 0


def test_unsubscribe_is_refused_while_another_one_is_connected_and_else_takes_the_cursor() -> None:
    assert (
        lane_of(lived("shared", 2, step("pulsar_unsubscribe", "c1"))).sentence["code"]
        == "pulsar.unsubscribe_refused"
    )
    assert (
        lane_of(lived("shared", 1, step("pulsar_unsubscribe", "c1"))).sentence["code"]
        == "pulsar.unsubscribed"
    )


@pytest.mark.parametrize(
    ("others", "expected"),
    [
        ([], {"several": 1, "other": ""}),
        ([("c2", "live")], {"several": 0, "other": "c2"}),
        ([("c2", "paused")], {"several": 0, "other": "c2"}),
        ([("c2", "live"), ("c3", "live")], {"several": 1, "other": ""}),
        ([("c2", "crashed"), ("c3", "live")], {"several": 0, "other": "c3"}),
        ([("c2", "gone")], {"several": 1, "other": ""}),
    ],
)
def test_heir_is_named_where_it_is_the_only_one_alive(
    others: list[tuple[str, str]], expected: dict[str, Any]
) -> None:
    rows: list[Consumer] = [consumer("c1"), *(consumer(name, state) for name, state in others)]
    assert others_of(paper(*rows), "c1") == expected
