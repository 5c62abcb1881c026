"""Every message of a lab has an id, from which the rest is looked up: a record of the workload, what a person sent,
what a program sent."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from broker_core.lab.lab import Lab
from broker_core.lab.messages import (
    FIRST_OF_PROGRAMS,
    FIRST_SENT,
    IDS_EACH,
    PROGRAM_KEYS,
    Messages,
    Origin,
    Sent,
    first_of_program,
    origin,
)
from broker_core.lab.scenario import scenario_from_json
from broker_core.lab.workload.live_keys import NO_KEY
from broker_core.lab.workload.parse import workload_from_json
from tests.core.lab.small import SECOND, order

places = st.integers(0, IDS_EACH - 1)


@given(places, places, st.integers(1, 64), places)
def test_ids_of_different_origins_never_meet(record: int, position: int, program: int, place: int) -> None:
    assert origin(record) == Origin("workload", record)
    assert origin(FIRST_SENT + position) == Origin("person", position)
    assert origin(first_of_program(program) + place) == Origin("program", place, program)
    assert len({record, FIRST_SENT + position, first_of_program(program) + place}) == 3


WORKLOADS = [
    {"kind": "uniform", "keys": 20},
    {"kind": "flights", "key": "carrier"},
    {"kind": "keys", "keys": [["a", 1], ["b", 2]], "keyless": 1},
]


@pytest.mark.parametrize("workload", WORKLOADS, ids=lambda each: each["kind"])
def test_key_has_one_code_whoever_sent_it(workload: dict) -> None:
    messages = Messages(workload_from_json(workload))
    codes = [code for code in messages.codes_of(range(200)) if code != NO_KEY]
    for code in set(codes):
        sent = messages.send(Sent(code + 1, messages.key(code)))
        assert messages.key_code(sent) == code and messages.key_bytes(code) == messages.key(code).encode()
    first, second = messages.send(Sent(900, "of my own")), messages.send(Sent(901, "of my own"))
    assert messages.key_code(first) == messages.key_code(second) not in codes
    assert messages.key(messages.key_code(first)) == "of my own"
    assert messages.codes_of([3, first]) == [messages.key_code(3), messages.key_code(first)]


@pytest.mark.parametrize(
    ("key", "code"),
    [("key-3", 3), ("key-03", None), ("key-20", None), ("key--1", None), ("key-", None), ("³", None)],
)
def test_text_is_a_made_up_key_only_as_it_is_written(key: str, code: int | None) -> None:
    assert workload_from_json({"kind": "uniform", "keys": 20}).code_of(key) == code


def test_message_that_a_person_sent_has_what_they_gave_it_and_a_programs_has_no_payload() -> None:
    messages = Messages(workload_from_json({"kind": "uniform", "keys": 20}))
    sent = messages.send(Sent(4, None, "héllo", {"type": "order"}))
    assert (messages.key_code(sent), messages.payload(sent), messages.size(sent)) == (NO_KEY, "héllo", 6)
    assert messages.properties(sent) == {"type": "order"} and messages.properties(3) == {}
    assert messages.payload(3) == workload_from_json({"kind": "uniform", "keys": 20}).payload(3)
    program = first_of_program(2)
    assert (messages.properties(program), messages.payload(program)) == ({}, "")


def test_programs_messages_have_a_few_keys_in_turn_the_same_for_each_program() -> None:
    messages = Messages(workload_from_json({"kind": "uniform", "keys": 20}))
    first, second = (
        [messages.key_code(first_of_program(number) + place) for place in range(14)] for number in (1, 2)
    )
    assert first == second and len(set(first)) == len(PROGRAM_KEYS) and NO_KEY not in first
    assert [messages.key(code) for code in first[:6]] == list(PROGRAM_KEYS) and first[6:12] == first[:6]
    assert messages.key_bytes(first[0]) == PROGRAM_KEYS[0].encode()
    sent = messages.send(Sent(4, PROGRAM_KEYS[0], "by hand"))
    assert messages.key_code(sent) == first[0], "one key has one code, whoever uses it"
    assert messages.codes_of([sent, first_of_program(3)]) == [first[0], first[0]]


def values_of(lab: Lab, topic: str) -> list[int]:
    """What the leaders' logs of a topic hold."""
    found = []
    for slot in lab.lanes["kafka"].world.slots.values():
        for (name, number), replica in getattr(slot.node.state, "replicas", {}).items():
            if name == topic and replica.partition.is_leader:
                log = slot.node.state.disk.logs[name, number]
                found += [
                    value
                    for segment in log.segments
                    for batch in segment.held
                    if not batch.header.is_control
                    for value in batch.values
                ]
    return found


def test_brokers_hold_the_ids_of_what_people_and_programs_send_also_after_a_checkpoint() -> None:
    lane = {"model": "kafka", "brokers": 3, "partitions": 2, "offsets_partitions": 1}
    scenario = scenario_from_json(
        {"lanes": [lane], "consumers": 2, "workload": {"kind": "uniform", "keys": 5, "rate": 5}}
    )
    lab = Lab(scenario)
    lab.advance_to(SECOND)
    order(lab, "cluster_send_record", partition=1, key="mine")
    (position,) = lab.sent
    order(lab, "cluster_create_topic", topic="t-1", partitions=1, replication_factor=2, seconds=1)
    order(lab, "cluster_start_writer", writer=2, topic="t-1", seconds=3)
    sent = [value for value in values_of(lab, "records") if value >= FIRST_SENT]
    assert sent == [FIRST_SENT + position]
    written = values_of(lab, "t-1")
    assert written == [first_of_program(2) + place for place in range(len(written))] and len(written) >= 4
    assert min(written) >= FIRST_OF_PROGRAMS
    back = Lab.restore(scenario, lab.checkpoint())
    assert (
        back.messages.key(back.messages.key_code(sent[0])) == "mine" and back.checkpoint() == lab.checkpoint()
    )
