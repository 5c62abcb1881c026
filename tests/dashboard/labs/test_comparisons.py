"""A comparison is the owner's to order, is worked out once, and holds the very figures that the lanes
have."""

import os
import time
from pathlib import Path
from typing import Any

import pytest
from django.test import Client

from broker_core.errors import CommandError
from broker_core.lab.kafka.group_comparison import VARIANTS
from dashboard.labs import comparisons, services
from dashboard.labs.comparison_task import work_out
from dashboard.models import Lab, StoredCommand

pytestmark = pytest.mark.django_db(transaction=True)

LANE = {"id": "kafka", "model": "kafka", "brokers": 1, "offsets_partitions": 1, "partitions": 4}
SECOND = 1_000_000


class Sent:
    """In place of Celery: what was enqueued."""

    def __init__(self) -> None:
        self.tasks: list[list[object]] = []

    def send_task(self, name: str, args: list[object], retry: bool) -> None:
        assert name == comparisons.TASK and not retry
        self.tasks.append(args)


@pytest.fixture
def sent(monkeypatch: pytest.MonkeyPatch, settings: Any, tmp_path: Path) -> Sent:
    settings.RUN_DIR = tmp_path
    found = Sent()
    monkeypatch.setattr(comparisons, "current_app", found)
    monkeypatch.setattr(comparisons.transport(), "ping", lambda: None)
    return found


def a_lab() -> tuple[Lab, str]:
    lanes = [LANE, {"id": "plain", "model": "tubemq"}]
    opened = services.lab_open(request={"lanes": lanes, "workload": {"kind": "zipf", "keys": 9, "rate": 5}})
    lab = opened.lab
    first = lab.commands.count() + 1  # it begins with the order to play
    for position, (kind, at_s) in enumerate((("join", 8), ("pause_lab", 9), ("join", 30)), first):
        body = {"command_id": f"c{position}", "kind": kind, "lane": "all", "consumer": None, "args": {}}
        StoredCommand.objects.create(
            lab=lab,
            command_id=f"c{position}",
            position=position,
            body=body,
            state=StoredCommand.State.APPLIED,
            at_us=at_s * SECOND,
        )
    return lab, str(opened.owner_token)


def ask(lab: Lab, token: str | None = None, lane: str = "kafka"):  # type: ignore[no-untyped-def]
    headers = {} if token is None else {"authorization": f"Bearer {token}"}
    return Client(headers=headers).post(f"/api/labs/{lab.pk}/kafka/comparison/{lane}/")


def read(lab: Lab, lane: str = "kafka"):  # type: ignore[no-untyped-def]
    return Client().get(f"/api/labs/{lab.pk}/kafka/comparison/{lane}/")


def test_it_is_ordered_once_by_the_owner(sent: Sent) -> None:
    lab, token = a_lab()
    assert read(lab).json() == {"state": "none"}
    assert ask(lab).status_code == 403 and sent.tasks == []
    assert ask(lab, token).status_code == 202 and ask(lab, token).json()["state"] == "waiting"
    assert sent.tasks == [[lab.pk, "kafka", 0]]
    assert ask(lab, token, lane="plain").status_code == 404 == read(lab, "other").status_code
    path = comparisons.path_of(lab, "kafka")
    os.utime(path, (1, 1))  # its worker was lost
    assert (
        read(lab).json() == {"state": "none"} and ask(lab, token).status_code == 202 and len(sent.tasks) == 2
    )


def test_the_worker_runs_the_lab_s_own_journal_up_to_that_moment(sent: Sent) -> None:
    lab, token = a_lab()
    ask(lab, token)
    work_out(lab.pk, "kafka", 20 * SECOND)
    found = read(lab).json()
    assert (found["state"], found["until_us"], [row["name"] for row in found["rows"]]) == (
        "done",
        20 * SECOND,
        [one.name for one in VARIANTS],
    )
    assert {row["members"] for row in found["rows"]} == {
        4
    }  # three from the start and one; the other came later
    assert ask(lab, token).json()["state"] == "waiting"  # again, up to now


def refuse(raw: object, limits: object) -> None:
    raise CommandError("scenario", "cannot be read")


def test_what_goes_wrong_is_said(sent: Sent, monkeypatch: pytest.MonkeyPatch) -> None:
    lab, token = a_lab()
    ask(lab, token)
    monkeypatch.setattr("dashboard.labs.comparison_task.scenario_from_json", refuse)
    work_out(lab.pk, "kafka", 20 * SECOND)
    found = read(lab).json()
    assert (found["state"], found["reason"]) == ("failed", "scenario: cannot be read")


def test_it_is_worked_out_once_though_its_order_comes_twice(
    sent: Sent, monkeypatch: pytest.MonkeyPatch
) -> None:
    lab, token = a_lab()
    ask(lab, token)
    work_out(lab.pk, "kafka", 20 * SECOND)
    monkeypatch.setattr("dashboard.labs.comparison_task.scenario_from_json", refuse)
    work_out(lab.pk, "kafka", 20 * SECOND)
    assert read(lab).json()["state"] == "done"


def test_one_that_takes_too_long_ends_and_says_so_in_the_readers_language(sent: Sent, settings: Any) -> None:
    lab, token = a_lab()
    ask(lab, token)
    settings.COMPARISON_S_MAX = 0.05
    work_out(lab.pk, "kafka", 20 * SECOND)
    found = read(lab).json()
    assert (found["state"], found["reason"].partition(":")[0]) == ("failed", "it took too long")
    chinese = (
        Client(headers={"accept-language": "zh-hans"})
        .get(f"/api/labs/{lab.pk}/kafka/comparison/kafka/")
        .json()
    )
    assert chinese["reason"].startswith("耗时过长")
    assert ask(lab, token).status_code == 202, "it may be tried again"


def test_the_history_before_the_moment_counts_as_well(sent: Sent, settings: Any) -> None:
    """A lab without a checkpoint is lived through from its start before anything can be compared."""
    lab, token = a_lab()
    ask(lab, token)
    settings.COMPARISON_S_MAX = 0.2
    began_s = time.monotonic()
    work_out(lab.pk, "kafka", 36_000 * SECOND)
    assert read(lab).json()["state"] == "failed" and time.monotonic() - began_s < 5


def test_one_address_has_so_many_under_way_and_another_finds_a_place(sent: Sent, settings: Any) -> None:
    settings.COMPARISONS_ADDRESS_MAX, settings.COMPARISONS_MAX = 2, 4
    labs = [a_lab() for _lab in range(5)]
    assert [ask(*lab).status_code for lab in labs[:3]] == [202, 202, 429]
    refused = ask(*labs[2])
    assert list(refused.json()["fields"]) == ["lane"] and int(refused["Retry-After"]) > 0
    assert "address" not in read(labs[0][0]).json()
    other = Client(headers={"authorization": f"Bearer {labs[3][1]}"}, REMOTE_ADDR="192.0.2.9")
    assert other.post(f"/api/labs/{labs[3][0].pk}/kafka/comparison/kafka/").status_code == 202
    work_out(labs[0][0].pk, "kafka", SECOND)
    assert ask(*labs[2]).status_code == 202, "one is through"
