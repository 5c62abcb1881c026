"""Whoever changes what a checkpoint holds raises its version: the shape of each class of state is written
down beside the version it is of.

`ACCEPT_SHAPE=1 pytest tests/core/lab/test_state_shape.py` writes it down again.
"""

import json
import os
from dataclasses import dataclass, make_dataclass
from pathlib import Path

import msgspec
import pytest

from broker_core.lab.checkpoint import VERSION
from tests.core.lab.state_shape import described, shape

WRITTEN = Path(__file__).parent / "state_shape.json"
HOW = "`ACCEPT_SHAPE=1 pytest tests/core/lab/test_state_shape.py` writes the new shape down."


def complaint(written, classes, version, accepts=False):
    """What is to be done; "": nothing."""
    was = written["classes"]
    changed = [name for name in sorted({**was, **classes}) if was.get(name) != classes.get(name)]
    if changed and written["version"] == version:
        return (
            f"{', '.join(changed)}: the state in a checkpoint has another shape, and VERSION in "
            f"broker_core/lab/checkpoint.py is still {version}, "
            f"so an older checkpoint would be taken for what it is not. Raise VERSION; then {HOW}"
        )
    if written["version"] != version and not accepts:
        return (
            f"VERSION is {version}, and the shape that is written down is that of {written['version']}: {HOW}"
        )
    return ""


def test_state_has_the_shape_that_its_version_says():
    accepts, classes = bool(os.environ.get("ACCEPT_SHAPE")), shape()
    words = complaint(json.loads(WRITTEN.read_text()), classes, VERSION, accepts)
    assert not words, words
    if accepts:
        WRITTEN.write_text(json.dumps({"version": VERSION, "classes": classes}, indent=1) + "\n")


def test_another_shape_asks_for_another_version_and_then_to_be_written_down():
    written = {"version": 7, "classes": {"a.A": "1", "a.B": "2"}}
    other = {"a.A": "1", "a.B": "3", "a.C": "4"}
    assert complaint(written, written["classes"], 7) == ""
    assert complaint(written, other, 7).startswith("a.B, a.C: ") and "Raise VERSION" in complaint(
        written, other, 7
    )
    assert complaint(written, other, 7, accepts=True), (
        "an old version is not written down again for a new shape"
    )
    assert (
        "writes the new shape down" in complaint(written, other, 8)
        and complaint(written, other, 8, accepts=True) == ""
    )


@dataclass
class Inner:
    count: int


BEFORE = [("name", str), ("inner", list[Inner])]


@pytest.mark.parametrize(
    "after",
    [
        BEFORE[::-1],
        [("title", str), BEFORE[1]],
        [("name", int), BEFORE[1]],
        [("name", str), ("inner", dict[str, Inner])],
        [*BEFORE, ("more", int, 0)],
    ],
)
def test_a_field_that_is_added_moved_renamed_or_of_another_type_is_another_shape(after):
    assert described(make_dataclass("Outer", BEFORE)) == described(make_dataclass("Outer", BEFORE))
    assert described(make_dataclass("Outer", BEFORE))[0] != described(make_dataclass("Outer", after))[0]


def test_a_shape_names_the_classes_that_it_holds():
    assert Inner in described(make_dataclass("Outer", BEFORE))[1]
    assert (
        described(msgspec.defstruct("M", [("a", int)], tag="m"))[0]
        != described(msgspec.defstruct("M", [("a", int)], tag="n"))[0]
    )
    found = shape()
    for name in (
        "kafka.cluster.state.LeaderFetcher",
        "kafka.replication.replica_log.LightLog",
        "kafka.group.classic.group.ClassicGroup",
        "lab.shared.lane_orders.LaneState",
        "sim.network.LinkState",
        "pulsar.client.consumer_state.ConsumerState",
    ):
        assert f"broker_core.{name}" in found, name


class Own:
    def to_json(self):
        return {"a": 1}


class Other:
    def to_json(self):
        """Words do not count, what is written does."""
        return {"b": 1}


def test_a_class_that_writes_itself_has_the_shape_of_how_it_does():
    assert described(Own)[0] != described(Other)[0]
