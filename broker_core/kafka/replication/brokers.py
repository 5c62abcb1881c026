"""What a broker's metadata says of the other brokers.

Source: Kafka 3.9 core KRaftMetadataCache (getAliveBrokerEpoch, isBrokerFenced, isBrokerShuttingDown).
"""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(slots=True)
class KnownBroker:
    """One registered broker. epoch: of its registration. is_fenced: the controller has not heard of it for a
    session timeout."""

    epoch: int
    is_alive: bool = True
    is_fenced: bool = False
    is_shutting_down: bool = False
    rack: str | None = None


Brokers = dict[int, KnownBroker]
"""By id. A broker that is not in it is not alive and not fenced, and has no epoch."""


def alive_epoch(brokers: Brokers, broker_id: int) -> int | None:
    """The epoch of a broker that is alive and not fenced; None: it is not."""
    known = brokers.get(broker_id)
    return known.epoch if known is not None and known.is_alive and not known.is_fenced else None
