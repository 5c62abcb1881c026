"""A consuming program that plans: what it posts, how far it has come, and what is left when somebody
interrupts it."""

from broker_core.events import Cause
from broker_core.plain import to_plain
from broker_core.rabbitmq import methods as m
from broker_core.rabbitmq.client.plan import PLANNED_MAX
from broker_core.rabbitmq.client.worker import Subscribe, Worker, WorkerState
from broker_core.sim.node import PERSON
from broker_core.sim.program import DONE, Leave, Pace, Pause, Program, Resume
from tests.core.playbook import Counted, Played, play

SERVICE_US = 100


class Glanced(Counted):
    """Traffic that nobody watches message by message."""

    is_watched = False


def worker() -> tuple[Worker, Played, Glanced]:
    counted = Glanced()
    node, out = Worker(WorkerState("c1", "q", 0, Program(SERVICE_US)), counted), Played("c1")
    play(node, out, PERSON, Subscribe("broker"))
    return node, out, counted


def delivery(tag: int, message: int | None = None) -> m.BasicDeliver:
    return m.BasicDeliver(1, "ctag", tag, tag % 2 == 0, tag + 10 if message is None else message)


def expect(node: Worker, out: Played, *coming: tuple[int, int]) -> None:
    """coming: (tag, when it arrives)."""
    for tag, at_us in coming:
        node.expect(delivery(tag), at_us, Cause(command=tag), out)


def posted(out: Played) -> list[tuple[int, int]]:
    """(tag, when its ack leaves)."""
    assert all(
        connection == 1 and type(message) is m.BasicAck and not message.multiple
        for connection, message, _ in out.posted
    )
    return [(message.delivery_tag, leaves_us) for _, message, leaves_us in out.posted]


def test_an_ack_is_posted_for_the_moment_at_which_its_message_is_done():
    node, out, counted = worker()
    assert play(node, out, 1, delivery(1), now_us=50) == []
    assert posted(out) == [(1, 150)] and DONE not in out.deadlines and out.room == PLANNED_MAX - 1
    expect(node, out, (2, 60), (3, 70), (4, 900))
    assert posted(out) == [(1, 150), (2, 250), (3, 350), (4, 1_000)], (
        "one after the other; the last after a pause"
    )
    assert counted.log == []


def test_whoever_looks_finds_what_has_happened_by_then():
    node, out, counted = worker()
    play(node, out, 1, delivery(1), now_us=50)
    expect(node, out, (2, 60), (3, 400))
    for now_us, hand, handled in (
        (140, 11, []),
        (150, 12, [11]),
        (249, 12, [11]),
        (250, -1, [11, 12]),
        (399, -1, [11, 12]),
        (400, 13, [11, 12]),
    ):
        node.settle(now_us, out)
        assert (node.state.program.hand, counted.log) == (
            hand,
            [("handled", message) for message in handled],
        ), now_us
    assert posted(out) == [(1, 150), (2, 250), (3, 500)], "a look changes nothing"


def test_what_is_left_of_a_plan_does_not_depend_on_who_looked_when():
    states = []
    for looks in ((), (120,), (155,), (60, 149, 240)):
        node, out, _ = worker()
        play(node, out, 1, delivery(1), now_us=50)
        expect(node, out, (2, 60))
        for now_us in (*looks, 400):
            node.settle(now_us, out)
        states.append(to_plain(node.state))
    assert states == states[:1] * 4 and states[0]["hand_tag"] == 2 and states[0]["program"]["done_us"] == 250


def test_pause_leaves_one_in_hand_some_waiting_and_some_on_their_way():
    node, out, counted = worker()
    play(node, out, 1, delivery(1), now_us=50)
    expect(node, out, (2, 60), (3, 70), (4, 230), (5, 240))
    assert play(node, out, PERSON, Pause(), now_us=200) == []
    state = node.state
    assert posted(out) == [(1, 150)] and counted.log == [("handled", 11)]
    assert (state.program.hand, list(state.buffer), out.deadlines[DONE]) == (12, [(3, 13)], 250)
    assert out.put_on_way == [(230, delivery(4)), (240, delivery(5))] and out.room == 0, "with their flags"
    for message in (delivery(4), delivery(5)):
        play(node, out, 1, message, now_us=240)
    node.wake(DONE, out.deadlines.pop(DONE), out)
    assert out.take() == [(1, m.BasicAck(1, 2))] and DONE not in out.deadlines, (
        "it finishes what it has in hand"
    )
    play(node, out, PERSON, Resume(), now_us=1_000)
    assert posted(out)[1:] == [(3, 1_100), (4, 1_200), (5, 1_300)]


def test_pace_counts_from_the_next_message():
    node, out, _ = worker()
    play(node, out, 1, delivery(1), now_us=50)
    expect(node, out, (2, 60))
    play(node, out, PERSON, Pace(5_000), now_us=70)
    assert posted(out) == [(1, 150), (2, 5_150)] and DONE not in out.deadlines


def test_a_heartbeat_goes_out_before_what_has_not_left():
    node, out, _ = worker()
    play(node, out, 1, delivery(1), now_us=50)
    node.wake("heartbeat", 100, out)
    assert out.take() == [(1, m.Heartbeat())] and posted(out) == [(1, 150)]


def test_leaving_withdraws_what_is_not_done():
    node, out, counted = worker()
    play(node, out, 1, delivery(1), now_us=50)
    expect(node, out, (2, 60))
    assert play(node, out, PERSON, Leave(), now_us=160) == [(1, m.ChannelClose(1, 200, "Goodbye"))]
    assert (
        posted(out) == [(1, 150)]
        and counted.log == [("handled", 11), ("dropped", 12)]
        and DONE not in out.deadlines
    )


def test_more_than_may_be_planned_wait_and_are_planned_when_those_are_done():
    node, out, _ = worker()
    count = PLANNED_MAX + 3
    play(node, out, 1, *(delivery(tag) for tag in range(1, count + 1)), now_us=50)
    assert len(out.posted) == PLANNED_MAX and len(node.state.buffer) == 3 and out.room == 0
    assert out.deadlines[DONE] == 50 + PLANNED_MAX * SERVICE_US
    node.settle(out.deadlines[DONE], out)
    node.wake(DONE, out.deadlines.pop(DONE), out)
    assert posted(out) == [(tag, 50 + tag * SERVICE_US) for tag in range(1, count + 1)]
    assert DONE not in out.deadlines and out.room == PLANNED_MAX - 3


def test_its_plan_goes_on_with_what_the_message_followed_from():
    node, out, _ = worker()
    out.cause = Cause(command=7)
    play(node, out, 1, delivery(1), now_us=50)
    expect(node, out, (2, 60))
    assert node.state.program.because == Cause(command=7), "busy: what began the work"
    expect(node, out, (3, 900))
    assert node.state.program.because == Cause(command=3), "idle before"
