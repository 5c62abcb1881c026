"""Which host drives which shard, where several supervisors use one database and one Redis.

    each host's keeper ── says that the host is alive, takes free shards up to its fair share, late ones whatever its share
    each shard's task  ── says every half second that it is driven, and by which host; ends when another host drives it
                       └─ at its end, on a host with more than its share: the shard with the highest number is given up

Redis carries only who should drive; who may write a lab is settled by the lab's lease and epoch (ledger.py),
whatever two hosts believe.
"""

import time

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
    holders = _holders()
    free = [number for number, host in enumerate(holders) if host is None]
    for number in _free_since_s.keys() - set(free):
        del _free_since_s[number]
    for number in free:
        _free_since_s.setdefault(number, now_s)
    room = max(0, _share() - holders.count(settings.HOST_ID))
    return free[:room] + [number for number in free[room:] if now_s - _free_since_s[number] > LATE_S]


def is_one_too_many(number: int) -> bool:
    """Whether this host drives more than its share, and this shard is the one to give up. Raises
    redis.RedisError."""
    own = [shard for shard, host in enumerate(_holders()) if host == settings.HOST_ID]
    return len(own) > _share() and number == own[-1]


def _holders() -> list[str | None]:
    return [
        None if beat is None or beat.age_s > settings.LEASE_S else beat.host
        for beat in transport().beats(settings.LAB_SHARDS)
    ]


def _share() -> int:
    """Shards divided by living hosts, rounded up, so that together they have room for all."""
    hosts = transport().hosts(settings.LEASE_S) | {settings.HOST_ID}
    return -(-int(settings.LAB_SHARDS) // len(hosts))
