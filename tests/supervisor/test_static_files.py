"""Static files are answered before Django, with the headers of its own responses."""

import asyncio
import gzip

import pytest
from django.test import Client

from mqsite.static_files import StaticFiles

SCRIPT = "export const one = 1;\n" * 50


async def application(scope, receive, send):
    await send({"type": "http.response.start", "status": 418, "headers": []})
    await send({"type": "http.response.body", "body": b"Django's"})


@pytest.fixture
def static(settings, tmp_path):
    settings.STATIC_ROOT = tmp_path
    (tmp_path / "js").mkdir()
    (tmp_path / "js" / "a.js").write_text(SCRIPT)
    (tmp_path / "js" / "a.js.gz").write_bytes(gzip.compress(SCRIPT.encode()))
    return StaticFiles(application)


def asked(app, path, method="GET", **headers):
    """(status, headers, body)"""
    sent = []

    async def send(message):
        sent.append(message)

    plain = [(name.replace("_", "-").encode(), value.encode()) for name, value in headers.items()]
    scope = {"type": "http", "method": method, "path": path, "headers": plain}
    asyncio.run(app(scope, None, send))
    start, *bodies = sent
    found = {name.decode().lower(): value.decode() for name, value in start["headers"]}
    return start["status"], found, b"".join(body["body"] for body in bodies)


def test_a_file_comes_with_its_type_and_packed_for_whom_can_unpack_it(static):
    status, headers, body = asked(static, "/static/js/a.js")
    assert (status, body.decode()) == (200, SCRIPT) and headers["content-type"].startswith("text/javascript")
    status, headers, body = asked(static, "/static/js/a.js", accept_encoding="gzip, br")
    assert (
        status == 200 and headers["content-encoding"] == "gzip" and gzip.decompress(body).decode() == SCRIPT
    )


def test_who_has_it_gets_no_body(static):
    etag = asked(static, "/static/js/a.js")[1]["etag"]
    assert asked(static, "/static/js/a.js", if_none_match=etag)[::2] == (304, b"")
    status, headers, body = asked(static, "/static/js/a.js", method="HEAD")
    assert (status, body, int(headers["content-length"])) == (200, b"", len(SCRIPT))


@pytest.mark.parametrize(
    "path", ["/static/js/b.js", "/static/js/", "/static/js/../js/a.js", "/static/js/a.js.gz", "/"]
)
def test_anything_else_is_djangos(static, path):
    assert asked(static, path)[0] == 418


def test_nothing_can_be_written(static):
    assert asked(static, "/static/js/a.js", method="POST")[0] == 405


@pytest.mark.django_db
@pytest.mark.parametrize("seconds", [0, 600])
def test_a_file_has_the_headers_of_djangos_own_responses(settings, static, seconds):
    settings.SECURE_HSTS_SECONDS = seconds
    settings.SECURE_PROXY_SSL_HEADER = ("HTTP_X_FORWARDED_PROTO", "https")
    page = Client(headers={"X-Forwarded-Proto": "https"}).get("/terms/")
    _, headers, _ = asked(StaticFiles(application), "/static/js/a.js")
    guards = ("content-security-policy", "permissions-policy", "x-content-type-options", "referrer-policy",
              "cross-origin-opener-policy", "strict-transport-security")  # fmt: skip
    assert {name: headers.get(name) for name in guards} == {name: page.headers.get(name) for name in guards}
    assert ("strict-transport-security" in headers) == bool(seconds)
