"""Is a connection alive? The broker's ticks of 30 s, and the question for 5 s on behalf of a consumer that
somebody else keeps out."""

import pytest

from broker_core.pulsar import commands as c
from broker_core.pulsar.settings import EXCLUSIVE, KEY_SHARED, SHARED
from broker_core.sim.node import Closed, Opened
from tests.core.playbook import play, wake
from tests.core.pulsar.brokers import A, B, C, P, broker

PING, PONG = c.CommandPing(), c.CommandPong()
BUSY = "Exclusive consumer is already connected"


def subscribe(node, out, connection, kind=EXCLUSIVE, *, request=1, consumer=1, ranges=(), now_us=0):
    command = c.CommandSubscribe(request, consumer, {A: "a", B: "b", C: "c"}[connection], list(ranges), kind)
    return play(node, out, connection, command, now_us=now_us)


def held(**settings):
    """a has the one place of an Exclusive subscription."""
    node, out = broker(**settings)
    assert subscribe(node, out, A) == [(A, c.CommandSuccess(1))]
    return node, out


def refused(connection, request=1):
    return (connection, c.CommandError(request, c.CONSUMER_BUSY, BUSY))


# --- ticks


def test_ticks_count_from_the_moment_at_which_the_connection_was_opened():
    node, out = broker()
    play(node, out, 9, Opened("late"), now_us=7_000)
    assert out.deadlines["keep_alive:9"] == 7_000 + c.KEEP_ALIVE_US
    assert (
        wake(node, out, "keep_alive:9") == [(9, PING)]
        and out.deadlines["keep_alive:9"] == 7_000 + 2 * c.KEEP_ALIVE_US
    )


def test_answer_between_two_ticks_is_enough_for_as_long_as_they_come():
    node, out = broker()
    for _ in range(5):
        assert wake(node, out, f"keep_alive:{A}") == [(A, PING)]
        assert play(node, out, A, PONG) == []
    assert out.closed == [] and out.deadlines[f"keep_alive:{A}"] == 6 * c.KEEP_ALIVE_US


def test_connection_that_has_said_nothing_between_two_ticks_is_closed_with_what_it_had():
    node, out = held()
    wake(node, out, f"keep_alive:{A}")
    wake(node, out, f"keep_alive:{A}")
    assert out.closed == [A] and out.told[-2:] == [
        ("pulsar.connection.silent", {"client": "a"}),
        (
            "pulsar.consumer.disconnected",
            {"consumer": "a", "client": "a", "consumers": 0, "redelivered": 0, "waiting": 0},
        ),
    ]
    assert out.rules[-2] == "pulsar.keep_alive.two_ticks" and A not in node.state.connections


def test_silent_producer_is_closed_too_and_what_it_sends_then_is_not_heard():
    node, out = broker()
    for _ in range(2):
        wake(node, out, f"keep_alive:{P}")
    assert out.closed == [P] and P not in node.state.connections and node.producers == {}
    assert play(node, out, P, c.CommandSend(1, 0, 0)) == [] and node.topic("topic", -1).ledger.end == 0


def test_closed_connection_ticks_no_more():
    node, out = held()
    play(node, out, A, Closed("reset"))
    assert (
        not [name for name in out.deadlines if name.endswith(f":{A}")] and f"keep_alive:{B}" in out.deadlines
    )


# --- the question


def test_holder_is_asked_once_however_many_wait_for_its_word():
    node, out = held()
    assert subscribe(node, out, B, now_us=100) == [(A, PING)] and subscribe(node, out, C, now_us=200) == []
    assert out.deadlines[f"liveness:{A}"] == 100 + c.LIVENESS_TIMEOUT_US
    assert play(node, out, A, PONG) == [refused(B), refused(C)] and f"liveness:{A}" not in out.deadlines
    assert node.state.connections[A].asking == []


@pytest.mark.parametrize("word", [PONG, c.CommandFlow(1, 10)], ids=["pong", "flow"])
@pytest.mark.parametrize(
    "leaves", [[c.CommandCloseConsumer(2, 1), Closed("closed")], [Closed("reset")]], ids=["closes", "breaks"]
)
def test_word_counts_also_when_who_asked_for_it_has_left(leaves, word):
    node, out = held()
    subscribe(node, out, B)
    for message in leaves:
        play(node, out, B, message)
    assert f"liveness:{A}" in out.deadlines
    assert play(node, out, A, word) == [] and f"liveness:{A}" not in out.deadlines


