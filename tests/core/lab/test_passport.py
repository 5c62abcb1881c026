"""A record's passport is what happened to it, in each lane."""

import pytest

from broker_core.errors import CommandError
from broker_core.lab.lab import Lab
from broker_core.lab.passport import homes, newest_with_key, passport_view, stamp
from broker_core.lab.scenario import scenario_from_json

SECOND = 1_000_000
CRASH = {"command_id": "x", "kind": "crash", "lane": "all", "consumer": "c2", "args": {}}


def lab_at(at_us: int, **scenario):
    lab = Lab(scenario_from_json(scenario))
    lab.advance_to(at_us)
    return lab


def passport(lab, record, until_us):
    lab.advance_to(lab.workload.arrival_us(record) - 1)
    stamps = stamp(lab, record)
    lab.advance_to(lab.workload.arrival_us(record))
    at_home = homes(lab, record)
    lab.advance_to(until_us)
    return passport_view(lab, record, at_home, stamps)


def kinds(lane):
    return [step["kind"] for step in lane["steps"]]


def test_each_lane_says_who_received_the_record_and_when_it_was_done():
    told = passport(lab_at(20 * SECOND), 720, 60 * SECOND)
    assert (told["record"], told["key"], told["sent_us"]) == (720, "N14242", 20_027_777)
    for lane_id, lane in told["lanes"].items():
        assert kinds(lane) == ["received", "done"], lane_id
        received, done = lane["steps"]
        assert told["sent_us"] < received["at_us"] < done["at_us"] <= told["until_us"]
        assert received["consumer"] == done["consumer"]
        if lane["home"]:
            assert lane["home"]["consumer"] == done["consumer"]
    assert told["lanes"]["rabbitmq"]["home"] is None


def test_watching_changes_nothing_of_what_happens():
    watched, free = lab_at(20 * SECOND), lab_at(20 * SECOND)
    for lab in (watched, free):
        lab.submit(CRASH)
    told = passport(watched, 721, 90 * SECOND)
    while free.now_us < told["until_us"]:
        free.advance_to(free.now_us + SECOND)
    watched.advance_to(free.now_us)
    assert watched.view() == free.view()


def test_what_a_crash_took_along_is_received_again_by_another():
    first = passport(lab_at(20 * SECOND), 720, 60 * SECOND)["lanes"]["rabbitmq"]["steps"]
    lab = lab_at(20 * SECOND)
    stamps = stamp(lab, 720)
    lab.advance_to((first[0]["at_us"] + first[1]["at_us"]) // 2)
    lab.submit({**CRASH, "consumer": first[0]["consumer"]})
    lab.advance_to(300 * SECOND)
    steps = stamps["rabbitmq"].steps
    assert [step["kind"] for step in steps][-2:] == ["received", "done"]
    assert len({step["consumer"] for step in steps}) == 2


def test_a_record_that_waits_has_no_steps_yet():
    lab = lab_at(20 * SECOND)
    told = passport(lab, 720, 20_030_000)
    assert kinds(told["lanes"]["tubemq"]) == [] and told["until_us"] == 20_030_000


def test_a_lane_whose_rule_is_switched_says_so():
    lab = lab_at(20 * SECOND)
    stamps, at_home = stamp(lab, 720), homes(lab, 720)
    switch = {"kind": "set_algorithm", "lane": "kafka", "consumer": None, "args": {"algorithm": "sticky"}}
    lab.submit({"command_id": "s", **switch})
    lab.advance_to(60 * SECOND)
    told = passport_view(lab, 720, at_home, stamps)["lanes"]
    assert [lane for lane, said in told.items() if said["is_switched"]] == ["kafka"]


def test_the_newest_record_of_a_key_is_found_and_a_key_without_one_is_refused():
    lab = lab_at(20 * SECOND)
    assert newest_with_key(lab.workload, "N14242", 721) == 720
    earlier = newest_with_key(lab.workload, "N14242", 720) if "N14242" in _keys(lab, 720) else None
    assert earlier is None or earlier < 720
    for key in ("never seen", lab.workload.key(lab.workload.key_code(5_000))):
        if key in _keys(lab, 100):
            continue
        with pytest.raises(CommandError) as refused:
            newest_with_key(lab.workload, key, 100)
        assert refused.value.field == "key"


def _keys(lab, count):
    return {lab.workload.key(code) for code in lab.workload.key_codes(0, count)}
