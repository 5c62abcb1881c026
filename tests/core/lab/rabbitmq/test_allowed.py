"""Would this be allowed? Each operation asks for the rights that RabbitMQ's access control guide names."""

from __future__ import annotations

import pytest

from broker_core.lab.rabbitmq.views.allowed import OPERATIONS, refusal_of
from broker_core.rabbitmq.permissions import Permission, TopicPermission, User

RIGHTS = {
    "configure": ("queue.declare", "queue.delete", "exchange.declare", "exchange.delete"),
    "write": ("queue.bind", "queue.unbind", "basic.publish"),
    "read": ("basic.consume", "basic.get", "queue.purge"),
}
"""Right -> the operations that want it first."""
NOTHING = "^$"


def user(**rights: str) -> User:
    allowed = {"configure": NOTHING, "write": NOTHING, "read": NOTHING} | rights
    return User("bob", "b", [], {"shop": Permission(**allowed)}, {})


def asked(known: User | None, operation: str, **more: str) -> str:
    return refusal_of(known, "bob", "shop", operation, **{"queue": "q", "exchange": "x"} | more)


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
    assert asked(known, "basic.publish", exchange_type="topic", key="eu.new") == ""
    refused = asked(known, "basic.publish", exchange_type="topic", key="us.new")
    assert refused.startswith("403 ACCESS_REFUSED - access to topic 'us.new'")
    assert asked(known, "basic.publish", exchange_type="direct", key="us.new") == ""


def test_without_the_vhost_or_the_user_nothing_is_allowed() -> None:
    text = "530 NOT_ALLOWED - access to vhost 'shop' refused for user 'bob'"
    assert asked(None, "basic.get") == text
    assert asked(User("bob", "b", [], {}, {}), "basic.get") == text
