"""The broker on its own: send this command, expect those."""

from broker_core.pulsar import commands as c
from broker_core.pulsar.broker import Broker
from broker_core.pulsar.broker_state import BrokerState
from broker_core.pulsar.settings import BrokerSettings
from broker_core.sim.node import Closed, Opened
from tests.core.playbook import Played, play, wake

P, A, B = 1, 2, 3
LOW, HIGH = 100, 40_000  # hashes, which are their own slots below 65,536


def broker(algorithm: str = "auto_split") -> tuple[Broker, Played]:
    hashes = {0: LOW, 1: HIGH}
    node = Broker(BrokerState(), hashes.__getitem__, BrokerSettings(algorithm))
    node.subscription()
    out = Played("broker")
    play(node, out, P, Opened("producer"), c.CommandProducer(1))
    return node, out


def subscribe(node, out, connection, name, ranges=(), permits=10):
    play(node, out, connection, Opened(name))
    sent = play(node, out, connection, c.CommandSubscribe(1, 1, name, list(ranges)))
    if sent == [(connection, c.CommandSuccess(1))]:
        sent += play(node, out, connection, c.CommandFlow(1, permits))
    return sent


def send(node, out, *messages):
    return play(node, out, P, *[c.CommandSend(1, message, key) for message, key in messages])


def test_message_goes_to_the_owner_of_its_key_while_it_has_permits():
    node, out = broker()
    subscribe(node, out, A, "c1", permits=1)
    assert send(node, out, (0, 0), (1, 0)) == [(A, c.CommandMessage(1, 0, 0))]
    assert play(node, out, A, c.CommandFlow(1, 5)) == [(A, c.CommandMessage(1, 1, 1))]


def test_grouped_acknowledgements_move_mark_delete_on():
    node, out = broker()
    subscribe(node, out, A, "c1")
    send(node, out, (0, 0), (1, 1), (2, 0))
    play(node, out, A, c.CommandAck(1, [1, 0]))
    assert node.subscription().cursor.mark_delete == 1 and node.subscription().cursor.backlog == 1


def test_closed_consumer_gives_back_what_it_had_not_acknowledged():
    node, out = broker()
    subscribe(node, out, A, "c1")
    send(node, out, (0, 0))
    subscribe(node, out, B, "c2")
    assert play(node, out, A, c.CommandCloseConsumer(2, 1)) == [
        (B, c.CommandMessage(1, 0, 0)),
        (A, c.CommandSuccess(2)),
    ]
    assert out.told[-1][0] == "pulsar.consumer.disconnected" and node.state.redelivered == 1


def test_connection_that_answers_no_ping_is_closed_at_the_second_tick():
    node, out = broker()
    subscribe(node, out, A, "c1")
    subscribe(node, out, B, "c2")
    send(node, out, (0, 0), (1, 1))
    assert wake(node, out, "keep_alive:2") == [(A, c.CommandPing())]
    play(node, out, A, c.CommandPong())
    assert wake(node, out, "keep_alive:2") == [(A, c.CommandPing())]
    moved = wake(node, out, "keep_alive:2")
    assert out.closed == [A] and out.blamed == [A]
    assert [connection for connection, _ in moved] == [B]
    assert [kind for kind, _ in out.told[-2:]] == ["pulsar.connection.silent", "pulsar.consumer.disconnected"]


def test_conflicting_ranges_are_refused_once_their_holder_has_shown_that_it_lives():
    node, out = broker("sticky")
    subscribe(node, out, A, "c1", [(0, 65535)])
    assert subscribe(node, out, B, "c2", [(0, 99)]) == [(A, c.CommandPing())]
    ((connection, answer),) = play(node, out, A, c.CommandPong())
    assert connection == B and answer.error == "ConsumerAssignError" and "conflict" in answer.message.lower()
    assert out.told[-1][0] == "pulsar.consumer.refused"


