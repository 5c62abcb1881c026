"""A consumer of a group: the poll loop of the program, and beside it the heartbeat thread.

    poll: commit that is due ─► assignment that arrived ─► rebalance it heard of: commit, revoke, JoinGroup ─► next record

With `max.poll.records` = 1 the program handles one record between two polls. A heartbeat goes out every 3 s,
up to 100 ms late (`retry.backoff.ms`), from the moment of the JoinGroup's answer; its answer tells of a
rebalance, and the next poll acts on it. An eager member commits, revokes everything and joins; a cooperative
one reads on, and revokes what it lost when the assignment arrives. Positions are committed every 5 s and
before each rebalance. Records are fetched ahead; what is in the buffer moves neither position nor commit.
Source: Kafka 3.9 clients ClassicKafkaConsumer, ConsumerCoordinator, AbstractCoordinator, Fetcher;
docs/kafka/facts.md.
"""

from __future__ import annotations

from collections import deque
from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Any

import msgspec

from broker_core.clock import MILLISECOND_US, SECOND_US
from broker_core.events import Cause
from broker_core.kafka import requests as r
from broker_core.kafka.assignors import ASSIGNORS, Assignor, StickyUserData, Subscription
from broker_core.kafka.client.quiet import NEVER, plan, settle
from broker_core.sim.node import Closed, Outbox
from broker_core.sim.program import DONE, Leave, Pace, Pause, Program, Resume, Traffic

HEARTBEAT_INTERVAL_US = 3 * SECOND_US
HEARTBEAT_LATE_MAX_US = 100 * MILLISECOND_US
SESSION_TIMEOUT_US = 45 * SECOND_US
MAX_POLL_INTERVAL_US = 300 * SECOND_US
AUTO_COMMIT_INTERVAL_US = 5 * SECOND_US
FETCH_MAX_WAIT_US = 500 * MILLISECOND_US
FETCH_RECORDS_MAX = 500

OUT, COMMITTING, JOINING, SYNCING, IN = "out", "committing", "joining", "syncing", "in"
"""Where a member is on its way into a generation: OUT before the first JoinGroup, COMMITTING before the next
one."""


class Join(msgspec.Struct, frozen=True, tag="kafka.consumer.join", array_like=True):
    """A person starts the program: connect, subscribe, poll."""

    broker: str


class Fetched(msgspec.Struct):
    """What is buffered of one partition: records from the offset `first` on."""

    first: int
    records: deque[int]


@dataclass(slots=True)
class ConsumerState:
    """client_id: names the member's id. phase: as above. generation: of its last JoinGroup's answer.
    must_rejoin: it has heard of a rebalance.
    pending: an assignment that arrived while a record was in hand. owned: partitions in the order of the
    assignment; positions: of each, the next offset it handles, absent until the group's committed offset has
    arrived. committed: as far as it has told; commits_out: how many of its commits wait for their answer.
    turn: where the next poll begins to look. hand: partition of the record in hand, -1 for none.
    buffer: by partition. is_fetching: a fetch waits for its answer. previous: the last assignment it took;
    its generation, assigned, and max_generation are what its assignor remembers. late_us: by how much its
    heartbeats are late. because: cause of must_rejoin and pending.
    resetting: partitions without a position, whose log start it has asked for (auto.offset.reset).
    quiet_until_us: when the program's next step is that can be noticed (`quiet.py`).
    """

    client_id: str
    group_id: str
    topic: str
    partitions: int
    assignor: str
    program: Program
    connection: int = 0
    phase: str = OUT
    member_id: str = ""
    generation: int = r.NO_GENERATION
    leader: str = ""
    must_rejoin: bool = False
    pending: list[int] | None = None
    commit_due: bool = False
    owned: list[int] = field(default_factory=list)
    positions: dict[int, int] = field(default_factory=dict)
    committed: dict[int, int] = field(default_factory=dict)
    commits_out: int = 0
    turn: int = 0
    hand: int = -1
    buffer: dict[int, Fetched] = field(default_factory=dict)
    is_fetching: bool = False
    previous: list[int] = field(default_factory=list)
    assigned: int = r.NO_GENERATION
    max_generation: int = r.NO_GENERATION
    late_us: int = 0
    because: Cause = field(default_factory=Cause)
    resetting: list[int] = field(default_factory=list)
    quiet_until_us: int = NEVER


