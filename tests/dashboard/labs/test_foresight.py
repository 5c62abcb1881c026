"""What the stored facts already rules out is refused at once, just as the lab itself would refuse it."""

from functools import cache
from itertools import product
from typing import Any

import pytest

from broker_core.errors import CommandError
from broker_core.lab.commands import COMMANDS, CONSUMER_KINDS, check_command, command_from_json
from broker_core.lab.commands.clock import ClockCommand
from broker_core.lab.facts import facts_from_text, facts_text
from broker_core.lab.lab import Lab
from broker_core.lab.limits import DEFAULT_LIMITS
from broker_core.lab.scenario import Scenario, scenario_from_json
from dashboard.errors import in_words
from dashboard.labs.foresight import refusal_known
from dashboard.sentences import SENTENCES


@pytest.fixture
def lab() -> Lab:
    return lived()


def lived() -> Lab:
    """A lab with that life behind it: lived once, and restored for each order that is taken."""
    return Lab.restore(*life())


@cache
def life() -> tuple[Scenario, bytes]:
    """c1 works, c2 is paused, c3 is slow, c4 has crashed unnoticed, c5 has left, c6 is faster than it was;
    the clock runs."""
    lab = Lab(scenario_from_json({"consumers": 6, "workload": {"kind": "uniform", "keys": 20, "rate": 20}}))
    lab.advance_to(9_000_000)
    orders = [
        ("pause", "c2"),
        ("slow", "c3"),
        ("crash", "c4"),
        ("leave", "c5"),
        ("slow", "c6"),
        ("play", None),
    ]
    for number, (kind, consumer) in enumerate(orders):
        lab.submit(
            {
                "command_id": f"x{number}",
                "kind": kind,
                "consumer": consumer,
                "args": {"rate": 50} if consumer == "c6" else {},
            }
        )
    return lab.scenario, lab.checkpoint()


def agree(lab: Lab, command: dict[str, Any]) -> str | None:
    """The field at which view and lab refuse a command alike; None when both take it."""
    known = facts_from_text(facts_text(lab.facts()), DEFAULT_LIMITS)
    assert known is not None
    foreseen = refusal_known(known, command_from_json(command))
    try:
        lab.submit({**command, "position": lab.position + 1})
        refused = {}
    except CommandError as error:
        refused = {error.field: in_words(error)}
    is_left_to_lab = command["kind"] in OWNERS_ALONE and not foreseen and set(refused) <= {"args.partition"}
    assert foreseen == refused or is_left_to_lab, command
    return next(iter(refused), None)


ARGS = {
    "rabbitmq_settle": {"how": "ack"}, "tubemq_call": {"call": "getNodeId"},
    "pulsar_seek": {"entry": 0}, "pulsar_priority": {"level": 1}, "pulsar_ranges": {"ranges": [[0, 9]]},
    "group_pause_partition": {"partition": 0}, "group_resume_partition": {"partition": 0},
    "group_seek": {"partition": 0, "offset": 0}, "group_commit": {"partition": 0, "offset": 0},
}  # fmt: skip
"""Of commands that need some."""
CONSUMERS = ("c1", "c2", "c3", "c4", "c5", "c6", "c7")
OWNERS_ALONE = ("group_pause_partition", "group_resume_partition", "group_seek")
"""A view may be a second old: who owns a partition only the lab knows."""


@pytest.mark.parametrize("kind", sorted(CONSUMER_KINDS))
def test_foresight_and_lab_agree_about_a_consumer(lab: Lab, kind: str) -> None:
    """Of each consumer, in all lanes, in one and in one that there is not. What is refused changes nothing, so
    the next order goes to the same lab; after one that was taken it is another."""
    for consumer, lane in product(CONSUMERS, ("nowhere", "all", "kafka", "pulsar")):
        command = {"command_id": f"y{consumer}{lane}", "kind": kind, "lane": lane, "consumer": consumer}
        field = agree(lab, check_command({**command, "args": ARGS.get(kind, {})}))
        if lane == "nowhere":
            assert field == "lane"
        if field is None:
            lab = lived()


def test_who_was_made_faster_can_be_brought_back_to_its_pace(lab: Lab) -> None:
    assert agree(lab, check_command({"command_id": "y1", "kind": "resume", "consumer": "c6"})) is None


@pytest.mark.parametrize(
    ("kind", "more", "field"),
    [
        ("step", {}, "kind"),
        ("play", {}, None),
        ("pause_lab", {}, None),
        ("play_until", {"args": {"until_us": 10**12, "speed": 4}}, None),
        ("speed", {"args": {"speed": 4}}, None),
        ("join", {"args": {"count": 508}}, "args.count"),
        ("join", {"args": {"count": 3}}, None),
        ("set_algorithm", {"lane": "kafka", "args": {"algorithm": "range"}}, "args.algorithm"),
        ("set_algorithm", {"lane": "kafka", "args": {"algorithm": "modulo"}}, "args.algorithm"),
        ("set_algorithm", {"lane": "kafka", "args": {"algorithm": "sticky"}}, None),
    ],
)
def test_foresight_and_lab_agree_about_the_rest(
    lab: Lab, kind: str, more: dict[str, Any], field: str | None
) -> None:
    assert agree(lab, check_command({"command_id": "y1", "kind": kind, **more})) == field


def test_every_kind_of_command_has_its_words() -> None:
    for kind, command in COMMANDS.items():
        if not issubclass(command, ClockCommand):
            assert {f"caption.{kind}", f"tick.{kind}"} <= set(SENTENCES)
