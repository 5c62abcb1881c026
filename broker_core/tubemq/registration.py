"""Is a registration at the master well formed, and may this client read these topics? What its group says comes
after that (`group.py`).

Source: TubeMQ (InLong a6c7a6a670) TMaster.consumerRegisterC2M, consumerRegisterC2MV2, PBParameterUtils.
Vectors: tubemq/master_register.json.
"""

from __future__ import annotations

from collections.abc import Collection, Sequence

from broker_core.tubemq import requests as r
from broker_core.tubemq.group import BOUND, CLIENT_REBALANCE, UNBOUND, Terms

Register = r.RegisterRequestC2M | r.RegisterRequestC2MV2


def topics_refusal(topics: Sequence[str], deployed: Collection[str]) -> int:
    """The code of the first check of a topic list that fails: empty, blank or too long 400, not deployed 431."""
    if not topics or len(topics) > r.TOPICS_MAX or not all(topic.strip() for topic in topics):
        return r.BAD_REQUEST
    if any(topic.strip() not in deployed for topic in topics):
        return r.TOPIC_NOT_DEPLOYED
    return r.SUCCESS


def terms_of(request: Register) -> Terms | None:
    """What the request asks its group to agree on; None if a part of it has no form that the original takes (400):
    a node id outside the count, filters of another topic, a bound client's key, count or offsets."""
    topics = sorted({topic.strip() for topic in request.topics})
    filters = filters_of(request.conditions, topics)
    if filters is None:
        return None
    if isinstance(request, r.RegisterRequestC2MV2):
        if request.source_count > 0 and not 0 <= request.node_id < request.source_count:
            return None
        return Terms(CLIENT_REBALANCE, topics, filters, request.source_count)
    if not request.require_bound:
        return Terms(UNBOUND, topics, filters)
    if not request.session_key.strip() or request.total_count <= 0:
        return None
    if not are_offsets(request.required_partition, topics):
        return None
    return Terms(BOUND, topics, filters, request.total_count, request.session_key, request.select_big)


def filters_of(conditions: Sequence[str], topics: Collection[str]) -> dict[str, list[str]] | None:
    """Topic -> filters, from "topic#filter,filter,..."; None when a topic of it is not subscribed.

    >>> filters_of(["t#b,a"], ["t"]), filters_of(["u#a"], ["t"])
    ({'t': ['a', 'b']}, None)
    """
    filters: dict[str, set[str]] = {}
    for condition in conditions:
        topic, _, items = condition.partition("#")
        if topic.strip() not in topics:
            return None
        of_topic = {item.strip() for item in items.split(",") if item.strip()}
        filters.setdefault(topic.strip(), set()).update(of_topic)
    return {topic: sorted(items) for topic, items in sorted(filters.items()) if items}


def are_offsets(text: str, topics: Collection[str]) -> bool:
    """Whether it is "key=offset,key=offset" of subscribed topics; an empty text asks for nothing.

    >>> are_offsets("1:t:0=100,2:t:0=-1", ["t"]), are_offsets("1:t=100", ["t"]), are_offsets("1:u:0=1", ["t"])
    (True, False, False)
    """
    return not text.strip() or all(_is_offset(part.split("="), topics) for part in text.split(","))


def _is_offset(sides: list[str], topics: Collection[str]) -> bool:
    if len(sides) != 2:
        return False
    key, offset = sides[0].split(":"), sides[1].strip().removeprefix("-")
    is_key = len(key) == 3 and key[1].strip() in topics
    return is_key and offset.isascii() and offset.isdecimal()
