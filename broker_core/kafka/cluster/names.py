"""How the nodes of a cluster are called in their world."""

from broker_core.kafka.group.record_words import OFFSETS_TOPIC
from broker_core.kafka.txn.records import TRANSACTION_STATE_TOPIC

CONTROLLER, TOOL = "controller", "tool"
INTERNAL_TOPICS = (OFFSETS_TOPIC, TRANSACTION_STATE_TOPIC)


def broker_node(broker_id: int) -> str:
    """The node of a broker.

    >>> broker_node(2)
    'broker-2'
    """
    return f"broker-{broker_id}"


def writer_node(number: int) -> str:
    """A transactional writer that a person has started."""
    return f"writer-{number}"


def has_cluster_action(node: str) -> bool:
    """Whether a node may do what brokers and the controller do for one another.

    >>> has_cluster_action("broker-2"), has_cluster_action("client")
    (True, False)
    """
    return node == CONTROLLER or node.startswith("broker-")
