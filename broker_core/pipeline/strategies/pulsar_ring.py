"""Key_Shared, consistent hashing: the ring of 3.2.1, of 3.2.0, of 4.x and of the documentation, with 1 to
1,000 points per consumer."""

from types import MappingProxyType

from broker_core.events import Json
from broker_core.pipeline.strategies.base import Param, RouteTable, Strategy, config_file, of_each
from broker_core.pipeline.strategies.pulsar import KEY_SHARED, USE_RING, pulsar_family
from broker_core.pulsar.selectors import POINTS_MAX
from broker_core.pulsar.selectors.consistent_hash import POINTS

_POINTS = (Param("points", POINTS, 1, POINTS_MAX),)
VERSIONS = MappingProxyType(
    {
        "consistent_hash": "Pulsar 3.2.1 - 3.2.x",
        "consistent_hash_3_2_0": "Pulsar 3.2.0",
        "consistent_hash_current": "Pulsar 4.x",
    }
)


def ring_lines(strategy: Strategy) -> list[str]:
    """Of a broker: that Key_Shared uses a ring, and of how many points."""
    return [
        KEY_SHARED,
        f"{USE_RING}=true",
        f"subscriptionKeySharedConsistentHashingReplicaPoints={strategy.params['points']}",
    ]


def _config(strategy: Strategy, start: RouteTable) -> list[Json]:
    versions = VERSIONS[strategy.algorithm]
    # Without a name a client draws one at each start, and the ring is another.
    names = of_each([f'.consumerName("{name}")' for name in start.live], "//")
    return [
        config_file("broker.conf", versions, ring_lines(strategy)),
        config_file("consumer (Java)", versions, ["// one fixed name for each process:", *names]),
    ]


FAMILIES = (
    pulsar_family("consistent_hash", params=_POINTS, config=_config, drawn="names"),
    pulsar_family("consistent_hash_3_2_0", params=_POINTS, is_default=False, config=_config, drawn="names"),
    pulsar_family("consistent_hash_current", params=_POINTS, config=_config, drawn="names"),
    pulsar_family("ring_document", params=_POINTS, document=True, is_default=False, drawn="names"),
)
