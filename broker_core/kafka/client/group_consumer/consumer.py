"""A consumer program as a node: the poll loop, and what reaches it from brokers and from a person.

    poll(): commit that is due ─► the group ─► positions ─► records that have come ─► the next fetches ─► the program works on each record

While the program works nothing of the group happens but heartbeats, which have a thread of their own; the
next poll() acts on what they told. A program without records is in poll() all the time.

Source: Kafka 3.9 clients ClassicKafkaConsumer.poll, AsyncKafkaConsumer.poll,
AbstractCoordinator.HeartbeatThread; docs/kafka/consumer.md.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any

from broker_core.clock import MILLISECOND_US, SECOND_US
from broker_core.kafka.assignors import ASSIGNORS, Assignor
from broker_core.kafka.assignors.custom import CUSTOM, custom_assignor
from broker_core.kafka.client.group_consumer.classic import HEARTBEAT, LEAVE, ClassicMember
from broker_core.kafka.client.group_consumer.commits import COMMIT, GIVEN, Committer
from broker_core.kafka.client.group_consumer.consumer_metadata import matching
from broker_core.kafka.client.group_consumer.core import (
    ASSIGN,
    CLOSED,
    CLOSING,
    COMMITTING,
    FAILED,
    FIND,
    METADATA,
    OUT,
    RETRY,
    ConsumerState,
    Core,
)
from broker_core.kafka.client.group_consumer.fetches import Fetcher
from broker_core.kafka.client.group_consumer.network import COORDINATOR, TIMEOUT
from broker_core.kafka.client.group_consumer.orders import (
    CommitOffsets,
    PausePartitions,
    ResumePartitions,
    Seek,
    Start,
    Stick,
    Subscribe,
)
from broker_core.kafka.client.group_consumer.ownership import Ownership
from broker_core.kafka.client.group_consumer.positions import OUT_OF_RANGE, Positions
from broker_core.kafka.client.group_consumer.server_assigned import ServerAssignedMember
from broker_core.kafka.client.group_consumer.settings import ASYNC, AUTO, CONSUMER, NEVER, SYNC
from broker_core.kafka.client.group_consumer.subscription import TopicPartition
from broker_core.kafka.cluster import requests as r
from broker_core.kafka.cluster.transaction_requests import FindCoordinatorResponse
from broker_core.kafka.group import codes
from broker_core.kafka.group import messages as m
from broker_core.kafka.group.overhearing import Overhears
from broker_core.sim.node import Closed, Outbox
from broker_core.sim.program import DONE, Leave, Pace, Pause, Resume, Traffic

HEARTBEAT_LATE_MAX_US = 100 * MILLISECOND_US
POLL_INTERVAL, CLOSE, BOOT = "poll_interval", "close", "boot"
CLOSE_TIMEOUT_US = 30 * SECOND_US


Polled = Callable[[TopicPartition, int], None]
"""(partition, offset)."""


class GroupConsumer:
    """assignors: by name; a lab may add a user's own. polled: hears of each record that the program begins
    with; overhears: of its requests and their answers. Both change nothing."""

    def __init__(
        self,
        state: ConsumerState,
        traffic: Traffic,
        assignors: Mapping[str, Assignor] = ASSIGNORS,
        polled: Polled | None = None,
        overhears: Overhears | None = None,
    ) -> None:
        self.state, self.traffic, self.polled = state, traffic, polled
        self.core = Core(state, overhears)
        self.committer = Committer(self.core)
        self.positions = Positions(self.core)
        self.ownership = Ownership(self.core)
        self.fetcher = Fetcher(
            state.fetches, state.settings, state.subscribed, state.cluster, self.core.network
        )
        self.core.failed, self.core.ended = self.failed, self.ended
        self.group: ClassicMember | ServerAssignedMember
        if state.settings.group_protocol == CONSUMER:
            self.group = ServerAssignedMember(self.core, self.ownership, self.committer)
        else:
            own = (
                {CUSTOM: custom_assignor(state.settings.assignor_source)}
                if state.settings.assignor_source
                else {}
            )
            self.group = ClassicMember(self.core, self.ownership, self.committer, {**assignors, **own})

    # --- what reaches it

    def receive(self, connection: int, message: Any, now_us: int, out: Outbox) -> None:
        if self.state.member.phase in _ENDING:
            self.receive_in_close(connection, message, now_us, out)
            return
        if type(message) is r.FetchResponse:
            self.core.network.answered(connection, message)
            answered_by = self.state.network.broker_of.get(connection, COORDINATOR)
            self.positions.reset(
                self.fetcher.answered(answered_by, message, now_us), OUT_OF_RANGE, now_us, out
            )
        elif type(message) is Closed:
            self.lost(connection, now_us, out)
        elif isinstance(message, _ORDERS):
            if not self.obey(message, now_us, out):
                return
        else:
            self.answered(self.core.network.answered(connection, message) or "", message, now_us, out)
        if not self.state.is_working:
            self.poll(now_us, out)

    def answered(self, what: str, message: Any, now_us: int, out: Outbox) -> None:
        """An answer to anything but a fetch."""
        state, group = self.state, self.group
        if what == LEAVE:  # of a member whose poll was late; close() hears of its own in `receive_in_close`
            return
        match message:
            case r.MetadataResponse():
                self.take_metadata(message)
            case FindCoordinatorResponse(code, node_id):
                state.coordinator.is_asked = False
                if code == codes.NONE:
                    state.coordinator.node_id = node_id
                    self.positions.lost(now_us, out)
                else:
                    state.coordinator.retry_us = now_us + self.core.backoff_us
                    self.core.later(out, now_us)
            case m.JoinGroupResponse() if isinstance(group, ClassicMember):
                group.answered_join(message, now_us, out)
            case m.SyncGroupResponse() if isinstance(group, ClassicMember):
                group.answered_sync(message, now_us, out)
            case m.HeartbeatResponse(code) if isinstance(group, ClassicMember):
                group.answered_heartbeat(code, now_us, out)
            case m.ConsumerGroupHeartbeatResponse() if isinstance(group, ServerAssignedMember):
                group.answered_beat(message, now_us, out)
            case m.OffsetCommitResponse():
                self.commit_answered(what, self.committer.answered(message, what, now_us, out), now_us, out)
            case m.OffsetFetchResponse() | m.FailedCall():
                self.positions.answered_offsets(message, now_us, out)
            case r.ListOffsetsResponse():
                self.positions.answered_reset(message, now_us, out)
            case r.OffsetsForLeaderEpochResponse():
                self.positions.answered_validation(message, now_us, out)

    def commit_answered(self, what: str, code: int, now_us: int, out: Outbox) -> None:
        """code: what concerns the membership. Who waits for the commit goes on."""
        state = self.state
        _, generation, waiting = what.split(":")
        if code != codes.NONE:
            self.group.refused_commit(code, int(generation), out)
        if waiting == "prepare" and state.member.phase == COMMITTING:
            self.group.prepared(now_us, out)
        elif waiting.endswith("sync"):
            state.loop.awaits_commit = False

    def take_metadata(self, message: r.MetadataResponse) -> None:
        state = self.state
        state.cluster.is_asked = False
        state.cluster.take(message)
        if state.settings.pattern is not None:
            state.subscribed.topics = matching(state.settings.pattern, list(state.cluster.leaders))
        self.positions.metadata_changed()

    def obey(self, message: Any, now_us: int, out: Outbox) -> bool:
        """A person's order. Returns whether the program polls afterwards."""
        state = self.state
        match message:
            case Start(boot_us) if boot_us:
                state.loop.is_booting = True
                out.deadline(BOOT, now_us + boot_us)
            case Start():
                self.begin(now_us, out)
            case Leave():
                self.leave(now_us, out)
                return False
            case Pause() | Resume() | Pace():
                state.program.obey(message)
            case Stick(is_stuck):
                state.loop.is_stuck = is_stuck
                if not is_stuck and state.loop.is_overdue:
                    state.loop.is_overdue = False
                    self.handled(now_us, out)
                    return False
            case Seek(topic, partition, offset, where):
                self.positions.order(
                    state.subscribed.assigned.get((topic, partition)), (topic, partition), offset, where, out
                )
            case PausePartitions(partitions) | ResumePartitions(partitions):
                for named in partitions:
                    if (owned := state.subscribed.assigned.get(named)) is not None:
                        owned.is_paused = type(message) is PausePartitions
            case CommitOffsets(offsets, waits):
                given = {(topic, number): offset for topic, number, offset in offsets}
                is_sent = self.committer.commit(
                    now_us, out, what="given_sync" if waits else GIVEN, offsets=given
                )
                state.loop.awaits_commit = state.loop.awaits_commit or (waits and is_sent)
                if not is_sent:
                    self.committer.tell_unsent(list(given), out)
            case Subscribe(topics, pattern):
                state.settings.topics, state.settings.pattern = list(topics), pattern
                state.subscribed.topics = (
                    list(topics) if pattern is None else matching(pattern, list(state.cluster.leaders))
                )
                state.cluster.is_stale = True
        return True

    def begin(self, now_us: int, out: Outbox) -> None:
        """The process has come up: it subscribes."""
        state = self.state
        state.loop.is_booting = False
        state.loop.late_us = out.draw("kafka.heartbeat", HEARTBEAT_LATE_MAX_US)
        state.loop.polled_us = now_us
        if state.settings.pattern is None:
            state.subscribed.topics = list(state.settings.topics)
        out.deadline(POLL_INTERVAL, now_us + state.settings.max_poll_interval_ms * MILLISECOND_US)

    def wake(self, name: str, now_us: int, out: Outbox) -> None:
        state = self.state
        if state.member.phase in _ENDING:
            if state.member.phase == CLOSING and name == CLOSE:
                self.closed(out)
            return
        if name == DONE:
            if state.loop.is_stuck:
                state.loop.is_overdue = True
            else:
                self.handled(now_us, out)
            return
        if name == ASSIGN:  # before anything else: it may be held, and is asked again then
            if isinstance(self.group, ClassicMember):
                self.group.assign(now_us, out)
        elif name == BOOT:
            self.begin(now_us, out)
        elif name == HEARTBEAT:
            self.group.beat(now_us, out)
        elif name == COMMIT:
            state.commits.is_due = True
        elif name == RETRY:
            state.loop.retry_us = -1
        elif name == METADATA:
            state.cluster.is_stale = True
        elif name == POLL_INTERVAL:
            self.watch_polls(now_us, out)
        elif name.startswith(TIMEOUT):
            connection = int(name.partition(":")[2])
            broker = state.network.broker_of.get(connection)
            whats = self.core.network.wake(connection, now_us, out)
            if whats and broker is not None:
                self.failed(broker, whats, now_us, out)
        if not state.is_working:
            self.poll(now_us, out)

    # --- the poll loop

    def poll(self, now_us: int, out: Outbox) -> None:
        """What the program does between two batches of records."""
        state = self.state
        if state.member.phase == FAILED or state.loop.is_booting:
            return
        state.loop.polled_us = now_us
        self.committer.poll(now_us, out)
        self.group.poll(now_us, out)
        if state.member.is_assigning:
            return
        if state.cluster.is_stale:
            self.core.refresh_metadata(now_us, out)
        self.positions.update(now_us, out)
        if not state.program.is_paused and state.fetches.completed:
            state.loop.taken.extend(self.fetcher.collect(state.settings.max_poll_records))
        self.fetcher.send(now_us, out)
        if state.cluster.is_stale:  # a leader, or a preferred replica, was not to be found
            self.core.refresh_metadata(now_us, out)
        if state.loop.taken:
            self.work(now_us, out)

    def work(self, now_us: int, out: Outbox) -> None:
        """Begin with the next record that poll() gave."""
        partition, offset, record = self.state.loop.taken[0]
        if self.polled is not None:
            self.polled(partition, offset)
        self.traffic.received(out.name, record, now_us)
        self.state.program.take(record, now_us, out)

    def handled(self, now_us: int, out: Outbox) -> None:
        """The record in hand is done."""
        state = self.state
        state.program.done(now_us, out, self.traffic)
        state.loop.taken.popleft()
        if state.loop.taken:
            self.work(now_us, out)
            return
        if state.settings.commits == SYNC:
            state.loop.awaits_commit = self.committer.commit(now_us, out, what="sync")
        elif state.settings.commits == ASYNC:
            self.committer.commit(now_us, out)
        if not state.loop.awaits_commit:
            self.poll(now_us, out)

    def watch_polls(self, now_us: int, out: Outbox) -> None:
        """max.poll.interval.ms after a poll(): whether there was another one since."""
        state = self.state
        if not state.is_working:
            state.loop.polled_us = now_us
        until_us = state.loop.polled_us + state.settings.max_poll_interval_ms * MILLISECOND_US
        if until_us <= now_us:
            if state.member.phase not in (OUT, FAILED):
                self.group.poll_is_late(now_us, out)
            until_us = now_us + state.settings.max_poll_interval_ms * MILLISECOND_US
        out.deadline(POLL_INTERVAL, until_us)

    # --- connections that break, and the end

    def lost(self, connection: int, now_us: int, out: Outbox) -> None:
        broker = self.state.network.broker_of.get(connection)
        if broker is not None:
            self.failed(broker, self.core.network.lost(connection), now_us, out)

    def failed(self, broker: int, whats: list[str], now_us: int, out: Outbox) -> None:
        """The connection to a broker is no more, and these requests on it have no answer."""
        state = self.state
        state.network.broken_us[broker] = now_us
        state.cluster.is_stale = True
        if METADATA in whats:
            state.cluster.is_asked = False
        if FIND in whats:
            state.coordinator.is_asked = False
        for what in whats:
            if what.startswith(COMMIT):
                state.commits.failed += 1
                if what.endswith("sync"):
                    state.loop.awaits_commit = False
        if broker == COORDINATOR:
            self.group.coordinator_lost(whats, now_us, out)
        else:
            self.fetcher.lost(broker)
        self.positions.lost(now_us, out)
        self.core.later(out, now_us)

    def ended(self, now_us: int, out: Outbox) -> None:
        """poll() has thrown what nobody catches: the consumer is closed, and with it leaves the group."""
        if self.state.settings.commits == AUTO:
            self.committer.commit(now_us, out)
        self.group.give_up(now_us, out)

    def leave(self, now_us: int, out: Outbox) -> None:
        """close(): commit what is done and give up; when that is answered leave the group, and when that is
        close every connection."""
        state = self.state
        state.program.drop(now_us, out, self.traffic)
        is_committing = state.settings.commits != NEVER and self.committer.commit(now_us, out, what="close")
        state.loop.taken.clear()
        state.loop.awaits_commit = state.loop.is_overdue = False
        self.ownership.revoke(state.owned, "kafka.consumer.closed", out)
        for name in (HEARTBEAT, COMMIT, RETRY, METADATA, POLL_INTERVAL, BOOT, ASSIGN):
            out.cancel(name)
        state.was_in, state.member.phase = state.member.phase not in (OUT, FAILED), CLOSING
        state.fetches.completed.clear()
        out.deadline(CLOSE, now_us + CLOSE_TIMEOUT_US)
        if not is_committing:
            self.leave_group(now_us, out)

    def receive_in_close(self, connection: int, message: Any, now_us: int, out: Outbox) -> None:
        """Only what close() waits for counts: the answer to its commit, that to its LeaveGroup, or the end of
        the coordinator's connection."""
        if self.state.member.phase == CLOSED:
            return
        if type(message) is Closed:
            is_coordinators = self.state.network.broker_of.get(connection) == COORDINATOR
            self.core.network.lost(connection)
            if is_coordinators:
                self.closed(out)
            return
        what = self.core.network.answered(connection, message) or ""
        if what == LEAVE:
            self.closed(out)
        elif what.startswith(COMMIT) and what.endswith(":close"):
            self.leave_group(now_us, out)

    def leave_group(self, now_us: int, out: Outbox) -> None:
        if not (self.state.was_in and self.group.leave_group(now_us, out)):
            self.closed(out)

    def closed(self, out: Outbox) -> None:
        """The program's last act."""
        state = self.state
        state.member.phase, state.coordinator.node_id = CLOSED, -1
        for broker, connection in list(state.network.connections.items()):
            out.cancel(f"{TIMEOUT}:{connection}")
            self.core.network.close(broker, out)
        out.cancel(CLOSE)
        out.tell("kafka.consumer.closed", None, {}, {"client": state.settings.client_id})


_ENDING = (CLOSING, CLOSED)
_ORDERS = (
    Start,
    Stick,
    Seek,
    Subscribe,
    PausePartitions,
    ResumePartitions,
    CommitOffsets,
    Leave,
    Pause,
    Resume,
    Pace,
)
