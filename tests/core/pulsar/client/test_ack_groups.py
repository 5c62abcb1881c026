"""Acknowledgements gather for a tenth of a second: when a group begins, what goes out with it, and what
becomes of it when its consumer goes."""

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from broker_core.pulsar import commands as c
from broker_core.pulsar.client.acks import ACKS
from broker_core.pulsar.client.consumer import HoldAcks, ReleaseAcks, Resubscribe
from broker_core.pulsar.settings import EXCLUSIVE, FAILOVER, KEY_SHARED, SHARED
from broker_core.sim.node import PERSON, Closed
from broker_core.sim.program import DONE, Leave
from tests.core.playbook import play, wake
from tests.core.pulsar.client.programs import ONE, TWO, batch, consumer, done, messages

GROUP_US = c.ACK_GROUP_US


def group(node, out):
    return [command for _, command in wake(node, out, ACKS)]


def test_group_begins_with_its_first_message_and_the_others_do_not_put_it_off():
    node, out = consumer()
    play(node, out, 1, *messages(1, 2, 3))
    assert done(node, out, 3) == [] and out.deadlines[ACKS] == 100 + GROUP_US
    assert group(node, out) == [c.CommandAck(ONE, [1, 2, 3])]


def test_next_group_begins_with_the_first_message_after_the_last_one_went():
    node, out = consumer()
    play(node, out, 1, *messages(1))
    done(node, out)
    group(node, out)
    assert ACKS not in out.deadlines, "nothing gathers"
    play(node, out, 1, *messages(2), now_us=5_000_000)
    done(node, out)
    assert out.deadlines[ACKS] == 5_000_100 + GROUP_US and group(node, out) == [c.CommandAck(ONE, [2])]


def test_each_part_has_a_command_of_its_own_in_the_group():
    node, out = consumer(partitions=3)
    play(node, out, 1, *messages(1, consumer_id=TWO), *messages(4), *messages(2, consumer_id=TWO))
    done(node, out, 3)
    assert group(node, out) == [c.CommandAck(ONE, [4]), c.CommandAck(TWO, [1, 2])]


def test_first_one_of_another_part_does_not_put_the_group_off():
    """Else a program that takes its messages from ever other partitions would tell its broker nothing for
    seconds."""
    node, out = consumer(partitions=2)
    play(node, out, 1, *messages(1), *messages(1, 2, consumer_id=TWO))
    done(node, out, 2)
    assert out.deadlines[ACKS] == 100 + GROUP_US
    assert group(node, out) == [c.CommandAck(ONE, [1]), c.CommandAck(TWO, [1])]
    done(node, out)
    assert out.deadlines[ACKS] == 300 + GROUP_US


def test_place_of_a_batch_begins_the_group_of_all_parts_too():
    node, out = consumer(partitions=2, acks_batch_index=True)
    play(node, out, 1, batch(7, 70, 71), *messages(1, consumer_id=TWO))
    done(node, out, 3)
    assert out.deadlines[ACKS] == 100 + GROUP_US


@pytest.mark.parametrize("kind", [EXCLUSIVE, FAILOVER])
def test_cumulative_group_names_the_highest_of_each_part_only(kind):
    node, out = consumer(kind, partitions=2, acks_cumulatively=True)
    play(node, out, 1, *messages(5, 6), *messages(9, consumer_id=TWO), *messages(7))
    done(node, out, 4)
    assert group(node, out) == [c.CommandAck(ONE, [7], True), c.CommandAck(TWO, [9], True)]


def test_without_a_group_time_a_cumulative_one_goes_out_for_each_message():
    node, out = consumer(FAILOVER, acks_cumulatively=True, ack_group_us=0)
    play(node, out, 1, *messages(5, 6))
    assert (
        done(node, out, 2) == [c.CommandAck(ONE, [5], True), c.CommandAck(ONE, [6], True)]
        and ACKS not in out.deadlines
    )