def test_conflicting_ranges_are_given_once_their_holder_has_not_answered_for_five_seconds():
    node, out = broker("sticky")
    subscribe(node, out, A, "c1", [(0, 65535)])
    send(node, out, (0, 0))
    subscribe(node, out, B, "c2", [(0, 65535)])
    assert out.deadlines["liveness:2"] == c.LIVENESS_TIMEOUT_US
    assert wake(node, out, "liveness:2") == [(B, c.CommandSuccess(1))]
    assert play(node, out, B, c.CommandFlow(1, 5)) == [(B, c.CommandMessage(1, 0, 0))]
    assert out.closed == [A]


def test_holders_that_are_asked_one_after_the_other_have_five_seconds_each():
    node, out = broker("sticky")
    subscribe(node, out, A, "c1", [(0, 32_767)])
    subscribe(node, out, B, "c2", [(32_768, 65_535)])
    subscribe(node, out, 4, "c3", [(0, 65_535)])
    assert (
        wake(node, out, "liveness:3") == [(A, c.CommandPing())]
        and out.deadlines["liveness:2"] == 2 * c.LIVENESS_TIMEOUT_US
    )
    assert wake(node, out, "liveness:2") == [(4, c.CommandSuccess(1))] and out.closed == [B, A]


def test_consumer_that_is_closed_while_it_waits_for_the_word_is_not_let_in():
    node, out = broker("sticky")
    subscribe(node, out, A, "c1", [(0, 65535)])
    subscribe(node, out, B, "c2", [(0, 99)])
    again = play(node, out, B, c.CommandCloseConsumer(2, 1), c.CommandSubscribe(3, 1, "c2", [(0, 9)]))
    assert again == [(B, c.CommandSuccess(2))]  # the holder has been asked, and not answered yet
    assert wake(node, out, "liveness:2") == [(B, c.CommandSuccess(3))]
    assert node.subscription().selector.asked == {"3.1": [(0, 9)]}


def test_what_had_waited_for_the_leaver_is_not_counted_as_redelivered():
    node, out = broker()
    subscribe(node, out, A, "c1", permits=1)
    send(node, out, (0, 1), (1, 1))
    subscribe(node, out, B, "c2", permits=5)
    play(node, out, A, c.CommandCloseConsumer(2, 1))
    data = {"consumer": "c1", "client": "c1", "consumers": 1, "redelivered": 1, "waiting": 0}
    assert out.told[-1] == ("pulsar.consumer.disconnected", data)


def test_peer_that_closes_takes_its_consumers_with_it():
    node, out = broker()
    subscribe(node, out, A, "c1")
    send(node, out, (0, 0))
    play(node, out, A, Closed("closed"))
    assert node.consumers == {} and node.subscription().waiting == 1 and "keep_alive:2" not in out.deadlines


def test_consumers_of_one_silent_connection_are_all_gone_before_anything_is_sent():
    node, out = broker()
    subscribe(node, out, A, "c1")
    play(node, out, A, c.CommandSubscribe(2, 2, "c2", []), c.CommandFlow(2, 10))
    send(node, out, (0, 0), (1, 1))
    wake(node, out, "keep_alive:2")
    assert wake(node, out, "keep_alive:2") == []
    assert out.closed == [A] and node.consumers == {} and node.subscription().waiting == 2
    assert subscribe(node, out, B, "c3")[1:] == [
        (B, c.CommandMessage(1, 0, 0)),
        (B, c.CommandMessage(1, 1, 1)),
    ]


def test_what_two_consumers_of_a_closed_connection_had_goes_to_those_that_stay():
    node, out = broker()
    subscribe(node, out, A, "c1")
    play(node, out, A, c.CommandSubscribe(2, 2, "c2", []), c.CommandFlow(2, 10))
    send(node, out, (0, 0), (1, 1))
    subscribe(node, out, B, "c3")
    sent = play(node, out, A, Closed("reset"))
    assert sorted(message.message for _, message in sent) == [0, 1] and {
        connection for connection, _ in sent
    } == {B}
    assert node.state.redelivered == 2 and sum(data["redelivered"] for _, data in out.told[-2:]) == 2
    node.subscription().check()


def test_ping_of_a_client_is_answered():
    node, out = broker()
    subscribe(node, out, A, "c1")
    assert play(node, out, A, c.CommandPing()) == [(A, c.CommandPong())]
