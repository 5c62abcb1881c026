"""What is reported of a Kafka lane: its turning points with the names that people know, when partitions are
paused, and the sentence."""

from __future__ import annotations

from functools import partial
from typing import TYPE_CHECKING

from broker_core.clock import SECOND_US
from broker_core.events import Cause, Json, TurningPoint
from broker_core.kafka.group.group import INITIAL_REBALANCE_DELAY_US
from broker_core.kafka.group.states import EMPTY, STABLE
from broker_core.lab.lanes.kafka_group import consumer_state
from broker_core.lab.observers.bill import Bill
from broker_core.lab.observers.codes import code_of
from broker_core.lab.observers.kafka_names import with_names
from broker_core.lab.observers.kafka_rebalance import rebalance_sentence
from broker_core.lab.observers.kafka_sentence import CHANGING, say_settled, sentence_now

if TYPE_CHECKING:
    from broker_core.lab.lanes.kafka_reading import KafkaReading
    from broker_core.lab.lanes.lane import Lane


class KafkaNarrator:
    """noticed: between `heard` and `told` of one step, the life whose end the coordinator has noticed."""

    def __init__(self, reads: KafkaReading) -> None:
        self.reads = reads
        self.noticed: str | None = None

    def heard(self, lane: Lane, event: TurningPoint) -> TurningPoint:
        named = with_names(event, self.reads.partition_count)
        return (
            named.with_facts(data=self.hear_of_death(lane, named))
            if event.kind == "kafka.group.member_expired"
            else named
        )

    def hear_of_death(self, lane: Lane, event: TurningPoint) -> Json:
        """The coordinator has found a member dead. Returns how many partitions it had, and how many records
        will be read again."""
        self.reads.forget()
        shared, data, read_again = self.reads.look(lane), event.data, 0
        slot = shared.slot_of(shared.group.members[data["member_id"]])
        if slot is not None:
            positions = consumer_state(slot).positions
            read_again = sum(
                max(0, position - shared.committed(number)) for number, position in positions.items()
            )
            if slot.name in lane.crash_positions:
                self.noticed = slot.name
                lane.notice_crash(slot.name, data["consumer"])
        return {"partitions": len(data["partitions"]), "read_again": read_again}

    def told(self, lane: Lane, event: TurningPoint) -> None:
        self.reads.forget()
        if event.kind == "kafka.group.member_expired" and self.noticed is not None:
            incarnation, self.noticed = self.noticed, None
            self.say_noticed(lane, event, incarnation)
        cause = Cause(event=event.id)
        match event.kind:
            case "kafka.consumer.revoked":
                self.reads.notes.stop(lane, event.data["partitions"], cause, event.rule)
            case "kafka.consumer.assigned":
                self.reads.notes.resume(lane, event.data["consumer"], event.data["partitions"], cause)
            case "kafka.group.assigned" if lane.crash_positions:
                shared = self.reads.look(lane)
                silent = [member for member in shared.group.members.values() if not shared.is_alive(member)]
                self.reads.notes.stop(
                    lane,
                    [number for member in silent for number in member.assignment],
                    cause,
                    "kafka.group.session_timeout",
                )

    def say_noticed(self, lane: Lane, event: TurningPoint, incarnation: str) -> None:
        name = event.data["consumer"]
        code = code_of(
            "kafka.given_up", ghost=lane.is_ghost(incarnation, name), last=not self.reads.look(lane).programs
        )
        lane.say(
            code, consumer=name, read_again=event.data["read_again"], partitions=self.reads.partition_count
        )

    def on_settled(self, lane: Lane, bill: Bill) -> None:
        shared = self.reads.look(lane)
        if shared.group.state != STABLE or bill.kind == "crash" or lane.sentence["code"] == "left_gone":
            return
        say_settled(lane, bill, shared.assigned_to_silent(), cooperative=self.reads.is_cooperative)

    def say_rebalancing(self, lane: Lane) -> None:
        self.reads.forget()
        bill, group = lane.ledger.kept_bill, self.reads.look(lane).group
        if bill is None or self.reads.is_settled(lane):
            return
        if group.state == EMPTY or group.initial_left_us is not None:
            lane.say("kafka.first", delay=INITIAL_REBALANCE_DELAY_US // SECOND_US)
        else:
            lane.say("kafka.rebalancing", consumer=bill.consumer, count=bill.count)

    def sentence_now(self, lane: Lane) -> Json:
        if lane.sentence["code"] not in CHANGING:
            return lane.sentence
        shared, paused, cooperative = (
            self.reads.look(lane),
            len(self.reads.notes.paused_us),
            self.reads.is_cooperative,
        )
        rebalance = partial(rebalance_sentence, shared, paused, cooperative)
        return sentence_now(
            lane,
            shared.group.state,
            shared.assigned_to_silent(),
            cooperative=cooperative,
            rebalance=rebalance,
        )
