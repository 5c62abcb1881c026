"""The rules of a Kafka lane whose consumers ask for the consumer protocol (KIP-848): there the coordinator
assigns, and the members' own assignors are asked nothing.

Kafka's coordinator has two, uniform and range (`group.consumer.assignors`), and takes the first where no
member names one (`group.remote.assignor`).
"""

from collections.abc import Mapping
from dataclasses import replace
from types import MappingProxyType

from broker_core.events import Json
from broker_core.kafka.assignors import ASSIGNORS, Assignor
from broker_core.kafka.client.group_consumer.settings import CONSUMER
from broker_core.kafka.group.consumer.target import ASSIGNORS as SERVER_ASSIGNORS
from broker_core.lab.shared.setup import LaneSetup

SERVER_RULES: Mapping[str, str] = MappingProxyType({f"server_{name}": name for name in SERVER_ASSIGNORS})
"""Id of a lane's rule -> the name that its consumers send to the coordinator. A classic rule is called
`range`, too."""


def assigns_at_server(options: Json) -> bool:
    return options.get("group_protocol") == CONSUMER


def members_assignor(rule: str) -> Assignor:
    """What members assign with where they do: the lane's rule, else the default that a member of a later
    classic life has."""
    return ASSIGNORS[rule] if rule in ASSIGNORS else next(iter(ASSIGNORS.values()))


def with_server_rule(setup: LaneSetup) -> LaneSetup:
    """The same setup, its rule one of the server's where the coordinator assigns; as it is where members do.

    A rule of the members' (the scenario's, or one from a journal that is older than this) leaves the choice
    to the lane's `remote_assignor`.
    """
    if not assigns_at_server(setup.options):
        return setup
    asked = setup.options.get("remote_assignor", next(iter(SERVER_ASSIGNORS)))
    name = SERVER_RULES.get(setup.algorithm, asked)
    (rule,) = (rule for rule, each in SERVER_RULES.items() if each == name)
    return replace(
        setup,
        algorithm=rule,
        options=setup.options if name == asked else {**setup.options, "remote_assignor": name},
    )
