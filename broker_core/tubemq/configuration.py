"""What is configured in a cluster, as its master knows it: brokers, their topics, and what may be subscribed now.

    metadata entry of a topic:   topic#brokerId:stores:partitionsPerStore:status,...

The set of partitions is what is *configured*, whatever a broker's state; status 1 says that the broker is online,
takes subscriptions of the topic, and the topic is not on the group's black list.
Source: TubeMQ (InLong a6c7a6a670) TMaster.getTopicConfigInfo, MetaDataService. Vectors: tubemq/master_register.json.
"""

from __future__ import annotations

from collections.abc import Collection, Iterable, Mapping
from dataclasses import dataclass, field


@dataclass(slots=True)
class Placement:
    """A topic on one broker."""

    stores: int
    partitions_per_store: int
    accepts_subscribe: bool = True


@dataclass(slots=True)
class ConfiguredBroker:
    """topics: name -> placement. is_online: as the master sees it."""

    topics: dict[str, Placement] = field(default_factory=dict)
    is_online: bool = True


def configured(topic_meta: Iterable[str]) -> dict[int, ConfiguredBroker]:
    """The brokers of a cluster in which all of this is online. topic_meta: entries as a master gives them.

    >>> configured(["t#1:1:2:1,2:1:3:1"])[2].topics
    {'t': Placement(stores=1, partitions_per_store=3, accepts_subscribe=True)}
    """
    brokers: dict[int, ConfiguredBroker] = {}
    for entry in topic_meta:
        topic, _, placements = entry.partition("#")
        for placement in placements.split(","):
            broker_id, stores, each, status = (int(number) for number in placement.split(":"))
            broker = brokers.setdefault(broker_id, ConfiguredBroker())
            broker.topics[topic] = Placement(stores, each, status == 1)
    return brokers


def deployed_topics(brokers: Mapping[int, ConfiguredBroker]) -> set[str]:
    """Every topic that some broker has, online or not."""
    return {topic for broker in brokers.values() for topic in broker.topics}


def topic_meta(
    brokers: Mapping[int, ConfiguredBroker], topics: Iterable[str], black_list: Collection[str]
) -> list[str]:
    """The entries of these topics, by name, each with its brokers by id; a topic that no broker has gives none.

    >>> topic_meta(configured(["t#1:1:2:1,2:1:3:1"]), ["t"], black_list=())
    ['t#1:1:2:1,2:1:3:1']
    """
    entries = []
    for topic in sorted(topics):
        placements = [
            f"{broker_id}:{placement.stores}:{placement.partitions_per_store}:"
            f"{int(broker.is_online and placement.accepts_subscribe and topic not in black_list)}"
            for broker_id, broker in sorted(brokers.items())
            if (placement := broker.topics.get(topic)) is not None
        ]
        if placements:
            entries.append(f"{topic}#{','.join(placements)}")
    return entries
