"""Seeded life of a whole lab: people come, crash, slow down and leave at random, and in the end every record
has been served.
"""

import pytest

from broker_core.errors import CommandError
from broker_core.lab.journal import Journal
from tests.core.lab.journals import ALL_LANES, THREE_LANES, random_life
from tests.simulation.seeds import seeds

LIVES_MAX = 200
"""Seconds of processor time each: `make simulate` tries so many, not thousands."""
KAFKA_EVERY = 20
"""A Kafka cluster costs most of a life: it is in one of so many. Groups and clusters have lives of their own."""
CALM_S = 180
"""A Pulsar consumer's receiver queue of 1,000 messages is 100 s of work, and more arrives for it
meanwhile."""


def order(lab, kind, **parts):
    command = {"command_id": f"y{lab.position + 1}", "kind": kind, "position": lab.position + 1, **parts}
    try:
        lab.submit(command)
    except CommandError:
        return None
    return {**command, "at_us": lab.now_us}


def heal(lab):
    """Make everybody work again: the crashed leave, the paused and slow resume, and there are enough of
    them."""
    for lane in list(lab.lanes.values()):
        if lane.algorithm in ("sticky", "sticky_document", "exclusive", "failover", "failover_document"):
            # A leaver's ranges stay uncovered by rule: such keys would wait for ever. One active consumer
            # alone never catches up; one that had all partitions under Failover works on their queues, of
            # 1,000 messages each, for longer than it is calm here.
            order(lab, "set_algorithm", lane=lane.id, args={"algorithm": "auto_split"})
        elif lane.algorithm == "prefetch_unlimited":
            # A backlog goes whole to the first consumer that comes, by rule: it would work on it long after
            # things are calm.
            order(lab, "set_algorithm", lane=lane.id, args={"algorithm": "prefetch_5"})
    for name in list(lab.seen):
        for lane in list(lab.lanes.values()):
            consumer = lane.consumers.get(name)
            if consumer is not None and consumer.state in ("crashed", "gone"):
                order(lab, "leave", consumer=name, lane=lane.id)
            elif consumer is not None:
                order(lab, "resume", consumer=name, lane=lane.id)
                order(lab, "resume", consumer=name, lane=lane.id)
    order(lab, "join", args={"count": 30})


@pytest.mark.parametrize("seed", seeds(LIVES_MAX, found=[1032289797, 4063245708]))
def test_every_record_is_served_once_things_calm_down(seed):
    lanes = ALL_LANES if seed % KAFKA_EVERY == 0 else THREE_LANES
    scenario, journal, lab = random_life(seed, 30, lanes=lanes)
    assert Journal(scenario, journal).seek(lab.now_us).checkpoint() == lab.checkpoint()
    heal(lab)
    lab.advance_to(lab.now_us + CALM_S * 1_000_000)
    for lane in lab.lanes.values():
        lane.reads.check()
        AT_REST[lane.model](lane, lab.record_count)


# What is left is what arrived in the last moments: nothing is stuck, nothing was lost on the way.


def pulsar_at_rest(lane, total):
    assert 0 <= lane.reads.lag() <= 50
    for topic in lane.reads.broker().state.topics.values():
        for subscription in topic.subscriptions.values():
            assert subscription.waiting == 0
            # Exactly what is not done is held, each by one; how far back the oldest lies depends on who owns
            # its key.
            held = sorted(
                position for positions in subscription.attached.pending().values() for position in positions
            )
            assert held == subscription.cursor.unacked_read()


def kafka_at_rest(lane, total):
    assert lane.reads.picture()["state"] == "Stable" and 0 <= lane.reads.lag() <= 50
    # But for what the producer has just sent, every record is in the log.
    ends = [partition["end"] for partition in lane.reads.picture()["partitions"].values()]
    assert 0 <= total - lane.first_record - sum(ends) <= 10


def tubemq_at_rest(lane, total):
    # The backlog of one partition, which one client reads at its own pace, may still shrink; a partition without a
    # reader would have gathered more. But for what its producer has just sent, every record is in a partition.
    assert (
        0 <= lane.reads.lag() <= 200
        and 0 <= total - sum(part.end for part in lane.reads.partitions().values()) <= 10
    )


def rabbitmq_at_rest(lane, total):
    queue = lane.reads.queue()
    assert queue.ready == 0 and 0 <= lane.reads.lag() <= 50
    # But for what the publisher has just sent, every record has come in; the lane's own check says that those
    # which did are done or held.
    assert 0 <= total - lane.first_record - queue.published <= 10


AT_REST = {
    "pulsar": pulsar_at_rest, "kafka": kafka_at_rest, "tubemq": tubemq_at_rest, "rabbitmq": rabbitmq_at_rest,
}  # fmt: skip
