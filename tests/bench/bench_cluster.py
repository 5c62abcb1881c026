"""What a Kafka cluster of 3 brokers costs: replicated records headless in batches, and the Stage's lane
record by record. CPU time, one process.

    batches  producer program ─► 12 partitions, 3 replicas, acks=-1 ─► no consumer        a record counts when the high watermark has passed it
    lane     a lab's Kafka lane on the cluster, with its consumers; then the four lanes

Run alone: python -m tests.bench.bench_cluster
"""

import time

from broker_core.kafka.client.producer import orders
from broker_core.kafka.client.producer.node import ClusterProducer
from broker_core.kafka.client.producer.settings import ProducerSettings
from broker_core.kafka.client.producer.state import ProducerState
from broker_core.kafka.cluster import cluster
from broker_core.kafka.cluster.cluster import ClusterPlan, TopicPlan
from broker_core.kafka.cluster.state import BrokerState
from broker_core.kafka.error_codes import ErrorCode
from broker_core.lab.lab import Lab
from broker_core.lab.scenario import LANE_KINDS, scenario_from_json
from broker_core.sim.design import Design
from broker_core.sim.world import World

SECOND_US = 1_000_000
BATCH, PARTITIONS = 100, 12
STRETCHES = 8
WARM_S = 8

Figure = tuple[str, float, str, str, str]


class Unheard:
    """An application that does not look at what its producer hears."""

    def acked(
        self,
        producer: str,
        partition: tuple[str, int],
        base_offset: int,
        values: list[int],
        attempts: int,
        now_us: int,
    ) -> None: ...

    def failed(
        self, producer: str, partition: tuple[str, int], error: ErrorCode, values: list[int], now_us: int
    ) -> None:
        raise AssertionError(f"{producer} lost {len(values)} records of {partition}: {error.name}")


def run() -> list[Figure]:
    kafka = (
        lane_cpu_us(36, 3, ("kafka",)),
        lane_cpu_us(500, 12, ("kafka",)),
        lane_cpu_us(2_000, 12, ("kafka",)),
    )
    four = {rate: 1e6 / lane_cpu_us(rate, 12, tuple(LANE_KINDS)) for rate in (2_000, 500)}
    return [
        (
            f"cluster: replicated records, batches of {BATCH}",
            replicated_per_s(),
            "records/s of CPU",
            ">= 50,000",
            "3 brokers, 12 partitions",
        ),
        ("cluster: Kafka lane, the demo", kafka[0], "us of CPU a record", "", ""),
        ("cluster: Kafka lane, 500 a second, 12 consumers", kafka[1], "us of CPU a record", "", ""),
        ("cluster: Kafka lane, 2,000 a second, 12 consumers", kafka[2], "us of CPU a record", "", ""),
        (
            "cluster: four lanes record by record",
            four[2_000],
            "records/s of CPU",
            ">= 8,000",
            "2,000 a second, 12 consumers, as `core` measures",
        ),
        (
            "cluster: four lanes record by record",
            four[500],
            "records/s of CPU",
            "",
            "500 a second, 12 consumers",
        ),
    ]


def replicated_per_s() -> float:
    """Records a CPU second that all three replicas have, of the best stretch; each batch holds BATCH records
    of one partition."""
    world = replicating()
    best = 0.0
    for _ in range(STRETCHES):
        before, began = committed(world), time.process_time()
        for _ in range(10):
            for partition in range(PARTITIONS):
                for value in range(BATCH):
                    world.order("producer", orders.Send(value, "t", -1, partition, 70))
            world.advance(world.now_us + 50_000)
        used = time.process_time() - began
        best = max(best, (committed(world) - before) / used)
    return best


def replicating() -> World:
    kinds = {**cluster.KINDS, "producer": (ProducerState, lambda state: ClusterProducer(state, Unheard()))}
    world = World("t", Design(kinds, cluster.MESSAGES | orders.ProducerOrder), seed=1)
    cluster.begin(world, ClusterPlan(3, (), (TopicPlan("t", PARTITIONS, 3),)), 1)
    settings = ProducerSettings(acks=-1, linger_us=5_000, batch_size=61 + BATCH * 70)
    world.start("producer", "producer", ProducerState.of(settings))
    world.advance(2 * SECOND_US)
    world.order("producer", orders.Connect([1, 2, 3], ["t"]))
    world.advance(3 * SECOND_US)
    return world


def committed(world: World) -> int:
    """Records below the high watermarks of all leaders."""
    total = 0
    for slot in world.slots.values():
        state = slot.node.state
        if isinstance(state, BrokerState):
            for replica in state.replicas.values():
                if replica.partition.is_leader and replica.partition.log is not None:
                    total += replica.partition.log.high_watermark
    return total


def lane_cpu_us(rate: int, consumers: int, models: tuple[str, ...]) -> float:
    """CPU microseconds a record, of the best of a few stretches. The consumers could take a fifth more."""
    lanes = [{"model": model, "brokers": 3} if model == "kafka" else {"model": model} for model in models]
    lab = Lab(
        scenario_from_json(
            {
                "consumers": consumers,
                "consumer_rate": rate * 6 // (5 * consumers),
                "workload": {"rate": rate},
                "lanes": lanes,
            }
        )
    )
    lab.advance_to(WARM_S * SECOND_US)
    best = float("inf")
    for _ in range(STRETCHES):
        first, began = lab.record_count, time.process_time()
        lab.advance_to(lab.now_us + max(SECOND_US // 5, 500 * SECOND_US // rate))
        best = min(best, (time.process_time() - began) * 1e6 / (lab.record_count - first))
    return best


if __name__ == "__main__":
    for what, value, unit, target, note in run():
        print(f"{what}: {value:,.1f} {unit} {target} {note}")
