"""The page of a lab's consumer group: there for a lane that runs on a cluster, in both languages; missing for
any other."""

import gzip
import json
import re
from pathlib import Path

import pytest
from django.test import Client

from broker_core.kafka.group.classic import states as classic_states
from broker_core.kafka.group.consumer import states as consumer_states
from dashboard.errors import Refused
from dashboard.labs import services
from dashboard.views.groups import machines
from tests.dashboard.stored_view import lab_with

pytestmark = pytest.mark.django_db(transaction=True)

VIEW = json.loads(gzip.decompress((Path(__file__).parents[1] / "js/fixtures/groups.json.gz").read_bytes()))[2]
VIEW["lanes"]["kafka"]["model"] = "kafka"  # which the scripts that read the fixture do not ask for


def test_it_is_there_for_a_lane_on_a_cluster_in_both_languages() -> None:
    lab = lab_with({"lane_order": ["kafka"], **VIEW})
    for language, title in (("en", "Consumer group"), ("zh-hans", "消费者组")):
        answer = Client(headers={"accept-language": language}).get(f"/lab/{lab}/kafka/groups/")
        text = answer.content.decode()
        assert (
            answer.status_code == 200
            and title in text
            and '"lane": "kafka"' in text
            and "js/groups/page.js" in text
        )
        assert f'href="/lab/{lab}/kafka/cluster/"' in text and f'href="/lab/{lab}/kafka/log"' in text
    assert f'href="/lab/{lab}/kafka/groups/"' in Client().get(f"/lab/{lab}/kafka/cluster/").content.decode()


def test_another_lane_keeps_its_name_in_the_links() -> None:
    lab = lab_with({**VIEW, "lane_order": ["second"], "lanes": {"second": VIEW["lanes"]["kafka"]}})
    text = Client().get(f"/lab/{lab}/kafka/groups/").content.decode()
    assert f'href="/lab/{lab}/kafka/cluster/?lane=second"' in text and '"lane": "second"' in text


def test_a_lab_without_a_cluster_has_no_such_page() -> None:
    lab = lab_with({"lane_order": ["kafka"], "lanes": {"kafka": {}}})
    assert Client().get(f"/lab/{lab}/kafka/groups/").status_code == 404
    assert Client().get("/lab/n0where/kafka/groups/").status_code == 404
    with_group = lab_with({"lane_order": ["kafka"], **VIEW})
    assert Client().get(f"/lab/{with_group}/kafka/groups/?lane=other").status_code == 404


def test_the_page_draws_the_very_tables_that_the_core_has() -> None:
    lab = lab_with({"lane_order": ["kafka"], **VIEW})
    text = Client().get(f"/lab/{lab}/kafka/groups/").content.decode()
    page = json.loads(re.search(r'<script id="page" type="application/json">(.*?)</script>', text)[1])  # type: ignore[index]
    assert page["groups"]["machines"] == machines()
    for protocol, table in (
        ("classic", classic_states.TRANSITIONS),
        ("consumer", consumer_states.TRANSITIONS),
    ):
        machine = machines()[protocol]
        assert {(state, event): after for state, event, after in machine["transitions"]} == dict(table)
        assert {state for one in machine["transitions"] for state in (one[0], one[2])} == set(
            machine["states"]
        )


def test_every_page_of_a_lab_stands_under_labs() -> None:
    lab = lab_with({"lane_order": ["kafka"], **VIEW})
    for place in ("kafka/cluster/", "kafka/groups/"):
        text = Client().get(f"/lab/{lab}/{place}").content.decode()
        assert re.search(r'data-say="nav.labs" aria-current="page"', text), place


def test_where_the_kernel_has_no_filter_the_page_says_that_own_assignors_are_off_and_they_are_refused(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    lab = lab_with({"lane_order": ["kafka"], **VIEW})
    for is_off in (False, True):
        monkeypatch.setattr("dashboard.views.groups.is_available", lambda is_off=is_off: not is_off)
        text = Client().get(f"/lab/{lab}/kafka/groups/").content.decode()
        page = json.loads(re.search(r'<script id="page" type="application/json">(.*?)</script>', text)[1])  # type: ignore[index]
        assert page["groups"]["own_off"] is is_off
    monkeypatch.setattr(services, "is_available", lambda: False)
    opened = services.lab_open(request={})
    source = "def assign(members, partitions):\n    return {}\n"
    with pytest.raises(Refused) as refused:
        services.lab_submit(
            lab_id=opened.lab.pk,
            bearer=opened.owner_token,
            request={"command_id": "a", "kind": "group_assignor", "args": {"source": source}},
        )
    assert refused.value.fields == {
        "args.source": [
            "own assignors and rules are off: the kernel of this server has no filter for system calls (seccomp)"
        ]
    }
    back = {"command_id": "b", "kind": "group_assignor", "args": {"source": None}}
    assert (
        services.lab_submit(lab_id=opened.lab.pk, bearer=opened.owner_token, request=back)["state"]
        == "accepted"
    ), "back to the lane's can be had"
