"""A page within a page of another site: who may show it, whose it is (nobody's), in which language, and what oEmbed says
of it."""

import re
from html import unescape
from typing import Any

import pytest
from django.test import Client, override_settings

from dashboard import lessons
from dashboard.frame import frame_html
from dashboard.labs import selectors, services
from dashboard.labs.capsules.orders import PLAYED
from dashboard.models import LESSON_SLUG, Lab, StoredCommand
from tests.dashboard.test_rights import token_of
from tests.dashboard.world import World

pytestmark = pytest.mark.django_db
LESSON, TWO_LANES = "kafka_cluster_high_watermark", "kafka_group_range_two_topics"
ALL_MODELS = [
    {"model": "pulsar"},
    {"model": "kafka", "brokers": 3},
    {"model": "tubemq"},
    {"model": "rabbitmq"},
]


@pytest.fixture
def lab(world: World) -> Lab:
    found = world.open(name="Orders & <b>", lanes=ALL_MODELS)
    world.run(0.5)
    return found


def html(client: Client, address: str, **more: Any) -> str:
    response = client.get(address, **more)
    assert response.status_code == 200, response.content
    return response.content.decode()


def tabs_of(text: str) -> dict[str, str]:
    return {page: unescape(url) for page, url in re.findall(r'<a id="to-(\w+)" href="([^"]+)"', text)}


def test_only_these_pages_may_stand_in_pages_of_other_sites(client: Client, lab: Lab) -> None:
    own = client.get(f"/lab/{lab.pk}/")
    assert own["X-Frame-Options"] == "DENY" and "frame-ancestors 'none'" in own["Content-Security-Policy"]
    for page in ("", "kafka/cluster/", "kafka/groups/", "pulsar/", "tubemq/", "rabbitmq/"):
        shown = client.get(f"/embed/lab/{lab.pk}/{page}")
        assert shown.status_code == 200, page
        assert "X-Frame-Options" not in shown
        assert shown["Content-Security-Policy"].endswith("frame-ancestors *")
        assert "default-src 'self'" in shown["Content-Security-Policy"]
    for page in ("settings/", "kafka/log", "break/", "compare/", "code/"):
        assert client.get(f"/embed/lab/{lab.pk}/{page}").status_code == 404, page


@override_settings(EMBED_ANCESTORS="https://school.example")
def test_the_operator_names_the_sites(client: Client, lab: Lab) -> None:
    shown = client.get(f"/embed/lab/{lab.pk}/")
    assert shown["Content-Security-Policy"].endswith("frame-ancestors https://school.example")


@override_settings(EMBED_ANCESTORS="'none'")
def test_a_site_that_shows_itself_nowhere_offers_no_code(client: Client, lab: Lab) -> None:
    refused = client.get(f"/embed/lab/{lab.pk}/")
    assert refused.status_code == 404 and "lets no other site" in refused.content.decode()
    assert "embed-dialog" not in html(client, f"/lab/{lab.pk}/")
    assert "oembed" not in html(client, f"/learn/{LESSON}/")
    assert client.get("/oembed/", {"url": f"http://testserver/lab/{lab.pk}/"}).status_code == 404


def test_it_is_nobodys_also_for_the_owner(client: Client, world: World, lab: Lab) -> None:
    """So no page of another site gets an owner's rights, and no cookie is set for a reader."""
    html(client, f"/lab/{lab.pk}/")
    own = services.lab_open(request={}, visitor=token_of(client)).lab
    world.run(0.5)
    assert '"owner": true' in html(client, f"/lab/{own.pk}/")
    shown = client.get(f"/embed/lab/{own.pk}/")
    assert '"owner": false' in shown.content.decode() and not shown.cookies
    stranger = Client().get(f"/embed/lab/{own.pk}/")
    assert not stranger.cookies


def test_a_picture_for_a_slide_stands_in_pages_of_this_site_alone(client: Client, settings: Any) -> None:
    settings.EMBED_ANCESTORS = "'none'"
    lessons.lesson_lab(name=LESSON)
    shown = client.get(f"/embed/learn/{LESSON}/?frame=2&picture=1")
    policy = shown["Content-Security-Policy"]
    assert shown.status_code == 503 and "frame-ancestors 'self';" in f"{policy};", "its lab begins"
    assert client.get(f"/embed/learn/{LESSON}/?frame=2").status_code == 404, "other sites may show nothing"


