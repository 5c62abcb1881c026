"""What each file of recorded answers is of (product, version, algorithm), and how many of its answers the core gives.

    python -m broker_core.conformance tests/vectors --results dashboard/fidelity/results.json      (make fidelity)

A row per recording: `{"file", "product", "versions", "algorithms", "recorded", "met", "partly", "failed", "skipped"}`.
met: cases that hold, partly: those of them that are compared up to a point or by what is promised alone, skipped: id
-> reason.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from typing import Any

from broker_core.conformance.files import read_document
from broker_core.conformance.kinds import kind_of
from broker_core.conformance.result import CaseResult

Document = dict[str, Any]

CLIENTS, COORDINATOR = "3.9.2", "3.9.0-rc3"
OLD, NEWER, MASTER = "3.2.0", "3.2.1", "4.3.0-SNAPSHOT"
TUBEMQ, RABBITMQ = "a6c7a6a670", "3.10.8"
EXACT = ("exact_list", "exact_set")


@dataclass(frozen=True, slots=True)
class Recording:
    """file: below the folder of the vectors, without its ending. algorithms: those of a lane that it is about, none
    for what every lane of the product runs. part: the answers of these algorithms in a file that has others too."""

    file: str
    product: str
    versions: tuple[str, ...]
    algorithms: tuple[str, ...] = ()
    part: Callable[[Document], Document] | None = None

    def row(self, folder: Path) -> dict[str, Any]:
        """Run its cases. Raises UnreadableFile."""
        path = folder / f"{self.file}.json.gz"
        return self.row_of(read_document(path), path.name)

    def row_of(self, document: Document, name: str) -> dict[str, Any]:
        kind = kind_of(document, name)
        assert kind is not None, f"{self.file} is of an unknown kind"
        asked = document if self.part is None else self.part(document)
        return self.counted(list(kind.run(asked)), asked)

    def counted(self, results: Sequence[CaseResult], document: Document) -> dict[str, Any]:
        """The row of results that are there already. document: whose they are."""
        outcomes = [each.outcome for each in results]
        return {
            "file": self.file,
            "product": self.product,
            "versions": list(self.versions),
            "algorithms": list(self.algorithms),
            "recorded": len(results),
            "met": outcomes.count("passed"),
            "partly": sum(each.beyond is not None for each in results) + _promised_alone(document),
            "failed": outcomes.count("failed"),
            "skipped": {each.id: each.reason for each in results if each.outcome == "skipped"},
        }


def rows(folder: Path) -> Iterator[dict[str, Any]]:
    """A row for each recording, in the order of RECORDINGS."""
    for recording in RECORDINGS:
        yield recording.row(folder)


def _of_assignor(document: Document, assignor: str) -> Document:
    scenarios = [each for each in document["scenarios"] if assignor in each["results"]]
    return {
        **document,
        "scenarios": [{**each, "results": {assignor: each["results"][assignor]}} for each in scenarios],
    }


def _history_of_assignor(document: Document, assignor: str) -> Document:
    return {**document, "sequences": [each for each in document["sequences"] if each["assignor"] == assignor]}


def _of_ring(document: Document, version: str) -> Document:
    cases = [
        {
            **case,
            "steps": [
                {**step, "expect": {name: each for name, each in step["expect"].items() if name == version}}
                for step in case["steps"]
            ],
        }
        for case in document["cases"]
        if any(version in step["expect"] for step in case["steps"])
    ]
    return {**document, "cases": cases}


def _promised_alone(document: Document) -> int:
    """Cases in which the original's own choice hangs on the order of a hash map or of arrival."""
    single = [list(each["results"].values()) for each in document.get("scenarios", []) if "results" in each]
    histories = [
        [round_ for step in each["steps"] for round_ in step["rounds"]]
        for each in document.get("sequences", [])
    ]
    return sum(any(each.get("match") not in EXACT for each in answers) for answers in (*single, *histories))


def _assignors() -> Iterator[Recording]:
    for assignor in ("range", "roundrobin", "sticky", "cooperative-sticky"):
        of = partial(_of_assignor, assignor=assignor)
        yield Recording("kafka/assignors", "kafka", (CLIENTS,), (assignor,), of)
        if assignor != "roundrobin":  # which knows no racks, and none was recorded
            yield Recording("kafka/assignors_rack", "kafka", (CLIENTS,), (assignor,), of)
    for assignor in ("sticky", "cooperative-sticky"):
        of = partial(_history_of_assignor, assignor=assignor)
        yield Recording("kafka/assignor_sequences", "kafka", (CLIENTS,), (assignor,), of)


