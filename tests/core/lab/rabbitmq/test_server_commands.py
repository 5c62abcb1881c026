"""A person's orders at the server of a RabbitMQ lane: what is answered, what the server refuses, and what we refuse
before it is asked."""

from __future__ import annotations

import pytest

from broker_core.errors import CommandError
from tests.core.lab.rabbitmq.test_topology import TOPOLOGY, lab_of, order, queue_of

DONE, REFUSED = "rabbitmq.operator.answered", "rabbitmq.operator.refused"


def answers(events):
    return [
        (event["kind"], event["inputs"], event["data"]) for event in events if "operator" in event["kind"]
    ]


@pytest.fixture
def lab():
    lab = lab_of()
    lab.advance_to(2_000_000)
    return lab


def test_queue_is_declared_bound_filled_read_purged_and_deleted(lab) -> None:
    (done,) = answers(order(lab, "rabbitmq_declare_queue", vhost="shop", name="mine"))
    assert done[0] == DONE and done[2]["count"] == 0
    order(lab, "rabbitmq_bind", vhost="shop", source="orders", destination="mine", routing_key="by.hand")
    (sent,) = answers(
        order(lab, "rabbitmq_publish", vhost="shop", exchange="orders", routing_key="by.hand", body="hello")
    )
    assert sent[0] == DONE and "returned" not in sent[2] and "body" not in sent[2]
    for then, is_again in (("requeue", False), ("ack", True)):
        (got,) = answers(order(lab, "rabbitmq_get", vhost="shop", name="mine", then=then))
        assert (got[2]["redelivered"], got[2]["left"]) == (is_again, 0)
    assert lab.messages.payload(got[2]["message"]) == "hello"
    (empty,) = answers(order(lab, "rabbitmq_get", vhost="shop", name="mine"))
    assert empty[2]["empty"]
    order(lab, "rabbitmq_unbind", vhost="shop", source="orders", destination="mine", routing_key="by.hand")
    order(lab, "rabbitmq_publish", vhost="shop", exchange="", routing_key="mine")
    (purged,) = answers(order(lab, "rabbitmq_purge", vhost="shop", name="mine"))
    assert purged[2]["count"] == 1
    order(lab, "rabbitmq_delete_queue", vhost="shop", name="mine")
    assert "mine" not in lab.lanes["rabbitmq"].reads.broker().vhosts["shop"].queues


@pytest.mark.parametrize(
    ("kind", "args", "code", "text"),
    [
        ("declare_queue", {"name": "all", "durable": False}, 406, "inequivalent arg 'durable' for queue 'all'"),
        ("declare_exchange", {"name": "orders", "type": "direct"}, 406, "inequivalent arg 'type'"),
        ("delete_exchange", {"name": "amq.topic"}, 403, "deletion of system exchange 'amq.topic'"),
        ("delete_queue", {"name": "all", "if_unused": True}, 406, "in use"),
        ("bind", {"source": "orders", "destination": "none"}, 404, "no queue 'none'"),
        ("publish", {"exchange": "none"}, 404, "no exchange 'none'"),
        ("purge", {"name": "none"}, 404, "no queue 'none'"),
        ("purge", {"name": "all", "user": "bob", "vhost": "/"}, 530, "access to vhost '/' refused"),
        *(
            (kind, {"source": "", "destination": "all", "destination_type": "queue", "routing_key": "all"}, 403,
             "ACCESS_REFUSED - operation not permitted on the default exchange")
            for kind in ("bind", "unbind")
        ),
        *(
            (kind, {"source": source, "destination": to, "destination_type": "exchange"}, 403,
             "ACCESS_REFUSED - operation not permitted on the default exchange")
            for kind in ("bind", "unbind") for source, to in (("", "orders"), ("orders", ""))
        ),
        *(
            (kind, {"name": ""}, 404, "NOT_FOUND - no previously declared queue")
            for kind in ("get", "purge", "delete_queue")
        ),
        *(
            (kind, {"source": "orders", "destination": "", "destination_type": "queue"}, 404,
             "NOT_FOUND - no previously declared queue")
            for kind in ("bind", "unbind")
        ),
        ("declare_exchange", {"name": ""}, 403, "operation not permitted on the default exchange"),
        ("delete_exchange", {"name": ""}, 403, "operation not permitted on the default exchange"),
        ("declare_exchange", {"name": "x", "type": ""}, 503, "COMMAND_INVALID - invalid exchange type ''"),
        ("declare_queue", {"name": "x", "user": "bob"}, 403, "access to queue 'x' in vhost 'shop' refused"),
    ],
)  # fmt: skip
def test_server_refuses_with_code_and_text_and_says_why(lab, kind, args, code, text) -> None:
    events = order(lab, f"rabbitmq_{kind}", **{"vhost": "shop", **args})
    ((told, inputs, data),) = answers(events)
    assert (told, inputs["reply_code"], data["verb"]) == (REFUSED, code, kind)
    assert text in inputs["reply_text"]
    (event,) = [event for event in events if event["kind"] == REFUSED]
    assert event["cause"] == {"command": lab.position}


