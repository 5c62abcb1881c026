"""The page of a lab's RabbitMQ server, and its three questions: there for a RabbitMQ lane, in both languages; refused
at the field that is wrong."""

import gzip
import json
from pathlib import Path
from typing import Any

import pytest
from django.test import Client

from broker_core.lab.lab import Lab
from broker_core.lab.pieces import whole
from broker_core.lab.scenario import scenario_from_json
from broker_core.lab.view import lab_view
from broker_core.rabbitmq.definitions import read_definitions, write_definitions
from dashboard.errors import Refused
from dashboard.labs import services
from tests.dashboard.stored_view import lab_with

pytestmark = pytest.mark.django_db(transaction=True)

VIEWS = json.loads(gzip.decompress((Path(__file__).parents[1] / "js/fixtures/rabbitmq.json.gz").read_bytes()))
WORK, ORDERS = VIEWS[0], VIEWS[1]
WORKLOAD = {"kind": "uniform", "keys": 3, "rate": 8}


@pytest.fixture
def orders() -> str:
    return lab_with(ORDERS)


def ask(lab: str, question: str, **params: str) -> tuple[int, Any]:
    answer = Client().get(f"/api/labs/{lab}/rabbitmq/{question}/", {"vhost": "shop", **params})
    return answer.status_code, answer.json()


def test_it_is_there_for_a_rabbitmq_lane_in_both_languages() -> None:
    lab = lab_with(WORK)
    for language, title in (("en", "RabbitMQ server"), ("zh-hans", "RabbitMQ 服务器")):
        answer = Client(headers={"accept-language": language}).get(f"/lab/{lab}/rabbitmq/")
        text = answer.content.decode()
        assert answer.status_code == 200 and title in text and "js/rabbitmq/page.js" in text
        assert "panels=rabbitmq" in text


def test_a_lab_without_a_rabbitmq_lane_has_no_such_page() -> None:
    lab = lab_with({"lane_order": ["kafka"], "lanes": {"kafka": {}}})
    assert Client().get(f"/lab/{lab}/rabbitmq/").status_code == 404
    assert Client().get(f"/lab/{lab_with(WORK)}/rabbitmq/?lane=other").status_code == 404
    assert ask(lab, "try", exchange="")[0] == 404


def test_the_page_knows_the_registrys_orders_and_what_can_be_chosen(orders: str) -> None:
    text = Client().get(f"/lab/{orders}/rabbitmq/").content.decode()
    page = json.loads(text.split('<script id="page" type="application/json">')[1].split("</script>")[0])
    known = page["rabbitmq"]
    assert known["verbs"]["rabbitmq_purge"] == ["name", "user", "vhost"]
    assert sorted(known["types"]) == ["direct", "fanout", "headers", "topic", "x-consistent-hash"]
    assert "basic.publish" in known["operations"]


def test_a_messages_way_is_that_of_the_newest_or_of_the_one_that_is_asked_for() -> None:
    lab = Lab(scenario_from_json({"lanes": [{"model": "rabbitmq"}], "workload": WORKLOAD, "consumers": 1}))
    lab.advance_to(3_000_000)
    stored = lab_with(whole(lab_view(lab)))
    newest = ask(stored, "path")[1]
    status, answer = ask(stored, "path", message="3")
    assert newest["message"] == lab.lanes["rabbitmq"].reads.notes.paths.newest > 3 == answer["message"]
    kinds = [step["kind"] for step in answer["steps"]]
    assert status == 200 and kinds == ["published", "delivered", "ack"]
    assert answer["steps"][0]["exchange"] == "" and answer["steps"][0]["queues"]
    assert answer["steps"][0]["ways"][0].startswith("publish:") and answer["steps"][0]["hops"]
    line = answer["steps"][1]["ways"][0]
    last = ask(stored, "path", vhost="/", way=line)[1]
    assert line.startswith("consume:") and line in [way for step in last["steps"] for way in step["ways"]]
    assert ask(stored, "path", vhost="/", way="consume:none")[1]["fields"].keys() == {"way"}
    for asked in ("900", "-1", "x", "9" * 40):
        status, answer = ask(stored, "path", message=asked)
        assert status == 400 and list(answer["fields"]) == ["message"], asked


def test_a_tried_key_names_every_binding_with_its_reason(orders: str) -> None:
    status, answer = ask(orders, "try", exchange="orders", key="orders.eu.created")
    assert status == 200 and sorted(answer["queues"]) == ["created", "eu_orders"]
    assert [row["is_match"] for row in answer["rows"]] == [True, True, True, False]
    assert [row["is_again"] for row in answer["rows"]].count(True) == 1
    missed = answer["rows"][-1]
    assert missed["routing_key"] == "*.*.paid" and not missed["words"][-1]["is_match"]
    known = ORDERS["lanes"]["rabbitmq"]["rabbitmq"]["vhosts"]["shop"]["bindings"]
    assert all(row["binding"] in known for row in answer["rows"])


