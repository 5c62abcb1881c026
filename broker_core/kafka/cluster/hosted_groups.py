"""The state of the group coordinators that a broker hosts, and the coordinators themselves, which are found
again from it.

A coordinator's state holds requests of any kind that wait, so a checkpoint names what every value is
(`broker_core/tagged.py`).
"""

from __future__ import annotations

from dataclasses import dataclass, field

from broker_core.events import Cause, Json
from broker_core.kafka.cluster.gathering import Gathering
from broker_core.kafka.group import coordinator_result as written
from broker_core.kafka.group import messages as m
from broker_core.kafka.group import records as records_module
from broker_core.kafka.group import runtime, timeline
from broker_core.kafka.group.classic import group as classic_group
from broker_core.kafka.group.consumer import group as consumer_group
from broker_core.kafka.group.consumer import member as consumer_member
from broker_core.kafka.group.group_coordinator import GroupCoordinator
from broker_core.kafka.group.offset import store
from broker_core.kafka.group.overhearing import Overhears
from broker_core.kafka.group.runtime import CoordinatorState
from broker_core.kafka.group.settings import GroupSettings
from broker_core.kafka.group.topics import Topic, TopicsImage
from broker_core.plain import from_plain, to_plain
from broker_core.tagged import from_tagged, kinds_of, to_tagged

OFFSETS_TOPIC = "__consumer_offsets"


class HostedGroups:
    """What a checkpoint holds of a broker's coordinators. shards: partition of the offsets topic -> state.
    tickets: request -> connection. gathering: connection -> a request for several coordinators.
    image: the topics as the coordinators were told last."""

    def __init__(self) -> None:
        self.shards: dict[int, CoordinatorState] = {}
        self.tickets: dict[int, int] = {}
        self.gathering: dict[int, Gathering] = {}
        self.ticket_count = 0
        self.image = TopicsImage()

    def to_json(self) -> Json:
        topics = list(self.image.by_name.values()) if self.shards else []
        return {
            "shards": to_tagged(self.shards),
            "tickets": self.tickets,
            "gathering": to_tagged(self.gathering),
            "ticket_count": self.ticket_count,
            "topics": to_plain(topics),
        }

    @classmethod
    def from_json(cls, plain: Json) -> HostedGroups:
        hosted = cls()
        hosted.shards = from_tagged(plain["shards"], _KINDS)
        hosted.tickets, hosted.ticket_count = plain["tickets"], plain["ticket_count"]
        hosted.gathering = from_tagged(plain["gathering"], _KINDS)
        hosted.image = TopicsImage.of(from_plain(plain["topics"], list[Topic]))
        return hosted


_KINDS = kinds_of(
    runtime,
    m,
    records_module,
    written,
    classic_group,
    consumer_group,
    consumer_member,
    store,
    timeline,
    more=[Cause, Gathering],
)


@dataclass(slots=True)
class Coordinators:
    """The coordinators at work, found again from their states. overhears: who listens to what is asked and
    answered."""

    hosted: HostedGroups
    settings: GroupSettings
    running: dict[int, GroupCoordinator] = field(default_factory=dict)
    writing: int = -1
    overhears: Overhears | None = None

    def __post_init__(self) -> None:
        for number, state in self.hosted.shards.items():
            self.running[number] = GroupCoordinator(self.settings, self.hosted.image, state)
