"""The Kafka lane: records into partitions, members that read them. Membership and rebalances are in `kafka_group.py`."""

from broker_core.errors import InvariantError
from broker_core.events import Json
from broker_core.hashing.murmur2 import murmur2
from broker_core.kafka.assignors import ASSIGNORS
from broker_core.kafka.assignors.protocol import NO_GENERATION
from broker_core.kafka.group.coordinator import EMPTY, STABLE
from broker_core.kafka.producer.partitioner import partition_for_key
from broker_core.lab.consumer import LIVE, Consumer
from broker_core.lab.keys import NO_KEY
from broker_core.lab.rigs.kafka_group import Client, KafkaGroupRig, Partition

KEYLESS_STREAM = "kafka.keyless"
"""Of the seed, from which the partitions of keyless records are drawn."""


class KafkaRig(KafkaGroupRig):
    @classmethod
    def algorithms(cls) -> list[Json]:
        return [{"id": name, "document": assignor.document} for name, assignor in ASSIGNORS.items()]

    # -- traffic ------------------------------------------------------------------------------------------------------------------------

    def partition_of(self, code: int) -> int:
        number = self.partition_cache.get(code)
        if number is None:
            number = self.partition_cache[code] = partition_for_key(self.texts.key_bytes(code), len(self.partitions))
        return number

    def on_arrival(self, index: int, code: int) -> None:
        if code == NO_KEY:
            number = self.keyless_partition(index)
        else:
            number = self.partition_cache.get(code, -1)
            if number < 0:
                number = self.partition_of(code)
        partition = self.partitions[number]
        partition.end += 1
        partition.codes.append(code)
        if partition.holder is not None and partition.stopped_us is None:
            client = self.clients.get(partition.holder)
            if client is not None and client.hand < 0:
                consumer = self.consumers.get(client.name)
                if consumer is not None and consumer.session == client.session and consumer.state == LIVE:
                    self.take_from(consumer, client)

    def keyless_partition(self, index: int) -> int:
        """The producer sticks to one partition for a batch's worth of bytes, then draws another; no queues are modelled, so evenly."""
        return self.keyless.place(len(self.texts.payload(index).encode()), len(self.partitions), lambda: self.random.bits(KEYLESS_STREAM, 31))

    def take(self, consumer: Consumer) -> None:
        client = self.client_of(consumer)
        if client is not None and client.hand < 0 and consumer.is_working:
            self.take_from(consumer, client)

    def take_from(self, consumer: Consumer, client: Client) -> None:
        """One poll: the next record of the next partition, in turn, that has one."""
        owned, partitions = client.owned, self.partitions
        count = len(owned)
        for step in range(client.turn, client.turn + count):
            number = owned[step % count]
            partition = partitions[number]
            offset = partition.position
            if offset < partition.end:
                client.turn = (step + 1) % count
                client.hand = number
                partition.position = offset + 1
                if offset < partition.high_read:
                    self.redelivered += 1
                else:
                    partition.high_read = offset + 1
                self.start(consumer, offset)
                return

    def on_done(self, consumer: Consumer, record: int) -> None:
        client = self.client_of(consumer)
        if client is None:
            raise InvariantError(f"{consumer.name} finished a record without a session")
        partition = self.partitions[client.hand]
        if record >= partition.high_done:
            partition.high_done = record + 1
        else:
            self.tally.order.count += partition.is_out_of_order(record)
        client.hand = -1
        if client.commit_due or client.must_rejoin or client.pending is not None:
            self.poll(consumer, client)
            self.fold_darkness()
        if consumer.state == LIVE and client.hand < 0:
            self.take_from(consumer, client)

    # -- who owns what ------------------------------------------------------------------------------------------------------------------

    def weights(self) -> dict[str, int]:
        weights = {client.name: 0 for client in self.clients.values()}
        for partition, name in zip(self.partitions, self.holders(), strict=True):
            if name is not None:
                weights[name] += partition.end
        return weights

    def key_owners(self) -> list[str | None]:
        holders = self.holders()
        live = self.keys.count_at(self.next_record)
        return [holders[self.partition_of(code)] for code in self.keys.codes[:live]]

    def units(self) -> dict[str, str | None]:
        return {str(number): name for number, name in enumerate(self.holders())}

    def space(self) -> None:
        return None

    def is_settled(self) -> bool:
        group = self.group
        if group.state == EMPTY:
            return not self.clients
        return group.state == STABLE and not any(client.must_rejoin or client.pending is not None for client in self.clients.values())

    def is_dark(self, partition: Partition) -> bool:
        """Whether nobody who is alive reads this partition."""
        return partition.stopped_us is not None or partition.holder is None

    def dark_units(self) -> tuple[int, int]:
        return sum(map(self.is_dark, self.partitions)), len(self.partitions)

    def stuck(self) -> tuple[int, int]:
        live = self.keys.count_at(self.next_record)
        if not live:
            return self.dark_units()
        dark = [self.is_dark(partition) for partition in self.partitions]
        return sum(dark[self.partition_of(code)] for code in self.keys.codes[:live]), live

    def waiting_for(self, consumer: Consumer) -> int:
        client = self.client_of(consumer)
        if client is None:
            return 0
        return sum(self.partitions[number].end - self.partitions[number].position for number in client.owned) + (client.hand >= 0)

    def way_in(self) -> str:
        return "cooperative" if self.assignor.cooperative else "eager"

    def check_invariants(self) -> None:
        owned: dict[int, str] = {}
        for client in self.clients.values():
            for number in client.owned:
                if number in owned:
                    raise InvariantError(f"partition {number} is read by {owned[number]} and {client.member_id}")
                owned[number] = client.member_id
        for number, partition in enumerate(self.partitions):
            if not 0 <= partition.committed <= partition.position <= partition.end:
                raise InvariantError(f"partition {number}: committed {partition.committed}, position {partition.position}, end {partition.end}")

    # -- looking ------------------------------------------------------------------------------------------------------------------------

    def held(self, consumer: Consumer) -> int:
        client = self.client_of(consumer)
        return 0 if client is None else sum(self.partitions[n].position - self.partitions[n].committed for n in client.owned)

    def state_word(self, consumer: Consumer) -> str:
        client = self.client_of(consumer)
        if consumer.state == LIVE and client is not None and client.generation == NO_GENERATION:
            return "waiting"
        return self.ordinary_state(consumer)

    def stopped_since_us(self) -> int | None:
        return min((p.stopped_us for p in self.partitions if p.stopped_us is not None), default=None)

    def lag(self) -> int:
        return sum(partition.end - partition.position for partition in self.partitions) + sum(c.hand >= 0 for c in self.clients.values())

    def route(self, index: int, code: int) -> Json:
        number = (self.keyless.partition or 0) if code == NO_KEY else self.partition_of(code)
        key_hash = None if code == NO_KEY else murmur2(self.texts.key_bytes(code)) & 0x7FFFFFFF
        partition = self.partitions[number]
        waits = partition.holder is None or partition.stopped_us is not None
        return {"hash": key_hash, "unit": str(number), "consumer": self.name_of(partition.holder), "place": None, "waits": waits}

    def picture(self) -> Json:
        group, before = self.group, self.units_before()
        partitions = {
            str(number): {
                "owner": self.name_of(partition.holder), "before": before.get(str(number)), "lag": partition.end - partition.position,
                "end": partition.end, "position": partition.position, "committed": partition.committed,
                "stopped": partition.stopped_us is not None,
            }
            for number, partition in enumerate(self.partitions)
        }  # fmt: skip
        return {
            "kind": "grid", "topic": self.topic, "state": group.state, "generation": group.generation, "leader": self.name_of(group.leader),
            "partitions": partitions, "max_lag": max(p.end - p.position for p in self.partitions),
        }  # fmt: skip
