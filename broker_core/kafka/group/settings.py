"""The coordinator's settings, by the names of the broker's configuration. Times in milliseconds.

Source: Kafka 3.9 GroupCoordinatorConfig (defaults).
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

MINUTE_MS = 60_000
SIZE_MAX = 2**31 - 1

NEW, OLD = "new", "old"
"""Which of 3.9's two group coordinators answers (`group.coordinator.new.enable`); the old one knows classic
groups alone."""

MIGRATION_POLICIES = {
    "disabled": (False, False),
    "upgrade": (True, False),
    "downgrade": (False, True),
    "bidirectional": (True, True),
}
"""`group.consumer.migration.policy` -> whether it allows (an upgrade to the consumer protocol, a downgrade to
the classic one)."""


@dataclass(frozen=True, slots=True)
class GroupSettings:
    """What a coordinator is set to. consumer_assignors: names of the server-side assignors, the first one is
    the default.

    new_member_join_timeout_ms: how long a parked new member of a classic group may stay; a constant in Kafka.
    is_old: answer as 3.9's old coordinator does (`group.coordinator.new.enable` = false, its default; 4.0 has
    the new one alone).
    """

    initial_rebalance_delay_ms: int = 3_000
    min_session_timeout_ms: int = 6_000
    max_session_timeout_ms: int = 1_800_000
    max_size: int = SIZE_MAX
    new_member_join_timeout_ms: int = 5 * MINUTE_MS
    offset_metadata_max_bytes: int = 4_096
    offsets_retention_ms: int = 10_080 * MINUTE_MS
    offsets_retention_check_interval_ms: int = 600_000
    offsets_commit_timeout_ms: int = 5_000
    consumer_session_timeout_ms: int = 45_000
    consumer_heartbeat_interval_ms: int = 5_000
    consumer_max_size: int = SIZE_MAX
    consumer_assignors: tuple[str, ...] = ("uniform", "range")
    migration_policy: str = "disabled"
    is_old: bool = False

    @property
    def can_upgrade(self) -> bool:
        return MIGRATION_POLICIES[self.migration_policy][0]

    @property
    def can_downgrade(self) -> bool:
        return MIGRATION_POLICIES[self.migration_policy][1]

    @classmethod
    def from_configuration(cls, configuration: Mapping[str, str]) -> GroupSettings:
        """Read the broker's configuration entries that concern groups; others are passed over.

        >>> GroupSettings.from_configuration({"group.max.size": "2"}).max_size
        2
        """
        changed: dict[str, Any] = {
            field: int(configuration[name]) for name, field in _NUMBERS.items() if name in configuration
        }
        if "offsets.retention.minutes" in configuration:
            changed["offsets_retention_ms"] = int(configuration["offsets.retention.minutes"]) * MINUTE_MS
        if "group.consumer.migration.policy" in configuration:
            changed["migration_policy"] = configuration["group.consumer.migration.policy"].lower()
        if "group.consumer.assignors" in configuration:
            # A class name ends in its assignor's name: ...RangeAssignor.
            names = configuration["group.consumer.assignors"].split(",")
            changed["consumer_assignors"] = tuple(_assignor_name(name.strip()) for name in names)
        return cls(**changed)


_NUMBERS = {
    "group.initial.rebalance.delay.ms": "initial_rebalance_delay_ms",
    "group.min.session.timeout.ms": "min_session_timeout_ms",
    "group.max.session.timeout.ms": "max_session_timeout_ms",
    "group.max.size": "max_size",
    "offset.metadata.max.bytes": "offset_metadata_max_bytes",
    "offsets.retention.check.interval.ms": "offsets_retention_check_interval_ms",
    "offsets.commit.timeout.ms": "offsets_commit_timeout_ms",
    "group.consumer.session.timeout.ms": "consumer_session_timeout_ms",
    "group.consumer.heartbeat.interval.ms": "consumer_heartbeat_interval_ms",
    "group.consumer.max.size": "consumer_max_size",
}


def _assignor_name(name: str) -> str:
    return name.rsplit(".", 1)[-1].removesuffix("Assignor").lower()
