"""An address where there is nothing names what is missing, in both languages, and leads on."""

import re

import pytest
from django.test import Client
from django.urls import URLPattern
from django.utils import timezone

from dashboard import urls
from dashboard.labs import services
from dashboard.models import Lab, StoredView

pytestmark = pytest.mark.django_db(transaction=True)  # pages of a lane ask from threads
VIEW = '{"lane_order": [], "lanes": {}}'


@pytest.mark.parametrize(
    ("path", "english", "chinese", "leads_to"),
    [
        ("/lab/n0where/", "There is no lab n0where", "没有实验室 n0where", "/labs/"),
        ("/lab/n0where/kafka/log", "There is no lab n0where", "没有实验室 n0where", "/labs/"),
        ("/log/n0where/", "There is no opened log n0where", "没有打开过的日志 n0where", "/"),
        ("/analyze/n0where/", "There is no study n0where", "没有研究 n0where", "/analyze/"),
        ("/analyze/compare/?a=n0where&b=neither", "There is no study n0where", "没有研究 n0where", "/analyze/"),
        ("/n0where/at/all", "There is no page /n0where/at/all", "没有页面 /n0where/at/all", "/"),
        ("/<script>" + "x" * 500, "There is no page /&lt;script&gt;" + "x" * 91, "没有页面 /&lt;script&gt;", "/"),
    ],
)  # fmt: skip
def test_the_page_names_what_is_missing(path: str, english: str, chinese: str, leads_to: str) -> None:
    for language, sentence in (("en", english), ("zh-hans", chinese)):
        answer = Client(headers={"accept-language": language}).get(path)
        text = answer.content.decode()
        assert answer.status_code == 404 and sentence in text
        assert f'class="go" href="{leads_to}"' in text


def pages_of(name: str) -> list[str]:
    """Patterns of the pages whose address names this, as `lab_id`; none of the API."""
    return [
        str(pattern.pattern)
        for pattern in urls.urlpatterns
        if isinstance(pattern, URLPattern)
        and f":{name}>" in str(pattern.pattern)
        and not str(pattern.pattern).startswith("api/")
    ]


@pytest.mark.parametrize("pattern", pages_of("lab_id"))
def test_every_page_of_a_deleted_lab_says_that_there_is_no_such_lab(pattern: str) -> None:
    lab = services.lab_open(request={}).lab
    Lab.objects.filter(pk=lab.pk).update(deleted_at=timezone.now())
    for address in (f"/{pattern}", f"/{pattern}?lane=kafka&partition=flights-0"):
        text = (
            Client()
            .get(re.sub("<lab_id:(lab|other)_id>", lab.pk, address), follow=True)
            .content.decode()
            .split("<main")[1]
            .split("</main>")[0]
        )
        assert (
            f"There is no lab {lab.pk}" in text and "may have deleted it" in text and "misspelt" not in text
        )


def test_the_pages_of_a_lab_are_among_those() -> None:
    assert {
        "lab/<lab_id:lab_id>/kafka/cluster/",
        "lab/<lab_id:lab_id>/kafka/groups/",
        "lab/<lab_id:lab_id>/pulsar/",
    } < set(pages_of("lab_id"))
    assert len(pages_of("study_id")) == len(pages_of("log_id")) == 1


@pytest.mark.parametrize("page", ["kafka/log", "kafka/cluster/", "kafka/groups/"])
def test_a_lab_without_such_a_lane_is_not_called_missing(page: str) -> None:
    lab = services.lab_open(request={}).lab
    StoredView.objects.update_or_create(pk=lab.pk, defaults={"epoch": 1, "seq": 3, "at_us": 5, "text": VIEW})
    answer = Client().get(f"/lab/{lab.pk}/{page}?lane=nowhere")
    assert answer.status_code == 404 and f"Lab {lab.pk} has no such page" in answer.content.decode()
