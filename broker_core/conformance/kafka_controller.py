"""Kafka's recorded controller against ours: single changes, placement, heartbeats, elections, reassignment.
All cases are exact.

The lists of eligible leader replicas are compared as sets.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from functools import partial
from typing import Any

from broker_core.conformance.kafka_log import differing
from broker_core.conformance.result import CaseResult, case, passed
from broker_core.hashing.java_random import JavaRandom
from broker_core.kafka.controller.controller import Controller, NewLeaderElected
from broker_core.kafka.controller.records import (
    BrokerChangeRecord,
    PartitionChangeRecord,
    PartitionRecord,
    Record,
    UnregisterBrokerRecord,
)
from broker_core.kafka.error_codes import Refused
from broker_core.kafka.replication.election import ChangeBuilder, Election, MetadataVersion
from broker_core.kafka.replication.partition_state import AlterPartitionRequest, LeaderRecoveryState
from broker_core.kafka.replication.registration import PartitionChange, PartitionRegistration
from broker_core.kafka.replication.replica_placer import UsableBroker, place_replicas
from broker_core.kafka.replication.sessions import BrokerSessions

Json = dict[str, Any]

TOPIC = "t"
SHOWN = {
    "leader": "leader",
    "isr": "isr",
    "leader_recovery_state": "recovery",
    "replicas": "replicas",
    "adding": "adding",
    "removing": "removing",
    "elr": "elr",
    "last_known_elr": "last_known_elr",
}
"""A field of a change, and what the files call it."""
SETS = ("elr", "last_known_elr")


def run_controller(document: Json) -> Iterator[CaseResult]:
    """One partition's changes, one placer's topics, or one cluster, step by step."""
    runners: dict[str, Callable[[Json], CaseResult]] = {
        "change_builder": _changes,
        "placer": _placements,
        "control_manager": _control,
    }
    for row in document["cases"]:
        yield case(row["name"], partial(runners[row["kind"]], row))


# -- change_builder ------------------------------------------------------------------------------------------


def _changes(row: Json) -> CaseResult:
    registration = _registration(row["initial"])
    for index, step in enumerate(row["steps"]):
        args = step["args"]
        builder = ChangeBuilder(
            registration,
            args["alive"].__contains__,
            MetadataVersion.of(args["metadata_version"]),
            Election[args["election"]],
            args.get("min_isr", 1),
            args.get("elr_enabled", False),
            args.get("use_last_known_leader", True),
            tuple(args.get("unclean_shutdown", ())),
            isr=_tuple(args.get("target_isr")),
            replicas=_tuple(args.get("target_replicas")),
            adding=_tuple(args.get("target_adding")),
            removing=_tuple(args.get("target_removing")),
            leader_recovery_state=LeaderRecoveryState[args["target_recovery"]]
            if "target_recovery" in args
            else None,
        )
        change = builder.build()
        if change is not None:
            registration = registration.merge(change)
        got = {"answer": None if change is None else _change(change), "after": _shown(registration)}
        expected = {
            "answer": step["answer"] and _sorted_sets(step["answer"]),
            "after": _sorted_sets(step["after"]),
        }
        if got != expected:
            return differing(row, index, expected, got)
    return passed(row["name"])


# -- placer --------------------------------------------------------------------------------------------------


def _placements(row: Json) -> CaseResult:
    random = JavaRandom.seeded(row["java_random_seed"])
    for index, step in enumerate(row["steps"]):
        args = step["args"]
        brokers = [
            UsableBroker(broker["id"], broker["rack"], broker.get("fenced", False))
            for broker in args["brokers"]
        ]
        got: Json = {}
        try:
            got["answer"] = place_replicas(brokers, args["partitions"], args["replication_factor"], random)
        except Refused as refused:
            got |= {"error": refused.code.name, "message": refused.reason}
        expected = {name: step[name] for name in ("answer", "error", "message") if name in step}
        if got != expected:
            return differing(row, index, expected, got)
    return passed(row["name"])


# -- control_manager -----------------------------------------------------------------------------------------


def _control(row: Json) -> CaseResult:
    driven = DrivenController(row["setup"])
    for index, step in enumerate(row["steps"]):
        expected = {name: value for name, value in step.items() if name not in ("at_ms", "op", "args")}
        for name in ("records", "partitions"):
            if name in expected:
                expected[name] = [_sorted_sets(each) for each in expected[name]]
        got = driven.take(step)
        if got != expected:
            return differing(row, index, expected, got)
    return passed(row["name"])


class DrivenController:
    """The controller of one case, with one topic."""

    def __init__(self, setup: Json) -> None:
        self.now_ms = 0
        self.controller = Controller(
            JavaRandom.seeded(0),
            MetadataVersion.of(setup["metadata_version"]),
            setup["elr_enabled"],
            sessions=BrokerSessions(setup["session_timeout_ms"]),
        )
        self.records: list[Json] = []

    def take(self, step: Json) -> Json:
        """Run a step; gives all that the file tells of it."""
        self.now_ms = step["at_ms"]
        self.records = []
        got: Json = {}
        try:
            answer = getattr(self, step["op"])(**step["args"])
            if answer is not None:
                got["answer"] = answer
        except Refused as refused:
            got["error"] = refused.code.name
        if self.records:
            changes = [record for record in self.records if record["type"] == "partition_change"]
            others = [record for record in self.records if record["type"] != "partition_change"]
            got["records"] = sorted(changes, key=lambda record: int(record["partition"])) + others
        return got | {"brokers": self._brokers(), "partitions": self._partitions()}

    def _brokers(self) -> list[Json]:
        flags = (("fenced", "is_fenced"), ("in_controlled_shutdown", "is_in_controlled_shutdown"))
        return [
            {"id": broker, "epoch": known.epoch}
            | {name: True for name, field in flags if getattr(known, field)}
            for broker, known in sorted(self.controller.brokers.items())
        ]

    def _partitions(self) -> list[Json]:
        topic = self.controller.topics.get(TOPIC)
        return [] if topic is None else [_shown(partition) for partition in topic.partitions]

    def _note(self, records: list[Record]) -> None:
        self.records += [_record(record) for record in records]

    # -- the steps

    def register_broker(self, id: int, new_epoch: int, after_clean_shutdown: bool = False) -> None:
        # The recorder wrote registrations itself: nobody asked whether the process before was still heard of.
        self.controller.sessions.remove(id)
        self._note(
            self.controller.register_broker(
                id, new_epoch, self.now_ms, after_clean_shutdown=after_clean_shutdown
            )
        )

    def heartbeat(self, id: int, broker_epoch: int, want_fence: bool, want_shutdown: bool) -> Json:
        reply, records = self.controller.heartbeat(
            id, broker_epoch, self.now_ms, wants_fence=want_fence, wants_shutdown=want_shutdown
        )
        self._note(records)
        return {
            "is_fenced": reply.is_fenced,
            "in_controlled_shutdown": reply.is_in_controlled_shutdown,
            "should_shut_down": reply.should_shut_down,
        }

    def create_topic(self, assignments: list[list[int]], min_isr: int, unclean_election: bool) -> Json:
        try:
            records = self.controller.create_topic_at(
                TOPIC, assignments, min_insync_replicas=min_isr, allows_unclean_election=unclean_election
            )
        except Refused as refused:
            return {"error_code": refused.code.name}
        self.records += [
            {"type": "topic", "name": TOPIC},
            {"type": "config", "name": "min.insync.replicas", "value": str(min_isr)},
            {
                "type": "config",
                "name": "unclean.leader.election.enable",
                "value": "true" if unclean_election else "false",
            },
        ]
        self._note(records)
        return {"error_code": "NONE"}

    def alter_partition(
        self,
        broker: int,
        broker_epoch: int,
        partition: int,
        leader_epoch: int,
        partition_epoch: int,
        new_isr_with_broker_epochs: list[list[int]],
        recovery: str,
    ) -> Json:
        isr = tuple((member, epoch) for member, epoch in new_isr_with_broker_epochs)
        request = AlterPartitionRequest(leader_epoch, partition_epoch, isr, LeaderRecoveryState[recovery])
        try:
            now, records = self.controller.alter_partition(
                broker, broker_epoch, (TOPIC, partition), request, self.now_ms
            )
        except Refused as refused:
            if refused.code.name == "STALE_BROKER_EPOCH":
                raise  # the whole request fails
            if isinstance(refused, NewLeaderElected):
                self._note(refused.records)
            return {"error_code": refused.code.name}
        self._note(records)
        return {
            "error_code": "NONE",
            "leader": now.leader,
            "leader_epoch": now.leader_epoch,
            "isr": list(now.isr),
            "partition_epoch": now.partition_epoch,
            "recovery": now.leader_recovery_state.name,
        }

    def elect_leaders(self, partition: int, type: str) -> Json:
        return self._answered(
            partial(self.controller.elect_leader, (TOPIC, partition), Election[type], self.now_ms)
        )

    def reassign(self, partition: int, replicas: list[int] | None) -> Json:
        return self._answered(partial(self.controller.reassign, (TOPIC, partition), replicas, self.now_ms))

    def balance_preferred(self) -> None:
        self._note(self.controller.balance_leaders(self.now_ms))

    def elect_unclean_where_enabled(self) -> None:
        self._note(self.controller.elect_unclean_leaders(self.now_ms))

    def fence_stale(self, advance_ms: int) -> None:
        self._note(self.controller.fence_stale_broker(self.now_ms))

    def unregister_broker(self, id: int) -> None:
        self._note(self.controller.unregister_broker(id, self.now_ms))

    def _answered(self, request: Callable[[], list[Record]]) -> Json:
        try:
            self._note(request())
        except Refused as refused:
            return {"error_code": refused.code.name}
        return {"error_code": "NONE"}


# -- what the files call it ----------------------------------------------------------------------------------


def _registration(row: Json) -> PartitionRegistration:
    return PartitionRegistration(
        tuple(row["replicas"]),
        tuple(row["isr"]),
        row["leader"],
        row["leader_epoch"],
        row["partition_epoch"],
        LeaderRecoveryState[row["recovery"]],
        *(tuple(row.get(name, ())) for name in ("adding", "removing", "elr", "last_known_elr")),
    )


def _shown(partition: PartitionRegistration) -> Json:
    row: Json = {
        "replicas": list(partition.replicas),
        "isr": list(partition.isr),
        "leader": partition.leader,
        "leader_epoch": partition.leader_epoch,
        "partition_epoch": partition.partition_epoch,
        "recovery": partition.leader_recovery_state.name,
    }
    more = {name: list(getattr(partition, name)) for name in ("adding", "removing", "elr", "last_known_elr")}
    return _sorted_sets(row | {name: listed for name, listed in more.items() if listed})


def _change(change: PartitionChange) -> Json:
    told = {SHOWN[name]: value for name, value in change._asdict().items() if value is not None}
    return _sorted_sets({name: _plain(value) for name, value in told.items()})


def _record(record: Record) -> Json:
    match record:
        case PartitionRecord((_, number), registration):
            shown = _shown(registration)
            del shown["recovery"]
            return {"type": "partition", "partition": number} | shown
        case PartitionChangeRecord((_, number), change):
            return {"type": "partition_change", "partition": number} | _change(change)
        case BrokerChangeRecord(broker, is_fenced, is_leaving):
            told = {"fenced": is_fenced, "in_controlled_shutdown": is_leaving}
            return {"type": "broker_change", "broker": broker} | {
                name: flag for name, flag in told.items() if flag is not None
            }
        case UnregisterBrokerRecord(broker):
            return {"type": "unregister_broker", "broker": broker}


def _plain(value: object) -> object:
    match value:
        case LeaderRecoveryState():
            return value.name
        case tuple():
            return list(value)
    return value


def _tuple(listed: list[int] | None) -> tuple[int, ...] | None:
    return None if listed is None else tuple(listed)


def _sorted_sets(row: Json) -> Json:
    return {name: sorted(value) if name in SETS else value for name, value in row.items()}
