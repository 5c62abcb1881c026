"""A definitions file of a real server: all of it or nothing, drawn with what this broker lacks, and the same again when
it is exported."""

from __future__ import annotations

import json
from typing import Any

import pytest

from broker_core.errors import CommandError
from broker_core.lab.rabbitmq.topology import ROWS_MAX
from broker_core.lab.rabbitmq.views.questions import definitions, tried
from tests.core.lab.rabbitmq.test_topology import lab_of, order

HASH = "kI3GCqW5JLMJa4iX1lo7X4D6XbYqlLgxIs30+P6tENUV2POR"
QUORUM = {
    "name": "invoices", "vhost": "prod", "durable": True, "auto_delete": False,
    "arguments": {"x-queue-type": "quorum", "x-delivery-limit": 5, "x-dead-letter-exchange": "dead"},
}  # fmt: skip
STREAM = {
    "name": "audit", "vhost": "prod", "durable": True, "auto_delete": False,
    "arguments": {"x-queue-type": "stream", "x-max-age": "7D"},
}  # fmt: skip
DELAYED = {
    "name": "later", "vhost": "prod", "type": "x-delayed-message", "durable": True, "auto_delete": False,
    "internal": False, "arguments": {"x-delayed-type": "topic"},
}  # fmt: skip
FILE: dict[str, Any] = {
    "rabbit_version": "3.12.6",
    "users": [
        {"name": "app", "password_hash": HASH, "hashing_algorithm": "rabbit_password_hashing_sha512", "tags": ["ops"]}
    ],
    "vhosts": [{"name": "prod"}],
    "permissions": [{"user": "app", "vhost": "prod", "configure": "", "write": ".*", "read": ".*"}],
    "topic_permissions": [],
    "parameters": [{"vhost": "prod", "component": "shovel", "name": "move", "value": {"src-queue": "a"}}],
    "global_parameters": [{"name": "cluster_name", "value": "rabbit@prod"}],
    "policies": [
        {"vhost": "prod", "name": "ha", "pattern": ".*", "apply-to": "all", "definition": {"ha-mode": "all"}, "priority": 0}
    ],
    "queues": [
        QUORUM, STREAM,
        {"name": "mail", "vhost": "prod", "durable": True, "auto_delete": False, "arguments": {"x-max-length": 10}},
    ],
    "exchanges": [
        {"name": "dead", "vhost": "prod", "type": "fanout", "durable": True, "auto_delete": False, "internal": False,
         "arguments": {"x-note": "kept"}},
        DELAYED,
    ],
    "bindings": [
        {"source": "later", "vhost": "prod", "destination": "invoices", "destination_type": "queue", "routing_key": "#", "arguments": {}},
        {"source": "dead", "vhost": "prod", "destination": "mail", "destination_type": "queue", "routing_key": "", "arguments": {}},
    ],
}  # fmt: skip


@pytest.fixture
def lab():
    lab = lab_of()
    lab.advance_to(1_000_000)
    return lab


def panel(lab) -> Any:
    return lab.view()["lanes"]["rabbitmq"]["rabbitmq"]


def plain(rows: list[Any]) -> list[str]:
    return sorted(json.dumps(row, sort_keys=True) for row in rows)


def test_a_file_of_a_real_server_draws_its_graph_and_says_what_stands_in(lab) -> None:
    events = order(lab, "rabbitmq_import", definitions=FILE, seconds=3)
    graph = panel(lab)["vhosts"]["prod"]
    assert sorted(graph["queues"]) == ["audit", "invoices", "mail"]
    assert graph["exchanges"]["later"]["type"] == "topic"
    assert {(each["source"], each["destination"]) for each in graph["bindings"].values() if each["source"]} == {
        ("later", "invoices"), ("dead", "mail"),
    }  # fmt: skip
    (said,) = [event["data"] for event in events if event["kind"] == "rabbitmq.server.import"]
    assert said["left_out"] == {
        "queues": ["invoices", "audit"], "exchanges": ["later"], "policies": ["ha"], "parameters": ["move"],
        "global_parameters": ["cluster_name"],
    }  # fmt: skip
    assert "rabbitmq.operator.refused" not in [event["kind"] for event in events]


