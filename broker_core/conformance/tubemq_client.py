"""Lives of TubeMQ's client-balanced consumers, recorded with the real master and brokers, played on ours: what each
call gave, who owns what, and the groups at the master. Exact."""

from __future__ import annotations

from collections.abc import Iterator
from functools import partial
from typing import Any

from broker_core.conformance.outbox import Answers
from broker_core.conformance.result import CaseResult, case, passed
from broker_core.conformance.tubemq_master import configured_brokers, shown_group
from broker_core.sim.node import Closed
from broker_core.tubemq import requests as r
from broker_core.tubemq.broker import Broker, BrokerState, Partition
from broker_core.tubemq.client.call_results import CallResult, CodedResult
from broker_core.tubemq.client.client_balance_consumer import ClientBalanceConsumer
from broker_core.tubemq.client.consumer_object import ASSIGNER, ConsumerConfig, ConsumerObject
from broker_core.tubemq.client.message_calls import LOOK
from broker_core.tubemq.master import BALANCE, Master, MasterState
from broker_core.tubemq.message_log import HEADER_BYTES, MessageLog
from broker_core.tubemq.partition_key import PartitionKey, partition_ids

Json = dict[str, Any]

SIZE = 100
MASTER = 10_000
"""The client's connection to its master; that to a broker has the broker's id."""
RELEASE_WAIT_US = 300_000
SECOND_US, STEP_US = 1_000_000, 50_000


def run_client_life(document: Json) -> Iterator[CaseResult]:
    """Whole lives of consumers, call by call."""
    for row in document.get("cases", []):
        yield case(row["id"], partial(_life, row))


def _life(row: Json) -> CaseResult:
    cluster = Cluster(row)
    for number, step in enumerate(row["steps"]):
        expected = {name: value for name, value in step["result"].items() if name != "msg"}
        got = cluster.act(step["do"])
        if got != expected:
            return CaseResult(row["id"], "failed", {"step": number, "do": step["do"], **expected}, got)
    return passed(row["id"])


class Wire(Answers):
    """What a client sends, by connection: a broker's has its id."""

    def __init__(self) -> None:
        super().__init__()
        self.sent: list[tuple[int, Any]] = []

    def connect(self, to: str) -> int:
        return int(to)

    def send(self, connection: int, message: Any) -> None:
        self.sent.append((connection, message))


