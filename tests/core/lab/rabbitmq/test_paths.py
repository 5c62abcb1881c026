"""The way of a message, step by step, also of one that has gone."""

from __future__ import annotations

from typing import Any

import pytest

from broker_core.errors import CommandError
from broker_core.lab.lab import Lab
from broker_core.lab.messages import FIRST_SENT
from broker_core.lab.panels import panels_of
from broker_core.lab.rabbitmq.paths import (
    FIRST_STEPS,
    FIRSTS_KEPT,
    LAST_STEPS,
    MESSAGES_KEPT,
    SENT_KEPT,
    Step,
    go_on,
)
from broker_core.lab.rabbitmq.views import questions
from tests.core.lab.rabbitmq.test_topology import SECOND, TOPOLOGY, lab_of, order


def panel_of(lab: Lab) -> Any:
    return panels_of(lab.lanes["rabbitmq"])["rabbitmq"]


def paths_of(lab: Lab) -> Any:
    return panel_of(lab)["paths"]


def steps(lab: Lab, message: int) -> list[tuple[Any, ...]]:
    found = paths_of(lab)["of"][str(message)]["steps"]
    times = [step["at_us"] for step in found]
    assert times == sorted(times)
    return [tuple(value for name, value in step.items() if name != "at_us") for step in found]


def by_hand(lab: Lab, **args: Any) -> int:
    message = FIRST_SENT + lab.position + 1
    order(lab, "rabbitmq_publish", **{"vhost": "shop", "body": "x", **args})
    return message


def test_messages_by_hand_have_a_series_of_their_own_from_1() -> None:
    lab = quiet()
    order(lab, "rabbitmq_declare_queue", vhost="shop", name="mine")
    first = by_hand(lab, exchange="", routing_key="mine")
    order(lab, "rabbitmq_purge", vhost="shop", name="all")
    second = by_hand(lab, exchange="", routing_key="mine")
    of = paths_of(lab)["of"]
    assert (of[str(first)]["by_hand"], of[str(second)]["by_hand"]) == (1, 2)
    assert {path["by_hand"] for number, path in of.items() if int(number) < FIRST_SENT} == {0}
    panel = panel_of(lab)
    assert questions.path_of(panel, None, by_hand=2)["message"] == second
    assert questions.path_of(panel, first)["by_hand"] == 1
    for asked in ({"message": None, "by_hand": 3}, {"message": None, "by_hand": 0}, {"message": 10**6}):
        with pytest.raises(CommandError, match="not kept"):
            questions.path_of(panel, **asked)
    events = order(lab, "rabbitmq_get", vhost="shop", name="mine")
    (got,) = [event["data"] for event in events if event["kind"] == "rabbitmq.operator.answered"]
    assert got["message"] == first and got["by_hand"] == 1


def quiet(**fields: Any) -> Lab:
    lab = lab_of({**TOPOLOGY, "consumers": TOPOLOGY["consumers"][1:2]}, consumers=1, **fields)
    lab.advance_to(2 * SECOND)
    return lab


def test_a_rejected_message_goes_to_its_dead_letter_exchange() -> None:
    lab = quiet()
    message = by_hand(lab, exchange="orders", routing_key="key-1.created")
    changes = panel_of(lab)["vhosts"]["shop"]["changes"]
    first = ("shop", "orders", ["key-1.created"], None, None, changes, ["new", "all"])
    died = {
        "x-first-death-reason": "rejected",
        "x-first-death-queue": "new",
        "x-first-death-exchange": "orders",
    }
    assert [steps(lab, message)[0][0], *steps(lab, message)[0][2:]] == ["published", *first]
    assert steps(lab, message)[1:-1] == [
        ("delivered", "c1", "new", False, True), ("discard", "c1", "new"),
    ]  # fmt: skip
    *last, headers, properties, known, queues = steps(lab, message)[-1]
    assert last == ["died", "new", "rejected", "shop", "dead", ["key-1.created"]]
    assert (headers, properties, known, queues) == (died, None, changes, ["morgue"])


def test_what_reaches_no_queue_is_returned_to_who_wants_to_know() -> None:
    lab = quiet()
    lost = by_hand(lab, routing_key="nowhere")
    returned = by_hand(lab, routing_key="nowhere", mandatory=True)
    assert [step[0] for step in steps(lab, lost)] == ["published"] and steps(lab, lost)[0][-1] == []
    assert [step[0] for step in steps(lab, returned)] == ["published", "returned"]
    assert str(paths_of(lab)["newest"]) in paths_of(lab)["of"]


