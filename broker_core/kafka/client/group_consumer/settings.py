"""A consumer's configuration, by Kafka's names with their units; times in milliseconds.

Source: Kafka 3.9 clients ConsumerConfig (defaults).
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from types import MappingProxyType

from broker_core.kafka.cluster import requests as r

CLASSIC, CONSUMER = "classic", "consumer"
"""`group.protocol`."""
EARLIEST, LATEST, NO_RESET = "earliest", "latest", "none"
OFFSET_RESETS = (LATEST, EARLIEST, NO_RESET)
"""`auto.offset.reset`, Kafka's default first."""
READ_UNCOMMITTED, READ_COMMITTED = "read_uncommitted", "read_committed"
ISOLATION_LEVELS: Mapping[str, int] = MappingProxyType(
    {READ_UNCOMMITTED: r.READ_UNCOMMITTED, READ_COMMITTED: r.READ_COMMITTED}
)
"""`isolation.level` -> how a request says it."""
AUTO, SYNC, ASYNC, NEVER = "auto", "sync", "async", "never"
"""When the program commits: every `auto.commit.interval.ms` by the library, after each poll's records waiting
for the answer or not, never."""


@dataclass(slots=True)
class ConsumerSettings:
    """bootstrap: ids of the brokers that it asks first. topics or pattern (a regular expression over whole
    names): what it subscribes to.
    assignors: partition.assignment.strategy, the preferred first; of a group of the consumer protocol the
    server's `remote_assignor` assigns,
    None: the broker's first. assignor_source: the text of its own assignor, named `custom`; "": it has
    none."""

    group_id: str
    client_id: str
    bootstrap: list[int]
    topics: list[str]
    pattern: str | None = None
    group_protocol: str = CLASSIC
    assignors: list[str] | None = None
    assignor_source: str = ""
    remote_assignor: str | None = None
    group_instance_id: str | None = None
    client_rack: str = ""
    session_timeout_ms: int = 45_000
    heartbeat_interval_ms: int = 3_000
    max_poll_interval_ms: int = 300_000
    max_poll_records: int = 500
    commits: str = AUTO
    auto_commit_interval_ms: int = 5_000
    auto_offset_reset: str = LATEST
    isolation_level: int = r.READ_UNCOMMITTED
    fetch_min_bytes: int = 1
    fetch_max_wait_ms: int = 500
    fetch_max_bytes: int = 50 * 1024 * 1024
    max_partition_fetch_bytes: int = r.BYTES_MAX
    metadata_max_age_ms: int = 300_000
    request_timeout_ms: int = 30_000
    retry_backoff_ms: int = 100
