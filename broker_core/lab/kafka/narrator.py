"""What is reported of a Kafka cluster's lane: its turning points with the names that people know, when
partitions are paused, and the sentence."""

from __future__ import annotations

from dataclasses import replace
from functools import partial
from typing import TYPE_CHECKING

from broker_core.events import Cause, Json, TurningPoint
from broker_core.kafka.group.classic.states import EMPTY, STABLE
from broker_core.kafka.replication.registration import NO_LEADER
from broker_core.lab.consumer import FROZEN, LIVE, STUCK
from broker_core.lab.kafka.acked import log_on
from broker_core.lab.kafka.group import GROUP_ID, consumer_state, positions
from broker_core.lab.kafka.names import with_names
from broker_core.lab.kafka.readers import is_readers
from broker_core.lab.kafka.rebalance import rebalance_sentence
from broker_core.lab.kafka.sentence import CHANGING, RESTARTING, say_settled, sentence_now
from broker_core.lab.kafka.views.cluster import partition_name
from broker_core.lab.shared.bill import Bill
from broker_core.lab.shared.codes import code_of

if TYPE_CHECKING:
    from broker_core.kafka.client.group_consumer.subscription import TopicPartition
    from broker_core.lab.kafka.reading import KafkaClusterReading
    from broker_core.lab.shared.lane import Lane


HOLDS_NOTICED = {
    "kafka.group.member_expired": (FROZEN, "group_freeze", "kafka.frozen_noticed"),
    "kafka.consumer.poll_timeout": (STUCK, "group_stick", "kafka.stuck_noticed"),
}
"""What ends the wait for a member that is alive -> its state, the command that began it, the sentence."""
JUMPS = ("kafka.consumer.offset_reset", "kafka.consumer.sought")
"""A position that goes somewhere else."""
PASSED_OVER, RETENTION_PASSED = "kafka.passed_over", "kafka.retention_passed"
"""Sentences of records that will not be read: a position jumped beyond them, or they were deleted first."""
DELETED = "kafka.log.segments_deleted"
FAULTS = ("kafka.assignor_failed", "kafka.assignor_ended")
"""A leader's own assignor has ended it, in a line of its text or after its last one: that stays when the
others have shared its part out."""
SILENCING = ("crash", "group_freeze")
"""Commands whose own sentence stays when things have come to rest."""


