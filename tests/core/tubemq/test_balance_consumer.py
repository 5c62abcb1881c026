"""The consuming program on its own, and a whole small cluster of them."""

from typing import Any

from broker_core.clock import SECOND_US
from broker_core.sim.arrivals import Arrivals
from broker_core.sim.design import Design
from broker_core.sim.node import PERSON
from broker_core.sim.program import DONE, Pause, Program, Resume
from broker_core.sim.world import World
from broker_core.tubemq import requests as r
from broker_core.tubemq.assignment import owned_by
from broker_core.tubemq.broker import Broker, BrokerState, Partition
from broker_core.tubemq.client import producer as producers
from broker_core.tubemq.client.balance_consumer import BalanceConsumer
from broker_core.tubemq.client.consumer_state import ConsumerState, Shutdown, Start
from broker_core.tubemq.client.producer import Producer, ProducerState
from broker_core.tubemq.configuration import configured
from broker_core.tubemq.master import Master, MasterState
from tests.core.playbook import Counted, Played, play, wake

META = ["t#1:1:2:1"]
OWN, OTHER = "1:t:0", "1:t:1"


def booted(source_count: int = 1, node_id: int = 0) -> tuple[Any, Any, Counted]:
    counted = Counted()
    node, out = (
        BalanceConsumer(ConsumerState("a", "g", source_count, node_id, Program(100)), counted),
        Played("a"),
    )
    assert play(node, out, PERSON, Start("master", {1: "b1"}, 500)) == []
    assert wake(node, out, "boot") == [(1, r.RegisterRequestC2MV2("a", "g", source_count, node_id))]
    return node, out, counted


def started(
    source_count: int = 1, node_id: int = 0, keys: tuple[str, ...] = (OWN, OTHER)
) -> tuple[Any, Any, Counted]:
    """A consumer that is registered for its partitions and has read them all to the end."""
    node, out, counted = booted(source_count, node_id)
    assert play(node, out, 1, r.RegisterResponseM2C(200)) == [(1, r.GetPartMetaRequestC2M("a", "g", -2))]
    sent = play(node, out, 1, r.GetPartMetaResponseM2C(200, 1, META, [1]))
    for key in keys:
        assert sent[0] == (2, r.RegisterRequestC2B(r.REGISTER, "a", "g", key))
        sent = play(node, out, 2, r.RegisterResponseB2C(200, r.REGISTER, key, 0, 0))
    node.state.waiting = ""
    node.state.idle.clear()
    node.state.idle.extend(keys)
    return node, out, counted


def test_each_partition_is_connected_after_the_answer_for_the_one_before():
    node, out, _ = started()
    assert node.state.registered == [OWN, OTHER]
    assert out.told[-1] == (
        "tubemq.client.connected",
        {"consumer": "a", "client": "a", "partitions": [OWN, OTHER]},
    )


def test_refused_start_is_tried_again_every_second_and_told_once():
    node, out, _ = booted()
    play(node, out, 1, r.RegisterResponseM2C(430), now_us=7)
    assert out.deadlines["boot"] == 7 + SECOND_US
    wake(node, out, "boot")
    play(node, out, 1, r.RegisterResponseM2C(430))
    assert [kind for kind, _ in out.told] == ["tubemq.client.refused"] and node.state.phase == "refused"


def test_occupied_partition_is_tried_twice_and_then_left_alone_for_five_seconds():
    node, out, _ = booted(source_count=2, node_id=1)
    play(node, out, 1, r.RegisterResponseM2C(200), r.GetPartMetaResponseM2C(200, 1, META, [1]))
    key = node.state.calls[0].key
    assert play(node, out, 2, r.RegisterResponseB2C(410, r.REGISTER, key, 0, 0)) == []
    assert wake(node, out, "call") == [(2, r.RegisterRequestC2B(r.REGISTER, "a", "g", key))]
    play(node, out, 2, r.RegisterResponseB2C(410, r.REGISTER, key, 0, 0), now_us=SECOND_US)
    assert node.state.guarded == {key: 6 * SECOND_US} and not node.state.calls
    assert out.told[-1] == ("tubemq.client.refused", {"consumer": "a", "client": "a", "code": 410})
    play(node, out, 1, r.GetPartMetaResponseM2C(200, 1, [], []), now_us=10 * SECOND_US)
    play(node, out, 2, r.RegisterResponseB2C(200, r.REGISTER, key, 0, 0))
    assert (node.state.refused_code, out.told[-1][0]) == (0, "tubemq.client.connected")


