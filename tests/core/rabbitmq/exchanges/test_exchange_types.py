"""What holds for every exchange type, and the refusals of a headers binding."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from broker_core.plain import from_plain, to_plain
from broker_core.rabbitmq.exchanges import EXCHANGE_TYPES
from broker_core.rabbitmq.exchanges.consistent_hash import ConsistentHash
from broker_core.rabbitmq.exchanges.headers import Headers
from broker_core.rabbitmq.properties import Properties
from broker_core.rabbitmq.queues.classic import ClassicQueue, QueueState
from broker_core.rabbitmq.vhost import Vhost, made

VALUES = st.recursive(
    st.one_of(
        st.none(),
        st.booleans(),
        st.integers(-2, 2),
        st.sampled_from(
            [1.0, "1", "a", {"$t": "l", "v": 1}, {"$t": "x", "v": "61"}, {"$t": "D", "v": [0, 1]}]
        ),
    ),
    lambda inner: st.lists(inner, max_size=2) | st.dictionaries(st.sampled_from("kj"), inner, max_size=2),
    max_leaves=4,
)
TABLES = st.dictionaries(st.sampled_from(["a", "b", "x-1", "X-a"]), VALUES, max_size=3)
ARGUMENTS = st.builds(
    lambda table, x_match: table | ({"x-match": x_match} if x_match else {}),
    TABLES,
    st.sampled_from(["", "all", "any", "all-with-x", "any-with-x"]),
)
DESTINATIONS = st.tuples(st.sampled_from(["queue", "exchange"]), st.sampled_from(["d0", "d1", "d2"]))
BINDINGS = st.lists(st.tuples(DESTINATIONS, st.sampled_from(["", "a", "a.b", "*"]), ARGUMENTS), max_size=6)


def suited(name, destination, key, arguments):
    """A binding as the type takes it: a consistent-hash exchange has a weight for a key."""
    return destination, str(1 + len(key)) if name == ConsistentHash.name else key, arguments


@pytest.mark.parametrize("name", EXCHANGE_TYPES)
@given(bindings=BINDINGS, key=st.sampled_from(["", "a", "a.b"]), headers=TABLES)
def test_routes_as_it_explains_and_as_its_copy_from_a_checkpoint(name, bindings, key, headers):
    exchange = EXCHANGE_TYPES[name]()
    bindings = [suited(name, *binding) for binding in bindings]
    for binding in bindings:
        assert exchange.check(*binding[1:]) == ""
        exchange.bind(*binding)
        assert not exchange.bind(*binding), "the same three are one binding"
    routed = exchange.route([key], Properties(headers=headers))
    matching = {
        each.binding.destination
        for each in exchange.explain([key], Properties(headers=headers))
        if each.is_match
    }
    assert list(routed) == sorted(matching)
    restored = from_plain(to_plain(exchange), EXCHANGE_TYPES[name])
    assert [*restored] == [*exchange] and list(restored.route([key], Properties(headers=headers))) == list(
        routed
    )
    for destination in {destination for destination, _, _ in bindings}:
        gone = exchange.unbind_destination(destination)
        assert gone and all(binding.destination == destination for binding in gone)
        assert destination not in exchange.route([key], Properties(headers=headers))
    assert len(exchange) == 0 and not exchange.route([key], Properties(headers=headers))


EXCHANGE_NAMES = ("d0", "d1", "d2")


@given(
    types=st.tuples(*[st.sampled_from(sorted(EXCHANGE_TYPES))] * 3),
    alternates=st.tuples(*[st.sampled_from(["", *EXCHANGE_NAMES])] * 3),
    bindings=st.lists(st.tuples(st.sampled_from(EXCHANGE_NAMES), BINDINGS), max_size=4),
    keys=st.lists(st.sampled_from(["", "a", "a.b", "d1"]), min_size=1, max_size=2),
    headers=TABLES,
)
def test_a_virtual_host_explains_the_way_that_it_routes(types, alternates, bindings, keys, headers):
    vhost = Vhost("/", queues={name: ClassicQueue(QueueState(name=name)) for name in EXCHANGE_NAMES})
    for name, type_, alternate in zip(EXCHANGE_NAMES, types, alternates, strict=True):
        arguments = {"alternate-exchange": alternate} if alternate else {}
        vhost.exchanges[name] = made(name, type_, True, False, False, arguments)
    for source, rows in bindings:
        for row in rows:
            (kind, to), key, arguments = suited(vhost.exchanges[source].type_, *row)
            vhost.bind(source, kind, to, key, arguments)
    before = vhost.changes
    assert before == sum(len(exchange.bindings) for exchange in vhost.exchanges.values())
    hops = vhost.explain("d0", keys, Properties(headers=headers))
    assert {hop.name for hop in hops if hop.kind == "queue"} == {
        queue.name for queue in vhost.route("d0", keys, Properties(headers=headers))
    }
    assert len(hops) == len(
        {(hop.source, hop.kind, hop.name, hop.match and hop.match.binding.identity) for hop in hops}
    )
    reached = {"d0"}
    for hop in hops:
        assert hop.source in reached, "a way has no gap"
        assert hop.match is None or hop.match.is_match
        reached |= {hop.name} if hop.kind == "exchange" else set()
    for name in EXCHANGE_NAMES:
        vhost.delete_queue(name)
    assert vhost.changes > before


@pytest.mark.parametrize("name", EXCHANGE_TYPES)
def test_one_key_with_two_sets_of_arguments_is_two_bindings(name):
    exchange = EXCHANGE_TYPES[name]()
    q1 = ("queue", "q1")
    assert exchange.bind(q1, "1", {}) and exchange.bind(q1, "1", {"a": 1, "b": 2})
    assert not exchange.bind(q1, "1", {"b": 2, "a": 1}), "the order of the arguments says nothing"
    assert exchange.bind(q1, "1", {"a": {"$t": "l", "v": 1}, "b": 2}), "their types do"
    assert exchange.unbind(q1, "1", {}) and not exchange.unbind(q1, "1", {})
    if name == ConsistentHash.name:  # with the first binding its buckets went
        assert exchange.unbind_destination(q1) and exchange.bind(q1, "1", {})
    assert list(exchange.route(["1"], Properties(headers={"a": 1, "b": 2}))) == [q1]


def test_a_header_binding_explains_pair_by_pair():
    exchange = Headers()
    exchange.bind(
        ("queue", "pdf"), "", {"format": "pdf", "pages": 2, "x-a": 1, "any": None, "x-match": "all"}
    )
    (explained,) = exchange.explain([""], Properties(headers={"format": "pdf", "pages": {"$t": "l", "v": 3}}))
    assert not explained.is_match and explained.x_match == "all"
    assert [(each.name, each.is_match, each.is_present, each.is_counted) for each in explained.pairs] == [
        ("format", True, True, True),
        ("pages", False, True, True),
        ("x-a", False, False, False),
        ("any", False, False, True),
    ]
    (explained,) = exchange.explain([""], Properties(headers={"format": "pdf", "pages": 2.0, "any": [1]}))
    assert explained.is_match


@pytest.mark.parametrize(
    ("x_match", "value"),
    [
        ({"$t": "l", "v": -3}, "field type long (value -3)"),
        (1.5, "field type double (value 1.5)"),
        ({"a": True}, 'field type table (value [{<<"a">>,bool,true}])'),
        ({"$t": "x", "v": "00ff"}, "field type binary (value <<0,255>>)"),
        ({"$t": "D", "v": [1, 25]}, "field type decimal (value {1,25})"),
        ({"$t": "T", "v": 7}, "field type timestamp (value 7)"),
    ],
)
def test_an_x_match_of_another_type_is_refused_with_its_type_and_value(x_match, value):
    assert Headers.check("", {"x-match": x_match}) == f"Invalid x-match {value}; expected longstr"
