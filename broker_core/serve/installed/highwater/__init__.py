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

import sys
from importlib import import_module
from pathlib import Path
from typing import Any

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
    "lab",
    "replay",
    "run",
    "run_here",
    "virtual_loop",
]


def __getattr__(name: str) -> Any:
    """`lab` (dashboard/notebook/) needs the whole product, which serving does without: the checkout that `make install`
    has installed. Raises ImportError where there is none, as in a wheel."""
    if name != "lab":
        raise AttributeError(f"module 'highwater' has no attribute {name!r}")
    checkout = Path(__file__).parents[4]
    if not (checkout / "dashboard" / "notebook").is_dir():
        raise ImportError(
            "highwater.lab needs a checkout of Highwater with `make install`: serving alone has no labs"
        )
    if str(checkout) not in sys.path:
        sys.path.append(str(checkout))
    return import_module("dashboard.notebook").lab
