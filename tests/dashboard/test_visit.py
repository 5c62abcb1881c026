"""Fetching the Stage makes nothing; the page's first call makes the visitor's lab, once."""

import json
import re
from concurrent.futures import ThreadPoolExecutor
from typing import Any

import pytest
from django.db import connections
from django.test import Client

from dashboard.labs import services
from dashboard.models import DEMO_SLUG, Lab
from tests.dashboard.world import World

CRAWLERS = ("Googlebot/2.1", "Slackbot-LinkExpanding 1.0", "curl/8.0", "")


@pytest.fixture
def demo(world: World) -> str:
    lab_id = services.demo_lab_ensure()
    world.run(6)
    return lab_id


def page_of(client: Client, path: str = "/") -> Any:
    return json.loads(
        re.search(r'<script id="page"[^>]*>(.*?)</script>', client.get(path).content.decode(), re.DOTALL)[1]
    )  # type: ignore[index]


def visit(client: Client, page: Any) -> Any:
    return client.post(
        page["visit"], "{}", content_type="application/json", headers={"x-csrftoken": page["csrf"]}
    )


@pytest.mark.django_db
def test_fetching_the_page_makes_no_lab(demo: str) -> None:
    for client in (*(Client(headers={"user-agent": agent}) for agent in CRAWLERS), Client()):
        assert client.get("/").status_code == 200 == client.head("/").status_code
        for path in ("/?demo=off", "/labs/", "/learn/", "/analyze/", f"/lab/{demo}/"):
            assert client.get(path).status_code == 200
    assert client.get("/").status_code == 200, "who returns with a cookie"
    assert list(Lab.objects.values_list("slug", flat=True)) == [DEMO_SLUG]


@pytest.mark.django_db
def test_the_first_call_makes_the_visitors_own_copy_of_what_is_on_the_screen(demo: str) -> None:
    client = Client()
    shown = page_of(client)
    assert (shown["lab"], shown["owner"], shown["demo"], shown["plays"]) == (demo, False, None, True)
    answer = visit(client, shown)
    own = answer.json()
    assert answer.status_code == 201 and own["lab"] != demo and own["owner"]
    assert own["seq"] == shown["seq"] and own["demo"]["command_id"] == "demo:join"
    assert own["urls"]["commands"] == f"/api/labs/{own['lab']}/commands/"
    assert visit(client, shown).json()["lab"] == own["lab"], (
        "a page that is opened twice is about the same lab"
    )
    again = page_of(client)
    assert (again["lab"], again["owner"], again["visit"]) == (own["lab"], True, "")
    assert Lab.objects.count() == 2
    assert page_of(Client(), "/?demo=off")["plays"] is False


@pytest.mark.django_db
def test_without_a_cookie_or_its_token_nothing_is_made(demo: str) -> None:
    refused = Client().post("/api/labs/visit/", "{}", content_type="application/json")
    assert refused.status_code == 403 and list(refused.json()["fields"]) == ["lab"]
    client = Client(enforce_csrf_checks=True)
    page_of(client)
    assert client.post("/api/labs/visit/", "{}", content_type="application/json").status_code == 403
    assert Lab.objects.count() == 1


@pytest.mark.django_db(transaction=True)
def test_two_tabs_that_open_together_share_one_lab(demo: str) -> None:
    client = Client()
    page = page_of(client)

    def ask(_tab: int) -> str:
        try:
            tab = Client()
            tab.cookies = client.cookies
            return str(visit(tab, page).json()["lab"])
        finally:
            connections.close_all()

    with ThreadPoolExecutor(4) as pool:
        assert len(set(pool.map(ask, range(4)))) == 1
    assert Lab.objects.count() == 2


def test_crawlers_are_asked_to_leave_the_interface_alone() -> None:
    answer = Client().get("/robots.txt")
    assert answer.status_code == 200 and "Disallow: /api/" in answer.content.decode()
