"""A seeded life of a Kafka cluster: clients write and read while brokers crash, lose power and disks, pause,
and links are cut; laws are watched.

One life is `Life(seed).run(steps)`; it ends with everything healed, and then counts: what was confirmed, what
was lost and why.
"""

from __future__ import annotations

import random
from collections import Counter, deque
from collections.abc import Mapping
from types import MappingProxyType
from typing import Any

from broker_core.errors import CommandError
from broker_core.kafka.cluster import verbs
from broker_core.kafka.cluster.cluster import ClusterPlan, TopicPlan, cluster_world
from broker_core.kafka.cluster.laws import ClusterLaws
from broker_core.kafka.cluster.names import CONTROLLER, broker_node
from broker_core.kafka.cluster.requests import (
    READ_COMMITTED,
    READ_UNCOMMITTED,
    FetchPartition,
    FetchRequest,
    ProducePartition,
    ProduceRequest,
)
from broker_core.kafka.cluster.settings import ClusterSettings
from broker_core.kafka.cluster.transaction_requests import TxnMarker, WriteTxnMarkersRequest
from broker_core.kafka.error_codes import ErrorCode
from broker_core.kafka.log.record_batch import ControlType
from broker_core.kafka.log.topic_config import AS_THE_BROKERS
from broker_core.kafka.replication.fetcher import Truncation
from broker_core.kafka.replication.replica_log import light_batch
from tests.simulation.cluster_clients import Ask, Client, ClientState, Marker, Producer, Write

MS = 1_000
PATIENCE_US = 4_000_000


