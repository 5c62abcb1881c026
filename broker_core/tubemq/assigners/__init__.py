"""Ways to share out partitions among clients, beside the example's modulo (`tubemq/assignment.py`): the application's own,
as TubeMQ leaves that to its users once the source count is not used. Each is given the group's members in their order,
the partitions in theirs, who had which before, and how many messages wait in each."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from types import MappingProxyType

from broker_core.tubemq.assigners.by_lag import assign_by_lag
from broker_core.tubemq.assigners.sticky import assign_sticky

BY_LAG = "by_lag"
Assigner = Callable[
    [Sequence[str], Sequence[str], Mapping[str, str], Mapping[str, int]], dict[str, list[str]]
]
"""(members, partitions, previous owners, messages that wait) -> member -> its partitions, in their order."""

ASSIGNERS: Mapping[str, Assigner] = MappingProxyType({"sticky": assign_sticky, BY_LAG: assign_by_lag})
