"""A program's start and its end, its heartbeats and its connections, and a whole small cluster of programs."""

from __future__ import annotations

import pytest

from broker_core.clock import SECOND_US
from broker_core.plain import from_plain, to_plain
from broker_core.sim.arrivals import Arrivals
from broker_core.sim.design import Design
from broker_core.sim.node import PERSON, Closed
from broker_core.sim.program import DONE, Order
from broker_core.sim.world import World
from broker_core.tubemq import requests as r
from broker_core.tubemq.assignment import owned_by
from broker_core.tubemq.broker import Broker, BrokerState, Partition
from broker_core.tubemq.client import producer as producers
from broker_core.tubemq.client.balance_program import BalanceProgram
from broker_core.tubemq.client.master_link import RPC_TIMEOUT_US
from broker_core.tubemq.client.producer import Producer, ProducerState
from broker_core.tubemq.client.program_state import Orders, ProgramState, Shutdown, Start
from broker_core.tubemq.configuration import configured
from broker_core.tubemq.master import Master, MasterState
from tests.core.playbook import Counted, Played, play, wake
from tests.core.tubemq.programs import (
    MASTER,
    ONE,
    OTHER,
    OWN,
    answered,
    booted,
    calls,
    connect,
    program_state,
    queried,
    query,
    reading,
    refusal,
    release,
    started,
)

STAGE = "call:main"
CLOSE = r.CloseRequestC2M("a", "g")

# -- start ---------------------------------------------------------------------------------------------------


def test_start_begins_with_a_pass_and_heartbeats_and_opens_no_connection_to_a_broker() -> None:
    node, out, _ = booted(2, 1)
    assert play(node, out, MASTER, r.RegisterResponseM2C(200)) == [(MASTER, query(-2))]
    assert out.connected == {MASTER: "master"} and node.state.phase == "started"
    assert out.told == [("tubemq.client.started", {"consumer": "a", "client": "a", "node_id": 1})]
    assert out.deadlines["heartbeat"] == 13 * SECOND_US and out.deadlines["pass"] == 10 * SECOND_US


def test_refused_start_is_tried_again_every_second_and_another_refusal_is_told() -> None:
    node, out, _ = booted()
    for code in (429, 429, 430, 429):
        play(node, out, MASTER, r.RegisterResponseM2C(code), now_us=7)
        assert node.state.phase == "refused" and out.deadlines["boot"] == 7 + SECOND_US
        assert len(wake(node, out, "boot")) == 1
    assert [(kind, data["code"]) for kind, data in out.told] == [
        ("tubemq.client.refused", code) for code in (429, 430, 429)
    ]
    assert out.rules == ["tubemq.master.429", "tubemq.master.430", "tubemq.master.429"]
    play(node, out, MASTER, r.RegisterResponseM2C(200))
    assert node.state.refused_code == 0 and "boot" not in out.deadlines


@pytest.mark.parametrize("answer", [Closed("reset"), r.STANDBY])
def test_start_without_an_answer_is_made_again_at_the_next_master(answer: object) -> None:
    node, out, _ = booted()
    node.state.consumer.masters.names = ["master", "second"]
    again = [(2, r.RegisterRequestC2MV2("a", "g", 1, 0, ["t"]))]
    assert play(node, out, MASTER, answer, now_us=5) == again and out.connected[2] == "second"
    assert play(node, out, 2, answer, now_us=7) == [] and out.deadlines[STAGE] == 7 + SECOND_US
    assert len(wake(node, out, STAGE)) == 1, "it begins with the first one"
    assert out.connected[3] == "master"


def test_start_that_no_master_answers_fails_after_its_tries_and_begins_again() -> None:
    node, out, _ = booted()
    masters = node.state.consumer.masters
    for _ in range(4):
        play(node, out, masters.connection, Closed("reset"))
        assert len(wake(node, out, STAGE)) == 1
    play(node, out, masters.connection, Closed("reset"))
    assert (node.state.phase, node.state.refused_code) == ("refused", r.UNSPECIFIED)
    assert len(wake(node, out, "boot")) == 1


