"""The page of a lab's TubeMQ group: there for a TubeMQ lane, in both languages, and linked from its lane."""

import gzip
import json
from pathlib import Path

import pytest
from django.test import Client

from tests.dashboard.stored_view import lab_with
from tests.dashboard.test_rabbitmq_page import WORK

pytestmark = pytest.mark.django_db(transaction=True)

VIEWS = json.loads(gzip.decompress((Path(__file__).parents[1] / "js/fixtures/tubemq.json.gz").read_bytes()))


def test_it_is_there_for_a_tubemq_lane_in_both_languages() -> None:
    lab = lab_with(VIEWS[0])
    for language, title in (("en", "TubeMQ clients"), ("zh-hans", "TubeMQ 客户端")):
        answer = Client(headers={"accept-language": language}).get(f"/lab/{lab}/tubemq/")
        text = answer.content.decode()
        assert answer.status_code == 200 and title in text and "js/tubemq/page.js" in text
        assert "panels=tubemq" in text and '"cycle_us": 30000000' in text


def test_a_lab_without_a_tubemq_lane_has_no_such_page() -> None:
    assert Client().get(f"/lab/{lab_with(WORK)}/tubemq/").status_code == 404
    assert Client().get(f"/lab/{lab_with(VIEWS[0])}/tubemq/?lane=other").status_code == 404
