"""What comes to a RabbitMQ lane from real clients, whether it takes any, and the faults that its server shall have: in the
journal as every other order, so that a run of real clients is a lab like any.

    {"kind": "rabbitmq_socket", "args": {"acts": [{"do": "open", "socket": 1}, {"do": "bytes", "socket": 1, "data": "QU1RUAA..."}]}}
"""

from __future__ import annotations

from base64 import b64decode, b64encode
from binascii import Error as NotBase64
from collections import Counter
from collections.abc import Sequence
from typing import Any, ClassVar

from broker_core.errors import CommandError, Names
from broker_core.events import Cause, Json
from broker_core.lab.commands.rabbitmq import MODEL, ServerCommand, shaped
from broker_core.lab.facts import LabFacts
from broker_core.lab.fields import refuse_unknown, whole
from broker_core.lab.pieces import Stops
from broker_core.lab.rabbitmq.facts import RabbitMqFacts
from broker_core.lab.rabbitmq.open_reading import OpenReading
from broker_core.lab.rabbitmq.topology import ABSENT, Shape, flag
from broker_core.lab.rabbitmq.topology import number as number_of
from broker_core.lab.shared.lane import Lane
from broker_core.lab.shared.ordered_lab import OrderedLab
from broker_core.lab.size import RECORDS_WAITING_MAX, check_parts
from broker_core.rabbitmq import methods as m
from broker_core.rabbitmq.tracing import name_of
from broker_core.wire.acts import Backlog, EndFault, SetFault, SocketAct
from broker_core.wire.amqp.remote import Accepted, Arrived, HungUp
from broker_core.wire.faults.fault import Fault, read_fault
from broker_core.wire.open_server import BROKER

ACTS_MAX, BYTES_MAX = 256, 256 << 10
"""Of one order: what a server reads at once."""
SOCKET_MAX = (1 << 31) - 1
OPEN_PARTS_MAX = 8_000
"""Of the queues, exchanges and bindings that clients have declared: beyond, an order of theirs is refused."""
CAME_BYTES_MAX = 16 << 20
"""Of all that clients have sent: what a lab keeps of it takes no more than some times as much."""
OPEN, BYTES, CLOSE, FULL, DRAINED = "open", "bytes", "close", "full", "drained"
DOES = {
    OPEN: "TCP connect", BYTES: "TCP data", CLOSE: "TCP close", FULL: "TCP window full", DRAINED: "TCP window open",
}  # fmt: skip
"""A client connects, sends, is gone, reads nothing any more, and reads again; as a caption says it in every language, where no
method came of it."""
METHODS_SAID = 3
Came = tuple[str, str, m.Method | None]
"""(client, what its socket did, the method that came of it)."""


def plain_act(socket: int, act: SocketAct) -> Json:
    """An act as an order has it."""
    match act:
        case Accepted():
            return {"do": OPEN, "socket": socket}
        case Arrived(data):
            return {"do": BYTES, "socket": socket, "data": b64encode(data).decode()}
        case HungUp():
            return {"do": CLOSE, "socket": socket}
        case Backlog(is_full):
            return {"do": FULL if is_full else DRAINED, "socket": socket}


def read_act(field: str, plain: object) -> tuple[int, SocketAct]:
    """(socket, act). Raises CommandError at the field that is wrong."""
    if not isinstance(plain, dict):
        raise CommandError(field, "must be an object")
    do = plain.get("do")
    if not isinstance(do, str) or do not in DOES:
        raise CommandError(f"{field}.do", "must be one of {choices}", choices=Names(DOES))
    known = ("do", "socket", "data") if do == BYTES else ("do", "socket")
    refuse_unknown(plain, known, f"{field}.", field)
    socket = whole(f"{field}.socket", plain.get("socket"), 1, SOCKET_MAX)
    if do == BYTES:
        return socket, Arrived(_octets(f"{field}.data", plain.get("data")))
    acts: dict[str, SocketAct] = {
        OPEN: Accepted(BROKER), CLOSE: HungUp(), FULL: Backlog(True), DRAINED: Backlog(False),
    }  # fmt: skip
    return socket, acts[do]


