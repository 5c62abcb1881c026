"""Client programs of the work queue, for tests of the nodes."""

from broker_core.rabbitmq.client.publisher import Publisher, PublisherState
from broker_core.rabbitmq.client.roles import ConsumerRole, Login, PublisherRole
from broker_core.rabbitmq.client.worker import WorkerState
from broker_core.sim.program import Program


class Keyless:
    """Records without keys."""

    def key_code(self, message: int) -> int:
        return 0

    def key(self, code: int) -> str:
        return ""


def worker_state(name: str, queue: str, prefetch: int, program: Program) -> WorkerState:
    return WorkerState(name, ConsumerRole(Login(), queue, prefetch, is_declared=True), program)


def publisher_state(queue: str) -> PublisherState:
    return PublisherState.of(PublisherRole("publisher", Login(), "", [queue], declares=queue))


def publisher(state: PublisherState) -> Publisher:
    return Publisher(state, Keyless())
