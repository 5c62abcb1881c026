"""The timeline's few words for an order have all that they name."""

import re

import pytest
from django.utils import translation

from broker_core.lab.commands import COMMANDS, command_from_json
from broker_core.lab.commands.base import ConsumerCommand
from broker_core.lab.commands.clock import ClockCommand
from broker_core.lab.commands.membership import Join
from broker_core.lab.lab import Lab
from broker_core.lab.scenario import scenario_from_json
from dashboard.sentences import SENTENCES
from tests.core.lab.commands.test_envelope import raw_of
from tests.core.lab.rabbitmq.test_open_lane import GREETED, LOGIN, bytes_of, open_lab, ordered

KINDS = [
    kind
    for kind, command in COMMANDS.items()
    if not issubclass(command, ClockCommand) and kind != "rabbitmq_socket"
]
"""What sockets say a lane that is open has to hear first: the last test."""


@pytest.mark.parametrize("language", ["en", "zh-hans"])
@pytest.mark.parametrize("kind", KINDS)
def test_no_name_in_the_words_of_a_tick_is_left_empty(kind: str, language: str) -> None:
    command = command_from_json(raw_of(kind))
    lab = Lab(scenario_from_json({"name": "x"}))
    names = ["c1"] if isinstance(command, ConsumerCommand | Join) else []
    lab.note(command, 1, names)
    with translation.override(language):
        text = str(SENTENCES[f"tick.{kind}"])
    tick = lab.view()["timeline"]["1"]
    assert {name: tick.get(name) for name in re.findall(r"\{(\w+)", text) if not tick.get(name)} == {}


def test_a_tick_keeps_words_and_numbers_and_no_tables() -> None:
    lab = Lab(scenario_from_json({"name": "x"}))
    lab.note(command_from_json(raw_of("rabbitmq_publish")), 1, [])
    tick = lab.timeline[1]
    assert tick["routing_key"] == "q" and "headers" not in tick and "body" not in tick


@pytest.mark.parametrize("language", ["en", "zh-hans"])
def test_the_words_of_a_tick_of_sockets_have_the_client_and_its_methods(language: str) -> None:
    lab = open_lab()
    ordered(lab, "rabbitmq_socket", acts=[{"do": "open", "socket": 1}])
    ordered(lab, "rabbitmq_socket", acts=[{"do": "bytes", "socket": 1, "data": GREETED}])
    ordered(lab, "rabbitmq_socket", acts=[{"do": "bytes", "socket": 1, "data": bytes_of(*LOGIN)}])
    with translation.override(language):
        text = str(SENTENCES["tick.rabbitmq_socket"])
    ticks = lab.view()["timeline"]
    assert all(ticks[each].get(name) for each in ("1", "2", "3") for name in re.findall(r"\{(\w+)", text))
    assert ticks["3"]["methods"].startswith("connection.start-ok, ")