def _octets(field: str, text: object) -> bytes:
    if isinstance(text, str) and text.isascii():
        try:
            return b64decode(text, validate=True)
        except NotBase64:
            pass
    raise CommandError(field, "must be bytes in base64")


def acts_of(field: str, value: object) -> list[Json]:
    if not isinstance(value, list) or not 1 <= len(value) <= ACTS_MAX:
        raise CommandError(field, "must be a list of 1 to {high}", high=ACTS_MAX)
    read = [read_act(f"{field}.{place}", each) for place, each in enumerate(value)]
    size = sum(len(act.data) for _, act in read if isinstance(act, Arrived))
    if size > BYTES_MAX:
        raise CommandError(field, "has {size} bytes of at most {high}", size=size, high=BYTES_MAX)
    return [plain_act(socket, act) for socket, act in read]


class OpenCommand(ServerCommand):
    """For a lane that real clients come to; its server may be down."""

    def check_in(self, lane: RabbitMqFacts) -> None:
        if not lane.is_open:
            raise CommandError("lane", "{lane} is not open to clients", lane=lane.id)


class SocketActs(OpenCommand):
    """What sockets said at one moment, in its order. Bytes of one that has ended say nothing."""

    kind: ClassVar[str] = "rabbitmq_socket"
    IS_PAST: ClassVar[bool] = False
    SHAPE, ARGS = shaped({"acts": (acts_of, ABSENT)})

    @property
    def is_end(self) -> bool:
        """Whether it says only that clients are gone, which makes nothing larger."""
        return all(act["do"] == CLOSE for act in self.given["acts"])

    def check(self, lab: LabFacts) -> None:
        super().check(lab)
        if self.is_end:
            return
        for lane in self.targets(lab):
            if lane.size.parts > OPEN_PARTS_MAX:
                raise CommandError("lane", "its clients have declared more than a lab holds")
        check_parts("lane", lab.parts, lab.limits)

    def ask(self, lab: OrderedLab) -> None:
        for lane in lab.lanes_of(self.lane):
            reads = open_reading(lane)
            if reads is None or self.is_end:
                continue
            if reads.lag() > RECORDS_WAITING_MAX:
                raise CommandError("lane", "more messages wait than a lab holds")
            if reads.notes.came_bytes > CAME_BYTES_MAX:
                raise CommandError("lane", "its clients have sent more bytes than a lab holds")
            there = set(reads.living_sockets())
            for place, act in enumerate(self.given["acts"]):
                number = act["socket"]
                if act["do"] == CLOSE:
                    there.discard(number)
                elif act["do"] == OPEN and number in there:
                    raise CommandError(
                        f"args.acts.{place}.socket", "socket {number} is there already", number=number
                    )
                elif act["do"] == OPEN:
                    there.add(number)

    def carry_out(self, lab: OrderedLab, position: int) -> Stops:
        came: list[Came] = []
        for lane in lab.lanes_of(self.lane):
            came += self.come(lane, Cause(command=position))
            yield None
        lab.note(self, position, [], said_of(came))

    def do(self, lane: Lane, position: int, cause: Cause) -> None:
        self.come(lane, cause)

    def come(self, lane: Lane, cause: Cause) -> list[Came]:
        reads = open_reading(lane)
        if reads is None:
            return []
        server, came, called = reads.server, list[tuple[int, str, m.Method | None]](), dict[int, str]()
        for plain in self.given["acts"]:
            socket, act = read_act("args.acts", plain)
            name, said = reads.client_name(socket), cause
            if isinstance(act, Accepted):
                said = lane.emit("rabbitmq.client.came", cause, None, {}, {"client": name})
            elif isinstance(act, HungUp) and not server.is_over(socket):
                said = lane.emit("rabbitmq.client.went", cause, None, {}, {"client": name})
            reads.notes.came_bytes += len(act.data) if isinstance(act, Arrived) else 0
            reads.notes.last_socket = max(reads.notes.last_socket, socket)
            server.sweep()
            heard: list[tuple[int, m.Method]] = []
            server.heard = heard
            server.act(socket, act, said)
            called[socket] = name if isinstance(act, HungUp) else reads.client_name(socket)
            came += [(socket, plain["do"], method) for _, method in heard] or [(socket, plain["do"], None)]
        server.heard = None
        return [(called[socket], do, method) for socket, do, method in came]

    def said(self) -> Json:
        return {}


