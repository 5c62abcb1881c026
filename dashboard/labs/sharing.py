"""Which host drives which shard, where several supervisors use one database and one Redis.

    each host's keeper ── says that the host is alive, takes free shards up to its fair share, late ones whatever its share
    each shard's task  ── says every half second that it is driven, and by which host; ends when another host drives it
                       └─ at its end, on a host with more than its share: the shard with the highest number is given up

Redis carries only who should drive; who may write a lab is settled by the lab's lease and epoch (ledger.py),
whatever two hosts believe.
"""

import time
from collections.abc import Sequence

from django.conf import settings

from dashboard.labs.transport import transport

LATE_S = 5.0
"""A shard that is free for so long is taken also by a host that has its share: whoever should have taken it
cannot."""
_free_since_s: dict[int, float] = {}


def shards_to_take() -> list[int]:
    """Shards that no host drives and this one should. Raises redis.RedisError."""
    now_s = time.monotonic()
    transport().host_beat()
    holders = _holders(range(settings.LAB_SHARDS))
    free = [number for number, host in enumerate(holders) if host is None]
    for number in _free_since_s.keys() - set(free):
        del _free_since_s[number]
    for number in free:
        _free_since_s.setdefault(number, now_s)
    room = max(0, _share() - holders.count(settings.HOST_ID))
    late = [number for number in free[room:] if now_s - _free_since_s[number] > LATE_S]
    return [*free[:room], *late, *_wire_to_take()]


def wire_shards() -> list[int]:
    """Those of labs that are open to real clients."""
    return [settings.WIRE_SHARD] if settings.CLIENTS_ON else []


def _wire_to_take() -> list[int]:
    """Whichever host is first has them, and no share is counted: a move would cut off their clients."""
    numbers = wire_shards()
    return [number for number, host in zip(numbers, _holders(numbers), strict=True) if host is None]


def is_one_too_many(number: int) -> bool:
    """Whether this host drives more than its share, and this shard is the one to give up. Raises
    redis.RedisError."""
    holders = _holders(range(settings.LAB_SHARDS))
    own = [shard for shard, host in enumerate(holders) if host == settings.HOST_ID]
    return len(own) > _share() and number == own[-1]


def _holders(numbers: Sequence[int]) -> list[str | None]:
    return [
        None if beat is None or beat.age_s > settings.LEASE_S else beat.host
        for beat in (transport().beats(numbers) if numbers else ())
    ]


def _share() -> int:
    """Shards divided by living hosts, rounded up, so that together they have room for all."""
    hosts = transport().hosts(settings.LEASE_S) | {settings.HOST_ID}
    return -(-int(settings.LAB_SHARDS) // len(hosts))
