"""A consumer whose partitions its master gives out: how long it waits, what it does, and whom it asks when its master
is gone."""

from __future__ import annotations

import pytest

from broker_core.clock import SECOND_US
from broker_core.sim.keeping import keep, restored
from broker_core.sim.node import Closed
from broker_core.sim.program import Pause, Program, Resume
from broker_core.tubemq import requests as r
from broker_core.tubemq.client.consumer_object import BaseConsumer
from broker_core.tubemq.client.program_state import Shutdown
from broker_core.tubemq.client.pull_consumer import PullConsumer
from broker_core.tubemq.client.pull_consumer_state import Binding, PullConsumerState, StartPull
from broker_core.tubemq.client.reading_program import STARTED, STOPPED
from broker_core.tubemq.master import BALANCE_PERIOD_US, StepDown, TakeOver
from tests.core.playbook import Counted, Played, play, wake
from tests.core.tubemq.balanced import KEYS, Cluster, design


def test_first_message_waits_for_the_cycle_and_the_next_heartbeat() -> None:
    cluster = Cluster()
    cluster.join("a-1")
    cluster.send(60)
    cluster.wait(29)
    assert cluster.handled() == [] and cluster.held("a-1") == [], "nothing before the first cycle"
    cluster.wait(15)
    first_us = cluster.state("a-1").first_record_us
    assert BALANCE_PERIOD_US < first_us <= BALANCE_PERIOD_US + 13 * SECOND_US
    cluster.wait(10)
    assert sorted(cluster.handled()) == list(range(60)) and cluster.held("a-1") == KEYS


def test_newcomer_waits_for_a_later_cycle_the_losers_release_and_its_own_heartbeat() -> None:
    cluster = Cluster()
    cluster.join("a-1")
    cluster.wait(80)
    cluster.join("b-1")
    joined_us = cluster.world.now_us
    cluster.wait(90)
    assert (len(cluster.held("a-1")), len(cluster.held("b-1"))) == (3, 3)
    assert cluster.owners() == {key: name for name in ("a-1", "b-1") for key in cluster.held(name)}
    (connected,) = [event for event in cluster.told("client.connected") if event.data["client"] == "b-1"]
    assert connected.at_us - joined_us <= (30 + 3 * 13) * SECOND_US
    released = [event for event in cluster.told("client.disconnected") if event.data["client"] == "a-1"]
    assert len(released) == 1 and released[0].at_us < connected.at_us


def test_release_waits_for_the_batch_that_is_out_but_not_for_ever() -> None:
    node, out = in_hand()
    assert play(node, out, 1, r.HeartResponseM2C(200, r.ConsumerEvent(2, r.DISCONNECT, ["1:t:0"]))) == []
    assert out.deadlines["release"] == 3 * SECOND_US
    wake(node, out, "done")
    assert play(node, out, 9) == [] and "release" in out.deadlines, "one of its two messages is left"
    assert wake(node, out, "done") == [(2, r.CommitOffsetRequestC2B("a-1", "g", "1:t:0", True))]
    assert play(node, out, 2, r.CommitOffsetResponseB2C(200, "1:t:0", 56, 56)) == [
        (2, r.RegisterRequestC2B(r.UNREGISTER, "a-1", "g", "1:t:0"))
    ]
    assert "release" not in out.deadlines
    node, out = in_hand()
    play(node, out, 1, r.HeartResponseM2C(200, r.ConsumerEvent(2, r.DISCONNECT, ["1:t:0"])))
    assert wake(node, out, "release") == [(2, r.RegisterRequestC2B(r.UNREGISTER, "a-1", "g", "1:t:0"))]
    assert node.state.program.hand < 0 and list(node.state.done) == [2]


def in_hand() -> tuple[PullConsumer, Played]:
    """A consumer that holds one partition and has two messages of it."""
    node, out = begun()
    play(node, out, 1, r.HeartResponseM2C(200, r.ConsumerEvent(1, r.ONLY_CONNECT, ["1:t:0"])))
    play(node, out, 2, r.RegisterResponseB2C(200, r.REGISTER, "1:t:0", 0, 56))
    play(node, out, 2, r.GetMessageResponseB2C(200, "1:t:0", [1, 2], 0, 56))
    node.state.done.clear()
    node.wake("heartbeat", 13 * SECOND_US, out)
    out.take()
    return node, out


