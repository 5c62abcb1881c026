"""What is read of a RabbitMQ lane's nodes: who holds what, what waits at which place, and the rates that
stand for shares."""

from typing import Any

import pytest

from broker_core.errors import InvariantError
from broker_core.lab.lab import Lab
from broker_core.lab.rabbitmq.reading import IN_FLIGHT_SHOWN, RabbitMqReading
from tests.core.lab.small import SECOND, lab_of, lane_of, order


def reads_of(lab: Lab) -> RabbitMqReading:
    reads = lane_of(lab).reads
    assert isinstance(reads, RabbitMqReading)
    return reads


def busy(consumers: int = 2, seconds: float = 6, **options: Any) -> Lab:
    """More records than the consumers finish."""
    return lab_of("rabbitmq", consumers=consumers, rate=30, consumer_rate=2, seconds=seconds, **options)


def test_share_of_a_consumer_is_what_it_finished_in_the_last_ten_seconds_and_in_this_one() -> None:
    lab = lab_of("rabbitmq", consumers=2, rate=10, seconds=15.5)
    lane = lane_of(lab)
    order(lab, "slow", "c1", rate=1, seconds=2)
    for name, consumer in lane.consumers.items():
        assert lane.reads.weights()[name] == consumer.acked_between(7, 18) > 0


def test_each_record_is_ready_in_somebodys_hands_or_done() -> None:
    lab = busy(3)
    lane, reads = lane_of(lab), reads_of(lab)
    queue = reads.queue()
    held = sum(lane.reads.held(consumer) for consumer in lane.consumers.values())
    assert held == reads.unacked() == 15 and queue.ready > 0
    assert (
        lane.reads.lag() == lab.record_count - queue.acked
        and queue.ready + held + queue.acked == queue.published
    )


def test_picture_shows_the_head_of_the_queue_and_what_each_has_in_its_order() -> None:
    lab = busy(2, algorithm="prefetch_unlimited")
    picture = lane_of(lab).reads.picture()
    assert (picture["ready"], picture["head"], picture["prefetch"], picture["name"]) == (0, [], 0, "records")
    assert all(len(rows) == IN_FLIGHT_SHOWN for rows in picture["in_flight"].values()) and set(
        picture["in_flight"]
    ) == {"c1", "c2"}
    lab = busy(1)
    picture = lane_of(lab).reads.picture()
    held, head = (
        [entry["record"] for entry in picture["in_flight"]["c1"]],
        [entry["record"] for entry in picture["head"]],
    )
    assert held == list(range(held[0], held[0] + 5)) and head == list(range(held[-1] + 1, held[-1] + 13))


def test_record_is_routed_to_who_holds_it_to_its_place_in_the_queue_or_to_nobody_any_more() -> None:
    lab = busy(1)
    lane = lane_of(lab)
    held = lane.reads.picture()["in_flight"]["c1"][0]["record"]
    assert lane.reads.route(held, 0) == {
        "hash": None,
        "unit": None,
        "consumer": "c1",
        "place": None,
        "waits": False,
    }
    newest = lane.reads.route(lab.record_count - 1, 0)
    assert (
        newest["consumer"] is None
        and newest["place"] == lane.reads.picture()["ready"] > 0
        and newest["waits"]
    )
    calm = lab_of("rabbitmq", consumers=1, rate=1, consumer_rate=100, seconds=5.9)
    assert lane_of(calm).reads.route(0, 0) == {
        "hash": None,
        "unit": None,
        "consumer": None,
        "place": None,
        "waits": False,
    }


def test_what_a_dead_program_holds_is_stuck_and_grows_while_it_is_given_more() -> None:
    lab = lab_of("rabbitmq", consumers=2, rate=4, seconds=5)
    assert lane_of(lab).reads.stuck()[0] == 0
    order(lab, "crash", "c1", seconds=4)
    part, whole = lane_of(lab).reads.stuck()
    assert 0 < part == lane_of(lab).reads.held(lane_of(lab).consumers["c1"]) <= whole
    lab.advance_to(lab.now_us + 200 * SECOND)
    assert lane_of(lab).reads.stuck()[0] == 0


def test_former_connection_is_told_with_its_messages_and_when_it_ends() -> None:
    lab = busy(2)
    order(lab, "crash", "c1", seconds=1)
    assert reads_of(lab).former() == {}, "its program has not come back"
    held = lane_of(lab).reads.held(lane_of(lab).consumers["c1"])
    order(lab, "rejoin", "c1", seconds=1)
    former = lane_of(lab).reads.picture()["former"]
    assert list(former) == ["c1"] and former["c1"]["unacked"] == len(former["c1"]["records"]) == held
    lane = lane_of(lab)
    assert (
        lane.reads.picture()["in_flight"]["c1"] != former["c1"]["records"]
        and lane.reads.picture()["unacked"] == sum(map(lane.reads.held, lane.consumers.values())) + held
    )
    assert lane.reads.route(former["c1"]["records"][0]["record"], 0) == {
        "hash": None,
        "unit": None,
        "consumer": "c1",
        "place": None,
        "waits": True,
    }
    lab.advance_to(former["c1"]["until_us"] + SECOND)
    assert lane_of(lab).reads.picture()["former"] == {}


def test_record_waits_where_nobody_is_alive_whether_the_broker_knows_or_not() -> None:
    lab = lab_of("rabbitmq", consumers=2, seconds=2)
    reads, lane = reads_of(lab), lane_of(lab)
    assert not reads.would_wait(0, 0)
    order(lab, "crash", "c1")
    assert not reads.would_wait(0, 0) and lane.reads.dark_units() == (0, 1)
    order(lab, "pause", "c2")
    assert not reads.would_wait(0, 0), "a paused one will take it"
    order(lab, "crash", "c2")
    assert reads.would_wait(0, 0) and lane.reads.dark_units() == (1, 1)


def test_lane_settles_when_the_broker_serves_exactly_those_who_are_there() -> None:
    lab = lab_of("rabbitmq", consumers=1, seconds=2)
    settled = [lane_of(lab).reads.is_settled()]
    for kind in ("join", "crash"):
        order(lab, kind, "c1" if kind == "crash" else None)
        settled.append(lane_of(lab).reads.is_settled())
        lab.advance_to(lab.now_us + SECOND)
        settled.append(lane_of(lab).reads.is_settled())
    assert settled == [True, False, True, True, True], "a crash that nobody has noticed has changed nothing"


def test_more_messages_with_one_than_its_prefetch_are_a_broken_law() -> None:
    lab = busy(1)
    lane_of(lab).reads.check()
    (consumer,) = reads_of(lab).queue().consumers.by_key.values()
    consumer.prefetch = 4
    with pytest.raises(InvariantError, match="holds 5 messages with a prefetch of 4"):
        lane_of(lab).reads.check()
