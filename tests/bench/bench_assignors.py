"""How fast the assignors are, beside kafka-python's in the same run.

Prints a table when run as a script; `make bench` calls `run()`. kafka-python's sticky assignor is run once,
in a separate process as it needs gigabytes, and stopped after 120 s; the ratio then is a lower bound and the
note says so.
"""

import gc
import multiprocessing
import time
from collections.abc import Callable, Mapping
from types import SimpleNamespace
from typing import Any

from kafka.coordinator.assignors.range import RangePartitionAssignor
from kafka.coordinator.assignors.roundrobin import RoundRobinPartitionAssignor
from kafka.coordinator.assignors.sticky.sticky_assignor import StickyPartitionAssignor
from kafka.structs import TopicPartition

from broker_core.kafka.assignors import ASSIGNORS, Assignment, StickyUserData, Subscription

Figure = tuple[str, float, str, str, str]

TOPIC_COUNT = 20
OTHERS_TIME_LIMIT_S = 120
STICKY_SIZES = ((1_000, 20_000), (2_000, 200_000))
"""(members, partitions): beside kafka-python, and larger."""
REPEATS = 5


def run() -> list[Figure]:
    """Measure everything. Returns (what, value, unit, bar, note) rows."""
    figures: list[Figure] = []
    (members, partitions), (more_members, more_partitions) = STICKY_SIZES
    ours = _sticky_figures(figures, member_count=members, partition_count=partitions, bar="at most 100 ms")
    _sticky_figures(
        figures, member_count=more_members, partition_count=more_partitions, bar="at most 1,500 ms"
    )
    for fresh_or_not, seconds in ours.items():
        theirs, note = _time_of_others_sticky(
            members, partitions, has_prior=fresh_or_not == "one joins", limit_s=OTHERS_TIME_LIMIT_S
        )
        what = f"Sticky, {members:,} members x {partitions:,} partitions, {fresh_or_not}: kafka-python's time over ours"
        figures.append((what, round(theirs / seconds), "times", "at least 300", note))
    for assignor_id, other in (
        ("range", RangePartitionAssignor),
        ("roundrobin", RoundRobinPartitionAssignor),
    ):
        for topic_count in (1, TOPIC_COUNT):
            figures.append(_against(assignor_id, other, topic_count))
    return figures


def _sticky_figures(
    figures: list[Figure], member_count: int, partition_count: int, bar: str
) -> dict[str, float]:
    """Time both sticky kinds, from nothing and when one member joins; give the eager one's seconds."""
    counts = _counts(partition_count)
    fresh = _fresh(member_count)
    seconds: dict[str, float] = {}
    for assignor_id in ("sticky", "cooperative-sticky"):
        assign = ASSIGNORS[assignor_id].assign
        joined = _with_newcomer(fresh, assign(fresh, counts))
        for state, subscriptions in (("fresh", fresh), ("one joins", joined)):
            best = _best(lambda assign=assign, subscriptions=subscriptions: assign(subscriptions, counts))
            what = f"{assignor_id}, {member_count:,} members x {partition_count:,} partitions, {state}"
            figures.append(
                (what, round(best * 1000, 1), "ms", bar, f"best of {REPEATS}, {TOPIC_COUNT} topics")
            )
            if assignor_id == "sticky":
                seconds[state] = best
    return seconds


def _against(assignor_id: str, other: Any, topic_count: int) -> Figure:
    """Give how many times as long as ours kafka-python's assignor takes on the same group."""
    member_count, partition_count = STICKY_SIZES[0]
    counts = _counts(partition_count, topic_count)
    subscriptions = _fresh(member_count, topic_count)
    cluster, members = _for_kafka_python(subscriptions, counts)
    ours = theirs = float("inf")
    for _ in range(REPEATS):
        # In turn, so that a busy moment of the machine meets both.
        ours = min(ours, _best(lambda: ASSIGNORS[assignor_id].assign(subscriptions, counts), repeats=2))
        theirs = min(theirs, _best(lambda: other.assign(cluster, members), repeats=2))
    note = f"ours {ours * 1000:.1f} ms, kafka-python {theirs * 1000:.1f} ms, best of {2 * REPEATS}"
    what = (
        f"{assignor_id}, {member_count:,} members x {partition_count:,} partitions in {topic_count} topics: "
        f"kafka-python's time over ours"
    )
    return what, round(theirs / ours, 2), "times", "at least 1", note


