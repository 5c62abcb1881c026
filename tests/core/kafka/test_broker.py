"""Produce and Fetch at the broker."""

from broker_core.kafka import requests as r
from broker_core.kafka.broker import Broker, BrokerState, LightLog
from broker_core.plain import from_plain, to_plain
from broker_core.sim.node import Closed
from tests.core.playbook import Played, play


def broker() -> tuple[Broker, Played]:
    return Broker(BrokerState([LightLog(), LightLog()])), Played("broker")


def test_fetch_gives_what_there_is_of_each_partition_up_to_its_limit():
    node, out = broker()
    play(node, out, 1, *[r.ProduceRequest(0, number) for number in (5, 6, 7)])
    assert node.state.logs[0].records == [5, 6, 7] and node.state.logs[0].at(1) == 6
    assert play(node, out, 2, r.FetchRequest({0: 0, 1: 0}, 500, 2)) == [(2, r.FetchResponse([(0, 0, 2)]))]


def test_offsets_stay_when_what_everybody_has_read_is_deleted():
    node, out = broker()
    log = node.state.logs[0]
    play(node, out, 1, *[r.ProduceRequest(0, number) for number in (5, 6, 7)])
    log.delete_before(2)
    log.delete_before(1)
    play(node, out, 1, r.ProduceRequest(0, 9))
    assert (log.start, log.end, log.at(2), log.at(3)) == (2, 4, 7, 9)


def test_fetch_of_an_unknown_partition_is_refused_and_the_others_are_read():
    node, out = broker()
    play(node, out, 1, r.ProduceRequest(0, 5))
    for unknown in (2, -1):
        expected = r.FetchResponse([(0, 0, 1)], [(unknown, 7, r.UNKNOWN_TOPIC_OR_PARTITION)])
        assert play(node, out, 2, r.FetchRequest({0: 0, unknown: 7}, 500, 10)) == [(2, expected)]


def test_fetch_outside_of_the_log_is_out_of_range_at_once():
    node, out = broker()
    play(node, out, 1, *[r.ProduceRequest(0, number) for number in (5, 6, 7)])
    node.state.logs[0].delete_before(2)
    for offset in (1, 4):
        expected = r.FetchResponse([], [(0, offset, r.OFFSET_OUT_OF_RANGE)])
        assert play(node, out, 2, r.FetchRequest({0: offset, 1: 0}, 500, 10)) == [(2, expected)]
    assert out.deadlines == {} and node.state.waiting == {}
    assert play(node, out, 2, r.ListOffsetsRequest([0, 1])) == [(2, r.ListOffsetsResponse({0: 2, 1: 0}))]


def test_fetch_without_news_waits_for_the_next_record():
    node, out = broker()
    assert play(node, out, 2, r.FetchRequest({0: 0, 1: 0}, 500, 10), now_us=40) == []
    assert out.deadlines == {"fetch:2": 540}
    assert play(node, out, 1, r.ProduceRequest(1, 9)) == [(2, r.FetchResponse([(1, 0, 1)]))]
    assert play(node, out, 1, r.ProduceRequest(1, 9)) == []


def test_fetch_that_waited_long_enough_is_answered_with_nothing():
    node, out = broker()
    play(node, out, 2, r.FetchRequest({0: 0}, 500, 10))
    node.wake("fetch:2", 500, out)
    assert out.take() == [(2, r.FetchResponse([]))]


def test_later_fetch_waits_its_own_time_though_its_connection_had_an_earlier_deadline():
    node, out = broker()
    play(node, out, 2, r.FetchRequest({0: 0}, 500, 10))
    play(node, out, 1, r.ProduceRequest(0, 9), now_us=300)
    play(node, out, 2, r.FetchRequest({0: 1}, 500, 10), now_us=400)
    node.wake("fetch:2", 500, out)
    assert out.take() == [] and out.deadlines["fetch:2"] == 900
    node.wake("fetch:2", 900, out)
    assert out.take() == [(2, r.FetchResponse([]))]


def test_restored_broker_answers_the_fetches_that_waited():
    node, out = broker()
    for connection in (3, 2):
        play(node, out, connection, r.FetchRequest({0: 0}, 500, 10))
    again = Broker(from_plain(to_plain(node.state), BrokerState))
    assert [connection for connection, _ in play(again, out, 1, r.ProduceRequest(0, 9))] == [3, 2]


def test_fetch_of_a_connection_that_closed_is_forgotten():
    node, out = broker()
    play(node, out, 2, r.FetchRequest({0: 0}, 500, 10), Closed("reset"))
    assert play(node, out, 1, r.ProduceRequest(0, 9)) == [] and out.deadlines == {}


def test_two_groups_that_wait_for_one_partition_both_get_the_record():
    node, out = broker()
    for connection in (2, 3):
        play(node, out, connection, r.FetchRequest({0: 0}, 500, 10))
    assert [connection for connection, _ in play(node, out, 1, r.ProduceRequest(0, 9))] == [2, 3]
