"""Three brokers, one partition and a controller, in which a test does what it likes: crash, cut, fetch,
elect, let time pass.

Brokers learn the controller's decisions when `learn` says so, one broker after the other: in between there
are two leaders, followers of the wrong one, and requests with old epochs. A crash keeps the log, for nothing
is lost of what was written, and drops all else; the high watermark falls back to its last checkpoint.
"""

from dataclasses import dataclass, field
from typing import Any

from broker_core.hashing.java_random import JavaRandom
from broker_core.kafka.controller.controller import Controller, NewLeaderElected
from broker_core.kafka.error_codes import ErrorCode, Refused
from broker_core.kafka.log.errors import LogError
from broker_core.kafka.log.memory_storage import MemoryFolder
from broker_core.kafka.log.partition_log import PartitionLog
from broker_core.kafka.log.record import Record
from broker_core.kafka.log.record_batch import encode_batch
from broker_core.kafka.log.watermarks import Isolation
from broker_core.kafka.replication.brokers import KnownBroker
from broker_core.kafka.replication.fetch import PartitionFetch
from broker_core.kafka.replication.fetcher import EpochQuestion, Fetcher, OffsetQuestion, Truncation
from broker_core.kafka.replication.partition import Partition
from broker_core.kafka.replication.partition_state import LeaderAndIsr
from broker_core.kafka.replication.registration import PartitionRegistration
from broker_core.kafka.replication.replica_log import LightBatch, LightLog, light_batch

KEY = ("t", 0)
IDS = (1, 2, 3)


@dataclass
class Node:
    broker_id: int
    folder: MemoryFolder = field(default_factory=MemoryFolder)
    partition: Partition | None = None  # None: the process is down
    fetcher: Fetcher | None = None
    checkpoint: int = 0
    is_cut: bool = False  # from the other brokers; the controller is reached
    told: int = -1  # the partition epoch that this process has learned last
    light: LightLog | None = None  # what a crash leaves, where the logs are light


