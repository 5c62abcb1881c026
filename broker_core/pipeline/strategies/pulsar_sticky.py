"""Key_Shared, sticky ranges: a newcomer gets the upper half of the widest owner's slots, as "Add consumer"
does in the lab."""

from broker_core.events import Json
from broker_core.pipeline.strategies.base import RouteTable, Strategy, config_file, of_each
from broker_core.pipeline.strategies.pulsar import pulsar_family


def _config(_: Strategy, start: RouteTable) -> list[Json]:
    """One subscribe call for each consumer of the start; the ranges hold both ends."""
    ranges: dict[str, list[str]] = {}
    low = start.first_slot
    for bound, owner in zip(start.bounds.tolist(), start.owners.tolist(), strict=True):
        if owner >= 0:
            ranges.setdefault(start.names[owner], []).append(f"Range.of({low}, {bound})")
        low = bound + 1
    lines = ["// subscriptionType(SubscriptionType.Key_Shared), and for each consumer:"]
    each = [
        f".keySharedPolicy(KeySharedPolicy.stickyHashRange().ranges({', '.join(mine)}))  // {name}"
        for name, mine in ranges.items()
    ]
    lines += of_each(each, "//")
    return [config_file("consumer (Java)", "Pulsar 3.2", lines)]


FAMILIES = (
    pulsar_family("sticky", config=_config),
    pulsar_family("sticky_document", document=True, is_default=False),
)
