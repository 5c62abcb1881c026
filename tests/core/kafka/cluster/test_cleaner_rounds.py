"""A broker's log cleaner: when it looks, which log comes first, how far each is cleaned, and what is left
alone."""

from broker_core.kafka.cluster.cleaner import clean_all, clean_if_due
from broker_core.kafka.cluster.settings import ClusterSettings
from broker_core.kafka.cluster.state import BrokerDisk, BrokerState, TopicPartition
from broker_core.kafka.log.checkpoints import CLEANER, read_offsets, write_offsets
from broker_core.kafka.log.settings import LogSettings
from broker_core.kafka.replication.replica_log import LightLog, light_batch
from tests.core.kafka.cluster.nodes import MS

NOW = 1_000
COMPACT = LogSettings(segment_bytes=150, cleanup_compact=True, cleanup_delete=False)
"""Two batches of 70 bytes a segment."""
A, B, C = ("o", 0), ("o", 1), ("o", 2)


def log_of(*keys: str, settings: LogSettings = COMPACT) -> LightLog:
    """One batch a key; all is replicated."""
    log = LightLog.begin(settings, now_ms=NOW)
    write(log, *keys)
    return log


def write(log: LightLog, *keys: str) -> None:
    """A key with a minus behind it: its tombstone. Keys and values as the coordinators store them."""
    for key in keys:
        value = None if key.endswith("-") else b"v".hex()
        log.append(
            light_batch([(key[:1].encode().hex(), value)], timestamp=NOW, size_in_bytes=70), now_ms=NOW
        )
    log.high_watermark = log.log_end_offset


def disk_of(**logs: LightLog) -> BrokerDisk:
    keys: dict[str, TopicPartition] = {"a": A, "b": B, "c": C}
    return BrokerDisk(logs={keys[name]: log for name, log in logs.items()})


def keys_in(log: LightLog) -> list[int]:
    """The offsets that are left."""
    return [
        batch.header.base_offset + delta
        for batch in log.batches()
        for delta in range(batch.header.record_count)
    ]


def test_of_each_key_the_last_record_below_the_active_segment_stays() -> None:
    disk = disk_of(a=log_of(*"xyxyxz"))
    rounds = clean_all(disk, NOW)
    assert keys_in(disk.logs[A]) == [2, 3, 4, 5], (
        "the active segment, of 4 and 5, is neither cleaned nor asked"
    )
    assert (
        {key: done.end_offset for key, done in rounds.items()} == {A: 4} == read_offsets(disk.folder, CLEANER)
    )


def test_the_dirtiest_log_comes_first_and_then_the_others_that_are_due() -> None:
    disk = disk_of(a=log_of(*"xxxxxxxx"), b=log_of(*"xxxxxxxx"), c=log_of(*"xxxxxxxx"))
    write_offsets(disk.folder, CLEANER, {A: 2, C: 4})
    assert list(clean_all(disk, NOW)) == [B, A], (
        "of c two of six are dirty: a third of it, where more than half is asked for"
    )
    assert read_offsets(disk.folder, CLEANER) == {A: 6, B: 6, C: 4}


def test_of_logs_that_are_equally_dirty_the_first_comes_first() -> None:
    disk = disk_of(b=log_of(*"xxxx"), a=log_of(*"xxxx"))
    assert list(clean_all(disk, NOW)) == [B, A]


def test_what_was_cleaned_is_not_cleaned_again_before_there_is_more() -> None:
    disk = disk_of(a=log_of(*"xxxx"))
    assert list(clean_all(disk, NOW)) == [A]
    assert clean_all(disk, NOW) == {}
    write(disk.logs[A], *"xxxx")
    assert list(clean_all(disk, NOW)) == [A] and read_offsets(disk.folder, CLEANER) == {A: 6}


def test_a_log_of_one_segment_or_of_a_topic_that_is_not_compacted_is_left_alone() -> None:
    plain = LogSettings(segment_bytes=150)
    disk = disk_of(a=log_of(*"xx"), b=log_of(*"xxxx", settings=plain))
    assert clean_all(disk, NOW) == {} and CLEANER not in disk.folder.names()
    assert keys_in(disk.logs[B]) == [0, 1, 2, 3]


def test_what_is_not_replicated_may_be_cleaned_and_an_open_transaction_may_not() -> None:
    """The cleaner stops at the last stable offset, which the high watermark bounds."""
    log = log_of(*"xxxxxx")
    log.high_watermark = 3
    disk = disk_of(a=log)
    clean_all(disk, NOW)
    assert keys_in(log) == [1, 2, 3, 4, 5], "2 and 3 are in a segment that the high watermark has not passed"


def state_of(disk: BrokerDisk) -> BrokerState:
    return BrokerState(1, ClusterSettings(log_cleaner_backoff_ms=15_000), disk=disk, clean_at_us=20 * MS)


def test_it_looks_when_its_time_has_come_and_then_each_fifteen_seconds() -> None:
    state = state_of(disk_of(a=log_of(*"xxxx")))
    clean_if_due(state, 20 * MS - 1)
    assert keys_in(state.disk.logs[A]) == [0, 1, 2, 3] and state.clean_at_us == 20 * MS
    clean_if_due(state, 20 * MS)
    assert keys_in(state.disk.logs[A]) == [1, 2, 3] and state.clean_at_us == 15_020 * MS


def test_tombstones_are_kept_for_their_time_by_the_brokers_own_clock() -> None:
    settings = LogSettings(
        segment_bytes=150, cleanup_compact=True, cleanup_delete=False, delete_retention_ms=100
    )
    log = log_of("x", "x-", "y", "z", settings=settings)
    disk = disk_of(a=log)
    clean_all(disk, NOW)
    assert keys_in(log) == [1, 2, 3], "the round that meets it first gives it its horizon"
    for skew_ms, is_left in ((79, True), (80, False)):
        write(log, *"yyyy")
        state = state_of(disk)
        state.skew_ms = NOW + skew_ms
        clean_if_due(state, 20 * MS)
        assert (1 in keys_in(log)) is is_left, "its horizon is 1,100 by the clock of this broker"