@pytest.mark.parametrize(
    ("kind", "args", "field"),
    [
        ("purge", {"name": "all", "user": "eve"}, "args.user"),
        ("purge", {"name": "all", "vhost": "eve"}, "args.vhost"),
        ("purge", {}, "args.name"),
        ("get", {"name": "all", "then": "eat"}, "args.then"),
        ("publish", {"priority": 256}, "args.priority"),
        ("permissions", {"user": "bob", "vhost": "shop", "write": "("}, "args.write"),
        ("topic_permissions", {"user": "bob", "vhost": "shop", "exchange": "orders", "read": "["}, "args.read"),
        ("topic_permissions", {"user": "eve", "vhost": "shop", "exchange": "orders"}, "args.user"),
        ("topic_permissions", {"user": "bob", "vhost": "shop"}, "args.exchange"),
        ("user", {"name": "guest"}, "args.name"),
        ("user", {"name": "eve", "tags": ["nonsense"]}, "args.tags.0"),
        ("user", {"name": "eve", "tags": "administrator,nonsense,,"}, "args.tags.1"),
        ("user", {"name": "definitions"}, "args.name"),
        ("change_user", {"user": "eve", "tags": []}, "args.user"),
        ("change_user", {"user": "bob", "tags": ["root"]}, "args.tags.0"),
        ("change_user", {"user": "bob"}, "args.tags"),
        ("delete_user", {"user": "eve"}, "args.user"),
        ("vhost", {"name": "shop"}, "args.name"),
        ("delete_vhost", {"vhost": "eve"}, "args.vhost"),
        ("alarm", {"resource": "soul"}, "args.resource"),
        ("alarm", {"resource": "disk", "is_on": False}, "args.is_on"),
        ("start", {}, "lane"),
        ("import", {"definitions": {"queues": [{"vhost": "/"}]}}, "args.definitions.queues.0.name"),
    ],
)  # fmt: skip
def test_we_refuse_at_the_field_and_nothing_changes(lab, kind, args, field) -> None:
    before = lab.checkpoint()
    with pytest.raises(CommandError) as refused:
        order(lab, f"rabbitmq_{kind}", **args)
    assert refused.value.field == field and lab.checkpoint() == before


def test_without_a_name_the_server_gives_one_and_says_it(lab) -> None:
    ((kind, _, data),) = answers(order(lab, "rabbitmq_declare_queue", vhost="shop"))
    assert kind == DONE and data["queue"].startswith("amq.gen-")
    assert not queue_of(lab, data["queue"]).state.owner


