"""How a consumer reads: one batch at a time, its partitions in turn, resting those without news; and what a
person may order meanwhile."""

from __future__ import annotations

from typing import Any

import pytest

from broker_core.clock import MILLISECOND_US
from broker_core.plain import to_plain
from broker_core.sim.node import PERSON
from broker_core.sim.program import DONE, Pace, Pause, Resume
from broker_core.tubemq import requests as r
from tests.core.playbook import Counted, play, wake
from tests.core.tubemq.test_balance_consumer import OTHER, OWN, started

BROKER = 2
REST_US = 400 * MILLISECOND_US


def ask(key: str) -> tuple[int, r.GetMessageRequestC2B]:
    return BROKER, r.GetMessageRequestC2B("a", "g", key)


def confirm(key: str) -> tuple[int, r.CommitOffsetRequestC2B]:
    return BROKER, r.CommitOffsetRequestC2B("a", "g", key, True)


def batch(key: str, *numbers: int) -> r.GetMessageResponseB2C:
    return r.GetMessageResponseB2C(200, key, list(numbers), 0, 9)


def refusal(code: int, key: str) -> r.GetMessageResponseB2C:
    return r.GetMessageResponseB2C(code, key, [], 0, 0)


def asking(now_us: int = 0) -> tuple[Any, Any, Counted]:
    """Both partitions are its own; the read of the first is under way."""
    node, out, counted = started()
    node.read(now_us, out)
    assert out.take() == [ask(OWN)]
    return node, out, counted


# -- turns ---------------------------------------------------------------------------------------------------


def test_partitions_are_read_in_turn_and_one_that_was_read_goes_to_the_end() -> None:
    node, out, _ = asking()
    for key, next_key in ((OWN, OTHER), (OTHER, OWN), (OWN, OTHER)):
        assert play(node, out, BROKER, batch(key, 41)) == []
        assert wake(node, out, DONE) == [confirm(key), ask(next_key)]


def test_one_read_at_a_time() -> None:
    node, out, _ = asking()
    node.read(0, out)
    assert out.take() == [], "one is under way"
    play(node, out, BROKER, batch(OWN, 41, 42))
    node.read(0, out)
    assert out.take() == [], "its batch is not handled yet"


def test_resting_partition_is_read_again_after_its_rest_and_not_before() -> None:
    node, out, _ = asking()
    assert play(node, out, BROKER, refusal(404, OWN)) == [ask(OTHER)]
    assert play(node, out, BROKER, refusal(404, OTHER), now_us=7) == []
    assert {name: at_us for name, at_us in out.deadlines.items() if name.startswith("rest:")} == {
        f"rest:{OWN}": REST_US, f"rest:{OTHER}": REST_US + 7,
    }  # fmt: skip
    assert wake(node, out, f"rest:{OWN}") == [ask(OWN)]
    assert wake(node, out, f"rest:{OTHER}") == [], "a read is under way"
    assert play(node, out, BROKER, refusal(404, OWN)) == [ask(OTHER)]


@pytest.mark.parametrize("code", [411, 412])
def test_read_that_is_refused_costs_the_partition_and_the_next_one_is_read(code: int) -> None:
    node, out, _ = asking()
    assert play(node, out, BROKER, refusal(code, OWN)) == [ask(OTHER)]
    assert node.state.registered == [OTHER] and f"rest:{OWN}" not in out.deadlines
    assert out.told[-1] == (
        "tubemq.client.disconnected",
        {"consumer": "a", "client": "a", "partitions": [OWN]},
    )
    assert out.rules[-1] == "tubemq.broker.one_owner"


def test_lost_partition_is_told_once_and_only_if_it_was_its_own() -> None:
    node, out, _ = started()
    told = len(out.told)
    play(
        node,
        out,
        BROKER,
        r.HeartBeatResponseB2C([(412, OWN), (411, "9:x:0")]),
        r.HeartBeatResponseB2C([(412, OWN)]),
        r.HeartBeatResponseB2C([]),
    )
    assert [data["partitions"] for _, data in out.told[told:]] == [[OWN]]


def test_lost_partition_rests_no_longer() -> None:
    node, out, _ = asking()
    play(node, out, BROKER, refusal(404, OWN), r.HeartBeatResponseB2C([(412, OWN)]))
    assert f"rest:{OWN}" not in out.deadlines and OWN not in node.state.idle


