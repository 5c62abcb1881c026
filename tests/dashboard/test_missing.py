"""An address where there is nothing names what is missing, in both languages, and leads on."""

import pytest
from django.test import Client

from dashboard import services

pytestmark = pytest.mark.django_db


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


def test_a_lab_without_such_a_lane_is_not_called_missing() -> None:
    lab = services.lab_open(request={}).lab
    text = Client().get(f"/lab/{lab.pk}/kafka/log?rig=nowhere")
    assert text.status_code == 404 and f"There is no such log in lab {lab.pk}" in text.content.decode()
