"""What a command's check may know of a lab: made by the worker, asked there before the command is carried
out, and stored beside the view, where a web process asks it and answers at once.

    lab ─► facts_of_lab ─► check ─► carried out
                └─► facts_text ─► database ─► facts_from_text ─► the same check, in the web
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import cast

import msgspec

from broker_core.kafka.cluster.names import CONTROLLER
from broker_core.lab.kafka.facts import KafkaFacts, kafka_facts
from broker_core.lab.limits import Limits
from broker_core.lab.pulsar.facts import PulsarFacts, pulsar_facts
from broker_core.lab.pulsar.lane import PulsarRules
from broker_core.lab.rabbitmq.facts import RabbitMqFacts, rabbitmq_facts
from broker_core.lab.shared.facts import LaneFacts, facts_of_any
from broker_core.lab.shared.lane import Lane
from broker_core.lab.tubemq.facts import TubeMqFacts, tubemq_facts

AnyLane = KafkaFacts | PulsarFacts | RabbitMqFacts | TubeMqFacts | LaneFacts


@dataclass(frozen=True, slots=True)
class LabFacts:
    """What a check is given."""

    lanes: Mapping[str, LaneFacts]  # by id, in the lab's order
    is_playing: bool
    limits: Limits
    parts: int = 0  # what the lab costs now (`size.py`)


class _Clock(msgspec.Struct):
    is_playing: bool


class _Stored(_Clock):
    lanes: list[AnyLane]
    parts: int


def facts_of_lane(lane: Lane) -> LaneFacts:
    match lane.model:
        case "pulsar":
            return pulsar_facts(lane, cast(PulsarRules, lane.rules))
        case "kafka" if CONTROLLER in lane.world.slots:
            return kafka_facts(lane)
        case "rabbitmq":
            return rabbitmq_facts(lane)
        case "tubemq":
            return tubemq_facts(lane)
    return LaneFacts(**facts_of_any(lane))  # type: ignore[arg-type]


def facts_text(facts: LabFacts) -> str:
    """For whoever asks a little later: without what time changes."""
    lanes = [lane.settled() for lane in facts.lanes.values()]
    return msgspec.json.encode(_Stored(facts.is_playing, lanes, facts.parts)).decode()


def facts_from_text(text: str, limits: Limits) -> LabFacts | None:
    """None where nothing is known: there are none yet, or they are another version's."""
    try:
        stored = _DECODER.decode(text)
    except msgspec.MsgspecError:
        return None
    return LabFacts({lane.id: lane for lane in stored.lanes}, stored.is_playing, limits, stored.parts)


def plays_by_text(text: str) -> bool:
    """Whether a lab's clock runs, of what is stored of it; so it does while nothing is known."""
    try:
        return msgspec.json.decode(text, type=_Clock).is_playing
    except msgspec.MsgspecError:
        return True


_DECODER = msgspec.json.Decoder(_Stored)
