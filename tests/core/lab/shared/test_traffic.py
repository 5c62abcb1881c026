"""What a lane counts while messages pass, fed by hand: in which second, for whom, in which order, and who
else hears of it."""

from typing import Any

from broker_core.lab.shared.in_flight import BUCKETS_KEPT_S, LaneTraffic
from tests.core.lab.small import SECOND, consumer


class Log:
    """A `Watch` that writes down what it hears."""

    def __init__(self) -> None:
        self.told: list[tuple[Any, ...]] = []

    def arrived(self, message: int, code: int, would_wait: bool) -> None:
        self.told.append(("arrived", message, code, would_wait))

    def received(self, program: str, message: int, now_us: int) -> None:
        self.told.append(("received", program, message, now_us))

    def handled(self, program: str, message: int, now_us: int) -> None:
        self.told.append(("handled", program, message, now_us))

    def dropped(self, program: str, message: int, now_us: int) -> None:
        self.told.append(("dropped", program, message, now_us))

    def let_go(self, program: str, now_us: int) -> None:
        self.told.append(("let_go", program, now_us))

    def stopped(self, units: Any, now_us: int) -> None:
        self.told.append(("stopped", dict(units), now_us))


def traffic_of(*names: str, ahead_us: int = 0, watch: Log | None = None) -> LaneTraffic:
    traffic = LaneTraffic(watch, {name: consumer(name) for name in names})
    traffic.begin(0, ahead_us)
    return traffic


def test_message_at_the_end_of_a_second_belongs_to_the_next_one() -> None:
    traffic = traffic_of("c1")
    for at_us in (0, SECOND - 1, SECOND):
        traffic.handled("c1", at_us, at_us)
    traffic.fold(SECOND)
    assert traffic.by_node["c1"].acked == {0: 2, 1: 1}


def test_until_the_second_is_over_what_belongs_to_the_next_is_not_counted() -> None:
    traffic = traffic_of("c1")
    traffic.handled("c1", 0, SECOND - 1)
    traffic.handled("c1", 1, SECOND + 5)
    traffic.fold(SECOND - 1)
    assert traffic.by_node["c1"].acked == {0: 1}


def test_nodes_clocks_that_are_ahead_of_the_labs_end_the_second_by_as_much_later() -> None:
    traffic = traffic_of("c1", ahead_us=400)
    traffic.handled("c1", 0, SECOND + 399)
    traffic.handled("c1", 1, SECOND + 400)
    traffic.fold(SECOND)
    assert traffic.by_node["c1"].acked == {0: 1, 1: 1}


def test_programs_share_the_second_and_not_the_count() -> None:
    traffic = traffic_of("c1", "c2")
    traffic.handled("c1", 0, 1)
    traffic.handled("c1", 1, 2)
    traffic.handled("c2", 2, 3)
    traffic.fold(4)
    assert (traffic.by_node["c1"].acked, traffic.by_node["c2"].acked) == ({0: 2}, {0: 1})


def test_folding_twice_counts_once() -> None:
    traffic = traffic_of("c1")
    traffic.handled("c1", 0, 1)
    traffic.fold(2)
    traffic.fold(3)
    assert traffic.by_node["c1"].acked == {0: 1}


def test_rates_of_the_last_seconds_are_kept_and_older_ones_dropped() -> None:
    traffic = traffic_of("c1")
    for second in range(BUCKETS_KEPT_S + 4):
        traffic.handled("c1", second, second * SECOND)
        traffic.fold((second + 1) * SECOND)
    assert list(traffic.by_node["c1"].acked) == list(range(3, BUCKETS_KEPT_S + 4))


def test_after_a_long_silence_everything_old_is_dropped_at_once() -> None:
    traffic = traffic_of("c1")
    for second in range(BUCKETS_KEPT_S + 1):
        traffic.handled("c1", second, second * SECOND)
        traffic.fold((second + 1) * SECOND)
    traffic.fold(100 * SECOND)
    traffic.handled("c1", 99, 100 * SECOND)
    traffic.fold(101 * SECOND)
    assert traffic.by_node["c1"].acked == {100: 1}


def test_finished_come_in_the_order_of_time_and_within_a_moment_of_their_numbers() -> None:
    traffic = traffic_of("c1", "c2")
    traffic.handled("c2", 7, 20)
    traffic.handled("c1", 9, 5)
    traffic.handled("c1", 3, 20)
    assert traffic.take_finished() == [9, 3, 7]
    assert traffic.take_finished() == []


def test_program_that_is_gone_has_its_last_work_counted_and_nothing_after() -> None:
    traffic = traffic_of("c1")
    gone = traffic.by_node["c1"]
    traffic.handled("c1", 0, 10)
    traffic.let_go("c1", 20)
    assert gone.acked == {0: 1} and "c1" not in traffic.by_node
    traffic.handled("c1", 1, 30)
    traffic.fold(SECOND)
    assert gone.acked == {0: 1}
    assert traffic.take_finished() == [0, 1], "what was finished counts for the order of keys, whoever did it"


def test_nobody_who_never_was_there_can_be_let_go() -> None:
    traffic = traffic_of()
    traffic.let_go("c9", 5)
    assert traffic.by_node == {}


def test_a_watch_sees_each_step_when_it_happens_and_with_the_nodes_clock() -> None:
    watch = Log()
    traffic = traffic_of("c1", watch=watch, ahead_us=400)
    traffic.received("c1", 4, 10)
    traffic.handled("c1", 4, 12)
    traffic.dropped("c1", 5, 13)
    traffic.let_go("c1", 14)
    assert watch.told == [
        ("received", "c1", 4, 10),
        ("handled", "c1", 4, 12),
        ("dropped", "c1", 5, 13),
        ("let_go", "c1", 14),
    ]


def test_unwatched_traffic_counts_nothing_that_is_not_finished() -> None:
    traffic = traffic_of("c1")
    traffic.received("c1", 0, 1)
    traffic.dropped("c1", 0, 2)
    traffic.fold(SECOND)
    assert traffic.by_node["c1"].acked == {} and traffic.take_finished() == []