def begun() -> tuple[PullConsumer, Played]:
    """A consumer that is registered and whose first heartbeat is under way."""
    state = PullConsumerState(BaseConsumer("a-1", "g"), Program(SECOND_US), ["t"])
    node, out = PullConsumer(state, Counted()), Played("a-1")
    node.receive(0, StartPull(["m1"], {1: "b1"}, 5), 0, out)
    assert wake(node, out, "boot") == [(1, r.RegisterRequestC2M("a-1", "g", ["t"]))]
    assert play(node, out, 1, r.RegisterResponseM2C(200)) == [(1, r.HeartRequestC2M("a-1", "g", None))]
    return node, out


def test_partition_of_another_is_given_up_and_other_refusals_are_tried_five_times() -> None:
    node, out = begun()
    play(node, out, 1, r.HeartResponseM2C(200, r.ConsumerEvent(1, r.ONLY_CONNECT, ["1:t:0", "1:t:1"])))
    ((_, second),) = play(node, out, 2, r.RegisterResponseB2C(410, r.REGISTER, "1:t:0", 0, 0))
    assert second.partition == "1:t:1"
    for _ in range(4):
        assert play(node, out, 2, r.RegisterResponseB2C(503, r.REGISTER, "1:t:1", 0, 0)) == []
        ((_, again),) = wake(node, out, "call")
        assert again.partition == "1:t:1"
    play(node, out, 2, r.RegisterResponseB2C(503, r.REGISTER, "1:t:1", 0, 0))
    assert list(node.state.done) == [1] and node.state.consumer.held == {}
    ((_, report),) = wake(node, out, "heartbeat")
    assert (report.done, report.partitions) == (1, []), (
        "it says what it holds: the master gives the rest out again"
    )


def test_batch_that_is_out_for_a_minute_is_read_again_and_its_confirmation_is_none() -> None:
    node, out = in_hand()
    for beat in range(1, 7):
        play(node, out, 1, r.HeartResponseM2C(200), now_us=beat * 13 * SECOND_US)
        node.wake("heartbeat", (beat + 1) * 13 * SECOND_US, out)
    assert list(node.state.consumer.idle) == ["1:t:0"]
    out.take()
    wake(node, out, "done")
    assert wake(node, out, "done") == [(2, r.GetMessageRequestC2B("a-1", "g", "1:t:0"))]


# -- the masters ---------------------------------------------------------------------------------------------


@pytest.mark.parametrize("end", ["crash", "kill", "step down"])
def test_next_master_learns_the_group_from_its_members_and_changes_nothing(end: str) -> None:
    """A master that goes silent is noticed after 10 s; one that breaks its connections, or is standby, at once."""
    cluster = Cluster()
    cluster.join("a-1")
    cluster.join("b-1")
    cluster.wait(80)
    before = cluster.owners()
    assert set(before.values()) == {"a-1", "b-1"}
    if end == "step down":
        cluster.world.order("m1", StepDown())
    else:
        getattr(cluster.world, end)("m1")
    cluster.world.order("m2", TakeOver())
    cluster.wait(25)
    members = cluster.state("m2").groups["g"].members
    assert {name: sorted(member.held) for name, member in members.items()} == {
        name: cluster.held(name) for name in ("a-1", "b-1")
    }
    cluster.wait(100)
    assert cluster.owners() == before, "its first cycle cuts the same runs"
    assert [event.data["master"] for event in cluster.told("master.took_over")] == ["m2"]


def test_while_no_master_is_active_what_is_held_is_read() -> None:
    cluster = Cluster()
    cluster.join("a-1")
    cluster.wait(60)
    cluster.world.kill("m1")
    cluster.wait(60)
    assert cluster.state("a-1").consumer.failed_beats > 2
    cluster.send(60)
    cluster.wait(10)
    assert sorted(cluster.handled()) == list(range(60))
    assert cluster.state("a-1").phase == STARTED


def test_consumer_that_has_failed_six_times_waits_a_minute_for_its_next_heartbeat() -> None:
    node, out = begun()
    for count in range(1, 7):
        node.wake("rpc", count * 100 * SECOND_US, out)
        wait_us = out.deadlines["heartbeat"] - count * 100 * SECOND_US
        assert wait_us == (73 if count > 5 else 13) * SECOND_US
        node.wake("heartbeat", out.deadlines["heartbeat"], out)


def test_registering_is_tried_five_times_at_all_masters() -> None:
    cluster = Cluster()
    cluster.world.order("m1", StepDown())
    cluster.join("a-1")
    cluster.wait(20)
    assert [event.data["code"] for event in cluster.told("client.refused")] == [r.UNSPECIFIED]
    cluster.world.order("m2", TakeOver())
    cluster.wait(5)
    assert cluster.state("a-1").phase == STARTED and cluster.state("a-1").consumer.masters.name == "m2"


