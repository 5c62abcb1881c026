"""RabbitMQ's definitions JSON: what was read is written again, errors are at their field, declares make the rest."""

from __future__ import annotations

import copy
import json

import pytest
from hypothesis import given
from hypothesis import strategies as st

from broker_core.errors import CommandError
from broker_core.rabbitmq import methods as m
from broker_core.rabbitmq.definitions import Definitions, declares, read_definitions, write_definitions

# As the management UI of a 3.10 exports a broker: the versions, then every section.
EXPORTED = {
    "rabbit_version": "3.10.8",
    "rabbitmq_version": "3.10.8",
    "product_name": "RabbitMQ",
    "product_version": "3.10.8",
    "users": [
        {
            "name": "guest",
            "password_hash": "Z2h0PQ==",
            "hashing_algorithm": "rabbit_password_hashing_sha256",
            "tags": ["administrator"],
            "limits": {},
        },
        {"name": "shop", "password_hash": "", "hashing_algorithm": "", "tags": "monitoring, management"},
    ],
    "vhosts": [{"name": "/"}, {"name": "flights", "limits": [], "metadata": {"description": "", "tags": []}}],
    "permissions": [
        {"user": "guest", "vhost": "/", "configure": ".*", "write": ".*", "read": ".*"},
        {"user": "shop", "vhost": "flights", "configure": "", "write": "^tasks|audit$", "read": ""},
    ],
    "topic_permissions": [
        {"user": "shop", "vhost": "flights", "exchange": "orders", "write": "^eu", "read": ""},
    ],
    "parameters": [{"component": "shovel", "name": "s1", "value": {}, "vhost": "/"}],
    "global_parameters": [{"name": "cluster_name", "value": "rabbit@n1"}],
    "policies": [
        {
            "vhost": "/",
            "name": "ha",
            "pattern": ".*",
            "apply-to": "all",
            "definition": {"ha-mode": "all"},
            "priority": 0,
        },
    ],
    "queues": [
        {
            "name": "eu",
            "vhost": "flights",
            "durable": True,
            "auto_delete": False,
            "arguments": {"x-max-length": 5, "x-dead-letter-exchange": "dead", "x-big": 1099511627776},
        },
        {"name": "tmp", "vhost": "/", "durable": False, "auto_delete": True, "arguments": {}},
    ],
    "exchanges": [
        {
            "name": "orders",
            "vhost": "flights",
            "type": "topic",
            "durable": True,
            "auto_delete": False,
            "internal": False,
            "arguments": {"alternate-exchange": "dead"},
        },
        {
            "name": "dead",
            "vhost": "flights",
            "type": "fanout",
            "durable": True,
            "auto_delete": False,
            "internal": True,
            "arguments": {},
        },
    ],
    "bindings": [
        {
            "source": "orders",
            "vhost": "flights",
            "destination": "eu",
            "destination_type": "queue",
            "routing_key": "*.eu.#",
            "arguments": {"a": [1, {"b": None}], "c": 1.5},
        },
        {
            "source": "orders",
            "vhost": "flights",
            "destination": "dead",
            "destination_type": "exchange",
            "routing_key": "#",
            "arguments": {},
        },
    ],
}


def test_what_was_exported_is_written_again():
    definitions = read_definitions(copy.deepcopy(EXPORTED))
    assert write_definitions(definitions) == EXPORTED
    assert definitions.left_out == {
        "policies": ["ha"], "parameters": ["s1"], "global_parameters": ["cluster_name"],
    }  # fmt: skip
    assert definitions.users[0].tag_list == ["administrator"]
    assert definitions.users[1].tag_list == ["monitoring", "management"]


def test_an_export_of_one_virtual_host_names_it_nowhere():
    one = {
        "rabbit_version": "3.10.8",
        "policies": [],
        "queues": [{"name": "q", "durable": True, "auto_delete": False, "arguments": {}}],
        "exchanges": [],
        "bindings": [],
    }
    definitions = read_definitions(one, "flights")
    assert [type(each) for each in declares(definitions, "flights")] == [m.QueueDeclare]
    assert declares(definitions, "/") == []
    written = write_definitions(definitions)
    assert written == one and read_definitions(written, "flights") == definitions
    with pytest.raises(CommandError) as refused:
        read_definitions(one)
    assert (refused.value.field, refused.value.reason) == ("queues.0.vhost", "is missing")


def test_declares_come_in_the_order_in_which_they_need_one_another():
    definitions = read_definitions(EXPORTED)
    made = declares(definitions, "flights")
    assert [type(each).__name__ for each in made] == [
        "ExchangeDeclare", "ExchangeDeclare", "QueueDeclare", "QueueBind", "ExchangeBind",
    ]  # fmt: skip
    assert made[0] == m.ExchangeDeclare(
        1, "orders", "topic", durable=True, arguments={"alternate-exchange": "dead"}
    )
    assert made[1].internal and made[2].arguments["x-max-length"] == {"$t": "l", "v": 5}
    assert made[2].arguments["x-big"] == 1 << 40
    assert (made[4].destination, made[4].source, made[4].routing_key) == ("dead", "orders", "#")
    assert declares(definitions, "/") == [m.QueueDeclare(1, "tmp", durable=False, auto_delete=True)]


