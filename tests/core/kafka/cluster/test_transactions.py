"""Transactions on a cluster: markers, the last stable offset, time-outs, zombies, and coordinators that
crash."""

import pytest

from broker_core.kafka.client.producer import orders as o
from broker_core.kafka.client.producer.states import Phase
from broker_core.kafka.cluster import verbs
from broker_core.kafka.cluster.cluster import TopicPlan
from broker_core.kafka.cluster.requests import ProducePartition, ProduceRequest
from broker_core.kafka.error_codes import ErrorCode
from broker_core.kafka.group import messages as m
from broker_core.kafka.group.codes import UNSTABLE_OFFSET_COMMIT
from broker_core.kafka.replication.replica_log import light_batch
from broker_core.kafka.txn.records import TRANSACTION_STATE_TOPIC
from broker_core.lab.checkpoint import decode, encode
from broker_core.sim import keeping
from tests.core.kafka.cluster.clusters import KEY, SECOND
from tests.core.kafka.cluster.producing import TOPIC, ProducingCluster

FAST = {"request_timeout_us": 2 * SECOND, "delivery_timeout_us": 60 * SECOND}


def ready(cluster, name="p", **options):
    """A transactional producer that has its id."""
    state = cluster.producer(name, transactional_id="a", **{**FAST, **options})
    cluster.order(o.InitTransactions(), name)
    cluster.run(1)
    return state


def coordinator(cluster):
    """The broker that coordinates id "a", which lives in partition 97 % 3."""
    return cluster.leader((TRANSACTION_STATE_TOPIC, 97 % 3))


def test_committed_records_are_seen_and_aborted_ones_never():
    cluster = ProducingCluster()
    state = ready(cluster)
    cluster.transact(1, 2)
    cluster.order(o.BeginTransaction())
    cluster.send(3)
    cluster.send(4, partition=1)
    cluster.run(1)
    cluster.order(o.AbortTransaction())
    cluster.run(1)
    cluster.transact(5)
    assert cluster.written() == [1, 2, 3, 5] and cluster.committed() == [1, 2, 5]
    assert cluster.written(("t", 1)) == [4] and cluster.committed(("t", 1)) == []
    assert (state.counts.committed, state.counts.aborted, state.transaction.phase) == (2, 1, Phase.READY)


def test_open_transaction_holds_the_last_stable_offset_until_its_timeout():
    cluster = ProducingCluster()
    ready(cluster, transaction_timeout_us=5 * SECOND)
    other = cluster.producer("other")
    cluster.order(o.BeginTransaction())
    cluster.send(1)
    cluster.run(1)
    cluster.send(2, name="other")
    cluster.run(1)
    assert other.counts.acked == 1 and cluster.committed() == [], "a plain record behind it waits with it"
    log = cluster.log(cluster.leader())
    assert (log.last_stable_offset, log.high_watermark) == (0, 2)
    cluster.run(15)
    assert cluster.committed() == [2] and cluster.written() == [1, 2] and log.last_stable_offset == 3
    assert cluster.kinds_told("kafka.transaction.") == ["timed_out"]
    cluster.order(o.CommitTransaction())
    cluster.run(1)
    assert cluster.kinds_told("kafka.producer.")[-1] == "fenced"


def test_zombie_is_fenced_by_its_successor_and_its_records_never_count():
    cluster = ProducingCluster()
    zombie = ready(cluster, "zombie")
    cluster.order(o.BeginTransaction(), "zombie")
    cluster.send(1, name="zombie")
    cluster.run(1)
    cluster.world.pause("zombie")
    ready(cluster, "new")
    cluster.transact(2, name="new")
    cluster.world.resume("zombie")
    cluster.send(3, name="zombie")
    cluster.order(o.CommitTransaction(), "zombie")
    cluster.run(3)
    assert cluster.committed() == [2] and cluster.written() == [1, 2], (
        "its late record met the marker's higher epoch"
    )
    assert zombie.transaction.phase in (Phase.ABORTABLE_ERROR, Phase.FATAL_ERROR)
    if zombie.transaction.phase is Phase.ABORTABLE_ERROR:
        cluster.order(o.AbortTransaction(), "zombie")
        cluster.run(1)
    assert zombie.transaction.error is ErrorCode.PRODUCER_FENCED and "fenced" in cluster.kinds_told(
        "kafka.producer."
    )
    assert (
        cluster.refused(o.BeginTransaction(), "zombie") == "the producer has failed for good: PRODUCER_FENCED"
    )