def _time_of_others_sticky(members: int, partitions: int, has_prior: bool, limit_s: int) -> tuple[float, str]:
    """Time kafka-python's sticky assignor once, on the same group; past the limit give the limit."""
    context = multiprocessing.get_context("spawn")
    answers = context.Queue()
    process = context.Process(target=_run_others_sticky, args=(members, partitions, has_prior, answers))
    process.start()
    process.join(limit_s)
    if process.is_alive():
        process.kill()
        process.join()
        return float(limit_s), f"lower bound: kafka-python was stopped after {limit_s} s"
    if process.exitcode:
        return 0.0, f"kafka-python's process ended with {process.exitcode}"
    seconds = answers.get()
    return seconds, f"kafka-python took {seconds:.1f} s, run once"


def _run_others_sticky(members: int, partitions: int, has_prior: bool, answers: Any) -> None:
    counts = _counts(partitions)
    subscriptions = _fresh(members)
    if has_prior:
        subscriptions = _with_newcomer(subscriptions, ASSIGNORS["sticky"].assign(subscriptions, counts))
    cluster, others = _for_kafka_python(subscriptions, counts)
    start = time.perf_counter()
    StickyPartitionAssignor().assign(cluster, others)
    answers.put(time.perf_counter() - start)


def _for_kafka_python(
    subscriptions: Mapping[str, Subscription], counts: Mapping[str, int]
) -> tuple[Any, list[Any]]:
    """Give the same group in kafka-python's terms: what its assignors ask of a cluster, and its members."""
    numbers = {topic: set(range(count)) for topic, count in counts.items()}
    cluster = SimpleNamespace(topics=lambda: set(counts), partitions_for_topic=numbers.get)
    sticky = StickyPartitionAssignor()
    members = []
    for member, subscription in subscriptions.items():
        sticky.member_assignment, sticky.generation = None, -1
        if subscription.user_data is not None:
            sticky.member_assignment = [
                TopicPartition(*partition) for partition in subscription.user_data.partitions
            ]
            sticky.generation = subscription.user_data.generation
        metadata = sticky.metadata(list(subscription.topics))
        members.append(SimpleNamespace(member_id=member, group_instance_id=None, metadata=metadata))
    return cluster, members


def _counts(partition_count: int, topic_count: int = TOPIC_COUNT) -> dict[str, int]:
    return {f"topic-{index}": partition_count // topic_count for index in range(topic_count)}


def _fresh(member_count: int, topic_count: int = TOPIC_COUNT) -> dict[str, Subscription]:
    topics = tuple(f"topic-{index}" for index in range(topic_count))
    # Ids of the length that Kafka makes: client id and a UUID.
    return {
        f"consumer-{index:04}-{index * 2654435761 % 2**128:032x}": Subscription(topics)
        for index in range(member_count)
    }


def _with_newcomer(fresh: Mapping[str, Subscription], given: Assignment) -> dict[str, Subscription]:
    joined = {
        member: Subscription(
            subscription.topics,
            owned=tuple(given[member]),
            generation=1,
            user_data=StickyUserData(tuple(given[member]), 1),
        )
        for member, subscription in fresh.items()
    }
    return joined | {"consumer-new": Subscription(next(iter(fresh.values())).topics)}


def _best(measured: Callable[[], object], repeats: int = REPEATS) -> float:
    """Give the shortest of a few runs, in seconds: what else the machine did only adds."""
    seconds = []
    # The groups that the bench itself keeps are not for the assignor's garbage collections to look through.
    gc.collect()
    gc.freeze()
    for _ in range(repeats):
        start = time.perf_counter()
        measured()
        seconds.append(time.perf_counter() - start)
    gc.unfreeze()
    return min(seconds)


if __name__ == "__main__":
    for what, value, unit, bar, note in run():
        print(f"{what}: {value} {unit} ({bar}; {note})")