def said_of(came: Sequence[Came]) -> Json:
    """What a caption says of acts: whose they were, and what they said, the first few methods."""
    clients = list(dict.fromkeys(name for name, _, _ in came))
    names = [DOES[do] if method is None else name_of(method) for _, do, method in came]
    counted = Counter(names)
    shown = [
        each if count == 1 else f"{each} ×{count}" for each, count in list(counted.items())[:METHODS_SAID]
    ]
    more = ["…"] if len(counted) > METHODS_SAID else []
    return {
        "client": ", ".join(clients[:2]) + (" …" if len(clients) > 2 else ""),
        "methods": ", ".join([*shown, *more]),
    }


def open_reading(lane: Lane) -> OpenReading | None:
    """None for a lane that is not open to clients."""
    return lane.reads if isinstance(lane.reads, OpenReading) else None


class OpenToClients(OpenCommand):
    """From now on real clients may come. Clients of an earlier run, or holder, are gone. The lab's clock runs, as fast as
    theirs; who listens for them is whoever drives the lab."""

    kind: ClassVar[str] = "rabbitmq_open"
    SHAPE: ClassVar[Shape] = {}

    def carry_out(self, lab: OrderedLab, position: int) -> Stops:
        yield from super().carry_out(lab, position)
        lab.speed_milli, lab.change_milli = 1_000, None
        lab.play()

    def do(self, lane: Lane, position: int, cause: Cause) -> None:
        reads = open_reading(lane)
        assert reads is not None
        said = lane.emit(f"rabbitmq.server.{self.verb}", cause, None, {}, {})
        for number in reads.living_sockets():
            reads.server.act(number, HungUp(), said)


class CloseToClients(OpenToClients):
    """No client comes any more, and those that are there are cut off."""

    kind: ClassVar[str] = "rabbitmq_close"

    def carry_out(self, lab: OrderedLab, position: int) -> Stops:
        return OpenCommand.carry_out(self, lab, position)


class BreakMethods(OpenCommand):
    """From now on methods meet this fault; its number is the next one."""

    kind: ClassVar[str] = "rabbitmq_fault"
    SHAPE = {}
    ARGS = frozenset(Fault.__struct_fields__)

    @classmethod
    def read_args(cls, args: Json) -> dict[str, Any]:
        try:
            return {"given": read_fault(args).plain()}
        except CommandError as error:
            raise error.within("args") from None

    def ask(self, lab: OrderedLab) -> None:
        for lane in lab.lanes_of(self.lane):
            if lane.model == MODEL and (reads := open_reading(lane)) is not None:
                reads.server.faults.check_room()

    def do(self, lane: Lane, position: int, cause: Cause) -> None:
        reads = open_reading(lane)
        assert reads is not None
        data = {"fault": reads.server.faults.last + 1, **self.given, **self.said()}
        said = lane.emit("rabbitmq.server.fault", cause, None, {}, data)
        reads.server.act(0, SetFault(read_fault(self.given)), said)

    def said(self) -> Json:
        """Of any method: *."""
        return {"do": self.given["do"], "method": self.given.get("method") or "*"}


class EndOfFault(OpenCommand):
    """What it holds goes on, and it strikes no more. is_gone: it leaves the list, too."""

    kind: ClassVar[str] = "rabbitmq_fault_end"
    SHAPE, ARGS = shaped({"fault": (number_of(1, SOCKET_MAX), ABSENT), "is_gone": (flag, False)})

    def check_in(self, lane: RabbitMqFacts) -> None:
        super().check_in(lane)
        if self.given["fault"] not in lane.faults:
            raise CommandError("args.fault", "there is no fault {number}", number=self.given["fault"])

    def do(self, lane: Lane, position: int, cause: Cause) -> None:
        reads = open_reading(lane)
        assert reads is not None
        said = lane.emit("rabbitmq.server.fault_end", cause, None, {}, {"fault": self.given["fault"]})
        reads.server.act(0, EndFault(self.given["fault"], self.given["is_gone"]), said)


REAL_CLIENT_COMMANDS: tuple[type[ServerCommand], ...] = (
    SocketActs, OpenToClients, CloseToClients, BreakMethods, EndOfFault,
)  # fmt: skip
