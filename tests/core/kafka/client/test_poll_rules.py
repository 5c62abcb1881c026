"""What the consumer on the lane of one broker asks for, commits and forgets between two polls."""

from collections import deque

from hypothesis import given
from hypothesis import strategies as st

from broker_core.clock import SECOND_US
from broker_core.kafka import requests as r
from broker_core.kafka.client.consumer import AUTO_COMMIT_INTERVAL_US, Consumer, ConsumerState, Fetched, Join
from broker_core.lab.observers.kafka_pause import KafkaNotes
from broker_core.sim.node import PERSON, Closed
from broker_core.sim.program import DONE, Leave, Program
from tests.core.kafka.client.test_consumer import ME, joined, reading
from tests.core.playbook import Counted, Played, play, wake


def test_each_record_that_poll_gives_is_counted_with_its_place():
    places = []
    node = Consumer(
        ConsumerState("c1", "g", "t", 4, "range", Program(100)),
        Counted(),
        lambda number, offset, end: places.append((number, offset, end)),
    )
    node.state.connection, node.state.owned, node.state.positions = 1, [0, 3], {0: 5, 3: 7}
    out = Played("c1")
    play(node, out, 1, r.FetchResponse([(0, 5, [50, 51]), (3, 7, [70])]))
    for _ in range(2):
        wake(node, out, DONE)
    assert places == [(0, 5, 6), (3, 7, 8), (0, 6, 7)], "in turn from each partition"


@given(
    st.lists(st.integers(0, 9), unique=True, min_size=1, max_size=5).flatmap(
        lambda owned: st.tuples(
            st.just(owned),
            st.dictionaries(st.sampled_from(owned), st.integers(1, 6)),
            st.integers(0, len(owned) - 1),
        )
    ),
    st.integers(1, 30),
)
def test_polls_one_after_the_other_are_what_each_is_by_itself(client, polls):
    owned, buffered, turn = client

    def node():
        made = KafkaNotes([0] * 10)
        made.high_read[owned[0]] = 102  # some are read again
        consumer = Consumer(
            ConsumerState("c1", "g", "t", 10, "range", Program(100)), Counted(), made.note_reads
        )
        state = consumer.state
        state.owned, state.turn, state.positions = owned, turn, dict.fromkeys(owned, 100)
        state.buffer = {
            number: Fetched(100, deque(range(number * 10, number * 10 + count)))
            for number, count in buffered.items()
        }
        return consumer, made

    (one, one_notes), (many, many_notes) = node(), node()
    taken = []
    for _ in range(polls):
        record = one.next_record()
        if record < 0:
            break
        taken.append(record)
    assert many.next_records(polls) == taken
    assert (many.state, many_notes) == (one.state, one_notes)


def test_what_is_fetched_reaches_the_program_when_poll_gives_it():
    node, out, counted = reading()
    play(node, out, 1, r.FetchResponse([(0, 0, [50, 51])]))
    assert counted.received_count == 1, "the second one is still the client's"
    wake(node, out, DONE)
    assert counted.received_count == 2


def test_a_second_fetch_waits_for_the_answer_to_the_first():
    node, out, _ = reading()
    node.fetch(out)
    assert out.take() == [], "the first one is under way"


def test_nothing_is_fetched_without_a_connection():
    node, out, _ = reading()
    play(node, out, 1, Closed("reset"))
    node.state.owned, node.state.positions, node.state.is_fetching = [0], {0: 0}, False
    node.fetch(out)
    assert out.take() == []


def test_a_fetch_that_answers_for_a_partition_given_up_meanwhile_is_thrown_away():
    node, out, _ = reading()
    node.state.owned = [1]  # its position is still known
    play(node, out, 1, r.FetchResponse([(0, 0, [50])]))
    assert 0 not in node.state.buffer and node.state.program.hand == -1


def test_an_error_of_a_partition_given_up_meanwhile_is_not_its_own():
    node, out, _ = reading()
    node.state.owned = [1]
    sent = play(node, out, 1, r.FetchResponse([], [(0, 0, r.OFFSET_OUT_OF_RANGE)]))
    assert (
        not [message for _, message in sent if isinstance(message, r.ListOffsetsRequest)]
        and node.state.positions[0] == 0
    )


def test_the_next_commit_is_due_five_seconds_after_the_last():
    node, out, _ = reading()
    assert wake(node, out, "commit") == [(1, r.OffsetCommitRequest("g", 1, ME, {0: 0, 1: 0}))], (
        "nothing is in hand, so it polls at once"
    )
    assert out.deadlines["commit"] == 2 * AUTO_COMMIT_INTERVAL_US


