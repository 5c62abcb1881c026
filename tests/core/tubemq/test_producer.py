"""The producer on its own: which partition a message goes to, and on which connection."""

from broker_core.plain import from_plain, to_plain
from broker_core.sim.node import PERSON, Closed, Opened
from broker_core.tubemq.client.producer import NO_KEY, AddPartitions, Connect, Producer, ProducerState
from broker_core.tubemq.requests import SendMessageRequestP2B
from tests.core.playbook import Played, play

PARTITIONS = ["1:orders:0", "1:orders:1", "2:orders:0"]


def producer(state: ProducerState | None = None) -> tuple[Producer, Played]:
    asked: list[int] = []

    def router(code: int) -> str:
        asked.append(code)
        return PARTITIONS[code % 3]

    node, out = Producer(state or ProducerState(), PARTITIONS, router), Played("producer")
    node.asked = asked  # type: ignore[attr-defined]
    return node, out


def test_it_connects_to_every_broker_and_says_nothing_before_it_has_a_message():
    node, out = producer()
    assert play(node, out, PERSON, Connect({1: "broker-1", 2: "broker-2"})) == []
    assert out.connected == {1: "broker-1", 2: "broker-2"} and node.state.connections == {1: 1, 2: 2}
    assert play(node, out, 1, Opened("broker-1"), Closed("reset")) == [] and not out.deadlines


def test_a_key_goes_to_its_routers_partition_on_that_brokers_connection_and_the_router_is_asked_once():
    node, out = producer()
    play(node, out, PERSON, Connect({1: "broker-1", 2: "broker-2"}))
    assert [node.send(message, 5, 100) for message in (70, 71)] == [
        (2, SendMessageRequestP2B("2:orders:0", message, 100)) for message in (70, 71)
    ]
    assert node.send(72, 4, 100) == (1, SendMessageRequestP2B("1:orders:1", 72, 100))
    assert node.asked == [5, 4]
    assert node.state.sent == {"1:orders:0": 0, "1:orders:1": 1, "2:orders:0": 2}


def test_messages_without_a_key_go_round_the_partitions_whatever_those_with_one_do():
    node, out = producer()
    play(node, out, PERSON, Connect({1: "broker-1", 2: "broker-2"}))
    seen = [
        node.send(message, code, 100)[1].partition
        for message, code in enumerate((NO_KEY, 1, NO_KEY, NO_KEY, NO_KEY))
    ]
    assert seen == ["1:orders:0", "1:orders:1", "1:orders:1", "2:orders:0", "1:orders:0"]


def test_one_that_was_restored_goes_on_with_its_turn_and_its_counts():
    node, out = producer()
    play(node, out, PERSON, Connect({1: "broker-1", 2: "broker-2"}))
    node.send(0, NO_KEY, 100), node.send(1, 2, 100)
    twin, _ = producer(from_plain(to_plain(node.state), ProducerState))
    assert [twin.send(2, NO_KEY, 100), twin.send(3, 2, 100)] == [
        node.send(2, NO_KEY, 100),
        node.send(3, 2, 100),
    ]
    assert twin.state == node.state


def test_broker_that_is_offline_is_not_published_to_and_has_a_new_connection_when_it_is_back():
    node, out = producer()
    play(node, out, PERSON, Connect({1: "broker-1", 2: "broker-2"}))
    play(node, out, PERSON, Connect({2: "broker-2"}))
    assert {node.send(number, -1, 100)[0] for number in range(4)} == {2}
    play(node, out, PERSON, Connect({1: "broker-1", 2: "broker-2"}))
    assert node.send(4, 0, 100) == (3, SendMessageRequestP2B("1:orders:0", 4, 100))


def test_partitions_that_are_added_are_counted_from_none():
    node, out = producer()
    play(node, out, PERSON, Connect({1: "broker-1", 2: "broker-2"}), AddPartitions(["2:orders:9"]))
    assert node.state.sent["2:orders:9"] == 0