def test_a_pictures_other_pages_are_pictures_too(client: Client, world: World) -> None:
    lessons.lesson_lab(name=LESSON)
    world.run(1)
    text = html(client, f"/embed/learn/{LESSON}/?picture=1")
    assert "data-picture data-waits>" in text, "unseen until its first moment is there"
    assert '"query": "picture=1"' in text
    assert "data-picture" not in html(client, f"/embed/learn/{LESSON}/?picture=2")


def test_tabs_lead_to_pages_that_may_be_shown_and_the_name_to_the_site(client: Client, lab: Lab) -> None:
    text = html(client, f"/embed/lab/{lab.pk}/kafka/cluster/")
    tabs = tabs_of(text)
    assert {name for name, url in tabs.items() if url.startswith("/embed/lab/")} == set(PLAYED)
    assert f'class="brand" href="/lab/{lab.pk}/kafka/cluster/" target="_blank"' in text
    for gone in ("capsule-dialog", "embed-dialog", "player-about"):
        assert f'id="{gone}"' not in text
    assert not re.search("(?i)press .{0,8}Add consumer", html(client, f"/embed/lab/{lab.pk}/"))


def test_language_and_theme_are_the_readers_unless_the_address_says(client: Client, lab: Lab) -> None:
    address = f"/embed/lab/{lab.pk}/"
    assert 'lang="zh-Hans"' in html(client, address, headers={"accept-language": "zh-CN"})
    assert '<html lang="en"' in html(client, f"{address}?lang=en", headers={"accept-language": "zh-CN"})
    chosen = html(client, f"{address}?lang=zh-hans&theme=dark")
    assert '<html lang="zh-Hans"' in chosen and 'data-theme="dark"' in chosen
    for page, url in tabs_of(chosen).items():
        assert url.endswith("lang=zh-hans&theme=dark") == (page in PLAYED), "other pages keep it"
    wrong = html(client, f"{address}?lang=xx&theme=pink", headers={"accept-language": "en"})
    assert '<html lang="en"' in wrong and "data-theme" not in wrong.partition(">")[0]


def test_a_lesson_has_one_lab_for_all_readers_that_rests_at_its_end(client: Client, world: World) -> None:
    assert client.get("/embed/learn/no_such_lesson/").status_code == 404
    assert client.get(f"/embed/learn/{LESSON}/?frame=99").status_code == 404
    assert not Lab.objects.filter(slug__startswith=LESSON_SLUG).exists()
    first = lessons.lesson_lab(name=LESSON)
    assert lessons.lesson_lab(name=LESSON) == first
    lasts_us = lessons.shelved()[LESSON].lesson.lasts_us
    world.run(1)
    shown = html(client, f"/embed/learn/{LESSON}/?frame=2")
    assert f'"lab": "{first}"' in shown and f'"at_us": {lasts_us}' in shown
    stop_us = lessons.shelved()[LESSON].lesson.frames()[1].stop_us
    assert f'"from_us": {stop_us}' in shown
    assert f'href="/learn/{LESSON}/" target="_blank"' in shown
    world.run(5)
    assert f'"at_us": {lasts_us}' in html(client, f"/embed/learn/{LESSON}/"), "it goes on for nobody"
    assert first not in client.get("/labs/").content.decode(), "it is in no list of labs"


def test_the_other_lanes_of_a_lesson_open_in_the_same_frame(client: Client, world: World) -> None:
    lab_id = lessons.lesson_lab(name=TWO_LANES)
    world.run(1)
    text = html(client, f"/embed/learn/{TWO_LANES}/?frame=2&theme=dark&picture=1")
    lanes = {lane: unescape(url) for lane, url in re.findall(r'data-lane-tab="([^"]+)" href="([^"]+)"', text)}
    assert list(lanes) == ["range", "round_robin"]
    for lane, url in lanes.items():
        assert url == f"/embed/lab/{lab_id}/kafka/groups/?lane={lane}&theme=dark&picture=1"
        assert re.search(f'data-lane-tab="{lane}"[^>]*aria-current="page"', html(client, url))