@pytest.mark.parametrize("ends", [o.CommitTransaction, o.AbortTransaction])
def test_transaction_outlives_its_coordinator(ends):
    cluster = ProducingCluster()
    ready(cluster)
    cluster.order(o.BeginTransaction())
    cluster.send(1)
    cluster.send(2, partition=1)
    cluster.run(1)
    before = coordinator(cluster)
    cluster.crash(before)
    cluster.run(15)
    assert coordinator(cluster) != before and "coordinator_elected" in cluster.kinds_told(
        "kafka.transaction."
    )
    cluster.order(ends())
    cluster.run(10)
    seen = (cluster.committed(), cluster.committed(("t", 1)))
    assert seen == (([1], [2]) if ends is o.CommitTransaction else ([], []))
    assert cluster.log(cluster.leader()).last_stable_offset == cluster.log(cluster.leader()).log_end_offset


def test_commit_that_was_decided_is_completed_by_the_next_coordinator():
    cluster = ProducingCluster()
    state = ready(cluster)
    cluster.order(o.BeginTransaction())
    cluster.send(1)
    cluster.run(1)
    before = coordinator(cluster)
    host = cluster.state(before)
    cluster.order(o.CommitTransaction())
    while state.transaction.phase is not Phase.READY:
        cluster.world.advance(cluster.world.now_us + 200)
    assert host.transactions.coordinator.markers, "answered, and the markers are on their way"
    cluster.crash(before)
    cluster.run(30)
    assert cluster.committed() == [1]
    log = cluster.log(cluster.leader())
    assert log.last_stable_offset == log.log_end_offset and log.first_unstable_offset is None


def test_answer_to_the_commit_that_is_lost_is_asked_for_again():
    cluster = ProducingCluster()
    state = ready(cluster)
    cluster.order(o.BeginTransaction())
    cluster.send(1)
    cluster.run(1)
    there = state.transaction.coordinator
    cluster.world.cut(state.links[there].connection, f"broker-{there}")
    cluster.order(o.CommitTransaction())
    cluster.run(10)
    assert (
        state.transaction.phase is Phase.READY and state.counts.committed == 1 and cluster.committed() == [1]
    )


def test_lost_sequence_fails_the_transaction_and_the_next_one_has_a_new_epoch():
    cluster = ProducingCluster()
    state = ready(cluster, request_timeout_us=SECOND, delivery_timeout_us=3 * SECOND)
    cluster.transact(1)
    cluster.order(o.BeginTransaction())
    cluster.send(2)
    cluster.run(1)
    cluster.world.cut(state.links[1].connection, "p")
    cluster.crash(1)
    cluster.send(3)
    cluster.run(6)
    assert state.transaction.phase is Phase.ABORTABLE_ERROR and "transaction_failed" in cluster.kinds_told(
        "kafka.producer."
    )
    assert cluster.refused(o.CommitTransaction()) == "the producer cannot commit while it is abortable_error"
    cluster.run(10)
    cluster.order(o.AbortTransaction())
    cluster.run(10)
    assert state.transaction.phase is Phase.READY and state.sequences.producer_epoch == 1
    cluster.transact(4)
    cluster.run(5)
    assert cluster.committed() == [1, 4]