def test_holder_is_asked_once_while_those_who_wait_come_and_leave():
    node, out = held()
    assert subscribe(node, out, B, now_us=100) == [(A, PING)]
    play(node, out, B, c.CommandCloseConsumer(2, 1))
    assert subscribe(node, out, C, now_us=200) == []
    assert out.deadlines[f"liveness:{A}"] == 100 + c.LIVENESS_TIMEOUT_US


def test_refusal_is_told_when_the_word_has_come_and_not_before():
    node, out = held()
    told = len(out.told)
    subscribe(node, out, B)
    assert len(out.told) == told
    play(node, out, A, PONG)
    assert out.told[told:] == [
        ("pulsar.consumer.refused", {"consumer": "b", "error": c.CONSUMER_BUSY, "message": BUSY})
    ]
    assert out.rules[-1] == "pulsar.dispatcher.exclusive"


def test_who_asks_again_after_a_refusal_has_the_holder_asked_again():
    node, out = held()
    subscribe(node, out, B)
    play(node, out, A, PONG)
    assert subscribe(node, out, B, request=2, now_us=900) == [(A, PING)]
    assert out.deadlines[f"liveness:{A}"] == 900 + c.LIVENESS_TIMEOUT_US


def test_first_in_line_is_let_in_when_the_holder_is_silent_and_then_the_next_one_asks_about_it():
    node, out = held()
    subscribe(node, out, B)
    subscribe(node, out, C)
    assert wake(node, out, f"liveness:{A}") == [(B, c.CommandSuccess(1)), (B, PING)]
    assert (
        out.closed == [A]
        and out.blamed == [A]
        and out.deadlines[f"liveness:{B}"] == 2 * c.LIVENESS_TIMEOUT_US
    )
    assert play(node, out, B, PONG) == [refused(C)]


def test_silence_is_told_with_its_own_rule_and_limit():
    node, out = held()
    subscribe(node, out, B)
    wake(node, out, f"liveness:{A}")
    kinds = [kind for kind, _ in out.told]
    assert kinds[-3:] == [
        "pulsar.connection.silent",
        "pulsar.consumer.disconnected",
        "pulsar.consumer.connected",
    ]
    assert out.rules[-3] == "pulsar.connection.liveness_check"


def test_holder_that_closes_its_connection_while_it_is_asked_makes_room():
    node, out = held()
    subscribe(node, out, B)
    assert (
        play(node, out, A, Closed("reset")) == [(B, c.CommandSuccess(1))]
        and f"liveness:{A}" not in out.deadlines
    )
    assert node.subscription().consumers == [f"{B}.1"]


def test_holder_that_closes_its_consumer_has_said_by_it_that_it_is_alive_and_only_the_next_one_finds_room():
    node, out = held()
    subscribe(node, out, B)
    assert play(node, out, A, c.CommandCloseConsumer(2, 1)) == [refused(B), (A, c.CommandSuccess(2))]
    assert subscribe(node, out, B, request=2) == [(B, c.CommandSuccess(2))]


def test_who_has_gone_meanwhile_is_neither_let_in_nor_refused():
    for end in ("word", "silence"):
        node, out = held()
        subscribe(node, out, B)
        play(node, out, B, Closed("reset"))
        assert (play(node, out, A, PONG) if end == "word" else wake(node, out, f"liveness:{A}")) == []


def test_who_closes_its_consumer_while_it_waits_takes_only_its_own_place_in_the_line():
    node, out = held()
    subscribe(node, out, B)
    subscribe(node, out, B, request=5, consumer=2)
    subscribe(node, out, C)
    play(node, out, B, c.CommandCloseConsumer(6, 1))
    assert [
        (connection, command.consumer_id) for connection, command in node.state.connections[A].asking
    ] == [(B, 2), (C, 1)]
    assert play(node, out, A, PONG) == [refused(B, 5), refused(C)]


def test_own_connection_has_just_spoken_so_its_second_consumer_is_refused_at_once():
    node, out = held()
    assert (
        subscribe(node, out, A, request=2, consumer=2) == [refused(A, 2)]
        and f"liveness:{A}" not in out.deadlines
    )


def test_other_type_is_refused_without_a_question():
    node, out = held()
    assert subscribe(node, out, B, SHARED) == [
        (B, c.CommandError(1, c.CONSUMER_BUSY, "Subscription is of different type"))
    ]


def test_answer_to_a_tick_is_a_word_for_who_waits():
    node, out = held()
    wake(node, out, f"keep_alive:{A}")
    assert subscribe(node, out, B, now_us=c.KEEP_ALIVE_US + 5) == [(A, PING)]
    assert play(node, out, A, PONG) == [refused(B)]
    assert wake(node, out, f"keep_alive:{A}") == [(A, PING)], "and it is alive for the ticks as well"