def test_headers_are_tried_and_who_may_not_publish_is_refused_in_the_servers_words(orders: str) -> None:
    headers = json.dumps({"format": "pdf"})
    assert ask(orders, "try", exchange="docs", headers=headers)[1]["queues"] == ["pdf"]
    answer = ask(orders, "try", exchange="docs", headers='{"format": "txt"}', user="till")[1]
    assert answer["queues"] == []
    assert answer["refused"].startswith("403 ACCESS_REFUSED - access to exchange 'docs' in vhost 'shop'")
    assert ask(orders, "try", exchange="tasks", key="invoice", user="till")[1]["refused"] == ""


def test_the_default_exchange_reaches_a_queue_by_its_name(orders: str) -> None:
    assert ask(orders, "try", exchange="", key="pdf")[1]["queues"] == ["pdf"]


@pytest.mark.parametrize(
    ("params", "field"),
    [
        ({"exchange": "none"}, "exchange"),
        ({"exchange": "orders", "vhost": "none"}, "vhost"),
        ({"exchange": "orders", "key": "k" * 256}, "key"),
        ({"exchange": "orders", "headers": "{"}, "headers"),
        ({"exchange": "orders", "headers": "[1]"}, "headers"),
    ],
)
def test_a_try_that_cannot_be_is_refused_at_its_field(
    orders: str, params: dict[str, str], field: str
) -> None:
    status, answer = ask(orders, "try", **params)
    assert status == 400 and list(answer["fields"]) == [field]


def test_each_wrong_field_of_an_order_has_its_text(orders: str) -> None:
    command = {"command_id": "x1", "kind": "rabbitmq_user", "args": {"name": "", "tags": ["root"]}}
    with pytest.raises(Refused) as refused:
        services.lab_submit(lab_id=orders, request=command)
    assert refused.value.fields.keys() == {"args.name", "args.tags.0"}
    command = {
        "command_id": "x2",
        "kind": "rabbitmq_permissions",
        "args": {"user": "", "vhost": "", "read": 1},
    }
    with pytest.raises(Refused) as refused:
        services.lab_submit(lab_id=orders, request=command)
    assert refused.value.fields.keys() == {"args.user", "args.vhost", "args.read"}


def test_would_this_be_allowed(orders: str) -> None:
    asked = {"operation": "queue.declare", "queue": "mine"}
    assert ask(orders, "allowed", user="feed", **asked) == (200, {"refused": ""})
    refused = ask(orders, "allowed", user="till", **asked)[1]["refused"]
    assert refused == "403 ACCESS_REFUSED - access to queue 'mine' in vhost 'shop' refused for user 'till'"
    assert ask(orders, "allowed", user="nobody", **asked)[1]["refused"].startswith("530 NOT_ALLOWED")
    assert ask(orders, "allowed", user="feed", operation="queue.eat") [1]["fields"].keys() == {"operation"}  # fmt: skip


def test_a_bindings_end_asks_for_its_key_as_the_server_does() -> None:
    view = json.loads(json.dumps(ORDERS))
    rights = {"configure": ".*", "write": ".*", "read": ".*"}
    view["lanes"]["rabbitmq"]["rabbitmq"]["users"]["till"] |= {
        "permissions": {"shop": rights},
        "topic_permissions": {"shop": {"orders": {"write": ".*", "read": "^eu$"}}},
    }
    lab = lab_with(view)
    for operation in ("queue.unbind", "exchange.bind", "exchange.unbind"):
        asked = {
            "user": "till",
            "operation": operation,
            "queue": "pdf",
            "destination": "docs",
            "exchange": "orders",
        }
        assert "topic 'us'" in ask(lab, "allowed", **asked, key="us")[1]["refused"]
        assert ask(lab, "allowed", **asked, key="eu") == (200, {"refused": ""})


def test_the_exported_definitions_are_read_again_as_they_are(orders: str) -> None:
    answer = Client().get(f"/api/labs/{orders}/rabbitmq/definitions/")
    assert answer["Content-Disposition"] == f'attachment; filename="definitions-{orders}.json"'
    plain = answer.json()
    definitions = read_definitions(plain)
    assert write_definitions(definitions) == plain
    assert {queue.name for queue in definitions.queues} >= {"created", "eu_orders"}
    assert len(definitions.bindings) == 7 and not any(
        each.name.startswith("amq.") for each in definitions.exchanges
    )
    letters = next(queue for queue in definitions.queues if queue.name == "eu_orders")
    assert letters.arguments["x-dead-letter-exchange"] == "dead"