def test_partitions_that_it_has_are_told_before_it_waits_for_the_others():
    node, out, _ = booted()
    play(node, out, 1, r.RegisterResponseM2C(200), r.GetPartMetaResponseM2C(200, 1, META, [1]))
    play(
        node,
        out,
        2,
        r.RegisterResponseB2C(200, r.REGISTER, OWN, 0, 0),
        r.RegisterResponseB2C(410, r.REGISTER, OTHER, 0, 0),
    )
    assert [(kind, data.get("partitions")) for kind, data in out.told[-2:]] == [
        ("tubemq.client.refused", None),
        ("tubemq.client.connected", [OWN]),
    ]


def test_one_batch_is_read_handled_confirmed_and_then_the_next_partition_read():
    node, out, counted = started()
    node.read(0, out)
    assert out.take() == [(2, r.GetMessageRequestC2B("a", "g", OWN))]
    play(node, out, 2, r.GetMessageResponseB2C(200, OWN, [41, 42], 0, 2))
    assert wake(node, out, DONE) == []
    assert wake(node, out, DONE) == [
        (2, r.CommitOffsetRequestC2B("a", "g", OWN, True)),
        (2, r.GetMessageRequestC2B("a", "g", OTHER)),
    ]
    assert counted.log == [("handled", 41), ("handled", 42)]


def test_partition_without_news_rests():
    node, out, _ = started()
    node.read(0, out)
    out.take()
    assert play(node, out, 2, r.GetMessageResponseB2C(404, OWN, [], 0, 0), now_us=5) == [
        (2, r.GetMessageRequestC2B("a", "g", OTHER))
    ]
    assert out.deadlines[f"rest:{OWN}"] == 400_005


def test_partition_that_the_broker_gave_away_is_dropped_with_what_was_read_of_it():
    node, out, counted = started()
    node.read(0, out)
    play(node, out, 2, r.GetMessageResponseB2C(200, OWN, [41], 0, 1), r.HeartBeatResponseB2C([(412, OWN)]))
    assert node.state.registered == [OTHER] and DONE not in out.deadlines
    assert out.told[-1] == (
        "tubemq.client.disconnected",
        {"consumer": "a", "client": "a", "partitions": [OWN]},
    )
    assert counted.log[-1] == ("dropped", 41)


def test_paused_program_reads_nothing():
    node, out, _ = started()
    play(node, out, PERSON, Pause())
    assert out.take() == []
    assert play(node, out, PERSON, Resume()) == [(2, r.GetMessageRequestC2B("a", "g", OWN))]


def test_shutdown_releases_everything_and_tells_the_master():
    node, out, _ = started()
    play(node, out, PERSON, Shutdown(), now_us=10)
    assert out.deadlines["shutdown"] == 200_010
    assert wake(node, out, "shutdown") == [
        (2, r.RegisterRequestC2B(r.UNREGISTER, "a", "g", OWN)),
        (2, r.RegisterRequestC2B(r.UNREGISTER, "a", "g", OTHER)),
        (1, r.CloseRequestC2M("a", "g")),
    ]
    assert out.closed == [1, 2] and node.state.phase == "stopped"
    assert out.told[-1] == (
        "tubemq.client.stopped",
        {"consumer": "a", "client": "a", "partitions": [OWN, OTHER]},
    )


def test_message_that_arrives_after_shutdown_is_not_taken():
    node, out, counted = started()
    node.read(0, out)
    play(node, out, PERSON, Shutdown())
    play(node, out, 2, r.GetMessageResponseB2C(200, OWN, [41], 0, 1))
    assert counted.log == [] and DONE not in out.deadlines


def test_resting_partitions_do_not_wake_a_client_that_has_stopped():
    node, out, _ = started()
    node.read(0, out)
    play(node, out, 2, r.GetMessageResponseB2C(404, OWN, [], 0, 0))
    play(node, out, PERSON, Shutdown())
    wake(node, out, "shutdown")
    assert out.deadlines == {}


