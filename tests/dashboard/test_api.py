"""The interface that programs drive: every wrong request gets its error at its field, and leaves the lab
untouched."""

import json
from typing import Any

import pytest
from django.test import Client

from dashboard.labs import services
from dashboard.models import Lab, StoredCommand

pytestmark = pytest.mark.django_db


@pytest.fixture
def opened() -> services.OpenedLab:
    return services.lab_open(request={})


def post(path: str, body: Any, token: str | None = None, client: Client | None = None) -> Any:
    headers = {"Authorization": f"Bearer {token}"} if token else {}
    data = body if isinstance(body, bytes | str) else json.dumps(body)
    return (client or Client()).post(path, data, content_type="application/json", headers=headers)


def test_program_opens_a_lab_and_commands_it() -> None:
    answer = post("/api/labs/", {"scenario": "demo", "seed": 3})
    assert answer.status_code == 201
    lab = answer.json()
    assert lab["seed"] == 3 and lab["owner_token"]
    commands = f"/api/labs/{lab['id']}/commands/"
    first = post(commands, {"command_id": "a", "kind": "join", "args": {"count": 2}}, lab["owner_token"])
    assert first.status_code == 202
    assert first.json() == {"lab": lab["id"], "command_id": "a", "position": 2, "state": "accepted"}
    again = post(commands, {"command_id": "a", "kind": "join", "args": {"count": 2}}, lab["owner_token"])
    assert (again.status_code, again.content) == (first.status_code, first.content)
    assert Client().get(f"/api/labs/{lab['id']}/commands/a/").json()["state"] == "accepted"
    assert Client().get(f"/api/labs/{lab['id']}/").json()["owned"] is False


@pytest.mark.parametrize(
    ("body", "status", "field"),
    [
        ({"kind": "join"}, 400, "command_id"),
        ({"command_id": "", "kind": "join"}, 400, "command_id"),
        ({"command_id": "x" * 65, "kind": "join"}, 400, "command_id"),
        ({"command_id": 7, "kind": "join"}, 400, "command_id"),
        ({"command_id": "x"}, 400, "kind"),
        ({"command_id": "x", "kind": "explode"}, 400, "kind"),
        ({"command_id": "x", "kind": ["join"]}, 400, "kind"),
        ({"command_id": "x", "kind": "join", "extra": 1}, 400, "extra"),
        ({"command_id": "x", "kind": "join", "args": {"count": 1_000_000}}, 400, "args.count"),
        ({"command_id": "x", "kind": "join", "args": {"count": 10**40}}, 400, "args.count"),
        ({"command_id": "x", "kind": "join", "args": {"count": 0}}, 400, "args.count"),
        ({"command_id": "x", "kind": "join", "args": {"count": True}}, 400, "args.count"),
        ({"command_id": "x", "kind": "join", "args": {"count": 1.5}}, 400, "args.count"),
        ({"command_id": "x", "kind": "join", "args": [1]}, 400, "args"),
        ({"command_id": "x", "kind": "join", "consumer": "<script>alert(1)</script>"}, 400, "consumer"),
        ({"command_id": "x", "kind": "join", "consumer": "c1\u0000"}, 400, "consumer"),
        ({"command_id": "x", "kind": "join", "consumer": "a" * 33}, 400, "consumer"),
        ({"command_id": "x", "kind": "join", "consumer": "../etc"}, 400, "consumer"),
        ({"command_id": "x", "kind": "crash"}, 400, "consumer"),
        ({"command_id": "x", "kind": "slow", "consumer": "c1", "args": {"rate": -1}}, 400, "args.rate"),
        ({"command_id": "x", "kind": "speed", "args": {"speed": 1e9}}, 400, "args.speed"),
        ({"command_id": "x", "kind": "set_algorithm", "args": {"algorithm": "range"}}, 400, "lane"),
        (b'{"command_id": "x", "kind": "speed", "args": {"speed": NaN}}', 400, "body"),
        (b"{", 400, "body"),
        (b"\xff\xfe", 400, "body"),
        (b"[]", 400, "body"),
        (b'"join"', 400, "body"),
        (b'{"a":' * 5_000 + b"1" + b"}" * 5_000, 400, "body"),
        (b'{"command_id": "\\ud800", "kind": "join"}', 400, "body"),
        (b'{"command_id": "' + b"x" * 70_000 + b'"}', 413, "body"),
    ],
)
def test_wrong_command_is_refused_at_its_field(
    opened: services.OpenedLab, body: Any, status: int, field: str
) -> None:
    answer = post(f"/api/labs/{opened.lab.pk}/commands/", body, opened.owner_token)
    assert answer.status_code == status, answer.content
    fields = answer.json()["fields"]
    assert list(fields) == [field] and all(isinstance(text, str) for text in fields[field])
    assert StoredCommand.objects.filter(lab=opened.lab).count() == 1