def test_batch_that_expires_during_the_abort_costs_an_epoch_and_nothing_else():
    cluster = ProducingCluster()
    state = ready(cluster, request_timeout_us=SECOND, delivery_timeout_us=3 * SECOND)
    cluster.transact(1)
    cluster.order(o.BeginTransaction())
    cluster.send(2)
    cluster.run(1)
    cluster.crash(1)
    cluster.send(3)
    cluster.run(0.001)
    assert state.links[1].flights
    cluster.order(o.AbortTransaction())
    cluster.run(25)
    assert state.transaction.phase is Phase.READY and state.sequences.producer_epoch == 1
    cluster.transact(4)
    cluster.run(2)
    assert cluster.committed() == [1, 4] and state.counts.aborted == 1


def test_offsets_of_a_group_count_with_the_transaction_only():
    cluster = ProducingCluster((TOPIC, TopicPlan("__consumer_offsets", 1, 3, 1)))
    ready(cluster)
    leader = cluster.leader(("__consumer_offsets", 0))

    def offset():
        request = m.OffsetFetchRequest(
            [m.OffsetFetchGroup("g", None, -1, [m.FetchedTopic("t", [0])])], require_stable=False
        )
        return cluster.ask(leader, request)[0].groups[0].topics[0].partitions[0].committed_offset

    for ends, committed in ((o.AbortTransaction, -1), (o.CommitTransaction, 7)):
        cluster.order(o.BeginTransaction())
        cluster.send(1)
        cluster.order(o.SendOffsets("g", [("t", 0, 7)]))
        cluster.run(1)
        assert offset() == -1, "not before the end"
        cluster.order(ends())
        cluster.run(1)
        assert offset() == committed


@pytest.mark.parametrize(
    ("is_ended_before", "ends", "committed"),
    [
        (True, o.CommitTransaction, 7),
        (True, o.AbortTransaction, 3),
        (False, o.CommitTransaction, 7),
        (False, o.AbortTransaction, 3),
    ],
)
def test_the_next_coordinator_of_a_group_knows_what_its_transactions_came_to(
    is_ended_before, ends, committed
):
    """The offsets of a transaction, and its marker, are read back from the log; an open one ends at the new
    coordinator."""
    cluster = ProducingCluster((TOPIC, TopicPlan("__consumer_offsets", 1, 3, 2)))
    key = ("__consumer_offsets", 0)
    ready(cluster)
    cluster.order(o.BeginTransaction())
    cluster.order(o.SendOffsets("g", [("t", 0, 3)]))
    cluster.order(o.CommitTransaction())
    cluster.run(1)
    cluster.order(o.BeginTransaction())
    cluster.send(1)
    cluster.order(o.SendOffsets("g", [("t", 0, 7), ("t", 1, 9)]))
    cluster.run(1)
    if is_ended_before:
        cluster.order(ends())
        cluster.run(1)
    former = cluster.leader(key)
    verbs.crash(cluster.world, former)
    cluster.run(15)
    now = cluster.leader(key)
    assert now not in (former, -1)

    def offsets(require_stable):
        request = m.OffsetFetchRequest(
            [m.OffsetFetchGroup("g", None, -1, [m.FetchedTopic("t", [0, 1])])],
            require_stable=require_stable,
        )
        found = cluster.ask(now, request)[0].groups[0].topics[0].partitions
        return [(part.committed_offset, part.error_code) for part in found]

    if not is_ended_before:
        assert offsets(True) == [(-1, UNSTABLE_OFFSET_COMMIT)] * 2, "an open transaction holds both"
        assert offsets(False) == [(3, 0), (-1, 0)]
        cluster.order(ends())
        cluster.run(5)
    assert offsets(True) == [(committed, 0), (9 if committed == 7 else -1, 0)]


def test_producer_ids_come_from_the_controller_and_are_given_once():
    cluster = ProducingCluster()
    states = [cluster.producer(f"p{number}") for number in range(4)]
    for number in range(4):
        cluster.send(number, name=f"p{number}")
    cluster.run(2)
    assert len({state.sequences.producer_id for state in states}) == 4 and sorted(cluster.written(KEY)) == [
        0,
        1,
        2,
        3,
    ]


