"""A run as a lab's run: the scenario of a lab that is open to real clients, and the run's acts as its orders, each at its own
time. `runs.py` opens it; not in broker_core/serve/, whose installation has no labs.

    .highwater ─► began ─► scenario          acts of one turn ─► rabbitmq_socket          an operator's act ─► its order
"""

from __future__ import annotations

from collections.abc import Iterator

from broker_core.errors import CommandError
from broker_core.events import Json
from broker_core.lab.commands.rabbitmq_clients import ACTS_MAX, BYTES_MAX, plain_act
from broker_core.lab.workload.none import NONE
from broker_core.rabbitmq.operator import SetAlarm
from broker_core.serve.journal import Began, Came, Full, Left, entries_in
from broker_core.wire.acts import Crash, Define, EndFault, ServerAct, SetFault, SocketAct, Start, Stop
from broker_core.wire.amqp.remote import Arrived

LANE = "rabbitmq"
_KINDS: dict[type, str] = {Crash: "rabbitmq_crash", Stop: "rabbitmq_stop", Start: "rabbitmq_start"}


def lab_run(data: bytes) -> Json:
    """data: a journal's file. Returns {"rules", "scenario", "commands", "at_us"}: the version that it was made under, the
    commands with position and time, and when the run ends. Raises CommandError for bytes that are no journal."""
    entries = entries_in(data)
    began = next(entries, None)
    if not isinstance(began, Began):
        raise CommandError("file", "is no run of Highwater: {why}", why="it has no beginning")
    commands: list[Json] = []
    at_us, turn = 0, _Turn()
    for entry in entries:
        if isinstance(entry, Began):
            raise CommandError("file", "is no run of Highwater: {why}", why="it begins twice")
        at_us = entry.at_us
        match entry:
            case Came(_, socket, act):
                if isinstance(act, SocketAct):
                    if not turn.takes(at_us, act):
                        commands += turn.order()
                    turn.add(at_us, socket, act)
                else:
                    commands += turn.order()
                    commands.append({"at_us": at_us, **_order(act)})
            case Left() | Full():
                commands += turn.order()
    commands += turn.order()
    return {
        "rules": began.rules,
        "scenario": scenario_of(began),
        "commands": [_command(position, each) for position, each in enumerate(commands, start=1)],
        "at_us": at_us,
    }


def scenario_of(began: Began) -> Json:
    """A lab without records and programs, whose one server real clients come to."""
    lane = {"id": LANE, "model": "rabbitmq", "began_us": began.began_us}
    return {"seed": began.seed, "workload": dict(NONE), "consumers": 0, "lanes": [lane]}


class _Turn:
    """Acts of sockets that came at once."""

    def __init__(self) -> None:
        self.at_us = self.size = 0
        self.acts: list[Json] = []

    def takes(self, at_us: int, act: SocketAct) -> bool:
        size = self.size + (len(act.data) if isinstance(act, Arrived) else 0)
        return not self.acts or (at_us == self.at_us and len(self.acts) < ACTS_MAX and size <= BYTES_MAX)

    def add(self, at_us: int, socket: int, act: SocketAct) -> None:
        self.at_us = at_us
        self.size += len(act.data) if isinstance(act, Arrived) else 0
        self.acts.append(plain_act(socket, act))

    def order(self) -> Iterator[Json]:
        if self.acts:
            yield {"at_us": self.at_us, "kind": "rabbitmq_socket", "args": {"acts": self.acts}}
        self.acts, self.size = [], 0


def _order(act: ServerAct) -> Json:
    match act:
        case SetFault(fault):
            return {"kind": "rabbitmq_fault", "args": fault.plain()}
        case EndFault(number, is_gone):
            return {"kind": "rabbitmq_fault_end", "args": {"fault": number, "is_gone": is_gone}}
        case Define(definitions):
            return {"kind": "rabbitmq_import", "args": {"definitions": definitions}}
        case SetAlarm(resource, is_on):
            return {"kind": "rabbitmq_alarm", "args": {"resource": resource, "is_on": is_on}}
    return {"kind": _KINDS[type(act)], "args": {}}


def _command(position: int, order: Json) -> Json:
    return {"command_id": f"run:{position}", "lane": "all", "position": position, **order}
