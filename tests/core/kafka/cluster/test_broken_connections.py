"""Any connection of a cluster may break at any moment, also the controller's and the coordinators': once
nothing breaks any more all is as before."""

from contextlib import suppress

from hypothesis import example, given, settings
from hypothesis import strategies as st

from broker_core.errors import CommandError
from broker_core.kafka.client.producer import orders as o
from broker_core.kafka.client.producer.states import Phase
from broker_core.kafka.cluster import verbs
from broker_core.kafka.cluster.names import CONTROLLER, broker_node
from tests.core.kafka.cluster.clusters import SECOND
from tests.core.kafka.cluster.producing import ProducingCluster

OPTIONS = {
    "transactional_id": "a",
    "request_timeout_us": 2 * SECOND,
    "delivery_timeout_us": 60 * SECOND,
    "transaction_timeout_us": 50 * SECOND,
}
BREAKS = st.lists(st.tuples(st.integers(0, 30), st.integers(0, 100)), max_size=12)
"""Milliseconds to wait, and which of the open connections breaks then."""


def break_some(cluster, breaks):
    for wait_ms, choice in breaks:
        cluster.run(wait_ms / 1000)
        found = sorted({link.connection for link in cluster.world.links.values()})
        if found:  # else all of them are broken, and nobody has connected again yet
            with suppress(CommandError):  # one that is closing has nothing left to break
                cluster.world.reset(found[choice % len(found)])


def settle(cluster, state):
    for _ in range(240):
        if state.transaction.phase is Phase.ABORTABLE_ERROR:
            cluster.order(o.AbortTransaction())
        if state.transaction.phase is Phase.READY:
            return
        cluster.run(0.25)
    raise AssertionError(state.transaction)


@settings(max_examples=30, deadline=None)
@given(BREAKS, BREAKS, st.sampled_from([None, 1, 2, 3]))
@example([(0, 0)], [(1, 1)], None)
@example(
    [(6, 0), (1, 0), (16, 0), (30, 0), (30, 1), (0, 2), (20, 0), (0, 1), (1, 0)],
    [(0, 1), (0, 2), (1, 0), (1, 0)],
    None,
)
def test_law_whatever_breaks_the_cluster_and_its_transactions_come_to_rest(before, during, crash):
    cluster = ProducingCluster()
    state = cluster.producer(**OPTIONS)
    cluster.order(o.InitTransactions())
    break_some(cluster, before)
    settle(cluster, state)
    cluster.order(o.BeginTransaction())
    cluster.send(1, 2)
    cluster.send(3, partition=1)
    break_some(cluster, during[:6])
    if state.transaction.phase is Phase.IN_TRANSACTION:
        cluster.order(o.CommitTransaction())
    if crash is not None:
        verbs.crash(cluster.world, crash)
    break_some(cluster, during[6:])
    settle(cluster, state)
    if crash is not None:
        verbs.come_back(cluster.world, crash)
    cluster.run(60)
    committed = [cluster.committed(), cluster.committed(("t", 1))]
    assert committed == ([[1, 2], [3]] if state.counts.committed else [[], []]), "whole, or not at all"
    for topic in cluster.world.node(CONTROLLER).state.rules.topics.values():
        assert all(set(partition.isr) == set(partition.replicas) for partition in topic.partitions), (
            "the ISRs are whole again"
        )
    for broker in (1, 2, 3):
        replica = cluster.state(broker).replicas["t", 0]
        assert replica.partition.alter_partition.in_flight is None
        assert (
            cluster.log(broker).log_end_offset
            == cluster.log(broker).high_watermark
            == cluster.log(broker).last_stable_offset
        )
    assert all(
        not link.asked for broker in (1, 2, 3) for link in cluster.state(broker).transactions.links.values()
    ), "no marker is owed"
    cluster.transact(4)
    assert cluster.committed()[-1:] == [4]


def test_a_broker_that_loses_its_connection_to_the_controller_connects_again_and_its_isr_change_is_not_lost():
    cluster = ProducingCluster(replica_lag_time_max_ms=2_000)
    world = cluster.world
    control = cluster.state(1).control
    world.crash(broker_node(3))
    cluster.produce(1, 7)  # from here on broker 3 lags
    world.cut(control, CONTROLLER)
    cluster.run(4)
    assert cluster.state(1).replicas["t", 0].partition.alter_partition.in_flight is not None, (
        "the answer does not come"
    )
    world.reset(control)
    cluster.run(1)
    assert cluster.state(1).control not in (0, control)
    cluster.run(5)
    assert set(cluster.world.node(CONTROLLER).state.rules.topics["t"].partitions[0].isr) == {1, 2}
