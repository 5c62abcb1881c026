"""Where to begin: the group's committed offset, else a reset; and whether a position still means the same
after a change of leader.

    assigned ─► OffsetFetch ─► committed? ─► position          a new leader epoch ─► OffsetsForLeaderEpoch ─► as it was, or back
                                  └─ none: auto.offset.reset ─► ListOffsets ─► position
                                                └─ none, too: poll() throws, and the program that does not catch it ends

Source: Kafka 3.9 clients ConsumerCoordinator (initWithCommittedOffsetsIfNeeded), OffsetFetcher,
OffsetFetcherUtils, SubscriptionState.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from broker_core.kafka.client.group_consumer.core import FAILED, Core
from broker_core.kafka.client.group_consumer.settings import CONSUMER, EARLIEST, NO_RESET
from broker_core.kafka.client.group_consumer.subscription import (
    AWAIT_RESET,
    AWAIT_VALIDATION,
    FETCHING,
    INITIALIZING,
    PartitionState,
    TopicPartition,
    named,
)  # fmt: skip
from broker_core.kafka.cluster import requests as r
from broker_core.kafka.group import codes
from broker_core.kafka.group import messages as m
from broker_core.kafka.log.local_log import EARLIEST as EARLIEST_TIMESTAMP
from broker_core.kafka.log.local_log import LATEST as LATEST_TIMESTAMP
from broker_core.sim.node import Outbox

OFFSETS, RESET, VALIDATE = "offsets", "reset", "validate"
NO_OFFSET, OUT_OF_RANGE, TRUNCATED = (
    "NoOffsetForPartitionException",
    "OffsetOutOfRangeException",
    "LogTruncationException",
)
"""What poll() throws where auto.offset.reset is none: nothing is committed; the log does not hold the
position; another log took its place."""


class Positions:
    def __init__(self, core: Core) -> None:
        self.core = core

    # --- asking

    def update(self, now_us: int, out: Outbox) -> None:
        """Ask for what is not known and not asked for yet."""
        subscribed = self.core.state.subscribed
        if subscribed.is_settled:
            return
        by_state: dict[str, list[TopicPartition]] = {INITIALIZING: [], AWAIT_RESET: [], AWAIT_VALIDATION: []}
        is_settled = True
        for partition, known in subscribed.assigned.items():
            if known.state == FETCHING:
                continue
            is_settled = False
            if known.is_asked:
                continue
            if known.retry_us > now_us:
                self.core.later(out, now_us)
                continue
            by_state[known.state].append(partition)
        subscribed.is_settled = is_settled
        if by_state[INITIALIZING]:
            self._ask_offsets(by_state[INITIALIZING], now_us, out)
        if by_state[AWAIT_RESET]:
            self._ask_leaders(
                by_state[AWAIT_RESET], self._list_offsets, r.ListOffsetsResponse, RESET, now_us, out
            )
        if by_state[AWAIT_VALIDATION]:
            self._ask_leaders(
                by_state[AWAIT_VALIDATION],
                self._epoch_ends,
                r.OffsetsForLeaderEpochResponse,
                VALIDATE,
                now_us,
                out,
            )

    def _ask_offsets(self, partitions: list[TopicPartition], now_us: int, out: Outbox) -> None:
        core = self.core
        if not core.has_coordinator(now_us, out):
            return
        topics: dict[str, list[int]] = {}
        for topic, number in partitions:
            topics.setdefault(topic, []).append(number)
            core.state.subscribed.assigned[topic, number].is_asked = True
        group = m.OffsetFetchGroup(
            core.settings.group_id,
            topics=[m.FetchedTopic(topic, numbers) for topic, numbers in topics.items()],
        )
        if core.settings.group_protocol == CONSUMER:
            group.member_id, group.member_epoch = core.state.member.member_id, core.state.member.generation
        core.ask_coordinator(
            m.OffsetFetchRequest([group], require_stable=True), m.OffsetFetchResponse, OFFSETS, now_us, out
        )

    def _ask_leaders(
        self,
        partitions: list[TopicPartition],
        request: Callable[[list[TopicPartition]], Any],
        answer: type,
        what: str,
        now_us: int,
        out: Outbox,
    ) -> None:
        """The same question to each leader. Where nobody leads, newer metadata are asked for first."""
        core = self.core
        by_leader: dict[int, list[TopicPartition]] = {}
        for partition in partitions:
            leader = core.state.cluster.leader(partition)
            if leader is None:
                core.state.cluster.is_stale = True
                self._retry(core.state.subscribed.assigned[partition], now_us, out)
                continue
            core.state.subscribed.assigned[partition].is_asked = True
            by_leader.setdefault(leader.node_id, []).append(partition)
        for broker, asked in by_leader.items():
            core.network.ask(broker, request(asked), answer, what, now_us, out)

    def _list_offsets(self, partitions: list[TopicPartition]) -> r.ListOffsetsRequest:
        state, assigned = self.core.state, self.core.state.subscribed.assigned
        wanted = []
        for topic, number in partitions:
            leader = state.cluster.leader((topic, number))
            timestamp = EARLIEST_TIMESTAMP if assigned[topic, number].reset == EARLIEST else LATEST_TIMESTAMP
            wanted.append(
                r.ListOffsetsPartition(topic, number, timestamp, leader.epoch if leader else r.NO_EPOCH)
            )
        return r.ListOffsetsRequest(wanted, isolation_level=self.core.settings.isolation_level)

    def _epoch_ends(self, partitions: list[TopicPartition]) -> r.OffsetsForLeaderEpochRequest:
        state, wanted = self.core.state, []
        for topic, number in partitions:
            leader, known = state.cluster.leader((topic, number)), state.subscribed.assigned[topic, number]
            wanted.append(
                r.EpochPartition(topic, number, leader.epoch if leader else r.NO_EPOCH, known.offset_epoch)
            )
        return r.OffsetsForLeaderEpochRequest(wanted)

    # --- answers

    def answered_offsets(
        self, answer: m.OffsetFetchResponse | m.FailedCall, now_us: int, out: Outbox
    ) -> None:
        """The group's committed offsets; a partition that was given up meanwhile needs none."""
        code = answer.error_code if isinstance(answer, m.FailedCall) else answer.groups[0].error_code
        if code != codes.NONE:
            if code in (codes.NOT_COORDINATOR, codes.COORDINATOR_NOT_AVAILABLE):
                self.core.lose_coordinator(now_us, out)
            self._retry_all(INITIALIZING, now_us, out)
            return
        assert isinstance(answer, m.OffsetFetchResponse)
        without: list[TopicPartition] = []
        for topic in answer.groups[0].topics:
            for part in topic.partitions:
                known = self._waiting((topic.name, part.partition_index), INITIALIZING)
                if known is None:
                    continue
                if part.error_code:  # UNSTABLE_OFFSET_COMMIT: a transaction has not ended
                    self._retry(known, now_us, out)
                elif part.committed_offset >= 0:
                    known.committed = part.committed_offset
                    known.seek(part.committed_offset, part.committed_leader_epoch)
                    self.core.state.cluster.saw_epoch(
                        (topic.name, part.partition_index), part.committed_leader_epoch
                    )
                    self._check_epoch((topic.name, part.partition_index), known)
                else:
                    without.append((topic.name, part.partition_index))
        self.reset(without, NO_OFFSET, now_us, out)

    def answered_reset(self, answer: r.ListOffsetsResponse, now_us: int, out: Outbox) -> None:
        for part in answer.partitions:
            known = self._waiting((part.topic, part.partition), AWAIT_RESET)
            if known is None:
                continue
            if part.error_code or part.offset < 0:
                self.core.state.cluster.is_stale = True
                self._retry(known, now_us, out)
            else:
                self._tell_reset(part, known, out)
                known.seek(part.offset, part.leader_epoch)
                known.leader_epoch = max(known.leader_epoch, part.leader_epoch)

    def _tell_reset(self, part: r.ListedOffset, known: PartitionState, out: Outbox) -> None:
        """But for what passes nothing over: a beginning at the log's first offset."""
        if not known.is_sought and known.reset_from < 0 and (known.reset == EARLIEST or part.offset == 0):
            return
        position = {} if known.reset_from < 0 else {"position": known.reset_from}
        if known.is_sought:
            self._tell_sought((part.topic, part.partition), part.offset, known.reset_from, out)
            return
        out.tell(
            "kafka.consumer.offset_reset",
            "kafka.consumer.auto_offset_reset",
            {"auto_offset_reset": known.reset, **position},
            {
                "client": self.core.settings.client_id,
                "topic": part.topic,
                "partition": part.partition,
                "offset": part.offset,
            },
        )

    def answered_validation(self, answer: r.OffsetsForLeaderEpochResponse, now_us: int, out: Outbox) -> None:
        """Where the last epoch of what was read ends at the leader: a position beyond it was of records that
        are no more."""
        for part in answer.partitions:
            partition = (part.topic, part.partition)
            known = self._waiting(partition, AWAIT_VALIDATION)
            if known is None:
                continue
            leader = self.core.state.cluster.leader(partition)
            if part.error_code:
                self.core.state.cluster.is_stale = True
                self._retry(known, now_us, out)
                continue
            if leader is not None:
                known.leader_epoch = leader.epoch
            is_cut = part.end_offset < 0 or part.leader_epoch < 0 or part.end_offset < known.position
            if is_cut and self.core.settings.auto_offset_reset == NO_RESET:
                self.reset([partition], TRUNCATED, now_us, out)
            elif part.end_offset < 0 or part.leader_epoch < 0:
                self.reset([partition], OUT_OF_RANGE, now_us, out)
            elif is_cut:
                out.tell(
                    "kafka.consumer.truncated",
                    "kafka.consumer.epoch_end",
                    {
                        "position": known.position,
                        "leader_epoch": part.leader_epoch,
                        "end_offset": part.end_offset,
                    },
                    {"client": self.core.settings.client_id, "partition": part.partition},
                )
                known.seek(part.end_offset, part.leader_epoch)
            else:
                known.state, known.is_asked = FETCHING, False

    # --- a person's seek

    def order(
        self, known: PartitionState | None, partition: TopicPartition, offset: int, where: str, out: Outbox
    ) -> None:
        """seek, seekToBeginning, seekToEnd; known: None where the program does not own the partition. An
        offset is taken as it is: whether the log holds it the next fetch finds out, and auto.offset.reset
        says what then. where: as `Seek` has it."""
        if known is None:
            return
        was_at = known.position
        if where:
            known.request_reset(where, is_sought=True)
            self.core.state.subscribed.is_settled = False
        else:
            known.seek(offset)
            known.is_sought = True
            self._tell_sought(partition, offset, was_at, out)

    def _tell_sought(self, partition: TopicPartition, offset: int, was_at: int, out: Outbox) -> None:
        out.tell(
            "kafka.consumer.sought",
            "kafka.consumer.seek",
            {} if was_at < 0 else {"position": was_at},
            {
                "client": self.core.settings.client_id,
                "topic": partition[0],
                "partition": partition[1],
                "offset": offset,
            },
        )

    # --- reasons to ask again

    def metadata_changed(self) -> None:
        """Positions under a newer leader epoch are checked before anything more is read."""
        subscribed = self.core.state.subscribed
        for partition, known in subscribed.assigned.items():
            if known.state == FETCHING:
                self._check_epoch(partition, known)

    def _check_epoch(self, partition: TopicPartition, known: PartitionState) -> None:
        leader = self.core.state.cluster.leader(partition)
        if leader is None or leader.epoch <= known.leader_epoch:
            return
        known.preferred_replica = -1
        if known.offset_epoch < 0 or (known.leader_epoch < 0 and known.offset_epoch == leader.epoch):
            known.leader_epoch = leader.epoch
            return
        known.state, known.is_asked = AWAIT_VALIDATION, False
        self.core.state.subscribed.is_settled = False

    def reset(self, partitions: list[TopicPartition], exception: str, now_us: int, out: Outbox) -> None:
        """There is no such offset in these: go where auto.offset.reset says; if it says nowhere, poll()
        throws, once for all of them."""
        core = self.core
        if not partitions or core.state.member.phase == FAILED:
            return
        if core.settings.auto_offset_reset == NO_RESET:
            core.state.member.exception = exception
            core.ended(now_us, out)
            out.tell(
                "kafka.consumer.threw",
                "kafka.consumer.no_reset",
                {"auto_offset_reset": NO_RESET},
                {"client": core.settings.client_id, "error": exception, **named(partitions)},
            )
            return
        for partition in partitions:
            core.state.subscribed.assigned[partition].request_reset(core.settings.auto_offset_reset)
        core.state.subscribed.is_settled = False

    def lost(self, now_us: int, out: Outbox) -> None:
        """A connection broke: what was asked on it, or on another, is asked again."""
        for known in self.core.state.subscribed.assigned.values():
            if known.is_asked:
                self._retry(known, now_us, out)

    def _waiting(self, partition: TopicPartition, state: str) -> PartitionState | None:
        known = self.core.state.subscribed.assigned.get(partition)
        return known if known is not None and known.state == state and known.is_asked else None

    def _retry(self, known: PartitionState, now_us: int, out: Outbox) -> None:
        known.is_asked, known.retry_us = False, now_us + self.core.backoff_us
        self.core.later(out, now_us)

    def _retry_all(self, state: str, now_us: int, out: Outbox) -> None:
        for known in self.core.state.subscribed.assigned.values():
            if known.state == state and known.is_asked:
                self._retry(known, now_us, out)
