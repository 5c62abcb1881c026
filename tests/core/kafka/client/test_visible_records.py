"""What a consumer sees of a log with transactions: with read_committed nothing that was aborted and nothing
above the last stable offset."""

from hypothesis import example, given
from hypothesis import strategies as st

from broker_core.kafka.client.group_consumer.fetches import visible
from broker_core.kafka.cluster.requests import READ_COMMITTED, READ_UNCOMMITTED
from broker_core.kafka.log.record_batch import ControlType
from broker_core.kafka.log.watermarks import Isolation
from broker_core.kafka.replication.light_batch import light_batch
from broker_core.kafka.replication.replica_log import LightLog

PLAIN = 0
STEPS = st.lists(
    st.tuples(st.sampled_from(["send", "send", "commit", "abort"]), st.integers(PLAIN, 2), st.integers(1, 3)),
    max_size=30,
)


def written(steps):
    """The log, and of each record (offset, producer), and by transactional producer its records' outcome:
    offset -> committed, None: open."""
    log, outcome, open_now, sequence = LightLog.begin(now_ms=0), {}, {}, {}
    for what, producer, count in steps:
        if what == "send":
            first = log.log_end_offset
            if producer == PLAIN:
                log.append(light_batch([f"r{first + n}" for n in range(count)], timestamp=1), now_ms=1)
                outcome |= dict.fromkeys(range(first, first + count), True)
                continue
            batch = light_batch(
                [f"r{first + n}" for n in range(count)],
                timestamp=1,
                producer_id=producer,
                producer_epoch=0,
                base_sequence=sequence.get(producer, 0),
                is_transactional=True,
            )
            log.append(batch, now_ms=1, is_from_coordinator=True)
            sequence[producer] = sequence.get(producer, 0) + count
            open_now.setdefault(producer, []).extend(range(first, first + count))
        elif open_now.get(producer):
            control = ControlType.COMMIT if what == "commit" else ControlType.ABORT
            log.append_marker(control, producer_id=producer, producer_epoch=0, coordinator_epoch=0, now_ms=1)
            outcome |= dict.fromkeys(open_now.pop(producer), what == "commit")
    log.high_watermark = log.log_end_offset
    stable = min((offsets[0] for offsets in open_now.values()), default=log.log_end_offset)
    return log, outcome, stable, {offset for offsets in open_now.values() for offset in offsets}


@given(STEPS, st.integers(0, 40), st.integers(1, 2_000))
@example(
    [("send", 1, 1), ("abort", 1, 1), ("send", 1, 1), ("commit", 1, 1)], 0, 2_000
)  # a producer's next transaction counts for itself
@example(
    [("send", 1, 1), ("send", 2, 2), ("abort", 2, 1), ("send", 2, 1), ("commit", 1, 1), ("commit", 2, 1)],
    0,
    2_000,
)
@example(
    [("send", 1, 2), ("send", 1, 2), ("abort", 1, 1), ("send", 0, 1)], 3, 100
)  # from the middle of an aborted transaction
def test_law_a_reader_sees_each_record_once_from_its_position_on(steps, start, bytes_max):
    log, outcome, stable, unfinished = written(steps)
    start = min(start, log.log_end_offset)
    assert log.last_stable_offset == stable
    for isolation, level, sees in (
        (
            Isolation.TXN_COMMITTED,
            READ_COMMITTED,
            [offset for offset in sorted(outcome) if start <= offset < stable and outcome[offset]],
        ),
        (
            Isolation.HIGH_WATERMARK,
            READ_UNCOMMITTED,
            [offset for offset in sorted({*outcome, *unfinished}) if offset >= start],
        ),
    ):
        position, seen = start, []
        while True:  # fetch after fetch, as a consumer goes on behind the last batch that it was given
            read = log.read_as(isolation, position, bytes_max)
            if not read.fetched.data:
                break
            seen += visible(read.fetched.data, position, level, read.aborted or ())
            position = read.fetched.data[-1].header.last_offset + 1
        assert seen == [(offset, f"r{offset}") for offset in sees]
