"""Which partition a record goes to: its key, the partition it names, or the one that takes most."""

import pytest

from broker_core.errors import CommandError
from broker_core.kafka.client.producer.state import Unsent
from broker_core.kafka.cluster import requests as r
from broker_core.kafka.producer.partitioner import positive_key_hash
from tests.core.kafka.client.producer.stage import PLAIN, SECOND, Stage, play_producer
from tests.core.playbook import play


def test_key_given_partition_and_neither_choose_the_partition():
    stage = Stage(**PLAIN, linger_us=SECOND)
    key = positive_key_hash(b"orders-1")
    slot, now_us = stage.world.slots["p"], stage.world.now_us
    stage.node.send(Unsent(1, "t", key, -1, 100), now_us, slot)
    stage.node.send(Unsent(2, "t", key, 1 - key % 2, 100), now_us, slot)
    stage.node.send(Unsent(3, "t", -1, -1, 100), now_us, slot)
    stage.run(2)
    assert 1 in stage.broker.values(key % 2) and 2 in stage.broker.values(1 - key % 2)
    assert 3 in stage.broker.values(stage.state.keyless["t"].partition)
    with pytest.raises(CommandError, match="t has 2 partitions"):
        stage.node.send(Unsent(4, "t", -1, 2, 100), now_us, slot)


def keyless(stage, count):
    """Send keyless records, a batch's worth of each; give the partition that each went to."""
    went = []
    for value in range(count):
        stage.node.send(Unsent(value, "t", -1, -1, 939), stage.world.now_us, stage.world.slots["p"])
        went.append(next(reversed(stage.state.accumulator.batches.values())).topic_partition[1])
    return went


def test_keyless_records_turn_to_the_partition_with_the_shorter_queue():
    """Partition 0's queue does not drain. Even odds would give each about half; here partition 1 is likelier,
    and the longer the likelier."""
    shares = {}
    for adaptive in (True, False):
        stage = Stage(
            batch_size=1000,
            linger_us=9 * SECOND,
            request_timeout_us=9 * SECOND,
            adaptive_partitioning=adaptive,
            max_in_flight=1,
            **PLAIN,
        )
        stage.broker.swallow = 1
        stage.send(*range(1000, 1040), partition=0, size=939)
        stage.send(1999, partition=1, size=939)
        shares[adaptive] = keyless(stage, 60).count(1)
    assert shares[True] > shares[False] + 10


def test_broker_that_takes_nothing_for_too_long_gets_no_keyless_records():
    node, out, connection = play_producer(
        acks=1, batch_size=1000, availability_timeout_us=SECOND, max_in_flight=2, **PLAIN
    )
    partitions = [r.MetadataPartition(number, 0, number, 0, [0, 1], [0, 1], []) for number in range(2)]
    play(
        node,
        out,
        connection,
        r.MetadataResponse(
            [r.MetadataBroker(0), r.MetadataBroker(1)], 0, [r.MetadataTopic("t", 0, partitions)]
        ),
    )
    for number in (0, 0, 0, 1):
        node.send(Unsent(number, "t", -1, number, 939), 0, out)
    node.wake("sender", 3 * SECOND, out)
    assert node.state.peers[0].due_us - node.state.peers[0].taken_us == 3 * SECOND
    for value in range(20):
        node.send(Unsent(value, "t", -1, -1, 939), 3 * SECOND, out)
    batches = node.state.accumulator.batches.values()
    assert [batch.topic_partition[1] for batch in batches] == [0, 0, 0, 1, *[1] * 20]


def test_keyless_records_stay_with_a_partition_for_a_batch_and_then_turn_to_another():
    stage = Stage(
        batch_size=1000,
        linger_us=9 * SECOND,
        request_timeout_us=9 * SECOND,
        adaptive_partitioning=False,
        **PLAIN,
    )
    stage.broker.swallow = 99
    went = keyless(stage, 40)
    assert set(went) == {0, 1} and any(went[place] != went[place + 1] for place in range(39))


def test_keys_can_be_ignored():
    """partitioner.ignore.keys: the key is sent, and does not choose."""
    key = positive_key_hash(b"orders-1")
    stage = Stage(**PLAIN, ignore_keys=True, linger_us=SECOND)
    stage.node.send(Unsent(1, "t", key, -1, 100), stage.world.now_us, stage.world.slots["p"])
    stage.run(2)
    assert 1 in stage.broker.values(stage.state.keyless["t"].partition)
