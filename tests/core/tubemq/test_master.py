"""The master on its own: send this request, expect that answer."""

from broker_core.clock import SECOND_US
from broker_core.tubemq import requests as r
from broker_core.tubemq.configuration import configured
from broker_core.tubemq.master import Master, MasterState, TakeOver
from tests.core.playbook import Played, play, wake

META = ["orders#1:1:2:1,2:1:2:1"]


def master() -> tuple[Master, Played]:
    return Master(MasterState(configured(META))), Played("master")


def register(node, out, client, count, node_id, connection=1, now_us=0):
    ((_, answer),) = play(
        node, out, connection, r.RegisterRequestC2MV2(client, "g", count, node_id, ["orders"]), now_us=now_us
    )
    return answer.code


def test_member_with_another_source_count_is_refused_with_429():
    node, out = master()
    assert [
        register(node, out, "a", 2, 0),
        register(node, out, "b", 3, 1),
        register(node, out, "b", 2, 1),
    ] == [200, 429, 200]
    assert list(node.state.groups["g"].members) == ["a", "b"]


def test_node_id_of_another_member_is_refused_with_430_even_when_that_one_is_dead():
    node, out = master()
    register(node, out, "a", 2, 0)
    assert register(node, out, "a2", 2, 0) == 430
    out.deadlines.clear()
    node.wake("consumer:g:a", 30 * SECOND_US, out)
    assert out.blamed == [1] and out.told[-1] == (
        "tubemq.master.consumer_timed_out",
        {"consumer": "a", "client": "a", "node_id": 0},
    )
    assert register(node, out, "a2", 2, 0) == 200


def test_heartbeat_moves_the_time_out_and_is_refused_with_411_for_a_stranger():
    node, out = master()
    register(node, out, "a", 1, 0)
    assert play(node, out, 1, r.HeartRequestC2MV2("a", "g"), now_us=7 * SECOND_US) == [
        (1, r.HeartResponseM2C(200))
    ]
    wake(node, out, "consumer:g:a")
    assert out.deadlines["consumer:g:a"] == 37 * SECOND_US and out.told == []
    assert play(node, out, 2, r.HeartRequestC2MV2("z", "g")) == [(2, r.HeartResponseM2C(411))]


def test_metadata_comes_once_and_then_only_the_word_that_nothing_is_new():
    node, out = master()
    register(node, out, "a", 1, 0)
    ((_, first),) = play(node, out, 1, r.GetPartMetaRequestC2M("a", "g", -2))
    assert (first.code, first.topic_meta_id, first.topic_meta, first.broker_ids) == (200, 1, META, [1, 2])
    ((_, second),) = play(node, out, 1, r.GetPartMetaRequestC2M("a", "g", 1))
    assert (second.code, second.topic_meta) == (200, [])
    ((_, stranger),) = play(node, out, 1, r.GetPartMetaRequestC2M("z", "g", -2))
    assert stranger.code == 411


def test_group_goes_with_its_last_member_so_the_next_may_bring_another_count():
    node, out = master()
    register(node, out, "a", 2, 0)
    play(node, out, 1, r.CloseRequestC2M("a", "g"))
    assert node.state.groups == {} and "consumer:g:a" not in out.deadlines
    assert register(node, out, "b", 5, 4) == 200


def test_maps_number_is_never_that_of_another_masters_map():
    """A client that knows number 1 of the first master would take number 1 of the second for the same map."""
    numbers = []
    for took_over_us in (0, 50 * SECOND_US):
        node, out = master()
        node.state.is_standby = took_over_us > 0
        node.receive(0, TakeOver(), took_over_us, out)
        register(node, out, "a", 1, 0, now_us=took_over_us)
        ((_, answer),) = play(node, out, 1, r.GetPartMetaRequestC2M("a", "g", -2), now_us=took_over_us)
        numbers.append(answer.topic_meta_id)
    assert numbers == [1, 50_000]