class Consumer:
    def __init__(
        self, state: ConsumerState, traffic: Traffic, count: Callable[[int, int, int], None]
    ) -> None:
        """count(partition, offset, end): poll() gives the program the records from one offset to another,
        which is excluded; as `traffic`, it changes nothing."""
        self.state = state
        self.traffic = traffic
        self.count = count
        self.assignor: Assignor = ASSIGNORS[state.assignor]

    # -- what reaches it -------------------------------------------------------------------------------------

    def receive(self, connection: int, message: Any, now_us: int, out: Outbox) -> None:
        if self.state.program.hand >= 0:
            settle(self, now_us, out)
        if type(message) is r.FetchResponse:
            self.on_fetched(message, now_us, out)
        else:
            self.hear(message, now_us, out)
        plan(self, out)

    def settle(self, now_us: int, out: Outbox) -> None:
        settle(self, now_us, out)

    def thaw(self, now_us: int, out: Outbox) -> None:
        self.state.program.done_us = max(self.state.program.done_us, now_us)
        plan(self, out)

    def hear(self, message: Any, now_us: int, out: Outbox) -> None:
        match message:
            case r.HeartbeatResponse(code):
                self.on_heartbeat(code, now_us, out)
            case r.JoinGroupResponse():
                self.on_joined(message, now_us, out)
            case r.SyncGroupResponse():
                self.on_synced(message, now_us, out)
            case r.ListOffsetsResponse(offsets):
                self.on_reset(offsets, out)
            case r.OffsetFetchResponse(offsets):
                self.on_offsets(offsets, now_us, out)
            case r.OffsetCommitResponse():
                self.state.commits_out -= 1
                if self.state.phase == COMMITTING and not self.state.commits_out:
                    self.send_join(now_us, out)
            case Join(broker):
                self.state.connection = out.connect(broker)
                self.state.late_us = out.draw("kafka.heartbeat", HEARTBEAT_LATE_MAX_US)
                self.send_join(now_us, out)
            case Leave():
                self.leave(now_us, out)
            case Pause() | Resume() | Pace():
                self.state.program.obey(message)
                self.poll(now_us, out)
            case Closed():
                self.lose_everything(now_us, out)

    def wake(self, name: str, now_us: int, out: Outbox) -> None:
        state = self.state
        settle(self, now_us - 1, out)  # a deadline is older than that of the record in hand would be
        if name == DONE:
            state.quiet_until_us = NEVER
            if state.program.hand >= 0 and state.program.done_us <= now_us:
                self.handled(now_us, out)
        elif name == "heartbeat":
            out.send(state.connection, r.HeartbeatRequest(state.group_id, state.generation, state.member_id))
            out.deadline("heartbeat", now_us + HEARTBEAT_INTERVAL_US + state.late_us)
        else:
            state.commit_due = True
            if state.hand < 0:
                self.poll(now_us, out)
        plan(self, out)

    def handled(self, now_us: int, out: Outbox) -> None:
        """The record in hand is done, and something may be noticed of it."""
        state = self.state
        state.program.done(now_us, out, self.traffic)
        state.hand = -1
        if state.commit_due or state.must_rejoin or state.pending is not None:
            self.poll(now_us, out)
        else:
            self.take(now_us, out)
            if not state.is_fetching and len(state.buffer) < len(state.owned):
                self.fetch(out)

    # -- the poll loop ---------------------------------------------------------------------------------------

    def poll(self, now_us: int, out: Outbox) -> None:
        """What the program does between two records."""
        state = self.state
        if state.hand >= 0:
            return
        if state.commit_due:
            state.commit_due = False
            self.commit(out)
            out.deadline("commit", now_us + AUTO_COMMIT_INTERVAL_US)
        if state.pending is not None:
            out.because(state.because)
            numbers, state.pending = state.pending, None
            self.take_assignment(numbers, now_us, out)
        if state.must_rejoin and state.phase == IN:
            out.because(state.because)
            self.prepare_join(now_us, out)
        self.take(now_us, out)
        self.fetch(out)

    def take(self, now_us: int, out: Outbox) -> None:
        """The program takes the next record, if it is free and there is one."""
        if self.state.hand >= 0 or self.state.program.is_paused:
            return
        record = self.next_record()
        if record >= 0:
            self.begin(record, now_us, out)

    def begin(self, record: int, now_us: int, out: Outbox) -> None:
        """poll() has given the program this record."""
        if self.traffic.is_watched:
            self.traffic.received(out.name, record, now_us)
        program = self.state.program
        program.hand, program.done_us, program.because = record, now_us + program.service_us, out.why()

    def next_record(self) -> int:
        """poll() gives the next record of the next partition, in turn, that has one in the buffer; -1: there
        is none."""
        state = self.state
        buffer = state.buffer
        if not buffer:
            state.hand = -1
            return -1
        owned, turn = state.owned, state.turn
        last = len(owned) - 1
        number = owned[turn]
        while number not in buffer:
            turn = turn + 1 if turn < last else 0
            number = owned[turn]
        state.turn = turn + 1 if turn < last else 0
        fetched = buffer[number]
        offset = fetched.first
        fetched.first = state.positions[number] = offset + 1
        record = fetched.records.popleft()
        if not fetched.records:
            del buffer[number]
        state.hand = number
        self.count(number, offset, offset + 1)
        return record

    def next_records(self, count: int) -> list[int]:
        """As many polls, one after the other, until there is none; then nothing is in hand."""
        state = self.state
        buffer, owned, positions, turn, number = state.buffer, state.owned, state.positions, state.turn, -1
        last = len(owned) - 1
        records: list[int] = []
        begun: dict[int, int] = {}  # partition -> the first offset that was taken
        while buffer and len(records) < count:
            number = owned[turn]
            turn = turn + 1 if turn < last else 0
            fetched = buffer.get(number)
            if fetched is None:
                continue
            offset = fetched.first
            if number not in begun:
                begun[number] = offset
            fetched.first = positions[number] = offset + 1
            records.append(fetched.records.popleft())
            if not fetched.records:
                del buffer[number]
        state.turn = turn
        state.hand = number if len(records) == count else -1
        for number, offset in begun.items():
            self.count(number, offset, positions[number])
        return records

    def fetch(self, out: Outbox) -> None:
        """Ask for what the buffer lacks, if no other fetch is under way."""
        state = self.state
        if state.is_fetching or not state.connection:
            return
        buffer, positions = state.buffer, state.positions
        wanted: dict[int, int] = {}
        for number in state.owned:
            if number not in buffer and number in positions:
                wanted[number] = positions[number]
        if wanted:
            state.is_fetching = True
            out.send(state.connection, r.FetchRequest(wanted, FETCH_MAX_WAIT_US, FETCH_RECORDS_MAX))

    def on_fetched(self, answer: r.FetchResponse, now_us: int, out: Outbox) -> None:
        state = self.state
        state.is_fetching = False
        owned, positions, buffer, read = state.owned, state.positions, state.buffer, answer.read
        if (
            len(read) == 1
            and len(read[0][2]) == 1
            and state.hand < 0
            and not (buffer or state.program.is_paused or answer.errors)
        ):
            # The one record that an idle program has waited for: written out, without the buffer that it
            # would pass through.
            number, first, (record,) = read[0]
            if positions.get(number) == first and number in owned:
                state.hand, state.turn = number, (owned.index(number) + 1) % len(owned)
                positions[number] = first + 1
                self.count(number, first, first + 1)
                self.begin(record, now_us, out)
            self.fetch(out)
            return
        for number, first, records in read:
            # What was asked for before a rebalance, and is no longer the position, is thrown away.
            if positions.get(number) == first and number in owned and number not in buffer:
                buffer[number] = Fetched(first, deque(records))
        if answer.errors:
            self.on_fetch_errors(answer.errors, out)
        if state.hand < 0:
            self.take(now_us, out)
        self.fetch(out)

    def on_fetch_errors(self, errors: list[tuple[int, int, int]], out: Outbox) -> None:
        """A position outside of the log is reset (auto.offset.reset=earliest). A partition that the broker
        does not know is not asked for again until it is assigned again: topics do not change here, where the
        original waits for new metadata."""
        state = self.state
        failed = [
            (number, code)
            for number, offset, code in errors
            if number in state.owned and state.positions.get(number) == offset
        ]
        for number, _ in failed:
            del state.positions[number]
        reset = [number for number, code in failed if code == r.OFFSET_OUT_OF_RANGE]
        if reset:
            state.resetting += reset
            out.send(state.connection, r.ListOffsetsRequest(reset))

    def on_reset(self, offsets: dict[int, int], out: Outbox) -> None:
        """Log starts have arrived; a partition that was given up meanwhile needs none."""
        state = self.state
        for number, offset in offsets.items():
            if number in state.resetting:
                state.resetting.remove(number)
                state.positions[number] = offset
        self.fetch(out)

    def commit(self, out: Outbox) -> None:
        """Send the positions of what it owns; the record in hand is not done."""
        state = self.state
        offsets = {
            number: position - (state.hand == number)
            for number, position in state.positions.items()
            if number in state.owned
        }
        state.committed.update(offsets)
        state.commits_out += 1
        out.send(
            state.connection,
            r.OffsetCommitRequest(state.group_id, state.generation, state.member_id, offsets),
        )

    # -- into the group --------------------------------------------------------------------------------------

    def on_heartbeat(self, code: int, now_us: int, out: Outbox) -> None:
        state = self.state
        if code == r.NONE:
            return
        if code in (r.UNKNOWN_MEMBER_ID, r.ILLEGAL_GENERATION):
            self.forget_membership(code == r.ILLEGAL_GENERATION, out)
        state.must_rejoin, state.because = True, out.why()
        if state.hand < 0:
            self.poll(now_us, out)

    def prepare_join(self, now_us: int, out: Outbox) -> None:
        """onJoinPrepare: commit, and when that is answered JoinGroup; an eager member lets go of everything
        first."""
        state = self.state
        state.must_rejoin = False
        out.cancel("commit")
        out.cancel("heartbeat")
        if state.owned and state.generation != r.NO_GENERATION:
            self.commit(out)
            state.phase = COMMITTING
        if not self.assignor.cooperative:
            self.revoke(state.owned, "kafka.consumer.eager", out)
        if state.phase != COMMITTING:
            self.send_join(now_us, out)

    def revoke(self, numbers: list[int], rule: str, out: Outbox) -> None:
        """onPartitionsRevoked: nothing more is read of these."""
        state = self.state
        if not numbers:
            return
        lost = set(numbers)
        out.tell("kafka.consumer.revoked", rule, {}, {"client": state.client_id, "partitions": numbers})
        state.owned = [number for number in state.owned if number not in lost]
        state.resetting = [number for number in state.resetting if number not in lost]
        state.turn = 0
        for number in numbers:
            state.positions.pop(number, None)
            state.buffer.pop(number, None)

    def send_join(self, now_us: int, out: Outbox) -> None:
        state = self.state
        state.phase = JOINING
        out.send(
            state.connection,
            r.JoinGroupRequest(
                state.group_id,
                state.member_id,
                state.client_id,
                SESSION_TIMEOUT_US,
                MAX_POLL_INTERVAL_US,
                state.assignor,
                self.subscription(),
            ),
        )

    def subscription(self) -> Subscription:
        """What it asks for, with what its assignor wants to know of the last generation."""
        state, topic = self.state, self.state.topic
        if self.assignor.cooperative:
            return Subscription((topic,), tuple((topic, number) for number in state.owned), state.assigned)
        if self.assignor.remembers and state.assigned != r.NO_GENERATION:
            return Subscription(
                (topic,),
                user_data=StickyUserData(tuple((topic, number) for number in state.previous), state.assigned),
            )
        return Subscription((topic,))

    def on_joined(self, answer: r.JoinGroupResponse, now_us: int, out: Outbox) -> None:
        state = self.state
        if answer.error_code == r.MEMBER_ID_REQUIRED:
            state.member_id = answer.member_id
            self.send_join(now_us, out)
            return
        if answer.error_code == r.UNKNOWN_MEMBER_ID:
            self.forget_membership(False, out)
            self.send_join(now_us, out)
            return
        state.member_id, state.generation, state.leader = (
            answer.member_id,
            answer.generation_id,
            answer.leader,
        )
        state.phase = SYNCING
        out.deadline("heartbeat", now_us + HEARTBEAT_INTERVAL_US + state.late_us)
        assignments = self.assign(answer) if answer.leader == answer.member_id else {}
        out.send(
            state.connection,
            r.SyncGroupRequest(state.group_id, state.generation, state.member_id, assignments),
        )

    def assign(self, answer: r.JoinGroupResponse) -> dict[str, list[int]]:
        """The leader shares the partitions out."""
        state = self.state
        given = self.assignor.assign(
            dict(answer.members), {state.topic: state.partitions}, max_generation=state.max_generation
        )
        state.max_generation = answer.generation_id
        return {member_id: [number for _, number in partitions] for member_id, partitions in given.items()}

    def on_synced(self, answer: r.SyncGroupResponse, now_us: int, out: Outbox) -> None:
        state = self.state
        if state.phase != SYNCING:
            return
        state.because = out.why()
        if answer.error_code != r.NONE:
            if answer.error_code != r.REBALANCE_IN_PROGRESS:
                self.forget_membership(answer.error_code == r.ILLEGAL_GENERATION, out)
            state.phase = IN
            state.must_rejoin = True
            if state.hand < 0:
                self.poll(now_us, out)
            return
        state.phase = IN
        state.pending = list(answer.assignment)
        if state.hand < 0:
            self.poll(now_us, out)

    def take_assignment(self, numbers: list[int], now_us: int, out: Outbox) -> None:
        """onJoinComplete: revoke what was lost, take what is new, and read on from the group's committed
        offsets."""
        state = self.state
        had = set(state.owned)
        kept = had.intersection(numbers)
        if had != kept:
            self.commit(out)
            self.revoke(
                [number for number in state.owned if number not in kept], "kafka.consumer.cooperative", out
            )
            state.must_rejoin, state.because = (
                True,
                out.why(),
            )  # what it let go is handed out in a second rebalance
        new = [number for number in numbers if number not in kept]
        state.owned = list(numbers)
        state.previous, state.assigned = list(numbers), state.generation
        state.turn = 0
        out.deadline("commit", now_us + AUTO_COMMIT_INTERVAL_US)
        if new:
            out.tell("kafka.consumer.assigned", None, {}, {"client": state.client_id, "partitions": new})
        if new:
            out.send(state.connection, r.OffsetFetchRequest(state.group_id, new))

    def on_offsets(self, offsets: dict[int, int], now_us: int, out: Outbox) -> None:
        """Positions of new partitions: the committed offset, the beginning where there is none
        (auto.offset.reset=earliest)."""
        state = self.state
        for number, offset in offsets.items():
            if number in state.owned and number not in state.positions:
                state.positions[number] = state.committed[number] = max(0, offset)
        if state.hand < 0:
            self.take(now_us, out)
        self.fetch(out)

    # -- out of it -------------------------------------------------------------------------------------------

    def leave(self, now_us: int, out: Outbox) -> None:
        """close(): commit, LeaveGroup, and the connection with it."""
        state = self.state
        state.program.drop(now_us, out, self.traffic)
        state.quiet_until_us = NEVER
        if state.member_id:
            if state.owned and state.phase in (IN, JOINING):
                self.commit(out)
            out.send(state.connection, r.LeaveGroupRequest(state.group_id, state.member_id))
        out.cancel("heartbeat")
        out.cancel("commit")
        out.close(state.connection)
        state.connection, state.phase, state.hand = 0, OUT, -1
        state.owned, state.pending, state.must_rejoin, state.commits_out = [], None, False, 0
        state.positions.clear()
        state.resetting.clear()
        state.buffer.clear()

    def forget_membership(self, keep_id: bool, out: Outbox) -> None:
        """onPartitionsLost: the coordinator does not know this member, or not in this generation; what it
        owns is lost."""
        state = self.state
        if state.owned:
            out.tell(
                "kafka.consumer.revoked",
                "kafka.consumer.lost",
                {},
                {"client": state.client_id, "partitions": state.owned},
            )
        if not keep_id:
            state.member_id = ""
        state.generation = r.NO_GENERATION
        state.owned = []
        state.positions.clear()
        state.resetting.clear()
        state.buffer.clear()

    def lose_everything(self, now_us: int, out: Outbox) -> None:
        """The connection broke."""
        self.state.program.drop(now_us, out, self.traffic)
        self.state.hand, self.state.quiet_until_us = -1, NEVER
        self.forget_membership(True, out)
        self.state.connection, self.state.phase, self.state.commits_out = 0, OUT, 0
        out.cancel("heartbeat")
        out.cancel("commit")