def test_an_exclusive_queue_lives_as_long_as_its_connection_which_takes_what_comes_next(lab) -> None:
    queues = lab.lanes["rabbitmq"].reads.broker().vhosts["shop"].queues
    mine = {"vhost": "shop", "name": "mine"}
    order(lab, "rabbitmq_declare_queue", **mine, exclusive=True)
    order(lab, "rabbitmq_declare_queue", vhost="shop", name="other", exclusive=True, seconds=300)
    node = lab.view()["lanes"]["rabbitmq"]["rabbitmq"]["vhosts"]["shop"]["queues"]["mine"]
    assert node["exclusive"] and len({queues[each].state.owner for each in ("mine", "other")}) == 1
    order(lab, "rabbitmq_bind", vhost="shop", source="orders", destination="mine", routing_key="by.hand")
    order(lab, "rabbitmq_publish", vhost="shop", exchange="orders", routing_key="by.hand")
    ((_, _, got),) = answers(order(lab, "rabbitmq_get", **mine, then="ack"))
    assert got["routing_key"] == "by.hand"
    ((kind, inputs, _),) = answers(order(lab, "rabbitmq_get", **mine, user="bob"))
    assert (kind, inputs["reply_code"]) == (REFUSED, 405)
    ((kind, inputs, _),) = answers(order(lab, "rabbitmq_get", vhost="shop", name="none"))
    assert (kind, inputs["reply_code"]) == (REFUSED, 404)
    ((kind, _, _),) = answers(order(lab, "rabbitmq_purge", **mine))
    assert kind == DONE, "the channel is opened again after an exception"
    order(lab, "rabbitmq_delete_queue", **mine)
    ((kind, _, _),) = answers(order(lab, "rabbitmq_purge", vhost="shop", name="other"))
    assert kind == DONE
    order(lab, "rabbitmq_delete_queue", vhost="shop", name="other")
    assert not {"mine", "other"} & set(queues)
    state = lab.lanes["rabbitmq"].reads.broker()
    assert "operator" not in [known.name for known in state.connections.values()]


def test_an_exclusive_queue_is_gone_after_a_restart_and_may_be_declared_again(lab) -> None:
    for verb in ("stop", "crash"):
        order(lab, "rabbitmq_declare_queue", vhost="shop", name="mine", exclusive=True)
        order(lab, f"rabbitmq_{verb}", seconds=3)
        order(lab, "rabbitmq_start", seconds=8)
        assert "mine" not in lab.lanes["rabbitmq"].reads.broker().vhosts["shop"].queues
    ((kind, _, _),) = answers(order(lab, "rabbitmq_declare_queue", vhost="shop", name="mine", exclusive=True))
    assert kind == DONE


@pytest.mark.parametrize(
    ("kind", "args", "fields"),
    [
        ("permissions", {"user": "bob", "vhost": "shop", "configure": "(", "write": "[", "read": "*"}, ["configure", "write", "read"]),
        ("permissions", {"user": "eve", "vhost": "none", "read": "*"}, ["vhost", "user", "read"]),
        ("topic_permissions", {"user": "bob", "vhost": "shop", "exchange": "x", "write": "[", "read": "("}, ["write", "read"]),
        ("user", {"name": "", "password": "p" * 256, "tags": ["root"]}, ["name", "password", "tags.0"]),
        ("bind", {}, ["source", "destination"]),
        ("publish", {"priority": 256, "delivery_mode": 3, "body": 1}, ["body", "delivery_mode", "priority"]),
    ],
)  # fmt: skip
def test_every_field_that_is_wrong_is_named(lab, kind, args, fields) -> None:
    with pytest.raises(CommandError) as refused:
        order(lab, f"rabbitmq_{kind}", **args)
    named = [refused.value, *refused.value.others]
    assert [each.field for each in named] == [f"args.{field}" for field in fields]


