"""A client's id. Its process makes it, so every start has another one; and it begins with the host, so
everybody can tell whose it is.

The original's: group_address-processId-time-number-kind-version. Ours: host-number of the start on this host.
Source: TubeMQ (InLong a6c7a6a670) SimpleClientBalanceConsumer.generateConsumerID.
"""


def make_client_id(host: str, start: int) -> str:
    """The id of a host's process. start: which of its starts this is, from 1.

    >>> make_client_id("c4", 2)
    'c4-2'
    """
    return f"{host}-{start}"


def host_of(client_id: str) -> str:
    """The host in an id of `make_client_id`; any other id is its own host.

    >>> host_of("c-4-2"), host_of("c4")
    ('c-4', 'c4')
    """
    return client_id.rpartition("-")[0] or client_id