def test_got_given_back_got_again_and_acknowledged() -> None:
    lab = quiet()
    message = by_hand(lab, exchange="dead")
    order(lab, "rabbitmq_purge", vhost="shop", name="morgue", seconds=1)
    assert steps(lab, message)[-1] == ("dropped", "morgue", "purged")
    order(lab, "rabbitmq_declare_queue", vhost="shop", name="mine", durable=False)
    message = by_hand(lab, routing_key="mine")
    order(lab, "rabbitmq_get", vhost="shop", name="mine", then="requeue")
    order(lab, "rabbitmq_get", vhost="shop", name="mine", then="ack")
    assert [(step[0], *step[2:]) for step in steps(lab, message)[1:]] == [
        ("delivered", "mine", False, True), ("requeue", "mine"), ("delivered", "mine", True, True), ("ack", "mine"),
    ]  # fmt: skip


def test_a_program_that_dies_gives_back_and_a_server_that_restarts_loses() -> None:
    topology = {**TOPOLOGY, "consumers": [{"queue": "new", "vhost": "shop", "ack": "never", "prefetch": 0}]}
    lab = lab_of(topology, consumers=1)
    lab.advance_to(2 * SECOND)
    message = by_hand(lab, exchange="orders", routing_key="x.created")
    lab.advance_to(lab.now_us + SECOND)
    order(lab, "leave", "c1")
    way = [step for step in steps(lab, message) if "new" in step]
    assert [step[:3] for step in way] == [("delivered", "c1", "new"), ("given_back", "c1", "new")]
    message = by_hand(lab, exchange="orders", routing_key="x.created")
    order(lab, "rabbitmq_crash")
    order(lab, "rabbitmq_start")
    assert set(steps(lab, message)[-2:]) == {("dropped", "new", "lost"), ("dropped", "all", "lost")}


def test_a_queue_at_its_maximum_drops_its_head() -> None:
    lab = quiet()
    message = by_hand(lab, exchange="orders", routing_key="x.y")
    lab.advance_to(lab.now_us + 3 * SECOND)
    assert steps(lab, message)[-1] == ("died", "all", "maxlen", "shop", None, [], None, None, 0, [])


def test_kept_are_the_last_ones_and_of_each_its_first_and_last_steps() -> None:
    lab = quiet()
    message = by_hand(lab, exchange="dead")
    lab.advance_to(lab.now_us + 10 * SECOND)
    kept = [int(each) for each in paths_of(lab)["of"]]
    records = [each for each in kept if each < FIRST_SENT]
    of = paths_of(lab)["of"]
    firsts = [each for each in records if of[str(each)]["is_followed"]]
    last = [each for each in records if each not in firsts]
    assert message in kept and of[str(message)]["is_followed"] and len(last) == MESSAGES_KEPT
    assert max(records) - min(last) < MESSAGES_KEPT + 8
    began = [of[str(each)]["steps"][0] for each in firsts]
    seconds = [(step["program"], step["at_us"] // SECOND) for step in began]
    assert len(seconds) == len(set(seconds)) > 10, "a program's first of each second stays"
    lab.advance_to(lab.now_us + 40 * SECOND)
    assert sum(each["is_followed"] for each in paths_of(lab)["of"].values()) == FIRSTS_KEPT + 1
    for _ in range(SENT_KEPT):
        by_hand(lab, exchange="dead")
    assert str(message) not in paths_of(lab)["of"]
    way: list[Step] = []
    for at_us in range(100):
        go_on(way, (at_us, "refused", "q"))
    first, last = list(range(FIRST_STEPS)), list(range(100 - LAST_STEPS, 100))
    assert [step[0] for step in way] == [*first, FIRST_STEPS, *last]
    assert way[FIRST_STEPS] == (FIRST_STEPS, "left_out", 100 - FIRST_STEPS - LAST_STEPS)


def test_a_restored_lab_knows_the_same_ways() -> None:
    lab = quiet()
    by_hand(lab, exchange="orders", routing_key="key-1.created")
    restored = Lab.restore(lab.scenario, lab.checkpoint())
    assert paths_of(restored) == paths_of(lab)
    until_us = lab.now_us + 3 * SECOND
    for each in (lab, restored):
        each.advance_to(until_us)
    assert paths_of(restored) == paths_of(lab)
