"""What the check of a TubeMQ lane's orders may know of it: its brokers and their partitions, its masters, and who gives
partitions out."""

from __future__ import annotations

from typing import cast

from broker_core.lab.shared.facts import LaneFacts, facts_of_any
from broker_core.lab.shared.lane import Lane
from broker_core.lab.tubemq.reading import TubeMqReading
from broker_core.tubemq.partition_key import broker_of


class TubeMqFacts(LaneFacts, frozen=True, kw_only=True, tag="tubemq"):
    """A TubeMQ lane. online: broker id -> whether it is. partitions: keys, those that were added last. topic: its name. by_master: its master
    gives partitions out, so its clients have none of the 17 calls. masters: of each, whether it is up."""

    online: dict[int, bool]
    partitions: list[str]
    topic: str
    masters: list[bool]
    by_master: bool

    def count_on(self, broker: int) -> int:
        """How many partitions of the topic this broker has."""
        return sum(broker_of(key) == broker for key in self.partitions)


def tubemq_facts(lane: Lane) -> TubeMqFacts:
    reads = cast(TubeMqReading, lane.reads)
    reads.forget()
    return TubeMqFacts(
        **facts_of_any(lane),  # type: ignore[arg-type]
        online={broker_id: broker_id not in reads.notes.down for broker_id in reads.brokers},
        partitions=list(reads.partition_keys),
        topic=reads.topic,
        masters=[reads.is_up(name) for name in reads.masters],
        by_master=reads.by_master,
    )
