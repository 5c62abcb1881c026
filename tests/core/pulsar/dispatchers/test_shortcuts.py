"""What a dispatcher remembers between two reads changes nothing of what it sends: beside each of them lives
one that looks everything through."""

from hypothesis import example, given, settings
from hypothesis import strategies as st

from broker_core.pulsar.dispatchers import draining
from broker_core.pulsar.dispatchers.draining import DrainingDispatcher
from broker_core.pulsar.dispatchers.key_shared import KeySharedDispatcher, Sent
from broker_core.pulsar.dispatchers.pending import PendingDispatcher
from broker_core.pulsar.entry import Entry
from broker_core.pulsar.selectors import SELECTORS, selector_from_json
from tests.core.pulsar.dispatchers.arriving import HIGH, LOW, arrive

KEYS = (0, 1, 17, 4_711, 9_999, 40_000, 65_535, 70_000)


class Slow:
    """The rule as it is written down, with nothing remembered between two reads."""

    def arrived(self, position: int, entry: Entry) -> list[Sent]:
        return PendingDispatcher.arrived(self, position, entry)

    def read_on(self) -> list[Sent]:
        sent: list[Sent] = []
        while True:
            self._stuck = 0
            more = super().read_on()
            sent += more
            if not more:
                return sent


class SlowOrder(Slow, KeySharedDispatcher):
    pass


class SlowDraining(Slow, DrainingDispatcher):
    pass


WHAT = ["publish", "batch", "delayed", "time", "ack", "again", "join", "leave", "flow", "unblock"]
steps = st.lists(
    st.tuples(st.sampled_from([*WHAT, "publish", "publish", "ack", "flow"]), st.integers(0, 40)), max_size=60
)


def order_of(what, number, dispatcher, clock):
    """The method that this step calls, and with what; None for none."""
    names = list(dispatcher.consumers)
    chosen = names[number % len(names)] if names else ""
    pending = dispatcher.pending()
    if what in ("publish", "batch", "delayed"):
        position = dispatcher.cursor.end
        batch = tuple(range(number % 4 + 1)) if what == "batch" else ()
        return (
            "arrived",
            position,
            Entry(
                KEYS[number % len(KEYS)],
                position,
                batch=batch,
                deliver_at_us=clock + number if what == "delayed" else 0,
            ),
        )
    if what == "ack":
        return "ack", sorted(position for positions in pending.values() for position in positions)[
            number % 7 :: 5
        ]
    if what == "join" and f"c{number % 9}" not in names:
        return "connect", f"c{number % 9}", f"c{number % 9}", number % 7
    if what == "time":
        return (
            ("due",)
            if dispatcher.next_delayed_us is not None and dispatcher.next_delayed_us <= clock
            else None
        )
    if what == "unblock":
        return ("unblock",) if isinstance(dispatcher, DrainingDispatcher) and dispatcher.unblocked else None
    calls = {
        "again": ("redeliver", chosen, pending.get(chosen, [])[::2]),
        "leave": ("disconnect", chosen),
        "flow": ("flow", chosen, number % 9),
    }
    return calls.get(what) if names else None


LIMIT_PASSED = [("publish", 0), ("batch", 2), ("join", 19), ("again", 0), ("publish", 0)]


