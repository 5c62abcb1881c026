"""Who may ask the controller for what: brokers register and change ISRs, an operator's tool changes the
cluster, and a client may do neither.

So it is in a cluster with an authorizer whose super users are the brokers and the operator, and where everyone
may use all topics and groups. Without one a client's request would be taken for a broker's.

Source: Kafka 3.9 core ControllerApis (authorizeClusterOperation, handleCreateTopics, handleCreatePartitions),
metadata StandardAuthorizer.
"""

from __future__ import annotations

from typing import Any

from broker_core.kafka.cluster import control_requests as c
from broker_core.kafka.cluster.names import TOOL
from broker_core.kafka.error_codes import ErrorCode

DENIED = int(ErrorCode.CLUSTER_AUTHORIZATION_FAILED)


def refused(request: Any, client: str | None) -> c.ControlMessage | None:
    """What a node hears that may not ask for this; None: it may. client: None: it is a broker."""
    if client is None:
        return None
    match request:
        case c.BrokerRegistrationRequest():
            return c.BrokerRegistrationResponse(DENIED)
        case c.BrokerHeartbeatRequest():
            return c.BrokerHeartbeatResponse(DENIED)
        case c.AlterPartitionRequest(topic=topic, partition=number):
            return c.AlterPartitionResponse(topic, number, DENIED)
        case c.AllocateProducerIdsRequest():
            return c.AllocateProducerIdsResponse(DENIED)
    if client == TOOL or not isinstance(request, c.ToolRequest):
        return None
    if isinstance(request, (c.CreateTopicsRequest, c.CreatePartitionsRequest)):
        return c.ControlResponse(ErrorCode.TOPIC_AUTHORIZATION_FAILED, "not authorized to alter the topic")
    return c.ControlResponse(DENIED, "not authorized to alter the cluster")
