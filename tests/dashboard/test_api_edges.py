"""Every address of the interface at its edges: methods it has not, ids there are not, labs of others, numbers
that are none; nothing changes."""

import json
from typing import Any

import pytest
from django.test import Client

from dashboard import access
from dashboard.labs import selectors, services
from dashboard.labs.transport import Transport
from dashboard.models import Lab, StoredCommand, StoredEvent, StoredView

pytestmark = pytest.mark.django_db
OTHER = "other-" + "o" * 20

METHODS: dict[str, str] = {
    "/api/labs/": "POST",
    "/api/labs/{lab}/": "GET, PATCH, DELETE",
    "/api/labs/{lab}/restore/": "POST",
    "/api/labs/{lab}/commands/": "POST",
    "/api/labs/{lab}/commands/lab:open/": "GET",
    "/api/labs/{lab}/snapshot/": "GET",
    "/api/labs/{lab}/fork/": "POST",
    "/api/labs/{lab}/journal/": "GET",
    "/api/labs/{lab}/events/": "GET",
    "/api/labs/{lab}/pulsar/key/": "GET",
    "/api/labs/{lab}/pulsar/ranges/": "GET",
    "/api/labs/{lab}/kafka/comparison/kafka/": "GET, POST",
    "/api/labs/{lab}/kafka/log/": "GET",
    "/api/labs/{lab}/kafka/log/clean/": "GET",
    "/api/studies/": "GET, POST",
    "/api/studies/uploads/": "GET, POST",
    "/api/studies/folders/": "GET",
    "/api/studies/preview/": "POST",
    "/api/studies/strategies/": "GET",
    "/api/studies/history/": "POST",
    "/api/studies/nobody/": "GET, DELETE",
    "/api/studies/nobody/cancel/": "POST",
    "/api/studies/nobody/result/": "GET",
    "/api/studies/nobody/ranking/": "GET",
    "/api/studies/nobody/windows/": "GET",
    "/api/studies/nobody/open/": "POST",
    "/api/logs/": "GET, POST",
}


@pytest.fixture(autouse=True)
def _no_redis(monkeypatch: pytest.MonkeyPatch) -> None:
    """Nobody is woken: what these tests look at is in the database."""
    monkeypatch.setattr(Transport, "wake", lambda *_arguments: False)


@pytest.fixture
def opened() -> services.OpenedLab:
    return services.lab_open(request={"lanes": [{"model": "rabbitmq"}], "consumers": 1})


def call(method: str, path: str, body: Any = None, token: str | None = None) -> Any:
    headers = {"authorization": f"Bearer {token}"} if token is not None else {}
    data = "" if body is None else json.dumps(body)
    return Client().generic(method, path, data, content_type="application/json", headers=headers)


def fields(answer: Any) -> dict[str, list[str]]:
    found: dict[str, list[str]] = answer.json()["fields"]
    return found


def rows() -> list[Any]:
    """All that a lab consists of."""
    return [
        list(model.objects.order_by("pk").values()) for model in (Lab, StoredCommand, StoredEvent, StoredView)
    ]


# -- methods -------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(("path", "allowed"), METHODS.items())
def test_a_method_that_an_address_has_not_is_told_those_that_it_has(
    opened: services.OpenedLab, path: str, allowed: str
) -> None:
    before = rows()
    for method in {"GET", "POST", "PUT", "PATCH", "DELETE", "OPTIONS"} - set(allowed.split(", ")):
        answer = call(method, path.format(lab=opened.lab.pk), {}, opened.owner_token)
        assert (answer.status_code, answer.json()) == (405, {"fields": {"method": [f"must be {allowed}"]}}), (
            method
        )
    assert rows() == before


def test_the_list_of_methods_is_written_as_the_reader_writes_lists(opened: services.OpenedLab) -> None:
    answer = Client().put(f"/api/labs/{opened.lab.pk}/", headers={"accept-language": "zh-hans"})
    assert "GET、PATCH、DELETE" in fields(answer)["method"][0]


