"""The page of a lab's cluster: there for a lane that runs on one, in both languages; missing for any
other."""

import gzip
import json
from pathlib import Path

import pytest
from django.test import Client

from tests.dashboard.stored_view import lab_with

pytestmark = pytest.mark.django_db(transaction=True)

VIEW = json.loads(gzip.decompress((Path(__file__).parents[1] / "js/fixtures/cluster.json.gz").read_bytes()))[
    0
]
VIEW["lanes"]["kafka"]["model"] = "kafka"  # which the scripts that read the fixture do not ask for


def test_it_is_there_for_a_lane_on_a_cluster_in_both_languages() -> None:
    lab = lab_with({"lane_order": ["kafka"], **VIEW})
    for language, title in (("en", "Kafka cluster"), ("zh-hans", "Kafka 集群")):
        answer = Client(headers={"accept-language": language}).get(f"/lab/{lab}/kafka/cluster/")
        text = answer.content.decode()
        assert (
            answer.status_code == 200
            and title in text
            and '"lane": "kafka"' in text
            and "js/cluster/page.js" in text
        )


def test_a_lab_without_a_cluster_has_no_such_page() -> None:
    lab = lab_with({"lane_order": ["kafka"], "lanes": {"kafka": {}}})
    assert Client().get(f"/lab/{lab}/kafka/cluster/").status_code == 404
    assert Client().get("/lab/n0where/kafka/cluster/").status_code == 404
    with_cluster = lab_with({"lane_order": ["kafka"], **VIEW})
    assert Client().get(f"/lab/{with_cluster}/kafka/cluster/?lane=other").status_code == 404