def test_what_every_virtual_host_has_is_not_declared_again():
    definitions = read_definitions(
        {
            "exchanges": [
                {"name": "amq.topic", "vhost": "/", "type": "topic"},
                {"name": "", "vhost": "/", "type": "direct"},
            ],
            "bindings": [{"source": "", "vhost": "/", "destination": "q", "destination_type": "queue"}],
        }
    )
    assert declares(definitions, "/") == []


def changed(path: str, value: object) -> dict[str, object]:
    document = copy.deepcopy(EXPORTED)
    place: object = document
    *way, last = path.split(".")
    for part in way:
        place = place[int(part) if isinstance(place, list) else part]
    place[last] = value
    return document


@pytest.mark.parametrize(
    ("path", "value", "reason"),
    [
        ("queues.1.durable", "yes", "must be true or false"),
        ("queues.0.name", 7, "must be text"),
        ("queues.0.name", "é" * 128, "must be at most 255 bytes long"),
        ("queues.0.vhost", "gone", "there is no gone"),
        ("queues.0.arguments", [], "must be an object"),
        ("queues.0.arguments.x-max-length", 1 << 70, "must be a whole number from"),
        ("exchanges.1.type", "x-delayed-message", "must be one of direct, fanout, headers, topic"),
        ("bindings.0.destination_type", "topic", "must be one of exchange, queue"),
        ("bindings.0.arguments.a", float("nan"), "must be a value of JSON"),
        ("permissions.1.write", "(", "must be a regular expression"),
        ("permissions.1.user", "gone", "there is no gone"),
        ("users.0.tags", 7, "must be text"),
    ],
)
def test_an_error_is_at_its_field(path, value, reason):
    with pytest.raises(CommandError) as refused:
        read_definitions(changed(path, value))
    assert refused.value.field == path and refused.value.reason.startswith(reason)


@pytest.mark.parametrize("plain", [None, [], "x", {"queues": {}}, {"queues": [7]}, {"users": [{}]}])
def test_what_is_no_definitions_file_is_refused(plain):
    with pytest.raises(CommandError):
        read_definitions(plain)


NAMES = st.text(st.characters(codec="utf-8"), max_size=8)
JSON = st.recursive(
    st.none() | st.booleans() | st.integers(-(1 << 63), (1 << 63) - 1) | st.floats(allow_nan=False, allow_infinity=False) | NAMES,
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(NAMES | st.sampled_from(["$t", "v"]), inner, max_size=3),
    max_leaves=5,
)  # fmt: skip
TABLES = st.dictionaries(NAMES, JSON, max_size=3)
VHOSTS = st.sampled_from(["/", "v"])
ROWS = {
    "queues": st.fixed_dictionaries(
        {"name": NAMES, "vhost": VHOSTS, "durable": st.booleans(), "auto_delete": st.booleans(), "arguments": TABLES},
        optional={"type": st.just("classic")},
    ),
    "exchanges": st.fixed_dictionaries(
        {
            "name": NAMES, "vhost": VHOSTS, "type": st.sampled_from(["direct", "topic"]), "durable": st.booleans(),
            "auto_delete": st.booleans(), "internal": st.booleans(), "arguments": TABLES,
        }
    ),
    "bindings": st.fixed_dictionaries(
        {
            "source": NAMES, "vhost": VHOSTS, "destination": NAMES, "routing_key": NAMES, "arguments": TABLES,
            "destination_type": st.sampled_from(["queue", "exchange"]),
        }
    ),
}  # fmt: skip
DOCUMENTS = st.fixed_dictionaries(
    {section: st.lists(row, max_size=3) for section, row in ROWS.items()}
    | {
        "users": st.lists(st.fixed_dictionaries({"name": NAMES, "password_hash": NAMES, "hashing_algorithm": NAMES, "tags": NAMES})),
        "vhosts": st.just([{"name": "/"}, {"name": "v"}]),
        "permissions": st.just([]),
        "topic_permissions": st.just([]),
        "policies": st.lists(st.fixed_dictionaries({"name": NAMES})),
    }
)  # fmt: skip


@given(DOCUMENTS)
def test_any_document_comes_back(document):
    definitions = read_definitions(copy.deepcopy(document))
    assert write_definitions(definitions) == document
    assert read_definitions(json.loads(json.dumps(write_definitions(definitions)))) == definitions
    for vhost in ("/", "v"):
        declares(definitions, vhost)


def test_nothing_is_a_definitions_file_too():
    assert read_definitions({}) == Definitions(sections=()) and write_definitions(read_definitions({})) == {}
    assert write_definitions(Definitions())["queues"] == []