@pytest.mark.parametrize(
    "path",
    [
        "/",
        "/labs/",
        "/learn/",
        "/analyze/",
        "/lab/x/",
        "/lab/x/kafka/cluster/",
        "/lab/x/pulsar/",
        "/lab/x/kafka/log",
    ],
)
def test_a_page_can_only_be_looked_at(path: str) -> None:
    assert {method: getattr(Client(), method)(path).status_code for method in ("post", "put", "delete")} == {
        "post": 405,
        "put": 405,
        "delete": 405,
    }


# -- ids -----------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("method", "path"),
    [
        ("GET", ""),
        ("PATCH", ""),
        ("DELETE", ""),
        ("POST", "restore/"),
        ("POST", "commands/"),
        ("GET", "snapshot/"),
        ("POST", "fork/"),
        ("GET", "journal/"),
        ("GET", "events/"),
        ("GET", "pulsar/key/"),
        ("GET", "pulsar/ranges/"),
        ("GET", "kafka/comparison/kafka/"),
        ("POST", "kafka/comparison/kafka/"),
        ("GET", "kafka/log/"),
        ("GET", "kafka/log/clean/"),
    ],
)
@pytest.mark.parametrize("lab_id", ["nobody", "A" * 16])
def test_a_lab_that_there_is_not_is_missed_at_every_address(method: str, path: str, lab_id: str) -> None:
    body = (
        {"command_id": "x", "kind": "join"}
        if path == "commands/"
        else {"name": "x"}
        if method == "PATCH"
        else None
    )
    answer = call(method, f"/api/labs/{lab_id}/{path}", body, "some-token-of-a-program")
    assert answer.status_code == 404 and fields(answer) == {"lab": ["there is no such lab"]}


def test_a_command_is_found_by_its_lab_and_its_id(opened: services.OpenedLab) -> None:
    other = services.lab_open(request={"lanes": [{"model": "rabbitmq"}]})
    path = f"/api/labs/{opened.lab.pk}/commands/"
    assert call("POST", path, {"command_id": "mine", "kind": "join"}, opened.owner_token).status_code == 202
    assert call("GET", f"{path}mine/").json() == {
        "lab": opened.lab.pk,
        "command_id": "mine",
        "position": 2,
        "state": "accepted",
        "at_us": None,
        "fields": {},
    }
    for missing in (
        f"{path}other/",
        f"/api/labs/{other.lab.pk}/commands/mine/",
        "/api/labs/nobody/commands/mine/",
    ):
        assert fields(call("GET", missing)) == {"command_id": ["there is no such command in this lab"]}


def test_a_lane_that_there_is_not_is_missed_under_its_own_field(opened: services.OpenedLab) -> None:
    StoredView.objects.create(
        lab=opened.lab,
        epoch=0,
        seq=1,
        at_us=0,
        text='{"lane_order":["rabbitmq"],"lanes":{"rabbitmq":{"model":"rabbitmq"}}}',
    )
    base = f"/api/labs/{opened.lab.pk}/"
    answers = {
        path: call("GET", base + path)
        for path in (
            "pulsar/key/",
            "pulsar/ranges/?lane=rabbitmq",
            "kafka/comparison/rabbitmq/",
            "kafka/log/",
            "kafka/log/?lane=rabbitmq",
        )
    }
    assert {path: (answer.status_code, list(fields(answer))) for path, answer in answers.items()} == {
        "pulsar/key/": (404, ["lane"]),
        "pulsar/ranges/?lane=rabbitmq": (404, ["lane"]),
        "kafka/comparison/rabbitmq/": (404, ["lane"]),
        "kafka/log/": (404, ["lane"]),
        "kafka/log/?lane=rabbitmq": (404, ["lane"]),
    }


def test_a_subscription_cannot_be_asked_about_before_the_first_view(opened: services.OpenedLab) -> None:
    answer = call("GET", f"/api/labs/{opened.lab.pk}/pulsar/key/?key=a")
    assert answer.status_code == 503 and fields(answer) == {"lab": ["is being prepared: try again"]}


