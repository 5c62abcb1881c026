"""A search for what breaks a promise: its owner's to order, worked out in turns, cancelled, and opened as a lab."""

import json
from pathlib import Path
from typing import Any

import pytest

from broker_core.lab.breaking.case import case_from_json
from broker_core.lab.breaking.search import Search
from broker_core.lab.journal import Journal
from broker_core.lab.pieces import whole
from broker_core.lab.scenario import scenario_from_json
from dashboard.errors import Refused
from dashboard.labs import breaking, keeping, searches, selectors, services
from dashboard.labs.breaking_task import work_out
from dashboard.models import Lab

pytestmark = pytest.mark.django_db(transaction=True)

LANES = [
    {"id": "rabbitmq", "model": "rabbitmq", "algorithm": "prefetch_unlimited"},
    {"id": "fair", "model": "rabbitmq", "algorithm": "prefetch_1"},
]
ASKED: dict[str, Any] = {
    "lane": "rabbitmq",
    "promise": {"kind": "queue_at_most", "at_most": 60},
    "may": {"slow": {"most": 1, "from_s": 2, "until_s": 9}},
    "lasts_s": 40,
    "seconds": 20,
    "seed": 7,
}


class Sent:
    """In place of Celery: what was enqueued."""

    def __init__(self) -> None:
        self.tasks: list[list[str]] = []

    def send_task(self, name: str, args: list[str], retry: bool) -> None:
        assert name == searches.TASK and not retry
        self.tasks.append(args)

    def work(self) -> int:
        """All turns, one after the other."""
        turns = 0
        while self.tasks:
            work_out(*self.tasks.pop(0))
            turns += 1
        return turns


@pytest.fixture
def sent(monkeypatch: pytest.MonkeyPatch, settings: Any, tmp_path: Path) -> Sent:
    settings.RUN_DIR = tmp_path
    found = Sent()
    monkeypatch.setattr(searches, "current_app", found)
    monkeypatch.setattr(searches.transport(), "ping", lambda: None)
    return found


def a_lab(visitor: str = "me") -> Lab:
    scenario = {"workload": {"kind": "uniform", "keys": 12, "rate": 12}, "consumers": 2, "consumer_rate": 15}
    return services.lab_open(request={"scenario": scenario, "lanes": LANES}, visitor=visitor).lab


def start(lab: Lab, visitor: str = "me", **changes: Any) -> Any:
    return breaking.search_start(
        lab_id=lab.pk, request={**ASKED, **changes}, bearer=None, visitor=visitor, address="here"
    )


def test_what_is_found_opens_as_a_lab_that_is_paused_when_the_promise_broke(sent: Sent) -> None:
    lab = a_lab()
    assert start(lab)["state"] == "waiting"
    sent.work()
    found = breaking.search_get(lab_id=lab.pk)
    assert (found["state"], found["is_broken"], found["tries"]) == ("done", True, 1)
    assert [(fault["code"], fault["at_us"]) for fault in found["schedule"]] == [("break.did.slow", 2_000_000)]
    assert found["why"] == "lane:rabbitmq"
    opened = breaking.found_open(lab_id=lab.pk, visitor="me").lab
    assert opened.name == "never more than 60 waiting records"
    assert [lane["id"] for lane in opened.scenario["lanes"]] == ["rabbitmq"]
    script = opened.script
    assert script[-1]["body"]["kind"] == "pause_lab" and script[-1]["at_us"] == found["moment_us"]
    commands = [
        {**entry["body"], "position": place, "at_us": entry["at_us"]} for place, entry in enumerate(script, 2)
    ]
    journal = Journal(scenario_from_json(opened.scenario), commands)
    lags = [
        journal.seek(at_us).lanes["rabbitmq"].reads.lag()
        for at_us in (found["moment_us"] - 1_000, found["moment_us"])
    ]
    assert lags[0] <= 60 < lags[1]
    assert selectors.lab_of_visitor(visitor="me") == lab, (
        "a found schedule is no lab that a visit begins with"
    )