def test_masters_answer_that_nobody_waits_for_changes_nothing() -> None:
    node, out, _ = started()
    before = to_plain(node.state)
    assert (
        play(node, out, MASTER, r.RegisterResponseM2C(430), r.GetPartMetaResponseM2C(411, -2, [], [])) == []
    )
    assert to_plain(node.state) == before


# -- heartbeats ----------------------------------------------------------------------------------------------


def test_master_hears_what_is_held_when_that_changed_and_with_each_sixtieth_heartbeat() -> None:
    node, out, _ = started()
    reports = []
    for _ in range(62):
        reports.append(calls(wake(node, out, "heartbeat"))[0].partitions)
        play(node, out, MASTER, r.HeartResponseM2C(200))
    assert reports == [[OWN, OTHER], *[None] * 59, [OWN, OTHER], None]


def test_each_broker_hears_only_of_its_own_partitions_and_one_without_any_hears_nothing() -> None:
    node, out, _ = started()
    assert calls(wake(node, out, "beat_brokers")) == [r.HeartBeatRequestC2B("a", "g", [OWN, OTHER])]


def test_master_that_does_not_know_the_client_takes_it_again_with_all_that_it_holds() -> None:
    node, out, _ = started()
    wake(node, out, "heartbeat")
    assert play(node, out, MASTER, r.HeartResponseM2C(411)) == [
        (MASTER, r.RegisterRequestC2MV2("a", "g", 1, 0, ["t"], [], [OWN, OTHER]))
    ]
    assert wake(node, out, "heartbeat")[0][1].partitions == [OWN, OTHER]
    assert node.state.registered == [OWN, OTHER], "nothing is given up for that"


def test_silent_master_is_left_for_the_next_one() -> None:
    node, out, _ = started()
    node.state.consumer.masters.names = ["master", "second"]
    (request,) = calls(wake(node, out, "heartbeat"))
    assert out.deadlines["rpc"] == 23 * SECOND_US
    assert wake(node, out, "rpc") == [(3, request)]
    assert out.closed == [MASTER] and out.connected[3] == "second"


