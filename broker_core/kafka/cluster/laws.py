"""What must hold in a cluster whatever happens to it, watched while it runs. Nothing here changes the world.

    ledger      of each partition what its leader's high watermark has passed, record by record: that is committed
    matching    below its high watermark each replica has what the ledger says
    complete    who leads has all of the ledger
    in sync     the high watermark of a leader never goes back, and no member of its ISR ends below it
    consumers   read what is committed, and nothing else            idempotence    a producer's sequence is in the ledger once

A compacted log has gaps: what is left in it is as the ledger says, and what was compacted away before it was
looked at is GONE in the ledger. That no last record of a key goes is for those to watch who know the keys.

Something of the ledger may be lost, by the model itself. Then it is counted, with the reason; without one it
is a broken law.

    unclean election            somebody led who did not have it, as the topic allows
    truncation to the HW        before 0.11
    destroyed                   power cuts and lost disks took it from as many brokers as `min.insync.replicas` asks for
    last member destroyed       all others had left the ISR before, and the last member came back without it: it leads again all the same,
                                though another broker may still have it (what eligible leader replicas are
                                for, KIP-966)
    diverged                    before 0.11, where a copy was destroyed: a follower longer than its leader keeps what it has, as nobody compares
                                more than high watermarks, and may lead again

Source: docs/kafka/replication.md; the laws' names are those of Raft's paper where it has them.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from typing import Any

from broker_core.errors import InvariantError
from broker_core.events import TurningPoint
from broker_core.kafka.cluster.controller_node import ControllerState
from broker_core.kafka.cluster.ledger import GONE, GONE_ENTRY, Entry, Ledger, Loss, entries_of
from broker_core.kafka.cluster.names import CONTROLLER
from broker_core.kafka.cluster.state import BrokerState, TopicPartition
from broker_core.kafka.replication.fetcher import Truncation
from broker_core.kafka.replication.registration import PartitionRegistration
from broker_core.kafka.replication.replica_log import LightLog
from broker_core.sim.slot import CRASHED
from broker_core.sim.world import World

UNCLEAN, TRUNCATED, DESTROYED = "unclean_election", "truncated_to_high_watermark", "destroyed"
LAST_MEMBER, DIVERGED = "last_member_destroyed", "diverged"


@dataclass(slots=True)
class Seen:
    """One replica's log as it was at the last look. matched: up to there it is as the ledger says."""

    log: LightLog
    end: int
    matched: int = 0


