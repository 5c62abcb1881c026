"""The core's limits, as the settings have them."""

from django.conf import settings

from broker_core.lab.limits import Limits


def core_limits() -> Limits:
    return Limits(
        consumers_max=settings.CONSUMERS_PER_LANE_MAX, records_per_second_max=settings.RECORDS_PER_S_MAX
    )
