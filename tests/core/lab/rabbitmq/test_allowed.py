"""Would this be allowed? Each operation asks for the rights that RabbitMQ's access control guide names."""

from __future__ import annotations

from typing import Any

import pytest

from broker_core.lab.rabbitmq.views.allowed import OPERATIONS, Asked, refusal_of
from broker_core.rabbitmq.permissions import Permission, TopicPermission, User

RIGHTS = {
    "configure": ("queue.declare", "queue.delete", "exchange.declare", "exchange.delete"),
    "write": ("queue.bind", "queue.unbind", "exchange.bind", "exchange.unbind", "basic.publish"),
    "read": ("basic.consume", "basic.get", "queue.purge"),
}
"""Right -> the operations that want it first."""
NOTHING = "^$"


def user(**rights: str) -> User:
    allowed = {"configure": NOTHING, "write": NOTHING, "read": NOTHING} | rights
    return User("bob", "b", [], {"shop": Permission(**allowed)}, {})


def asked(known: User | None, operation: str, **more: Any) -> str:
    names = {"queue": "q", "exchange": "x", "destination": "y"} | more
    return refusal_of(known, "bob", "shop", operation, Asked(**names))


@pytest.mark.parametrize("right", RIGHTS)
def test_each_operation_wants_its_right(right: str) -> None:
    everything = dict.fromkeys(RIGHTS, ".*")
    for operation in RIGHTS[right]:
        assert asked(user(**everything), operation) == ""
        refused = asked(user(**everything | {right: NOTHING}), operation)
        assert refused.startswith("403 ACCESS_REFUSED - access to ") and "in vhost 'shop' refused" in refused
    assert sorted(OPERATIONS) == sorted(sum(RIGHTS.values(), ()))


def test_a_binding_wants_to_write_the_queue_and_to_read_the_exchange() -> None:
    assert "exchange 'x'" in asked(user(write=".*"), "queue.bind")
    assert "queue 'q'" in asked(user(read=".*"), "queue.bind")
    assert asked(user(write="^q$", read="^x$"), "queue.bind") == ""


def test_the_key_counts_at_a_topic_exchange_only() -> None:
    known = user(write=".*")
    known.topic_permissions["shop"] = {"x": TopicPermission("^eu\\.", ".*")}
    assert asked(known, "basic.publish", type="topic", key="eu.new") == ""
    refused = asked(known, "basic.publish", type="topic", key="us.new")
    assert refused.startswith("403 ACCESS_REFUSED - access to topic 'us.new'")
    assert asked(known, "basic.publish", type="direct", key="us.new") == ""


@pytest.mark.parametrize("operation", ["queue.bind", "queue.unbind", "exchange.bind", "exchange.unbind"])
def test_a_binding_and_its_end_ask_for_the_key_of_a_topic_exchange(operation: str) -> None:
    known = user(write=".*", read=".*")
    known.topic_permissions["shop"] = {"x": TopicPermission(".*", "^eu$")}
    assert asked(known, operation, type="topic", key="eu") == ""
    refused = asked(known, operation, type="topic", key="us")
    assert refused.startswith("403 ACCESS_REFUSED - access to topic 'us' in exchange 'x'")
    assert asked(known, operation, type="direct", key="us") == ""


@pytest.mark.parametrize(
    ("operation", "names", "text"),
    [
        ("exchange.delete", {"exchange": "amq.topic"}, "deletion of system exchange 'amq.topic'"),
        ("exchange.declare", {"exchange": "amq.mine"}, "exchange name 'amq.mine' contains reserved prefix"),
        ("queue.declare", {"queue": "amq.mine"}, "queue name 'amq.mine' contains reserved prefix"),
        ("queue.bind", {"exchange": ""}, "operation not permitted on the default exchange"),
        ("basic.publish", {"type": "topic", "is_internal": True}, "cannot publish to internal exchange 'x'"),
    ],
)  # fmt: skip
def test_what_nobody_may_do_is_refused_in_the_servers_words(
    operation: str, names: dict[str, Any], text: str
) -> None:
    everything = user(configure=".*", write=".*", read=".*")
    refused = asked(everything, operation, **names)
    assert refused.startswith("403 ACCESS_REFUSED") and text in refused


def test_without_the_vhost_or_the_user_nothing_is_allowed() -> None:
    text = "530 NOT_ALLOWED - access to vhost 'shop' refused for user 'bob'"
    assert asked(None, "basic.get") == text
    assert asked(User("bob", "b", [], {}, {}), "basic.get") == text