@pytest.mark.parametrize(
    ("body", "field"),
    [
        ({"scenario": 5}, "scenario"),
        ({"seed": -1}, "seed"),
        ({"seed": "7"}, "seed"),
        ({"nonsense": 1}, "nonsense"),
        ({"lanes": []}, "lanes"),
        ({"lanes": [{"model": "nats"}]}, "lanes.0.model"),
        ({"lanes": [{"model": "rabbitmq", "network_delay_us": 0}]}, "lanes.0.network_delay_us"),
        ({"workload": {"rate": 5_001}}, "workload.rate"),
        ({"workload": {"kind": "poison"}}, "workload.kind"),
        ({"scenario": {"consumers": 1_000_000}}, "consumers"),
    ],
)
def test_wrong_scenario_is_refused_at_its_field(body: Any, field: str) -> None:
    answer = post("/api/labs/", body)
    assert answer.status_code == 400
    assert list(answer.json()["fields"]) == [field]
    assert not Lab.objects.exists()


@pytest.mark.parametrize("lab_id", ["nobody", "x" * 500, "%2e%2e", "a'b", "%00"])
def test_unknown_lab_is_a_404_in_the_same_form(lab_id: str) -> None:
    for answer in (
        post(f"/api/labs/{lab_id}/commands/", {"command_id": "x", "kind": "join"}, "t"),
        post(f"/api/labs/{lab_id}/fork/", {}),
        Client().get(f"/api/labs/{lab_id}/"),
        Client().get(f"/api/labs/{lab_id}/snapshot/"),
    ):
        assert answer.status_code == 404 and list(answer.json()["fields"]) == ["lab"]


def test_wrong_token_method_and_type_are_told_in_the_same_form(opened: services.OpenedLab) -> None:
    path = f"/api/labs/{opened.lab.pk}/commands/"
    assert post(path, {"command_id": "x", "kind": "join"}, "wrong").status_code == 403
    assert post(path, {"command_id": "x", "kind": "join"}).status_code == 403
    assert Client().get(path).json() == {"fields": {"method": ["must be POST"]}}
    form = Client().post(path, {"command_id": "x"}, headers={"Authorization": f"Bearer {opened.owner_token}"})
    assert form.status_code == 415 and list(form.json()["fields"]) == ["body"]
    conflict = {"command_id": "x", "kind": "join"}
    post(path, conflict, opened.owner_token)
    assert post(path, {**conflict, "args": {"count": 3}}, opened.owner_token).status_code == 409


def test_browsers_cookie_needs_its_csrf_token(settings: Any) -> None:
    visitor = "v" * 40
    opened = services.lab_open(request={}, visitor=visitor)
    path, body = f"/api/labs/{opened.lab.pk}/commands/", {"command_id": "x", "kind": "join"}
    browser = Client(enforce_csrf_checks=True)
    browser.cookies[settings.VISITOR_COOKIE] = visitor
    assert list(post(path, body, client=browser).json()["fields"]) == ["csrf"]
    browser.cookies["csrftoken"] = "a" * 32
    answer = browser.post(
        path, json.dumps(body), content_type="application/json", headers={"X-CSRFToken": "a" * 32}
    )
    assert answer.status_code == 202


def test_refusals_speak_the_visitors_language(opened: services.OpenedLab) -> None:
    answer = Client().post(
        f"/api/labs/{opened.lab.pk}/commands/",
        "{",
        content_type="application/json",
        headers={"Authorization": f"Bearer {opened.owner_token}", "Accept-Language": "zh-hans"},
    )
    assert answer.headers["Content-Language"] == "zh-hans"


def test_journal_and_events_of_a_lab_can_be_read(opened: services.OpenedLab) -> None:
    assert Client().get(f"/api/labs/{opened.lab.pk}/journal/").json()["scenario"]["seed"] == 7
    assert Client().get(f"/api/labs/{opened.lab.pk}/events/?after=0").json() == {"events": []}
    assert Client().get(f"/api/labs/{opened.lab.pk}/events/?after=-1").status_code == 400
