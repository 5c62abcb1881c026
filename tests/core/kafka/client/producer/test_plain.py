"""The small producer of a lane without a cluster: where it connects, which partition a record goes to, and
that nothing else happens."""

from __future__ import annotations

from typing import Any

from broker_core.kafka import requests as r
from broker_core.kafka.client.producer.plain import Connect, Producer, ProducerState
from broker_core.kafka.producer.partitioner import StickyPartitioner
from broker_core.kafka.producer.placement import DRAW_LIMIT, KEYLESS_STREAM, Placement
from broker_core.sim.node import PERSON, Closed
from tests.core.playbook import Played, play


class Draws(Played):
    """Chance in order: 0, 1, 2 ... asked for by name and limit."""

    def __init__(self) -> None:
        super().__init__("p")
        self.asked: list[tuple[str, int]] = []

    def draw(self, stream: str, limit: int) -> int:
        self.asked.append((stream, limit))
        return len(self.asked) - 1


def producer(partitions: int = 3, batch_size: int = 250) -> tuple[Producer, Any]:
    node = Producer(ProducerState(Placement(partitions, StickyPartitioner(batch_size))), {7: 2, 8: 0})
    out = Draws()
    assert play(node, out, PERSON, Connect("broker")) == [] and out.connected == {1: "broker"}
    return node, out


def test_a_record_with_a_key_goes_where_its_key_is_on_the_connection_that_was_opened() -> None:
    node, out = producer()
    assert [node.send(number, code) for number, code in ((40, 7), (41, 8), (42, 7))] == [
        (1, r.ProduceRequest(2, 40)), (1, r.ProduceRequest(0, 41)), (1, r.ProduceRequest(2, 42)),
    ]  # fmt: skip
    assert out.asked == [], "chance has no part in it"


def test_records_without_a_key_stay_for_a_batch_s_worth_of_bytes_and_then_turn_by_chance() -> None:
    node, out = producer()
    went = [node.send_keyless(number, 100, out) for number in range(7)]
    assert [request.partition for _, request in went] == [0, 0, 0, 1, 1, 1, 2]
    assert [request.record for _, request in went] == list(range(7)) and {
        connection for connection, _ in went
    } == {1}
    assert set(out.asked) == {(KEYLESS_STREAM, DRAW_LIMIT)} and len(out.asked) == 3, (
        "the first one, and one for each turn"
    )


def test_a_keyed_record_between_does_not_move_the_keyless_ones_on() -> None:
    node, out = producer()
    node.place_keyless(200, out)
    node.send(1, 7)
    node.send(2, 7)
    assert (
        node.place_keyless(40, out) == 0
        and node.place_keyless(10, out) == 0
        and node.place_keyless(1, out) == 1
    )


def test_the_last_keyless_partition_is_remembered_for_the_page() -> None:
    node, out = producer(batch_size=1)
    for place in (0, 1, 2):
        node.place_keyless(1, out)
        assert node.state.placement.last == place


def test_answers_and_broken_connections_mean_nothing_to_it() -> None:
    node, out = producer()
    for message in (r.ProduceResponse(0, 3), Closed("reset")):
        assert play(node, out, 1, message) == []
    node.wake("anything", 5, out)
    assert node.state.connection == 1 and out.deadlines == {} and out.connected == {1: "broker"}


def test_a_second_start_opens_a_second_connection_and_sends_over_it() -> None:
    node, out = producer()
    play(node, out, PERSON, Connect("other"))
    assert out.connected == {1: "broker", 2: "other"} and node.send(1, 7)[0] == 2
