"""What a producer is configured with, by Kafka's names, and which combinations it refuses to start with.

Times are in microseconds where Kafka has milliseconds. Defaults are Kafka's 3.9.
Source: Kafka 3.9 clients ProducerConfig (postProcessAndValidateIdempotenceConfigs),
KafkaProducer.configureDeliveryTimeout.
"""

from __future__ import annotations

from dataclasses import dataclass

from broker_core.clock import SECOND_US
from broker_core.errors import CommandError

MILLISECOND_US = 1_000
ACKS_ALL = -1
BATCH_SIZE = 16_384
MAX_IN_FLIGHT_IDEMPOTENT = 5
"""Of batches a broker remembers per producer and partition; with more on their way a repeated one could not
be recognised."""


@dataclass(frozen=True, slots=True)
class ProducerSettings:
    """acks: 0 no answer, 1 the leader has it, -1 all of the ISR have it. max_in_flight: requests on one
    connection without an answer.

    linger_us: how long a batch that is not full waits for more. batch_size, buffer_memory: bytes.
    max_block_us: how long `send` waits for memory or metadata. delivery_timeout_us: from the append to the
    last word on a batch. transaction_timeout_us: after it the coordinator aborts. availability_timeout_us: a
    broker that cannot take a batch for so long gets no keyless records; 0: never mind.
    bumps_epoch: False: as before 2.5, a lost sequence costs the whole producer id (the article's 4.3.1).
    """

    acks: int = ACKS_ALL
    enable_idempotence: bool = True
    transactional_id: str | None = None
    max_in_flight: int = 5
    linger_us: int = 0
    batch_size: int = BATCH_SIZE
    max_request_size: int = 1_048_576
    buffer_memory: int = 33_554_432
    max_block_us: int = 60 * SECOND_US
    retries: int = 2**31 - 1
    retry_backoff_us: int = 100 * MILLISECOND_US
    retry_backoff_max_us: int = SECOND_US
    request_timeout_us: int = 30 * SECOND_US
    delivery_timeout_us: int = 120 * SECOND_US
    metadata_max_age_us: int = 300 * SECOND_US
    transaction_timeout_us: int = 60 * SECOND_US
    adaptive_partitioning: bool = True
    availability_timeout_us: int = 0
    ignore_keys: bool = False
    bumps_epoch: bool = True


def check(settings: ProducerSettings) -> None:
    """Refuse what the original refuses with a ConfigException. Raises CommandError at the setting.

    >>> check(ProducerSettings(acks=1, enable_idempotence=False))
    """
    if settings.acks not in (ACKS_ALL, 0, 1):
        raise CommandError("acks", "must be 0, 1 or -1")
    for name in ("max_in_flight", "batch_size", "buffer_memory", "request_timeout_us", "max_request_size"):
        if getattr(settings, name) < 1:
            raise CommandError(name, "must be at least 1")
    for name in ("linger_us", "retries", "max_block_us", "retry_backoff_us", "availability_timeout_us"):
        if getattr(settings, name) < 0:
            raise CommandError(name, "must not be negative")
    if settings.enable_idempotence:
        if settings.acks != ACKS_ALL:
            raise CommandError("acks", "the idempotent producer needs acks=-1")
        if settings.retries == 0:
            raise CommandError("retries", "the idempotent producer needs at least one retry")
        if settings.max_in_flight > MAX_IN_FLIGHT_IDEMPOTENT:
            raise CommandError(
                "max_in_flight", "the idempotent producer takes at most {most}", most=MAX_IN_FLIGHT_IDEMPOTENT
            )
    elif settings.transactional_id is not None:
        raise CommandError("transactional_id", "transactions need the idempotent producer")
    if settings.delivery_timeout_us < settings.linger_us + settings.request_timeout_us:
        raise CommandError("delivery_timeout_us", "must be at least linger and request time-out together")


def backoff_us(first_us: int, most_us: int, failures: int, draw: int) -> int:
    """How long to wait after so many failures: twice as long each time up to `most_us`, a fifth more or less.

    failures: before the one that is waited for, from 0. draw: 0 to JITTER - 1, by chance.
    Source: Kafka clients 3.9 ExponentialBackoff with CommonClientConfigs.RETRY_BACKOFF_EXP_BASE 2,
    RETRY_BACKOFF_JITTER 0.2.

    >>> [backoff_us(100, 1000, failures, JITTER // 2) for failures in range(6)]
    [100, 200, 400, 800, 1000, 1000]
    """
    term = min(first_us << min(failures, 40), max(first_us, most_us))
    return min(term * (4 * JITTER + 2 * draw) // (5 * JITTER), max(first_us, most_us))


JITTER = 1 << 10
