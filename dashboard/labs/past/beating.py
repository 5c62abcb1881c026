"""The sign of life of the worker that looks at labs' pasts, from a thread: a look holds the worker itself."""

import threading
import time
from typing import NoReturn

from dashboard.labs.transport import transport

BEAT_S = 1.0


def start_beating(queue: str) -> None:
    """Say each second, as long as this process lives, that the worker of a queue is alive."""
    threading.Thread(target=_beat, args=(queue,), name="beating", daemon=True).start()


def _beat(queue: str) -> NoReturn:
    while True:
        transport().beat_worker(queue)
        time.sleep(BEAT_S)
