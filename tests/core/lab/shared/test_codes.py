"""Each thing that happened has a sentence, whatever else was true then."""

from itertools import product

import pytest

from broker_core.lab.shared.codes import CODES, NOW, code_now, code_of


@pytest.mark.parametrize("happened", CODES)
def test_there_is_a_sentence_for_every_circumstance_and_none_that_is_never_said(happened):
    facts = sorted({fact for _, needed in CODES[happened] for fact in needed})
    said = {
        code_of(happened, **dict(zip(facts, true, strict=True)))
        for true in product((False, True), repeat=len(facts))
    }
    assert said == {code for code, _ in CODES[happened]}


def test_last_one_who_is_given_up_leaves_nobody_but_a_ghost_leaves_its_program():
    for model in ("kafka", "pulsar", "rabbitmq"):
        assert code_of(f"{model}.given_up", ghost=False, last=True) == f"{model}.crash_noticed_last"
        assert code_of(f"{model}.given_up", ghost=True, last=True) == f"{model}.ghost_noticed"


def test_several_newcomers_are_told_at_once():
    assert code_of("rabbitmq.joined", first=True, many=True) == "rabbitmq.join_first_many"
    assert code_of("pulsar.joined", first=False, many=True) == "pulsar.join_many"
    assert code_of("pulsar.joined", first=False, back=True) == "pulsar.rejoin"


def test_numbers_that_have_become_nothing_change_the_sentence():
    assert {code_now(code, {"partitions": 2, "deadline_us": 5}) for code in NOW} == set(NOW)
    assert code_now("kafka.crash_noticed", {"partitions": 12, "read_again": 0}) == "kafka.crash_noticed_idle"
    assert code_now("kafka.crash_pending", {"partitions": 0, "deadline_us": None}) == "kafka.crash_joining"
    assert code_now("pulsar.paused", {"partitions": 0}) == "pulsar.paused"