@pytest.mark.parametrize("name", [LESSON, "rabbitmq_one_to_one"])
def test_the_lessons_lab_did_what_the_lesson_orders_at_its_times(world: World, name: str) -> None:
    lab_id = lessons.lesson_lab(name=name)
    world.run(1)
    lesson = lessons.shelved()[name].lesson
    snapshot = selectors.lab_snapshot(lab_id=lab_id)
    assert snapshot is not None and len(lesson.checks) > 1
    told = snapshot["view"]["lesson"]
    assert [result["holds"] for result in told["results"].values()] == [True] * len(lesson.checks)
    assert told["meddled_us"] is None
    orders = StoredCommand.objects.filter(lab=lab_id, position__gt=1).order_by("position")
    assert [(each.at_us, each.state) for each in orders] == [
        (entry["at_us"], "applied") for entry in lesson.script()
    ]


def test_where_there_is_no_room_for_a_lessons_lab_the_frame_says_so(client: Client, settings: Any) -> None:
    settings.LABS_MAX = 0
    refused = client.get(f"/embed/learn/{LESSON}/")
    text = refused.content.decode()
    assert refused.status_code == 429 and "There is nothing to show here" in text
    assert ">The lab is gone" not in text and 'class="menu"' not in text


def test_a_lesson_that_was_changed_gets_another_lab(world: World) -> None:
    first = lessons.lesson_lab(name=LESSON)
    lab = Lab.objects.get(pk=first)
    lab.scenario["seed"] += 1
    lab.save(update_fields=["scenario"])
    assert lessons.lesson_lab(name=LESSON) != first
    assert Lab.objects.get(pk=first).slug is None


def test_oembed_says_what_to_put_into_the_page(client: Client, lab: Lab) -> None:
    address = f"http://testserver/lab/{lab.pk}/kafka/cluster/?lane=kafka#at_us=100000"
    answer = client.get("/oembed/", {"url": address, "maxwidth": "640", "maxheight": "9000"}).json()
    assert {key: answer[key] for key in ("version", "type", "width", "height", "title")} == {
        "version": "1.0", "type": "rich", "width": 640, "height": 640, "title": "Orders & <b>",
    }  # fmt: skip
    src = re.search('src="([^"]+)"', answer["html"])
    assert src and unescape(src[1]) == address.replace("/lab/", "/embed/lab/", 1)
    assert "<b>" not in answer["html"]
    again = client.get("/oembed/", {"url": unescape(src[1])}).json()
    assert again["html"] == frame_html(unescape(src[1]), "Orders & <b>", 960, 640), (
        "an embedded address is one, too"
    )
    lesson = client.get("/oembed/", {"url": f"http://testserver/learn/{LESSON}/"}).json()
    assert "/embed/learn/" in lesson["html"] and not Lab.objects.filter(slug__startswith=LESSON_SLUG).exists()


@pytest.mark.parametrize(
    ("asked", "status", "field"),
    [
        ({}, 404, "url"),
        ({"url": "http://elsewhere.example/lab/x/"}, 404, "url"),
        ({"url": "http://testserver/labs/"}, 404, "url"),
        ({"url": "http://testserver/lab/none/"}, 404, "url"),
        ({"url": f"http://testserver/learn/{LESSON}/", "format": "xml"}, 501, "format"),
        ({"url": f"http://testserver/learn/{LESSON}/", "maxwidth": "12"}, 400, "maxwidth"),
        ({"url": f"http://testserver/learn/{LESSON}/", "maxheight": "many"}, 400, "maxheight"),
    ],
)
def test_oembed_refuses_at_the_field(client: Client, asked: dict[str, str], status: int, field: str) -> None:
    refused = client.get("/oembed/", asked)
    assert refused.status_code == status and list(refused.json()["fields"]) == [field]


def test_pages_say_where_oembed_is(client: Client, lab: Lab) -> None:
    for page in (f"/lab/{lab.pk}/rabbitmq/", f"/learn/{LESSON}/"):
        link = re.search(r'type="application/json\+oembed" href="([^"]+)"', html(client, page))
        assert link, page
        assert client.get(unescape(link[1])).json()["type"] == "rich"
