"""What a broker remembers: its topics, and who is connected."""

from __future__ import annotations

from dataclasses import dataclass, field
from functools import lru_cache
from urllib.parse import quote, unquote

from broker_core.pulsar import commands as c
from broker_core.pulsar.topic import Topic


@dataclass(slots=True)
class Attached:
    """A consumer of a connection. topic: its key in the broker's topics. redelivered: messages sent to it
    that somebody had had before."""

    name: str
    topic: str
    subscription: str
    redelivered: int = 0


@dataclass(slots=True)
class Connection:
    """peer: the client's name. since_us: when it was opened; from there the keep-alive ticks. awaits_pong: no
    command has come since a tick's ping. consumers, producers: by id; a producer is (topic's key, its name,
    whether it wants receipts). asking: consumers that wait for the word whether this connection is alive, as
    (connection, their subscribe command). is_asked: it has been asked, and has 5 s for the word; who asked may
    have left."""

    peer: str
    since_us: int = 0
    awaits_pong: bool = False
    consumers: dict[int, Attached] = field(default_factory=dict)
    producers: dict[int, tuple[str, str, bool]] = field(default_factory=dict)
    asking: list[tuple[int, c.CommandSubscribe]] = field(default_factory=list)
    is_asked: bool = False


@dataclass(slots=True)
class BrokerState:
    """topics: by `topic_key`. redelivered: messages sent a second time so far. ignored_cumulative: cumulative
    acknowledgements that a Shared or Key_Shared subscription ignored."""

    topics: dict[str, Topic] = field(default_factory=dict)
    connections: dict[int, Connection] = field(default_factory=dict)
    redelivered: int = 0
    ignored_cumulative: int = 0


def topic_key(topic: str, partition: int) -> str:
    """What the broker's state calls a topic, or a partition of one.

    >>> topic_key("orders", -1), topic_key("orders", 1)
    ('orders', 'orders-partition-1')
    """
    return topic if partition < 0 else f"{topic}-partition-{partition}"


def timer_key(topic: str, subscription: str) -> str:
    """What the deadlines of a subscription are called, whatever either name holds. topic: its key.

    >>> timer_key("orders-partition-1", "a|b"), timer_key("a|b", "c"), of_timer(timer_key("a|b%", "c|d"))
    ('orders-partition-1|a|b', 'a%7Cb|c', ('a|b%', 'c|d'))
    """
    return f"{quote(topic)}|{subscription}"


def of_timer(name: str) -> tuple[str, str]:
    """The topic's key and the subscription."""
    topic, _, subscription = name.partition("|")
    return unquote(topic), subscription


@lru_cache(maxsize=4096)  # each acknowledgement asks
def consumer_key(connection: int, consumer_id: int) -> str:
    """What the subscription calls a consumer: ids are unique on a connection only."""
    return f"{connection}.{consumer_id}"
