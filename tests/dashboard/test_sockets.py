"""The websocket's door: whose page may open it, and what a browser may say."""

import json
from typing import Any

import pytest
from channels.testing import WebsocketCommunicator

from dashboard.labs import feed as feeds
from dashboard.labs import services
from mqsite.asgi import application

pytestmark = [pytest.mark.django_db(transaction=True), pytest.mark.asyncio]


@pytest.fixture(autouse=True)
def fresh_feed(monkeypatch: pytest.MonkeyPatch) -> None:
    """Each test has an event loop of its own, so a feed of its own."""
    monkeypatch.setattr(feeds, "_feed", None)


async def connect(lab_id: str, **headers: str) -> WebsocketCommunicator:
    given = {"host": "localhost:8000", **headers}
    socket = WebsocketCommunicator(
        application, f"/ws/labs/{lab_id}/", [(name.encode(), value.encode()) for name, value in given.items()]
    )
    connected, _subprotocol = await socket.connect(timeout=5)
    assert connected
    return socket


async def close_code(socket: WebsocketCommunicator) -> int:
    while True:
        message = await socket.receive_output(timeout=5)
        if message["type"] == "websocket.close":
            return int(message["code"])


async def new_lab() -> str:
    opened = await feeds.in_thread(services.lab_open)(request={})
    return str(opened.lab.pk)


async def test_unknown_lab_closes_with_4404() -> None:
    assert await close_code(await connect("nobody")) == 4404


async def test_page_of_another_site_is_turned_away() -> None:
    lab_id = await new_lab()
    for origin in ("https://evil.example", "http://localhost:8001", "null", "localhost:8000"):
        assert await close_code(await connect(lab_id, origin=origin)) == 4403
    assert await close_code(await connect(lab_id, host="evil.example", origin="http://evil.example")) == 4403


async def test_own_page_and_programs_may_read() -> None:
    lab_id = await new_lab()
    for headers in ({"origin": "http://localhost:8000"}, {}):
        socket = await connect(lab_id, **headers)
        assert await socket.receive_nothing(timeout=0.2)
        await socket.disconnect()


@pytest.mark.parametrize(
    "text",
    [
        " ",
        "{",
        "[]",
        "7",
        '{"type":"join"}',
        '{"type":"ack"}',
        '{"type":"ack","seq":"1"}',
        '{"type":"ack","seq":1.5}',
        '{"type":"ack","seq":1,"more":1}',
        '{"type":"snapshot","lab":"x"}',
        "[" * 100,
        json.dumps({"type": "snapshot", "pad": "x" * 300}),
    ],
)
async def test_anything_but_snapshot_and_ack_closes_with_4400(text: str) -> None:
    socket = await connect(await new_lab())
    await socket.send_to(text_data=text)
    assert await close_code(socket) == 4400


async def test_flood_of_messages_closes_with_4429(settings: Any) -> None:
    socket = await connect(await new_lab())
    for _message in range(3 * settings.SOCKET_MESSAGES_PER_S):
        await socket.send_to(text_data='{"type":"ack","seq":1}')
    assert await close_code(socket) == 4429


async def test_socket_that_finds_no_room_closes_with_4430_and_who_leaves_makes_room(settings: Any) -> None:
    settings.SOCKETS_ADDRESS_MAX = 1
    lab_id = await new_lab()
    first = await connect(lab_id)
    assert await close_code(await connect(lab_id)) == 4430
    await first.disconnect()
    assert await close_code(await connect("nobody")) == 4404
    again = await connect(lab_id)
    assert await again.receive_nothing(timeout=0.2)
    await again.disconnect()
