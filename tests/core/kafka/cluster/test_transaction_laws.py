"""Whatever breaks, a transaction counts whole or not at all, and none holds the last stable offset for
ever."""

from contextlib import suppress

from hypothesis import given, settings
from hypothesis import strategies as st

from broker_core.errors import CommandError
from broker_core.kafka.client.producer import orders as o
from broker_core.kafka.client.producer.states import Phase
from tests.core.kafka.cluster.clusters import SECOND
from tests.core.kafka.cluster.producing import ProducingCluster

OPTIONS = {
    "transactional_id": "a",
    "request_timeout_us": 2 * SECOND,
    "delivery_timeout_us": 60 * SECOND,
    "transaction_timeout_us": 50 * SECOND,
}
FAULTS = st.tuples(st.sampled_from(["none", "none", "reset", "cut"]), st.sampled_from([1, 2, 3]))
TRANSACTIONS = st.lists(
    st.tuples(
        st.lists(st.integers(0, 1), min_size=1, max_size=3),
        st.booleans(),
        FAULTS,
        FAULTS,
        st.sampled_from([0, 2, 30]),
    ),
    min_size=1,
    max_size=4,
)


def break_link(cluster, state, fault):
    what, broker = fault
    if what != "none" and broker in state.links:
        with suppress(CommandError):
            if what == "reset":
                cluster.world.reset(state.links[broker].connection)
            else:
                cluster.world.cut(state.links[broker].connection, f"broker-{broker}")


def settled(cluster, state, seconds):
    """Let the transaction end, for so many seconds at most; the application aborts what must be aborted."""
    for _ in range(seconds * 4):
        if state.transaction.phase is Phase.ABORTABLE_ERROR:
            cluster.order(o.AbortTransaction())
        if state.transaction.phase is Phase.READY:
            return
        cluster.run(0.25)
    raise AssertionError(state.transaction)


@settings(max_examples=25, deadline=None)
@given(TRANSACTIONS, st.sampled_from([0, 0, 1, 2, 3]), st.integers(0, 3))
def test_law_a_transaction_counts_whole_or_not_at_all(transactions, crash, crash_at):
    cluster = ProducingCluster()
    state = cluster.producer(**OPTIONS)
    cluster.order(o.InitTransactions())
    cluster.run(1)
    expected, value = {0: [], 1: []}, 0
    for place, (partitions, commits, before, after, wait_ms) in enumerate(transactions):
        cluster.order(o.BeginTransaction())
        mine = []
        for partition in partitions:
            cluster.send(value, partition=partition)
            mine.append((partition, value))
            value += 1
        cluster.run(wait_ms / 1000)
        break_link(cluster, state, before)
        committed = state.counts.committed
        if state.transaction.phase is Phase.IN_TRANSACTION:
            cluster.order(o.CommitTransaction() if commits else o.AbortTransaction())
        cluster.run(wait_ms / 2000)
        break_link(cluster, state, after)
        if crash and place == crash_at:
            cluster.crash(crash)
        settled(cluster, state, 90)
        if state.counts.committed > committed:
            for partition, number in mine:
                expected[partition].append(number)
    cluster.run(40)
    for number in (0, 1):
        log = cluster.log(cluster.leader(("t", number)), ("t", number))
        assert cluster.committed(("t", number)) == expected[number]
        assert log.last_stable_offset == log.log_end_offset
