"""What a crash would cost is what it costs: in a fork of the lab the broker really crashes, and the card counts."""

import random

import pytest

from broker_core.lab.lab import Lab
from tests.core.lab.kafka.test_faults import RATE, SECOND, cards, lab_with, order


def crash_of(lab, broker):
    return lab.view()["lanes"]["kafka"]["cluster"]["crashes"][str(broker)]


def lost_in_a_fork(lab, broker):
    """(acknowledged records that are lost, how many partitions have no leader) once the controller has noticed."""
    fork = Lab.restore(lab.scenario, lab.checkpoint())
    order(fork, "crash", 13, broker=broker)
    card, counts = cards(fork)[-1], fork.view()["lanes"]["kafka"]["cluster"]["counts"]
    return sum(each["count"] for each in card["means"] if each["code"] == "lost"), counts["offline"]


def late_followers(lab, delay_us=400_000):
    for other in (1, 3):
        order(lab, "slow_link", one="broker-2", other=f"broker-{other}", delay_us=delay_us)
    lab.advance_to(lab.now_us + 2 * SECOND)


def test_with_acks_1_what_the_followers_lack_is_lost_and_with_all_nothing():
    lab = lab_with(acks=1)
    late_followers(lab)
    view, copies = (
        crash_of(lab, 2),
        lab.view()["lanes"]["kafka"]["cluster"]["partitions"]["records-0"]["copies"],
    )
    known = view["lost"]["records-0"]
    assert known["acks_1"] > 0 and known["acks_all"] == 0 and view["offline"] == []
    assert (known["first"], known["last"]) == (copies[str(known["leader"])]["end"], copies["2"]["end"] - 1)
    assert lost_in_a_fork(lab, 2) == (known["acks_1"], 0)
    assert crash_of(lab, 1) == crash_of(lab, 3) == {"lost": {}, "offline": []}


def test_a_producer_that_waits_for_all_loses_nothing_and_the_card_says_what_acks_1_would_have_cost():
    lab = lab_with(acks=-1)
    late_followers(lab)
    known = crash_of(lab, 2)["lost"]["records-0"]
    assert known["acks_1"] > 0 and known["acks_all"] == 0
    assert lost_in_a_fork(lab, 2) == (0, 0)


def test_the_last_member_of_an_isr_leaves_its_partition_without_a_leader_unless_an_unclean_one_may_lead():
    for unclean in (False, True):
        lab = lab_with(acks=-1, min_insync_replicas=1, unclean_election=unclean)
        for other in (1, 3):
            order(lab, "cut_link", one="broker-2", other=f"broker-{other}")
        lab.advance_to(lab.now_us + 40 * SECOND)
        copies = lab.view()["lanes"]["kafka"]["cluster"]["partitions"]["records-0"]
        assert copies["isr"] == [2] and copies["high_watermark"] > RATE
        view = crash_of(lab, 2)
        lost, offline = lost_in_a_fork(lab, 2)
        assert (lost > 0, offline) == (unclean, 0 if unclean else 1)
        assert view["offline"] == ([] if unclean else ["records-0"])
        assert sum(known["acks_all"] for known in view["lost"].values()) == lost


def test_a_broker_that_is_down_costs_nothing_more():
    lab = lab_with()
    order(lab, "crash", 1, broker=2)
    assert crash_of(lab, 2) is None and crash_of(lab, 1) == {"lost": {}, "offline": []}


@pytest.mark.parametrize("seed", range(12))
def test_what_is_foretold_is_what_a_real_crash_costs_whatever_went_before(seed):
    dice = random.Random(seed)
    acks = dice.choice((1, 1, -1))
    lab = lab_with(
        100, acks=acks, partitions=dice.choice((1, 3)), min_insync_replicas=dice.choice((1, 2)),
        unclean_election=dice.random() < 0.4,
    )  # fmt: skip
    down = None
    for _ in range(dice.randrange(1, 5)):
        one, other = dice.sample((1, 2, 3), 2)
        seconds = dice.choice((0.3, 1.7, 11.3))
        match dice.choice(("slow", "cut", "crash", "disk")):
            case "slow":
                delay_us = dice.choice((80_000, 400_000))
                order(
                    lab, "slow_link", seconds, one=f"broker-{one}", other=f"broker-{other}", delay_us=delay_us
                )
            case "cut" if not lab.lanes["kafka"].world.routes.get((f"broker-{one}", f"broker-{other}")):
                order(lab, "cut_link", seconds, one=f"broker-{one}", other=f"broker-{other}")
            case "crash" if down is None:
                down = one
                order(lab, "crash", seconds, broker=one)
            case "disk":
                order(lab, "slow_disk", seconds, broker=one, write_us=dice.choice((0, 150_000)))
    for broker in {1, 2, 3} - {down}:
        view = crash_of(lab, broker)
        foretold = sum(known["acks_1" if acks == 1 else "acks_all"] for known in view["lost"].values())
        lost, offline = lost_in_a_fork(lab, broker)
        before = lab.view()["lanes"]["kafka"]["cluster"]["counts"]["offline"]
        assert (foretold, len(view["offline"])) == (lost, offline - before), (broker, view)
