"""The RabbitMQ lane on its world: what it says of each change."""

import pytest

from broker_core.errors import InvariantError
from broker_core.lab.lab import Lab
from broker_core.lab.scenario import scenario_from_json
from broker_core.lab.shared.hero import hero_view

SECOND = 1_000_000


def lab_of(algorithm="prefetch_5", consumers=3, **options) -> Lab:
    lane = {"model": "rabbitmq", "algorithm": algorithm, **options}
    return Lab(
        scenario_from_json(
            {"lanes": [lane], "consumers": consumers, "workload": {"kind": "uniform", "keys": 50, "rate": 40}}
        )
    )


def order(lab, kind, consumer=None, **args):
    return lab.submit(
        {"command_id": f"x{lab.position + 1}", "kind": kind, "consumer": consumer, "args": args}
    )


def lane_of(lab):
    return lab.lanes["rabbitmq"]


def test_order_crosses_the_network_and_its_effect_names_it_as_the_cause():
    lab = lab_of(consumers=0)
    assert order(lab, "join") == []
    (event,) = lab.advance_to(10_000)
    assert (event["kind"], event["cause"], event["data"]["consumer"]) == (
        "rabbitmq.consumer.subscribed",
        {"command": 1},
        "c1",
    )
    assert 1_000 <= event["at_us"] <= 1_100


def test_newcomer_takes_its_turn_and_a_leaver_gives_back_what_it_held():
    lab = lab_of()
    lab.advance_to(10 * SECOND)
    order(lab, "join")
    assert lane_of(lab).state_word(lane_of(lab).consumers["c4"]) == "waiting"
    lab.advance_to(11 * SECOND)
    assert lane_of(lab).sentence["code"] == "rabbitmq.join"
    order(lab, "leave", "c2")
    (closed,) = lab.advance_to(11 * SECOND + 10_000)
    assert lane_of(lab).sentence == {
        "code": "rabbitmq.leave",
        "params": {"consumer": "c2", "redelivered": closed["inputs"]["unacked"]},
    }
    lab.advance_to(15 * SECOND)
    bill = lane_of(lab).ledger.bill.to_view(lane_of(lab).reads.redelivered(), 0, 0)
    assert bill["settled"] and bill["redelivered"] == closed["inputs"]["unacked"]


def test_silent_program_is_given_up_at_the_moment_that_its_row_counts_down_to():
    lab = lab_of("prefetch_1")
    lab.advance_to(70 * SECOND)
    order(lab, "crash", "c1")
    consumer = lane_of(lab).consumers["c1"]
    deadline_us = consumer.deadline_us
    assert lane_of(lab).sentence["code"] == "rabbitmq.crash_pending" and deadline_us is not None
    events = lab.advance_to(deadline_us + SECOND)
    missed = next(event for event in events if event["kind"] == "rabbitmq.connection.missed_heartbeats")
    assert missed["at_us"] == deadline_us and missed["cause"] == {"command": 1}
    closed = next(event for event in events if event["kind"] == "rabbitmq.channel.closed")
    assert closed["cause"] == {"event": missed["id"]}
    assert consumer.state == "gone" and lane_of(lab).sentence["code"] == "rabbitmq.crash_noticed"
    hero = hero_view(lane_of(lab))
    assert (hero["code"], hero["part"]) == ("held", 1) and hero["until_us"] == deadline_us


def test_program_that_comes_back_is_told_from_the_connection_that_it_left():
    lab = lab_of("prefetch_1")
    lab.advance_to(20 * SECOND)
    order(lab, "crash", "c1")
    lab.advance_to(30 * SECOND)
    order(lab, "rejoin", "c1")
    lab.advance_to(300 * SECOND)
    assert (
        lane_of(lab).consumers["c1"].state == "live"
        and lane_of(lab).sentence["code"] == "rabbitmq.ghost_noticed"
    )


def test_person_who_removes_a_silent_program_closes_its_connection_at_the_broker():
    lab = lab_of("prefetch_1")
    lab.advance_to(20 * SECOND)
    order(lab, "crash", "c1")
    order(lab, "leave", "c1")
    (closed,) = [event for event in lab.advance_to(21 * SECOND) if event["kind"] == "rabbitmq.channel.closed"]
    assert closed["inputs"] == {"unacked": 1, "reason": "rabbitmq.connection.closed_by_peer"} and closed[
        "cause"
    ] == {"command": 2}


def test_who_is_there_from_the_start_is_served_when_the_lab_begins():
    lane = lab_of(network_delay_us=40_000).view()["lanes"]["rabbitmq"]
    assert [consumer["state"] for consumer in lane["consumers"].values()] == ["live"] * 3
    assert lane["tally"]["dark_us"] == 0 and lane["sentence"]["code"] == "none"


