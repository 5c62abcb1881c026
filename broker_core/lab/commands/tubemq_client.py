"""What a person orders of one client of a TubeMQ group that shares its partitions out itself.

tubemq_restart   its process starts again, with another source count or node id
tubemq_assign    it takes the partitions of a list, from given offsets, instead of those of the rule
tubemq_call      one of the 17 calls, with arguments; what it answers is kept as that call's last answer
tubemq_hold      the next batch is handled and not confirmed     tubemq_confirm   and now it is
"""

from __future__ import annotations

from abc import abstractmethod
from dataclasses import dataclass, field
from typing import Any, ClassVar

from broker_core.errors import CommandError, Names
from broker_core.events import Cause, Json
from broker_core.lab.commands.base import ConsumerCommand
from broker_core.lab.facts import LabFacts
from broker_core.lab.fields import whole
from broker_core.lab.limits import Limits
from broker_core.lab.pieces import Stops
from broker_core.lab.shared.facts import LaneFacts
from broker_core.lab.shared.lane import Lane
from broker_core.lab.shared.ordered_lab import OrderedLab
from broker_core.lab.tubemq import verbs
from broker_core.lab.tubemq.facts import TubeMqFacts
from broker_core.lab.tubemq.sharing import reads_of
from broker_core.tubemq.client.by_person import CALLS
from broker_core.tubemq.client.program_state import Hold, LetGo, MakeCall

MODEL = "tubemq"
COUNT_MAX, OFFSET_MAX, TEXT_MAX = 100_000, 2**53, 300
PARTITIONS_MAX = 10_000


@dataclass(frozen=True, slots=True, kw_only=True)
class ClientCommand(ConsumerCommand):
    """An order about one client, in each TubeMQ lane that has it."""

    def check(self, lab: LabFacts) -> None:
        lanes = {lane.id: lane for lane in self.targets(lab) if isinstance(lane, TubeMqFacts)}
        if not lanes:
            raise CommandError("lane", "there is no TubeMQ lane here")
        ConsumerCommand.check(self, LabFacts(lanes, lab.is_playing, lab.limits))

    def check_in(self, lane: LaneFacts) -> None:
        assert isinstance(lane, TubeMqFacts)
        self.refuse_crashed(lane)
        if lane.by_master:
            raise CommandError("lane", "in {lane} the master gives partitions out", lane=lane.id)
        self.check_client(lane)

    def check_client(self, lane: TubeMqFacts) -> None:
        """Raise CommandError at the field that makes no sense in this lane."""

    def carry_out(self, lab: OrderedLab, position: int) -> Stops:
        for lane in lab.lanes_of(self.lane):
            if self.consumer in lane.consumers:
                self.carry_out_in(lane, position)
                yield None
        lab.note(self, position, [self.consumer])

    def carry_out_in(self, lane: Lane, position: int) -> None:
        """Nothing in a lane of another model, or whose master gives partitions out."""
        if lane.model == MODEL and not reads_of(lane).by_master:
            self.do(lane, Cause(command=position))
            lane.rules.forget_caches()
            lane.say_none_joined("none_work")

    @abstractmethod
    def do(self, lane: Lane, cause: Cause) -> None:
        """In one lane."""


@dataclass(frozen=True, slots=True, kw_only=True)
class RestartClient(ClientCommand):
    """None: as before. source_count: of the group, 0 or below for one that is not used."""

    kind: ClassVar[str] = "tubemq_restart"
    ARGS: ClassVar[frozenset[str]] = frozenset({"source_count", "node_id"})

    source_count: int | None = None
    node_id: int | None = None

    @classmethod
    def read_args(cls, args: Json, limits: Limits) -> dict[str, Any]:
        return {
            name: None if args.get(name) is None else whole(f"args.{name}", args[name], -1, COUNT_MAX)
            for name in ("source_count", "node_id")
        }

    def args(self) -> Json:
        return {"source_count": self.source_count, "node_id": self.node_id}

    def do(self, lane: Lane, cause: Cause) -> None:
        verbs.restart(lane, self.consumer, self.source_count, self.node_id, cause)


