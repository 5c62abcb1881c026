"""The design that the live feed is measured against: one Channels group per lab, one consumer per browser,
frames through group_send.

daphne tests.bench.channels_group:application      with REDIS_URL naming the Redis that also carries the frames
python -m tests.bench.channels_group SECONDS RATE SIZE     publishes frames to the group
"""

import asyncio
import os
import sys

from django.conf import settings

if not settings.configured:
    settings.configure(
        CHANNEL_LAYERS={"default": {"BACKEND": "channels_redis.core.RedisChannelLayer",
                                    "CONFIG": {"hosts": [os.environ["REDIS_URL"]], "capacity": 1000}}},
        SECRET_KEY="of a benchmark", ALLOWED_HOSTS=["*"],
    )  # fmt: skip

from channels.generic.websocket import AsyncJsonWebsocketConsumer  # noqa: E402
from channels.layers import get_channel_layer  # noqa: E402
from channels.routing import ProtocolTypeRouter, URLRouter  # noqa: E402
from django.urls import re_path  # noqa: E402

from tests.bench.frames import frame_at, publish_at_rate  # noqa: E402

GROUP = "lab"


class GroupConsumer(AsyncJsonWebsocketConsumer):
    """What the tutorial of Channels makes of a live page."""

    async def connect(self) -> None:
        await self.channel_layer.group_add(GROUP, self.channel_name)
        await self.accept()

    async def lab_frame(self, event: dict[str, object]) -> None:
        await self.send_json(event["frame"])

    async def receive_json(self, content: object, **kwargs: object) -> None:
        """Acknowledgements change nothing here."""


application = ProtocolTypeRouter({"websocket": URLRouter([re_path(r"", GroupConsumer.as_asgi())])})


async def publish(seconds: float, rate: float, size: int) -> None:
    layer = get_channel_layer()

    async def send(seq: int) -> None:
        await layer.group_send(GROUP, {"type": "lab.frame", "frame": frame_at(seq, size)})

    await publish_at_rate(send, seconds, rate)


if __name__ == "__main__":
    asyncio.run(publish(float(sys.argv[1]), float(sys.argv[2]), int(sys.argv[3])))
