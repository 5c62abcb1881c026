"""What may come to a RabbitMQ server of real clients from outside: what their sockets say, and what its operator orders. A run is
its acts, each with its time, and journals keep them under these tags."""

from __future__ import annotations

import msgspec

from broker_core.events import Json
from broker_core.rabbitmq.operator import SetAlarm
from broker_core.wire.amqp.remote import Accepted, Arrived, HungUp
from broker_core.wire.faults.fault import Fault


class Crash(msgspec.Struct, frozen=True, tag="serve.crash", array_like=True):
    """The server's process dies; what was on its way to the disk is lost, and connections break."""


class Stop(msgspec.Struct, frozen=True, tag="serve.stop", array_like=True):
    """The server stops clean."""


class Start(msgspec.Struct, frozen=True, tag="serve.start", array_like=True):
    """The server that is down starts with what its disk has."""


class Define(msgspec.Struct, frozen=True, tag="serve.define", array_like=True):
    """A definitions file, parsed: what it has comes to the server."""

    definitions: Json


class SetFault(msgspec.Struct, frozen=True, tag="serve.set_fault", array_like=True):
    """From now on methods meet this fault; its number is the next one."""

    fault: Fault


class EndFault(msgspec.Struct, frozen=True, tag="serve.end_fault", array_like=True):
    """The fault strikes no more: what it holds goes on, its alarm, cut and crash end. is_gone: it leaves the list, too."""

    number: int
    is_gone: bool = False


class Backlog(msgspec.Struct, frozen=True, tag="serve.backlog", array_like=True):
    """The client does not read: what the server sends it waits on the server's side. Or it reads again."""

    is_full: bool


ServerAct = Crash | Stop | Start | Define | SetFault | EndFault | SetAlarm
SocketAct = Accepted | Arrived | HungUp | Backlog
Act = ServerAct | SocketAct