@dataclass(frozen=True, slots=True, kw_only=True)
class AssignClient(ClientCommand):
    """partitions: keys, None for the rule again. bootstrap: key -> offset in bytes of its next connect."""

    kind: ClassVar[str] = "tubemq_assign"
    ARGS: ClassVar[frozenset[str]] = frozenset({"partitions", "bootstrap"})

    partitions: tuple[str, ...] | None = None
    bootstrap: dict[str, int] = field(default_factory=dict)

    @classmethod
    def read_args(cls, args: Json, limits: Limits) -> dict[str, Any]:
        partitions, bootstrap = args.get("partitions"), args.get("bootstrap")
        if partitions is not None and not (
            isinstance(partitions, list)
            and len(partitions) <= PARTITIONS_MAX
            and all(isinstance(key, str) for key in partitions)
        ):
            raise CommandError(
                "args.partitions", "must be a list of at most {high} partition keys", high=PARTITIONS_MAX
            )
        if bootstrap is None:
            bootstrap = {}
        if not isinstance(bootstrap, dict):
            raise CommandError("args.bootstrap", "must be an object")
        for offset in bootstrap.values():
            whole("args.bootstrap", offset, -1, OFFSET_MAX)
        unknown = [key for key in bootstrap if key not in (partitions or ())]
        if unknown:
            raise CommandError("args.bootstrap", "{key} is not in the list of partitions", key=unknown[0])
        return {
            "partitions": None if partitions is None else tuple(dict.fromkeys(partitions)),
            "bootstrap": dict(bootstrap),
        }

    def args(self) -> Json:
        partitions = None if self.partitions is None else list(self.partitions)
        return {"partitions": partitions, "bootstrap": dict(self.bootstrap)}

    def check_client(self, lane: TubeMqFacts) -> None:
        for key in self.partitions or ():
            if key not in lane.partitions:
                raise CommandError("args.partitions", "there is no partition {key}", key=key)

    def do(self, lane: Lane, cause: Cause) -> None:
        verbs.assign(lane, self.consumer, self.args()["partitions"], self.bootstrap, cause)


@dataclass(frozen=True, slots=True, kw_only=True)
class CallClient(ClientCommand):
    """call: of the 17, by the original's name. key: partition, topic or confirm context. number: offset, waiting time in
    ms, source count, or 1 for consumed. node_id, filters: of start(). The original says what is wrong with them."""

    kind: ClassVar[str] = "tubemq_call"
    ARGS: ClassVar[frozenset[str]] = frozenset({"call", "key", "number", "node_id", "filters"})

    call: str
    key: str
    number: int
    node_id: int
    filters: str = ""

    @classmethod
    def read_args(cls, args: Json, limits: Limits) -> dict[str, Any]:
        call, key, filters = args.get("call"), args.get("key", ""), args.get("filters", "")
        if call not in CALLS:
            raise CommandError("args.call", "must be one of {choices}", choices=Names(CALLS))
        for name, text in (("key", key), ("filters", filters)):
            if not isinstance(text, str) or len(text) > TEXT_MAX or not text.isprintable():
                raise CommandError(
                    f"args.{name}", "must be printable text of at most {high} characters", high=TEXT_MAX
                )
        return {
            "call": call,
            "key": key,
            "number": whole("args.number", args.get("number", -1), -OFFSET_MAX, OFFSET_MAX),
            "node_id": whole("args.node_id", args.get("node_id", 0), -COUNT_MAX, COUNT_MAX),
            "filters": filters,
        }

    def args(self) -> Json:
        return {
            "call": self.call, "key": self.key, "number": self.number, "node_id": self.node_id, "filters": self.filters,
        }  # fmt: skip

    def do(self, lane: Lane, cause: Cause) -> None:
        order = MakeCall(self.call, self.key, self.number, self.node_id, self.filters)
        verbs.order_client(lane, self.consumer, order, "called", {"call": self.call, "key": self.key}, cause)


@dataclass(frozen=True, slots=True, kw_only=True)
class HoldBatch(ClientCommand):
    """partition: whose next batch, "" for any."""

    kind: ClassVar[str] = "tubemq_hold"
    ARGS: ClassVar[frozenset[str]] = frozenset({"partition"})

    partition: str = ""

    @classmethod
    def read_args(cls, args: Json, limits: Limits) -> dict[str, Any]:
        partition = args.get("partition", "")
        if not isinstance(partition, str):
            raise CommandError("args.partition", "must be a text")
        return {"partition": partition}

    def args(self) -> Json:
        return {"partition": self.partition}

    def check_client(self, lane: TubeMqFacts) -> None:
        if self.partition and self.partition not in lane.partitions:
            raise CommandError("args.partition", "there is no partition {key}", key=self.partition)

    def do(self, lane: Lane, cause: Cause) -> None:
        data = {"partition": self.partition}
        verbs.order_client(lane, self.consumer, Hold(self.partition), "holding", data, cause)


@dataclass(frozen=True, slots=True, kw_only=True)
class ConfirmBatches(ClientCommand):
    """consumed: false has them come again."""

    kind: ClassVar[str] = "tubemq_confirm"
    ARGS: ClassVar[frozenset[str]] = frozenset({"consumed"})

    consumed: bool = True

    @classmethod
    def read_args(cls, args: Json, limits: Limits) -> dict[str, Any]:
        consumed = args.get("consumed", True)
        if not isinstance(consumed, bool):
            raise CommandError("args.consumed", "must be true or false")
        return {"consumed": consumed}

    def args(self) -> Json:
        return {"consumed": self.consumed}

    def do(self, lane: Lane, cause: Cause) -> None:
        data = {"consumed": int(self.consumed)}
        verbs.order_client(lane, self.consumer, LetGo(self.consumed), "confirming", data, cause)


CLIENT_COMMANDS: tuple[type[ClientCommand], ...] = (
    RestartClient,
    AssignClient,
    CallClient,
    HoldBatch,
    ConfirmBatches,
)
