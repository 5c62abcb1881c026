"""What is reported of a Pulsar lane: its turning points with what each of them moved, and the sentence."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING

from broker_core.events import Json, TurningPoint
from broker_core.lab.consumer import Consumer
from broker_core.lab.pulsar.moves import EXPLAINED_MAX, KEYS_MAX, given_facts, taken_facts
from broker_core.lab.pulsar.owners import Assignment, is_program
from broker_core.lab.pulsar.sentences import others_of, say_alike
from broker_core.lab.pulsar.sticky import overlap
from broker_core.lab.shared.bill import Bill
from broker_core.lab.shared.codes import code_of
from broker_core.pulsar.broker import KEEP_ALIVE, LIVENESS
from broker_core.pulsar.selectors.protocol import Ranges
from broker_core.sim.slot import CRASHED as NODE_CRASHED

if TYPE_CHECKING:
    from broker_core.lab.pulsar.reading import PulsarReading
    from broker_core.lab.shared.lane import Lane

SEEK = "pulsar.subscription.seek"
"""Why the broker closes each consumer of a subscription that seeks; they come back at once."""
WAITS = ("pulsar.join_waits", "pulsar.join_waits_many")
"""One newcomer waits for older messages, or several do."""


class PulsarNarrator:
    """standing: who had what before the next turning point, where that is to tell what it moved."""

    def __init__(self, reads: PulsarReading, queue_size: int, half_open: bool) -> None:
        self.reads, self.queue_size, self.half_open = reads, queue_size, half_open
        self.standing: Assignment | None = None

    def forget(self, lane: Lane) -> None:
        """Ownership may have changed."""
        self.reads.owners.forget()
        self.standing = self.reads.owners.now(self.reads.broker()) if self.is_explained(lane) else None

    def heard(self, lane: Lane, event: TurningPoint) -> TurningPoint:
        match event.kind:
            case "pulsar.connection.silent" if event.data["client"] in lane.crash_positions:
                client = self.reads.client(event.data["client"])
                if self.reads.broker().state.connections[client.connection].asking:
                    lane.bury(
                        event.data["client"], client.name
                    )  # what it had is a newcomer's, whose change goes on
                else:
                    lane.notice_crash(event.data["client"], client.name)
            case "pulsar.consumer.connected" if is_program(event.data["client"]):
                return event.with_facts(data={"permits": self.queue_size} | self.moved_facts(lane, event))
            case "pulsar.consumer.disconnected":
                return event.with_facts(data=self.moved_facts(lane, event))
        return event

    def is_explained(self, lane: Lane) -> bool:
        """Whether the next turning point is to tell what it moved: of a change that many make together only
        the first few do."""
        told = 0 if lane.ledger.is_at_rest else sum("keys_total" in event["data"] for event in lane.why)
        return lane.ledger.is_at_rest or told < EXPLAINED_MAX

    def moved_facts(self, lane: Lane, event: TurningPoint) -> Json:
        """What this turning point moved, compared with what stood before it; nothing where that is not
        told."""
        was, live = self.standing, lane.keys.count_at(lane.next_record)
        self.reads.owners.forget()
        self.standing = None
        if was is None or live > KEYS_MAX or not self.is_explained(lane):
            return {}
        now = self.standing = self.reads.owners.now(self.reads.broker())
        if self.is_of_one_who_makes_room(lane, event.data["client"]):
            return {}
        name, slots = event.data["consumer"], self.reads.owners.slots(live)
        before, space_before = was.owners_of(slots), was.space
        bill = (
            lane.ledger.bill if self.reads.is_sticky else None
        )  # to ask for an open bill is to compare it, and a ring is large
        if (
            bill is not None
            and bill.owners_before is not None
            and bill.space_before is not None
            and not bill.settled
        ):
            # Who makes room closes its consumer first: what the newcomer takes was its until then.
            before, space_before = bill.owners_before, (*bill.space_before, now.slots, now.first_slot)
        after = self.reads.owners.key_owners(self.reads.broker(), live)
        moved = [
            (int(slot), old, new) for slot, old, new in zip(slots, before, after, strict=False) if old != new
        ]
        if event.kind == "pulsar.consumer.connected":
            taken = [(slot, old) for slot, old, new in moved if new == name]
            return taken_facts(name, space_before, now.space, taken, live, self.reads.is_ring)
        return given_facts([new for _, old, new in moved if old == name], live)

    def is_of_one_who_makes_room(self, lane: Lane, incarnation: str) -> bool:
        """Whether this program subscribes again with less: it neither came nor went."""
        program = lane.world.slots.get(incarnation)
        return program is not None and program.condition != NODE_CRASHED and program.node.state.request_id > 1

    def told(self, lane: Lane, event: TurningPoint) -> None:
        if event.kind == "pulsar.consumer.disconnected":
            self.say_disconnected(lane, event)
        elif event.kind == "pulsar.consumer.let_go":
            bill = lane.ledger.kept_bill
            many = bill is not None and bill.kind == "join" and bill.count > 1
            lane.say(
                "pulsar.let_go_many" if many else "pulsar.let_go",
                consumer=event.data["consumer"],
                count=bill.count if bill else 1,
            )
        else:
            say_alike(lane, event)

    def say_disconnected(self, lane: Lane, event: TurningPoint) -> None:
        name, incarnation, unacked, reason = (
            event.data["consumer"],
            event.data["client"],
            event.inputs["unacked"],
            event.inputs["reason"],
        )
        if reason in (KEEP_ALIVE, LIVENESS):
            if lane.ledger.bill is None or lane.ledger.bill.kind != "crash":
                return  # a newcomer waited for this word
            is_last, is_ghost = (
                not self.reads.served() - lane.crash_positions.keys(),
                lane.is_ghost(incarnation, name),
            )
            code = code_of(
                "pulsar.given_up", ghost=is_ghost, last=is_last, gap=self.reads.is_sticky, nothing=not unacked
            )
            lane.say(code, consumer=name, unacked=unacked, **others_of(lane, name))
        elif reason != SEEK and not self.is_of_one_who_makes_room(lane, incarnation):
            self.say_left(lane, incarnation, name, unacked)

    def say_left(self, lane: Lane, incarnation: str, name: str, unacked: int) -> None:
        """A program has left, or its broker is about to learn it, and what was unacked goes to the others."""
        is_last = not self.reads.served() - lane.crash_positions.keys() - {incarnation}
        numbers: Json = {}
        if is_last:
            numbers = {"unacked": unacked, "keys_total": lane.keys.count_at(lane.next_record)}
        elif not self.reads.is_sticky:
            numbers = {"redelivered": unacked, "keys_moved": 0} | others_of(
                lane, name
            )  # the bill's number, once it is known
        lane.say(
            code_of("pulsar.left", last=is_last, gap=self.reads.is_sticky, nothing=not unacked),
            consumer=name,
            **numbers,
        )

    def say_conflict(self, lane: Lane, newcomer: Consumer, given: Mapping[str, Ranges]) -> None:
        """The broker will ask whether those are alive who have what the newcomers want."""
        held = [self.reads.client(incarnation).ranges for incarnation in lane.crash_positions]
        if any(overlap(wanted, ranges, self.half_open) for wanted in given.values() for ranges in held):
            lane.say("pulsar.sticky_conflict", consumer=newcomer.name)

    def sentence_now(self, lane: Lane) -> Json:
        """A newcomer waits for fewer and fewer messages."""
        code, params = lane.sentence["code"], lane.sentence["params"]
        if code in WAITS and params["consumer"] in lane.consumers:
            held_back = self.reads.held_back(lane.consumers[params["consumer"]])
            return {"code": code, "params": params | {"unacked": held_back or params["unacked"]}}
        return lane.sentence

    def on_settled(self, lane: Lane, bill: Bill) -> None:
        if bill.kind not in ("join", "rejoin"):
            return
        made_room = [
            event["inputs"]["consumer"]
            for event in lane.why
            if event["kind"] == "pulsar.consumer.reconnected"
        ]
        source = made_room[-1] if bill.count == 1 and made_room else None
        code = code_of(
            "pulsar.joined",
            first=len(self.reads.served()) == bill.count,
            back=bill.kind == "rejoin",
            made_room=source is not None,
            many=bill.count > 1,
        )
        held_back = (
            self.reads.held_back(lane.consumers[bill.consumer]) if bill.consumer in lane.consumers else 0
        )
        if held_back:
            lane.say(WAITS[bill.count > 1], consumer=bill.consumer, count=bill.count, unacked=held_back)
            return
        numbers: Json = {"count": bill.count, "keys_moved": bill.keys_moved, "keys_total": bill.keys_total}
        if code == "pulsar.sticky_join":
            start, end = self.reads.client(lane.consumers[bill.consumer].incarnation).ranges[0]
            numbers = {"from": source, "start": start, "end": end}
        lane.say(code, consumer=bill.consumer, **numbers)