# -- whose ---------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("method", "path", "body"),
    [("PATCH", "", {"name": "mine now"}), ("DELETE", "", None), ("POST", "restore/", None),
     ("POST", "commands/", {"command_id": "x", "kind": "join"})],
)  # fmt: skip
@pytest.mark.parametrize("token", ["not-the-owners-token", "", OTHER])
def test_somebody_elses_lab_stays_as_it_is(
    opened: services.OpenedLab, method: str, path: str, body: Any, token: str
) -> None:
    before = rows()
    answer = call(method, f"/api/labs/{opened.lab.pk}/{path}", body, token)
    assert answer.status_code == 403 and list(fields(answer)) == ["lab"]
    assert rows() == before


def test_what_a_lab_is_says_whose_without_saying_who(opened: services.OpenedLab) -> None:
    path = f"/api/labs/{opened.lab.pk}/"
    assert [
        call("GET", path, token=token).json()["owned"] for token in (opened.owner_token, OTHER, None)
    ] == [True, False, False]
    text = call("GET", path).content.decode()
    assert opened.lab.owner_hash not in text and "hash" not in text and "address" not in text


def test_a_lab_is_opened_for_the_browser_that_asks_and_its_token_is_shown_once() -> None:
    browser = Client(enforce_csrf_checks=True)
    browser.cookies["highwater_visitor"], browser.cookies["csrftoken"] = OTHER, "a" * 32
    answer = browser.post(
        "/api/labs/", "{}", content_type="application/json", headers={"x-csrftoken": "a" * 32}
    )
    lab = Lab.objects.get(pk=answer.json()["id"])
    assert access.is_owner(lab, bearer=None, visitor=OTHER) and access.is_owner(
        lab, bearer=answer.json()["owner_token"], visitor=None
    )
    assert "owner_token" not in call("GET", f"/api/labs/{lab.pk}/", token=answer.json()["owner_token"]).json()


def test_a_programs_token_needs_no_csrf_token_although_a_cookie_comes_along(
    opened: services.OpenedLab,
) -> None:
    browser = Client(enforce_csrf_checks=True)
    browser.cookies["highwater_visitor"] = OTHER
    body = json.dumps({"command_id": "x", "kind": "join"})
    path = f"/api/labs/{opened.lab.pk}/commands/"
    sent = browser.post(
        path, body, content_type="application/json", headers={"authorization": f"Bearer {opened.owner_token}"}
    )
    assert sent.status_code == 202
    refused = browser.post(path, body, content_type="application/json")
    assert refused.status_code == 403 and list(fields(refused)) == ["csrf"]


# -- numbers -------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("after", ["", "-1", "1.5", "x", "9" * 19, "²", " 1", "0x1"])
def test_turning_points_are_asked_for_after_a_whole_number(opened: services.OpenedLab, after: str) -> None:
    answer = Client().get(f"/api/labs/{opened.lab.pk}/events/", {"after": after})
    assert answer.status_code == 400 and fields(answer) == {"after": ["must be a whole number"]}


def test_turning_points_come_in_order_from_the_one_after_at_most_so_many(opened: services.OpenedLab) -> None:
    StoredEvent.objects.bulk_create(
        StoredEvent(lab=opened.lab, seq=seq, at_us=seq, event={"seq": seq}) for seq in range(520, 0, -1)
    )
    path = f"/api/labs/{opened.lab.pk}/events/"

    def seqs(query: str) -> list[int]:
        return [event["seq"] for event in call("GET", path + query).json()["events"]]

    assert seqs("") == list(range(1, 501)) and seqs("?after=500") == list(range(501, 521))
    assert seqs("?after=520") == seqs("?after=" + "9" * 18) == []


# -- the first view ------------------------------------------------------------------------------------------


