"""The consistent-hash exchange: what moves when destinations come and go, what is hashed, and what stays of its buckets.
That it routes as the original: tests/vectors/rabbitmq/consistent_hash_exchange.json.gz."""

from __future__ import annotations

from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from broker_core.plain import from_plain, to_plain
from broker_core.rabbitmq.exchanges.base import Destination
from broker_core.rabbitmq.exchanges.consistent_hash import ConsistentHash
from broker_core.rabbitmq.properties import NO_PROPERTIES, Properties
from broker_core.rabbitmq.refusals import Refused

KEYS = [f"key-{number}" for number in range(2_000)]


def queue(number: int) -> Destination:
    return "queue", f"q{number}"


def bound(*weights: int, arguments: dict[str, Any] | None = None) -> ConsistentHash:
    exchange = ConsistentHash(arguments)
    for number, weight in enumerate(weights):
        assert exchange.bind(queue(number), str(weight), {})
    return exchange


def owners(exchange: ConsistentHash) -> list[Destination]:
    return [exchange.route([key], NO_PROPERTIES)[0] for key in KEYS]


@pytest.mark.parametrize("count", [2, 3, 7])
def test_a_queue_that_is_added_gets_its_share_of_each_other_and_nothing_else_moves(count: int) -> None:
    exchange = bound(*[1] * count)
    before = owners(exchange)
    exchange.bind(queue(count), "1", {})
    moved = [now for was, now in zip(before, owners(exchange), strict=True) if was != now]
    assert set(moved) == {queue(count)}
    assert len(moved) / len(KEYS) == pytest.approx(1 / (count + 1), abs=0.03)


def test_a_queue_that_goes_last_moves_its_keys_alone_and_one_that_goes_first_moves_nearly_all() -> None:
    before = owners(bound(1, 1, 1, 1))
    moved = {}
    for number in (0, 3):
        exchange = bound(1, 1, 1, 1)
        exchange.unbind(queue(number), "1", {})
        after = owners(exchange)
        moved[number] = sum(was != now for was, now in zip(before, after, strict=True)) / len(KEYS)
        if number == 3:
            kept = [now for was, now in zip(before, after, strict=True) if was != queue(3)]
            assert kept == [was for was in before if was != queue(3)]
    assert moved[3] == pytest.approx(1 / 4, abs=0.03) and moved[0] > 0.9


def test_a_weight_is_the_share() -> None:
    found = owners(bound(1, 3))
    assert found.count(queue(1)) / len(KEYS) == pytest.approx(3 / 4, abs=0.03)


def test_a_second_binding_of_a_queue_adds_nothing_and_any_that_goes_takes_all_buckets() -> None:
    exchange = bound(2, 1)
    exchange.bind(queue(0), "50", {})
    first, second, idle = exchange
    assert [exchange.buckets(each) for each in (first, second, idle)] == [(0, 2), (2, 1), (0, 0)]
    assert exchange.is_idle(idle) and exchange.bucket_count == 3
    exchange.unbind(queue(0), "50", {})
    assert exchange.is_idle(first) and exchange.bucket_count == 1
    assert set(owners(exchange)) == {queue(1)}, "the binding with weight 2 is there and has no buckets"
    exchange.unbind_destination(queue(1))
    assert exchange.route(["k"], NO_PROPERTIES) == () and len(exchange) == 1


@given(
    acts=st.lists(st.tuples(st.booleans(), st.integers(0, 3), st.sampled_from(["1", "2", "+7"])), max_size=20)
)
def test_buckets_tile_from_0_and_come_back_from_a_checkpoint(acts: list[tuple[bool, int, str]]) -> None:
    exchange = ConsistentHash()
    for is_bound, number, weight in acts:
        if is_bound:
            exchange.bind(queue(number), weight, {})
        else:
            exchange.unbind(queue(number), weight, {})
        held = sorted(exchange.buckets(each) for each in exchange if not exchange.is_idle(each))
        at = 0
        for first, count in held:
            assert first == at and count > 0
            at += count
        assert at == exchange.bucket_count
        holders = [each.destination for each in exchange if not exchange.is_idle(each)]
        assert len(holders) == len(set(holders)), "a destination has its buckets from one binding"
    back = from_plain(to_plain(exchange), ConsistentHash)
    assert [back.buckets(each) for each in back] == [exchange.buckets(each) for each in exchange]
    assert [back.route([key], NO_PROPERTIES) for key in KEYS[:50]] == [
        exchange.route([key], NO_PROPERTIES) for key in KEYS[:50]
    ]


def test_it_says_what_it_hashes_and_which_bucket_that_is() -> None:
    exchange = bound(2, 1, arguments={"hash-header": "user"})
    (first, second) = exchange.explain(["k"], Properties(headers={"user": 5}))
    assert first.hashed is not None and second.hashed is not None
    assert (first.hashed.by, first.hashed.name, first.hashed.value) == ("header", "user", 5)
    assert (second.hashed.first, second.hashed.own, second.hashed.count) == (2, 1, 3)
    assert [first.is_match, second.is_match] == [first.hashed.bucket < 2, first.hashed.bucket == 2]
    missing = exchange.explain(["k"], NO_PROPERTIES)[0].hashed
    assert missing is not None and not missing.is_present
    of_none = bound(arguments={}).explain(["k"], NO_PROPERTIES)
    assert of_none == []


def test_types_count_in_a_header_and_only_the_first_key_counts() -> None:
    exchange = bound(*[1] * 500, arguments={"hash-header": "n"})
    as_int, as_long = (
        exchange.explain(["k"], Properties(headers={"n": n}))[0].hashed for n in (5, {"$t": "l", "v": 5})
    )
    assert as_int is not None and as_long is not None and as_int.hash != as_long.hash
    plain = bound(1, 1, 1)
    assert all(
        plain.route([key, "other"], NO_PROPERTIES) == plain.route([key], NO_PROPERTIES) for key in KEYS[:20]
    )


@pytest.mark.parametrize(
    ("arguments", "text"),
    [
        ({"hash-header": 1}, "INTERNAL_ERROR"),
        ({"hash-property": "x"}, "PRECONDITION_FAILED - Unsupported property: x"),
        (
            {"hash-property": "x", "hash-header": "h"},
            "PRECONDITION_FAILED - hash-header and hash-property are mutually exclusive",
        ),
    ],
)
def test_arguments_that_it_does_not_take(arguments: dict[str, Any], text: str) -> None:
    with pytest.raises(Refused) as refused:
        ConsistentHash.check_exchange(arguments)
    assert refused.value.text == text
