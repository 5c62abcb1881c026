"""A lesson's checks: the numbers that they find in a lab, and what they show whenever the lab stops."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from broker_core.lab.journal import Journal
from broker_core.lab.lab import Lab
from broker_core.lab.lesson.checks import holds
from broker_core.lab.lesson.file import scenario_from_text
from broker_core.lab.lesson.numbers import NoSuchNumber, number_at
from broker_core.lab.lesson.play import Came, OrderRefused, play
from broker_core.lab.replay import Replay
from tests.core.lab.lesson.whole_lesson import WHOLE, edited

# -- numbers -------------------------------------------------------------------------------------------------

LANE = {
    "skew": 1.25,
    "bill": None,
    "tally": {"dark_us": 2_500_000},
    "consumers": {"c1": {"share": 0.5, "state": "live"}, "c.2": {"share": 0.25, "state": "gone"}},
    "partitions": {
        "0": {"owner": "c1", "stopped": False, "isr": [1, 2], "lag": 5},
        "1": {"owner": None, "stopped": True, "isr": [1], "lag": 9},
    },
    "ring": ["c1", "c.2"],
}


@pytest.mark.parametrize(
    ("path", "came"),
    [
        ("skew", 1.25),
        ("bill.keys_moved", None),
        ("tally.dark_s", 2.5),
        ("tally.dark_ms", 2500),
        ("consumers.c.2.share", 0.25),
        ("consumers.*.share.sum", 0.75),
        ("consumers.*.share.max", 0.5),
        ("consumers.count", 2),
        ("consumers.state=live.count", 1),
        ("consumers.state=gone.*.share.min", 0.25),
        ("partitions.owner=nothing.count", 1),
        ("partitions.stopped=true.count", 1),
        ("partitions.0.isr.count", 2),
        ("partitions.lag>5.count", 1),
        ("partitions.lag<6.*.lag.max", 5),
        ("partitions.owner!=nothing.count", 1),
        ("ring.1", "c.2"),
        ("ring.count", 2),
    ],
)
def test_a_number_is_found_by_its_path(path, came):
    assert number_at(LANE, path) == came


@pytest.mark.parametrize(
    "path",
    [
        "skw",
        "consumers",
        "consumers.c9.share",
        "consumers.*.state.sum",
        "ring.2",
        "skew.max",
        "consumers.*.share",
    ],
)
def test_a_path_that_leads_nowhere_says_what_is_there(path):
    with pytest.raises(NoSuchNumber):
        number_at(LANE, path)


def test_a_check_compares_exactly_and_nothing_is_no_number():
    assert (
        holds(1, {"is": 1})
        and holds(1.0, {"is": 1})
        and holds("live", {"is": "live"})
        and holds(None, {"is": "nothing"})
    )
    assert not holds(True, {"is": 1}) and holds(True, {"is": True})
    assert (
        not holds(None, {"at_most": 5})
        and not holds("6", {"at_least": 5})
        and not holds(True, {"at_least": 1})
    )
    assert holds(5, {"more_than": 4, "less_than": 6}) and not holds(6, {"more_than": 4, "less_than": 6})


# -- a lab that plays one ------------------------------------------------------------------------------------


def played(lab, times):
    """The lab after its lesson's orders, with stops at these times, too."""
    orders = [
        (step.at_us, number, step.order)
        for number, step in enumerate(lab.scenario.lesson.steps)
        if step.order
    ]
    position = 0
    for at_us in sorted({*times, *(at_us for at_us, _, _ in orders), lab.scenario.lesson.lasts_us}):
        lab.advance_to(at_us)
        for due_us, _, order in orders:
            if due_us == at_us:
                position += 1
                lab.submit({**order, "position": position})
    return lab


@given(st.lists(st.integers(1, 12_000_000), max_size=6))
def test_results_are_the_same_wherever_the_lab_stops_in_between(times):
    one, other = Lab(scenario_from_text(WHOLE)), Lab(scenario_from_text(WHOLE))
    assert played(one, []).view() == played(other, times).view()


def test_results_survive_a_checkpoint_and_a_replay():
    scenario = scenario_from_text(WHOLE)
    lab = Lab(scenario)
    lab.advance_to(6_000_000)
    again = Lab.restore(scenario, lab.checkpoint())
    assert again.view()["lesson"]["results"] == {"0": {"came": 10, "holds": False}}
    again.advance_to(12_000_000)
    journal = Journal(scenario)
    assert Replay(Lab(scenario), journal.commands, 12_000_000).finish().view() == again.view()


def test_an_order_of_the_checks_own_time_comes_after_it():
    text = WHOLE.replace("at_s = 5.5\nlane", "at_s = 2\nlane")
    came = {
        moment.place: moment.result["came"]
        for moment in play(scenario_from_text(text))
        if isinstance(moment, Came)
    }
    assert came[0] == 10


def test_caption_and_results_follow_the_time_and_own_orders_are_said():
    lab = Lab(scenario_from_text(WHOLE))
    assert (lab.view()["lesson"]["caption"], lab.view()["lesson"]["results"]) == (-1, {})
    lab.advance_to(2_000_000)
    assert lab.view()["lesson"]["caption"] == 0
    lab.submit({"command_id": "x1", "kind": "play"})
    lab.submit({"command_id": "lesson:1", "kind": "slow", "consumer": "c1", "args": {"rate": 1}})
    assert lab.view()["lesson"]["meddled_us"] is None
    lab.submit({"command_id": "x2", "kind": "leave", "consumer": "c2"})
    assert lab.view()["lesson"]["meddled_us"] == 2_000_000


def test_turning_points_can_be_counted():
    text = edited(
        'number = "record_count"\nat_least = 100',
        'number = "events.rabbitmq.consumer.crashed"\nis = 1\nlane = "rabbitmq"',
    )
    moments = [moment for moment in play(scenario_from_text(text)) if isinstance(moment, Came)]
    assert [moment.result for moment in moments] == [{"came": 1, "holds": True}] * 2


def test_a_number_that_is_not_there_fails_and_says_what_is_there():
    text = edited('number = "record_count"', 'number = "records"')
    *_, last = play(scenario_from_text(text))
    assert last.result["holds"] is False and last.result["missing"]["known"] == [
        "at_us",
        "consumer_count",
        "key_count",
        "record_count",
    ]


def test_an_order_that_the_lab_refuses_names_its_step():
    with pytest.raises(
        OrderRefused, match=r"step 2 at 5\.5 s is refused: consumer: there is no consumer c9"
    ) as caught:
        list(play(scenario_from_text(edited('consumer = "c2"', 'consumer = "c9"'))))
    assert caught.value.place == 1
