"""From the event loop to a thread: what waits for the database must not hold the loop."""

from collections.abc import Awaitable, Callable
from typing import Any

from asgiref.sync import sync_to_async


def in_thread(function: Callable[..., Any]) -> Callable[..., Awaitable[Any]]:
    """The same function, run where it may wait for the database."""
    return sync_to_async(function, thread_sensitive=True)
