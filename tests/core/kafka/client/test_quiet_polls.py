"""Records that are fetched and that nobody watches are handled without a step of the world, until the program
asks for more, commits or joins."""

from broker_core.kafka import requests as r
from broker_core.sim.node import PERSON
from broker_core.sim.program import DONE, Leave, Pace, Pause, Resume
from tests.core.kafka.client.test_consumer import ME, reading
from tests.core.playbook import play, wake


def fetched(*records, owned=(0, 1), now_us=1_000):
    """It has these of each partition that it owns, from 1,000 on; a record takes 100."""
    node, out, counted = reading(owned=owned)
    counted.is_watched = False
    play(
        node,
        out,
        1,
        r.FetchResponse([(number, 0, list(values)) for number, values in zip(owned, records, strict=False)]),
        now_us=now_us,
    )
    out.take()
    return node, out, counted


def handled(counted):
    return [record for what, record in counted.log if what == "handled"]


def test_it_wakes_when_a_partition_has_nothing_left_and_asks_for_more():
    node, out, counted = fetched([1, 2, 3], [101, 102, 103])
    assert not node.state.is_fetching and out.deadlines[DONE] == 1_400, (
        "with the fifth record partition 0 is empty"
    )
    ((_, fetch),) = wake(node, out, DONE)
    assert fetch.offsets == {0: 3} and handled(counted) == [1, 101, 2, 102] and node.state.program.hand == 3


def test_while_a_fetch_is_under_way_it_needs_no_deadline():
    node, out, counted = fetched([1, 2])
    assert node.state.is_fetching and DONE not in out.deadlines
    node.settle(9_000, out)
    assert (
        handled(counted) == [1, 2] and node.state.program.hand == -1 and node.state.positions == {0: 2, 1: 0}
    )
    play(node, out, 1, r.FetchResponse([(1, 0, [101])]), now_us=9_500)
    assert node.state.program.hand == 101 and node.state.program.done_us == 9_600


def test_who_looks_finds_what_is_handled_by_then():
    node, out, counted = fetched([1, 2, 3], [101, 102, 103])
    node.settle(1_099, out)
    assert handled(counted) == [] and node.state.program.hand == 1
    node.settle(1_250, out)
    assert handled(counted) == [1, 101] and node.state.hand == 0 and node.state.program.done_us == 1_300
    node.settle(9_000, out)
    assert handled(counted) == [1, 101, 2], "with the next one comes a fetch, so it waits for its deadline"
    assert out.take() == []


def test_a_commit_that_is_due_waits_for_the_record_in_hand_only():
    node, out, counted = fetched([1, 2, 3], [101, 102, 103])
    out.deadlines["commit"] = 1_150
    assert wake(node, out, "commit") == [] and out.deadlines[DONE] == 1_200
    assert wake(node, out, DONE) == [(1, r.OffsetCommitRequest("g", 1, ME, {0: 1, 1: 1}))]
    assert handled(counted) == [1, 101] and out.deadlines[DONE] == 1_400


def test_so_does_a_rebalance():
    node, out, _ = fetched([1, 2, 3], [101, 102, 103])
    assert play(node, out, 1, r.HeartbeatResponse(r.REBALANCE_IN_PROGRESS), now_us=1_150) == []
    assert out.deadlines[DONE] == 1_200
    assert type(wake(node, out, DONE)[0][1]) is r.OffsetCommitRequest


def test_a_paused_program_finishes_its_record():
    node, out, counted = fetched([1, 2, 3], [101, 102, 103])
    play(node, out, PERSON, Pause(), now_us=1_150)
    assert out.deadlines[DONE] == 1_200
    wake(node, out, DONE)
    assert handled(counted) == [1, 101] and node.state.program.hand == -1 and DONE not in out.deadlines
    play(node, out, PERSON, Resume(), now_us=5_000)
    assert node.state.program.hand == 2 and out.deadlines[DONE] == 5_200


def test_another_pace_holds_from_the_next_record_on():
    node, out, _ = fetched([1, 2, 3], [101, 102, 103])
    play(node, out, PERSON, Pace(1_000), now_us=1_150)
    assert node.state.program.done_us == 1_200 and out.deadlines[DONE] == 1_200 + 2 * 1_000


def test_one_that_leaves_commits_what_it_has_handled_by_then():
    node, out, counted = fetched([1, 2, 3], [101, 102, 103])
    sent = play(node, out, PERSON, Leave(), now_us=1_250)
    assert sent[0] == (1, r.OffsetCommitRequest("g", 1, ME, {0: 1, 1: 1})) and handled(counted) == [1, 101]
    assert counted.log[-1] == ("dropped", 2) and DONE not in out.deadlines


def test_a_stopped_process_is_done_with_its_record_when_it_goes_on():
    node, out, counted = fetched([1, 2, 3], [101, 102, 103])
    node.thaw(7_000, out)
    assert node.state.program.done_us == 7_000 and out.deadlines[DONE] == 7_300
    wake(node, out, DONE)
    assert handled(counted) == [1, 101, 2, 102]