def test_a_member_on_its_way_into_a_generation_commits_once_and_not_by_the_clock():
    node, out, _ = reading()
    assert "commit" in out.deadlines
    play(node, out, 1, r.HeartbeatResponse(r.REBALANCE_IN_PROGRESS))
    assert "commit" not in out.deadlines and "heartbeat" not in out.deadlines
    assert node.state.commits_out == 1 and node.state.phase == "committing"


def test_only_what_is_new_in_an_assignment_is_asked_for_and_told():
    node, out, _ = reading("cooperative-sticky")
    out.told.clear()
    node.state.phase = "syncing"
    assert play(node, out, 1, r.SyncGroupResponse(0, [0, 1])) == [] and out.told == []
    node.state.phase = "syncing"
    assert play(node, out, 1, r.SyncGroupResponse(0, [0, 1, 3])) == [(1, r.OffsetFetchRequest("g", [3]))]
    assert out.told == [("kafka.consumer.assigned", {"client": "c1", "partitions": [3]})]


def test_a_sync_that_fails_waits_for_the_record_in_hand_before_it_joins_again():
    node, out, _ = reading("cooperative-sticky")
    play(node, out, 1, r.FetchResponse([(0, 0, [50, 51])]))
    node.state.phase = "syncing"
    assert (
        play(node, out, 1, r.SyncGroupResponse(r.REBALANCE_IN_PROGRESS, [])) == [] and node.state.must_rejoin
    )
    assert (
        next(type(message) for _, message in wake(node, out, DONE)) is r.OffsetCommitRequest
        and node.state.phase == "committing"
    )


def test_a_sticky_member_without_a_generation_brings_nothing():
    node, _, _ = joined("sticky")
    assert node.state.assigned == r.NO_GENERATION and node.subscription().user_data is None
    node.state.assigned, node.state.previous = 3, [0, 2]
    assert (
        node.subscription().user_data.partitions == (("t", 0), ("t", 2))
        and node.subscription().user_data.generation == 3
    )
    node, _, _ = joined("range")
    node.state.assigned = 3
    assert node.subscription().user_data is None, "range remembers nothing"


def test_one_that_leaves_before_it_has_an_id_has_no_group_to_leave():
    node = Consumer(
        ConsumerState("c1", "g", "t", 4, "range", Program(100)), Counted(), lambda partition, offset: None
    )
    out = Played("c1")
    play(node, out, PERSON, Join("broker"))
    assert play(node, out, PERSON, Leave()) == [] and out.closed == [1]


def test_one_that_leaves_keeps_nothing_of_its_group():
    node, out, _ = reading()
    play(node, out, 1, r.FetchResponse([(1, 0, [60])], [(0, 0, r.OFFSET_OUT_OF_RANGE)]))
    assert node.state.resetting == [0]
    play(node, out, PERSON, Leave())
    state = node.state
    assert (state.owned, state.positions, state.resetting, state.buffer, state.commits_out) == (
        [],
        {},
        [],
        {},
        0,
    )
    assert out.deadlines == {} and state.connection == 0 and state.phase == "out"


def test_a_member_without_partitions_has_none_to_lose():
    node, out, _ = joined()
    out.told.clear()
    play(node, out, 1, r.HeartbeatResponse(r.UNKNOWN_MEMBER_ID))
    assert out.told == [], "no revoke is told of nothing"


def test_who_is_not_known_any_more_forgets_what_it_was_about_to_reset():
    node, out, _ = reading()
    play(node, out, 1, r.FetchResponse([], [(0, 0, r.OFFSET_OUT_OF_RANGE)]))
    play(node, out, 1, r.HeartbeatResponse(r.ILLEGAL_GENERATION))
    assert node.state.resetting == [] and node.state.member_id == ME, (
        "of another generation: its id is still good"
    )
    play(node, out, 1, r.ListOffsetsResponse({0: 7}))
    assert node.state.positions == {}


def test_a_broken_connection_takes_everything_with_it():
    node, out, counted = reading()
    play(node, out, 1, r.FetchResponse([(0, 0, [50, 51])]))
    play(node, out, 1, Closed("reset"), now_us=SECOND_US)
    assert counted.log == [("dropped", 50)] and out.deadlines == {} and node.state.hand == -1
    assert out.told[-1] == ("kafka.consumer.revoked", {"client": "c1", "partitions": [0, 1]})
