"""A file's name as a topic: whatever it is called, a lane can take it."""

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from broker_core.lab.fields import LANE_ID
from broker_core.lab.topic import LENGTH_MAX, topic_of_name, workload_topic
from broker_core.lab.workload.parse import workload_from_json


@settings(max_examples=50)
@given(st.text(max_size=60))
def test_whatever_a_file_is_called_its_topic_is_a_name_that_no_lane_reserves(name: str) -> None:
    topic = topic_of_name(name)
    assert LANE_ID.fullmatch(topic) and topic not in ("all", "lab") and topic_of_name(topic) == topic


@pytest.mark.parametrize(
    ("name", "topic"),
    [
        ("Orders of May.csv.gz", "orders-of-may"),
        ("a/b/c.csv", "c"),
        ("ALL.csv", "all-records"),
        ("lab", "lab-records"),
        ("2013.csv", "records"),
        ("--x--.csv", "x"),
        ("a  &  b.csv", "a-b"),
        ("x" * 40, "x" * LENGTH_MAX),
        ("x" * 31 + "-y", "x" * 31),
        ("", "records"),
        (".csv", "records"),
        ("crème_brûlée.csv", "cr-me_br-l-e"),
    ],
)
def test_name_keeps_what_a_topic_may_have(name: str, topic: str) -> None:
    assert topic_of_name(name) == topic


@pytest.mark.parametrize(
    ("workload", "topic"),
    [({"kind": "uniform", "keys": 3}, "records"), ({"kind": "hot_key", "keys": 3}, "records"),
    ({"kind": "keys", "name": "Q1 sales", "keys": [["a", 1]]}, "q1-sales"),
     ({"kind": "keys", "keys": [["a", 1]]}, "keys")],
)  # fmt: skip
def test_records_are_in_a_topic_named_after_their_source(workload: dict[str, object], topic: str) -> None:
    assert workload_topic(workload_from_json(workload).to_json()) == topic
