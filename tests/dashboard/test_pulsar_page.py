"""The page of a lab's subscription, and its two questions: there for a Pulsar lane, in both languages;
refused at the field that is wrong."""

import gzip
import json
from pathlib import Path
from typing import Any

import pytest
from django.test import Client

from tests.dashboard.stored_view import lab_with

pytestmark = pytest.mark.django_db(transaction=True)

VIEWS = json.loads(gzip.decompress((Path(__file__).parents[1] / "js/fixtures/pulsar.json.gz").read_bytes()))
RING, STICKY, FAILOVER = VIEWS[0], VIEWS[3], VIEWS[4]


def ask(lab: str, question: str, **params: str) -> tuple[int, Any]:
    answer = Client().get(f"/api/labs/{lab}/pulsar/{question}/", params)
    return answer.status_code, answer.json()


def test_it_is_there_for_a_pulsar_lane_in_both_languages() -> None:
    lab = lab_with(RING)
    for language, title in (("en", "Pulsar subscription"), ("zh-hans", "Pulsar 订阅")):
        answer = Client(headers={"accept-language": language}).get(f"/lab/{lab}/pulsar/")
        text = answer.content.decode()
        assert (
            answer.status_code == 200
            and title in text
            and '"lane": "pulsar"' in text
            and "js/pulsar/page.js" in text
        )


def test_a_lab_without_a_pulsar_lane_has_no_such_page() -> None:
    lab = lab_with({"lane_order": ["kafka"], "lanes": {"kafka": {}}})
    assert Client().get(f"/lab/{lab}/pulsar/").status_code == 404
    assert Client().get("/lab/n0where/pulsar/").status_code == 404
    assert Client().get(f"/lab/{lab_with(RING)}/pulsar/?lane=other").status_code == 404
    assert ask(lab, "key", key="a")[0] == 404


def test_the_page_knows_the_registrys_orders_and_their_arguments() -> None:
    text = Client().get(f"/lab/{lab_with(RING)}/pulsar/").content.decode()
    page = json.loads(text.split('<script id="page" type="application/json">')[1].split("</script>")[0])
    assert page["pulsar"]["verbs"]["slow"] == ["rate"] and {"join", "leave", "crash", "set_algorithm"} <= set(
        page["pulsar"]["verbs"]
    )


def test_where_a_key_goes_now_and_after_the_next_join() -> None:
    status, answer = ask(lab_with(RING), "key", key="N725MQ")
    assert status == 200
    assert answer["joins"]["name"] == "c5" and answer["consumer"] in RING["lanes"]["pulsar"]["consumers"]
    assert answer["slot"] == answer["hash31"] == answer["hash"] & 0x7FFFFFFF
    named = ask(lab_with(RING), "key", key="N725MQ", name="pod-7f9c")[1]
    assert named["joins"]["name"] == "pod-7f9c" and named["consumer"] == answer["consumer"]


def test_where_a_key_goes_follows_the_ordering_key_that_the_lanes_producer_sets() -> None:
    view = json.loads(json.dumps(RING))
    view["lanes"]["pulsar"]["pulsar"]["ordering_keys"] = 1
    lab = lab_with(view)
    answer, first = ask(lab, "key", key="N725MQ")[1], ask(lab_with(RING), "key", key="N0EGMQ")[1]
    assert (answer["ordering_key"], first["ordering_key"]) == ("N0EGMQ", None), (
        "keys have their codes in order"
    )
    assert (answer["hash"], answer["consumer"]) == (first["hash"], first["consumer"])
    assert ask(lab, "key", key="no flight's")[1]["ordering_key"] is None


def test_a_key_of_a_partitioned_topic_names_its_partition() -> None:
    answer = ask(lab_with(FAILOVER), "key", key="N725MQ")[1]
    known = FAILOVER["lanes"]["pulsar"]["pulsar"]["failover"]["partitions"][str(answer["partition"])]
    assert answer["slot"] is None and answer["consumer"] == known["active"]


def test_a_name_that_cannot_be_or_is_there_is_refused_at_its_field() -> None:
    lab = lab_with(RING)
    assert ask(lab, "key", key="a", name="not a name!") == (400, {"fields": {"consumer": [
        "must be 1 to 32 letters, digits or . _ -, beginning with a letter or digit"]}})  # fmt: skip
    assert ask(lab, "key", key="a", name="c1") == (400, {"fields": {"consumer": ["c1 is already in pulsar"]}})
    assert ask(lab, "key", key="a" * 600)[1]["fields"] == {"key": ["at most 512 bytes"]}
    assert Client().post(f"/api/labs/{lab}/pulsar/key/").status_code == 405


def test_ranges_are_checked_while_they_are_typed() -> None:
    lab = lab_with(STICKY)
    status, answer = ask(lab, "ranges", consumer="c3", ranges="20000-40000")
    assert status == 200 and answer["ranges"] == [[20000, 40000]] and answer["gaps"]
    assert ask(lab, "ranges", consumer="c3", ranges="0-100")[1]["refused"]["kind"] == "range_conflict"
    assert ask(lab, "ranges", consumer="c3", ranges="some")[1]["fields"] == {
        "ranges": ["must be ranges such as 0-16383, 32768-49151: some"]
    }
    assert ask(lab_with(RING), "ranges", consumer="c1", ranges="0-1") == (
        400,
        {"fields": {"lane": ["has no sticky ranges"]}},
    )
