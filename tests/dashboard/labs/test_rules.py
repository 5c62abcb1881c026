"""A lab that was made under older rules says so, and so do its copies; one that is made or replayed from the
start has today's."""

import pytest
from django.test import Client
from django.utils.translation import override

from broker_core.lab.rules import RULES_VERSION
from dashboard.labs import selectors, services
from dashboard.models import DEMO_SLUG, Lab
from dashboard.sentences import catalogue
from tests.dashboard.world import World

pytestmark = pytest.mark.django_db
OLDER = {"made": RULES_VERSION - 1, "now": RULES_VERSION, "older": True}
TODAY = {"made": RULES_VERSION, "now": RULES_VERSION, "older": False}


@pytest.fixture
def older(world: World) -> Lab:
    """A lab with a view, as an upgrade finds it."""
    lab = world.open(lanes=[{"model": "kafka", "brokers": 3}, {"model": "pulsar"}])
    world.run(1.5)
    Lab.objects.filter(pk=lab.pk).update(rules_version=RULES_VERSION - 1)
    lab.refresh_from_db()
    return lab


def test_a_new_lab_has_todays_rules_in_its_row_and_its_journal(world: World, client: Client) -> None:
    lab = world.open()
    for path in ("", "journal/"):
        assert client.get(f"/api/labs/{lab.pk}/{path}").json()["rules"] == TODAY


def test_a_lab_from_before_versions_is_older(world: World) -> None:
    lab = Lab.objects.create(scenario={}, owner_hash="", shard=0)
    assert selectors.rules_of(lab=lab) == {"made": 0, "now": RULES_VERSION, "older": True}


def test_an_older_lab_and_its_copies_have_their_version(older: Lab, world: World, client: Client) -> None:
    at_us = selectors.lab_snapshot(lab_id=older.pk)["at_us"]  # type: ignore[index]
    copies = [
        services.lab_fork(lab_id=older.pk, request=request).lab for request in ({}, {"until_us": at_us // 2})
    ]
    for lab in (older, *copies):
        assert client.get(f"/api/labs/{lab.pk}/").json()["rules"] == OLDER
        assert client.get(f"/api/labs/{lab.pk}/journal/").json()["rules"] == OLDER


def test_a_replay_from_the_start_has_todays_rules(older: Lab, world: World) -> None:
    again = services.lab_fork(lab_id=older.pk, request={"seed": 99}).lab
    assert selectors.rules_of(lab=again) == TODAY


@pytest.mark.parametrize("language", ["en", "zh-hans"])
@pytest.mark.parametrize("page", ["", "kafka/cluster/", "kafka/groups/", "kafka/log", "pulsar/"])
def test_each_page_of_an_older_lab_says_so(older: Lab, client: Client, page: str, language: str) -> None:
    sentence = catalogue("stage")[language]["rules.older"].replace("'", "&#x27;")
    shown = page_of(client, older, page, language)
    assert f'data-say="rules.older">{sentence}<' in shown
    Lab.objects.filter(pk=older.pk).update(rules_version=RULES_VERSION)
    assert 'data-say="rules.older"' not in page_of(client, older, page, language)


def page_of(client: Client, lab: Lab, page: str, language: str) -> str:
    with override(language):
        answer = client.get(f"/lab/{lab.pk}/{page}", headers={"accept-language": language})
    assert answer.status_code == 200
    return answer.content.decode()


def test_the_demo_is_made_again_under_new_rules_and_its_copies_keep_their_parent(world: World) -> None:
    first = services.demo_lab_ensure()
    assert services.demo_lab_ensure() == first
    Lab.objects.filter(pk=first).update(rules_version=RULES_VERSION - 1)
    second = services.demo_lab_ensure()
    assert second != first and Lab.objects.get(pk=second).slug == DEMO_SLUG
    assert selectors.rules_of(lab=Lab.objects.get(pk=second)) == TODAY
    assert Lab.objects.get(pk=first).slug is None
