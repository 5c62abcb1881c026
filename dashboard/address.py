"""Where a request comes from, as far as quotas ask: the network address of the client, an IPv6 one as its
/64, which is one customer's.

The peer's own address counts. `X-Forwarded-For` can be written by anybody, so it is read only when the peer
is one of TRUSTED_PROXIES, and then from the right: the last entry that is not a trusted proxy's is the
client. Only a keyed hash is stored.
"""

import hashlib
import hmac
from ipaddress import IPv6Address, IPv6Network, ip_address

from django.conf import settings
from django.http import HttpRequest

from broker_core.events import Json

UNKNOWN = "unknown"  # a peer without an address, and all of them together
IPV6_PREFIX = 64


def address_of(request: HttpRequest) -> str:
    """The client's address as quotas count it, hashed with the server's key."""
    return _hashed(
        client_address(request.META.get("REMOTE_ADDR") or "", request.META.get("HTTP_X_FORWARDED_FOR", ""))
    )


def address_of_socket(scope: Json) -> str:
    """The same of a websocket's scope."""
    forwarded = b",".join(value for name, value in scope["headers"] if name == b"x-forwarded-for")
    return _hashed(client_address((scope.get("client") or [""])[0] or "", forwarded.decode("latin1")))


def client_address(peer: str, forwarded: str) -> str:
    """The client behind a peer. forwarded: the X-Forwarded-For header, "" without one.

    >>> client_address("192.0.2.7", "203.0.113.9")
    '192.0.2.7'
    >>> client_address("2001:db8:1:2:3:4:5:6", ""), client_address("::ffff:192.0.2.7", ""), client_address("", "")
    ('2001:db8:1:2::/64', '192.0.2.7', 'unknown')
    """
    address, hops = _plain(peer), [hop.strip() for hop in forwarded.split(",") if hop.strip()]
    while hops and _is_trusted(address):
        hop = _plain(hops.pop())
        if hop == UNKNOWN:
            break
        address = hop
    if address != UNKNOWN and isinstance(parsed := ip_address(address), IPv6Address):
        return str(IPv6Network((int(parsed), IPV6_PREFIX), strict=False))
    return address


def _plain(text: str) -> str:
    """An address without brackets, port or zone; an IPv4 one that is written as IPv6 as what it is."""
    text = text.partition("]")[0].removeprefix("[").partition("%")[0]
    if text.count(":") == 1:
        text = text.partition(":")[0]
    try:
        parsed = ip_address(text)
    except ValueError:
        return UNKNOWN
    return str(parsed.ipv4_mapped or parsed) if isinstance(parsed, IPv6Address) else str(parsed)


def _is_trusted(address: str) -> bool:
    return address != UNKNOWN and any(ip_address(address) in network for network in settings.TRUSTED_PROXIES)


def _hashed(address: str) -> str:
    return hmac.new(settings.SECRET_KEY.encode(), address.encode(), hashlib.sha256).hexdigest()[:32]