class SmallCluster:
    def __init__(
        self,
        truncation: Truncation,
        min_isr: int,
        allows_unclean_election: bool = False,
        is_light: bool = False,
    ) -> None:
        self.is_light = is_light
        self.now_ms = 0
        self.truncation, self.min_isr = truncation, min_isr
        self.controller = Controller(JavaRandom.seeded(1))
        self.known = {broker: KnownBroker(0, is_alive=False) for broker in IDS}
        self.epochs = 100
        self.nodes = {broker: Node(broker) for broker in IDS}
        self.written = 0
        self.acked: dict[int, bytes] = {}  # offset -> what a produce with acks=-1 was answered for
        self.waiting: list[
            tuple[int, int, int, list[bytes]]
        ] = []  # broker, leader epoch, first offset, values
        for broker in IDS:
            self.start(broker)
        self.controller.create_topic_at(
            "t", [list(IDS)], min_insync_replicas=min_isr, allows_unclean_election=allows_unclean_election
        )
        for broker in IDS:
            self.learn(broker)

    @property
    def decided(self) -> PartitionRegistration:
        return self.controller.topics["t"].partitions[0]

    def up(self) -> list[Node]:
        return [node for node in self.nodes.values() if node.partition is not None]

    # -- what may happen

    def start(self, broker: int) -> None:
        node = self.nodes[broker]
        if node.partition is not None:
            return
        self.epochs += 1
        self.controller.register_broker(broker, self.epochs, self.now_ms)
        self.controller.heartbeat(broker, self.epochs, self.now_ms)
        node.told = -1
        node.partition = Partition(broker, self.known, self.epochs, self.min_isr)
        node.fetcher = Fetcher(node.partition, self.truncation)
        if not self.is_light:
            node.partition.log = PartitionLog.open(
                node.folder, now_ms=self.now_ms, high_watermark=node.checkpoint
            )
        elif node.light is None:
            node.partition.log = node.light = LightLog.begin(now_ms=self.now_ms)
        else:
            node.partition.log = node.light = node.light.reopened(
                now_ms=self.now_ms, high_watermark=node.checkpoint
            )
        self._tell_of_brokers()

    def crash(self, broker: int) -> None:
        node = self.nodes[broker]
        if node.partition is None:
            return
        self.controller.heartbeat(
            broker, self.controller.brokers[broker].epoch, self.now_ms, wants_fence=True
        )
        node.partition = node.fetcher = None
        self._tell_of_brokers()

    def restart(self, broker: int) -> None:
        """The process dies and is back before the controller has fenced it: it stays in the ISR."""
        node = self.nodes[broker]
        if node.partition is not None:
            node.partition = node.fetcher = None
            self.controller.sessions.remove(broker)
            self.start(broker)

    def learn(self, broker: int) -> None:
        """The broker reads the controller's last decision, once."""
        node, now = self.nodes[broker], self.decided
        if node.partition is None or node.fetcher is None or node.told == now.partition_epoch:
            return
        node.told = now.partition_epoch
        state = LeaderAndIsr(
            now.leader, now.leader_epoch, now.partition_epoch, now.replicas, now.isr, now.adding, now.removing
        )
        if now.leader == broker:
            node.fetcher.stop()
            node.partition.make_leader(state, self.now_ms)
        elif node.partition.make_follower(state):
            if now.leader in IDS:
                node.fetcher.start()
            else:
                node.fetcher.stop()

    def produce(self, broker: int, count: int = 1) -> None:
        node = self.nodes[broker]
        if node.partition is None:
            return
        values = [b"v%d" % (self.written + number) for number in range(count)]
        self.written += count
        batch: Any = light_batch(values, timestamp=self.now_ms)
        if not self.is_light:
            batch = encode_batch(
                [Record(index, self.now_ms, None, value) for index, value in enumerate(values)]
            ).data
        try:
            appended, _ = node.partition.append_as_leader(batch, -1, self.now_ms)
        except Refused:
            return
        self.waiting.append((broker, node.partition.leader_epoch, appended.first_offset, values))
        self._answer_produces()

    def fetch(self, broker: int) -> None:
        """One request of the broker's fetcher, and its answer."""
        node = self.nodes[broker]
        if node.fetcher is None or node.fetcher.state is None or node.partition is None:
            return
        node.fetcher.truncate_to_high_watermark(self.now_ms)  # nobody needs to be asked for that
        leader = self.nodes.get(node.partition.leader or 0)
        if leader is None or leader.partition is None or leader is node or leader.is_cut or node.is_cut:
            return
        request = node.fetcher.next_request()
        try:
            match request:
                case EpochQuestion():
                    found = leader.partition.last_offset_for_epoch(request.epoch, request.leader_epoch)
                    node.fetcher.epoch_answered(request, found, self.now_ms)
                case OffsetQuestion():
                    answer = leader.partition.list_offset(
                        request.timestamp, Isolation.LOG_END, request.leader_epoch
                    )
                    assert answer is not None
                    node.fetcher.offset_answered(request, answer.found.offset, self.now_ms)
                case PartitionFetch():
                    fetched = leader.partition.fetch_as_follower(
                        broker, node.partition.broker_epoch, request, self.now_ms
                    )
                    node.fetcher.fetch_answered(request, fetched, self.now_ms)
        except (LogError, Refused) as error:
            assert request is not None
            node.fetcher.refused(request, ErrorCode(error.code))
        self._answer_produces()

    def alter(self, broker: int) -> None:
        """The controller gets the broker's request for another ISR, and answers."""
        partition = self.nodes[broker].partition
        request = None if partition is None else partition.alter_partition.take_request()
        if partition is None or request is None:
            return
        try:
            now, _ = self.controller.alter_partition(
                broker, partition.broker_epoch, KEY, request, self.now_ms
            )
        except (Refused, NewLeaderElected) as refused:
            partition.alter_partition_failed(refused.code)
            return
        state = LeaderAndIsr(now.leader, now.leader_epoch, now.partition_epoch, now.replicas, now.isr)
        partition.alter_partition_succeeded(state, self.now_ms)
        self._answer_produces()

    def checkpoint(self, broker: int) -> None:
        node = self.nodes[broker]
        if node.partition is not None and node.partition.log is not None:
            node.checkpoint = node.partition.log.high_watermark

    def pass_time(self, ms: int) -> None:
        """Time passes; leaders look for late members. No request to the controller is under way for as long
        as that."""
        for broker in IDS:
            self.alter(broker)
        self.now_ms += ms
        for node in self.up():
            assert node.partition is not None
            node.partition.maybe_shrink_isr(self.now_ms)

    def settle(self) -> None:
        """Everything heals, and everybody hears of everything."""
        for node in self.nodes.values():
            node.is_cut = False
            self.start(node.broker_id)
        for _ in range(12):
            for broker in IDS:
                self.alter(broker)
            for broker in IDS:
                self.learn(broker)
            for broker in IDS:
                self.fetch(broker)

    # -- inside

    def _tell_of_brokers(self) -> None:
        for broker, known in self.controller.brokers.items():
            is_alive = not known.is_fenced
            self.known[broker] = KnownBroker(
                known.epoch, is_alive, known.is_fenced, known.is_in_controlled_shutdown
            )

    def _answer_produces(self) -> None:
        still = []
        for produce in self.waiting:
            broker, leader_epoch, first_offset, values = produce
            partition = self.nodes[broker].partition
            if partition is None or partition.leader_epoch != leader_epoch or not partition.is_leader:
                continue
            is_done, error = partition.check_acks(first_offset + len(values))
            if is_done and error is ErrorCode.NONE:
                self.acked |= {first_offset + index: value for index, value in enumerate(values)}
            elif not is_done:
                still.append(produce)
        self.waiting = still


def records(log: PartitionLog) -> dict[int, bytes]:
    if isinstance(log, LightLog):
        light = (batch for batch in log.batches() if isinstance(batch, LightBatch))
        return {
            batch.header.base_offset + index: value
            for batch in light
            for index, value in enumerate(batch.values)
        }
    return {record.offset: record.value or b"" for batch in log.batches() for record in batch.records()}
