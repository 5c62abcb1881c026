"""What a group's partition of `__consumer_offsets` says in the end of every commit that was asked for: the
laws of commits, at the cluster's level.

    no zombie      a commit in the log carries the generation, or the member epoch, that the log itself says was in force at that place
    none lost      a commit that was answered well is in the log, whoever has coordinated since
    nothing passed a commit that was taken lies behind no record that nobody had handled when it came
    not back       a partition's committed offset never goes back

A commit's record does not say who asked for it: that is heard where the coordinator reads the request, and
known again by the batch's place.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from typing import Any, NamedTuple

from broker_core.kafka.cluster.hosted_groups import OFFSETS_TOPIC
from broker_core.kafka.group import messages as m
from broker_core.kafka.group import records as rec
from broker_core.kafka.group.record_reading import read_key, read_value
from broker_core.kafka.replication.replica_log import LightLog
from broker_core.sim.world import World

Place = tuple[int, int]
"""A batch: its base offset and its leader epoch."""
Offsets = dict[tuple[str, int], int]


class Asked(NamedTuple):
    """A commit that a coordinator has just read. end: where the log of its broker ended. passed: what it
    would skip."""

    request: m.OffsetCommitRequest
    connection: int
    log: LightLog
    end: int
    passed: Offsets


@dataclass(slots=True)
class OffsetsLedger:
    """An ear for `Coordinators.overhears`. number: the group's partition. handled_up_to: partition -> the
    first offset that nobody has handled."""

    number: int
    handled_up_to: Mapping[tuple[str, int], int]
    world: Callable[[], World]
    asked: Asked | None = None
    taken: dict[Place, m.OffsetCommitRequest] = field(default_factory=dict)
    last: dict[int, Place] = field(default_factory=dict)
    acked: set[Place] = field(default_factory=set)

    # --- what is heard

    def arrived(self, broker_id: int, connection: int, request: Any) -> None:
        self.settle()
        log = self.world().slots[f"broker-{broker_id}"].node.state.disk.logs.get((OFFSETS_TOPIC, self.number))
        self.last.pop(connection, None)
        if isinstance(request, m.OffsetCommitRequest) and log is not None:
            passed = {
                partition: offset
                for partition, offset in _asked(request).items()
                if offset > self.handled_up_to.get(partition, 0)
            }
            self.asked = Asked(request, connection, log, log.log_end_offset, passed)

    def answered(self, connection: int, response: Any) -> None:
        self.settle()
        is_good = isinstance(response, m.OffsetCommitResponse) and not any(
            part.error_code for row in response.topics for part in row.partitions
        )
        if is_good and connection in self.last:
            self.acked.add(self.last[connection])

    def sent(self, client_id: str, connection: int, request: Any) -> None:
        """Of no interest before a coordinator reads it."""

    def received(self, connection: int, response: Any) -> None:
        """The coordinator's answer is what counts."""

    def lost(self, connection: int) -> None:
        """What was taken stays taken."""

    def settle(self) -> None:
        """Look what has become of the commit that was read last: it was appended at once, or refused."""
        asked, self.asked = self.asked, None
        if asked is None or asked.log.log_end_offset <= asked.end:
            return
        batch = asked.log.batch_at(asked.end)
        if (
            batch is None
            or batch.header.base_offset != asked.end
            or _committed(_records(batch)) != _asked(asked.request)
        ):
            return
        assert not asked.passed, (
            f"{asked.request} was taken, and nobody has handled all before {asked.passed}"
        )
        place = (asked.end, batch.header.partition_leader_epoch)
        self.taken[place] = asked.request
        self.last[asked.connection] = place

    # --- the laws, on the log that is left

    def check(self, log: LightLog) -> Offsets:
        """Walk over the log. Returns what is committed in the end."""
        self.settle()
        generation, members = -1, set[str]()
        epochs: dict[str, int] = {}
        committed: Offsets = {}
        found = set()
        for batch in log.batches():
            records = _records(batch)
            for key, value in records:
                if isinstance(key, rec.GroupMetadataKey):
                    generation, members = (
                        (-1, set())
                        if value is None
                        else (value.generation, {member.member_id for member in value.members})
                    )
                elif isinstance(key, rec.ConsumerGroupCurrentMemberAssignmentKey):
                    epochs.pop(key.member_id, None)
                    if value is not None:
                        epochs[key.member_id] = value.member_epoch
            offsets = _committed(records)
            if not offsets:
                continue
            place = (batch.header.base_offset, batch.header.partition_leader_epoch)
            found.add(place)
            request = self.taken[place]  # somebody has asked for it
            told, member_id = request.generation_id_or_member_epoch, request.member_id
            in_force = (
                epochs.get(member_id)
                if member_id in epochs or not members
                else generation
                if member_id in members
                else None
            )
            assert told == in_force, (
                f"a zombie's commit was taken: {request}, where {in_force} is in force at {place}"
            )
            for partition, offset in offsets.items():
                assert offset >= committed.get(partition, 0), (
                    f"{partition} was committed at {committed[partition]}, and then {request} at {place}"
                )
            committed |= offsets
        assert self.acked <= found, (
            f"commits were answered, and are lost: {[self.taken[place] for place in self.acked - found][:3]}"
        )
        return committed


def _asked(request: m.OffsetCommitRequest) -> Offsets:
    return {
        (row.name, part.partition_index): part.committed_offset
        for row in request.topics
        for part in row.partitions
    }


def _records(batch: Any) -> list[tuple[Any, Any]]:
    """Keys and values of a batch of the offsets topic."""
    found = []
    for key_hex, value_hex in batch.values:
        key = read_key(bytes.fromhex(key_hex))
        found.append((key, None if value_hex is None else read_value(key, bytes.fromhex(value_hex))))
    return found


def _committed(records: list[tuple[Any, Any]]) -> Offsets:
    return {
        (key.topic, key.partition): value.offset
        for key, value in records
        if isinstance(key, rec.OffsetCommitKey) and value is not None
    }
