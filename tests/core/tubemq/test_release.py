"""How a client lets go of partitions: after its batch, in the order of its pass, and of everything at its
end."""

from broker_core.sim.node import PERSON
from broker_core.sim.program import DONE
from broker_core.tubemq import requests as r
from broker_core.tubemq.assignment import Disconnect
from broker_core.tubemq.client.balance_consumer import RELEASE_WAIT_US
from broker_core.tubemq.client.consumer_state import Shutdown
from tests.core.playbook import play, wake
from tests.core.tubemq.test_balance_consumer import OTHER, OWN, booted, started


def reading(*numbers, key=OWN):
    node, out, counted = started()
    node.state.idle.clear()
    node.state.idle.append(key)
    node.read(0, out)
    play(node, out, 2, r.GetMessageResponseB2C(200, key, list(numbers), 0, len(numbers)))
    return node, out, counted


def told_to_release(node, out, *keys, now_us=0):
    """Its pass has found that these are not its own any more."""
    node.state.calls.extend(Disconnect(key) for key in keys)
    node.make_call(now_us, out)
    return out.take()


RELEASE_OWN, RELEASE_OTHER = ((2, r.RegisterRequestC2B(r.UNREGISTER, "a", "g", key)) for key in (OWN, OTHER))


def test_a_partition_whose_batch_is_in_use_is_released_with_its_last_message():
    node, out, counted = reading(41)
    assert told_to_release(node, out, OWN, now_us=50) == [] and out.deadlines["call"] == 50 + RELEASE_WAIT_US
    sent = wake(node, out, DONE)
    assert (
        sent[:2] == [(2, r.CommitOffsetRequestC2B("a", "g", OWN, True)), RELEASE_OWN]
        and "call" not in out.deadlines
    )
    assert counted.log == [("handled", 41)]


def test_it_does_not_wait_for_ever():
    node, out, counted = reading(41, 42)
    told_to_release(node, out, OWN)
    assert wake(node, out, "call") == [RELEASE_OWN], "three seconds are over"
    assert counted.log == [("dropped", 41), ("dropped", 42)] and node.state.reading == ""


def test_another_partition_is_released_at_once():
    node, out, counted = reading(41)
    assert told_to_release(node, out, OTHER) == [RELEASE_OTHER] and counted.log == []
    assert OTHER not in node.state.registered and OTHER not in node.state.idle


def test_a_released_partition_is_in_turn_no_more():
    node, out, _ = started()
    assert list(node.state.idle) == [OWN, OTHER]
    told_to_release(node, out, OWN)
    assert list(node.state.idle) == [OTHER] and node.state.registered == [OTHER]


def test_one_call_after_the_other_each_with_its_answer():
    node, out, _ = started()
    assert told_to_release(node, out, OWN, OTHER) == [RELEASE_OWN]
    assert play(node, out, 2, r.RegisterResponseB2C(200, r.UNREGISTER, OTHER, 0, 0)) == [], (
        "no answer to the call that is out"
    )
    assert RELEASE_OTHER in play(node, out, 2, r.RegisterResponseB2C(200, r.UNREGISTER, OWN, 0, 0))


def test_an_answer_that_comes_after_the_shutdown_registers_nothing():
    node, out, _ = booted()
    play(node, out, 1, r.RegisterResponseM2C(200), r.GetPartMetaResponseM2C(200, 1, ["t#1:1:2:1"], [1]))
    play(node, out, PERSON, Shutdown())
    assert (
        play(node, out, 2, r.RegisterResponseB2C(200, r.REGISTER, OWN, 0, 0)) == []
        and node.state.registered == []
    )


def test_one_that_has_stopped_has_nothing_in_turn_and_nothing_to_call():
    node, out, _ = started()
    node.state.calls.append(Disconnect(OTHER))
    play(node, out, PERSON, Shutdown())
    wake(node, out, "shutdown")
    assert not node.state.idle and not node.state.calls and not node.state.registered


def test_a_refused_connect_of_an_earlier_pass_is_not_tried_before_its_time():
    node, out, _ = booted(source_count=1, node_id=0)
    play(node, out, 1, r.RegisterResponseM2C(200))
    node.state.guarded = {OWN: 5_000_000}
    sent = play(node, out, 1, r.GetPartMetaResponseM2C(200, 1, ["t#1:1:2:1"], [1]), now_us=4_999_999)
    assert sent == [(2, r.RegisterRequestC2B(r.REGISTER, "a", "g", OTHER))] and len(node.state.calls) == 1
