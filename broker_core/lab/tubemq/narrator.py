"""What is reported of a TubeMQ lane: who is known to be dead, when partitions are read again, and the
sentence."""

from __future__ import annotations

from typing import TYPE_CHECKING

from broker_core.events import Cause, Json, TurningPoint
from broker_core.lab.shared.bill import Bill
from broker_core.lab.shared.codes import code_of
from broker_core.lab.tubemq.reading import is_alive
from broker_core.lab.tubemq.sharing import deal, is_dealt
from broker_core.tubemq import requests as r
from broker_core.tubemq.client.assigner import takes
from broker_core.tubemq.client.program_state import ProgramState
from broker_core.tubemq.client_id import host_of

if TYPE_CHECKING:
    from broker_core.lab.shared.lane import Lane
    from broker_core.lab.tubemq.reading import TubeMqReading

STARTING_CODES = (
    "tubemq.restarting",
    "tubemq.restarting_same",
    "tubemq.starting",
    "tubemq.refused",
    "tubemq.node_taken",
    "tubemq.refused_count",
    "tubemq.refused_arguments",
    "tubemq.occupied",
    "tubemq.not_released",
    "tubemq.dealing",
    "tubemq.by_master",
    "tubemq.one_changed",
)

REFUSED_BECAUSE = {
    r.SOURCE_COUNT_DIFFERS: "tubemq.refused_count",
    r.BAD_REQUEST: "tubemq.refused_arguments",
}


class TubeMqNarrator:
    def __init__(self, reads: TubeMqReading) -> None:
        self.reads = reads

    def heard(self, lane: Lane, event: TurningPoint) -> TurningPoint:
        if event.kind in ("tubemq.master.consumer_timed_out", "tubemq.broker.registration_timed_out"):
            client_id = event.data["client"]
            lives = (life for life in lane.crash_positions if self.reads.client(life).client_id == client_id)
            incarnation = next(lives, None)
            if incarnation is not None and not self.reads.is_known(client_id):
                self.forgotten(lane, incarnation, event.data["consumer"])
        return event

    def forgotten(self, lane: Lane, incarnation: str, name: str) -> None:
        """The master and all brokers have given a dead client up: its node id and its partitions are free,
        and nobody's."""
        lane.notice_crash(incarnation, name)
        is_ghost = (
            lane.is_ghost(incarnation, name) or name not in self.reads.notes.plan
        )  # then nothing waits for its return
        units = self.reads.units()
        void = sum(
            units[key] == name and not self.reads.place(key).owner for key in self.reads.partition_keys
        )
        had = len(self.reads.client(incarnation).registered)
        lane.say(
            code_of("tubemq.given_up", ghost=is_ghost), consumer=name, partitions=had if is_ghost else void
        )
        if not is_ghost and is_dealt(lane):
            notes = self.reads.notes
            notes.plan = [other for other in notes.plan if other != name]
            notes.by_hand.pop(name, None)
            deal(lane, Cause())

    def told(self, lane: Lane, event: TurningPoint) -> None:
        match event.kind:
            case "tubemq.client.connected":
                self.begin_reading(lane, event)
            case "tubemq.client.disconnected" | "tubemq.client.released" | "tubemq.client.stopped":
                self.reads.notes.stop_reading(event.data["client"], lane.now_us, event.data["partitions"])
            case "tubemq.client.refused":
                name, code = event.data["consumer"], event.data["code"]
                if code == r.PARTITION_OCCUPIED:
                    self.say_occupied(lane, name, event.inputs.get("partition"))
                else:
                    self.say_refused(lane, name, code, event.inputs.get("node_id", -1))

    def begin_reading(self, lane: Lane, event: TurningPoint) -> None:
        """Partitions are read again: the bill notes for how long they were not."""
        read_again = self.reads.notes.begin_reading(
            event.data["client"], event.data["partitions"], lane.now_us
        )
        for since_us in read_again.values():
            lane.ledger.note_pause(since_us)
        if read_again and not self.reads.notes.stopped and lane.ledger.bill is not None:
            lane.emit(
                "tubemq.group.partitions_resumed",
                Cause(event=event.id),
                None,
                {},
                lane.ledger.bill.pause_facts(),
            )

    def say_refused(self, lane: Lane, name: str, code: int, node_id: int) -> None:
        members = self.reads.members().values()
        holders = [host_of(member.client_id) for member in members if member.node_id == node_id]
        if (
            code == r.NODE_ID_TAKEN and holders
        ):  # else the master has given it up while its refusal was on its way
            lane.say("tubemq.node_taken", consumer=name, code=code, holder=holders[0])
        else:
            lane.say(REFUSED_BECAUSE.get(code, "tubemq.refused"), consumer=name, code=code)

    def say_occupied(self, lane: Lane, name: str, key: str | None) -> None:
        """A broker has another owner: a session of a client that is no more, or a client that is alive."""
        code = r.PARTITION_OCCUPIED
        client = self.reads.client(lane.consumers[name].incarnation)
        if key is None and isinstance(client, ProgramState) and client.last_pass is not None:
            key = next((each for each, of in client.last_pass.refused.items() if of == code), None)
        owner = "" if key is None else self.reads.place(key).owner
        holder = lane.consumers.get(host_of(owner)) if owner else None
        if key is None or holder is None or not is_alive(holder) or holder.name == name:
            lane.say("tubemq.occupied", consumer=name, code=code)
            return
        other = self.reads.client(holder.incarnation)
        if other.client_id != owner:
            lane.say("tubemq.occupied", consumer=name, code=code)
            return
        is_theirs = isinstance(other, ProgramState) and key in takes(other, self.reads.partition_keys)
        said = "tubemq.given_twice" if is_theirs else "tubemq.not_released"
        lane.say(said, consumer=name, code=code, partition=key, holder=holder.name)

    def sentence_now(self, lane: Lane) -> Json:
        return lane.sentence

    def on_settled(self, lane: Lane, bill: Bill) -> None:
        notes, consumer = self.reads.notes, lane.consumers.get(bill.consumer)
        was, notes.count_at_rest = notes.count_at_rest or 0, len(notes.plan)
        is_back = bill.kind == "rejoin" and is_alive(consumer)
        if is_back or lane.sentence["code"] in STARTING_CODES:
            numbers: Json = {"partitions_moved": bill.partitions_moved, "pause_us": bill.pause_us}
            is_others = (
                is_dealt(lane) or self.reads.by_master or lane.sentence["code"] == "tubemq.one_changed"
            )
            if is_back and not is_others:
                numbers |= {"consumer": bill.consumer, "node_id": notes.plan.index(bill.consumer)}
            else:
                numbers |= {
                    "from_count": was,
                    "to_count": len(notes.plan),
                    "partitions_total": bill.partitions_total,
                }
            if is_others:
                lane.say("tubemq.master_dealt" if self.reads.by_master else "tubemq.dealt", **numbers)
                return
            lane.say(
                code_of("tubemq.restarted", back=is_back, first=not was, same=was == len(notes.plan)),
                **numbers,
            )
