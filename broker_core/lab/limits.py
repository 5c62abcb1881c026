"""How much one lab may ask for. The web side sets these from its settings; the core's defaults are the
product's."""

from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class Limits:
    """consumers_max: living consumers in a lane. records_per_second_max: rate of a workload. keys_max: keys
    of a synthetic workload.
    parts_max: of a lab (`size.py`)."""

    consumers_max: int = 512
    records_per_second_max: int = 5_000
    keys_max: int = 1_000_000
    service_per_second_max: int = 100_000
    parts_max: int = 110_000


DEFAULT_LIMITS = Limits()