def test_shutdown_ends_what_was_asked_for_and_not_answered_yet():
    node, out, _ = booted()
    play(node, out, PERSON, Shutdown())
    play(node, out, 1, r.RegisterResponseM2C(200))
    assert wake(node, out, "shutdown") == [(1, r.CloseRequestC2M("a", "g"))]
    node, out, _ = booted()
    play(node, out, 1, r.RegisterResponseM2C(200), r.GetPartMetaResponseM2C(200, 1, META, [1]))
    play(node, out, PERSON, Shutdown())
    assert wake(node, out, "shutdown") == [
        (2, r.RegisterRequestC2B(r.UNREGISTER, "a", "g", OWN)),
        (1, r.CloseRequestC2M("a", "g")),
    ]


def test_process_that_was_stopped_before_it_started_ends_in_silence():
    node, out = BalanceConsumer(ConsumerState("a", "g", 1, 0, Program(100)), Counted()), Played("a")
    play(node, out, PERSON, Start("master", {1: "b1"}, 500), Shutdown())
    assert (out.deadlines, out.told, node.state.phase) == ({}, [], "stopped")


# -- a whole cluster -----------------------------------------------------------------------------------------

KEYS = [f"{broker}:t:{number}" for broker in (1, 2, 3) for number in range(4)]


def cluster(consumers: int) -> World:
    counted = Counted()
    design = Design(
        {
            "master": (MasterState, Master), "broker": (BrokerState, Broker),
            "consumer": (ConsumerState, lambda state: BalanceConsumer(state, counted)),
            "producer": (ProducerState, lambda state: Producer(state, KEYS, lambda code: KEYS[code % 12])),
        },
        r.Request | Start | Shutdown | Pause | Resume | producers.Connect, jitter_us=200,
    )  # fmt: skip
    world = World("t", design, 7)
    world.start("master", "master", MasterState(configured(["t#1:1:4:1,2:1:4:1,3:1:4:1"])))
    names = {number: f"b{number}" for number in (1, 2, 3)}
    for number, name in names.items():
        world.start(
            name,
            "broker",
            BrokerState(number, {key: Partition() for key in KEYS if key.startswith(f"{number}:")}),
        )
    world.start("producer", "producer", ProducerState())
    world.order("producer", producers.Connect(names))
    for node_id in range(consumers):
        world.start(
            f"c{node_id}",
            "consumer",
            ConsumerState(f"c{node_id}", "g", consumers, node_id, Program(10_000), topics=["t"]),
        )
        world.order(f"c{node_id}", Start("master", names, 300_000))
    return world


def test_cluster_gives_every_partition_to_the_node_of_the_modulo_and_handles_all_messages():
    world = cluster(3)
    producer, slot = world.node("producer"), world.slots["producer"]
    world.advance(
        20 * SECOND_US,
        Arrivals(
            range(SECOND_US, 6 * SECOND_US, 50_000),
            lambda place: slot.send(*producer.send(place, place % 5 or -1, 100)),
        ),
    )
    for node_id in range(3):
        state = world.node(f"c{node_id}").state
        assert sorted(state.registered) == owned_by(KEYS, 3, node_id)
    assert sum(world.node(f"c{node_id}").state.program.finished for node_id in range(3)) == 100
    partitions = [
        partition for name in ("b1", "b2", "b3") for partition in world.node(name).state.partitions.values()
    ]
    assert all(partition.groups["g"].offset == partition.end for partition in partitions)


def test_crashed_consumers_partitions_are_nobodys_after_thirty_seconds():
    world = cluster(2)
    world.advance(15 * SECOND_US)
    world.crash("c0")
    world.advance(50 * SECOND_US)
    owners = {
        key: place.groups["g"].owner
        for name in ("b1", "b2", "b3")
        for key, place in world.node(name).state.partitions.items()
    }
    assert {key for key, owner in owners.items() if not owner} == set(owned_by(KEYS, 2, 0))
    assert list(world.node("master").state.groups["g"].members) == ["c1"]
