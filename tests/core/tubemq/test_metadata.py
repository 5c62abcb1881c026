import pytest

from broker_core.errors import CommandError
from broker_core.tubemq.metadata import PartitionMetadata, expand_topic_meta

KNOWN = PartitionMetadata().updated(7, ["t#1:1:2:1"], [1])


def test_a_broker_that_goes_offline_greys_its_partitions_and_takes_none_away() -> None:
    after = KNOWN.updated(8, ["t#1:1:2:0"], [1])
    assert after.status == {"1:t:0": False, "1:t:1": False}


@pytest.mark.parametrize(("meta_id", "topic_meta"), [(7, ["t#1:1:1:0"]), (-2, ["t#1:1:1:0"]), (8, [])])
def test_an_answer_with_nothing_new_is_ignored(meta_id: int, topic_meta: list[str]) -> None:
    assert KNOWN.updated(meta_id, topic_meta, [1]) is KNOWN


def test_unknown_brokers_and_blank_entries_are_passed_over() -> None:
    assert expand_topic_meta(["  ", "t#1:1:1:1,2:1:1:1"], [2]) == {"2:t:0": True}


@pytest.mark.parametrize("entry", ["t", "#1:1:1:1", "t#", "t#1:1:1", "t#1:1:x:1", "t#1:-1:1:1"])
def test_another_form_is_refused(entry: str) -> None:
    with pytest.raises(CommandError):
        expand_topic_meta([entry], [1])
