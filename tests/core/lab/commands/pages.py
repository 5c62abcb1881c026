"""Facts as a web process has them, written by hand, and commands checked against them: no lab runs."""

from collections.abc import Mapping, Sequence
from typing import Any

import msgspec

from broker_core.errors import CommandError
from broker_core.lab.commands import command_from_json
from broker_core.lab.commands.base import Command
from broker_core.lab.facts import LabFacts
from broker_core.lab.kafka.facts import BrokerFacts, KafkaFacts
from broker_core.lab.limits import DEFAULT_LIMITS, Limits
from broker_core.lab.pulsar.facts import PulsarFacts
from broker_core.lab.shared.facts import ConsumerFacts, LaneFacts
from broker_core.lab.size import LaneSize

STATES = ("live", "paused", "crashed", "gone", "frozen", "stuck")
"""Each consumer of a page is called by its state here."""


def consumers(names: Sequence[str]) -> dict[str, ConsumerFacts]:
    """Each is as its name says: one called `gone` or `paused` is so, and `slow` works at another pace."""
    return {
        name: ConsumerFacts(
            name in ("crashed", "gone"), name == "paused", name == "slow", name == "frozen", name == "stuck"
        )
        for name in names
    }


def common(model: str, names: Sequence[str], algorithm: str) -> dict[str, Any]:
    size = LaneSize(model, len(names))
    known = ["one", "two", "three"]
    return {
        "id": "", "model": model, "algorithm": algorithm, "algorithms": known, "consumers": consumers(names),
        "size": size, "sizes": dict.fromkeys(known, size),
    }  # fmt: skip


def of_model(model: str, *names: str, algorithm: str = "one") -> LaneFacts:
    return LaneFacts(**common(model, names, algorithm))


def pulsar(
    *names: str, algorithm: str = "one", order: str | None = None, has_receipts: bool = False
) -> PulsarFacts:
    return PulsarFacts(**common("pulsar", names, algorithm), order=order, has_receipts=has_receipts)


def cluster(
    *names: str,
    brokers: Mapping[int, tuple[str, list[str]]] | None = None,
    links: Mapping[str, list[str]] | None = None,
    writers: dict[str, str] | None = None,
    topics: dict[str, int] | None = None,
) -> KafkaFacts:
    """brokers: number -> (stage, verbs). links: "a>b" -> who is not heard. writers: name -> condition.
    topics: name -> partitions. As it is stored: without what time changes."""
    known: Mapping[int, tuple[str, list[str]]] = brokers or {
        number: ("running", ["stop", "pause", "crash", "cut_power", "lose_disk"]) for number in (1, 2, 3)
    }
    return KafkaFacts(
        **common("kafka", names, "one"),
        nodes=[*(f"broker-{number}" for number in known), "controller", "producer", *names, *(writers or {})],
        brokers={number: BrokerFacts(stage, verbs) for number, (stage, verbs) in known.items()},
        topics=topics or {"records": 3},
        own_topic="records",
        cuts=dict(links or {}),
        writers=writers or {},
        group_state="Stable",
        owned={},
    ).settled()


def page(limits: Limits = DEFAULT_LIMITS, is_playing: bool = False, **lanes: LaneFacts) -> LabFacts:
    """What is known of a lab with these lanes, by id."""
    lanes = {name: msgspec.structs.replace(lane, id=name) for name, lane in lanes.items()}
    return LabFacts(lanes, is_playing, limits)


def made(
    kind: str, consumer: str | None = None, lane: str = "all", limits: Limits = DEFAULT_LIMITS, **args: Any
) -> Command:
    return command_from_json(
        {"command_id": "x1", "kind": kind, "lane": lane, "consumer": consumer, "args": args}, limits
    )


def refused(
    facts: LabFacts, kind: str, consumer: str | None = None, lane: str = "all", **args: Any
) -> tuple[str, str] | None:
    """Field and reason with which such a page refuses the command; None: it takes it."""
    command = made(kind, consumer, lane, facts.limits, **args)
    try:
        command.check(facts)
    except CommandError as error:
        return error.field, error.reason
    return None


def misread(kind: str, consumer: str | None = None, lane: str = "all", **args: Any) -> tuple[str, str] | None:
    """Field and reason for which no command can be made of this; None: one can."""
    try:
        made(kind, consumer, lane, **args)
    except CommandError as error:
        return error.field, error.reason
    return None
