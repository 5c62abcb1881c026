"""The same history under each assignor and both group protocols: what a lane's group would have gone through,
run again for each.

    the lab at a moment ─► for each variant a new lane ─► LanePast (the same records, joins, crashes, at the same times) ─► its figures

    moved      how often a partition got another reader than the one before     spread      most less fewest partitions of a member, now
    dark_us    the sum over partitions of the time in which nobody read them    dark_most   the most partitions that were dark at once
    duplicates records read a second time                              generation  of the group: how often it has rebalanced

Nothing is estimated: each lane runs whole, with its brokers, coordinator and programs. Of a long lab the last
SWITCH_RECORDS_MAX records run.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from types import MappingProxyType
from typing import NamedTuple

from broker_core.errors import CommandError
from broker_core.events import Json
from broker_core.kafka.assignors import ASSIGNORS
from broker_core.kafka.assignors.custom import CUSTOM
from broker_core.kafka.client.group_consumer.settings import CLASSIC, CONSUMER
from broker_core.lab.commands.group import DeployAssignor
from broker_core.lab.kafka.group import consumer_state
from broker_core.lab.kafka.options import RANGE, UNIFORM
from broker_core.lab.kafka.reading import KafkaClusterReading
from broker_core.lab.lab import Lab
from broker_core.lab.past import LanePast
from broker_core.lab.pieces import whole
from broker_core.lab.shared.lane import Lane
from broker_core.sim.slot import RUNNING


@dataclass(frozen=True, slots=True)
class Variant:
    """name: what the row is called: the assignor's, or the protocol's, whose assignor is the server's.
    remote_assignor: which of the server's assignors the members ask for, None: its default."""

    name: str
    algorithm: str
    protocol: str
    remote_assignor: str | None = None

    @property
    def options(self) -> Json:
        """Of its lane, where they are other than the compared one's."""
        return {
            "group_protocol": self.protocol,
            **({"remote_assignor": self.remote_assignor} if self.remote_assignor else {}),
        }


_ANY = next(iter(ASSIGNORS))
VARIANTS = (
    *(Variant(name, name, CLASSIC) for name in ASSIGNORS), Variant(CONSUMER, _ANY, CONSUMER, UNIFORM),
    Variant(f"{CONSUMER}_{RANGE}", _ANY, CONSUMER, RANGE),
)  # fmt: skip
BY_NAME = MappingProxyType({variant.name: variant for variant in VARIANTS})


def variants_of(lane: Lane) -> tuple[Variant, ...]:
    """What a lane's group is compared under: with a user's own assignor, if it has one now."""
    return (*VARIANTS, Variant(CUSTOM, _ANY, CLASSIC)) if "assignor_source" in lane.set_to else VARIANTS


class Progress(NamedTuple):
    """share: of the history that this variant has gone through, 0 to 1. row: its figures once it is
    through."""

    variant: Variant
    share: float
    row: Json | None = None


def compare(lab: Lab, lane_id: str) -> Iterator[Progress]:
    """Run every variant, one after the other. lab: at the moment up to which is compared; it stays as it is.

    Raises CommandError for a lane that has no group on a cluster.
    """
    own = lab.lanes.get(lane_id)
    if own is None or not isinstance(own.reads, KafkaClusterReading):
        raise CommandError("lane", "there is no Kafka cluster with a consumer group in this lab")
    for variant in variants_of(own):
        lane = whole(lab.lane_under(lane_id, variant.algorithm, variant.options))
        if variant.name == CUSTOM:
            lane.set_to = dict(own.set_to)
        # From the time before 0 at which the processes start.
        begun_us, length_us = lane.now_us, max(1, lab.now_us - lane.now_us)
        for held in LanePast(
            lab, lane, without={DeployAssignor.kind}
        ).live_through():  # each has its own from the start
            if held is not None:
                held.wait()
            yield Progress(variant, (lane.now_us - begun_us) / length_us)
        yield Progress(variant, 1.0, figures(lane, variant))


def figures(lane: Lane, variant: Variant) -> Json:
    """What came of it, of a lane on a cluster. While nobody coordinates, the group is what its programs know
    of it."""
    reads = lane.reads
    assert isinstance(reads, KafkaClusterReading)
    notes, shared = reads.notes, reads.look()
    if shared.group.coordinator is None:
        known = [consumer_state(slot) for slot in shared.programs if slot.condition == RUNNING]
        members = [state.settings.client_id for state in known if state.member.generation > 0]
        generation = max((state.member.generation for state in known), default=0)
    else:
        members, generation = (
            [member.client_id for member in shared.group.members.values()],
            shared.group.generation,
        )
    counts = dict.fromkeys(members, 0)
    for name in notes.readers.values():
        counts[name] = counts.get(name, 0) + 1
    return {
        "name": variant.name,
        "protocol": variant.protocol,
        "generation": max(0, generation),
        "moved": notes.moved,
        "spread": max(counts.values()) - min(counts.values()) if counts else 0,
        "members": len(counts),
        "dark_us": notes.dark_us + sum(lane.now_us - since_us for since_us in notes.paused_us.values()),
        "dark_most": notes.dark_most,
        "duplicates": notes.redelivered,
    }
