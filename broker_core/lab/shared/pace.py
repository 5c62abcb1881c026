"""What is true of a consumer after pause, resume and slow: whether it works, and how fast."""

from broker_core.lab.consumer import LIVE, PAUSED, Consumer
from broker_core.lab.shared.codes import code_of

FULL_SPEED = "full_speed"
"""What a bill calls a resume that ends no pause."""
PACE_KINDS = ("pause", "resume", FULL_SPEED, "slow", "group_stick", "group_unstick")
"""Commands that change how one program works and nothing of who gets what."""


def ends_no_pause(consumer: Consumer) -> bool:
    """Whether a resume gives this consumer only its own pace back.

    Of one that is paused and slow the first resume ends the pause, a second one the slowness.
    """
    return consumer.state == LIVE


def pace_code(model: str, kind: str, consumer: Consumer) -> str:
    """The code of the sentence about a consumer that `kind` has just been done to.

    >>> from broker_core.lab.consumer import LIVE
    >>> slow = Consumer("c2", 2, 500_000, 100_000, "c2", 0, LIVE)
    >>> pace_code("kafka", "resume", slow), pace_code("kafka", "slow", slow)
    ('resumed_slow', 'slow')
    """
    took_us, normal_us = consumer.service_us, consumer.normal_us
    return code_of(
        f"{model}.paced",
        pause=kind == "pause",
        slow=kind == "slow",
        paused=consumer.state == PAUSED,
        normal=took_us == normal_us,
        fast=took_us < normal_us,
    )
