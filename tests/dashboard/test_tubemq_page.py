"""The page of a lab's TubeMQ group: there for a TubeMQ lane, in both languages, and linked from its lane."""

import gzip
import json
import re
from pathlib import Path

import pytest
from django.test import Client

from dashboard.errors import Refused
from dashboard.labs import services
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


def test_where_the_kernel_has_no_filter_the_page_says_that_own_rules_are_off_and_they_are_refused(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    lab = lab_with(VIEWS[0])
    for is_off in (False, True):
        monkeypatch.setattr("dashboard.views.tubemq.is_available", lambda is_off=is_off: not is_off)
        text = Client().get(f"/lab/{lab}/tubemq/").content.decode()
        found = re.search(r'<script id="page" type="application/json">(.*?)</script>', text)
        assert found is not None and json.loads(found[1])["tubemq"]["own_off"] is is_off
    monkeypatch.setattr(services, "is_available", lambda: False)
    opened = services.lab_open(request={})
    ordered = {"command_id": "a", "kind": "tubemq_rule"}
    source = "def assign(members, partitions):\n    return {}\n"

    def submit(given: str | None) -> None:
        request = {**ordered, "args": {"source": given}}
        services.lab_submit(lab_id=opened.lab.pk, bearer=opened.owner_token, request=request)

    with pytest.raises(Refused) as refused:
        submit(source)
    assert "seccomp" in refused.value.fields["args.source"][0]
    submit(None)
