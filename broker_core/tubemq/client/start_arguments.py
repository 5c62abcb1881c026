"""Whether the arguments of start() are taken.

Source: TubeMQ (InLong a6c7a6a670) SimpleClientBalanceConsumer.start, TBaseConstants.
"""

from __future__ import annotations

from collections.abc import Collection, Mapping

TOPIC_LENGTH_MAX, FILTERS_MAX, FILTER_LENGTH_MAX = 64, 500, 256


def start_refusal(
    topics: Mapping[str, Collection[str] | None] | None, source_count: int, node_id: int
) -> str:
    """Why not, "" if they are taken. topics: topic -> filters, None for none. source_count: 0 and below is not used.

    >>> start_refusal({"t": None}, -1, 7), start_refusal({"t": [" "]}, 2, 0)
    ('', 'a filter of t is blank')
    """
    if not topics:
        return "no topics"
    for topic, filters in topics.items():
        name = topic.strip()
        if not name:
            return "a topic is blank"
        if len(name) > TOPIC_LENGTH_MAX:
            return f"{name} is longer than {TOPIC_LENGTH_MAX} characters"
        if len(filters or ()) > FILTERS_MAX:
            return f"{name} has more than {FILTERS_MAX} filters"
        for item in filters or ():
            if not item.strip():
                return f"a filter of {name} is blank"
            if len(item.strip()) > FILTER_LENGTH_MAX:
                return f"a filter of {name} is longer than {FILTER_LENGTH_MAX} characters"
    if source_count > 0 and not 0 <= node_id < source_count:
        return "the node id is not one of the source count"
    return ""
