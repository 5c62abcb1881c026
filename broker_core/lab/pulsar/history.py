"""What the page of a Pulsar subscription draws over time beside the skew: how much each consumer finished.
How samples are kept: `history.py`."""

from __future__ import annotations

from collections.abc import Mapping

from broker_core.lab.consumer import Consumer
from broker_core.lab.shared.history import forget, pace_s

RATES_KEPT_S = 180


def note_rates(rates: dict[int, dict[str, int]], consumers: Mapping[str, Consumer], second: int) -> None:
    """The second is over. rates: second -> consumer -> tenths of a record that it finishes a second."""
    forget(rates, second - RATES_KEPT_S)
    if second >= 0 and second % pace_s(len(consumers), RATES_KEPT_S) == 0:
        rates[second] = {name: consumer.rate_tenths(second) for name, consumer in consumers.items()}
