"""The small text files beside the segments: there and back, and that a damaged one counts as missing."""

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from broker_core.kafka.log.checkpoints import (
    LEADER_EPOCH,
    PARTITION_METADATA,
    REPLICATION,
    read_leader_epochs,
    read_offsets,
    read_topic_id,
    write_leader_epochs,
    write_offsets,
    write_topic_id,
)
from broker_core.kafka.log.memory_storage import MemoryFolder

NAMES = st.text("abc._-09", min_size=1, max_size=8)
ID = bytes(range(240, 256))


def with_file(name: str, content: bytes) -> MemoryFolder:
    folder = MemoryFolder()
    folder.replace(name, content)
    return folder


def test_rows_are_written_by_topic_and_partition_behind_version_and_count() -> None:
    folder = MemoryFolder()
    write_offsets(folder, REPLICATION, {("b", 0): 7, ("a", 10): 3, ("a", 2): 2**40})
    assert folder.read(REPLICATION) == b"0\n3\na 2 1099511627776\na 10 3\nb 0 7\n"
    write_offsets(folder, REPLICATION, {})
    assert folder.read(REPLICATION) == b"0\n0\n" and read_offsets(folder, REPLICATION) == {}


@settings(max_examples=50, deadline=None)
@given(st.dictionaries(st.tuples(NAMES, st.integers(0, 2**31 - 1)), st.integers(0, 2**63 - 1), max_size=6))
def test_law_what_was_written_is_read(offsets: dict[tuple[str, int], int]) -> None:
    folder = MemoryFolder()
    write_offsets(folder, REPLICATION, offsets)
    assert read_offsets(folder, REPLICATION) == offsets


@pytest.mark.parametrize(
    "content",
    [
        b"",
        b"0\n",
        b"1\n1\nt 0 7\n",
        b"0\n2\nt 0 7\n",
        b"0\n0\nt 0 7\n",
        b"0\nx\nt 0 7\n",
        b"0\n1\nt 0\n",
        b"0\n1\nt 0 seven\n",
        b"0\n1\nt zero 7\n",
        b"\xff\xfe",
        b"0\n1\nt 0 7\nt 1 8\n",
    ],
)
def test_a_damaged_file_of_offsets_counts_as_missing(content: bytes) -> None:
    assert read_offsets(with_file(REPLICATION, content), REPLICATION) == {}


def test_a_topic_may_have_a_space_in_a_file_that_others_have_written() -> None:
    assert read_offsets(with_file(REPLICATION, b"0\n1\nmy topic 3 7\n"), REPLICATION) == {("my topic", 3): 7}


@pytest.mark.parametrize(
    "content", [b"0\n1\n1 2 3\n", b"0\n1\n1\n", b"0\n1\n1 two\n", b"0\n2\n1 2\n", b"7\n1\n1 2\n"]
)
def test_a_damaged_file_of_epochs_counts_as_missing(content: bytes) -> None:
    assert read_leader_epochs(with_file(LEADER_EPOCH, content)) == []


def test_epochs_there_and_back() -> None:
    folder = MemoryFolder()
    assert read_leader_epochs(folder) == []
    write_leader_epochs(folder, [(0, 0), (4, 17)])
    assert read_leader_epochs(folder) == [(0, 0), (4, 17)]


@pytest.mark.parametrize(
    "content",
    [
        b"",
        b"version: 0\n",
        b"version: 0\ntopic_id: short\n",
        b"topic_id\n",
        b"version: 0\ntopic_id: " + b"A" * 24,
        b"\xff",
    ],
)
def test_a_damaged_topic_id_counts_as_missing(content: bytes) -> None:
    assert read_topic_id(with_file(PARTITION_METADATA, content)) is None


def test_a_topic_id_is_in_the_alphabet_of_urls_without_padding() -> None:
    folder = MemoryFolder()
    write_topic_id(folder, ID)
    text = folder.read(PARTITION_METADATA).decode()
    assert text == "version: 0\ntopic_id: 8PHy8_T19vf4-fr7_P3-_w" and read_topic_id(folder) == ID
