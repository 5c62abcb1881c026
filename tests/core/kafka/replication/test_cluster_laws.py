"""Laws of a cluster in which anything may happen at any time, but no written record is lost on its disk."""

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from broker_core.kafka.log.partition_log import PartitionLog
from broker_core.kafka.replication.fetcher import Truncation
from tests.core.kafka.replication.small_cluster import IDS, Node, SmallCluster, records

broker = st.sampled_from(IDS)
OFTEN = ["fetch", "fetch", "fetch", "learn", "learn", "alter"]
NOW_AND_THEN = ["checkpoint", "crash", "restart", "start", "cut", "heal"]
EVENTS = st.lists(
    st.one_of(
        st.tuples(st.just("produce"), broker, st.integers(1, 3)),
        st.tuples(st.sampled_from(OFTEN + NOW_AND_THEN), broker),
        st.tuples(st.just("pass_time"), st.sampled_from([1, 20_000, 31_000])),
    ),
    max_size=80,
)
WITH_EPOCHS = st.sampled_from([Truncation.FETCH, Truncation.EPOCH_REQUEST])


def log_of(node: Node) -> PartitionLog:
    assert node.partition is not None and node.partition.log is not None
    return node.partition.log


def wrote(log: PartitionLog) -> list[tuple[int, int]]:
    """(first offset, leader epoch) of each batch: a leader that wrote nothing is known to itself alone."""
    return [(batch.header.base_offset, batch.header.partition_leader_epoch) for batch in log.batches()]


class Watched:
    """A cluster, and what must hold after each event."""

    def __init__(self, cluster: SmallCluster) -> None:
        self.cluster = cluster
        self.high_watermarks: dict[
            tuple[int, int, int], int
        ] = {}  # (broker, its epoch, leader epoch) -> while it leads

    def happen(self, event: tuple[object, ...]) -> None:
        name, *args = event
        if name in ("cut", "heal"):
            self.cluster.nodes[args[0]].is_cut = name == "cut"  # type: ignore[index]
        else:
            getattr(self.cluster, str(name))(*args)
        self.check()

    def check(self) -> None:
        up = self.cluster.up()
        for node in up:
            partition, log = node.partition, log_of(node)
            assert partition is not None
            assert log.log_start_offset <= log.high_watermark <= log.log_end_offset
            if partition.is_leader:
                key = (node.broker_id, partition.broker_epoch, partition.leader_epoch)
                assert log.high_watermark >= self.high_watermarks.get(key, 0), (
                    "a leader's high watermark went back"
                )
                self.high_watermarks[key] = log.high_watermark
                if partition.leader_epoch == self.cluster.decided.leader_epoch:
                    for other in up:
                        if other.broker_id in self.cluster.decided.isr:
                            assert log_of(other).log_end_offset >= log.high_watermark, (
                                "a member of the ISR lacks what is committed"
                            )
        self.check_matching(up)

    def check_matching(self, up: list[Node]) -> None:
        """Below the smaller high watermark two logs are the same."""
        logs = [(log_of(node).high_watermark, records(log_of(node))) for node in up]
        for index, (one_hw, one) in enumerate(logs):
            for other_hw, other in logs[index + 1 :]:
                for offset in range(min(one_hw, other_hw)):
                    assert one.get(offset) == other.get(offset), (
                        f"offset {offset} differs below the high watermarks"
                    )


@settings(max_examples=60, deadline=None)
@given(EVENTS, WITH_EPOCHS, st.integers(1, 3), st.booleans())
def test_with_epochs_logs_match_below_the_high_watermark_and_nothing_acknowledged_is_lost(
    events: list[tuple[object, ...]], truncation: Truncation, min_isr: int, is_light: bool
) -> None:
    watched = Watched(SmallCluster(truncation, min_isr, is_light=is_light))
    for event in events:
        watched.happen(event)
    cluster = watched.cluster
    cluster.settle()
    watched.check()
    leader = cluster.nodes[cluster.decided.leader]
    written = records(log_of(leader))
    assert {offset: written.get(offset) for offset in cluster.acked} == cluster.acked
    assert sorted(cluster.decided.isr) == list(IDS), "everybody is in sync in the end"
    for node in cluster.up():
        assert records(log_of(node)) == written
        assert wrote(log_of(node)) == wrote(log_of(leader))


@settings(max_examples=30, deadline=None)
@given(EVENTS, st.sampled_from(list(Truncation)))
def test_the_same_events_give_the_same_bytes(
    events: list[tuple[object, ...]], truncation: Truncation
) -> None:
    folders = []
    for _ in range(2):
        cluster = SmallCluster(truncation, 1, allows_unclean_election=True)
        for name, *args in events:
            if name not in ("cut", "heal"):
                getattr(cluster, str(name))(*args)
        folders.append(
            [
                {name: bytes(file.data) for name, file in node.folder.files.items()}
                for node in cluster.nodes.values()
            ]
        )
    assert folders[0] == folders[1]


@pytest.mark.parametrize(
    ("truncation", "survives"),
    [(Truncation.HIGH_WATERMARK, False), (Truncation.EPOCH_REQUEST, True), (Truncation.FETCH, True)],
)
def test_a_follower_that_restarts_in_the_isr_and_is_elected_has_lost_a_record_only_with_the_high_watermark(
    truncation: Truncation, survives: bool
) -> None:
    cluster = SmallCluster(truncation, 1)
    cluster.crash(3)
    for broker_id in (1, 2):
        cluster.learn(broker_id)
    cluster.produce(1)
    for _ in range(2):
        cluster.fetch(2)  # it has the record, and does not know yet that it is committed
    assert cluster.acked == {0: b"v0"}
    cluster.restart(2)
    cluster.learn(2)
    cluster.nodes[1].is_cut = True
    cluster.fetch(2)
    cluster.crash(1)
    cluster.learn(2)
    assert (cluster.decided.leader, cluster.decided.isr) == (2, (2,))
    assert records(log_of(cluster.nodes[2])) == ({0: b"v0"} if survives else {})


@settings(max_examples=30, deadline=None)
@given(EVENTS, st.sampled_from(list(Truncation)))
def test_a_cluster_on_light_logs_goes_the_same_way(
    events: list[tuple[object, ...]], truncation: Truncation
) -> None:
    clusters = [
        SmallCluster(truncation, 1, allows_unclean_election=True, is_light=is_light)
        for is_light in (False, True)
    ]
    for name, *args in events:
        for cluster in clusters:
            if name not in ("cut", "heal"):
                getattr(cluster, str(name))(*args)
        states = [
            (
                cluster.decided,
                cluster.acked,
                [
                    (log_of(node).high_watermark, log_of(node).epochs.rows, records(log_of(node)))
                    for node in cluster.up()
                ],
            )
            for cluster in clusters
        ]
        assert states[0] == states[1]


def test_unclean_election_loses_what_was_acknowledged_and_the_logs_agree_again() -> None:
    cluster = SmallCluster(Truncation.FETCH, 1, allows_unclean_election=True)
    for broker_id in (2, 3):
        cluster.crash(broker_id)
    cluster.learn(1)
    cluster.produce(1)
    assert cluster.acked == {0: b"v0"}
    cluster.crash(1)
    cluster.start(2)
    cluster.learn(2)
    cluster.produce(2)
    assert cluster.acked == {0: b"v1"}, "offset 0 was given twice: the first record is lost"
    cluster.settle()
    assert all(records(log_of(node)) == {0: b"v1"} for node in cluster.up())