# -- the brokers ---------------------------------------------------------------------------------------------


def test_broker_that_answers_no_heartbeat_is_dropped_and_comes_back_with_a_later_cycle() -> None:
    cluster = Cluster()
    cluster.join("a-1")
    cluster.wait(60)
    connection = cluster.world.connection("a-1", "b1")
    assert connection is not None
    cluster.world.cut(connection)
    cluster.wait(25)
    assert cluster.held("a-1") == KEYS[3:]
    cluster.world.heal(connection)
    cluster.send(60)
    cluster.wait(250)
    assert cluster.held("a-1") == KEYS and set(cluster.handled()) == set(range(60))


def test_stopped_consumer_leaves_nothing_behind() -> None:
    cluster = Cluster()
    cluster.join("a-1")
    cluster.wait(60)
    cluster.world.order("a-1", Shutdown())
    cluster.wait(1)
    assert set(cluster.owners().values()) == {""} and cluster.state("m1").groups == {}


@pytest.mark.parametrize("partitions", [["1:t:0"], ["1:t:0", "1:t:1"]])
def test_broker_that_is_lost_while_it_stops_asks_nothing_more_of_it(partitions: list[str]) -> None:
    node, out = begun()
    play(node, out, 1, r.HeartResponseM2C(200, r.ConsumerEvent(1, r.ONLY_CONNECT, partitions)))
    node.receive(0, Shutdown(), 0, out)
    assert play(node, out, 2, Closed("reset")) == []
    assert wake(node, out, "shutdown")[-1] == (1, r.CloseRequestC2M("a-1", "g"))
    assert out.deadlines == {} and node.state.phase == STOPPED


def test_stopping_while_a_batch_holds_up_a_release_releases_all() -> None:
    node, out = in_hand()
    play(node, out, 1, r.HeartResponseM2C(200, r.ConsumerEvent(2, r.DISCONNECT, ["1:t:0"])))
    node.receive(0, Shutdown(), 0, out)
    released = (2, r.RegisterRequestC2B(r.UNREGISTER, "a-1", "g", "1:t:0"))
    assert wake(node, out, "shutdown") == [released, (1, r.CloseRequestC2M("a-1", "g"))]
    assert out.deadlines == {}


# -- bound groups --------------------------------------------------------------------------------------------


def test_bound_group_waits_for_all_and_begins_where_its_members_say() -> None:
    cluster = Cluster()
    cluster.send(60)
    wants = {
        "a-1": ",".join(f"{key}=28" for key in KEYS[:4]),  # of the fourth the other one asks for more
        "b-1": ",".join(f"{key}=56" for key in KEYS[3:]),
    }
    cluster.join("a-1", binding=Binding("s", 2, True, wants["a-1"]))
    cluster.wait(100)
    assert cluster.held("a-1") == []
    cluster.join("b-1", binding=Binding("s", 2, True, wants["b-1"]))
    cluster.wait(60)
    assert (cluster.held("a-1"), cluster.held("b-1")) == (KEYS[:3], KEYS[3:])
    skipped = {
        number for number in range(60) if (number % 6 < 3 and number < 6) or (number % 6 >= 3 and number < 12)
    }
    assert set(cluster.handled()) == set(range(60)) - skipped


def test_bound_group_is_balanced_as_any_once_its_plan_is_carried_out() -> None:
    cluster = Cluster()
    cluster.join("a-1", binding=Binding("s", 1, False, "1:t:0=0"))
    cluster.wait(200)
    assert cluster.held("a-1") == KEYS


# -- a checkpoint --------------------------------------------------------------------------------------------


@pytest.mark.parametrize("at", [0.2, 31, 44, 58, 90])
def test_kept_and_restored_it_goes_on_the_same(at: float) -> None:
    def begin() -> Cluster:
        cluster = Cluster()
        cluster.join("a-1")
        cluster.join("b-1")
        cluster.send(60)
        cluster.wait(at)
        cluster.world.told.clear()
        return cluster

    def go_on(cluster: Cluster) -> tuple[object, list[int]]:
        cluster.world.order("a-1", Pause())
        cluster.wait(20)
        cluster.world.order("a-1", Resume())
        cluster.send(30)
        cluster.wait(60)
        cluster.world.told.clear()
        return keep(cluster.world), cluster.handled()

    straight, kept = begin(), begin()
    kept.world = restored("tube", design(kept.traffic), 7, keep(kept.world))
    assert go_on(straight) == go_on(kept)
