"""Key_Shared, auto-split hash range: as Pulsar does it, and as its documentation tells it."""

from broker_core.events import Json
from broker_core.pipeline.strategies.base import RouteTable, Strategy, config_file
from broker_core.pipeline.strategies.pulsar import KEY_SHARED, USE_RING, pulsar_family


def _config(_strategy: Strategy, _start: RouteTable) -> list[Json]:
    return [config_file("broker.conf", "Pulsar 3.2, 4.x", [KEY_SHARED, f"{USE_RING}=false"])]


FAMILIES = (
    pulsar_family("auto_split", config=_config),
    pulsar_family("auto_split_document", document=True, is_default=False),
)
