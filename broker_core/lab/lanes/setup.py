"""What a lane is made of, and what it asks of the workload."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Protocol

from broker_core.clock import SECOND_US
from broker_core.events import Json
from broker_core.lab.keys import LiveKeys


class KeyText(Protocol):
    """What a lane asks of the workload about a record."""

    def key_code(self, index: int) -> int: ...

    def codes_of(self, records: Sequence[int]) -> list[int]: ...

    def key_bytes(self, code: int) -> bytes: ...

    def payload(self, index: int) -> str: ...


@dataclass(frozen=True, slots=True)
class LaneSetup:
    """lane_id: in the lab. options: the model's settings, checked by the scenario. keys, texts: shared by all
    lanes, written by the lab.
    consumers: how many are there from the start. service_us: what one takes for a record, when nobody slows
    it."""

    lane_id: str
    algorithm: str
    options: Json
    seed: int
    keys: LiveKeys
    texts: KeyText
    consumers: int = 0
    service_us: int = SECOND_US
