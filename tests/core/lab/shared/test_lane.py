"""What all lanes share, on the quickest of them: the story that is kept, programs' lives, and what each verb
does to a consumer."""

import pytest

from broker_core.events import Cause
from broker_core.lab.lab import Lab
from broker_core.lab.shared.lane_orders import WHY_FIRST, WHY_MAX
from tests.core.lab.small import SECOND, kinds, lab_of, lane_of, order


def queue_of(seconds: float = 5, **scenario: int) -> Lab:
    return lab_of("rabbitmq", seconds=seconds, **scenario)


def test_of_a_long_story_its_beginning_and_its_end_are_kept() -> None:
    lane = lane_of(queue_of())
    lane.why = []
    for number in range(WHY_MAX + 15):
        lane.emit("rabbitmq.test", Cause(command=1), None, {}, {"n": number})
    numbers = [event["data"]["n"] for event in lane.why]
    assert numbers == [*range(WHY_FIRST), *range(WHY_FIRST + 15, WHY_MAX + 15)]
    assert len(lane.out) == WHY_MAX + 15, "what is told is told whole"


def test_turning_points_of_a_lane_are_numbered_from_1_and_what_the_lab_tells_is_one_of_them() -> None:
    lab = queue_of(0)
    lane = lane_of(lab)
    count = lane.event_count
    followed = lane.emit("rabbitmq.test", Cause(command=1), "a.rule", {"i": 1}, {"d": 2})
    (event,) = lane.out
    assert (event.id, event.kind, event.rule, event.inputs, event.data) == (
        f"rabbitmq:{count + 1}",
        "rabbitmq.test",
        "a.rule",
        {"i": 1},
        {"d": 2},
    )
    assert (
        followed == Cause(event=event.id)
        and event.cause == Cause(command=1)
        and lane.why[-1]["id"] == event.id
    )


def test_each_life_of_a_program_has_a_node_of_its_own() -> None:
    lane = lane_of(queue_of())
    assert [lane.new_incarnation("n"), lane.new_incarnation("n"), lane.new_incarnation("n")] == [
        "n",
        "n~2",
        "n~3",
    ]
    assert lane.new_incarnation("broker") == "broker~2", "a process of the lane's own has that name"


def test_paused_program_keeps_what_it_has_and_handles_nothing_until_it_resumes() -> None:
    lab = queue_of(consumers=1)
    order(lab, "pause", "c1", seconds=1)
    consumer = lane_of(lab).consumers["c1"]
    done, held = dict(consumer.acked), lane_of(lab).reads.held(consumer)
    lab.advance_to(lab.now_us + 3 * SECOND)
    assert (
        consumer.acked == done
        and held > 0
        and lane_of(lab).reads.held(consumer) >= held
        and lane_of(lab).state_word(consumer) == "paused"
    )
    order(lab, "resume", "c1", seconds=2)
    assert sum(consumer.acked.values()) > sum(done.values()) and lane_of(lab).state_word(consumer) == "live"


@pytest.mark.parametrize(
    ("rate", "word", "code"), [(2, "slow", "slow"), (50, "live", "fast"), (10, "live", "full_speed")]
)
def test_pace_of_a_program_is_told_with_its_rate(rate: int, word: str, code: str) -> None:
    lab = queue_of()
    (told,) = order(lab, "slow", "c1", rate=rate)
    lane = lane_of(lab)
    assert (
        told["kind"] == "rabbitmq.consumer.slow"
        and told["data"] == {"consumer": "c1", "rate": rate}
        and told["cause"] == {"command": 1}
    )
    assert lane.state_word(lane.consumers["c1"]) == word and lane.sentence == {
        "code": code,
        "params": {"consumer": "c1", "rate": rate},
    }


def test_first_resume_ends_the_pause_and_the_second_the_slowness() -> None:
    lab = queue_of()
    order(lab, "slow", "c1", rate=2)
    order(lab, "pause", "c1")
    consumer = lane_of(lab).consumers["c1"]
    order(lab, "resume", "c1")
    assert (consumer.state, consumer.service_us) == ("live", 500_000)
    order(lab, "resume", "c1")
    assert (consumer.state, consumer.service_us) == ("live", 100_000)
    assert [change.kind for change in lane_of(lab).ledger.kept_bill.changes] == ["full_speed"]  # type: ignore[union-attr]


