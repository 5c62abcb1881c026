"""Pages of other sites change nothing here, with or without a cookie; programs, which send neither header, go
on."""

import json
from typing import Any

import pytest
from django.core.files.uploadedfile import SimpleUploadedFile
from django.test import Client
from django.urls import reverse

from dashboard.labs import services
from dashboard.labs.transport import Transport
from dashboard.models import Lab, Upload

pytestmark = pytest.mark.django_db
FOREIGN: list[dict[str, str]] = [
    {"origin": "https://evil.example"},
    {"origin": "null"},
    {"origin": "http://testserver.evil.example"},
    {"origin": "http://testserver:81"},
    {"sec-fetch-site": "cross-site"},
    {"origin": "http://testserver", "sec-fetch-site": "cross-site"},
    {"origin": "https://evil.example", "sec-fetch-site": "same-site"},
    {"origin": "testserver"},
    {"origin": ""},
]
OWN: list[dict[str, str]] = [
    {},
    {"origin": "http://testserver"},
    {"origin": "http://testserver", "sec-fetch-site": "same-origin"},
    {"sec-fetch-site": "none"},
]


@pytest.fixture(autouse=True)
def _no_redis(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(Transport, "wake", lambda *_arguments: False)


def call(method: str, path: str, headers: dict[str, str], **body: Any) -> Any:
    return Client().generic(method, path, json.dumps(body), content_type="application/json", headers=headers)


@pytest.mark.parametrize("headers", FOREIGN)
def test_no_unsafe_method_of_another_sites_page_is_served(headers: dict[str, str]) -> None:
    lab = services.lab_open(request={"lanes": [{"model": "rabbitmq"}], "consumers": 1}).lab
    paths = [
        "/api/labs/",
        f"/api/labs/{lab.pk}/fork/",
        f"/api/labs/{lab.pk}/",
        "/api/studies/",
        "/api/studies/uploads/",
        "/api/studies/preview/",
        "/api/logs/",
        reverse("learn-play"),
        "/",
        "/no/such/page",
    ]
    for path in paths:
        for method in ("POST", "PUT", "PATCH", "DELETE", "post", "MKCOL"):
            answer = call(method, path, headers)
            assert answer.status_code == 403, (method, path)
            if path.startswith("/api/"):
                assert list(answer.json()["fields"]) == ["origin"]
    assert Lab.objects.count() == 1


@pytest.mark.parametrize("headers", FOREIGN)
def test_a_bearer_does_not_let_another_sites_page_in(headers: dict[str, str]) -> None:
    opened = services.lab_open(request={"lanes": [{"model": "rabbitmq"}], "consumers": 1})
    answer = call(
        "DELETE", f"/api/labs/{opened.lab.pk}/", {**headers, "authorization": f"Bearer {opened.owner_token}"}
    )
    assert answer.status_code == 403 and Lab.objects.count() == 1


def test_an_upload_of_another_sites_form_leaves_nothing() -> None:
    form = {"file": SimpleUploadedFile("a.csv", b"k,n\na,1\n")}
    answer = Client().post("/api/studies/uploads/", form, headers={"origin": "https://evil.example"})
    assert answer.status_code == 403 and Upload.objects.count() == 0


@pytest.mark.parametrize("headers", OWN)
def test_programs_and_own_pages_go_on(headers: dict[str, str]) -> None:
    answer = call("POST", "/api/labs/", headers, lanes=[{"model": "rabbitmq"}], consumers=1)
    assert answer.status_code == 201, answer.content


@pytest.mark.parametrize("headers", FOREIGN)
def test_links_on_other_sites_open_pages(headers: dict[str, str]) -> None:
    assert Client().get("/labs/", headers=headers).status_code == 200


def test_people_are_told_on_a_page_in_their_language() -> None:
    answer = Client().post(
        reverse("learn-play"),
        {"scenario": "x"},
        headers={"origin": "https://evil.example", "accept-language": "zh-hans"},
    )
    assert answer.status_code == 403 and "此请求来自其他网站" in answer.content.decode()
