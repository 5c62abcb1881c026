"""A message tried on an exchange: the rows that the page draws."""

from __future__ import annotations

from broker_core.lab.rabbitmq.views.topology import TopologyView, binding_id
from broker_core.lab.rabbitmq.views.tried_message import TriedMessage, try_message
from broker_core.rabbitmq.exchanges import EXCHANGE_TYPES
from broker_core.rabbitmq.properties import NO_PROPERTIES, Properties

ORDERS = [
    ("invoices", "*.*.paid"),
    ("eu_orders", "orders.eu.*"),
    ("eu_orders", "*.eu.#"),
    ("created", "orders.*.created"),
    ("all_orders", "orders.#"),
]


def tried(routing_key: str) -> TriedMessage:
    exchange = EXCHANGE_TYPES["topic"]()
    for name, pattern in ORDERS:
        exchange.bind(("queue", name), pattern, {})
    return try_message("orders", exchange, routing_key, NO_PROPERTIES)


def test_rows_of_the_matching_bindings_come_first_and_a_second_way_says_so():
    view = tried("orders.eu.created")
    assert view.words == ("orders", "eu", "created")
    assert view.queues == ("all_orders", "created", "eu_orders") and view.exchanges == ()
    assert [(row.destination, row.routing_key, row.is_match, row.is_again) for row in view.rows] == [
        ("eu_orders", "orders.eu.*", True, False),
        ("eu_orders", "*.eu.#", True, True),
        ("created", "orders.*.created", True, False),
        ("all_orders", "orders.#", True, False),
        ("invoices", "*.*.paid", False, False),
    ]


def test_words_of_a_row_have_their_place_in_the_key():
    rows = {row.routing_key: row for row in tried("orders.eu.created").rows}
    words = [(word.pattern, word.at, word.width, word.is_match) for word in rows["orders.#"].words]
    assert words == [("orders", 0, 1, True), ("#", 1, 2, True)]
    words = [(word.pattern, word.at, word.width, word.is_match) for word in rows["*.*.paid"].words]
    assert words == [("*", 0, 1, True), ("*", 1, 1, True), ("paid", 2, 1, False)]
    rows = {row.routing_key: row for row in tried("orders.eu.created.now").rows}
    assert rows["orders.eu.*"].left_over == 1 and not rows["orders.eu.*"].is_match
    rows = {row.routing_key: row for row in tried("orders").rows}
    assert [(word.pattern, word.at, word.width) for word in rows["orders.#"].words] == [
        ("orders", 0, 1),
        ("#", 1, 0),
    ]
    assert rows["*.eu.#"].words[-1].width == 0, "the key had ended"


def test_headers_are_rows_of_pairs():
    exchange = EXCHANGE_TYPES["headers"]()
    exchange.bind(("exchange", "docs"), "", {"x-match": "any", "format": "pdf", "x-a": None})
    (row,) = try_message("h", exchange, "", Properties(headers={"format": "pdf"})).rows
    assert row.is_match and row.x_match == "any" and row.kind == "exchange"
    assert [(pair.name, pair.is_match, pair.is_counted) for pair in row.pairs] == [
        ("format", True, True),
        ("x-a", False, False),
    ]
    assert row.binding == binding_id(
        "h", "exchange", "docs", "", {"x-match": "any", "format": "pdf", "x-a": None}
    )


def test_a_picture_is_plain_json_and_every_binding_has_an_id_of_its_own():
    assert TopologyView("/").to_json()["queues"] == {}
    ids = {
        binding_id("a", "queue", "b", "c", {}),
        binding_id("a", "exchange", "b", "c", {}),
        binding_id("a", "queue", "b", '","c', {}),
        binding_id("a", "queue", "b", "c", {"k": 1}),
        binding_id("a", "queue", "b", "c", {"k": {"$t": "l", "v": 1}}),
    }
    assert len(ids) == 5
    assert binding_id("a", "queue", "b", "c", {"k": 1, "j": 2}) == binding_id(
        "a", "queue", "b", "c", {"j": 2, "k": 1}
    )