def test_slow_program_finishes_as_many_records_as_it_was_told() -> None:
    lab = queue_of(consumers=1, rate=20)
    order(lab, "slow", "c1", rate=2, seconds=6)
    acked = lane_of(lab).consumers["c1"].acked
    assert [acked[second] for second in (7, 8, 9)] == [2, 2, 2]


def test_crash_silences_the_program_and_its_deadline_is_known() -> None:
    lab = queue_of()
    order(lab, "crash", "c2")
    lane = lane_of(lab)
    consumer = lane.consumers["c2"]
    assert (consumer.state, consumer.deadline_from_us) == (
        "crashed",
        5 * SECOND,
    ) and consumer.deadline_us is not None
    assert (
        lane.crash_positions == {"c2": 1}
        and "c2" not in lane.traffic.by_node
        and not lane.is_ghost("c2", "c2")
    )
    assert lane.hand(consumer) == -1, "nobody works there any more"
    lab.advance_to(consumer.deadline_us + SECOND)
    gone = lane.consumers["c2"]
    assert (
        gone.state == "gone"
        and gone.deadline_us is gone.deadline_from_us is None
        and lane.crash_positions == {}
    )


def test_program_that_comes_back_has_a_new_node_and_its_rate_begins_anew() -> None:
    lab = queue_of()
    order(lab, "crash", "c2", seconds=1)
    order(lab, "rejoin", "c2")
    lane = lane_of(lab)
    consumer = lane.consumers["c2"]
    assert (consumer.incarnation, consumer.joined_us, consumer.state, consumer.acked) == (
        "c2~2",
        6 * SECOND,
        "live",
        {},
    )
    assert consumer.deadline_us is consumer.deadline_from_us is None and lane.crash_positions == {"c2": 1}, (
        "its former life is not noticed yet"
    )
    assert lane.is_ghost("c2", "c2") and lane.traffic.by_node["c2~2"] is consumer
    lab.advance_to(8 * SECOND)
    assert sum(consumer.acked.values()) > 0


def test_newcomer_waits_until_its_broker_serves_it() -> None:
    lab = queue_of()
    order(lab, "join")
    lane = lane_of(lab)
    assert lane.state_word(lane.consumers["c3"]) == "waiting"
    lab.advance_to(lab.now_us + lab.answer_us)
    assert lane.state_word(lane.consumers["c3"]) == "live"


def test_one_who_leaves_is_out_of_the_lane_at_once_and_a_silent_one_with_its_former_life() -> None:
    lab = queue_of()
    order(lab, "crash", "c1")
    order(lab, "leave", "c1")
    order(lab, "leave", "c2")
    lane = lane_of(lab)
    assert lane.consumers == {} and lane.crash_positions == {} and lane.traffic.by_node == {}


def test_request_and_answer_take_twice_the_delay_and_a_step_more_for_each_who_joins_at_the_time() -> None:
    lab = lab_of("rabbitmq", network_delay_us=10_000, seconds=5)
    lane = lane_of(lab)
    assert (lane.delay_us, lane.jitter_us, lane.start_step_us, lane.answer_us) == (
        10_000,
        1_000,
        1_001,
        22_000,
    )
    order(lab, "join", count=5)
    assert lane.answer_us == 22_000 + 5 * 1_001
    lab.advance_to(lab.now_us + SECOND)
    assert lane.answer_us == 22_000, "that bill is closed"


def test_program_works_on_one_message_and_one_that_is_not_there_on_none() -> None:
    lab = queue_of(consumers=1, rate=20)
    lane = lane_of(lab)
    assert lane.hand(lane.consumers["c1"]) >= 0
    lane.world.slots.pop("c1")
    assert lane.hand(lane.consumers["c1"]) == -1


def test_lane_that_takes_anothers_place_counts_its_turning_points_on_and_says_so_where_nothing_else_was_said() -> (
    None
):
    lab = queue_of()
    before = lane_of(lab).event_count
    told = lab.submit(
        {"command_id": "s", "kind": "set_algorithm", "lane": "rabbitmq", "args": {"algorithm": "prefetch_1"}}
    )
    assert kinds(told) == ["rabbitmq.algorithm_switched"] and lane_of(lab).event_count > before
    assert lane_of(lab).sentence == {"code": "switched", "params": {"algorithm": "prefetch_1"}}


