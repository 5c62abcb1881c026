"""What a person does to the producer of a Pulsar lane that waits for receipts: its answers get lost.

broker ──X── producer      what it sends arrives; no receipt comes back until its client gives the connection up, connects again
                           and sends again whatever has none: the broker has these already
"""

from dataclasses import dataclass
from typing import Any, ClassVar

from broker_core.clock import SECOND_US
from broker_core.errors import CommandError
from broker_core.events import Cause, Json
from broker_core.lab.commands.base import LaneCommand
from broker_core.lab.facts import LabFacts
from broker_core.lab.fields import whole
from broker_core.lab.pieces import Stops
from broker_core.lab.pulsar.facts import PulsarFacts
from broker_core.lab.pulsar.reading import BROKER, PRODUCER
from broker_core.lab.shared.lane import Lane
from broker_core.lab.shared.ordered_lab import OrderedLab
from broker_core.pulsar.client.producer import GiveUp
from broker_core.sim.network import CUT

SECONDS_MAX = 25
"""Below the 30 s between two pings of the broker, which would not be answered either."""


@dataclass(frozen=True, slots=True, kw_only=True)
class LoseReceipts(LaneCommand):
    """Nothing that the broker says reaches the producer for so many seconds; then its client connects
    again."""

    kind: ClassVar[str] = "pulsar_lose_receipts"
    ARGS: ClassVar[frozenset[str]] = frozenset({"seconds"})

    seconds: int

    @classmethod
    def read_args(cls, args: Json) -> dict[str, Any]:
        return {"seconds": whole("args.seconds", args.get("seconds", 2), 1, SECONDS_MAX)}

    def args(self) -> Json:
        return {"seconds": self.seconds}

    def check(self, lab: LabFacts) -> None:
        if not any(isinstance(lane, PulsarFacts) and lane.has_receipts for lane in self.targets(lab)):
            raise CommandError(
                "lane", "no producer here waits for receipts: give a Pulsar lane the option receipts"
            )

    def carry_out(self, lab: OrderedLab, position: int) -> Stops:
        for lane in lab.lanes_of(self.lane):
            self.carry_out_in(lane, position)
            yield None
        lab.note(self, position, [])

    def carry_out_in(self, lane: Lane, position: int) -> None:
        if not lane.options.get("receipts") or lane.model != "pulsar":
            return
        producer = lane.world.slots[PRODUCER]
        connection: int = producer.node.state.connection
        told = lane.emit("pulsar.receipts.lost", Cause(command=position), None, {"seconds": self.seconds}, {})
        if connection:  # else it is about to connect again
            answers = lane.world.slots[BROKER].links[connection]
            if not answers.trouble & CUT:
                lane.world.cut(connection, BROKER, told)
            lane.world.order(PRODUCER, GiveUp(self.seconds * SECOND_US), told)
        lane.say_ordered("pulsar.lose_receipts", seconds=self.seconds)