class KafkaClusterNarrator:
    """noticed: between `heard` and `told` of one step, the life whose end the coordinator has noticed."""

    def __init__(self, reads: KafkaClusterReading) -> None:
        self.reads = reads
        self.noticed: str | None = None

    def heard(self, lane: Lane, event: TurningPoint) -> TurningPoint | None:
        self.reads.forget()
        if is_readers(lane.options, event.data, GROUP_ID):
            return None
        if "group" in event.data:
            event = replace(
                event, data={name: value for name, value in event.data.items() if name != "group"}
            )
        named = with_names(event, self.reads.look(), self.reads.count())
        if event.kind == DELETED:
            return self.hear_of_deletion(lane, named)
        if event.kind in JUMPS:
            partition, offset = (event.data["topic"], event.data["partition"]), event.data["offset"]
            return named.with_facts(data={"passed_over": self.reads.pass_over(partition, offset)})
        if event.kind != "kafka.group.member_expired":
            return named
        # The coordinator heard nothing and knows no more; the lab knows whose order silenced the program.
        named = replace(named, cause=self.silencer(lane, event.data["member_id"]) or named.cause)
        return named.with_facts(
            data=self.hear_of_death(lane, event.data["member_id"], named.data["consumer"])
        )

    def hear_of_deletion(self, lane: Lane, event: TurningPoint) -> TurningPoint | None:
        """Retention moved a log start. None where the group had read all that went, or nothing since the last
        time that it lost records here: then it counts, and is not said again."""
        partition = (event.data["topic"], event.data["partition"])
        if partition[0] != self.reads.topic:
            return None
        is_told = self.reads.notes.passed.is_passing(partition_name(*partition))
        passed_over = self.reads.pass_over(partition, event.data["start"])
        return event.with_facts(data={"passed_over": passed_over}) if passed_over and not is_told else None

    def silencer(self, lane: Lane, member_id: str) -> Cause | None:
        """The order by which the program of this member crashed; None if it did not."""
        shared = self.reads.look()
        member = shared.group.members.get(member_id)
        slot = None if member is None else shared.slot_of(member)
        position = None if slot is None else lane.crash_positions.get(slot.name)
        return None if position is None else Cause(command=position)

    def hear_of_death(self, lane: Lane, member_id: str, name: str) -> Json:
        """The coordinator has found a member dead. Returns how many partitions it had, and how many records
        will be read again."""
        shared, read_again = self.reads.look(), 0
        member = shared.group.members.get(member_id)
        slot = None if member is None else shared.slot_of(member)
        if slot is not None:
            known = positions(consumer_state(slot), self.reads.topic)
            read_again = sum(
                max(0, position - shared.begins_at(number)) for number, position in known.items()
            )
            if slot.name in lane.crash_positions:
                self.noticed = slot.name
                lane.notice_crash(slot.name, name)
        return {"partitions": 0 if member is None else len(member.assignment), "read_again": read_again}

    def told(self, lane: Lane, event: TurningPoint) -> None:
        self.reads.forget()
        if event.kind == "kafka.group.member_expired" and self.noticed is not None:
            incarnation, self.noticed = self.noticed, None
            self.say_noticed(lane, event, incarnation)
        elif event.kind in HOLDS_NOTICED:
            self.hear_of_hold(lane, event)
        cause, notes = Cause(event=event.id), self.reads.notes
        match event.kind:
            case "kafka.partition.leader_changed" if event.data["leader"] != NO_LEADER:
                self.follow_leader(lane, (event.data["topic"], event.data["partition"]), event.data["leader"])
            case "kafka.consumer.offset_reset" | "kafka.consumer.sought" if event.data["passed_over"]:
                lane.say(PASSED_OVER, records=self.reads.notes.passed.total())
            case "kafka.log.segments_deleted":
                lane.say(RETENTION_PASSED, records=self.reads.notes.passed.total())
            case "kafka.consumer.threw":
                lane.say("kafka.threw", consumer=event.data["consumer"], error=event.data["error"])
            case "kafka.consumer.revoked":
                self.stop_unread(lane, self.numbers(event), cause, event.rule)
            case "kafka.consumer.assigned":
                notes.resume(lane, event.data["consumer"], self.numbers(event), cause)
            case "kafka.consumer.assignor_failed":
                self.say_fault(lane, event)
            case "kafka.group.assigned" if lane.crash_positions or any(
                each.state == FROZEN for each in lane.consumers.values()
            ):
                shared = self.reads.look()
                silent = [member for member in shared.group.members.values() if not shared.is_alive(member)]
                self.stop_unread(
                    lane,
                    [number for member in silent for number in member.assignment],
                    cause,
                    "kafka.group.session_timeout",
                )

    def follow_leader(self, lane: Lane, partition: TopicPartition, leader: int) -> None:
        """A leader from outside the ISR has a shorter log: what it will take from there on nobody has read
        yet."""
        log = log_on(lane.world, leader, partition)
        if log is not None:
            self.reads.notes.passed.cut(partition_name(*partition), log.log_end_offset)

    def say_fault(self, lane: Lane, event: TurningPoint) -> None:
        placed, ended = FAULTS
        line, data = event.inputs["line"], event.data
        lane.say(
            placed if line else ended,
            consumer=data["consumer"],
            line=line,
            reason=data["reason"],
            limit=data["code"],
            **data["params"],
        )

    def numbers(self, event: TurningPoint) -> list[int]:
        """The partitions of the lane's topic that a consumer tells of."""
        named = event.data["partitions"]
        if "topic" in event.data:
            return list(named) if event.data["topic"] == self.reads.topic else []
        return [
            int(number)
            for topic, _, number in (name.rpartition("-") for name in named)
            if topic == self.reads.topic
        ]

    def stop_unread(self, lane: Lane, numbers: list[int], cause: Cause, rule: str | None) -> None:
        """Nobody reads these any more, but for those that somebody else has: a zombie lets go of what is
        another's."""
        readers = self.reads.look().readers
        self.reads.notes.stop(lane, [number for number in numbers if number not in readers], cause, rule)
        for number in numbers:
            if number in readers:
                self.reads.notes.readers[number] = consumer_state(readers[number]).settings.client_id

    def hear_of_hold(self, lane: Lane, event: TurningPoint) -> None:
        """The group has given up a member that is frozen, by its session, or stuck, by
        max.poll.interval.ms."""
        state, kind, code = HOLDS_NOTICED[event.kind]
        consumer = lane.consumers.get(event.data["consumer"])
        if consumer is not None and consumer.state == state and consumer.held_by:
            lane.notice_hold(consumer, kind)
            lane.say(code, consumer=consumer.name)

    def say_noticed(self, lane: Lane, event: TurningPoint, incarnation: str) -> None:
        name = event.data["consumer"]
        code = code_of(
            "kafka.given_up", ghost=lane.is_ghost(incarnation, name), last=not self.reads.look().programs
        )
        lane.say(code, consumer=name, read_again=event.data["read_again"], partitions=self.reads.count())

    def on_settled(self, lane: Lane, bill: Bill) -> None:
        shared = self.reads.look()
        if (
            shared.group.state != STABLE
            or bill.kind in SILENCING
            or lane.sentence["code"] in ("left_gone", *FAULTS)
        ):
            return
        if (
            lane.sentence["code"] == "kafka.thawed"
            and not bill.partitions_stopped
            and not bill.partitions_moved
        ):
            return  # it went on within its session: there was no rebalance to tell of
        say_settled(lane, bill, shared.assigned_to_silent(), cooperative=self.reads.is_cooperative())

    def say_rebalancing(self, lane: Lane) -> None:
        self.reads.forget()
        bill, group = lane.ledger.kept_bill, self.reads.look().group
        if bill is None or self.reads.is_settled():
            return
        if group.state == EMPTY or group.is_first:
            lane.say("kafka.first", delay=self.reads.initial_delay_ms // 1_000)
        else:
            lane.say("kafka.rebalancing", consumer=bill.consumer, count=bill.count)

    def sentence_now(self, lane: Lane) -> Json:
        if lane.sentence["code"] in (PASSED_OVER, RETENTION_PASSED):
            return {
                "code": lane.sentence["code"],
                "params": {"records": self.reads.notes.passed.total()},
            }
        if lane.sentence["code"] not in CHANGING:
            return lane.sentence
        if lane.sentence["code"] in RESTARTING:
            return self.restart_now(lane)
        shared, paused, cooperative = (
            self.reads.look(),
            len(self.reads.notes.paused_us),
            self.reads.is_cooperative(),
        )
        rebalance = partial(rebalance_sentence, shared, paused, cooperative)
        return sentence_now(
            lane,
            shared.group.state,
            shared.assigned_to_silent(),
            cooperative=cooperative,
            rebalance=rebalance,
        )

    def restart_now(self, lane: Lane) -> Json:
        """A restart, until its process is up; what it does from then on is another sentence."""
        consumer = lane.consumers.get(lane.sentence["params"]["consumer"])
        slot = None if consumer is None else self.reads.slot_of(consumer)
        if consumer is None or slot is None or consumer_state(slot).loop.is_booting or consumer.state != LIVE:
            return lane.sentence
        if self.reads.has_failed(consumer):
            return {"code": "kafka.failed", "params": {"consumer": consumer.name}}
        if not self.reads.is_settled():
            shared, paused = self.reads.look(), len(self.reads.notes.paused_us)
            return rebalance_sentence(shared, paused, self.reads.is_cooperative(), consumer.name)
        return {"code": "kafka.restarted", "params": {"consumer": consumer.name}}