def test_places_of_a_batch_gather_with_whole_entries_in_one_command():
    node, out = consumer(acks_batch_index=True)
    play(node, out, 1, *messages(3), batch(7, 70, 71, 72), *messages(8))
    done(node, out, 3)
    assert node.state.parts[ONE].has_gathered
    assert (
        group(node, out) == [c.CommandAck(ONE, [3], False, {7: [0, 1]})]
        and not node.state.parts[ONE].has_gathered
    )


def test_place_that_is_first_in_its_group_begins_it():
    node, out = consumer(acks_batch_index=True)
    play(node, out, 1, batch(7, 70, 71, 72))
    assert done(node, out) == [] and out.deadlines[ACKS] == 100 + GROUP_US
    done(node, out)
    assert out.deadlines[ACKS] == 100 + GROUP_US


def test_batch_that_is_done_within_its_group_is_one_entry_and_does_not_put_the_group_off():
    node, out = consumer(acks_batch_index=True)
    play(node, out, 1, batch(7, 70, 71))
    done(node, out, 2)
    assert (
        out.deadlines[ACKS] == 100 + GROUP_US
        and group(node, out) == [c.CommandAck(ONE, [7])]
        and node.state.parts[ONE].batches == {}
    )


def test_batch_that_is_done_does_not_put_off_the_group_that_another_entry_began():
    node, out = consumer(acks_batch_index=True)
    play(node, out, 1, *messages(3), batch(7, 70, 71))
    done(node, out, 3)
    assert out.deadlines[ACKS] == 100 + GROUP_US and group(node, out) == [c.CommandAck(ONE, [3, 7])]


def test_without_batch_index_acknowledgement_nothing_is_said_of_a_batch_before_its_last_message():
    node, out = consumer()
    play(node, out, 1, batch(7, 70, 71, 72))
    assert done(node, out, 2) == [] and ACKS not in out.deadlines
    done(node, out)
    assert out.deadlines[ACKS] == 300 + GROUP_US and group(node, out) == [c.CommandAck(ONE, [7])]


def test_without_a_group_time_each_place_goes_out_by_itself():
    node, out = consumer(acks_batch_index=True, ack_group_us=0)
    play(node, out, 1, batch(7, 70, 71, 72))
    assert [done(node, out) for _ in range(3)] == [
        [c.CommandAck(ONE, [], False, {7: [0]})],
        [c.CommandAck(ONE, [], False, {7: [1]})],
        [c.CommandAck(ONE, [7])],
    ]


def test_rest_of_a_batch_names_its_places_in_the_whole_of_it():
    node, out = consumer(acks_batch_index=True, ack_group_us=0)
    play(node, out, 1, c.CommandMessage(ONE, 7, 70, 1, (71, 74), (1, 4)))
    assert done(node, out) == [c.CommandAck(ONE, [], False, {7: [1]})]


@pytest.mark.parametrize("end", [Leave(), Resubscribe([])])
def test_who_closes_its_consumer_sends_its_group_first(end):
    node, out = consumer(partitions=2, acks_batch_index=True)
    play(node, out, 1, *messages(1), *messages(2, consumer_id=TWO), batch(7, 70, 71))
    done(node, out, 3)
    sent = [command for _, command in play(node, out, PERSON, end)]
    assert sent[:4] == [
        c.CommandAck(ONE, [1], False, {7: [0]}),
        c.CommandAck(TWO, [2]),
        c.CommandCloseConsumer(3, ONE),
        c.CommandCloseConsumer(4, TWO),
    ]
    assert ACKS not in out.deadlines and all(not part.has_gathered for part in node.state.parts.values())


def test_broken_connection_loses_the_group():
    node, out = consumer()
    play(node, out, 1, *messages(1, 2))
    done(node, out)
    play(node, out, 1, Closed("reset"))
    assert ACKS not in out.deadlines and node.state.parts[ONE].acks == [] and node.state.unreported == 0


