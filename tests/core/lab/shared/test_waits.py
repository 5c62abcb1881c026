"""What a timed run sees of a lane: spans of flight and of pause, each told by hand from its beginning to its
end."""

from broker_core.analysis.order import Flight
from broker_core.analysis.pause import Stop
from broker_core.lab.shared.waits import FlightWatch
from broker_core.lab.workload.live_keys import NO_KEY


def watch_of(*codes: int) -> FlightWatch:
    """After these records, numbered from 0, have arrived."""
    watch = FlightWatch()
    for message, code in enumerate(codes):
        watch.arrived(message, code, False)
    return watch


def test_flight_is_from_the_clients_hand_to_the_programs_last_word() -> None:
    watch = watch_of(5, 6)
    watch.received("c1", 1, 10)
    watch.received("c1", 0, 12)
    watch.handled("c1", 1, 30)
    watch.dropped("c1", 0, 35)
    assert watch.flights == [Flight(6, "c1", 10, 30), Flight(5, "c1", 12, 35)]


def test_record_without_a_key_has_no_flight() -> None:
    watch = watch_of(NO_KEY)
    watch.received("c1", 0, 1)
    watch.handled("c1", 0, 2)
    watch.finish(3)
    assert watch.flights == []


def test_record_that_was_never_received_or_is_handled_twice_has_no_second_flight() -> None:
    watch = watch_of(5)
    watch.handled("c1", 0, 5)
    watch.received("c1", 0, 10)
    watch.handled("c1", 0, 20)
    watch.handled("c1", 0, 30)
    assert watch.flights == [Flight(5, "c1", 10, 20)]


def test_same_record_with_two_programs_is_two_flights() -> None:
    watch = watch_of(5)
    watch.received("c1", 0, 1)
    watch.received("c2", 0, 2)
    watch.handled("c2", 0, 3)
    watch.handled("c1", 0, 4)
    assert watch.flights == [Flight(5, "c2", 2, 3), Flight(5, "c1", 1, 4)]


def test_program_that_is_gone_ends_all_its_flights_and_nobody_elses() -> None:
    watch = watch_of(5, 6, 7)
    watch.received("c1", 0, 1)
    watch.received("c1", 1, 2)
    watch.received("c2", 2, 3)
    watch.let_go("c1", 9)
    assert watch.flights == [Flight(5, "c1", 1, 9), Flight(6, "c1", 2, 9)]
    watch.handled("c1", 0, 12)
    assert len(watch.flights) == 2


def test_record_that_arrived_in_vain_is_counted() -> None:
    watch = FlightWatch()
    for message, would_wait in enumerate((True, False, True)):
        watch.arrived(message, 0, would_wait)
    assert watch.waited == 2


def test_pause_is_told_when_it_is_over_and_one_that_lasts_is_not() -> None:
    watch = FlightWatch()
    watch.stopped({"0": 10, "1": 10}, 10)
    watch.stopped({"1": 10}, 25)
    assert watch.stops == [Stop("0", 10, 25)]


def test_partition_that_stopped_again_at_another_moment_had_two_pauses() -> None:
    watch = FlightWatch()
    watch.stopped({"0": 10}, 10)
    watch.stopped({"0": 30}, 31)
    watch.stopped({}, 40)
    assert watch.stops == [Stop("0", 10, 31), Stop("0", 30, 40)]


def test_reports_are_copied_so_a_caller_that_goes_on_writing_changes_no_pause() -> None:
    watch, units = FlightWatch(), {"0": 10}
    watch.stopped(units, 10)
    units.clear()
    watch.stopped(units, 20)
    assert watch.stops == [Stop("0", 10, 20)]


def test_end_of_the_run_ends_every_span_once() -> None:
    watch = watch_of(5, 6)
    watch.received("c1", 0, 1)
    watch.received("c2", 1, 2)
    watch.stopped({"0": 3}, 3)
    watch.finish(50)
    watch.finish(60)
    assert watch.flights == [Flight(5, "c1", 1, 50), Flight(6, "c2", 2, 50)] and watch.stops == [
        Stop("0", 3, 50)
    ]
