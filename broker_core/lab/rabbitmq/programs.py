"""Which client programs a RabbitMQ lane has, and what each was written to do."""

from __future__ import annotations

import re

from broker_core.events import Cause, Json
from broker_core.lab.consumer import Consumer
from broker_core.lab.rabbitmq.reading import BROKER, PUBLISHER
from broker_core.lab.shared.lane import Lane
from broker_core.rabbitmq import loading
from broker_core.rabbitmq.broker_base import BrokerState
from broker_core.rabbitmq.client.roles import ConsumerRole, Login, OwnBinding, PublisherRole
from broker_core.rabbitmq.definitions import Definitions, read_definitions

OPERATOR = "operator"
NUMBER = re.compile(r"[0-9]+$")


def publishers(queue: str, topology: Json | None) -> list[PublisherRole]:
    """Without a topology: one, which declares the work queue and publishes to it through the default exchange."""
    if topology is None:
        return [PublisherRole(PUBLISHER, Login(), "", [queue], declares=queue)]
    return [
        PublisherRole(
            each["name"],
            login_of(each, topology),
            each["exchange"],
            turns(each["routing_key"]),
            turns(each["headers"]) if each["headers"] else [],
            turns(each["priority"]) if each["priority"] else [],
            each["delivery_mode"],
            each["expiration"],
            each["mandatory"],
            each["confirms"],
        )
        for each in topology["publishers"]
    ]


def consumer_role(consumer: Consumer, queue: str, prefetch: int, topology: Json | None) -> ConsumerRole:
    """Without a topology it consumes the work queue. What a person changed of its program holds for its next life,
    too."""
    if topology is None:
        role = ConsumerRole(Login(), queue, prefetch, is_declared=True)
    else:
        roles = topology["consumers"]
        found = NUMBER.search(consumer.name)
        each = roles[(int(found.group()) - 1 if found else 0) % len(roles)]
        role = ConsumerRole(
            login_of(each, topology),
            each["queue"],
            prefetch if each["prefetch"] is None else each["prefetch"],
            False,
            [OwnBinding(**binding) for binding in each["bindings"]],
            each["ack"],
            each["only"],
            each["priority"],
            each["exclusive"],
        )
    for name, value in consumer.set_to.items():
        setattr(role, name, value)
    return role


def login_of(each: Json, topology: Json) -> Login:
    users = {user.name: user for user in read_definitions(topology, loading.DEFAULT_VHOST).users}
    user = each["user"]
    return Login(user, loading.password_of(users[user]) if user in users else user, each["vhost"])


def turns(value: object) -> list:  # type: ignore[type-arg]
    return list(value) if isinstance(value, list) else [value]


def import_definitions(
    lane: Lane, definitions: Definitions, cause: Cause | None, what: Json | None = None
) -> None:
    """Add what definitions hold to the server. what: the order in a person's words, None for the lab's beginning."""
    for order in (*loading.orders(definitions, what is not None), *loading.rights(definitions)):
        lane.world.order(BROKER, order, cause)
    for ask in loading.asks(BROKER, definitions, what):
        lane.world.order(OPERATOR, ask, cause)


def login_now(state: BrokerState, user: str, vhost: str) -> Login:
    """Of a user that the server knows now."""
    return Login(user, state.users[user].password, vhost)
