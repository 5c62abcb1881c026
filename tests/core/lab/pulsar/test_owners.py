"""Who owns which slots at one moment: small hash spaces by hand, held against a look at every slot, and the
caches of a lab's own."""

from types import SimpleNamespace
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from broker_core.errors import InvariantError
from broker_core.hashing.hash_range import Owner
from broker_core.hashing.murmur3 import murmur3_32
from broker_core.lab.pulsar.owners import Assignment, KeyHashes, RawSlices, is_program
from broker_core.lab.pulsar.reading import PulsarReading
from broker_core.lab.workload.live_keys import NO_KEY
from tests.core.lab.small import SECOND, lab_of, lane_of, order

SLOTS = 24
NAMES = {"1.1": "c1", "2.1": "c2", "3.1": "c3"}
HOLDERS: list[Owner] = ["1.1", "2.1", "3.1", None, ("1.1", "2.1"), ("3.1", "1.1", "2.1")]
SPACE = st.dictionaries(st.integers(0, SLOTS - 1), st.sampled_from(HOLDERS), min_size=1, max_size=6).map(
    lambda points: RawSlices(sorted(points), [points[at] for at in sorted(points)])
)
WHOLE = SPACE.filter(lambda raw: None not in raw.holders)


def assignment(raw: RawSlices, slots: int = SLOTS, first_slot: int = 0) -> Assignment:
    selector: Any = SimpleNamespace(space=slots, first_slot=first_slot)
    return Assignment(selector, raw, NAMES)


def holder(raw: RawSlices, slot: int) -> str | None:
    """Of the first bound at or after the slot, else the ring's first; those who share a slice take its slots
    in turn."""
    found = next((one for bound, one in zip(*raw, strict=True) if bound >= slot), raw.holders[0])
    return found[slot % len(found)] if isinstance(found, tuple) else found


@settings(max_examples=25)
@given(SPACE)
def test_each_slot_has_the_owner_that_a_look_at_it_gives(raw: RawSlices) -> None:
    made = assignment(raw)
    expected = [holder(raw, slot) for slot in range(SLOTS)]
    every = np.arange(SLOTS)
    assert made.holders_of(every) == [made.holder_of(slot) for slot in range(SLOTS)] == expected
    assert made.owners_of(every) == [None if one is None else NAMES[one] for one in expected]


@settings(max_examples=25)
@given(SPACE)
def test_shares_of_the_space_add_up_to_what_somebody_owns(raw: RawSlices) -> None:
    made = assignment(raw)
    owned = [made.holder_of(slot) for slot in range(SLOTS)]
    assert sum(made.slots_of.values()) == sum(one is not None for one in owned)
    if not any(isinstance(one, tuple) for one in raw.holders):
        assert made.slots_of == {NAMES[name]: owned.count(name) for name in NAMES if name in owned}


@settings(max_examples=25)
@given(WHOLE, st.integers(0, 1_000))
def test_messages_without_a_key_are_spread_to_the_last_one_where_every_slot_has_an_owner(
    raw: RawSlices, messages: int
) -> None:
    made = assignment(raw)
    spread = made.spread(messages)
    assert sum(spread.values()) == messages
    assert all(abs(count - messages * made.slots_of[name] / SLOTS) < 1 for name, count in spread.items())


def test_a_gaps_messages_are_nobodys() -> None:
    assert assignment(RawSlices([11, 23], ["1.1", None])).spread(100) == {"c1": 50}


@settings(max_examples=25)
@given(
    SPACE.filter(lambda raw: not any(isinstance(one, tuple) for one in raw.holders)),
    st.sets(st.sampled_from(sorted(NAMES))),
    st.sampled_from([0, 1]),
)
def test_dark_is_what_nobody_owns_or_a_dead_one(raw: RawSlices, dead: set[str], first_slot: int) -> None:
    dark = sum(holder(raw, slot) is None or holder(raw, slot) in dead for slot in range(first_slot, SLOTS))
    assert assignment(raw, first_slot=first_slot).dark_units(dead) == dark * 10_000 // (SLOTS - first_slot)


@pytest.mark.parametrize(
    ("bounds", "holders"),
    [
        ([5, 5], ["1.1", "2.1"]),
        ([9, 5], ["1.1", "2.1"]),
        ([-1, 5], ["1.1", "2.1"]),
        ([5, SLOTS], ["1.1", "2.1"]),
        ([5], ["1.1", "2.1"]),
    ],
    ids=["twice", "descending", "below the space", "above it", "more owners than slices"],
)
def test_answer_that_no_selector_may_give_is_a_broken_law(bounds: list[int], holders: list[Owner]) -> None:
    with pytest.raises(InvariantError):
        assignment(RawSlices(bounds, holders)).check()
    assignment(RawSlices([0, 5, SLOTS - 1], ["1.1", None, ("2.1", "3.1")])).check()


class Texts:
    def key_bytes(self, code: int) -> bytes:
        return b"key-%d" % code


def test_key_is_hashed_once_and_a_message_without_one_as_pulsar_3_2_does() -> None:
    hashes = KeyHashes(Texts())  # type: ignore[arg-type]  # nobody asks for more here
    assert (
        hashes[4] == murmur3_32(b"key-4")
        and hashes[NO_KEY] == murmur3_32("NONE_KEY")
        and set(hashes) == {4, NO_KEY}
    )
    assert (hashes.key_text(4), hashes.key_text(NO_KEY)) == ("key-4", "")


def test_ordering_key_decides_in_place_of_the_key() -> None:
    hashes = KeyHashes(Texts(), ordering_keys=3)  # type: ignore[arg-type]
    assert (
        hashes[7] == hashes[1] == murmur3_32(b"key-1")
        and hashes.key_text(8) == "key-2"
        and hashes[NO_KEY] == murmur3_32("NONE_KEY")
    )


@pytest.mark.parametrize(("node", "program"), [("c1", True), ("c1~2", True), ("(audit-1)", False)])
def test_readers_are_no_programs_of_the_lab(node: str, program: bool) -> None:
    assert is_program(node) is program


def test_assignment_is_the_same_object_until_the_selector_answers_otherwise() -> None:
    lab = lab_of("pulsar", seconds=2)
    lane = lane_of(lab)
    assert isinstance(lane.reads, PulsarReading)
    owners, broker = lane.reads.owners, lane.reads.broker()
    first = owners.now(broker)
    owners.forget()
    assert owners.now(broker) is first
    order(lab, "join", seconds=1)
    assert owners.now(lane.reads.broker()) is not first and set(owners.now(lane.reads.broker()).slots_of) == {
        "c1",
        "c2",
        "c3",
    }


def test_weights_are_the_messages_so_far_by_the_owner_of_now() -> None:
    lab = lab_of("pulsar", rate=20, seconds=3)
    for _ in range(2):
        lane = lane_of(lab)
        assert isinstance(lane.reads, PulsarReading)
        owners, broker = lane.reads.owners, lane.reads.broker()
        counted: dict[str | None, int] = {}
        for index in range(lane.next_record):
            name = owners.now(broker).names[owners.holder_of(broker, lab.workload.key_code(index)) or ""]
            counted[name] = counted.get(name, 0) + 1
        assert lane.reads.weights() == {name: counted.get(name, 0) for name in lane.consumers}
        order(lab, "join", seconds=2)
    assert lab.now_us == 7 * SECOND
