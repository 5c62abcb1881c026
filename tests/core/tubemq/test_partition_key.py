import pytest

from broker_core.errors import CommandError
from broker_core.tubemq.partition_key import PartitionKey, parse_partition_key, partition_ids


@pytest.mark.parametrize("text", ["1:test:0", "136:demo_topic:0", "1:orders:10000"])
def test_a_key_is_its_three_parts_and_back(text: str) -> None:
    assert str(parse_partition_key(text)) == text


def test_the_partition_id_tells_the_store() -> None:
    assert [PartitionKey(1, "t", number).store for number in partition_ids(3, 2)] == [0, 0, 1, 1, 2, 2]


@pytest.mark.parametrize("text", ["", "1:t", "1:t:0:0", "b:t:0", "1:t:x", "1: :0", "-1:t:0", "1:t:٣"])
def test_another_form_is_refused(text: str) -> None:
    with pytest.raises(CommandError, match="partition_key"):
        parse_partition_key(text)


@pytest.mark.parametrize(("stores", "per_store"), [(-1, 1), (1, -1), (2, 10_001)])
def test_impossible_counts_are_refused(stores: int, per_store: int) -> None:
    with pytest.raises(CommandError):
        partition_ids(stores, per_store)