class ClusterLaws:
    """Give it the world, its turning points as they come (`hear`), and time to look (`look`). losses:
    what was lost, and why."""

    def __init__(self, world: World) -> None:
        self.world = world
        self.ledgers: dict[TopicPartition, Ledger] = {}
        self.seen: dict[tuple[TopicPartition, int], Seen] = {}
        self.reigns: dict[
            tuple[TopicPartition, int, int], int
        ] = {}  # of a broker's epoch as leader: its high watermark
        self.losses: list[Loss] = []
        self.lost_values: dict[tuple[TopicPartition, int], set[Any]] = {}
        self.early: list[
            tuple[TopicPartition, int, Any]
        ] = []  # consumed from a leader that was just replaced

    def hear(self, events: Iterable[TurningPoint]) -> None:
        """Take notice of what may cost records, and of logs that were cut."""
        for event in events:
            key = (event.data.get("topic", ""), event.data.get("partition", -1))
            if event.kind == "kafka.partition.leader_changed":
                ledger, leader = self.ledger(key), event.data["leader"]
                if event.data["isr"] == [leader]:
                    ledger.alone.add(leader)
                if event.rule == "kafka.election.unclean":
                    ledger.unclean_epoch, ledger.is_troubled = event.data["leader_epoch"], True
            elif event.kind == "kafka.replica.truncated":
                self.ledger(key).had_truncation |= event.rule == "kafka.replica.truncate_to_high_watermark"
                seen = self.seen.get((key, event.data["broker"]))
                if seen is not None:
                    seen.matched = min(seen.matched, event.data["offset"])
                    seen.end = min(seen.end, event.data["offset"])

    def look(self) -> None:
        """Check everything. Raises InvariantError, with what is wrong."""
        brokers = [slot.node.state for slot in self.world.slots.values() if slot.kind == "broker"]
        controller: ControllerState = self.world.slots[CONTROLLER].node.state
        for name, topic in controller.rules.topics.items():
            for number, registration in enumerate(topic.partitions):
                self._look_at((name, number), registration, topic.min_insync_replicas, brokers)
        if self.early:
            early, self.early = self.early, []
            for key, offset, value in early:
                self.consumed(key, offset, value)

    # --- what clients saw

    def consumed(self, key: TopicPartition, offset: int, value: Any) -> None:
        """A consumer was given this record. It is committed, or was; a leader just replaced may know more
        than its successor does yet."""
        ledger = self.ledger(key)
        if offset < ledger.start or self._was_lost(key, offset, value):
            return
        if offset >= ledger.end:
            self.early.append((key, offset, value))
        elif ledger.entries[offset - ledger.start].value not in (value, GONE) and not ledger.is_troubled:
            raise InvariantError(
                f"a consumer read {value!r} at {key} {offset}, where "
                f"{ledger.entries[offset - ledger.start]} is committed"
            )

    def check_acked(self, key: TopicPartition, offset: int, value: Any) -> bool:
        """Whether what acks=-1 has confirmed is still there; False: it was lost, and the loss is explained.
        For the end, when all is calm.

        Raises InvariantError.
        """
        ledger = self.ledger(key)
        if offset < ledger.start or (
            offset < ledger.end and ledger.entries[offset - ledger.start].value in (value, GONE)
        ):
            return True
        if self._was_lost(key, offset, value) or ledger.had_truncation or ledger.is_troubled:
            return False
        raise InvariantError(f"{value!r} at {key} {offset} was confirmed, and is not there")

    def check_calm(self) -> None:
        """For the end: what consumers read early has been committed since. Raises InvariantError."""
        self.look()
        self.early = [each for each in self.early if not self.ledger(each[0]).is_troubled]
        if self.early:
            raise InvariantError(f"consumers read what was never committed: {self.early[:3]}")

    def ledger(self, key: TopicPartition) -> Ledger:
        return self.ledgers.setdefault(key, Ledger())

    # --- inside

    def _was_lost(self, key: TopicPartition, offset: int, value: Any) -> bool:
        return value in self.lost_values.get((key, offset), ())

    def _look_at(
        self, key: TopicPartition, known: PartitionRegistration, min_isr: int, brokers: list[BrokerState]
    ) -> None:
        ledger = self.ledger(key)
        logs = {state.broker_id: state.disk.logs[key] for state in brokers if key in state.disk.logs}
        for broker, log in logs.items():
            self._note_destruction(key, broker, log, ledger)
        for broker in [
            broker for (partition, broker) in self.seen if partition == key and broker not in logs
        ]:
            if broker in known.replicas:  # else it was moved away in order
                ledger.destroyed[broker] = 0
                ledger.is_troubled = True
            del self.seen[key, broker]
        leader = self._leader(key, brokers, ledger)
        if leader is not None:
            self._check_leader(key, known, leader, logs, min(min_isr, len(known.replicas)), ledger)
            self._add_former(key, leader, brokers, ledger)
        for broker, log in logs.items():
            self._check_matching(key, broker, log, ledger)
        if leader is not None:
            self._forget_destruction(key, known, brokers, logs[leader.broker_id].log_end_offset, ledger)

    def _leader(self, key: TopicPartition, brokers: list[BrokerState], ledger: Ledger) -> BrokerState | None:
        """Of those that take themselves for the leader the one of the highest epoch. While nobody of a newer
        one has begun, what it commits is on every member of the ISR that its successor will be chosen
        from."""
        found: BrokerState | None = None
        for state in brokers:
            replica = state.replicas.get(key)
            if replica is not None and replica.partition.is_leader and not self._is_dead(state):
                epoch = replica.partition.leader_epoch
                if epoch >= ledger.leader_epoch and (found is None or epoch > ledger.leader_epoch):
                    found, ledger.leader_epoch = state, epoch
        return found

    def _is_dead(self, state: BrokerState) -> bool:
        return any(
            slot.node.state is state and slot.condition == CRASHED for slot in self.world.slots.values()
        )

    def _note_destruction(self, key: TopicPartition, broker: int, log: LightLog, ledger: Ledger) -> None:
        """A log that is shorter than it was, without a truncation that was told, has lost its end."""
        seen = self.seen.get((key, broker))
        end = log.log_end_offset
        if seen is None:
            self.seen[key, broker] = Seen(log, end)
            return
        if end < seen.end:
            ledger.destroyed[broker] = min(ledger.destroyed.get(broker, end), end)
            ledger.is_troubled = True
            seen.matched = min(seen.matched, end)
        seen.log, seen.end = log, end

    def _check_leader(
        self,
        key: TopicPartition,
        known: PartitionRegistration,
        leader: BrokerState,
        logs: dict[int, LightLog],
        min_isr: int,
        ledger: Ledger,
    ) -> None:
        partition, log = leader.replicas[key].partition, logs[leader.broker_id]
        watermark = log.high_watermark
        reign = (key, leader.broker_id, partition.leader_epoch)
        if watermark < self.reigns.get(reign, 0):
            raise InvariantError(
                f"the high watermark of {key} on its leader {leader.broker_id} went back from "
                f"{self.reigns[reign]} to {watermark}"
            )
        self.reigns[reign] = watermark
        # Complete: the leader has all of the ledger. Then the ledger follows it.
        seen = self.seen[key, leader.broker_id]
        self._match(key, leader, log, min(ledger.end, log.log_end_offset), ledger, min_isr)
        if log.log_end_offset < ledger.end:
            self._lose(key, leader, log.log_end_offset, ledger, min_isr)
        self._extend(key, log, watermark, ledger)
        seen.matched = max(seen.matched, ledger.end)
        if partition.leader_epoch >= ledger.unclean_epoch:
            if ledger.unclean_epoch >= 0 and log.settings.cleanup_compact:
                self._forget_gaps(log, ledger)
            ledger.unclean_epoch = -1
        ledger.alone.intersection_update({leader.broker_id})
        if leader.settings.truncation is Truncation.HIGH_WATERMARK:
            return  # a follower cuts committed records off, and fetches them again
        # Whom the controller has taken out, as a replica that moved away, may have deleted its log before its
        # leader hears of it.
        for member in sorted(partition.isr_state.isr.intersection(known.isr)):
            end = logs[member].log_end_offset if member in logs else 0
            if end < watermark and member not in ledger.destroyed:
                raise InvariantError(
                    f"{member} is in the ISR of {key} and ends at {end}, below the high watermark {watermark}"
                )

    def _forget_gaps(self, log: LightLog, ledger: Ledger) -> None:
        """What an unclean leader's compacted log has no record of may never have been in it: other records may have
        been there, which another replica still has."""
        there = {offset for offset, _ in entries_of(log, ledger.start, ledger.end)}
        for place, entry in enumerate(ledger.entries):
            if ledger.start + place not in there:
                ledger.entries[place] = GONE_ENTRY
                if entry.producer is not None:
                    ledger.sequences.pop(entry.producer, None)

    def _add_former(
        self, key: TopicPartition, leader: BrokerState, brokers: list[BrokerState], ledger: Ledger
    ) -> None:
        """A leader that has yet to hear of its successor may have committed more than the successor knows.
        Its ISR has that, so the successor too."""
        for state in brokers:
            replica = state.replicas.get(key)
            if state is leader or replica is None or not replica.partition.is_leader or self._is_dead(state):
                continue
            log, mine = state.disk.logs[key], leader.disk.logs[key]
            if log.high_watermark > ledger.end:
                theirs = dict(entries_of(log, ledger.end, log.high_watermark))
                both = 0
                for offset, entry in entries_of(mine, ledger.end, log.high_watermark):
                    if theirs.get(offset) != entry or offset != ledger.end + both:
                        break
                    both += 1
                self._extend(key, mine, ledger.end + both, ledger)

    def _check_matching(self, key: TopicPartition, broker: int, log: LightLog, ledger: Ledger) -> None:
        """Below its high watermark a replica's log is the ledger's. Of a troubled partition one may have what
        others have lost."""
        seen = self.seen[key, broker]
        for offset, entry in entries_of(
            log, max(seen.matched, ledger.start), min(log.high_watermark, ledger.end)
        ):
            mine = ledger.entries[offset - ledger.start]
            if mine not in (entry, GONE_ENTRY):
                if ledger.had_truncation or ledger.is_troubled:
                    return  # it will cut this off when it follows; under the oldest rule it is wrong for ever
                raise InvariantError(
                    f"broker {broker} has {entry} at {key} {offset} below its high watermark, where "
                    f"{mine} is committed"
                )
            seen.matched = offset + 1

    def _forget_destruction(
        self,
        key: TopicPartition,
        known: PartitionRegistration,
        brokers: list[BrokerState],
        end: int,
        ledger: Ledger,
    ) -> None:
        """A replica counts as caught up again once it has recopied the log; until then the leader may
        overestimate it."""
        for state in brokers:
            replica, broker = state.replicas.get(key), state.broker_id
            if (
                broker in ledger.destroyed
                and replica is not None
                and replica.partition.leader_epoch == known.leader_epoch
            ):
                seen = self.seen.get((key, broker))
                if (
                    seen is not None
                    and seen.matched >= ledger.end
                    and seen.end == end
                    and not self._is_dead(state)
                ):
                    del ledger.destroyed[broker]

    def _match(
        self, key: TopicPartition, leader: BrokerState, log: LightLog, end: int, ledger: Ledger, min_isr: int
    ) -> None:
        """Compare a leader's log with the ledger; where it differs the ledger's records are lost."""
        seen = self.seen[key, leader.broker_id]
        for offset, entry in entries_of(log, max(seen.matched, ledger.start), end):
            if ledger.entries[offset - ledger.start] not in (entry, GONE_ENTRY):
                self._lose(key, leader, offset, ledger, min_isr)
                return
            seen.matched = offset + 1

    def _lose(
        self, key: TopicPartition, leader: BrokerState, offset: int, ledger: Ledger, min_isr: int
    ) -> None:
        """The ledger's records from that offset on are gone. Raises InvariantError where nothing explains
        it."""
        first = max(offset, ledger.start)
        entries = tuple(ledger.entries[first - ledger.start :])
        gone = [broker for broker, start in ledger.destroyed.items() if start <= offset]
        if ledger.unclean_epoch >= 0:
            reason = UNCLEAN
        elif ledger.had_truncation:
            reason = TRUNCATED
        elif len(gone) >= min_isr:
            reason = DESTROYED
        elif ledger.alone.intersection(gone):
            reason = LAST_MEMBER
        elif ledger.is_troubled and leader.settings.truncation is Truncation.HIGH_WATERMARK:
            reason = DIVERGED
        else:
            raise InvariantError(
                f"{len(entries)} committed records of {key} from {offset} on are lost, and nothing "
                f"explains it: {entries[:3]}"
            )
        self.losses.append(Loss(self.world.now_us, key, first, entries, reason))
        for number, entry in enumerate(entries):
            self.lost_values.setdefault((key, first + number), set()).add(entry.value)
            if entry.producer is not None:
                ledger.sequences.pop(entry.producer, None)
        del ledger.entries[first - ledger.start :]
        ledger.start = min(ledger.start, offset)  # an empty leader begins below what was deleted
        for (partition, _), seen in self.seen.items():
            if partition == key:
                seen.matched = min(seen.matched, offset)

    def _extend(self, key: TopicPartition, log: LightLog, watermark: int, ledger: Ledger) -> None:
        if ledger.end < log.log_start_offset <= watermark:
            # Deleted before anybody looked: from here on the ledger begins with the log.
            ledger.start, ledger.entries = log.log_start_offset, []
        for offset, entry in entries_of(log, ledger.end, watermark):
            while offset > ledger.end and log.settings.cleanup_compact:
                ledger.entries.append(GONE_ENTRY)
            while offset > ledger.end and ledger.had_truncation:
                ledger.entries.append(Entry(-1, None))  # a cut inside a batch leaves a hole
            if offset != ledger.end:
                raise InvariantError(
                    f"{key} has no record at {ledger.end}, below the high watermark {watermark}"
                )
            if entry.producer is not None:
                before = ledger.sequences.setdefault(entry.producer, offset)
                # What was cut off is taken a second time; and what was deleted, by a leader whose copy was made
                # since: it has no record of that producer, and takes any sequence (KIP-360).
                is_gone = before < log.log_start_offset
                if is_gone:
                    ledger.sequences[entry.producer] = offset
                elif before != offset and not ledger.had_truncation:
                    raise InvariantError(f"{entry.producer} is in {key} twice, at {before} and {offset}")
            ledger.entries.append(entry)
        if log.settings.cleanup_compact:
            ledger.entries += [GONE_ENTRY] * (watermark - ledger.end)
