"""Where one can go from any page: what the palette lists."""

from typing import Any

import pytest
from django.conf import settings
from django.test import Client

from dashboard import access, lessons
from dashboard.labs import services
from dashboard.labs.transport import Transport

pytestmark = pytest.mark.django_db


@pytest.fixture(autouse=True)
def _no_redis(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(Transport, "wake", lambda *_arguments: False)


def places(client: Client) -> dict[str, Any]:
    response = client.get("/api/places/")
    assert response.status_code == 200
    return dict(response.json())


def opened(visitor: str, request: dict[str, Any]) -> str:
    return str(services.lab_open(request=request, visitor=visitor, address="127.0.0.1").lab.pk)


def test_pages_and_lessons_are_there_and_each_address_answers(client: Client) -> None:
    found = places(client)
    for page in found["pages"]:
        assert client.get(page["url"]).status_code in (200, 503), page
    assert [lesson["name"] for lesson in found["lessons"]] == list(lessons.shelved())
    assert set(found["lessons"][0]["title"]) == {"en", "zh"}


def test_a_visitors_own_labs_are_listed_and_nobody_elses(client: Client) -> None:
    mine, other = access.token_new(), access.token_new()
    lab = opened(mine, {"scenario": "demo"})
    theirs = opened(other, {"scenario": "demo"})
    lesson = lessons.lesson_open(name="pulsar_ring_join", visitor=mine, address="127.0.0.1").lab.pk
    client.cookies[settings.VISITOR_COOKIE] = mine
    found = {each["id"]: each for each in places(client)["labs"]}
    assert {lab, lesson} <= found.keys() and theirs not in found
    assert found[lab]["url"] == f"/lab/{lab}/" and found[lab]["lesson"] is None
    assert found[lesson]["lesson"] == lessons.shelved()["pulsar_ring_join"].lesson.title
