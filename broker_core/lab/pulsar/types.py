"""What is reported of a Pulsar lane whose subscription is Exclusive, Failover or Shared: the sentence, and
which crash was noticed."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING

from broker_core.events import Json, TurningPoint
from broker_core.lab.consumer import Consumer
from broker_core.lab.pulsar.sentences import others_of, say_alike
from broker_core.lab.shared.bill import Bill
from broker_core.lab.shared.codes import code_of
from broker_core.pulsar.broker import KEEP_ALIVE, LIVENESS
from broker_core.pulsar.selectors.protocol import Ranges

if TYPE_CHECKING:
    from broker_core.lab.pulsar.reading import PulsarReading
    from broker_core.lab.shared.lane import Lane

REFUSED = ("pulsar.refused", "pulsar.refused_many")


class TypeNarrator:
    """kind: exclusive, failover or shared, as it stands in the codes of the sentences."""

    def __init__(self, reads: PulsarReading, kind: str) -> None:
        self.reads, self.kind = reads, kind

    def forget(self, lane: Lane) -> None:
        """It remembers nothing."""

    def heard(self, lane: Lane, event: TurningPoint) -> TurningPoint:
        if event.kind == "pulsar.connection.silent" and event.data["client"] in lane.crash_positions:
            lane.notice_crash(event.data["client"], self.reads.client(event.data["client"]).name)
        elif (
            event.kind in ("pulsar.subscription.active_changed", "pulsar.topic.active_changed")
            and event.inputs["entries"]
        ):
            lane.ledger.note_pause(event.inputs["since_us"])
        return event

    def told(self, lane: Lane, event: TurningPoint) -> None:
        self.reads.note_readers()
        if event.kind == "pulsar.consumer.refused":
            self.say_refused(lane, event.data["consumer"], event.data["error"])
        elif event.kind == "pulsar.consumer.disconnected":
            name, incarnation = event.data["consumer"], event.data["client"]
            if event.inputs["reason"] not in (KEEP_ALIVE, LIVENESS):
                return
            if lane.ledger.bill is not None and lane.ledger.bill.kind == "crash":
                is_last = not self.reads.served() - lane.crash_positions.keys()
                code = code_of(
                    f"pulsar.{self.kind}.given_up", ghost=lane.is_ghost(incarnation, name), last=is_last
                )
                lane.say(code, consumer=name, **(others_of(lane, name) if self.kind == "shared" else {}))
        else:
            say_alike(lane, event)

    def say_refused(self, lane: Lane, name: str, error: str) -> None:
        """Of several that came at once all are shown; each is refused on each partition."""
        before, bill = lane.sentence, lane.ledger.bill
        change = 0 if bill is None else bill.position
        is_more = before["code"] in REFUSED and before["params"]["change"] == change
        names: list[str] = before["params"]["refused"] if is_more else []
        if names[-1:] != [name]:
            names = [*(other for other in names if other != name), name]
        lane.say(
            REFUSED[len(names) > 1],
            consumer=name,
            count=len(names),
            error=error,
            refused=names,
            change=change,
        )

    def say_left(self, lane: Lane, incarnation: str, name: str, unacked: int) -> None:
        """A program leaves, and its broker is about to learn it."""
        is_last = not self.reads.served() - lane.crash_positions.keys() - {incarnation}
        units = lane.reads.units()
        stands_by = units is not None and name not in units.values()
        code = code_of(f"pulsar.{self.kind}.left", last=is_last, standby=stands_by, nothing=not unacked)
        lane.say(
            code,
            consumer=name,
            redelivered=unacked,
            **(others_of(lane, name) if self.kind == "shared" else {}),
        )

    def say_conflict(self, lane: Lane, newcomer: Consumer, given: Mapping[str, Ranges]) -> None:
        """Nobody asks for ranges."""

    def sentence_now(self, lane: Lane) -> Json:
        """What waits for a paused consumer differs from type to type."""
        sentence = lane.sentence
        return (
            {**sentence, "code": f"pulsar.{self.kind}.paused"}
            if sentence["code"] == "pulsar.paused"
            else sentence
        )

    def on_settled(self, lane: Lane, bill: Bill) -> None:
        units = lane.reads.units() or {}
        if lane.sentence["code"] == "pulsar.exclusive.crash_noticed":
            self.say_taken_over(lane, units)
        if bill.kind not in ("join", "rejoin") or lane.sentence["code"] in REFUSED:
            return
        code = code_of(
            f"pulsar.{self.kind}.joined",
            first=len(self.reads.served()) == bill.count,
            many=bill.count > 1,
            standby=bool(units) and bill.consumer not in units.values(),
        )
        lane.say(
            code,
            consumer=bill.consumer,
            count=bill.count,
            active=sum(owner == bill.consumer for owner in units.values()),
            partitions=len(units),
        )

    def say_taken_over(self, lane: Lane, units: Mapping[str, str | None]) -> None:
        """Somebody had asked to subscribe while the one consumer was silent, and came in when the broker gave
        that one up."""
        taker = next((owner for owner in units.values() if owner is not None), None)
        if taker is not None:
            lane.say(
                "pulsar.exclusive.join",
                consumer=taker,
                count=1,
                active=sum(owner == taker for owner in units.values()),
                partitions=len(units),
            )
