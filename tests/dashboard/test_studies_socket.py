"""Progress on /ws/studies/<id>/: at once, when something changed, at most twice a second, to everybody in
their own language."""

import json
from typing import Any

import pytest
from channels.testing import WebsocketCommunicator
from django.utils import timezone

from dashboard.models import Study, StudyWindow
from dashboard.studies import reasons, watch
from dashboard.threads import in_thread
from mqsite.asgi import application
from tests.dashboard.studies import waiting

pytestmark = [pytest.mark.django_db(transaction=True), pytest.mark.asyncio]


@pytest.fixture(autouse=True)
def fresh_watch(monkeypatch: pytest.MonkeyPatch) -> None:
    """Each test has an event loop of its own, so a watch of its own; and no patience."""
    monkeypatch.setattr(watch, "_watch", None)
    monkeypatch.setattr(watch, "EVERY_S", 0.02)


async def connect(study_id: str, **headers: str) -> WebsocketCommunicator:
    given = {"host": "localhost:8000", **headers}
    encoded = [(name.encode(), value.encode()) for name, value in given.items()]
    socket = WebsocketCommunicator(application, f"/ws/studies/{study_id}/", encoded)
    connected, _subprotocol = await socket.connect(timeout=5)
    assert connected
    return socket


async def message(socket: WebsocketCommunicator) -> Any:
    return json.loads(await socket.receive_from(timeout=5))


@in_thread
def study_new(**columns: Any) -> Study:
    return waiting(**columns)


@in_thread
def change(study: Study, **columns: Any) -> None:
    Study.objects.filter(pk=study.pk).update(**columns)


@in_thread
def tell_window(study: Study, version: int, start_us: int, lag: int) -> None:
    row = {"start_us": start_us, "lane": "kafka", "lag": lag}
    StudyWindow.objects.update_or_create(
        study=study, start_us=start_us, lane="kafka", defaults={"version": version, "row": row}
    )


async def test_watcher_hears_every_state_until_the_end() -> None:
    study = await study_new()
    socket = await connect(study.pk)
    first = await message(socket)
    assert (first["type"], first["state"], first["progress"]["place"], first["error"]) == (
        "progress",
        "queued",
        1,
        None,
    )
    begun = timezone.now()
    await change(
        study,
        state="running",
        started_at=begun,
        progress={"stage": "routing", "done": 1, "total": 4, "rows": 10},
    )
    second = await message(socket)
    assert (first["started_at"], second["started_at"], second["progress"]["stage"]) == (
        None,
        begun.isoformat(),
        "routing",
    )
    await change(study, state="failed", error=reasons.reason(reasons.DISK_FULL))
    last = await message(socket)
    assert (last["state"], last["error"]) == ("failed", reasons.DISK_FULL)
    assert await socket.receive_nothing(timeout=0.2), "what is over is told once"
    await socket.disconnect()


async def test_each_watcher_reads_its_own_language() -> None:
    study = await study_new(state="failed", error=reasons.reason(reasons.DISK_FULL))
    english, chinese = await connect(study.pk), await connect(study.pk, cookie="django_language=zh-hans")
    assert (await message(english))["error"] == reasons.DISK_FULL
    assert (await message(chinese))["error"].startswith("磁盘已满")
    for socket in (english, chinese):
        await socket.disconnect()


async def test_windows_come_once_and_again_only_when_they_change() -> None:
    study = await study_new(live=True, state="running")
    await tell_window(study, 1, 0, 5)
    socket = await connect(study.pk)
    assert (await message(socket))["type"] == "progress"
    assert (await message(socket))["rows"] == [{"start_us": 0, "lane": "kafka", "lag": 5}]
    await tell_window(study, 2, 1_000_000, 7)
    assert [row["lag"] for row in (await message(socket))["rows"]] == [7]
    await tell_window(study, 3, 0, 6)
    assert [row["lag"] for row in (await message(socket))["rows"]] == [6]
    await socket.disconnect()


async def test_looking_at_a_live_study_keeps_it_alive() -> None:
    study = await study_new(live=True, state="running")
    socket = await connect(study.pk)
    await message(socket)
    assert await in_thread(lambda: Study.objects.get(pk=study.pk).watched_at)() is not None
    await socket.disconnect()


async def test_nobody_is_asked_about_when_the_last_watcher_has_gone() -> None:
    study = await study_new()
    sockets = [await connect(study.pk), await connect(study.pk)]
    for socket in sockets:
        await message(socket)
    await sockets[0].disconnect()
    assert study.pk in watch.watch().watchers
    await sockets[1].disconnect()
    assert not watch.watch().watchers


async def closed_with(socket: WebsocketCommunicator) -> int:
    while True:
        output = await socket.receive_output(timeout=5)
        if output["type"] == "websocket.close":
            return int(output["code"])


async def test_unknown_study_strange_page_and_any_message_close_the_socket() -> None:
    study = await study_new()
    assert await closed_with(await connect("nobody")) == 4404
    assert await closed_with(await connect(study.pk, origin="https://evil.example")) == 4403
    socket = await connect(study.pk)
    await socket.send_to(text_data="{}")
    assert await closed_with(socket) == 4400