def test_close_aborts_what_is_open():
    cluster = ProducingCluster()
    state = ready(cluster)
    cluster.order(o.BeginTransaction())
    cluster.send(1)
    cluster.run(1)
    cluster.order(o.Close())
    cluster.run(1)
    assert cluster.committed() == [] and state.counts.aborted == 1 and state.links == {}
    assert cluster.log(cluster.leader()).first_unstable_offset is None


def test_calls_out_of_turn_are_refused_and_change_nothing():
    cluster = ProducingCluster()
    state = ready(cluster)
    assert cluster.refused(o.CommitTransaction()) == "the producer cannot commit while it is ready"
    assert cluster.refused(o.Send(1, "t", partition=0)) == "the producer cannot send while it is ready"
    assert cluster.refused(o.SendOffsets("g", [])) == "the producer cannot send while it is ready"
    assert state.transaction.phase is Phase.READY and state.counts.sent == 0
    cluster.producer("plain")
    assert cluster.refused(o.BeginTransaction(), "plain") == "the producer has no transactional id"


@pytest.mark.parametrize("after_us", [0, 300, 2_700, 900_000])
def test_world_with_an_open_transaction_goes_on_the_same_after_a_restore(after_us):
    cluster = ProducingCluster()
    ready(cluster)
    cluster.transact(1)
    cluster.order(o.BeginTransaction())
    cluster.send(2, 3)
    cluster.send(4, partition=1)
    cluster.order(o.CommitTransaction())
    cluster.world.advance(cluster.world.now_us + after_us)
    restored = keeping.restored(
        "kafka", cluster.world.design, 1, decode(encode(keeping.keep(cluster.world))), lambda told: None
    )
    until_us = cluster.world.now_us + 20 * SECOND
    cluster.world.advance(until_us)
    restored.advance(until_us)
    assert decode(encode(keeping.keep(restored))) == decode(
        encode(keeping.keep(cluster.world))
    ) and cluster.committed() == [1, 2, 3]


def late_batch(cluster, state, epoch):
    """A batch of the producer that comes after its transaction has ended, as one delayed in the network
    does."""
    number = state.sequences.of(KEY).next_sequence
    batch = {
        "producer_id": state.sequences.producer_id,
        "producer_epoch": epoch,
        "base_sequence": number,
        "is_transactional": True,
    }
    records = light_batch([99], timestamp=cluster.world.now_us // 1_000, **batch)
    request = ProduceRequest(-1, 30_000, [ProducePartition(*KEY, records)], "a")
    return ErrorCode(cluster.ask(cluster.leader(), request)[0].partitions[0].error_code)


def test_late_batch_opens_no_transaction_that_nobody_ends():
    for verifies, answer in ((True, ErrorCode.TRANSACTION_ABORTABLE), (False, ErrorCode.NONE)):
        cluster = ProducingCluster(verifies_transactions=verifies)
        state = ready(cluster)
        cluster.transact(1)
        assert late_batch(cluster, state, 0) is answer
        cluster.run(100)
        log = cluster.log(cluster.leader())
        assert (log.last_stable_offset == log.log_end_offset) is verifies, (
            "without the check it hangs, and no time-out ends it"
        )


def test_batch_waits_while_nobody_coordinates():
    cluster = ProducingCluster((TopicPlan("t", 1, 3, 1, assignments=((1, 2, 3),)),))
    state = ready(cluster)
    assert coordinator(cluster) != cluster.leader(), "the leader asks over a connection"
    cluster.order(o.BeginTransaction())
    cluster.send(1)
    while KEY not in state.transaction.added:
        cluster.world.advance(cluster.world.now_us + 100)
    cluster.crash(coordinator(cluster))
    cluster.run(45)
    cluster.order(o.CommitTransaction())
    cluster.run(10)
    assert cluster.committed() == [1] and state.counts.committed == 1
