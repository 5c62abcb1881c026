"""Flow rules: at the broker, which answers 452, and at the client, to which the master hands them out."""

from __future__ import annotations

import json

import pytest

from broker_core.clock import MILLISECOND_US, SECOND_US
from broker_core.errors import CommandError
from broker_core.tubemq import requests as r
from broker_core.tubemq.broker import Broker, BrokerState, Partition
from broker_core.tubemq.flow_control import FIRST_READ_BYTES, MIB, MINUTE_US, SAMPLES, parse_rules
from broker_core.tubemq.message_log import HEADER_BYTES
from tests.core.playbook import Played, play, wake
from tests.core.tubemq.balanced import Cluster
from tests.core.tubemq.programs import MASTER, ONE, OTHER, OWN, READER, asking, calls, refusal

KEY = "1:t:0"
SIZE = 10_000


def rules(**rule: object) -> str:
    day = {"start": "00:00", "end": "24:00", "dltInM": 1_000, "limitInM": 1, "freqInMs": 700}
    return json.dumps([{"type": 0, "rule": [day | rule]}])


def broker(text: str, messages: int = 400) -> tuple[Broker, Played]:
    node, out = Broker(BrokerState(1, {KEY: Partition()}, flow_rules=text)), Played("broker")
    for number in range(messages):
        play(node, out, 1, r.SendMessageRequestP2B(KEY, number, SIZE))
    play(node, out, 5, r.RegisterRequestC2B(r.REGISTER, "a", "g", KEY))
    return node, out


def read(node: Broker, out: Played, now_us: int, *, escapes: bool = False) -> r.GetMessageResponseB2C:
    ((_, answer),) = play(node, out, 5, r.GetMessageRequestC2B("a", "g", KEY, True, escapes), now_us=now_us)
    assert isinstance(answer, r.GetMessageResponseB2C)
    return answer


