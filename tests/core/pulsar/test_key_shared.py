"""The Key_Shared dispatcher: laws over random histories, and what each rule looks like by itself."""

import json
from dataclasses import dataclass, field

import pytest
from hypothesis import given
from hypothesis import strategies as st

from broker_core.errors import CommandError, InvariantError
from broker_core.pulsar.key_shared import Delivery, KeySharedSubscription
from broker_core.pulsar.selectors import SELECTORS, AssignRefused

KEY = 3112179635  # "Order-3459134", slot 6067
CONSUMERS = ["c1", "c2", "c3", "c4"]
steps = st.lists(
    st.tuples(
        st.sampled_from(["connect", "disconnect", "publish", "publish", "publish", "flow", "ack", "ack_of_another"]),
        st.sampled_from(CONSUMERS),
        st.integers(0, 12),
    ),
    max_size=60,
)


def subscription(*permits: int, algorithm: str = "auto_split") -> KeySharedSubscription:
    """Consumers c1, c2, ... with these permits."""
    made = KeySharedSubscription(SELECTORS[algorithm]())
    for number, count in enumerate(permits, 1):
        made.connect(f"c{number}")
        made.flow(f"c{number}", count)
    return made


@dataclass
class Oracle:
    """Who holds what, told from the deliveries alone."""

    holder: dict[int, str] = field(default_factory=dict)
    had: set[int] = field(default_factory=set)
    acked: set[int] = field(default_factory=set)
    credit: dict[str, int] = field(default_factory=dict)

    def take(self, deliveries: list[Delivery]) -> None:
        assert [position for _, position, _ in deliveries] == sorted(position for _, position, _ in deliveries)
        for consumer, position, redelivered in deliveries:
            assert position not in self.holder and position not in self.acked
            assert redelivered == (position in self.had)
            self.holder[position] = consumer
            self.had.add(position)
            self.credit[consumer] -= 1
            assert self.credit[consumer] >= 0

    def drop(self, consumer: str) -> None:
        self.holder = {position: holder for position, holder in self.holder.items() if holder != consumer}
        del self.credit[consumer]


def play(made: KeySharedSubscription, oracle: Oracle, history: list[tuple[str, str, int]]) -> int:
    """Run the history, checking after each step. Returns how many were published."""
    end = 0
    for action, consumer, number in history:
        match action:
            case "connect" if consumer not in oracle.credit:
                oracle.credit[consumer] = 0
                oracle.take(made.connect(consumer))
            case "disconnect" if consumer in oracle.credit:
                oracle.drop(consumer)
                oracle.take(made.disconnect(consumer))
            case "publish":
                oracle.take(made.publish(end, number * 2654435761 % 2**32))
                end += 1
            case "flow" if consumer in oracle.credit:
                oracle.credit[consumer] += number
                oracle.take(made.flow(consumer, number))
            case "ack" | "ack_of_another" if oracle.holder:
                position = sorted(oracle.holder)[number % len(oracle.holder)]
                holder = oracle.holder.pop(position)
                made.ack(holder if action == "ack" else consumer, position)
                oracle.acked.add(position)
        made.check()
        made.check_counts()
        assert made.waiting + len(oracle.holder) + len(oracle.acked) == end
        assert all(made.permits(name) == credit for name, credit in oracle.credit.items())
        assert made.mark_delete == next((p for p in range(end) if p not in oracle.acked), end) - 1
    return end


@pytest.mark.parametrize("algorithm", ["consistent_hash_3_2_0", "auto_split", "ring_document"])
@given(history=steps)
def test_each_record_is_with_one_consumer_or_waits(algorithm: str, history: list[tuple[str, str, int]]) -> None:
    made, oracle = KeySharedSubscription(SELECTORS[algorithm]()), Oracle()
    end = play(made, oracle, history)
    for consumer in CONSUMERS[:1]:  # with credit for all, nothing is left behind
        if consumer not in oracle.credit:
            oracle.credit[consumer] = 0
            oracle.take(made.connect(consumer))
    for consumer in list(oracle.credit):
        oracle.credit[consumer] += end
        oracle.take(made.flow(consumer, end))
    assert made.waiting == 0
    assert set(oracle.holder) | oracle.acked == set(range(end))


@given(before=steps, after=steps)
def test_state_that_went_through_json_behaves_the_same(
    before: list[tuple[str, str, int]], after: list[tuple[str, str, int]]
) -> None:
    made = KeySharedSubscription(SELECTORS["consistent_hash"]())
    play(made, Oracle(), before)
    again = KeySharedSubscription.from_json(json.loads(json.dumps(made.to_json())))
    assert again.to_json() == made.to_json()
    start = 1_000
    for action, consumer, number in after:
        start += 1
        answers = []
        for one in (made, again):
            match action:
                case "connect" if one.permits(consumer) == 0 and consumer not in dict(one.to_json()["permits"]):
                    answers.append(one.connect(consumer))
                case "disconnect":
                    answers.append(one.disconnect(consumer))
                case "publish":
                    answers.append(one.publish(start, number))
                case "flow":
                    answers.append(one.flow(consumer, number))
                case "ack" | "ack_of_another":
                    one.ack(consumer, next(iter(one.unacked(consumer)), 0))
        assert answers == [] or answers[0] == answers[1]
        assert made.to_json() == again.to_json()


