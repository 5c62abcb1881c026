"""Darkness is folded at changes only, and misses none: however a lab lives, what the fold has is what nobody
serves."""

import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st

from broker_core.lab.lab import Lab
from broker_core.lab.scenario import scenario_from_json
from tests.core.lab.journals import ALL_LANES, THREE_LANES, random_life

SECOND = 1_000_000


def lab_of(*lanes, **scenario):
    named = [{"model": model, "algorithm": algorithm} for model, algorithm in lanes]
    return Lab(
        scenario_from_json(
            {
                "workload": {"kind": "uniform", "keys": 200, "rate": 20},
                **({"lanes": named} if lanes else {}),
                **scenario,
            }
        )
    )


def order(lab, kind, consumer=None, **args):
    lab.submit(
        {"command_id": f"d{lab.position}", "kind": kind, "lane": "all", "consumer": consumer, "args": args}
    )


@pytest.mark.slow
@settings(max_examples=8, deadline=None)
@given(seed=st.integers(0, 10_000), step_us=st.integers(20_000, 400_000), lanes=st.just(THREE_LANES))
@example(seed=7, step_us=150_000, lanes=ALL_LANES)
def test_the_fold_knows_at_every_moment_what_nobody_serves(seed, step_us, lanes):
    scenario, journal, lived = random_life(seed, 12, lanes=lanes)
    lab = Lab(scenario)
    for command in [*journal, None]:
        until_us = lived.now_us if command is None else command["at_us"]
        while lab.now_us < until_us:
            lab.advance_to(min(until_us, lab.now_us + step_us))
            agree(lab)
        if command is not None:
            lab.submit(command)
            agree(lab)
    assert lab.checkpoint() == lived.checkpoint()


def agree(lab):
    for lane in lab.lanes.values():
        assert not lane.ledger.tally.is_stale
        darkness = lane.ledger.tally.darkness
        assert (darkness.dark, darkness.units) == lane.reads.dark_units(), (lane.id, lab.now_us)
        assert (darkness.began_us is None) == (darkness.dark == 0)


@pytest.mark.parametrize("algorithm", ["consistent_hash", "auto_split", "ring_document", "sticky"])
def test_a_dead_pulsar_consumer_s_slots_are_dark_until_its_broker_notices(algorithm):
    lab = lab_of(("pulsar", algorithm))
    lab.advance_to(20 * SECOND)
    lane = lab.lanes["pulsar"]
    assert lane.ledger.tally.darkness.unit_us_at(lab.now_us) == 0
    share = lab.view()["lanes"]["pulsar"]["picture"]["now"]
    order(lab, "crash", "c2")
    picture = lab.view()["lanes"]["pulsar"]["picture"]
    below, slots = -1, 0
    for bound, is_dark in zip(picture["now"]["bounds"], picture["now"]["dark"], strict=True):
        slots += (bound - below) * is_dark
        below = bound
    slots += (picture["space"] - 1 - below) * picture["now"]["dark"][0]
    assert picture["now"]["owners"] == share["owners"] and "dark" not in share
    dark = lane.ledger.tally.darkness.dark
    assert abs(dark / 10_000 - slots / picture["space"]) < 0.001
    deadline_us = lane.consumers["c2"].deadline_us
    lab.advance_to(deadline_us + SECOND)
    after = 0 if algorithm != "sticky" else SECOND  # nobody covers a sticky consumer's ranges
    assert lane.ledger.tally.darkness.unit_us_at(lab.now_us) == dark * (deadline_us - 20 * SECOND + after)


def test_a_dead_tubemq_client_s_partitions_stay_dark_until_it_returns():
    lab = lab_of(("tubemq", "modulo"))
    lab.advance_to(20 * SECOND)
    darkness = lab.lanes["tubemq"].ledger.tally.darkness
    before = darkness.unit_us_at(lab.now_us)
    order(lab, "crash", "c2")
    owned = sum(name == "c2" for name in lab.lanes["tubemq"].reads.units().values())
    lab.advance_to(200 * SECOND)
    assert darkness.dark == owned > 0 and darkness.unit_us_at(lab.now_us) - before == owned * 180 * SECOND
    order(lab, "rejoin", "c2")
    lab.advance_to(220 * SECOND)
    assert darkness.dark == 0 and darkness.began_us is None


def test_kafka_counts_the_dead_member_s_partitions_and_the_rebalance_after_it():
    lab = lab_of(("kafka", "range"))
    lab.advance_to(20 * SECOND)
    lane = lab.lanes["kafka"]
    before = lane.ledger.tally.darkness.unit_us_at(lab.now_us)
    # group.initial.rebalance.delay.ms, prolonged once: nobody read anything; and the leader's assignment
    # takes its way.
    assert 12 * 6 * SECOND <= before < 12 * 6.01 * SECOND
    order(lab, "crash", "c2")
    deadline_us = lane.consumers["c2"].deadline_us
    lab.advance_to(deadline_us - 1)
    assert lane.ledger.tally.darkness.unit_us_at(lab.now_us) - before == 4 * (deadline_us - 1 - 20 * SECOND)
    lab.advance_to(deadline_us + 10 * SECOND)
    longest_us = lane.ledger.bill.pause_us
    assert lane.ledger.tally.darkness.dark == 0
    assert (
        4 * longest_us
        < lane.ledger.tally.darkness.unit_us_at(lab.now_us) - before
        < 4 * longest_us + 8 * 4 * SECOND
    )


def test_a_queue_is_dark_only_while_nobody_alive_consumes():
    lab = lab_of(("rabbitmq", "prefetch_5"), consumers=2)
    lab.advance_to(20 * SECOND)
    darkness = lab.lanes["rabbitmq"].ledger.tally.darkness
    order(lab, "crash", "c1")
    lab.advance_to(30 * SECOND)
    assert darkness.unit_us_at(lab.now_us) == 0
    order(lab, "crash", "c2")
    lab.advance_to(40 * SECOND)
    assert darkness.mean_us_at(lab.now_us) == 10 * SECOND


def test_a_lab_without_consumers_is_dark_from_its_first_moment_also_when_it_was_stored_then():
    lab = lab_of(consumers=0)
    again = Lab.restore(lab.scenario, lab.checkpoint())
    for one in (lab, again):
        one.advance_to(7 * SECOND)
        assert {lane.ledger.tally.darkness.mean_us_at(one.now_us) for lane in one.lanes.values()} == {
            7 * SECOND
        }
