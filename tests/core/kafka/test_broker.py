"""Produce and Fetch at the broker."""

from broker_core.kafka import requests as r
from broker_core.kafka.broker import Broker, BrokerState
from broker_core.sim.node import Closed
from tests.core.playbook import Played, play, wake


class Records:
    def __init__(self) -> None:
        self.log: list[tuple[int, int]] = []

    def append(self, partition: int, record: int) -> None:
        self.log.append((partition, record))


def broker() -> tuple[Broker, Played, Records]:
    records = Records()
    return Broker(BrokerState([0, 0]), records), Played("broker"), records


def test_fetch_gives_what_there_is_of_each_partition_up_to_its_limit():
    node, out, records = broker()
    play(node, out, 1, *[r.ProduceRequest(0, number) for number in (5, 6, 7)])
    assert records.log == [(0, 5), (0, 6), (0, 7)]
    assert play(node, out, 2, r.FetchRequest({0: 0, 1: 0}, 500, 2)) == [(2, r.FetchResponse([(0, 0, 2)], {0: 3, 1: 0}))]


def test_fetch_without_news_waits_for_the_next_record():
    node, out, _ = broker()
    assert play(node, out, 2, r.FetchRequest({0: 0, 1: 0}, 500, 10), now_us=40) == []
    assert out.deadlines == {"fetch:2": 540}
    assert play(node, out, 1, r.ProduceRequest(1, 9)) == [(2, r.FetchResponse([(1, 0, 1)], {0: 0, 1: 1}))]
    assert out.deadlines == {}
    assert play(node, out, 1, r.ProduceRequest(1, 9)) == []


def test_fetch_that_waited_long_enough_is_answered_with_nothing():
    node, out, _ = broker()
    play(node, out, 2, r.FetchRequest({0: 0}, 500, 10))
    assert wake(node, out, "fetch:2") == [(2, r.FetchResponse([], {0: 0}))]


def test_fetch_of_a_connection_that_closed_is_forgotten():
    node, out, _ = broker()
    play(node, out, 2, r.FetchRequest({0: 0}, 500, 10), Closed("reset"))
    assert play(node, out, 1, r.ProduceRequest(0, 9)) == [] and out.deadlines == {}


def test_two_groups_that_wait_for_one_partition_both_get_the_record():
    node, out, _ = broker()
    for connection in (2, 3):
        play(node, out, connection, r.FetchRequest({0: 0}, 500, 10))
    assert [connection for connection, _ in play(node, out, 1, r.ProduceRequest(0, 9))] == [2, 3]
