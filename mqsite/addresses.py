"""Addresses of Redis in the two spellings that its users want.

redis-py says unix:///path?db=0, Celery's transport redis+socket:///path?virtual_host=0; a TCP address is the
same in both.
"""

from urllib.parse import parse_qs, urlsplit


def redis_url(url: str) -> str:
    """The spelling of redis-py.

    >>> redis_url("redis+socket:///run/redis.sock")
    'unix:///run/redis.sock?db=0'
    >>> redis_url("redis://cache:6379/1")
    'redis://cache:6379/1'
    """
    if url.startswith(("redis+socket://", "unix://")):
        parts = urlsplit(url)
        query = parse_qs(parts.query)
        database = (query.get("virtual_host") or query.get("db") or ["0"])[0]
        return f"unix://{parts.path}?db={database}"
    return url


def celery_url(url: str) -> str:
    """The spelling of Celery's Redis transport.

    >>> celery_url("unix:///run/redis.sock?db=2")
    'redis+socket:///run/redis.sock?virtual_host=2'
    """
    url = redis_url(url)
    if url.startswith("unix://"):
        parts = urlsplit(url)
        return f"redis+socket://{parts.path}?virtual_host={parse_qs(parts.query)['db'][0]}"
    return url
