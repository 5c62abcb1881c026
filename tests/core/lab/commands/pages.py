"""Views as a web process has them, written by hand, and commands checked against them: no lab runs."""

from collections.abc import Mapping
from typing import Any

from broker_core.clock import SECOND_US
from broker_core.errors import CommandError
from broker_core.events import Json
from broker_core.lab.commands import command_from_json
from broker_core.lab.commands.base import Command
from broker_core.lab.commands.facts import LabFacts, facts_of_view
from broker_core.lab.limits import DEFAULT_LIMITS, Limits

STATES = ("live", "paused", "crashed", "gone", "frozen", "stuck")
"""Each consumer of a page is called by its state here."""
PACE = 10


def rows(*names: str, capacity: int = PACE) -> Json:
    """Consumers of a view; one called `gone` or `paused` is so, and `slow` works at another pace."""
    return {
        name: {"state": name if name in STATES else "live", "capacity": 2 if name == "slow" else capacity}
        for name in names
    }


def rig(model: str, *names: str, algorithm: str = "one", **more: Any) -> Json:
    algorithms = [{"id": known} for known in ("one", "two", "three")]
    return {
        "model": model,
        "algorithm": algorithm,
        "algorithms": algorithms,
        "consumers": rows(*names),
        **more,
    }


def pulsar(
    *names: str, algorithm: str = "one", order: str | None = None, producer: Json | None = None
) -> Json:
    return rig("pulsar", *names, algorithm=algorithm, pulsar={"order": order, "producer": producer})


def cluster(
    *names: str,
    brokers: Mapping[int, tuple[str, list[str]]] | None = None,
    links: Json | None = None,
    writers: Json | None = None,
    topics: Json | None = None,
) -> Json:
    """brokers: number -> (stage, verbs). links: "a>b" -> who is not heard. writers: name -> condition.
    topics: name -> partitions."""
    clients = {"producer": {"kind": "producer", "condition": "running", "verbs": []}}
    clients |= {name: {"kind": "consumer", "condition": "running", "verbs": []} for name in names}
    clients |= {
        name: {"kind": "producer", "condition": condition, "verbs": ["x"]}
        for name, condition in (writers or {}).items()
    }
    known: Mapping[int, tuple[str, list[str]]] = brokers or {
        number: ("running", ["stop", "pause", "crash", "cut_power", "lose_disk"]) for number in (1, 2, 3)
    }
    return rig(
        "kafka",
        *names,
        cluster={
            "brokers": {
                str(number): {"stage": stage, "verbs": verbs} for number, (stage, verbs) in known.items()
            },
            "clients": clients,
            "topic": "records",
            "partitions": {
                f"{name}-{number}": {}
                for name, count in (topics or {"records": 3}).items()
                for number in range(count)
            },
            "links": {name: {"cut": cut} for name, cut in (links or {}).items()},
        },
    )


def page(
    limits: Limits = DEFAULT_LIMITS, is_playing: bool = False, consumer_rate: int = PACE, **rigs: Json
) -> LabFacts:
    """What a view with these lanes, by id, tells."""
    view = {"consumer_rate": consumer_rate, "playing": is_playing, "rigs": rigs, "rig_order": list(rigs)}
    assert SECOND_US % consumer_rate == 0, "a pace that a service time in microseconds gives back"
    return facts_of_view(view, limits)


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
