"""What is reported of a TubeMQ lane: a small lab for each thing that can happen, and the sentence that it
leaves."""

from typing import Any

import pytest

from broker_core.lab.lab import Lab
from broker_core.lab.tubemq.reading import TubeMqReading
from tests.core.lab.small import SECOND, kinds, lab_of, lane_of, order

Step = tuple[str, str | None, float, dict[str, Any]]
RESTARTED_S, TIMED_OUT_S = 25, 60
"""A restart takes its sleep, a start of up to 2 s and the clients' passes; the dead are forgotten after 30 s,
at a check that comes later."""


def step(kind: str, consumer: str | None = None, seconds: float = RESTARTED_S, **args: Any) -> Step:
    return kind, consumer, seconds, args


def lived(consumers: int, *steps: Step, seconds: float = RESTARTED_S) -> Lab:
    lab = lab_of("tubemq", consumers=consumers, rate=4, seconds=seconds, partitions=6)
    for kind, consumer, wait_s, args in steps:
        order(lab, kind, consumer, wait_s, **args)
    return lab


@pytest.mark.parametrize(
    ("consumers", "steps", "code", "params"),
    [
        (0, [step("join")], "first", {"to_count": 1}),
        (0, [step("join", seconds=0.1)], "starting", {"from_count": 0, "to_count": 1}),
        (2, [step("join")], "restarted", {"from_count": 2, "to_count": 3}),
        (2, [step("join", seconds=0.1)], "restarting", {"from_count": 2, "to_count": 3}),
        # A newcomer in place of one that crashed: there is no new count to speak of.
        (
            2,
            [step("crash", "c1"), step("join", seconds=0.1)],
            "restarting_same",
            {"from_count": 2, "to_count": 2},
        ),
        (
            2,
            [step("crash", "c1", TIMED_OUT_S), step("join")],
            "restarted_same",
            {"from_count": 2, "to_count": 2},
        ),
        (2, [step("leave", "c1")], "restarted", {"from_count": 2, "to_count": 1}),
        (1, [step("leave", "c1")], "empty", {"partitions": 6}),
        (2, [step("crash", "c1", 1)], "crash_pending", {"consumer": "c1", "partitions": 3}),
        (2, [step("crash", "c1", TIMED_OUT_S)], "crash_noticed", {"consumer": "c1", "partitions": 3}),
        (
            2,
            [step("crash", "c1", TIMED_OUT_S), step("rejoin", "c1")],
            "rejoined",
            {"consumer": "c1", "node_id": 0},
        ),
    ],
)
def test_sentence_after_each_change(
    consumers: int, steps: list[Step], code: str, params: dict[str, Any]
) -> None:
    sentence = lane_of(lived(consumers, *steps)).sentence
    assert sentence["code"] == f"tubemq.{code}" and params.items() <= sentence["params"].items()


def test_process_that_dies_before_the_master_knows_it_is_missed_by_nobody() -> None:
    lab = lived(1, step("join", seconds=0.1), step("crash", "c2", 0.1))
    assert (
        lane_of(lab).sentence["code"] == "tubemq.crash_unknown"
        and lane_of(lab).consumers["c2"].state == "gone"
    )
    assert lane_of(lab).crash_positions == {}


def test_partitions_that_wait_for_a_dead_client_are_as_many_as_it_had() -> None:
    lab = lived(3, step("crash", "c2", TIMED_OUT_S))
    lane = lane_of(lab)
    assert isinstance(lane.reads, TubeMqReading)
    assert (
        lane.sentence["params"]["partitions"] == len(lane.reads.notes.stopped) > 0
        and lane.consumers["c2"].state == "gone"
    )


def test_refusal_by_a_taken_node_id_names_its_holder() -> None:
    lab = lived(2, step("crash", "c1", 1), step("rejoin", "c1", 6))
    assert lane_of(lab).sentence["code"] == "tubemq.node_taken"
    assert (
        lane_of(lab).sentence["params"]["consumer"] == "c1"
        and lane_of(lab).sentence["params"]["holder"] == "c1"
    )


def test_pause_of_a_restart_is_on_the_bill_and_told_when_the_last_partition_is_read_again() -> None:
    lab = lived(2)
    told = order(lab, "join", seconds=RESTARTED_S)
    (resumed,) = [event for event in told if event["kind"] == "tubemq.group.partitions_resumed"]
    bill = lane_of(lab).ledger.bill
    assert bill is not None and resumed["data"]["pause_us"] == bill.pause_us > 2 * SECOND
    assert resumed["at_us"] - bill.pause_us <= resumed["data"]["paused_from_us"] <= resumed["at_us"]
    assert (
        lane_of(lab).sentence["params"]["pause_us"] == bill.pause_us
        and lane_of(lab).sentence["params"]["partitions_moved"] == bill.partitions_moved
    )


def test_paused_and_slow_consumers_are_told_as_in_every_model() -> None:
    lab = lived(2, step("pause", "c1", 1))
    assert lane_of(lab).sentence["code"] == "tubemq.paused"
    assert (
        "tubemq.consumer.slow" in kinds(order(lab, "slow", "c2")) and lane_of(lab).sentence["code"] == "slow"
    )