def test_who_is_far_behind_reads_a_twelfth_of_its_minute_in_five_seconds_and_then_rests() -> None:
    node, out = broker(rules())
    first = read(node, out, 0)
    assert len(first.messages) == -(-FIRST_READ_BYTES // (SIZE + HEADER_BYTES)), (
        "the first read has no limit yet"
    )
    second = read(node, out, SECOND_US)
    assert len(second.messages) == -(-(MIB // SAMPLES) // (SIZE + HEADER_BYTES))
    refused = read(node, out, 2 * SECOND_US)
    assert (refused.code, refused.messages, refused.min_limit_us) == (452, [], 700 * MILLISECOND_US)
    assert read(node, out, 2 * SECOND_US, escapes=True).code == 200, "a group with rules of its own"
    assert read(node, out, 7 * SECOND_US).code == 200


def test_limit_of_the_minute_holds_until_the_minute_is_over() -> None:
    node, out = broker(rules())
    read(node, out, 0)
    codes = [read(node, out, second * SECOND_US).code for second in range(1, 61, 6)]
    assert sum(code == 200 for code in codes) == 10 and codes[-1] == 200
    total = [read(node, out, 61 * SECOND_US + at * 5_100 * MILLISECOND_US).code for at in range(14)]
    assert 452 not in total[:11], "a new minute"


@pytest.mark.parametrize(
    ("rule", "at_us"),
    [({"dltInM": 10**9}, 0), ({"start": "08:00", "end": "09:00"}, 0), ({"end": "00:30"}, 31 * MINUTE_US)],
)
def test_rule_holds_only_for_its_lag_and_at_its_hours(rule: dict[str, object], at_us: int) -> None:
    node, out = broker(rules(**rule))
    codes = [read(node, out, at_us + number).code for number in range(9)]
    assert codes == [200] * 8 + [404]


def test_lag_is_looked_at_once_a_minute() -> None:
    node, out = broker(rules(dltInM=2_000_000, limitInM=0))
    node.state.partitions[KEY].keeps_read = True
    read(node, out, 0)
    assert read(node, out, 1).code == 452, "it lags by more than 2 MB"
    node.state.partitions[KEY].groups["g"].offset = 390
    assert read(node, out, MINUTE_US).code == 452
    assert read(node, out, MINUTE_US + 2).code == 452, "the lag is that after its last read"
    node.state.partitions[KEY].groups["g"].pace.read_until = 399  # type: ignore[union-attr]
    assert read(node, out, 2 * MINUTE_US + 3).code == 200


@pytest.mark.parametrize(
    "text",
    [
        "{",
        "[1]",
        '{"type": 0}',
        '[{"type": 4, "rule": []}]',
        '[{"type": 0}]',
        rules(start="10:00", end="09:00"),
        rules(start="10"),
        rules(start="10:61"),
        rules(dltInM=20),
        rules(limitInM=-1),
        rules(freqInMs=199),
        '[{"type": 1, "rule": [{"zeroCnt": 0, "freqInMs": 1}]}]',
        '[{"type": 1, "rule": [{"zeroCnt": 1}]}]',
    ],
)
def test_rules_that_the_original_refuses_are_refused(text: str) -> None:
    with pytest.raises(CommandError):
        parse_rules(text)


def test_consumer_rests_as_long_as_the_broker_says() -> None:
    cluster = Cluster()
    for name in ("b1", "b2"):
        cluster.state(name).flow_rules = rules(dltInM=21, limitInM=0, freqInMs=4_000)
    cluster.join("a-1")
    cluster.send(120)
    cluster.wait(42)
    assert len(cluster.handled()) == 24, "one first read of each partition, four messages each"
    cluster.wait(60)
    assert len(cluster.handled()) == 24


def test_masters_rules_reach_the_consumers_and_the_groups_own_go_before_the_default() -> None:
    many = '[{"type": 1, "rule": [{"zeroCnt": 3, "freqInMs": 9000}]}]'
    cluster = Cluster()
    master = cluster.state("m1")
    master.flow_rules, master.flow_id = {"": many, "g": ""}, 1
    cluster.join("a-1")
    cluster.wait(60)
    assert cluster.state("a-1").consumer.flow_rules == [many, ""]
    read_us = cluster.world.now_us
    cluster.send(6)
    cluster.wait(3)
    assert len(cluster.handled()) < 6, "partitions that had nothing three times rest 9 s"
    cluster.wait(9)
    assert len(cluster.handled()) == 6 and cluster.world.now_us - read_us == 12 * SECOND_US
    master.flow_rules, master.flow_id = {"": many, "g": many.replace("9000", "100")}, 2
    cluster.wait(30)
    cluster.send(6)
    cluster.wait(0.7)
    assert len(cluster.handled()) == 12


def test_consumer_keeps_the_groups_limit() -> None:
    cluster = Cluster()
    master = cluster.state("m1")
    master.flow_rules, master.flow_id = {"g": rules(dltInM=21, limitInM=0, freqInMs=5_000)}, 1
    cluster.join("a-1")
    cluster.send(240)
    cluster.wait(42)
    counts = [len(cluster.handled())]
    for _ in range(3):
        cluster.wait(5)
        counts.append(len(cluster.handled()))
    assert counts == [24, 48, 72, 96], "a batch of each of six partitions every 5 s"


def test_client_that_balances_for_itself_keeps_the_masters_rules_too() -> None:
    many = '[{"type": 1, "rule": [{"zeroCnt": 2, "freqInMs": 9000}]}]'
    node, out, _ = asking()
    (beat,) = wake(node, out, "heartbeat")
    assert beat[1].flow_id == -2, "it says which rules it has"
    play(node, out, MASTER, r.HeartResponseM2C(200, flow_id=1, flow_rules=[many, ""]))
    for again in (False, True):
        play(node, out, ONE, refusal(404, OWN), refusal(404, OTHER), now_us=20 * SECOND_US)
        rest_us = (9_000 if again else 400) * MILLISECOND_US
        assert node.state.consumer.resting == dict.fromkeys((OWN, OTHER), 20 * SECOND_US + rest_us)
        node.wake(READER, 20 * SECOND_US + rest_us, out)
    (beat,) = calls(wake(node, out, "heartbeat"))
    assert beat.flow_id == 1
