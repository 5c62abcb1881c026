"""Key_Shared, sticky ranges: a newcomer gets the upper half of the widest owner's slots, as "Add consumer" does in the lab."""

from broker_core.pipeline.strategies.pulsar import pulsar_family

FAMILIES = (
    pulsar_family("sticky"),
    pulsar_family("sticky_document", document=True, is_default=False),
)
