"""What a lab's Kafka lane sends, a linger at a time: which partition, which time, when a key is retired, and
where a batch ends."""

from hypothesis import given, settings
from hypothesis import strategies as st

from broker_core.kafka.log.batch_reader import batch_at
from broker_core.kafka.log.record_batch import RecordBatch
from broker_core.lab.kafka_log.producer import (
    EPOCH_MS,
    LINGER_US,
    RETIRE_AFTER_US,
    LaneProducer,
    LaneRecord,
    Window,
    batches_of,
    latest_topic,
)  # fmt: skip
from broker_core.lab.workload.parse import workload_from_json

ALL = frozenset(range(3))


def producer(rate: int = 8, keys: int = 5, first_record: int = 0, **workload: object) -> LaneProducer:
    made = workload_from_json({"kind": "uniform", "keys": keys, "rate": rate, **workload}, seed=3)
    return LaneProducer(made, 3, 3, first_record)


def windows(one: LaneProducer, count: int, wanted: frozenset[int] = ALL) -> list[Window]:
    return [one.next_window(with_content=wanted) for _ in range(count)]


def test_window_holds_what_arrived_within_its_quarter_of_a_second() -> None:
    one = producer(rate=8)
    counts = [sum(map(len, window.records.values())) for window in windows(one, 8)]
    assert counts == [2] * 8 and (one.now_us, one.record_count) == (8 * LINGER_US, 16)


def test_record_has_its_arrival_as_its_time_and_a_key_is_in_one_partition() -> None:
    places: dict[bytes, set[int]] = {}
    times = []
    for window in windows(producer(rate=40), 12):
        for number, sent in window.records.items():
            for record in sent:
                assert record.key is not None and record.value is not None
                places.setdefault(record.key, set()).add(number)
                times.append(record.timestamp)
    assert {len(numbers) for numbers in places.values()} == {1} and set(places) == {
        f"key-{n}".encode() for n in range(5)
    }
    assert sorted(times) == [EPOCH_MS + (index + 1) * 1_000 // 40 for index in range(120)]


def test_lane_that_restarts_its_count_sends_from_that_record_on_and_nothing_before_its_time() -> None:
    one = producer(rate=8, first_record=5)
    counts = [sum(map(len, window.records.values())) for window in windows(one, 4)]
    assert counts == [0, 0, 1, 2] and one.record_count == 3


def test_content_that_nobody_wants_is_counted_and_not_made() -> None:
    whole, part = windows(producer(rate=40), 8), windows(producer(rate=40), 8, frozenset({1}))
    for one, other in zip(whole, part, strict=True):
        assert {number: len(sent) for number, sent in one.records.items()} == {
            number: len(sent) for number, sent in other.records.items()
        }
        assert one.records.get(1) == other.records.get(1)
        assert all(
            sent == LaneRecord(-1, None, None)
            for number, records in other.records.items()
            if number != 1
            for sent in records
        )


def test_table_has_every_record_with_a_key_as_the_topic_has_it() -> None:
    keys = [[f"k{number}", 1] for number in range(6)]
    made = workload_from_json({"kind": "keys", "keys": keys, "keyless": 3, "rate": 20}, seed=3)
    for window in windows(LaneProducer(made, 3, 3), 40):
        keyed = {
            number: [sent for sent in records if sent.key is not None]
            for number, records in window.records.items()
        }
        assert window.latest == {number: records for number, records in keyed.items() if records}


def one_us(sent: LaneRecord) -> int:
    return (sent.timestamp - EPOCH_MS) * 1_000


def test_key_is_retired_once_in_its_own_partition_at_the_first_linger_after_its_minute() -> None:
    made = workload_from_json({"kind": "keys", "keys": [["rare", 1], ["often", 80]], "rate": 1}, seed=4)
    one, at, gone = LaneProducer(made, 3, 3), list[tuple[int, int]](), list[tuple[int, int]]()
    for window in windows(one, 4 * 900):
        for number, records in window.latest.items():
            for sent in records:
                if sent.value is None:
                    gone.append((number, one_us(sent)))
                elif sent.key == b"rare":
                    at.append((number, one_us(sent)))
    assert gone, "a key of weight 1 in 81 is away for a minute at times"
    for number, gone_us in gone:
        before = [(place, seen_us) for place, seen_us in at if seen_us < gone_us]
        assert (
            before[-1][0] == number
            and RETIRE_AFTER_US <= gone_us - before[-1][1] < RETIRE_AFTER_US + LINGER_US
        )


def test_keyless_records_are_in_no_table() -> None:
    made = workload_from_json({"kind": "keys", "keys": [], "keyless": 1, "rate": 40}, seed=3)
    found = windows(LaneProducer(made, 3, 3), 8)
    assert (
        all(window.latest == {} for window in found)
        and sum(len(sent) for window in found for sent in window.records.values()) == 80
    )
    assert {sent.key for window in found for records in window.records.values() for sent in records} == {None}


SENT = st.lists(st.tuples(st.integers(0, 40), st.integers(0, 400)), min_size=1, max_size=12)


@settings(max_examples=25)
@given(SENT, st.integers(100, 2_000))
def test_batches_keep_the_order_and_none_is_larger_than_its_limit_but_for_a_single_record(
    sizes: list[tuple[int, int]], bytes_max: int
) -> None:
    sent = [LaneRecord(place, b"k" * key, b"v" * value) for place, (key, value) in enumerate(sizes)]
    found = []
    for data in batches_of(sent, bytes_max):
        batch = batch_at(memoryview(data), 0)
        assert isinstance(batch, RecordBatch)
        records = list(batch.records())
        assert [record.offset for record in records] == list(range(len(records))), (
            "each batch is numbered from 0"
        )
        assert len(data) <= bytes_max or len(records) == 1
        found += [(record.timestamp, record.key, record.value) for record in records]
    assert found == [tuple(each) for each in sent]


def test_nothing_makes_no_batch_and_small_records_make_one() -> None:
    assert list(batches_of([], 4_096)) == []
    assert len(list(batches_of([LaneRecord(1, None, b"a")] * 20, 4_096))) == 1


def test_table_is_named_after_its_topic() -> None:
    assert latest_topic("flights") == "flights-latest"
