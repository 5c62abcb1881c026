"""Whether a lab is open to real clients: what its driver knows of that, what the lab's row keeps, and what its view says.

An open lab is of the shard whose worker holds sockets. The order that opens or closes it moves it: the row names the other
shard and no holder, in the transaction that makes the order true, and the old holder finds at its next write, or renewal, that
the lab is no longer its own.
"""

from django.conf import settings

from broker_core.events import Json
from broker_core.lab.commands.rabbitmq_clients import CloseToClients, OpenToClients, SocketActs
from dashboard.labs.clients.door import Door
from dashboard.labs.writes import Commit
from dashboard.models import Lab, StoredCommand, shard_of

FULL, NO_PORT, LONG = "full", "no_port", "long"
"""Why a lab that is open does not listen: as many are open as the site allows, no port is free, or its journal has as many orders
as a lab with clients may have."""


class OpenState:
    """Of one lab. is_open: by its last order. port: where it listened last, as the row has it. door: while it listens."""

    def __init__(self, row: Lab) -> None:
        self.lab_id, self.shard = row.pk, row.shard
        self.is_open, self.port = row.clients_port is not None, row.clients_port
        self.door: Door | None = None
        self.why_not = ""

    def decided(self, kind: str) -> None:
        """An order of this kind has been carried out."""
        if kind == OpenToClients.kind:
            self.is_open = settings.CLIENTS_ON
        elif kind == CloseToClients.kind:
            self.is_open = False

    def refused(self, command: StoredCommand) -> None:
        """The lab has not taken this. What a client said is lost then, and so is its connection."""
        if self.door is not None and command.body["kind"] == SocketActs.kind:
            self.door.drop({act["socket"] for act in command.body["args"]["acts"]})

    @property
    def shard_wanted(self) -> int:
        return settings.WIRE_SHARD if self.is_open else shard_of(self.lab_id)

    def moves(self) -> bool:
        return self.is_open != (self.shard == settings.WIRE_SHARD)

    def keep(self, commit: Commit) -> None:
        """What of it becomes true with this commit."""
        port = None if not self.is_open else self.door.port if self.door is not None else (self.port or 0)
        if port != self.port:
            self.port = port
            commit.extra |= {"clients_port": port}
        if self.moves():
            self.shard = self.shard_wanted
            commit.extra |= {"shard": self.shard, "lease_owner": "", "lease_until_ms": 0}
            commit.clock_floor_us = commit.at_us  # nothing after this was shown

    def shown(self) -> Json | None:
        """For the view: None of a lab that is closed to them. port: 0 while it does not listen."""
        if not self.is_open:
            return None
        door = self.door
        return {
            "port": 0 if door is None else door.port,
            "count": 0 if door is None else len(door.sockets),
            "refused": 0 if door is None else door.refused,
            "cut": 0 if door is None else door.cut,
            "why_not": self.why_not,
        }