@settings(max_examples=200, deadline=None)
@example(
    LIMIT_PASSED, "auto_split", 1, 3, 0
)  # a consumer that asked for a message again is at its limit, and is not blocked
@given(
    steps,
    st.sampled_from(["auto_split", "consistent_hash"]),
    st.integers(1, 9),
    st.sampled_from([0, 3, 8]),
    st.sampled_from([0, 5, 12]),
)
def test_what_is_remembered_changes_nothing_that_is_sent(
    order, algorithm, read_batch, unacked_max, unacked_all_max
):
    limits = {"read_batch": read_batch, "unacked_max": unacked_max, "unacked_all_max": unacked_all_max}
    unordered = {**limits, "allows_out_of_order": True}
    for *kinds, options in (
        (KeySharedDispatcher, SlowOrder, limits),
        (KeySharedDispatcher, SlowOrder, unordered),
        (DrainingDispatcher, SlowDraining, limits),
    ):
        fast, slow = (kind(SELECTORS[algorithm](), **options) for kind in kinds)
        clock = 0
        for what, number in order:
            clock += number if what == "time" else 0
            called = order_of(what, number, fast, clock)
            if called is None:
                continue
            method, *args = called
            sent = []
            for dispatcher in (fast, slow):
                dispatcher.now_us = clock
                if method == "arrived":
                    dispatcher.entries[args[0]] = args[1]
                sent.append(getattr(dispatcher, method)(*args))
                dispatcher.check()
            assert sent[0] == sent[1], called
            again = kinds[0](selector_from_json(fast.selector.to_json()), entries=fast.entries, **options)
            again.restore(fast.to_json())
            assert again.to_json() == fast.to_json() and again.consumers == fast.consumers


def current(**options: int) -> DrainingDispatcher:
    return DrainingDispatcher(SELECTORS["auto_split"](), **options)


def test_what_arrives_while_nobody_has_permits_stays_unread() -> None:
    dispatcher = current()
    dispatcher.connect("a", "a", 1)
    assert arrive(dispatcher, LOW, LOW, HIGH) == [("a", 0)]
    assert dispatcher.cursor.read_position == 1 and len(dispatcher.replay) == 0
    assert dispatcher.flow("a", 2) == [("a", 1), ("a", 2)]


def test_what_arrives_waits_behind_an_older_one_of_its_hash_also_when_its_consumer_could_take_it() -> None:
    dispatcher = current()
    dispatcher.connect("a", "a", 10)
    dispatcher.connect("b", "b", 0)
    assert arrive(dispatcher, LOW) == [] and len(dispatcher.replay) == 1
    dispatcher.consumers["b"].permits = 5
    dispatcher.available += 5  # as if they had come in the middle of a read
    assert arrive(dispatcher, LOW) == [] and arrive(dispatcher, LOW + 1) == [("b", 2)]


def test_as_many_may_wait_as_the_look_ahead_says_and_no_more(monkeypatch) -> None:
    monkeypatch.setattr(draining, "LOOK_AHEAD_PER_CONSUMER", 2)
    dispatcher = current()
    dispatcher.connect("a", "a", 100)
    dispatcher.connect("b", "b", 0)
    assert arrive(dispatcher, LOW, LOW, LOW) == [] and arrive(dispatcher, HIGH) == [("a", 3)]
    assert arrive(dispatcher, LOW) == [] and len(dispatcher.replay) == 4
    assert arrive(dispatcher, HIGH) == [] and dispatcher.cursor.read_position == 5


def test_pass_goes_on_as_long_as_something_goes_or_has_been_acknowledged_meanwhile() -> None:
    """Two at a time are looked at: the first two have been acknowledged by somebody else, what is behind them
    still goes."""
    dispatcher = current(read_batch=2)
    dispatcher.connect("a", "a", 10)
    dispatcher.publish([HIGH] * 6)
    dispatcher.redeliver("a", [])
    dispatcher.consumers["a"].permits = dispatcher.available = 0
    dispatcher.redeliver("a", [0, 1, 2, 3, 4])
    assert len(dispatcher.replay) == 5
    dispatcher.cursor.ack(0)
    dispatcher.cursor.ack(1)
    assert dispatcher.flow("a", 10) == [("a", 2), ("a", 3), ("a", 4)] and len(dispatcher.replay) == 0


def test_what_arrives_before_the_timer_of_a_drained_slot_takes_with_it_what_waited_for_that_slot() -> None:
    """The timer sees to it that somebody reads; a read that comes earlier finds the slot free as well."""
    dispatcher = current()
    dispatcher.connect("a", "a", 10)
    arrive(dispatcher, LOW)
    dispatcher.connect("b", "b", 10)
    assert arrive(dispatcher, LOW) == [] and dispatcher.ack([0]) == [] and dispatcher.unblocked
    assert arrive(dispatcher, HIGH) == [("b", 1), ("a", 2)]
    assert dispatcher.unblock() == []