def test_after_a_change_the_switched_lane_goes_on_telling_of_that_change() -> None:
    lab = queue_of()
    order(lab, "join", seconds=2)
    lab.submit(
        {"command_id": "s", "kind": "set_algorithm", "lane": "rabbitmq", "args": {"algorithm": "prefetch_1"}}
    )
    assert lane_of(lab).sentence["code"] == "rabbitmq.join"


def test_restored_lane_counts_for_those_who_are_alive() -> None:
    lab = queue_of(consumers=3)
    order(lab, "crash", "c1", seconds=1)
    again = Lab.restore(lab.scenario, lab.checkpoint())
    assert set(lane_of(again).traffic.by_node) == {"c2", "c3"}


def test_last_second_of_a_lane_is_in_its_history_and_a_part_of_one_is_not() -> None:
    lab = queue_of(4.5)
    assert list(lane_of(lab).history) == [0, 1, 2, 3, 4]


def test_records_that_a_lane_has_seen_already_are_not_published_again() -> None:
    lab = queue_of()
    lane = lane_of(lab)
    count, lag = lane.next_record, lane.reads.lag()
    lane.advance(lab.now_us, 0, lab.workload.arrival_times(0, count), lab.workload.key_codes(0, count))
    assert (lane.next_record, lane.reads.lag()) == (count, lag)
    later = lab.now_us + 500_000
    stop = lab.workload.count_until(later + SECOND)
    lane.advance(later, 0, lab.workload.arrival_times(0, stop), lab.workload.key_codes(0, stop))
    assert lane.next_record == lab.workload.count_until(later), "those of later are left for the next call"


def changes(lab: Lab) -> list[tuple[str, list[str]]]:
    bill = lane_of(lab).ledger.kept_bill
    assert bill is not None
    return [(change.kind, change.names) for change in bill.changes]


def test_those_from_the_start_have_started_and_later_ones_have_joined() -> None:
    lab = queue_of(0)
    assert changes(lab) == [("start", ["c1", "c2"])]
    order(lab, "join", count=2)
    assert changes(lab) == [("join", ["c3", "c4"])]


def test_only_a_change_of_pace_is_told_with_a_rate() -> None:
    lab = queue_of()
    told = (
        order(lab, "leave", "c1")
        + order(lab, "crash", "c2")
        + order(lab, "rejoin", "c2")
        + order(lab, "pause", "c2")
    )
    assert [kind for kind in kinds(told) if kind.startswith("rabbitmq.consumer.")] == [
        "rabbitmq.consumer.crashed",
        "rabbitmq.consumer.pause",
    ]


def test_crash_is_at_once_what_the_large_figure_speaks_of() -> None:
    lab = lab_of("tubemq", seconds=25, rate=20)
    order(lab, "crash", "c1")
    subject = lane_of(lab).ledger.tally.subject
    assert subject is not None and (subject.since_us, subject.until_us) == (25 * SECOND, None)
    assert 0 < subject.part < subject.whole and [change.kind for change in subject.changes] == ["crash"]


def test_crash_that_its_broker_finds_out_is_on_a_bill_of_its_own_that_says_so() -> None:
    lab = queue_of()
    order(lab, "crash", "c1", seconds=200)
    assert changes(lab) == [("noticed", ["c1"])]
    bill = lane_of(lab).ledger.kept_bill
    assert bill is not None and (bill.position, bill.kind, bill.at_us > 5 * SECOND) == (1, "crash", True)


def test_what_nodes_told_is_the_lanes_story_and_leaves_the_lab_once() -> None:
    lab = queue_of()
    told = order(lab, "join", seconds=1)
    assert kinds(told) == ["rabbitmq.consumer.subscribed"] and [
        event["id"] for event in lane_of(lab).why
    ] == [event["id"] for event in told]
    assert lab.advance_to(lab.now_us) == [] and lane_of(lab).out == []


def test_order_that_made_a_program_finish_is_counted_before_anybody_looks() -> None:
    lab = queue_of(consumers=1, rate=20)
    order(lab, "leave", "c1")
    lane = lane_of(lab)
    assert lane.ledger.tally.finished == [] and lane.traffic.finished == []
    assert sum(record >= 0 for record in lane.ledger.tally.order.last) > 5, (
        "the order of keys knows what was finished"
    )