def test_partition_lost_while_its_read_is_under_way_leaves_the_turn_to_the_next() -> None:
    node, out, counted = asking()
    assert play(node, out, BROKER, r.HeartBeatResponseB2C([(412, OWN)])) == [ask(OTHER)]
    assert node.state.registered == [OTHER]
    assert play(node, out, BROKER, batch(OWN, 41)) == [] and counted.received_count == 0, "it came too late"


def test_partition_lost_with_its_batch_in_hand_leaves_the_turn_to_the_next() -> None:
    node, out, counted = asking()
    play(node, out, BROKER, batch(OWN, 41, 42))
    assert play(node, out, BROKER, r.HeartBeatResponseB2C([(412, OWN)])) == [ask(OTHER)]
    assert counted.log == [("dropped", 41), ("dropped", 42)] and DONE not in out.deadlines
    play(node, out, BROKER, batch(OTHER, 51))
    assert wake(node, out, DONE)[0] == confirm(OTHER) and counted.log[2:] == [("handled", 51)], (
        "nothing of the lost batch is left"
    )


def test_partition_lost_out_of_turn_disturbs_neither_the_read_nor_the_batch() -> None:
    node, out, _ = asking()
    assert play(node, out, BROKER, r.HeartBeatResponseB2C([(412, OTHER)])) == []
    assert play(node, out, BROKER, batch(OWN, 41)) == [] and wake(node, out, DONE) == [confirm(OWN), ask(OWN)]


def test_answer_to_a_confirmation_changes_nothing() -> None:
    node, out, _ = asking()
    before = to_plain(node.state)
    assert (
        play(node, out, BROKER, r.CommitOffsetResponseB2C(401, OWN, 3, 9)) == []
        and to_plain(node.state) == before
    )


# -- batches -------------------------------------------------------------------------------------------------


def test_each_message_of_a_batch_is_seen_when_it_is_received() -> None:
    node, out, counted = asking()
    play(node, out, BROKER, batch(OWN, 41, 42, 43))
    assert counted.received_count == 3 and counted.log == []


def test_only_the_last_message_of_a_batch_confirms_it() -> None:
    node, out, _ = asking()
    play(node, out, BROKER, batch(OWN, 41, 42))
    assert wake(node, out, DONE) == [] and node.state.reading == OWN
    assert wake(node, out, DONE)[0] == confirm(OWN) and node.state.reading == ""


# -- orders --------------------------------------------------------------------------------------------------


def test_batch_that_arrives_at_a_paused_program_waits_whole() -> None:
    node, out, counted = asking()
    play(node, out, PERSON, Pause())
    assert play(node, out, BROKER, batch(OWN, 41, 42)) == [] and DONE not in out.deadlines
    assert (list(node.state.batch), node.state.reading, counted.received_count) == ([41, 42], OWN, 2)
    assert play(node, out, PERSON, Resume(), now_us=1_000) == [] and out.deadlines[DONE] == 1_100
    assert list(node.state.batch) == [42]


def test_paused_in_its_last_message_it_confirms_the_batch_and_reads_no_other() -> None:
    node, out, _ = asking()
    play(node, out, BROKER, batch(OWN, 41))
    play(node, out, PERSON, Pause())
    assert wake(node, out, DONE) == [confirm(OWN)] and list(node.state.idle) == [OTHER, OWN]
    assert play(node, out, PERSON, Resume()) == [ask(OTHER)]


def test_resting_partition_of_a_paused_program_waits_for_its_turn() -> None:
    node, out, _ = asking()
    play(node, out, BROKER, refusal(404, OWN), refusal(404, OTHER))
    play(node, out, PERSON, Pause())
    assert wake(node, out, f"rest:{OWN}") == [] and list(node.state.idle) == [OWN]
    assert play(node, out, PERSON, Resume()) == [ask(OWN)]


def test_order_while_nothing_is_in_hand_starts_no_second_read() -> None:
    node, out, _ = asking()
    assert play(node, out, PERSON, Pace(7), Resume()) == []
    play(node, out, BROKER, batch(OWN, 41), now_us=50)
    assert out.deadlines[DONE] == 57
