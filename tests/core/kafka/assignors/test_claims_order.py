"""The order in which a member's claim reaches the leader: that of the HashMap which its partitions are
grouped into, a call for each partition."""

from __future__ import annotations

import pytest

from broker_core.kafka.assignors.claims import by_java_topic
from tests.core.hashing.test_map_orders import THIRTEEN


@pytest.mark.parametrize("topics", THIRTEEN)
def test_thirteenth_topic_with_a_second_partition_doubles_the_map(topics: str) -> None:
    """Kafka 3.9 CollectionUtils.groupPartitionsByTopic calls computeIfAbsent for each partition; orders as
    JDK 17 prints them."""
    once, again = (order.split() for order in THIRTEEN[topics])
    single = [(topic, 0) for topic in topics.split()]
    assert by_java_topic(single) == [(topic, 0) for topic in once]
    last = topics.split()[-1]
    assert by_java_topic([*single, (last, 1)]) == [
        (topic, number) for topic in again for number in ((0, 1) if topic == last else (0,))
    ]
    double = [(topic, number) for topic in topics.split() for number in (0, 1)]
    assert by_java_topic(iter(double)) == [(topic, number) for topic in again for number in (0, 1)]
