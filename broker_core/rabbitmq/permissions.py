"""Who may do what: users with a password and tags, what they may configure, write and read in each virtual host, and
on a topic exchange with which routing keys.

A permission is a regular expression that is searched in the name, not anchored; "" permits nothing. No row for a
virtual host: no access to it.
Source: RabbitMQ 3.10 rabbit_auth_backend_internal, rabbit_access_control; docs/rabbitmq/facts.md. Vectors:
rabbitmq/topology.json (permissions-*).
"""

from __future__ import annotations

import re
from base64 import b64encode
from dataclasses import dataclass, field
from functools import lru_cache
from hashlib import sha256

import msgspec

from broker_core.rabbitmq.refusals import access_refused

SHA256 = "rabbit_password_hashing_sha256"
CONFIGURE, WRITE, READ = "configure", "write", "read"
IMPERSONATOR = "impersonator"
"""Tag of who may publish with another's user_id."""
AMQ_DEFAULT = "amq.default"
"""The default exchange's name in permissions and refusals."""


class Permission(msgspec.Struct, frozen=True):
    """One user's patterns in one virtual host."""

    configure: str = ""
    write: str = ""
    read: str = ""


class TopicPermission(msgspec.Struct, frozen=True):
    """One user's patterns for routing keys of one exchange."""

    write: str = ""
    read: str = ""


@dataclass(slots=True)
class User:
    """permissions: virtual host -> patterns. topic_permissions: virtual host -> exchange -> patterns. password_hash,
    hashing_algorithm: as a definitions file has them, "" of one whose password is known."""

    name: str
    password: str
    tags: list[str] = field(default_factory=list)
    permissions: dict[str, Permission] = field(default_factory=dict)
    topic_permissions: dict[str, dict[str, TopicPermission]] = field(default_factory=dict)
    password_hash: str = ""
    hashing_algorithm: str = ""

    def hashed(self) -> tuple[str, str]:
        """(hash, algorithm), as a definitions file has them: four bytes of salt, and SHA-256 of salt and password. The
        salt follows from the name, so that the same user has the same hash.

        >>> User("guest", "guest").hashed()
        ('hJg8YBx2QZlgys6vYsl0XHHc3KcW1vhEOg3P28l02UUSO1Uf', 'rabbit_password_hashing_sha256')
        """
        if self.password_hash:
            return self.password_hash, self.hashing_algorithm
        salt = sha256(self.name.encode()).digest()[:4]
        digest = sha256(salt + self.password.encode()).digest()
        return b64encode(salt + digest).decode(), SHA256

    def may(self, vhost: str, what: str, name: str) -> bool:
        """Whether it may configure, write or read a queue or an exchange of that name."""
        permission = self.permissions.get(vhost)
        return permission is not None and permits(getattr(permission, what), name)

    def may_topic(self, vhost: str, exchange: str, what: str, key: str) -> bool:
        """Whether it may bind or publish with a routing key; an exchange without a row is free."""
        permission = self.topic_permissions.get(vhost, {}).get(exchange)
        if permission is None:
            return True
        pattern = getattr(permission, what).replace("{username}", self.name).replace("{vhost}", vhost)
        return permits(pattern, key)


def guest() -> User:
    """The user of a fresh server."""
    return User("guest", "guest", ["administrator"], {"/": Permission(".*", ".*", ".*")})


def permits(pattern: str, name: str) -> bool:
    """Whether a pattern permits a name.

    >>> permits("z", "xz"), permits("", "q"), permits("^q", "xq")
    (True, False, False)
    """
    found = _compiled(pattern)
    return found is not None and found.search(name) is not None


def is_pattern(text: str) -> bool:
    """Whether it can be read as a pattern."""
    return _compiled(text) is not None


@lru_cache(maxsize=1024)
def _compiled(pattern: str) -> re.Pattern[str] | None:
    """None for a pattern that cannot be read: it permits nothing."""
    try:
        return re.compile(pattern or "^$")
    except (re.error, RecursionError, OverflowError):
        return None


def check_access(user: User, vhost: str, what: str, kind: str, name: str) -> None:
    """Raises Refused. kind: queue or exchange, as the refusal names it."""
    shown = AMQ_DEFAULT if kind == "exchange" and not name else name
    if not user.may(vhost, what, shown):
        raise access_refused(f"access to {kind} '{shown}' in vhost '{vhost}' refused for user '{user.name}'")


def check_topic_access(user: User, vhost: str, what: str, exchange: str, key: str) -> None:
    """Raises Refused. exchange: of type topic."""
    if not user.may_topic(vhost, exchange, what, key):
        raise access_refused(
            f"access to topic '{key}' in exchange '{exchange}' in vhost '{vhost}' refused for user '{user.name}'"
        )
