"""A history in a few words: what it orders, what it refuses, and the way back to its words."""

import pytest

from broker_core.clock import SECOND_US
from broker_core.errors import CommandError
from broker_core.lab.comparing.history import history_text, read_history, script_of
from broker_core.lab.comparing.ways import WAYS, chosen_ways
from broker_core.lab.lab import Lab
from broker_core.lab.scenario import LANE_KINDS, scenario_from_json

ALL = tuple(LANE_KINDS)


@pytest.mark.parametrize(
    "text",
    [
        "10 join\n25 crash c2\n40 rejoin c2",
        "5 join 3\n5 leave c1\n7.5 slow c2 3\n9 resume c2",
        "0 pause c1",
        "10 rate 60\n20 join",
        "",
    ],
)
def test_a_history_becomes_a_script_and_its_words_again(text: str) -> None:
    script = script_of(read_history(text, 3, ALL), 60 * SECOND_US)
    assert history_text(script) == text
    times = [entry["at_us"] for entry in script]
    assert times == sorted(set(times)) and script[0]["body"]["kind"] == "speed"
    assert script[-1] == {"at_us": 60 * SECOND_US, "body": script[-1]["body"]}
    assert script[-1]["body"]["kind"] == "pause_lab"


def test_semicolons_and_lines_out_of_turn_are_put_in_the_order_of_time() -> None:
    orders = read_history("30 leave c1; 10 join ;20 crash c4", 3, ALL)
    assert [(order.at_us // SECOND_US, order.kind, order.who) for order in orders] == [
        (10, "join", ""),
        (20, "crash", "c4"),
        (30, "leave", "c1"),
    ]


@pytest.mark.parametrize(
    ("text", "reason"),
    [
        ("join", "line 1: begins with a time"),
        ("-1 join", "line 1: begins with a time"),
        ("5 join\n1801 join", "line 2: begins with a time"),
        ("10", "line 1: after the time comes one of join"),
        ("10 dance c1", "line 1: after the time comes one of join"),
        ("10 crash", "line 1: is to be written as in: 25 crash c2"),
        ("10 crash c1 c2", "line 1: is to be written as in: 25 crash c2"),
        ("10 join c9", "line 1: is to be written as in: 10 join 2"),
        ("10 slow c1 2 3", "line 1: is to be written as in: 40 slow c1 2"),
        ("10 crash c9", "nobody is called c9 at 10 s"),
        ("10 crash c4\n20 join", "nobody is called c4 at 10 s"),
        ("10 broker_crash 2", "line 1: broker_crash is for comparisons of Kafka alone"),
        ("60 join", "60 join: comes after the end, at 60 s"),
        ("10 join 9999", "line 1: args.count: must be"),
        ("10 broker_crash 2 3", "line 1: broker_crash"),
        ("1 join\n" * 41, "has more than 40 orders"),
        ("1 join;" * 600, "is longer than"),
    ],
)
def test_what_is_wrong_is_refused_at_the_history_with_its_line(text: str, reason: str) -> None:
    with pytest.raises(CommandError) as refused:
        script_of(read_history(text, 3, ALL), 60 * SECOND_US)
    assert refused.value.field == "history" and refused.value.reason.startswith(reason)


@pytest.mark.parametrize(
    "ids", [[], ["kafka.range"], ["kafka.range"] * 2, [*list(WAYS)[:5]], ["kafka.range", "kafka.none"]]
)
def test_two_to_four_known_ways_are_chosen_each_once(ids: list[str]) -> None:
    with pytest.raises(CommandError) as refused:
        chosen_ways(ids)
    assert refused.value.field == "ways"


def test_every_way_is_a_lane_that_a_lab_takes() -> None:
    for way in WAYS.values():
        lab = Lab(scenario_from_json({"lanes": [way.lane()], "workload": {"kind": "uniform", "keys": 5}}))
        assert list(lab.lanes) == [way.lane_id] and lab.lanes[way.lane_id].model == way.model
        assert way.lane_id.partition("-")[::2] == tuple(way.id.split("."))
    assert {way.model for way in WAYS.values()} == set(LANE_KINDS)
