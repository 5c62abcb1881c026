"""What `rabbitmqctl` does at the server of a RabbitMQ lane with virtual hosts, users and permissions."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import ClassVar

from broker_core.errors import CommandError
from broker_core.events import Cause, Json
from broker_core.lab.commands.rabbitmq import ControlCommand, shaped
from broker_core.lab.rabbitmq.facts import RabbitMqFacts
from broker_core.lab.rabbitmq.reading import BROKER
from broker_core.lab.rabbitmq.topology import ABSENT, DEFAULT_USER, flag, name, one_of, text
from broker_core.lab.shared.lane import Lane
from broker_core.rabbitmq import loading
from broker_core.rabbitmq import operator as server
from broker_core.rabbitmq.permissions import (
    CONFIGURE,
    READ,
    WRITE,
    Permission,
    TopicPermission,
    User,
    is_pattern,
)

TAGS = ("administrator", "monitoring", "policymaker", "management", "impersonator")
"""Those that a server knows."""


def tags(field: str, value: object) -> list[str]:
    if isinstance(value, str):  # as definitions files of older servers have a user's tags
        value = [tag.strip() for tag in value.split(",") if tag.strip()]
    if not isinstance(value, list):
        raise CommandError(field, "must be a list of texts")
    return [one_of(*TAGS)(f"{field}.{place}", each) for place, each in enumerate(value)]


class SetVhost(ControlCommand):
    """A new virtual host, in which the user guest may do all."""

    kind: ClassVar[str] = "rabbitmq_vhost"
    SHAPE, ARGS = shaped({"name": (name, ABSENT)})

    def check_in(self, lane: RabbitMqFacts) -> None:
        ControlCommand.check_in(self, lane)
        if self.given["name"] in lane.vhosts:
            raise CommandError("args.name", "Virtual host '{name}' already exists", name=self.given["name"])

    def order(self, lane: Lane) -> server.Order:
        return server.AddVhost(self.given["name"])

    def do(self, lane: Lane, position: int, cause: Cause) -> None:
        ControlCommand.do(self, lane, position, cause)
        lane.world.order(BROKER, server.SetPermissions(DEFAULT_USER, self.given["name"], loading.ALL), cause)


class DeleteVhost(ControlCommand):
    """Its connections are closed, its exchanges and queues are gone."""

    kind: ClassVar[str] = "rabbitmq_delete_vhost"
    SHAPE, ARGS = shaped({"vhost": (name, ABSENT)})

    def check_in(self, lane: RabbitMqFacts) -> None:
        ControlCommand.check_in(self, lane)
        if len(lane.vhosts) == 1:
            raise CommandError("args.vhost", "is the only one: it stays")

    def order(self, lane: Lane) -> server.Order:
        return server.DeleteVhost(self.given["vhost"])


class SetUser(ControlCommand):
    """A new user; it may do nothing before it has permissions."""

    kind: ClassVar[str] = "rabbitmq_user"
    SHAPE, ARGS = shaped({"name": (name, ABSENT), "password": (text, ""), "tags": (tags, [])})

    def check_in(self, lane: RabbitMqFacts) -> None:
        ControlCommand.check_in(self, lane)
        if self.given["name"] in (*lane.users, loading.LOADER):
            raise CommandError("args.name", "User '{name}' already exists", name=self.given["name"])

    def order(self, lane: Lane) -> server.Order:
        return server.SetUser(self.given["name"], self.given["password"], tuple(self.given["tags"]))

    def said(self) -> Json:
        return {"name": self.given["name"]}


class ChangeUser(ControlCommand):
    """Other tags, and another password; "" keeps the one that it has."""

    kind: ClassVar[str] = "rabbitmq_change_user"
    SHAPE, ARGS = shaped({"user": (name, ABSENT), "password": (text, ""), "tags": (tags, ABSENT)})

    def order(self, lane: Lane) -> server.Order:
        password, tags = self.given["password"], tuple(self.given["tags"])
        user: User = lane.world.slots[BROKER].node.state.users[self.given["user"]]
        if password:
            return server.SetUser(user.name, password, tags)
        return server.SetUser(user.name, user.password, tags, user.password_hash, user.hashing_algorithm)

    def said(self) -> Json:
        return {"user": self.given["user"]}


class DeleteUser(ControlCommand):
    """Its connections are closed, its permissions are gone."""

    kind: ClassVar[str] = "rabbitmq_delete_user"
    SHAPE, ARGS = shaped({"user": (name, ABSENT)})

    def check_in(self, lane: RabbitMqFacts) -> None:
        ControlCommand.check_in(self, lane)
        if len(lane.users) == 1:
            raise CommandError("args.user", "is the only one: it stays")

    def order(self, lane: Lane) -> server.Order:
        return server.DeleteUser(self.given["user"])


class PatternCommand(ControlCommand):
    """Regular expressions are among its arguments."""

    def wrong_in(self, lane: RabbitMqFacts) -> Iterator[CommandError]:
        yield from ControlCommand.wrong_in(self, lane)
        for what in (CONFIGURE, WRITE, READ):
            if not is_pattern(self.given.get(what, "")):
                yield CommandError(f"args.{what}", "is not a regular expression")


class Permit(PatternCommand):
    """is_cleared: the user has no access to the virtual host any more."""

    kind: ClassVar[str] = "rabbitmq_permissions"
    SHAPE, ARGS = shaped({
        "user": (name, ABSENT), "vhost": (name, ABSENT), **dict.fromkeys(("configure", "write", "read"), (text, ".*")),
        "is_cleared": (flag, False),
    })  # fmt: skip

    def order(self, lane: Lane) -> server.Order:
        g = self.given
        permission = None if g["is_cleared"] else Permission(g["configure"], g["write"], g["read"])
        return server.SetPermissions(g["user"], g["vhost"], permission)


class PermitTopic(PatternCommand):
    """With which routing keys a user may publish to a topic exchange, and bind queues to it. is_cleared: with any again."""

    kind: ClassVar[str] = "rabbitmq_topic_permissions"
    SHAPE, ARGS = shaped({
        "user": (name, ABSENT), "vhost": (name, ABSENT), "exchange": (name, ABSENT),
        **dict.fromkeys(("write", "read"), (text, ".*")), "is_cleared": (flag, False),
    })  # fmt: skip

    def order(self, lane: Lane) -> server.Order:
        g = self.given
        permission = None if g["is_cleared"] else TopicPermission(g["write"], g["read"])
        return server.SetTopicPermissions(g["user"], g["vhost"], g["exchange"], permission)


ACCESS_COMMANDS: Sequence[type[ControlCommand]] = (
    SetVhost, DeleteVhost, SetUser, ChangeUser, DeleteUser, Permit, PermitTopic,
)  # fmt: skip
