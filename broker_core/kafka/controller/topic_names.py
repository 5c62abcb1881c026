"""Topics whose names would be one in a metric: there `.` is written as `_`, so only one of them may exist.

Source: Kafka 3.9 Topic.unifyCollisionChars, ReplicationControlManager.validateNewTopicNames.
"""

from collections.abc import Iterable

from broker_core.kafka.error_codes import ErrorCode, Refused


def check_collision(name: str, topics: Iterable[str]) -> None:
    """Raises Refused (INVALID_TOPIC_EXCEPTION) where a topic has this name but for dots and underscores.

    >>> check_collision("a.b", ["ab", "a-b"])
    """
    unified = name.replace(".", "_")
    for other in topics:
        if other.replace(".", "_") == unified:
            raise Refused(
                ErrorCode.INVALID_TOPIC_EXCEPTION,
                "topic {topic} collides with existing topic {other}",
                topic=name,
                other=other,
            )
