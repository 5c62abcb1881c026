"""How the nodes of a cluster are called in their world."""

CONTROLLER, TOOL = "controller", "tool"


def broker_node(broker_id: int) -> str:
    """The node of a broker.

    >>> broker_node(2)
    'broker-2'
    """
    return f"broker-{broker_id}"


def writer_node(number: int) -> str:
    """A transactional writer that a person has started."""
    return f"writer-{number}"