def test_part_that_its_broker_closes_loses_its_own_of_the_group():
    node, out = consumer(partitions=2)
    play(node, out, 1, *messages(1), *messages(2, consumer_id=TWO))
    done(node, out, 2)
    assert node.state.unreported == 2
    play(node, out, 1, c.CommandCloseConsumer(0, ONE))
    assert node.state.unreported == 1 and group(node, out) == [c.CommandAck(TWO, [2])]


def test_stuck_program_sends_the_group_that_had_begun_and_begins_none():
    node, out = consumer()
    play(node, out, 1, *messages(1, 2))
    done(node, out)
    play(node, out, PERSON, HoldAcks())
    done(node, out)
    assert group(node, out) == [c.CommandAck(ONE, [1])] and ACKS not in out.deadlines
    assert [message.entry for message in node.state.held] == [2]


def test_what_a_stuck_program_held_goes_out_in_a_group_that_begins_with_its_release():
    node, out = consumer(acks_batch_index=True)
    play(node, out, PERSON, HoldAcks())
    play(node, out, 1, *messages(1), batch(7, 70, 71, 72), *messages(2))
    done(node, out, 3)
    play(node, out, PERSON, ReleaseAcks(), now_us=8_000_000)
    assert out.deadlines[ACKS] == 8_000_000 + GROUP_US and group(node, out) == [
        c.CommandAck(ONE, [1], False, {7: [0, 1]})
    ]
    assert node.state.held == [] and not node.state.holds_acks


@pytest.mark.parametrize("kind", [SHARED, KEY_SHARED])
def test_cumulative_where_it_cannot_be_is_told_once_and_each_refusal_is_counted(kind):
    node, out = consumer(kind, acks_cumulatively=True, ack_timeout_us=1_000_000)
    play(node, out, 1, *messages(1, 2, 3), batch(7, 70, 71))
    done(node, out, 5)
    assert node.state.refused_acks == 5 and [what for what, _ in out.told] == ["pulsar.ack.refused"]
    assert [entry for _, _, entry, _ in node.state.tracked] == [1, 2, 3, 7], (
        "as its tracker sees it they are unacknowledged: their time runs on"
    )


@settings(max_examples=50, deadline=None)
@given(
    sizes=st.lists(st.integers(1, 4), min_size=1, max_size=8),
    group_us=st.sampled_from((0, 150, 450)),
    by_place=st.booleans(),
    held=st.sets(st.integers(0, 12)),
)
def test_each_entry_is_acknowledged_once_and_only_when_all_of_its_messages_are_done(
    sizes, group_us, by_place, held
):
    """Whenever it was stuck meanwhile: in the end the broker has heard of every entry, and of places of
    batches only, where it asked for them."""
    node, out = consumer(ack_group_us=group_us, acks_batch_index=by_place)
    number = 0
    for entry, size in enumerate(sizes):
        play(
            node,
            out,
            1,
            batch(entry, *range(number, number + size)) if size > 1 else c.CommandMessage(ONE, entry, number),
        )
        number += size
    acks, finished = [], 0
    while out.deadlines:
        name = min(out.deadlines, key=lambda name: (out.deadlines[name], name != DONE))
        if name == DONE:
            order = HoldAcks() if finished in held else ReleaseAcks()
            acks += [command for _, command in play(node, out, PERSON, order, now_us=out.deadlines[DONE])]
            finished += 1
        acks += [command for _, command in wake(node, out, name) if isinstance(command, c.CommandAck)]
    acks += [command for _, command in play(node, out, PERSON, ReleaseAcks(), now_us=10**6)]
    if ACKS in out.deadlines:
        acks += group(node, out)
    whole = [entry for command in acks for entry in command.entries]
    assert sorted(whole) == list(range(len(sizes))) and len(whole) == len(set(whole))
    places = {
        (entry, place)
        for command in acks
        for entry, places in (command.in_batch or {}).items()
        for place in places
    }
    assert by_place or not places
    assert all(0 <= place < sizes[entry] and sizes[entry] > 1 for entry, place in places)
