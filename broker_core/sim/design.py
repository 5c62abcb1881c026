"""What a world is made of, and what it counts."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any

from broker_core.sim.network import DEFAULT_DELAY_US
from broker_core.sim.node import Node


@dataclass(frozen=True, slots=True)
class Design:
    """What the worlds of one model are made of; it follows from the scenario, so a checkpoint does not hold
    it.

    kinds: kind of node -> (class of its state, what makes the node from one). messages: union of all structs
    that travel. delay_us, jitter_us: of a new link, one way; a message takes delay_us to delay_us +
    jitter_us. ahead_us: how far the nodes' clocks are ahead of the world's; a lab's processes start before
    its time 0, and the clocks of a node that counts from 1970 are never negative.
    """

    kinds: Mapping[str, tuple[type, Callable[[Any], Node]]]
    messages: Any
    delay_us: int = DEFAULT_DELAY_US
    jitter_us: int = 0
    ahead_us: int = 0


@dataclass(eq=False, repr=False)
class Counters:
    """What a world counts. made: messages and deadlines so far, which orders those of one moment. told_count:
    turning points. last_node, last_connection, last_link: numbers, none of which is given twice."""

    now_us: int = 0
    made: int = 0
    told_count: int = 0
    last_node: int = 0
    last_connection: int = 0
    last_link: int = 0