def _rings() -> Iterator[Recording]:
    for algorithm, version, name in (
        ("consistent_hash", NEWER, NEWER),
        ("consistent_hash_3_2_0", OLD, OLD),
        ("consistent_hash_current", MASTER, "current"),
    ):
        of = partial(_of_ring, version=name)
        yield Recording("pulsar/consistent_hash", "pulsar", (version,), (algorithm,), of)


SERVER_RULES = ("server_uniform", "server_range")
RECORDINGS: tuple[Recording, ...] = (
    *_rings(),
    Recording("pulsar/auto_split", "pulsar", (OLD, MASTER), ("auto_split",)),
    Recording("pulsar/sticky_ranges", "pulsar", (NEWER, MASTER), ("sticky",)),
    Recording("pulsar/failover", "pulsar", (OLD, MASTER), ("failover", "exclusive")),
    Recording("pulsar/shared_dispatch", "pulsar", (OLD, MASTER), ("shared",)),
    Recording(
        "pulsar/key_shared_order_3_2",
        "pulsar",
        (NEWER,),
        ("consistent_hash", "consistent_hash_3_2_0", "auto_split", "sticky"),
    ),
    Recording("pulsar/murmur", "pulsar", (NEWER, MASTER)),
    *_assignors(),
    Recording("kafka/group/consumer_protocol_848", "kafka", (COORDINATOR,), SERVER_RULES),
    Recording("kafka/group/classic", "kafka", (COORDINATOR,)),
    Recording("kafka/group/classic_old_scala", "kafka", (COORDINATOR,)),
    Recording("kafka/group/offsets", "kafka", (COORDINATOR,)),
    Recording("kafka/group/offsets_old_scala", "kafka", (COORDINATOR,)),
    Recording("kafka/consumer_protocol", "kafka", (CLIENTS,)),
    Recording("kafka/partitioner", "kafka", (CLIENTS,)),
    Recording("kafka/replication/controller", "kafka", (COORDINATOR,)),
    Recording("kafka/replication/partition", "kafka", (COORDINATOR,)),
    Recording("kafka/replication/fetcher", "kafka", (COORDINATOR,)),
    Recording("kafka/replication/epoch_cache", "kafka", (COORDINATOR,)),
    Recording("kafka/replication/producer_state", "kafka", (COORDINATOR,)),
    Recording("kafka/replication/unified_log", "kafka", (COORDINATOR,)),
    Recording("kafka/records/batches", "kafka", (CLIENTS,)),
    Recording("kafka/records/corrupt", "kafka", (CLIENTS,)),
    Recording("kafka/records/compaction_filter", "kafka", (CLIENTS,)),
    Recording("kafka/records/varint_crc", "kafka", (CLIENTS,)),
    Recording("tubemq/mod_assign", "tubemq", (TUBEMQ,), ("modulo",)),
    Recording("tubemq/set_difference", "tubemq", (TUBEMQ,), ("modulo", "sticky", "by_lag")),
    Recording("tubemq/server_start_assign", "tubemq", (TUBEMQ,), ("server",)),
    Recording("tubemq/server_cycles", "tubemq", (TUBEMQ,), ("server",)),
    Recording("tubemq/server_resource_rate", "tubemq", (TUBEMQ,), ("server",)),
    Recording("tubemq/meta_expand", "tubemq", (TUBEMQ,)),
    Recording("tubemq/broker_register", "tubemq", (TUBEMQ,)),
    Recording("tubemq/master_register", "tubemq", (TUBEMQ,)),
    Recording("tubemq/client_life", "tubemq", (TUBEMQ,)),
    Recording("rabbitmq/dispatch", "rabbitmq", (RABBITMQ,)),
    Recording("rabbitmq/sessions", "rabbitmq", (RABBITMQ,)),
    Recording("rabbitmq/topology", "rabbitmq", (RABBITMQ,)),
    Recording("rabbitmq/topic_routing", "rabbitmq", (RABBITMQ,)),
    Recording("rabbitmq/direct_fanout_headers", "rabbitmq", (RABBITMQ,)),
    Recording("rabbitmq/consistent_hash_exchange", "rabbitmq", (RABBITMQ,)),
    Recording("rabbitmq/erlang_hash", "rabbitmq", (RABBITMQ,)),
    Recording("rabbitmq/frames", "rabbitmq", (RABBITMQ,)),
)
