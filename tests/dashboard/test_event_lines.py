"""A lab's turning points as a file of lines."""

import asyncio
import json
from typing import Any

import pytest
from django.test import AsyncClient, Client

from dashboard.labs import services
from dashboard.labs.transport import Transport
from dashboard.models import StoredEvent

pytestmark = pytest.mark.django_db(transaction=True)
COUNT = 1203  # more than are read at once


@pytest.fixture
def lab(monkeypatch: pytest.MonkeyPatch) -> str:
    monkeypatch.setattr(Transport, "wake", lambda *_arguments: False)
    opened = services.lab_open(request={}, visitor=None, address="127.0.0.1").lab
    StoredEvent.objects.bulk_create(
        StoredEvent(lab=opened, seq=seq, at_us=seq * 10, event={"seq": seq, "data": {"name": "c2 消费者\n"}})
        for seq in range(1, COUNT + 1)
    )
    return str(opened.pk)


def lines(lab: str, query: str = "") -> list[dict[str, Any]]:
    async def read() -> bytes:
        response = await AsyncClient().get(f"/api/labs/{lab}/events.jsonl{query}")
        assert response.status_code == 200 and response["Content-Disposition"] == "attachment"
        return b"".join([piece async for piece in response])

    return [json.loads(line) for line in asyncio.run(read()).splitlines()]


def test_each_line_is_an_event_and_all_are_there_in_order(lab: str) -> None:
    found = lines(lab)
    assert [event["seq"] for event in found] == list(range(1, COUNT + 1))
    assert found[0]["data"] == {"name": "c2 消费者\n"}


@pytest.mark.parametrize(("until", "last"), [("0", 0), ("10", 1), ("7009", 700), ("999999999", COUNT)])
def test_a_moment_ends_them(lab: str, until: str, last: int) -> None:
    assert len(lines(lab, f"?until_us={until}")) == last


@pytest.mark.parametrize("until", ["-1", "1.5", "x", "1" * 19, "٣"])
def test_what_is_no_moment_is_refused_at_its_field(lab: str, until: str, client: Client) -> None:
    response = client.get(f"/api/labs/{lab}/events.jsonl", {"until_us": until})
    assert response.status_code == 400 and response.json()["fields"].keys() == {"until_us"}


def test_a_lab_that_is_not_there_has_none(lab: str, client: Client) -> None:
    assert client.get("/api/labs/nothing/events.jsonl").status_code == 404
    assert client.post(f"/api/labs/{lab}/events.jsonl").status_code == 405
