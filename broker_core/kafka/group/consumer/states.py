"""The states of a group of the consumer protocol, and what leads from one to the next; code, docs and page
take them from here.

    Empty ──member joined──► Assigning ──target assigned──► Reconciling ──all reconciled──► Stable
      ▲                          ▲                               │                             │
      └────── all left ──────────└──── members or topics changed ┘─────────────────────────────┘

The state follows from members and epochs (`ConsumerGroup.state`), so the table does not lead the code as that
of a classic group does; the tests see to it that no group ever goes another way. With an assignor on the
server Assigning is over in the step in which it begins.

Source: Kafka 3.9 ConsumerGroup.ConsumerGroupState, ConsumerGroup.maybeUpdateGroupState.
"""

from collections.abc import Mapping
from types import MappingProxyType

EMPTY, ASSIGNING, RECONCILING, STABLE = "Empty", "Assigning", "Reconciling", "Stable"
JOINED, CHANGED, ASSIGNED, RECONCILED, ALL_LEFT = (
    "member joined",
    "members or topics changed",
    "target assigned",
    "all reconciled",
    "all left",
)

TRANSITIONS: Mapping[tuple[str, str], str] = MappingProxyType({
    (EMPTY, JOINED): ASSIGNING,
    (ASSIGNING, ASSIGNED): RECONCILING,
    (RECONCILING, RECONCILED): STABLE,
    (RECONCILING, CHANGED): ASSIGNING,
    (STABLE, CHANGED): ASSIGNING,
    (ASSIGNING, ALL_LEFT): EMPTY,
    (RECONCILING, ALL_LEFT): EMPTY,
    (STABLE, ALL_LEFT): EMPTY,
})  # fmt: skip
