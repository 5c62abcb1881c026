"""The nodes of a Kafka cluster's lane and the cables between them: who is not heard by whom, and how long a
message takes.

    {"broker-1>broker-2": {"cut": ["broker-2"], "slow": {}, "verbs": [...]}, "broker-1>producer": ...}       the two names in their order

Brokers and the controller are linked with one another, a client with each broker. A consumer is called by its
program's name: it is the node of its present life. Its cables are listed where it has a connection, or where
they are impaired.
"""

from __future__ import annotations

from collections.abc import Iterable
from itertools import combinations

from broker_core.events import Json
from broker_core.kafka.client.group_consumer.core import ConsumerState
from broker_core.kafka.client.producer.state import ProducerState
from broker_core.kafka.client.producer.writer import WriterState
from broker_core.kafka.cluster.controller_node import ControllerState
from broker_core.kafka.cluster.names import CONTROLLER, broker_node
from broker_core.kafka.cluster.state import BrokerState
from broker_core.lab.kafka.views.broker_verbs import link_verbs, writer_verbs
from broker_core.lab.shared.readers import READER
from broker_core.sim.world import World


def links_view(world: World) -> Json:
    """The cable between each two nodes: who is not heard by the other (`cut`), and how many microseconds a
    message takes, by its sender."""
    ends = {name: name for name in nodes_of(world)}
    pairs = list(combinations(ends, 2))
    for client, node in clients_of(world).items():
        ends[client] = node
        pairs += [(broker, client) for broker in _brokers_of(world, client, node)]
    views: Json = {}
    for pair in pairs:
        one, other = sorted(pair)
        ways = [
            (sender, world.routes.get((ends[sender], ends[receiver])))
            for sender, receiver in ((one, other), (other, one))
        ]
        cut = [sender for sender, route in ways if route is not None and route.is_cut]
        slow = {
            sender: route.delay_us
            for sender, route in ways
            if route is not None and route.delay_us is not None
        }
        views[f"{one}>{other}"] = {"cut": cut, "slow": slow, "verbs": link_verbs(len(cut), bool(slow))}
    return views


def clients_view(world: World) -> Json:
    """Producers and consumers by name: what each is, whether its process runs, and what can be done to it
    here."""
    slots = {name: world.slots[node] for name, node in clients_of(world).items()}
    return {
        name: {
            "kind": "producer" if isinstance(slot.node.state, ProducerState) else "consumer",
            "condition": slot.condition,
            "verbs": writer_verbs(slot) if isinstance(slot.node.state, WriterState) else [],
        }
        for name, slot in slots.items()
    }


def writers_of(world: World) -> dict[str, str]:
    """Writers by name, each with its condition."""
    return {
        slot.name: slot.condition for slot in world.slots.values() if isinstance(slot.node.state, WriterState)
    }


def nodes_of(world: World) -> list[str]:
    """Brokers and controller, in the order of their names; [] for a world without a cluster."""
    return sorted(
        slot.name
        for slot in world.slots.values()
        if isinstance(slot.node.state, (BrokerState, ControllerState))
    )


def clients_of(world: World) -> dict[str, str]:
    """Producers and consumers by the name that people know, each with the node of its present life; {} for a
    world without a cluster."""
    if CONTROLLER not in world.slots:
        return {}
    clients = (
        slot
        for slot in world.slots.values()
        if slot.kind != READER and isinstance(slot.node.state, (ProducerState, ConsumerState))
    )
    return {client_name(slot.name): slot.name for slot in clients}


def client_name(node: str) -> str:
    """
    >>> client_name("c4~2"), client_name("broker-1")
    ('c4', 'broker-1')
    """
    return node.partition("~")[0]


def are_linked(one: str, other: str) -> bool:
    """Whether there is a cable between two: a client has none to the controller or to another client.

    >>> are_linked("broker-1", "c1"), are_linked("controller", "broker-1"), are_linked("controller", "c1")
    (True, True, False)
    """
    return "broker-" in (one[:7], other[:7])


def cut_links(world: World) -> dict[str, list[str]]:
    """The links that are cut, "one>other" in the order of their names -> who of the two is not heard."""
    names = {name: name for name in nodes_of(world)} | {
        node: name for name, node in clients_of(world).items()
    }
    cuts: dict[str, list[str]] = {}
    for (sender, receiver), route in world.routes.items():
        if route.is_cut and sender in names and receiver in names:
            one, other = sorted((names[sender], names[receiver]))
            cuts.setdefault(f"{one}>{other}", []).append(names[sender])
    return cuts


def _brokers_of(world: World, client: str, node: str) -> Iterable[str]:
    """To which brokers a client's cable is listed."""
    brokers = [name for name in nodes_of(world) if name != CONTROLLER]
    state = world.slots[node].node.state
    if isinstance(state, ProducerState):
        return brokers
    connected = {broker_node(broker) for broker in state.network.connections}
    return [
        name
        for name in brokers
        if name in connected or any(_is_in_trouble(world, *way) for way in ((name, node), (node, name)))
    ]


def _is_in_trouble(world: World, sender: str, receiver: str) -> bool:
    route = world.routes.get((sender, receiver))
    return route is not None and (route.is_cut or route.delay_us is not None)