def test_record_waits_until_its_consumer_has_permits() -> None:
    made = subscription(1)
    assert made.publish(0, KEY) == [("c1", 0, False)]
    assert made.publish(1, KEY) == [] and made.waiting == 1
    assert made.flow("c1", 5) == [("c1", 1, False)]
    assert made.permits("c1") == 4


def test_leavers_unacked_records_go_to_the_next_owner_in_order() -> None:
    made = subscription(5, 5)
    for position in range(3):
        assert made.publish(position, KEY) == [("c2", position, False)]
    made.ack("c2", 1)
    assert made.disconnect("c2") == [("c1", 0, True), ("c1", 2, True)]
    assert made.unacked("c1") == [0, 2] and made.unacked_count("c2") == 0


def test_mark_delete_waits_for_the_hole_and_then_jumps() -> None:
    made = subscription(10)
    for position in range(10):
        made.publish(position, KEY)
    for position in range(1, 10):
        made.ack("c1", position)
    assert made.mark_delete == -1
    made.ack("c1", 0)
    assert made.mark_delete == 9


def test_positions_may_leave_numbers_out() -> None:
    made = subscription(10)
    for position in (3, 7, 8):
        made.publish(position, KEY)
    made.ack("c1", 3)
    assert made.mark_delete == 3
    made.ack("c1", 8)
    made.ack("c1", 7)
    assert made.mark_delete == 8


def test_backlog_of_nobody_goes_to_the_first_consumer_that_comes() -> None:
    made = subscription(1)
    made.publish(0, KEY)
    assert made.disconnect("c1") == [] and made.publish(1, KEY) == [] and made.waiting == 2
    assert made.connect("c9") == [] and made.flow("c9", 9) == [("c9", 0, True), ("c9", 1, False)]


def test_record_in_a_sticky_gap_waits_for_a_consumer_that_covers_it() -> None:
    made = KeySharedSubscription(SELECTORS["sticky"]())
    made.connect("c1", ranges=[(10000, 65535)])
    made.flow("c1", 9)
    assert made.publish(0, KEY) == []
    assert made.publish(1, 20000) == [("c1", 1, False)]  # the gap holds up its own keys only
    made.connect("c2", ranges=[(0, 9999)])
    assert made.flow("c2", 9) == [("c2", 0, False)]


def test_refused_consumer_leaves_the_subscription_as_it_was() -> None:
    made = KeySharedSubscription(SELECTORS["sticky"]())
    made.connect("c1", ranges=[(0, 100)])
    state = made.to_json()
    with pytest.raises(AssignRefused):
        made.connect("c2", ranges=[(50, 60)])
    assert made.to_json() == state
    assert made.disconnect("c2") == [] and made.flow("c2", 3) == []


def test_ack_of_a_waiting_record_takes_it_out() -> None:
    made = subscription(0)
    made.publish(0, KEY)
    made.ack("c1", 0)
    assert made.waiting == 0 and made.mark_delete == 0
    assert made.flow("c1", 1) == [] and made.permits("c1") == 1


def test_unknown_ack_changes_nothing() -> None:
    made = subscription(1)
    made.publish(0, KEY)
    made.ack("c1", 99)
    made.ack("c1", 0)
    made.ack("c1", 0)
    assert made.mark_delete == 0


def test_impossible_commands_are_refused() -> None:
    made = subscription(1)
    made.publish(5, KEY)
    with pytest.raises(CommandError):
        made.publish(5, KEY)
    with pytest.raises(CommandError):
        made.flow("c1", -1)


def test_check_finds_a_lost_position() -> None:
    made = subscription(1)
    made.publish(0, KEY)
    made._unacked["c1"].clear()
    with pytest.raises(InvariantError):
        made.check()


def busy() -> KeySharedSubscription:
    """Of 0 to 3: 0 is held, 1 is acknowledged out of turn, 2 and 3 wait."""
    subscription = KeySharedSubscription(SELECTORS["auto_split"]())
    subscription.connect("c1")
    subscription.flow("c1", 2)
    for position in range(4):
        subscription.publish(position, 0)
    subscription.ack("c1", 1)
    subscription.check_counts()
    return subscription


@pytest.mark.parametrize(
    ("broken", "message"),
    [
        (lambda s: s._waiting.pop(3), "4 pending are not 1 waiting, 1 unacked and 1 acked"),
        (lambda s: s._acked.add(2), "4 pending are not 2 waiting, 1 unacked and 2 acked"),
        (lambda s: setattr(s, "mark_delete", 0), "position 0 is pending, and mark-delete is 0"),
        (lambda s: s._permits.update(c1=1), "c1 has permits while messages wait for it"),
        (lambda s: s._unacked.update(c2={}), "a consumer that is not connected holds messages"),
    ],
)
def test_counts_show_what_is_lost_doubled_or_left_waiting(broken, message):
    subscription = busy()
    broken(subscription)
    with pytest.raises(InvariantError, match=message):
        subscription.check_counts()
