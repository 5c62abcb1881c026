"""Whom a consumer asks for its coordinator and for metadata, how often, and when it looks again."""

from __future__ import annotations

import pytest

from broker_core.kafka.client.group_consumer.consumer_metadata import Leader
from broker_core.kafka.cluster import requests as r
from broker_core.kafka.cluster.transaction_requests import GROUP, FindCoordinatorRequest
from broker_core.kafka.group import messages as m
from tests.core.kafka.client.group_consumer.parts import SECOND, Parts

BACK_OFF = 100_000


def lost() -> Parts:
    """It does not know its coordinator."""
    parts = Parts()
    parts.state.coordinator.node_id = -1
    return parts


# --- looking again


def test_it_looks_again_once_after_the_back_off_however_many_want_it() -> None:
    parts = Parts(retry_backoff_ms=300)
    parts.core.later(parts.out, SECOND)
    parts.core.later(parts.out, SECOND + 200_000)
    assert parts.out.deadlines == {"retry": SECOND + 300_000}
    parts.core.later(parts.out, SECOND + 300_000)
    assert parts.out.deadlines == {"retry": SECOND + 600_000}, "that one is over"


# --- the coordinator


@pytest.mark.parametrize("node_id", [0, 2])
def test_a_coordinator_that_is_known_is_not_asked_for(node_id: int) -> None:
    parts = Parts()
    parts.state.coordinator.node_id = node_id
    assert parts.core.has_coordinator(0, parts.out) is True and parts.sent() == []


def test_any_broker_is_asked_for_it_once_until_it_answers() -> None:
    parts = lost()
    assert not parts.core.has_coordinator(0, parts.out)
    assert parts.sent() == [(1, FindCoordinatorRequest("g", GROUP))]
    assert (
        not parts.core.has_coordinator(SECOND, parts.out)
        and parts.sent() == []
        and "retry" not in parts.out.deadlines
    )


@pytest.mark.parametrize(("now_us", "asks"), [(SECOND - 1, False), (SECOND, True)])
def test_nobody_is_asked_before_the_back_off_is_over(now_us: int, asks: bool) -> None:
    parts = lost()
    parts.state.coordinator.retry_us = SECOND
    parts.core.has_coordinator(now_us, parts.out)
    assert bool(parts.sent()) is asks and ("retry" in parts.out.deadlines) is not asks


def test_with_nobody_to_ask_it_looks_again_and_has_asked_nobody() -> None:
    parts = lost()
    parts.state.network.broken_us = dict.fromkeys((1, 2, 3), SECOND)
    assert not parts.core.has_coordinator(SECOND, parts.out)
    assert (
        parts.sent() == []
        and not parts.state.coordinator.is_asked
        and parts.out.deadlines["retry"] == SECOND + BACK_OFF
    )


def test_who_says_that_it_is_not_the_coordinator_is_broken_with_and_everything_asked_there_has_failed() -> (
    None
):
    parts = Parts()
    parts.core.ask_coordinator(
        m.HeartbeatRequest("g", 1, "m"), m.HeartbeatResponse, "heartbeat", 0, parts.out
    )
    assert parts.out.connected == {1: "broker-2"}
    parts.core.lose_coordinator(SECOND, parts.out)
    assert (
        parts.state.coordinator.node_id == -1
        and parts.out.closed == [1]
        and parts.failed == [(-1, ["heartbeat"])]
    )
    parts.core.lose_coordinator(SECOND, parts.out)
    assert parts.failed[1:] == [(-1, [])], "without a connection nothing is lost on it"


# --- metadata


def test_metadata_are_asked_for_when_they_are_stale_and_nobody_is_asked() -> None:
    parts = Parts()
    cluster = parts.state.cluster
    parts.core.refresh_metadata(SECOND, parts.out)
    cluster.is_stale, cluster.is_asked = True, True
    parts.core.refresh_metadata(SECOND, parts.out)
    assert parts.sent() == []
    cluster.is_asked = False
    parts.core.refresh_metadata(SECOND, parts.out)
    assert parts.sent() == [(1, r.MetadataRequest(["t"]))] and (
        cluster.is_stale,
        cluster.is_asked,
        cluster.asked_us,
    ) == (False, True, SECOND)


def test_they_grow_old_by_themselves() -> None:
    parts = Parts(metadata_max_age_ms=9_000)
    parts.state.cluster.is_stale = True
    parts.core.refresh_metadata(SECOND, parts.out)
    assert parts.out.deadlines["metadata"] == 10 * SECOND


@pytest.mark.parametrize(("now_us", "asks"), [(SECOND + BACK_OFF - 1, False), (SECOND + BACK_OFF, True)])
def test_not_twice_within_the_back_off(now_us: int, asks: bool) -> None:
    parts = Parts()
    cluster = parts.state.cluster
    cluster.is_stale, cluster.asked_us = True, SECOND
    parts.core.refresh_metadata(now_us, parts.out)
    assert (
        bool(parts.sent()) is asks
        and cluster.is_stale is not asks
        and ("retry" in parts.out.deadlines) is not asks
    )


def test_a_question_at_time_zero_counts_for_the_back_off() -> None:
    parts = Parts()
    parts.state.cluster.is_stale, parts.state.cluster.asked_us = True, 0
    parts.core.refresh_metadata(BACK_OFF - 1, parts.out)
    assert parts.sent() == []


def test_the_very_first_question_waits_for_nothing() -> None:
    parts = Parts()
    cluster = parts.state.cluster
    cluster.is_stale, cluster.asked_us, cluster.brokers = True, -1, []
    parts.core.refresh_metadata(0, parts.out)
    assert parts.sent() == [(1, r.MetadataRequest(["t"]))], "of a bootstrap broker"


def test_a_subscription_by_pattern_asks_for_all_topics_and_a_group_s_leader_for_those_of_others_too() -> None:
    for pattern, wanted, topics in (("t.*", [], None), (None, ["u", "a"], ["a", "t", "u"])):
        parts = Parts(pattern=pattern)
        parts.state.cluster.is_stale, parts.state.cluster.wanted = True, wanted
        parts.core.refresh_metadata(SECOND, parts.out)
        assert parts.requests() == [r.MetadataRequest(topics)]


def test_with_nobody_to_ask_the_picture_stays_stale() -> None:
    parts = Parts()
    cluster = parts.state.cluster
    cluster.is_stale = True
    parts.state.network.broken_us = dict.fromkeys((1, 2, 3), SECOND)
    parts.core.refresh_metadata(SECOND, parts.out)
    assert cluster.is_stale and not cluster.is_asked and parts.out.deadlines["retry"] == SECOND + BACK_OFF


def test_questions_go_round_the_brokers_and_stay_on_open_connections() -> None:
    parts = Parts()
    cluster, asked = parts.state.cluster, []
    cluster.leaders["t"] = [Leader(1, 0)]
    for step in range(1, 4):
        cluster.is_stale, cluster.is_asked = True, False
        parts.state.network.connections.clear()
        parts.core.refresh_metadata(step * SECOND, parts.out)
        asked += [parts.out.connected[connection] for connection, _ in parts.out.take()]
    assert asked == ["broker-1", "broker-2", "broker-3"]