def test_a_consistent_hash_exchange_comes_as_it_is_and_says_whose_a_key_is(lab) -> None:
    exchange = {
        "name": "keys", "vhost": "shop", "type": "x-consistent-hash", "durable": True, "auto_delete": False,
        "internal": False, "arguments": {"hash-header": "user"},
    }  # fmt: skip
    bindings = [
        {"source": "keys", "vhost": "shop", "destination": name, "destination_type": "queue", "routing_key": weight,
         "arguments": {}}
        for name, weight in (("b", "2"), ("a", "1"), ("b", "9"))
    ]  # fmt: skip
    file = {
        "exchanges": [exchange],
        "queues": [{"name": name, "vhost": "shop"} for name in "ab"],
        "bindings": bindings,
    }
    events = order(lab, "rabbitmq_import", definitions=file, seconds=3)
    (said,) = [event["data"] for event in events if event["kind"] == "rabbitmq.server.import"]
    assert said["left_out"] == {}
    edges = [each for each in panel(lab)["vhosts"]["shop"]["bindings"].values() if each["source"] == "keys"]
    assert sorted((each["destination"], each["first_bucket"], each["buckets"]) for each in edges) == [
        ("a", 2, 1), ("b", 0, 0), ("b", 0, 2),
    ]  # fmt: skip
    answer = tried(panel(lab), "shop", "keys", "k", {"user": 5})
    (taken,) = [row for row in answer["rows"] if row["is_match"]]
    assert list(answer["queues"]) == [taken["destination"]]
    first, own, bucket = (taken["hashed"][name] for name in ("first", "own", "bucket"))
    assert first <= bucket < first + own and taken["hashed"]["value"] == 5
    written = definitions(panel(lab))["exchanges"]
    assert [row for row in written if row["name"] == "keys"] == [exchange]


def test_a_file_has_as_many_queues_as_the_page_can_draw(lab) -> None:
    queues = [{"name": f"q{number}", "vhost": "shop"} for number in range(ROWS_MAX + 1)]
    with pytest.raises(CommandError, match="at most 128") as refused:
        order(lab, "rabbitmq_import", definitions={"queues": queues})
    assert refused.value.field == "args.definitions.queues"
    order(lab, "rabbitmq_import", definitions={"queues": queues[1:]}, seconds=3)
    assert {each["name"] for each in queues[1:]} <= panel(lab)["vhosts"]["shop"]["queues"].keys()


def test_only_those_that_the_file_names_may_do_something(lab) -> None:
    order(lab, "rabbitmq_import", definitions=FILE, seconds=3)
    users = panel(lab)["users"]
    assert "prod" not in users["guest"]["permissions"] and list(users["app"]["permissions"]) == ["prod"]


def test_what_came_in_goes_out_again_unchanged(lab) -> None:
    order(lab, "rabbitmq_import", definitions=FILE, seconds=3)
    order(lab, "rabbitmq_stop", seconds=3)
    order(lab, "rabbitmq_start", seconds=3)
    written = definitions(panel(lab))
    for section in ("parameters", "global_parameters", "policies"):
        assert written[section] == FILE[section]
    for section in ("users", "permissions", "queues", "exchanges", "bindings"):
        mine = [row for row in written[section] if row.get("vhost") == "prod" or row.get("name") == "app"]
        assert plain(mine) == plain(FILE[section]), section
    other = lab_of({"queues": [{"name": "q"}], "publishers": [{}], "consumers": [{"queue": "q"}]})
    order(other, "rabbitmq_import", definitions=written, seconds=3)
    again = panel(other)
    assert again["users"]["app"]["hashed"] == [HASH, "rabbit_password_hashing_sha512"]
    assert sorted(again["vhosts"]["prod"]["queues"]) == ["audit", "invoices", "mail"]