class Cluster:
    """A master, brokers and consumers in one process; time passes only where a client waits."""

    def __init__(self, row: Json) -> None:
        brokers = configured_brokers(row["brokers"])
        for broker in brokers.values():  # the file shows them as they were when the run was over
            broker.is_online = True
        self.log = row["log"]
        state = MasterState(brokers)
        state.authorized = {"secret": []}
        self.master, self.answers = Master(state), Answers()
        self.brokers = {}
        for broker_id, broker in brokers.items():
            partitions = {
                str(PartitionKey(broker_id, topic, number)): self.partition()
                for topic, placed in broker.topics.items()
                for number in partition_ids(placed.stores, placed.partitions_per_store)
            }
            batch = self.log["max_messages_per_read"] * (HEADER_BYTES + SIZE)
            self.brokers[broker_id] = Broker(BrokerState(broker_id, partitions, batch))
        self.unreachable: set[int] = set()
        self.clients: dict[str, ClientBalanceConsumer] = {}
        self.wires: dict[str, Wire] = {}
        self.contexts: dict[str, str] = {}
        self.now_us = 0

    def partition(self) -> Partition:
        start, end = (self.log[name] // self.log["entry_bytes"] for name in ("min_offset", "max_offset"))
        log = MessageLog(start, list(range(start, end)), [HEADER_BYTES + SIZE] * (end - start))
        return Partition(end, log=log, keeps_read=True)

    # -- steps -----------------------------------------------------------------------------------------------

    def act(self, do: Json) -> Json:
        match do["op"]:
            case "wait_ms":
                self.now_us += do["ms"] * 1_000
            case "broker_offline" | "broker_online":
                self.master.state.brokers[do["id"]].is_online = do["op"] == "broker_online"
                self.master.wake(BALANCE, 0, self.answers)
            case "broker_unreachable":
                self.unreachable.add(do["id"])
            case "broker_reachable":
                self.unreachable.discard(do["id"])
            case "append":
                self.append(do)
            case "owners":
                return {"owners": self.owners()}
            case "group":
                return {"group": shown_group(self.master.state, do["group"])}
            case "null_result":  # ours give their result, so there is none to leave out
                return {"exception": "TubeClientException"}
            case "new":
                return self.new(do)
            case _:
                return self.call(do)
        return {"code": 0}

    def append(self, do: Json) -> None:
        topic, _, number = do["part"].rpartition("-")
        partition = self.brokers[do["id"]].state.partitions[f"{do['id']}:{topic}:{number}"]
        for _ in range(do["messages"]):
            partition.log.append(partition.end, SIZE)
            partition.end += 1

    def owners(self) -> Json:
        return {
            f"{broker_id}/{group}:{key.partition(':')[2]}": place.owner
            for broker_id, broker in self.brokers.items()
            for key, partition in (broker.state.partitions | broker.state.absent).items()
            for group, place in partition.groups.items()
            if place.owner
        }

    def new(self, do: Json) -> Json:
        name = do["client"]
        config = ConsumerConfig(do["position"], 0, RELEASE_WAIT_US, ready_wait_us=0, start_tries=1)
        state = ConsumerObject(f"<{name}>", do["group"], config)
        state.masters.names, state.brokers = (
            [str(MASTER)],
            {broker_id: str(broker_id) for broker_id in self.brokers},
        )
        self.clients[name], self.wires[name] = ClientBalanceConsumer(state), Wire()
        return self.counts(name)

    def counts(self, name: str) -> Json:
        client = self.clients[name]
        return {
            "shutdown": client.is_shutdown(),
            "source_count": client.get_source_count(),
            "node_id": client.get_node_id(),
        }

    def call(self, do: Json) -> Json:
        name, client, wire = do["client"], self.clients[do["client"]], self.wires[do["client"]]
        began_us = self.now_us
        took: CallResult | None
        match do["op"]:
            case "registered":
                return {"partitions": client.get_cur_registered_part_set()}
            case "offsets":
                infos = client.get_cur_partition_offset_infos().items()
                return {
                    "offsets": {
                        key: {"curr": info.curr_offset, "max": info.max_offset} for key, info in infos
                    }
                }
            case "start":
                took = client.start(do["topics"], do["source_count"], do["node_id"], self.now_us, wire)
            case "meta":
                took = client.get_partition_meta_info(self.now_us, wire)
            case "ready":
                took = client.is_partitions_ready(do["max_wait_ms"] * 1_000, self.now_us, wire)
            case "connect":
                took = client.connect_2_partition(do["partition"], do["offset"], self.now_us, wire)
            case "disconnect":
                took = client.disconnect_from_partition(do["partition"], self.now_us, wire)
            case "get":
                took = client.get_message(self.now_us, wire)
            case "confirm":
                context = self.contexts.get(name, "") if do["context"] == "$last" else do["context"] or ""
                try:
                    took = client.confirm_consume(context, do["consumed"], self.now_us, wire)
                except ValueError:
                    return {"exception": "IllegalArgumentException"}
            case "shutdown":
                took = client.shutdown(self.now_us, wire)
            case other:
                raise ValueError(f"unknown step {other!r}")
        self.deliver(client, wire)
        while client.result is None:
            self.now_us = max(self.now_us, wire.deadlines.pop(LOOK + ASSIGNER))
            client.wake(LOOK + ASSIGNER, self.now_us, wire)
            self.deliver(client, wire)
        took = took or client.result
        return self.shown(do, took, self.now_us - began_us)

    def shown(self, do: Json, took: CallResult, took_us: int) -> Json:
        name, op = do["client"], do["op"]
        if not isinstance(took, CodedResult):
            return {"exception": "RejectedExecutionException"}
        shown: Json = {"ok": took.is_success, "code": took.code}
        match op:
            case "start":
                return shown | self.counts(name)
            case "meta":
                return shown | {"status": took.status}
            case "ready":
                return {"ok": took.is_success, "took_ms_rounded_to_50": took_us // STEP_US * 50}
            case "connect":
                return shown | {"took_s": took_us // SECOND_US}
            case "shutdown":
                client = self.clients[name]
                return {"shutdown": client.is_shutdown(), "client_state": client.state.phase}
            case "confirm":
                offsets = {"curr": took.curr_offset, "max": took.max_offset}
                return shown | {"partition": took.partition, **offsets}
            case "get" if took.is_success:
                self.contexts[name] = took.context
                return shown | {
                    "partition": took.partition,
                    "curr": took.curr_offset,
                    "max": took.max_offset,
                    "messages": [f"m{number}" for number in took.messages],
                }
            case "get":
                return shown | {"partition": None, "curr": None, "max": None, "messages": []}
        return shown

    def deliver(self, client: ClientBalanceConsumer, wire: Wire) -> None:
        """Bring what the client has sent where it goes, and the answers back."""
        while wire.sent:
            connection, message = wire.sent.pop(0)
            if connection in self.unreachable:
                client.receive(connection, Closed("reset"), self.now_us, wire)
                continue
            node: Any = self.master if connection == MASTER else self.brokers[connection]
            node.receive(1, message, 0, self.answers)
            if not isinstance(message, r.CloseRequestC2M):
                client.receive(connection, self.answers.take_one(), self.now_us, wire)
