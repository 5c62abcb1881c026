"""Highwater for tests: a RabbitMQ server in this process, for real clients, to break and to replay; docs/clients/.

    import highwater

    with highwater.run() as rabbitmq:
        connection = pika.BlockingConnection(pika.URLParameters(rabbitmq.url))
        lost = rabbitmq.fault("lose_answer", "basic.publish", queue="orders")
        ...
        lost.wait()

The name alone lives here; what it gives is in broker_core/serve/. pyproject.toml says that this folder's package is
installed beside the core (docs/decisions/a-small-installation.md).
"""

from broker_core.errors import CommandError
from broker_core.serve.conditions import NotMet
from broker_core.serve.handles import FaultHandle, Here, HereFault, Threaded, ThreadFault
from broker_core.serve.replay import Replayed, replay
from broker_core.serve.running import run, run_here
from broker_core.serve.virtual import VirtualLoop, virtual_loop

__all__ = [
    "CommandError",
    "FaultHandle",
    "Here",
    "HereFault",
    "NotMet",
    "Replayed",
    "ThreadFault",
    "Threaded",
    "VirtualLoop",
    "replay",
    "run",
    "run_here",
    "virtual_loop",
]
