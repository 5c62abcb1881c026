"""When another broker takes over: foreseen at the crash, and then it happens at that moment; nothing is
foreseen where nobody will."""

from broker_core.events import Json
from broker_core.lab.kafka.views.takeover import takeover_us
from broker_core.lab.lab import Lab
from broker_core.lab.scenario import scenario_from_json
from tests.core.lab.small import SECOND, lane_of, order

TOPIC = "records"


def cluster(seconds: float = 3) -> Lab:
    lane = {"model": "kafka", "brokers": 3, "partitions": 1, "replication_factor": 2, "offsets_partitions": 1}
    lab = Lab(
        scenario_from_json(
            {"lanes": [lane], "consumers": 0, "workload": {"kind": "uniform", "keys": 5, "rate": 5}}
        )
    )
    lab.advance_to(int(seconds * SECOND))
    return lab


def partition(lab: Lab) -> Json:
    found: Json = lab.view()["lanes"]["kafka"]["cluster"]["partitions"][f"{TOPIC}-0"]
    return found


def foreseen(lab: Lab, number: int = 0, topic: str = TOPIC) -> int | None:
    return takeover_us(lane_of(lab).world, topic, number)


def test_leader_that_crashed_is_replaced_at_the_moment_that_was_foreseen() -> None:
    lab = cluster()
    leader, (other,) = (
        partition(lab)["leader"],
        [broker for broker in partition(lab)["isr"] if broker != partition(lab)["leader"]],
    )
    assert foreseen(lab) is None, "it runs"
    order(lab, "cluster_crash", broker=leader)
    at_us = foreseen(lab)
    assert at_us is not None and lab.now_us < at_us <= lab.now_us + 9 * SECOND + SECOND
    lab.advance_to(at_us - 1)
    assert partition(lab)["leader"] == leader and foreseen(lab) == at_us, "waiting changes nothing"
    lab.advance_to(at_us + SECOND // 10)
    assert partition(lab)["leader"] == other and foreseen(lab) is None


def test_paused_leader_is_as_silent_as_a_dead_one() -> None:
    lab = cluster()
    order(lab, "cluster_pause", broker=partition(lab)["leader"])
    assert foreseen(lab) is not None


def test_another_brokers_crash_takes_nothing_over() -> None:
    lab = cluster()
    (idle,) = {1, 2, 3} - set(partition(lab)["replicas"])
    order(lab, "cluster_crash", broker=idle)
    assert foreseen(lab) is None


def test_where_no_replica_in_sync_is_alive_nobody_will_take_over() -> None:
    lab = cluster()
    for broker in partition(lab)["isr"]:
        order(lab, "cluster_crash", broker=broker)
    assert foreseen(lab) is None


def test_of_a_partition_that_is_not_there_nothing_is_foreseen() -> None:
    lab = cluster()
    order(lab, "cluster_crash", broker=partition(lab)["leader"])
    assert foreseen(lab, 1) is None and foreseen(lab, 0, "other") is None and foreseen(lab) is not None


def test_leader_that_comes_back_in_time_keeps_its_partition() -> None:
    lab = cluster()
    leader = partition(lab)["leader"]
    order(lab, "cluster_pause", broker=leader, seconds=1)
    order(lab, "cluster_resume", broker=leader, seconds=1)
    assert foreseen(lab) is None and partition(lab)["leader"] == leader