@pytest.mark.parametrize("resource", ["memory", "disk"])
def test_alarm_blocks_publishers_until_it_is_cleared(lab, resource) -> None:
    order(lab, "rabbitmq_alarm", resource=resource, seconds=3)
    blocked = queue_of(lab, "all").published
    order(lab, "rabbitmq_permissions", user="bob", vhost="shop", seconds=3)
    assert queue_of(lab, "all").published == blocked
    view = lab.view()["lanes"]["rabbitmq"]["rabbitmq"]
    assert [each["is_blocked"] for each in view["vhosts"]["shop"]["publishers"].values()] == [True]
    order(lab, "rabbitmq_alarm", resource=resource, is_on=False)
    assert queue_of(lab, "all").published > blocked + 100


def test_permissions_users_and_vhosts_change_what_is_allowed(lab) -> None:
    order(lab, "rabbitmq_vhost", name="lab")
    order(lab, "rabbitmq_user", name="eve", password="e")
    ((kind, inputs, _),) = answers(order(lab, "rabbitmq_declare_queue", vhost="lab", user="eve", name="q"))
    assert (kind, inputs["reply_code"]) == (REFUSED, 530)
    order(lab, "rabbitmq_permissions", user="eve", vhost="lab", configure="^q")
    ((kind, _, _),) = answers(order(lab, "rabbitmq_declare_queue", vhost="lab", user="eve", name="q"))
    assert kind == DONE
    order(lab, "rabbitmq_permissions", user="eve", vhost="lab", is_cleared=True)
    ((kind, inputs, _),) = answers(order(lab, "rabbitmq_get", vhost="lab", user="eve", name="q"))
    assert (kind, inputs["reply_code"]) == (REFUSED, 530)


def test_a_user_that_is_there_is_changed_by_an_order_of_its_own_and_deleted_with_its_connections(lab) -> None:
    state = lab.lanes["rabbitmq"].reads.broker()
    with pytest.raises(CommandError, match="User 'guest' already exists"):
        order(lab, "rabbitmq_user", name="guest")
    assert state.users["guest"].tags == ["administrator"]
    order(lab, "rabbitmq_change_user", user="bob", tags=["monitoring"])
    assert (state.users["bob"].password, state.users["bob"].tags) == ("b", ["monitoring"])
    order(lab, "rabbitmq_change_user", user="bob", password="new", tags=[])
    assert (state.users["bob"].password, state.users["bob"].tags) == ("new", [])
    events = order(lab, "rabbitmq_delete_user", user="bob")
    assert "rabbitmq.server.delete_user" in [event["kind"] for event in events]
    assert list(state.users) == ["guest"]
    assert "bob" not in [known.user for known in state.connections.values()]
    with pytest.raises(CommandError, match="only one"):
        order(lab, "rabbitmq_delete_user", user="guest")


def test_a_vhost_goes_with_all_that_it_holds_and_the_last_one_stays(lab) -> None:
    state = lab.lanes["rabbitmq"].reads.broker()
    with pytest.raises(CommandError, match="Virtual host 'shop' already exists"):
        order(lab, "rabbitmq_vhost", name="shop")
    order(lab, "rabbitmq_consume", "c1", ack="never", prefetch=7, seconds=5)
    assert queue_of(lab, "all").unacked_count  # given back to a full queue, they push others out
    order(lab, "rabbitmq_delete_vhost", vhost="shop", seconds=12)
    assert list(state.vhosts) == ["/"] and "shop" not in state.users["bob"].permissions
    assert list(lab.view()["lanes"]["rabbitmq"]["rabbitmq"]["vhosts"]) == ["/"]
    with pytest.raises(CommandError, match="only one"):
        order(lab, "rabbitmq_delete_vhost", vhost="/")


