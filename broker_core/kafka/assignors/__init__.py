"""How a group's leader shares partitions among members: Kafka's four assignors, and two rules as an article
has them.

>>> ASSIGNORS["range"].assign({"c1": Subscription(("t",)), "c0": Subscription(("t",))}, {"t": 3})
{'c0': [('t', 0), ('t', 1)], 'c1': [('t', 2)]}
"""

from collections.abc import Callable, Mapping

from broker_core.kafka.assignors.cooperative_sticky import assign_cooperative_sticky
from broker_core.kafka.assignors.protocol import (
    NO_GENERATION,
    Assignment,
    AssignmentRefused,
    Assignor,
    PartitionRacks,
    Rule,
    StickyUserData,
    Subscription,
    TopicPartition,
    highest_generation,
)
from broker_core.kafka.assignors.range import assign_range
from broker_core.kafka.assignors.range_global import assign_range_global
from broker_core.kafka.assignors.round_robin import assign_round_robin
from broker_core.kafka.assignors.round_robin_hashed import assign_round_robin_hashed
from broker_core.kafka.assignors.sticky import assign_sticky

__all__ = [
    "ASSIGNORS",
    "NO_GENERATION",
    "Assignment",
    "AssignmentRefused",
    "Assignor",
    "PartitionRacks",
    "StickyUserData",
    "Subscription",
    "TopicPartition",
    "highest_generation",
]


def _forgetful(
    rule: Callable[[Mapping[str, Subscription], Mapping[str, int], PartitionRacks | None], Assignment],
) -> Rule:
    """Fit a rule that asks for no history to the call of all."""
    return lambda subscriptions, partition_counts, racks, _max_generation: rule(
        subscriptions, partition_counts, racks
    )


ASSIGNORS: dict[str, Assignor] = {
    assignor.id: assignor
    for assignor in (
        Assignor("range", _forgetful(assign_range)),
        Assignor("roundrobin", _forgetful(assign_round_robin)),
        Assignor("sticky", assign_sticky, remembers=True),
        Assignor("cooperative-sticky", assign_cooperative_sticky, cooperative=True, remembers=True),
        Assignor("range_global", _forgetful(assign_range_global), document=True),
        Assignor("round_robin_hashed", _forgetful(assign_round_robin_hashed), document=True),
    )
}
"""By the name that a consumer gives in partition.assignment.strategy; the article's rules have names of our
own."""
