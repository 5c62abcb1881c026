"""Long steps of a lab stop between their lanes, so that its neighbours are served; the stops change
nothing."""

import pytest

from broker_core.errors import CommandError
from broker_core.lab.lab import Lab
from broker_core.lab.scenario import scenario_from_json

pytestmark = pytest.mark.slow

SECOND = 1_000_000


def lab_of() -> Lab:
    lanes = [
        {"id": f"lane{number}", "model": model}
        for number, model in enumerate(["pulsar", "kafka", "tubemq", "rabbitmq", "kafka"])
    ]
    return Lab(
        scenario_from_json(
            {"workload": {"kind": "uniform", "keys": 50, "rate": 40}, "consumers": 3, "lanes": lanes}
        )
    )


def order(
    lab: Lab, kind: str, lane: str = "all", consumer: str | None = None, **args: object
) -> dict[str, object]:
    return {"command_id": f"p{lab.position}", "kind": kind, "lane": lane, "consumer": consumer, "args": args}


def stops(pieces):
    return sum(1 for _stop in pieces)


@pytest.mark.parametrize(
    ("kind", "consumer"), [("join", None), ("leave", "c1"), ("crash", "c2"), ("slow", "c1")]
)
def test_a_command_stops_after_each_lane(kind, consumer):
    lab, cut = lab_of(), lab_of()
    for each in (lab, cut):
        each.advance_to(7 * SECOND)
    args = {"rate": 2} if kind == "slow" else {}
    assert stops(cut.submitting(order(cut, kind, consumer=consumer, **args))) >= 5
    lab.submit(order(lab, kind, consumer=consumer, **args))
    assert stops(cut.advancing(60 * SECOND)) >= 5
    lab.advance_to(60 * SECOND)
    assert (cut.view(), cut.checkpoint()) == (lab.view(), lab.checkpoint())


def test_views_and_checkpoints_stop_after_each_lane():
    lab = lab_of()
    assert stops(lab.viewing()) == 5
    before = stops(lab.checkpointing())
    assert before >= 5
    lab.submit(order(lab, "join", count=200))
    assert stops(lab.checkpointing()) >= before + 5 * (200 // 64), (
        "a large lane's checkpoint stops between its nodes"
    )


def test_a_switched_lane_s_history_is_one_of_many_pieces():
    lab = lab_of()
    for second in range(1, 60):
        lab.advance_to(second * SECOND)
        lab.submit(
            order(
                lab,
                "join" if second % 2 else "leave",
                consumer=None if second % 2 else "c3" if second == 2 else f"c{second // 2 + 2}",
            )
        )
    pieces = lab.submitting(order(lab, "set_algorithm", "lane1", algorithm="sticky"))
    for _stop in range(150):
        next(pieces)
        assert lab.lanes["lane1"].algorithm == "range", "until the last piece the lane is as it was"
    stops(pieces)
    assert lab.lanes["lane1"].algorithm == "sticky"


@pytest.mark.parametrize("lane", ["lane0", "lane1", "lane2", "lane3"])
def test_many_who_come_at_once_do_so_one_after_the_other(lane):
    """What each of them makes its brokers and fellows tell is a piece of its own."""
    lab, cut = lab_of(), lab_of()
    for each in (lab, cut):
        each.advance_to(7 * SECOND)
        each.submit(order(each, "join", lane, count=40))
    assert stops(cut.advancing(20 * SECOND)) > 40
    lab.advance_to(20 * SECOND)
    assert (cut.view(), cut.checkpoint()) == (lab.view(), lab.checkpoint())


def test_a_refusal_comes_before_the_first_stop():
    lab = lab_of()
    before = lab.checkpoint()
    for refused in (
        order(lab, "leave", consumer="c9"),
        order(lab, "set_algorithm", "lane1", algorithm="range"),
        order(lab, "join", count=600),
    ):
        with pytest.raises(CommandError):
            next(lab.submitting(refused))
    assert lab.checkpoint() == before
