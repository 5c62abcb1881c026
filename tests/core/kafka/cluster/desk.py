"""One broker on a desk: send it a request, get what it answers, let a deadline come. It is broker 1,
registered with epoch 3; time is the test's."""

from collections.abc import Iterable, Mapping
from typing import Any

from broker_core.kafka.cluster import control_requests as c
from broker_core.kafka.cluster import lifecycle
from broker_core.kafka.cluster import requests as r
from broker_core.kafka.cluster.broker import Broker
from broker_core.kafka.cluster.settings import ClusterSettings
from broker_core.kafka.cluster.state import BrokerState, Replica
from broker_core.kafka.replication.registration import PartitionRegistration
from broker_core.kafka.replication.replica_log import LightLog, light_batch
from broker_core.sim.node import Opened
from tests.core.kafka.cluster.nodes import MS, Out

EPOCH = 3
"""Of every broker's registration."""
CONTROL, CLIENT, OTHER, FOLLOWER = 1, 10, 11, 20
"""Connections that are open: to the controller, from a client, from broker 3, and from broker 2, which follows."""


def led(
    isr: tuple[int, ...] = (1, 2),
    replicas: tuple[int, ...] = (1, 2),
    epoch: int = 0,
    partition_epoch: int = 0,
) -> PartitionRegistration:
    """A partition that broker 1 leads."""
    return PartitionRegistration(replicas, isr, 1, epoch, partition_epoch)


def followed(
    leader: int = 2,
    replicas: tuple[int, ...] = (2, 1),
    isr: tuple[int, ...] | None = None,
    epoch: int = 0,
    partition_epoch: int = 0,
) -> PartitionRegistration:
    """A partition that another broker leads."""
    return PartitionRegistration(replicas, replicas if isr is None else isr, leader, epoch, partition_epoch)