def test_a_user_of_our_own_has_a_hash_and_a_new_password_another(lab) -> None:
    order(lab, "rabbitmq_import", definitions=FILE, seconds=3)
    order(lab, "rabbitmq_change_user", user="app", tags=[])
    assert panel(lab)["users"]["app"]["hashed"][0] == HASH
    order(lab, "rabbitmq_change_user", user="app", password="new", tags=[])
    (app,) = [user for user in definitions(panel(lab))["users"] if user["name"] == "app"]
    assert app["hashing_algorithm"] == "rabbit_password_hashing_sha256" and app["password_hash"] not in (
        "",
        HASH,
    )


def test_a_stand_in_that_gave_way_to_another_is_exported_as_it_is_now(lab) -> None:
    order(lab, "rabbitmq_import", definitions=FILE, seconds=3)
    order(lab, "rabbitmq_permissions", user="guest", vhost="prod")
    order(lab, "rabbitmq_delete_queue", vhost="prod", name="audit")
    order(lab, "rabbitmq_delete_queue", vhost="prod", name="invoices")
    order(lab, "rabbitmq_declare_queue", vhost="prod", name="invoices")
    queues = {row["name"]: row for row in definitions(panel(lab))["queues"] if row["vhost"] == "prod"}
    assert sorted(queues) == ["invoices", "mail"] and queues["invoices"]["arguments"] == {}
    order(lab, "rabbitmq_delete_vhost", vhost="prod")
    assert definitions(panel(lab))["policies"] == []


@pytest.mark.parametrize(
    ("section", "row", "place"),
    [
        ("exchanges", {"name": "e", "vhost": "prod", "type": "bogus"}, "exchanges.2.type"),
        ("exchanges", {"name": "n" * 256, "vhost": "prod", "type": "topic"}, "exchanges.2.name"),
        ("queues", {"name": "amq.mine", "vhost": "prod"}, "queues.3"),
        ("queues", {"name": "all", "vhost": "shop", "durable": False}, "queues.3.vhost"),
        ("queues", {"name": "q", "vhost": "prod", "arguments": {"x-max-length": -1}}, "queues.3"),
        ("bindings", {"source": "none", "vhost": "prod", "destination": "mail", "destination_type": "queue"}, "bindings.2"),
        ("permissions", {"user": "eve", "vhost": "prod", "configure": "", "write": "", "read": ""}, "permissions.1.user"),
        ("policies", {"vhost": "prod"}, "policies.1.name"),
        ("policies", "ha", "policies.1"),
    ],
)  # fmt: skip
def test_a_row_that_is_wrong_leaves_the_server_unchanged(lab, section, row, place) -> None:
    before = lab.checkpoint()
    with pytest.raises(CommandError) as refused:
        order(lab, "rabbitmq_import", definitions={**FILE, section: [*FILE[section], row]})
    assert refused.value.field == f"args.definitions.{place}" and lab.checkpoint() == before


def test_a_file_that_is_at_odds_with_what_is_there_changes_nothing(lab) -> None:
    before = lab.checkpoint()
    file = {"vhosts": [{"name": "new"}], "queues": [{"name": "all", "vhost": "shop", "durable": False}]}
    file["vhosts"].append({"name": "shop"})
    with pytest.raises(CommandError, match="inequivalent arg 'durable' for queue 'all'") as refused:
        order(lab, "rabbitmq_import", definitions=file)
    assert refused.value.field == "args.definitions.queues.0" and lab.checkpoint() == before
    for row, key in (({"user": "eve"}, "user"), ({"vhost": "none"}, "vhost")):
        rights = {"user": "bob", "vhost": "shop", "configure": "", "write": "", "read": "", **row}
        with pytest.raises(CommandError) as refused:
            order(lab, "rabbitmq_import", definitions={"permissions": [rights]})
        assert refused.value.field == f"args.definitions.permissions.0.{key}"
