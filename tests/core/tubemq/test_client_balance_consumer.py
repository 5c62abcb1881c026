"""The 17 calls on their own: what each sends, waits for and gives. Whole lives: tubemq/client_life.json."""

from __future__ import annotations

import pytest

from broker_core.clock import MILLISECOND_US, SECOND_US
from broker_core.plain import from_plain, to_plain
from broker_core.sim.node import Closed
from broker_core.tubemq import requests as r
from broker_core.tubemq.client.call_results import CodedResult
from broker_core.tubemq.client.client_balance_consumer import ClientBalanceConsumer
from broker_core.tubemq.client.consumer_object import ConsumerConfig, ConsumerObject
from broker_core.tubemq.client.master_link import MasterLink
from tests.core.playbook import Played, wake

KEY, LOOK = "1:t:0", "call:assigner"


def started(keys: int = 2) -> tuple[ClientBalanceConsumer, Played]:
    """Started, and it knows its topic's partitions."""
    state = ConsumerObject(
        "c", "g", ConsumerConfig(ready_wait_us=0), MasterLink(["m"], connection=9), {1: "b"}, links={1: 1}
    )
    client, out = ClientBalanceConsumer(state), Played("c")
    client.start({"t": None}, 1, 0, 0, out)
    client.receive(9, r.RegisterResponseM2C(200), 0, out)
    client.get_partition_meta_info(0, out)
    client.receive(9, r.GetPartMetaResponseM2C(200, 1, [f"t#1:1:{keys}:1"], [1]), 0, out)
    out.take()
    return client, out


def connect(client: ClientBalanceConsumer, out: Played, key: str = KEY) -> None:
    client.connect_2_partition(key, -1, 0, out)
    client.receive(1, r.RegisterResponseB2C(200, r.REGISTER, key, 0, 280), 0, out)
    out.take()


def read(client: ClientBalanceConsumer, out: Played, code: int, now_us: int = 0) -> CodedResult:
    client.get_message(now_us, out)
    client.receive(1, r.GetMessageResponseB2C(code, KEY, [7] if code == 200 else [], 0, 280), now_us, out)
    assert isinstance(client.result, CodedResult)
    return client.result


def code_of(client: ClientBalanceConsumer) -> int:
    assert isinstance(client.result, CodedResult)
    return client.result.code


def test_refused_connect_is_tried_twice_and_then_guarded_for_five_seconds() -> None:
    client, out = started()
    assert client.connect_2_partition(KEY, 56, 0, out) is None
    for at_us in (0, SECOND_US):
        ((_, request),) = out.take()
        assert (request.op_type, request.curr_offset) == (r.REGISTER, 56)
        client.receive(1, r.RegisterResponseB2C(410, r.REGISTER, KEY, 0, 0), at_us, out)
        assert out.deadlines[LOOK] == at_us + SECOND_US and client.result is None
        if at_us == 0:
            client.wake(LOOK, SECOND_US, out)
    wake(client, out, LOOK)
    assert code_of(client) == 410
    client.connect_2_partition(KEY, -1, 6 * SECOND_US - 1, out)
    assert code_of(client) == 421
    assert client.connect_2_partition(KEY, -1, 6 * SECOND_US, out) is None


@pytest.mark.parametrize(("code", "rest_ms"), [(404, 400), (403, 2_000), (503, 300), (301, 200)])
def test_partition_rests_as_long_as_the_code_of_its_read_says(code: int, rest_ms: int) -> None:
    client, out = started()
    connect(client, out)
    assert read(client, out, code).code == code
    client.get_message(rest_ms * MILLISECOND_US - 1, out)
    assert code_of(client) == r.ALL_WAITING
    assert read(client, out, 200, rest_ms * MILLISECOND_US).messages == [7]


@pytest.mark.parametrize("code", [411, 412, 415])
def test_partition_that_is_not_its_own_any_more_is_dropped_without_a_word(code: int) -> None:
    client, out = started()
    connect(client, out)
    read(client, out, code)
    assert client.get_cur_registered_part_set() == [] and len(out.take()) == 1
    client.get_message(0, out)
    assert code_of(client) == r.NONE_REGISTERED


def test_release_waits_for_the_batch_that_is_out_but_not_for_ever() -> None:
    client, out = started()
    connect(client, out)
    read(client, out, 200)
    out.take()
    assert client.disconnect_from_partition(KEY, 0, out) is None
    assert out.take() == [] and out.deadlines[LOOK] == SECOND_US // 5
    client.wake(LOOK, 3 * SECOND_US, out)
    ((_, request),) = out.take()
    assert request.op_type == r.UNREGISTER and not request.last_pack_consumed
    client.receive(1, Closed("reset"), 0, out)
    assert code_of(client) == 200, "whatever becomes of it"


def test_metadata_is_asked_for_once_a_period_and_releases_what_may_not_be_subscribed() -> None:
    client, out = started()
    connect(client, out)
    result = client.get_partition_meta_info(10 * SECOND_US - 1, out)
    assert isinstance(result, CodedResult) and result.status == {KEY: True, "1:t:1": True}
    assert out.take() == []
    assert client.get_partition_meta_info(10 * SECOND_US, out) is None
    client.receive(9, r.GetPartMetaResponseM2C(200, 2, ["t#1:1:2:0"], [1]), 10 * SECOND_US, out)
    assert [request.partition for _, request in out.take()[1:]] == [KEY]
    assert client.get_cur_registered_part_set() == []


def test_ready_gives_up_after_one_look_unless_it_may_wait_less_than_that() -> None:
    client, out = started()
    client.is_partitions_ready(60 * SECOND_US, 0, out)
    wake(client, out, LOOK)
    assert code_of(client) == r.NONE_REGISTERED
    client.is_partitions_ready(1, 0, out)
    for _ in range(5):
        wake(client, out, LOOK)
    assert client.result is None


def test_calls_that_need_no_answer() -> None:
    client, _ = started()
    client.state.topics["f"] = ["a"]
    assert (client.is_filter_consume("f"), client.is_filter_consume("t")) == (True, False)
    assert (client.get_consumer_id(), client.get_client_version()) == ("c", "1.10.0")
    assert client.get_consumer_config() is client.state.config


def test_whole_state_can_be_kept_in_the_middle_of_a_call() -> None:
    client, out = started()
    connect(client, out)
    client.connect_2_partition("1:t:1", 0, 0, out)
    kept = to_plain(client.state)
    assert to_plain(from_plain(kept, ConsumerObject)) == kept and client.state.calls