class Life:
    kinds: Mapping[str, Any] = MappingProxyType({})
    """Of nodes that a life has made in another way."""

    def __init__(self, seed: int, **fixed: Any) -> None:
        self.seed, self.dice = seed, random.Random(seed)
        dice = self.dice
        choose = {
            "brokers": dice.choice((3, 3, 3, 4, 5)),
            "min_isr": dice.choice((2, 2, 1)),
            "unclean": dice.random() < 0.2,
            "truncation": dice.choice(
                (Truncation.FETCH, Truncation.FETCH, Truncation.EPOCH_REQUEST, Truncation.HIGH_WATERMARK)
            ),
            "partitions": dice.choice((1, 2, 4)),
            "flush": dice.choice((1, 4, 1 << 62)),
            "destroys": dice.random() < 0.4,
            "config": AS_THE_BROKERS,
        } | fixed
        self.chosen = choose
        topic = TopicPlan(
            "t", choose["partitions"], 3, choose["min_isr"], choose["unclean"], config=choose["config"]
        )
        settings = ClusterSettings(
            choose["truncation"],
            log_segment_bytes=2_000,
            log_retention_check_interval_ms=5_000,
            log_cleaner_backoff_ms=5_000,
            flush_interval_messages=choose["flush"],
            leader_imbalance_check_interval_ms=60_000,
            is_rack_aware=True,
            verifies_transactions=False,
        )
        racks = tuple("abcabc"[: choose["brokers"]])
        plan = ClusterPlan(choose["brokers"], racks, (topic,), settings)
        self.told: list[Any] = []
        self.world = cluster_world(
            plan,
            seed,
            delay_us=500,
            jitter_us=500,
            kinds={"client": (ClientState, Client), **self.kinds},
            messages=Ask,
            listener=self.hear,
        )
        self.world.start("client", "client", ClientState())
        self.laws = ClusterLaws(self.world)
        self.brokers = list(plan.broker_ids)
        self.keys = [("t", number) for number in range(choose["partitions"])]
        self.producers = [
            Producer(-1, -1),
            Producer(-2, 1),
            Producer(7, -1),
            Producer(8, -1),
            Producer(9, -1, is_transactional=True),
        ]
        self.positions: dict[tuple[str, int], int] = dict.fromkeys(self.keys, 0)
        self.stable_positions = dict(self.positions)  # of a read_committed consumer
        self.fates: dict[
            str, bool
        ] = {}  # of what is in a transaction: whether it was to be committed; not in it: it is open
        self.asked: dict[int, Any] = {}
        self.token = self.value = 0
        self.acked: list[tuple[tuple[str, int], int, str]] = []
        self.acked_1: list[tuple[tuple[str, int], int, str]] = []
        self.done: Counter[str] = Counter()
        self.world.advance(1_000_000)

    def hear(self, events: list[Any]) -> None:
        self.laws.hear(events)
        self.told += events

    # -- what may happen in a step

    def run(self, steps: int) -> Life:
        for _ in range(steps):
            self.step()
        self.calm_down()
        return self

    def step(self) -> None:
        dice = self.dice
        draw = dice.random()
        if draw < 0.45:
            self.write(dice.choice(self.producers), dice.choice(self.keys))
        elif draw < 0.65:
            self.read(dice.choice(self.keys))
        elif draw < 0.85:
            self.harm()
        self.pass_time(dice.choice((1, 5, 20, 100, 100, 500, 2_000)) * MS)

    def harm(self) -> None:
        """One fault, or the end of one. At least as much is mended as is broken, else nothing would ever be
        written."""
        dice, world = self.dice, self.world
        broker, other = dice.choice(self.brokers), dice.choice([*self.brokers, CONTROLLER, "client"])
        deeds = {
            "crash": lambda: verbs.crash(world, broker),
            "stop": lambda: verbs.stop(world, broker),
            "pause": lambda: verbs.pause(world, broker),
            "cut": lambda: verbs.cut_link(world, broker, other, one_way=dice.random() < 0.5),
            "slow": lambda: verbs.slow_link(world, broker, other, dice.choice((None, 20_000, 300_000))),
            "slow_disk": lambda: verbs.slow_disk(world, broker, dice.choice((0, 0, 5_000, 200_000))),
            "power": lambda: verbs.cut_power(world, broker),
            "disk": lambda: verbs.lose_disk(world, broker),
            "skew": lambda: verbs.skew_clock(world, broker, dice.randrange(-2_000, 2_000)),
            "elect": lambda: verbs.elect_leaders(world),
            "unclean": lambda: verbs.elect_leaders(world, unclean=True) if self.chosen["unclean"] else None,
            "move": lambda: verbs.reassign(world, *dice.choice(self.keys), dice.sample(self.brokers, 3)),
            "back": lambda: verbs.come_back(world, broker),
            "resume": lambda: verbs.resume(world, broker),
            "heal": lambda: verbs.heal_link(world, broker, other),
        }
        weights = {
            "crash": 5,
            "stop": 2,
            "pause": 3,
            "cut": 6,
            "slow": 2,
            "slow_disk": 1,
            "skew": 1,
            "elect": 1,
            "unclean": 1,
            "move": 1,
            "back": 12,
            "resume": 8,
            "heal": 14,
        } | ({"power": 2, "disk": 1} if self.chosen["destroys"] else {})
        deed = dice.choices(list(weights), list(weights.values()))[0]
        try:
            deeds[deed]()
        except CommandError:
            return  # it is so already
        self.done[deed] += 1

    def pass_time(self, us: int) -> None:
        self.world.advance(self.world.now_us + us)
        self.laws.look()
        self.take_answers()
        for producer in self.producers:
            for write in list(producer.open.values()):
                if write.token < 0 or self.world.now_us - write.sent_us > PATIENCE_US:
                    self.send(write)

    # -- clients

    def leader(self, key: tuple[str, int]) -> str | None:
        known = self.world.node(CONTROLLER).state.rules.topics[key[0]].partitions[key[1]]
        return None if known.leader < 0 else broker_node(known.leader)

    def log_start(self, key: tuple[str, int]) -> int:
        """Where its leader's log begins, for who was out of range."""
        to = self.leader(key)
        log = None if to is None else self.world.node(to).state.disk.logs.get(key)
        return 0 if log is None else log.log_start_offset

    def write(self, producer: Producer, key: tuple[str, int]) -> None:
        if key in producer.open:
            return
        values = []
        for _ in range(self.dice.randrange(1, 4)):
            self.value += 1
            values.append(f"{'x' if producer.is_transactional else 'v'}{self.value}")
        write = Write(
            producer.number,
            key,
            producer.acks,
            tuple(values),
            producer.sequences.get(key, 0),
            producer.is_transactional,
        )
        producer.open[key] = write
        self.send(write)

    def send(self, write: Write | Marker) -> None:
        """Send it, or send it again where nothing came back: then the connection is given up."""
        if write.token >= 0:
            self.asked.pop(write.token, None)
            self.world.order("client", Ask("", -1, write.to))
        producer = next(each for each in self.producers if each.number == write.producer)
        to = self.leader(write.key)
        write.token = -1
        if to is None:
            return
        self.token += 1
        write.token, write.to, write.sent_us = self.token, to, self.world.now_us
        if isinstance(write, Marker):
            self.asked[self.token] = write
            marker = TxnMarker(write.producer, producer.epoch, write.is_commit, [write.key], 0)
            self.world.order("client", Ask(to, self.token, WriteTxnMarkersRequest([marker])))
            return
        ids = (
            {"producer_id": write.producer, "producer_epoch": producer.epoch, "base_sequence": write.sequence}
            if write.producer >= 0
            else {}
        )
        records = light_batch(
            write.values,
            timestamp=self.world.now_us // MS,
            size_in_bytes=100 * len(write.values),
            is_transactional=write.is_transactional,
            **ids,
        )
        self.asked[self.token] = write
        self.world.order(
            "client",
            Ask(to, self.token, ProduceRequest(write.acks, 3_000, [ProducePartition(*write.key, records)])),
        )

    def read(self, key: tuple[str, int]) -> None:
        to = self.leader(key) if self.dice.random() < 0.7 else broker_node(self.dice.choice(self.brokers))
        if to is None:
            return
        self.token += 1
        rack, isolation = (
            self.dice.choice(("", "a", "b")),
            self.dice.choice((READ_UNCOMMITTED, READ_COMMITTED)),
        )
        offset = (self.stable_positions if isolation else self.positions)[key]
        self.asked[self.token] = (key, isolation, offset)
        request = FetchRequest(0, [FetchPartition(*key, offset)], rack_id=rack, isolation_level=isolation)
        self.world.order("client", Ask(to, self.token, request))

    def take_answers(self) -> None:
        got = self.world.node("client").state.got
        answers, got[:] = got[:], []
        for token, answer in answers:
            asked = self.asked.pop(token, None)
            if isinstance(asked, Write | Marker):
                if asked.token == token:
                    (self.written if isinstance(asked, Write) else self.marked)(asked, answer)
            elif asked is not None and answer is not None:
                part = answer.partitions[0]
                assert not part.records or asked[2] >= part.log_start_offset, "read below the log start"
                (self.was_read_committed if asked[1] else self.was_read)(asked[0], part)

    def written(self, write: Write, answer: Any) -> None:
        producer = next(each for each in self.producers if each.number == write.producer)
        write.token = -1
        if answer is None:
            return
        error, offset = answer.partitions[0].error_code, answer.partitions[0].base_offset
        if error == ErrorCode.OUT_OF_ORDER_SEQUENCE_NUMBER or error == ErrorCode.INVALID_PRODUCER_EPOCH:
            # What the partition knew of this producer is lost: a new epoch begins, in every partition.
            producer.epoch += 1
            producer.sequences.clear()
            self.done["producer_reset"] += 1
            for other in producer.open.values():
                if isinstance(other, Write):
                    other.sequence = 0
        elif not error:
            del producer.open[write.key]
            producer.sequences[write.key] = write.sequence + len(write.values)
            confirmed = self.acked if write.acks == -1 else self.acked_1
            confirmed += [(write.key, offset + number, value) for number, value in enumerate(write.values)]
            if write.is_transactional:
                marker = producer.open[write.key] = Marker(
                    write.producer, write.key, self.dice.random() < 0.5
                )
                self.fates |= dict.fromkeys(write.values, marker.is_commit)
                self.send(marker)

    def marked(self, marker: Marker, answer: Any) -> None:
        """The transaction has ended in its partition, or the marker goes again. A newer epoch has taken an
        old one's place."""
        marker.token = -1
        if answer is not None and answer.results[0][3] in (0, ErrorCode.INVALID_PRODUCER_EPOCH):
            producer = next(each for each in self.producers if each.number == marker.producer)
            del producer.open[marker.key]

    def was_read(self, key: tuple[str, int], answer: Any) -> None:
        if answer.error_code == ErrorCode.OFFSET_OUT_OF_RANGE:
            self.positions[key] = self.log_start(key)
        for batch in answer.records:
            for number, value in enumerate((None,) if batch.header.is_control else batch.values):
                offset = batch.header.base_offset + number
                if offset >= self.positions[key] and (value is not None or batch.header.is_control):
                    self.laws.consumed(key, offset, value)
            self.positions[key] = max(self.positions[key], batch.header.next_offset)

    def was_read_committed(self, key: tuple[str, int], answer: Any) -> None:
        """As the consumer does it: batches of producers whose transaction was aborted are passed over, from
        its first offset to its marker.

        Where records were lost a marker may be among them, and a later one ends both transactions.
        """
        if answer.error_code == ErrorCode.OFFSET_OUT_OF_RANGE:
            self.stable_positions[key] = self.log_start(key)
        aborted, gone = deque(sorted(answer.aborted or (), key=lambda each: each.first_offset)), set()
        for batch in answer.records:
            header = batch.header
            while aborted and aborted[0].first_offset <= header.last_offset:
                gone.add(aborted.popleft().producer_id)
            if header.is_control:
                if batch.control_type()[0] is ControlType.ABORT:
                    gone.discard(header.producer_id)
            elif not (header.is_transactional and header.producer_id in gone):
                for number, value in enumerate(batch.values):
                    if value is not None and header.base_offset + number >= self.stable_positions[key]:
                        self.laws.consumed(key, header.base_offset + number, value)
                        is_wrong = header.is_transactional and not self.fates.get(value, False)
                        assert not is_wrong or any(loss.partition == key for loss in self.laws.losses), (
                            key,
                            value,
                            "aborted or open, and read",
                        )
                        self.done["read_committed"] += 1
            self.stable_positions[key] = max(self.stable_positions[key], header.next_offset)

    # -- the end

    def calm_down(self) -> None:
        """Everything is mended; then the cluster must come to rest with every partition led and in sync."""
        world = self.world
        for broker in self.brokers:
            for other in [*self.brokers, CONTROLLER, "client"]:
                if other != broker:
                    try:
                        verbs.heal_link(world, broker, other)
                    except CommandError:
                        pass
                    verbs.slow_link(world, broker, other, None)
            verbs.slow_disk(world, broker, 0)
        self.pass_time(1_000 * MS)
        for broker in self.brokers:
            for mend in (verbs.resume, verbs.come_back):
                try:
                    mend(world, broker)
                except CommandError:
                    pass
        for _ in range(20):
            self.pass_time(5_000 * MS)
        for broker in self.brokers:  # who was shutting down when things calmed down
            try:
                verbs.come_back(world, broker)
            except CommandError:
                pass
        for _ in range(20):
            self.pass_time(5_000 * MS)
        self.laws.check_calm()
        for key in self.keys:
            known = world.node(CONTROLLER).state.rules.topics["t"].partitions[key[1]]
            states = [world.node(broker_node(broker)).state for broker in known.replicas]
            # Cut to its high watermark inside a batch, a follower cannot append what comes: it gives up until
            # there is a new leader.
            failed = [
                state.broker_id
                for state in states
                if state.replicas[key].fetcher.is_failed and state.broker_id != known.leader
            ]
            self.done["failed_fetcher"] += len(failed)
            assert not failed or self.chosen["truncation"] is Truncation.HIGH_WATERMARK, (key, failed)
            assert known.leader >= 0 and {*known.isr, *failed} == set(known.replicas), (key, known, failed)
            if self.chosen["truncation"] is Truncation.HIGH_WATERMARK:
                continue  # a cut inside a batch has left a hole that cannot be fetched: copies stay different
            logs = [state.disk.logs[key] for state in states]
            assert (
                len({log.log_end_offset for log in logs}) == 1 == len({log.high_watermark for log in logs})
            ), key
        self.lost_acked = sum(not self.laws.check_acked(*record) for record in self.acked)
        self.lost_acked_1 = sum(not self.is_there(*record) for record in self.acked_1)

    @property
    def may_lose(self) -> bool:
        """Whether the model allows that what acks=-1 has confirmed is lost, in this life."""
        chosen = self.chosen
        return chosen["destroys"] or chosen["unclean"] or chosen["truncation"] is Truncation.HIGH_WATERMARK

    def is_there(self, key: tuple[str, int], offset: int, value: str) -> bool:
        ledger = self.laws.ledger(key)
        return offset < ledger.start or (
            offset < ledger.end and ledger.entries[offset - ledger.start].value == value
        )
