"""Key_Shared, consistent hashing: the ring of 3.2.1, of 3.2.0, of 4.x and of the documentation, with 1 to 1,000 points per consumer."""

from broker_core.pipeline.strategies.base import Param
from broker_core.pipeline.strategies.pulsar import pulsar_family
from broker_core.pulsar.selectors import POINTS_MAX
from broker_core.pulsar.selectors.consistent_hash import POINTS

_POINTS = (Param("points", POINTS, 1, POINTS_MAX),)

FAMILIES = (
    pulsar_family("consistent_hash", params=_POINTS),
    pulsar_family("consistent_hash_3_2_0", params=_POINTS, is_default=False),
    pulsar_family("consistent_hash_current", params=_POINTS),
    pulsar_family("ring_document", params=_POINTS, document=True, is_default=False),
)
