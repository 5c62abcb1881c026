"""What is true of a consumer after pause, resume and slow: whether it works, and how fast."""

from broker_core.lab.consumer import PAUSED, Consumer

PACE_KINDS = ("pause", "resume", "slow")
"""Commands that change how one program works and nothing of who gets what."""


def pace_code(model: str, kind: str, consumer: Consumer) -> str:
    """The code of the sentence about a consumer that `kind` has just been done to.

    A pause is one of the four models' own sentences: what waits for the consumer differs. Slow while paused takes effect later.

    >>> from broker_core.lab.consumer import LIVE
    >>> slow = Consumer("c2", 2, 500_000, 100_000, "c2", 0, LIVE)
    >>> pace_code("kafka", "resume", slow), pace_code("kafka", "slow", slow)
    ('resumed_slow', 'slow')
    """
    if consumer.state == PAUSED:
        return f"{model}.paused" if kind == "pause" else "paced_later"
    if consumer.service_us == consumer.normal_us:
        return "full_speed"
    if consumer.service_us < consumer.normal_us:
        return "fast"
    return "slow" if kind == "slow" else "resumed_slow"