@pytest.mark.parametrize("wait_us", [0, 500, 1_500, 59_998_000, 59_999_500, 60_000_500])
def test_deadline_of_a_silent_program_counts_what_it_had_sent(wait_us):
    """Its first words, or an ack, may be on their way when it falls silent: they are heard, and so the row's
    countdown ends when it does."""
    lab = lab_of("prefetch_1", consumers=1)
    lab.advance_to(5 * SECOND)
    order(lab, "join")
    lab.advance_to(lab.now_us + wait_us)
    order(lab, "crash", "c2")
    deadline_us = lane_of(lab).consumers["c2"].deadline_us
    (missed,) = [
        event
        for event in lab.advance_to(250 * SECOND)
        if event["kind"] == "rabbitmq.connection.missed_heartbeats"
    ]
    assert abs(missed["at_us"] - deadline_us) <= lane_of(lab).jitter_us


@pytest.mark.parametrize("algorithm", ["prefetch_5", "prefetch_1", "prefetch_unlimited"])
def test_every_record_is_on_its_way_held_or_done_and_programs_are_never_idle_for_longer_than_an_ack_and_an_answer(
    algorithm,
):
    lab = lab_of(algorithm)
    lab.advance_to(60 * SECOND)
    handled = sum(sum(consumer.acked.values()) for consumer in lane_of(lab).consumers.values())
    # Ten seconds of acks are kept; three programs take a tenth of a second for each message, and with a
    # prefetch of 1 wait 2.2 ms for the next.
    assert 3 * 10 * 10 * 97 // 100 <= handled <= 3 * 10 * 11
    lane_of(lab).reads.check()


def test_broken_law_is_noticed_while_the_lane_runs_and_not_at_the_next_command():
    lab = lab_of()
    lab.advance_to(3 * SECOND)
    lane_of(lab).reads.queue().state.acked += 1
    with pytest.raises(InvariantError, match="published"):
        lab.advance_to(5 * SECOND)


@pytest.mark.parametrize("algorithm", ["prefetch_unlimited", "prefetch_5"])
def test_what_a_former_connection_holds_is_counted_so_that_the_numbers_agree(algorithm):
    lab = lab_of(algorithm)
    lab.advance_to(20 * SECOND)
    order(lab, "crash", "c1")
    deadline_us = lane_of(lab).consumers["c1"].deadline_us
    lab.advance_to(24 * SECOND)
    order(lab, "rejoin", "c1")
    lab.advance_to(27 * SECOND)
    view = lab.view()["lanes"]["rabbitmq"]
    former = view["picture"]["former"]["c1"]
    assert former["unacked"] >= 5 and former["until_us"] == deadline_us
    assert (
        view["sentence"]["code"] == "rabbitmq.join_former"
        and view["sentence"]["params"]["former"] == former["unacked"]
    )
    order(lab, "pause", "c1")
    lab.advance_to(40 * SECOND)
    view = lab.view()["lanes"]["rabbitmq"]
    former = view["picture"]["former"]["c1"]
    assert (
        former["unacked"] + sum(consumer["unacked"] for consumer in view["consumers"].values())
        == view["picture"]["unacked"]
    )
    assert view["sentence"] == {"code": "rabbitmq.paused_former", "params": view["sentence"]["params"]}
    assert (
        view["sentence"]["params"]["former"] == former["unacked"]
        and view["sentence"]["params"]["deadline_us"] == deadline_us
    )
    assert view["sentence"]["params"]["held"] == view["consumers"]["c1"]["unacked"]
    lab.advance_to(deadline_us + SECOND)
    assert lab.view()["lanes"]["rabbitmq"]["picture"]["former"] == {}


def test_who_comes_back_shows_nothing_of_its_former_connection_as_its_own_while_its_new_one_is_on_its_way():
    lab = lab_of()
    lab.advance_to(20 * SECOND)
    order(lab, "crash", "c1")
    lab.advance_to(24 * SECOND)
    order(lab, "rejoin", "c1")
    picture = lab.view()["lanes"]["rabbitmq"]["picture"]
    assert picture["former"]["c1"]["unacked"] == 5 and "c1" not in picture["in_flight"]


def test_former_connection_of_one_who_has_left_again_is_still_counted():
    lab = lab_of()
    lab.advance_to(20 * SECOND)
    order(lab, "crash", "c1")
    lab.advance_to(24 * SECOND)
    order(lab, "rejoin", "c1")
    lab.advance_to(25 * SECOND)
    order(lab, "leave", "c1")
    lab.advance_to(26 * SECOND)
    view = lab.view()["lanes"]["rabbitmq"]
    held = sum(consumer["unacked"] for consumer in view["consumers"].values())
    assert view["picture"]["former"]["c1"]["unacked"] + held == view["picture"]["unacked"]
