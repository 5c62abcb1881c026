"""A lab's turning points, searched as the page does it."""

from typing import Any

import pytest
from django.test import Client

from broker_core.lab.lab import Lab as CoreLab
from broker_core.lab.scenario import scenario_from_json
from dashboard.labs import event_search, services
from dashboard.labs.transport import Transport
from dashboard.models import StoredEvent

pytestmark = pytest.mark.django_db(transaction=True)
SECOND = 1_000_000


@pytest.fixture(scope="module")
def told() -> list[dict[str, Any]]:
    """What a lab of four models tells of a join, a crash and all that follows."""
    lab = CoreLab(scenario_from_json({"workload": {"kind": "uniform", "keys": 20, "rate": 5}}))
    events = []
    for place, (second, kind, consumer) in enumerate(((20, "join", None), (40, "crash", "c2"))):
        events += lab.advance_to(second * SECOND)
        events += lab.submit(
            {"command_id": f"t{place}", "kind": kind, "lane": "all", "consumer": consumer, "args": {}}
        )
    events += lab.advance_to(200 * SECOND)
    return [{**event, "seq": place} for place, event in enumerate(events, start=1)]


@pytest.fixture
def empty(monkeypatch: pytest.MonkeyPatch) -> str:
    monkeypatch.setattr(Transport, "wake", lambda *_arguments: False)
    return str(services.lab_open(request={}, visitor=None, address="127.0.0.1").lab.pk)


@pytest.fixture
def lab(empty: str, told: list[dict[str, Any]]) -> str:
    StoredEvent.objects.bulk_create(
        StoredEvent(lab_id=empty, seq=event["seq"], at_us=event["at_us"], event=event) for event in told
    )
    return empty


def found(lab: str, language: str = "en", **query: str) -> dict[str, Any]:
    answer = Client().get(f"/api/labs/{lab}/events/search/", query, headers={"accept-language": language})
    assert answer.status_code == 200, answer.content
    body: dict[str, Any] = answer.json()
    return body


def test_without_words_it_lists_all_page_by_page_from_either_end(
    lab: str, told: list[dict[str, Any]]
) -> None:
    for newest in ("", "1"):
        seqs: list[int] = []
        after = ""
        while True:
            answer = found(lab, newest=newest, after=after)
            seqs += [event["seq"] for event in answer["events"]]
            if answer["next"] is None:
                break
            after = str(answer["next"])
        assert seqs == [event["seq"] for event in (reversed(told) if newest else told)]
        assert len(seqs) > event_search.SHOWN_MAX


def test_the_first_redelivery_is_the_first_event_that_tells_of_redelivered_records(
    lab: str, told: list[dict[str, Any]]
) -> None:
    with_some = [event for event in told if {**event["inputs"], **event["data"]}.get("redelivered")]
    for text, language in (("first redelivery", "en"), ("首次重新投递", "zh-hans")):
        (event,) = found(lab, language, text=text)["events"]
        assert event["seq"] == with_some[0]["seq"]
    (event,) = found(lab, text="last redelivered")["events"]
    assert event["seq"] == with_some[-1]["seq"]


def test_words_are_those_of_the_readers_language(lab: str) -> None:
    english, chinese = found(lab, text="rebalance began"), found(lab, "zh-hans", text="再均衡")
    assert {event["kind"] for event in english["events"]} == {"kafka.group.rebalance_started"}
    assert {event["seq"] for event in english["events"]} <= {event["seq"] for event in chinese["events"]}
    assert found(lab, "zh-hans", text="rebalance began")["events"] == []


def test_kind_lane_and_consumer_narrow_it_and_are_counted(lab: str, told: list[dict[str, Any]]) -> None:
    whole = found(lab)
    assert sum(whole["kinds"].values()) == whole["scanned"] == len(told)
    assert "c2" in whole["consumers"]
    answer = found(lab, lane="rabbitmq", consumer="c2")
    assert answer["events"] and answer["kinds"] == whole["kinds"]
    assert {event["lane"] for event in answer["events"]} == {"rabbitmq"}
    kind = answer["events"][0]["kind"]
    assert {event["kind"] for event in found(lab, kind=kind)["events"]} == {kind}


def test_a_long_lab_is_looked_through_in_several_answers(
    lab: str, told: list[dict[str, Any]], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(event_search, "SCANNED_MAX", 4)
    monkeypatch.setattr(event_search, "_BATCH", 2)
    wanted, after, asked = told[-1]["kind"], "", 0
    while not (answer := found(lab, kind=wanted, after=after))["events"]:
        assert answer["scanned"] == 4
        after, asked = str(answer["next"]), asked + 1
    assert answer["events"][0]["seq"] == next(event["seq"] for event in told if event["kind"] == wanted)
    assert asked > 0


def test_a_lab_in_which_nothing_has_happened_has_none(empty: str) -> None:
    assert found(empty) == {"events": [], "next": None, "scanned": 0, "kinds": {}, "consumers": {}}


@pytest.mark.parametrize(
    ("field", "value"), [("text", "x" * 201), ("newest", "yes"), ("after", "-1"), ("word", "x")]
)
def test_what_is_wrong_is_refused_at_its_field(empty: str, field: str, value: str) -> None:
    answer = Client().get(f"/api/labs/{empty}/events/search/", {field: value})
    assert answer.status_code == 400 and answer.json()["fields"].keys() == {field}


def test_a_lab_that_is_not_there_is_not_found() -> None:
    assert Client().get("/api/labs/nothing/events/search/").status_code == 404
