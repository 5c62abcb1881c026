"""What may happen in a search: orders that people give a lab, too, each with whom it is about.

A fault is an ordinary command. Whom it hits is drawn: often one that an earlier fault of the schedule was about, as
only one that crashed can come back.
"""

from __future__ import annotations

from collections.abc import Collection, Mapping
from dataclasses import dataclass, field
from types import MappingProxyType

from broker_core.events import Json
from broker_core.lab.breaking.promise import ALL_MODELS

CONSUMER, BROKER, LINK, NOBODY = "consumer", "broker", "link", "nobody"
SLOW_LINK_US, WRONG_SOURCE_COUNT = 400_000, 5


@dataclass(frozen=True, slots=True)
class FaultKind:
    """about: whom it names. args: beside that, unless the allowance says others. ends: the faults that it repairs,
    none for one that is no repair."""

    about: str
    models: Collection[str] = ALL_MODELS
    args: Json = field(default_factory=dict)
    ends: Collection[str] = ()


_KAFKA, _TUBEMQ, _RABBITMQ, _PULSAR = ("kafka",), ("tubemq",), ("rabbitmq",), ("pulsar",)
FAULTS: Mapping[str, FaultKind] = MappingProxyType(
    {
        "crash": FaultKind(CONSUMER),
        "rejoin": FaultKind(CONSUMER, ends=("crash",)),
        "join": FaultKind(NOBODY, args={"count": 1}),
        "leave": FaultKind(CONSUMER),
        "slow": FaultKind(CONSUMER, args={"rate": 1}),
        "pause": FaultKind(CONSUMER),
        "resume": FaultKind(CONSUMER, ends=("pause",)),
        "group_freeze": FaultKind(CONSUMER, _KAFKA),
        "group_thaw": FaultKind(CONSUMER, _KAFKA, ends=("group_freeze",)),
        "cluster_crash": FaultKind(BROKER, _KAFKA),
        "cluster_cut_power": FaultKind(BROKER, _KAFKA),
        "cluster_stop": FaultKind(BROKER, _KAFKA),
        "cluster_come_back": FaultKind(
            BROKER, _KAFKA, ends=("cluster_crash", "cluster_cut_power", "cluster_stop")
        ),
        "cluster_pause": FaultKind(BROKER, _KAFKA),
        "cluster_resume": FaultKind(BROKER, _KAFKA, ends=("cluster_pause",)),
        "cluster_cut_link": FaultKind(LINK, _KAFKA, {"one_way": False}),
        "cluster_heal_link": FaultKind(LINK, _KAFKA, ends=("cluster_cut_link",)),
        "cluster_slow_link": FaultKind(LINK, _KAFKA, {"delay_us": SLOW_LINK_US}),
        "pulsar_hold_acks": FaultKind(CONSUMER, _PULSAR),
        "pulsar_release_acks": FaultKind(CONSUMER, _PULSAR, ends=("pulsar_hold_acks",)),
        "tubemq_restart": FaultKind(CONSUMER, _TUBEMQ, {"source_count": WRONG_SOURCE_COUNT}),
        "tubemq_hold": FaultKind(CONSUMER, _TUBEMQ),
        "tubemq_confirm": FaultKind(CONSUMER, _TUBEMQ, ends=("tubemq_hold",)),
        "tubemq_offline": FaultKind(BROKER, _TUBEMQ),
        "tubemq_online": FaultKind(BROKER, _TUBEMQ, ends=("tubemq_offline",)),
        "rabbitmq_crash": FaultKind(NOBODY, _RABBITMQ),
        "rabbitmq_start": FaultKind(NOBODY, _RABBITMQ, ends=("rabbitmq_crash",)),
    }
)


def faults_of(model: str) -> list[str]:
    """What may happen to a lane of this model."""
    return [name for name, kind in FAULTS.items() if model in kind.models]