class BrokerDesk:
    """parts: of topic t, by number. inbox: what it has sent on each connection since somebody took it."""

    def __init__(
        self,
        parts: Mapping[int, PartitionRegistration] | None = None,
        *,
        min_isr: int = 1,
        racks: Mapping[int, str] | None = None,
        **settings: Any,
    ) -> None:
        self.node, self.out = (
            Broker(BrokerState(1, ClusterSettings(**settings), rack=(racks or {}).get(1))),
            Out(),
        )
        self.racks = racks or {}
        self.inbox: dict[int, list[Any]] = {}
        self.now_us = 0
        self.metadata_offset = 9
        self.send(0, lifecycle.Start(), after_ms=0)
        self.send(CONTROL, c.BrokerRegistrationResponse(0, EPOCH))
        self.delta(
            parts or {0: led()}, brokers=(1, 2, 3), topics=[c.MetadataTopicState("t", min_isr)], is_image=True
        )
        self.send(CONTROL, c.BrokerHeartbeatResponse(0, is_fenced=False))
        for connection, peer in ((CLIENT, "client"), (OTHER, "broker-3"), (FOLLOWER, "broker-2")):
            self.send(connection, Opened(peer))
        self.inbox.clear()

    # --- time and messages

    @property
    def state(self) -> BrokerState:
        return self.node.state

    @property
    def now_ms(self) -> int:
        return self.now_us // MS

    def send(self, connection: int, message: Any, *, after_ms: int = 1) -> list[Any]:
        """Let it receive that, a moment later. Gives what it has sent on that connection."""
        self.tell(connection, message, after_ms=after_ms)
        return self.take(connection)

    def tell(self, connection: int, message: Any, *, after_ms: int = 1) -> None:
        """The same, and what it sends waits for `take`."""
        self.now_us += after_ms * MS
        self.node.receive(connection, message, self.now_us, self.out)  # type: ignore[arg-type]

    def wake(self, name: str) -> None:
        """Its deadline of that name has come."""
        self.now_us = max(self.now_us, self.out.deadlines.pop(name))
        self.node.wake(name, self.now_us, self.out)  # type: ignore[arg-type]
        self._collect()

    def take(self, connection: int) -> list[Any]:
        self._collect()
        return self.inbox.pop(connection, [])

    def taken(self, connection: int, kind: type) -> list[Any]:
        """Those of that kind alone; the others are forgotten."""
        return [message for message in self.take(connection) if type(message) is kind]

    def due_ms(self, name: str) -> int:
        """In how many ms that deadline comes."""
        return (self.out.deadlines[name] - self.now_us) // MS

    def _collect(self) -> None:
        for connection, message in self.out.take():
            self.inbox.setdefault(connection, []).append(message)

    # --- what the controller tells

    def delta(
        self,
        parts: Mapping[int, PartitionRegistration] | None = None,
        *,
        brokers: Iterable[int] = (),
        fenced: Iterable[int] = (),
        shutting_down: Iterable[int] = (),
        epochs: Mapping[int, int] | None = None,
        topics: list[c.MetadataTopicState] | None = None,
        is_image: bool = False,
        topic: str = "t",
        connection: int = CONTROL,
    ) -> None:
        """brokers: alive ones; fenced, shutting_down: others. epochs: of their registrations, where not 3."""
        self.metadata_offset += 1
        fenced, shutting_down = set(fenced), set(shutting_down)
        told = [
            c.MetadataBrokerState(
                broker,
                (epochs or {}).get(broker, EPOCH),
                self.racks.get(broker),
                broker in fenced,
                broker in shutting_down,
            )
            for broker in sorted({*brokers, *fenced, *shutting_down})
        ]
        states = [c.MetadataPartitionState(topic, number, known) for number, known in (parts or {}).items()]
        self.tell(connection, c.MetadataDelta(self.metadata_offset, told, topics or [], states, is_image))

    # --- what clients and followers ask

    def produce(
        self,
        *values: str,
        acks: int = -1,
        part: int = 0,
        connection: int = CLIENT,
        timeout_ms: int = 1_000,
        **batch: Any,
    ) -> list[Any]:
        """One batch to one partition."""
        return self.send(
            connection,
            to(
                r.ProducePartition("t", part, light_batch(values, timestamp=0, **batch)),
                acks=acks,
                timeout_ms=timeout_ms,
                name="id" if batch.get("is_transactional") else None,
            ),
        )

    def fetch(
        self,
        offsets: Mapping[int, int],
        *,
        replica: int = r.CONSUMER,
        session: int = 0,
        epoch: int | None = None,
        connection: int | None = None,
        max_wait_ms: int = 500,
        after_ms: int = 1,
        **more: Any,
    ) -> list[r.FetchResponse]:
        """Ask for those partitions from those offsets on. epoch: the leader's, as the reader knows it; a
        follower has all up to its offset."""
        is_replica = replica >= 0
        parts = [
            r.FetchPartition(
                "t",
                number,
                offset,
                self._epoch(number) if epoch is None and is_replica else -1 if epoch is None else epoch,
                self._epoch(number) if is_replica and offset else -1,
                0 if is_replica else -1,
            )
            for number, offset in offsets.items()
        ]
        request = r.FetchRequest(
            max_wait_ms,
            parts,
            replica_id=replica,
            replica_epoch=EPOCH if is_replica else -1,
            session_epoch=session,
            **more,
        )
        return self.send(
            (FOLLOWER if is_replica else CLIENT) if connection is None else connection,
            request,
            after_ms=after_ms,
        )

    def _epoch(self, number: int) -> int:
        return self.replica(number).partition.leader_epoch

    # --- what is seen inside

    def replica(self, number: int = 0) -> Replica:
        return self.state.replicas["t", number]

    def log(self, number: int = 0) -> LightLog:
        return self.state.disk.logs["t", number]

    def values(self, number: int = 0) -> list[Any]:
        return [value for batch in self.log(number).batches() for value in batch.values]  # type: ignore[attr-defined]

    def ends(self, number: int = 0) -> tuple[int, int]:
        """(log end offset, high watermark)."""
        return self.log(number).log_end_offset, self.log(number).high_watermark

    def isr(self, number: int = 0) -> list[int]:
        return sorted(self.replica(number).partition.isr_state.isr)


def to(
    *parts: r.ProducePartition, acks: int = -1, timeout_ms: int = 1_000, name: str | None = None
) -> r.ProduceRequest:
    return r.ProduceRequest(acks, timeout_ms, list(parts), name)


def batches_of(answer: r.FetchResponse) -> dict[int, list[Any]]:
    """What came of each partition that the answer names."""
    return {
        part.partition: [value for batch in part.records for value in batch.values]
        for part in answer.partitions
    }


def marks_of(answer: r.FetchResponse) -> dict[int, int]:
    """Each partition's high watermark, as the answer tells it."""
    return {part.partition: part.high_watermark for part in answer.partitions}
