"""What a lane is made of, and what it asks of the workload."""

from __future__ import annotations

from dataclasses import dataclass

from broker_core.clock import SECOND_US
from broker_core.events import Json
from broker_core.lab.messages import Messages
from broker_core.lab.workload.live_keys import LiveKeys


@dataclass(frozen=True, slots=True)
class LaneSetup:
    """lane_id: in the lab. options: the model's settings, checked by the scenario. keys, messages: shared by all
    lanes, written by the lab.
    consumers: how many are there from the start. service_us: what one takes for a record, when nobody slows
    it."""

    lane_id: str
    algorithm: str
    options: Json
    seed: int
    keys: LiveKeys
    messages: Messages
    consumers: int = 0
    service_us: int = SECOND_US
