"""Frames of a given size that say when they were sent, to measure the feed without a lab."""

import asyncio
import time
from collections.abc import Awaitable, Callable
from typing import Any


def frame_at(seq: int, size: int) -> dict[str, Any]:
    """A frame of about `size` bytes, made of as many small operations as a real one has."""
    operations = [
        {"op": "replace", "path": f"/lanes/kafka/picture/partitions/{n}/end", "value": seq}
        for n in range(size // 72)
    ]
    return {
        "type": "frame",
        "lab": "bench",
        "epoch": 1,
        "from_seq": seq - 1,
        "seq": seq,
        "sent_at": time.time(),
        "at_us": seq * 100_000,
        "patch": operations,
        "events": [],
    }


async def publish_at_rate(send: Callable[[int], Awaitable[None]], seconds: float, rate: float) -> None:
    """Call send(seq) `rate` times a second, seq from 1."""
    loop = asyncio.get_running_loop()
    started_s = loop.time()
    for seq in range(1, int(seconds * rate) + 1):
        await send(seq)
        await asyncio.sleep(max(0.0, started_s + seq / rate - loop.time()))
