"""What a producer refuses to start with, and at which setting; its back-off."""

from __future__ import annotations

from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from broker_core.errors import CommandError
from broker_core.kafka.client.producer.settings import JITTER, ProducerSettings, backoff_us, check

SECOND = 1_000_000
PLAIN = {"enable_idempotence": False}


@pytest.mark.parametrize(
    ("field", "options"),
    [
        ("acks", {"acks": 2, **PLAIN}),
        ("acks", {"acks": -2, **PLAIN}),
        ("acks", {"acks": 0}),
        ("acks", {"acks": 1}),
        *(
            (name, {name: 0})
            for name in (
                "max_in_flight",
                "batch_size",
                "buffer_memory",
                "request_timeout_us",
                "max_request_size",
            )
        ),
        *(
            (name, {name: -1})
            for name in (
                "linger_us",
                "retries",
                "max_block_us",
                "retry_backoff_us",
                "availability_timeout_us",
            )
        ),
        ("retries", {"retries": 0}),
        ("max_in_flight", {"max_in_flight": 6}),
        ("transactional_id", {"transactional_id": "a", **PLAIN}),
        ("delivery_timeout_us", {"delivery_timeout_us": 30 * SECOND - 1}),
        ("delivery_timeout_us", {"delivery_timeout_us": 31 * SECOND, "linger_us": SECOND + 1}),
    ],
    ids=lambda value: (
        "-".join(f"{name}={number}" for name, number in value.items()) if isinstance(value, dict) else value
    ),
)
def test_what_the_original_refuses_is_refused_at_its_setting(field: str, options: dict[str, Any]) -> None:
    with pytest.raises(CommandError) as refused:
        check(ProducerSettings(**options))
    assert refused.value.field == field


@pytest.mark.parametrize(
    "options",
    [
        {},
        {"acks": 0, **PLAIN},
        {"acks": 1, **PLAIN},
        {"retries": 0, **PLAIN},
        {"max_in_flight": 6, **PLAIN},
        {"max_in_flight": 5},
        {"retries": 1},
        {"transactional_id": "a"},
        {"delivery_timeout_us": 30 * SECOND},
        {"delivery_timeout_us": 31 * SECOND, "linger_us": SECOND},
        {"linger_us": 0, "max_block_us": 0, "retry_backoff_us": 0, "availability_timeout_us": 0},
        {
            "max_in_flight": 1,
            "batch_size": 1,
            "buffer_memory": 1,
            "request_timeout_us": 1,
            "max_request_size": 1,
        },
    ],
    ids=str,
)
def test_what_the_original_takes_is_taken(options: dict[str, Any]) -> None:
    check(ProducerSettings(**options))


def test_the_idempotent_producer_takes_as_many_in_flight_as_a_broker_remembers_batches() -> None:
    with pytest.raises(CommandError, match="at most 5"):
        check(ProducerSettings(max_in_flight=6))


# --- back-off


def test_it_is_a_fifth_more_or_less_by_chance() -> None:
    assert [backoff_us(1_000, 9_000, 0, draw) for draw in (0, JITTER // 2, JITTER)] == [800, 1_000, 1_200]


@pytest.mark.parametrize(
    ("first_us", "most_us", "waits"),
    [(100, 1_000, [100, 200, 400, 800, 1_000]), (500, 100, [500, 500, 500]), (0, 100, [0, 0])],
)
def test_it_doubles_up_to_its_most_and_a_first_one_above_that_stays(
    first_us: int, most_us: int, waits: list[int]
) -> None:
    assert [backoff_us(first_us, most_us, failures, JITTER // 2) for failures in range(len(waits))] == waits


@settings(max_examples=50, deadline=None)
@given(st.integers(0, 10**6), st.integers(0, 10**6), st.integers(0, 10**4), st.integers(0, JITTER - 1))
def test_law_no_wait_is_longer_than_the_most_and_none_is_negative(
    first_us: int, most_us: int, failures: int, draw: int
) -> None:
    wait = backoff_us(first_us, most_us, failures, draw)
    assert 0 <= wait <= max(first_us, most_us)
    assert wait <= backoff_us(first_us, most_us, failures, JITTER - 1) and wait >= backoff_us(
        first_us, most_us, failures, 0
    )