def test_in_turns_it_finds_what_one_search_at_once_finds(sent: Sent, settings: Any) -> None:
    settings.BREAKING_TURN_S = 0
    lab = a_lab()
    start(lab)
    assert sent.work() > 5
    written = json.loads(searches.path_of(lab.pk).read_text())
    at_once = Search(case_from_json(written["case"]), 7)
    while at_once.moment_us is None:
        whole(at_once.trying())
    assert written["search"] == at_once.to_json()


def test_one_that_none_breaks_ends_with_its_time_and_says_how_many_it_tried(
    sent: Sent, settings: Any
) -> None:
    lab = a_lab()
    start(lab, lane="fair")
    settings.BREAKING_S_MAX = 6.0
    sent.work()
    found = breaking.search_get(lab_id=lab.pk)
    assert found["state"] == "done" and not found["is_broken"] and found["tries"] >= 1
    assert found["used_s"] < 60
    with pytest.raises(Refused) as refused:
        breaking.found_open(lab_id=lab.pk, visitor="me")
    assert refused.value.status == 404


def test_a_cancelled_one_works_no_more_and_another_may_begin(sent: Sent) -> None:
    lab = a_lab()
    start(lab)
    with pytest.raises(Refused) as refused:
        start(a_lab())
    assert refused.value.status == 429, "one a visitor at a time, in whichever lab"
    start(a_lab("other"), "other")
    assert breaking.search_cancel(lab_id=lab.pk, bearer=None, visitor="me")["state"] == "cancelled"
    work_out(*sent.tasks[0])
    assert breaking.search_get(lab_id=lab.pk)["tries"] == 0
    assert start(lab)["state"] == "waiting"
    work_out(*sent.tasks[0])
    assert breaking.search_get(lab_id=lab.pk)["tries"] == 0, "the order of the one before is late"


def test_only_its_owner_orders_and_cancels(sent: Sent) -> None:
    lab = a_lab()
    for ordered in (
        lambda: start(lab, "other"),
        lambda: breaking.search_cancel(lab_id=lab.pk, bearer=None, visitor="other"),
    ):
        with pytest.raises(Refused) as refused:
            ordered()
        assert refused.value.status == 403
    assert not sent.tasks


@pytest.mark.parametrize(
    ("changes", "fields"),
    [
        ({"promise": {"kind": "nothing_lost"}}, {"promise.kind"}),
        ({"promise": {"kind": "queue_at_most", "at_most": "many"}}, {"promise.at_most"}),
        ({"may": {}}, {"may"}),
        ({"may": {"slow": {"most": 9}}}, {"may.slow.most", "may"}),
        ({"may": {"slow": {"most": 1, "from_s": 50}}}, {"may.slow.from_s"}),
        ({"may": {"cluster_crash": {"most": 1}}}, {"may.cluster_crash"}),
        ({"lasts_s": 2, "seconds": 1000, "seed": -1}, {"lasts_s", "seconds", "seed"}),
        ({"lane": "none"}, {"lane"}),
        ({"wheel": 1}, {"wheel"}),
    ],
)
def test_what_is_wrong_is_said_at_its_field(sent: Sent, changes: dict[str, Any], fields: set[str]) -> None:
    lab = a_lab()
    with pytest.raises(Refused) as refused:
        start(lab, **changes)
    assert refused.value.status == 400 and set(refused.value.fields) == fields
    assert not sent.tasks and breaking.search_get(lab_id=lab.pk) == {"state": "none"}


def test_a_lab_that_is_gone_takes_its_search_along(sent: Sent, settings: Any) -> None:
    lab = a_lab()
    start(lab)
    settings.LAB_UNDO_S = -1
    keeping.lab_delete(lab_id=lab.pk, bearer=None, visitor="me")
    keeping.labs_purge()
    assert not searches.path_of(lab.pk).exists()