def test_topic_permissions_say_with_which_keys_one_may_publish_and_bind(lab) -> None:
    row = {"user": "guest", "vhost": "shop", "exchange": "orders"}
    by_key = {"vhost": "shop", "exchange": "orders", "mandatory": False}
    order(lab, "rabbitmq_topic_permissions", **row, write="^eu", read="^{username}$")
    panel = lab.view()["lanes"]["rabbitmq"]["rabbitmq"]
    assert panel["users"]["guest"]["topic_permissions"] == {
        "shop": {"orders": {"write": "^eu", "read": "^{username}$"}}
    }
    ((kind, _, _),) = answers(order(lab, "rabbitmq_publish", **by_key, routing_key="eu.a"))
    assert kind == DONE
    ((kind, inputs, _),) = answers(order(lab, "rabbitmq_publish", **by_key, routing_key="us.a"))
    assert (kind, inputs["reply_code"]) == (REFUSED, 403) and "topic 'us.a'" in inputs["reply_text"]
    binding = {"vhost": "shop", "source": "orders", "destination": "all"}
    ((kind, _, _),) = answers(order(lab, "rabbitmq_bind", **binding, routing_key="guest"))
    assert kind == DONE
    ((kind, inputs, _),) = answers(order(lab, "rabbitmq_bind", **binding, routing_key="other"))
    assert (kind, inputs["reply_code"]) == (REFUSED, 403)
    order(lab, "rabbitmq_topic_permissions", **row, is_cleared=True)
    ((kind, _, _),) = answers(order(lab, "rabbitmq_publish", **by_key, routing_key="us.a"))
    assert kind == DONE


def test_definitions_of_a_server_are_added(lab) -> None:
    server = {
        kind: TOPOLOGY[kind] for kind in ("vhosts", "users", "permissions", "exchanges", "queues", "bindings")
    }
    other = lab_of({"queues": [{"name": "q"}], "publishers": [{}], "consumers": [{"queue": "q"}]})
    order(
        other,
        "rabbitmq_import",
        seconds=3,
        definitions={**server, "policies": [], "rabbit_version": "3.10.8"},
    )
    state = other.lanes["rabbitmq"].reads.broker()
    assert list(state.vhosts["shop"].queues) == ["all", "new", "morgue"] and list(state.users) == [
        "guest",
        "bob",
    ]
    assert len(list(state.vhosts["shop"].bindings())) == 6


def test_restart_brings_back_what_is_durable_and_persistent(lab) -> None:
    order(lab, "rabbitmq_consume", "c1", ack="never", prefetch=7, seconds=5)
    waiting = queue_of(lab, "all").ready + queue_of(lab, "all").unacked_count
    events = order(lab, "rabbitmq_stop")
    with pytest.raises(CommandError):
        order(lab, "rabbitmq_purge", vhost="shop", name="all")
    events = order(lab, "rabbitmq_start")
    (started,) = [event for event in events if event["kind"] == "rabbitmq.server.start"]
    assert started["data"]["queues"] == 1 and 20 <= started["data"]["messages"] <= waiting
    vhost = lab.lanes["rabbitmq"].reads.broker().vhosts["shop"]
    assert list(vhost.queues) == ["all"] and "orders" in vhost.exchanges and "dead" not in vhost.exchanges
    lab.advance_to(lab.now_us + 8_000_000)
    publishing = lab.lanes["rabbitmq"].world.slots["publisher"].node.state.roles[0]
    assert publishing.connection and not publishing.waiting and not publishing.lost


def test_view_names_why_a_queue_grows(lab) -> None:
    def why(name):
        node = lab.view()["lanes"]["rabbitmq"]["rabbitmq"]["vhosts"]["shop"]["queues"][name]
        return node["growing"], len(node["growing_by"])

    lab.advance_to(10_000_000)
    assert why("morgue") == ("no_consumer", 0)
    order(lab, "slow", "c2", rate=1, seconds=8)
    assert why("new") == ("at_prefetch", 1)
    order(lab, "rabbitmq_consume", "c2", ack="never", prefetch=0, seconds=4)
    order(lab, "rabbitmq_consume", "c2", prefetch=3, seconds=6)
    assert why("new") == ("unacked", 1)