def test_client_whose_heartbeats_have_failed_six_times_waits_a_minute_longer() -> None:
    node, out, _ = started()
    waits = []
    for _ in range(6):
        wake(node, out, "heartbeat")
        at_us = out.deadlines["rpc"]
        assert wake(node, out, "rpc") == []
        waits.append((out.deadlines["heartbeat"] - at_us) // SECOND_US)
    assert waits == [13, 13, 13, 13, 13, 73] and node.state.registered == [OWN, OTHER]
    wake(node, out, "heartbeat")
    play(node, out, node.state.consumer.masters.connection, r.HeartResponseM2C(200), now_us=7)
    assert out.deadlines["heartbeat"] == 7 + 13 * SECOND_US


@pytest.mark.parametrize("is_broken", [True, False])
def test_broker_that_does_not_answer_a_heartbeat_costs_all_its_partitions(is_broken: bool) -> None:
    node, out, counted = reading(41, 42)
    wake(node, out, "beat_brokers")
    if is_broken:
        play(node, out, ONE, Closed("reset"))
    else:
        assert out.deadlines["silent"] == 23 * SECOND_US
        wake(node, out, "silent")
        assert out.closed == [ONE]
    assert node.state.registered == [] and DONE not in out.deadlines
    assert counted.log == [("dropped", 41), ("dropped", 42)]
    assert out.told[-1] == (
        "tubemq.client.disconnected",
        {"consumer": "a", "client": "a", "partitions": [OWN, OTHER]},
    )


def test_lost_partition_is_told_once_and_only_if_it_was_its_own() -> None:
    node, out, _ = started()
    told = len(out.told)
    lost = [r.HeartBeatResponseB2C([(412, OWN), (411, "9:x:0")]), r.HeartBeatResponseB2C([(412, OWN)])]
    play(node, out, ONE, *lost, r.HeartBeatResponseB2C([]))
    assert [data["partitions"] for _, data in out.told[told:]] == [[OWN]]


# -- connections ---------------------------------------------------------------------------------------------


def test_broken_connection_is_opened_with_the_next_request_and_costs_no_partition() -> None:
    node, out, _ = started()
    assert play(node, out, MASTER, Closed("reset")) == [] and len(out.connected) == 2
    assert wake(node, out, "pass") == [(3, query(1))] and node.state.registered == [OWN, OTHER]


def test_broken_connection_that_is_nobodys_any_more_changes_nothing() -> None:
    node, out, _ = started()
    before = to_plain(node.state)
    assert play(node, out, 99, Closed("reset")) == [] and to_plain(node.state) == before


def test_connect_that_is_out_when_the_broker_breaks_off_is_made_once_more() -> None:
    node, out, _ = queried()
    play(node, out, ONE, Closed("reset"), now_us=5 * SECOND_US)
    assert wake(node, out, "call:assigner") == [(3, connect(OWN))]
    play(node, out, 3, answered(OWN))
    assert node.state.registered == [OWN]


def test_request_without_an_answer_fails_after_ten_seconds() -> None:
    node, out, _ = queried()
    node.wake("requests", 10 * SECOND_US, out)
    assert out.deadlines["call:assigner"] == 11 * SECOND_US, "the second try of the connect"
    assert node.state.consumer.calls["assigner"].code == r.UNSPECIFIED


# -- the end -------------------------------------------------------------------------------------------------


def test_shutdown_releases_everything_and_tells_the_master() -> None:
    node, out, _ = started()
    play(node, out, PERSON, Shutdown(), now_us=10)
    assert out.deadlines[STAGE] == 200_010
    assert wake(node, out, STAGE) == [(ONE, release(OWN)), (ONE, release(OTHER)), (MASTER, CLOSE)]
    assert sorted(out.closed) == [1, 2] and node.state.phase == "stopped" and node.state.registered == []
    assert out.told[-1] == (
        "tubemq.client.stopped",
        {"consumer": "a", "client": "a", "partitions": [OWN, OTHER]},
    )
    out.deadlines.pop("requests")
    assert out.deadlines == {}


def test_message_that_arrives_after_shutdown_is_not_taken() -> None:
    node, out, counted = reading(41)
    play(node, out, PERSON, Shutdown())
    assert counted.log == [("dropped", 41)] and DONE not in out.deadlines
    play(node, out, ONE, r.GetMessageResponseB2C(200, OTHER, [42], 0, 1))
    assert counted.received_count == 1


def test_partition_that_was_asked_for_is_given_back_at_the_end() -> None:
    node, out, _ = queried()
    play(node, out, PERSON, Shutdown())
    assert wake(node, out, STAGE) == [(ONE, release(OWN)), (MASTER, CLOSE)]
    play(node, out, ONE, answered(OWN))
    assert node.state.registered == []


def test_program_that_ends_while_the_master_decides_leaves_when_it_has() -> None:
    node, out, _ = booted()
    assert play(node, out, PERSON, Shutdown()) == [] and node.state.phase == "starting"
    assert play(node, out, MASTER, r.RegisterResponseM2C(200)) == []
    assert wake(node, out, STAGE) == [(MASTER, CLOSE)] and node.state.phase == "stopped"


def test_program_that_the_master_refuses_while_it_ends_is_gone() -> None:
    node, out, _ = booted()
    play(node, out, PERSON, Shutdown())
    play(node, out, MASTER, r.RegisterResponseM2C(430))
    assert node.state.phase == "stopped" and "boot" not in out.deadlines


def test_process_that_was_stopped_before_it_started_ends_in_silence() -> None:
    node, out = BalanceProgram(program_state(), Counted()), Played("a")
    play(node, out, PERSON, Start(["master"], {1: "b1"}, 500), Shutdown())
    assert (out.deadlines, out.told, node.state.phase) == ({}, [], "stopped")


def test_connection_that_breaks_while_it_shuts_down_does_not_hold_it_up() -> None:
    node, out, _ = started()
    play(node, out, PERSON, Shutdown())
    play(node, out, ONE, Closed("reset"))
    assert wake(node, out, STAGE)[-1] == (MASTER, CLOSE) and node.state.phase == "stopped"


def test_restored_in_the_middle_of_a_pass_it_makes_the_same_calls() -> None:
    node, out, _ = queried()
    twin, again = BalanceProgram(from_plain(to_plain(node.state), ProgramState), Counted()), Played("a")
    again.connected.update(out.connected)
    for answer in (answered(OWN, 410), None, answered(OWN, 410), None, answered(OTHER), refusal(404, OTHER)):
        if answer is None:
            node.wake("call:assigner", SECOND_US, out)
            twin.wake("call:assigner", SECOND_US, again)
            assert again.take() == out.take()
        else:
            assert play(twin, again, ONE, answer) == play(node, out, ONE, answer)
    assert to_plain(twin.state) == to_plain(node.state)


# -- a whole cluster -----------------------------------------------------------------------------------------

KEYS = [f"{broker}:t:{number}" for broker in (1, 2, 3) for number in range(4)]


def cluster(consumers: int) -> World:
    counted = Counted()
    design = Design(
        {
            "master": (MasterState, Master), "broker": (BrokerState, Broker),
            "consumer": (ProgramState, lambda state: BalanceProgram(state, counted)),
            "producer": (ProducerState, lambda state: Producer(state, KEYS, lambda code: KEYS[code % 12])),
        },
        r.Request | Orders | Order | producers.Connect, jitter_us=200,
    )  # fmt: skip
    world = World("t", design, 7)
    world.start("master", "master", MasterState(configured(["t#1:1:4:1,2:1:4:1,3:1:4:1"])))
    names = {number: f"b{number}" for number in (1, 2, 3)}
    for number, name in names.items():
        own = {key: Partition() for key in KEYS if key.startswith(f"{number}:")}
        world.start(name, "broker", BrokerState(number, own))
    world.start("producer", "producer", ProducerState())
    world.order("producer", producers.Connect(names))
    for node_id in range(consumers):
        world.start(f"c{node_id}", "consumer", program_state(f"c{node_id}", consumers, node_id, 10_000))
        world.order(f"c{node_id}", Start(["master"], names, 300_000))
    return world


def test_cluster_gives_every_partition_to_the_node_of_the_modulo_and_handles_all_messages() -> None:
    world = cluster(3)
    producer, slot = world.node("producer"), world.slots["producer"]
    assert isinstance(producer, Producer)
    world.advance(
        20 * SECOND_US,
        Arrivals(
            range(SECOND_US, 6 * SECOND_US, 50_000),
            lambda place: slot.send(*producer.send(place, place % 5 or -1, 100)),
        ),
    )
    states = [world.slots[f"c{node_id}"].node.state for node_id in range(3)]
    for node_id, state in enumerate(states):
        assert sorted(state.registered) == owned_by(KEYS, 3, node_id)
        assert state.launched_us == 0 and state.first_record_us is not None
    assert sum(state.program.finished for state in states) == 100
    partitions = [
        partition
        for name in ("b1", "b2", "b3")
        for partition in world.slots[name].node.state.partitions.values()
    ]
    assert all(partition.groups["g"].offset == partition.end for partition in partitions)


def test_crashed_consumers_partitions_are_nobodys_after_thirty_seconds() -> None:
    world = cluster(2)
    world.advance(15 * SECOND_US)
    world.crash("c0")
    world.advance(50 * SECOND_US)
    owners = {
        key: place.groups["g"].owner
        for name in ("b1", "b2", "b3")
        for key, place in world.slots[name].node.state.partitions.items()
    }
    assert {key for key, owner in owners.items() if not owner} == set(owned_by(KEYS, 2, 0))
    assert list(world.slots["master"].node.state.groups["g"].members) == ["c1"]


def test_start_asks_the_next_master_when_the_first_one_is_silent() -> None:
    node, out = BalanceProgram(program_state(), Counted()), Played("a")
    play(node, out, PERSON, Start(["m1", "m2"], {1: "b1"}, 0))
    wake(node, out, "boot")
    assert out.deadlines["rpc"] == RPC_TIMEOUT_US
    ((connection, request),) = wake(node, out, "rpc")
    assert out.connected[connection] == "m2" and type(request) is r.RegisterRequestC2MV2
