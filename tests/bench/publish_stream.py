"""Publish frames to a lab's stream as its shard would: `python -m tests.bench.publish_stream LAB SECONDS RATE
SIZE`.

The lab's stored view is set to frame 0 first, so that every browser can begin.
"""

import asyncio
import json
import sys

import django

django.setup()

from dashboard.labs.transport import Frame, transport  # noqa: E402
from dashboard.models import Lab, StoredView  # noqa: E402
from tests.bench.frames import frame_at, publish_at_rate  # noqa: E402


def prepare(lab_id: str) -> None:
    Lab.objects.get_or_create(
        id=lab_id, defaults={"scenario": {}, "owner_hash": "", "shard": 10**6, "status": Lab.Status.FAILED}
    )
    StoredView.objects.update_or_create(pk=lab_id, defaults={"epoch": 1, "seq": 0, "at_us": 0, "text": "{}"})


async def publish(lab_id: str, seconds: float, rate: float, size: int) -> None:
    async def send(seq: int) -> None:
        transport().publish(
            [Frame(lab_id, 1, seq - 1, seq, False, json.dumps(frame_at(seq, size), separators=(",", ":")))]
        )

    await publish_at_rate(send, seconds, rate)


if __name__ == "__main__":
    if len(sys.argv) == 2:
        prepare(sys.argv[1])
    else:
        asyncio.run(publish(sys.argv[1], *map(float, sys.argv[2:4]), int(sys.argv[4])))
