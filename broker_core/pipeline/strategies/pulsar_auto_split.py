"""Key_Shared, auto-split hash range: as Pulsar does it, and as its documentation tells it."""

from broker_core.pipeline.strategies.pulsar import pulsar_family

FAMILIES = (
    pulsar_family("auto_split"),
    pulsar_family("auto_split_document", document=True, is_default=False),
)
