"""A batch that nobody watches is one step: the program goes from message to message by itself, and wakes with
the last one, which confirms it."""

from broker_core.sim.node import PERSON
from broker_core.sim.program import DONE, Pace, Pause, Resume
from broker_core.tubemq import requests as r
from broker_core.tubemq.client.balance_consumer import Shutdown
from tests.core.playbook import play, wake
from tests.core.tubemq.test_balance_consumer import OWN, started

CONFIRM = (2, r.CommitOffsetRequestC2B("a", "g", OWN, True))


def reading(*numbers):
    """It has read a batch at 1,000; a message takes 100."""
    node, out, counted = started(keys=(OWN,))
    counted.is_watched = False
    node.read(1_000, out)
    out.take()
    assert (
        play(node, out, 2, r.GetMessageResponseB2C(200, OWN, list(numbers), 0, len(numbers)), now_us=1_000)
        == []
    )
    return node, out, counted


def test_it_wakes_with_the_last_message_and_confirms_the_batch():
    node, out, counted = reading(41, 42, 43)
    assert out.deadlines[DONE] == 1_300 and node.state.program.is_quiet
    assert wake(node, out, DONE) == [CONFIRM, (2, r.GetMessageRequestC2B("a", "g", OWN))]
    assert (
        counted.log == [("handled", 41), ("handled", 42), ("handled", 43)]
        and node.state.program.finished == 3
    )
    assert not node.state.program.is_quiet


def test_who_looks_finds_what_is_handled_by_then_and_the_next_message_in_hand():
    node, out, counted = reading(41, 42, 43)
    node.settle(1_099, out)
    assert counted.log == [] and node.state.program.hand == 41
    node.settle(1_100, out)
    assert counted.log == [("handled", 41)] and (node.state.program.hand, node.state.program.done_us) == (
        42,
        1_200,
    )
    node.settle(9_000, out)
    assert counted.log[1:] == [("handled", 42)], "the last one is confirmed, so it waits for its deadline"
    assert out.take() == [] and out.deadlines[DONE] == 1_300


def test_a_paused_program_finishes_its_message_and_goes_on_with_the_batch_when_it_resumes():
    node, out, counted = reading(41, 42, 43)
    play(node, out, PERSON, Pause(), now_us=1_150)
    assert counted.log == [("handled", 41)] and out.deadlines[DONE] == 1_200
    assert wake(node, out, DONE) == [] and node.state.program.hand == -1
    play(node, out, PERSON, Resume(), now_us=5_000)
    assert node.state.program.hand == 43 and out.deadlines[DONE] == 5_100
    assert wake(node, out, DONE)[0] == CONFIRM


def test_another_pace_holds_from_the_next_message_on():
    node, out, _ = reading(41, 42, 43)
    play(node, out, PERSON, Pace(1_000), now_us=1_150)
    assert out.deadlines[DONE] == 1_200, "the message in hand keeps its time"
    wake(node, out, DONE)
    assert out.deadlines[DONE] == 2_200


def test_a_lost_partition_takes_its_batch_with_it():
    node, out, counted = reading(41, 42, 43)
    play(node, out, 2, r.HeartBeatResponseB2C([(412, OWN)]), now_us=1_150)
    assert counted.log == [("handled", 41), ("dropped", 42), ("dropped", 43)]
    assert not node.state.program.is_quiet and DONE not in out.deadlines


def test_a_shutdown_drops_what_is_not_handled():
    node, out, counted = reading(41, 42, 43)
    play(node, out, PERSON, Shutdown(), now_us=1_250)
    assert counted.log == [("handled", 41), ("handled", 42), ("dropped", 43)] and DONE not in out.deadlines


def test_a_stopped_process_is_done_with_its_message_when_it_goes_on():
    node, out, counted = reading(41, 42, 43)
    node.thaw(7_000, out)
    assert out.deadlines[DONE] == 7_000 and not node.state.program.is_quiet
    wake(node, out, DONE)
    assert counted.log == [("handled", 41)] and out.deadlines[DONE] == 7_200
