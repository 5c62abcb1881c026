"""A person's calls of the 17: their answers, whole, beside those of the program."""

from typing import Any

import pytest

from tests.core.lab.tubemq.test_commands import SMALL, panel
from tests.core.lab.tubemq.tubemq_lab import at, lab_of, order


def answer(lab: Any, call: str, consumer: str = "c1", **args: Any) -> Any:
    """A person's call, and its answer half a second later, once the program has made many of its own."""
    order(lab, "tubemq_call", consumer, call=call, **args)
    at(lab, lab.now_us / 1_000_000 + 0.5)
    return panel(lab)["clients"][consumer]["answers"][call]


def test_answer_to_a_persons_call_stays_beside_those_of_the_program() -> None:
    lab = lab_of(**SMALL)
    at(lab, 15)
    refused = answer(lab, "confirmConsume", key="1:flights:0:99999", number=1)
    assert (refused["code"], refused["why"]) == (400, "context_old")
    at(lab, 25)
    shown = panel(lab)["clients"]["c1"]
    assert shown["answers"]["confirmConsume"] == refused and refused["argument"] == "1:flights:0:99999"
    assert shown["calls"]["confirmConsume"]["code"] == 200
    assert shown["calls"]["confirmConsume"]["at_us"] > refused["at_us"] == 15_000_000


def test_answers_have_the_form_of_the_originals() -> None:
    lab = lab_of(**SMALL)
    at(lab, 15)
    ready = answer(lab, "isPartitionsReady", number=1000)
    assert (ready["code"], ready["value"]) == (None, True)
    assert answer(lab, "getPartitionMetaInfo")["value"] == dict.fromkeys(panel(lab)["partitions"], True)
    assert panel(lab)["clients"]["c1"]["calls"]["getPartitionMetaInfo"]["value"] == {
        "partitions": 6, "subscribable": 6,
    }  # fmt: skip
    token = answer(lab, "confirmConsume", key="1:flights:0:abc", number=1)
    assert (token["code"], token["exception"]) == (None, "NumberFormatException")
    for offset, end, at_us in answer(lab, "getCurPartitionOffsetInfos")["value"].values():
        assert offset % 28 == end % 28 == 0 and 0 < at_us <= lab.now_us
    stopped = answer(lab, "shutdown")
    assert (stopped["code"], stopped["value"], stopped["exception"]) == (None, None, "")


def test_batch_that_a_person_gets_shows_its_records_and_a_context_that_can_be_typed_back() -> None:
    lab = lab_of(rate=200, consumers=2, partitions=6, brokers=3)
    at(lab, 15, "pause", "c1")
    at(lab, 17)
    batch = answer(lab, "getMessage")["value"]
    assert batch["count"] >= len(batch["records"]) > 0
    assert [record["offset"] for record in batch["records"]] == [
        batch["curr_offset"] + 28 * place for place in range(len(batch["records"]))
    ]
    given = answer(lab, "confirmConsume", key=batch["context"], number=1)
    assert (
        given["code"] == 200 and given["value"]["curr_offset"] == batch["curr_offset"] + 28 * batch["count"]
    )
    assert answer(lab, "confirmConsume", key=batch["context"], number=1)["why"] == "context_old"


@pytest.mark.parametrize(
    ("call", "args", "why"),
    [
        ("start", {"key": "flights", "number": -1}, "running"),
        ("start", {"key": "", "number": -1}, "no_topics"),
        ("start", {"key": " ", "number": -1}, "topic_blank"),
        ("start", {"key": "t" * 65, "number": -1}, "topic_long"),
        ("start", {"key": "flights", "number": 2, "node_id": 2}, "node_outside"),
        ("start", {"key": "flights", "number": -1, "filters": "a, ,b"}, "filter_blank"),
        ("start", {"key": "flights", "number": -1, "filters": "a" * 257}, "filter_long"),
        ("connect2Partition", {"key": " "}, "key_blank"),
        ("disconnectFromPartition", {"key": ""}, "key_blank"),
        ("confirmConsume", {"key": ""}, "context_blank"),
        ("confirmConsume", {"key": "1:flights:0"}, "context_not_four"),
        ("confirmConsume", {"key": "1: :0:7"}, "context_part_blank"),
    ],
)
def test_refused_argument_names_the_check_that_refused_it(call: str, args: Any, why: str) -> None:
    lab = lab_of(**SMALL)
    at(lab, 15)
    refused = answer(lab, call, **args)
    assert (refused["code"], refused["why"]) == (400, why)


def test_start_with_filters_of_its_own_is_refused_by_the_master_and_leaves_them_behind() -> None:
    lab = lab_of(**SMALL)
    at(lab, 15)
    answer(lab, "shutdown")
    assert answer(lab, "start", key="flights", number=2, node_id=0, filters="a,b")["code"] == 426
    assert answer(lab, "isFilterConsume", key="flights")["value"] is True