def test_tick_that_closes_the_holder_lets_in_who_waits_before_the_five_seconds_are_over():
    node, out = held()
    wake(node, out, f"keep_alive:{A}")
    subscribe(node, out, B, now_us=2 * c.KEEP_ALIVE_US - 5)
    assert (
        wake(node, out, f"keep_alive:{A}") == [(B, c.CommandSuccess(1))]
        and f"liveness:{A}" not in out.deadlines
    )


def test_tick_while_the_holder_is_asked_is_its_first_and_leaves_the_five_seconds_to_the_question():
    """ServerCnx.checkConnectionLiveness sends a ping of its own; only a tick's ping counts for the next
    tick."""
    node, out = held()
    subscribe(node, out, B, now_us=c.KEEP_ALIVE_US - 5)
    assert wake(node, out, f"keep_alive:{A}") == [(A, PING)] and out.closed == []
    assert out.deadlines[f"liveness:{A}"] == c.KEEP_ALIVE_US - 5 + c.LIVENESS_TIMEOUT_US
    assert wake(node, out, f"liveness:{A}") == [(B, c.CommandSuccess(1))] and out.closed == [A]


def test_sticky_ranges_ask_the_one_that_the_conflict_names():
    node, out = broker(order="draining")
    subscribe(node, out, A, KEY_SHARED, ranges=[(0, 99)])
    subscribe(node, out, B, KEY_SHARED, ranges=[(100, 199)])
    assert subscribe(node, out, C, KEY_SHARED, ranges=[(150, 160)]) == [(B, PING)]
    ((connection, answer),) = play(node, out, B, PONG)
    assert (connection, answer.error, answer.message) == (
        C,
        c.CONSUMER_ASSIGN_ERROR,
        f"Range conflict with consumer {B}.1",
    )


@pytest.mark.parametrize(("first", "second"), [([(0, 199)], [(150, 160)]), ([(150, 160)], [(0, 199)])])
def test_holder_that_gives_its_ranges_up_by_its_next_word_still_had_them_when_it_spoke(first, second):
    node, out = broker()
    subscribe(node, out, A, KEY_SHARED, ranges=first)
    subscribe(node, out, B, KEY_SHARED, ranges=second)
    ((to, answer), _) = play(node, out, A, c.CommandCloseConsumer(2, 1))
    assert (to, answer.error) == (B, c.CONSUMER_ASSIGN_ERROR)
    assert subscribe(node, out, B, KEY_SHARED, request=2, ranges=second) == [(B, c.CommandSuccess(2))]


# --- any command is a sign of life

SAID = pytest.mark.parametrize(
    "said",
    [
        PONG,
        PING,
        c.CommandFlow(1, 5),
        c.CommandAck(1, [0]),
        c.CommandRedeliverUnacknowledgedMessages(1, []),
        c.CommandSend(1, 0, 0),
        c.CommandProducer(9, "other"),
        c.CommandSeek(5, 1, 0),
        c.CommandSubscribe(6, 8, "a", [], SHARED, "other"),
        c.CommandUnsubscribe(9, 77),
    ],
    ids=lambda said: type(said).__name__,
)


@SAID
def test_whatever_comes_after_the_ping_keeps_the_connection(said):
    """PulsarHandler.messageReceived: the answer need not be a pong."""
    node, out = held()
    play(node, out, A, c.CommandProducer(1))
    wake(node, out, f"keep_alive:{A}")
    play(node, out, A, said)
    assert wake(node, out, f"keep_alive:{A}") == [(A, PING)] and out.closed == []


def test_what_came_before_the_ping_does_not():
    node, out = held()
    play(node, out, A, c.CommandFlow(1, 5), c.CommandAck(1, [0]))
    wake(node, out, f"keep_alive:{A}")
    wake(node, out, f"keep_alive:{A}")
    assert out.closed == [A]


@SAID
def test_whatever_comes_answers_the_question_whether_the_holder_is_alive(said):
    node, out = held()
    play(node, out, A, c.CommandProducer(1))
    subscribe(node, out, B)
    sent = play(node, out, A, said)
    assert (
        refused(B) in sent and f"liveness:{A}" not in out.deadlines and node.state.connections[A].asking == []
    )


def test_end_of_the_connection_is_no_sign_of_life():
    node, out = held()
    subscribe(node, out, B)
    assert play(node, out, A, Closed("reset"))[0] == (B, c.CommandSuccess(1))
