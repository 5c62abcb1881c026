"""What a running lab's records do from now on: record_rate."""

from dataclasses import dataclass
from typing import Any, ClassVar

from broker_core.errors import CommandError
from broker_core.events import Json
from broker_core.lab.commands.base import LabCommand
from broker_core.lab.limits import Limits
from broker_core.lab.pieces import Stops
from broker_core.lab.shared.ordered_lab import OrderedLab
from broker_core.lab.workload.none import NEVER_US
from broker_core.lab.workload.parse import record_rate


@dataclass(frozen=True, slots=True, kw_only=True)
class RecordRate(LabCommand):
    """rate: records that arrive each second, in every lane. Those that have arrived stay where they are."""

    kind: ClassVar[str] = "record_rate"
    ARGS: ClassVar[frozenset[str]] = frozenset({"rate"})

    rate: int

    @classmethod
    def read_args(cls, args: Json, limits: Limits) -> dict[str, Any]:
        return {"rate": record_rate(limits).check(args.get("rate"), "args.rate")}

    def args(self) -> Json:
        return {"rate": self.rate}

    def ask(self, lab: OrderedLab) -> None:
        if lab.next_arrival_us >= NEVER_US:
            raise CommandError("args.rate", "this lab has no records")

    def carry_out(self, lab: OrderedLab, position: int) -> Stops:
        lab.change_rate(self.rate)
        lab.note(self, position, [])
        return ()