def test_a_snapshot_is_the_stored_view_and_wakes_a_lab_that_rests(opened: services.OpenedLab) -> None:
    StoredView.objects.create(lab=opened.lab, epoch=2, seq=7, at_us=5_000, text='{"n":[1,"é"]}')
    Lab.objects.update(status=Lab.Status.IDLE)
    answer = call("GET", f"/api/labs/{opened.lab.pk}/snapshot/")
    assert answer.json() == {
        "type": "snapshot",
        "lab": opened.lab.pk,
        "epoch": 2,
        "seq": 7,
        "at_us": 5_000,
        "view": {"n": [1, "é"]},
    }
    assert answer["Cache-Control"] == "no-store"
    lab = Lab.objects.get()
    assert lab.status == Lab.Status.RUNNING and lab.last_watched_at is not None
    assert selectors.lab_snapshot(lab_id=lab.pk) == {
        name: value for name, value in answer.json().items() if name != "type"
    }


def test_a_snapshot_of_a_lab_that_stopped_before_its_first_says_why(opened: services.OpenedLab) -> None:
    Lab.objects.update(status=Lab.Status.FAILED, failed_reason="KeyError: 'c1'")
    answer = call("GET", f"/api/labs/{opened.lab.pk}/snapshot/")
    assert answer.status_code == 409 and fields(answer) == {"lab": ["this lab has stopped: KeyError: 'c1'"]}
    command = call(
        "POST",
        f"/api/labs/{opened.lab.pk}/commands/",
        {"command_id": "x", "kind": "join"},
        opened.owner_token,
    )
    assert command.status_code == 409 and StoredCommand.objects.count() == 1


NUMBERS = (
    "1e308",
    "-1e308",
    "1e309",
    "1e999999",
    "NaN",
    "Infinity",
    "-Infinity",
    "9" * 30,
    "9" * 400,
    "9" * 5_000,
    "-" + "9" * 5_000,
    "9" * 400 + ".5",
    "0." + "3" * 20_000,
    "1e-99999",
    "true",
    "[]",
    "{}",
)
BODIES = {
    "/api/labs/": (
        '{"seed": N}',
        '{"consumers": N}',
        '{"consumer_rate": N}',
        '{"scenario": N}',
        '{"name": N}',
        '{"lanes": N}',
        '{"workload": N}',
        '{"workload": {"kind": "uniform", "keys": N}}',
        '{"workload": {"kind": "zipf", "exponent": N}}',
        '{"workload": {"rate": N}}',
        '{"lanes": [{"model": "kafka", "partitions": N}]}',
        '{"lanes": [{"model": "kafka", "groups": {"a": {"assignor": N}}}]}',
        '{"lanes": [{"model": "pulsar", "points": N}]}',
        '{"lanes": [{"model": "tubemq", "network_delay_us": N}]}',
        '{"lesson": {"lasts_us": N}}',
    ),
    "/api/labs/{lab}/commands/": (
        '{"command_id": "a", "kind": "speed", "args": {"speed": N}}',
        '{"command_id": N, "kind": "join"}',
        '{"command_id": "a", "kind": "join", "args": {"count": N}}',
        '{"command_id": "a", "kind": N}',
        '{"command_id": "a", "kind": "slow", "consumer": "c1", "args": {"rate": N}}',
        '{"command_id": "a", "kind": "join", "consumer": N}',
        '{"command_id": "a", "kind": "join", "lane": N}',
    ),
    "/api/labs/{lab}/fork/": (
        '{"until_us": N}',
        '{"until_us": 0, "speed": N}',
        '{"until_position": N}',
        '{"seed": N}',
        '{"workload": N}',
        '{"workload": {"rate": N}}',
    ),
}


@pytest.mark.parametrize("address", BODIES)
def test_no_number_in_a_body_is_a_server_error(address: str) -> None:
    opened = services.lab_open(request={"workload": {"kind": "uniform"}}, visitor=None)
    client = Client(headers={"authorization": f"Bearer {opened.owner_token}"})
    for body in BODIES[address]:
        for number in NUMBERS:
            answer = client.post(
                address.format(lab=opened.lab.pk), body.replace(" N", f" {number}"), "application/json"
            )
            assert answer.status_code < 500, (body, number[:30])
            assert answer.status_code < 300 or answer.json()["fields"], (body, number[:30])
