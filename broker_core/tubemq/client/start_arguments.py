"""Whether the arguments of start() are taken.

Source: TubeMQ (InLong a6c7a6a670) SimpleClientBalanceConsumer.start, TBaseConstants.
"""

from __future__ import annotations

from collections.abc import Collection, Mapping

TOPIC_LENGTH_MAX, FILTERS_MAX, FILTER_LENGTH_MAX = 64, 500, 256
NO_TOPICS, TOPIC_BLANK, TOPIC_LONG, FILTERS_MANY, FILTER_BLANK, FILTER_LONG, NODE_OUTSIDE, RUNNING = (
    "no_topics", "topic_blank", "topic_long", "filters_many", "filter_blank", "filter_long", "node_outside", "running",
)  # fmt: skip
"""The checks, in their order; the last is that the client runs already."""


def start_refusal(
    topics: Mapping[str, Collection[str] | None] | None, source_count: int, node_id: int
) -> str:
    """Which check refuses them, "" if they are taken. topics: topic -> filters, None for none. source_count: 0 and below is not used.

    >>> start_refusal({"t": None}, -1, 7), start_refusal({"t": [" "]}, 2, 0)
    ('', 'filter_blank')
    """
    if not topics:
        return NO_TOPICS
    for topic, filters in topics.items():
        name = topic.strip()
        if not name:
            return TOPIC_BLANK
        if len(name) > TOPIC_LENGTH_MAX:
            return TOPIC_LONG
        if len(filters or ()) > FILTERS_MAX:
            return FILTERS_MANY
        for item in filters or ():
            if not item.strip():
                return FILTER_BLANK
            if len(item.strip()) > FILTER_LENGTH_MAX:
                return FILTER_LONG
    if source_count > 0 and not 0 <= node_id < source_count:
        return NODE_OUTSIDE
    return ""
