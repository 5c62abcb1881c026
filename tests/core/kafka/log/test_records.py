"""Records and batches: what is written can be read back, and a damaged batch never passes for a sound one."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from broker_core.kafka.log.batch_reader import read_batches
from broker_core.kafka.log.codecs import Codec, compress, decompress
from broker_core.kafka.log.errors import CodecFailed, CorruptRecord, InvalidRecord
from broker_core.kafka.log.record import Record, encode_pairs, encode_record, record_size, size_at
from broker_core.kafka.log.record_batch import RecordBatch, encode_batch, encode_pairs_batch, with_offset

nullable = st.none() | st.binary(max_size=100)
headers = st.lists(st.tuples(st.binary(max_size=12), nullable), max_size=3).map(tuple)
fields = st.tuples(st.integers(0, 9), st.integers(-(10**6), 10**13), nullable, nullable, headers)


@st.composite
def record_lists(draw: st.DrawFn) -> list[Record]:
    offset = draw(st.integers(0, 2**40))
    records = []
    for gap, time, key, value, record_headers in draw(st.lists(fields, min_size=1, max_size=8)):
        records.append(Record(offset, time, key, value, record_headers))
        offset += gap + 1
    return records


def only_batch(data: bytes) -> RecordBatch:
    (batch,) = read_batches(data)
    assert isinstance(batch, RecordBatch)
    return batch


@given(record_lists(), st.sampled_from(Codec))
def test_what_is_written_is_read_back(records: list[Record], codec: Codec) -> None:
    batch = only_batch(bytes(encode_batch(records, codec=codec).data))
    batch.ensure_valid()
    assert [record._replace(size_in_bytes=0) for record in batch.records()] == records
    assert batch.header.max_timestamp == max(record.timestamp for record in records)
    assert batch.header.last_offset == records[-1].offset


@given(st.lists(st.tuples(nullable, nullable), min_size=1, max_size=200))
def test_pairs_are_written_as_records_are_one_by_one(pairs: list[tuple[bytes | None, bytes | None]]) -> None:
    one_by_one = b"".join(
        encode_record(Record(i, 0, key, value), 0, 0) for i, (key, value) in enumerate(pairs)
    )
    assert encode_pairs(pairs) == (one_by_one, len(pairs))


def test_long_keys_and_many_records_leave_the_table_of_numbers() -> None:
    pairs = [(b"k" * 9000, b"v" * 20_000)] * 3 + [(b"", b"")] * 20_000
    batch = encode_pairs_batch(pairs)
    assert [(record.key, record.value) for record in only_batch(bytes(batch.data)).records()] == pairs
    assert batch.header.record_count == 20_003


@given(record_lists(), st.sampled_from(Codec), st.integers(0, 2**62), st.integers(0, 2**31 - 1))
def test_the_broker_moves_a_batch_without_breaking_its_crc(
    records: list[Record], codec: Codec, offset: int, epoch: int
) -> None:
    moved = with_offset(encode_batch(records, codec=codec), offset, epoch)
    read = only_batch(bytes(moved.data))
    assert read.header == moved.header
    read.ensure_valid()
    shift = offset - records[0].offset
    assert [record.offset - shift for record in read.records()] == [record.offset for record in records]


@pytest.mark.parametrize("codec", Codec)
def test_large_data_of_either_kind_goes_through_every_codec(codec: Codec) -> None:
    repeating = b"abcdefgh" * 40_000
    # Bytes that no codec can shorten: the digits of a chain of checksums.
    stubborn = b"".join(pow(3, i, 2**64 - 59).to_bytes(8) for i in range(20_000))
    for data in (b"", b"x", repeating, stubborn):
        out = decompress(codec, compress(codec, data))
        assert (bytes(out.data), out.failure) == (data, None)


def test_ten_thousand_single_bit_flips_are_all_noticed() -> None:
    """Every bit behind the fields that the broker may set, in batches of each codec: the CRC tells, or the
    walk does."""
    flips = 0
    for codec in Codec:
        pairs = [(b"key-%d" % i, b"value-%d" % (i * i)) for i in range(40 if codec else 10)]
        data = bytes(encode_pairs_batch(pairs, timestamp=1_700_000_000_000, codec=codec).data)
        for bit in range(8 * 8, len(data) * 8):
            if 12 * 8 <= bit < 16 * 8:
                continue  # the leader epoch, which the broker sets and the CRC leaves out
            damaged = bytearray(data)
            damaged[bit // 8] ^= 1 << bit % 8
            flips += 1
            try:
                batches = list(read_batches(damaged))
                for batch in batches:
                    batch.ensure_valid()
            except CorruptRecord:
                continue
            assert batches == [], "a longer length: the batch is cut off, and so not given"
    assert flips >= 10_000


@pytest.mark.parametrize("codec", [codec for codec in Codec if codec])
@given(data=st.data())
def test_a_damaged_stream_ends_in_an_error_of_ours_or_in_records(codec: Codec, data: st.DataObject) -> None:
    batch = encode_pairs_batch([(b"key", b"some value" * 5)] * 5, codec=codec)
    position = data.draw(st.integers(61, len(batch.data) - 1))
    damaged = bytearray(batch.data)
    damaged[position] ^= data.draw(st.integers(1, 255))
    try:
        list(only_batch(bytes(damaged)).records())
    except (CodecFailed, InvalidRecord):
        pass


def test_a_gzip_stream_names_no_operating_system() -> None:
    """As Java's since 16; recorded: each gzip batch of tests/vectors/kafka/records/batches.json begins with
    these bytes."""
    packed = compress(Codec.GZIP, b"abc" * 50)
    assert packed[:10].hex() == "1f8b08000000000000ff"
    assert decompress(Codec.GZIP, packed).data == b"abc" * 50


sizes = st.one_of(st.integers(0, 140), st.integers(8_100, 8_300), st.just(70_000))


@given(st.none() | sizes, st.none() | sizes, st.integers(0, 20_000), st.integers(-(10**9), 10**9))
def test_a_record_s_size_is_known_before_it_is_written(
    key: int | None, value: int | None, delta: int, later_ms: int
) -> None:
    pair = [None if count is None else bytes(count) for count in (key, value)]
    counts = [-1 if count is None else count for count in (key, value)]
    written = encode_record(Record(delta, later_ms, *pair), 0, 0)
    assert record_size(*counts, delta, later_ms) == len(written)
    first = record_size(*counts)
    assert size_at(first, delta) == record_size(*counts, delta)
