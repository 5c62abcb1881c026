"""The TubeMQ lane: records into partitions, clients that read them. Who holds what is decided in `tubemq_group.py`.

How a record finds its partition is *our own* router (TubeMQ's producers choose by themselves): unsigned Java hash of the key modulo the
number of partitions, records without a key in turn.
"""

from broker_core.errors import InvariantError
from broker_core.events import Json
from broker_core.hashing.java_hash import java_text, string_hash_unsigned
from broker_core.lab.consumer import CRASHED, GONE, LIVE, Consumer
from broker_core.lab.keys import NO_KEY
from broker_core.lab.rigs.tubemq_group import EMPTY_REST_US, STARTED, TICK_US, WAKE, TubeMqGroupRig


class TubeMqRig(TubeMqGroupRig):
    @classmethod
    def algorithms(cls) -> list[Json]:
        return [{"id": "modulo", "document": False}]

    # -- traffic ------------------------------------------------------------------------------------------------------------------------

    def partition_of(self, code: int) -> str:
        key = self.router_cache.get(code)
        if key is None:
            number = string_hash_unsigned(java_text(self.texts.key_bytes(code))) % len(self.partition_keys)
            key = self.router_cache[code] = self.partition_keys[number]
        return key

    def on_arrival(self, index: int, code: int) -> None:
        if code == NO_KEY:
            key = self.partition_keys[self.keyless_next]
            self.keyless_next = (self.keyless_next + 1) % len(self.partition_keys)
        else:
            key = self.router_cache.get(code) or self.partition_of(code)
        self.partitions[key].end += 1

    def take(self, consumer: Consumer) -> None:
        """getMessage of the next idle partition; those without data rest."""
        client = self.clients.get(consumer.name)
        if client is None or client.state != STARTED or client.hand or not consumer.is_working:
            return
        idle = client.idle
        while idle:
            key = idle.popleft()
            partition = self.partitions[key]
            client.last_read_us = self.now_us
            if partition.confirmed < partition.end:
                client.hand = key
                if partition.confirmed < partition.high_read:
                    self.redelivered += 1
                else:
                    partition.high_read = partition.confirmed + 1
                self.start(consumer, partition.confirmed)
                return
            if not client.resting:
                self.timer(self.now_us + EMPTY_REST_US, WAKE, client.name, client.token)
            client.resting.append(key)

    def on_done(self, consumer: Consumer, record: int) -> None:
        client = self.clients[consumer.name]
        key, client.hand = client.hand, ""
        self.partitions[key].confirmed += 1
        client.idle.append(key)
        self.take(consumer)

    # -- who owns what ------------------------------------------------------------------------------------------------------------------

    def owner_name(self, key: str) -> str | None:
        """Who is registered for this partition at its broker."""
        session = self.partitions[key].owner
        if session is None:
            return None
        return session.partition("~")[0]

    def weights(self) -> dict[str, int]:
        weights = {name: 0 for name, consumer in self.consumers.items() if consumer.state != GONE}
        for key, name in self.units().items():
            if name is not None:
                weights[name] = weights.get(name, 0) + self.partitions[key].end
        return weights

    def key_owners(self) -> list[str | None]:
        owners = self.units()
        live = self.keys.count_at(self.next_record)
        return [owners[self.partition_of(code)] for code in self.keys.codes[:live]]

    def space(self) -> None:
        return None

    def is_settled(self) -> bool:
        return all(client.state == STARTED for client in self.clients.values()) and all(
            self.partitions[key].owner is not None or name is None or name in self.absent for key, name in self.units().items()
        )

    def check_invariants(self) -> None:
        for client in self.clients.values():
            for key in client.registered:
                if self.partitions[key].owner != client.session:
                    raise InvariantError(f"{client.session} believes it holds {key}, its broker says {self.partitions[key].owner}")
        for key, partition in self.partitions.items():
            if not 0 <= partition.confirmed <= partition.high_read <= partition.end:
                raise InvariantError(f"{key}: confirmed {partition.confirmed}, read {partition.high_read}, end {partition.end}")

    def dark_units(self) -> tuple[int, int]:
        return sum(map(self.is_dark, self.partition_keys)), len(self.partition_keys)

    def is_dark(self, key: str) -> bool:
        """Whether nobody who is alive reads this partition."""
        partition = self.partitions[key]
        return partition.owner is None or partition.stopped_us is not None

    def stuck(self) -> tuple[int, int]:
        live = self.keys.count_at(self.next_record)
        if not live:
            return self.dark_units()
        dark = {key for key in self.partition_keys if self.is_dark(key)}
        return sum(self.partition_of(code) in dark for code in self.keys.codes[:live]), live

    def waiting_for(self, consumer: Consumer) -> int:
        client = self.clients.get(consumer.name)
        return 0 if client is None else sum(self.partitions[key].end - self.partitions[key].confirmed for key in client.registered)

    def way_in(self) -> str:
        return "restart"

    # -- looking ------------------------------------------------------------------------------------------------------------------------

    def held(self, consumer: Consumer) -> int:
        client = self.clients.get(consumer.name)
        return int(client is not None and bool(client.hand))

    def state_word(self, consumer: Consumer) -> str:
        client = self.clients.get(consumer.name)
        if consumer.state == LIVE and (client is None or client.state != STARTED):
            return "waiting"
        return self.ordinary_state(consumer)

    def stopped_since_us(self) -> int | None:
        return min((p.stopped_us for p in self.partitions.values() if p.stopped_us is not None), default=None)

    def lag(self) -> int:
        return sum(partition.end - partition.confirmed for partition in self.partitions.values())

    def route(self, index: int, code: int) -> Json:
        if code == NO_KEY:
            key = self.partition_keys[self.keyless_next - 1]
            key_hash = None
        else:
            key = self.partition_of(code)
            key_hash = string_hash_unsigned(java_text(self.texts.key_bytes(code)))
        waits = self.partitions[key].stopped_us is not None
        return {"hash": key_hash, "unit": key, "consumer": self.units()[key], "place": None, "waits": waits}

    def picture(self) -> Json:
        clients = {}
        for name, consumer in self.consumers.items():
            client = self.clients.get(name) or self.ghosts.get(consumer.session)
            if client is None and name in self.absent:
                clients[name] = {
                    "node_id": self.absent[name], "state": "gone", "next_tick_us": None, "tick_period_us": TICK_US, "refused_code": None,
                }  # fmt: skip
            elif client is not None:
                state = "crashed" if consumer.state == CRASHED else client.state
                clients[name] = {
                    "node_id": client.node_id, "state": state, "next_tick_us": client.next_tick_us, "tick_period_us": TICK_US,
                    "refused_code": client.refused_code or None,
                }  # fmt: skip
        partitions, assigned, before = {}, self.units(), self.units_before()
        for key, partition in self.partitions.items():
            broker, _, number = key.split(":")
            partitions[key] = {
                "broker": int(broker), "id": int(number), "assigned": assigned[key], "owner": self.owner_name(key),
                "before": before.get(key), "lag": partition.end - partition.confirmed,
                "stopped": partition.stopped_us is not None,
            }  # fmt: skip
        return {
            "kind": "clients", "source_count": self.source_count, "topic": self.options["topic"], "brokers": self.brokers,
            "clients": clients, "partitions": partitions,
        }  # fmt: skip
